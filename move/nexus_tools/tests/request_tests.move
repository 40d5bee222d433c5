#[test_only]
module nexus_tools::request_tests;

use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader_registry;
use nexus_tools::test_runner::{Self, Runner, alice_and_lee, key, mint, port, text};
use nexus_tools::tool::Tool;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";

/// The cost of an invocation. The cost is the sum of the price (5 000 000 MIST), the fee for
/// settling (3 521 300 MIST), and the fee for the outcome (760 000 MIST).
const COST_MIST: u64 = 9_281_300;
/// The length of a window, which is the timeout of 10 s plus the grace of 15 s.
const WINDOW_MS: u64 = 25_000;

#[test]
fun request_prepays_the_price_and_the_fees() {
    let (mut runner, lee) = alice_and_lee();
    assert_eq!(runner.cost(ADD, 13, 100), COST_MIST);
    let id = runner.request(BOB, ADD, vector[lee]);
    let add = runner.id_of(ADD);
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    assert_eq!(invocation.payment_mist(), COST_MIST);
    assert_eq!(invocation.tool(), add);
    assert_eq!(invocation.requester(), BOB);
    assert_eq!(invocation.leaders(), vector[lee]);
    assert_eq!(invocation.expires_at_ms(), 1_000_000 + WINDOW_MS);
    assert!(!invocation.is_closed());
    test_scenario::return_shared(invocation);
    runner.end();
}

#[test]
fun quote_rises_with_the_gas_price() {
    let (mut runner, lee) = alice_and_lee();
    runner.next_epoch(1_001);
    assert_eq!(runner.cost(ADD, 13, 100), COST_MIST + 1_000);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongPayment)]
fun request_aborts_with_the_quote_of_another_epoch() {
    let (mut runner, lee) = alice_and_lee();
    runner.next_epoch(1_001);
    runner.request_for(BOB, ADD, vector[lee], test_runner::inputs(), 100, COST_MIST);
    runner.end();
}

#[test]
fun request_with_backup_names_two_leaders_in_order() {
    let mut runner = test_runner::start();
    let (lee, max) = (runner.register_leader(LEE), runner.register_leader(MAX));
    runner.register(ALICE, ADD, 5_000_000, vector[max, lee]);
    let id = runner.request(BOB, ADD, vector[lee, max]);
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    assert_eq!(invocation.leaders(), vector[lee, max]);
    assert_eq!(invocation.expires_at_ms(), 1_000_000 + 2 * WINDOW_MS);
    test_scenario::return_shared(invocation);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ESameLeader)]
fun request_with_backup_aborts_for_the_same_leader() {
    let (mut runner, lee) = alice_and_lee();
    let add = runner.id_of(ADD);
    let tool = runner.next_tx(BOB).take_shared_by_id<Tool>(add);
    runner.leader_tx!(BOB, lee, |leader, leaders, clock, ctx| {
        invocation::request_with_backup(
            leaders,
            0,
            &tool,
            0,
            leader,
            leader,
            test_runner::inputs(),
            100,
            mint(COST_MIST, ctx),
            clock,
            ctx,
        );
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EToolNotActive)]
fun request_aborts_for_an_unregistered_tool() {
    let (mut runner, lee) = alice_and_lee();
    runner.unregister(ALICE, ADD);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EToolNotActive)]
fun request_aborts_for_a_suspended_tool() {
    let (mut runner, lee) = alice_and_lee();
    runner.slash(ADD, 1);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EToolChanged)]
fun request_aborts_for_an_older_tool_revision() {
    let (mut runner, lee) = alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 20_000, ctx);
    });
    runner.request_at(BOB, ADD, 0, 0, vector[lee], test_runner::inputs(), 100, COST_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EToolChanged)]
fun request_aborts_for_a_future_tool_revision() {
    let (mut runner, lee) = alice_and_lee();
    runner.request_at(BOB, ADD, 0, 1, vector[lee], test_runner::inputs(), 100, COST_MIST);
    runner.end();
}

/// The payment is the same, but the refund after a failure would be lower.
#[test, expected_failure(abort_code = invocation::ESettingsChanged)]
fun request_aborts_for_older_settings() {
    let (mut runner, lee) = alice_and_lee();
    move_margin_to_storage_fee(&mut runner);
    assert_eq!(runner.cost(ADD, 13, 100), COST_MIST);
    runner.request_at(BOB, ADD, 0, 0, vector[lee], test_runner::inputs(), 100, COST_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ESettingsChanged)]
fun request_aborts_for_future_settings() {
    let (mut runner, lee) = alice_and_lee();
    runner.request_at(BOB, ADD, 1, 0, vector[lee], test_runner::inputs(), 100, COST_MIST);
    runner.end();
}

