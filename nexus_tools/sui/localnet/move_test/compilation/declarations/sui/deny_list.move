module sui::deny_list;

public native fun reserved_addresses(): vector<address>;
public native fun create_for_test(ctx: &mut TxContext);
public native fun create_for_testing(ctx: &mut TxContext);
public native fun new_for_testing(ctx: &mut TxContext): sui::deny_list::DenyList;
