/// SUI that its owner, a tool or a leader, locks as a pledge.
///
/// It comes back in two steps: `unregister` starts a timer, and `claim` returns it once the delay
/// is over. The delay is fixed when the collateral is locked, so no later change of settings
/// reaches what is locked already.
///
/// The admin may slash it, in two steps too: a slash is proposed, with a reason and the digest of
/// the evidence, and executed on the 4th day, or cancelled. What is slashed is burnt: nobody earns
/// from it. It comes to half of what was locked at most, until its owner locks it anew or tops it
/// up. A pending slash suspends nothing and holds back its amount alone: the rest is claimed as if
/// there were none.
///
/// A `Collateral` can be neither copied nor dropped: a timer never outlives the SUI that it was
/// started for. Once all of it is claimed, it is empty until it is locked anew.
///
/// Events name the tool or the leader by its id.
module nexus_tools::collateral;

use nexus_tools::payment;
use std::string::String;
use sui::balance::{Self, Balance};
use sui::clock::Clock;
use sui::coin::Coin;
use sui::event;
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
/// All that was slashed since the collateral was locked or topped up would come to more than half.
const ESlashTooLarge: u64 = 8;
/// A reason has 1 to 500 bytes.
const EInvalidReason: u64 = 9;
/// The digest of the evidence has 32 bytes.
const EInvalidEvidence: u64 = 10;
/// The slash was proposed less than 3 days ago: execute it later.
const ENotDue: u64 = 11;
/// The coin is less than the registry's `collateral_mist`: lock more.
const ECollateralTooSmall: u64 = 12;
/// The registry's `unregister_delay_ms` is longer than what was consented to.
const EDelayTooLong: u64 = 13;
/// The collateral was claimed: re-register first.
const EClaimed: u64 = 14;
/// The collateral was not claimed: there is nothing to re-register.
const ENotClaimed: u64 = 15;
/// The unregister delay is over: no slash can be proposed any more.
const EDelayOver: u64 = 16;

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
/// How long a slash can be executed after that. Then it is void, and holds back nothing: 4 days
/// after the last moment at which it can be proposed, which is when the delay ends, an owner has
/// all that is its own. So who unregisters within 3 days of the proposal of an upgrade has left
/// before the 14th day, on which it can be executed, whatever the admin does.
const EXECUTABLE_MS: u64 = DAY_MS;
const MAX_REASON_BYTES: u64 = 500;
const DIGEST_BYTES: u64 = 32;
/// Where SUI goes to be burnt: SUI has no function for it, and nobody has the key of this address.
const NOBODY: address = @0x0;

// === Events ===

/// Collateral was locked, at the registration of a tool or a leader or when it came back.
public struct CollateralLocked has copy, drop {
    object: ID,
    amount_mist: u64,
    delay_ms: u64,
    locked_at_ms: u64,
}

/// A tool or a leader was unregistered.
public struct Unregistered has copy, drop {
    object: ID,
    unregistered_at_ms: u64,
    claimable_at_ms: u64,
}

/// An unregistration was taken back.
public struct UnregisterCancelled has copy, drop {
    object: ID,
}

/// Collateral was returned to its owner, but for what a pending slash holds back.
public struct CollateralClaimed has copy, drop {
    object: ID,
    amount_mist: u64,
    held_back_mist: u64,
}

/// What was slashed was brought back.
public struct CollateralToppedUp has copy, drop {
    object: ID,
    amount_mist: u64,
}

/// The admin proposed to slash a tool or a leader.
public struct SlashProposed has copy, drop {
    object: ID,
    amount_mist: u64,
    reason: String,
    evidence: vector<u8>,
    due_at_ms: u64,
    void_at_ms: u64,
}

/// A proposed slash was taken back.
public struct SlashCancelled has copy, drop {
    object: ID,
    amount_mist: u64,
}

/// A tool or a leader was slashed, and is suspended. What was taken is burnt.
public struct Slashed has copy, drop {
    object: ID,
    amount_mist: u64,
    remaining_mist: u64,
    reason: String,
    evidence: vector<u8>,
}

// === Structs ===

