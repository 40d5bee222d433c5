/// SUI that the owner of a tool or a leader locks as collateral.
///
/// The owner gets the collateral back in two steps. `unregister` starts a delay, and `claim`
/// returns the collateral after the delay. The length of the delay is fixed when the collateral is
/// locked. Later changes of settings do not affect it.
///
/// The admin can slash collateral in two steps. A slash is proposed, with a reason and the digest
/// of the evidence. The admin can execute it on the fourth day, or cancel it. Slashed SUI is burnt,
/// so no one earns from a slash. Slashes take at most half of the locked amount until the owner
/// tops up the collateral or locks it again. A pending slash does not suspend the tool or leader,
/// and locks only its own amount. The owner can claim the rest.
///
/// A `Collateral` cannot be copied or dropped, so a delay cannot outlive the SUI for which it was
/// started. After the owner has claimed all SUI, the `Collateral` is empty until SUI is locked
/// again.
///
/// Events identify the tool or the leader by its ID.
module nexus_tools::collateral;

use nexus_tools::payment;
use std::string::String;
use sui::balance::{Self, Balance};
use sui::clock::Clock;
use sui::coin::Coin;
use sui::event;
use sui::sui::SUI;

// === Errors ===

/// The tool or leader is already unregistered: wait for the delay to end, or cancel the
/// unregistration.
const EAlreadyUnregistered: u64 = 0;
/// The tool or leader is not unregistered: unregister it first.
const ENotUnregistered: u64 = 1;
/// The unregister delay is not over: claim later.
const EDelayNotOver: u64 = 2;
/// The rest of the collateral is locked for a pending slash: claim it when the slash is cancelled
/// or has expired.
const ELockedForSlash: u64 = 3;
/// The amount differs from the missing collateral: pay exactly `shortfall_mist`.
const EWrongTopUpAmount: u64 = 4;
/// A slash is pending: execute or cancel it first.
const ESlashPending: u64 = 5;
/// No slash is pending: it was not proposed, or it was executed, cancelled or has expired.
const ENoSlashPending: u64 = 6;
/// The amount of a slash must be between 1 MIST and the balance.
const EInvalidSlashAmount: u64 = 7;
/// Slashes since the collateral was locked or topped up would exceed half of the locked amount.
const ESlashTooLarge: u64 = 8;
/// The reason must be 1 to 500 bytes long.
const EInvalidReason: u64 = 9;
/// The digest of the evidence must be 32 bytes long.
const EInvalidEvidence: u64 = 10;
/// The slash was proposed less than 3 days ago: execute it later.
const ESlashNotDue: u64 = 11;
/// The coin is less than the registry's `collateral_mist`: lock more.
const ECollateralTooSmall: u64 = 12;
/// The registry's `unregister_delay_ms` is longer than the accepted maximum.
const EDelayTooLong: u64 = 13;
/// The collateral was already claimed: re-register first.
const EAlreadyClaimed: u64 = 14;
/// The collateral is not claimed: nothing can be re-registered.
const ENotClaimed: u64 = 15;
/// The unregister delay is over: the collateral can no longer be slashed.
const EDelayOver: u64 = 16;

// === Constants ===

const HOUR_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// The bounds of the settings, which are 0.1 SUI to 1 000 SUI, and 1 hour to 7 days. The longest
/// delay and the notice of a slash are together shorter than the notice of a package upgrade.
const MIN_MIST: u64 = 100_000_000;
const MAX_MIST: u64 = 1_000_000_000_000;
const MIN_DELAY_MS: u64 = HOUR_MS;
const MAX_DELAY_MS: u64 = 7 * DAY_MS;
/// The time between the proposal of a slash and its first possible execution.
const NOTICE_MS: u64 = 3 * DAY_MS;
/// The time in which a slash can be executed. After this time, the slash has expired and does not
/// lock SUI.
///
/// A slash can be proposed until the delay ends. So an owner can claim the remaining collateral at
/// the latest 4 days after the delay ends. An owner that unregisters within 3 days after the
/// proposal of a package upgrade can claim before the upgrade is executed on the 14th day. The
/// admin cannot prevent this.
const EXECUTION_WINDOW_MS: u64 = DAY_MS;
const MAX_REASON_BYTES: u64 = 500;
const DIGEST_BYTES: u64 = 32;
/// The address to which slashed SUI is sent. Move code cannot burn SUI, and no one has a key of
/// this address.
const BURN_ADDRESS: address = @0x0;

