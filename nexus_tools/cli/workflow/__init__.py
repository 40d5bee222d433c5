"""The command group `nexus-tools workflow`. Each module has one command.

`workflow_file` reads workflows, and `execution_view` prints executions.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "new": "Create an example workflow.",
    "validate": "Validate a workflow document.",
    "draw": "Draw a workflow.",
    "simulate": "Simulate a workflow locally, with stubs or real tools.",
    "publish": "Publish a workflow permanently.",
    "list": "List the published workflows.",
    "show": "Show a published workflow, or an execution.",
    "cost": "Estimate the cost of an execution.",
    "run": "Start an execution of a published workflow.",
    "executions": "List the executions that you started.",
    "watch": "Follow an execution until it ends.",
    "refill": "Add funds to an execution.",
    "cancel": "Cancel an execution.",
    "clean": "Delete an ended execution and reclaim its storage deposit.",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS)
def command() -> None:
    """Create, validate, simulate, publish, and run workflows of tools."""
