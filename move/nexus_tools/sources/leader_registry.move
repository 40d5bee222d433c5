/// The registry of leaders: the settings under which leaders are registered and invocations are
/// requested, and how many leaders there are.
///
/// A leader is an object of its own: see `leader`. Its id is derived from the registry and the
/// leader's index, so that whoever knows the registry computes the ids of all leaders.
module nexus_tools::leader_registry;

use nexus_tools::admin::Admin;
use nexus_tools::collateral;
use nexus_tools::version::{Self, Version};
use sui::derived_object;
use sui::event;

// === Errors ===

/// The settings leave their bounds.
const EInvalidSettings: u64 = 0;
/// The registry takes no new leaders and no new invocations at present: try again later.
const ENotAccepting: u64 = 1;
/// Another leader was registered since: look at the leaders again.
const ELeadersChanged: u64 = 2;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Bounds of what each leader's window has beyond the tool's timeout.
const MIN_GRACE_MS: u64 = 5_000;
const MAX_GRACE_MS: u64 = 60_000;
/// Bounds of the fees. A fee is for the gas that closing takes, whatever gas costs that day.
const MAX_FEE_GAS_UNITS: u64 = 5_000;
const MAX_FEE_STORAGE_MIST: u64 = 10_000_000;
const MAX_SETTLE_MARGIN_MIST: u64 = 10_000_000;
const MAX_FEE_PER_BYTE_MIST: u64 = 100_000;
/// A bound of inputs and outcomes: beyond, a transaction could not carry them.
const MAX_PORTS_BYTES: u64 = 114_688;

// === Events ===

/// The settings for new leaders and new invocations were changed.
public struct LeaderSettingsChanged has copy, drop {
    settings: LeaderSettings,
}

// === Structs ===

/// What new leaders and new invocations have to keep to.
///
/// What a leader gets for closing an invocation follows the price of gas: failing one pays
/// `fee_gas_units` at the reference gas price and `fee_storage_mist`, which is what it costs, and
/// settling one pays `settle_margin_mist` more. So no leader earns by failing.
public struct LeaderSettings has copy, drop, store {
    /// Whether leaders can be registered and invocations requested. What is there already is not
    /// touched by this.
    accepting: bool,
    /// The least collateral of a leader.
    collateral_mist: u64,
    /// How long the collateral stays locked after a leader is unregistered.
    unregister_delay_ms: u64,
    /// The gas units of computation that closing an invocation alone takes.
    fee_gas_units: u64,
    /// What it takes of storage that no rebate brings back.
    fee_storage_mist: u64,
    /// What settling pays beyond that.
    settle_margin_mist: u64,
    /// What a leader gets besides for each byte of the inputs, which it pays for rewriting.
    fee_per_input_byte_mist: u64,
    /// What it gets besides for each byte of an answer, which it pays for storing.
    fee_per_outcome_byte_mist: u64,
    /// What each leader's window has beyond the tool's timeout, for the way from and to the chain.
    grace_ms: u64,
    /// The most bytes of an invocation's inputs, and the most of its outcome.
    max_ports_bytes: u64,
    /// How often they were set. A requester names the revision that it looked at: the sum that it
    /// pays would not tell how much of it is refunded.
    revision: u64,
}

/// The shared registry, of which there is one.
public struct LeaderRegistry has key {
    id: UID,
    version: Version,
    settings: LeaderSettings,
    /// How many leaders were ever registered.
    length: u64,
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
            fee_gas_units: 1_000,
            fee_storage_mist: 520_000,
            settle_margin_mist: 2_000_000,
            fee_per_input_byte_mist: 100,
            fee_per_outcome_byte_mist: 7_600,
            grace_ms: 15_000,
            max_ports_bytes: 65_536,
            revision: 0,
        },
        length: 0,
    });
}

// === Public functions ===

/// Sets everything that new leaders and new invocations have to keep to. Aborts with
/// `owner::ENotOwner` or `EInvalidSettings`.
public fun configure(
    self: &mut LeaderRegistry,
    admin: &Admin,
    accepting: bool,
    collateral_mist: u64,
    unregister_delay_ms: u64,
    fee_gas_units: u64,
    fee_storage_mist: u64,
    settle_margin_mist: u64,
    fee_per_input_byte_mist: u64,
    fee_per_outcome_byte_mist: u64,
    grace_ms: u64,
    max_ports_bytes: u64,
    ctx: &TxContext,
) {
    admin.check(ctx);
    self.check_version();
    assert!(collateral::are_terms(collateral_mist, unregister_delay_ms), EInvalidSettings);
    assert!(fee_gas_units <= MAX_FEE_GAS_UNITS, EInvalidSettings);
    assert!(fee_storage_mist <= MAX_FEE_STORAGE_MIST, EInvalidSettings);
    assert!(settle_margin_mist <= MAX_SETTLE_MARGIN_MIST, EInvalidSettings);
    assert!(fee_per_input_byte_mist <= MAX_FEE_PER_BYTE_MIST, EInvalidSettings);
    assert!(fee_per_outcome_byte_mist <= MAX_FEE_PER_BYTE_MIST, EInvalidSettings);
    assert!(MIN_GRACE_MS <= grace_ms && grace_ms <= MAX_GRACE_MS, EInvalidSettings);
    assert!(max_ports_bytes <= MAX_PORTS_BYTES, EInvalidSettings);
    let settings = LeaderSettings {
        accepting,
        collateral_mist,
        unregister_delay_ms,
        fee_gas_units,
        fee_storage_mist,
        settle_margin_mist,
        fee_per_input_byte_mist,
        fee_per_outcome_byte_mist,
        grace_ms,
        max_ports_bytes,
        revision: self.settings.revision + 1,
    };
    self.settings = settings;
    event::emit(LeaderSettingsChanged { settings });
}

