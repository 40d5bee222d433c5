"""`nexus-tools workflow`: a command per file."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "new": "Write a small workflow to start from.",
    "validate": "Check whether a workflow keeps the rules.",
    "draw": "Draw a workflow.",
    "simulate": "Execute a workflow here, with stubs or real tools.",
    "publish": "Publish a workflow, for good.",
    "list": "List the published workflows.",
    "show": "Show a published workflow, or an execution.",
    "cost": "Reckon what an execution takes.",
    "run": "Begin an execution of a published workflow.",
    "executions": "List the executions that you began.",
    "watch": "Follow an execution until it has ended.",
    "refill": "Add to the funds of an execution.",
    "cancel": "End an execution before it is done.",
    "clean": "Delete what is left of an execution, for what it took.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Join tools to workflows: write, check, draw, simulate, publish and run them."""
