/// Tests of the tools `ask` and `wait`, with the ways to end them and the accounts that end them.
#[test_only]
module nexus_tools::waiting_tests;

use nexus_tools::function;
use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::on_chain_call;
use nexus_tools::on_chain_runner;
use nexus_tools::settlement;
use nexus_tools::state::State;
use nexus_tools::test_runner::{Self, Runner, event_bytes, field, mint};
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

/// Request an invocation of a tool with a witness of `waiting`, as Bob.
fun request_tool<W: drop>(inputs: Ports): (Runner, ID, ID) {
    request_tool_with_timeout<W>(inputs, 90 * DAY_MS)
}

/// Request an invocation like `request_tool`, for a tool with this timeout.
fun request_tool_with_timeout<W: drop>(inputs: Ports, timeout_ms: u64): (Runner, ID, ID) {
    let (mut runner, lee) = test_runner::alice_and_lee();
    runner.tx!(ALICE, |tools, _, clock, ctx| {
        let publisher = waiting::publisher_for_testing(ctx);
        let function = function::new<W>(&publisher, vector[], vector[@0x6.to_id()], 1, true);
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
    value::empty_ports()
        .with(b"answerer", json::from_address(EVE))
        .with(b"question", json::from_string(b"Shall we?".to_string()))
}

fun state(runner: &mut Runner, id: ID): State {
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    let state = *invocation.state();
    test_scenario::return_shared(invocation);
    state
}

/// Approve or reject a question, as `sender`.
fun answer(runner: &mut Runner, sender: address, lee: ID, id: ID, yes: bool) {
    on_chain_runner::call_tx!(runner, sender, TOOL, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        let note = b"Why not?".to_string();
        if (yes) waiting::approve(&mut call, note, ctx) else waiting::reject(&mut call, note, ctx);
        call.close_by_anyone(invocation, clock, ctx);
    });
}

/// End an unanswered question after its deadline.
fun expire(runner: &mut Runner, lee: ID, id: ID) {
    on_chain_runner::call_tx!(runner, ALICE, TOOL, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        waiting::expire(&mut call, clock);
        call.close_by_anyone(invocation, clock, ctx);
    });
}

/// End a wait after its end time.
fun finish_wait(runner: &mut Runner, lee: ID, id: ID) {
    on_chain_runner::call_tx!(runner, ALICE, TOOL, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        waiting::finish_wait(&mut call, clock);
        call.close_by_anyone(invocation, clock, ctx);
    });
}

// === Requests ===

#[test]
fun request_of_a_question_emits_an_event() {
    let (runner, _, id) = request_tool<Ask>(question());
    let fields = vector[
        field(id),
        field(runner.id_of(TOOL)),
        field(TOOL.to_ascii_string()),
        field(BOB),
    ].flatten();
    assert_eq!(event_bytes<settlement::InvocationOpened>(), fields);
    runner.end();
}

// === Questions ===

#[test]
fun approve_settles_as_approved() {
    let (mut runner, lee, id) = request_tool<Ask>(question());
    runner.advance(88 * DAY_MS);
    answer(&mut runner, EVE, lee, id, true);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"approved".to_ascii_string());
    let said = value::empty_ports()
        .with(b"answerer", json::from_address(EVE))
        .with(b"note", json::from_string(b"Why not?".to_string()));
    assert_eq!(*state.ports(), said);
    runner.end();
}

#[test]
fun reject_settles_as_rejected() {
    let (mut runner, lee, id) = request_tool<Ask>(question());
    answer(&mut runner, EVE, lee, id, false);
    assert_eq!(state(&mut runner, id).variant(), b"rejected".to_ascii_string());
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ENotAnswerer)]
fun approve_aborts_for_the_requester() {
    let (mut runner, lee, id) = request_tool<Ask>(question());
    answer(&mut runner, BOB, lee, id, true);
    abort
}

