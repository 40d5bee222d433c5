/// Tests of executions of a workflow with one vertex. The tests cover the start, the steps and the
/// end, and the accounts that may call each function.
#[test_only]
module nexus_workflows::execution_tests;

use nexus_tools::invocation;
use nexus_tools::leader::Leader;
use nexus_tools::state;
use nexus_tools::test_runner::{Self, field, mint, port, text, event_bytes};
use nexus_tools::value;
use nexus_workflows::dag::Dag;
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::execution_runner::{
    advance,
    assert_ended,
    start_execution,
    last_invocation,
    request,
    request_iterations,
    settle,
    terms,
    with_spread,
};
use nexus_workflows::schedule_runner::{Self, Stage};
use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::event;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;
const MAX: address = @0x2;

const FLOW_2: vector<u8> = b"xyz.example.other@1";
const OTHER: vector<u8> = b"xyz.example.other_tool@1";

const DAY_MS: u64 = 86_400_000;
const HOUR_MS: u64 = 3_600_000;
const FUNDS_MIST: u64 = 100_000_000;
const PRICE_MIST: u64 = 5_000_000;
const MAX_OUTCOME_BYTES: u64 = 100;

// === Beginning ===

#[test, expected_failure(abort_code = execution::ESettingsChanged)]
fun start_rejects_an_old_settings_revision() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_revision(1);
    stage.start_execution(terms);
    abort
}

#[test, expected_failure(abort_code = execution::EUnknownGroup)]
fun start_rejects_an_unknown_group() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_group(1);
    stage.start_execution(terms);
    abort
}

#[test, expected_failure(abort_code = execution::ELengthMismatch)]
fun start_rejects_a_missing_maximum_price() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_prices(vector[]);
    stage.start_execution(terms);
    abort
}

#[test, expected_failure(abort_code = execution::EDurationTooLong)]
fun start_rejects_more_than_90_days() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_duration(90 * DAY_MS + 1);
    stage.start_execution(terms);
    abort
}

#[test, expected_failure(abort_code = execution::EOutcomeLimitTooLarge)]
fun start_rejects_outcomes_above_the_port_limit() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_outcome_bytes(65_537);
    stage.start_execution(terms);
    abort
}

#[test, expected_failure(abort_code = execution::ELeaderNotActive)]
fun start_rejects_an_inactive_leader() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.runner().leader_tx!(LEE, lee, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.start_execution(terms());
    abort
}

#[test, expected_failure(abort_code = execution::EValuesAlreadySet)]
fun add_entry_values_rejects_a_second_call() {
    let mut stage = schedule_runner::start();
    stage.start_execution(terms().with_values(0, port(b"a", b"1")));
    abort
}

#[test, expected_failure(abort_code = execution::EValuesTooLarge)]
fun add_entry_values_limits_the_total_size() {
    let mut stage = schedule_runner::start();
    // The entry values of vertex 0 have 6 bytes. The other entry values have 8 bytes in addition to
    // their strings.
    let terms = terms()
        .with_values(1, port(b"a", text(40_000, 49)))
        .with_values(2, port(b"a", text(25_514, 49)))
        .with_values(3, port(b"a", b"1"));
    stage.start_execution(terms);
    abort
}

#[test, expected_failure(abort_code = execution::EAlreadyShared)]
fun add_entry_values_rejects_a_shared_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        execution.add_entry_values(1, port(b"a", b"1"));
    });
    abort
}

#[test, expected_failure(abort_code = execution::ESameLeader)]
fun set_backup_rejects_the_first_leader() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, leader, _, ctx| {
        execution.set_backup(leader, ctx);
    });
    abort
}

#[test]
fun owner_sets_other_leaders() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let (lee, max) = (stage.lee(), stage.max());
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.set_leader(leader, ctx));
    stage.leaders_tx!(BOB, id, lee, |execution, leader, ctx| execution.set_backup(leader, ctx));
    // Lee's leader is the backup, whose workers may request runs.
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    let invocation = stage.last_invocation();
    assert_eq!(invocation.leaders(), vector[max, lee]);
    test_scenario::return_shared(invocation);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ELeaderNotActive)]
fun set_leader_rejects_an_inactive_leader() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let max = stage.max();
    stage.runner().leader_tx!(MAX, max, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.set_leader(leader, ctx));
    abort
}

#[test, expected_failure(abort_code = execution::ELeaderNotActive)]
fun set_backup_rejects_an_inactive_leader() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let max = stage.max();
    stage.runner().leader_tx!(MAX, max, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.set_backup(leader, ctx));
    abort
}

