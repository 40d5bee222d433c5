/// A regulated coin, made as it was before there was a registry.
/// `nexus-tools package build --output bytecode .` made what is beside it.
module coins::lead;

use sui::coin;

public struct LEAD has drop {}

fun init(witness: LEAD, ctx: &mut TxContext) {
    let (treasury, deny, metadata) = coin::create_regulated_currency_v2(
        witness,
        3,
        b"PB",
        b"Lead",
        b"Heavy",
        option::none(),
        true,
        ctx,
    );
    transfer::public_transfer(treasury, ctx.sender());
    transfer::public_transfer(deny, ctx.sender());
    transfer::public_freeze_object(metadata);
}
