/// A shared counter that anyone can increment, for the benchmarks.
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
