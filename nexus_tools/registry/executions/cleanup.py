"""Deletion of ended executions and their records, for the storage rebate."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from nexus_tools.contracts import PackageClient, Sent
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows import cleaning as calls
from nexus_tools.contracts.move_bindings.workflows import schedule as schedules
from nexus_tools.contracts.move_bindings.workflows.execution import EntryKey, Execution
from nexus_tools.contracts.move_bindings.workflows.records import Instance, Mark, RunRecord
from nexus_tools.errors import WrongStateError
from nexus_tools.registry.executions.history import read_execution_history
from nexus_tools.registry.executions.step_commands import add_advance
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.client import DynamicField
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.workflow import RunPhase

BATCH_SIZE = 100
"""The maximum number of records or invocations that one transaction removes."""

OWNER_ONLY_MS = 7 * 24 * 3_600_000
"""The time in ms after an execution's end in which only its owner may delete it (`cleaning.move`).
"""

T = TypeVar("T")

CleanupBatch = Callable[[TransactionBuilder, Package, Address], None]
"""A function that adds the commands for removing a part of an execution."""


async def plan_cleanup(package: PackageClient, execution: Execution) -> list[CleanupBatch]:
    """Return the commands of each cleanup transaction. The last batch deletes the execution."""
    deployment, client = package.deployment, package.client
    records = await client.dynamic_fields(execution.progress.records.id)
    run_type, instance_type = deployment.type_of(Run), deployment.type_of(Instance)
    mark_type, entry_type = deployment.type_of(Mark), deployment.type_of(EntryKey)
    runs = [Run.bcs.decode(field.key) for field in records if field.key_type == run_type]
    instances = [
        Instance.bcs.decode(field.key) for field in records if field.key_type == instance_type
    ]
    marks = [Mark.bcs.decode(field.key) for field in records if field.key_type == mark_type]
    entries = [
        EntryKey.bcs.decode(field.key).pos0
        for field in await client.dynamic_fields(execution.id)
        if field.key_type == entry_type
    ]
    invocations = await remaining_invocations(package, execution, records)
    parts: list[tuple[int, CleanupBatch]] = [
        *((len(part), partial(_clean_runs, part)) for part in _chunks(runs)),
        *((len(part), partial(_clean_instances, part)) for part in _chunks(instances)),
        *((len(part), partial(_clean_marks, part)) for part in _chunks(marks)),
        *((len(part), partial(_clean_entries, part)) for part in _chunks(entries)),
        *((len(part), partial(_clean_invocations, part)) for part in _chunks(invocations)),
        (0, partial(_delete, None if execution.is_collected else execution.schedule)),
    ]
    return [partial(_add_all, batch) for batch in _batches(parts)]


async def expire_pending(package: PackageClient, execution: Execution) -> Sent:
    """Expire the pending invocations.

    Raises `execution_not_ended` if a leader can still close one of the invocations.
    """
    builder = TransactionBuilder()
    due = await add_due_advances(package, builder, execution)
    if execution.progress.ending is None or due < execution.progress.in_flight:
        raise WrongStateError(
            "execution_not_ended",
            f"the execution {execution.id} has not ended",
            hint=f"Run `nexus-tools workflow cancel {execution.id}` to end it, and wait until"
            " its pending invocations are closed.",
        )
    return await package.send(builder)


async def add_due_advances(
    package: PackageClient, builder: TransactionBuilder, execution: Execution
) -> int:
    """Advance the execution for each closed or expired invocation, and return their number."""
    now_ms, count = await package.client.now_ms(), 0
    of_runs = package.deployment.type_of(Run)
    records = [
        RunRecord.bcs.decode(field.value)
        for field in await package.client.dynamic_fields(execution.progress.records.id)
        if field.key_type == of_runs and field.value is not None
    ]
    pending = [record.invocation for record in records if record.phase == RunPhase.UNDER_WAY]
    for invocation in await package.find_all(pending, Invocation):
        if invocation and (invocation.is_closed or invocation.is_expired_at(now_ms)):
            deployment, dag = package.deployment, execution.dag
            add_advance(builder, deployment, execution.id, dag, invocation.id)
            count += 1
    return count


async def remaining_invocations(
    package: PackageClient, execution: Execution, records: Sequence[DynamicField]
) -> list[Address]:
    """Return the invocations of an execution that still exist, including failed attempts.

    The records of runs name the last attempts. The events of the execution are read only if earlier
    attempts, or attempts whose records were deleted, still exist.
    """
    if not execution.invocations:
        return []
    existing = await _existing(package, _last_attempts(package, records))
    if len(existing) == execution.invocations:
        return existing
    steps = await read_execution_history(package, execution.id, limit=None)
    requests = [step.event for step in steps if isinstance(step.event, InvocationRequested)]
    return await _existing(package, [request.invocation for request in requests])


def _last_attempts(package: PackageClient, records: Sequence[DynamicField]) -> list[Address]:
    of_runs = package.deployment.type_of(Run)
    runs = [
        RunRecord.bcs.decode(field.value)
        for field in records
        if field.key_type == of_runs and field.value is not None
    ]
    return [run.invocation for run in runs if run.invocation != ZERO]


async def _existing(package: PackageClient, invocations: Sequence[Address]) -> list[Address]:
    objects = await package.client.objects(invocations)
    return [
        invocation_id
        for invocation_id, value in zip(invocations, objects, strict=True)
        if value is not None
    ]


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    yield from (items[start : start + BATCH_SIZE] for start in range(0, len(items), BATCH_SIZE))


def _batches(parts: Sequence[tuple[int, CleanupBatch]]) -> Iterator[list[CleanupBatch]]:
    """Combine parts of a cleanup into transactions that remove up to `BATCH_SIZE` objects each."""
    batch: list[CleanupBatch] = []
    count = 0
    for size, cleaning in parts:
        if batch and count + size > BATCH_SIZE:
            yield batch
            batch, count = [], 0
        batch.append(cleaning)
        count += size
    yield batch


def _add_all(
    batch: Sequence[CleanupBatch], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    for add_commands in batch:
        add_commands(builder, package, execution)


def _clean_runs(
    runs: Sequence[Run], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    vertices, paths = [run.vertex for run in runs], [run.path for run in runs]
    calls.clean_runs(builder, package, execution, vertices, paths)


def _clean_instances(
    instances: Sequence[Instance], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    blocks, paths = (
        [instance.block for instance in instances],
        [instance.path for instance in instances],
    )
    calls.clean_instances(builder, package, execution, blocks, paths)


def _clean_marks(
    marks: Sequence[Mark], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    iterations_by_input: dict[tuple[int, tuple[int, ...], int, int], list[int]] = defaultdict(list)
    for mark in marks:
        iterations_by_input[mark.region, tuple(mark.path), mark.vertex, mark.input].append(
            mark.iteration
        )
    for input_key, iterations in iterations_by_input.items():
        calls.clean_marks(builder, package, execution, *input_key, iterations)


def _clean_entries(
    vertices: Sequence[int], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    calls.clean_entries(builder, package, execution, vertices)


def _clean_invocations(
    invocations: Sequence[Address],
    builder: TransactionBuilder,
    package: Package,
    execution: Address,
) -> None:
    for invocation in invocations:
        calls.clean_invocation(builder, package, execution, invocation)


def _delete(
    schedule: Address | None, builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    """Return the execution's leftover funds to its schedule, if any, and delete the execution."""
    if schedule is not None:
        schedules.collect(builder, package, schedule, execution)
    calls.delete(builder, package, execution)
