module sui::clock;

public native fun create_for_testing(ctx: &mut TxContext): sui::clock::Clock;
public native fun share_for_testing(clock: sui::clock::Clock);
public native fun increment_for_testing(clock: &mut sui::clock::Clock, ms: u64);
public native fun set_for_testing(clock: &mut sui::clock::Clock, ms: u64);
public native fun destroy_for_testing(clock: sui::clock::Clock);
