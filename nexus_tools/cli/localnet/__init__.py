"""The command group `nexus-tools localnet`: a Sui network in one process.

`process` runs the network. `lifecycle` and `control` have the commands. `trace` prints traces.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "start": "Start a localnet. With --detach, run it in the background.",
    "status": "Show the localnet's URL, chain, and time.",
    "stop": "Stop the localnet.",
    "reset": "Delete the localnet's state and restart it.",
    "faucet": "Send SUI to an address, or to the key that signs.",
    "advance-clock": "Advance the clock of the chain.",
    "advance-epoch": "End the epoch and start the next one.",
    "snapshot": "Take a snapshot of the localnet.",
    "revert": "Revert the localnet to a snapshot.",
    "trace": "Trace a transaction call by call.",
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
    """Run a local Sui network for development and tests.

    Commands that use the network `localnet` find the process automatically. To run several
    localnets, pass `--name NAME` to `start` and use the network NAME.
    """