#[test]
fun start_accepts_90_days_and_the_largest_ports() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_duration(90 * DAY_MS).with_outcome_bytes(65_536));
    stage.runner().advance(90 * DAY_MS - 1);
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| assert!(!execution.is_ended()));
    stage.runner().advance(1);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| {
        execution.expire(clock);
        assert_eq!(event::events_by_type<execution::ExecutionStopped>(), vector[]);
    });
    stage.assert_ended(id);
    stage.end();
}

// === Requests ===

#[test, expected_failure(abort_code = execution::EWrongDag)]
fun request_rejects_another_workflow() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let other = schedule_runner::publish(stage.runner(), FLOW_2, 1);
    stage.with_dag(other);
    stage.request(LEE, id);
    abort
}

#[test, expected_failure(abort_code = execution::EWrongTool)]
fun request_rejects_another_tool() {
    let mut stage = schedule_runner::start();
    let (lee, id) = (stage.lee(), stage.start_execution(terms()));
    stage.runner().register(ALICE, OTHER, 0, vector[lee]);
    let other = stage.runner().id_of(OTHER);
    let dag = stage.dag();
    let scenario = stage.runner().next_tx(LEE);
    let tool = scenario.take_shared_by_id<nexus_tools::tool::Tool>(other);
    let leader = scenario.take_shared_by_id<Leader>(lee);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let clock = scenario.take_shared<Clock>();
    let mut execution = scenario.take_shared_by_id<Execution>(id);
    execution.request(&dag, &tool, &leader, 0, vector[], &clock, scenario.ctx());
    abort
}

#[test]
fun request_has_no_effect_for_an_unlisted_leader() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let max = stage.max();
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.set_leader(leader, ctx));
    // The call returns false instead of aborting, so a batch with other steps can succeed.
    assert!(!stage.request(LEE, id));
    stage.end();
}

#[test]
fun request_iterations_has_no_effect_for_an_unlisted_leader() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    let numbers = value::inline_list(vector[vector[b"1"], vector[b"2"]]);
    stage.settle(b"ok", value::empty_ports().with(b"out", numbers));
    assert!(stage.advance(LEE, id));
    let max = stage.max();
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.set_leader(leader, ctx));
    assert_eq!(stage.request_iterations(id, 2), 0);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ENotWorker)]
fun request_rejects_another_sender() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.request(EVE, id);
    abort
}

#[test, expected_failure(abort_code = execution::EWrongVersion)]
fun request_rejects_an_execution_of_a_newer_version() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        execution.set_version_for_testing(2);
    });
    stage.request(LEE, id);
    abort
}

#[test]
fun request_has_no_effect_for_a_run_that_is_not_ready() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(BOB, id));
    assert!(!stage.request(LEE, id));
    stage.end();
}

#[test]
fun request_waits_for_a_refill() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_funds(PRICE_MIST));
    assert!(!stage.request(LEE, id));
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, ctx| {
        execution.refill(mint(FUNDS_MIST, ctx));
        let refilled = vector[field(id), field(FUNDS_MIST), field(PRICE_MIST + FUNDS_MIST)];
        assert_eq!(event_bytes<execution::ExecutionRefilled>(), refilled.flatten());
        assert_eq!(execution.funds_mist(), PRICE_MIST + FUNDS_MIST);
    });
    assert!(stage.request(LEE, id));
    stage.end();
}

#[test]
fun request_refuses_a_tool_above_the_maximum_price() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_prices(vector[PRICE_MIST - 1]));
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_refuses_an_unregistered_tool() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().unregister(ALICE, b"xyz.example.add@1");
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_refuses_a_tool_that_accepts_no_listed_leader() {
    let mut stage = schedule_runner::start();
    let (lee, id) = (stage.lee(), stage.start_execution(terms()));
    stage.runner().tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, _, _, ctx| {
        tool.remove_leader(name, lee, ctx);
    });
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_refuses_a_tool_with_larger_outcomes() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, MAX_OUTCOME_BYTES + 1, ctx);
    });
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_invokes_a_tool_that_signs() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, test_runner::key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    assert!(stage.request(LEE, id));
    let invocation = stage.last_invocation();
    assert!(invocation.requires_signed_outcome());
    test_scenario::return_shared(invocation);
    stage.end();
}

#[test]
fun request_refuses_a_signing_tool_without_a_key() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, test_runner::key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
        tool.remove_key(name, test_runner::key(1), ctx);
    });
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_above_the_step_limit_ends_the_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_steps(0));
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_after_the_deadline_expires_the_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().advance(HOUR_MS);
    assert!(!stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_iterations_has_no_effect_outside_regions() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, 0, vector[], 32, clock, ctx);
        assert_eq!(n, 0);
        assert!(!execution.gather(dag, 0, vector[], clock, ctx));
    });
    stage.end();
}

