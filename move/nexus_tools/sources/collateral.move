/// SUI that its owner, a tool or a leader, locks as a pledge.
///
/// It comes back in two steps: `unregister` starts a timer, and `claim` returns it once the delay is
/// over. The delay is fixed when the collateral is locked, so no later change of settings reaches
/// what is locked already.
///
/// The admin may slash it, in two steps too: a slash is proposed, with a reason and the digest of
/// the evidence, and executed from 3 days later on, or cancelled. What is slashed is burnt: nobody
/// earns from it. All proposals together, whatever became of them, come to half of what was locked
/// at most, until it is locked anew. A pending slash suspends nothing and holds back its amount
/// alone: the rest is claimed as if there were none.
///
/// A `Collateral` can be neither copied nor dropped, and is destroyed only when it is empty: a timer
/// never outlives the SUI that it was started for.
module nexus_tools::collateral;

use std::string::String;
use sui::balance::Balance;
use sui::clock::Clock;
use sui::sui::SUI;

// === Errors ===

/// The tool or leader is unregistered already: wait for the delay to end, or cancel that.
const EAlreadyUnregistered: u64 = 0;
/// The tool or leader is not unregistered: unregister it first.
const ENotUnregistered: u64 = 1;
/// The unregister delay is not over: claim later.
const EDelayNotOver: u64 = 2;
/// All that is left is held back by a pending slash: claim it when that is cancelled or void.
const EHeldBack: u64 = 3;
/// The amount is not what the collateral lacks: bring exactly `shortfall_mist`.
const EWrongTopUp: u64 = 4;
/// A slash is pending: execute or cancel it first.
const ESlashPending: u64 = 5;
/// No slash is pending: none was proposed, or it was executed, cancelled or became void.
const ENoSlashPending: u64 = 6;
/// A slash takes at least 1 MIST and no more than there is.
const EWrongSlash: u64 = 7;
/// All slashes that were proposed since the collateral was locked would come to more than half.
const ESlashTooLarge: u64 = 8;
/// A reason has 1 to 500 bytes.
const EInvalidReason: u64 = 9;
/// The digest of the evidence has 32 bytes.
const EInvalidEvidence: u64 = 10;
/// The slash was proposed less than 3 days ago: execute it later.
const ENotDue: u64 = 11;

// === Constants ===

const HOUR_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// Bounds of what settings may ask for: 0.1 SUI to 1 000 SUI, for an hour to a week. The longest
/// delay and the notice of a slash fit into the notice of an upgrade of the package.
const MIN_MIST: u64 = 100_000_000;
const MAX_MIST: u64 = 1_000_000_000_000;
const MIN_DELAY_MS: u64 = HOUR_MS;
const MAX_DELAY_MS: u64 = 7 * DAY_MS;
/// How long its owner and everybody else can look at a proposed slash before it is executed.
const NOTICE_MS: u64 = 3 * DAY_MS;
/// How long a slash can be executed after that. Then it is void, and holds back nothing.
const EXECUTABLE_MS: u64 = 7 * DAY_MS;
const MAX_REASON_BYTES: u64 = 500;
const DIGEST_BYTES: u64 = 32;
/// Where SUI goes to be burnt: SUI has no function for it, and nobody has the key of this address.
const NOBODY: address = @0x0;

// === Structs ===

/// Locked SUI and the terms under which it comes back.
public struct Collateral has store {
    balance: Balance<SUI>,
    /// What was locked at first. If less is there, it was slashed, and its owner is suspended.
    required_mist: u64,
    /// How long it stays locked once its owner is unregistered.
    delay_ms: u64,
    unregistered_at_ms: Option<u64>,
    /// All slashes that were proposed since it was locked.
    proposed_mist: u64,
    /// The slash that was proposed last, unless it was executed or cancelled.
    slash: Option<Slash>,
}

