"""Functions that read schedules and their executions from objects and events."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar, cast

from nexus_tools.contracts import PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.execution import Execution, TermsKey
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    Schedule,
    ScheduleCollected,
    ScheduleCreated,
    ScheduleTriggered,
    StandingOrder,
    StandingOrderKey,
)
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.errors import NotFoundError
from nexus_tools.registry.executions.state import status_of
from nexus_tools.registry.pages import Page, read_page
from nexus_tools.registry.schedules.overview import EndedExecution, ScheduleOverview
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.registry.workflows.workflows import Workflows
from nexus_tools.sui.client import Cursor, EventRecord, object_history
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.type_tag import TYPE_TAG, field_tag
from nexus_tools.workflow import Status

Key = TypeVar("Key", StandingOrderKey, TermsKey)
Value = TypeVar("Value", StandingOrder, Terms)
MAX_TRANSACTIONS = 1_000
"""The number of a schedule's transactions after which the search for an execution stops."""


async def read_page_of_schedules(
    package: PackageClient, owner: Address, limit: int, before: Cursor | None
) -> Page[Schedule]:
    """Return a page of the schedules of an address that are not deleted, newest first."""

    async def read(records: Sequence[EventRecord]) -> list[Schedule | None]:
        events = [parse_event(package.deployment, record.event) for record in records]
        ids = [event.schedule for event in events if isinstance(event, ScheduleCreated)]
        schedules = dict(zip(ids, await package.find_all(ids, Schedule), strict=True))
        return [schedules.get(getattr(event, "schedule", owner)) for event in events]

    kinds = event_filter(package.deployment, ScheduleCreated).sent_by(owner)
    return await read_page(package, kinds, read, limit, before)


async def read_starts(
    package: PackageClient, schedule: Address, limit: int
) -> tuple[ScheduleTriggered, ...]:
    """Return the start events of a schedule's newest executions, newest first.

    Reading stops after `MAX_TRANSACTIONS`. Raises `schedule_unknown`.
    """
    value = await package.client.object(schedule)
    if value is None:
        raise schedule_unknown_error(package, schedule)
    starts: list[ScheduleTriggered] = []
    async with aclosing(_events_back(package, value)) as events:
        async for event in events:
            if isinstance(event, ScheduleTriggered):
                starts.append(event)
                if len(starts) == limit:
                    break
    return tuple(starts)


async def _events_back(
    package: PackageClient, schedule: Object
) -> AsyncGenerator[ScheduleTriggered | ScheduleCollected, None]:
    """Yield the starts and collections of a schedule's executions, the newest first.

    The events are in the transactions that changed the schedule, so the history of other schedules
    does not matter.
    """
    number = 0
    walk = object_history(package.client, schedule.id, schedule.previous_transaction)
    async with aclosing(walk) as transactions:
        async for transaction in transactions:
            for record in reversed(transaction.executed.events):
                event = parse_event(package.deployment, record)
                kinds = ScheduleTriggered, ScheduleCollected
                if isinstance(event, kinds) and event.schedule == schedule.id:
                    yield event
            number += 1
            if number == MAX_TRANSACTIONS:
                return


async def read_order(package: PackageClient, schedule: Address) -> StandingOrder:
    """Return the standing order of a schedule's owner. Raises `schedule_unknown`."""
    order = await _field(package, schedule, StandingOrderKey, StandingOrder)
    if order is None:
        raise schedule_unknown_error(package, schedule)
    return order


def schedule_unknown_error(package: PackageClient, schedule: Address) -> NotFoundError:
    """Return the error for a schedule that does not exist."""
    return NotFoundError(
        "schedule_unknown",
        f"the schedule {schedule} does not exist on {package.client.network.name}",
        hint="Run `nexus-tools schedule list` to see your schedules.",
    )


