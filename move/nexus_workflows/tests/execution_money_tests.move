/// Tests of the exact payments of each step of an execution, in MIST.
///
/// Storing a byte costs 7 600 MIST. The record of a run has 316 bytes. The invocation of a run has
/// 469 bytes if it has one leader and an empty path. Each number of a path adds 4 bytes. An attempt
/// costs 9 490 000 MIST. This amount is the sum of the price of 5 000 000 MIST, 3 730 000 MIST for
/// settling and `advance`, and the storage of 100 bytes of an outcome. Failing and `advance` cost
/// 2 730 000 MIST. Each unit of effort costs 350 MIST. A request has 150 units of effort.
#[test_only]
module nexus_workflows::execution_money_tests;

use nexus_tools::test_runner::{assert_paid_at_most, field, port, text, event_bytes};
use nexus_tools::value::{Self, Ports};
use nexus_workflows::dag;
use nexus_workflows::execution;
use nexus_workflows::execution_runner::{
    advance,
    assert_ended,
    start_execution,
    closed_tx,
    fail,
    funds_mist,
    gather,
    last_invocation,
    refill,
    request,
    request_iterations,
    settle,
    terms,
    with_fan,
    with_spread,
    with_wide_fan,
    with_wide_region,
};
use nexus_workflows::schedule_runner::{Self, Stage};
use nexus_workflows::terms as consent;
use std::unit_test::assert_eq;
use sui::event;
use sui::test_scenario;

const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;

const FUNDS_MIST: u64 = 100_000_000;
const PRICE_MIST: u64 = 5_000_000;
const BYTE_MIST: u64 = 7_600;
const EFFORT_MIST: u64 = 350;

/// The payment for `advance`, which is 1 060 gas units and 100 MIST for each of 1 500 bytes of
/// records.
const STEP_MIST: u64 = 1_060_000 + 150_000;
/// The payment for an attempt.
const ATTEMPT_MIST: u64 = PRICE_MIST + 2_520_000 + STEP_MIST + 100 * BYTE_MIST;
/// The payment for requesting an invocation, which is the storage of 469 bytes and the effort.
const INVOCATION_MIST: u64 = 469 * BYTE_MIST + 150 * EFFORT_MIST;
/// The funds that a request requires. The funds cover an attempt, 316 bytes of a record,
/// 1 600 bytes of an invocation, and the effort.
const REQUEST_MIST: u64 = ATTEMPT_MIST + 1_916 * BYTE_MIST + 150 * EFFORT_MIST;
/// The funds that the request of an iteration requires. The record of an iteration has a path with
/// one number.
const ITERATION_MIST: u64 = REQUEST_MIST + 4 * BYTE_MIST;
/// The payment for a refusal, which is the fee of 1 670 000 MIST, the storage of 14 bytes of
/// `price_too_high`, and the effort.
const REFUSAL_MIST: u64 = 1_670_000 + 14 * BYTE_MIST + 150 * EFFORT_MIST;
/// The cost of a request, which is the payment for an attempt and for its invocation.
const REQUESTED_MIST: u64 = ATTEMPT_MIST + INVOCATION_MIST;
/// The cost of opening a region. The value in the region has 312 bytes, and the cursor has
/// 12 bytes. The step has 292 units of effort: 97 for the edge, 44 for the value that the region
/// needs, 124 for opening, and 27 for the vertex that starts.
const REGION_MIST: u64 = 324 * BYTE_MIST + 292 * EFFORT_MIST;
/// The cost of splitting a list of four elements. The list and its variant have 21 bytes, so the
/// payment for 79 of 100 bytes is refunded.
const SPLIT_MIST: u64 = REQUESTED_MIST - 79 * BYTE_MIST + REGION_MIST;
/// The payment for requesting an iteration, which has 320 bytes of a record and 473 bytes of an
/// invocation.
const ITERATION_PAYMENT_MIST: u64 = 793 * BYTE_MIST + 150 * EFFORT_MIST;