// === Closings ===

#[test]
fun last_answer_ends_the_execution_and_refunds_the_owner() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.run_to_end(id, true);
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = invocation::EIsAttempt)]
fun delete_rejects_an_attempt_of_an_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let invocation = stage.run_to_end(id, true);
    stage.runner().delete(BOB, invocation);
    abort
}

#[test, expected_failure(abort_code = state::ENotFailed)]
fun reason_rejects_an_answer() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.run_to_end(id, true);
    stage.last_invocation().state().reason();
    abort
}

#[test]
fun attempt_returns_its_execution_and_run() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    let invocation = stage.last_invocation();
    let attempt = invocation.attempt().destroy_some();
    assert_eq!(attempt.execution(), id);
    assert_eq!(attempt.number(), 1);
    assert_eq!(attempt.run().vertex(), 0);
    assert!(invocation.requester() == BOB);
    test_scenario::return_shared(invocation);
    stage.end();
}

#[test]
fun advance_waits_for_the_windows_and_then_expires() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    assert!(!stage.advance(EVE, id));
    stage.runner().advance(60_000);
    assert!(stage.advance(EVE, id));
    // A second call has no effect.
    assert!(!stage.advance(EVE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = execution::EWrongDag)]
fun advance_rejects_another_workflow() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    let other = schedule_runner::publish(stage.runner(), FLOW_2, 1);
    stage.with_dag(other);
    stage.advance(LEE, id);
    abort
}

#[test, expected_failure(abort_code = execution::EWrongExecution)]
fun advance_rejects_an_invocation_of_another_execution() {
    let mut stage = schedule_runner::start();
    let (one, other) = (stage.start_execution(terms()), stage.start_execution(terms()));
    assert!(stage.request(LEE, one));
    stage.advance(LEE, other);
    abort
}

// === Ends ===

#[test]
fun runs_in_flight_are_closed_after_cancel() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        assert!(!execution.is_ended());
        let stopped = vector[field(id), field(b"cancelled".to_ascii_string())];
        assert_eq!(event_bytes<execution::ExecutionStopped>(), stopped.flatten());
    });
    assert!(!stage.request(LEE, id));
    stage.runner().advance(60_000);
    assert!(stage.advance(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ENotOwner)]
fun cancel_rejects_another_sender() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = execution::EExecutionEnded)]
fun cancel_rejects_an_ended_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.run_to_end(id, false);
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = execution::EExecutionEnded)]
fun refill_rejects_an_ended_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.run_to_end(id, true);
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, ctx| execution.refill(mint(1, ctx)));
    abort
}

#[test, expected_failure(abort_code = execution::EDeadlineNotReached)]
fun expire_rejects_an_execution_before_its_deadline() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().advance(HOUR_MS - 1);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| execution.expire(clock));
    abort
}

#[test]
fun anyone_may_expire_an_overdue_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().advance(HOUR_MS);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| {
        execution.expire(clock);
        assert_eq!(event::events_by_type<execution::ExecutionStopped>(), vector[]);
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun runs_in_flight_are_closed_after_the_deadline() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.runner().advance(HOUR_MS);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| {
        execution.expire(clock);
        assert!(!execution.is_ended());
        let stopped = vector[field(id), field(b"timed_out".to_ascii_string())];
        assert_eq!(event_bytes<execution::ExecutionStopped>(), stopped.flatten());
    });
    assert!(stage.advance(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

// === Helpers ===

use fun start_execution as Stage.start_execution;
use fun request as Stage.request;
use fun request_iterations as Stage.request_iterations;
use fun settle as Stage.settle;
use fun with_spread as Stage.with_spread;
use fun last_invocation as Stage.last_invocation;
use fun advance as Stage.advance;
use fun assert_ended as Stage.assert_ended;

/// Run a transaction of `$sender` on an execution and a leader.
macro fun leaders_tx(
    $self: &mut Stage,
    $sender: address,
    $execution: ID,
    $leader: ID,
    $f: |&mut Execution, &Leader, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.runner().next_tx($sender);
    let leader = scenario.take_shared_by_id<Leader>($leader);
    let mut execution = scenario.take_shared_by_id<Execution>($execution);
    $f(&mut execution, &leader, scenario.ctx());
    test_scenario::return_shared(execution);
    test_scenario::return_shared(leader);
}

use fun leaders_tx as Stage.leaders_tx;
