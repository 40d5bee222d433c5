"""The command group `nexus-tools schedule`: executions of workflows by time or event.

`create` and `extend` parse the options of `timing`. `formatting` prints schedules.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "create": "Create a schedule for a workflow.",
    "list": "List your schedules.",
    "show": "Show a schedule and the executions it started.",
    "pause": "Pause a schedule.",
    "resume": "Resume a paused schedule.",
    "refill": "Add funds to a schedule.",
    "extend": "Add planned times, a later end, or more executions.",
    "reset-cursor": "Reset the event cursor after a leader reported a false event.",
    "cancel": "Cancel a schedule and withdraw its remaining funds.",
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
    """Run workflows at planned times, or when events occur."""
