"""The claim loop of one process: capacity, tools that do not respond, and lost rows."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from nexus_tools.errors import UnreachableError
from nexus_tools.leader.chain.closure import Closure, ClosureKind
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.fleet.claim_loop import ClaimLoop
from nexus_tools.leader.fleet.fleet import FleetInvocations
from nexus_tools.leader.intake.closure_log import ClosureLog
from nexus_tools.leader.journal.invocation_rows import Entry, Stage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60


class StoppedClock:
    """A clock that stands still after the windows of all invocations open."""

    def now_ms(self):
        return 10_000


class Node:
    """A node that may lag behind, or not respond."""

    def __init__(self):
        self.height = None
        self.is_reachable = True
        self.is_cut_off = False

    async def lagging_height(self):
        if isinstance(self.height, Exception):
            raise self.height
        return self.height


class Process:
    """A claim loop, with a dispatcher whose tasks last until the test ends them."""

    def __init__(self, journal, group, config, capacity, max_calls, max_per_tool):
        self.journal = journal
        self.metrics = LeaderMetrics()
        self.node = Node()
        self.queue = ClosingQueue(config)
        self.started, self.ends, self.assignments = [], {}, {}
        self._changed = asyncio.Condition()
        self.workload = Workload(
            group,
            self,
            self.queue,
            closed=ClosureLog(self.metrics, lambda: 0, lines=10),
            metrics=self.metrics,
            capacity=capacity,
        )
        self.loop = ClaimLoop(
            journal,
            self.workload,
            self.node,
            StoppedClock(),
            self.metrics.fleet,
            max_calls=max_calls,
            max_per_tool=max_per_tool,
            interval_s=TIMEOUT_S,
        )

    async def dispatch(self, entry):
        invocation = entry.assignment.invocation
        number = int.from_bytes(invocation, "big")
        self.ends[number], self.assignments[number] = asyncio.Event(), entry.assignment
        async with self._changed:
            self.started.append(number)
            self._changed.notify_all()
        await self.ends[number].wait()
        await self.journal.record_closed({invocation: ClosureKind.SETTLED}, 0)
        return Closure(ClosureKind.SETTLED)

    async def record_outcome(self, number):
        invocation = Address.of(number)
        await self.journal.record_outcome(invocation, Answer("ok", {}))
        self.on_outcome(self.assignments[number])

    async def wait_for(self, *numbers):
        """Wait until exactly these invocations have been started."""
        async with asyncio.timeout(TIMEOUT_S), self._changed:
            await self._changed.wait_for(lambda: len(self.started) >= len(numbers))
        assert sorted(self.started) == sorted(numbers)

    def numbers(self):
        return {int.from_bytes(invocation, "big") for invocation in self.workload.tracked}

    def count(self, name, **labels):
        return self.metrics.registry.get_sample_value(f"nexus_leader_{name}", labels)


@pytest.fixture
async def process(fleet, config):
    """Return a context in which a process runs."""

    @asynccontextmanager
    async def process(*, capacity=1_000, max_calls=1_000, max_per_tool=1_000, run=True):
        journal = await fleet.join()
        await journal.recover()
        async with asyncio.TaskGroup() as group:
            process = Process(journal, group, config, capacity, max_calls, max_per_tool)
            task = group.create_task(process.loop.run()) if run else None
            try:
                yield process
            finally:
                if task:
                    task.cancel()
                process.workload.abandon(process.workload.tracked)

    return process


async def assign(process, assignment_of, *numbers, tool=None, opens_at_ms=1):
    tools = {} if tool is None else {"tool": tool}
    rows = [assignment_of(n, opens_at_ms=opens_at_ms, **tools) for n in numbers]
    await process.journal.record_events(rows, {}, str(numbers), 0)
    process.loop.wake.set()


async def test_all_invocations_are_claimed_although_a_claim_is_limited(process, assignment_of):
    async with process() as one:
        await assign(one, assignment_of, *range(1, 201))
        await one.wait_for(*range(1, 201))


async def test_end_of_a_task_leads_to_another_claim(process, assignment_of):
    async with process(capacity=2) as one:
        await assign(one, assignment_of, 1, 2)
        await one.wait_for(1, 2)
        await assign(one, assignment_of, 3)
        one.ends[1].set()
        await one.wait_for(1, 2, 3)


async def test_process_claims_only_what_it_can_call_at_once(process, assignment_of):
    async with process(max_calls=2) as one:
        for number in range(1, 6):
            await assign(one, assignment_of, number, opens_at_ms=number)
        await one.wait_for(1, 2)
        async with process(max_calls=2) as two:
            await two.wait_for(3, 4)
            await one.record_outcome(1)
            await one.wait_for(1, 2, 5)


async def test_invocation_that_waits_for_its_closing_occupies_no_call(process, assignment_of):
    async with process(max_per_tool=1) as one:
        await assign(one, assignment_of, 1)
        await assign(one, assignment_of, 2, opens_at_ms=2)
        await one.wait_for(1)
        await one.record_outcome(1)
        await one.wait_for(1, 2)
        assert one.numbers() == {1, 2}


async def test_tool_that_does_not_respond_leaves_capacity_to_others(process, assignment_of):
    slow, quick = Address.of(0x51), Address.of(0x52)
    async with process(capacity=10, max_per_tool=2) as one:
        for number in (1, 2, 3, 4):
            await assign(one, assignment_of, number, tool=slow, opens_at_ms=number)
        await one.wait_for(1, 2)
        await assign(one, assignment_of, 5, 6, tool=quick, opens_at_ms=9)
        await one.wait_for(1, 2, 5, 6)
        one.ends[1].set()
        await one.wait_for(1, 2, 3, 5, 6)


async def test_process_claims_only_what_its_node_knows(process, assignment_of):
    async with process(run=False) as one:
        for number in (1, 2):
            rows = [assignment_of(number)]
            await one.journal.record_events(rows, {}, f"{number}", 0, checkpoint=10 * number)
        one.node.height = UnreachableError("node_unreachable", "no response")
        assert not await one.loop._claim()
        assert await one.journal.owned() == set()
        one.node.height = 19
        await one.loop._claim()
        assert await one.journal.owned() == {Address.of(1)}
        one.node.height = None
        await one.loop._claim()
        assert await one.journal.owned() == {Address.of(1), Address.of(2)}


async def test_process_without_a_node_leaves_its_invocations_to_others(
    process, fleet, assignment_of, claim
):
    async with process() as one:
        await assign(one, assignment_of, 1, 2)
        await one.wait_for(1, 2)
        one.node.is_reachable = False
        await assign(one, assignment_of, 3)
        other = await fleet.join()
        one.node.is_cut_off = True
        await one.journal.beat(0)
        one.loop.wake.set()
        claimed = []
        async with asyncio.timeout(TIMEOUT_S):
            while len(claimed) < 3:
                claimed += await claim(other, 10_000)
        assert sorted(claimed) == [1, 2, 3]
        assert one.numbers() == set()
        assert set(fleet.column("claims").values()) == {1}


async def test_process_that_cannot_close_claims_nothing_while_another_process_can(
    process, fleet, assignment_of
):
    async with process(run=False) as one:
        one.journal.is_ready = lambda: False
        await assign(one, assignment_of, 1)
        other = await fleet.join()
        await one.journal.beat(0)
        await one.loop._claim()
        assert await one.journal.owned() == set()
        other.is_ready = lambda: False
        await other.beat(0)
        await one.journal.beat(0)
        await one.loop._claim()
        assert await one.journal.owned() == {Address.of(1)}


async def test_only_process_keeps_its_invocations_without_a_node(process, assignment_of):
    async with process() as one:
        await assign(one, assignment_of, 1)
        await one.wait_for(1)
        one.node.is_reachable, one.node.is_cut_off = False, True
        await one.journal.beat(0)
        one.loop.wake.set()
        await assign(one, assignment_of, 2)
        one.node.is_reachable, one.node.is_cut_off = True, False
        one.loop.wake.set()
        await one.wait_for(1, 2)


async def test_reconcile_starts_rows_whose_claim_was_not_answered(process, assignment_of):
    async with process(run=False) as one:
        await assign(one, assignment_of, 1, 2)
        await one.journal.claim(10_000, 9, {}, 9)
        await one.loop.reconcile()
        await one.wait_for(1, 2)
        assert one.count("fleet_invocations_owned") == 2
        await one.loop.reconcile()
        assert sorted(one.started) == [1, 2]


async def test_reconcile_ends_tasks_whose_row_was_taken(process, fleet, assignment_of):
    async with process(run=False) as one:
        await assign(one, assignment_of, 1, 2, 3)
        await one.loop._claim()
        await one.wait_for(1, 2, 3)
        await one.journal.reopen([Address.of(1)])
        other = await fleet.join()
        await other.recover()
        await other.record_events([], {Address.of(2): ClosureKind.ELSEWHERE}, "d", 0)
        await one.loop.reconcile()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert one.numbers() == {3}
        assert one.count("invocations_closed_total", how="elsewhere") == 1
        assert one.count("invocations_open") == 1


async def test_holder_tracks_open_invocations_until_they_close_or_expire(assignment_of):
    now_ms = 0
    clock = SimpleNamespace(now_ms=lambda: now_ms)
    dropped = []
    invocations = FleetInvocations(SimpleNamespace(drop=dropped.append), clock)
    entries = [Entry(assignment_of(number), Stage.ASSIGNED, None) for number in (1, 2)]
    await invocations.resume(entries)
    await invocations.start([assignment_of(3), assignment_of(4, opens_at_ms=9_000)])
    closed = {Address.of(2): ClosureKind.SETTLED, Address.of(9): ClosureKind.MISSED}
    invocations.drop(closed)
    assert dropped == [closed]
    assert tracked(invocations) == [1, 3, 4]
    now_ms = 3_001
    await invocations.start([])
    assert tracked(invocations) == [4]
    await invocations.resume(entries)
    assert tracked(invocations) == [1, 2]


def tracked(invocations):
    return [number for number in range(10) if invocations.is_tracked(bytes(Address.of(number)))]
