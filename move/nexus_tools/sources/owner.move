/// The address that owns a name, a leader or the administration.
///
/// Ownership is not a capability object, because an object can be frozen, wrapped, or lost together
/// with another object. An owner transfers ownership in two steps: it offers the ownership to an
/// address, and the address accepts. So an address without a known key, such as a mistyped address,
/// never becomes the owner.
module nexus_tools::owner;

use sui::event;

// === Errors ===

/// The sender is not the owner: sign with the owner's key.
const ENotOwner: u64 = 0;
/// Ownership was not offered to the sender: the owner must offer it first.
const ENotOffered: u64 = 1;

// === Events ===

/// An owner offered the ownership of an object to an address, or withdrew the offer.
public struct OwnershipOffered has copy, drop {
    /// The ID of the name, the leader or the administration.
    object: ID,
    owner: address,
    pending_owner: Option<address>,
}

/// The address to which an object was offered became its owner.
public struct OwnershipAccepted has copy, drop {
    object: ID,
    previous_owner: address,
    owner: address,
}

// === Structs ===

/// The owner of the object that contains this struct.
public struct Owner has store {
    owner: address,
    /// The address that may accept the ownership.
    pending_owner: Option<address>,
}

// === Views ===

/// Return the owner.
public fun owner(self: &Owner): address { self.owner }

/// Return the address that may accept the ownership, or none.
public fun pending_owner(self: &Owner): Option<address> { self.pending_owner }

// === Package functions ===

/// Make the sender the owner of a new object.
public(package) fun new(ctx: &TxContext): Owner {
    Owner { owner: ctx.sender(), pending_owner: option::none() }
}

/// Abort with `ENotOwner` unless the sender is the owner.
public fun check(self: &Owner, ctx: &TxContext) {
    assert!(self.is_sender(ctx), ENotOwner);
}

/// Return whether the sender is the owner.
public(package) fun is_sender(self: &Owner, ctx: &TxContext): bool { self.owner == ctx.sender() }

/// Offer the ownership of `object` to an address, and replace an earlier offer. With none, withdraw
/// the offer. Aborts with `ENotOwner`.
public(package) fun offer(
    self: &mut Owner,
    object: ID,
    pending_owner: Option<address>,
    ctx: &TxContext,
) {
    self.check(ctx);
    self.pending_owner = pending_owner;
    event::emit(OwnershipOffered { object, owner: self.owner, pending_owner });
}

/// Make the sender the owner of `object`. Aborts with `ENotOffered`.
public(package) fun accept(self: &mut Owner, object: ID, ctx: &TxContext) {
    let owner = ctx.sender();
    assert!(self.pending_owner.contains(&owner), ENotOffered);
    let previous_owner = self.owner;
    self.owner = owner;
    self.pending_owner = option::none();
    event::emit(OwnershipAccepted { object, previous_owner, owner });
}
