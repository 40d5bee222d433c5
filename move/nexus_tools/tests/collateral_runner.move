/// Helpers for tests of collateral without a tool or leader. The collateral is 100 MIST, with a
/// delay of 1 s and a clock.
#[test_only]
module nexus_tools::collateral_runner;

use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::test_runner::{evidence_digest, mint};
use std::unit_test::destroy;
use sui::clock::{Self, Clock};

const OWNER: address = @0xA;
const TOOL: address = @0x7;

const DAY_MS: u64 = 86_400_000;

// === States ===

/// Lock 100 MIST with a delay of 1 s at 0 ms.
public fun locked_collateral(): (Collateral, Clock) {
    let (mut collateral, clock) = (collateral::empty(), new_clock());
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    (collateral, clock)
}

/// Lock 100 MIST with a delay of 1 s, and unregister at 0 ms.
public fun unregistered_collateral(): (Collateral, Clock) {
    let (mut collateral, clock) = locked_collateral();
    unregister(&mut collateral, &clock);
    (collateral, clock)
}

/// Lock 100 MIST with a delay of 1 s, unregister, and claim after 1 s.
public fun claimed_collateral(): (Collateral, Clock) {
    let (mut collateral, mut clock) = unregistered_collateral();
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    (collateral, clock)
}

/// Lock 100 MIST, and slash 30 MIST.
public fun slashed_collateral(): (Collateral, Clock) {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    (collateral, clock)
}

public fun end(collateral: Collateral, clock: Clock) {
    destroy(collateral);
    clock.destroy_for_testing();
}

// === Operations ===

public fun new_clock(): Clock { clock::create_for_testing(&mut by_owner()) }

public fun lock(
    collateral: &mut Collateral,
    mist: u64,
    min_mist: u64,
    delay_ms: u64,
    max_delay_ms: u64,
    clock: &Clock,
) {
    let coin = mint(mist, &mut by_owner());
    collateral.lock(tool(), coin, min_mist, delay_ms, max_delay_ms, clock);
}

public fun unregister(collateral: &mut Collateral, clock: &Clock) {
    collateral.unregister(tool(), clock);
}

public fun cancel_unregister(collateral: &mut Collateral) { collateral.cancel_unregister(tool()); }

/// Claim the collateral, and return the claimed amount.
public fun claim(collateral: &mut Collateral, clock: &Clock): u64 {
    let before_mist = collateral.balance_mist();
    collateral.claim(tool(), clock, &by_owner());
    before_mist - collateral.balance_mist()
}

public fun top_up(collateral: &mut Collateral, mist: u64) {
    collateral.top_up(tool(), mint(mist, &mut by_owner()));
}

public fun propose(collateral: &mut Collateral, amount_mist: u64, clock: &Clock) {
    collateral.propose_slash(tool(), amount_mist, b"It lied.".to_string(), evidence_digest(), clock);
}

public fun propose_for(
    collateral: &mut Collateral,
    reason: vector<u8>,
    evidence_digest: vector<u8>,
    clock: &Clock,
) {
    collateral.propose_slash(tool(), 1, reason.to_string(), evidence_digest, clock);
}

public fun execute(collateral: &mut Collateral, clock: &Clock) {
    collateral.execute_slash(tool(), clock);
}

public fun cancel_slash(collateral: &mut Collateral, clock: &Clock) {
    collateral.cancel_slash(tool(), clock);
}

// === Private functions ===

fun by_owner(): TxContext { tx_context::new_from_hint(OWNER, 0, 0, 0, 0) }

fun tool(): ID { TOOL.to_id() }
