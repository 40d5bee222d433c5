/// A permit for a package that executes workflows. The package may request invocations that are
/// attempts, and claim names for the workflows that it publishes.
///
/// The package that executes workflows is `nexus_workflows`. The two packages are separate, because
/// together they exceed the package size limit of networks. So `nexus_workflows` cannot use
/// `public(package)` functions of this package. Instead, the admin grants a `Permit`, which
/// `nexus_workflows` stores where no other code can access it.
module nexus_tools::permit;

use nexus_tools::admin::Admin;
use sui::event;

// === Events ===

/// A permit was granted. The same transaction shows where the admin stored the permit.
public struct PermitGranted has copy, drop {
    admin: address,
}

// === Structs ===

/// Proof that a package may request attempts and claim names.
public struct Permit has copy, drop, store {}

// === Public functions ===

/// Return a permit. The package that receives it in this transaction gets the permission. Aborts
/// with `owner::ENotOwner`.
public fun grant(admin: &Admin, ctx: &TxContext): Permit {
    admin.check(ctx);
    event::emit(PermitGranted { admin: ctx.sender() });
    Permit {}
}
