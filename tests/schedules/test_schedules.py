"""Schedules on chain: start times, payments and refunds."""

import pytest

from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows.execution import Execution, ExecutionStarted
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    ScheduleCollected,
    ScheduleTriggered,
)
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    UsageError,
    WrongStateError,
)
from nexus_tools.registry import (
    Executions,
    LeaderRegistry,
    Schedules,
    ToolRegistry,
    schedule_overview,
)
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.transaction_builder import TransactionBuilder

pytestmark = pytest.mark.anyio

HOUR_MS = 3_600_000
PAUSE_MS = 10_000
SUI = 1_000_000_000
EACH_MIST = SUI // 10


def started_execution(sent, client):
    """Return the execution that the transaction started."""
    return client.emitted(sent, ScheduleTriggered)


@pytest.fixture
async def schedule(create):
    return await create()


@pytest.fixture
async def due(schedule, chain):
    """Return a schedule whose first execution is due."""
    chain.net.advance_clock(HOUR_MS)
    return schedule


async def test_due_execution_starts_with_its_values_and_funds(
    due, schedules, keeper, every_hour, active_leader, flow, user
):
    before_ms = await user.now_ms()
    sent = await keeper.trigger(due, active_leader)
    begun = keeper.emitted(sent, ExecutionStarted)
    triggered = started_execution(sent, keeper)
    assert (begun.execution, begun.schedule) == (triggered.execution, due)
    assert (begun.dag, begun.owner, begun.funds_mist) == (flow.id, user.address, EACH_MIST)
    assert [run.vertex for run in begun.change.ready] == [0]
    assert before_ms <= begun.deadline_ms - HOUR_MS // 2 <= await user.now_ms()
    now = await schedules.get(due)
    assert (now.started, now.running) == (1, 1)
    assert now.next_at_ms == every_hour.plan.first_at_ms + HOUR_MS
    assert [execution.execution for execution in await schedules.executions(due)] == [
        begun.execution
    ]


async def test_uncollected_executions_are_found_among_collected_ones(
    create, schedules, keeper, active_leader, chain
):
    schedule = await create(allow_overlap=True)
    started = []
    for _ in range(3):
        chain.net.advance_clock(HOUR_MS)
        sent = await keeper.trigger(schedule, active_leader)
        started.append(started_execution(sent, keeper).execution)
        await schedules.refill(schedule, 1)
    # The deadline of the first two executions has passed, so the last start has collected them.
    ids = [execution.id for execution in await schedules.uncollected(schedule)]
    assert ids == started[2:]
    listed = await schedules.executions(schedule, limit=2)
    assert [start.execution for start in listed] == started[:0:-1]


async def test_cost_of_reading_a_schedule_ignores_other_schedules(
    create, schedules, keeper, active_leader, chain, requests
):
    schedule = await create()
    chain.net.advance_clock(HOUR_MS)
    await keeper.trigger(schedule, active_leader)
    chain.net.advance_clock(HOUR_MS)  # the deadline of the execution

    async def read():
        requests.clear()
        await schedules.overview(schedule)
        await schedules.uncollected(schedule)
        await schedules.executions(schedule)
        return dict(requests)

    before = await read()
    for _ in range(2):
        other = await create()
        chain.net.advance_clock(HOUR_MS)
        await keeper.trigger(other, active_leader)
    assert await read() == before
    assert "ListEvents" not in before


async def test_list_returns_pages_of_own_schedules(create, schedules):
    first, second = [await create() for _ in range(2)]
    newest = await schedules.overviews(limit=1)
    older = await schedules.overviews(limit=1, before=newest.next)
    assert [item.schedule.id for item in (*newest.items, *older.items)] == [second, first]
    assert older.next is None


async def test_nothing_starts_or_is_paid_before_its_time(
    schedule, schedules, keeper, active_leader
):
    with pytest.raises(NotFoundError, match="did not emit the event ScheduleTriggered"):
        started_execution(await keeper.trigger(schedule, active_leader), keeper)
    assert (await schedules.get(schedule)).funds == SUI


