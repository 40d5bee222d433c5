/// The registry of leaders: who may carry invocations to tools and close them, and for what fee.
///
/// A leader locks collateral and gets a `LeaderCap`, whose id is the leader's. It becomes
/// responsible for new invocations while it is active. A leader that stops stays bound to what it
/// is already responsible for. One that was slashed is suspended: it closes nothing until it tops
/// up. What leads out (`deactivate`, `unregister`, `claim`, `delete`) depends on no version of the
/// package and on no setting.
module nexus_tools::leader_registry;

use nexus_tools::admin::AdminCap;
use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::version::{Self, Version};
use std::string::String;
use sui::bcs;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::event;
use sui::hash;
use sui::sui::SUI;
use sui::table::{Self, Table};

// === Errors ===

/// The settings leave their bounds, or a failure pays more than a settlement.
const EInvalidSettings: u64 = 0;
/// Only listed addresses may register: ask the admin to list the sender.
const ENotAdmitted: u64 = 1;
/// The coin is less than the registry's `collateral_mist`: lock more.
const ECollateralTooSmall: u64 = 2;
/// The name is longer than 200 bytes: shorten it.
const ENameTooLong: u64 = 3;
/// There is no leader with this id.
const EUnknownLeader: u64 = 4;
/// The leader is active already.
const EAlreadyActive: u64 = 5;
/// The leader is not active.
const ENotActive: u64 = 6;
/// The leader is suspended or unregistered: top it up or cancel the unregistration.
const ENotInForce: u64 = 7;
/// Collateral is left: claim it first.
const ENotClaimed: u64 = 8;
/// The registry's `unregister_delay_ms` is longer than what was consented to.
const EDelayTooLong: u64 = 9;
/// The registry takes no new leaders and no new invocations at present: try again later.
const ENotAccepting: u64 = 10;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Bounds of what each leader's window has beyond the tool's timeout.
const MIN_GRACE_MS: u64 = 5_000;
const MAX_GRACE_MS: u64 = 60_000;
const MAX_NAME_BYTES: u64 = 200;

// === Events ===

/// A leader was registered.
public struct LeaderRegistered has copy, drop {
    leader: ID,
    name: String,
    collateral_mist: u64,
    unregister_delay_ms: u64,
}

/// A leader began or ceased to become responsible for new invocations.
public struct LeaderActivityChanged has copy, drop {
    leader: ID,
    active: bool,
}

/// A leader was unregistered.
public struct LeaderUnregistered has copy, drop {
    leader: ID,
    claimable_at_ms: u64,
}

/// A leader's unregistration was taken back.
public struct LeaderUnregisterCancelled has copy, drop {
    leader: ID,
}

/// A leader's collateral was returned to the sender, but for what a pending slash holds back.
public struct LeaderCollateralClaimed has copy, drop {
    leader: ID,
    amount_mist: u64,
    held_back_mist: u64,
}

/// The admin proposed to slash a leader.
public struct LeaderSlashProposed has copy, drop {
    leader: ID,
    amount_mist: u64,
    reason: String,
    evidence: vector<u8>,
    due_at_ms: u64,
    void_at_ms: u64,
}

/// A proposed slash was taken back.
public struct LeaderSlashCancelled has copy, drop {
    leader: ID,
    amount_mist: u64,
}

/// A leader was slashed, and is suspended. What was taken is burnt.
public struct LeaderSlashed has copy, drop {
    leader: ID,
    amount_mist: u64,
    remaining_mist: u64,
    reason: String,
    evidence: vector<u8>,
}

/// What was slashed of a leader's collateral was brought back.
public struct LeaderToppedUp has copy, drop {
    leader: ID,
    amount_mist: u64,
}

/// The addresses that may register as leaders were set. None: anyone may.
public struct LeaderAdmissionChanged has copy, drop {
    admitted: Option<vector<address>>,
}

/// The settings for new leaders and new invocations were changed.
public struct LeaderSettingsChanged has copy, drop {
    accepting: bool,
    collateral_mist: u64,
    unregister_delay_ms: u64,
    settle_fee_mist: u64,
    fail_fee_mist: u64,
    fee_per_input_byte_mist: u64,
    fee_per_outcome_byte_mist: u64,
    grace_ms: u64,
    max_ports_bytes: u64,
}

// === Structs ===

/// The identity of a leader, and the right to act under it.
public struct LeaderCap has key, store {
    id: UID,
}

