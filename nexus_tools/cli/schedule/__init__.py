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
    "extend": "Add planned times, a later end, or more executions.",
    "reset-cursor": "Let events count from now on, after a leader reported false ones.",
    "cancel": "Begin nothing more, and take the funds back.",
}
PLACES = {
    "list": "formatting:list_schedules",
    "show": "formatting:show",
    "pause": "control:pause",
    "resume": "control:resume",
    "refill": "control:refill",
    "extend": "extend:extend",
    "reset-cursor": "control:reset_cursor",
    "cancel": "control:cancel",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Have workflows executed at planned times, or by events."""
