"""The options that say which tools may be called: over which networks, ports and protocols."""

from collections.abc import Callable, Mapping
from typing import Any

import click

_OPTIONS = (
    click.option(
        "--allow-loopback", is_flag=True, help="Call tools on this machine; implies --allow-http."
    ),
    click.option("--allow-http", is_flag=True, help="Call tools without TLS."),
    click.option(
        "--allow-network", multiple=True, help="Call tools in this private network, as 10.0.0.0/8."
    ),
    click.option(
        "--allow-port", multiple=True, type=click.IntRange(1, 65_535), help="Call these ports only."
    ),
)


def reaches(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that calls tools: has the options that `reach` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reach(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the address guard lets pass, as settings of a Leader; what is not said is None."""
    from nexus_tools.leader import LOOPBACK

    loopback = options["allow_loopback"]
    return {
        "allow_http": options["allow_http"] or loopback or None,
        "allowed_networks": [*options["allow_network"], *(LOOPBACK if loopback else ())] or None,
        "allowed_ports": list(options["allow_port"]) or None,
    }
