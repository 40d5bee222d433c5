"""`nexus-tools localnet`: a Sui network in one process."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "start": "Start a localnet; with --detach, in the background.",
    "status": "Show where the localnet listens, its chain and its time.",
    "stop": "Stop the localnet, and wait until it has ended.",
    "reset": "Stop the localnet, remove its state, and start it again.",
    "faucet": "Send SUI to an address, or to the key that signs.",
    "advance-clock": "Let time pass on the chain.",
    "advance-epoch": "End the epoch, and begin the next one.",
    "snapshot": "Name the present, to come back to it with `revert`.",
    "revert": "Go back to a snapshot.",
    "trace": "Show what a transaction did or would do, call by call.",
}
PLACES = {
    "start": "lifecycle:start",
    "status": "lifecycle:status",
    "stop": "lifecycle:stop",
    "reset": "lifecycle:reset",
    "advance-clock": "control:advance_clock",
    "advance-epoch": "control:advance_epoch",
    "snapshot": "control:snapshot",
    "revert": "control:revert",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """A Sui network in one process, for development and tests.

    Commands on the network `localnet` find it by themselves. `start --name NAME` starts another one
    beside it, which is the network NAME.
    """