#[test]
fun request_works_with_the_newest_revisions() {
    let (mut runner, lee) = alice_and_lee();
    move_margin_to_storage_fee(&mut runner);
    runner.request_at(BOB, ADD, 1, 0, vector[lee], test_runner::inputs(), 100, COST_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ELeaderNotAccepted)]
fun request_aborts_for_an_unlisted_leader() {
    let (mut runner, _) = alice_and_lee();
    let max = runner.register_leader(MAX);
    runner.request(BOB, ADD, vector[max]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ELeaderNotAccepted)]
fun request_with_backup_aborts_for_an_unlisted_backup() {
    let (mut runner, lee) = alice_and_lee();
    let max = runner.register_leader(MAX);
    runner.request(BOB, ADD, vector[lee, max]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ELeaderNotAccepted)]
fun request_aborts_after_the_last_leader_was_removed() {
    let (mut runner, lee) = alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| tool.remove_leader(name, lee, ctx));
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test]
fun request_works_when_the_tool_accepts_any_leader() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    let max = runner.register_leader(MAX);
    runner.request(BOB, ADD, vector[max]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ELeaderNotActive)]
fun request_aborts_for_an_inactive_leader() {
    let (mut runner, lee) = alice_and_lee();
    runner.leader_tx!(LEE, lee, |leader, _, _, ctx| leader.deactivate(ctx));
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ELeaderNotActive)]
fun request_aborts_for_an_unregistered_leader() {
    let (mut runner, lee) = alice_and_lee();
    runner.unregister_leader(LEE, lee);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ELeaderNotActive)]
fun request_aborts_for_a_suspended_leader() {
    let (mut runner, lee) = alice_and_lee();
    runner.slash_leader(lee, 1);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun request_aborts_while_the_registry_accepts_nothing() {
    let (mut runner, lee) = alice_and_lee();
    runner.configure_leaders(false);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test]
fun request_accepts_inputs_and_outcome_limit_of_maximum_size() {
    let (mut runner, lee) = alice_and_lee();
    // The inputs have 1 byte for the count, 2 for the name, 1 for the kind, and 3 for the length.
    let inputs = port(b"a", text(65_529, 0x31));
    assert_eq!(inputs.size(), 65_536);
    let cost_mist = runner.cost(ADD, 65_536, 65_536);
    // The payment is 3 450 000 MIST, 100 MIST for each byte of the inputs, and 7 600 MIST for each
    // byte of the outcome.
    assert_eq!(cost_mist, 5_000_000 + 3_520_000 + 504_627_200);
    runner.request_for(BOB, ADD, vector[lee], inputs, 65_536, cost_mist);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EInputsTooLarge)]
fun request_aborts_when_the_inputs_are_too_large() {
    let (mut runner, lee) = alice_and_lee();
    let cost_mist = runner.cost(ADD, 65_537, 0);
    let inputs = port(b"a", text(65_530, 0x31));
    runner.request_for(BOB, ADD, vector[lee], inputs, 0, cost_mist);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EOutcomeLimitTooLarge)]
fun request_aborts_when_the_outcome_limit_is_too_large() {
    let (mut runner, lee) = alice_and_lee();
    let cost_mist = runner.cost(ADD, 13, 65_537);
    runner.request_for(BOB, ADD, vector[lee], test_runner::inputs(), 65_537, cost_mist);
    runner.end();
}

#[test]
fun request_accepts_min_outcome_bytes() {
    let (mut runner, lee) = alice_and_lee();
    update_min_outcome_bytes(&mut runner, 100);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EOutcomeLimitTooSmall)]
fun request_aborts_below_min_outcome_bytes() {
    let (mut runner, lee) = alice_and_lee();
    update_min_outcome_bytes(&mut runner, 101);
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EToolWithoutKey)]
fun request_aborts_when_a_signing_tool_has_no_key() {
    let (mut runner, lee) = alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
        tool.remove_key(name, key(1), ctx);
    });
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongPayment)]
fun request_aborts_for_a_lower_payment() {
    let (mut runner, lee) = alice_and_lee();
    runner.request_for(BOB, ADD, vector[lee], test_runner::inputs(), 100, COST_MIST - 1);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongPayment)]
fun request_aborts_for_a_higher_payment() {
    let (mut runner, lee) = alice_and_lee();
    runner.request_for(BOB, ADD, vector[lee], test_runner::inputs(), 100, COST_MIST + 1);
    runner.end();
}

// === Helpers ===

/// Move the margin for settling to the storage fee, which is also a part of the fee for failing.
fun move_margin_to_storage_fee(runner: &mut Runner) {
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.configure(
            admin,
            true,
            10_000_000_000,
            604_800_000,
            1_000,
            2_520_000,
            0,
            100,
            7_600,
            15_000,
            65_536,
            ctx,
        );
    });
}

fun update_min_outcome_bytes(runner: &mut Runner, bytes: u64) {
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, bytes, ctx);
    });
}
