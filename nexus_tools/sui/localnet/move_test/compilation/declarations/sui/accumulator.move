module sui::accumulator;

public native fun create_for_testing(ctx: &TxContext);
