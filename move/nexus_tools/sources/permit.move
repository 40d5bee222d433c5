/// A permit for a package that executes workflows. It may request invocations that are attempts,
/// and claim names for the workflows that it publishes.
///
/// That package is `nexus_workflows`. It is a package of its own, because both together exceed the
/// size limit of networks, so it cannot be a friend of this one. The admin grants it a `Permit`,
/// which it stores where no other code can reach it.
module nexus_tools::permit;

use nexus_tools::admin::Admin;
use sui::event;

// === Events ===

/// A permit was granted. The same transaction shows where the admin stored it.
public struct PermitGranted has copy, drop {
    admin: address,
}

// === Structs ===

/// Proof that a package has the permission.
public struct Permit has copy, drop, store {}

// === Public functions ===

/// Return a permit for the package that receives it in this transaction. Aborts with
/// `owner::ENotOwner`.
public fun grant(admin: &Admin, ctx: &TxContext): Permit {
    admin.check(ctx);
    event::emit(PermitGranted { admin: ctx.sender() });
    Permit {}
}
