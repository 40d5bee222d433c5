"""Queries of invocations, workflows, executions and schedules, newest first."""

import sqlite3
from enum import StrEnum
from typing import Any, NamedTuple

from nexus_tools.contracts import ScheduleState
from nexus_tools.index.addresses import find_number
from nexus_tools.index.outcomes import CODES, OUTCOMES, SETTLED
from nexus_tools.index.queries.records import (
    IndexedExecution,
    IndexedInvocation,
    IndexedSchedule,
    IndexedWorkflow,
)
from nexus_tools.index.queries.scan import Scan
from nexus_tools.sui.types.address import Address

Condition = tuple[str, tuple[Any, ...]]


def _address(column: str) -> str:
    """Return SQL for the address with the number in a column."""
    return f"(SELECT address FROM addresses WHERE id = {column})"  # noqa: S608 - constant names


def _known(value: bytes | None) -> Address | None:
    return None if value is None else Address(value)


def scan_newest(
    connection: sqlite3.Connection,
    table: str,
    fields: dict[str, Address | None],
    *,
    key: str = "seq",
) -> Scan | None:
    """Return the scan of rows with these addresses, newest first, or None if no row can match.

    The first address that is not None selects the SQL index.
    """
    conditions: list[Condition] = []
    for column, address in fields.items():
        if address is not None:
            number = find_number(connection, address)
            if number is None:
                return None
            conditions.append((f"{column} = ?", (number,)))
    return Scan(table, (key,), descending=True, within=conditions[:1], matching=conditions[1:])


# --- Invocations

_INVOCATION = (
    f"SELECT r.invocation, {_address('r.tool')}, (SELECT fqn FROM tools WHERE id = r.tool),"  # noqa: S608 - constant names
    f" {_address('r.requester')}, {_address('r.leader')}, {_address('r.backup')},"
    " r.requested_at_ms, r.expires_after_ms, r.payment_mist,"
    f" {_address('r.execution')}, r.checkpoint, c.outcome, {_address('c.leader')}, c.at_ms,"
    " c.latency_ms, c.price_mist, c.fee_mist, c.refund_mist,"
    " EXISTS (SELECT 1 FROM deletions WHERE request = r.seq)"
    " FROM requests AS r LEFT JOIN closings AS c ON c.request = r.seq WHERE r.seq = ?"
)


class _InvocationRow(NamedTuple):
    invocation: bytes
    tool: bytes
    fqn: str | None
    requester: bytes
    leader: bytes | None
    backup: bytes | None
    requested_at_ms: int
    expires_after_ms: int
    payment_mist: int
    execution: bytes | None
    checkpoint: int
    outcome: int | None
    closer: bytes | None
    at_ms: int | None
    latency_ms: int | None
    price_mist: int | None
    fee_mist: int | None
    refund_mist: int | None
    is_deleted: int


def read_invocation(connection: sqlite3.Connection, request: int) -> IndexedInvocation:
    """Return the invocation of a request."""
    row = _InvocationRow(*connection.execute(_INVOCATION, (request,)).fetchone())
    leaders = (row.leader, row.backup)
    return IndexedInvocation(
        Address(row.invocation),
        Address(row.tool),
        row.fqn,
        Address(row.requester),
        tuple(Address(leader) for leader in leaders if leader is not None),
        row.requested_at_ms,
        row.requested_at_ms + row.expires_after_ms,
        row.payment_mist,
        _known(row.execution),
        row.checkpoint,
        None if row.outcome is None else OUTCOMES[row.outcome],
        _known(row.closer),
        row.at_ms,
        row.latency_ms,
        row.price_mist or 0,
        row.fee_mist or 0,
        row.refund_mist or 0,
        bool(row.is_deleted),
    )


def find_request(connection: sqlite3.Connection, invocation: Address) -> int | None:
    """Return the row of an invocation's request, or None."""
    row = connection.execute(
        "SELECT seq FROM requests WHERE substr(invocation, 1, 8) = ? AND invocation = ?",
        (bytes(invocation)[:8], bytes(invocation)),
    ).fetchone()
    return None if row is None else int(row[0])


def request_of_closing(connection: sqlite3.Connection, closing: int) -> int:
    """Return the row of the request that a closing closed. The request must be in the index."""
    row = connection.execute("SELECT request FROM closings WHERE seq = ?", (closing,)).fetchone()
    return int(row[0])


class InvocationOutcome(StrEnum):
    """A kind of outcome that selects invocations.

    `CLOSED` includes all invocations that are not open. `FAILED` excludes expired invocations.
    """

    OPEN = "open"
    CLOSED = "closed"
    SETTLED = "settled"
    FAILED = "failed"
    EXPIRED = "expired"


