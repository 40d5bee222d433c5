/// An unversioned name, `domain.name`, and its owner. All versions of a tool have the same name.
///
/// The account that registers the first version of a name owns the name, and only the owner can
/// register further versions. A name is never deleted. The chain does not check whether the owner
/// also controls the domain.
module nexus_tools::name;

use nexus_tools::fqn;
use nexus_tools::owner::{Self, Owner};
use nexus_tools::permit::Permit;
use nexus_tools::tool_registry::ToolRegistry;
use std::ascii::String;
use sui::derived_object;

// === Errors ===

/// The name is already registered: only the owner of the name can register further versions.
const ENameTaken: u64 = 0;

// === Structs ===

/// A shared name. The ID of the object is derived from the registry and the name.
public struct Name has key {
    id: UID,
    name: String,
    owner: Owner,
}

// === Public functions ===

/// Share a new name.
public fun share(self: Name) { transfer::share_object(self) }

/// Offer the name to an address. With none, withdraw the offer. Aborts with `owner::ENotOwner`.
public fun offer(self: &mut Name, pending_owner: Option<address>, ctx: &TxContext) {
    let name = object::id(self);
    self.owner.offer(name, pending_owner, ctx);
}

/// Make the sender the owner of the name.
///
/// The payouts, operators, leaders and keys of the name's tools do not change. Call
/// `tool::take_over` for each tool in the same transaction. Aborts with `owner::ENotOffered`.
public fun accept(self: &mut Name, ctx: &TxContext) {
    let name = object::id(self);
    self.owner.accept(name, ctx);
}

/// Claim the name of an FQN that has no version yet, for a package with a `Permit`.
///
/// The sender becomes the owner and must share the name in the same transaction. The FQN must be
/// valid. Aborts with `ENameTaken`, `version::EWrongVersion` or `tool_registry::ENotAccepting`.
public fun claim(_: Permit, registry: &mut ToolRegistry, fqn: &String, ctx: &mut TxContext): Name {
    registry.check_version();
    registry.check_accepting();
    new(registry, fqn, ctx)
}

// === Views ===

/// Return `domain.name`.
public fun name(self: &Name): String { self.name }

/// Return the owner and the address to which the name is offered.
public fun owner(self: &Name): &Owner { &self.owner }

/// Return whether the FQN consists of this name and a version.
public fun is_name_of(self: &Name, fqn: &String): bool { self.name == fqn::unversioned(fqn) }

// === Package functions ===

/// Claim the name of an FQN that has no version yet, for the sender. Aborts with `ENameTaken`.
public(package) fun new(
    registry: &mut ToolRegistry,
    fqn: &String,
    ctx: &TxContext,
): Name {
    let name = fqn::unversioned(fqn);
    assert!(!registry.contains(name), ENameTaken);
    Name { id: derived_object::claim(registry.uid_mut(), name), name, owner: owner::new(ctx) }
}
