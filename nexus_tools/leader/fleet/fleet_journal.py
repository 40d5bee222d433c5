"""The journal of a fleet, in which each open invocation belongs to one process or is free."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.fleet import fleet_rows
from nexus_tools.leader.journal import lease, schedule_rows
from nexus_tools.leader.journal.group_commit import GroupCommit
from nexus_tools.leader.journal.invocation_rows import Entry, dump_outcome
from nexus_tools.leader.journal.journal import Journal, RecoveredState, update_executions
from nexus_tools.leader.journal.lease import HoldingLostError, Member, RowLostError, uptime_s
from nexus_tools.leader.journal.postgres import PostgresSchema
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.schedule_rows import ScheduleChange
from nexus_tools.leader.journal.store import Connection
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Outcome

_PRUNED_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Beat:
    """The numbers of processes, and of invocations that no process claims again.

    `ready_others` are the other processes that are ready to close invocations.
    """

    processes: int
    ready_others: int
    poisonous: int


@dataclass(frozen=True, slots=True)
class Claim:
    """The claimed invocations. `is_full` is set if there may be more of them."""

    entries: Sequence[Entry]
    is_full: bool


@dataclass(frozen=True, slots=True)
class _Page:
    """The new, open assignments of a page, and the older ones that it closed without an owner."""

    new: tuple[Assignment, ...]
    unowned: list[tuple[Assignment, ClosureKind]]


class FleetJournal(Journal):
    """A journal in PostgreSQL, and the lease with which this process shares it.

    `is_ready` returns whether this process can close invocations. Each beat records the result for
    the other processes. `on_unowned_closed` is called for each invocation that an event closed
    while no process owned it. Every method may raise `LeaseLostError`.
    """

    def __init__(self, commits: GroupCommit, store: PostgresSchema, member: Member) -> None:
        super().__init__(commits)
        self._store = store
        self._cursor = ""
        self.worker = store.worker
        self.member = member
        self.has_ready_others = False
        self.is_ready: Callable[[], bool] = lambda: True
        self._excluded: dict[Address, float] = {}
        self.on_unowned_closed: Callable[[Assignment, ClosureKind], None] = lambda *_: None

    @classmethod
    async def join(cls, location: PostgresUrl, identity: str, member: Member) -> "FleetJournal":
        """Open or create the journal, and join the processes that share it.

        Raises:
            UnreachableError: `journal_unreachable` if PostgreSQL does not respond, or
                `worker_key_in_use` if another process has the same key.
            UsageError: `journal_format_unsupported`, `journal_invalid`, or
                `journal_identity_mismatch` if the journal has another identity.
        """
        store = await asyncio.to_thread(PostgresSchema, location, identity, member)
        return cls(GroupCommit(store), store, member)

    # --- The lease

    async def beat(self, now_ms: int) -> Beat:
        """Renew the lease, and end the leases of processes that do not renew theirs."""
        is_ready = self.is_ready()

        def operation(connection: Connection) -> Beat:
            lease.end_old_leases(connection, self.worker, self.member)
            lease.set_ready(connection, self.worker, is_ready=is_ready)
            counts = fleet_rows.count_processes_and_poisonous(connection, self.worker, now_ms)
            return Beat(*counts)

        beat = await self._commits.run(operation)
        self.has_ready_others = beat.ready_others > 0
        return beat

    @property
    def leaves_work(self) -> bool:
        """Whether this process is not ready to close invocations, but another process is."""
        return self.has_ready_others and not self.is_ready()

    async def confirm(self) -> None:
        """Return when the lease was renewed recently, so that no other process owns its rows.

        A process that starts with the same key ends a lease after the tolerance.
        """
        while self.beat_age_s > self.member.tolerance.total_seconds():
            await self._commits.run(lambda _: None)

    @property
    def beat_age_s(self) -> float:
        """The time since the last renewal, in seconds."""
        return uptime_s() - self._store.renewed_at_s

    async def hold(self, duration_s: float) -> bool:
        """Hold the intake for a time, and return whether no other process holds it."""
        duration = timedelta(seconds=duration_s)
        return await self._commits.run(
            lambda connection: lease.hold(connection, self.worker, duration)
        )

    async def release(self) -> None:
        """Stop holding the intake."""
        await self._commits.run(lambda connection: lease.release(connection, self.worker))

    # --- Owned invocations

    async def claim(
        self,
        now_ms: int,
        limit: int,
        held: Mapping[Address, int],
        max_per_tool: int,
        *,
        max_checkpoint: int | None = None,
    ) -> Claim:
        """Claim up to `limit` free invocations whose window opens soon.

        `held` is the number of invocations of each tool that this process owns, which grows to at
        most `max_per_tool`. Invocations that are newer than `max_checkpoint` are not claimed, and
        neither are those that `give_back` excludes for a while.
        """
        now_s = uptime_s()
        self._excluded = {key: end_s for key, end_s in self._excluded.items() if end_s > now_s}
        excluded = list(self._excluded)
        held = {tool: count for tool, count in held.items() if count}
        is_holder = self.is_holder

        def operation(connection: Connection) -> Claim:
            rows = fleet_rows.find_free(
                connection,
                now_ms,
                limit,
                full_tools=[tool for tool, count in held.items() if count >= max_per_tool],
                is_holder=is_holder,
                max_checkpoint=max_checkpoint,
                excluded=excluded,
            )
            entries = fleet_rows.own(connection, self.worker, rows, held, max_per_tool)
            return Claim(entries, len(rows) == limit)

        return await self._commits.run(operation)

    async def owned(self) -> set[Address]:
        """Return the open invocations that this process owns."""
        return await self._commits.run(lambda connection: fleet_rows.owned(connection, self.worker))

    async def owned_entries(self, invocations: Collection[Address]) -> list[Entry]:
        """Return those of the invocations that this process owns."""
        return await self._commits.run(
            lambda connection: fleet_rows.owned_entries(connection, self.worker, invocations)
        )

    async def closures(self, invocations: Collection[Address]) -> dict[Address, ClosureKind]:
        """Return how those of the invocations were closed that are closed."""
        return await self._commits.run(
            lambda connection: fleet_rows.closures(connection, invocations)
        )

    async def give_back(
        self, invocation: Address, *, holder_only: bool = False, pause_s: float = 0.0
    ) -> bool:
        """Leave an invocation to other processes, or to the holder. Return True.

        This process does not claim the invocation again for `pause_s` seconds.
        """
        if pause_s:
            self._excluded[invocation] = uptime_s() + pause_s

        def operation(connection: Connection) -> bool:
            lease.give_back(connection, self.worker, invocation, holder_only=holder_only)
            lease.notify(connection)
            return True

        return await self._commits.run(operation)

    async def give_back_all(self) -> None:
        """Leave all invocations of this process to other processes."""

        def operation(connection: Connection) -> None:
            lease.give_back(connection, self.worker)
            lease.notify(connection)

        await self._commits.run(operation)

    async def record_call(self, invocation: Address) -> None:
        """Record that the tool may have been called. Raises `RowLostError`."""
        await self._change_own(
            "stage = 'called'", (), invocation, " AND stage IN ('assigned', 'called')"
        )

    async def record_outcome(self, invocation: Address, outcome: Outcome) -> None:
        """Record the outcome of the invocation. Raises `RowLostError`."""
        text = dump_outcome(outcome)
        await self._change_own("stage = 'known', outcome = ?", (text,), invocation)

    async def _change_own(
        self, changes: str, values: tuple[str, ...], invocation: Address, condition: str = ""
    ) -> None:
        statement = (
            f"UPDATE invocations SET {changes}"  # noqa: S608 - constant expressions
            f" WHERE invocation = ? AND worker = ? AND stage <> 'closed'{condition}"
        )
        parameters = (*values, bytes(invocation), self.worker)
        count = await self._commits.run(
            lambda connection: connection.execute(statement, parameters).rowcount
        )
        if not count:
            raise RowLostError

    async def record_closed(self, closed: Mapping[Address, ClosureKind], now_ms: int) -> None:
        """Record how invocations were closed. The owner does not matter, but the chain does."""
        await self._commits.run(lambda connection: fleet_rows.close(connection, closed, now_ms))

    # --- The holder

    async def recover(self) -> RecoveredState:
        """Return all open work, including the invocations of all processes."""
        memory = await super().recover()
        self._cursor = memory.cursor or ""
        return memory

    async def record_events(
        self,
        assigned: Sequence[Assignment],
        closed: Mapping[Address, ClosureKind],
        cursor: str,
        now_ms: int,
        executions: Mapping[Address, bool] | None = None,
        *,
        schedules: Sequence[ScheduleChange] = (),
        attempts: Collection[Address] = (),
        checkpoint: int = 0,
    ) -> tuple[Assignment, ...]:
        """Record a page of events, as in the base class. Raises `HoldingLostError`."""
        former = self._cursor

        def write(connection: Connection) -> _Page | None:
            if not fleet_rows.move_cursor(connection, former, cursor):
                return None
            new = fleet_rows.insert(connection, assigned, attempts, checkpoint)
            unowned = fleet_rows.close_unlocked(connection, closed, now_ms)
            update_executions(connection, executions or {})
            schedule_rows.apply_changes(connection, schedules)
            if new:
                lease.notify(connection)
            return _Page(
                tuple(
                    assignment
                    for assignment in assigned
                    if assignment.invocation in new and assignment.invocation not in closed
                ),
                [
                    (assignment, kind)
                    for assignment, kind in unowned
                    if assignment.invocation not in new
                ],
            )

        page = await self._commits.run(write)
        if page is None:
            raise HoldingLostError
        self._cursor = cursor
        for assignment, kind in page.unowned:
            self.on_unowned_closed(assignment, kind)
        return page.new

    async def reopen(self, invocations: Iterable[Address]) -> None:
        """Reset invocations to the stage `ASSIGNED`, and free them."""
        reopened = list(invocations)

        def operation(connection: Connection) -> None:
            fleet_rows.reopen(connection, reopened)
            lease.notify(connection)

        await self._commits.run(operation)

    async def prune(self, closed_before_ms: int) -> int:
        """Delete invocations that were closed before a time, and return their number.

        Also delete invocations that no process claimed before they expired.
        """

        def delete(connection: Connection) -> int:
            return fleet_rows.prune(connection, closed_before_ms, _PRUNED_ROWS)

        total = count = await self._commits.run(delete)
        while count == _PRUNED_ROWS:
            count = await self._commits.run(delete)
            total += count
        return total
