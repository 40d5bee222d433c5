/// Tests of schedules, with their executions, their payments, and the senders of transactions.
#[test_only]
module nexus_workflows::schedule_tests;

use nexus_tools::test_runner::{assert_paid_at_most, field, mint, port, event_bytes};
use nexus_workflows::execution;
use nexus_workflows::schedule;
use nexus_workflows::schedule_runner::{Self, Stage, hourly, hourly_with_lateness, on_event, config};
use nexus_workflows::timing;
use std::unit_test::assert_eq;
use sui::event;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const FIRST_MS: u64 = 2_000_000;
const HOUR_MS: u64 = 3_600_000;
const FUNDS_MIST: u64 = 1_000_000_000;
const EACH_MIST: u64 = 50_000_000;
/// The payment for gas, plus the keeper fee. The gas is 1 220 units at 1 000 MIST, of which the
/// vertex and its values need 10 units each, and 300 000 MIST of storage.
const FEE_MIST: u64 = 1_820_000;

// === Planned times ===

#[test]
fun trigger_starts_an_execution_at_the_planned_time() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS - 1);
    assert!(!stage.trigger(schedule));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    let dag = stage.dag();
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, _, _| {
        assert_eq!(execution.owner(), BOB);
        assert_eq!(execution.dag(), dag);
        assert_eq!(execution.funds_mist(), EACH_MIST);
        assert!(execution.entry(0, &b"a".to_ascii_string()).is_some());
    });
    stage.end();
}

#[test]
fun keeper_is_paid_its_storage_and_its_fee() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
        let paid_mist = FUNDS_MIST - EACH_MIST - schedule.funds_mist();
        assert!(paid_mist > FEE_MIST);
        assert_eq!((paid_mist - FEE_MIST) % 7_600, 0);
        assert_paid_at_most(LEE, paid_mist);
    });
    stage.end();
}

#[test]
fun many_entry_values_cost_more_gas() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    // Each of the 31 additional vertices adds 10 gas units, and the first 200 of 223 bytes add one
    // gas unit.
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        31u64.do!(|i| schedule.set_entry_values(i as u16 + 1, port(b"a", b"11"), ctx));
    });
    stage.wait_until(FIRST_MS);
    let lee = stage.lee();
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
        let told = event_bytes<schedule::ScheduleTriggered>();
        let mut fields = sui::bcs::new(told);
        3u64.do!(|_| fields.peel_address());
        2u64.do!(|_| fields.peel_u64());
        assert!(fields.peel_option!(|fields| fields.peel_u64()).is_none());
        assert!(fields.peel_option!(|fields| fields.peel_u64()).is_some());
        assert_eq!(fields.peel_u64(), FEE_MIST + 310_000 + 1_000);
    });
    stage.end();
}

#[test]
fun each_leader_has_10_seconds_before_anyone() {
    let mut stage = schedule_runner::start();
    let (schedule, lee, max) = (stage.create(hourly().with_overlap()), stage.lee(), stage.max());
    stage.wait_until(FIRST_MS + 9_999);
    stage.keeper_tx!(MAX, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
        assert!(!schedule.trigger_by_anyone(registry, dag, leader, clock, ctx));
    });
    stage.wait_until(FIRST_MS + 10_000);
    stage.keeper_tx!(MAX, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
    });

    stage.wait_until(FIRST_MS + HOUR_MS + 19_999);
    stage.keeper_tx!(ALICE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger_by_anyone(registry, dag, leader, clock, ctx));
    });
    stage.wait_until(FIRST_MS + HOUR_MS + 20_000);
    stage.keeper_tx!(ALICE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_anyone(registry, dag, leader, clock, ctx));
    });
    stage.end();
}