/// After an upgrade of the package: from here on only this version's functions work. Aborts with
/// `owner::ENotOwner` or `version::EAlreadyMigrated`.
public fun migrate(self: &mut LeaderRegistry, admin: &Admin, ctx: &TxContext) {
    admin.check(ctx);
    let registry = object::id(self);
    self.version.migrate(registry);
}

// === Views ===

/// The id of the `index`th leader, counted from 0, registered or not.
public fun leader_id(self: &LeaderRegistry, index: u64): ID {
    derived_object::derive_address(object::id(self), index).to_id()
}

/// How many leaders were ever registered.
public fun length(self: &LeaderRegistry): u64 { self.length }

/// The settings for new leaders and new invocations.
public fun settings(self: &LeaderRegistry): &LeaderSettings { &self.settings }

/// Whether leaders can be registered and invocations requested.
public fun is_accepting(self: &LeaderSettings): bool { self.accepting }

/// The least collateral of a leader.
public fun collateral_mist(self: &LeaderSettings): u64 { self.collateral_mist }

/// How long the collateral stays locked after a leader is unregistered.
public fun unregister_delay_ms(self: &LeaderSettings): u64 { self.unregister_delay_ms }

/// What a leader gets for failing an invocation with so many bytes of inputs.
public fun fail_fee_mist(self: &LeaderSettings, input_bytes: u64, ctx: &TxContext): u64 {
    self.fee_gas_units * ctx.reference_gas_price()
        + self.fee_storage_mist
        + self.fee_per_input_byte_mist * input_bytes
}

/// What a leader gets for settling it, but for the bytes of the answer.
public fun settle_fee_mist(self: &LeaderSettings, input_bytes: u64, ctx: &TxContext): u64 {
    self.fail_fee_mist(input_bytes, ctx) + self.settle_margin_mist
}

/// What settling an invocation pays beyond failing it.
public fun settle_margin_mist(self: &LeaderSettings): u64 { self.settle_margin_mist }

/// What it gets besides for each byte that it rewrites.
public fun fee_per_input_byte_mist(self: &LeaderSettings): u64 { self.fee_per_input_byte_mist }

/// What it gets besides for each byte of an answer.
public fun fee_per_outcome_byte_mist(self: &LeaderSettings): u64 { self.fee_per_outcome_byte_mist }

/// What each leader's window has beyond the tool's timeout.
public fun grace_ms(self: &LeaderSettings): u64 { self.grace_ms }

/// The most bytes of an invocation's inputs, and the most of its outcome.
public fun max_ports_bytes(self: &LeaderSettings): u64 { self.max_ports_bytes }

/// How often the settings were set.
public fun revision(self: &LeaderSettings): u64 { self.revision }

/// Aborts with `version::EWrongVersion` if the registry belongs to another version of the package.
public fun check_version(self: &LeaderRegistry) { self.version.check() }

/// Aborts with `ENotAccepting` if there are to be no new leaders and invocations.
public fun check_accepting(self: &LeaderRegistry) {
    assert!(self.settings.accepting, ENotAccepting);
}

/// Aborts with `ELeadersChanged` unless exactly `length` leaders were ever registered. An owner that
/// looked at all of them calls it before `leader::register`, to register none a second time.
public fun check_length(self: &LeaderRegistry, length: u64) {
    assert!(self.length == length, ELeadersChanged);
}

// === Package functions ===

/// The id from which leaders are derived. The Sui verifier demands that an id is claimed in the
/// function that creates the object, which is in `leader`.
public(package) fun uid_mut(self: &mut LeaderRegistry): &mut UID { &mut self.id }

/// Counts one more leader and returns its index.
public(package) fun append(self: &mut LeaderRegistry): u64 {
    let index = self.length;
    self.length = index + 1;
    index
}

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }

#[test_only]
public fun set_version_for_testing(self: &mut LeaderRegistry, version: u64) {
    self.version.set_for_testing(version);
}
