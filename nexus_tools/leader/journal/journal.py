"""The journal: a Leader's durable state, so that a restart neither loses nor repeats work.

The Leader records each step in advance. An assignment is recorded before the event cursor, and an
outcome is recorded before the invocation is closed. If the journal and the chain differ, the
chain is authoritative. Transactions are not recorded, because a transaction can be repeated after a
restart. The chain skips invocations that are already closed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal import invocation_rows, schedule_rows
from nexus_tools.leader.journal.group_commit import GroupCommit
from nexus_tools.leader.journal.invocation_rows import (
    ASSIGNMENT_COLUMNS,
    Entry,
    assignment_of,
    dump_outcome,
)
from nexus_tools.leader.journal.schedule_rows import ScheduleChange, Search
from nexus_tools.leader.journal.sqlite_file import SqliteFile
from nexus_tools.leader.journal.store import Connection, check_identity
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Outcome

_SCHEMA_VERSION = 4
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS identity (value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cursor (
    "only" INTEGER PRIMARY KEY CHECK ("only" = 0), value TEXT NOT NULL
) STRICT;
{invocation_rows.SCHEMA}
CREATE TABLE IF NOT EXISTS executions (execution BLOB PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS tool_accounts (
    author BLOB PRIMARY KEY, balance_mist INTEGER NOT NULL, refused_until_ms INTEGER NOT NULL
) STRICT;
{schedule_rows.SCHEMA}
"""
"""The tables of a journal, with the types of SQLite."""

_WRITE_CURSOR = (
    'INSERT INTO cursor VALUES (0, ?) ON CONFLICT ("only") DO UPDATE SET value = excluded.value'
)


@dataclass(frozen=True, slots=True)
class RecoveredState:
    """The open work in the journal, and the watcher's last cursor.

    `executions` are the executions that name this leader and have not ended. `schedules` maps the
    schedules that name this leader to the position from which events count. `searches` are the
    searches of past events that are finished.
    """

    cursor: str | None
    entries: tuple[Entry, ...]
    executions: tuple[Address, ...] = ()
    schedules: Mapping[Address, Cursor] = field(default_factory=dict)
    searches: frozenset[Search] = frozenset()


@dataclass(frozen=True, slots=True)
class AuthorAccount:
    """The payments for calls of an author's on-chain tools, minus the gas of the calls."""

    balance_mist: int
    refused_until_ms: int


