/// Counters whose every change is known in advance.
module sample::counter;

use std::string::String;
use sui::clock::Clock;
use sui::dynamic_field;
use sui::event;
use sui::random::Random;

const EAlreadyThere: u64 = 7;

#[error]
const ENotOdd: vector<u8> = b"The number must be odd";

public struct Counter has key, store {
    id: UID,
    name: String,
    value: u64,
    status: Status,
}

public enum Status has copy, drop, store {
    Idle,
    Active { since: u64 },
}

public struct Box has key {
    id: UID,
    counter: Counter,
}

public struct Increased has copy, drop {
    by: u64,
}

public struct Started has copy, drop {
    by: address,
}

fun init(ctx: &mut TxContext) {
    event::emit(Started { by: ctx.sender() });
    transfer::transfer(new(b"first".to_string(), ctx), ctx.sender());
}

public fun new(name: String, ctx: &mut TxContext): Counter {
    Counter { id: object::new(ctx), name, value: 0, status: Status::Idle }
}

/// Adds an odd number.
public fun increase(counter: &mut Counter, by: u64): u64 {
    check(by);
    counter.value = sum(counter.value, by);
    event::emit(Increased { by });
    counter.value
}

fun check(by: u64) {
    assert!(by % 2 == 1, ENotOdd);
}

fun sum(one: u64, other: u64): u64 {
    one + other
}

public fun start(counter: &mut Counter, clock: &Clock) {
    counter.status = Status::Active { since: clock.timestamp_ms() };
}

/// Adds 1 as often as wanted, by a function that calls itself.
public fun climb(counter: &mut Counter, steps: u64) {
    if (steps > 0) {
        counter.value = counter.value + 1;
        climb(counter, steps - 1);
    }
}

public fun repeat(times: u64) {
    let mut done = 0;
    while (done < times) {
        check(1);
        done = done + 1;
    }
}

public fun share(counter: Counter) {
    transfer::share_object(counter);
}

#[allow(lint(self_transfer))]
public fun wrap(counter: Counter, ctx: &mut TxContext) {
    transfer::transfer(Box { id: object::new(ctx), counter }, ctx.sender());
}

public fun unwrap(box: Box): Counter {
    let Box { id, counter } = box;
    id.delete();
    counter
}

public fun delete(counter: Counter) {
    let Counter { id, .. } = counter;
    id.delete();
}

public fun note(counter: &mut Counter, key: u8, value: vector<u8>) {
    assert!(!dynamic_field::exists_(&counter.id, key), EAlreadyThere);
    dynamic_field::add(&mut counter.id, key, value);
}

public fun read_note(counter: &Counter, key: u8): vector<u8> {
    *dynamic_field::borrow(&counter.id, key)
}

public fun change_note(counter: &mut Counter, key: u8, value: vector<u8>) {
    *dynamic_field::borrow_mut(&mut counter.id, key) = value;
}

public fun first_or<T: copy + drop>(values: vector<T>, other: T): T {
    if (values.is_empty()) other else values[0]
}

public fun maybe(value: u64): Option<u64> {
    if (value > 9) option::some(value) else option::none()
}

public fun divide(one: u64, other: u64): u64 {
    one / other
}

entry fun roll(random: &Random, ctx: &mut TxContext) {
    let mut generator = random.new_generator(ctx);
    event::emit(Increased { by: generator.generate_u64() });
}
