import asyncio
from types import SimpleNamespace

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closure, ClosureKind
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.intake.closure_log import ClosureLog
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

TIMEOUT_S = 20


class FakeDispatcher:
    """A dispatcher that works until the test stops it, and records its entries."""

    def __init__(self):
        self.begun = []
        self.go_on = asyncio.Event()
        self.error = None

    async def dispatch(self, entry):
        self.begun.append(entry.assignment.invocation)
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return Closure(ClosureKind.SETTLED)


class WorkloadBench:
    """A workload, with a count of how often invocations were recorded as closed."""

    def __init__(self, group, config, capacity):
        self.carrying = FakeDispatcher()
        self.metrics = LeaderMetrics()
        self.queue = ClosingQueue(config)
        self.workload = Workload(
            group,
            self.carrying,
            self.queue,
            closed=ClosureLog(self.metrics, lambda: 0, lines=10),
            metrics=self.metrics,
            capacity=capacity,
        )

    def count(self, name, **labels):
        return self.metrics.registry.get_sample_value(f"nexus_leader_{name}", labels) or 0


def assignment_of(number, *, opens_at_ms=0):
    window = (opens_at_ms, opens_at_ms + 1_000, opens_at_ms + 1_000)
    return Assignment(Address.of(number), Address.of(1), "a.b.c@1", 0, *window, 500, 1_000)


async def turns():
    """Let every ready task continue."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_repeated_invocation_is_dispatched_once(config):
    async with asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        await bench.workload.start([assignment_of(1), assignment_of(1)])
        await turns()
        assert bench.carrying.begun == [Address.of(1)]
        bench.carrying.go_on.set()
    assert bench.count("invocations_closed_total", how="settled") == 1


async def test_invocation_restarts_when_requested_at_another_time(config):
    """After a rollback, the same request has the same ID."""
    async with asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 1)
        await bench.workload.start([assignment_of(1, opens_at_ms=86_400_000)])
        await turns()
        await bench.workload.start([assignment_of(1)])
        await turns()
        bench.carrying.go_on.set()
    assert bench.carrying.begun == [Address.of(1)] * 2
    assert bench.count("open") == 0


async def test_invocation_closed_elsewhere_is_dropped_and_counted_once(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        await bench.workload.start([assignment_of(1), assignment_of(2)])
        await turns()
        bench.workload.drop(
            {Address.of(1): ClosureKind.ELSEWHERE, Address.of(9): ClosureKind.ELSEWHERE}
        )
        bench.carrying.go_on.set()
    assert bench.count("invocations_closed_total", how="elsewhere") == 1
    assert bench.count("invocations_closed_total", how="settled") == 1
    assert bench.count("invocations_open") == 0


async def test_closure_reported_at_any_moment_is_counted_once(config):
    for moment in range(6):
        async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
            bench = WorkloadBench(group, config, 10)
            await bench.workload.start([assignment_of(1)])
            await turns()
            bench.carrying.go_on.set()
            for _ in range(moment):
                await asyncio.sleep(0)
            bench.workload.drop({Address.of(1): ClosureKind.SETTLED})
        assert bench.count("invocations_closed_total", how="settled") == 1


async def test_abandoned_task_ends_unless_its_closing_is_in_flight(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        await bench.workload.start([assignment_of(n) for n in (1, 2, 3)])
        await turns()
        for number in (1, 2):
            bench.queue.put(closing_of(number))
        await bench.queue.take(1)
        bench.workload.abandon([Address.of(n) for n in (1, 2, 3, 9)])
        await turns()
        assert bench.workload.tracked == {Address.of(1)}
        assert len(bench.queue) == 0
        bench.carrying.go_on.set()
    assert bench.count("invocations_closed_total", how="settled") == 1


def closing_of(number):
    amounts = dict.fromkeys(
        ("size", "commands", "effort", "following_effort", "following_edges", "input_bytes"), 0
    )
    return SimpleNamespace(
        assignment=assignment_of(number),
        closed=asyncio.get_running_loop().create_future(),
        is_signed=False,
        is_costly=False,
        **amounts,
    )


async def test_counts_contain_the_tasks_of_each_tool_without_an_outcome(config):
    ended = []
    async with asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        bench.workload.on_end = ended.append
        await bench.workload.start([assignment_of(1), assignment_of(2)])
        assert bench.workload.without_outcome == {Address.of(1): 2}
        bench.carrying.on_outcome(assignment_of(1))
        assert ended == [Address.of(1)]
        assert bench.workload.without_outcome == {Address.of(1): 1}
        assert bench.workload.free_capacity == 8
        bench.carrying.go_on.set()
    assert ended == [Address.of(1)] * 3
    assert bench.workload.without_outcome == {}


async def test_take_waits_while_the_capacity_is_exhausted(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 2)
        taking = group.create_task(bench.workload.start([assignment_of(n) for n in (1, 2, 3)]))
        await turns()
        assert len(bench.carrying.begun) == 2
        assert not taking.done()
        bench.carrying.go_on.set()
        await taking
    assert len(bench.carrying.begun) == 3


async def test_drain_waits_for_running_tasks_but_not_for_closed_windows(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        await bench.workload.start([assignment_of(1), assignment_of(2, opens_at_ms=50_000)])
        await turns()
        draining = group.create_task(bench.workload.drain(now_ms=10_000, seconds=10))
        await turns()
        assert bench.count("invocations_open") == 1
        bench.carrying.go_on.set()
        await draining
    assert bench.count("invocations_closed_total", how="settled") == 1


async def test_drain_waits_at_most_the_allowed_time(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        await bench.workload.start([assignment_of(1)])
        await turns()
        await bench.workload.drain(now_ms=10_000, seconds=0.01)
    assert bench.count("invocations_open") == 0


async def fail_with(config, error):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        bench = WorkloadBench(group, config, 10)
        bench.carrying.error = error
        bench.carrying.go_on.set()
        await bench.workload.start([assignment_of(1)])


async def test_journal_failure_ends_all_tasks(config):
    error = NexusError("journal_failed", "the disk is full")
    with pytest.raises(ExceptionGroup) as caught:
        await fail_with(config, error)
    assert caught.value.exceptions == (error,)
