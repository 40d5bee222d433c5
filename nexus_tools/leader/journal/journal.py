"""The journal: a Leader's durable state, so that a restart neither loses nor repeats work.

The Leader records each step in advance. An assignment is recorded before the event cursor, and an
outcome is recorded before the invocation is closed. If the journal and the chain differ, the
chain is authoritative. Transactions are not recorded, because a transaction can be repeated after a
restart. The chain skips invocations that are already closed.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal import schedule_rows
from nexus_tools.leader.journal.group_commit import GroupCommit
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.schedule_rows import ScheduleChange, Search
from nexus_tools.leader.journal.sqlite_file import SqliteFile
from nexus_tools.leader.journal.store import Connection, Store
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome, OutcomeSignature

_COLUMNS = [column.name for column in fields(Assignment)]

_SCHEMA_VERSION = 4
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS identity (value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cursor (
    "only" INTEGER PRIMARY KEY CHECK ("only" = 0), value TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS invocations (
    invocation BLOB PRIMARY KEY,
    tool BLOB NOT NULL,
    fqn TEXT NOT NULL,
    place INTEGER NOT NULL,
    opens_at_ms INTEGER NOT NULL,
    window_ends_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    timeout_ms INTEGER NOT NULL,
    max_outcome_bytes INTEGER NOT NULL,
    stage TEXT NOT NULL,
    outcome TEXT,
    closed TEXT,
    closed_at_ms INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS executions (execution BLOB PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS tool_accounts (
    author BLOB PRIMARY KEY, balance_mist INTEGER NOT NULL, refused_until_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS open_invocations ON invocations (stage) WHERE stage != 'closed';
{schedule_rows.SCHEMA}
"""

_WRITE_CURSOR = (
    'INSERT INTO cursor VALUES (0, ?) ON CONFLICT ("only") DO UPDATE SET value = excluded.value'
)


class Stage(StrEnum):
    """The stage of processing of an invocation."""

    ASSIGNED = "assigned"
    CALLED = "called"
    """The tool may have been called."""
    COMPLETED = "known"
    """The outcome is recorded. A transaction that closes the invocation may be in flight."""
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Entry:
    """An open invocation. `outcome` is None before the stage `COMPLETED`."""

    assignment: Assignment
    stage: Stage
    outcome: Outcome | None


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

    def __init__(self, commits: GroupCommit) -> None:
        self._commits = commits

    @classmethod
    async def open(cls, location: Path | PostgresUrl, identity: str) -> "Journal":
        """Open or create the journal. `identity` names the chain, the package and the leader.

        Raises:
            UnreachableError: `journal_unreachable` if PostgreSQL does not respond.
            UsageError: `journal_locked`, `journal_invalid`, `extra_not_installed`, or
                `journal_identity_mismatch` if the journal has another identity.
        """
        journal = cls(GroupCommit(await _open_store(location)))
        stored = await journal._commits.run(lambda connection: _identity(connection, identity))
        if stored != identity:
            await journal.close()
            raise _foreign(location, stored)
        return journal

    @property
    def trouble(self) -> str:
        """The reason why writes wait, or an empty string."""
        return self._commits.trouble

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
    ) -> tuple[Assignment, ...]:
        """Record a page of events with the cursor after it, and return its new, open assignments.

        `executions` maps an execution to True if it names this leader, and to False if it must be
        deleted from the journal. `schedules` are the changes of schedules, in order.
        """

        def write(connection: Connection) -> tuple[Assignment, ...]:
            # After a restart, the watcher may read events again, but the rows of known invocations
            # must not change.
            new_assignments = [
                assignment for assignment in assigned if _insert(connection, assignment)
            ]
            _close(connection, closed, now_ms)
            _update_executions(connection, executions or {})
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

    async def save_executions(self, executions: Mapping[Address, bool]) -> None:
        """Record executions that name this leader (True), and delete other executions (False)."""
        await self._commits.run(lambda connection: _update_executions(connection, executions))

    async def finish_execution_search(self, found: Iterable[Address]) -> None:
        """Record the executions that the search found, and that the search is finished."""

        def write(connection: Connection) -> None:
            _update_executions(connection, dict.fromkeys(found, True))
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

    async def save_tool_accounts(self, accounts: Mapping[Address, AuthorAccount]) -> None:
        """Replace accounts of authors."""
        rows = [(bytes(author), *astuple(account)) for author, account in accounts.items()]
        statement = (
            "INSERT INTO tool_accounts VALUES (?, ?, ?) ON CONFLICT (author) DO UPDATE"
            " SET balance_mist = excluded.balance_mist,"
            " refused_until_ms = excluded.refused_until_ms"
        )
        await self._commits.run(lambda connection: connection.executemany(statement, rows))

    async def record_closed(self, closed: Mapping[Address, ClosureKind], now_ms: int) -> None:
        """Record how invocations were closed."""
        await self._commits.run(lambda connection: _close(connection, closed, now_ms))

    async def closed_early(self, now_ms: int) -> tuple[Assignment, ...]:
        """Return the closed invocations that expire after `now_ms`. A rollback may reopen them."""
        return await self._closed("expires_at_ms > ?", now_ms)

    async def closed_last(self, now_ms: int, count: int) -> tuple[Assignment, ...]:
        """Return the last `count` invocations that were closed by `now_ms` and expire later."""
        condition = "expires_at_ms > ? AND closed_at_ms <= ? ORDER BY closed_at_ms DESC LIMIT ?"
        return await self._closed(condition, now_ms, now_ms, count)

    async def _closed(self, condition: str, *values: int) -> tuple[Assignment, ...]:
        columns = ", ".join(_COLUMNS)
        statement = f"SELECT {columns} FROM invocations WHERE stage = 'closed' AND {condition}"  # noqa: S608 - constant names
        rows = await self._commits.run(
            lambda connection: connection.execute(statement, values).fetchall()
        )
        return tuple(map(_assignment, rows))

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


