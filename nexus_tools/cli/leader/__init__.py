"""`nexus-tools leader`: the identity that closes invocations, and the daemon under it."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "register": "Register a leader, lock its collateral, and activate it.",
    "run": "Run the Leader until Ctrl-C.",
    "key": "Make and show the key that signs tool calls.",
    "status": "Show the leaders of the wallet.",
    "activate": "Become responsible for new invocations.",
    "deactivate": "Get no new invocations.",
    "unregister": "Start the timer after which the collateral can be claimed.",
    "cancel-unregister": "Take the unregistration back.",
    "top-up": "Bring back what was slashed of a suspended leader.",
    "claim": "Claim the collateral of the unregistered leader.",
}
PLACES = {
    "register": "identity:register",
    "status": "identity:status",
    "activate": "identity:activate",
    "deactivate": "identity:deactivate",
    "unregister": "identity:unregister",
    "cancel-unregister": "identity:cancel_unregister",
    "top-up": "identity:top_up",
    "claim": "identity:claim",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Carry invocations from the chain to tools and close them with the outcomes."""