/// What new leaders and new invocations have to keep to.
public struct LeaderSettings has copy, drop, store {
    /// Whether leaders can be registered and invocations requested. What is there already is not
    /// touched by this.
    accepting: bool,
    /// The least collateral of a leader.
    collateral_mist: u64,
    /// How long the collateral stays locked after a leader is unregistered.
    unregister_delay_ms: u64,
    /// What a leader gets for settling an invocation.
    settle_fee_mist: u64,
    /// What it gets for failing one. That costs it less, and must not be worth more.
    fail_fee_mist: u64,
    /// What it gets besides for each byte of the inputs, which it pays for rewriting.
    fee_per_input_byte_mist: u64,
    /// What it gets besides for each byte of the outcome, which it pays for storing.
    fee_per_outcome_byte_mist: u64,
    /// What each leader's window has beyond the tool's timeout, for the way from and to the chain.
    grace_ms: u64,
    /// The most bytes of an invocation's inputs, and the most of its outcome.
    max_ports_bytes: u64,
}

/// A registered leader.
public struct Leader has store {
    name: String,
    collateral: Collateral,
}

/// The shared registry, of which there is one.
public struct LeaderRegistry has key {
    id: UID,
    version: Version,
    settings: LeaderSettings,
    /// Who may register. None: anyone.
    admitted: Option<vector<address>>,
    leaders: Table<ID, Leader>,
    /// The leaders that become responsible for new invocations. Their collateral is in force.
    active: vector<ID>,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::share_object(LeaderRegistry {
        id: object::new(ctx),
        version: version::current(),
        settings: LeaderSettings {
            accepting: true,
            collateral_mist: 10_000_000_000,
            unregister_delay_ms: 7 * DAY_MS,
            settle_fee_mist: 4_000_000,
            fail_fee_mist: 2_000_000,
            fee_per_input_byte_mist: 100,
            fee_per_outcome_byte_mist: 8_000,
            grace_ms: 15_000,
            max_ports_bytes: 65_536,
        },
        admitted: option::none(),
        leaders: table::new(ctx),
        active: vector[],
    });
}

// === Public functions: leaders ===

/// Registers a leader, not active yet. More than the least collateral may be locked, and the owner
/// consents to an unregister delay of `max_delay_ms` at most. Aborts with `ENotAccepting`,
/// `ENotAdmitted`, `ECollateralTooSmall`, `EDelayTooLong` or `ENameTooLong`.
public fun register(
    self: &mut LeaderRegistry,
    collateral: Coin<SUI>,
    max_delay_ms: u64,
    name: String,
    ctx: &mut TxContext,
): LeaderCap {
    self.check_version();
    self.check_accepting();
    let sender = ctx.sender();
    assert!(self.admitted.is_none() || self.admitted.borrow().contains(&sender), ENotAdmitted);
    assert!(collateral.value() >= self.settings.collateral_mist, ECollateralTooSmall);
    assert!(self.settings.unregister_delay_ms <= max_delay_ms, EDelayTooLong);
    assert!(name.length() <= MAX_NAME_BYTES, ENameTooLong);
    let cap = LeaderCap { id: object::new(ctx) };
    let leader = object::id(&cap);
    let unregister_delay_ms = self.settings.unregister_delay_ms;
    let collateral = collateral::lock(collateral.into_balance(), unregister_delay_ms);
    let collateral_mist = collateral.required_mist();
    event::emit(LeaderRegistered { leader, name, collateral_mist, unregister_delay_ms });
    self.leaders.add(leader, Leader { name, collateral });
    cap
}

/// Makes the leader responsible for new invocations. Aborts with `EAlreadyActive` or
/// `ENotInForce`.
public fun activate(self: &mut LeaderRegistry, cap: &LeaderCap) {
    self.check_version();
    let leader = object::id(cap);
    assert!(!self.is_active(leader), EAlreadyActive);
    assert!(self.collateral(leader).is_in_force(), ENotInForce);
    self.active.push_back(leader);
    event::emit(LeaderActivityChanged { leader, active: true });
}

/// Spares the leader new invocations. It can still close those it is responsible for. Aborts with
/// `ENotActive`.
public fun deactivate(self: &mut LeaderRegistry, cap: &LeaderCap) {
    let leader = object::id(cap);
    assert!(self.is_active(leader), ENotActive);
    self.stop(leader);
}

/// Deactivates the leader and starts the timer after which its collateral can be claimed. Aborts
/// with `collateral::EAlreadyUnregistered`.
public fun unregister(self: &mut LeaderRegistry, cap: &LeaderCap, clock: &Clock) {
    let leader = object::id(cap);
    self.collateral_mut(leader).unregister(clock);
    self.stop(leader);
    let claimable_at_ms = self.collateral(leader).claimable_at_ms();
    event::emit(LeaderUnregistered { leader, claimable_at_ms });
}

/// Stops the timer. The leader stays inactive. Aborts with `collateral::ENotUnregistered`.
public fun cancel_unregister(self: &mut LeaderRegistry, cap: &LeaderCap) {
    self.check_version();
    let leader = object::id(cap);
    self.collateral_mut(leader).cancel_unregister();
    event::emit(LeaderUnregisterCancelled { leader });
}

/// Returns what is left of the collateral. What a pending slash holds back is claimed by a second
/// call, once that is executed, cancelled or void. Aborts with `collateral::ENotUnregistered`,
/// `collateral::EDelayNotOver` or `collateral::EHeldBack`.
public fun claim(
    self: &mut LeaderRegistry,
    cap: &LeaderCap,
    clock: &Clock,
    ctx: &mut TxContext,
): Coin<SUI> {
    let leader = object::id(cap);
    let claimed = self.collateral_mut(leader).claim(clock);
    let held_back_mist = self.collateral(leader).balance_mist();
    event::emit(LeaderCollateralClaimed { leader, amount_mist: claimed.value(), held_back_mist });
    claimed.into_coin(ctx)
}

/// Ends a leader whose collateral was claimed. Aborts with `ENotClaimed`.
public fun delete(self: &mut LeaderRegistry, cap: LeaderCap) {
    let LeaderCap { id } = cap;
    let Leader { collateral, .. } = self.leaders.remove(id.to_inner());
    id.delete();
    assert!(collateral.balance_mist() == 0, ENotClaimed);
    collateral.destroy_empty();
}

/// Brings back what was slashed. The leader stays inactive. Aborts with `collateral::EWrongTopUp`.
public fun top_up(self: &mut LeaderRegistry, cap: &LeaderCap, collateral: Coin<SUI>) {
    self.check_version();
    let leader = object::id(cap);
    let amount_mist = collateral.value();
    self.collateral_mut(leader).top_up(collateral.into_balance());
    event::emit(LeaderToppedUp { leader, amount_mist });
}

// === Public functions: admin ===

/// Sets everything that new leaders and new invocations have to keep to. Aborts with
/// `EInvalidSettings`.
public fun configure(
    self: &mut LeaderRegistry,
    _: &AdminCap,
    accepting: bool,
    collateral_mist: u64,
    unregister_delay_ms: u64,
    settle_fee_mist: u64,
    fail_fee_mist: u64,
    fee_per_input_byte_mist: u64,
    fee_per_outcome_byte_mist: u64,
    grace_ms: u64,
    max_ports_bytes: u64,
) {
    self.check_version();
    assert!(collateral::are_terms(collateral_mist, unregister_delay_ms), EInvalidSettings);
    assert!(MIN_GRACE_MS <= grace_ms && grace_ms <= MAX_GRACE_MS, EInvalidSettings);
    assert!(fail_fee_mist <= settle_fee_mist, EInvalidSettings);
    self.settings =
        LeaderSettings {
            accepting,
            collateral_mist,
            unregister_delay_ms,
            settle_fee_mist,
            fail_fee_mist,
            fee_per_input_byte_mist,
            fee_per_outcome_byte_mist,
            grace_ms,
            max_ports_bytes,
        };
    event::emit(LeaderSettingsChanged {
        accepting,
        collateral_mist,
        unregister_delay_ms,
        settle_fee_mist,
        fail_fee_mist,
        fee_per_input_byte_mist,
        fee_per_outcome_byte_mist,
        grace_ms,
        max_ports_bytes,
    });
}

/// Admits only the `addresses` to register as leaders; with none, anyone. Registered leaders stay.
public fun admit(self: &mut LeaderRegistry, _: &AdminCap, addresses: Option<vector<address>>) {
    self.check_version();
    self.admitted = addresses;
    event::emit(LeaderAdmissionChanged { admitted: addresses });
}

/// Proposes to burn `amount_mist` of a leader's collateral, also while it is unregistered. Aborts
/// with `EUnknownLeader`, and as `collateral::propose_slash` does.
public fun propose_slash(
    self: &mut LeaderRegistry,
    _: &AdminCap,
    leader: ID,
    amount_mist: u64,
    reason: String,
    evidence: vector<u8>,
    clock: &Clock,
) {
    self.check_version();
    let slash = self.collateral_mut(leader).propose_slash(amount_mist, reason, evidence, clock);
    event::emit(LeaderSlashProposed {
        leader,
        amount_mist,
        reason,
        evidence,
        due_at_ms: slash.due_at_ms(),
        void_at_ms: slash.void_at_ms(),
    });
}