#[test]
fun expire_works_after_the_timeout() {
    let (mut runner, lee, id) = request_tool<Ask>(
        question().with(b"timeout_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS);
    expire(&mut runner, lee, id);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"expired".to_ascii_string());
    // The clock of the test ledger starts at 1 000 000 ms.
    assert_eq!(*state.ports(), value::empty_ports().with(b"at_ms", json::from_u64(87_400_000)));
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun expire_aborts_before_the_timeout() {
    let (mut runner, lee, id) = request_tool<Ask>(
        question().with(b"timeout_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS - 1);
    expire(&mut runner, lee, id);
    abort
}

#[test]
fun expire_works_after_89_days_at_most() {
    let within = json::from_u64(1_000 * DAY_MS);
    let (mut runner, lee, id) = request_tool<Ask>(question().with(b"timeout_ms", within));
    runner.advance(89 * DAY_MS);
    expire(&mut runner, lee, id);
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun expire_aborts_before_89_days_without_a_timeout() {
    let (mut runner, lee, id) = request_tool<Ask>(question());
    runner.advance(89 * DAY_MS - 1);
    expire(&mut runner, lee, id);
    abort
}

#[test]
fun expire_works_at_once_when_the_tool_timeout_is_a_day() {
    // The last day is reserved for closing the invocation, so no time remains for waiting.
    let (mut runner, lee, id) = request_tool_with_timeout<Ask>(question(), DAY_MS);
    expire(&mut runner, lee, id);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"expired".to_ascii_string());
    assert_eq!(*state.ports(), value::empty_ports().with(b"at_ms", json::from_u64(1_000_000)));
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun expire_aborts_more_than_a_day_before_the_tool_timeout() {
    let (mut runner, lee, id) = request_tool_with_timeout<Ask>(question(), DAY_MS + 2);
    runner.advance(1);
    expire(&mut runner, lee, id);
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EWrongWitness)]
fun finish_wait_aborts_for_a_question() {
    let inputs = question().with(b"duration_ms", json::from_u64(0));
    let (mut runner, lee, id) = request_tool<Ask>(inputs);
    finish_wait(&mut runner, lee, id);
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EWrongWitness)]
fun approve_aborts_for_a_wait() {
    let inputs = question().with(b"duration_ms", json::from_u64(DAY_MS));
    let (mut runner, lee, id) = request_tool<Wait>(inputs);
    answer(&mut runner, EVE, lee, id, true);
    abort
}

// === Waits ===

#[test]
fun finish_wait_works_after_the_duration() {
    let (mut runner, lee, id) = request_tool<Wait>(
        value::empty_ports().with(b"duration_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS);
    finish_wait(&mut runner, lee, id);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), b"over".to_ascii_string());
    // The clock of the test ledger starts at 1 000 000 ms.
    assert_eq!(*state.ports(), value::empty_ports().with(b"at_ms", json::from_u64(1_000_000 + DAY_MS)));
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun finish_wait_aborts_before_the_duration_ends() {
    let (mut runner, lee, id) = request_tool<Wait>(
        value::empty_ports().with(b"duration_ms", json::from_u64(DAY_MS)),
    );
    runner.advance(DAY_MS - 1);
    finish_wait(&mut runner, lee, id);
    abort
}

#[test]
fun finish_wait_works_at_the_time() {
    let (mut runner, lee, id) = request_tool<Wait>(
        value::empty_ports().with(b"until_ms", json::from_u64(1_000_000 + DAY_MS)),
    );
    runner.advance(DAY_MS);
    finish_wait(&mut runner, lee, id);
    runner.end();
}

#[test, expected_failure(abort_code = waiting::ETooEarly)]
fun finish_wait_aborts_before_the_time() {
    let (mut runner, lee, id) = request_tool<Wait>(
        value::empty_ports().with(b"until_ms", json::from_u64(1_000_000 + DAY_MS)),
    );
    runner.advance(DAY_MS - 1);
    finish_wait(&mut runner, lee, id);
    abort
}

#[test]
fun finish_wait_works_at_once_for_a_past_time() {
    let (mut runner, lee, id) = request_tool<Wait>(
        value::empty_ports().with(b"until_ms", json::from_u64(1)),
    );
    finish_wait(&mut runner, lee, id);
    runner.end();
}

#[test, expected_failure(abort_code = waiting::EInvalidWaitTime)]
fun finish_wait_aborts_without_a_time() {
    let (mut runner, lee, id) = request_tool<Wait>(value::empty_ports());
    finish_wait(&mut runner, lee, id);
    abort
}

#[test, expected_failure(abort_code = waiting::EInvalidWaitTime)]
fun finish_wait_aborts_with_two_times() {
    let time = json::from_u64(1);
    let (mut runner, lee, id) = request_tool<Wait>(
        value::empty_ports().with(b"until_ms", time).with(b"duration_ms", time),
    );
    finish_wait(&mut runner, lee, id);
    abort
}
