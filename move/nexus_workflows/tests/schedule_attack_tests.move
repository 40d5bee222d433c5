/// Tests of attacks on the funds of a schedule, or on its operation.
#[test_only]
module nexus_workflows::schedule_attack_tests;

use nexus_tools::test_runner::{assert_paid_at_most, field, mint, event_bytes};
use nexus_workflows::cleaning;
use nexus_workflows::schedule;
use nexus_workflows::schedule_runner::{Self, hourly, on_event, on_event_daily};
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;
/// An account that is neither the owner nor a worker.
const EVE: address = @0xE;

const FIRST_MS: u64 = 2_000_000;
const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;
const FUNDS_MIST: u64 = 1_000_000_000;
const EACH_MIST: u64 = 50_000_000;

/// Eve triggers often, too early and too late. Bob pays only for one execution and its keeper.
#[test]
fun trigger_pays_nothing_when_early_or_repeated() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly().with_overlap()), stage.lee());
    stage.wait_until(FIRST_MS - 1);
    stage.keeper_tx!(EVE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        20u64.do!(|_| assert!(!schedule.trigger_by_anyone(registry, dag, leader, clock, ctx)));
        assert_paid_at_most(EVE, 0);
        assert_eq!(schedule.funds_mist(), FUNDS_MIST);
    });
    stage.wait_until(FIRST_MS + 20_000);
    stage.keeper_tx!(EVE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_anyone(registry, dag, leader, clock, ctx));
        let funds_mist = schedule.funds_mist();
        20u64.do!(|_| assert!(!schedule.trigger_by_anyone(registry, dag, leader, clock, ctx)));
        assert_eq!(schedule.funds_mist(), funds_mist);
        assert_paid_at_most(EVE, FUNDS_MIST - EACH_MIST - funds_mist);
    });
    stage.end();
}

/// Lee and Max both trigger a due schedule. The second keeper loses only the gas of the
/// transaction.
#[test]
fun second_keeper_costs_the_owner_nothing() {
    let mut stage = schedule_runner::start();
    let (schedule, max) = (stage.create(hourly().with_overlap()), stage.max());
    stage.wait_until(FIRST_MS + 10_000);
    stage.start_execution(schedule);
    let funds_mist = stage.funds_mist(schedule);
    stage.keeper_tx!(MAX, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
        assert_paid_at_most(MAX, 0);
        assert_eq!(schedule.funds_mist(), funds_mist);
    });
    stage.end();
}

/// No one triggers for a hundred days. Then a single execution replaces 2 400 planned executions.
#[test]
fun missed_times_start_one_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_overlap());
    stage.wait_until(FIRST_MS + 2_400 * HOUR_MS);
    stage.start_execution(schedule);
    assert!(!stage.trigger(schedule));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 2_401 * HOUR_MS));
    assert!(stage.funds_mist(schedule) > FUNDS_MIST - EACH_MIST - 25_000_000);
    stage.end();
}

/// Bob's funds cover only the executions but not the keepers, so keepers cannot start executions.
#[test]
fun trigger_requires_the_fee_of_the_keeper() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly().with_funds(EACH_MIST + 1_000_000)), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
    });
    // Bob cancels before Lee triggers. Lee notices this in a dry run, and does not lose gas.
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    assert!(!stage.trigger(schedule));
    stage.end();
}

#[test]
fun trigger_by_anyone_requires_an_active_leader() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS + 20_000);
    stage.runner().leader_tx!(LEE, lee, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.keeper_tx!(EVE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger_by_anyone(registry, dag, leader, clock, ctx));
        assert_eq!(schedule.funds_mist(), FUNDS_MIST);
    });
    stage.end();
}

/// The gas price is ten times as high as at the creation of the schedule. The keeper's payment for
/// gas increases accordingly.
#[test]
fun keeper_is_paid_the_current_gas_price() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    let cheap_mist = FUNDS_MIST - EACH_MIST - stage.funds_mist(schedule);
    let schedule = stage.create(hourly());
    stage.runner().next_epoch(10_000);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger(registry, dag, leader, clock, ctx));
        let dear_mist = FUNDS_MIST - EACH_MIST - schedule.funds_mist();
        assert_eq!(dear_mist - cheap_mist, 10_980_000);
    });
    stage.end();
}

/// Bob cancels while an execution is active. The execution continues, and Bob receives its
/// remaining funds. Afterwards he can delete all objects.
#[test]
fun cancel_with_an_active_execution_loses_no_funds() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.run_to_end(execution, true);
    let mut left_mist = 0;
    stage.execution_tx!(BOB, execution, |execution, _, _, _, _, _| {
        left_mist = execution.funds_mist();
        assert!(left_mist > 0);
    });
    stage.collect_tx!(EVE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        assert_paid_at_most(BOB, left_mist);
        assert_eq!(execution.funds_mist(), 0);
        assert!(!schedule.collect(execution));
    });
    stage.delete(BOB, schedule);
    stage.end();
}

/// Bob deletes an execution before its schedule has collected it. Without a check, the funds would
/// be lost.
#[test, expected_failure(abort_code = cleaning::EExecutionNotEmpty)]
fun delete_rejects_an_execution_before_collect() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        assert_paid_at_most(BOB, 0);
        cleaning::clean_runs(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    stage.delete_execution(BOB, execution);
    abort
}

