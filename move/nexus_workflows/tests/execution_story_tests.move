/// Tests of complete executions, from start to end, with all events.
#[test_only]
module nexus_workflows::execution_story_tests;

use nexus_tools::leader::Leader;
use nexus_tools::run;
use nexus_tools::test_runner::{assert_paid_at_most, field, port, event_bytes};
use nexus_tools::value::{Self, Ports};
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::execution_runner::{
    advance,
    assert_ended,
    start_execution,
    change,
    closed_tx,
    fail,
    failure,
    gather,
    request,
    request_iterations,
    settle,
    terms,
    with_fan,
    with_nothing_to_do,
    with_spread,
};
use nexus_workflows::records;
use nexus_workflows::schedule_runner::{Self, Stage};
use std::unit_test::assert_eq;
use sui::event;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";

const START_MS: u64 = 1_000_000;
const HOUR_MS: u64 = 3_600_000;
const FUNDS_MIST: u64 = 100_000_000;
const PRICE_MIST: u64 = 5_000_000;
/// The payment for `advance`, which is 1 060 gas units and 150 000 MIST.
const STEP_MIST: u64 = 1_060_000 + 150_000;

const SPLIT: u16 = 0;
const EACH: u16 = 1;
const JOIN: u16 = 2;

// === Whole executions ===

#[test]
fun list_is_split_and_gathered_with_an_event_for_each_step() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let (dag, lee) = (stage.dag(), stage.lee());
    let (split, join) = (run::new(SPLIT, vector[]), run::new(JOIN, vector[]));
    let (iterations, region) = (run::new(EACH, vector[]), records::instance(0, vector[]));

    let id = stage.start_execution(terms());
    let started = vector[
        field(id),
        field(dag),
        field(b"xyz.example.spread@1"),
        field(BOB),
        field(option::none<ID>()),
        field(vector[lee]),
        field(0u8),
        field(FUNDS_MIST),
        field(START_MS + HOUR_MS),
        change(vector[split], vector[], vector[], vector[]),
    ].flatten();
    assert_eq!(event_bytes<execution::ExecutionStarted>(), started);

    assert!(stage.request(LEE, id));
    let invocation = stage.settle(b"ok", list(2));
    stage.closed_tx!(EVE, id, |execution, dag, closed, clock, ctx| {
        assert!(execution.advance(dag, closed, clock, ctx));
        let change = change(vector[], vector[iterations], vector[], vector[]);
        let advanced = vector[field(id), field(invocation), field(split), change].flatten();
        assert_eq!(event_bytes<execution::ExecutionAdvanced>(), advanced);
        assert!(!execution.is_ended());
    });

    assert_eq!(stage.request_iterations(id, 1), 1);
    let invocation = stage.settle(b"ok", port(b"out", b"5"));
    stage.closed_tx!(EVE, id, |execution, dag, closed, clock, ctx| {
        assert!(execution.advance(dag, closed, clock, ctx));
        // One run is still ready.
        let change = change(vector[], vector[iterations], vector[], vector[]);
        let first = run::new(EACH, vector[0]);
        let advanced = vector[field(id), field(invocation), field(first), change].flatten();
        assert_eq!(event_bytes<execution::ExecutionAdvanced>(), advanced);
    });
    assert!(!stage.gather(id));
    assert_eq!(event::events_by_type<execution::RegionGathered>().length(), 0);

    // The failure is unhandled, but does not end the execution.
    assert_eq!(stage.request_iterations(id, 1), 1);
    let invocation = stage.fail();
    stage.closed_tx!(EVE, id, |execution, dag, closed, clock, ctx| {
        assert!(execution.advance(dag, closed, clock, ctx));
        let second = run::new(EACH, vector[1]);
        let failed = failure(second, b"unreachable");
        let change = change(vector[], vector[], vector[region], failed);
        let advanced = vector[field(id), field(invocation), field(second), change].flatten();
        assert_eq!(event_bytes<execution::ExecutionAdvanced>(), advanced);
    });

    stage.execution_tx!(EVE, id, |execution, dag, _, _, clock, ctx| {
        assert!(execution.gather(dag, 0, vector[], clock, ctx));
        let change = change(vector[join], vector[], vector[], vector[]);
        let gathered = vector[field(id), field(region), change].flatten();
        assert_eq!(event_bytes<execution::RegionGathered>(), gathered);
    });

    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, JOIN, vector[], clock, ctx));
    });
    stage.settle(b"ok", port(b"out", b"6"));
    stage.runner().advance(7_000);
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        let before_mist = execution.funds_mist() + invocation.payment_mist();
        assert!(execution.advance(dag, invocation, clock, ctx));
        let ended = vector[
            field(id),
            field(object::id(dag)),
            field(BOB),
            field(b"completed_with_failures"),
            field(4u64),
            field(before_mist - STEP_MIST),
            field(START_MS + 7_000),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
        assert_eq!(execution.ended_at_ms(), option::some(START_MS + 7_000));
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun execution_without_runs_ends_at_the_start() {
    let mut stage = schedule_runner::start();
    stage.with_nothing_to_do();
    let id = stage.start_execution(terms());
    let ended = vector[
        field(id),
        field(stage.dag()),
        field(BOB),
        field(b"completed"),
        field(0u64),
        field(FUNDS_MIST),
        field(START_MS),
    ].flatten();
    assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
    assert_paid_at_most(BOB, FUNDS_MIST);
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun gathering_a_region_without_targets_ends_the_execution() {
    let mut stage = schedule_runner::start();
    stage.with_spread(0, false);
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(0));
    assert!(stage.advance(LEE, id));
    stage.execution_tx!(EVE, id, |execution, dag, _, _, clock, ctx| {
        assert!(!execution.is_ended());
        assert!(execution.gather(dag, 0, vector[], clock, ctx));
        assert!(execution.is_ended());
        assert_eq!(execution.progress().status(), b"completed".to_ascii_string());
        assert_paid_at_most(EVE, 0);
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun gather_has_no_effect_after_cancel() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(0));
    assert!(stage.advance(LEE, id));
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    assert!(!stage.gather(id));
    assert_eq!(event::events_by_type<execution::RegionGathered>().length(), 0);
    // The funds were returned to the owner, so no event reports a shortage.
    assert_eq!(event::events_by_type<execution::ExecutionUnderfunded>().length(), 0);
    stage.end();
}

// === Attempts ===

#[test]
fun failed_run_is_retried_after_5_seconds() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.runner().advance(2_000);
    stage.fail();
    stage.runner().advance(1_000);
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        assert!(execution.advance(dag, invocation, clock, ctx));
        let split = run::new(SPLIT, vector[]);
        let record = execution.progress().records().run_record(split);
        assert_eq!(record.attempt(), 2);
        // The retry delay starts with the call of `advance`, not with the failure.
        assert_eq!(record.not_before_ms(), START_MS + 8_000);
    });
    stage.assert_requested_5_seconds_later(id);
    stage.end();
}