/// The cost of a request for an outcome of at most 200 bytes.
const LONG_REQUESTED_MIST: u64 = REQUESTED_MIST + 100 * BYTE_MIST;
/// The funds that `advance` requires for four edges, in addition to its own payment. Each edge can
/// write at most 357 bytes, and has at least 95 units of effort. A missing port would add 12 bytes.
const FAN_MIST: u64 = (4 * 357 + 12) * BYTE_MIST + 4 * 95 * EFFORT_MIST;
/// The payment for four edges, which write 325 bytes each and have 102 units of effort each.
const FAN_PAYMENT_MIST: u64 = 4 * 325 * BYTE_MIST + 4 * 102 * EFFORT_MIST;
/// The funds that `gather` requires for four lists. Each list can write at most 357 bytes, and has
/// at least 95 units of effort.
const GATHER_MIST: u64 = 4 * 357 * BYTE_MIST + 4 * 95 * EFFORT_MIST;
/// The payment for four lists that are delivered to one run. The record of the run has 316 bytes
/// plus 9 bytes for each list. The step has 340 units of effort.
const GATHER_PAYMENT_MIST: u64 = (316 + 4 * 9) * BYTE_MIST + 340 * EFFORT_MIST;

// === Deliveries to one run ===

#[test]
fun owner_pays_for_storage_and_answer_and_receives_the_rest() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    assert_eq!(stage.funds_mist(id), FUNDS_MIST);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        assert_eq!(execution.funds_mist(), FUNDS_MIST - REQUESTED_MIST);
        assert_paid_at_most(LEE, INVOCATION_MIST);
        assert_paid_at_most(BOB, 0);
    });
    let invocation = stage.last_invocation();
    assert_eq!(invocation.payment_mist(), ATTEMPT_MIST);
    test_scenario::return_shared(invocation);
    // The variant has 2 bytes and the ports have 11 bytes. So the payment for 87 of 100 bytes is
    // refunded.
    let refund_mist = FUNDS_MIST - REQUESTED_MIST + 87 * BYTE_MIST;
    stage.settle(b"ok", port(b"result", b"3"));
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        assert!(execution.advance(dag, invocation, clock, ctx));
        assert_eq!(invocation.payment_mist(), 0);
        assert_eq!(execution.funds_mist(), 0);
        assert_paid_at_most(EVE, STEP_MIST);
        assert_paid_at_most(BOB, refund_mist);
        let ended = vector[
            field(id),
            field(object::id(dag)),
            field(BOB),
            field(b"completed"),
            field(1u64),
            field(refund_mist),
            field(1_000_000u64),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionEnded>(), ended);
    });
    stage.end();
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun request_pays_no_less_than_the_storage() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms());
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        execution.request(dag, tool, leader, 0, vector[], clock, ctx);
        assert_paid_at_most(LEE, INVOCATION_MIST - 1);
    });
    abort
}

#[test]
fun request_succeeds_with_the_exact_funds() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_funds(REQUEST_MIST));
    assert!(stage.request(LEE, id));
    // The funds were sufficient, so no event reports a shortage.
    assert_eq!(event::events_by_type<execution::ExecutionUnderfunded>().length(), 0);
    assert_eq!(stage.funds_mist(id), REQUEST_MIST - REQUESTED_MIST);
    stage.end();
}

#[test]
fun request_emits_underfunded_when_one_mist_is_missing() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_funds(REQUEST_MIST - 1));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(!execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        let short = vector[field(id), field(BOB), field(REQUEST_MIST), field(REQUEST_MIST - 1)];
        assert_eq!(event_bytes<execution::ExecutionUnderfunded>(), short.flatten());
        assert_eq!(execution.funds_mist(), REQUEST_MIST - 1);
        assert_paid_at_most(LEE, 0);
    });
    stage.refill(id, 1);
    assert!(stage.request(LEE, id));
    stage.end();
}

#[test]
fun refusal_costs_the_fail_fee_and_the_bytes_of_its_reason() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_prices(vector[PRICE_MIST - 1]));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        assert!(execution.is_ended());
        assert_eq!(event::events_by_type<execution::ExecutionEnded>().length(), 1);
        assert_paid_at_most(LEE, REFUSAL_MIST);
        assert_paid_at_most(BOB, FUNDS_MIST - REFUSAL_MIST);
    });
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun refused_run_is_retried_only_after_a_delay() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms().with_prices(vector[PRICE_MIST - 1]));
    assert!(stage.request(LEE, id));
    assert_eq!(stage.funds_mist(id), FUNDS_MIST - REFUSAL_MIST);
    // The second attempt is possible only after 5 s.
    assert!(!stage.request(LEE, id));
    stage.runner().advance(5_000);
    assert!(stage.request(LEE, id));
    stage.assert_ended(id);
    stage.end();
}

#[test, expected_failure(abort_code = execution::EInsufficientFunds)]
fun request_requires_funds_for_its_effort() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_funds(25_000_000));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        execution.records_mut().add_effort(20_000);
        execution.request(dag, tool, leader, 0, vector[], clock, ctx);
    });
    abort
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun refusal_pays_no_less_than_its_cost() {
    let mut stage = schedule_runner::start();
    let id = stage.start_execution(terms().with_prices(vector[PRICE_MIST - 1]));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        execution.request(dag, tool, leader, 0, vector[], clock, ctx);
        assert_paid_at_most(LEE, REFUSAL_MIST - 1);
    });
    abort
}

