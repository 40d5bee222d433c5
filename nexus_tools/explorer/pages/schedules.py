"""The page of a schedule."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.index import find_schedule
from nexus_tools.registry import Schedules, describe_timing
from nexus_tools.sui.types.address import Address

_NEXT = 8
_NEWEST = 20


async def show_schedule(context: PageContext) -> Page:
    """Show a schedule: its next times, executions and funds."""
    schedule_id = Address.parse_whole(context.path["id"])
    indexed = find_schedule(context.connection, schedule_id)
    if indexed is None:
        raise context.not_found("schedule", str(schedule_id))
    executions = context.index.executions(schedule=schedule_id, limit=_NEWEST)
    values: dict[str, Any] = {
        "schedule": indexed,
        "executions": executions.items,
        "overview": None,
        "problem": None,
    }
    try:
        values |= await context.chain.shared(
            ("schedule", indexed), lambda: _on_chain(context, schedule_id)
        )
    except NotFoundError:
        pass  # the schedule was deleted
    except NexusError as error:
        values["problem"] = error.message
    return Page("schedule.html", f"Schedule {str(schedule_id)[:10]}…", values)


async def _on_chain(context: PageContext, schedule: Address) -> Mapping[str, Any]:
    """Return the values that need the node. Raises `schedule_unknown` after a deletion."""
    chain = context.chain
    overview = await Schedules(chain.client, chain.deployment).overview(schedule)
    return {
        "overview": overview,
        "when": describe_timing(overview.order.timing),
        "next_times": overview.next_times(_NEXT) if overview.state.value == "active" else (),
    }
