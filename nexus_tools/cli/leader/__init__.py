"""The command group `nexus-tools leader`: registrations of leaders, and the Leader daemon.

`run` starts the daemon. `own` finds the leader that a command acts on.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "list": "List leaders with their track records.",
    "register": "Register a leader, lock its collateral, and activate it.",
    "run": "Run the Leader until Ctrl-C.",
    "status": "Show the leaders of the wallet.",
    "jobs": "Inspect the open invocations in a Leader's journal.",
    "journal": "Create a journal in PostgreSQL.",
    "worker": "Manage the keys that close invocations for a leader.",
    "key": "Manage the keys with which a leader signs its tool calls.",
    "activate": "Start accepting new invocations.",
    "deactivate": "Stop accepting new invocations.",
    "unregister": "Unregister a leader.",
    "cancel-unregister": "Cancel the unregistration of a leader.",
    "claim": "Claim the collateral of an unregistered leader.",
    "re-register": "Register a claimed leader again.",
    "top-up": "Restore a suspended leader's collateral to the required amount.",
    "offer": "Offer a leader to another account.",
    "accept": "Accept a leader that was offered to you.",
}
PLACES = {
    "activate": "activity:activate",
    "deactivate": "activity:deactivate",
    "unregister": "collateral:unregister",
    "cancel-unregister": "collateral:cancel_unregister",
    "claim": "collateral:claim",
    "re-register": "collateral:re_register",
    "top-up": "collateral:top_up",
    "offer": "ownership:offer",
    "accept": "ownership:accept",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Register and run a Leader, which dispatches invocations to tools and closes them."""
