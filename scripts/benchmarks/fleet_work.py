"""The invocations and executions that a fleet works on in one case of `fleet`."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from time import monotonic

from benchmarks import chain
from benchmarks.fleet_faults import Fault
from benchmarks.fleet_record import KINDS
from benchmarks.fleet_stage import Fleet
from benchmarks.flow_stage import text_of
from benchmarks.flows import line
from benchmarks.requests import request_many
from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.registry import Executions, ToolRegistry, Workflows
from nexus_tools.sui.client import Cursor, EventRecord, SuiClient, follow_events
from nexus_tools.tool import ToolFqn

STEPS = 3
"""The number of sequential runs of an execution."""

_FQN = "xyz.example.fleet.line@1"
_TEXT_BYTES = 100


@dataclass(frozen=True, slots=True)
class Work:
    """The number of invocations of each tool, and of executions, which start within `span_s`.

    A transaction requests `per_request` invocations.
    """

    invocations: Mapping[ToolFqn, int]
    executions: int
    span_s: float
    limit_s: float
    per_request: int = 10

    def batches(self) -> Iterator[tuple[ToolFqn, range]]:
        """Yield the numbers of the inputs of each request, which mix the tools evenly."""
        placed = []
        for tool, wanted in self.invocations.items():
            for start in range(0, wanted, self.per_request):
                numbers = range(start, min(start + self.per_request, wanted))
                placed.append((start / wanted, tool, numbers))
        for _, tool, numbers in sorted(placed, key=lambda batch: batch[0]):
            yield tool, numbers

    @property
    def total(self) -> int:
        """The number of invocations that are not attempts of executions."""
        return sum(self.invocations.values())


async def work_through(fleet: Fleet, work: Work, fault: Fault) -> None:
    """Request the work, and wait until it has ended or until its time limit."""
    tasks = [asyncio.create_task(fault(fleet)), asyncio.create_task(_work(fleet, work))]
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(work.limit_s):
                await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if not tasks[0].cancelled():
        tasks[0].result()


async def _work(fleet: Fleet, work: Work) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_observe(fleet, work))
        group.create_task(_request(fleet, work))
        group.create_task(_start_executions(fleet, work))


async def _request(fleet: Fleet, work: Work) -> None:
    """Request all invocations, a few per transaction, at regular intervals."""
    key = await chain.funded_key(fleet.network, 1_000 * chain.SUI)
    async with SuiClient(fleet.network, key) as client:
        registry = ToolRegistry(client, fleet.deployment)
        tools = {fqn: await registry.get(fqn) for fqn in work.invocations}
        began, requested = monotonic(), 0
        for fqn, numbers in work.batches():
            inputs = [{"number": number} for number in numbers]
            await request_many(client, fleet.deployment, tools[fqn], inputs)
            requested += len(numbers)
            await _until(began + work.span_s * requested / work.total)


async def _start_executions(fleet: Fleet, work: Work) -> None:
    """Publish the workflow, and start all executions at regular intervals."""
    key = await chain.funded_key(fleet.network, 1_000 * chain.SUI)
    async with SuiClient(fleet.network, key) as client:
        workflows = Workflows(client, fleet.deployment)
        executions = Executions(client, fleet.deployment)
        await workflows.publish(line(STEPS), _FQN)
        workflow, began = await workflows.get(_FQN), monotonic()
        for number in range(1, work.executions + 1):
            await executions.start(workflow, text_of(_TEXT_BYTES), leaders=(fleet.leader,))
            await _until(began + work.span_s * number / work.executions)


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - monotonic()))


async def _observe(fleet: Fleet, work: Work) -> None:
    """Record all events until the work has ended."""
    async with (
        SuiClient(fleet.network) as observer,
        aclosing(
            follow_events(observer, event_filter(fleet.deployment, *KINDS), Cursor.beginning())
        ) as items,
    ):
        async for item in items:
            if isinstance(item, EventRecord):
                fleet.record.see(parse_event(fleet.deployment, item.event), monotonic())
            if fleet.record.is_complete(work.total, work.executions):
                return
