/// An unversioned name, `domain.name`, with all its versions, and who owns it.
///
/// Who registers the first version of a name owns it, and alone registers further versions. A name
/// is never deleted. Whether its domain belongs to the owner, too, is nothing that the chain knows.
module nexus_tools::name;

use nexus_tools::fqn;
use nexus_tools::owner::{Self, Owner};
use nexus_tools::permit::Permit;
use nexus_tools::tool_registry::ToolRegistry;
use std::ascii::String;
use sui::derived_object;

// === Errors ===

/// A version of this name is registered: its owner alone registers further ones.
const ENameTaken: u64 = 0;

// === Structs ===

/// A name, shared. Its id is derived from the registry and the name.
public struct Name has key {
    id: UID,
    name: String,
    owner: Owner,
}

// === Public functions ===

/// Makes a new name available to everyone.
public fun share(self: Name) { transfer::share_object(self) }

/// Offers the name to an address; with none, takes the offer back. Aborts with `owner::ENotOwner`.
public fun offer(self: &mut Name, offered: Option<address>, ctx: &TxContext) {
    let name = object::id(self);
    self.owner.offer(name, offered, ctx);
}

/// Makes the sender the owner of the name. Payouts, operators, leaders and keys of its tools stay
/// as they were: `tool::take_over` each of them in the same transaction. Aborts with
/// `owner::ENotOffered`.
public fun accept(self: &mut Name, ctx: &TxContext) {
    let name = object::id(self);
    self.owner.accept(name, ctx);
}

/// The name of an FQN that has no other version yet, for a package that may claim it: the sender
/// owns it, and shares it in the same transaction. The FQN has to be valid. Aborts with
/// `ENameTaken`, `version::EWrongVersion` or `tool_registry::ENotAccepting`.
public fun claim(_: Permit, registry: &mut ToolRegistry, fqn: &String, ctx: &mut TxContext): Name {
    registry.check_version();
    registry.check_accepting();
    of_first_version(registry, fqn, ctx)
}

// === Views ===

/// The name itself: `domain.name`.
public fun name(self: &Name): String { self.name }

/// Who owns it, and to whom it is offered.
public fun owner(self: &Name): &Owner { &self.owner }

/// Whether the FQN is that of a version of this name.
public fun is_of(self: &Name, fqn: &String): bool { self.name == fqn::unversioned(fqn) }

// === Package functions ===

/// The name of an FQN that has no other version yet, owned by the sender. Aborts with `ENameTaken`.
public(package) fun of_first_version(
    registry: &mut ToolRegistry,
    fqn: &String,
    ctx: &TxContext,
): Name {
    let name = fqn::unversioned(fqn);
    assert!(!registry.contains(name), ENameTaken);
    Name { id: derived_object::claim(registry.uid_mut(), name), name, owner: owner::sender(ctx) }
}
