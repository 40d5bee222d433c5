#[test_only]
module nexus_tools::signed_outcome_tests;

use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::test_runner::{Self, Runner, alice_and_lee, key, mint, ok, port, sum};
use nexus_tools::tool::Tool;
use nexus_tools::value::Ports;
use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const MUL: vector<u8> = b"xyz.example.mul@1";

// What follows was computed by Python's hashlib and OpenSSL, from the message that is described at
// `signed_outcome`.

/// The public key of the secret key 0x000102…1f.
const PUBLIC_KEY: vector<u8> = x"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
/// The id of the first object that a transaction with the digest 0x0700…00 creates.
const SIGNED_ID: address = @0x3545e4579801a352350fbdef9cfe1130e3c8c662c571f6535501f996395d5dc8;
/// The signature of the answer `ok` with the ports `sum` to the invocation with that id.
const SIGNATURE: vector<u8> =
    x"3910b13a73971c16fe20400e9469571b8a5afbb9259126fb893d4416ff3feb68906d3e0240b8b7f77e74f5b1d9c4c2709b92437ce0a1f7bdbd247984b4331101";

#[test]
fun signed_is_the_answer_to_one_invocation() {
    let invocation = @0x1234.to_id();
    assert_eq!(
        invocation::signed_outcome(invocation, &ok(), &sum()),
        x"6e657875735f746f6f6c733a3a6f7574636f6d650000000000000000000000000000000000000000000000000000000000001234026f6b69b604f6f09726e8656a312e5d7b410aae45fa165dbc417341880073f8b54dad",
    );
}

#[test]
fun signed_answer_is_settled() {
    let (mut runner, lee) = requested_signed();
    assert!(settle_signed(&mut runner, lee, ADD, sum(), PUBLIC_KEY));
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(SIGNED_ID.to_id());
    assert_eq!(invocation.variant(), ok());
    assert_eq!(*invocation.ports(), sum());
    test_scenario::return_shared(invocation);
    runner.end();
}

#[test]
fun signed_answer_is_settled_where_it_need_not_be_signed() {
    let (mut runner, lee) = alice_and_lee();
    add_public_key(&mut runner);
    request_as_signed(&mut runner, lee);
    assert!(settle_signed(&mut runner, lee, ADD, sum(), PUBLIC_KEY));
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ENotSigned)]
fun answer_without_a_signature_is_not_settled() {
    let (mut runner, lee) = requested_signed();
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, leaders, clock, ctx| {
        invocation.settle(leader, leaders, ok(), sum(), clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongTool)]
fun signature_of_another_tool_does_not_count() {
    let (mut runner, lee) = requested_signed();
    runner.register(BOB, MUL, 0, vector[]);
    runner.tool_tx!(BOB, MUL, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, PUBLIC_KEY, ctx);
    });
    settle_signed(&mut runner, lee, MUL, sum(), PUBLIC_KEY);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongSignature)]
fun signature_of_another_answer_does_not_count() {
    let (mut runner, lee) = requested_signed();
    settle_signed(&mut runner, lee, ADD, port(b"result", b"4"), PUBLIC_KEY);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongSignature)]
fun signature_by_a_key_that_was_removed_does_not_count() {
    let (mut runner, lee) = requested_signed();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_key(name, PUBLIC_KEY, ctx));
    settle_signed(&mut runner, lee, ADD, sum(), PUBLIC_KEY);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongSignature)]
fun signature_by_another_key_does_not_count() {
    let (mut runner, lee) = requested_signed();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
    });
    settle_signed(&mut runner, lee, ADD, sum(), key(1));
    runner.end();
}

#[test]
fun answer_need_not_be_signed_to_fail() {
    let (mut runner, lee) = requested_signed();
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, leaders, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"".to_string());
        assert!(invocation.fail(leader, leaders, reason, detail, clock, ctx));
    });
    runner.end();
}

// === Helpers ===

fun add_public_key(runner: &mut Runner) {
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, PUBLIC_KEY, ctx);
    });
}

fun require_signed_outcomes(runner: &mut Runner) {
    add_public_key(runner);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
}

/// The invocation `SIGNED_ID` of a tool whose answers are signed.
fun requested_signed(): (Runner, ID) {
    let (mut runner, lee) = alice_and_lee();
    require_signed_outcomes(&mut runner);
    request_as_signed(&mut runner, lee);
    (runner, lee)
}

/// Requests in a transaction with the digest 0x0700…00: a signature is over the invocation's id.
fun request_as_signed(runner: &mut Runner, lee: ID) {
    let add = runner.id_of(ADD);
    let scenario = runner.next_tx(BOB);
    let tool = scenario.take_shared_by_id<Tool>(add);
    let leader = scenario.take_shared_by_id(lee);
    let leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    let cost_mist = invocation::quote(&leaders, &tool, 13, 100, scenario.ctx());
    let payment = mint(cost_mist, scenario.ctx());
    let id = invocation::request(
        &leaders,
        &tool,
        tool.revision(),
        &leader,
        test_runner::inputs(),
        100,
        payment,
        &clock,
        &mut tx_context::new_from_hint(BOB, 7, 0, 0, 0),
    );
    assert_eq!(id, SIGNED_ID.to_id());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(tool);
}

/// Lets Lee settle the invocation `SIGNED_ID` with `SIGNATURE`.
fun settle_signed(
    runner: &mut Runner,
    lee: ID,
    fqn: vector<u8>,
    ports: Ports,
    key: vector<u8>,
): bool {
    let tool = runner.id_of(fqn);
    let tool = runner.next_tx(LEE).take_shared_by_id<Tool>(tool);
    let mut settled = false;
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, leaders, clock, ctx| {
        settled =
            invocation.settle_signed(
                leader,
                leaders,
                &tool,
                ok(),
                ports,
                key,
                SIGNATURE,
                clock,
                ctx,
            );
    });
    test_scenario::return_shared(tool);
    settled
}
