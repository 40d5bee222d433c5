module sui::transfer_policy_tests;

public struct OTW has drop {}
public struct Asset has key, store { id: UID }

public fun prepare(
    ctx: &mut TxContext,
): (sui::transfer_policy::TransferPolicy<Asset>, sui::transfer_policy::TransferPolicyCap<Asset>) {
    let publisher = sui::package::test_claim(OTW {}, ctx);
    let (policy, cap) = sui::transfer_policy::new<Asset>(&publisher, ctx);
    sui::package::burn_publisher(publisher);
    (policy, cap)
}

public fun wrapup(
    policy: sui::transfer_policy::TransferPolicy<Asset>,
    cap: sui::transfer_policy::TransferPolicyCap<Asset>,
    ctx: &mut TxContext,
): u64 {
    sui::coin::burn_for_testing(sui::transfer_policy::destroy_and_withdraw(policy, cap, ctx))
}

public fun fresh_id(ctx: &mut TxContext): ID { object::id_from_address(ctx.fresh_object_address()) }
