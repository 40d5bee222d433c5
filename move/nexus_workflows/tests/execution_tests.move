/// Executions of a workflow with one vertex: who begins, carries and ends them, and what they cost.
#[test_only]
module nexus_workflows::execution_tests;

use nexus_tools::invocation;
use nexus_tools::leader::Leader;
use nexus_tools::state;
use nexus_tools::test_runner::{Self, field, mint, port, text, told};
use nexus_tools::value;
use nexus_workflows::dag::Dag;
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::execution_runner::{
    advance,
    assert_ended,
    begin,
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
fun owner_consents_to_the_settings_of_today() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_revision(1);
    stage.begin(terms);
    abort
}

#[test, expected_failure(abort_code = execution::ENoGroup)]
fun group_is_one_of_the_workflow() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_group(1);
    stage.begin(terms);
    abort
}

#[test, expected_failure(abort_code = execution::ELengthMismatch)]
fun each_tool_has_a_highest_price() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_prices(vector[]);
    stage.begin(terms);
    abort
}

#[test, expected_failure(abort_code = execution::ETooLong)]
fun execution_does_not_last_longer_than_90_days() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_time(90 * DAY_MS + 1);
    stage.begin(terms);
    abort
}

#[test, expected_failure(abort_code = execution::EOutcomeLimitTooLarge)]
fun outcome_has_no_more_bytes_than_ports_may_have() {
    let mut stage = schedule_runner::start();
    let terms = terms().with_outcome_bytes(65_537);
    stage.begin(terms);
    abort
}

#[test, expected_failure(abort_code = execution::ELeaderNotActive)]
fun leader_that_takes_no_invocations_is_not_named() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.runner().leader_tx!(LEE, lee, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.begin(terms());
    abort
}

#[test, expected_failure(abort_code = execution::EValuesGiven)]
fun vertex_gets_its_entry_values_once() {
    let mut stage = schedule_runner::start();
    stage.begin(terms().with_values(0, port(b"a", b"1")));
    abort
}

#[test, expected_failure(abort_code = execution::EValuesTooLarge)]
fun entry_values_are_bounded_together() {
    let mut stage = schedule_runner::start();
    // The values of vertex 0 have 6 bytes, and these 8 more than their texts.
    let terms = terms()
        .with_values(1, port(b"a", text(40_000, 49)))
        .with_values(2, port(b"a", text(25_514, 49)))
        .with_values(3, port(b"a", b"1"));
    stage.begin(terms);
    abort
}

#[test, expected_failure(abort_code = execution::EShared)]
fun owner_gives_no_entry_values_once_the_execution_is_shared() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        execution.give(1, port(b"a", b"1"));
    });
    abort
}

#[test, expected_failure(abort_code = execution::ESameLeader)]
fun backup_is_another_leader() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, leader, _, ctx| {
        execution.name_backup(leader, ctx);
    });
    abort
}

#[test]
fun owner_names_other_leaders() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    let (lee, max) = (stage.lee(), stage.max());
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.name_leader(leader, ctx));
    stage.leaders_tx!(BOB, id, lee, |execution, leader, ctx| execution.name_backup(leader, ctx));
    // Lee is the backup, and may request.
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    let invocation = stage.last_invocation();
    assert_eq!(invocation.leaders(), vector[max, lee]);
    test_scenario::return_shared(invocation);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ELeaderNotActive)]
fun leader_that_takes_no_invocations_is_not_named_later() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    let max = stage.max();
    stage.runner().leader_tx!(MAX, max, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.name_leader(leader, ctx));
    abort
}

#[test, expected_failure(abort_code = execution::ELeaderNotActive)]
fun leader_that_takes_no_invocations_is_no_backup() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    let max = stage.max();
    stage.runner().leader_tx!(MAX, max, |leader, _, _, ctx| leader.deactivate(ctx));
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.name_backup(leader, ctx));
    abort
}

#[test]
fun execution_lasts_90_days_and_has_ports_as_large_as_there_are_at_most() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms().with_time(90 * DAY_MS).with_outcome_bytes(65_536));
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
fun request_is_of_the_workflow_that_was_begun() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    let other = schedule_runner::publish(stage.runner(), FLOW_2, 1);
    stage.with_dag(other);
    stage.request(LEE, id);
    abort
}

#[test, expected_failure(abort_code = execution::EWrongTool)]
fun vertex_is_requested_with_its_own_tool() {
    let mut stage = schedule_runner::start();
    let (lee, id) = (stage.lee(), stage.begin(terms()));
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
fun worker_of_a_leader_that_is_not_named_requests_nothing() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    let max = stage.max();
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.name_leader(leader, ctx));
    // A batch with other steps does not abort by this.
    assert!(!stage.request(LEE, id));
    stage.end();
}

#[test]
fun worker_of_a_leader_that_is_not_named_requests_no_iterations() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.begin(terms());
    assert!(stage.request(LEE, id));
    let numbers = value::inline_list(vector[vector[b"1"], vector[b"2"]]);
    stage.settle(b"ok", value::none().with(b"out", numbers));
    assert!(stage.advance(LEE, id));
    let max = stage.max();
    stage.leaders_tx!(BOB, id, max, |execution, leader, ctx| execution.name_leader(leader, ctx));
    assert_eq!(stage.request_iterations(id, 2), 0);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ENotWorker)]
fun stranger_requests_nothing() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.request(EVE, id);
    abort
}

#[test, expected_failure(abort_code = execution::EWrongVersion)]
fun older_package_does_not_carry_what_a_newer_one_began() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, _| {
        execution.set_version_for_testing(2);
    });
    stage.request(LEE, id);
    abort
}

#[test]
fun run_that_is_not_ready_is_not_requested() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    assert!(stage.request(BOB, id));
    assert!(!stage.request(LEE, id));
    stage.end();
}

