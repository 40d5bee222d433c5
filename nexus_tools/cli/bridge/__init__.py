"""`nexus-tools bridge`: tools of other systems, shown, served and registered as they are."""

import click

from nexus_tools.cli.lazy import LazyGroup

_HERE = "nexus_tools.cli.bridge"
COMMANDS = {
    "show": (f"{_HERE}.show", "Show what is found in a folder, and what is refused and why."),
    "serve": (f"{_HERE}.serve", "Serve the tools of a folder over HTTP."),
    "credential": (f"{_HERE}.credential", "Keep the credentials that tools get."),
    "register": (f"{_HERE}.register", "Register the tools of a folder that are being served."),
}


@click.group(
    cls=LazyGroup,
    modules={name: module for name, (module, _) in COMMANDS.items()},
    summaries={name: summary for name, (_, summary) in COMMANDS.items()},
)
def command() -> None:
    """Serve and register tools of Unstract, SOS-Toolkit, NORA, Hyperpocket and MCP."""