#[test]
fun times_during_an_execution_are_skipped() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_duration(10 * HOUR_MS));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    assert!(!stage.trigger(schedule));
    stage.wait_until(FIRST_MS + 2 * HOUR_MS + 300_000);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    stage.wait_until(FIRST_MS + 4 * HOUR_MS);
    assert!(!stage.trigger(schedule));
    stage.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        let collected = event_bytes<schedule::ScheduleCollected>();
        let fields = vector[
            field(object::id(schedule)),
            field(object::id(execution)),
            field(b"cancelled"),
            field(EACH_MIST),
            field(2u64),
            field(0u64),
            field(false),
        ].flatten();
        assert_eq!(collected, fields);
        assert_eq!(schedule.next_at_ms(), option::some(FIRST_MS + 3 * HOUR_MS));
    });
    // All planned times since the end of the execution are one occurrence.
    stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 5 * HOUR_MS));
    stage.end();
}

/// No one expires the execution for hours. Nevertheless, its end is its deadline.
#[test]
fun execution_ends_at_its_deadline() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + 3 * HOUR_MS);
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, clock, _| execution.expire(clock));
    assert!(stage.collect(schedule, execution));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + HOUR_MS));
    stage.start_execution(schedule);
    stage.end();
}

#[test]
fun no_time_is_skipped_when_executions_overlap() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap());
    stage.wait_until(FIRST_MS);
    let first = stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + 2 * HOUR_MS);
    stage.expire(first);
    assert!(stage.collect(schedule, first));
    stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 3 * HOUR_MS));
    stage.end();
}

#[test]
fun late_occurrence_is_missed() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly_with_lateness(60_000)), stage.lee());
    stage.wait_until(FIRST_MS + 60_001);
    assert!(!stage.trigger(schedule));
    stage.wait_until(FIRST_MS + 2 * HOUR_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
        let funds_mist = schedule.funds_mist();
        let execution = event::events_by_type<execution::ExecutionStarted>();
        assert_eq!(execution.length(), 1);
        let id = sui::bcs::new(field(execution[0])).peel_address();
        let fields = vector[
            field(object::id(schedule)),
            field(id),
            field(LEE),
            field(FIRST_MS + 2 * HOUR_MS),
            field(2u64),
            field(option::none<schedule::Cursor>()),
            field(option::some(FIRST_MS + 3 * HOUR_MS)),
            field(FEE_MIST),
            field(FUNDS_MIST - EACH_MIST - FEE_MIST - funds_mist),
            field(funds_mist),
        ].flatten();
        assert_eq!(event_bytes<schedule::ScheduleTriggered>(), fields);
    });
    stage.end();
}

#[test]
fun list_of_times_ends() {
    let mut stage = schedule_runner::start();
    let timing = timing::at(vector[FIRST_MS, FIRST_MS + 1_000], option::none());
    let schedule = stage.create(config(timing));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.run_to_end(execution, true);
    assert!(stage.collect(schedule, execution));
    stage.wait_until(FIRST_MS + 1_000);
    let execution = stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::none());
    stage.expire(execution);
    assert!(stage.collect(schedule, execution));
    assert!(!stage.trigger(schedule));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.pause(ctx);
        schedule.resume(clock, ctx);
        assert_eq!(schedule.next_at_ms(), option::none());
    });
    stage.end();
}

#[test]
fun max_executions_limits_the_executions() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap().with_max_executions(2));
    2u64.do!(|i| {
        stage.wait_until(FIRST_MS + i * HOUR_MS);
        stage.start_execution(schedule);
    });
    stage.wait_until(FIRST_MS + 2 * HOUR_MS);
    assert!(!stage.trigger(schedule));
    stage.end();
}

// === Funds ===

#[test]
fun collect_returns_the_remaining_funds_once() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    assert!(!stage.collect(schedule, execution));
    let before_mist = stage.funds_mist(schedule);
    stage.run_to_end(execution, true);
    let mut left_mist = 0;
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, _, _| {
        left_mist = execution.funds_mist();
    });
    assert!(0 < left_mist && left_mist < EACH_MIST - 5_000_000);
    assert!(stage.collect(schedule, execution));
    assert_eq!(stage.funds_mist(schedule), before_mist + left_mist);
    assert!(!stage.collect(schedule, execution));
    assert_eq!(stage.funds_mist(schedule), before_mist + left_mist);
    stage.end();
}

