"""Options for the networks, ports and protocols over which tools may be called."""

from collections.abc import Callable, Mapping
from typing import Any

import click

_OPTIONS = (
    click.option(
        "--allow-loopback",
        is_flag=True,
        help="Allow calls to tools on this machine. Implies --allow-http.",
    ),
    click.option("--allow-http", is_flag=True, help="Allow calls to tools without TLS."),
    click.option(
        "--allow-network",
        multiple=True,
        metavar="CIDR",
        help="Allow calls to tools in this private network, for example 10.0.0.0/8."
        " May be repeated.",
    ),
    click.option(
        "--allow-port",
        multiple=True,
        type=click.IntRange(1, 65_535),
        help="Allow calls only to this port. May be repeated. Default: all ports.",
    ),
)


def network_policy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command that calls tools with the options that `network_policy` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def network_policy(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as settings of a Leader's address guard. Unset options become None."""
    from nexus_tools.leader import LOOPBACK

    loopback = options["allow_loopback"]
    return {
        "allow_http": options["allow_http"] or loopback or None,
        "allowed_networks": [*options["allow_network"], *(LOOPBACK if loopback else ())] or None,
        "allowed_ports": list(options["allow_port"]) or None,
    }
