/// Questions and waits: who ends them, and when.
#[test_only]
module nexus_tools::waiting_tests;

use nexus_tools::function;
use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::on_chain_call;
use nexus_tools::on_chain_runner;
use nexus_tools::state::State;
use nexus_tools::test_runner::{Self, Runner, mint};
use nexus_tools::tool;
use nexus_tools::value::{Self, Ports};
use nexus_tools::waiting::{Self, Ask, Wait};
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const EVE: address = @0xE;

const TOOL: vector<u8> = b"xyz.example.waiting@1";
const DAY_MS: u64 = 86_400_000;
const DELAY_MS: u64 = 604_800_000;

/// A tool with a witness of `waiting`, and Bob's invocation of it.
fun requested<W: drop>(inputs: Ports): (Runner, ID, ID) {
    requested_within<W>(inputs, 90 * DAY_MS)
}

/// The same for a tool with another timeout.
fun requested_within<W: drop>(inputs: Ports, timeout_ms: u64): (Runner, ID, ID) {
    let (mut runner, lee) = test_runner::alice_and_lee();
    runner.tx!(ALICE, |tools, _, clock, ctx| {
        let publisher = waiting::publisher_for_testing(ctx);
        let function = function::of<W>(&publisher, vector[], vector[@0x6.to_id()], 1, true);
        publisher.burn();
        let definition = on_chain_runner::define(TOOL, function, timeout_ms);
        let (tool, name) = tool::register(
            tools,
            mint(1_000_000_000, ctx),
            DELAY_MS,
            definition,
            0,
            vector[],
            clock,
            ctx,
        );
        tool.share();
        name.share();
    });
    let cost_mist = runner.cost(TOOL, inputs.size(), 200);
    let id = runner.request_for(BOB, TOOL, vector[lee], inputs, 200, cost_mist);
    (runner, lee, id)
}

fun question(): Ports {
    value::none()
        .with(b"who", json::from_address(EVE))
        .with(b"question", json::from_string(b"Shall we?".to_string()))
}

fun state(runner: &mut Runner, id: ID): State {
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    let state = *invocation.state();
    test_scenario::return_shared(invocation);
    state
}

/// Has somebody answer, yes or no.
fun answer(runner: &mut Runner, sender: address, lee: ID, id: ID, yes: bool) {
    on_chain_runner::call_tx!(runner, sender, TOOL, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        let note = b"Why not?".to_string();
        if (yes) waiting::approve(&mut call, note, ctx) else waiting::reject(&mut call, note, ctx);
        call.close_by_anyone(invocation, clock, ctx);
    });
}

/// Has somebody end a question whose time is over.
fun expire(runner: &mut Runner, lee: ID, id: ID) {
    on_chain_runner::call_tx!(runner, ALICE, TOOL, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        waiting::expire(&mut call, clock);
        call.close_by_anyone(invocation, clock, ctx);
    });
}

/// Has somebody end a wait whose time has come.
fun go_on(runner: &mut Runner, lee: ID, id: ID) {
    on_chain_runner::call_tx!(runner, ALICE, TOOL, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        waiting::go_on(&mut call, clock);
        call.close_by_anyone(invocation, clock, ctx);
    });
}

// === Questions ===

#[test]
fun who_is_asked_says_yes() {
    let (mut runner, lee, id) = requested<Ask>(question());
    runner.advance(88 * DAY_MS);
    answer(&mut runner, EVE, lee, id, true);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"approved".to_ascii_string());
    let said = value::none()
        .with(b"who", json::from_address(EVE))
        .with(b"note", json::from_string(b"Why not?".to_string()));
    assert_eq!(*state.ports(), said);
    runner.end();
}

#[test]
fun who_is_asked_says_no() {
    let (mut runner, lee, id) = requested<Ask>(question());
    answer(&mut runner, EVE, lee, id, false);
    assert_eq!(state(&mut runner, id).variant(), b"rejected".to_ascii_string());
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ENotAsked)]
fun who_asks_has_no_word() {
    let (mut runner, lee, id) = requested<Ask>(question());
    answer(&mut runner, BOB, lee, id, true);
    abort
}

