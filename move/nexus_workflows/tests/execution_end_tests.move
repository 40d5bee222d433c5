/// Tests of executions that a schedule starts, of their remaining funds, and of their deletion.
#[test_only]
module nexus_workflows::execution_end_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::{Self, LeaderRegistry};
use nexus_tools::run;
use nexus_tools::test_runner::{field, port, event_bytes};
use nexus_tools::version;
use nexus_workflows::dag::Dag;
use nexus_workflows::execution;
use nexus_workflows::execution_runner::{
    advance,
    start_execution,
    change,
    request,
    settle,
    terms,
    with_fan,
    with_nothing_to_do,
};
use nexus_workflows::schedule_runner::{Self, Stage};
use std::unit_test::assert_eq;
use sui::balance;
use sui::clock::Clock;
use sui::sui::SUI;
use sui::test_scenario;

const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;

const START_MS: u64 = 1_000_000;
const FUNDS_MIST: u64 = 30_000_000;
/// The cost of a request. The attempt costs 9 490 000 MIST, which includes 1 060 gas units for
/// `advance`. The invocation has 469 bytes at 7 600 MIST, and 150 units of effort at 350 MIST.
const REQUESTED_MIST: u64 = 9_490_000 + 3_564_400 + 52_500;
const LASTS_MS: u64 = 600_000;
/// The schedule that starts the executions.
const SCHEDULE: address = @0x5C;

// === Settings ===

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun start_fails_while_the_registry_does_not_accept() {
    let mut stage = schedule_runner::start();
    stage.runner().configure_leaders(false);
    stage.start_execution(terms().with_revision(1).with_outcome_bytes(1));
    abort
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun start_rejects_a_registry_of_another_version() {
    let mut stage = schedule_runner::start();
    stage.runner().tx!(EVE, |_, leaders, _, _| leaders.set_version_for_testing(0));
    stage.start_execution(terms());
    abort
}

#[test]
fun execution_keeps_its_settings_after_a_change() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().configure_leaders(false);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        // With the new settings of one MIST per byte, the payment would be less.
        assert_eq!(execution.funds_mist(), 100_000_000 - REQUESTED_MIST);
    });
    stage.end();
}

// === Entry values ===

#[test]
fun entry_returns_the_value_of_a_vertex_and_port() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_values(7, port(b"b", b"22")));
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        let (a, b) = (b"a".to_ascii_string(), b"b".to_ascii_string());
        assert_eq!(execution.entry(0, &a), option::some(port(b"a", b"1").port(&a)));
        assert_eq!(execution.entry(7, &b), option::some(port(b"b", b"22").port(&b)));
        assert_eq!(execution.entry(0, &b), option::none());
        assert_eq!(execution.entry(7, &a), option::none());
        assert_eq!(execution.entry(1, &a), option::none());
        // The entry values of other vertices are not removed.
        execution.remove_entry(7);
        execution.remove_entry(7);
        assert_eq!(execution.entry(7, &b), option::none());
        assert_eq!(execution.entry(0, &a), option::some(port(b"a", b"1").port(&a)));
    });
    stage.end();
}

// === Schedules ===

/// The stored bytes are 143 bytes for the object, 242 bytes for its fields, and 316 bytes for one
/// record.
#[test]
fun start_scheduled_returns_the_stored_bytes() {
    let mut stage = schedule_runner::start();
    let (id, bytes) = stage.start_scheduled();
    assert_eq!(bytes, 701);
    let started = vector[
        field(id),
        field(stage.dag()),
        field(b"xyz.example.flow@1"),
        field(BOB),
        field(option::some(SCHEDULE.to_id())),
        field(vector[stage.lee()]),
        field(0u8),
        field(FUNDS_MIST),
        field(START_MS + LASTS_MS),
        change(vector[run::new(0, vector[])], vector[], vector[], vector[]),
    ].flatten();
    assert_eq!(event_bytes<execution::ExecutionStarted>(), started);
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, _| {
        assert_eq!(execution.owner(), BOB);
        let a = b"a".to_ascii_string();
        assert_eq!(execution.entry(0, &a), option::some(port(b"a", b"1").port(&a)));
        assert_eq!(execution.entry(3, &a), option::some(port(b"a", b"33").port(&a)));
        assert!(!execution.is_collectable_by(SCHEDULE.to_id()));
    });
    // The start already counted the first record, so the requester is not paid for this record.
    assert!(stage.request(LEE, id));
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, _| {
        assert_eq!(execution.funds_mist(), FUNDS_MIST - REQUESTED_MIST);
    });
    stage.end();
}

/// The stored bytes are 143 bytes for the object, 242 bytes for its fields, and 8 bytes for the
/// time.
#[test]
fun scheduled_execution_without_runs_ends_and_keeps_its_funds() {
    let mut stage = schedule_runner::start();
    stage.with_nothing_to_do();
    let (id, bytes) = stage.start_scheduled();
    assert_eq!(bytes, 393);
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, _| {
        assert_eq!(execution.ended_at_ms(), option::some(START_MS));
        assert_eq!(execution.funds_mist(), FUNDS_MIST);
    });
    stage.end();
}

