"""Schedules on a chain: what begins when, who is paid how much, and how funds come back."""

import pytest

from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError, UsageError
from nexus_tools.package.move.workflows import execution as executions
from nexus_tools.package.move.workflows.execution import Execution, ExecutionBegun
from nexus_tools.package.move.workflows.schedule import Cursor, ScheduleCollected, ScheduleTriggered
from nexus_tools.package.move.workflows.timing import Plan, Timing
from nexus_tools.registry import LeaderRegistry, Schedules, ToolRegistry

pytestmark = pytest.mark.anyio

HOUR_MS = 3_600_000
SUI = 1_000_000_000
EACH_MIST = SUI // 10


def began(sent, client):
    """What the transaction began."""
    return client.emitted(sent, ScheduleTriggered)


@pytest.fixture
async def schedule(create):
    return await create()


@pytest.fixture
async def due(schedule, chain):
    """A schedule whose first execution is due."""
    chain.net.advance_clock(HOUR_MS)
    return schedule


async def test_what_is_due_begins_with_its_values_and_funds(
    due, schedules, keeper, every_hour, active_leader, flow, user
):
    sent = await keeper.trigger(due, active_leader)
    begun = keeper.emitted(sent, ExecutionBegun)
    triggered = began(sent, keeper)
    assert (begun.execution, begun.schedule) == (triggered.execution, due)
    assert (begun.dag, begun.owner, begun.funds_mist) == (flow.id, user.address, EACH_MIST)
    assert [run.vertex for run in begun.change.ready] == [0]
    assert begun.deadline_ms - await user.now_ms() == HOUR_MS // 2
    now = await schedules.get(due)
    assert (now.begun, now.running) == (1, 1)
    assert now.next_at_ms == every_hour.plan.first_at_ms + HOUR_MS
    assert [each.execution for each in await schedules.executions(due)] == [begun.execution]


async def test_nothing_begins_before_its_time_and_nothing_is_paid(
    schedule, schedules, keeper, active_leader
):
    with pytest.raises(NotFoundError, match="no ScheduleTriggered"):
        began(await keeper.trigger(schedule, active_leader), keeper)
    assert (await schedules.get(schedule)).funds == SUI


# Vertices with values, and the digits of each value. What ended before is collected, too.
@pytest.mark.parametrize(
    ("vertices", "digits"), [(1, 1), (1, 4_000), (8, 4_000), (32, 1), (32, 1_900)]
)
async def test_a_keeper_never_loses_by_triggering(
    vertices, digits, publish, priced_tool, schedules, keeper, create, chain, active_leader
):
    workflow = await publish("xyz.example.wide@1", priced_tool, vertices)
    inputs = {f"v{number}.a": 10 ** (digits - 1) for number in range(vertices)}
    schedule = await create(workflow, inputs, keeper_fee_mist=0, funds_mist=3 * SUI)
    address = keeper.client.address
    for _ in range(3):
        chain.net.advance_clock(HOUR_MS)
        before_mist = await keeper.client.balance(address)
        sent = await keeper.trigger(schedule, active_leader)
        triggered = began(sent, keeper)
        paid_mist = triggered.fee_mist + triggered.stored_mist
        gained_mist = await keeper.client.balance(address) - before_mist
        assert gained_mist == paid_mist - sent.cost.net
        # Of what it is paid for gas, at most so much is left.
        assert 0 <= gained_mist <= 600_000 + 90_000 * vertices
    assert len(await schedules.uncollected(schedule)) == 1


async def test_a_keeper_is_paid_for_the_bytes_of_its_first_event(create, keeper, active_leader):
    timing = Timing(Plan.OnEvent("0x2::coin::Minted", 0), None)
    schedule = await create(timing=timing, keeper_fee_mist=0, overlaps=True)
    gains = []
    for number in range(2):
        before_mist = await keeper.client.balance(keeper.client.address)
        event = Cursor(7, 0, number)
        began(await keeper.trigger_by_event(schedule, active_leader, event), keeper)
        gains.append(await keeper.client.balance(keeper.client.address) - before_mist)
        again = await keeper.trigger_by_event(schedule, active_leader, event)
        with pytest.raises(NotFoundError):
            began(again, keeper)
    assert all(0 <= gain <= 200_000 for gain in gains)