#[test]
fun answer_without_a_port_is_retried_after_5_seconds() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", port(b"other", b"1"));
    stage.runner().advance(3_000);
    assert!(stage.advance(EVE, id));
    stage.assert_requested_5_seconds_later(id);
    stage.end();
}

#[test]
fun refused_run_is_retried_after_5_seconds() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms());
    stage.set_price(PRICE_MIST + 1);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, SPLIT, vector[], clock, ctx));
        let split = run::new(SPLIT, vector[]);
        let refused = vector[
            field(id),
            field(split),
            field(b"price_too_high"),
            change(vector[split], vector[], vector[], vector[]),
        ].flatten();
        assert_eq!(event_bytes<execution::RunRefused>(), refused);
        let record = execution.progress().records().run_record(split);
        assert_eq!(record.refusal(), b"price_too_high".to_ascii_string());
        assert_eq!(record.not_before_ms(), START_MS + 5_000);
        assert!(!execution.is_ended());
    });
    stage.set_price(PRICE_MIST);
    stage.assert_requested_5_seconds_later(id);
    stage.end();
}

#[test]
fun advance_expires_an_attempt_after_its_window() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    // The window is the timeout of 10 s plus 15 s for network latency.
    stage.runner().advance(24_999);
    assert!(!stage.advance(EVE, id));
    stage.runner().advance(1);
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        assert!(execution.advance(dag, invocation, clock, ctx));
        let run = run::new(0, vector[]);
        let change = change(vector[], vector[], vector[], failure(run, b"expired"));
        let id_of = field(object::id(invocation));
        let advanced = vector[field(id), id_of, field(run), change].flatten();
        assert_eq!(event_bytes<execution::ExecutionAdvanced>(), advanced);
        let ended = vector[
            field(id),
            field(object::id(dag)),
            field(BOB),
            field(b"terminated"),
            field(1u64),
            // The refund is the total funds minus the cost of the 469 bytes of the undeleted
            // invocation, of the effort of its request, and of `advance`.
            field(FUNDS_MIST - 469 * 7_600 - 150 * 350 - STEP_MIST),
            field(START_MS + 25_000),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
    });
    stage.end();
}