# Vertices with values, and the digits of each value. Ended executions are collected too.
@pytest.mark.parametrize(
    ("vertices", "digits"), [(1, 1), (1, 4_000), (8, 4_000), (32, 1), (32, 1_900)]
)
async def test_keeper_never_loses_by_triggering(
    vertices, digits, publish, priced_tool, schedules, keeper, create, chain, active_leader
):
    workflow = await publish("xyz.example.wide@1", priced_tool, vertices)
    inputs = {f"v{number}.a": 10 ** (digits - 1) for number in range(vertices)}
    schedule = await create(
        workflow, inputs, keeper_fee_mist=0, funds_per_execution_mist=2 * SUI, funds_mist=7 * SUI
    )
    address = keeper.client.address
    for _ in range(3):
        chain.net.advance_clock(HOUR_MS)
        before_mist = await keeper.client.balance(address)
        sent = await keeper.trigger(schedule, active_leader)
        triggered = started_execution(sent, keeper)
        paid_mist = triggered.fee_mist + triggered.storage_mist
        gained_mist = await keeper.client.balance(address) - before_mist
        assert gained_mist == paid_mist - sent.cost.net
        # The largest part of its gas payment that may be left.
        assert 0 <= gained_mist <= 600_000 + 90_000 * vertices
    assert len(await schedules.uncollected(schedule)) == 1


@pytest.mark.parametrize(("vertices", "digits"), [(1, 1), (8, 4_000)])
async def test_keeper_does_not_lose_by_triggering_two_schedules_at_once(
    vertices, digits, publish, priced_tool, keeper, create, chain, active_leader
):
    workflow = await publish("xyz.example.wide@1", priced_tool, vertices)
    inputs = {f"v{number}.a": 10 ** (digits - 1) for number in range(vertices)}
    terms = {"keeper_fee_mist": 0, "funds_per_execution_mist": 2 * SUI, "funds_mist": 3 * SUI}
    both = [await create(workflow, inputs, **terms) for _ in range(2)]
    chain.net.advance_clock(HOUR_MS)
    builder = TransactionBuilder()
    for schedule in both:
        await keeper.add_trigger(builder, await keeper.get(schedule), active_leader, ())
    before_mist = await keeper.client.balance(keeper.client.address)
    sent = await keeper.send(builder)
    gained_mist = await keeper.client.balance(keeper.client.address) - before_mist
    assert [event.type.name for event in sent.events].count("ScheduleTriggered") == 2
    assert 0 <= gained_mist <= 800_000 + 180_000 * vertices


async def test_keeper_is_refunded_for_the_bytes_of_its_first_event(
    create, keeper, active_leader, chain
):
    timing = Timing(Plan.OnEvent("0x2::coin::Minted", PAUSE_MS, 100), None)
    schedule = await create(timing=timing, keeper_fee_mist=0, allow_overlap=True)
    gains = []
    for number in range(2):
        before_mist = await keeper.client.balance(keeper.client.address)
        event = Cursor(7, 0, number)
        started_execution(await keeper.trigger_by_event(schedule, active_leader, event), keeper)
        gains.append(await keeper.client.balance(keeper.client.address) - before_mist)
        again = await keeper.trigger_by_event(schedule, active_leader, event)
        with pytest.raises(NotFoundError):
            started_execution(again, keeper)
        chain.net.advance_clock(PAUSE_MS)
    assert all(0 <= gain <= 500_000 for gain in gains)


