#[test_only]
module nexus_tools::tool_tests;

use nexus_tools::collateral;
use nexus_tools::definition::{Self, Definition};
use nexus_tools::keys;
use nexus_tools::owner;
use nexus_tools::roster;
use nexus_tools::slashing;
use nexus_tools::test_runner::{Self, Runner, key, mint, text};
use nexus_tools::tool;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;

const ADD: vector<u8> = b"xyz.example.add@1";
const ADD_2: vector<u8> = b"xyz.example.add@2";
const MUL: vector<u8> = b"xyz.example.mul@1";
const MUL_NAME: vector<u8> = b"xyz.example.mul";

const PRICE_MIST: u64 = 5_000_000;
const COLLATERAL_MIST: u64 = 1_000_000_000;
const DAY_MS: u64 = 86_400_000;
const WEEK_MS: u64 = 604_800_000;

// === Registration ===

#[test]
fun registered_tool_is_active_and_pays_its_owner() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| {
        assert!(tool.is_active());
        assert_eq!(tool.fqn(), ADD.to_ascii_string());
        assert_eq!(*tool.definition(), test_runner::define(ADD));
        assert_eq!(tool.timeout_ms(), 10_000);
        assert_eq!(tool.price_mist(), PRICE_MIST);
        assert_eq!(tool.payout(), ALICE);
        assert_eq!(tool.min_outcome_bytes(), 0);
        assert!(!tool.requires_signed_outcome());
        assert_eq!(tool.revision(), 0);
        assert!(tool.keys().is_empty());
        assert_eq!(tool.collateral().balance_mist(), COLLATERAL_MIST);
        assert_eq!(tool.collateral().delay_ms(), WEEK_MS);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EWrongName)]
fun tool_is_not_registered_under_another_name() {
    let mut runner = alice_with_add();
    runner.register(ALICE, MUL, 0, vector[]);
    runner.register_version_of(ALICE, ADD_2, MUL_NAME);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EFqnTaken)]
fun version_is_registered_once() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD);
    runner.end();
}

#[test]
fun registration_takes_all_that_is_within_the_limits() {
    let mut runner = test_runner::start();
    let schema = text(49_152, 0x61);
    register(&mut runner, define(schema, schema, 1_000), 0, vector[]);
    runner.end();
}

#[test]
fun timeout_may_be_two_minutes() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", 120_000), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ESchemaTooLarge)]
fun input_schema_is_limited() {
    let mut runner = test_runner::start();
    register(&mut runner, define(text(49_153, 0x61), b"", 10_000), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ESchemaTooLarge)]
fun output_schema_is_limited() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", text(49_153, 0x61), 10_000), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun timeout_has_a_lower_bound() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", 999), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun timeout_has_an_upper_bound() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", 120_001), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ECollateralTooSmall)]
fun collateral_is_not_less_than_required() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST - 1, WEEK_MS, 0);
    runner.end();
}

#[test]
fun more_collateral_than_required_is_locked_and_comes_back() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST + 1, WEEK_MS, 0);
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), COLLATERAL_MIST + 1);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun owner_is_not_bound_for_longer_than_it_consents_to() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST, WEEK_MS - 1, 0);
    runner.end();
}

#[test]
fun price_may_be_half_of_the_collateral() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST, WEEK_MS, COLLATERAL_MIST / 2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun price_is_not_more_than_half_of_the_collateral() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST, WEEK_MS, COLLATERAL_MIST / 2 + 1);
    runner.end();
}

#[test]
fun who_locks_more_may_ask_for_more() {
    let mut runner = test_runner::start();
    register_for(&mut runner, 4 * COLLATERAL_MIST, WEEK_MS, 2 * COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EOpenToAll)]
fun tool_with_a_price_is_not_registered_as_open() {
    let mut runner = test_runner::start();
    register(&mut runner, test_runner::define(ADD), 1, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun leader_is_listed_once() {
    let mut runner = test_runner::start();
    register(&mut runner, test_runner::define(ADD), 1, vector[leader(), leader()]);
    runner.end();
}

// === Leaving and coming back ===

#[test]
fun cancelled_unregistration_leaves_the_tool_active() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        assert!(!tool.is_active());
        tool.cancel_unregister(name, tools, ctx);
        assert!(tool.is_active());
    });
    runner.end();
}

