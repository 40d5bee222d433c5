"""`nexus-tools leader`: who closes invocations, and the daemon that does it."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "list": "List the leaders, and what each did.",
    "register": "Register a leader, lock its collateral, and activate it.",
    "run": "Run the Leader until Ctrl-C.",
    "status": "Show the leaders of the wallet.",
    "worker": "Say whose keys close invocations in its name.",
    "key": "Make and list the keys that sign tool calls.",
    "activate": "Let new invocations name it.",
    "deactivate": "Spare it new invocations.",
    "unregister": "Start the timer after which the collateral can be claimed.",
    "cancel-unregister": "Take the unregistration back.",
    "claim": "Claim the collateral of the unregistered leader.",
    "re-register": "Bring a claimed leader back.",
    "top-up": "Bring back what was slashed of a suspended leader.",
    "offer": "Offer it to another owner.",
    "accept": "Take over a leader that was offered.",
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
    """Carry invocations from the chain to tools and close them with the outcomes."""
