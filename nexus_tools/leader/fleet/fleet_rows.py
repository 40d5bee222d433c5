"""Statements of a fleet about invocations, in the SQL of PostgreSQL."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import Any
from uuid import UUID

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal.invocation_rows import (
    ASSIGNMENT_COLUMNS,
    ENTRY_COLUMNS,
    Entry,
    assignment_of,
    entry_of,
)
from nexus_tools.leader.journal.lease import MAX_CLAIMS
from nexus_tools.leader.journal.store import Connection
from nexus_tools.sui.types.address import Address

# The window of a claimed invocation may open after this time. The Leader waits for it.
_EARLY_MS = 1_000
_LATEST = 2**63 - 1

_COLUMNS = ASSIGNMENT_COLUMNS.split(", ")
_TYPES = ("bytea", "bytea", "text", *["bigint"] * (len(_COLUMNS) - 3))


# --- Claims


def find_free(
    connection: Connection,
    now_ms: int,
    limit: int,
    *,
    full_tools: Iterable[Address],
    is_holder: bool,
    max_checkpoint: int | None,
    excluded: Iterable[Address],
) -> list[Any]:
    """Lock and return up to `limit` free invocations that this process may claim."""
    statement = (
        f"SELECT {ENTRY_COLUMNS}, checkpoint FROM invocations"  # noqa: S608 - constant names
        " WHERE worker IS NULL AND stage <> 'closed' AND opens_at_ms <= ?"
        f" AND (NOT holder_only OR ?) AND claims < {MAX_CLAIMS} AND tool <> ALL(?::bytea[])"
        " AND checkpoint <= ? AND invocation <> ALL(?::bytea[])"
        " ORDER BY opens_at_ms LIMIT ? FOR UPDATE SKIP LOCKED"
    )
    newest = _LATEST if max_checkpoint is None else max_checkpoint
    values = (
        *(now_ms + _EARLY_MS, is_holder, _ids(full_tools), newest, _ids(excluded)),
        limit,
    )
    return connection.execute(statement, values).fetchall()


def own(
    connection: Connection,
    worker: UUID,
    rows: Sequence[Any],
    held: Mapping[Address, int],
    max_per_tool: int,
) -> list[Entry]:
    """Claim locked rows, but not more than `max_per_tool` of a tool, and return their entries."""
    counts: Counter[bytes] = Counter(held)
    entries = []
    for row in rows:
        entry = entry_of(row)
        counts[entry.assignment.tool] += 1
        if counts[entry.assignment.tool] <= max_per_tool:
            entries.append(entry)
    if entries:
        connection.execute(
            "UPDATE invocations SET worker = ?, claims = claims + 1"
            " WHERE invocation = ANY(?::bytea[])",
            (worker, _ids(entry.assignment.invocation for entry in entries)),
        )
    return entries


def owned(connection: Connection, worker: UUID) -> set[Address]:
    """Return the invocations of a process."""
    rows = connection.execute("SELECT invocation FROM invocations WHERE worker = ?", (worker,))
    return {Address(invocation) for (invocation,) in rows}


def owned_entries(
    connection: Connection, worker: UUID, invocations: Iterable[Address]
) -> list[Entry]:
    """Return those of the invocations that a process owns."""
    statement = (
        f"SELECT {ENTRY_COLUMNS}, checkpoint FROM invocations"  # noqa: S608 - constant names
        " WHERE worker = ? AND invocation = ANY(?::bytea[])"
    )
    rows = connection.execute(statement, (worker, _ids(invocations)))
    return [entry_of(row) for row in rows]


def closures(connection: Connection, invocations: Iterable[Address]) -> dict[Address, ClosureKind]:
    """Return how those of the invocations were closed that are closed."""
    rows = connection.execute(
        "SELECT invocation, closed FROM invocations"
        " WHERE stage = 'closed' AND invocation = ANY(?::bytea[])",
        (_ids(invocations),),
    )
    return {Address(invocation): ClosureKind(kind) for invocation, kind in rows}


def count_processes_and_poisonous(
    connection: Connection, worker: UUID, now_ms: int
) -> tuple[int, int, int]:
    """Return the numbers of processes, of other processes that are ready, and of invocations.

    The invocations are the open ones that no process claims again.
    """
    statement = (
        "SELECT (SELECT count(*) FROM workers),"  # noqa: S608 - constant numbers
        " (SELECT count(*) FROM workers WHERE is_ready AND worker <> ?),"
        f" (SELECT count(*) FROM invocations WHERE claims >= {MAX_CLAIMS} AND stage <> 'closed'"
        " AND worker IS NULL AND expires_at_ms > ?)"
    )
    processes, ready_others, poisonous = connection.execute(statement, (worker, now_ms)).fetchone()
    return processes, ready_others, poisonous


# --- Changes by the holder, or by the chain


def move_cursor(connection: Connection, former: str, cursor: str) -> bool:
    """Write the cursor if it still has the former value, and return whether it had."""
    statement = "UPDATE cursor SET value = ? WHERE value IN (?, ?)"
    return connection.execute(statement, (cursor, former, cursor)).rowcount == 1


def insert(
    connection: Connection,
    assigned: Sequence[Assignment],
    attempts: Collection[Address],
    checkpoint: int,
) -> set[bytes]:
    """Insert invocations whose rows do not exist, and return their IDs.

    Only the holder may claim the invocations in `attempts`.
    """
    rows = {assignment.invocation: astuple(assignment) for assignment in assigned}
    if not rows:
        return set()
    changes = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS[1:])
    arrays = ", ".join(f"?::{type_name}[]" for type_name in _TYPES)
    statement = (
        f"INSERT INTO invocations ({ASSIGNMENT_COLUMNS}, stage, checkpoint, holder_only)"  # noqa: S608 - constant names
        f" SELECT {ASSIGNMENT_COLUMNS}, 'assigned', ?, invocation = ANY(?::bytea[])"
        f" FROM unnest({arrays}) AS new ({ASSIGNMENT_COLUMNS})"
        # The same ID with another time occurs only on a chain that was rolled back.
        f" ON CONFLICT (invocation) DO UPDATE SET {changes}, stage = 'assigned', outcome = NULL,"
        " closed = NULL, closed_at_ms = NULL, checkpoint = excluded.checkpoint,"
        " holder_only = excluded.holder_only, worker = NULL, claims = 0"
        " WHERE invocations.opens_at_ms != excluded.opens_at_ms RETURNING invocation"
    )
    columns = [
        [bytes(value) if isinstance(value, bytes) else value for value in column]
        for column in zip(*rows.values(), strict=True)
    ]
    values = (checkpoint, _ids(attempts), *columns)
    return {invocation for (invocation,) in connection.execute(statement, values)}


_CLOSE = (
    "UPDATE invocations SET stage = 'closed', closed = ?, closed_at_ms = ?, outcome = NULL,"
    " worker = NULL"
)
_CLOSE_UNLOCKED = (
    f"{_CLOSE} FROM (SELECT invocation AS id, worker AS owner FROM invocations"  # noqa: S608 - constant names
    " WHERE invocation = ANY(?::bytea[]) AND stage <> 'closed' FOR UPDATE SKIP LOCKED) AS unlocked"
    f" WHERE invocation = id RETURNING {ASSIGNMENT_COLUMNS}, owner"
)


def close(connection: Connection, closed: Mapping[Address, ClosureKind], now_ms: int) -> None:
    """Write how invocations were closed."""
    for kind, invocations in _by_kind(closed).items():
        connection.execute(
            f"{_CLOSE} WHERE stage <> 'closed' AND invocation = ANY(?::bytea[])",
            (kind.value, now_ms, invocations),
        )


def close_unlocked(
    connection: Connection, closed: Mapping[Address, ClosureKind], now_ms: int
) -> list[tuple[Assignment, ClosureKind]]:
    """Write how invocations were closed, except those on which another process works right now.

    The other process notices the closure. Waiting for its transaction could lead to a deadlock.
    Return the closed invocations that no process owned.
    """
    unowned = []
    for kind, invocations in _by_kind(closed).items():
        rows = connection.execute(_CLOSE_UNLOCKED, (kind.value, now_ms, invocations))
        unowned += [(assignment_of(row[:-1]), kind) for row in rows if row[-1] is None]
    return unowned


def reopen(connection: Connection, invocations: Iterable[Address]) -> None:
    """Reset invocations, and free them."""
    connection.execute(
        "UPDATE invocations SET stage = 'assigned', closed = NULL, closed_at_ms = NULL,"
        " worker = NULL, claims = 0 WHERE invocation = ANY(?::bytea[])",
        (_ids(invocations),),
    )


def prune(connection: Connection, before_ms: int, limit: int) -> int:
    """Delete up to `limit` invocations that were closed, or expired unclaimed, before a time."""
    statement = (
        "DELETE FROM invocations WHERE invocation IN"  # noqa: S608 - constant numbers
        " ((SELECT invocation FROM invocations WHERE stage = 'closed' AND closed_at_ms < ? LIMIT ?)"
        " UNION ALL (SELECT invocation FROM invocations"
        f" WHERE claims >= {MAX_CLAIMS} AND stage <> 'closed'"
        " AND worker IS NULL AND expires_at_ms < ?) LIMIT ?)"
    )
    return connection.execute(statement, (before_ms, limit, before_ms, limit)).rowcount


def _by_kind(closed: Mapping[Address, ClosureKind]) -> dict[ClosureKind, list[bytes]]:
    kinds: dict[ClosureKind, list[bytes]] = {}
    for invocation, kind in closed.items():
        kinds.setdefault(kind, []).append(bytes(invocation))
    return kinds


def _ids(addresses: Iterable[Address]) -> list[bytes]:
    return [bytes(address) for address in addresses]