#[test]
fun second_attempt_costs_the_same_without_a_new_record() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.fail();
    assert!(stage.advance(EVE, id));
    // The payment for the attempt was refunded, except the fee for failing and the payment for
    // `advance`.
    let left_mist = FUNDS_MIST - INVOCATION_MIST - 1_520_000 - STEP_MIST;
    assert_eq!(stage.funds_mist(id), left_mist);
    stage.runner().advance(5_000);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        assert_eq!(execution.funds_mist(), left_mist - REQUESTED_MIST);
        assert_paid_at_most(LEE, INVOCATION_MIST);
    });
    let invocation = stage.last_invocation();
    assert_eq!(invocation.attempt().destroy_some().number(), 2);
    assert_eq!(invocation.payment_mist(), ATTEMPT_MIST);
    test_scenario::return_shared(invocation);
    stage.end();
}

// === Effects of an outcome ===

/// Each of the four edges writes 325 bytes and has 102 units of effort. The answer has the maximum
/// size of 200 bytes, so only the payment for `advance` is refunded.
#[test]
fun advance_pays_for_its_effects() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let funds_mist = LONG_REQUESTED_MIST + FAN_MIST;
    let id = stage.start_execution(terms().with_outcome_bytes(200).with_funds(funds_mist));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", port(b"out", text(190, 49)));
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        assert!(execution.advance(dag, invocation, clock, ctx));
        assert_eq!(execution.funds_mist(), FAN_MIST - FAN_PAYMENT_MIST);
        assert_paid_at_most(EVE, STEP_MIST + FAN_PAYMENT_MIST);
    });
    stage.end();
}

/// Each of the 32 edges has 95 units of effort, and 2 units for the only port of the answer. Each
/// target vertex has 20 units, and 5 units for each of its 26 ports. The total is 7 904 of at most
/// 8 000 units.
#[test]
fun check_accepts_a_step_at_the_effort_limit() {
    let mut stage = schedule_runner::start();
    stage.with_wide_fan(26);
    stage.end();
}

#[test, expected_failure(abort_code = dag::EStepTooLarge)]
fun check_rejects_a_step_above_the_effort_limit() {
    let mut stage = schedule_runner::start();
    stage.with_wide_fan(27);
    abort
}

/// Each of the 32 edges has 95 units of effort. For each edge, two lookups of the region have
/// 20 units each, and the required port of the region has 2 units. The target vertex of each edge
/// has 20 units plus 5 units per port. All edges together have 64 units for the port of the answer.
#[test]
fun check_accepts_a_region_step_at_the_effort_limit() {
    let mut stage = schedule_runner::start();
    stage.with_wide_region(18, 2);
    stage.end();
}

#[test, expected_failure(abort_code = dag::EStepTooLarge)]
fun check_rejects_a_region_step_above_the_effort_limit() {
    let mut stage = schedule_runner::start();
    stage.with_wide_region(19, 2);
    abort
}

#[test]
fun advance_waits_until_the_funds_cover_its_effects() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let funds_mist = LONG_REQUESTED_MIST + FAN_MIST - 1;
    let id = stage.start_execution(terms().with_outcome_bytes(200).with_funds(funds_mist));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", port(b"out", text(190, 49)));
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        assert!(!execution.advance(dag, invocation, clock, ctx));
        let needed_mist = STEP_MIST + FAN_MIST;
        let short = vector[field(id), field(BOB), field(needed_mist), field(needed_mist - 1)];
        assert_eq!(event_bytes<execution::ExecutionUnderfunded>(), short.flatten());
        // The unspent payment was not withdrawn from the invocation.
        assert_eq!(invocation.payment_mist(), STEP_MIST);
        assert_eq!(execution.funds_mist(), FAN_MIST - 1);
        assert_paid_at_most(EVE, 0);
    });
    stage.refill(id, 1);
    assert!(stage.advance(EVE, id));
    assert_eq!(stage.funds_mist(id), FAN_MIST - FAN_PAYMENT_MIST);
    stage.end();
}

