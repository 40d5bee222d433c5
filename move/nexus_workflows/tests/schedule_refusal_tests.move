/// Tests of calls that schedules reject, and of limits.
#[test_only]
module nexus_workflows::schedule_refusal_tests;

use nexus_tools::leader_registry;
use nexus_tools::test_runner::{mint, port, text};
use nexus_tools::version;
use nexus_workflows::schedule;
use nexus_workflows::schedule_runner::{Self, Stage, hourly, on_event};

const ALICE: address = @0xA;
const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;

const FIRST_MS: u64 = 2_000_000;
const MOST_EACH_MIST: u64 = 1_000_000_000_000_000;
const MOST_FEE_MIST: u64 = 1_000_000_000;

// === Creation ===

#[test]
fun create_accepts_the_maximum_amounts() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create_with(hourly(), MOST_EACH_MIST, MOST_FEE_MIST, port(b"a", b"1"));
    stage.wait_until(FIRST_MS);
    assert!(!stage.trigger(schedule));
    stage.end();
}

#[test, expected_failure(abort_code = schedule::EAmountTooLarge)]
fun create_rejects_more_than_a_million_sui_per_execution() {
    let mut stage = schedule_runner::start();
    stage.create_with(hourly(), MOST_EACH_MIST + 1, 0, port(b"a", b"1"));
    abort
}

#[test, expected_failure(abort_code = schedule::EAmountTooLarge)]
fun create_rejects_a_keeper_fee_above_one_sui() {
    let mut stage = schedule_runner::start();
    stage.create_with(hourly(), 0, MOST_FEE_MIST + 1, port(b"a", b"1"));
    abort
}

#[test]
fun set_entry_values_accepts_65_536_bytes() {
    let mut stage = schedule_runner::start();
    // In addition to the text, the values have 1 byte for the number of ports, 2 for the name, 1
    // for the kind of value, and 3 for its length.
    let schedule = stage.create_with(hourly(), 0, 0, port(b"a", text(65_529, 49)));
    // Values that replace earlier values do not count in addition to the earlier values.
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.set_entry_values(0, port(b"a", text(65_529, 50)), ctx);
    });
    stage.end();
}

#[test, expected_failure(abort_code = schedule::EValuesTooLarge)]
fun set_entry_values_rejects_larger_values() {
    let mut stage = schedule_runner::start();
    stage.create_with(hourly(), 0, 0, port(b"a", text(65_530, 49)));
    abort
}

#[test, expected_failure(abort_code = schedule::EValuesTooLarge)]
fun add_entry_values_limits_the_total_size() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create_with(hourly(), 0, 0, port(b"a", text(40_000, 49)));
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.set_entry_values(1, port(b"a", text(30_000, 49)), ctx);
    });
    abort
}

#[test]
fun create_accepts_a_group_of_32_vertices() {
    let mut stage = schedule_runner::start();
    let large = schedule_runner::publish(stage.runner(), b"xyz.example.large@1", 32);
    stage.with_dag(large);
    stage.create(hourly());
    stage.end();
}

#[test, expected_failure(abort_code = schedule::ETooManyEntries)]
fun create_rejects_a_group_of_33_vertices() {
    let mut stage = schedule_runner::start();
    let large = schedule_runner::publish(stage.runner(), b"xyz.example.large@1", 33);
    stage.with_dag(large);
    stage.create(hourly());
    abort
}

#[test, expected_failure(abort_code = schedule::ETooManyEntries)]
fun set_entry_values_rejects_a_33rd_vertex() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        32u64.do!(|i| schedule.set_entry_values(i as u16 + 1, port(b"a", b"1"), ctx));
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun set_entry_values_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| {
        schedule.set_entry_values(0, port(b"a", b"2"), ctx);
    });
    abort
}

// === Leaders ===

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun set_leader_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    let max = stage.max();
    stage.keeper_tx!(ALICE, schedule, max, |schedule, _, _, leader, _, ctx| {
        schedule.set_leader(leader, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ESameLeader)]
fun set_backup_rejects_the_first_leader() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.set_backup(leader, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ELeaderNotActive)]
fun set_leader_rejects_an_inactive_leader() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.runner().leader_tx!(LEE, lee, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.set_leader(leader, ctx);
    });
    abort
}

