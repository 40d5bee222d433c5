/// What follows from executions that ended: what is skipped, what counts as a failure, and from when
/// on a schedule goes on.
#[test_only]
module nexus_workflows::schedule_collecting_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::test_runner::{assert_paid_at_most, field, mint, told};
use nexus_workflows::execution;
use nexus_workflows::schedule;
use nexus_workflows::schedule_runner::{Self, Stage, hourly, on_event, wish};
use nexus_workflows::timing;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const FIRST_MS: u64 = 2_000_000;
const HOUR_MS: u64 = 3_600_000;
const EACH_MIST: u64 = 50_000_000;

// === Before the end ===

/// Bob cancels an execution of which a run is under way. What its invocation does not hold flows back at
/// once, and the rest once the invocation has expired.
#[test]
fun what_a_stopped_execution_does_not_need_flows_back_at_once() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().lasting(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    let before_mist = stage.funds_mist(schedule);
    let (invocation, free_mist) = stage.requested(execution);
    // It goes on, so it needs its funds.
    assert!(!stage.collect(schedule, execution));
    stage.cancel_execution(execution);
    stage.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        let refunded = vector[field(object::id(execution)), field(BOB), field(free_mist)];
        assert_eq!(told<execution::ExecutionRefunded>(), refunded.flatten());
        assert!(!schedule.collect(execution));
    });
    assert_eq!(stage.funds_mist(schedule), before_mist + free_mist);
    let rest_mist = stage.expired(execution, invocation);
    stage.assert_collected(schedule, execution, b"cancelled", rest_mist, 0, 0, false);
    assert_eq!(stage.funds_mist(schedule), before_mist + free_mist + rest_mist);
    assert!(!stage.collect(schedule, execution));
    stage.end();
}

#[test]
fun single_mist_of_a_stopped_execution_flows_back() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().lasting(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    let (_, free_mist) = stage.requested(execution);
    stage.cancel_execution(execution);
    let before_mist = stage.funds_mist(schedule);
    assert!(stage.collect(schedule, execution));
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, _, ctx| {
        execution.refill(mint(1, ctx));
    });
    assert!(stage.collect(schedule, execution));
    assert_eq!(stage.funds_mist(schedule), before_mist + free_mist + 1);
    stage.end();
}

#[test]
fun what_a_stopped_execution_does_not_need_is_the_owners_of_a_cancelled_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().lasting(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    let (invocation, free_mist) = stage.requested(execution);
    stage.cancel_execution(execution);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        assert_eq!(schedule.funds_mist(), 0);
        assert_paid_at_most(BOB, free_mist);
    });
    let rest_mist = stage.expired(execution, invocation);
    // All that an attempt costs, but for advancing.
    assert_eq!(rest_mist, 9_480_000 - 1_200_000);
    assert!(stage.collect(schedule, execution));
    stage.delete(BOB, schedule);
    stage.end();
}

// === What is skipped ===

/// What is planned for the millisecond in which an execution ends was planned while it ran.
#[test]
fun what_is_planned_for_the_end_of_an_execution_is_skipped() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().lasting(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 1, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 2 * HOUR_MS));
    assert!(!stage.trigger(schedule));
    stage.end();
}

#[test]
fun what_is_planned_right_after_an_execution_is_not_skipped() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().lasting(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS - 1);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    stage.wait_until(FIRST_MS + HOUR_MS);
    stage.begin(schedule);
    stage.end();
}

/// Three of a list are skipped: then there is one left.
#[test]
fun times_of_a_list_are_skipped_while_an_execution_runs() {
    let mut stage = schedule_runner::start();
    let times = vector::tabulate!(5, |i| FIRST_MS + i * 1_000);
    let schedule = stage.create(wish(timing::at(times, option::none())));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.wait_until(FIRST_MS + 3_500);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 3, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 4_000));
    stage.wait_until(FIRST_MS + 4_000);
    stage.begin(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::none());
    stage.end();
}