/// A proposed slash.
public struct Slash has copy, drop, store {
    amount_mist: u64,
    reason: String,
    /// The digest of the evidence, which anyone who is shown it can compare.
    evidence: vector<u8>,
    proposed_at_ms: u64,
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

/// What a pending slash keeps from being claimed.
public fun held_back_mist(self: &Collateral, clock: &Clock): u64 {
    if (self.has_pending_slash(clock)) self.slash.borrow().amount_mist else 0
}

/// Whether a slash is proposed, and neither executed nor cancelled nor void.
public fun has_pending_slash(self: &Collateral, clock: &Clock): bool {
    self.slash.is_some_and!(|slash| clock.timestamp_ms() < slash.void_at_ms())
}

/// What may still be proposed to be slashed until the collateral is locked anew.
public fun slashable_mist(self: &Collateral): u64 {
    (self.required_mist / 2 - self.proposed_mist).min(self.balance.value())
}

/// Whether the timer runs.
public fun is_unregistered(self: &Collateral): bool { self.unregistered_at_ms.is_some() }

/// Whether everything that is required is there. If not, its owner is suspended.
public fun is_whole(self: &Collateral): bool { self.shortfall_mist() == 0 }

/// Whether it stands behind its owner, who is neither suspended nor unregistered.
public fun is_in_force(self: &Collateral): bool { self.is_whole() && !self.is_unregistered() }

/// From when on the slash can be executed.
public fun due_at_ms(self: &Slash): u64 { self.proposed_at_ms + NOTICE_MS }

/// From when on the slash can be executed no longer.
public fun void_at_ms(self: &Slash): u64 { self.due_at_ms() + EXECUTABLE_MS }

/// Whether settings may ask for such collateral and delay.
public fun are_terms(collateral_mist: u64, delay_ms: u64): bool {
    MIN_MIST <= collateral_mist && collateral_mist <= MAX_MIST &&
    MIN_DELAY_MS <= delay_ms && delay_ms <= MAX_DELAY_MS
}

// === Package functions ===

/// Locks `balance`, to come back `delay_ms` after its owner is unregistered.
public(package) fun lock(balance: Balance<SUI>, delay_ms: u64): Collateral {
    Collateral {
        required_mist: balance.value(),
        balance,
        delay_ms,
        unregistered_at_ms: option::none(),
        proposed_mist: 0,
        slash: option::none(),
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

/// Returns what is there and not held back. Aborts with `ENotUnregistered`, `EDelayNotOver` or
/// `EHeldBack`.
public(package) fun claim(self: &mut Collateral, clock: &Clock): Balance<SUI> {
    assert!(clock.timestamp_ms() >= self.claimable_at_ms(), EDelayNotOver);
    let held_back_mist = self.held_back_mist(clock);
    let balance_mist = self.balance.value();
    assert!(held_back_mist == 0 || balance_mist > held_back_mist, EHeldBack);
    self.balance.split(balance_mist - held_back_mist)
}

/// Ends a collateral of which everything was claimed or burnt.
public(package) fun destroy_empty(self: Collateral) {
    let Collateral { balance, .. } = self;
    balance.destroy_zero();
}

/// Brings back what was slashed. Aborts with `EWrongTopUp`.
public(package) fun top_up(self: &mut Collateral, balance: Balance<SUI>) {
    assert!(balance.value() == self.shortfall_mist(), EWrongTopUp);
    self.balance.join(balance);
}

/// Proposes to burn `amount_mist`, and returns the proposal. Aborts with `EWrongSlash`,
/// `EInvalidReason`, `EInvalidEvidence`, `ESlashPending` or `ESlashTooLarge`.
public(package) fun propose_slash(
    self: &mut Collateral,
    amount_mist: u64,
    reason: String,
    evidence: vector<u8>,
    clock: &Clock,
): Slash {
    assert!(amount_mist > 0 && amount_mist <= self.balance.value(), EWrongSlash);
    assert!(!reason.is_empty() && reason.length() <= MAX_REASON_BYTES, EInvalidReason);
    assert!(evidence.length() == DIGEST_BYTES, EInvalidEvidence);
    assert!(!self.has_pending_slash(clock), ESlashPending);
    assert!(amount_mist <= self.slashable_mist(), ESlashTooLarge);
    let slash = Slash { amount_mist, reason, evidence, proposed_at_ms: clock.timestamp_ms() };
    self.proposed_mist = self.proposed_mist + amount_mist;
    self.slash = option::some(slash);
    slash
}

/// Burns what was proposed, and returns the proposal. Aborts with `ENoSlashPending` or `ENotDue`.
public(package) fun execute_slash(
    self: &mut Collateral,
    clock: &Clock,
    ctx: &mut TxContext,
): Slash {
    let slash = self.cancel_slash(clock);
    assert!(clock.timestamp_ms() >= slash.due_at_ms(), ENotDue);
    let slashed = self.balance.split(slash.amount_mist);
    transfer::public_transfer(slashed.into_coin(ctx), NOBODY);
    slash
}

/// Takes a proposal back, and returns it. Aborts with `ENoSlashPending`.
public(package) fun cancel_slash(self: &mut Collateral, clock: &Clock): Slash {
    assert!(self.has_pending_slash(clock), ENoSlashPending);
    self.slash.extract()
}

/// What a slash takes.
public(package) fun amount_mist(self: &Slash): u64 { self.amount_mist }

/// Why.
public(package) fun reason(self: &Slash): String { self.reason }

/// The digest of the evidence.
public(package) fun evidence(self: &Slash): vector<u8> { self.evidence }
