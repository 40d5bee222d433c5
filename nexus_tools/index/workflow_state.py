"""The current state of workflows, executions and schedules, derived from events."""

import sqlite3

from nexus_tools.contracts import ScheduleState
from nexus_tools.contracts.move_bindings.workflows import schedule as moves
from nexus_tools.contracts.move_bindings.workflows.cleaning import ExecutionDeleted
from nexus_tools.contracts.move_bindings.workflows.dag import DagPublished
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionEnded,
    ExecutionStarted,
    ExecutionStopped,
)
from nexus_tools.index.addresses import AddressNumbers
from nexus_tools.index.event_rows import StateEvent, limited
from nexus_tools.sui.types.address import Address

RUNNING = "running"


class WorkflowState:
    """The tables of workflows, executions and schedules."""

    def __init__(self, connection: sqlite3.Connection, numbers: AddressNumbers) -> None:
        self._connection = connection
        self._numbers = numbers

    def apply(self, stored: StateEvent) -> None:
        """Apply an event. Events must be applied in their order."""
        match stored.event:
            case DagPublished() as event:
                self._publish(stored, event)
            case ExecutionStarted() as event:
                self._start(stored, event)
            case ExecutionStopped() as event:
                self._set("executions", stored.subject, status=event.status)
            case ExecutionEnded() as event:
                self._set(
                    "executions",
                    stored.subject,
                    status=event.status,
                    steps=limited(event.steps),
                    refund_mist=limited(event.refund_mist),
                    ended_at_ms=event.ended_at_ms,
                )
            case ExecutionDeleted():
                self._set("executions", stored.subject, is_deleted=True)
            case _:
                self._apply_to_schedule(stored)

    def _publish(self, stored: StateEvent, event: DagPublished) -> None:
        publisher = self._number(event.owner, stored)
        self._insert(
            "workflows",
            id=stored.subject,
            fqn=event.fqn,
            owner=publisher,
            publisher=publisher,
            name_object=self._number(event.name, stored),
            description=event.description,
            digest=event.digest,
            vertices=limited(event.vertices),
            checkpoint=stored.checkpoint,
            seq=stored.seq,
        )

    def _start(self, stored: StateEvent, event: ExecutionStarted) -> None:
        schedule = None if event.schedule is None else self._number(event.schedule, stored)
        self._insert(
            "executions",
            id=stored.subject,
            workflow=self._number(event.dag, stored),
            owner=self._number(event.owner, stored),
            schedule=schedule,
            funds_mist=limited(event.funds_mist),
            deadline_ms=limited(event.deadline_ms),
            status=RUNNING,
            checkpoint=stored.checkpoint,
            seq=stored.seq,
        )

    # --- Schedules

    def _apply_to_schedule(self, stored: StateEvent) -> None:
        match stored.event:
            case moves.ScheduleCreated() as event:
                self._create(stored, event)
            case moves.ScheduleTriggered() as event:
                self._set(
                    "schedules",
                    stored.subject,
                    next_at_ms=_optional(event.next_at_ms),
                    funds_mist=limited(event.funds_mist),
                )
                self._connection.execute(
                    "UPDATE schedules SET executions = executions + 1 WHERE id = ?",
                    (stored.subject,),
                )
            case moves.ScheduleCollected() as event:
                self._connection.execute(
                    "UPDATE schedules SET funds_mist = funds_mist + ?, failures = ?, is_paused = ?"
                    " WHERE id = ?",
                    (
                        limited(event.amount_mist),
                        limited(event.failures),
                        event.is_paused,
                        stored.subject,
                    ),
                )
            case moves.ScheduleActivityChanged() as event:
                self._set(
                    "schedules",
                    stored.subject,
                    is_paused=not event.active,
                    next_at_ms=_optional(event.next_at_ms),
                )
            case moves.ScheduleCursorReset() | moves.ScheduleExtended() as event:
                self._set("schedules", stored.subject, next_at_ms=_optional(event.next_at_ms))
            case moves.ScheduleRefilled() as event:
                self._set("schedules", stored.subject, funds_mist=limited(event.funds_mist))
            case moves.ScheduleCancelled():
                self._set("schedules", stored.subject, state=ScheduleState.CANCELLED, funds_mist=0)
            case moves.ScheduleDeleted():
                self._set("schedules", stored.subject, is_deleted=True)
        self._connection.execute(
            "UPDATE schedules SET state = CASE WHEN next_at_ms IS NULL THEN 'finished'"
            " WHEN is_paused THEN 'paused' ELSE 'active' END"
            " WHERE id = ? AND state != 'cancelled'",
            (stored.subject,),
        )

    def _create(self, stored: StateEvent, event: moves.ScheduleCreated) -> None:
        self._insert(
            "schedules",
            id=stored.subject,
            workflow=self._number(event.dag, stored),
            owner=self._number(event.owner, stored),
            next_at_ms=_optional(event.next_at_ms),
            funds_mist=limited(event.funds_mist),
            funds_per_execution_mist=limited(event.funds_per_execution_mist),
            keeper_fee_mist=limited(event.keeper_fee_mist),
            state=ScheduleState.ACTIVE,
            checkpoint=stored.checkpoint,
            seq=stored.seq,
        )

    # --- Rows

    def _number(self, address: Address, stored: StateEvent) -> int:
        return self._numbers.number(address, stored.checkpoint)

    def _insert(self, table: str, **values: object) -> None:
        marks = ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608 - constant names
        self._connection.execute(statement, [*values.values()])

    def _set(self, table: str, row: int, **values: object) -> None:
        changes = ", ".join(f"{column} = ?" for column in values)
        statement = f"UPDATE {table} SET {changes} WHERE id = ?"  # noqa: S608 - constant names
        self._connection.execute(statement, [*values.values(), row])


def _optional(value: int | None) -> int | None:
    return None if value is None else limited(value)