/// Nobody triggers at the second and the third planned time, while the first execution runs. They
/// overlap: so what it leaves changes nothing, and the third one is due.
#[test]
fun an_execution_that_overlaps_skips_nothing_when_it_is_collected() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().overlapping().lasting(10 * HOUR_MS));
    let lee = stage.lee();
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.wait_until(FIRST_MS + 2 * HOUR_MS + 5);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
        let mut fields = sui::bcs::new(told<schedule::ScheduleTriggered>());
        3u64.do!(|_| fields.peel_address());
        assert_eq!(fields.peel_u64(), FIRST_MS + 2 * HOUR_MS);
        assert_eq!(fields.peel_u64(), 1);
    });
    stage.end();
}

/// Two that overlap are collected in the other order: as long as one of them is not, the schedule
/// cannot be deleted.
#[test, expected_failure(abort_code = schedule::ENotCollected)]
fun each_execution_that_overlaps_is_waited_for() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().overlapping().lasting(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    stage.begin(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    let second = stage.begin(schedule);
    stage.cancel_execution(second);
    assert!(stage.collect(schedule, second));
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.delete(BOB, schedule);
    abort
}

/// Events are not planned: however many passed, none was skipped.
#[test]
fun events_are_not_counted_as_skipped() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event()), stage.lee());
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, 1, 0, 0, clock, ctx));
    });
    let (execution, began_at_ms) = (stage.last_execution(), stage.now_ms());
    stage.runner().advance(60_000);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(began_at_ms + 60_001));
    stage.end();
}

// === What counts as a failure ===

/// A run that nobody answers and a deadline are failures. A success begins the count anew, what Bob
/// cancels leaves it as it is, and the end of a pause begins it anew, too.
#[test]
fun failures_are_counted_in_a_row() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().failing(3));
    stage.assert_run(schedule, false, b"terminated", 1);
    stage.assert_expired(schedule, 2, false);
    stage.assert_run(schedule, true, b"completed", 0);

    stage.assert_expired(schedule, 1, false);
    let execution = stage.begin_next(schedule);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 1, false);
    stage.assert_expired(schedule, 2, false);
    stage.assert_expired(schedule, 3, true);

    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    3u64.do!(|i| stage.assert_expired(schedule, i + 1, i == 2));
    stage.end();
}

/// Two that overlap fail after the one that paused it: it stays paused, and counts on.
#[test]
fun what_fails_during_a_pause_counts_on() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().overlapping().failing(1));
    stage.wait_until(FIRST_MS);
    let first = stage.begin(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    let second = stage.begin(schedule);
    stage.expire(first);
    stage.assert_collected(schedule, first, b"timed_out", EACH_MIST, 0, 1, true);
    stage.expire(second);
    stage.assert_collected(schedule, second, b"timed_out", EACH_MIST, 0, 2, true);
    stage.end();
}

// === From when on it goes on ===

/// What began is not due again, although it is planned for the very millisecond of the pause.
#[test]
fun a_pause_of_no_time_repeats_nothing() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().overlapping());
    stage.wait_until(FIRST_MS);
    stage.begin(schedule);
    stage.pause_and_resume(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    assert!(!stage.trigger(schedule));
    stage.end();
}

/// What is planned for the millisecond in which Bob resumes is planned from then on.
#[test]
fun what_is_planned_for_the_end_of_a_pause_is_due() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.pause(ctx));
    stage.wait_until(FIRST_MS + 3 * HOUR_MS);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 3 * HOUR_MS));
    stage.begin(schedule);
    stage.end();
}

#[test]
fun what_is_planned_before_the_end_of_a_pause_is_not_due() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.pause(ctx));
    stage.wait_until(FIRST_MS + 1);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    assert!(!stage.trigger(schedule));
    stage.end();
}

/// Ten seconds between events are ten seconds, whatever Bob does in between.
#[test]
fun a_pause_does_not_shorten_that_between_events() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event().overlapping()), stage.lee());
    let began_at_ms = stage.now_ms();
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, 1, 0, 0, clock, ctx));
    });
    stage.runner().advance(9_999);
    stage.pause_and_resume(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(began_at_ms + 10_000));
    stage.runner().advance(3_000);
    stage.pause_and_resume(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(began_at_ms + 12_999));
    stage.end();
}

// === Helpers ===

use fun expired as Stage.expired;
use fun requested as Stage.requested;
use fun cancel_execution as Stage.cancel_execution;
use fun assert_collected as Stage.assert_collected;
use fun assert_run as Stage.assert_run;
use fun assert_expired as Stage.assert_expired;
use fun begin_next as Stage.begin_next;
use fun pause_and_resume as Stage.pause_and_resume;

/// Lets Bob end an execution.
fun cancel_execution(stage: &mut Stage, execution: ID) {
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
    });
}

/// Collects, and compares what that told.
fun assert_collected(
    stage: &mut Stage,
    schedule: ID,
    execution: ID,
    status: vector<u8>,
    amount_mist: u64,
    skipped: u64,
    failures: u64,
    is_paused: bool,
) {
    stage.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        let fields = vector[
            field(object::id(schedule)),
            field(object::id(execution)),
            field(status),
            field(amount_mist),
            field(skipped),
            field(failures),
            field(is_paused),
        ].flatten();
        assert_eq!(told<schedule::ScheduleCollected>(), fields);
        assert_eq!(schedule.is_paused(), is_paused);
    });
}

/// Lets the next execution run to its end, and compares what collecting it told.
fun assert_run(
    stage: &mut Stage,
    schedule: ID,
    succeeds: bool,
    status: vector<u8>,
    failures: u64,
) {
    let execution = stage.begin_next(schedule);
    stage.carry(execution, succeeds);
    let mut left_mist = 0;
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, _, _| {
        left_mist = execution.funds_mist();
    });
    stage.assert_collected(schedule, execution, status, left_mist, 0, failures, false);
}

/// Lets the next execution run until its deadline, and compares what collecting it told.
fun assert_expired(stage: &mut Stage, schedule: ID, failures: u64, is_paused: bool) {
    let execution = stage.begin_next(schedule);
    stage.expire(execution);
    stage.assert_collected(schedule, execution, b"timed_out", EACH_MIST, 0, failures, is_paused);
}

/// Waits for the next planned time and lets Lee trigger.
fun begin_next(stage: &mut Stage, schedule: ID): ID {
    let next_at_ms = stage.next_at_ms(schedule).destroy_some();
    stage.wait_until(next_at_ms);
    stage.begin(schedule)
}

/// Lets Bob pause a schedule and resume it at once.
fun pause_and_resume(stage: &mut Stage, schedule: ID) {
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.pause(ctx);
        schedule.resume(clock, ctx);
    });
}

/// Lets Lee request the only run of an execution; gives the invocation, and the funds that it does not
/// hold.
fun requested(stage: &mut Stage, execution: ID): (ID, u64) {
    let mut free_mist = 0;
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        free_mist = execution.funds_mist();
    });
    stage.runner().next_tx(LEE);
    (test_scenario::most_recent_id_shared<Invocation>().destroy_some(), free_mist)
}

/// Lets an invocation expire, and its execution end by that; gives what the execution has.
fun expired(stage: &mut Stage, execution: ID, invocation: ID): u64 {
    stage.runner().advance(60_000);
    let mut funds_mist = 0;
    let mut invocation = stage.runner().next_tx(ALICE).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(ALICE, execution, |execution, dag, _, _, clock, ctx| {
        assert!(execution.advance(dag, &mut invocation, clock, ctx));
        assert!(execution.is_ended());
        funds_mist = execution.funds_mist();
    });
    test_scenario::return_shared(invocation);
    funds_mist
}
