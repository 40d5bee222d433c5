/// Who owns a name, a leader or the administration: an address.
///
/// There are no caps, which could be frozen, wrapped or lost with an object that holds them. An
/// owner passes ownership on in two steps: it offers it to an address, which accepts. So nothing
/// ever belongs to an address that cannot sign, such as a mistyped one.
module nexus_tools::owner;

use sui::event;

// === Errors ===

/// The sender is not the owner: sign with the owner's key.
const ENotOwner: u64 = 0;
/// Ownership was not offered to the sender: the owner has to offer it first.
const ENotOffered: u64 = 1;

// === Events ===

/// An owner offered what it owns to an address, or took the offer back.
public struct OwnershipOffered has copy, drop {
    /// The name, the leader or the administration.
    object: ID,
    owner: address,
    offered: Option<address>,
}

/// What was offered has another owner.
public struct OwnershipAccepted has copy, drop {
    object: ID,
    former: address,
    owner: address,
}

// === Structs ===

/// The owner of the object that this is part of.
public struct Owner has store {
    owner: address,
    /// Who may accept the ownership.
    offered: Option<address>,
}

// === Views ===

/// The address that owns.
public fun owner(self: &Owner): address { self.owner }

/// The address that may accept, if there is one.
public fun offered(self: &Owner): Option<address> { self.offered }

// === Package functions ===

/// The sender owns.
public(package) fun sender(ctx: &TxContext): Owner {
    Owner { owner: ctx.sender(), offered: option::none() }
}

/// Aborts with `ENotOwner` unless the sender owns.
public fun check(self: &Owner, ctx: &TxContext) {
    assert!(self.is_sender(ctx), ENotOwner);
}

/// Whether the sender owns.
public(package) fun is_sender(self: &Owner, ctx: &TxContext): bool { self.owner == ctx.sender() }

/// Offers the ownership of `object` to an address, instead of any other one; with none, takes the
/// offer back. Aborts with `ENotOwner`.
public(package) fun offer(
    self: &mut Owner,
    object: ID,
    offered: Option<address>,
    ctx: &TxContext,
) {
    self.check(ctx);
    self.offered = offered;
    event::emit(OwnershipOffered { object, owner: self.owner, offered });
}

/// Makes the sender the owner of `object`. Aborts with `ENotOffered`.
public(package) fun accept(self: &mut Owner, object: ID, ctx: &TxContext) {
    let owner = ctx.sender();
    assert!(self.offered.contains(&owner), ENotOffered);
    let former = self.owner;
    self.owner = owner;
    self.offered = option::none();
    event::emit(OwnershipAccepted { object, former, owner });
}
