/// What schedules refuse, and to whom.
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
fun the_dearest_schedule_can_be_created() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create_with(hourly(), MOST_EACH_MIST, MOST_FEE_MIST, port(b"a", b"1"));
    stage.wait_until(FIRST_MS);
    assert!(!stage.trigger(schedule));
    stage.end();
}

#[test, expected_failure(abort_code = schedule::ETooDear)]
fun an_execution_gets_a_million_sui_at_most() {
    let mut stage = schedule_runner::start();
    stage.create_with(hourly(), MOST_EACH_MIST + 1, 0, port(b"a", b"1"));
    abort
}

#[test, expected_failure(abort_code = schedule::ETooDear)]
fun a_keeper_gets_one_sui_at_most() {
    let mut stage = schedule_runner::start();
    stage.create_with(hourly(), 0, MOST_FEE_MIST + 1, port(b"a", b"1"));
    abort
}

#[test]
fun entry_values_have_65_536_bytes_at_most() {
    let mut stage = schedule_runner::start();
    // Besides, 1 for how many ports there are, 2 of the name, 1 of the kind of value and 3 for how
    // long it is.
    let schedule = stage.create_with(hourly(), 0, 0, port(b"a", text(65_529, 49)));
    // What is given instead does not count twice.
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.give(0, port(b"a", text(65_529, 50)), ctx);
    });
    stage.end();
}

#[test, expected_failure(abort_code = schedule::EValuesTooLarge)]
fun larger_entry_values_are_refused() {
    let mut stage = schedule_runner::start();
    stage.create_with(hourly(), 0, 0, port(b"a", text(65_530, 49)));
    abort
}

#[test, expected_failure(abort_code = schedule::EValuesTooLarge)]
fun entry_values_are_bounded_together() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create_with(hourly(), 0, 0, port(b"a", text(40_000, 49)));
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.give(1, port(b"a", text(30_000, 49)), ctx);
    });
    abort
}

#[test]
fun a_schedule_begins_with_32_vertices_at_most() {
    let mut stage = schedule_runner::start();
    let large = schedule_runner::publish(stage.runner(), b"xyz.example.large@1", 32);
    stage.with_dag(large);
    stage.create(hourly());
    stage.end();
}

#[test, expected_failure(abort_code = schedule::ETooManyEntries)]
fun more_vertices_than_32_are_refused() {
    let mut stage = schedule_runner::start();
    let large = schedule_runner::publish(stage.runner(), b"xyz.example.large@1", 33);
    stage.with_dag(large);
    stage.create(hourly());
    abort
}

#[test, expected_failure(abort_code = schedule::ETooManyEntries)]
fun values_of_more_vertices_than_32_are_refused() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        32u64.do!(|i| schedule.give(i as u16 + 1, port(b"a", b"1"), ctx));
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun the_owner_alone_gives_values() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| {
        schedule.give(0, port(b"a", b"2"), ctx);
    });
    abort
}

// === Leaders ===

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun the_owner_alone_names_leaders() {
    let (mut stage, schedule) = hourly_one();
    let max = stage.max();
    stage.keeper_tx!(ALICE, schedule, max, |schedule, _, _, leader, _, ctx| {
        schedule.name_leader(leader, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ESameLeader)]
fun a_backup_is_another_leader() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.name_backup(leader, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ELeaderNotActive)]
fun a_leader_that_takes_nothing_is_not_named() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.runner().leader_tx!(LEE, lee, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.name_leader(leader, ctx);
    });
    abort
}

// === Keepers ===

#[test, expected_failure(abort_code = schedule::ENotNamed)]
fun another_leader_does_not_trigger_as_one() {
    let (mut stage, schedule) = hourly_one();
    let (lee, max) = (stage.lee(), stage.max());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.name_leader(leader, ctx);
    });
    stage.keeper_tx!(@0x2, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger(registry, dag, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotNamed)]
fun keeper_shows_a_leader_that_the_schedule_names() {
    let (mut stage, schedule) = hourly_one();
    let (lee, max) = (stage.lee(), stage.max());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.name_leader(leader, ctx);
    });
    stage.keeper_tx!(BOB, schedule, max, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_anyone(registry, dag, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotWorker)]
fun nobody_else_triggers_as_a_leader() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.keeper_tx!(ALICE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger(registry, dag, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotWorker)]
fun nobody_else_tells_events() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event()), stage.lee());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_event(registry, dag, leader, 1, 1, 1, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::EWrongDag)]
fun another_workflow_is_not_begun() {
    let (mut stage, schedule) = hourly_one();
    let other = schedule_runner::publish(stage.runner(), b"xyz.example.other@1", 1);
    stage.wait_until(FIRST_MS);
    stage.with_dag(other);
    stage.trigger(schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::EByEvent)]
fun time_does_not_trigger_what_waits_for_events() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    stage.trigger(schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::ENotByEvent)]
fun no_event_triggers_what_is_planned() {
    let (mut stage, schedule) = hourly_one();
    let lee = stage.lee();
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_event(registry, dag, leader, 1, 1, 1, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun an_older_version_begins_nothing() {
    let (mut stage, schedule) = hourly_one();
    stage.runner().tx!(ALICE, |_, leaders, _, _| leaders.set_version_for_testing(2));
    stage.trigger(schedule);
    abort
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun nothing_begins_while_the_registry_takes_nothing() {
    let (mut stage, schedule) = hourly_one();
    stage.runner().configure_leaders(false);
    stage.trigger(schedule);
    abort
}

// === The owner ===

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun the_owner_alone_pauses() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| schedule.pause(ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::EPaused)]
fun what_is_paused_is_not_paused_again() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.pause(ctx);
        schedule.pause(ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun the_owner_alone_resumes() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.pause(ctx));
    stage.schedule_tx!(ALICE, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ENotPaused)]
fun what_is_not_paused_is_not_resumed() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.resume(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ECancelled)]
fun what_is_cancelled_is_not_resumed() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| {
        schedule.pause(ctx);
        schedule.cancel(ctx);
        schedule.resume(clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun the_owner_alone_cancels() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(ALICE, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ECancelled)]
fun what_is_cancelled_is_not_cancelled_again() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        schedule.cancel(ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ECancelled)]
fun what_is_cancelled_is_not_refilled() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        schedule.refill(mint(1, ctx));
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun the_owner_alone_deletes() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.delete(ALICE, schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::ENotCancelled)]
fun what_is_not_cancelled_is_not_deleted() {
    let (mut stage, schedule) = hourly_one();
    stage.delete(BOB, schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::ENotCollected)]
fun what_is_not_collected_is_waited_for() {
    let (mut stage, schedule) = hourly_one();
    stage.wait_until(FIRST_MS);
    stage.begin(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.delete(BOB, schedule);
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun reset_cursor_refuses_another_sender() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ENotByEvent)]
fun reset_cursor_refuses_planned_times() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ECancelled)]
fun reset_cursor_refuses_a_cancelled_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(on_event());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.schedule_tx!(BOB, schedule, |schedule, clock, ctx| schedule.reset_cursor(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun add_times_refuses_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| {
        schedule.add_times(vector[1], clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun extend_until_refuses_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| {
        schedule.extend_until(1, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ENotOwner)]
fun set_max_executions_refuses_another_sender() {
    let (mut stage, schedule) = hourly_one();
    stage.schedule_tx!(EVE, schedule, |schedule, clock, ctx| {
        schedule.set_max_executions(option::none(), clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = schedule::ECancelled)]
fun a_cancelled_schedule_is_not_extended() {
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
