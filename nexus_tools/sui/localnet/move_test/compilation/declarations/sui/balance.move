module sui::balance;

public native fun create_for_testing<T>(value: u64): sui::balance::Balance<T>;
public native fun destroy_for_testing<T>(balance: sui::balance::Balance<T>): u64;
public native fun create_supply_for_testing<T>(): sui::balance::Supply<T>;
