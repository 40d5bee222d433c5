module sui::token;

public native fun new_policy_for_testing<T>(
    ctx: &mut TxContext,
): (sui::token::TokenPolicy<T>, sui::token::TokenPolicyCap<T>);
public native fun burn_policy_for_testing<T>(
    policy: sui::token::TokenPolicy<T>,
    cap: sui::token::TokenPolicyCap<T>,
);
public native fun mint_for_testing<T>(amount: u64, ctx: &mut TxContext): sui::token::Token<T>;
public native fun burn_for_testing<T>(token: sui::token::Token<T>);
