"""The work for which one process of a leader is responsible at a time.

The holder reads events, works on executions and schedules, and handles rollbacks of the chain. A
Leader with an SQLite file is always the holder.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from nexus_tools.errors import UnreachableError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closer import Closer
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.executions.author_accounts import AuthorAccounts
from nexus_tools.leader.executions.execution_runner import ExecutionRunner
from nexus_tools.leader.intake.watcher import BEGINNING, Watcher
from nexus_tools.leader.journal.invocation_rows import Entry
from nexus_tools.leader.journal.journal import Journal, RecoveredState
from nexus_tools.leader.journal.schedule_rows import Search
from nexus_tools.leader.schedules.schedule_runner import ScheduleRunner
from nexus_tools.sui.client import CHAIN_ROLLED_BACK, Cursor
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

_PRUNE_SECONDS = 3_600.0
_MAX_CHECKED_CLOSINGS = 50  # a node returns at most this many objects at once


class OpenInvocations(Protocol):
    """The open invocations of the leader, of which the holder learns from events."""

    async def resume(self, entries: Iterable[Entry]) -> None:
        """Continue with the open invocations of the journal."""

    async def start(self, assignments: Iterable[Assignment]) -> None:
        """Start with new invocations."""

    def drop(self, closed: Mapping[Address, ClosureKind]) -> None:
        """Drop invocations that the chain reports as closed."""

    def is_tracked(self, subject: bytes) -> bool:
        """Return whether an ID is an open invocation."""


@dataclass(frozen=True, slots=True)
class HolderComponents:
    """The components that are created each time a process becomes the holder."""

    executions: ExecutionRunner
    schedules: ScheduleRunner
    watcher: Watcher


class Holder:
    """The components of the holder. `build` creates them, with their tasks in a task group.

    `started` is set after the open work in the journal is resumed. `resumed` is the number of
    resumed invocations.
    """

    def __init__(
        self,
        config: LeaderConfig,
        chain: Chain,
        *,
        journal: Journal,
        clock: ChainClock,
        closer: Closer,
        invocations: OpenInvocations,
        accounts: ExecutionAccounts,
        authors: AuthorAccounts,
        build: Callable[[asyncio.TaskGroup], HolderComponents],
    ) -> None:
        self._config = config
        self._chain = chain
        self._journal = journal
        self._clock = clock
        self._closer = closer
        self._invocations = invocations
        self._accounts = accounts
        self._authors = authors
        self._build = build
        self._parts: HolderComponents | None = None
        self._running: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self.started = asyncio.Event()
        self.resumed = 0

    def problems(self) -> dict[str, str]:
        """Return the current problems by component."""
        return {"watcher": BEGINNING if self._parts is None else self._parts.watcher.trouble}

    async def run(self) -> None:
        """Create the components, resume the open work, and follow events until cancelled."""
        self._running = asyncio.current_task()
        try:
            async with asyncio.TaskGroup() as group:
                memory = await self._journal.recover()
                if memory.cursor:
                    self._chain.observe(Cursor.parse(memory.cursor).checkpoint)
                await self._detect_rollback()
                self._accounts.reset()
                await self._authors.load()
                self._journal.is_holder = True
                self._parts = self._build(group)
                await self._resume(group, self._parts, memory)
                self._watching = group.create_task(self._watch(self._parts, memory.cursor))
                self.resumed = len(memory.entries)
                self.started.set()
        finally:
            self.started.clear()
            self._journal.is_holder = False
            if self._parts is not None:
                self._parts.executions.stop()
            self._parts = self._running = self._watching = None

    async def stop(self) -> None:
        """Stop following events. A late event would start a task that nothing ends.

        Before the open work is resumed, stop completely.
        """
        stopping = self._watching or self._running
        if stopping is not None:
            stopping.cancel()
            await asyncio.wait({stopping})

    async def _resume(
        self, group: asyncio.TaskGroup, parts: HolderComponents, memory: RecoveredState
    ) -> None:
        parts.schedules.resume(memory.schedules)
        if Search.SCHEDULES not in memory.searches:
            parts.schedules.start_search()
        group.create_task(self._prune())
        group.create_task(parts.schedules.run())
        await self._invocations.resume(memory.entries)
        parts.executions.resume(memory.executions)
        if Search.EXECUTIONS not in memory.searches:
            group.create_task(parts.executions.search())

    async def _prune(self) -> None:
        while True:
            await self._journal.prune(self._clock.now_ms() - self._config.retention_ms)
            await asyncio.sleep(_PRUNE_SECONDS)

    # --- Rollbacks of the chain

    async def _detect_rollback(self) -> None:
        """Detect a rollback of the node that happened while no process was the holder.

        If an invocation is closed in the journal but open on the chain, the node was rolled back.
        The event cursor may not reveal the rollback. A node that only lags is not considered rolled
        back, because invocations that were closed after the node's current time are not checked.
        """
        while True:
            try:
                now_ms = await self._chain.client.now_ms()
                last = await self._journal.closed_last(now_ms, _MAX_CHECKED_CLOSINGS)
                if await self._chain.still_open(last):
                    error = "closed invocations are open again: the chain was rolled back"
                    _log.warning("event_stream_interrupted", code=CHAIN_ROLLED_BACK, error=error)
                    self._chain.note_rollback()
            except UnreachableError:
                await asyncio.sleep(self._config.error_retry_delay_ms / 1000)
            else:
                return

    async def _watch(self, parts: HolderComponents, cursor: str | None) -> None:
        """Follow events forever, and start again from an earlier position after each rollback."""
        while True:
            # A task group would cancel the watcher a second time while it closes its stream.
            watching = asyncio.create_task(parts.watcher.run(cursor))
            rolled_back = asyncio.create_task(self._chain.rolled_back.wait())
            try:
                await asyncio.wait((watching, rolled_back), return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    return watching.result()
            finally:
                watching.cancel()
                rolled_back.cancel()
                await asyncio.wait((watching, rolled_back))
            parts.watcher.trouble = "the chain was rolled back: events are read again"
            await self._reconcile(parts)
            cursor = None

    async def _reconcile(self, parts: HolderComponents) -> None:
        """Resume the work that a rollback of the chain reopened.

        Invocations that were closed after the position of the rollback are open again, although
        they are closed in the journal. Other invocations in the journal may not have a task,
        because the rollback may have interrupted the processing of a page. The watcher reads the
        events again, but does not start tasks for invocations that the journal already contains.
        """
        while self._chain.rolled_back.is_set():
            self._chain.rolled_back.clear()
            await self._closer.rest()
            try:
                closed = await self._journal.closed_early(self._clock.now_ms())
                await self._journal.reopen(await self._chain.still_open(closed))
            except UnreachableError:
                self._chain.rolled_back.set()
                await asyncio.sleep(self._config.error_retry_delay_ms / 1000)
        await self._journal.reopen_schedule_search()
        parts.schedules.start_search()  # a schedule may no longer be cancelled
        memory = await self._journal.recover()
        await self._invocations.resume(memory.entries)
        parts.executions.resume(memory.executions)
