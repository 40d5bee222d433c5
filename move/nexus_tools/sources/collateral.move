/// SUI that its owner, a tool or a leader, locks as a pledge.
///
/// It comes back in two steps: `unregister` starts a timer, and `claim` returns what is left once
/// the delay is over. Until then it can be slashed, also while the timer runs. The delay is fixed
/// when the collateral is locked, so no later change of settings reaches what is locked already.
///
/// A `Collateral` can be neither copied nor dropped, and `claim` destroys it: a timer never
/// outlives the SUI that it was started for.
module nexus_tools::collateral;

use sui::balance::Balance;
use sui::clock::Clock;
use sui::sui::SUI;

// === Errors ===

/// The owner is unregistered already: wait for the delay to end, or cancel the unregistration.
const EAlreadyUnregistered: u64 = 0;
/// The owner is not unregistered: unregister it first.
const ENotUnregistered: u64 = 1;
/// The unregister delay is not over: claim later.
const EDelayNotOver: u64 = 2;
/// No collateral is left: there is nothing to slash.
const EEmpty: u64 = 3;
/// The amount is not what the collateral lacks: bring exactly `shortfall_mist`.
const EWrongTopUp: u64 = 4;

// === Structs ===

/// Locked SUI and the terms under which it comes back.
public struct Collateral has store {
    balance: Balance<SUI>,
    /// What was locked at first. If less is there, it was slashed, and its owner is suspended.
    required_mist: u64,
    /// How long it stays locked once its owner is unregistered.
    delay_ms: u64,
    unregistered_at_ms: Option<u64>,
}

// === Views ===

/// What is there.
public fun balance_mist(self: &Collateral): u64 { self.balance.value() }

/// What ought to be there.
public fun required_mist(self: &Collateral): u64 { self.required_mist }

/// What is missing.
public fun shortfall_mist(self: &Collateral): u64 { self.required_mist - self.balance.value() }

/// How long it stays locked once its owner is unregistered.
public fun delay_ms(self: &Collateral): u64 { self.delay_ms }

/// When its owner was unregistered, if it is.
public fun unregistered_at_ms(self: &Collateral): Option<u64> { self.unregistered_at_ms }

/// When `claim` becomes possible. Aborts with `ENotUnregistered`.
public fun claimable_at_ms(self: &Collateral): u64 {
    assert!(self.is_unregistered(), ENotUnregistered);
    *self.unregistered_at_ms.borrow() + self.delay_ms
}

/// Whether the timer runs.
public fun is_unregistered(self: &Collateral): bool { self.unregistered_at_ms.is_some() }

/// Whether everything that is required is there. If not, its owner is suspended.
public fun is_whole(self: &Collateral): bool { self.shortfall_mist() == 0 }

/// Whether it stands behind its owner, who is neither suspended nor unregistered.
public fun is_in_force(self: &Collateral): bool { self.is_whole() && !self.is_unregistered() }

// === Package functions ===

/// Locks `balance`, to come back `delay_ms` after its owner is unregistered.
public(package) fun lock(balance: Balance<SUI>, delay_ms: u64): Collateral {
    Collateral {
        required_mist: balance.value(),
        balance,
        delay_ms,
        unregistered_at_ms: option::none(),
    }
}

/// Starts the timer. Aborts with `EAlreadyUnregistered`.
public(package) fun unregister(self: &mut Collateral, clock: &Clock) {
    assert!(!self.is_unregistered(), EAlreadyUnregistered);
    self.unregistered_at_ms.fill(clock.timestamp_ms());
}

/// Stops the timer. Aborts with `ENotUnregistered`.
public(package) fun cancel_unregister(self: &mut Collateral) {
    assert!(self.is_unregistered(), ENotUnregistered);
    self.unregistered_at_ms.extract();
}

/// Returns what is left. Aborts with `ENotUnregistered` or `EDelayNotOver`.
public(package) fun claim(self: Collateral, clock: &Clock): Balance<SUI> {
    assert!(clock.timestamp_ms() >= self.claimable_at_ms(), EDelayNotOver);
    let Collateral { balance, .. } = self;
    balance
}

/// Takes `amount_mist`, or what is left if that is less. Aborts with `EEmpty`.
public(package) fun slash(self: &mut Collateral, amount_mist: u64): Balance<SUI> {
    let balance_mist = self.balance.value();
    assert!(balance_mist > 0, EEmpty);
    self.balance.split(amount_mist.min(balance_mist))
}

/// Brings back what was slashed. Aborts with `EWrongTopUp`.
public(package) fun top_up(self: &mut Collateral, balance: Balance<SUI>) {
    assert!(balance.value() == self.shortfall_mist(), EWrongTopUp);
    self.balance.join(balance);
}