#[test]
fun trigger_pays_nothing_when_funds_are_insufficient() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_funds(EACH_MIST));
    stage.wait_until(FIRST_MS);
    assert!(!stage.trigger(schedule));
    assert_eq!(stage.funds_mist(schedule), EACH_MIST);
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| {
        schedule.refill(mint(EACH_MIST, ctx));
        let fields = vector[field(object::id(schedule)), field(EACH_MIST), field(2 * EACH_MIST)];
        assert_eq!(event_bytes<schedule::ScheduleRefilled>(), fields.flatten());
    });
    stage.start_execution(schedule);
    stage.end();
}

#[test]
fun trigger_requires_funds_for_the_maximum_storage() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    let paid_mist = FUNDS_MIST - EACH_MIST - stage.funds_mist(schedule);
    // The required funds cover the maximum storage, which is more than the actual storage.
    let schedule = stage.create(hourly().with_funds(EACH_MIST + paid_mist));
    stage.wait_until(FIRST_MS + HOUR_MS);
    assert!(!stage.trigger(schedule));
    let schedule = stage.create(hourly().with_funds(EACH_MIST + paid_mist + 4_000_000));
    stage.start_execution(schedule);
    stage.end();
}

#[test]
fun set_entry_values_replaces_values() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.set_entry_values(0, port(b"b", b"22"), ctx));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(ALICE, execution, |execution, _, _, _, _, _| {
        assert!(execution.entry(0, &b"a".to_ascii_string()).is_none());
        assert!(execution.entry(0, &b"b".to_ascii_string()).is_some());
    });
    stage.end();
}

// === Failures ===

#[test]
fun consecutive_failures_pause_the_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_max_failures(2));
    // A success resets the count. An execution that its owner cancels does not affect the count.
    vector[false, true, false].do!(|succeeds| run(&mut stage, schedule, succeeds));
    let execution = start_next(&mut stage, schedule);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    assert!(stage.collect(schedule, execution));
    assert!(!stage.is_paused(schedule));
    run(&mut stage, schedule, false);
    assert!(stage.is_paused(schedule));

    let next_at_ms = stage.next_at_ms(schedule).destroy_some();
    stage.wait_until(next_at_ms);
    assert!(!stage.trigger(schedule));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    run(&mut stage, schedule, false);
    assert!(!stage.is_paused(schedule));
    stage.end();
}

#[test]
fun failures_without_a_limit_do_not_pause() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    3u64.do!(|_| run(&mut stage, schedule, false));
    assert!(!stage.is_paused(schedule));
    stage.end();
}

// === Pause, cancel, delete ===

#[test]
fun times_during_a_pause_are_dropped() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.pause(ctx);
        let fields = vector[field(object::id(schedule)), field(false), field(option::some(FIRST_MS))];
        assert_eq!(event_bytes<schedule::ScheduleActivityChanged>(), fields.flatten());
        assert!(schedule.is_paused());
    });
    stage.wait_until(FIRST_MS + 100 * HOUR_MS + 1);
    assert!(!stage.trigger(schedule));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.resume(clock, ctx);
        let next_at_ms = FIRST_MS + 101 * HOUR_MS;
        let fields = vector[field(object::id(schedule)), field(true), field(option::some(next_at_ms))];
        assert_eq!(event_bytes<schedule::ScheduleActivityChanged>(), fields.flatten());
    });
    assert!(!stage.trigger(schedule));
    stage.wait_until(FIRST_MS + 101 * HOUR_MS);
    stage.start_execution(schedule);
    stage.end();
}

