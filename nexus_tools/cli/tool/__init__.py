"""`nexus-tools tool`: a command, or a family of them, per file."""

import click

from nexus_tools.cli.lazy import LazyGroup

_HERE = "nexus_tools.cli.tool"
COMMANDS = {
    "new": (f"{_HERE}.new", "Write a project with a tool and its test."),
    "serve": (f"{_HERE}.serve", "Serve tools over HTTP."),
    "validate": (f"{_HERE}.validate", "Check whether a tool keeps the protocol."),
    "register": (f"{_HERE}.register", "Register tools, and lock their collateral."),
    "list": (f"{_HERE}.list", "List the registered tools."),
    "show": (f"{_HERE}.show", "Show a tool, its state and its collateral."),
    "update": (f"{_HERE}.update", "Change URL, description, timeout, price or payout of a tool."),
    "invoke": (f"{_HERE}.invoke", "Request an invocation on chain, and wait for its outcome."),
    "outcome": (f"{_HERE}.outcome", "Show an invocation and its outcome."),
    "unregister": (f"{_HERE}.collateral:unregister", "Take a tool out of use."),
    "cancel-unregister": (
        f"{_HERE}.collateral:cancel_unregister",
        "Put an unregistered tool back into use.",
    ),
    "claim": (f"{_HERE}.collateral:claim", "Take the collateral of an unregistered tool back."),
    "re-register": (f"{_HERE}.collateral:re_register", "Bring a claimed tool back."),
    "top-up": (f"{_HERE}.collateral:top_up", "Make the collateral of a slashed tool whole again."),
}


@click.group(
    cls=LazyGroup,
    modules={name: module for name, (module, _) in COMMANDS.items()},
    summaries={name: summary for name, (_, summary) in COMMANDS.items()},
)
def command() -> None:
    """Write, check, register, list, call and unregister tools."""
