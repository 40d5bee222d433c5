/// Who may do what with a tool.
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

// === What operators may ===

#[test]
fun operator_runs_the_tool() {
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
fun operator_that_was_removed_does_not_run_the_tool() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_operator(name, OPAL, ctx));
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun operator_does_not_run_another_tool() {
    let mut runner = alice_with_operator_opal();
    runner.register_version(ALICE, ADD_2);
    runner.tool_tx!(OPAL, ADD_2, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 2_000, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::ENotListed)]
fun operator_is_removed_once() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_operator(name, OPAL, ctx);
        tool.remove_operator(name, OPAL, ctx);
    });
    runner.end();
}

// === What strangers may not ===

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun stranger_does_not_update_the_url() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, b"https://bob.example".to_ascii_string(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun stranger_does_not_update_the_timeout() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 2_000, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun stranger_does_not_update_the_price() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun stranger_does_not_update_the_least_outcome() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun stranger_does_not_remove_a_leader() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |tool, name, _, _, ctx| tool.remove_leader(name, leader(), ctx));
    runner.end();
}

// === What operators may not ===

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_unregister_the_tool() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(OPAL, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_cancel_an_unregistration() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(ALICE, ADD);
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.cancel_unregister(name, tools, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_claim_the_collateral() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(OPAL, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_re_register_the_tool() {
    let mut runner = alice_with_operator_opal();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    runner.re_register(OPAL, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_top_up() {
    let mut runner = alice_with_operator_opal();
    runner.slash(ADD, 1);
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.top_up(name, tools, mint(1, ctx), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_update_the_description() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_description(name, tools, b"Mine.".to_string(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_redirect_the_payments() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, OPAL, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_say_whether_answers_are_signed() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, false, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_add_a_leader() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.add_leader(name, tools, other_leader(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_open_the_tool() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 0, ctx);
        tool.open_to_all(name, tools, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_take_the_tool_over() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_add_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, BOB, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_remove_an_operator() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, _, _, ctx| tool.remove_operator(name, OPAL, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_add_a_key() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(2), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun operator_does_not_remove_a_key() {
    let mut runner = alice_with_operator_opal();
    runner.tool_tx!(OPAL, ADD, |tool, name, _, _, ctx| tool.remove_key(name, key(1), ctx));
    runner.end();
}

// === Names of other tools ===

#[test, expected_failure(abort_code = tool::EWrongName)]
fun owner_of_another_name_does_not_leave_with_the_tool() {
    let mut runner = alice_with_add_and_bob_with_mul();
    runner.named_tool_tx!(BOB, ADD, MUL_NAME, |tool, name, _, clock, ctx| {
        tool.unregister(name, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EWrongName)]
fun owner_of_another_name_does_not_redirect_the_payments() {
    let mut runner = alice_with_add_and_bob_with_mul();
    runner.named_tool_tx!(BOB, ADD, MUL_NAME, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, BOB, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EWrongName)]
fun owner_of_another_name_does_not_run_the_tool() {
    let mut runner = alice_with_add_and_bob_with_mul();
    runner.named_tool_tx!(BOB, ADD, MUL_NAME, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

// === Helpers ===

/// A tool for 5 000 000 MIST that lists a leader.
fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 5_000_000, vector[leader()]);
    runner
}

/// The same tool with a key and the operator Opal.
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
