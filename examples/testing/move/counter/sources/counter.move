/// A counter that anyone can increase once a minute, and that only its maker can reset.
module counter::counter;

use sui::clock::Clock;
use sui::event;

/// The counter was increased less than a minute ago.
const ETooEarly: u64 = 0;
/// Only the maker of the counter can reset it.
const ENotTheMaker: u64 = 1;

const PAUSE_MS: u64 = 60_000;

public struct Counter has key {
    id: UID,
    maker: address,
    value: u64,
    next_ms: u64,
}

public struct Increased has copy, drop {
    value: u64,
    by: address,
}

fun init(ctx: &mut TxContext) {
    let counter = Counter { id: object::new(ctx), maker: ctx.sender(), value: 0, next_ms: 0 };
    transfer::share_object(counter);
}

public fun value(counter: &Counter): u64 {
    counter.value
}

public fun increase(counter: &mut Counter, clock: &Clock, ctx: &TxContext) {
    let now_ms = clock.timestamp_ms();
    assert!(now_ms >= counter.next_ms, ETooEarly);
    counter.value = counter.value + 1;
    counter.next_ms = now_ms + PAUSE_MS;
    event::emit(Increased { value: counter.value, by: ctx.sender() });
}

public fun reset(counter: &mut Counter, ctx: &TxContext) {
    assert!(ctx.sender() == counter.maker, ENotTheMaker);
    counter.value = 0;
}
