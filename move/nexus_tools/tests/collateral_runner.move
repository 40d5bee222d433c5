/// Collateral apart from tools and leaders: 100 MIST with a delay of 1 s, and its clock.
#[test_only]
module nexus_tools::collateral_runner;

use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::test_runner::{evidence, mint};
use std::unit_test::destroy;
use sui::clock::{Self, Clock};

const OWNER: address = @0xA;
const TOOL: address = @0x7;

const DAY_MS: u64 = 86_400_000;

// === States ===

/// 100 MIST with a delay of 1 s, at 0 ms.
public fun locked(): (Collateral, Clock) {
    let (mut collateral, clock) = (collateral::none(), new_clock());
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    (collateral, clock)
}

/// The same, unregistered at 0 ms.
public fun unregistered(): (Collateral, Clock) {
    let (mut collateral, clock) = locked();
    unregister(&mut collateral, &clock);
    (collateral, clock)
}

/// The same, claimed after 1 s.
public fun claimed(): (Collateral, Clock) {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    (collateral, clock)
}

/// 100 MIST of which 30 were slashed.
public fun slashed(): (Collateral, Clock) {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    (collateral, clock)
}

public fun end(collateral: Collateral, clock: Clock) {
    destroy(collateral);
    clock.destroy_for_testing();
}

// === Acts ===

public fun new_clock(): Clock { clock::create_for_testing(&mut by_owner()) }

public fun lock(
    collateral: &mut Collateral,
    mist: u64,
    least_mist: u64,
    delay_ms: u64,
    max_delay_ms: u64,
    clock: &Clock,
) {
    let coin = mint(mist, &mut by_owner());
    collateral.lock(tool(), coin, least_mist, delay_ms, max_delay_ms, clock);
}

public fun unregister(collateral: &mut Collateral, clock: &Clock) {
    collateral.unregister(tool(), clock);
}

public fun cancel_unregister(collateral: &mut Collateral) { collateral.cancel_unregister(tool()); }

/// Claims, and returns how much that is.
public fun claim(collateral: &mut Collateral, clock: &Clock): u64 {
    let before_mist = collateral.balance_mist();
    collateral.claim(tool(), clock, &by_owner());
    before_mist - collateral.balance_mist()
}

public fun top_up(collateral: &mut Collateral, mist: u64) {
    collateral.top_up(tool(), mint(mist, &mut by_owner()));
}

public fun propose(collateral: &mut Collateral, amount_mist: u64, clock: &Clock) {
    collateral.propose_slash(tool(), amount_mist, b"It lied.".to_string(), evidence(), clock);
}

public fun propose_for(
    collateral: &mut Collateral,
    reason: vector<u8>,
    evidence: vector<u8>,
    clock: &Clock,
) {
    collateral.propose_slash(tool(), 1, reason.to_string(), evidence, clock);
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
