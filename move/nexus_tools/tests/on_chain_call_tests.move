/// Tests of calls of on-chain tools, with their callers, their payments, and invalid calls.
#[test_only]
module nexus_tools::on_chain_call_tests;

use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::json;
use nexus_tools::on_chain_call;
use nexus_tools::on_chain_runner::{Self, answer_for_another, count};
use nexus_tools::test_runner::{Self, Runner, ok, port, sum};
use nexus_tools::value;
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";
const COUNT: vector<u8> = b"xyz.example.count@1";
const GAS_MIST: u64 = 7_000_000;
const PRICE_MIST: u64 = 5_000;
const DAY_MS: u64 = 86_400_000;

/// Request an invocation of Alice's tool by Lee's leader, as Bob. Leaders or anyone can close it.
fun request_count(closable_by_anyone: bool): (Runner, ID, ID) {
    let (mut runner, lee) = test_runner::alice_and_lee();
    let timeout_ms = if (closable_by_anyone) 30 * DAY_MS else 10_000;
    on_chain_runner::register(&mut runner, COUNT, GAS_MIST, closable_by_anyone, timeout_ms, PRICE_MIST);
    let id = runner.request(BOB, COUNT, vector[lee]);
    (runner, lee, id)
}

fun state(runner: &mut Runner, id: ID): nexus_tools::state::State {
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    let state = *invocation.state();
    sui::test_scenario::return_shared(invocation);
    state
}

// === Leaders ===

#[test]
fun close_settles_and_pays_the_gas_and_the_price() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        assert_eq!(call.invocation(), object::id(invocation));
        assert_eq!(call.requester(), BOB);
        count(&mut call);
        call.close(invocation, leader, clock, ctx);
        assert_eq!(invocation.payment_mist(), 0);
    });
    // The leader receives 3 521 300 MIST for settling, and the gas. The leader also receives
    // 7 600 MIST for each of 2 + 1 + 1 + 6 + 1 + 1 + 8 bytes.
    test_runner::assert_paid_at_most(LEE, 3_521_300 + 20 * 7_600 + GAS_MIST);
    test_runner::assert_paid_at_most(ALICE, PRICE_MIST);
    let state = state(&mut runner, id);
    assert_eq!(state.variant(), ok());
    assert_eq!(*state.ports(), port(b"result", b"12345679"));
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ESignatureOrCallRequired)]
fun settle_aborts_for_an_on_chain_tool() {
    let (mut runner, lee, id) = request_count(false);
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        invocation.settle(leader, ok(), sum(), clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EAlreadyClosed)]
fun close_aborts_for_the_second_call_of_an_invocation() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut first = on_chain_call::open(invocation, tool);
        let mut second = on_chain_call::open(invocation, tool);
        count(&mut first);
        count(&mut second);
        first.close(invocation, leader, clock, ctx);
        second.close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EAlreadyClosed)]
fun open_aborts_for_a_closed_invocation() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let reason = b"aborted".to_ascii_string();
        assert!(invocation.fail(leader, reason, b"It is closed.".to_string(), clock, ctx));
        count(&mut on_chain_call::open(invocation, tool));
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EAlreadyClosed)]
fun close_aborts_after_the_last_window() {
    let (mut runner, lee, id) = request_count(false);
    runner.advance(25_000);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        count(&mut call);
        call.close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::ENotWorker)]
fun close_aborts_for_another_sender() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, MAX, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        count(&mut call);
        call.close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::ELeadersOnly)]
fun close_by_anyone_aborts_when_leaders_close() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, MAX, COUNT, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        count(&mut call);
        call.close_by_anyone(invocation, clock, ctx);
    });
    abort
}

#[test]
fun fail_accepts_the_reason_aborted() {
    let (mut runner, lee, id) = request_count(false);
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        let reason = b"aborted".to_ascii_string();
        assert!(invocation.fail(leader, reason, b"It is closed.".to_string(), clock, ctx));
    });
    assert_eq!(state(&mut runner, id).reason(), b"aborted".to_ascii_string());
    runner.end();
}

// === Anyone ===

