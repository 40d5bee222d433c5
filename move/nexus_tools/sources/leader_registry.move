/// Leaders: who may carry invocations to tools and settle them, and for what fee.
///
/// A leader locks a bond and gets a `LeaderCap`, whose id is the leader's. It becomes responsible
/// for new invocations while it is active. A leader that stops stays bound to what it is already
/// responsible for; one whose bond was slashed settles nothing until it tops up.
module nexus_tools::leader_registry;

use nexus_tools::bond::{Self, Bond};
use nexus_tools::events;
use nexus_tools::tool_registry::AdminCap;
use std::string::String;
use sui::bcs;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::hash;
use sui::sui::SUI;
use sui::table::{Self, Table};

// === Errors ===

/// The package was upgraded: call the functions of its newest version.
const EWrongVersion: u64 = 0;
/// The registry already has the version of this package.
const EAlreadyMigrated: u64 = 1;
/// The delay is longer than a year, or a failure pays more than a settlement.
const EInvalidSettings: u64 = 2;
/// Only listed addresses may register: ask the admin to list the sender.
const ENotAdmitted: u64 = 3;
/// The coin is not exactly the registry's `bond_mist`.
const EWrongBond: u64 = 4;
/// The name is longer than 200 bytes: shorten it.
const ENameTooLong: u64 = 5;
/// There is no leader with this id.
const EUnknownLeader: u64 = 6;
/// The leader is active already.
const EAlreadyActive: u64 = 7;
/// The leader is not active.
const ENotActive: u64 = 8;
/// The leader's bond is slashed or on release: top it up or cancel the release.
const EBondNotInForce: u64 = 9;

// === Constants ===

/// Raised by every upgrade of the package whose functions must not be mixed with the older ones.
const VERSION: u64 = 1;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MAX_DELAY_MS: u64 = 365 * DAY_MS;
const MAX_NAME_BYTES: u64 = 200;

// === Structs ===

/// The identity of a leader, and the right to act under it.
public struct LeaderCap has key, store {
    id: UID,
}

/// What new leaders and new invocations have to keep to.
public struct Settings has copy, drop, store {
    /// The bond of a leader.
    bond_mist: u64,
    /// How long the bond stays after a leader is unregistered.
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
    bond: Bond,
}