// === Events ===

/// Collateral was locked by a registration or a re-registration.
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

/// An unregistration was cancelled.
public struct UnregistrationCancelled has copy, drop {
    object: ID,
}

/// Collateral was returned to its owner. A pending slash locks `locked_for_slash_mist`.
public struct CollateralClaimed has copy, drop {
    object: ID,
    amount_mist: u64,
    locked_for_slash_mist: u64,
}

/// Slashed collateral was restored.
public struct CollateralToppedUp has copy, drop {
    object: ID,
    amount_mist: u64,
}

/// The admin proposed to slash a tool or a leader.
public struct SlashProposed has copy, drop {
    object: ID,
    amount_mist: u64,
    reason: String,
    evidence_digest: vector<u8>,
    executable_at_ms: u64,
    expires_at_ms: u64,
}

/// A proposed slash was cancelled.
public struct SlashCancelled has copy, drop {
    object: ID,
    amount_mist: u64,
}

/// A tool or a leader was slashed and is suspended. The amount is burnt.
public struct Slashed has copy, drop {
    object: ID,
    amount_mist: u64,
    remaining_mist: u64,
    reason: String,
    evidence_digest: vector<u8>,
}

// === Structs ===

/// Locked SUI and the terms under which it is returned.
public struct Collateral has store {
    balance: Balance<SUI>,
    /// The amount that was locked, in MIST. If the balance is less, the tool or leader was slashed
    /// and is suspended. The amount is 0 after the owner has claimed all collateral, because the
    /// minimum collateral is more than 0.
    required_mist: u64,
    /// The time between `unregister` and `claim`, in ms.
    delay_ms: u64,
    unregistered_at_ms: Option<u64>,
    /// The amount that was slashed since the collateral was locked or topped up, in MIST.
    slashed_mist: u64,
    /// The last proposed slash, or none if it was executed or cancelled.
    slash: Option<Slash>,
}

/// A proposed slash.
public struct Slash has copy, drop, store {
    amount_mist: u64,
    reason: String,
    /// The digest of the evidence. Anyone who receives the evidence can compare its digest with
    /// this digest.
    evidence_digest: vector<u8>,
    proposed_at_ms: u64,
}

// === Views ===

/// Return the balance, in MIST.
public fun balance_mist(self: &Collateral): u64 { self.balance.value() }

/// Return the required balance, in MIST.
public fun required_mist(self: &Collateral): u64 { self.required_mist }

/// Return the amount that is missing from the required balance, in MIST.
public fun shortfall_mist(self: &Collateral): u64 { self.required_mist - self.balance.value() }

/// Return the time between `unregister` and `claim`, in ms.
public fun delay_ms(self: &Collateral): u64 { self.delay_ms }

/// Return the time of the unregistration in ms, or none.
public fun unregistered_at_ms(self: &Collateral): Option<u64> { self.unregistered_at_ms }

/// Return the time in ms from which `claim` is possible. Aborts with `ENotUnregistered`.
public fun claimable_at_ms(self: &Collateral): u64 {
    assert!(self.is_unregistered(), ENotUnregistered);
    *self.unregistered_at_ms.borrow() + self.delay_ms
}

/// Return whether the tool or leader is unregistered and the delay is over.
public fun is_claimable(self: &Collateral, clock: &Clock): bool {
    self.unregistered_at_ms.is_some_and!(|at_ms| clock.timestamp_ms() >= *at_ms + self.delay_ms)
}

/// Return the amount that a pending slash locks, in MIST.
public fun locked_for_slash_mist(self: &Collateral, clock: &Clock): u64 {
    if (self.has_pending_slash(clock)) self.slash.borrow().amount_mist else 0
}

