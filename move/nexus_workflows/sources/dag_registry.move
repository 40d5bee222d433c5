/// The registry of workflows. The ID of a workflow is derived from the registry and the FQN, so
/// clients can compute the ID.
///
/// The registry stores the permit with which this package requests attempts and claims names in
/// `nexus_tools`. The registry also stores the version of this package that may use it.
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

/// The version of this package. Increment it in an upgrade whose functions must not be used
/// together with older functions.
const VERSION: u64 = 1;

// === Events ===

/// A registry of workflows was created.
public struct DagRegistryCreated has copy, drop {
    registry: ID,
}

/// The registry was migrated to a newer version of the package. Older versions can no longer use
/// the registry.
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

/// Create a registry with a permit, and share it.
public fun create(permit: Permit, ctx: &mut TxContext) {
    let id = object::new(ctx);
    event::emit(DagRegistryCreated { registry: id.to_inner() });
    transfer::share_object(DagRegistry { id, version: VERSION, permit });
}

/// Migrate the registry to this version of the package after an upgrade. Older versions can no
/// longer use the registry.
///
/// Aborts with `owner::ENotOwner` or `EAlreadyMigrated`.
public fun migrate(self: &mut DagRegistry, admin: &Admin, ctx: &TxContext) {
    admin.check(ctx);
    assert!(self.version < VERSION, EAlreadyMigrated);
    self.version = VERSION;
    event::emit(DagRegistryMigrated { registry: object::id(self), version: VERSION });
}

// === Views ===

/// Return the ID of the workflow with this FQN, even if it is not published.
public fun dag_id(self: &DagRegistry, fqn: String): ID {
    derived_object::derive_address(object::id(self), fqn).to_id()
}

/// Return whether a draft of a workflow was ever started under the FQN.
public fun contains(self: &DagRegistry, fqn: String): bool {
    derived_object::exists(&self.id, fqn)
}

// === Package functions ===

/// Return the version of this package.
public(package) fun version(): u64 { VERSION }

/// Abort with `EWrongVersion` unless the registry belongs to this package version.
public(package) fun check_version(self: &DagRegistry) {
    assert!(self.version == VERSION, EWrongVersion);
}

public(package) fun permit(self: &DagRegistry): Permit { self.permit }

/// Return the `UID` from which IDs of workflows are derived.
///
/// The Sui verifier requires that the function that creates an object also claims its ID. The
/// module `dag` contains the function that creates workflows.
public(package) fun uid_mut(self: &mut DagRegistry): &mut UID { &mut self.id }

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut DagRegistry, version: u64) { self.version = version }
