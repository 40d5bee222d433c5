module sui::coin;

public native fun mint_for_testing<T>(value: u64, ctx: &mut TxContext): sui::coin::Coin<T>;
public native fun burn_for_testing<T>(coin: sui::coin::Coin<T>): u64;
public native fun create_treasury_cap_for_testing<T>(
    ctx: &mut TxContext,
): sui::coin::TreasuryCap<T>;
