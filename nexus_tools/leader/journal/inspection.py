"""Reads and repairs of a journal by its operator.

A journal in PostgreSQL can be changed while Leaders use it. An SQLite file is locked while its
Leader runs, so only a copy can be read.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from nexus_tools.errors import NotFoundError, UsageError, WrongStateError
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal import lease
from nexus_tools.leader.journal.invocation_rows import Stage
from nexus_tools.leader.journal.lease import LEASE_S, MAX_CLAIMS
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.sqlite_copy import FileChangedError, copied
from nexus_tools.leader.journal.store import Connection, extra_missing
from nexus_tools.sui.types.address import Address


class JobState(StrEnum):
    """The reason why an open invocation is not closed yet."""

    CLAIMED = "claimed"
    ORPHANED = "orphaned"
    """The process that claimed the invocation does not renew its lease."""
    POISONOUS = "poisonous"
    """Too many claims ended without a result, so no process claims the invocation."""
    EXPIRED = "expired"
    WAITING = "waiting"
    """The window of this leader has not opened."""
    HOLDER_ONLY = "holder_only"
    """The invocation is free, but only the holder may claim it."""
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Job:
    """An open invocation in a journal. `process` is the name of the process that claimed it."""

    invocation: Address
    fqn: str
    place: int
    opens_at_ms: int
    window_ends_at_ms: int
    expires_at_ms: int
    stage: Stage
    claims: int
    is_holder_only: bool
    process: str | None
    is_silent: bool
    """Whether the lease of the process is too old."""

    def state_at(self, now_ms: int) -> JobState:
        """Return the state at a time of the chain's clock."""
        if self.process is not None:
            return JobState.ORPHANED if self.is_silent else JobState.CLAIMED
        if now_ms >= self.expires_at_ms:
            return JobState.EXPIRED
        if self.claims >= MAX_CLAIMS:
            return JobState.POISONOUS
        if now_ms < self.opens_at_ms:
            return JobState.WAITING
        return JobState.HOLDER_ONLY if self.is_holder_only else JobState.FREE


@dataclass(frozen=True, slots=True)
class Process:
    """A process that shares a journal. `claimed` is the number of its invocations."""

    name: str
    version: str
    workers: tuple[Address, ...]
    started_at_ms: int
    seen_at_ms: int
    silence_ms: int
    claimed: int
    is_holder: bool
    is_ready: bool
    """Whether the process can close invocations."""


_JOB_COLUMNS = (
    "invocation, fqn, place, opens_at_ms, window_ends_at_ms, expires_at_ms, stage, claims,"
    " holder_only, process, is_silent"
)
_SQLITE_JOBS = (
    "SELECT *, 0 AS claims, 0 AS holder_only, NULL AS process, 0 AS is_silent FROM invocations"
)
_POSTGRES_JOBS = (
    "SELECT invocations.*, workers.name AS process,"  # noqa: S608 - constant numbers
    f" coalesce(workers.seen_at < clock_timestamp() - interval '{LEASE_S} s', false) AS is_silent"
    " FROM invocations LEFT JOIN workers USING (worker)"
)
_PROCESSES = """
SELECT name, version, array(SELECT address FROM worker_keys k WHERE k.worker = w.worker),
    (extract(epoch FROM started_at) * 1000)::bigint, (extract(epoch FROM seen_at) * 1000)::bigint,
    (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint,
    (SELECT count(*) FROM invocations i WHERE i.worker = w.worker),
    EXISTS (SELECT FROM holder h WHERE h.worker = w.worker AND h.until > clock_timestamp()),
    is_ready
FROM workers w ORDER BY started_at
"""