async def test_leftover_funds_return_to_the_schedule(due, schedules, keeper, active_leader, chain):
    triggered = started_execution(await keeper.trigger(due, active_leader), keeper)
    chain.net.advance_clock(HOUR_MS // 2)
    collected = keeper.emitted(await keeper.collect(due), ScheduleCollected)
    assert collected.execution == triggered.execution
    assert (collected.status, collected.amount_mist) == ("timed_out", EACH_MIST)
    assert (collected.failures, collected.skipped) == (1, 0)
    assert (await schedules.get(due)).funds == triggered.funds_mist + EACH_MIST
    with pytest.raises(WrongStateError) as caught:
        await keeper.collect(due)
    assert caught.value.code == "nothing_to_collect"


async def test_cleanup_collects_first(due, schedules, keeper, active_leader, user, chain):
    triggered = started_execution(await keeper.trigger(due, active_leader), keeper)
    await schedules.call(executions.cancel, triggered.execution)
    await Executions(user, chain.deployment).clean(triggered.execution)
    assert await user.object(triggered.execution) is None
    standing = await schedules.overview(due)
    assert (standing.schedule.running, standing.collectable_mist) == (0, 0)
    assert standing.funds_mist == triggered.funds_mist + EACH_MIST


async def test_trigger_collects_ended_executions(due, schedules, keeper, active_leader, chain):
    await keeper.trigger(due, active_leader)
    chain.net.advance_clock(HOUR_MS)
    sent = await keeper.trigger(due, active_leader)
    assert keeper.emitted(sent, ScheduleCollected).skipped == 0
    assert started_execution(sent, keeper).missed == 0


async def test_anyone_triggers_after_the_windows(due, owner, chain):
    strangers = Schedules(owner, chain.deployment)
    chain.net.advance_clock(5_000)
    with pytest.raises(NotFoundError):
        started_execution(await strangers.trigger(due), strangers)
    chain.net.advance_clock(5_000)
    assert started_execution(await strangers.trigger(due), strangers).keeper == owner.address


async def test_pause_is_not_made_up_for(schedule, schedules, every_hour, chain):
    await schedules.pause(schedule)
    chain.net.advance_clock(5 * HOUR_MS)
    await schedules.resume(schedule)
    expected = every_hour.plan.first_at_ms + 5 * HOUR_MS
    assert (await schedules.get(schedule)).next_at_ms in (expected, expected - HOUR_MS)
    with pytest.raises(WrongStateError) as caught:
        await schedules.resume(schedule)
    assert caught.value.code == "not_paused"


async def needed_mist(create, **options):
    """Return the funds required for the first execution, according to the refusal of less."""
    with pytest.raises(WrongStateError) as caught:
        await create(funds_mist=EACH_MIST, **options)
    assert caught.value.code == "funds_too_small"
    return caught.value.details["needed_mist"]


@pytest.mark.parametrize("vertices", [1, 3])
async def test_required_funds_are_exact(
    vertices, publish, priced_tool, create, schedules, keeper, active_leader, chain
):
    workflow = await publish("xyz.example.wide@1", priced_tool, vertices)
    inputs = {f"v{number}.a": 1 for number in range(vertices)}
    wide = {"workflow": workflow, "inputs": inputs, "funds_per_execution_mist": SUI // 5}
    schedule = await create(funds_mist=await needed_mist(create, **wide), **wide)
    await schedules.set_inputs(schedule, 0, {"a": 12})  # one byte more than before
    chain.net.advance_clock(HOUR_MS)
    standing = await schedules.overview(schedule)
    lacks_mist = standing.shortfall_mist
    assert lacks_mist == standing.order.terms.settings.fee_per_outcome_byte_mist
    await keeper.refill(schedule, lacks_mist - 1)
    with pytest.raises(NotFoundError):
        started_execution(await keeper.trigger(schedule, active_leader), keeper)
    await keeper.refill(schedule, 1)
    assert not (await schedules.overview(schedule)).shortfall_mist
    started_execution(await keeper.trigger(schedule, active_leader), keeper)


async def test_create_rejects_insufficient_execution_funds(create):
    with pytest.raises(
        WrongStateError, match="the first runs of an execution cost up to"
    ) as caught:
        await create(funds_per_execution_mist=1_000)
    assert caught.value.code == "funds_too_small"


async def test_create_rejects_only_past_times(create, user):
    now_ms = await user.now_ms()
    for plan in (
        Plan.At((now_ms - 2, now_ms - 1)),
        Plan.Every(HOUR_MS, now_ms + HOUR_MS, now_ms + HOUR_MS - 1),
        Plan.Every(HOUR_MS, now_ms - 5 * HOUR_MS, now_ms - 1),
    ):
        with pytest.raises(UsageError) as caught:
            await create(timing=Timing(plan, None))
        assert caught.value.code == "no_future_time"


async def test_insufficient_funds_wait_for_a_refill(create, keeper, active_leader, chain):
    schedule = await create(funds_mist=await needed_mist(create))
    chain.net.advance_clock(HOUR_MS)
    started_execution(await keeper.trigger(schedule, active_leader), keeper)
    chain.net.advance_clock(HOUR_MS)
    with pytest.raises(NotFoundError):
        started_execution(await keeper.trigger(schedule, active_leader), keeper)
    await keeper.refill(schedule, SUI)
    started_execution(await keeper.trigger(schedule, active_leader), keeper)


async def test_refill_rejects_zero(schedule, keeper):
    with pytest.raises(UsageError) as caught:
        await keeper.refill(schedule, 0)
    assert caught.value.code == "amount_invalid"


async def test_ended_execution_counts_before_it_is_collected(
    create, schedules, keeper, active_leader, chain, user
):
    schedule = await create(max_executions=2)
    chain.net.advance_clock(HOUR_MS)
    first = started_execution(await keeper.trigger(schedule, active_leader), keeper)
    standing = await schedules.overview(schedule)
    assert (standing.state, len(standing.running), standing.collectable_mist) == ("active", 1, 0)
    await schedules.call(executions.cancel, first.execution)
    standing = await schedules.overview(schedule)
    assert (standing.running, standing.collectable_mist) == ((), EACH_MIST)
    assert standing.funds_mist == SUI - first.fee_mist - first.storage_mist
    assert standing.next_at_ms == first.next_at_ms
    chain.net.advance_clock(HOUR_MS)
    started_execution(await keeper.trigger(schedule, active_leader), keeper)
    standing = await schedules.overview(schedule)
    assert (standing.state, standing.next_at_ms) == ("finished", None)
    chain.net.advance_clock(HOUR_MS)  # no step was run, so it is late
    standing = await schedules.overview(schedule)
    assert (standing.running, standing.collectable_mist) == ((), EACH_MIST)
    with pytest.raises(WrongStateError) as caught:
        await keeper.refill(schedule, SUI)
    assert caught.value.code == "schedule_finished"
    before_mist = await user.balance(user.address)
    sent = await schedules.cancel(schedule)
    assert schedules.returned_mist(sent) == standing.funds_mist
    after_mist = await user.balance(user.address)
    assert after_mist == before_mist + standing.funds_mist - sent.cost.net


async def test_next_time_excludes_skipped_times(create, schedules, keeper, active_leader, chain):
    schedule = await create(duration_ms=3 * HOUR_MS)
    chain.net.advance_clock(HOUR_MS)
    first = started_execution(await keeper.trigger(schedule, active_leader), keeper)
    chain.net.advance_clock(HOUR_MS)
    running = await schedules.overview(schedule)
    assert running.next_at_ms == first.next_at_ms + HOUR_MS
    await schedules.call(executions.cancel, first.execution)
    ended = await schedules.overview(schedule)
    await keeper.collect(schedule)
    collected = await schedules.get(schedule)
    assert ended.next_at_ms == collected.next_at_ms == first.next_at_ms + HOUR_MS


@pytest.mark.parametrize("max_late_ms", [None, 60_000])
async def test_late_time_is_not_due(max_late_ms, create, schedules, chain, every_hour):
    schedule = await create(timing=Timing(every_hour.plan, max_late_ms))
    chain.net.advance_clock(2 * HOUR_MS + 120_000)
    first_at_ms = every_hour.plan.first_at_ms
    next_at_ms = first_at_ms if max_late_ms is None else first_at_ms + 2 * HOUR_MS
    assert (await schedules.overview(schedule)).next_at_ms == next_at_ms


@pytest.mark.parametrize(("max_late_ms", "missed"), [(None, 2), (60_000, 3)])
async def test_standing_counts_missed_times(
    max_late_ms, missed, create, schedules, chain, every_hour
):
    by_interval = await create(timing=Timing(every_hour.plan, max_late_ms))
    first_ms = every_hour.plan.first_at_ms
    times = tuple(first_ms + number * HOUR_MS for number in range(5))
    by_list = await create(timing=Timing(Plan.At(times), max_late_ms))
    for schedule in (by_interval, by_list):
        assert (await schedules.overview(schedule)).missed == 0
    chain.net.advance_clock(3 * HOUR_MS + 120_000)
    for schedule in (by_interval, by_list):
        assert (await schedules.overview(schedule)).missed == missed
        await schedules.pause(schedule)
        assert (await schedules.overview(schedule)).missed == 0


async def test_lateness_below_10_seconds_is_refused(create, every_hour):
    with pytest.raises(NexusError) as caught:
        await create(timing=Timing(every_hour.plan, 9_999))
    assert caught.value.code == "invalid_lateness"


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        (Plan.OnEvent("0x2::coin::Minted", PAUSE_MS - 1, 1), "invalid_pause"),
        (Plan.OnEvent("0x2::coin::Minted", PAUSE_MS, 0), "invalid_daily_limit"),
    ],
)
async def test_unbounded_events_are_refused(plan, code, create):
    with pytest.raises(NexusError) as caught:
        await create(timing=Timing(plan, None))
    assert caught.value.code == code


async def test_extend_adds_times_until_and_executions(
    create, schedules, keeper, active_leader, chain, user, every_hour
):
    now_ms = await user.now_ms()
    by_list = await create(
        timing=Timing(Plan.At((now_ms + HOUR_MS,)), None), max_executions=1, allow_overlap=True
    )
    end_ms = every_hour.plan.first_at_ms
    ending = Timing(Plan.Every(HOUR_MS, end_ms, end_ms), None)
    by_interval = await create(timing=ending, allow_overlap=True)
    chain.net.advance_clock(HOUR_MS)
    for schedule in (by_list, by_interval):
        started_execution(await keeper.trigger(schedule, active_leader), keeper)
        assert (await schedules.overview(schedule)).state == "finished"
    await schedules.extend(by_list, times=[now_ms + 3 * HOUR_MS], max_executions=2)
    await schedules.extend(by_interval, until_ms=end_ms + 5 * HOUR_MS)
    chain.net.advance_clock(2 * HOUR_MS)
    for schedule in (by_list, by_interval):
        assert (await schedules.overview(schedule)).state == "active"
        started_execution(await keeper.trigger(schedule, active_leader), keeper)
    assert (await schedules.order(by_list)).max_executions == 2
    assert (await schedules.order(by_interval)).timing.plan.until_ms == end_ms + 5 * HOUR_MS


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "extension_empty"),
        ({"times": [1]}, "no_future_time"),
        ({"until_ms": 1}, "no_future_time"),
        ({"times": [2**60]}, "no_time_list"),
        ({"until_ms": 2**60}, "invalid_end"),
        ({"times": [-1]}, "argument_invalid"),
    ],
)
async def test_extend_rejects_an_empty_extension(schedule, schedules, options, code):
    with pytest.raises(NexusError) as caught:
        await schedules.extend(schedule, **options)
    assert caught.value.code == code


async def test_extend_rejects_a_cancelled_schedule(due, schedules, keeper, active_leader):
    started_execution(await keeper.trigger(due, active_leader), keeper)
    await schedules.cancel(due)
    with pytest.raises(WrongStateError) as caught:
        await schedules.extend(due, max_executions=9)
    assert caught.value.code == "schedule_cancelled"


async def test_reset_cursor_lets_earlier_positions_count(
    create, schedules, keeper, active_leader, chain
):
    timing = Timing(Plan.OnEvent("0x2::coin::Minted", PAUSE_MS, 100), None)
    schedule = await create(timing=timing, allow_overlap=True)
    started_execution(
        await keeper.trigger_by_event(schedule, active_leader, Cursor(2**64 - 1, 0, 0)), keeper
    )
    chain.net.advance_clock(PAUSE_MS)
    with pytest.raises(NotFoundError):
        started_execution(
            await keeper.trigger_by_event(schedule, active_leader, Cursor(7, 0, 0)), keeper
        )
    await schedules.reset_cursor(schedule)
    assert (await schedules.get(schedule)).cursor is None
    started_execution(
        await keeper.trigger_by_event(schedule, active_leader, Cursor(7, 0, 0)), keeper
    )


async def test_reset_cursor_rejects_timed_schedules_and_other_senders(schedule, schedules, keeper):
    for verbs, code in ((schedules, "not_event_schedule"), (keeper, "not_owner")):
        with pytest.raises(NexusError) as caught:
            await verbs.reset_cursor(schedule)
        assert caught.value.code == code


async def test_too_many_failures_pause_before_they_are_collected(
    create, schedules, keeper, active_leader, chain
):
    schedule = await create(max_failures=1)
    chain.net.advance_clock(HOUR_MS)
    started_execution(await keeper.trigger(schedule, active_leader), keeper)
    chain.net.advance_clock(HOUR_MS)
    standing = await schedules.overview(schedule)
    assert (standing.state, standing.failures) == ("paused", 1)
    with pytest.raises(NotFoundError):
        started_execution(await keeper.trigger(schedule, active_leader), keeper)
    await schedules.resume(schedule)
    assert (await schedules.overview(schedule)).state == "active"
    assert (await schedules.get(schedule)).running == 0


async def test_events_are_not_planned(create, schedules, keeper, active_leader, user):
    schedule = await create(timing=Timing(Plan.OnEvent("0x2::coin::Minted", HOUR_MS, 100), None))
    standing = await schedules.overview(schedule)
    assert (standing.state, standing.next_at_ms) == ("active", None)
    before_ms = await user.now_ms()
    started_execution(
        await keeper.trigger_by_event(schedule, active_leader, Cursor(7, 0, 0)), keeper
    )
    standing = await schedules.overview(schedule)
    assert before_ms <= standing.next_at_ms - HOUR_MS <= await user.now_ms()


async def test_cancelled_schedule_reports_later_refunds(
    due, schedules, keeper, active_leader, user
):
    triggered = started_execution(await keeper.trigger(due, active_leader), keeper)
    first = await schedules.cancel(due)
    with pytest.raises(WrongStateError, match="the end of 1 execution") as caught:
        await schedules.cancel(due)
    assert caught.value.code == "schedule_cancelled"
    await schedules.call(executions.cancel, triggered.execution)
    rest = schedules.returned_mist(await schedules.cancel(due))
    assert (
        schedules.returned_mist(first) + rest == SUI - triggered.fee_mist - triggered.storage_mist
    )
    assert rest == EACH_MIST


async def test_cancelled_schedule_is_refunded_and_deleted(schedule, schedules, user):
    before_mist = await user.balance(user.address)
    sent = await schedules.cancel(schedule)
    assert await user.balance(user.address) == before_mist + SUI - sent.cost.net
    with pytest.raises(NotFoundError) as caught:
        await schedules.get(schedule)
    assert caught.value.code == "schedule_unknown"
    assert (await schedules.list()).items == ()


async def test_schedule_deleted_during_a_read_is_reported_as_missing(
    due, schedules, keeper, active_leader, flow, user
):
    execution = started_execution(await keeper.trigger(due, active_leader), keeper).execution
    result, order = await schedules.get(due), await schedules.order(due)
    await schedules.call(executions.cancel, execution)
    ended = await schedules.read(execution, Execution)
    await schedules.cancel(due)
    await Executions(user, schedules.deployment).clean(execution)
    with pytest.raises(NotFoundError) as caught:
        await schedules.order(due)
    assert caught.value.code == "schedule_unknown"
    with pytest.raises(NotFoundError) as caught:
        await schedule_overview(schedules, result, order, flow, [ended], now_ms=0, gas_price=0)
    assert caught.value.code == "execution_unknown"


async def test_running_execution_keeps_a_cancelled_schedule(
    due, schedules, keeper, active_leader, chain
):
    await keeper.trigger(due, active_leader)
    await schedules.cancel(due)
    assert (await schedules.get(due)).is_cancelled
    with pytest.raises(WrongStateError) as caught:
        await schedules.delete(due)
    assert caught.value.code == "executions_not_collected"
    chain.net.advance_clock(HOUR_MS)
    await schedules.delete(due)
    assert (await schedules.list()).items == ()


async def test_all_deposits_are_paid_out(due, schedules, keeper, active_leader, user, chain):
    triggered = started_execution(await keeper.trigger(due, active_leader), keeper)
    execution = triggered.execution
    await schedules.call(executions.cancel, execution)
    before_mist = await user.balance(user.address)
    sent = await schedules.cancel(due)
    back_mist = await user.balance(user.address) - before_mist + sent.cost.net
    assert back_mist == SUI - triggered.fee_mist - triggered.storage_mist
    assert (await schedules.read(execution, Execution)).funds == 0


async def test_owner_sees_its_schedules_and_their_terms(
    schedule, schedules, every_hour, active_leader, user, keeper
):
    assert [listed.id for listed in (await schedules.list()).items] == [schedule]
    assert (await keeper.list()).items == ()
    assert [listed.id for listed in (await keeper.list(user.address)).items] == [schedule]
    order = await schedules.order(schedule)
    assert order.timing == every_hour
    assert (order.funds_per_execution_mist, order.vertices) == (EACH_MIST, (0,))
    assert [values.as_json() for values in order.values] == [{"a": 1}]
    assert order.terms.leaders == (active_leader,)
    await schedules.set_inputs(schedule, 0, {"a": 2})
    assert [ports.as_json() for ports in (await schedules.order(schedule)).values] == [{"a": 2}]


async def test_maximum_prices_default_to_current_prices(create, schedules, priced_tool):
    price_mist = priced_tool.price_mist
    one, other = await create(), await create(max_prices_mist={priced_tool.fqn: price_mist + 7})
    assert (await schedules.order(one)).terms.max_prices_mist == (price_mist,)
    assert (await schedules.order(other)).terms.max_prices_mist == (price_mist + 7,)


async def test_change_leaders_replaces_the_leaders(
    schedule, schedules, leader, chain, active_leader
):
    leaders = LeaderRegistry(leader, chain.deployment)
    _, second = await leaders.register("second", activate=True)
    await schedules.set_leaders(schedule, [second, active_leader])
    assert (await schedules.order(schedule)).terms.leaders == (second, active_leader)
    with pytest.raises(UsageError) as caught:
        await schedules.set_leaders(schedule, [])
    assert caught.value.code == "leader_count_invalid"


async def test_list_of_times_ends(create, schedules, keeper, active_leader, chain, user):
    at_ms = await user.now_ms() + 60_000
    schedule = await create(timing=Timing(Plan.At((at_ms,)), HOUR_MS))
    chain.net.advance_clock(60_000)
    started_execution(await keeper.trigger(schedule, active_leader), keeper)
    assert (await schedules.get(schedule)).next_at_ms is None


async def test_second_leader_triggers_after_10_seconds(
    create, chain, owner, active_leader, priced_tool
):
    second_leaders = LeaderRegistry(owner, chain.deployment)
    _, second = await second_leaders.register("second", activate=True)
    await ToolRegistry(owner, chain.deployment).add_leader(priced_tool.fqn, second)
    schedule = await create(leaders=[active_leader, second])
    chain.net.advance_clock(HOUR_MS + 8_000)
    keeper = Schedules(owner, chain.deployment)
    with pytest.raises(NotFoundError):
        started_execution(await keeper.trigger(schedule, second), keeper)
    chain.net.advance_clock(2_000)
    started_execution(await keeper.trigger(schedule, second), keeper)


async def test_another_account_has_no_rights(schedule, keeper):
    with pytest.raises(NotAllowedError) as caught:
        await keeper.pause(schedule)
    assert caught.value.code == "not_owner"