// === Keepers ===

#[test, expected_failure(abort_code = schedule::ELeaderNotListed)]
fun trigger_rejects_an_unlisted_leader() {
    let (mut stage, schedule) = hourly_one();
    let (lee, max) = (stage.lee(), stage.max());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.set_leader(leader, ctx);
    });
    stage.keeper_tx!(@0x2, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger(registry, dag, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ELeaderNotListed)]
fun trigger_by_anyone_rejects_an_unlisted_leader() {
    let (mut stage, schedule) = hourly_one();
    let (lee, max) = (stage.lee(), stage.max());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.set_leader(leader, ctx);
    });
    stage.keeper_tx!(BOB, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_anyone(registry, dag, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotWorker)]
fun trigger_rejects_a_sender_that_is_not_a_worker() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.keeper_tx!(ALICE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger(registry, dag, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotWorker)]
fun trigger_by_event_rejects_a_sender_that_is_not_a_worker() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event()), stage.lee());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_event(registry, dag, leader, 1, 1, 1, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::EWrongDag)]
fun trigger_rejects_another_workflow() {
    let (mut stage, schedule) = hourly_one();
    let other = schedule_runner::publish(stage.runner(), b"xyz.example.other@1", 1);
    stage.wait_until(FIRST_MS);
    stage.with_dag(other);
    stage.trigger(schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::EEventSchedule)]
fun trigger_rejects_an_event_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    stage.trigger(schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::ENotEventSchedule)]
fun trigger_by_event_rejects_planned_times() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_event(registry, dag, leader, 1, 1, 1, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun trigger_rejects_a_registry_of_another_version() {
    let (mut stage, schedule) = hourly_one();
    stage.runner().tx!(ALICE, |_, leaders, _, _| leaders.set_version_for_testing(2));
    stage.trigger(schedule);
    abort
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun trigger_fails_while_the_registry_does_not_accept() {
    let (mut stage, schedule) = hourly_one();
    stage.runner().configure_leaders(false);
    stage.trigger(schedule);
    abort
}

// === Owner ===

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun pause_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| schedule.pause(ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::EAlreadyPaused)]
fun pause_rejects_a_paused_schedule() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.pause(ctx);
        schedule.pause(ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun resume_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.pause(ctx));
    stage.schedule_tx!(ALICE, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ENotPaused)]
fun resume_rejects_an_active_schedule() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::EScheduleCancelled)]
fun resume_rejects_a_cancelled_schedule() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.pause(ctx);
        schedule.cancel(ctx);
        schedule.resume(clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun cancel_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::EScheduleCancelled)]
fun cancel_rejects_a_cancelled_schedule() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        schedule.cancel(ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::EScheduleCancelled)]
fun refill_rejects_a_cancelled_schedule() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        schedule.refill(mint(1, ctx));
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun delete_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.delete(ALICE, schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::EScheduleNotCancelled)]
fun delete_rejects_a_schedule_that_is_not_cancelled() {
    let (mut stage, schedule) = hourly_one();
    stage.delete(BOB, schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::EExecutionsNotCollected)]
fun delete_rejects_a_schedule_with_uncollected_executions() {
    let (mut stage, schedule) = hourly_one();
    stage.wait_until(FIRST_MS);
    stage.start_execution(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.delete(BOB, schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun reset_cursor_rejects_another_sender() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ENotEventSchedule)]
fun reset_cursor_rejects_planned_times() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::EScheduleCancelled)]
fun reset_cursor_rejects_a_cancelled_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun add_times_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| {
        schedule.add_times(vector[1], clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun extend_until_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| {
        schedule.extend_until(1, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun set_max_executions_rejects_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| {
        schedule.set_max_executions(option::none(), clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::EScheduleCancelled)]
fun add_times_rejects_a_cancelled_schedule() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.set_max_executions(option::none(), clock, ctx);
    });
    abort
}

// === Helpers ===

fun hourly_one(): (Stage, ID) {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    (stage, schedule)
}
