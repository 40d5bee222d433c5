"""Reading schedules, and what they began, from objects and events."""

from collections.abc import Sequence
from typing import TypeVar, cast

from nexus_tools.contracts import PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.execution import Execution, TermsKey
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    Order,
    OrderKey,
    Schedule,
    ScheduleCollected,
    ScheduleCreated,
    ScheduleTriggered,
)
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.errors import NotFoundError
from nexus_tools.registry.creation_checkpoint import beginning_of
from nexus_tools.registry.executions.state import status_of
from nexus_tools.registry.schedules.overview import Left, ScheduleStanding
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.registry.workflows.workflows import Workflows
from nexus_tools.sui.client import Cursor, past_events
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, field_tag
from nexus_tools.workflow import Status

Key = TypeVar("Key", OrderKey, TermsKey)
Value = TypeVar("Value", Order, Terms)
Told = TypeVar("Told", ScheduleCreated, ScheduleTriggered, ScheduleCollected)


async def told(
    package: PackageClient, kind: type[Told], after: Cursor | None = None
) -> tuple[Told, ...]:
    """The events of a kind after a place, or all, as far as the node has them, in order."""
    asked = past_events(package.client, event_filter(package.deployment, kind), after)
    parsed = [parse_event(package.deployment, record.event) async for record in asked]
    return tuple(each for each in parsed if isinstance(each, kind))


async def read_order(package: PackageClient, schedule: Address) -> Order:
    """To what the owner of a schedule consented. Raises `schedule_unknown`."""
    order = await _field(package, schedule, OrderKey, Order)
    if order is None:
        raise schedule_unknown(package, schedule)
    return order


def schedule_unknown(package: PackageClient, schedule: Address) -> NotFoundError:
    """The error of a schedule that is not there, or not any more."""
    return NotFoundError(
        "schedule_unknown",
        f"there is no schedule {schedule} on {package.client.network.name}",
        hint="`nexus-tools schedule list` shows yours that are not deleted",
    )


async def read_uncollected(
    package: PackageClient, schedules: Sequence[Address]
) -> dict[Address, tuple[Execution, ...]]:
    """By schedule, the executions that are not collected, the oldest first."""
    after = await beginning_of(package, *schedules)
    collected = {each.execution for each in await told(package, ScheduleCollected, after)}
    began = [
        each
        for each in await told(package, ScheduleTriggered, after)
        if each.schedule in schedules and each.execution not in collected
    ]
    found = await package.find_all([each.execution for each in began], Execution)
    return {
        schedule: tuple(
            execution
            for each, execution in zip(began, found, strict=True)
            if each.schedule == schedule and execution is not None
        )
        for schedule in schedules
    }


async def is_over(package: PackageClient, execution: Execution) -> bool:
    """Whether it has ended, or is late with nothing under way, so that anyone may end it."""
    if execution.ended_at_ms is not None or execution.walks.under_way:
        return execution.ended_at_ms is not None
    return await is_late(package, execution)


async def is_late(package: PackageClient, execution: Execution) -> bool:
    """Whether its time is over."""
    return await package.client.now_ms() >= await _deadline_ms(package, execution)


async def read_standings(
    package: PackageClient, schedules: Sequence[Schedule]
) -> tuple[ScheduleStanding, ...]:
    """How schedules stand, in their order."""
    uncollected = await read_uncollected(package, [each.id for each in schedules])
    client = package.client
    now = {"now_ms": await client.now_ms(), "gas_price": await client.gas_price()}
    workflows = Workflows(package.client, package.deployment)
    known: dict[Address, PublishedWorkflow] = {}
    standings: list[ScheduleStanding] = []
    for each in schedules:
        if each.dag not in known:
            known[each.dag] = await workflows.by_id(each.dag)
        order = await read_order(package, each.id)
        began = uncollected[each.id]
        standings.append(await standing_of(package, each, order, known[each.dag], began, **now))
    return tuple(standings)


async def standing_of(
    package: PackageClient,
    schedule: Schedule,
    order: Order,
    workflow: PublishedWorkflow,
    began: Sequence[Execution],
    *,
    now_ms: int,
    gas_price: int,
) -> ScheduleStanding:
    """How a schedule stands that was read already, with what it `began` that is not collected.

    Raises `execution_unknown` if one of these is cleaned meanwhile.
    """
    ends = await _ends(package, began)
    return ScheduleStanding(schedule, order, workflow, *ends, now_ms, gas_price)


async def _ends(
    package: PackageClient, uncollected: Sequence[Execution]
) -> tuple[tuple[Left, ...], tuple[Execution, ...]]:
    """What has ended, and what runs."""
    left: list[Left] = []
    running: list[Execution] = []
    for each in uncollected:
        if await is_over(package, each):
            deadline_ms, ended_at_ms = await _deadline_ms(package, each), each.ended_at_ms
            status = Status.TIMED_OUT if ended_at_ms is None else status_of(each)
            left.append(Left(each, status, min(ended_at_ms or deadline_ms, deadline_ms)))
        else:
            running.append(each)
    return tuple(left), tuple(running)


async def _deadline_ms(package: PackageClient, execution: Execution) -> int:
    terms = await _field(package, execution.id, TermsKey, Terms)
    if terms is None:
        raise NotFoundError("execution_unknown", f"the execution {execution.id} is cleaned")
    return terms.deadline_ms


async def _field(
    package: PackageClient, parent: Address, key: type[Key], kind: type[Value]
) -> Value | None:
    """The one field of an object that has a key without fields; None if both are gone."""
    kinds = package.deployment.type_of(key), package.deployment.type_of(kind)
    name = TYPE_TAG.encode(kinds[0]), key.bcs.encode(key())
    value = await package.client.object(dynamic_field_id(parent, *name))
    if value is None:
        return None
    return cast("Value", package.deployment.decode_entry(value, field_tag(*kinds)))
