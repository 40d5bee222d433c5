"""The operations of the API, from which the routes and the OpenAPI document are made."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec

from nexus_tools.index.api import parameters as p
from nexus_tools.index.api.cursors import CursorCodec
from nexus_tools.index.api.documents import (
    Item,
    ListedTool,
    Page,
    Stats,
    ToolPage,
)
from nexus_tools.index.api.problems import ProblemError, parameter_invalid
from nexus_tools.index.api.source import IndexSource, IndexState
from nexus_tools.index.metadata import DatasetteMetadata, describe_file
from nexus_tools.index.queries.records import (
    IndexedExecution,
    IndexedInvocation,
    IndexedLeader,
    IndexedSchedule,
    IndexedTool,
    IndexedWorkflow,
    IndexPage,
    IndexStatus,
    LeaderDetail,
    ToolDetail,
)
from nexus_tools.index.queries.tools import IndexedToolFilter, ToolSort
from nexus_tools.sui.types.address import Address

T = TypeVar("T")


class Query(msgspec.Struct, frozen=True):
    """An open index and its state for one request."""

    source: IndexSource
    state: IndexState


class Operation(msgspec.Struct, frozen=True):
    """A GET operation. `run` receives the query and the parsed parameters.

    If `reads_search` is True, the document also depends on the files of the search, which change
    later than the index.
    """

    path: str
    name: str
    summary: str
    parameters: type[p.Parameters]
    result: Any
    run: Callable[[Query, Any], Any]
    reads_search: bool = False


# --- Tools


def _tools(query: Query, parameters: p.ToolsParameters) -> ToolPage:
    cursors = CursorCodec(query.state.generation, "tools", parameters)
    after = cursors.decode(parameters.after)
    tool_filter = IndexedToolFilter(
        domain=parameters.domain,
        owner=parameters.owner,
        state=parameters.state,
        max_price_mist=parameters.max_price,
    )
    complete_since = query.state.complete_since
    if not parameters.q:
        sort = parameters.sort or ToolSort.NEWEST
        page = query.source.index.tools(tool_filter, sort=sort, limit=parameters.limit, after=after)
        items = tuple(_listed(tool, None) for tool in page.items)
        return ToolPage(items, cursors.encode(page.next), page.checkpoint, complete_since)
    found = query.source.index.search(
        parameters.q, tool_filter, limit=parameters.limit, after=after, sort=parameters.sort
    )
    return ToolPage(
        tuple(_listed(item.tool, item.reason) for item in found.items),
        cursors.encode(found.next),
        found.checkpoint,
        complete_since,
        found.fits,
        found.notes,
    )


def _listed(tool: IndexedTool, reason: str | None) -> ListedTool:
    return ListedTool(**msgspec.structs.asdict(tool), reason=reason)


def _tool(query: Query, parameters: p.ToolParameters) -> Item[ToolDetail]:
    return _item(query, query.source.index.tool(parameters.fqn), f"the tool {parameters.fqn!r}")


# --- Leaders and invocations


def _leaders(query: Query, parameters: p.LeadersParameters) -> Page[IndexedLeader]:
    cursors = CursorCodec(query.state.generation, "leaders", parameters)
    page = query.source.index.leaders(
        parameters.state,
        sort=parameters.sort,
        limit=parameters.limit,
        after=cursors.decode(parameters.after),
    )
    return _page(query, cursors, page)


def _leader(query: Query, parameters: p.IdParameters) -> Item[LeaderDetail]:
    leader = query.source.index.leader(parameters.id)
    return _item(query, leader, f"the leader {parameters.id}")


def _invocations(query: Query, parameters: p.InvocationsParameters) -> Page[IndexedInvocation]:
    cursors = CursorCodec(query.state.generation, "invocations", parameters)
    after = cursors.decode(parameters.after)
    index = query.source.index
    others = (parameters.tool, parameters.requester, parameters.execution, parameters.outcome)
    if parameters.leader is not None:
        if others != (None,) * len(others):
            raise parameter_invalid("`leader` cannot be combined with other filters")
        return _page(
            query,
            cursors,
            index.invocations_closed_by(parameters.leader, limit=parameters.limit, after=after),
        )
    page = index.invocations(
        execution=parameters.execution,
        requester=parameters.requester,
        tool=None if parameters.tool is None else _tool_id(query, parameters.tool),
        outcome=parameters.outcome,
        limit=parameters.limit,
        after=after,
    )
    return _page(query, cursors, page)


def _tool_id(query: Query, fqn: str) -> Address:
    """Return the ID of a tool, or raise the problem `not_found`."""
    row = query.source.connection.execute(
        "SELECT address FROM tools JOIN addresses USING (id) WHERE fqn = ?", (fqn,)
    ).fetchone()
    if row is None:
        raise _not_found(f"the tool {fqn!r}")
    return Address(row[0])


def _invocation(query: Query, parameters: p.IdParameters) -> Item[IndexedInvocation]:
    invocation = query.source.index.invocation(parameters.id)
    return _item(query, invocation, f"the invocation {parameters.id}")


# --- Workflows


def _workflows(query: Query, parameters: p.WorkflowsParameters) -> Page[IndexedWorkflow]:
    cursors = CursorCodec(query.state.generation, "workflows", parameters)
    page = query.source.index.workflows(
        parameters.owner, limit=parameters.limit, after=cursors.decode(parameters.after)
    )
    return _page(query, cursors, page)


def _executions(query: Query, parameters: p.ExecutionsParameters) -> Page[IndexedExecution]:
    cursors = CursorCodec(query.state.generation, "executions", parameters)
    page = query.source.index.executions(
        owner=parameters.owner,
        workflow=parameters.workflow,
        schedule=parameters.schedule,
        limit=parameters.limit,
        after=cursors.decode(parameters.after),
    )
    return _page(query, cursors, page)


def _schedules(query: Query, parameters: p.SchedulesParameters) -> Page[IndexedSchedule]:
    cursors = CursorCodec(query.state.generation, "schedules", parameters)
    page = query.source.index.schedules(
        owner=parameters.owner,
        workflow=parameters.workflow,
        limit=parameters.limit,
        after=cursors.decode(parameters.after),
    )
    return _page(query, cursors, page)


# --- The index


def _stats(query: Query, parameters: p.StatsParameters) -> Stats:
    days = query.source.index.stats(parameters.days)
    return Stats(days, query.state.checkpoint, query.state.complete_since)


def _status(query: Query, _: p.Parameters) -> IndexStatus:
    return query.source.index.status()


def _metadata(query: Query, _: p.Parameters) -> DatasetteMetadata:
    return describe_file(query.source.path, query.source.identity.package)


def _page(query: Query, cursors: CursorCodec, page: IndexPage[T]) -> Page[T]:
    return Page(page.items, cursors.encode(page.next), page.checkpoint, query.state.complete_since)


def _item(query: Query, item: T | None, what: str) -> Item[T]:
    if item is None:
        raise _not_found(what)
    return Item(item, query.state.checkpoint, query.state.complete_since)


def _not_found(what: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.NOT_FOUND,
        "not_found",
        f"{what} is not in the index",
        hint="Check the name. The index may be behind the chain: GET /api/status.",
    )


OPERATIONS = (
    Operation(
        "/api/tools", "listTools", "List or search tools", p.ToolsParameters, ToolPage, _tools
    ),
    Operation(
        "/api/tools/{fqn}",
        "getTool",
        "Get a tool and its record",
        p.ToolParameters,
        Item[ToolDetail],
        _tool,
    ),
    Operation(
        "/api/invocations",
        "listInvocations",
        "List invocations, newest first",
        p.InvocationsParameters,
        Page[IndexedInvocation],
        _invocations,
    ),
    Operation(
        "/api/invocations/{id}",
        "getInvocation",
        "Get an invocation",
        p.IdParameters,
        Item[IndexedInvocation],
        _invocation,
    ),
    Operation(
        "/api/leaders",
        "listLeaders",
        "List leaders",
        p.LeadersParameters,
        Page[IndexedLeader],
        _leaders,
    ),
    Operation(
        "/api/leaders/{id}",
        "getLeader",
        "Get a leader and its record",
        p.IdParameters,
        Item[LeaderDetail],
        _leader,
    ),
    Operation(
        "/api/workflows",
        "listWorkflows",
        "List workflows, newest first",
        p.WorkflowsParameters,
        Page[IndexedWorkflow],
        _workflows,
    ),
    Operation(
        "/api/executions",
        "listExecutions",
        "List executions, newest first",
        p.ExecutionsParameters,
        Page[IndexedExecution],
        _executions,
    ),
    Operation(
        "/api/schedules",
        "listSchedules",
        "List schedules, newest first",
        p.SchedulesParameters,
        Page[IndexedSchedule],
        _schedules,
    ),
    Operation("/api/stats", "getStats", "Get totals per day", p.StatsParameters, Stats, _stats),
    Operation(
        "/api/status",
        "getStatus",
        "Get the state of the index",
        p.Parameters,
        IndexStatus,
        _status,
        reads_search=True,
    ),
    Operation(
        "/metadata.json",
        "getMetadata",
        "Get the metadata of the tables for datasette",
        p.Parameters,
        DatasetteMetadata,
        _metadata,
    ),
)