def outcome_condition(outcome: InvocationOutcome) -> Condition:
    """Return the condition for requests with an outcome."""
    closed = "EXISTS (SELECT 1 FROM closings WHERE request = requests.seq"
    conditions = {
        InvocationOutcome.OPEN: f"NOT {closed})",
        InvocationOutcome.CLOSED: f"{closed})",
        InvocationOutcome.SETTLED: f"{closed} AND outcome = {CODES[SETTLED]})",
        InvocationOutcome.FAILED: (
            f"{closed} AND outcome NOT IN ({CODES[SETTLED]}, {CODES['expired']}))"
        ),
        InvocationOutcome.EXPIRED: f"{closed} AND outcome = {CODES['expired']})",
    }
    return conditions[outcome], ()


# --- Workflows, executions and schedules

_WORKFLOW = (
    f"SELECT {_address('w.id')}, fqn, {_address('owner')}, description, digest, vertices,"  # noqa: S608 - constant names
    " checkpoint FROM workflows AS w WHERE id = ?"
)
_EXECUTION = (
    f"SELECT {_address('e.id')}, {_address('workflow')},"  # noqa: S608 - constant names
    " (SELECT fqn FROM workflows WHERE id = workflow),"
    f" {_address('owner')}, {_address('schedule')}, status, funds_mist, deadline_ms,"
    " (SELECT requested_at_ms FROM requests WHERE execution = e.id ORDER BY seq LIMIT 1),"
    " ended_at_ms, steps, refund_mist, checkpoint, is_deleted FROM executions AS e WHERE id = ?"
)
_SCHEDULE = (
    f"SELECT {_address('s.id')}, {_address('workflow')},"  # noqa: S608 - constant names
    " (SELECT fqn FROM workflows WHERE id = workflow),"
    f" {_address('owner')}, state, next_at_ms, funds_mist, funds_per_execution_mist,"
    " keeper_fee_mist, executions, failures, checkpoint, is_deleted"
    " FROM schedules AS s WHERE id = ?"
)


def read_workflow(connection: sqlite3.Connection, workflow: int) -> IndexedWorkflow:
    """Return the workflow in a row."""
    workflow_id, fqn, owner, *rest = connection.execute(_WORKFLOW, (workflow,)).fetchone()
    return IndexedWorkflow(Address(workflow_id), fqn, Address(owner), *rest)


def find_workflow(connection: sqlite3.Connection, workflow: Address) -> IndexedWorkflow | None:
    """Return the workflow with an ID, or None."""
    row = _find(connection, "workflows", workflow)
    return None if row is None else read_workflow(connection, row)


def find_execution(connection: sqlite3.Connection, execution: Address) -> IndexedExecution | None:
    """Return the execution with an ID, even if it was deleted on chain, or None."""
    row = _find(connection, "executions", execution)
    return None if row is None else read_execution(connection, row)


def find_schedule(connection: sqlite3.Connection, schedule: Address) -> IndexedSchedule | None:
    """Return the schedule with an ID, even if it was deleted on chain, or None."""
    row = _find(connection, "schedules", schedule)
    return None if row is None else read_schedule(connection, row)


def read_workflow_versions(
    connection: sqlite3.Connection, workflow: Address, limit: int = 20
) -> list[IndexedWorkflow]:
    """Return the newest workflows with the same name as a workflow, newest first."""
    rows = connection.execute(
        "SELECT id FROM workflows WHERE name_object = (SELECT name_object FROM workflows"
        " WHERE id = ?) ORDER BY seq DESC LIMIT ?",
        (find_number(connection, workflow), limit),
    ).fetchall()
    return [read_workflow(connection, row) for (row,) in rows]


def _find(connection: sqlite3.Connection, table: str, address: Address) -> int | None:
    """Return the row with the number of an address, or None."""
    number = find_number(connection, address)
    statement = f"SELECT id FROM {table} WHERE id = ?"  # noqa: S608 - constant names
    found = connection.execute(statement, (number,)).fetchone()
    return None if found is None else int(found[0])


def read_execution(connection: sqlite3.Connection, execution: int) -> IndexedExecution:
    """Return the execution in a row."""
    row = connection.execute(_EXECUTION, (execution,)).fetchone()
    execution_id, workflow, fqn, owner, schedule, *rest = row
    return IndexedExecution(
        Address(execution_id),
        Address(workflow),
        fqn,
        Address(owner),
        _known(schedule),
        *_with_flag(rest),
    )


def _with_flag(values: list[Any]) -> list[Any]:
    """Convert the last column to a bool."""
    return [*values[:-1], bool(values[-1])]


def read_schedule(connection: sqlite3.Connection, schedule: int) -> IndexedSchedule:
    """Return the schedule in a row."""
    row = connection.execute(_SCHEDULE, (schedule,)).fetchone()
    schedule_id, workflow, fqn, owner, state, *rest = row
    return IndexedSchedule(
        Address(schedule_id),
        Address(workflow),
        fqn,
        Address(owner),
        ScheduleState(state),
        *_with_flag(rest),
    )