#[test]
fun close_by_anyone_pays_the_sender() {
    let (mut runner, lee, id) = request_count(true);
    runner.advance(29 * DAY_MS);
    on_chain_runner::call_tx!(&mut runner, MAX, COUNT, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        assert_eq!(call.expires_at_ms() - call.requested_at_ms(), 30 * DAY_MS);
        count(&mut call);
        call.close_by_anyone(invocation, clock, ctx);
    });
    test_runner::assert_paid_at_most(MAX, 3_521_300 + 20 * 7_600 + GAS_MIST);
    assert!(state(&mut runner, id).is_settled());
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EAlreadyClosed)]
fun close_by_anyone_aborts_after_another_sender_closed_it() {
    let (mut runner, lee, id) = request_count(true);
    on_chain_runner::call_tx!(&mut runner, MAX, COUNT, id, lee, |tool, invocation, _, clock, ctx| {
        let mut first = on_chain_call::open(invocation, tool);
        let mut second = on_chain_call::open(invocation, tool);
        count(&mut first);
        count(&mut second);
        first.close_by_anyone(invocation, clock, ctx);
        second.close_by_anyone(invocation, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EAlreadyClosed)]
fun close_by_anyone_aborts_after_the_timeout() {
    let (mut runner, lee, id) = request_count(true);
    runner.advance(30 * DAY_MS);
    on_chain_runner::call_tx!(&mut runner, MAX, COUNT, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        count(&mut call);
        call.close_by_anyone(invocation, clock, ctx);
    });
    abort
}

#[test]
fun windows_of_two_leaders_divide_the_timeout() {
    let (mut runner, lee) = test_runner::alice_and_lee();
    let max = runner.register_leader(MAX);
    on_chain_runner::register(&mut runner, COUNT, GAS_MIST, true, 30 * DAY_MS, 0);
    let id = runner.request(BOB, COUNT, vector[lee, max]);
    runner.advance(15 * DAY_MS);
    runner.invocation_tx!(MAX, id, max, |invocation, leader, clock, ctx| {
        let reason = b"input_invalid".to_ascii_string();
        assert!(invocation.fail(leader, reason, b"".to_string(), clock, ctx));
    });
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ETooEarly)]
fun fail_aborts_for_the_backup_before_half_of_the_timeout() {
    let (mut runner, lee) = test_runner::alice_and_lee();
    let max = runner.register_leader(MAX);
    on_chain_runner::register(&mut runner, COUNT, GAS_MIST, true, 30 * DAY_MS, 0);
    let id = runner.request(BOB, COUNT, vector[lee, max]);
    runner.advance(15 * DAY_MS - 1);
    runner.invocation_tx!(MAX, id, max, |invocation, leader, clock, ctx| {
        let reason = b"input_invalid".to_ascii_string();
        invocation.fail(leader, reason, b"".to_string(), clock, ctx);
    });
    abort
}

// === Calls ===

#[test, expected_failure(abort_code = on_chain_call::EWrongTool)]
fun open_aborts_for_another_tool() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, ADD, id, lee, |tool, invocation, leader, clock, ctx| {
        on_chain_call::open(invocation, tool).close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = on_chain_call::ENotOnChain)]
fun open_aborts_for_a_tool_over_http() {
    let (mut runner, lee) = test_runner::alice_and_lee();
    let id = runner.request(BOB, ADD, vector[lee]);
    on_chain_runner::call_tx!(&mut runner, LEE, ADD, id, lee, |tool, invocation, leader, clock, ctx| {
        on_chain_call::open(invocation, tool).close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EWrongWitness)]
fun finish_aborts_for_another_witness() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        answer_for_another(&mut call);
        call.close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EAlreadyFinished)]
fun finish_aborts_the_second_time() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        count(&mut call);
        count(&mut call);
        call.close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = on_chain_call::ENotFinished)]
fun close_aborts_without_an_answer() {
    let (mut runner, lee, id) = request_count(false);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        on_chain_call::open(invocation, tool).close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = on_chain_call::EWrongInvocation)]
fun close_aborts_for_another_invocation() {
    let (mut runner, lee, id) = request_count(false);
    let other = runner.request(BOB, COUNT, vector[lee]);
    let other = runner.next_tx(BOB).take_shared_by_id<Invocation>(other);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(&other, tool);
        count(&mut call);
        call.close(invocation, leader, clock, ctx);
    });
    abort
}

#[test]
fun getters_return_inputs_by_name_and_type() {
    let (mut runner, lee) = test_runner::alice_and_lee();
    on_chain_runner::register(&mut runner, COUNT, GAS_MIST, false, 10_000, 0);
    let inputs = value::empty_ports()
        .with(b"a", json::from_u64(1))
        .with(b"text", json::from_string(b"x".to_string()))
        .with(b"yes", json::from_bool(true))
        .with(b"answerer", json::from_address(@0x6))
        .with(b"numbers", json::from_list(vector[json::from_u64(1), json::from_u64(2)]))
        .with(b"texts", json::from_list(vector[json::from_string(b"y".to_string())]))
        .with(b"all", json::from_list(vector[json::from_address(@0x7)]));
    let cost_mist = runner.cost(COUNT, inputs.size(), 100);
    let id = runner.request_for(BOB, COUNT, vector[lee], inputs, 100, cost_mist);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, id, lee, |tool, invocation, leader, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        assert!(call.has(b"text") && !call.has(b"b"));
        assert_eq!(call.get(b"a"), value::inline(b"1"));
        assert_eq!(call.get_u64(b"a"), 1);
        assert_eq!(call.get_string(b"text"), b"x".to_string());
        assert!(call.get_bool(b"yes"));
        assert_eq!(call.get_address(b"answerer"), @0x6);
        assert_eq!(call.length(b"numbers"), 2);
        assert_eq!(call.get_u64s(b"numbers"), vector[1, 2]);
        assert_eq!(call.get_strings(b"texts"), vector[b"y".to_string()]);
        assert_eq!(call.get_addresses(b"all"), vector[@0x7]);
        count(&mut call);
        call.close(invocation, leader, clock, ctx);
    });
    runner.end();
}
