"""The delay of scheduled executions that a Leader triggers by time.

One schedule has planned times that are a few seconds apart, and a Leader with default settings has
no other work. The delay is the difference between the planned time and the chain's clock in the
transaction that started the execution.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from statistics import median

from benchmarks.chain import SUI
from benchmarks.figure import Figure
from benchmarks.flow_stage import WorkflowSetup, flow_stage, text_of
from benchmarks.flows import line
from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionStarted
from nexus_tools.contracts.move_bindings.workflows.schedule import ScheduleTriggered
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import Schedules
from nexus_tools.sui.client import Cursor, EventRecord, follow_events

TIMES = 20
# The interval is not a multiple of a second, so planned times have different fractions of seconds.
APART_MS = 2_430
LASTS_MS = 600_000
_FIRST_AFTER_MS = 5_000
_SIZE = 100


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the milliseconds from the planned time to the start."""
    late_ms = sorted(asyncio.run(_late_ms(folder / "chain")))
    note = f"{TIMES} planned times, {APART_MS} ms apart; one Leader"
    yield Figure("schedules lateness", median(late_ms), "ms", note=note)
    yield Figure("schedules maximum lateness", late_ms[-1], "ms")
    yield Figure("schedules started", len(late_ms), "")


async def _late_ms(folder: Path) -> list[int]:
    async with flow_stage(folder) as stage:
        workflow = await stage.publish(line(1), "one")
        first_ms = await stage.client.now_ms() + _FIRST_AFTER_MS
        times = tuple(first_ms + number * APART_MS for number in range(TIMES))
        created = await Schedules(stage.client, stage.deployment).create(
            workflow,
            text_of(_SIZE),
            Timing(Plan.At(times), None),
            funds_mist=100 * SUI,
            duration_ms=LASTS_MS,
            allow_overlap=True,
        )
        begun_ms, planned_ms = {}, {}
        async with aclosing(_told(stage)) as events:
            async for event in events:
                if isinstance(event, ExecutionStarted):
                    begun_ms[event.execution] = event.deadline_ms - LASTS_MS
                elif event.schedule == created.schedule:
                    planned_ms[event.execution] = event.planned_at_ms
                    # A late execution replaces all missed executions.
                    if event.next_at_ms is None:
                        break
        return [begun_ms[number] - planned for number, planned in planned_ms.items()]


async def _told(stage: WorkflowSetup) -> AsyncGenerator[ExecutionStarted | ScheduleTriggered, None]:
    kinds = event_filter(stage.deployment, ExecutionStarted, ScheduleTriggered)
    async with aclosing(follow_events(stage.client, kinds, Cursor.beginning())) as items:
        async for item in items:
            if isinstance(item, EventRecord):
                event = parse_event(stage.deployment, item.event)
                assert isinstance(event, ExecutionStarted | ScheduleTriggered)
                yield event
