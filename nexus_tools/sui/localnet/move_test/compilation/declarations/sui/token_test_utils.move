module sui::token_test_utils;

public struct TEST has drop {}

public fun ctx(sender: address): TxContext {
    let hash = x"3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532";
    sui::tx_context::new(sender, hash, 0, 0, 0)
}

public fun get_treasury_cap(ctx: &mut TxContext): sui::coin::TreasuryCap<TEST> {
    sui::coin::create_treasury_cap_for_testing(ctx)
}

public fun return_treasury_cap(cap: sui::coin::TreasuryCap<TEST>) {
    sui::transfer::public_share_object(cap)
}

public fun get_policy(
    ctx: &mut TxContext,
): (sui::token::TokenPolicy<TEST>, sui::token::TokenPolicyCap<TEST>) {
    sui::token::new_policy_for_testing(ctx)
}

public fun return_policy(
    policy: sui::token::TokenPolicy<TEST>,
    cap: sui::token::TokenPolicyCap<TEST>,
) { sui::token::burn_policy_for_testing(policy, cap) }

public fun mint(amount: u64, ctx: &mut TxContext): sui::token::Token<TEST> {
    sui::token::mint_for_testing(amount, ctx)
}

public fun burn(token: sui::token::Token<TEST>) { sui::token::burn_for_testing(token) }
