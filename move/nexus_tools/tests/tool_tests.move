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
fun register_returns_an_active_tool_that_pays_its_owner() {
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
fun register_version_aborts_with_another_name() {
    let mut runner = alice_with_add();
    runner.register(ALICE, MUL, 0, vector[]);
    runner.register_version_of(ALICE, ADD_2, MUL_NAME);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EFqnTaken)]
fun register_version_aborts_for_a_taken_fqn() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD);
    runner.end();
}

#[test]
fun register_accepts_values_up_to_the_limits() {
    let mut runner = test_runner::start();
    let schema = text(49_152, 0x61);
    register(&mut runner, define(schema, schema, 1_000), 0, vector[]);
    runner.end();
}

#[test]
fun register_accepts_a_timeout_of_two_minutes() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", 120_000), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ESchemaTooLarge)]
fun register_aborts_when_the_input_schema_is_too_large() {
    let mut runner = test_runner::start();
    register(&mut runner, define(text(49_153, 0x61), b"", 10_000), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ESchemaTooLarge)]
fun register_aborts_when_the_output_schema_is_too_large() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", text(49_153, 0x61), 10_000), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun register_aborts_when_the_timeout_is_too_short() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", 999), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun register_aborts_when_the_timeout_is_too_long() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", 120_001), 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ECollateralTooSmall)]
fun register_aborts_below_the_minimum_collateral() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST - 1, WEEK_MS, 0);
    runner.end();
}

#[test]
fun claim_pays_collateral_above_the_minimum() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST + 1, WEEK_MS, 0);
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), COLLATERAL_MIST + 1);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun register_aborts_when_the_delay_is_too_long() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST, WEEK_MS - 1, 0);
    runner.end();
}

#[test]
fun register_accepts_a_price_of_half_the_collateral() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST, WEEK_MS, COLLATERAL_MIST / 2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun register_aborts_for_a_price_above_half_the_collateral() {
    let mut runner = test_runner::start();
    register_for(&mut runner, COLLATERAL_MIST, WEEK_MS, COLLATERAL_MIST / 2 + 1);
    runner.end();
}

#[test]
fun register_accepts_a_higher_price_with_more_collateral() {
    let mut runner = test_runner::start();
    register_for(&mut runner, 4 * COLLATERAL_MIST, WEEK_MS, 2 * COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EAcceptsAnyLeader)]
fun register_aborts_for_a_price_without_leaders() {
    let mut runner = test_runner::start();
    register(&mut runner, test_runner::define(ADD), 1, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun register_aborts_for_duplicate_leaders() {
    let mut runner = test_runner::start();
    register(&mut runner, test_runner::define(ADD), 1, vector[leader(), leader()]);
    runner.end();
}

// === Unregistration and re-registration ===

#[test]
fun cancel_unregister_makes_the_tool_active_again() {
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
fun re_register_makes_a_claimed_tool_active() {
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
fun claim_aborts_before_the_delay_ends() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.claim(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun claim_aborts_after_re_register() {
    let mut runner = alice_with_claimed_add();
    runner.re_register(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun re_register_aborts_when_the_delay_is_too_long() {
    let mut runner = alice_with_claimed_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, clock, ctx| {
        tool.re_register(name, tools, mint(COLLATERAL_MIST, ctx), WEEK_MS - 1, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ENotClaimed)]
fun re_register_aborts_before_the_claim() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EFqnTaken)]
fun register_version_aborts_for_the_fqn_of_a_claimed_tool() {
    let mut runner = alice_with_claimed_add();
    runner.register_version(ALICE, ADD);
    runner.end();
}

// === Updates ===

#[test]
fun updates_change_everything_but_the_schemas() {
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
fun update_price_aborts_above_half_the_collateral() {
    let mut runner = alice_with_add();
    update_price(&mut runner, COLLATERAL_MIST / 2 + 1);
    runner.end();
}

#[test]
fun update_price_accepts_half_the_collateral() {
    let mut runner = alice_with_add();
    update_price(&mut runner, COLLATERAL_MIST / 2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EAcceptsAnyLeader)]
fun update_price_aborts_when_any_leader_is_accepted() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    update_price(&mut runner, 1);
    runner.end();
}

/// The tool cannot be invoked while its collateral is claimed. `re_register` checks the price
/// again.
#[test]
fun update_price_accepts_any_price_after_the_claim() {
    let mut runner = alice_with_claimed_add();
    update_price(&mut runner, COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun re_register_aborts_for_a_price_above_half_the_collateral() {
    let mut runner = alice_with_claimed_add();
    update_price(&mut runner, COLLATERAL_MIST);
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = definition::EUrlTooLong)]
fun update_url_aborts_when_the_url_is_too_long() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, text(2_049, 0x61).to_ascii_string(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun update_timeout_aborts_when_out_of_range() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 999, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = definition::EDescriptionTooLong)]
fun update_description_aborts_when_too_long() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_description(name, tools, text(4_097, 0x61).to_string(), ctx);
    });
    runner.end();
}

#[test]
fun update_requires_signed_outcome_changes_the_requirement() {
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

#[test, expected_failure(abort_code = tool::ESigningKeyMissing)]
fun update_requires_signed_outcome_aborts_without_a_key() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    runner.end();
}

// === Leaders ===

#[test]
fun accepts_returns_true_for_listed_leaders() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        assert!(tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
        tool.add_leader(name, tools, other_leader(), ctx);
        assert!(tool.accepts(other_leader()));
        tool.remove_leader(name, leader(), ctx);
        assert!(!tool.accepts(leader()));
        // Changes of the leader list do not change the revision, because these changes do not
        // affect the cost.
        assert_eq!(tool.revision(), 0);
    });
    runner.end();
}

#[test]
fun add_leader_ends_the_acceptance_of_any_leader() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        assert!(tool.accepts(leader()));
        assert!(tool.accepts(other_leader()));
        tool.add_leader(name, tools, leader(), ctx);
        assert!(tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
        // With listed leaders, the tool can have a price.
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test]
fun remove_leader_of_the_last_one_accepts_no_leader() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[leader()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.remove_leader(name, leader(), ctx);
        assert!(!tool.accepts(leader()));
        assert!(!tool.accepts(other_leader()));
        tool.accept_any_leader(name, tools, ctx);
        assert!(tool.accepts(leader()));
        assert!(tool.accepts(other_leader()));
    });
    runner.end();
}

