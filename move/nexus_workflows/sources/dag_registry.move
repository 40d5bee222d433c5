/// The registry of workflows: their ids are derived from it and their FQNs, so that whoever knows
/// it computes them.
///
/// It keeps the permit with which this package works on the tools and leaders of `nexus_tools`,
/// and the version of this package that works on it.
module nexus_workflows::dag_registry;

use nexus_tools::admin::Admin;
use nexus_tools::permit::Permit;
use std::ascii::String;
use sui::derived_object;
use sui::event;

// === Errors ===

/// The package was upgraded: use the functions of its newest version.
const EWrongVersion: u64 = 0;
/// The registry already has the version of this package.
const EAlreadyMigrated: u64 = 1;

// === Constants ===

/// Raised by every upgrade of the package whose functions must not be mixed with the older ones.
const VERSION: u64 = 1;

// === Events ===

/// A registry of workflows was created.
public struct DagRegistryCreated has copy, drop {
    registry: ID,
}

/// The registry went over to a newer version of the package: older versions stopped working on it.
public struct DagRegistryMigrated has copy, drop {
    registry: ID,
    version: u64,
}

// === Structs ===

/// The shared registry.
public struct DagRegistry has key {
    id: UID,
    version: u64,
    permit: Permit,
}

// === Public functions ===

/// Creates a registry with a permit, and shares it.
public fun create(permit: Permit, ctx: &mut TxContext) {
    let id = object::new(ctx);
    event::emit(DagRegistryCreated { registry: id.to_inner() });
    transfer::share_object(DagRegistry { id, version: VERSION, permit });
}

/// After an upgrade of the package: from here on only this version's functions work. Aborts with
/// `owner::ENotOwner` or `EAlreadyMigrated`.
public fun migrate(self: &mut DagRegistry, admin: &Admin, ctx: &TxContext) {
    admin.check(ctx);
    assert!(self.version < VERSION, EAlreadyMigrated);
    self.version = VERSION;
    event::emit(DagRegistryMigrated { registry: object::id(self), version: VERSION });
}

// === Views ===

/// The id of the workflow with this FQN, published or not.
public fun dag_id(self: &DagRegistry, fqn: String): ID {
    derived_object::derive_address(object::id(self), fqn).to_id()
}

/// Whether a workflow was ever published under the FQN.
public fun contains(self: &DagRegistry, fqn: String): bool {
    derived_object::exists(&self.id, fqn)
}

// === Package functions ===

/// The number of this version of the package.
public(package) fun version(): u64 { VERSION }

/// Aborts with `EWrongVersion` if the registry belongs to another version of the package.
public(package) fun check_version(self: &DagRegistry) {
    assert!(self.version == VERSION, EWrongVersion);
}

public(package) fun permit(self: &DagRegistry): Permit { self.permit }

/// The id from which workflows are derived. The Sui verifier demands that an id is claimed in the
/// function that creates the object, which is in `dag`.
public(package) fun uid_mut(self: &mut DagRegistry): &mut UID { &mut self.id }

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut DagRegistry, version: u64) { self.version = version }
