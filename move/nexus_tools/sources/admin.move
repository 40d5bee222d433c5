/// The administration of the registries. The owner of the administration, the admin, changes
/// settings and slashes collateral.
///
/// The first admin is the publisher of the package.
module nexus_tools::admin;

use nexus_tools::owner::{Self, Owner};

// === Structs ===

/// The shared administration object, of which only one exists.
public struct Admin has key {
    id: UID,
    owner: Owner,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::share_object(Admin { id: object::new(ctx), owner: owner::new(ctx) });
}

// === Public functions ===

/// Offer the administration to an address, or withdraw the offer if the address is none. Aborts
/// with `owner::ENotOwner`.
public fun offer(self: &mut Admin, pending_owner: Option<address>, ctx: &TxContext) {
    let admin = object::id(self);
    self.owner.offer(admin, pending_owner, ctx);
}

/// Make the sender the admin. Aborts with `owner::ENotOffered`.
public fun accept(self: &mut Admin, ctx: &TxContext) {
    let admin = object::id(self);
    self.owner.accept(admin, ctx);
}

// === Views ===

/// Return the admin and the address to which the administration is offered.
public fun owner(self: &Admin): &Owner { &self.owner }

/// Abort with `owner::ENotOwner` unless the sender is the admin.
public fun check(self: &Admin, ctx: &TxContext) { self.owner.check(ctx) }

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }
