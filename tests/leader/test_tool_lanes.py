import asyncio

import pytest

from nexus_tools.leader.dispatch.tool_health import BreakerState, CircuitBreaker, ToolHealthRegistry
from nexus_tools.sui.types.address import Address


class Clock:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return CircuitBreaker(failures=3, pause_seconds=10.0, now=clock)


def miss(breaker, times):
    for _ in range(times):
        assert breaker.admit() == 0
        breaker.record_failure()


def test_breaker_opens_after_consecutive_failures(breaker):
    miss(breaker, 2)
    assert breaker.state is BreakerState.CLOSED
    miss(breaker, 1)
    assert breaker.state is BreakerState.OPEN
    assert breaker.admit() == 10.0


def test_response_resets_the_failure_count(breaker):
    miss(breaker, 2)
    breaker.admit()
    breaker.record_success()
    miss(breaker, 2)
    assert breaker.state is BreakerState.CLOSED


def test_breaker_allows_one_trial_after_the_pause(breaker, clock):
    miss(breaker, 3)
    clock.seconds += 4.0
    assert breaker.admit() == 6.0
    clock.seconds += 6.0
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit() == 0
    assert breaker.admit() > 0


def test_successful_trial_closes_the_breaker(breaker, clock):
    miss(breaker, 3)
    clock.seconds += 10.0
    breaker.admit()
    breaker.record_success()
    assert breaker.state is BreakerState.CLOSED
    assert breaker.admit() == 0


def test_failed_trial_opens_the_breaker_again(breaker, clock):
    miss(breaker, 3)
    clock.seconds += 10.0
    miss(breaker, 1)
    assert breaker.state is BreakerState.OPEN
    assert breaker.admit() == 10.0


def test_cancelled_trial_allows_another_one(breaker, clock):
    miss(breaker, 3)
    clock.seconds += 10.0
    breaker.admit()
    breaker.release_probe()
    assert breaker.admit() == 0


@pytest.mark.anyio
async def test_waiting_call_continues_when_the_tool_responds_to_another(breaker, clock):
    miss(breaker, 3)
    clock.seconds += 10.0
    breaker.admit()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        waiting = group.create_task(breaker.wait(breaker.admit() * 60))
        await asyncio.sleep(0)
        assert not waiting.done()
        breaker.record_success()
    assert breaker.admit() == 0


@pytest.mark.anyio
async def test_wait_ends_after_the_given_time(breaker):
    miss(breaker, 3)
    async with asyncio.timeout(20):
        await breaker.wait(0.01)
    assert breaker.state is BreakerState.OPEN


@pytest.fixture
def lanes(config, clock):
    return ToolHealthRegistry(config.model_copy(update={"breaker_failures": 2}), clock)


def test_tool_down_and_up_are_each_logged_once(lanes, clock, logged):
    lane = lanes.of(Address.of(1), "a.b.c@1")
    for _ in range(5):
        lane.record_unreachable("cannot connect to the tool")
        clock.seconds += 10.0
    assert lanes.tools_down() == 1
    lane.record_success()
    lane.record_success()
    assert [(line["event"], line["fqn"]) for line in logged] == [
        ("tool_down", "a.b.c@1"),
        ("tool_up", "a.b.c@1"),
    ]
    assert logged[0]["why"] == "cannot connect to the tool"
    assert lanes.tools_down() == 0


def test_single_failure_is_not_logged(lanes, logged):
    lane = lanes.of(Address.of(1), "a.b.c@1")
    lane.record_unreachable("cannot connect to the tool")
    lane.record_success()
    assert logged == []


def test_refused_address_is_logged_once_per_reason(lanes, logged):
    lane = lanes.of(Address.of(1), "a.b.c@1")
    for why in (
        "the address is not public: private",
        "the address is not public: private",
        "the URL is not https",
    ):
        lane.record_unreachable("cannot connect to the tool", why)
    assert [(line["event"], line["why"]) for line in logged] == [
        ("address_refused", "the address is not public: private"),
        ("address_refused", "the URL is not https"),
    ]
    assert lanes.tools_down() == 1