// === Refusals ===

#[test]
fun refusal_of_a_terminating_run_ends_the_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_prices(vector[PRICE_MIST - 1]));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        let run = run::new(0, vector[]);
        let refused = vector[
            field(id),
            field(run),
            field(b"price_too_high"),
            change(vector[], vector[], vector[], failure(run, b"price_too_high")),
        ].flatten();
        assert_eq!(event_bytes<execution::RunRefused>(), refused);
        let ended = vector[
            field(id),
            field(object::id(dag)),
            field(BOB),
            field(b"terminated"),
            field(1u64),
            field(98_171_100u64),
            field(START_MS),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
    });
    stage.end();
}

#[test]
fun step_above_the_limit_is_refused_and_paid_once() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms().with_steps(1));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(3));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.request_iterations(id, 3), 1);
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun request_iterations_stops_at_the_step_limit() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms().with_steps(3).with_funds(2 * FUNDS_MIST));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(4));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.request_iterations(id, 4), 2);
    stage.end();
}

#[test]
fun step_above_the_limit_ends_an_execution_that_failures_do_not_end() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms().with_steps(2));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(2));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.request_iterations(id, 1), 1);
    stage.settle(b"ok", port(b"out", b"5"));
    assert!(stage.advance(LEE, id));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, EACH, vector[], 1, clock, ctx);
        assert_eq!(n, 1);
        let second = run::new(EACH, vector[1]);
        let refused = vector[
            field(id),
            field(second),
            field(b"too_many_steps"),
            change(
                vector[],
                vector[],
                vector[records::instance(0, vector[])],
                failure(second, b"too_many_steps"),
            ),
        ].flatten();
        assert_eq!(event_bytes<execution::RunRefused>(), refused);
        assert!(execution.is_ended());
        assert_eq!(execution.progress().status(), b"terminated".to_ascii_string());
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun another_refusal_in_the_last_step_does_not_end_the_execution() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms().with_steps(2));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(2));
    assert!(stage.advance(LEE, id));
    stage.set_price(PRICE_MIST + 1);
    assert_eq!(stage.request_iterations(id, 1), 1);
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, _| {
        assert!(!execution.is_ended());
        assert!(!execution.progress().is_ending());
        assert!(execution.progress().records().run_record(run::new(EACH, vector[0])).is_closed());
    });
    stage.end();
}

#[test]
fun refused_run_with_an_error_edge_starts_other_runs() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let id = stage.start_execution(terms().with_prices(vector[PRICE_MIST - 1]));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        let ready = vector[1, 2, 3, 4].map!(|vertex| run::new(vertex, vector[]));
        let refused = vector[
            field(id),
            field(run::new(0, vector[])),
            field(b"price_too_high"),
            change(ready, vector[], vector[], vector[]),
        ].flatten();
        assert_eq!(event_bytes<execution::RunRefused>(), refused);
        // The cost is the sum of the fee, 14 bytes of the reason, 325 bytes for each record, and
        // 566 units of effort.
        assert_eq!(execution.funds_mist(), FUNDS_MIST - 11_854_500);
        assert_paid_at_most(LEE, 1_670_000 + 106_400 + 9_880_000 + 198_100);
    });
    stage.end();
}

// === Ends ===

#[test]
fun cancel_refunds_all_funds_and_emits_an_event() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().advance(9_000);
    stage.execution_tx!(BOB, id, |execution, dag, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        let ended = vector[
            field(id),
            field(object::id(dag)),
            field(BOB),
            field(b"cancelled"),
            field(0u64),
            field(FUNDS_MIST),
            field(START_MS + 9_000),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
        assert_eq!(execution.ended_at_ms(), option::some(START_MS + 9_000));
        assert_paid_at_most(BOB, FUNDS_MIST);
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun expire_emits_an_event() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.runner().advance(HOUR_MS);
    stage.execution_tx!(EVE, id, |execution, dag, _, _, clock, _| {
        execution.expire(clock);
        let ended = vector[
            field(id),
            field(object::id(dag)),
            field(BOB),
            field(b"timed_out"),
            field(0u64),
            field(FUNDS_MIST),
            field(START_MS + HOUR_MS),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
    });
    stage.end();
}

#[test, expected_failure(abort_code = execution::EExecutionEnded)]
fun expire_rejects_an_ended_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    stage.runner().advance(HOUR_MS);
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, _| execution.expire(clock));
    abort
}

