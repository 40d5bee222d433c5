/// The registry of leaders: settings for new leaders and invocations, and the number of leaders.
///
/// Each leader is a separate object: see `leader`. The ID of a leader is derived from the registry
/// and the leader's index, so anyone can compute the IDs of all leaders.
module nexus_tools::leader_registry;

use nexus_tools::admin::Admin;
use nexus_tools::collateral;
use nexus_tools::version::{Self, Version};
use sui::derived_object;
use sui::event;

// === Errors ===

/// A setting is out of bounds.
const EInvalidSettings: u64 = 0;
/// The registry does not accept new leaders and invocations at present: try again later.
const ENotAccepting: u64 = 1;
/// Another leader was registered after you read the leaders: read them again.
const ELeadersChanged: u64 = 2;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The bounds of `grace_ms`, by which each leader's window is longer than the tool's timeout.
const MIN_GRACE_MS: u64 = 5_000;
const MAX_GRACE_MS: u64 = 60_000;
/// Upper bounds of the fees. A fee covers the gas of closing, which depends on the gas price.
const MAX_FEE_GAS_UNITS: u64 = 5_000;
const MAX_FEE_STORAGE_MIST: u64 = 10_000_000;
const MAX_SETTLE_MARGIN_MIST: u64 = 10_000_000;
const MAX_FEE_PER_BYTE_MIST: u64 = 100_000;
/// The upper bound of the setting `max_ports_bytes`. Larger inputs or outcomes exceed the
/// transaction size limit.
const MAX_PORTS_BYTES: u64 = 114_688;

// === Events ===

/// The settings for new leaders and invocations were changed.
public struct LeaderSettingsChanged has copy, drop {
    settings: LeaderSettings,
}

// === Structs ===

/// Settings for new leaders and new invocations.
///
/// The fee for closing an invocation depends on the gas price. The fee for failing is
/// `fee_gas_units` at the reference gas price plus `fee_storage_mist`, which is the cost of
/// closing. The fee for settling is higher by `settle_margin_mist`. So a leader never earns a
/// profit by failing.
public struct LeaderSettings has copy, drop, store {
    /// Whether new leaders can be registered and new invocations can be requested. The setting does
    /// not affect existing leaders and invocations.
    accepting: bool,
    /// The minimum collateral of a leader, in MIST.
    collateral_mist: u64,
    /// The time between `unregister` and `claim`, in ms.
    unregister_delay_ms: u64,
    /// The computation units for closing a single invocation.
    fee_gas_units: u64,
    /// The storage cost of closing that Sui does not rebate, in MIST.
    fee_storage_mist: u64,
    /// The additional fee for settling, in MIST.
    settle_margin_mist: u64,
    /// The additional fee for each byte of the inputs, in MIST. Closing rewrites the inputs.
    fee_per_input_byte_mist: u64,
    /// The additional fee for each byte of the answer, in MIST. Settling stores the answer.
    fee_per_outcome_byte_mist: u64,
    /// The time in ms by which each leader's window is longer than the tool's timeout, for the
    /// communication with the chain.
    grace_ms: u64,
    /// The maximum size of an invocation's inputs, and of its outcome, in bytes.
    max_ports_bytes: u64,
    /// The number of changes of the settings. A request must name the current revision. The amount
    /// of the payment alone does not prove that the requester knows which part is refunded.
    revision: u64,
}

