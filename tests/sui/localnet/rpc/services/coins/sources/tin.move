/// A coin of the registry with a fixed supply of 500, and an address that may deny its use.
module coins::tin;

use sui::coin_registry;

public struct TIN has drop {}

fun init(witness: TIN, ctx: &mut TxContext) {
    let (mut currency, mut treasury) = coin_registry::new_currency_with_otw(
        witness,
        2,
        b"SN".to_string(),
        b"Tin".to_string(),
        b"Light".to_string(),
        b"https://tin.example/icon".to_string(),
        ctx,
    );
    let deny = currency.make_regulated(false, ctx);
    transfer::public_transfer(treasury.mint(500, ctx), ctx.sender());
    currency.make_supply_fixed_init(treasury);
    transfer::public_transfer(deny, ctx.sender());
    transfer::public_transfer(currency.finalize(ctx), ctx.sender());
}