#[test]
fun cancel_refunds_all_funds_that_are_not_in_flight() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let id = stage.start_execution(terms());
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", port(b"out", b"1"));
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        execution.cancel(clock, ctx);
        let refunded = vector[field(id), field(BOB), field(FUNDS_MIST - REQUESTED_MIST)];
        assert_eq!(event_bytes<execution::ExecutionRefunded>(), refunded.flatten());
        assert_eq!(execution.funds_mist(), 0);
        assert_paid_at_most(BOB, FUNDS_MIST - REQUESTED_MIST);
    });
    stage.closed_tx!(EVE, id, |execution, dag, invocation, clock, ctx| {
        assert!(execution.advance(dag, invocation, clock, ctx));
        assert_eq!(event::events_by_type<execution::ExecutionUnderfunded>().length(), 0);
        // The answer has 10 of the maximum 100 bytes.
        assert_paid_at_most(EVE, STEP_MIST);
        assert_paid_at_most(BOB, 90 * BYTE_MIST);
    });
    stage.assert_ended(id);
    stage.end();
}

// === Iterations ===

#[test]
fun request_iterations_requests_two_of_four_when_funds_cover_two() {
    let mut stage = schedule_runner::start();
    let id = stage.split_in(4, SPLIT_MIST + 2 * ITERATION_MIST);
    assert_eq!(stage.funds_mist(id), 2 * ITERATION_MIST);
    assert_eq!(stage.request_iterations(id, 32), 2);
    let left_mist = ITERATION_MIST - ATTEMPT_MIST - ITERATION_PAYMENT_MIST;
    assert_eq!(stage.funds_mist(id), 2 * left_mist);
    stage.end();
}

#[test]
fun request_iterations_requests_one_when_one_mist_is_missing() {
    let mut stage = schedule_runner::start();
    let id = stage.split_in(4, SPLIT_MIST + 2 * ITERATION_MIST - 1);
    assert_eq!(stage.request_iterations(id, 32), 1);
    stage.end();
}

/// The page has about 20 000 bytes, and a request also pays for reading the page.
#[test]
fun request_iterations_requests_two_when_funds_cover_reading() {
    let mut stage = schedule_runner::start();
    stage.with_wide_region(18, 30);
    let mut read_mist = 0;
    let measured = stage.start_execution(terms());
    stage.execution_tx!(LEE, measured, |_, dag, tool, _, _, ctx| {
        read_mist = consent::request_read_mist(dag, tool, 1, ctx);
    });
    assert!(read_mist > 0);
    stage.split_list(measured);
    let spent_mist = FUNDS_MIST - stage.funds_mist(measured) + read_mist;
    let short = stage.start_execution(terms().with_funds(spent_mist + 2 * ITERATION_MIST - 1));
    stage.split_list(short);
    assert_eq!(stage.request_iterations(short, 32), 1);
    let enough = stage.start_execution(terms().with_funds(spent_mist + 2 * ITERATION_MIST));
    stage.split_list(enough);
    assert_eq!(stage.request_iterations(enough, 32), 2);
    // These funds are 1 MIST less than one iteration requires.
    let underfunded = stage.start_execution(terms().with_funds(spent_mist + ITERATION_MIST - 1));
    stage.split_list(underfunded);
    stage.execution_tx!(LEE, underfunded, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, 1, vector[], 32, clock, ctx);
        assert_eq!(n, 0);
        assert_eq!(event::events_by_type<execution::ExecutionUnderfunded>().length(), 1);
    });
    stage.end();
}

#[test]
fun request_iterations_requests_one_when_funds_cover_one() {
    let mut stage = schedule_runner::start();
    let id = stage.split_in(4, SPLIT_MIST + ITERATION_MIST);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, 1, vector[], 32, clock, ctx);
        assert_eq!(n, 1);
        assert_eq!(event::events_by_type<execution::ExecutionUnderfunded>().length(), 0);
        assert_paid_at_most(LEE, ITERATION_PAYMENT_MIST);
    });
    stage.end();
}

#[test]
fun request_iterations_emits_underfunded_when_funds_cover_none() {
    let mut stage = schedule_runner::start();
    let id = stage.split_in(4, SPLIT_MIST + ITERATION_MIST - 1);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, 1, vector[], 32, clock, ctx);
        assert_eq!(n, 0);
        let short = vector[field(id), field(BOB), field(ITERATION_MIST), field(ITERATION_MIST - 1)];
        assert_eq!(event_bytes<execution::ExecutionUnderfunded>(), short.flatten());
        assert_eq!(execution.funds_mist(), ITERATION_MIST - 1);
    });
    stage.refill(id, 1);
    assert_eq!(stage.request_iterations(id, 32), 1);
    stage.end();
}