#[test]
fun schedule_collects_an_execution_once() {
    let mut stage = schedule_runner::start();
    let (id, _) = stage.start_scheduled();
    stage.runner().advance(4_000);
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        assert!(!execution.is_collectable_by(SCHEDULE.to_id()));
        execution.cancel(clock, ctx);
        assert!(execution.is_collectable_by(SCHEDULE.to_id()));
        assert!(!execution.is_collectable_by(@0x5D.to_id()));
        let funds = execution.take_free_funds();
        let (status, ended_at_ms) = execution.collect();
        assert_eq!(funds.destroy_for_testing(), FUNDS_MIST);
        assert_eq!(status, b"cancelled".to_ascii_string());
        assert_eq!(ended_at_ms, START_MS + 4_000);
        assert_eq!(execution.funds_mist(), 0);
        assert!(!execution.is_collectable_by(SCHEDULE.to_id()));
    });
    stage.end();
}

#[test]
fun collect_returns_at_most_the_deadline() {
    let mut stage = schedule_runner::start();
    let (id, _) = stage.start_scheduled();
    stage.runner().advance(LASTS_MS + 5_000);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| {
        execution.expire(clock);
        assert_eq!(execution.ended_at_ms(), option::some(START_MS + LASTS_MS + 5_000));
        let funds = execution.take_free_funds();
        let (status, ended_at_ms) = execution.collect();
        assert_eq!(funds.destroy_for_testing(), FUNDS_MIST);
        assert_eq!(status, b"timed_out".to_ascii_string());
        assert_eq!(ended_at_ms, START_MS + LASTS_MS);
    });
    stage.end();
}

// === Deletion ===

#[test]
fun execution_is_empty_without_records_invocations_and_entries() {
    let mut stage = schedule_runner::start();
    let (id, _) = stage.start_scheduled();
    assert!(stage.request(LEE, id));
    let invocation = stage.settle(b"ok", port(b"out", b"1"));
    assert!(stage.advance(LEE, id));
    let invocation = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        // The test removes one record, one invocation and the entry values of two vertices, one
        // after another.
        assert!(!execution.is_empty());
        execution.remove_entry(0);
        assert!(!execution.is_empty());
        execution.remove_entry(3);
        assert!(!execution.is_empty());
        execution.records_mut().remove_run(run::new(0, vector[]));
        assert!(!execution.is_empty());
        execution.delete_invocation(invocation);
        assert!(!execution.is_empty());
        execution.take_free_funds().destroy_for_testing();
        execution.collect();
        assert!(execution.is_empty());
    });
    stage.end();
}

#[test]
fun execution_with_an_entry_value_or_an_invocation_is_not_empty() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    let invocation = stage.settle(b"ok", port(b"out", b"1"));
    assert!(stage.advance(LEE, id));
    let invocation = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        execution.records_mut().remove_run(run::new(0, vector[]));
        assert!(!execution.is_empty());
        execution.delete_invocation(invocation);
        assert!(!execution.is_empty());
        execution.remove_entry(0);
        assert!(execution.is_empty());
    });
    stage.end();
}

#[test]
fun execution_with_records_is_not_empty() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    let invocation = stage.settle(b"ok", port(b"out", b"1"));
    assert!(stage.advance(LEE, id));
    let invocation = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        execution.remove_entry(0);
        execution.delete_invocation(invocation);
        5u64.do!(|i| {
            assert!(!execution.is_empty());
            execution.records_mut().remove_run(run::new(i as u16, vector[]));
        });
        assert!(execution.is_empty());
    });
    stage.end();
}

// === Helpers ===

use fun advance as Stage.advance;
use fun start_execution as Stage.start_execution;
use fun start_scheduled as Stage.start_scheduled;
use fun request as Stage.request;
use fun settle as Stage.settle;
use fun with_fan as Stage.with_fan;
use fun with_nothing_to_do as Stage.with_nothing_to_do;

/// Return an execution of Bob with a duration of 10 minutes and with entry values of two vertices.
/// Also return the number of stored bytes.
fun start_scheduled(stage: &mut Stage): (ID, u64) {
    let (dag, lee) = (stage.dag(), stage.lee());
    let scenario = stage.runner().next_tx(EVE);
    let registry = scenario.take_shared<LeaderRegistry>();
    let leader = scenario.take_shared_by_id<Leader>(lee);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let clock = scenario.take_shared<Clock>();
    let prices = vector[5_000_000];
    let terms =
        execution::create_terms(
            &registry,
            0,
            &dag,
            0,
            &leader,
            prices,
            10_000,
            100,
            10,
            LASTS_MS,
            0,
        );
    let (id, bytes, read_units) = execution::start_scheduled(
        &dag,
        0,
        BOB,
        SCHEDULE.to_id(),
        terms.with_start(clock.timestamp_ms()),
        balance::create_for_testing<SUI>(FUNDS_MIST),
        &vector[0, 3],
        &vector[port(b"a", b"1"), port(b"a", b"33")],
        &clock,
        scenario.ctx(),
    );
    test_scenario::return_shared(clock);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(registry);
    // The fees already cover reading a small workflow, so no gas units are added.
    assert_eq!(read_units, 0);
    (id, bytes)
}