/// Locked SUI and the terms under which it comes back.
public struct Collateral has store {
    balance: Balance<SUI>,
    /// What was locked at first. If less is there, it was slashed, and its owner is suspended. 0
    /// once all is claimed: nobody can lock that little.
    required_mist: u64,
    /// How long it stays locked once its owner is unregistered.
    delay_ms: u64,
    unregistered_at_ms: Option<u64>,
    /// What was slashed since it was locked or topped up.
    slashed_mist: u64,
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

/// Whether its owner is unregistered, and the delay over.
public fun is_claimable(self: &Collateral, clock: &Clock): bool {
    self.unregistered_at_ms.is_some_and!(|at_ms| clock.timestamp_ms() >= *at_ms + self.delay_ms)
}

/// What a pending slash keeps from being claimed.
public fun held_back_mist(self: &Collateral, clock: &Clock): u64 {
    if (self.has_pending_slash(clock)) self.slash.borrow().amount_mist else 0
}

/// Whether a slash is proposed, and neither executed nor cancelled nor void.
public fun has_pending_slash(self: &Collateral, clock: &Clock): bool {
    self.slash.is_some_and!(|slash| clock.timestamp_ms() < slash.void_at_ms())
}

/// What may still be slashed until the collateral is locked anew or topped up.
public fun slashable_mist(self: &Collateral): u64 {
    (self.required_mist / 2 - self.slashed_mist).min(self.balance.value())
}

/// Whether the timer runs.
public fun is_unregistered(self: &Collateral): bool { self.unregistered_at_ms.is_some() }

/// Whether all of it was claimed.
public fun is_claimed(self: &Collateral): bool { self.required_mist == 0 }

/// Whether everything that is required is there. If not, its owner is suspended.
public fun is_whole(self: &Collateral): bool { !self.is_claimed() && self.shortfall_mist() == 0 }

/// Whether it stands behind its owner, who is neither suspended nor unregistered.
public fun is_in_force(self: &Collateral): bool { self.is_whole() && !self.is_unregistered() }

/// Whether settings may ask for such collateral and delay.
public fun are_terms(collateral_mist: u64, delay_ms: u64): bool {
    MIN_MIST <= collateral_mist && collateral_mist <= MAX_MIST &&
    MIN_DELAY_MS <= delay_ms && delay_ms <= MAX_DELAY_MS
}

// === Package functions ===

/// Nothing, to be locked by `lock`.
public(package) fun none(): Collateral {
    Collateral {
        balance: balance::zero(),
        required_mist: 0,
        delay_ms: 0,
        unregistered_at_ms: option::none(),
        slashed_mist: 0,
        slash: option::none(),
    }
}

/// Locks a coin of at least `least_mist`, to come back `delay_ms` after its owner is unregistered.
/// Aborts with `ENotClaimed`, `ECollateralTooSmall` or `EDelayTooLong`.
public(package) fun lock(
    self: &mut Collateral,
    object: ID,
    coin: Coin<SUI>,
    least_mist: u64,
    delay_ms: u64,
    max_delay_ms: u64,
    clock: &Clock,
) {
    assert!(self.is_claimed(), ENotClaimed);
    let amount_mist = coin.value();
    assert!(amount_mist >= least_mist, ECollateralTooSmall);
    assert!(delay_ms <= max_delay_ms, EDelayTooLong);
    self.balance.join(coin.into_balance());
    self.required_mist = amount_mist;
    self.delay_ms = delay_ms;
    let locked_at_ms = clock.timestamp_ms();
    event::emit(CollateralLocked { object, amount_mist, delay_ms, locked_at_ms });
}

/// Starts the timer. Aborts with `EClaimed` or `EAlreadyUnregistered`.
public(package) fun unregister(self: &mut Collateral, object: ID, clock: &Clock) {
    self.assert_locked();
    assert!(!self.is_unregistered(), EAlreadyUnregistered);
    let unregistered_at_ms = clock.timestamp_ms();
    self.unregistered_at_ms.fill(unregistered_at_ms);
    let claimable_at_ms = self.claimable_at_ms();
    event::emit(Unregistered { object, unregistered_at_ms, claimable_at_ms });
}

/// Stops the timer. Aborts with `ENotUnregistered`.
public(package) fun cancel_unregister(self: &mut Collateral, object: ID) {
    assert!(self.is_unregistered(), ENotUnregistered);
    self.unregistered_at_ms.extract();
    event::emit(UnregisterCancelled { object });
}

/// Pays what is there and not held back to the sender. Aborts with `EClaimed`, `ENotUnregistered`,
/// `EDelayNotOver` or `EHeldBack`.
public(package) fun claim(self: &mut Collateral, object: ID, clock: &Clock, ctx: &TxContext) {
    self.assert_locked();
    assert!(self.is_unregistered(), ENotUnregistered);
    assert!(self.is_claimable(clock), EDelayNotOver);
    let held_back_mist = self.held_back_mist(clock);
    let balance_mist = self.balance.value();
    assert!(held_back_mist == 0 || balance_mist > held_back_mist, EHeldBack);
    let amount_mist = balance_mist - held_back_mist;
    payment::pay(self.balance.split(amount_mist), ctx.sender());
    if (held_back_mist == 0) {
        self.required_mist = 0;
        self.slashed_mist = 0;
        self.unregistered_at_ms = option::none();
        self.slash = option::none();
    };
    event::emit(CollateralClaimed { object, amount_mist, held_back_mist });
}

/// Brings back what was slashed. Aborts with `EClaimed` or `EWrongTopUp`.
public(package) fun top_up(self: &mut Collateral, object: ID, coin: Coin<SUI>) {
    self.assert_locked();
    let amount_mist = coin.value();
    assert!(amount_mist == self.shortfall_mist(), EWrongTopUp);
    self.balance.join(coin.into_balance());
    self.slashed_mist = 0;
    event::emit(CollateralToppedUp { object, amount_mist });
}

/// Proposes to burn `amount_mist`. Aborts with `EWrongSlash`, `EInvalidReason`, `EInvalidEvidence`,
/// `EDelayOver`, `ESlashPending` or `ESlashTooLarge`.
public(package) fun propose_slash(
    self: &mut Collateral,
    object: ID,
    amount_mist: u64,
    reason: String,
    evidence: vector<u8>,
    clock: &Clock,
) {
    assert!(amount_mist > 0 && amount_mist <= self.balance.value(), EWrongSlash);
    assert!(!reason.is_empty() && reason.length() <= MAX_REASON_BYTES, EInvalidReason);
    assert!(evidence.length() == DIGEST_BYTES, EInvalidEvidence);
    assert!(!self.is_claimable(clock), EDelayOver);
    assert!(!self.has_pending_slash(clock), ESlashPending);
    assert!(amount_mist <= self.slashable_mist(), ESlashTooLarge);
    let slash = Slash { amount_mist, reason, evidence, proposed_at_ms: clock.timestamp_ms() };
    self.slash = option::some(slash);
    let (due_at_ms, void_at_ms) = (slash.due_at_ms(), slash.void_at_ms());
    event::emit(SlashProposed { object, amount_mist, reason, evidence, due_at_ms, void_at_ms });
}

/// Burns what was proposed. Aborts with `ENoSlashPending` or `ENotDue`.
public(package) fun execute_slash(self: &mut Collateral, object: ID, clock: &Clock) {
    let slash = self.end_slash(clock);
    assert!(clock.timestamp_ms() >= slash.due_at_ms(), ENotDue);
    let Slash { amount_mist, reason, evidence, .. } = slash;
    payment::pay(self.balance.split(amount_mist), NOBODY);
    self.slashed_mist = self.slashed_mist + amount_mist;
    let remaining_mist = self.balance.value();
    event::emit(Slashed { object, amount_mist, remaining_mist, reason, evidence });
}

/// Takes a proposal back. Aborts with `ENoSlashPending`.
public(package) fun cancel_slash(self: &mut Collateral, object: ID, clock: &Clock) {
    let amount_mist = self.end_slash(clock).amount_mist;
    event::emit(SlashCancelled { object, amount_mist });
}

// === Private functions ===

/// From when on the slash can be executed.
fun due_at_ms(self: &Slash): u64 { self.proposed_at_ms + NOTICE_MS }

/// From when on the slash can be executed no longer.
fun void_at_ms(self: &Slash): u64 { self.due_at_ms() + EXECUTABLE_MS }

fun end_slash(self: &mut Collateral, clock: &Clock): Slash {
    assert!(self.has_pending_slash(clock), ENoSlashPending);
    self.slash.extract()
}

fun assert_locked(self: &Collateral) { assert!(!self.is_claimed(), EClaimed); }