#[test]
fun question_is_over_when_its_time_is() {
    let (mut runner, lee, id) = requested<Ask>(
        question().with(b"within_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS);
    expire(&mut runner, lee, id);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"expired".to_ascii_string());
    // The runner begins at 1 000 000 ms.
    assert_eq!(*state.ports(), value::none().with(b"at_ms", json::from_u64(87_400_000)));
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun question_is_not_over_before() {
    let (mut runner, lee, id) = requested<Ask>(
        question().with(b"within_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS - 1);
    expire(&mut runner, lee, id);
    abort
}

#[test]
fun question_waits_89_days_at_most() {
    let within = json::from_u64(1_000 * DAY_MS);
    let (mut runner, lee, id) = requested<Ask>(question().with(b"within_ms", within));
    runner.advance(89 * DAY_MS);
    expire(&mut runner, lee, id);
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun question_without_a_time_waits_89_days() {
    let (mut runner, lee, id) = requested<Ask>(question());
    runner.advance(89 * DAY_MS - 1);
    expire(&mut runner, lee, id);
    abort
}

#[test]
fun question_with_no_more_than_a_day_does_not_wait() {
    // The last day is for closing it: no time is left to wait.
    let (mut runner, lee, id) = requested_within<Ask>(question(), DAY_MS);
    expire(&mut runner, lee, id);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"expired".to_ascii_string());
    assert_eq!(*state.ports(), value::none().with(b"at_ms", json::from_u64(1_000_000)));
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun question_with_more_than_a_day_waits_the_rest() {
    let (mut runner, lee, id) = requested_within<Ask>(question(), DAY_MS + 2);
    runner.advance(1);
    expire(&mut runner, lee, id);
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EWrongWitness)]
fun question_gets_no_answer_by_time_alone() {
    let inputs = question().with(b"for_ms", json::from_u64(0));
    let (mut runner, lee, id) = requested<Ask>(inputs);
    go_on(&mut runner, lee, id);
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EWrongWitness)]
fun wait_is_not_ended_by_a_word() {
    let inputs = question().with(b"for_ms", json::from_u64(DAY_MS));
    let (mut runner, lee, id) = requested<Wait>(inputs);
    answer(&mut runner, EVE, lee, id, true);
    abort
}

// === Waits ===

#[test]
fun wait_for_a_time_is_over_after_it() {
    let (mut runner, lee, id) = requested<Wait>(
        value::none().with(b"for_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS);
    go_on(&mut runner, lee, id);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"over".to_ascii_string());
    // The runner begins at 1 000 000 ms.
    assert_eq!(*state.ports(), value::none().with(b"at_ms", json::from_u64(1_000_000 + DAY_MS)));
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun wait_for_a_time_is_not_over_before() {
    let (mut runner, lee, id) = requested<Wait>(
        value::none().with(b"for_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS - 1);
    go_on(&mut runner, lee, id);
    abort
}

#[test]
fun wait_until_a_time_is_over_then() {
    let (mut runner, lee, id) = requested<Wait>(
        value::none().with(b"until_ms", json::from_u64(1_000_000 + DAY_MS)),
    );
    runner.advance(DAY_MS);
    go_on(&mut runner, lee, id);
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun wait_until_a_time_is_not_over_before() {
    let (mut runner, lee, id) = requested<Wait>(
        value::none().with(b"until_ms", json::from_u64(1_000_000 + DAY_MS)),
    );
    runner.advance(DAY_MS - 1);
    go_on(&mut runner, lee, id);
    abort
}

#[test]
fun wait_until_a_time_that_has_passed_is_over_at_once() {
    let (mut runner, lee, id) = requested<Wait>(
        value::none().with(b"until_ms", json::from_u64(1)),
    );
    go_on(&mut runner, lee, id);
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ENoTime)]
fun wait_has_a_time() {
    let (mut runner, lee, id) = requested<Wait>(value::none());
    go_on(&mut runner, lee, id);
    abort
}

#[test, expected_failure(abort_code = waiting::ENoTime)]
fun wait_has_no_two_times() {
    let time = json::from_u64(1);
    let (mut runner, lee, id) = requested<Wait>(
        value::none().with(b"until_ms", time).with(b"for_ms", time),
    );
    go_on(&mut runner, lee, id);
    abort
}