async def _open_store(location: Path | PostgresUrl) -> Store:
    if isinstance(location, Path):
        return SqliteFile(location, _SCHEMA, _SCHEMA_VERSION)
    try:
        from nexus_tools.leader.journal.postgres import PostgresSchema  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "extra_not_installed",
            f"the extra `fleet` is required for a journal in PostgreSQL: {error}",
            hint="Run `pip install 'nexus-tools[fleet]'`.",
        ) from error
    return await asyncio.to_thread(PostgresSchema, location, _SCHEMA, _SCHEMA_VERSION)


def _foreign(location: Path | PostgresUrl, known: str) -> UsageError:
    journal = location if isinstance(location, Path) else f"in the schema {location.schema}"
    return UsageError(
        "journal_identity_mismatch",
        f"the journal {journal} belongs to another leader or chain: {known}",
        hint="Use a separate journal for each leader and each chain.",
    )


def _identity(connection: Connection, new: str) -> str:
    """Return the identity of the journal, which is set to `new` in a new journal."""
    stored = connection.execute("SELECT value FROM identity").fetchone()
    if stored is None:
        connection.execute("INSERT INTO identity VALUES (?)", (new,))
    return new if stored is None else str(stored[0])


def _insert(connection: Connection, assignment: Assignment) -> bool:
    marks = ", ".join("?" * len(_COLUMNS))
    changes = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS[1:])
    statement = (
        f"INSERT INTO invocations ({', '.join(_COLUMNS)}, stage)"  # noqa: S608 - constant names
        f" VALUES ({marks}, 'assigned')"
        # The same ID with another time occurs only on a chain that was rolled back.
        f" ON CONFLICT (invocation) DO UPDATE SET {changes}, stage = 'assigned', outcome = NULL,"
        " closed = NULL, closed_at_ms = NULL"
        " WHERE invocations.opens_at_ms != excluded.opens_at_ms"
    )
    values = [bytes(v) if isinstance(v, bytes) else v for v in astuple(assignment)]
    return connection.execute(statement, values).rowcount == 1


def _close(connection: Connection, closed: Mapping[Address, ClosureKind], now_ms: int) -> None:
    connection.executemany(
        "UPDATE invocations SET stage = 'closed', closed = ?, closed_at_ms = ?, outcome = NULL"
        " WHERE invocation = ? AND stage != 'closed'",
        [(kind.value, now_ms, bytes(invocation)) for invocation, kind in closed.items()],
    )


def _update_executions(connection: Connection, executions: Mapping[Address, bool]) -> None:
    kept_rows = [(bytes(execution),) for execution, is_kept in executions.items() if is_kept]
    forgotten_rows = [
        (bytes(execution),) for execution, is_kept in executions.items() if not is_kept
    ]
    connection.executemany("INSERT INTO executions VALUES (?) ON CONFLICT DO NOTHING", kept_rows)
    connection.executemany("DELETE FROM executions WHERE execution = ?", forgotten_rows)


def _recall(connection: Connection) -> RecoveredState:
    cursor = connection.execute("SELECT value FROM cursor").fetchone()
    rows = connection.execute(
        f"SELECT {', '.join(_COLUMNS)}, stage, outcome FROM invocations"  # noqa: S608 - constant names
        " WHERE stage != 'closed' ORDER BY expires_at_ms"
    )
    execution_rows = connection.execute("SELECT execution FROM executions")
    return RecoveredState(
        cursor=cursor[0] if cursor else None,
        entries=tuple(_entry(row) for row in rows),
        executions=tuple(Address(execution) for (execution,) in execution_rows),
        schedules=schedule_rows.read_schedules(connection),
        searches=schedule_rows.read_searches(connection),
    )


def _assignment(row: tuple[Any, ...]) -> Assignment:
    invocation, tool, *terms = row
    return Assignment(Address(invocation), Address(tool), *terms)


def _entry(row: tuple[Any, ...]) -> Entry:
    stage, outcome = row[len(_COLUMNS) :]
    return Entry(
        assignment=_assignment(row[: len(_COLUMNS)]),
        stage=Stage(stage),
        outcome=load_outcome(outcome) if outcome else None,
    )


def dump_outcome(outcome: Outcome) -> str:
    """Return an outcome as JSON text."""
    if isinstance(outcome, Answer):
        document = {"variant": outcome.variant, "ports": outcome.ports}
        if outcome.signature is not None:
            signed = outcome.signature
            document |= {"key": signed.key.hex(), "signature": signed.signature.hex()}
        return json.dumps(document)
    return json.dumps({"reason": outcome.reason.value, "detail": outcome.detail})


def load_outcome(text: str) -> Outcome:
    """Return the outcome that `dump_outcome` wrote."""
    document = json.loads(text)
    if "variant" in document:
        signature = None
        if "signature" in document:
            parts = (bytes.fromhex(document[part]) for part in ("key", "signature"))
            signature = OutcomeSignature(*parts)
        return Answer(document["variant"], document["ports"], signature)
    return Failure(FailureReason(document["reason"]), document["detail"])
