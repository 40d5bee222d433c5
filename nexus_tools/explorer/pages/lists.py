"""The lists of workflows, executions and schedules, newest first, which filter by addresses."""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import asdict

from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.index import IndexPage
from nexus_tools.index.api import PageParameters
from nexus_tools.sui.types.address import Address


class WorkflowListParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list of workflows."""

    limit: Annotated[int, Meta(ge=1, le=50)] = 30
    owner: Address | None = None


class ScheduleListParameters(WorkflowListParameters, frozen=True, kw_only=True):
    """The parameters of the list of schedules."""

    workflow: Address | None = None


class ExecutionListParameters(ScheduleListParameters, frozen=True, kw_only=True):
    """The parameters of the list of executions."""

    schedule: Address | None = None


async def list_workflows(context: PageContext) -> Page:
    """Show the newest workflows that match the filter."""
    return _list(context, "workflows", WorkflowListParameters, context.index.workflows)


async def list_executions(context: PageContext) -> Page:
    """Show the newest executions that match the filters."""
    return _list(context, "executions", ExecutionListParameters, context.index.executions)


async def list_schedules(context: PageContext) -> Page:
    """Show the newest schedules that match the filters."""
    return _list(context, "schedules", ScheduleListParameters, context.index.schedules)


def _list(
    context: PageContext,
    name: str,
    kind: type[WorkflowListParameters],
    read: Callable[..., IndexPage[Any]],
) -> Page:
    """Return the page of a list. `read` is a method of `Index` with the filters of `kind`."""
    parameters = context.parameters(kind)
    pager = context.pager(name, parameters)
    filters = asdict(parameters)
    limit, _ = filters.pop("limit"), filters.pop("after")
    found = read(**filters, limit=limit, after=pager.after)
    values = {
        "items": found.items,
        "links": pager.links(found.next),
        "filters": filters,
        "is_filtered": any(filters.values()),
    }
    return Page(f"{name}.html", name.capitalize(), values)
