"""Removing what is left of an execution that has ended, for what Sui gives back."""

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
from nexus_tools.errors import NotNowError
from nexus_tools.registry.executions.history import read_execution_steps
from nexus_tools.registry.executions.step_commands import add_advance
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import RunPhase

AT_ONCE = 100
"""How many records or invocations one transaction removes."""

OWNER_MS = 7 * 24 * 3_600_000
"""How long after its end the owner alone may: `cleaning::OWNER_MS`."""

T = TypeVar("T")

Cleaning = Callable[[TransactionBuilder, Package, Address], None]
"""The commands of one transaction, which remove something from an execution."""


async def cleanings(package: PackageClient, execution: Execution) -> list[Cleaning]:
    """What is to be removed, transaction by transaction; the last one deletes the execution."""
    deployment, client = package.deployment, package.client
    records = await client.dynamic_fields(execution.walks.records.id)
    of_runs, of_instances = deployment.type_of(Run), deployment.type_of(Instance)
    of_marks, of_entries = deployment.type_of(Mark), deployment.type_of(EntryKey)
    runs = [Run.bcs.decode(each.key) for each in records if each.key_type == of_runs]
    instances = [Instance.bcs.decode(each.key) for each in records if each.key_type == of_instances]
    marks = [Mark.bcs.decode(each.key) for each in records if each.key_type == of_marks]
    entries = [
        EntryKey.bcs.decode(each.key).pos0
        for each in await client.dynamic_fields(execution.id)
        if each.key_type == of_entries
    ]
    invocations = await invocations_of(package, execution)
    parts: list[tuple[int, Cleaning]] = [
        *((len(each), partial(_clean_runs, each)) for each in _parts(runs)),
        *((len(each), partial(_clean_instances, each)) for each in _parts(instances)),
        *((len(each), partial(_clean_marks, each)) for each in _parts(marks)),
        *((len(each), partial(_clean_entries, each)) for each in _parts(entries)),
        *((len(each), partial(_clean_invocations, each)) for each in _parts(invocations)),
        (0, partial(_delete, None if execution.is_collected else execution.schedule)),
    ]
    return [partial(_all, each) for each in _together(parts)]


async def end_rest(package: PackageClient, execution: Execution) -> Sent:
    """Let what was under way expire. Raises `not_ended` if something still can be closed."""
    builder = TransactionBuilder()
    due = await add_due(package, builder, execution)
    if execution.walks.ending is None or due < execution.walks.under_way:
        raise NotNowError(
            "not_ended",
            f"the execution {execution.id} has not ended",
            hint=f"`nexus-tools workflow cancel {execution.id}` ends it;"
            " what is under way is closed first",
        )
    return await package.send(builder)


async def add_due(package: PackageClient, builder: TransactionBuilder, execution: Execution) -> int:
    """Go on with what is closed, or expired, and was not gone on with; gives how many."""
    now_ms, count = await package.client.now_ms(), 0
    of_runs = package.deployment.type_of(Run)
    records = [
        RunRecord.bcs.decode(each.value)
        for each in await package.client.dynamic_fields(execution.walks.records.id)
        if each.key_type == of_runs and each.value is not None
    ]
    awaited = [each.invocation for each in records if each.phase == RunPhase.UNDER_WAY]
    for invocation in await package.find_all(awaited, Invocation):
        if invocation and (invocation.is_closed or invocation.is_expired_at(now_ms)):
            deployment, dag = package.deployment, execution.dag
            add_advance(builder, deployment, execution.id, dag, invocation.id)
            count += 1
    return count


async def invocations_of(package: PackageClient, execution: Execution) -> list[Address]:
    """The invocations of an execution that are not deleted, failed attempts included."""
    if not execution.invocations:
        return []
    steps = await read_execution_steps(package, execution.id)
    asked = [step.event for step in steps if isinstance(step.event, InvocationRequested)]
    ids = [each.invocation for each in asked]
    found = await package.client.objects(ids)
    return [place for place, value in zip(ids, found, strict=True) if value is not None]


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    yield from (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _together(parts: Sequence[tuple[int, Cleaning]]) -> Iterator[list[Cleaning]]:
    """As many of these in one transaction as remove `AT_ONCE` in all."""
    several: list[Cleaning] = []
    count = 0
    for size, part in parts:
        if several and count + size > AT_ONCE:
            yield several
            several, count = [], 0
        several.append(part)
        count += size
    yield several


def _all(
    several: Sequence[Cleaning], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    for each in several:
        each(builder, package, execution)


def _clean_runs(
    runs: Sequence[Run], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    vertices, paths = [run.vertex for run in runs], [run.path for run in runs]
    calls.clean_runs(builder, package, execution, vertices, paths)


def _clean_instances(
    instances: Sequence[Instance], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    blocks, paths = [each.block for each in instances], [each.path for each in instances]
    calls.clean_instances(builder, package, execution, blocks, paths)


def _clean_marks(
    marks: Sequence[Mark], builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    places: dict[tuple[int, tuple[int, ...], int, int], list[int]] = defaultdict(list)
    for mark in marks:
        places[mark.region, tuple(mark.path), mark.vertex, mark.input].append(mark.iteration)
    for place, iterations in places.items():
        calls.clean_marks(builder, package, execution, *place, iterations)


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
    for each in invocations:
        calls.clean_invocation(builder, package, execution, each)


def _delete(
    schedule: Address | None, builder: TransactionBuilder, package: Package, execution: Address
) -> None:
    """Delete an execution; what is left of its funds flows back to its schedule before."""
    if schedule is not None:
        schedules.collect(builder, package, schedule, execution)
    calls.delete(builder, package, execution)
