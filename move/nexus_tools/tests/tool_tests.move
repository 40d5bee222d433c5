#[test_only]
module nexus_tools::tool_tests;

use nexus_tools::admin::AdminCap;
use nexus_tools::collateral;
use nexus_tools::definition::{Self, Definition};
use nexus_tools::test_runner::{Self, Runner};
use nexus_tools::tool::{Self, OperatorCap, OwnerCap};
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;

const ADD: vector<u8> = b"xyz.example.add@1";
const ADD_2: vector<u8> = b"xyz.example.add@2";
const MUL: vector<u8> = b"xyz.example.mul@1";

const COLLATERAL_MIST: u64 = 1_000_000_000;
const DAY_MS: u64 = 86_400_000;
const WEEK_MS: u64 = 604_800_000;

// === Registration ===

#[test]
fun registered_tool_is_active_and_pays_its_owner() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, _, _, _, _| {
        assert!(tool.is_active());
        assert_eq!(tool.fqn(), ADD.to_ascii_string());
        assert_eq!(tool.price_mist(), 5_000_000);
        assert_eq!(tool.payout(), ALICE);
        assert_eq!(tool.collateral().balance_mist(), COLLATERAL_MIST);
    });
    runner.end();
}

#[test]
fun owner_of_a_name_registers_its_further_versions() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD_2);
    runner.tool_tx!<OwnerCap>(ALICE, ADD_2, |tool, cap, _, clock, _| {
        assert!(tool.is_active());
        tool.unregister(cap, clock);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENameTaken)]
fun stranger_does_not_register_a_further_version() {
    let mut runner = alice_with_add();
    runner.register(BOB, ADD_2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOwner)]
fun owner_of_another_name_does_not_register_a_further_version() {
    let mut runner = alice_with_add();
    runner.register(BOB, MUL);
    runner.register_version(BOB, ADD_2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EFqnTaken)]
fun version_is_registered_once() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = definition::EInvalidFqn)]
fun fqn_follows_the_grammar() {
    test_runner::define(b"xyz.add@1");
}

#[test, expected_failure(abort_code = definition::EUnknownToolType)]
fun type_is_one_of_the_types() {
    define_as(b"offline");
}

#[test, expected_failure(abort_code = definition::EOnchainNotAccepted)]
fun onchain_tool_is_not_accepted_yet() {
    define_as(b"onchain");
}

#[test, expected_failure(abort_code = definition::EUrlTooLong)]
fun url_is_limited() {
    define(text(2_049), b"", b"", b"", 10_000);
}

#[test, expected_failure(abort_code = definition::EDescriptionTooLong)]
fun description_is_limited() {
    define(b"", text(4_097), b"", b"", 10_000);
}

#[test]
fun registration_takes_all_that_is_within_the_limits() {
    let mut runner = test_runner::start();
    let schema = text(49_152);
    let definition = define(text(2_048), text(4_096), schema, schema, 1_000);
    register(&mut runner, definition, COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ESchemaTooLarge)]
fun input_schema_is_limited() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", text(49_153), b"", 10_000), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ESchemaTooLarge)]
fun output_schema_is_limited() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", b"", text(49_153), 10_000), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun timeout_has_a_lower_bound() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", b"", b"", 999), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun timeout_has_an_upper_bound() {
    let mut runner = test_runner::start();
    register(&mut runner, define(b"", b"", b"", b"", 120_001), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ECollateralTooSmall)]
fun collateral_is_not_less_than_required() {
    let mut runner = test_runner::start();
    register(&mut runner, test_runner::define(ADD), COLLATERAL_MIST - 1);
    runner.end();
}

#[test]
fun more_collateral_than_required_is_locked_and_comes_back() {
    let mut runner = test_runner::start();
    register(&mut runner, test_runner::define(ADD), COLLATERAL_MIST + 1);
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), COLLATERAL_MIST + 1);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EDelayTooLong)]
fun owner_is_not_bound_for_longer_than_it_consents_to() {
    let mut runner = test_runner::start();
    register_at(&mut runner, COLLATERAL_MIST, WEEK_MS - 1, 0);
    runner.end();
}