#[test]
fun accept_any_leader_empties_the_list() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[leader()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.accept_any_leader(name, tools, ctx);
        assert!(tool.accepts(other_leader()));
        tool.add_leader(name, tools, other_leader(), ctx);
        assert!(tool.accepts(other_leader()));
        assert!(!tool.accepts(leader()));
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EAcceptsAnyLeader)]
fun accept_any_leader_aborts_for_a_priced_tool() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| tool.accept_any_leader(name, tools, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun add_leader_aborts_for_a_listed_leader() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_leader(name, tools, leader(), ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::ENotListed)]
fun remove_leader_aborts_for_an_unlisted_leader() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_leader(name, other_leader(), ctx);
    });
    runner.end();
}

// === Keys ===

#[test]
fun add_key_and_remove_key_change_the_list() {
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
fun remove_key_aborts_for_an_unknown_key() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_key(name, key(1), ctx));
    runner.end();
}

// === Admin ===

#[test]
fun top_up_ends_the_suspension() {
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
fun cancel_unregister_keeps_a_slashed_tool_suspended() {
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
fun propose_slash_does_not_suspend_the_tool() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 300_000_000);
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| assert!(tool.is_active()));
    runner.end();
}

#[test]
fun claim_pays_all_but_the_amount_of_a_pending_slash() {
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
fun re_register_works_after_a_slash_that_followed_a_claim() {
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
fun propose_slash_aborts_after_the_delay() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.propose_slash(ADD, 1);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun propose_slash_aborts_for_the_owner() {
    let mut runner = alice_with_add();
    runner.tool_admin_tx!(ALICE, ADD, |tool, admin, tools, clock, ctx| {
        let (reason, evidence_digest) = (b"It lied.".to_string(), test_runner::evidence_digest());
        slashing::propose_for_tool(tool, admin, tools, 1, reason, evidence_digest, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun execute_slash_aborts_for_the_owner() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 1);
    runner.advance(3 * DAY_MS);
    runner.tool_admin_tx!(ALICE, ADD, |tool, admin, tools, clock, ctx| {
        slashing::execute_for_tool(tool, admin, tools, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun cancel_slash_aborts_for_the_owner() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 1);
    runner.tool_admin_tx!(ALICE, ADD, |tool, admin, _, clock, ctx| {
        slashing::cancel_for_tool(tool, admin, clock, ctx);
    });
    runner.end();
}

// === Helpers ===

/// Register a tool that lists a leader and has a price of 5 000 000 MIST.
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
