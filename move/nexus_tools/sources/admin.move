/// The admin: whoever has the `AdminCap`, which the publisher of the package gets.
module nexus_tools::admin;

// === Structs ===

/// The right to change settings, to admit leaders and to slash collateral.
public struct AdminCap has key, store {
    id: UID,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::transfer(AdminCap { id: object::new(ctx) }, ctx.sender());
}

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }
