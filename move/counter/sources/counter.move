/// What the benchmarks call: a shared number that everyone may increase.
module counter::counter;

public struct Counter has key {
    id: UID,
    value: u64,
}

fun init(ctx: &mut TxContext) {
    transfer::share_object(Counter { id: object::new(ctx), value: 0 });
}

public fun increase(counter: &mut Counter) {
    counter.value = counter.value + 1;
}