/// Return whether a slash is pending: it is proposed, and not executed, cancelled or expired.
public fun has_pending_slash(self: &Collateral, clock: &Clock): bool {
    self.slash.is_some_and!(|slash| clock.timestamp_ms() < slash.expires_at_ms())
}

/// Return the amount in MIST that can still be slashed before a top-up or a re-registration.
public fun slashable_mist(self: &Collateral): u64 {
    (self.required_mist / 2 - self.slashed_mist).min(self.balance.value())
}

/// Return whether the owner has started the unregister delay.
public fun is_unregistered(self: &Collateral): bool { self.unregistered_at_ms.is_some() }

/// Return whether the owner has claimed all collateral.
public fun is_claimed(self: &Collateral): bool { self.required_mist == 0 }

/// Return whether the balance is the required balance. Otherwise the tool or leader is suspended.
public fun is_sufficient(self: &Collateral): bool {
    !self.is_claimed() && self.shortfall_mist() == 0
}

/// Return whether the tool or leader is neither suspended nor unregistered.
public fun is_active(self: &Collateral): bool { self.is_sufficient() && !self.is_unregistered() }

/// Return whether this collateral and this delay are within the bounds of the settings.
public fun are_valid_terms(collateral_mist: u64, delay_ms: u64): bool {
    MIN_MIST <= collateral_mist && collateral_mist <= MAX_MIST &&
    MIN_DELAY_MS <= delay_ms && delay_ms <= MAX_DELAY_MS
}

// === Package functions ===

/// Return an empty `Collateral`, in which the function `lock` locks SUI.
public(package) fun empty(): Collateral {
    Collateral {
        balance: balance::zero(),
        required_mist: 0,
        delay_ms: 0,
        unregistered_at_ms: option::none(),
        slashed_mist: 0,
        slash: option::none(),
    }
}

/// Lock a coin of at least `min_mist`. The owner can claim it `delay_ms` after `unregister`. Aborts
/// with `ENotClaimed`, `ECollateralTooSmall` or `EDelayTooLong`.
public(package) fun lock(
    self: &mut Collateral,
    object: ID,
    coin: Coin<SUI>,
    min_mist: u64,
    delay_ms: u64,
    max_delay_ms: u64,
    clock: &Clock,
) {
    assert!(self.is_claimed(), ENotClaimed);
    let amount_mist = coin.value();
    assert!(amount_mist >= min_mist, ECollateralTooSmall);
    assert!(delay_ms <= max_delay_ms, EDelayTooLong);
    self.balance.join(coin.into_balance());
    self.required_mist = amount_mist;
    self.delay_ms = delay_ms;
    let locked_at_ms = clock.timestamp_ms();
    event::emit(CollateralLocked { object, amount_mist, delay_ms, locked_at_ms });
}

/// Start the unregister delay. Aborts with `EAlreadyClaimed` or `EAlreadyUnregistered`.
public(package) fun unregister(self: &mut Collateral, object: ID, clock: &Clock) {
    self.assert_locked();
    assert!(!self.is_unregistered(), EAlreadyUnregistered);
    let unregistered_at_ms = clock.timestamp_ms();
    self.unregistered_at_ms.fill(unregistered_at_ms);
    let claimable_at_ms = self.claimable_at_ms();
    event::emit(Unregistered { object, unregistered_at_ms, claimable_at_ms });
}

/// Stop the unregister delay. Aborts with `ENotUnregistered`.
public(package) fun cancel_unregister(self: &mut Collateral, object: ID) {
    assert!(self.is_unregistered(), ENotUnregistered);
    self.unregistered_at_ms.extract();
    event::emit(UnregistrationCancelled { object });
}

/// Pay the balance, minus the amount that a pending slash locks, to the sender. Aborts with
/// `EAlreadyClaimed`, `ENotUnregistered`, `EDelayNotOver` or `ELockedForSlash`.
public(package) fun claim(self: &mut Collateral, object: ID, clock: &Clock, ctx: &TxContext) {
    self.assert_locked();
    assert!(self.is_unregistered(), ENotUnregistered);
    assert!(self.is_claimable(clock), EDelayNotOver);
    let locked_for_slash_mist = self.locked_for_slash_mist(clock);
    let balance_mist = self.balance.value();
    assert!(locked_for_slash_mist == 0 || balance_mist > locked_for_slash_mist, ELockedForSlash);
    let amount_mist = balance_mist - locked_for_slash_mist;
    payment::pay(self.balance.split(amount_mist), ctx.sender());
    if (locked_for_slash_mist == 0) {
        self.required_mist = 0;
        self.slashed_mist = 0;
        self.unregistered_at_ms = option::none();
        self.slash = option::none();
    };
    event::emit(CollateralClaimed { object, amount_mist, locked_for_slash_mist });
}

/// Restore slashed collateral. Aborts with `EAlreadyClaimed` or `EWrongTopUpAmount`.
public(package) fun top_up(self: &mut Collateral, object: ID, coin: Coin<SUI>) {
    self.assert_locked();
    let amount_mist = coin.value();
    assert!(amount_mist == self.shortfall_mist(), EWrongTopUpAmount);
    self.balance.join(coin.into_balance());
    self.slashed_mist = 0;
    event::emit(CollateralToppedUp { object, amount_mist });
}

/// Propose to burn `amount_mist`. Aborts with `EInvalidSlashAmount`, `EInvalidReason`,
/// `EInvalidEvidence`, `EDelayOver`, `ESlashPending` or `ESlashTooLarge`.
public(package) fun propose_slash(
    self: &mut Collateral,
    object: ID,
    amount_mist: u64,
    reason: String,
    evidence_digest: vector<u8>,
    clock: &Clock,
) {
    assert!(amount_mist > 0 && amount_mist <= self.balance.value(), EInvalidSlashAmount);
    assert!(!reason.is_empty() && reason.length() <= MAX_REASON_BYTES, EInvalidReason);
    assert!(evidence_digest.length() == DIGEST_BYTES, EInvalidEvidence);
    assert!(!self.is_claimable(clock), EDelayOver);
    assert!(!self.has_pending_slash(clock), ESlashPending);
    assert!(amount_mist <= self.slashable_mist(), ESlashTooLarge);
    let proposed_at_ms = clock.timestamp_ms();
    let slash = Slash { amount_mist, reason, evidence_digest, proposed_at_ms };
    self.slash = option::some(slash);
    let (executable_at_ms, expires_at_ms) = (slash.executable_at_ms(), slash.expires_at_ms());
    event::emit(SlashProposed {
        object,
        amount_mist,
        reason,
        evidence_digest,
        executable_at_ms,
        expires_at_ms,
    });
}

/// Burn the proposed amount. Aborts with `ENoSlashPending` or `ESlashNotDue`.
public(package) fun execute_slash(self: &mut Collateral, object: ID, clock: &Clock) {
    let slash = self.end_slash(clock);
    assert!(clock.timestamp_ms() >= slash.executable_at_ms(), ESlashNotDue);
    let Slash { amount_mist, reason, evidence_digest, .. } = slash;
    payment::pay(self.balance.split(amount_mist), BURN_ADDRESS);
    self.slashed_mist = self.slashed_mist + amount_mist;
    let remaining_mist = self.balance.value();
    event::emit(Slashed { object, amount_mist, remaining_mist, reason, evidence_digest });
}

/// Cancel the proposed slash. Aborts with `ENoSlashPending`.
public(package) fun cancel_slash(self: &mut Collateral, object: ID, clock: &Clock) {
    let amount_mist = self.end_slash(clock).amount_mist;
    event::emit(SlashCancelled { object, amount_mist });
}

// === Private functions ===

/// Return the time in ms from which the slash can be executed.
fun executable_at_ms(self: &Slash): u64 { self.proposed_at_ms + NOTICE_MS }

/// Return the time in ms from which the slash can no longer be executed.
fun expires_at_ms(self: &Slash): u64 { self.executable_at_ms() + EXECUTION_WINDOW_MS }

fun end_slash(self: &mut Collateral, clock: &Clock): Slash {
    assert!(self.has_pending_slash(clock), ENoSlashPending);
    self.slash.extract()
}

fun assert_locked(self: &Collateral) { assert!(!self.is_claimed(), EAlreadyClaimed); }