#[test]
fun request_iterations_requests_at_most_32() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let id = stage.start_execution(
        terms().with_funds(2_000_000_000).with_outcome_bytes(200).with_steps(50),
    );
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(40));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.request_iterations(id, 5), 5);
    assert_eq!(stage.request_iterations(id, 100), 32);
    assert_eq!(stage.request_iterations(id, 100), 3);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        // All iterations were requested, so the funds do not affect the result.
        let n = execution.request_iterations(dag, tool, leader, 1, vector[], 1, clock, ctx);
        assert_eq!(n, 0);
        assert_paid_at_most(LEE, 0);
    });
    stage.end();
}

// === Gathering ===

#[test]
fun gather_pays_for_its_effects() {
    let mut stage = schedule_runner::start();
    let id = stage.finish_region_with(GATHER_MIST);
    stage.execution_tx!(EVE, id, |execution, dag, _, _, clock, ctx| {
        assert!(execution.gather(dag, 0, vector[], clock, ctx));
        assert_eq!(execution.funds_mist(), GATHER_MIST - GATHER_PAYMENT_MIST);
        assert_paid_at_most(EVE, GATHER_PAYMENT_MIST);
    });
    stage.end();
}

#[test]
fun gather_waits_until_the_funds_cover_its_effects() {
    let mut stage = schedule_runner::start();
    let id = stage.finish_region_with(GATHER_MIST - 1);
    stage.execution_tx!(EVE, id, |execution, dag, _, _, clock, ctx| {
        assert!(!execution.gather(dag, 0, vector[], clock, ctx));
        let short = vector[field(id), field(BOB), field(GATHER_MIST), field(GATHER_MIST - 1)];
        assert_eq!(event_bytes<execution::ExecutionUnderfunded>(), short.flatten());
        assert_eq!(event::events_by_type<execution::RegionGathered>().length(), 0);
        assert_eq!(execution.funds_mist(), GATHER_MIST - 1);
        assert_paid_at_most(EVE, 0);
    });
    stage.refill(id, 1);
    assert!(stage.gather(id));
    assert_eq!(stage.funds_mist(id), GATHER_MIST - GATHER_PAYMENT_MIST);
    stage.end();
}

// === Helpers ===

/// Run the step that splits a list of two elements, in an execution that has started.
fun split_list(stage: &mut Stage, id: ID) {
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(2));
    assert!(stage.advance(LEE, id));
}

use fun advance as Stage.advance;
use fun assert_ended as Stage.assert_ended;
use fun start_execution as Stage.start_execution;
use fun closed_tx as Stage.closed_tx;
use fun finish_region_with as Stage.finish_region_with;
use fun fail as Stage.fail;
use fun funds_mist as Stage.funds_mist;
use fun gather as Stage.gather;
use fun last_invocation as Stage.last_invocation;
use fun refill as Stage.refill;
use fun request as Stage.request;
use fun request_iterations as Stage.request_iterations;
use fun settle as Stage.settle;
use fun split_in as Stage.split_in;
use fun with_fan as Stage.with_fan;
use fun with_spread as Stage.with_spread;
use fun with_wide_fan as Stage.with_wide_fan;
use fun split_list as Stage.split_list;
use fun with_wide_region as Stage.with_wide_region;

/// Return a port whose value is a list of `length` numbers.
fun list(length: u64): Ports {
    let numbers = vector::tabulate!(length, |_| vector[b"1"]);
    value::empty_ports().with(b"out", value::inline_list(numbers))
}

/// Return an execution that has these funds and has split a list.
fun split_in(stage: &mut Stage, length: u64, funds_mist: u64): ID {
    stage.with_spread(4, false);
    let id = stage.start_execution(terms().with_funds(funds_mist));
    assert!(stage.request(LEE, id));
    stage.settle(b"ok", list(length));
    assert!(stage.advance(LEE, id));
    id
}

/// Return an execution whose only iteration is closed without a value, and its remaining funds.
///
/// A list of one element and its variant have 12 bytes, so the payment for 88 of 100 bytes is
/// refunded. The outcome of the iteration has 100 bytes.
fun finish_region_with(stage: &mut Stage, funds_mist: u64): ID {
    let split_mist = REQUESTED_MIST - 88 * BYTE_MIST + REGION_MIST;
    let iteration_mist = ATTEMPT_MIST + ITERATION_PAYMENT_MIST;
    let id = stage.split_in(1, split_mist + iteration_mist + funds_mist);
    assert_eq!(stage.request_iterations(id, 1), 1);
    stage.settle(b"none", port(b"out", vector::tabulate!(89, |_| 0x31)));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.funds_mist(id), funds_mist);
    id
}