class Journal:
    """The journal of one leader on one chain. Every method returns after its commit."""

    is_holder = False
    """Whether this process reads events, and works on executions and schedules."""

    has_ready_others = False
    """Whether other processes share the journal and are ready to close invocations."""

    def __init__(self, commits: GroupCommit) -> None:
        self._commits = commits

    @classmethod
    async def open(cls, path: Path, identity: str) -> "Journal":
        """Open or create an SQLite file. `identity` names the chain, the package and the leader.

        Raises:
            UsageError: `journal_locked`, `journal_invalid`, or `journal_identity_mismatch` if the
                journal has another identity.
        """
        journal = cls(GroupCommit(SqliteFile(path, SCHEMA, _SCHEMA_VERSION)))
        try:
            await journal._commits.run(
                lambda connection: check_identity(connection, identity, str(path))
            )
        except UsageError:
            await journal.close()
            raise
        return journal

    @property
    def trouble(self) -> str:
        """The reason why writes wait, or an empty string."""
        return self._commits.trouble

    @property
    def leaves_work(self) -> bool:
        """Whether this process is not ready to close invocations, but another process is."""
        return False

    async def close(self) -> None:
        """Commit the pending writes and close the database."""
        await self._commits.close()

    async def recover(self) -> RecoveredState:
        """Return all open work."""
        return await self._commits.run(_recall)

    async def record_events(
        self,
        assigned: Sequence[Assignment],
        closed: Mapping[Address, ClosureKind],
        cursor: str,
        now_ms: int,
        executions: Mapping[Address, bool] | None = None,
        *,
        schedules: Sequence[ScheduleChange] = (),
        attempts: Collection[Address] = (),  # noqa: ARG002 - for several processes
        checkpoint: int = 0,  # noqa: ARG002
    ) -> tuple[Assignment, ...]:
        """Record a page of events with the cursor after it, and return its new, open assignments.

        `executions` maps an execution to True if it names this leader, and to False if it must be
        deleted from the journal. `schedules` are the changes of schedules, in order. `attempts` are
        the invocations that belong to executions. `checkpoint` is the last one of the page. Only
        a journal that several processes share stores both.
        """

        def write(connection: Connection) -> tuple[Assignment, ...]:
            # After a restart, the watcher may read events again, but the rows of known invocations
            # must not change.
            new_assignments = [
                assignment
                for assignment in assigned
                if invocation_rows.insert(connection, assignment)
            ]
            invocation_rows.close(connection, closed, now_ms)
            update_executions(connection, executions or {})
            schedule_rows.apply_changes(connection, schedules)
            # The cursor is in the same transaction, so that no event before it is missing.
            connection.execute(_WRITE_CURSOR, (cursor,))
            return tuple(
                assignment for assignment in new_assignments if assignment.invocation not in closed
            )

        return await self._commits.run(write)

    async def record_call(self, invocation: Address) -> None:
        """Record that the tool may have been called."""
        await self._write(
            "UPDATE invocations SET stage = 'called' WHERE invocation = ? AND stage = 'assigned'",
            (bytes(invocation),),
        )

    async def record_outcome(self, invocation: Address, outcome: Outcome) -> None:
        """Record the outcome of the invocation."""
        await self._write(
            "UPDATE invocations SET stage = 'known', outcome = ?"
            " WHERE invocation = ? AND stage IN ('assigned', 'called')",
            (dump_outcome(outcome), bytes(invocation)),
        )

    async def confirm(self) -> None:
        """Return when no other process owns the invocations of this process."""

    async def give_back(
        self,
        invocation: Address,  # noqa: ARG002 - other journals use them
        *,
        holder_only: bool = False,  # noqa: ARG002
        pause_s: float = 0.0,  # noqa: ARG002
    ) -> bool:
        """Leave an invocation to other processes, or to the holder. Return False if none exist."""
        return False

    async def save_executions(self, executions: Mapping[Address, bool]) -> None:
        """Record executions that name this leader (True), and delete other executions (False)."""
        await self._commits.run(lambda connection: update_executions(connection, executions))

    async def finish_execution_search(self, found: Iterable[Address]) -> None:
        """Record the executions that the search found, and that the search is finished."""

        def write(connection: Connection) -> None:
            update_executions(connection, dict.fromkeys(found, True))
            schedule_rows.finish_search(connection, Search.EXECUTIONS)

        await self._commits.run(write)

    async def finish_schedule_search(self, found: Mapping[Address, Cursor]) -> None:
        """Record the schedules that the search found, and that the search is finished."""
        await self._commits.run(
            lambda connection: schedule_rows.finish_schedule_search(connection, found)
        )

    async def reopen_schedule_search(self) -> None:
        """Record that the search for schedules has to be repeated."""
        await self._write("DELETE FROM searches WHERE subject = ?", (Search.SCHEDULES.value,))

    async def tool_accounts(self) -> dict[Address, AuthorAccount]:
        """Return all accounts of authors."""
        statement = "SELECT author, balance_mist, refused_until_ms FROM tool_accounts"
        rows = await self._commits.run(lambda connection: connection.execute(statement).fetchall())
        return {Address(author): AuthorAccount(*account) for author, *account in rows}

    async def save_tool_accounts(self, changes: Mapping[Address, AuthorAccount]) -> None:
        """Add balances to accounts of authors, and extend the times until which they are refused.

        Another process may have changed the same accounts.
        """
        rows = [(bytes(author), *astuple(change)) for author, change in changes.items()]
        statement = (
            "INSERT INTO tool_accounts VALUES (?, ?, ?) ON CONFLICT (author) DO UPDATE"
            " SET balance_mist = tool_accounts.balance_mist + excluded.balance_mist,"
            " refused_until_ms = CASE"
            " WHEN excluded.refused_until_ms > tool_accounts.refused_until_ms"
            " THEN excluded.refused_until_ms ELSE tool_accounts.refused_until_ms END"
        )
        await self._commits.run(lambda connection: connection.executemany(statement, rows))

    async def record_closed(self, closed: Mapping[Address, ClosureKind], now_ms: int) -> None:
        """Record how invocations were closed."""
        await self._commits.run(
            lambda connection: invocation_rows.close(connection, closed, now_ms)
        )

    async def closed_early(self, now_ms: int) -> tuple[Assignment, ...]:
        """Return the closed invocations that expire after `now_ms`. A rollback may reopen them."""
        return await self._closed("expires_at_ms > ?", now_ms)

    async def closed_last(self, now_ms: int, count: int) -> tuple[Assignment, ...]:
        """Return the last `count` invocations that were closed by `now_ms` and expire later."""
        condition = "expires_at_ms > ? AND closed_at_ms <= ? ORDER BY closed_at_ms DESC LIMIT ?"
        return await self._closed(condition, now_ms, now_ms, count)

    async def _closed(self, condition: str, *values: int) -> tuple[Assignment, ...]:
        statement = (
            f"SELECT {ASSIGNMENT_COLUMNS} FROM invocations"  # noqa: S608 - constant names
            f" WHERE stage = 'closed' AND {condition}"
        )
        rows = await self._commits.run(
            lambda connection: connection.execute(statement, values).fetchall()
        )
        return tuple(map(assignment_of, rows))

    async def reopen(self, invocations: Iterable[Address]) -> None:
        """Reset invocations to the stage `ASSIGNED`."""
        rows = [(bytes(invocation),) for invocation in invocations]
        statement = (
            "UPDATE invocations SET stage = 'assigned', closed = NULL, closed_at_ms = NULL"
            " WHERE invocation = ?"
        )
        await self._commits.run(lambda connection: connection.executemany(statement, rows))

    async def prune(self, closed_before_ms: int) -> int:
        """Delete invocations that were closed before a time, and return their number."""
        statement = "DELETE FROM invocations WHERE stage = 'closed' AND closed_at_ms < ?"
        return await self._commits.run(
            lambda connection: connection.execute(statement, (closed_before_ms,)).rowcount
        )

    async def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        await self._commits.run(lambda connection: connection.execute(statement, values))


def update_executions(connection: Connection, executions: Mapping[Address, bool]) -> None:
    """Write executions that name this leader (True), and delete other executions (False)."""
    kept_rows = [(bytes(execution),) for execution, is_kept in executions.items() if is_kept]
    forgotten_rows = [
        (bytes(execution),) for execution, is_kept in executions.items() if not is_kept
    ]
    connection.executemany("INSERT INTO executions VALUES (?) ON CONFLICT DO NOTHING", kept_rows)
    connection.executemany("DELETE FROM executions WHERE execution = ?", forgotten_rows)


def _recall(connection: Connection) -> RecoveredState:
    cursor = connection.execute("SELECT value FROM cursor").fetchone()
    entries = invocation_rows.open_entries(connection)
    execution_rows = connection.execute("SELECT execution FROM executions")
    return RecoveredState(
        cursor=(cursor and cursor[0]) or None,
        entries=entries,
        executions=tuple(Address(execution) for (execution,) in execution_rows),
        schedules=schedule_rows.read_schedules(connection),
        searches=schedule_rows.read_searches(connection),
    )
