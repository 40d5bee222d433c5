"""The journal's rows about invocations, and the form of outcomes in them."""

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from typing import Any

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal.store import Connection
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome, OutcomeSignature

_COLUMNS = [column.name for column in fields(Assignment)]

ASSIGNMENT_COLUMNS = ", ".join(_COLUMNS)
"""The columns for `assignment_of`."""

ENTRY_COLUMNS = f"{ASSIGNMENT_COLUMNS}, stage, outcome"
"""The columns for `entry_of`."""

SCHEMA = """
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
CREATE INDEX IF NOT EXISTS open_invocations ON invocations (stage) WHERE stage != 'closed';
"""


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
    """An open invocation. `outcome` is None before the stage `COMPLETED`.

    `checkpoint` is a checkpoint in which the invocation exists, or 0 if it is unknown.
    """

    assignment: Assignment
    stage: Stage
    outcome: Outcome | None
    checkpoint: int = 0


def insert(connection: Connection, assignment: Assignment) -> bool:
    """Insert an invocation unless its row exists, and return whether it is new."""
    marks = ", ".join("?" * len(_COLUMNS))
    changes = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS[1:])
    statement = (
        f"INSERT INTO invocations ({ASSIGNMENT_COLUMNS}, stage)"  # noqa: S608 - constant names
        f" VALUES ({marks}, 'assigned')"
        # The same ID with another time occurs only on a chain that was rolled back.
        f" ON CONFLICT (invocation) DO UPDATE SET {changes}, stage = 'assigned', outcome = NULL,"
        " closed = NULL, closed_at_ms = NULL"
        " WHERE invocations.opens_at_ms != excluded.opens_at_ms"
    )
    values = [bytes(v) if isinstance(v, bytes) else v for v in astuple(assignment)]
    return connection.execute(statement, values).rowcount == 1


def close(connection: Connection, closed: Mapping[Address, ClosureKind], now_ms: int) -> None:
    """Write how invocations were closed, unless that is already written."""
    connection.executemany(
        "UPDATE invocations SET stage = 'closed', closed = ?, closed_at_ms = ?, outcome = NULL"
        " WHERE invocation = ? AND stage != 'closed'",
        [(kind.value, now_ms, bytes(invocation)) for invocation, kind in closed.items()],
    )


def open_entries(connection: Connection) -> tuple[Entry, ...]:
    """Return all open invocations, the first to expire first."""
    rows = connection.execute(
        f"SELECT {ENTRY_COLUMNS} FROM invocations"  # noqa: S608 - constant names
        " WHERE stage != 'closed' ORDER BY expires_at_ms"
    )
    return tuple(map(entry_of, rows))


def assignment_of(row: tuple[Any, ...]) -> Assignment:
    """Return the assignment in the columns `ASSIGNMENT_COLUMNS`."""
    invocation, tool, *terms = row
    return Assignment(Address(invocation), Address(tool), *terms)


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Return the entry in the columns `ENTRY_COLUMNS`, which the checkpoint may follow."""
    stage, outcome, *checkpoint = row[len(_COLUMNS) :]
    return Entry(
        assignment_of(row[: len(_COLUMNS)]),
        Stage(stage),
        load_outcome(outcome) if outcome else None,
        *checkpoint,
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