async def read_uncollected(package: PackageClient, schedule: Address) -> tuple[Execution, ...]:
    """Return the uncollected executions of a schedule, oldest first.

    The schedule counts these executions. The search for their start events stops when it has found
    them, or after `MAX_TRANSACTIONS`.
    """
    value = await package.client.object(schedule)
    count = 0 if value is None else package.deployment.decode(value, Schedule).running
    if value is None or not count:
        return ()
    starts: list[Address] = []
    collected: set[Address] = set()
    async with aclosing(_events_back(package, value)) as events:
        async for event in events:
            if isinstance(event, ScheduleCollected):
                collected.add(event.execution)
            elif event.execution not in collected:
                starts.append(event.execution)
                if len(starts) == count:
                    break
    executions = await package.find_all(starts[::-1], Execution)
    return tuple(execution for execution in executions if execution is not None)


async def is_over(package: PackageClient, execution: Execution) -> bool:
    """Return whether an execution has ended, or is overdue without pending invocations.

    Anyone may end an overdue execution.
    """
    if execution.ended_at_ms is not None or execution.progress.in_flight:
        return execution.ended_at_ms is not None
    return await is_late(package, execution)


async def is_late(package: PackageClient, execution: Execution) -> bool:
    """Return whether the deadline of an execution has passed."""
    return await package.client.now_ms() >= await _deadline_ms(package, execution)


async def read_overviews(
    package: PackageClient, schedules: Sequence[Schedule]
) -> tuple[ScheduleOverview, ...]:
    """Return the overviews of schedules, in their order."""
    client = package.client
    now = {"now_ms": await client.now_ms(), "gas_price": await client.gas_price()}
    workflows = Workflows(package.client, package.deployment)
    workflows_by_id: dict[Address, PublishedWorkflow] = {}
    standings: list[ScheduleOverview] = []
    for schedule in schedules:
        if schedule.dag not in workflows_by_id:
            workflows_by_id[schedule.dag] = await workflows.by_id(schedule.dag)
        order = await read_order(package, schedule.id)
        started = await read_uncollected(package, schedule.id)
        standings.append(
            await schedule_overview(
                package, schedule, order, workflows_by_id[schedule.dag], started, **now
            )
        )
    return tuple(standings)


async def schedule_overview(
    package: PackageClient,
    schedule: Schedule,
    order: StandingOrder,
    workflow: PublishedWorkflow,
    began: Sequence[Execution],
    *,
    now_ms: int,
    gas_price: int,
) -> ScheduleOverview:
    """Return the overview of a schedule that was already read.

    `began` are the schedule's uncollected executions. Raises `execution_unknown` if an execution
    was cleaned up after it was read.
    """
    ends = await _split_ended(package, began)
    return ScheduleOverview(schedule, order, workflow, *ends, now_ms, gas_price)


async def _split_ended(
    package: PackageClient, uncollected: Sequence[Execution]
) -> tuple[tuple[EndedExecution, ...], tuple[Execution, ...]]:
    """Divide the executions into ended executions and running executions."""
    ended: list[EndedExecution] = []
    running: list[Execution] = []
    for execution in uncollected:
        if await is_over(package, execution):
            deadline_ms, ended_at_ms = await _deadline_ms(package, execution), execution.ended_at_ms
            status = Status.TIMED_OUT if ended_at_ms is None else status_of(execution)
            ended.append(
                EndedExecution(execution, status, min(ended_at_ms or deadline_ms, deadline_ms))
            )
        else:
            running.append(execution)
    return tuple(ended), tuple(running)


async def _deadline_ms(package: PackageClient, execution: Execution) -> int:
    terms = await _field(package, execution.id, TermsKey, Terms)
    if terms is None:
        raise NotFoundError("execution_unknown", f"the execution {execution.id} was cleaned up")
    return terms.deadline_ms


async def _field(
    package: PackageClient, parent: Address, key: type[Key], kind: type[Value]
) -> Value | None:
    """Return the dynamic field of an object whose key type has no fields, or None."""
    kinds = package.deployment.type_of(key), package.deployment.type_of(kind)
    name = TYPE_TAG.encode(kinds[0]), key.bcs.encode(key())
    value = await package.client.object(dynamic_field_id(parent, *name))
    if value is None:
        return None
    return cast("Value", package.deployment.decode_entry(value, field_tag(*kinds)))
