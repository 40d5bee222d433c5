"""The command group `nexus-tools proof`: documents that prove paid calls."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "show": "Show or save the proof of a paid call.",
    "verify": "Verify a proof against your node.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Show and verify proofs of paid calls.

    A proof is a JSON document with a request, its answer and its payments, and with the bytes of
    the transactions and checkpoints on chain. Anyone can verify the document against a node.
    """
