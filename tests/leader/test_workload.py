import asyncio

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closed, End
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.intake.closure_log import ClosedInvocations
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

TIMEOUT_S = 20


class Carrying:
    """Carries as long as it is told to, and remembers what it was given."""

    def __init__(self):
        self.begun = []
        self.go_on = asyncio.Event()
        self.error = None

    async def carry(self, entry):
        self.begun.append(entry.assignment.invocation)
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return End(Closed.SETTLED)


class Hand:
    """A workload and how often invocations were counted as closed."""

    def __init__(self, group, config, capacity):
        self.carrying = Carrying()
        self.metrics = LeaderMetrics()
        queue = ClosingQueue(config)
        self.workload = Workload(
            group,
            self.carrying,
            queue,
            closed=ClosedInvocations(self.metrics, lambda: 0, lines=10),
            metrics=self.metrics,
            capacity=capacity,
        )

    def count(self, name, **labels):
        return self.metrics.registry.get_sample_value(f"nexus_leader_{name}", labels) or 0


def assignment_of(number, *, opens_at_ms=0):
    window = (opens_at_ms, opens_at_ms + 1_000, opens_at_ms + 1_000)
    return Assignment(Address.of(number), Address.of(1), "a.b.c@1", 0, *window, 500, 1_000)


async def turns():
    """Let every task that is ready go on."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_an_invocation_is_carried_once_although_it_is_taken_twice(config):
    async with asyncio.TaskGroup() as group:
        hand = Hand(group, config, 10)
        await hand.workload.take([assignment_of(1), assignment_of(1)])
        await turns()
        assert hand.carrying.begun == [Address.of(1)]
        hand.carrying.go_on.set()
    assert hand.count("invocations_closed_total", how="settled") == 1


async def test_an_invocation_starts_anew_when_it_is_requested_at_another_time(config):
    """On a chain that was set back, the same request has the same id."""
    async with asyncio.TaskGroup() as group:
        hand = Hand(group, config, 1)
        await hand.workload.take([assignment_of(1, opens_at_ms=86_400_000)])
        await turns()
        await hand.workload.take([assignment_of(1)])
        await turns()
        hand.carrying.go_on.set()
    assert hand.carrying.begun == [Address.of(1)] * 2
    assert hand.count("open") == 0


async def test_what_has_ended_elsewhere_is_dropped_and_counted_once(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        hand = Hand(group, config, 10)
        await hand.workload.take([assignment_of(1), assignment_of(2)])
        await turns()
        hand.workload.drop({Address.of(1): Closed.ELSEWHERE, Address.of(9): Closed.ELSEWHERE})
        hand.carrying.go_on.set()
    assert hand.count("invocations_closed_total", how="elsewhere") == 1
    assert hand.count("invocations_closed_total", how="settled") == 1
    assert hand.count("invocations_open") == 0


async def test_an_ending_that_is_told_at_any_moment_is_counted_once(config):
    for moment in range(6):
        async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
            hand = Hand(group, config, 10)
            await hand.workload.take([assignment_of(1)])
            await turns()
            hand.carrying.go_on.set()
            for _ in range(moment):
                await asyncio.sleep(0)
            hand.workload.drop({Address.of(1): Closed.SETTLED})
        assert hand.count("invocations_closed_total", how="settled") == 1


async def test_taking_waits_while_there_is_no_room(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        hand = Hand(group, config, 2)
        taking = group.create_task(hand.workload.take([assignment_of(n) for n in (1, 2, 3)]))
        await turns()
        assert len(hand.carrying.begun) == 2
        assert not taking.done()
        hand.carrying.go_on.set()
        await taking
    assert len(hand.carrying.begun) == 3


async def test_a_stop_waits_for_what_runs_and_not_for_what_waits_for_its_window(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        hand = Hand(group, config, 10)
        await hand.workload.take([assignment_of(1), assignment_of(2, opens_at_ms=50_000)])
        await turns()
        draining = group.create_task(hand.workload.drain(now_ms=10_000, seconds=10))
        await turns()
        assert hand.count("invocations_open") == 1
        hand.carrying.go_on.set()
        await draining
    assert hand.count("invocations_closed_total", how="settled") == 1


async def test_a_stop_does_not_wait_longer_than_it_is_allowed_to(config):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        hand = Hand(group, config, 10)
        await hand.workload.take([assignment_of(1)])
        await turns()
        await hand.workload.drain(now_ms=10_000, seconds=0.01)
    assert hand.count("invocations_open") == 0


async def fail_with(config, error):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        hand = Hand(group, config, 10)
        hand.carrying.error = error
        hand.carrying.go_on.set()
        await hand.workload.take([assignment_of(1)])


async def test_a_journal_that_fails_ends_everything(config):
    error = NexusError("journal_failed", "the disk is full")
    with pytest.raises(ExceptionGroup) as caught:
        await fail_with(config, error)
    assert caught.value.exceptions == (error,)