/// The shared registry, of which there is one.
public struct LeaderRegistry has key {
    id: UID,
    version: u64,
    settings: Settings,
    /// Who may register. None: anyone.
    admitted: Option<vector<address>>,
    leaders: Table<ID, Leader>,
    /// The leaders that become responsible for new invocations. Their bonds are in force.
    active: vector<ID>,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::share_object(LeaderRegistry {
        id: object::new(ctx),
        version: VERSION,
        settings: Settings {
            bond_mist: 10_000_000_000,
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

/// Registers a leader, not active yet. Aborts with `ENotAdmitted`, `EWrongBond` or `ENameTooLong`.
public fun register_leader(
    self: &mut LeaderRegistry,
    bond: Coin<SUI>,
    name: String,
    ctx: &mut TxContext,
): LeaderCap {
    self.assert_version();
    let sender = ctx.sender();
    assert!(self.admitted.is_none() || self.admitted.borrow().contains(&sender), ENotAdmitted);
    assert!(bond.value() == self.settings.bond_mist, EWrongBond);
    assert!(name.length() <= MAX_NAME_BYTES, ENameTooLong);
    let cap = LeaderCap { id: object::new(ctx) };
    let bond = bond::lock(bond.into_balance(), self.settings.unregister_delay_ms);
    events::emit_leader_registered(
        object::id(&cap),
        name,
        bond.required_mist(),
        bond.delay_ms(),
    );
    self.leaders.add(object::id(&cap), Leader { name, bond });
    cap
}

/// Makes the leader responsible for new invocations. Aborts with `EAlreadyActive` or
/// `EBondNotInForce`.
public fun activate(self: &mut LeaderRegistry, cap: &LeaderCap) {
    self.assert_version();
    let leader = object::id(cap);
    assert!(!self.is_active(leader), EAlreadyActive);
    assert!(self.bond(leader).is_in_force(), EBondNotInForce);
    self.active.push_back(leader);
    events::emit_leader_activity_changed(leader, true);
}

/// Spares the leader new invocations. It can still settle those it is responsible for. Aborts with
/// `ENotActive`.
public fun deactivate(self: &mut LeaderRegistry, cap: &LeaderCap) {
    self.assert_version();
    let leader = object::id(cap);
    assert!(self.is_active(leader), ENotActive);
    self.stop(leader);
}

/// Deactivates the leader and starts the timer after which the bond can be claimed. Aborts with
/// `bond::EAlreadyReleased`.
public fun unregister(self: &mut LeaderRegistry, cap: &LeaderCap, clock: &Clock) {
    self.assert_version();
    let leader = object::id(cap);
    self.bond_mut(leader).release(clock);
    self.stop(leader);
    events::emit_leader_unregistered(leader, self.bond(leader).reclaimable_at_ms());
}

/// Stops the timer. The leader stays inactive. Aborts with `bond::EReleaseNotStarted`.
public fun cancel_unregister(self: &mut LeaderRegistry, cap: &LeaderCap) {
    self.assert_version();
    let leader = object::id(cap);
    self.bond_mut(leader).cancel_release();
    events::emit_leader_unregister_cancelled(leader);
}

/// Ends the leader and returns what is left of its bond. Aborts with `bond::EReleaseNotStarted` or
/// `bond::EDelayNotOver`.
public fun claim_bond(
    self: &mut LeaderRegistry,
    cap: LeaderCap,
    clock: &Clock,
    ctx: &mut TxContext,
): Coin<SUI> {
    self.assert_version();
    let LeaderCap { id } = cap;
    let leader = id.to_inner();
    id.delete();
    let Leader { bond, .. } = self.leaders.remove(leader);
    let collateral = bond.reclaim(clock);
    events::emit_leader_bond_claimed(leader, collateral.value());
    collateral.into_coin(ctx)
}

/// Makes a slashed bond whole again. The leader stays inactive. Aborts with `bond::EWrongTopUp`.
public fun top_up(self: &mut LeaderRegistry, cap: &LeaderCap, collateral: Coin<SUI>) {
    self.assert_version();
    let leader = object::id(cap);
    let amount_mist = collateral.value();
    self.bond_mut(leader).top_up(collateral.into_balance());
    events::emit_leader_topped_up(leader, amount_mist);
}

// === Public functions: admin ===

/// Sets everything that new leaders and new invocations have to keep to. Aborts with
/// `EInvalidSettings`.
public fun configure(
    self: &mut LeaderRegistry,
    _: &AdminCap,
    bond_mist: u64,
    unregister_delay_ms: u64,
    settle_fee_mist: u64,
    fail_fee_mist: u64,
    fee_per_input_byte_mist: u64,
    fee_per_outcome_byte_mist: u64,
    grace_ms: u64,
    max_ports_bytes: u64,
) {
    self.assert_version();
    assert!(unregister_delay_ms <= MAX_DELAY_MS, EInvalidSettings);
    assert!(fail_fee_mist <= settle_fee_mist, EInvalidSettings);
    self.settings =
        Settings {
            bond_mist,
            unregister_delay_ms,
            settle_fee_mist,
            fail_fee_mist,
            fee_per_input_byte_mist,
            fee_per_outcome_byte_mist,
            grace_ms,
            max_ports_bytes,
        };
    events::emit_leader_settings_changed(
        bond_mist,
        unregister_delay_ms,
        settle_fee_mist,
        fail_fee_mist,
        fee_per_input_byte_mist,
        fee_per_outcome_byte_mist,
        grace_ms,
        max_ports_bytes,
    );
}

/// Admits only the `addresses` to register as leaders; with none, anyone. Registered leaders stay.
public fun admit(self: &mut LeaderRegistry, _: &AdminCap, addresses: Option<vector<address>>) {
    self.assert_version();
    self.admitted = addresses;
    events::emit_leader_admission_changed(addresses);
}

/// Takes `amount_mist` of a leader's bond, or what is left of it, also while it is on release, and
/// deactivates the leader. Aborts with `EUnknownLeader` or `bond::EEmpty`.
public fun slash(
    self: &mut LeaderRegistry,
    _: &AdminCap,
    leader: ID,
    amount_mist: u64,
    reason: String,
    ctx: &mut TxContext,
): Coin<SUI> {
    self.assert_version();
    let slashed = self.bond_mut(leader).slash(amount_mist);
    self.stop(leader);
    events::emit_leader_slashed(
        leader,
        slashed.value(),
        self.bond(leader).balance_mist(),
        reason,
    );
    slashed.into_coin(ctx)
}

/// After an upgrade of the package: from here on only this version's functions work. Aborts with
/// `EAlreadyMigrated`.
public fun migrate(self: &mut LeaderRegistry, _: &AdminCap) {
    assert!(self.version < VERSION, EAlreadyMigrated);
    self.version = VERSION;
    events::emit_migrated(object::id(self), VERSION);
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

/// The bond of a leader. Aborts with `EUnknownLeader`.
public fun bond(self: &LeaderRegistry, leader: ID): &Bond {
    assert!(self.leaders.contains(leader), EUnknownLeader);
    &self.leaders[leader].bond
}

/// The settings for new leaders and new invocations.
public fun settings(self: &LeaderRegistry): &Settings { &self.settings }

/// The bond of a leader.
public fun bond_mist(self: &Settings): u64 { self.bond_mist }

/// How long the bond stays after a leader is unregistered.
public fun unregister_delay_ms(self: &Settings): u64 { self.unregister_delay_ms }

/// What a leader gets for settling an invocation.
public fun settle_fee_mist(self: &Settings): u64 { self.settle_fee_mist }

/// What a leader gets for failing an invocation.
public fun fail_fee_mist(self: &Settings): u64 { self.fail_fee_mist }

/// What it gets besides for each byte of the inputs.
public fun fee_per_input_byte_mist(self: &Settings): u64 { self.fee_per_input_byte_mist }

/// What it gets besides for each byte of the outcome.
public fun fee_per_outcome_byte_mist(self: &Settings): u64 { self.fee_per_outcome_byte_mist }

/// What each leader's window has beyond the tool's timeout.
public fun grace_ms(self: &Settings): u64 { self.grace_ms }

/// The most bytes of an invocation's inputs, and the most of its outcome.
public fun max_ports_bytes(self: &Settings): u64 { self.max_ports_bytes }

// === Package functions ===

/// Aborts with `EWrongVersion` if the registry has another version than this package.
public(package) fun assert_version(self: &LeaderRegistry) {
    assert!(self.version == VERSION, EWrongVersion);
}

// === Private functions ===

fun bond_mut(self: &mut LeaderRegistry, leader: ID): &mut Bond {
    assert!(self.leaders.contains(leader), EUnknownLeader);
    &mut self.leaders[leader].bond
}

/// Deactivates the leader if it is active.
fun stop(self: &mut LeaderRegistry, leader: ID) {
    let (active, i) = self.active.index_of(&leader);
    if (active) {
        self.active.swap_remove(i);
        events::emit_leader_activity_changed(leader, false);
    }
}

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }

#[test_only]
public fun set_version_for_testing(self: &mut LeaderRegistry, version: u64) {
    self.version = version;
}
