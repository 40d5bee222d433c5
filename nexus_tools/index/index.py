"""An index for reading.

Queries are synchronous, because each of them takes at most a few milliseconds. A thread would take
longer than most queries.
"""

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

from nexus_tools.contracts import Deployment, LeaderState
from nexus_tools.index.addresses import find_numbers
from nexus_tools.index.index_file import DAMAGE, IndexIdentity, invalid_error, map_file, open_reader
from nexus_tools.index.index_search import IndexSearch, SearchQuery, SearchResults
from nexus_tools.index.queries import activity
from nexus_tools.index.queries import tools as tool_queries
from nexus_tools.index.queries.performance import read_days
from nexus_tools.index.queries.ranking import read_own_tools
from nexus_tools.index.queries.records import (
    DayStats,
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
from nexus_tools.index.queries.registered import RegisteredTools, read_registered
from nexus_tools.index.queries.scan import Scan
from nexus_tools.index.queries.search import Admits, read_names
from nexus_tools.index.queries.status import read_status
from nexus_tools.index.queries.tools import IndexedToolFilter, LeaderSort, ToolSort
from nexus_tools.index.tool_text import ToolText, read_tool_texts
from nexus_tools.sui.types.address import Address

T = TypeVar("T")

PAGE_SIZE = 50
"""The default number of items on a page."""

ALL_TOOLS = IndexedToolFilter()


class Index:
    """An index that is open for reading.

    The index proposes, and the chain decides: results may be older than the chain. Methods with
    `requesters` also return the performance for these accounts, such as your own and those that you
    trust. Every method raises `index_invalid` if the file is damaged. Methods with `after` raise
    `cursor_invalid`.
    """

    def __init__(
        self, path: Path, identity: IndexIdentity, *, intent_model: str | None = None
    ) -> None:
        """Open an index. `intent_model` is as in `open`. Raises the errors of `open_reader`."""
        self.path = path
        self.identity = identity
        self._connection = open_reader(path, identity)
        if intent_model is None:  # the system counts mapped pages as memory, beside the model
            map_file(self._connection)
        self._inode = path.stat().st_ino
        self._search = IndexSearch(path, intent_model)

    @classmethod
    def open(
        cls,
        deployment: Deployment,
        path: Path | None = None,
        *,
        intent_model: str | None = None,
    ) -> Self:
        """Open the index of a deployment, by default in the user's data directory.

        `intent_model` is "wordllama" or a folder, if `search` compares meanings too. Close it with
        `close` or a `with` block. Raises `index_missing`, `index_invalid`,
        `index_format_unsupported` or `index_identity_mismatch`.
        """
        identity = IndexIdentity.of(deployment)
        return cls(path or identity.path(), identity, intent_model=intent_model)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._search.close()
        self._connection.close()

    @property
    def is_replaced(self) -> bool:
        """Whether the file was deleted, or another file has its path, so that this one is old."""
        try:
            return self.path.stat().st_ino != self._inode
        except OSError:
            return True

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the index, even if a writer commits a batch meanwhile."""
        try:
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")
        except DAMAGE as error:
            raise invalid_error(self.path, error) from error

    # --- Status

    def status(self) -> IndexStatus:
        """Return the state of the index."""
        with self._reading() as connection:
            search = self._search.status(connection)
            return read_status(connection, self.path.stat().st_size, search)

    def checkpoint(self) -> int:
        """Return the checkpoint up to which the index contains all events."""
        with self._reading() as connection:
            return int(connection.execute("SELECT checkpoint FROM cursor").fetchone()[0])

    def completeness_notes(self) -> list[str]:
        """Return a sentence if the index lacks tools, because the node had deleted old events."""
        with self._reading() as connection:
            ((since,),) = connection.execute("SELECT complete_since FROM identity")
        if not since:
            return []
        return [f"the index knows only tools that were registered after checkpoint {since - 1}"]

    # --- Tools and leaders

    def search(
        self,
        query: str,
        tool_filter: IndexedToolFilter = ALL_TOOLS,
        *,
        limit: int = PAGE_SIZE,
        after: str | None = None,
        sort: ToolSort | None = None,
        requesters: Collection[Address] = (),
        admits: Admits | None = None,
    ) -> SearchResults:
        """Return a page of the active tools that fit a query of plain text, the best first.

        `sort` is another order of the same tools. The experience of `requesters`, such as your own
        account, decides before the record of all accounts. `admits` selects tools by FQN and
        description. The filters apply to the 400 best tools. Raises `text_index_unusable` and
        `cursor_invalid`.
        """
        with self._reading() as connection:
            numbers = find_numbers(connection, requesters) or ()
            return self._search.search(
                connection,
                SearchQuery(
                    query,
                    limit,
                    after,
                    sort,
                    tool_filter,
                    admits,
                    numbers,
                    _now_ms(connection),
                ),
            )

    def tool_names(
        self,
        tool_filter: IndexedToolFilter = ALL_TOOLS,
        *,
        limit: int = PAGE_SIZE,
        offset: int = 0,
        admits: Admits | None = None,
    ) -> tuple[list[str], int]:
        """Return the FQNs of active tools in the order of names, and the number of all of them."""
        with self._reading() as connection:
            return read_names(connection, tool_filter, admits, limit, offset)

    def tools(
        self,
        tool_filter: IndexedToolFilter = ALL_TOOLS,
        *,
        sort: ToolSort = ToolSort.NEWEST,
        limit: int = PAGE_SIZE,
        after: str | None = None,
        requesters: Collection[Address] | None = None,
    ) -> IndexPage[IndexedTool]:
        """Return a page of tools."""
        with self._reading() as connection:
            numbers, now_ms = find_numbers(connection, requesters), _now_ms(connection)
            return _page(
                connection,
                tool_queries.scan_tools(connection, tool_filter, sort),
                lambda row: tool_queries.read_tool(connection, row, numbers, now_ms),
                limit,
                after,
            )

    def registered(
        self, start: int, tool_filter: IndexedToolFilter = ALL_TOOLS, *, limit: int
    ) -> RegisteredTools | None:
        """Return active tools in the order of their registration. See `read_registered`."""
        with self._reading() as connection:
            return read_registered(connection, start, tool_filter, limit)

    def own_tools(
        self,
        tool_filter: IndexedToolFilter = ALL_TOOLS,
        *,
        sort: ToolSort,
        requesters: Collection[Address],
    ) -> tuple[list[IndexedTool], list[IndexedTool]]:
        """Return the tools that `requesters` called, which come before and after all other tools.

        `sort` is `REPUTATION` or `VOLUME`. Only the newest 2 000 requests of each account count.
        """
        with self._reading() as connection:
            numbers, now_ms = find_numbers(connection, requesters) or (), _now_ms(connection)
            return read_own_tools(connection, tool_filter, sort, numbers, now_ms)

    def tool(self, fqn: str, *, requesters: Collection[Address] | None = None) -> ToolDetail | None:
        """Return the tool with an FQN and its performance, or None."""
        with self._reading() as connection:
            numbers, now_ms = find_numbers(connection, requesters), _now_ms(connection)
            return tool_queries.read_tool_detail(connection, fqn, numbers, now_ms)

    def tool_texts(self, after_change: int = 0, limit: int = 1_000) -> list[ToolText]:
        """Return the texts of tools that changed after a change number. See `read_tool_texts`.

        If `status().generation` changed, start again at 0.
        """
        with self._reading() as connection:
            return read_tool_texts(connection, after_change, limit)

    def leaders(
        self,
        state: LeaderState | None = None,
        *,
        sort: LeaderSort = LeaderSort.REPUTATION,
        limit: int = PAGE_SIZE,
        after: str | None = None,
        requesters: Collection[Address] | None = None,
    ) -> IndexPage[IndexedLeader]:
        """Return a page of leaders with their performance."""
        with self._reading() as connection:
            numbers, now_ms = find_numbers(connection, requesters), _now_ms(connection)
            return _page(
                connection,
                tool_queries.scan_leaders(state, sort),
                lambda row: tool_queries.read_leader(connection, row, numbers, now_ms),
                limit,
                after,
            )

    def leader(
        self, leader: Address, *, requesters: Collection[Address] | None = None
    ) -> LeaderDetail | None:
        """Return the leader with an ID and its performance, or None."""
        with self._reading() as connection:
            numbers, now_ms = find_numbers(connection, requesters), _now_ms(connection)
            return tool_queries.read_leader_detail(connection, leader, numbers, now_ms)

    def stats(self, days: int = 30) -> tuple[DayStats, ...]:
        """Return the closings of all tools on each of the last days, newest first.

        Days without closings are omitted.
        """
        with self._reading() as connection:
            return read_days(connection, days, _now_ms(connection))

    # --- Invocations

    def invocation(self, invocation: Address) -> IndexedInvocation | None:
        """Return the invocation with an ID, even if it was deleted on chain, or None."""
        with self._reading() as connection:
            request = activity.find_request(connection, invocation)
            return None if request is None else activity.read_invocation(connection, request)

    def invocations(
        self,
        *,
        execution: Address | None = None,
        requester: Address | None = None,
        tool: Address | None = None,
        outcome: activity.InvocationOutcome | None = None,
        limit: int = PAGE_SIZE,
        after: str | None = None,
    ) -> IndexPage[IndexedInvocation]:
        """Return a page of invocations, newest request first."""
        with self._reading() as connection:
            fields = {"execution": execution, "requester": requester, "tool": tool}
            scan = activity.scan_newest(connection, "requests", fields)
            if scan is not None and outcome is not None:
                scan = scan.also(activity.outcome_condition(outcome))
            return _page(
                connection,
                scan,
                lambda row: activity.read_invocation(connection, row),
                limit,
                after,
            )

    def invocations_closed_by(
        self, leader: Address, *, limit: int = PAGE_SIZE, after: str | None = None
    ) -> IndexPage[IndexedInvocation]:
        """Return a page of the invocations that a leader closed, newest closing first.

        Invocations whose request is older than the index are omitted.
        """
        with self._reading() as connection:
            scan = activity.scan_newest(connection, "closings", {"leader": leader})
            if scan is not None:
                scan = scan.also(("request IS NOT NULL", ()))

            def read(row: int) -> IndexedInvocation:
                request = activity.request_of_closing(connection, row)
                return activity.read_invocation(connection, request)

            return _page(connection, scan, read, limit, after)

    # --- Workflows

    def workflows(
        self, owner: Address | None = None, *, limit: int = PAGE_SIZE, after: str | None = None
    ) -> IndexPage[IndexedWorkflow]:
        """Return a page of published workflows, newest first."""
        return self._newest("workflows", {"owner": owner}, activity.read_workflow, limit, after)

    def executions(
        self,
        *,
        owner: Address | None = None,
        workflow: Address | None = None,
        schedule: Address | None = None,
        limit: int = PAGE_SIZE,
        after: str | None = None,
    ) -> IndexPage[IndexedExecution]:
        """Return a page of executions, newest first, also of those that were deleted on chain."""
        fields = {"schedule": schedule, "owner": owner, "workflow": workflow}
        return self._newest("executions", fields, activity.read_execution, limit, after)

    def schedules(
        self,
        *,
        owner: Address | None = None,
        workflow: Address | None = None,
        limit: int = PAGE_SIZE,
        after: str | None = None,
    ) -> IndexPage[IndexedSchedule]:
        """Return a page of schedules, newest first, also of those that were deleted on chain."""
        fields = {"owner": owner, "workflow": workflow}
        return self._newest("schedules", fields, activity.read_schedule, limit, after)

    def _newest(
        self,
        table: str,
        fields: dict[str, Address | None],
        read: Callable[[sqlite3.Connection, int], T],
        limit: int,
        after: str | None,
    ) -> IndexPage[T]:
        with self._reading() as connection:
            scan = activity.scan_newest(connection, table, fields)
            return _page(connection, scan, lambda row: read(connection, row), limit, after)


def _page(
    connection: sqlite3.Connection,
    scan: Scan | None,
    read: Callable[[int], T],
    limit: int,
    after: str | None,
) -> IndexPage[T]:
    (checkpoint,) = connection.execute("SELECT checkpoint FROM cursor").fetchone()
    rows, following = ([], None) if scan is None else scan.read(connection, limit, after)
    return IndexPage(tuple(map(read, rows)), following, checkpoint)


def _now_ms(connection: sqlite3.Connection) -> int:
    """Return the current time, or the time of the newest event if the chain's clock is ahead."""
    (newest_ms,) = connection.execute("SELECT newest_ms FROM cursor").fetchone()
    return max(int(newest_ms), int(time.time() * 1000))
