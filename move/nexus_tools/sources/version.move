/// Which version of the package works on a registry.
///
/// An upgrade leaves the older versions of a package in use, for ever. So each registry keeps the
/// `Version` that it belongs to, and every function that changes something checks it first: once a
/// registry is migrated, older versions refuse to touch it.
module nexus_tools::version;

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

/// A registry went over to a newer version of the package: older versions stopped working on it.
public struct RegistryMigrated has copy, drop {
    registry: ID,
    version: u64,
}

// === Structs ===

/// The version of the package that a registry belongs to.
public struct Version has store {
    number: u64,
}

// === Package functions ===

/// The version of this package, for a new registry.
public(package) fun current(): Version { Version { number: VERSION } }

/// The number of this version of the package.
public(package) fun number(): u64 { VERSION }

/// Aborts with `EWrongVersion` if the registry belongs to another version than this package.
public(package) fun check(self: &Version) {
    assert!(self.number == VERSION, EWrongVersion);
}

/// Takes the registry over to the version of this package. Aborts with `EAlreadyMigrated`.
public(package) fun migrate(self: &mut Version, registry: ID) {
    assert!(self.number < VERSION, EAlreadyMigrated);
    self.number = VERSION;
    event::emit(RegistryMigrated { registry, version: VERSION });
}

// === Test-only functions ===

#[test_only]
public fun set_for_testing(self: &mut Version, number: u64) { self.number = number }