/// Executes the slash that was proposed, and deactivates the leader. Aborts with `EUnknownLeader`,
/// `collateral::ENoSlashPending` or `collateral::ENotDue`.
public fun execute_slash(
    self: &mut LeaderRegistry,
    _: &AdminCap,
    leader: ID,
    clock: &Clock,
    ctx: &mut TxContext,
) {
    self.check_version();
    let slash = self.collateral_mut(leader).execute_slash(clock, ctx);
    self.stop(leader);
    event::emit(LeaderSlashed {
        leader,
        amount_mist: slash.amount_mist(),
        remaining_mist: self.collateral(leader).balance_mist(),
        reason: slash.reason(),
        evidence: slash.evidence(),
    });
}

/// Takes the slash that was proposed back. Aborts with `EUnknownLeader` or
/// `collateral::ENoSlashPending`.
public fun cancel_slash(self: &mut LeaderRegistry, _: &AdminCap, leader: ID, clock: &Clock) {
    let slash = self.collateral_mut(leader).cancel_slash(clock);
    event::emit(LeaderSlashCancelled { leader, amount_mist: slash.amount_mist() });
}

/// After an upgrade of the package: from here on only this version's functions work. Aborts with
/// `version::EAlreadyMigrated`.
public fun migrate(self: &mut LeaderRegistry, _: &AdminCap) {
    let registry = object::id(self);
    self.version.migrate(registry);
}

// === Views ===

/// The leaders responsible for `key`: the primary and, where two are active, the secondary. The
/// BLAKE2b-256 digest of the key decides. Its first eight bytes, little-endian, choose the primary
/// from the active leaders, the next eight the secondary from those after it.
public fun responsible(self: &LeaderRegistry, key: &vector<u8>): vector<ID> {
    let n = self.active.length();
    if (n == 0) return vector[];
    let mut digest = bcs::new(hash::blake2b256(key));
    let primary = digest.peel_u64() % n;
    if (n == 1) return vector[self.active[primary]];
    let secondary = (primary + 1 + digest.peel_u64() % (n - 1)) % n;
    vector[self.active[primary], self.active[secondary]]
}

/// Whether the leader becomes responsible for new invocations.
public fun is_active(self: &LeaderRegistry, leader: ID): bool { self.active.contains(&leader) }

/// The collateral of a leader and its terms. Aborts with `EUnknownLeader`.
public fun collateral(self: &LeaderRegistry, leader: ID): &Collateral {
    assert!(self.leaders.contains(leader), EUnknownLeader);
    &self.leaders[leader].collateral
}

/// The settings for new leaders and new invocations.
public fun settings(self: &LeaderRegistry): &LeaderSettings { &self.settings }

/// Whether leaders can be registered and invocations requested.
public fun is_accepting(self: &LeaderSettings): bool { self.accepting }

/// The least collateral of a leader.
public fun collateral_mist(self: &LeaderSettings): u64 { self.collateral_mist }

/// How long the collateral stays locked after a leader is unregistered.
public fun unregister_delay_ms(self: &LeaderSettings): u64 { self.unregister_delay_ms }

/// What a leader gets for settling an invocation.
public fun settle_fee_mist(self: &LeaderSettings): u64 { self.settle_fee_mist }

/// What a leader gets for failing an invocation.
public fun fail_fee_mist(self: &LeaderSettings): u64 { self.fail_fee_mist }

/// What it gets besides for each byte of the inputs.
public fun fee_per_input_byte_mist(self: &LeaderSettings): u64 { self.fee_per_input_byte_mist }

/// What it gets besides for each byte of the outcome.
public fun fee_per_outcome_byte_mist(self: &LeaderSettings): u64 { self.fee_per_outcome_byte_mist }

/// What each leader's window has beyond the tool's timeout.
public fun grace_ms(self: &LeaderSettings): u64 { self.grace_ms }

/// The most bytes of an invocation's inputs, and the most of its outcome.
public fun max_ports_bytes(self: &LeaderSettings): u64 { self.max_ports_bytes }

// === Package functions ===

/// Aborts with `version::EWrongVersion` if the registry belongs to another version of the package.
public(package) fun check_version(self: &LeaderRegistry) { self.version.check() }

/// Aborts with `ENotAccepting` if there are to be no new leaders and invocations.
public(package) fun check_accepting(self: &LeaderRegistry) {
    assert!(self.settings.accepting, ENotAccepting);
}

// === Private functions ===

fun collateral_mut(self: &mut LeaderRegistry, leader: ID): &mut Collateral {
    assert!(self.leaders.contains(leader), EUnknownLeader);
    &mut self.leaders[leader].collateral
}

/// Deactivates the leader if it is active.
fun stop(self: &mut LeaderRegistry, leader: ID) {
    let (active, i) = self.active.index_of(&leader);
    if (active) {
        self.active.swap_remove(i);
        event::emit(LeaderActivityChanged { leader, active: false });
    }
}

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }

#[test_only]
public fun set_version_for_testing(self: &mut LeaderRegistry, version: u64) {
    self.version.set_for_testing(version);
}