class JournalInspection:
    """A journal from the perspective of an operator."""

    def __init__(self, connection: Connection, *, is_shared: bool) -> None:
        self._connection = connection
        self._is_shared = is_shared
        self._jobs = _POSTGRES_JOBS if is_shared else _SQLITE_JOBS

    def jobs(self, limit: int, now_ms: int, *, stuck: bool = False) -> list[Job]:
        """Return up to `limit` open invocations, those whose window opens first at the beginning.

        With `stuck`, return only invocations that no process claims or that a silent process has
        claimed, and invocations that are still open after the window of this leader.
        """
        problems = " AND (claims >= ? AND process IS NULL OR is_silent OR window_ends_at_ms <= ?)"
        condition, values = (problems, (MAX_CLAIMS, now_ms)) if stuck else ("", ())
        return self._select(f"{condition} ORDER BY opens_at_ms, invocation", values, limit)

    def job(self, invocation: Address) -> Job:
        """Return an open invocation. Raises `invocation_not_open`."""
        jobs = self._select(" AND invocation = ?", (bytes(invocation),), 1)
        if not jobs:
            raise NotFoundError(
                "invocation_not_open",
                f"the journal does not contain an open invocation {invocation}",
                hint="Run `nexus-tools leader jobs list` to list the open invocations.",
            )
        return jobs[0]

    def processes(self) -> list[Process]:
        """Return the processes that share the journal, the oldest first."""
        if not self._is_shared:
            return []
        return [
            Process(name, version, tuple(map(Address, keys)), *others)
            for name, version, keys, *others in self._connection.execute(_PROCESSES)
        ]

    def give_back(self, job: Job) -> None:
        """Free an invocation and forget its claims, so that any process claims it again.

        Raises:
            UsageError: `journal_not_shared` for an SQLite file.
            WrongStateError: `invocation_changed` if another process has claimed the invocation.
        """
        if not self._is_shared:
            raise UsageError(
                "journal_not_shared",
                "invocations in an SQLite file are not claimed by processes",
                hint="Start the Leader, which continues all open invocations of the file.",
            )
        statement = (
            "UPDATE invocations SET worker = NULL, claims = 0"
            " WHERE invocation = ? AND stage <> 'closed' AND claims = ? AND"
            " (SELECT name FROM workers WHERE workers.worker = invocations.worker)"
            " IS NOT DISTINCT FROM ?"
        )
        self._change(statement, (bytes(job.invocation), job.claims, job.process))
        lease.notify(self._connection)

    def skip(self, job: Job, now_ms: int) -> None:
        """Close an invocation in the journal, so that this leader does not process it.

        Raises `invocation_changed` if the invocation was closed in the meantime.
        """
        # A rollback of the chain reopens closed invocations that expire later.
        changes = (
            "stage = 'closed', closed = ?, closed_at_ms = ?, expires_at_ms = 0, outcome = NULL"
        )
        if self._is_shared:
            changes += ", worker = NULL"
        statement = f"UPDATE invocations SET {changes} WHERE invocation = ? AND stage <> 'closed'"  # noqa: S608 - constant columns
        self._change(statement, (ClosureKind.MISSED.value, now_ms, bytes(job.invocation)))

    def _select(self, condition: str, values: Sequence[Any], limit: int) -> list[Job]:
        statement = (
            f"SELECT {_JOB_COLUMNS} FROM ({self._jobs}) AS jobs"  # noqa: S608 - constant names
            f" WHERE stage <> 'closed'{condition} LIMIT ?"
        )
        return [_job(row) for row in self._connection.execute(statement, (*values, limit))]

    def _change(self, statement: str, values: Sequence[Any]) -> None:
        if self._connection.execute(statement, values).rowcount != 1:
            raise WrongStateError(
                "invocation_changed",
                "a process has changed the invocation in the meantime",
                hint="Run `nexus-tools leader jobs list`, then run the command again if necessary.",
            )


def _job(row: Any) -> Job:
    invocation, fqn, place, opens_at_ms, window_ends_at_ms, expires_at_ms, stage, *claim = row
    claims, is_holder_only, process, is_silent = claim
    return Job(
        Address(invocation),
        fqn,
        place,
        opens_at_ms,
        window_ends_at_ms,
        expires_at_ms,
        Stage(stage),
        claims,
        bool(is_holder_only),
        process,
        bool(is_silent),
    )


