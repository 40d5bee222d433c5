"""The home page: what is registered, what runs now, the leaders' health, and money per day."""

from collections.abc import Sequence
from contextlib import suppress

from nexus_tools.errors import ValidationError
from nexus_tools.explorer.charts import Series, call_chart, day_chart
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.index import MAX_COUNTED, IndexedTool, InvocationOutcome, read_overview
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolFqn

_SHOWN = 8
_NEWEST = 5
_DAYS = 30
_PAID = Series("paid", lambda day: day.performance.volume_mist)


async def show_home(context: PageContext) -> Page:
    """Show the overview of the market."""
    index, now_ms = context.index, context.now_ms
    opened = index.invocations(outcome=InvocationOutcome.OPEN, limit=_SHOWN * 2).items
    days = index.stats(_DAYS)
    tools = index.tools(limit=_NEWEST).items
    values = {
        "overview": read_overview(context.connection, now_ms),
        "max_counted": MAX_COUNTED,
        "running": [item for item in opened if item.expires_at_ms > now_ms][:_SHOWN],
        "invocations": index.invocations(outcome=InvocationOutcome.CLOSED, limit=_SHOWN).items,
        "leaders": index.leaders(limit=_NEWEST).items,
        "tools": tools,
        "first_fqn": _first_valid_fqn(tools),
        "days": days,
        "money": day_chart("Paid to tools per day", days, now_ms, [_PAID], units.sui),
        "calls": call_chart(days, now_ms),
    }
    return Page("home.html", "Overview", values)


def _first_valid_fqn(tools: Sequence[IndexedTool]) -> str | None:
    """Return an FQN that a command may contain, because users paste commands into a shell."""
    for tool in tools:
        with suppress(ValidationError):
            return str(ToolFqn.parse(tool.fqn))
    return None
