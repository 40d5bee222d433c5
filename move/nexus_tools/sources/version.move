/// The version of the package that may change a registry.
///
/// All versions of an upgraded package remain callable. So each registry has a `Version`, and every
/// function that changes state checks this version first. After a registry is migrated, functions
/// of older versions abort.
module nexus_tools::version;

use sui::event;

// === Errors ===

/// The package was upgraded: use the functions of its newest version.
const EWrongVersion: u64 = 0;
/// The registry already has the version of this package.
const EAlreadyMigrated: u64 = 1;

// === Constants ===

/// Increment this number in an upgrade whose functions must not be used together with older
/// functions.
const VERSION: u64 = 1;

// === Events ===

/// A registry was migrated to a newer version of the package. Older versions can no longer change
/// the registry.
public struct RegistryMigrated has copy, drop {
    registry: ID,
    version: u64,
}

// === Structs ===

/// The version of the package to which a registry belongs.
public struct Version has store {
    number: u64,
}

// === Package functions ===

/// Return the version of this package, for a new registry.
public(package) fun current(): Version { Version { number: VERSION } }

/// Return the number of this version of the package.
public(package) fun number(): u64 { VERSION }

/// Abort with `EWrongVersion` if the registry belongs to another version than this package.
public(package) fun check(self: &Version) {
    assert!(self.number == VERSION, EWrongVersion);
}

/// Migrate the registry to the version of this package. Aborts with `EAlreadyMigrated`.
public(package) fun migrate(self: &mut Version, registry: ID) {
    assert!(self.number < VERSION, EAlreadyMigrated);
    self.number = VERSION;
    event::emit(RegistryMigrated { registry, version: VERSION });
}

// === Test-only functions ===

#[test_only]
public fun set_for_testing(self: &mut Version, number: u64) { self.number = number }
