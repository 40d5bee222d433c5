module sui::object;

public native fun last_created(ctx: &TxContext): ID;
