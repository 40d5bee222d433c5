module sui::transfer_policy;

public native fun new_for_testing<T>(
    ctx: &mut TxContext,
): (sui::transfer_policy::TransferPolicy<T>, sui::transfer_policy::TransferPolicyCap<T>);
