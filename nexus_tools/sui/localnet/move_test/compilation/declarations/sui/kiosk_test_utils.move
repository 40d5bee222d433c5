module sui::kiosk_test_utils;

public struct OTW has drop {}
public struct Asset has key, store { id: UID }

public fun ctx(): TxContext { sui::tx_context::dummy() }
public fun folks(): (address, address, address) { (@0xA11CE, @0xB0B, @0xCA51) }

public fun get_publisher(ctx: &mut TxContext): sui::package::Publisher {
    sui::package::test_claim(OTW {}, ctx)
}

public fun get_policy(
    ctx: &mut TxContext,
): (sui::transfer_policy::TransferPolicy<Asset>, sui::transfer_policy::TransferPolicyCap<Asset>) {
    let publisher = get_publisher(ctx);
    let (policy, cap) = sui::transfer_policy::new<Asset>(&publisher, ctx);
    return_publisher(publisher);
    (policy, cap)
}

public fun get_sui(amount: u64, ctx: &mut TxContext): sui::coin::Coin<sui::sui::SUI> {
    sui::coin::mint_for_testing(amount, ctx)
}

public fun get_asset(ctx: &mut TxContext): (Asset, ID) {
    let asset = Asset { id: object::new(ctx) };
    let id = object::id(&asset);
    (asset, id)
}

public fun get_kiosk(ctx: &mut TxContext): (sui::kiosk::Kiosk, sui::kiosk::KioskOwnerCap) {
    sui::kiosk::new(ctx)
}

public fun return_publisher(publisher: sui::package::Publisher) {
    sui::package::burn_publisher(publisher)
}

public fun return_policy(
    policy: sui::transfer_policy::TransferPolicy<Asset>,
    cap: sui::transfer_policy::TransferPolicyCap<Asset>,
    ctx: &mut TxContext,
): u64 {
    sui::coin::burn_for_testing(sui::transfer_policy::destroy_and_withdraw(policy, cap, ctx))
}

public fun return_kiosk(
    kiosk: sui::kiosk::Kiosk,
    cap: sui::kiosk::KioskOwnerCap,
    ctx: &mut TxContext,
): u64 {
    sui::coin::burn_for_testing(sui::kiosk::close_and_withdraw(kiosk, cap, ctx))
}

public fun return_assets(assets: vector<Asset>) {
    assets.destroy!(|asset| {
        let Asset { id } = asset;
        id.delete();
    })
}