#[test]
fun short_pause_keeps_the_next_time() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.pause(ctx);
        schedule.resume(clock, ctx);
        assert_eq!(schedule.next_at_ms(), option::some(FIRST_MS));
    });
    stage.end();
}

#[test]
fun cancel_refunds_the_owner() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        let fields = vector[field(object::id(schedule)), field(FUNDS_MIST)];
        assert_eq!(event_bytes<schedule::ScheduleCancelled>(), fields.flatten());
        assert_paid_at_most(BOB, FUNDS_MIST);
        assert!(schedule.is_cancelled());
        assert_eq!(schedule.funds_mist(), 0);
    });
    stage.wait_until(FIRST_MS);
    assert!(!stage.trigger(schedule));
    stage.delete(BOB, schedule);
    let fields = vector[field(schedule), field(BOB)].flatten();
    assert_eq!(event_bytes<schedule::ScheduleDeleted>(), fields);
    stage.end();
}

#[test]
fun create_emits_an_event() {
    let mut stage = schedule_runner::start();
    let wish = hourly();
    let schedule = stage.create(wish);
    let fields = vector[
        field(schedule),
        field(stage.dag()),
        field(b"xyz.example.flow@1"),
        field(BOB),
        field(vector[stage.lee()]),
        field(wish.timing()),
        field(option::some(FIRST_MS)),
        field(EACH_MIST),
        field(300_000u64),
        field(FUNDS_MIST),
    ].flatten();
    assert_eq!(event_bytes<schedule::ScheduleCreated>(), fields);
    let fields = vector[field(schedule), field(vector[stage.lee(), stage.max()])].flatten();
    assert_eq!(event_bytes<schedule::ScheduleLeadersChanged>(), fields);
    let dag = stage.dag();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, _| {
        assert_eq!(schedule.owner(), BOB);
        assert_eq!(schedule.dag(), dag);
    });
    stage.end();
}

#[test]
fun set_leader_replaces_the_leader() {
    let mut stage = schedule_runner::start();
    let (schedule, max) = (stage.create(hourly()), stage.max());
    stage.keeper_tx!(BOB, schedule, max, |schedule, _, _, leader, _, ctx| {
        schedule.set_leader(leader, ctx);
    });
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(MAX, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
    });
    stage.end();
}

// === Events ===

#[test]
fun events_count_once_in_order() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event().with_overlap());
    assert!(stage.report_event(schedule, 7, 3, 1));
    stage.runner().advance(10_000);
    // The schedule ignores the same event, and events with an earlier checkpoint, transaction or
    // event number.
    assert!(!stage.report_event(schedule, 7, 3, 1));
    assert!(!stage.report_event(schedule, 7, 3, 0));
    assert!(!stage.report_event(schedule, 7, 2, 9));
    assert!(!stage.report_event(schedule, 6, 9, 9));
    assert!(stage.report_event(schedule, 7, 3, 2));
    stage.runner().advance(10_000);
    assert!(stage.report_event(schedule, 7, 4, 0));
    stage.runner().advance(10_000);
    assert!(stage.report_event(schedule, 8, 0, 0));
    stage.end();
}

#[test]
fun events_wait_for_the_pause_and_the_active_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    assert!(stage.report_event(schedule, 1, 0, 0));
    let execution = stage.last_execution();
    stage.runner().advance(9_999);
    stage.run_to_end(execution, true);
    assert!(!stage.report_event(schedule, 2, 0, 0));
    assert!(stage.collect(schedule, execution));
    assert!(!stage.report_event(schedule, 2, 0, 0));
    stage.runner().advance(1);
    assert!(stage.report_event(schedule, 2, 0, 0));
    stage.end();
}

/// An account that reads the events later recognizes by their time that they do not count.
#[test]
fun events_before_the_end_of_an_execution_do_not_count() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    assert!(stage.report_event(schedule, 1, 0, 0));
    let (execution, began_at_ms) = (stage.last_execution(), stage.now_ms());
    assert_eq!(stage.next_at_ms(schedule), option::some(began_at_ms + 10_000));
    stage.runner().advance(60_000);
    stage.run_to_end(execution, true);
    assert!(stage.collect(schedule, execution));
    assert_eq!(stage.next_at_ms(schedule), option::some(began_at_ms + 60_001));
    stage.end();
}

