/// What people try who want a schedule's funds, or want it to do nothing.
#[test_only]
module nexus_workflows::schedule_attack_tests;

use nexus_tools::test_runner::{assert_paid_at_most, field, mint, told};
use nexus_workflows::cleaning;
use nexus_workflows::schedule;
use nexus_workflows::schedule_runner::{Self, hourly, on_event, on_event_daily};
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;
/// A stranger.
const EVE: address = @0xE;

const FIRST_MS: u64 = 2_000_000;
const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;
const FUNDS_MIST: u64 = 1_000_000_000;
const EACH_MIST: u64 = 50_000_000;

/// Eve triggers as often as she can, early and late: all that Bob pays is one execution and its
/// keeper.
#[test]
fun a_keeper_earns_nothing_by_triggering_early_or_twice() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly().overlapping()), stage.lee());
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

/// Lee and Max both see that something is due: whoever comes second loses nothing but gas.
#[test]
fun a_race_that_is_lost_costs_the_owner_nothing() {
    let mut stage = schedule_runner::start();
    let (schedule, max) = (stage.create(hourly().overlapping()), stage.max());
    stage.wait_until(FIRST_MS + 10_000);
    stage.begin(schedule);
    let funds_mist = stage.funds_mist(schedule);
    stage.keeper_tx!(MAX, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
        assert_paid_at_most(MAX, 0);
        assert_eq!(schedule.funds_mist(), funds_mist);
    });
    stage.end();
}

/// Nobody triggers for a hundred days. Then one execution makes up for 2 400 of them.
#[test]
fun catching_up_is_no_storm() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().overlapping());
    stage.wait_until(FIRST_MS + 2_400 * HOUR_MS);
    stage.begin(schedule);
    assert!(!stage.trigger(schedule));
    assert_eq!(stage.next_at_ms(schedule), option::some(FIRST_MS + 2_401 * HOUR_MS));
    assert!(stage.funds_mist(schedule) > FUNDS_MIST - EACH_MIST - 25_000_000);
    stage.end();
}

/// Bob wants work for nothing: with funds for executions alone, keepers do none.
#[test]
fun an_owner_does_not_starve_keepers() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly().funded(EACH_MIST + 1_000_000)), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
    });
    // He cancels before Lee comes: Lee's simulation says so, and nothing happened.
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    assert!(!stage.trigger(schedule));
    stage.end();
}

/// The price of gas is ten times as high as when Bob created it: so is what a keeper gets for gas.
#[test]
fun nothing_is_triggered_that_no_leader_would_carry() {
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

#[test]
fun a_keeper_loses_nothing_when_gas_becomes_dear() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.begin(schedule);
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

/// Bob cancels while one runs. It goes on, what it leaves is his, and only then can he delete all.
#[test]
fun cancelling_while_an_execution_runs_loses_nothing() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.carry(execution, true);
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

/// Bob deletes what is left of an execution before its schedule has collected: that would burn funds.
#[test, expected_failure(abort_code = cleaning::ENotClean)]
fun an_execution_is_not_deleted_before_it_is_collected() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
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
fun an_execution_is_deleted_once_it_is_collected() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        cleaning::clean_runs(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    assert!(stage.collect(schedule, execution));
    stage.delete_execution(BOB, execution);
    stage.end();
}

/// Eve hands over the executions of another schedule, and Bob's own that no schedule began.
#[test]
fun what_others_left_is_not_collected() {
    let mut stage = schedule_runner::start();
    let (one, other) = (stage.create(hourly()), stage.create(hourly()));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(one);
    stage.begin(other);
    stage.expire(execution);
    assert!(!stage.collect(other, execution));
    assert!(stage.collect(one, execution));
    stage.end();
}

/// What runs late is refilled by Eve, so that it never ends: its deadline ends it.
#[test]
fun a_gift_does_not_keep_an_execution_running() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, _, ctx| execution.refill(mint(7, ctx)));
    stage.expire(execution);
    let before_mist = stage.funds_mist(schedule);
    assert!(stage.collect(schedule, execution));
    assert_eq!(stage.funds_mist(schedule), before_mist + EACH_MIST + 7);
    stage.end();
}

/// Lee tells events that never happened, as often as he can: one in each pause, however many he
/// tells in a transaction, and two in a day if Bob allows no more.
#[test]
fun false_events_start_one_execution_per_pause_and_a_bounded_number_per_day() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event_daily(2).overlapping()), stage.lee());
    let mut told = 0;
    20u64.do!(|_| {
        stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
            20u64.do!(|_| {
                told = told + 1;
                schedule.trigger_by_event(registry, dag, leader, told, 0, 0, clock, ctx);
            });
        });
        stage.runner().advance(9_999);
    });
    let began_at_ms = stage.next_at_ms(schedule).destroy_some();
    // Two in the first day, the second of them no sooner than 10 s after the first.
    assert!(stage.funds_mist(schedule) < FUNDS_MIST - 2 * EACH_MIST);
    assert!(stage.funds_mist(schedule) > FUNDS_MIST - 3 * EACH_MIST);
    assert_eq!(began_at_ms, DAY_MS);
    stage.wait_until(DAY_MS - 1);
    assert!(!stage.tell(LEE, schedule, told + 1));
    stage.runner().advance(1);
    assert!(stage.tell(LEE, schedule, told + 1));
    stage.end();
}

/// Max, who is named second, has to leave Lee 10 s after the end of the pause.
#[test]
fun the_second_leader_waits_for_the_window_of_the_first_one() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event().overlapping());
    assert!(stage.tell(LEE, schedule, 1));
    stage.runner().advance(19_999);
    assert!(!stage.tell(MAX, schedule, 2));
    stage.runner().advance(1);
    assert!(stage.tell(MAX, schedule, 2));
    // Together they start no more than each of them alone.
    assert!(!stage.tell(LEE, schedule, 3));
    stage.runner().advance(10_000);
    assert!(stage.tell(LEE, schedule, 3));
    stage.end();
}

/// Lee tells an event from the far future: no other one counts any more. Bob resets the cursor.
#[test]
fun a_cursor_from_the_far_future_is_reset() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event().overlapping()), stage.lee());
    let last = 18_446_744_073_709_551_615;
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, last, last, last, clock, ctx));
    });
    stage.runner().advance(10_000);
    assert!(!stage.tell(LEE, schedule, last));
    stage.runner().advance(5_000);
    let now_ms = stage.now_ms();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.reset_cursor(clock, ctx);
        let fields = vector[field(object::id(schedule)), field(option::some(now_ms))].flatten();
        assert_eq!(told<schedule::ScheduleCursorReset>(), fields);
    });
    // What was told before the reset does not count, what is told from now on does.
    assert_eq!(stage.next_at_ms(schedule), option::some(now_ms));
    assert!(stage.tell(LEE, schedule, 2));
    assert!(!stage.tell(LEE, schedule, 1));
    stage.end();
}

/// A reset does not shorten the pause.
#[test]
fun a_reset_leaves_the_pause_as_it_is() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event().overlapping());
    assert!(stage.tell(LEE, schedule, 1));
    let next_at_ms = stage.next_at_ms(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    assert_eq!(stage.next_at_ms(schedule), next_at_ms);
    assert!(!stage.tell(LEE, schedule, 1));
    stage.runner().advance(10_000);
    assert!(stage.tell(LEE, schedule, 1));
    stage.end();
}

/// The package was upgraded and takes nothing new: what is in it comes out all the same.
#[test]
fun no_setting_and_no_version_locks_funds_in() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
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