async def test_what_an_execution_leaves_flows_back(due, schedules, keeper, active_leader, chain):
    triggered = began(await keeper.trigger(due, active_leader), keeper)
    chain.net.advance_clock(HOUR_MS // 2)
    collected = keeper.emitted(await keeper.collect(due), ScheduleCollected)
    assert collected.execution == triggered.execution
    assert (collected.status, collected.amount_mist) == ("timed_out", EACH_MIST)
    assert (collected.failures, collected.skipped) == (1, 0)
    assert (await schedules.get(due)).funds == triggered.funds_mist + EACH_MIST
    with pytest.raises(NotNowError) as caught:
        await keeper.collect(due)
    assert caught.value.code == "nothing_to_collect"


async def test_a_trigger_collects_what_ended_before(due, schedules, keeper, active_leader, chain):
    await keeper.trigger(due, active_leader)
    chain.net.advance_clock(HOUR_MS)
    sent = await keeper.trigger(due, active_leader)
    assert keeper.emitted(sent, ScheduleCollected).skipped == 0
    assert began(sent, keeper).missed == 0


async def test_anyone_triggers_once_the_windows_are_over(due, owner, chain):
    strangers = Schedules(owner, chain.deployment)
    chain.net.advance_clock(9_000)
    with pytest.raises(NotFoundError):
        began(await strangers.trigger(due), strangers)
    chain.net.advance_clock(1_000)
    assert began(await strangers.trigger(due), strangers).keeper == owner.address


async def test_a_pause_is_not_made_up_for(schedule, schedules, every_hour, chain):
    await schedules.pause(schedule)
    chain.net.advance_clock(5 * HOUR_MS)
    await schedules.resume(schedule)
    expected = every_hour.plan.first_at_ms + 5 * HOUR_MS
    assert (await schedules.get(schedule)).next_at_ms in (expected, expected - HOUR_MS)
    with pytest.raises(NotNowError) as caught:
        await schedules.resume(schedule)
    assert caught.value.code == "not_paused"


async def test_short_funds_wait_for_a_refill(create, keeper, active_leader, chain):
    schedule = await create(funds_mist=EACH_MIST)
    chain.net.advance_clock(HOUR_MS)
    with pytest.raises(NotFoundError):
        began(await keeper.trigger(schedule, active_leader), keeper)
    await keeper.refill(schedule, SUI)
    began(await keeper.trigger(schedule, active_leader), keeper)


async def test_what_is_cancelled_pays_back_and_is_deleted(schedule, schedules, user):
    before_mist = await user.balance(user.address)
    sent = await schedules.cancel(schedule)
    assert await user.balance(user.address) == before_mist + SUI - sent.cost.net
    with pytest.raises(NotFoundError) as caught:
        await schedules.get(schedule)
    assert caught.value.code == "schedule_unknown"
    assert await schedules.list() == ()


async def test_what_runs_keeps_a_cancelled_schedule(due, schedules, keeper, active_leader, chain):
    await keeper.trigger(due, active_leader)
    await schedules.cancel(due)
    assert (await schedules.get(due)).is_cancelled
    with pytest.raises(NotNowError) as caught:
        await schedules.delete(due)
    assert caught.value.code == "not_collected"
    chain.net.advance_clock(HOUR_MS)
    await schedules.delete(due)
    assert await schedules.list() == ()


async def test_all_that_was_paid_in_comes_out(due, schedules, keeper, active_leader, user, chain):
    triggered = began(await keeper.trigger(due, active_leader), keeper)
    execution = triggered.execution
    await schedules.call(executions.cancel, execution)
    before_mist = await user.balance(user.address)
    sent = await schedules.cancel(due)
    back_mist = await user.balance(user.address) - before_mist + sent.cost.net
    assert back_mist == SUI - triggered.fee_mist - triggered.stored_mist
    assert (await schedules.read(execution, Execution)).funds == 0


async def test_an_owner_sees_its_schedules_and_what_they_agreed_to(
    schedule, schedules, every_hour, active_leader, user, keeper
):
    assert [each.id for each in await schedules.list()] == [schedule]
    assert await keeper.list() == ()
    assert [each.id for each in await keeper.list(user.address)] == [schedule]
    order = await schedules.order(schedule)
    assert order.timing == every_hour
    assert (order.each_mist, order.vertices) == (EACH_MIST, (0,))
    assert [values.as_json() for values in order.values] == [{"a": 1}]
    assert order.terms.leaders == (active_leader,)
    await schedules.give(schedule, 0, {"a": 2})
    assert [each.as_json() for each in (await schedules.order(schedule)).values] == [{"a": 2}]


async def test_prices_of_today_are_the_highest_unless_others_are_named(
    create, schedules, priced_tool
):
    price_mist = priced_tool.price_mist
    one, other = await create(), await create(max_prices_mist={priced_tool.fqn: price_mist + 7})
    assert (await schedules.order(one)).terms.max_prices_mist == (price_mist,)
    assert (await schedules.order(other)).terms.max_prices_mist == (price_mist + 7,)


async def test_other_leaders_are_named(schedule, schedules, leader, chain, active_leader):
    leaders = LeaderRegistry(leader, chain.deployment)
    _, second = await leaders.register("second", activate=True)
    await schedules.name_leaders(schedule, [second, active_leader])
    assert (await schedules.order(schedule)).terms.leaders == (second, active_leader)
    with pytest.raises(UsageError) as caught:
        await schedules.name_leaders(schedule, [])
    assert caught.value.code == "leaders_named"


async def test_times_of_a_list_end(create, schedules, keeper, active_leader, chain, user):
    at_ms = await user.now_ms() + 60_000
    schedule = await create(timing=Timing(Plan.At((at_ms,)), HOUR_MS))
    chain.net.advance_clock(60_000)
    began(await keeper.trigger(schedule, active_leader), keeper)
    assert (await schedules.get(schedule)).next_at_ms is None


async def test_a_second_leader_triggers_after_10_seconds(
    create, chain, owner, active_leader, priced_tool
):
    second_leaders = LeaderRegistry(owner, chain.deployment)
    _, second = await second_leaders.register("second", activate=True)
    await ToolRegistry(owner, chain.deployment).add_leader(priced_tool.fqn, second)
    schedule = await create(leaders=[active_leader, second])
    chain.net.advance_clock(HOUR_MS + 8_000)
    keeper = Schedules(owner, chain.deployment)
    with pytest.raises(NotFoundError):
        began(await keeper.trigger(schedule, second), keeper)
    chain.net.advance_clock(2_000)
    began(await keeper.trigger(schedule, second), keeper)


async def test_a_stranger_owns_nothing_of_it(schedule, keeper):
    with pytest.raises(NotAllowedError) as caught:
        await keeper.pause(schedule)
    assert caught.value.code == "not_owner"
