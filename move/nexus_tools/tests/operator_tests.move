/// Tests of the permissions that owners, operators and other accounts have on a tool.
#[test_only]
module nexus_tools::operator_tests;

use nexus_tools::owner;
use nexus_tools::roster;
use nexus_tools::test_runner::{Self, Runner, key, mint};
use nexus_tools::tool;
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const OPAL: address = @0xC;

const ADD: vector<u8> = b"xyz.example.add@1";
const ADD_2: vector<u8> = b"xyz.example.add@2";
const MUL: vector<u8> = b"xyz.example.mul@1";
const MUL_NAME: vector<u8> = b"xyz.example.mul";

const WEEK_MS: u64 = 604_800_000;

// === Allowed to operators ===

#[test]
fun operator_updates_url_timeout_price_and_leaders() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, b"https://new.example.com".to_ascii_string(), ctx);
        tool.update_timeout(name, tools, 2_000, ctx);
        tool.update_price(name, tools, 0, ctx);
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
        tool.remove_leader(name, leader(), ctx);
        assert_eq!(tool.definition().url(), b"https://new.example.com".to_ascii_string());
        assert_eq!(tool.timeout_ms(), 2_000);
        assert_eq!(tool.price_mist(), 0);
        assert_eq!(tool.min_outcome_bytes(), 7);
        assert!(!tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_url_aborts_for_a_removed_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_operator(name, OPAL, ctx));
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_url_aborts_for_an_operator_of_another_tool() {
    let mut runner = alice_with_operator_opal();
    runner.register_version(ALICE, ADD_2);
    runner.tool_tx!(OPAL, ADD_2, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 2_000, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::ENotListed)]
fun remove_operator_aborts_the_second_time() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_operator(name, OPAL, ctx);
        tool.remove_operator(name, OPAL, ctx);
    });
    runner.end();
}

// === Refused to other accounts ===

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_url_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, b"https://bob.example".to_ascii_string(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_timeout_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 2_000, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_price_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_min_outcome_bytes_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun remove_leader_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, _, _, ctx| tool.remove_leader(name, leader(), ctx));
    runner.end();
}

// === Refused to operators ===

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun unregister_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(OPAL, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun cancel_unregister_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(ALICE, ADD);
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.cancel_unregister(name, tools, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun claim_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(OPAL, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun re_register_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    runner.re_register(OPAL, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun top_up_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.slash(ADD, 1);
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.top_up(name, tools, mint(1, ctx), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun update_description_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_description(name, tools, b"Mine.".to_string(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun update_payout_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, OPAL, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun update_requires_signed_outcome_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, false, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun add_leader_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.add_leader(name, tools, other_leader(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun accept_any_leader_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 0, ctx);
        tool.accept_any_leader(name, tools, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun take_over_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun add_operator_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, BOB, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun remove_operator_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, _, _, ctx| tool.remove_operator(name, OPAL, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun add_key_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(2), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun remove_key_aborts_for_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, _, _, ctx| tool.remove_key(name, key(1), ctx));
    runner.end();
}

// === Names of other tools ===

#[test, expected_failure(abort_code = tool::EWrongName)]
fun unregister_aborts_with_another_name() {
    let mut runner = alice_with_add_and_bob_with_mul();
    runner.named_tool_tx!(BOB, ADD, MUL_NAME, |tool, name, _, clock, ctx| {
        tool.unregister(name, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EWrongName)]
fun update_payout_aborts_with_another_name() {
    let mut runner = alice_with_add_and_bob_with_mul();
    runner.named_tool_tx!(BOB, ADD, MUL_NAME, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, BOB, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EWrongName)]
fun update_url_aborts_with_another_name() {
    let mut runner = alice_with_add_and_bob_with_mul();
    runner.named_tool_tx!(BOB, ADD, MUL_NAME, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

// === Helpers ===

/// Register a tool that lists a leader and has a price of 5 000 000 MIST.
fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 5_000_000, vector[leader()]);
    runner
}

/// Register a tool like `alice_with_add`, with a key and the operator Opal.
fun alice_with_operator_opal(): Runner {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.add_operator(name, tools, OPAL, ctx);
    });
    runner
}

fun alice_with_add_and_bob_with_mul(): Runner {
    let mut runner = alice_with_add();
    runner.register(BOB, MUL, 0, vector[]);
    runner
}

fun leader(): ID { @0x1EAD.to_id() }

fun other_leader(): ID { @0x2EAD.to_id() }