#[test]
fun short_funds_request_nothing_until_they_are_filled_up() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms().with_funds(PRICE_MIST));
    assert!(!stage.request(LEE, id));
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, ctx| {
        execution.refill(mint(FUNDS_MIST, ctx));
        let refilled = vector[field(id), field(FUNDS_MIST), field(PRICE_MIST + FUNDS_MIST)];
        assert_eq!(told<execution::ExecutionRefilled>(), refilled.flatten());
        assert_eq!(execution.funds_mist(), PRICE_MIST + FUNDS_MIST);
    });
    assert!(stage.request(LEE, id));
    stage.end();
}

#[test]
fun tool_that_became_too_dear_is_refused_and_the_execution_ends() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms().with_prices(vector[PRICE_MIST - 1]));
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun tool_that_is_unregistered_is_refused() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.runner().unregister(ALICE, b"xyz.example.add@1");
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun tool_that_accepts_no_leader_any_more_is_refused() {
    let mut stage = schedule_runner::start();
    let (lee, id) = (stage.lee(), stage.begin(terms()));
    stage.runner().tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, _, _, ctx| {
        tool.remove_leader(name, lee, ctx);
    });
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun tool_that_asks_for_larger_outcomes_is_refused() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.runner().tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, MAX_OUTCOME_BYTES + 1, ctx);
    });
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun tool_that_signs_is_invoked() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
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
fun tool_that_is_to_sign_and_has_no_key_is_refused() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
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
fun step_beyond_the_last_one_ends_the_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms().with_steps(0));
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_after_the_deadline_ends_the_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.runner().advance(HOUR_MS);
    assert!(!stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun vertex_outside_all_regions_has_no_iterations() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, 0, vector[], 32, clock, ctx);
        assert_eq!(n, 0);
        assert!(!execution.gather(dag, 0, vector[], clock, ctx));
    });
    stage.end();
}

// === Closings ===

#[test]
fun answer_ends_it_and_what_is_left_is_the_owners() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.carry(id, true);
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = invocation::EOfExecution)]
fun owner_does_not_delete_an_attempt_by_itself() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    let invocation = stage.carry(id, true);
    stage.runner().delete(BOB, invocation);
    abort
}

#[test, expected_failure(abort_code = state::ENotFailed)]
fun answer_has_no_reason_of_a_failure() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.carry(id, true);
    stage.last_invocation().state().reason();
    abort
}

#[test]
fun attempt_tells_its_execution_and_run() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
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
fun what_is_under_way_does_not_advance_and_expires_by_it_when_its_windows_are_over() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    assert!(stage.request(LEE, id));
    assert!(!stage.advance(EVE, id));
    stage.runner().advance(60_000);
    assert!(stage.advance(EVE, id));
    // A second time there is nothing to do.
    assert!(!stage.advance(EVE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = execution::EWrongDag)]
fun execution_goes_on_with_its_own_workflow() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    assert!(stage.request(LEE, id));
    let other = schedule_runner::publish(stage.runner(), FLOW_2, 1);
    stage.with_dag(other);
    stage.advance(LEE, id);
    abort
}

#[test, expected_failure(abort_code = execution::EWrongExecution)]
fun invocation_of_one_execution_does_not_advance_another() {
    let mut stage = schedule_runner::start();
    let (one, other) = (stage.begin(terms()), stage.begin(terms()));
    assert!(stage.request(LEE, one));
    stage.advance(LEE, other);
    abort
}

// === Ends ===

#[test]
fun owner_cancels_and_what_is_under_way_is_still_closed() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    assert!(stage.request(LEE, id));
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        assert!(!execution.is_ended());
        let stopped = vector[field(id), field(b"cancelled".to_ascii_string())];
        assert_eq!(told<execution::ExecutionStopped>(), stopped.flatten());
    });
    assert!(!stage.request(LEE, id));
    stage.runner().advance(60_000);
    assert!(stage.advance(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ENotOwner)]
fun stranger_does_not_cancel() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = execution::EEnded)]
fun what_has_ended_is_not_cancelled() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.carry(id, false);
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    abort
}

#[test, expected_failure(abort_code = execution::EEnded)]
fun what_has_ended_is_not_filled_up() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.carry(id, true);
    stage.execution_tx!(BOB, id, |execution, _, _, _, _, ctx| execution.refill(mint(1, ctx)));
    abort
}

#[test, expected_failure(abort_code = execution::ENotOver)]
fun execution_does_not_expire_before_its_deadline() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.runner().advance(HOUR_MS - 1);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| execution.expire(clock));
    abort
}

#[test]
fun anyone_ends_what_lasts_too_long() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    stage.runner().advance(HOUR_MS);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| {
        execution.expire(clock);
        assert_eq!(event::events_by_type<execution::ExecutionStopped>(), vector[]);
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun what_is_under_way_when_the_time_is_over_is_still_closed() {
    let mut stage = schedule_runner::start();
    let id = stage.begin(terms());
    assert!(stage.request(LEE, id));
    stage.runner().advance(HOUR_MS);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| {
        execution.expire(clock);
        assert!(!execution.is_ended());
        let stopped = vector[field(id), field(b"timed_out".to_ascii_string())];
        assert_eq!(told<execution::ExecutionStopped>(), stopped.flatten());
    });
    assert!(stage.advance(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

// === Helpers ===

use fun begin as Stage.begin;
use fun request as Stage.request;
use fun request_iterations as Stage.request_iterations;
use fun settle as Stage.settle;
use fun with_spread as Stage.with_spread;
use fun last_invocation as Stage.last_invocation;
use fun advance as Stage.advance;
use fun assert_ended as Stage.assert_ended;

/// A transaction of `$sender` on an execution and a leader.
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
