/// What a package needs that carries workflows: to request invocations that are attempts, and to
/// claim names for what it publishes.
///
/// `nexus_workflows` is that package. It stands beside this one, because no network takes both
/// together; so its rights cannot be those of a friend. The admin grants it a `Permit`, which it
/// keeps where no other code reaches it.
module nexus_tools::permit;

use nexus_tools::admin::Admin;
use sui::event;

// === Events ===

/// A permit was granted. What the admin does with it, the same transaction shows.
public struct PermitGranted has copy, drop {
    admin: address,
}

// === Structs ===

/// Shows that a package may.
public struct Permit has copy, drop, store {}

// === Public functions ===

/// Grants a permit to whatever takes it in this transaction. Aborts with `owner::ENotOwner`.
public fun grant(admin: &Admin, ctx: &TxContext): Permit {
    admin.check(ctx);
    event::emit(PermitGranted { admin: ctx.sender() });
    Permit {}
}
