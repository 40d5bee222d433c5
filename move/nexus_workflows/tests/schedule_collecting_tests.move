/// Tests of collecting ended executions, which affects skipped times, failures, and the next
/// planned time.
#[test_only]
module nexus_workflows::schedule_collecting_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::test_runner::{assert_paid_at_most, field, mint, event_bytes};
use nexus_workflows::execution;
use nexus_workflows::schedule;
use nexus_workflows::schedule_runner::{Self, Stage, hourly, on_event, config};
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

/// Bob cancels an execution with a run in flight. The funds that its invocation does not hold are
/// returned immediately. The rest is returned after the invocation has expired.
#[test]
fun collect_takes_the_free_funds_of_a_stopped_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    let before_mist = stage.funds_mist(schedule);
    let (invocation, free_mist) = stage.requested(execution);
    // The execution is active, so its funds cannot be collected.
    assert!(!stage.collect(schedule, execution));
    stage.cancel_execution(execution);
    stage.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        let refunded = vector[field(object::id(execution)), field(BOB), field(free_mist)];
        assert_eq!(event_bytes<execution::ExecutionRefunded>(), refunded.flatten());
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
fun collect_takes_a_single_mist_of_a_stopped_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
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
fun collect_pays_the_owner_of_a_cancelled_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    let (invocation, free_mist) = stage.requested(execution);
    stage.cancel_execution(execution);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        assert_eq!(schedule.funds_mist(), 0);
        assert_paid_at_most(BOB, free_mist);
    });
    let rest_mist = stage.expired(execution, invocation);
    // The collected rest is the cost of an attempt minus the payment for `advance`. This payment
    // is 1 060 gas units and 150 000 MIST.
    assert_eq!(rest_mist, 9_490_000 - 1_210_000);
    assert!(stage.collect(schedule, execution));
    stage.delete(BOB, schedule);
    stage.end();
}

// === Skipped times ===

/// If an execution ends in the millisecond of a planned time, this time is skipped.
#[test]
fun time_at_the_end_of_an_execution_is_skipped() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 1, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 2 * HOUR_MS));
    assert!(!stage.trigger(schedule));
    stage.end();
}

#[test]
fun time_after_the_end_of_an_execution_is_not_skipped() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS - 1);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    stage.wait_until(FIRST_MS + HOUR_MS);
    stage.start_execution(schedule);
    stage.end();
}

/// Three listed times are skipped, so one time remains.
#[test]
fun listed_times_are_skipped_during_an_execution() {
    let mut stage = schedule_runner::start();
    let times = vector::tabulate!(5, |i| FIRST_MS + i * 1_000);
    let schedule = stage.create(config(timing::at(times, option::none())));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + 3_500);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 3, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 4_000));
    stage.wait_until(FIRST_MS + 4_000);
    stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::none());
    stage.end();
}

/// No one triggers at the second and third planned time while the first execution is active.
/// Executions may overlap, so collecting does not skip times, and the third time is due.
#[test]
fun collect_skips_no_times_when_executions_overlap() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap().with_duration(10 * HOUR_MS));
    let lee = stage.lee();
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + 2 * HOUR_MS + 5);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 0, false);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
        let mut fields = sui::bcs::new(event_bytes<schedule::ScheduleTriggered>());
        3u64.do!(|_| fields.peel_address());
        assert_eq!(fields.peel_u64(), FIRST_MS + 2 * HOUR_MS);
        assert_eq!(fields.peel_u64(), 1);
    });
    stage.end();
}

/// Two overlapping executions are collected in reverse order. The schedule cannot be deleted until
/// both are collected.
#[test, expected_failure(abort_code = schedule::EExecutionsNotCollected)]
fun delete_requires_every_overlapping_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    let second = stage.start_execution(schedule);
    stage.cancel_execution(second);
    assert!(stage.collect(schedule, second));
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.delete(BOB, schedule);
    abort
}

/// An event schedule has no planned times, so no time is skipped.
#[test]
fun collect_counts_no_skipped_events() {
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

// === Counted failures ===

/// A run without an answer and an expired execution are failures. A success and a resume reset the
/// count. An execution that Bob cancels does not change the count.
#[test]
fun consecutive_failures_are_counted() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_max_failures(3));
    stage.assert_run(schedule, false, b"terminated", 1);
    stage.assert_expired(schedule, 2, false);
    stage.assert_run(schedule, true, b"completed", 0);

    stage.assert_expired(schedule, 1, false);
    let execution = stage.start_next(schedule);
    stage.cancel_execution(execution);
    stage.assert_collected(schedule, execution, b"cancelled", EACH_MIST, 0, 1, false);
    stage.assert_expired(schedule, 2, false);
    stage.assert_expired(schedule, 3, true);

    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    3u64.do!(|i| stage.assert_expired(schedule, i + 1, i == 2));
    stage.end();
}

/// Two overlapping executions fail after the failure that paused the schedule. The schedule remains
/// paused, and the count increases.
#[test]
fun failure_during_a_pause_is_counted() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap().with_max_failures(1));
    stage.wait_until(FIRST_MS);
    let first = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    let second = stage.start_execution(schedule);
    stage.expire(first);
    stage.assert_collected(schedule, first, b"timed_out", EACH_MIST, 0, 1, true);
    stage.expire(second);
    stage.assert_collected(schedule, second, b"timed_out", EACH_MIST, 0, 2, true);
    stage.end();
}

// === Next planned times ===

/// An occurrence that has started is not due again, even if Bob pauses in the same millisecond.
#[test]
fun immediate_resume_repeats_no_time() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap());
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    stage.pause_and_resume(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    assert!(!stage.trigger(schedule));
    stage.end();
}

/// If Bob resumes in the millisecond of a planned time, this time is due.
#[test]
fun time_at_the_end_of_a_pause_is_due() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.pause(ctx));
    stage.wait_until(FIRST_MS + 3 * HOUR_MS);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 3 * HOUR_MS));
    stage.start_execution(schedule);
    stage.end();
}

#[test]
fun time_before_the_end_of_a_pause_is_not_due() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.pause(ctx));
    stage.wait_until(FIRST_MS + 1);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    assert!(!stage.trigger(schedule));
    stage.end();
}

/// The pause between executions on events is ten seconds, even if Bob pauses and resumes the
/// schedule.
#[test]
fun resume_does_not_shorten_the_pause_between_events() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event().with_overlap()), stage.lee());
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
use fun start_next as Stage.start_next;
use fun pause_and_resume as Stage.pause_and_resume;

/// Let Bob cancel an execution.
fun cancel_execution(stage: &mut Stage, execution: ID) {
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
    });
}

/// Collect an execution, and check the event.
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
        assert_eq!(event_bytes<schedule::ScheduleCollected>(), fields);
        assert_eq!(schedule.is_paused(), is_paused);
    });
}

/// Run the next execution to its end, and check the event of collecting it.
fun assert_run(
    stage: &mut Stage,
    schedule: ID,
    succeeds: bool,
    status: vector<u8>,
    failures: u64,
) {
    let execution = stage.start_next(schedule);
    stage.run_to_end(execution, succeeds);
    let mut left_mist = 0;
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, _, _| {
        left_mist = execution.funds_mist();
    });
    stage.assert_collected(schedule, execution, status, left_mist, 0, failures, false);
}

/// Let the next execution expire, and check the event of collecting it.
fun assert_expired(stage: &mut Stage, schedule: ID, failures: u64, is_paused: bool) {
    let execution = stage.start_next(schedule);
    stage.expire(execution);
    stage.assert_collected(schedule, execution, b"timed_out", EACH_MIST, 0, failures, is_paused);
}

/// Wait for the next planned time, and let Lee trigger.
fun start_next(stage: &mut Stage, schedule: ID): ID {
    let next_at_ms = stage.next_at_ms(schedule).destroy_some();
    stage.wait_until(next_at_ms);
    stage.start_execution(schedule)
}

/// Let Bob pause and immediately resume a schedule.
fun pause_and_resume(stage: &mut Stage, schedule: ID) {
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.pause(ctx);
        schedule.resume(clock, ctx);
    });
}

/// Let Lee request the only run of an execution. Return the invocation, and the funds of the
/// execution that the invocation does not hold.
fun requested(stage: &mut Stage, execution: ID): (ID, u64) {
    let mut free_mist = 0;
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        free_mist = execution.funds_mist();
    });
    stage.runner().next_tx(LEE);
    (test_scenario::most_recent_id_shared<Invocation>().destroy_some(), free_mist)
}

/// Expire an invocation, and end its execution. Return the funds of the execution.
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