#[test]
fun delete_accepts_a_collected_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        cleaning::clean_runs(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    assert!(stage.collect(schedule, execution));
    stage.delete_execution(BOB, execution);
    stage.end();
}

/// Eve passes executions of another schedule, and an execution that Bob started without a schedule.
#[test]
fun collect_has_no_effect_for_other_executions() {
    let mut stage = schedule_runner::start();
    let (one, other) = (stage.create(hourly()), stage.create(hourly()));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(one);
    stage.start_execution(other);
    stage.expire(execution);
    assert!(!stage.collect(other, execution));
    assert!(stage.collect(one, execution));
    stage.end();
}

/// Eve refills an overdue execution to keep it active. The execution nevertheless ends at its
/// deadline.
#[test]
fun refill_does_not_keep_an_overdue_execution_active() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, _, ctx| execution.refill(mint(7, ctx)));
    stage.expire(execution);
    let before_mist = stage.funds_mist(schedule);
    assert!(stage.collect(schedule, execution));
    assert_eq!(stage.funds_mist(schedule), before_mist + EACH_MIST + 7);
    stage.end();
}

/// Lee reports events that never happened. At most one execution starts per pause, no matter how
/// many events a transaction reports. At most two executions start per day, because Bob allows two.
#[test]
fun false_events_are_bounded_by_the_pause_and_the_daily_limit() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event_daily(2).with_overlap()), stage.lee());
    let mut checkpoint = 0;
    20u64.do!(|_| {
        stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
            20u64.do!(|_| {
                checkpoint = checkpoint + 1;
                schedule.trigger_by_event(registry, dag, leader, checkpoint, 0, 0, clock, ctx);
            });
        });
        stage.runner().advance(9_999);
    });
    let began_at_ms = stage.next_at_ms(schedule).destroy_some();
    // Two executions start on the first day, at least 10 s apart.
    assert!(stage.funds_mist(schedule) < FUNDS_MIST - 2 * EACH_MIST);
    assert!(stage.funds_mist(schedule) > FUNDS_MIST - 3 * EACH_MIST);
    assert_eq!(began_at_ms, DAY_MS);
    stage.wait_until(DAY_MS - 1);
    assert!(!stage.report_event(LEE, schedule, checkpoint + 1));
    stage.runner().advance(1);
    assert!(stage.report_event(LEE, schedule, checkpoint + 1));
    stage.end();
}

/// Max, the second leader, must wait until 10 s after the end of the pause.
#[test]
fun second_leader_waits_for_the_window_of_the_first() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event().with_overlap());
    assert!(stage.report_event(LEE, schedule, 1));
    stage.runner().advance(19_999);
    assert!(!stage.report_event(MAX, schedule, 2));
    stage.runner().advance(1);
    assert!(stage.report_event(MAX, schedule, 2));
    // Both leaders together do not start more executions than one leader alone.
    assert!(!stage.report_event(LEE, schedule, 3));
    stage.runner().advance(10_000);
    assert!(stage.report_event(LEE, schedule, 3));
    stage.end();
}

/// Lee reports an event from the far future, so that later events do not count. Bob resets the
/// cursor.
#[test]
fun reset_cursor_removes_a_future_cursor() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event().with_overlap()), stage.lee());
    let last = 18_446_744_073_709_551_615;
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, last, last, last, clock, ctx));
    });
    stage.runner().advance(10_000);
    assert!(!stage.report_event(LEE, schedule, last));
    stage.runner().advance(5_000);
    let now_ms = stage.now_ms();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.reset_cursor(clock, ctx);
        let fields = vector[field(object::id(schedule)), field(option::some(now_ms))].flatten();
        assert_eq!(event_bytes<schedule::ScheduleCursorReset>(), fields);
    });
    // Events before the reset do not count, and later events count.
    assert_eq!(stage.next_at_ms(schedule), option::some(now_ms));
    assert!(stage.report_event(LEE, schedule, 2));
    assert!(!stage.report_event(LEE, schedule, 1));
    stage.end();
}

/// A reset does not shorten the pause.
#[test]
fun reset_cursor_keeps_the_pause() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event().with_overlap());
    assert!(stage.report_event(LEE, schedule, 1));
    let next_at_ms = stage.next_at_ms(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    assert_eq!(stage.next_at_ms(schedule), next_at_ms);
    assert!(!stage.report_event(LEE, schedule, 1));
    stage.runner().advance(10_000);
    assert!(stage.report_event(LEE, schedule, 1));
    stage.end();
}

/// The package was upgraded, and the registry does not accept new executions. All funds can still
/// be withdrawn.
#[test]
fun exit_paths_ignore_settings_and_versions() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.runner().configure_leaders(false);
    stage.runner().tx!(ALICE, |_, leaders, _, _| leaders.set_version_for_testing(2));
    stage.expire(execution);
    assert!(stage.collect(schedule, execution));
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.pause(ctx);
        let funds_mist = schedule.funds_mist();
        schedule.cancel(ctx);
        assert_paid_at_most(BOB, funds_mist);
    });
    stage.delete(BOB, schedule);
    stage.end();
}