@contextmanager
def inspect_journal(
    location: Path | PostgresUrl, *, read_only: bool = False
) -> Iterator[JournalInspection]:
    """Open an existing journal for an operator. With `read_only`, a Leader may use an SQLite file.

    Raises:
        NotFoundError: `journal_missing`.
        UsageError: `journal_locked` if a Leader uses the SQLite file, `journal_invalid`, or
            `extra_not_installed`.
        UnreachableError: `journal_unreachable`.
        NotAllowedError: `journal_denied`.
    """
    if isinstance(location, Path):
        with _sqlite_file(location, read_only=read_only) as connection:
            yield JournalInspection(connection, is_shared=False)
        return
    try:
        from nexus_tools.leader.journal import postgres_tables  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise extra_missing(error) from error
    with postgres_tables.adapter(location) as adapter:
        yield JournalInspection(adapter, is_shared=True)


def create_journal(location: PostgresUrl, role: str | None) -> tuple[bool, list[str]]:
    """Create a journal in PostgreSQL unless it exists, and allow a role to use it.

    Return whether the journal is new, and the statements that granted privileges to the role.

    Raises:
        UsageError: `journal_format_unsupported`, `journal_invalid` or `extra_not_installed`.
        UnreachableError: `journal_unreachable`.
        NotAllowedError: `journal_denied`.
        NotFoundError: `role_missing`.
    """
    try:
        from nexus_tools.leader.journal import postgres_tables  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise extra_missing(error) from error
    return postgres_tables.create(location, role)


@contextmanager
def _sqlite_file(path: Path, *, read_only: bool) -> Iterator[sqlite3.Connection]:
    if not path.exists():
        raise NotFoundError(
            "journal_missing",
            f"the journal {path} does not exist",
            hint="Pass the journal of the Leader with --journal.",
        )
    try:
        with copied(path) if read_only else nullcontext(path) as file:
            uri = f"{file.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)
            with closing(connection):
                yield connection
    except (sqlite3.Error, FileChangedError, OSError) as error:
        if isinstance(error, FileChangedError) or "locked" in str(error):
            raise UsageError(
                "journal_locked",
                f"a Leader uses the journal {path}",
                hint="Stop the Leader, then run the command again.",
            ) from error
        message = f"cannot use the journal {path}: {error}"
        raise UsageError("journal_invalid", message) from error


def stage_of(journal: Path, invocation: Address) -> Stage | None:
    """Return the stage of an invocation, or None if the journal does not contain it.

    The result is also None while the Leader runs, because the Leader locks the journal.
    """
    try:
        statement = "SELECT stage FROM invocations WHERE invocation = ?"
        row = _read_row(journal, statement, bytes(invocation))
    except sqlite3.Error:
        return None
    return None if row is None else Stage(row[0])


def require_finished(journal: Path) -> None:
    """Raise if a Leader with another journal would leave open invocations of this file.

    Raises:
        UsageError: `journal_unfinished` if the file contains open invocations, or if a Leader uses
            the file.
    """
    if not journal.exists():
        return
    try:
        [count] = _read_row(journal, "SELECT count(*) FROM invocations WHERE stage != 'closed'")
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise _unfinished(
                f"a Leader uses the former journal {journal}",
                "Wait until that Leader has closed its invocations, stop it, then run the command"
                " again.",
            ) from error
        raise _unfinished(
            f"the former journal {journal} cannot be read: {error}",
            "Move the file to leave its invocations.",
        ) from error
    if count:
        raise _unfinished(
            f"the former journal {journal} contains {count} open invocations",
            "Run the Leader with this file until it has closed its invocations, or move the file"
            " to leave them.",
        )


def _unfinished(message: str, hint: str) -> UsageError:
    return UsageError("journal_unfinished", message, hint=hint)


def _read_row(journal: Path, statement: str, *values: bytes) -> Any:
    uri = f"{journal.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
        return connection.execute(statement, values).fetchone()
