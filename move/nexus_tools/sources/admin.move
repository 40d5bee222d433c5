/// The administration: who changes settings and slashes collateral.
///
/// The publisher of the package owns it first.
module nexus_tools::admin;

use nexus_tools::owner::{Self, Owner};

// === Structs ===

/// The shared administration, of which there is one.
public struct Admin has key {
    id: UID,
    owner: Owner,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::share_object(Admin { id: object::new(ctx), owner: owner::sender(ctx) });
}

// === Public functions ===

/// Offers the administration to an address; with none, takes the offer back. Aborts with
/// `owner::ENotOwner`.
public fun offer(self: &mut Admin, offered: Option<address>, ctx: &TxContext) {
    let admin = object::id(self);
    self.owner.offer(admin, offered, ctx);
}

/// Makes the sender the admin. Aborts with `owner::ENotOffered`.
public fun accept(self: &mut Admin, ctx: &TxContext) {
    let admin = object::id(self);
    self.owner.accept(admin, ctx);
}

// === Views ===

/// Who the admin is, and to whom the administration is offered.
public fun owner(self: &Admin): &Owner { &self.owner }

/// Aborts with `owner::ENotOwner` unless the sender is the admin.
public fun check(self: &Admin, ctx: &TxContext) { self.owner.check(ctx) }

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }
