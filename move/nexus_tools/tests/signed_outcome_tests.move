#[test_only]
module nexus_tools::signed_outcome_tests;

use nexus_tools::attempt;
use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::permit;
use nexus_tools::run;
use nexus_tools::settlement;
use nexus_tools::signed_outcome;
use nexus_tools::test_runner::{Self, Runner, alice_and_lee, key, mint, ok, port, sum};
use nexus_tools::tool::Tool;
use nexus_tools::value::Ports;
use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";

/// The payment of an attempt, in MIST.
const ATTEMPT_MIST: u64 = 100_000_000;
/// The length of a window, which is the timeout of 10 s plus the grace of 15 s.
const WINDOW_MS: u64 = 25_000;

// The constants below were computed with Python's hashlib and with OpenSSL (Python's
// `cryptography`). The message has the format of `signed_outcome::message`, and its BCS bytes were
// written by hand. The inputs are 01 0161 00 08 3132333435363738, the variant is 026f6b, and the
// ports are 01 06726573756c74 00 0133.

/// The public key of the secret key 0x000102…1f.
const PUBLIC_KEY: vector<u8> = x"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
/// The public key of the secret key 0x010203…20.
const SECOND_KEY: vector<u8> = x"79b5562e8fe654f94078b112e8a98ba7901f853ae695bed7e0e3910bad049664";
/// The ID of the first object that a transaction with the digest 0xff00…00 creates. The ID is the
/// BLAKE2b-256 hash of 0xf1, the digest and eight zero bytes.
const SIGNED_ID: address = @0xf0f001538eeb5013bed23c30532512cd8c40500e7e388d0b1e438003e54917ee;
/// The signed message of the answer `ok` with the ports `sum` to `inputs`, for the invocation
/// `SIGNED_ID`.
const MESSAGE: vector<u8> =
    x"6e657875735f746f6f6c733a3a6f7574636f6d65f0f001538eeb5013bed23c30532512cd8c40500e7e388d0b1e438003e54917eeb70e3b0f1ae3cfbd3c7db1e0cbfc199bbf4d76a3e8d6de035cd30bf786d351d9026f6b69b604f6f09726e8656a312e5d7b410aae45fa165dbc417341880073f8b54dad";
/// The signature of `MESSAGE` by the first key.
const SIGNATURE: vector<u8> =
    x"66e6265fe74a61f3f0f6673357b3f3bcbe623cbcd207e0cab91be7c3935569bbae4e1eebbfafebcd6306fdeedb816db793588071f776e1bcc79490e597e46205";
/// The signature of `MESSAGE` by the second key.
const SECOND_SIGNATURE: vector<u8> =
    x"0e3ec69a26edd884b33af49c170186bc867e2569cdd33e8c03cd5f83d53a3752a69677df7a4ea985b4d4132e527d2f47fdbb6bb6758bfe5a93a86ef2e4033d06";
/// The signature of the same answer to the inputs `a: 12345679`, by the first key.
const SIGNATURE_OF_OTHER_INPUTS: vector<u8> =
    x"c05fa50d6a84e422afa8f2a127e7bc04c346f523741832253dbc0c19c75b89581f2dfd14b473f8a40f2e2faf459a892fe57f73be6fbea8cffb8a9902c2f31305";

#[test]
fun message_has_the_documented_bytes() {
    let (mut runner, _) = request_signed_invocation();
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(SIGNED_ID.to_id());
    assert_eq!(*invocation.inputs(), test_runner::inputs());
    assert_eq!(signed_outcome::message(&invocation, &ok(), &sum()), MESSAGE);
    test_scenario::return_shared(invocation);
    runner.end();
}

#[test]
fun settle_accepts_a_signed_answer() {
    let (mut runner, lee) = request_signed_invocation();
    assert!(settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE));
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(SIGNED_ID.to_id());
    assert!(invocation.requires_signed_outcome());
    assert_eq!(invocation.state().variant(), ok());
    assert_eq!(*invocation.state().ports(), sum());
    test_scenario::return_shared(invocation);
    runner.end();
}

#[test]
fun settle_accepts_a_signature_by_any_key() {
    let (mut runner, lee) = request_signed_invocation();
    assert!(settle_signed(&mut runner, lee, sum(), SECOND_KEY, SECOND_SIGNATURE));
    runner.end();
}

#[test]
fun settle_returns_false_the_second_time() {
    let (mut runner, lee) = request_signed_invocation();
    assert!(settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE));
    assert!(!settle_signed(&mut runner, lee, sum(), SECOND_KEY, SECOND_SIGNATURE));
    runner.end();
}

#[test]
fun settle_returns_false_after_the_last_window() {
    let (mut runner, lee) = request_signed_invocation();
    runner.advance(WINDOW_MS);
    assert!(!settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE));
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ESignatureOrCallRequired)]
fun invocation_settle_aborts_when_a_signature_is_required() {
    let (mut runner, lee) = request_signed_invocation();
    settle(&mut runner, lee);
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EInvalidSignature)]
fun settle_rejects_a_signature_of_another_answer() {
    let (mut runner, lee) = request_signed_invocation();
    settle_signed(&mut runner, lee, port(b"result", b"4"), PUBLIC_KEY, SIGNATURE);
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EInvalidSignature)]
fun settle_rejects_a_signature_for_other_inputs() {
    let (mut runner, lee) = request_signed_invocation();
    settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE_OF_OTHER_INPUTS);
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EInvalidSignature)]
fun settle_rejects_a_signature_by_another_key_of_the_tool() {
    let (mut runner, lee) = request_signed_invocation();
    settle_signed(&mut runner, lee, sum(), SECOND_KEY, SIGNATURE);
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EWrongKey)]
fun settle_rejects_an_unknown_key() {
    let (mut runner, lee) = request_signed_invocation();
    settle_signed(&mut runner, lee, sum(), key(1), SIGNATURE);
    runner.end();
}

#[test]
fun fail_works_without_a_signature() {
    let (mut runner, lee) = request_signed_invocation();
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"".to_string());
        assert!(invocation.fail(leader, reason, detail, clock, ctx));
    });
    runner.end();
}

// === Attempts ===

#[test]
fun settle_attempt_pays_for_the_inputs_read() {
    let (mut runner, execution, lee) = request_signed_attempt();
    assert!(settle_attempt(&mut runner, &execution, lee, test_runner::inputs()));
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(SIGNED_ID.to_id());
    assert_eq!(invocation.state().variant(), ok());
    assert_eq!(*invocation.state().ports(), sum());
    // The payment is the price, 2 520 000 MIST for settling, 7 600 MIST for each of 13 bytes, and
    // 400 000 MIST for reading 10 000 bytes.
    let paid_mist = 5_000_000 + 2_520_000 + 98_800 + 400_000;
    assert_eq!(invocation.payment_mist(), ATTEMPT_MIST - paid_mist);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EInvalidSignature)]
fun settle_attempt_rejects_a_signature_for_other_inputs() {
    let (mut runner, execution, lee) = request_signed_attempt();
    settle_attempt(&mut runner, &execution, lee, port(b"a", b"12345679"));
    execution.delete();
    runner.end();
}

#[test]
fun settle_attempt_returns_false_after_the_last_window() {
    let (mut runner, execution, lee) = request_signed_attempt();
    runner.advance(WINDOW_MS);
    assert!(!settle_attempt(&mut runner, &execution, lee, test_runner::inputs()));
    execution.delete();
    runner.end();
}

// === Keys at the time of the request ===

#[test]
fun settle_accepts_a_key_that_was_removed_after_the_request() {
    let (mut runner, lee) = request_signed_invocation();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_key(name, PUBLIC_KEY, ctx));
    assert!(settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE));
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EWrongKey)]
fun settle_rejects_a_key_that_was_removed_before_the_request() {
    let (mut runner, lee) = alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, PUBLIC_KEY, ctx);
        tool.add_key(name, tools, SECOND_KEY, ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
        tool.remove_key(name, PUBLIC_KEY, ctx);
    });
    request_as_signed(&mut runner, lee);
    settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE);
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EWrongKey)]
fun settle_rejects_a_key_that_was_added_after_the_request() {
    let (mut runner, lee) = alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    request_as_signed(&mut runner, lee);
    add_keys(&mut runner);
    settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ESignatureOrCallRequired)]
fun invocation_settle_aborts_if_the_request_required_a_signature() {
    let (mut runner, lee) = request_signed_invocation();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, false, ctx);
    });
    settle(&mut runner, lee);
    runner.end();
}

