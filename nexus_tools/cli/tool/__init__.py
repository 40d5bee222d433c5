"""`nexus-tools tool`: a command, or a family of them, per file."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "new": "Write a project with a tool and its test.",
    "serve": "Serve tools over HTTP.",
    "key": "Make and list the keys that sign responses.",
    "validate": "Check whether a tool keeps the protocol.",
    "register": "Register tools, and lock their collateral.",
    "list": "List the registered tools.",
    "show": "Show a tool, its state and its collateral.",
    "proof": "Write what a domain publishes to prove who owns its names.",
    "watch": "Follow what happens to tools.",
    "update": "Change URL, description, timeout, price, payout or terms of a tool.",
    "leaders": "Say which leaders a tool accepts.",
    "operators": "Let others change URL, timeout and price of a tool.",
    "offer": "Offer a name with all its versions to another owner.",
    "accept": "Take over a name that was offered.",
    "invoke": "Request an invocation on chain, and wait for its outcome.",
    "outcome": "Show an invocation and its outcome.",
    "unregister": "Take a tool out of use.",
    "cancel-unregister": "Put an unregistered tool back into use.",
    "claim": "Take the collateral of an unregistered tool back.",
    "re-register": "Bring a claimed tool back.",
    "top-up": "Bring back what was slashed of a suspended tool.",
}
PLACES = {
    "offer": "ownership:offer",
    "accept": "ownership:accept",
    "unregister": "collateral:unregister",
    "cancel-unregister": "collateral:cancel_unregister",
    "claim": "collateral:claim",
    "re-register": "collateral:re_register",
    "top-up": "collateral:top_up",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Write, check, register, list, invoke and unregister tools."""