#[test]
fun claimed_tool_comes_back() {
    let mut runner = alice_with_claimed_add();
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| assert!(!tool.is_active()));
    runner.re_register(ALICE, ADD);
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| {
        assert!(tool.is_active());
        assert_eq!(tool.collateral().balance_mist(), COLLATERAL_MIST);
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun collateral_is_not_claimed_before_the_delay_ends() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.claim(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun re_registered_tool_is_not_claimed_with_the_old_timer() {
    let mut runner = alice_with_claimed_add();
    runner.re_register(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun tool_that_comes_back_consents_to_the_delay_anew() {
    let mut runner = alice_with_claimed_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, clock, ctx| {
        tool.re_register(name, tools, mint(COLLATERAL_MIST, ctx), WEEK_MS - 1, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ENotClaimed)]
fun unregistered_tool_is_not_re_registered() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EFqnTaken)]
fun claimed_tool_keeps_its_fqn() {
    let mut runner = alice_with_claimed_add();
    runner.register_version(ALICE, ADD);
    runner.end();
}

// === Updates ===

#[test]
fun owner_updates_everything_but_the_schemas() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, b"https://new.example.com".to_ascii_string(), ctx);
        tool.update_timeout(name, tools, 120_000, ctx);
        tool.update_price(name, tools, 0, ctx);
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
        tool.update_description(name, tools, b"Adds.".to_string(), ctx);
        tool.update_payout(name, tools, BOB, ctx);
        assert_eq!(tool.revision(), 6);
        let updated = definition::define(
            ADD.to_ascii_string(),
            b"offchain".to_ascii_string(),
            b"https://new.example.com".to_ascii_string(),
            b"Adds.".to_string(),
            b"{}",
            b"{}",
            120_000,
        );
        assert_eq!(*tool.definition(), updated);
        assert_eq!(tool.price_mist(), 0);
        assert_eq!(tool.min_outcome_bytes(), 7);
        assert_eq!(tool.payout(), BOB);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun updated_price_is_limited() {
    let mut runner = alice_with_add();
    update_price(&mut runner, COLLATERAL_MIST / 2 + 1);
    runner.end();
}

#[test]
fun updated_price_may_be_half_of_the_collateral() {
    let mut runner = alice_with_add();
    update_price(&mut runner, COLLATERAL_MIST / 2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EOpenToAll)]
fun open_tool_does_not_ask_for_a_price() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    update_price(&mut runner, 1);
    runner.end();
}

/// Nobody can invoke it. When it comes back, its price is looked at again.
#[test]
fun price_of_a_claimed_tool_is_not_limited() {
    let mut runner = alice_with_claimed_add();
    update_price(&mut runner, COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun tool_does_not_come_back_with_too_high_a_price() {
    let mut runner = alice_with_claimed_add();
    update_price(&mut runner, COLLATERAL_MIST);
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = definition::EUrlTooLong)]
fun updated_url_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, text(2_049, 0x61).to_ascii_string(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun updated_timeout_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 999, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = definition::EDescriptionTooLong)]
fun updated_description_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_description(name, tools, text(4_097, 0x61).to_string(), ctx);
    });
    runner.end();
}

#[test]
fun answers_are_signed_when_the_owner_says_so() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, false, ctx);
        assert!(!tool.requires_signed_outcome());
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
        assert!(tool.requires_signed_outcome());
        tool.update_requires_signed_outcome(name, tools, false, ctx);
        assert!(!tool.requires_signed_outcome());
        assert_eq!(tool.revision(), 3);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EKeyNeeded)]
fun answers_are_not_signed_without_a_key() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    runner.end();
}

// === Leaders ===

#[test]
fun tool_accepts_the_leaders_that_it_lists() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        assert!(tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
        tool.add_leader(name, tools, other_leader(), ctx);
        assert!(tool.accepts(other_leader()));
        tool.remove_leader(name, leader(), ctx);
        assert!(!tool.accepts(leader()));
        // Who is on the list changes nothing that a requester pays for.
        assert_eq!(tool.revision(), 0);
    });
    runner.end();
}

#[test]
fun tool_that_is_registered_without_leaders_is_open_until_it_lists_one() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        assert!(tool.accepts(leader()));
        assert!(tool.accepts(other_leader()));
        tool.add_leader(name, tools, leader(), ctx);
        assert!(tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
        // It may ask for a price then.
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test]
fun tool_whose_last_leader_is_removed_accepts_nobody_until_it_is_opened() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[leader()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.remove_leader(name, leader(), ctx);
        assert!(!tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
        tool.open_to_all(name, tools, ctx);
        assert!(tool.accepts(leader()));
        assert!(tool.accepts(other_leader()));
    });
    runner.end();
}

#[test]
fun tool_that_is_opened_forgets_its_list() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[leader()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.open_to_all(name, tools, ctx);
        assert!(tool.accepts(other_leader()));
        tool.add_leader(name, tools, other_leader(), ctx);
        assert!(tool.accepts(other_leader()));
        assert!(!tool.accepts(leader()));
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EOpenToAll)]
fun tool_with_a_price_is_not_opened() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| tool.open_to_all(name, tools, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun leader_that_is_listed_is_not_added() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_leader(name, tools, leader(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::ENotListed)]
fun leader_that_is_not_listed_is_not_removed() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_leader(name, other_leader(), ctx);
    });
    runner.end();
}

// === Keys ===

#[test]
fun owner_changes_the_keys() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.add_key(name, tools, key(2), ctx);
        assert_eq!(*tool.keys().keys(), vector[key(1), key(2)]);
        tool.remove_key(name, key(1), ctx);
        assert_eq!(*tool.keys().keys(), vector[key(2)]);
    });
    runner.end();
}