#[test]
fun price_may_be_half_of_the_collateral() {
    let mut runner = test_runner::start();
    register_at(&mut runner, COLLATERAL_MIST, WEEK_MS, COLLATERAL_MIST / 2);
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun price_is_not_more_than_half_of_the_collateral() {
    let mut runner = test_runner::start();
    register_at(&mut runner, COLLATERAL_MIST, WEEK_MS, COLLATERAL_MIST / 2 + 1);
    runner.end();
}

#[test]
fun who_locks_more_may_ask_for_more() {
    let mut runner = test_runner::start();
    register_at(&mut runner, 4 * COLLATERAL_MIST, WEEK_MS, 2 * COLLATERAL_MIST);
    runner.end();
}

// === Leaving and coming back ===

#[test]
fun cancelled_unregistration_leaves_the_tool_active() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        assert!(!tool.is_active());
        tool.cancel_unregister(cap, tools);
        assert!(tool.is_active());
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOwner)]
fun stranger_does_not_unregister_a_tool() {
    let mut runner = alice_with_add();
    runner.register(BOB, MUL);
    runner.unregister(BOB, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOwner)]
fun stranger_does_not_claim_the_collateral() {
    let mut runner = alice_with_add();
    runner.register(BOB, MUL);
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(BOB, ADD);
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

#[test, expected_failure(abort_code = tool::EClaimed)]
fun collateral_is_claimed_once() {
    let mut runner = alice_with_claimed_add();
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

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun re_registered_tool_waits_anew() {
    let mut runner = alice_with_claimed_add();
    runner.re_register(ALICE, ADD);
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.claim(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotClaimed)]
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
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_url(cap, tools, b"https://new.example.com".to_ascii_string());
        tool.update_timeout(cap, tools, 120_000);
        tool.update_price(cap, tools, 0);
        tool.update_description(cap, tools, b"Adds.".to_string());
        tool.update_payout(cap, tools, BOB);
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
        assert_eq!(tool.payout(), BOB);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun updated_price_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, COLLATERAL_MIST / 2 + 1);
    });
    runner.end();
}

/// Nobody can invoke it. When it comes back, its price is looked at again.
#[test]
fun price_of_a_claimed_tool_is_not_limited() {
    let mut runner = alice_with_claimed_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, COLLATERAL_MIST);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EPriceTooHigh)]
fun tool_does_not_come_back_with_too_high_a_price() {
    let mut runner = alice_with_claimed_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, COLLATERAL_MIST);
    });
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = definition::EUrlTooLong)]
fun updated_url_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_url(cap, tools, text(2_049).to_ascii_string());
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun updated_timeout_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_timeout(cap, tools, 999);
    });
    runner.end();
}

#[test, expected_failure(abort_code = definition::EDescriptionTooLong)]
fun updated_description_is_limited() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_description(cap, tools, text(4_097).to_string());
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOwner)]
fun stranger_does_not_redirect_the_payments() {
    let mut runner = alice_with_add();
    runner.register(BOB, MUL);
    runner.tool_tx!<OwnerCap>(BOB, ADD, |tool, cap, tools, _, _| {
        tool.update_payout(cap, tools, BOB);
    });
    runner.end();
}

// === Operators ===

#[test]
fun operator_runs_the_tool() {
    let mut runner = alice_with_add();
    issue_operator_cap(&mut runner, BOB);
    runner.tool_tx!<OperatorCap>(BOB, ADD, |tool, cap, tools, _, _| {
        tool.update_url(cap, tools, b"https://new.example.com".to_ascii_string());
        tool.update_timeout(cap, tools, 2_000);
        tool.update_price(cap, tools, 1);
        assert_eq!(tool.timeout_ms(), 2_000);
        assert_eq!(tool.price_mist(), 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun revoked_operator_does_not_run_the_tool() {
    let mut runner = alice_with_add();
    let operator_cap = issue_operator_cap(&mut runner, BOB);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, _, _, _| {
        tool.revoke_operator_cap(cap, operator_cap);
    });
    runner.tool_tx!<OperatorCap>(BOB, ADD, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun operator_does_not_run_another_tool() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD_2);
    issue_operator_cap(&mut runner, BOB);
    runner.tool_tx!<OperatorCap>(BOB, ADD_2, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun owner_of_another_name_does_not_run_the_tool() {
    let mut runner = alice_with_add();
    runner.register(BOB, MUL);
    runner.tool_tx!<OwnerCap>(BOB, ADD, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EUnknownOperator)]
fun operator_is_revoked_once() {
    let mut runner = alice_with_add();
    let operator_cap = issue_operator_cap(&mut runner, BOB);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, _, _, _| {
        tool.revoke_operator_cap(cap, operator_cap);
        tool.revoke_operator_cap(cap, operator_cap);
    });
    runner.end();
}

#[test]
fun operator_cap_is_burned_by_its_holder() {
    let mut runner = alice_with_add();
    issue_operator_cap(&mut runner, BOB);
    let scenario = runner.next_tx(BOB);
    tool::burn_operator_cap(scenario.take_from_sender());
    let scenario = runner.next_tx(BOB);
    assert!(!scenario.has_most_recent_for_sender<OperatorCap>());
    runner.end();
}

// === Admin ===

#[test]
fun slashed_tool_is_suspended_until_topped_up() {
    let mut runner = alice_with_add();
    assert_eq!(runner.slash(ADD, 300_000_000), 300_000_000);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, ctx| {
        assert!(!tool.is_active());
        tool.top_up(cap, tools, test_runner::mint(300_000_000, ctx));
        assert!(tool.is_active());
    });
    runner.end();
}

#[test]
fun unregistered_tool_is_slashed_and_stays_suspended_when_cancelled() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.slash(ADD, 300_000_000);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.cancel_unregister(cap, tools);
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
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, _, _, _, _| assert!(tool.is_active()));
    runner.end();
}

#[test]
fun pending_slash_holds_back_its_amount_alone() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.propose_slash(ADD, 300_000_000);
    assert_eq!(runner.claim(ALICE, ADD), 700_000_000);
    runner.tool_tx!<AdminCap>(ADMIN, ADD, |tool, cap, _, clock, _| tool.cancel_slash(cap, clock));
    assert_eq!(runner.claim(ALICE, ADD), 300_000_000);
    runner.re_register(ALICE, ADD);
    runner.end();
}