#[test]
fun invocation_settle_works_when_no_signature_is_required() {
    let (mut runner, lee) = alice_and_lee();
    add_keys(&mut runner);
    request_as_signed(&mut runner, lee);
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(SIGNED_ID.to_id());
    assert!(!invocation.requires_signed_outcome());
    test_scenario::return_shared(invocation);
    assert!(settle(&mut runner, lee));
    runner.end();
}

#[test, expected_failure(abort_code = signed_outcome::EWrongKey)]
fun settle_rejects_keys_when_no_signature_is_required() {
    let (mut runner, lee) = alice_and_lee();
    add_keys(&mut runner);
    request_as_signed(&mut runner, lee);
    settle_signed(&mut runner, lee, sum(), PUBLIC_KEY, SIGNATURE);
    runner.end();
}

// === Helpers ===

fun add_keys(runner: &mut Runner) {
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, PUBLIC_KEY, ctx);
        tool.add_key(name, tools, SECOND_KEY, ctx);
    });
}

fun require_signed_outcomes(runner: &mut Runner) {
    add_keys(runner);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
}

/// Request the invocation `SIGNED_ID` of a tool whose answers are signed by one of two keys.
fun request_signed_invocation(): (Runner, ID) {
    let (mut runner, lee) = alice_and_lee();
    require_signed_outcomes(&mut runner);
    request_as_signed(&mut runner, lee);
    (runner, lee)
}

/// Request an invocation in a transaction with the digest 0xff00…00. The digest determines the
/// invocation's ID, which a signature covers.
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
        leaders.settings().revision(),
        &tool,
        tool.revision(),
        &leader,
        test_runner::inputs(),
        100,
        payment,
        &clock,
        &mut tx_context::new_from_hint(BOB, 0xff, 0, 0, 0),
    );
    assert_eq!(id, SIGNED_ID.to_id());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(tool);
}

/// Settle the invocation `SIGNED_ID` without a signature, as Lee.
fun settle(runner: &mut Runner, lee: ID): bool {
    let mut settled = false;
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        settled = invocation.settle(leader, ok(), sum(), clock, ctx);
    });
    settled
}

/// Settle the invocation `SIGNED_ID` with a signature, as Lee.
fun settle_signed(
    runner: &mut Runner,
    lee: ID,
    ports: Ports,
    key: vector<u8>,
    signature: vector<u8>,
): bool {
    let mut settled = false;
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        settled = signed_outcome::settle(invocation, leader, ok(), ports, key, signature, clock, ctx);
    });
    settled
}

/// Request the attempt `SIGNED_ID`, whose execution supplies the inputs.
fun request_signed_attempt(): (Runner, UID, ID) {
    let (mut runner, lee) = alice_and_lee();
    require_signed_outcomes(&mut runner);
    let add = runner.id_of(ADD);
    let tool = runner.next_tx(ADMIN).take_shared_by_id<Tool>(add);
    let mut execution = option::none();
    runner.admin_tx!(ADMIN, |admin, _, leaders, clock, ctx| {
        let object = object::new(ctx);
        let (run, settlement) = (run::new(0, vector[]), settlement::for_tool(&tool));
        let settings = leaders.settings();
        let (id, _) = invocation::request_attempt(
            permit::grant(admin, ctx),
            attempt::new(object.to_inner(), run, 1, &settlement, settings, ctx),
            &tool,
            BOB,
            vector[lee],
            settings,
            100,
            false,
            mint(ATTEMPT_MIST, ctx).into_balance(),
            clock,
            &mut tx_context::new_from_hint(BOB, 0xff, 0, 0, 0),
        );
        assert_eq!(id, SIGNED_ID.to_id());
        execution.fill(object);
    });
    test_scenario::return_shared(tool);
    (runner, execution.destroy_some(), lee)
}

/// Settle the attempt with `SIGNATURE` after reading 10 000 bytes of `inputs`.
fun settle_attempt(runner: &mut Runner, execution: &UID, lee: ID, inputs: Ports): bool {
    let mut settled = false;
    let id = SIGNED_ID.to_id();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        settled = signed_outcome::settle_attempt(
            invocation,
            execution,
            &inputs,
            10_000,
            leader,
            ok(),
            sum(),
            PUBLIC_KEY,
            SIGNATURE,
            clock,
            ctx,
        );
    });
    settled
}