// === Extensions ===

#[test]
fun add_times_continues_a_finished_list() {
    let mut stage = schedule_runner::start();
    let times = vector[FIRST_MS, FIRST_MS + HOUR_MS];
    let schedule = stage.create(config(timing::at(times, option::none())).with_overlap());
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    let (second_ms, fourth_ms) = (FIRST_MS + HOUR_MS, FIRST_MS + 3 * HOUR_MS);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.add_times(vector[FIRST_MS + 2 * HOUR_MS], clock, ctx);
        let fields = vector[
            field(object::id(schedule)),
            field(option::some(second_ms)),
            field(option::none<u64>()),
        ].flatten();
        assert_eq!(event_bytes<schedule::ScheduleExtended>(), fields);
    });
    stage.wait_until(FIRST_MS + 2 * HOUR_MS);
    stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::none());
    // Times that have passed since then are removed from the list.
    stage.wait_until(fourth_ms);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.add_times(vector[fourth_ms - 1, fourth_ms, fourth_ms + 1], clock, ctx);
        assert_eq!(schedule.next_at_ms(), option::some(fourth_ms + 1));
    });
    stage.runner().advance(1);
    stage.start_execution(schedule);
    stage.end();
}

#[test]
fun extend_until_continues_a_finished_interval() {
    let mut stage = schedule_runner::start();
    let timing = timing::every(HOUR_MS, FIRST_MS, option::some(FIRST_MS), option::none());
    let schedule = stage.create(config(timing).with_overlap());
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::none());
    stage.wait_until(FIRST_MS + 2 * HOUR_MS);
    let end_ms = FIRST_MS + 3 * HOUR_MS;
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.extend_until(end_ms, clock, ctx);
        assert_eq!(schedule.next_at_ms(), option::some(end_ms));
    });
    stage.wait_until(end_ms);
    stage.start_execution(schedule);
    assert_eq!(stage.next_at_ms(schedule), option::none());
    stage.end();
}

#[test]
fun set_max_executions_allows_more() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap().with_max_executions(1));
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + HOUR_MS);
    assert!(!stage.trigger(schedule));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.set_max_executions(option::some(2), clock, ctx);
        let fields = vector[
            field(object::id(schedule)),
            field(option::some(FIRST_MS + HOUR_MS)),
            field(option::some(2u64)),
        ].flatten();
        assert_eq!(event_bytes<schedule::ScheduleExtended>(), fields);
    });
    stage.start_execution(schedule);
    stage.wait_until(FIRST_MS + 2 * HOUR_MS);
    assert!(!stage.trigger(schedule));
    stage.end();
}

// === Helpers ===

use fun report_event as Stage.report_event;

/// Let Lee report an event, and return whether an execution started.
fun report_event(
    stage: &mut Stage,
    schedule: ID,
    checkpoint: u64,
    transaction: u64,
    event: u64,
): bool {
    let (lee, mut started) = (stage.lee(), false);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        started = schedule.trigger_by_event(
            registry,
            dag,
            leader,
            checkpoint,
            transaction,
            event,
            clock,
            ctx,
        );
    });
    started
}

/// Wait for the next planned time, and let Lee trigger.
fun start_next(stage: &mut Stage, schedule: ID): ID {
    let next_at_ms = stage.next_at_ms(schedule).destroy_some();
    stage.wait_until(next_at_ms);
    stage.start_execution(schedule)
}

/// Run the next execution to its end.
fun run(stage: &mut Stage, schedule: ID, succeeds: bool) {
    let execution = start_next(stage, schedule);
    stage.run_to_end(execution, succeeds);
    assert!(stage.collect(schedule, execution));
}
