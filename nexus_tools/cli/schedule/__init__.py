"""`nexus-tools schedule`: executions of workflows at planned times, or by events."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "create": "Have a workflow executed at planned times, or by events.",
    "list": "List your schedules.",
    "show": "Show a schedule and what it began.",
    "pause": "Begin nothing for now.",
    "resume": "Go on with what is planned from now on.",
    "refill": "Add to the funds.",
    "cancel": "Begin nothing more, and take the funds back.",
}
PLACES = {
    "list": "shown:list_schedules",
    "show": "shown:show",
    "pause": "control:pause",
    "resume": "control:resume",
    "refill": "control:refill",
    "cancel": "control:cancel",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Have workflows executed at planned times, or by events."""
