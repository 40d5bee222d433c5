"""The command group `nexus-tools tool`. Each module has a command or a group of commands.

Start reading in `register` and `invoke`. `record` prints tools.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "new": "Create a project with a tool and its test.",
    "serve": "Serve tools over HTTP.",
    "key": "Manage the keys with which a tool signs its responses.",
    "validate": "Check that a tool follows the protocol.",
    "register": "Register tools and lock their collateral.",
    "list": "List the registered tools.",
    "show": "Show a tool, its state and its collateral.",
    "proof": "Print or check the document that proves the ownership of a domain's names.",
    "watch": "Follow the events of tools.",
    "update": "Change the URL, description, timeout, price, payout, or terms of a tool.",
    "leaders": "Manage a tool's list of accepted leaders.",
    "operators": "Manage the operators of a tool.",
    "offer": "Offer a name with all its versions to another account.",
    "accept": "Accept a name that was offered to you.",
    "invoke": "Invoke a tool on chain and wait for the outcome.",
    "outcome": "Show an invocation and its outcome.",
    "unregister": "Unregister a tool.",
    "cancel-unregister": "Cancel the unregistration of a tool.",
    "claim": "Claim the collateral of an unregistered tool.",
    "re-register": "Register a claimed tool again.",
    "top-up": "Restore a suspended tool's collateral to the required amount.",
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
    """Create, validate, register, list, and invoke tools."""