#[test]
fun slash_that_is_executed_after_the_claim_leaves_nothing_and_the_tool_comes_back() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.propose_slash(ADD, 300_000_000);
    runner.claim(ALICE, ADD);
    runner.advance(3 * DAY_MS);
    runner.tool_tx!<AdminCap>(ADMIN, ADD, |tool, cap, tools, clock, ctx| {
        tool.execute_slash(cap, tools, clock, ctx);
    });
    assert_eq!(runner.claim(ALICE, ADD), 0);
    runner.re_register(ALICE, ADD);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, _, _, _, _| assert!(tool.is_active()));
    runner.end();
}

#[test]
fun tool_that_took_a_part_out_is_suspended_when_it_cancels() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.propose_slash(ADD, 300_000_000);
    runner.claim(ALICE, ADD);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, ctx| {
        tool.cancel_unregister(cap, tools);
        assert!(!tool.is_active());
        tool.top_up(cap, tools, test_runner::mint(700_000_000, ctx));
        assert!(tool.is_active());
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::EClaimed)]
fun claimed_tool_is_not_slashed() {
    let mut runner = alice_with_claimed_add();
    runner.propose_slash(ADD, 1);
    runner.end();
}

// === Helpers ===

fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD);
    runner
}

fun alice_with_claimed_add(): Runner {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), COLLATERAL_MIST);
    runner
}

fun register(runner: &mut Runner, definition: Definition, collateral_mist: u64) {
    register_as(runner, definition, collateral_mist, WEEK_MS, 0);
}

fun register_at(runner: &mut Runner, collateral_mist: u64, max_delay_ms: u64, price_mist: u64) {
    register_as(runner, test_runner::define(ADD), collateral_mist, max_delay_ms, price_mist);
}

fun register_as(
    runner: &mut Runner,
    definition: Definition,
    collateral_mist: u64,
    max_delay_ms: u64,
    price_mist: u64,
) {
    runner.tx!(ALICE, |tools, _, clock, ctx| {
        let (tool, cap) = tool::register(
            tools,
            test_runner::mint(collateral_mist, ctx),
            max_delay_ms,
            definition,
            price_mist,
            clock,
            ctx,
        );
        tool.share();
        transfer::public_transfer(cap, ALICE);
    });
}

fun issue_operator_cap(runner: &mut Runner, operator: address): ID {
    let id;
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, ctx| {
        let operator_cap = tool.issue_operator_cap(cap, tools, ctx);
        id = object::id(&operator_cap);
        transfer::public_transfer(operator_cap, operator);
    });
    id
}

fun define(
    url: vector<u8>,
    description: vector<u8>,
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    timeout_ms: u64,
): Definition {
    definition::define(
        ADD.to_ascii_string(),
        b"offchain".to_ascii_string(),
        url.to_ascii_string(),
        description.to_string(),
        input_schema,
        output_schema,
        timeout_ms,
    )
}

fun define_as(tool_type: vector<u8>) {
    definition::define(
        ADD.to_ascii_string(),
        tool_type.to_ascii_string(),
        b"https://tools.example.com/add".to_ascii_string(),
        b"Adds two integers.".to_string(),
        b"{}",
        b"{}",
        10_000,
    );
}

fun text(length: u64): vector<u8> {
    vector::tabulate!(length, |_| 0x61)
}