/// The shared registry, of which only one exists.
public struct LeaderRegistry has key {
    id: UID,
    version: Version,
    settings: LeaderSettings,
    /// The number of leaders that were ever registered.
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

/// Set all settings for new leaders and new invocations. Aborts with `owner::ENotOwner` or
/// `EInvalidSettings`.
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
    assert!(collateral::are_valid_terms(collateral_mist, unregister_delay_ms), EInvalidSettings);
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

/// Migrate the registry to this version of the package after an upgrade.
///
/// Afterwards, older versions of the package cannot change the registry. Aborts with
/// `owner::ENotOwner` or `version::EAlreadyMigrated`.
public fun migrate(self: &mut LeaderRegistry, admin: &Admin, ctx: &TxContext) {
    admin.check(ctx);
    let registry = object::id(self);
    self.version.migrate(registry);
}

// === Views ===

/// Return the ID of the leader with this index, counted from 0.
///
/// The leader does not have to be registered yet.
public fun leader_id(self: &LeaderRegistry, index: u64): ID {
    derived_object::derive_address(object::id(self), index).to_id()
}

/// Return the number of leaders that were ever registered.
public fun length(self: &LeaderRegistry): u64 { self.length }

/// Return the settings for new leaders and new invocations.
public fun settings(self: &LeaderRegistry): &LeaderSettings { &self.settings }

/// Return whether new leaders can be registered and new invocations can be requested.
public fun is_accepting(self: &LeaderSettings): bool { self.accepting }

/// Return the minimum collateral of a leader, in MIST.
public fun collateral_mist(self: &LeaderSettings): u64 { self.collateral_mist }

/// Return the time between `unregister` and `claim`, in ms.
public fun unregister_delay_ms(self: &LeaderSettings): u64 { self.unregister_delay_ms }

/// Return the leader's fee for failing an invocation with `input_bytes`, in MIST.
public fun fail_fee_mist(self: &LeaderSettings, input_bytes: u64, ctx: &TxContext): u64 {
    self.fee_gas_units * ctx.reference_gas_price()
        + self.fee_storage_mist
        + self.fee_per_input_byte_mist * input_bytes
}

/// Return the leader's fee for settling an invocation, in MIST.
///
/// The fee does not include the fee for the bytes of the answer.
public fun settle_fee_mist(self: &LeaderSettings, input_bytes: u64, ctx: &TxContext): u64 {
    self.fail_fee_mist(input_bytes, ctx) + self.settle_margin_mist
}

/// Return the additional fee for settling, in MIST.
public fun settle_margin_mist(self: &LeaderSettings): u64 { self.settle_margin_mist }

/// Return the additional fee for each byte of the inputs, in MIST.
public fun fee_per_input_byte_mist(self: &LeaderSettings): u64 { self.fee_per_input_byte_mist }

/// Return the additional fee for each byte of the answer, in MIST.
public fun fee_per_outcome_byte_mist(self: &LeaderSettings): u64 { self.fee_per_outcome_byte_mist }

/// Return the time in ms by which a leader's window is longer than the tool's timeout.
public fun grace_ms(self: &LeaderSettings): u64 { self.grace_ms }

/// Return the maximum size of an invocation's inputs, and of its outcome, in bytes.
public fun max_ports_bytes(self: &LeaderSettings): u64 { self.max_ports_bytes }

/// Return the number of changes of the settings.
public fun revision(self: &LeaderSettings): u64 { self.revision }

/// Abort unless the registry belongs to this version of the package.
///
/// The function aborts with `version::EWrongVersion`.
public fun check_version(self: &LeaderRegistry) { self.version.check() }

/// Abort with `ENotAccepting` if the registry does not accept new leaders and invocations.
public fun check_accepting(self: &LeaderRegistry) {
    assert!(self.settings.accepting, ENotAccepting);
}

/// Abort with `ELeadersChanged` unless exactly `length` leaders were ever registered.
///
/// Call this function before `leader::register` with the number of leaders that you have read. So
/// you do not register the same leader twice if two transactions register it concurrently.
public fun check_length(self: &LeaderRegistry, length: u64) {
    assert!(self.length == length, ELeadersChanged);
}

// === Package functions ===

/// Return the `UID` from which the IDs of leaders are derived. The Sui verifier requires that the
/// function that creates an object also claims its ID.
public(package) fun uid_mut(self: &mut LeaderRegistry): &mut UID { &mut self.id }

/// Increment the number of leaders, and return the index of the new leader.
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