#[test, expected_failure(abort_code = keys::EUnknownKey)]
fun key_that_was_not_added_is_not_removed() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_key(name, key(1), ctx));
    runner.end();
}

// === Admin ===

#[test]
fun slashed_tool_is_suspended_until_topped_up() {
    let mut runner = alice_with_add();
    runner.slash(ADD, 300_000_000);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        assert!(!tool.is_active());
        tool.top_up(name, tools, mint(300_000_000, ctx), ctx);
        assert!(tool.is_active());
    });
    runner.end();
}

#[test]
fun unregistered_tool_is_slashed_and_stays_suspended_when_cancelled() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.slash(ADD, 300_000_000);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.cancel_unregister(name, tools, ctx);
        assert!(!tool.is_active());
    });
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), 700_000_000);
    runner.end();
}

#[test]
fun pending_slash_suspends_nothing() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 300_000_000);
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| assert!(tool.is_active()));
    runner.end();
}

#[test]
fun pending_slash_holds_back_its_amount_alone() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.propose_slash(ADD, 300_000_000);
    runner.advance(1);
    assert_eq!(runner.claim(ALICE, ADD), 700_000_000);
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, _, clock, ctx| {
        slashing::cancel_for_tool(tool, admin, clock, ctx);
    });
    assert_eq!(runner.claim(ALICE, ADD), 300_000_000);
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test]
fun slash_that_is_executed_after_the_claim_leaves_nothing_and_the_tool_comes_back() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.propose_slash(ADD, 300_000_000);
    runner.advance(1);
    runner.claim(ALICE, ADD);
    runner.advance(3 * DAY_MS - 1);
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, tools, clock, ctx| {
        slashing::execute_for_tool(tool, admin, tools, clock, ctx);
    });
    assert_eq!(runner.claim(ALICE, ADD), 0);
    runner.re_register(ALICE, ADD);
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| assert!(tool.is_active()));
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayOver)]
fun tool_that_may_leave_is_not_slashed() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.propose_slash(ADD, 1);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun owner_of_a_tool_does_not_propose_to_slash() {
    let mut runner = alice_with_add();
    runner.tool_admin_tx!(ALICE, ADD, |tool, admin, tools, clock, ctx| {
        let (reason, evidence) = (b"It lied.".to_string(), test_runner::evidence());
        slashing::propose_for_tool(tool, admin, tools, 1, reason, evidence, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun owner_of_a_tool_does_not_execute_a_slash() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 1);
    runner.advance(3 * DAY_MS);
    runner.tool_admin_tx!(ALICE, ADD, |tool, admin, tools, clock, ctx| {
        slashing::execute_for_tool(tool, admin, tools, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun owner_of_a_tool_does_not_cancel_a_slash() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 1);
    runner.tool_admin_tx!(ALICE, ADD, |tool, admin, _, clock, ctx| {
        slashing::cancel_for_tool(tool, admin, clock, ctx);
    });
    runner.end();
}

// === Helpers ===

/// A tool for 5 000 000 MIST that lists a leader.
fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, PRICE_MIST, vector[leader()]);
    runner
}

fun alice_with_claimed_add(): Runner {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), COLLATERAL_MIST);
    runner
}

fun leader(): ID { @0x1EAD.to_id() }

fun other_leader(): ID { @0x2EAD.to_id() }

fun update_price(runner: &mut Runner, price_mist: u64) {
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, price_mist, ctx);
    });
}

fun register(runner: &mut Runner, definition: Definition, price_mist: u64, leaders: vector<ID>) {
    register_as(runner, COLLATERAL_MIST, WEEK_MS, definition, price_mist, leaders);
}

fun register_for(runner: &mut Runner, collateral_mist: u64, max_delay_ms: u64, price_mist: u64) {
    let definition = test_runner::define(ADD);
    register_as(runner, collateral_mist, max_delay_ms, definition, price_mist, vector[leader()]);
}

fun register_as(
    runner: &mut Runner,
    collateral_mist: u64,
    max_delay_ms: u64,
    definition: Definition,
    price_mist: u64,
    leaders: vector<ID>,
) {
    runner.tx!(ALICE, |tools, _, clock, ctx| {
        let (tool, name) = tool::register(
            tools,
            mint(collateral_mist, ctx),
            max_delay_ms,
            definition,
            price_mist,
            leaders,
            clock,
            ctx,
        );
        tool.share();
        name.share();
    });
}

fun define(input_schema: vector<u8>, output_schema: vector<u8>, timeout_ms: u64): Definition {
    definition::define(
        ADD.to_ascii_string(),
        b"offchain".to_ascii_string(),
        b"https://tools.example.com/add".to_ascii_string(),
        b"Adds two integers.".to_string(),
        input_schema,
        output_schema,
        timeout_ms,
    )
}