#[test]
fun request_has_no_effect_after_the_end_and_the_deadline() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    stage.runner().advance(HOUR_MS);
    assert!(!stage.request(LEE, id));
    assert_eq!(event::events_by_type<execution::ExecutionEnded>().length(), 0);
    stage.end();
}

// === Leaders ===

#[test]
fun set_leader_emits_an_event() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    let (lee, max) = (stage.lee(), stage.max());
    stage.execution_tx!(BOB, id, |execution, _, _, leader, _, ctx| {
        execution.set_leader(leader, ctx);
        let changed = vector[field(id), field(vector[lee])].flatten();
        assert_eq!(event_bytes<execution::ExecutionLeadersChanged>(), changed);
    });
    stage.max_tx!(BOB, id, |execution, leader, ctx| {
        execution.set_backup(leader, ctx);
        let changed = vector[field(id), field(vector[lee, max])].flatten();
        assert_eq!(event_bytes<execution::ExecutionLeadersChanged>(), changed);
    });
    // A worker of the backup leader may request runs.
    stage.max_request(id);
    stage.end();
}

#[test, expected_failure(abort_code = execution::ESameLeader)]
fun set_backup_rejects_the_first_leader_with_two_leaders() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.max_tx!(BOB, id, |execution, leader, ctx| execution.set_backup(leader, ctx));
    stage.execution_tx!(BOB, id, |execution, _, _, leader, _, ctx| {
        execution.set_backup(leader, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = execution::ENotOwner)]
fun set_leader_rejects_another_sender() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(LEE, id, |execution, _, _, leader, _, ctx| {
        execution.set_leader(leader, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = execution::EExecutionEnded)]
fun set_leader_rejects_an_ended_execution() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(BOB, id, |execution, _, _, leader, clock, ctx| {
        execution.cancel(clock, ctx);
        execution.set_leader(leader, ctx);
    });
    abort
}

// === Helpers ===

use fun advance as Stage.advance;
use fun assert_ended as Stage.assert_ended;
use fun assert_requested_5_seconds_later as Stage.assert_requested_5_seconds_later;
use fun start_execution as Stage.start_execution;
use fun closed_tx as Stage.closed_tx;
use fun fail as Stage.fail;
use fun gather as Stage.gather;
use fun max_request as Stage.max_request;
use fun max_tx as Stage.max_tx;
use fun request as Stage.request;
use fun request_iterations as Stage.request_iterations;
use fun set_price as Stage.set_price;
use fun settle as Stage.settle;
use fun with_fan as Stage.with_fan;
use fun with_nothing_to_do as Stage.with_nothing_to_do;
use fun with_spread as Stage.with_spread;

/// Return a port whose value is a list of `length` numbers.
fun list(length: u64): Ports {
    let numbers = vector::tabulate!(length, |_| vector[b"1"]);
    value::empty_ports().with(b"out", value::inline_list(numbers))
}

fun set_price(stage: &mut Stage, price_mist: u64) {
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, price_mist, ctx);
    });
}

fun assert_requested_5_seconds_later(stage: &mut Stage, id: ID) {
    stage.runner().advance(4_999);
    assert!(!stage.request(LEE, id));
    stage.runner().advance(1);
    assert!(stage.request(LEE, id));
}

/// Run a transaction of `$sender` on an execution and Max's leader.
macro fun max_tx(
    $stage: &mut Stage,
    $sender: address,
    $execution: ID,
    $f: |&mut Execution, &Leader, &mut TxContext|,
) {
    let stage = $stage;
    let max = stage.max();
    let scenario = stage.runner().next_tx($sender);
    let leader = scenario.take_shared_by_id<Leader>(max);
    let mut execution = scenario.take_shared_by_id<Execution>($execution);
    $f(&mut execution, &leader, scenario.ctx());
    test_scenario::return_shared(execution);
    test_scenario::return_shared(leader);
}

fun max_request(stage: &mut Stage, id: ID) {
    let max = stage.max();
    let leader = stage.runner().next_tx(MAX).take_shared_by_id<Leader>(max);
    stage.execution_tx!(MAX, id, |execution, dag, tool, _, clock, ctx| {
        assert!(execution.request(dag, tool, &leader, 0, vector[], clock, ctx));
    });
    test_scenario::return_shared(leader);
}
