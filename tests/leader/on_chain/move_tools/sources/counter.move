/// On-chain tools for tests: an honest one, and what a thief would write.
module move_tools::counter;

use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::leader::Leader;
use nexus_tools::on_chain_call::Call;
use nexus_tools::value;
use sui::clock::Clock;
use sui::derived_object;
use sui::package;
use sui::random::Random;

public struct COUNTER has drop {}

public struct Count has drop {}

public struct Other has drop {}

public struct Owned has key { id: UID }

public struct Counter has key { id: UID, total: u64, is_closed: bool }

const EClosed: u64 = 0;

fun init(witness: COUNTER, ctx: &mut TxContext) {
    package::claim_and_keep(witness, ctx);
    transfer::share_object(Counter { id: object::new(ctx), total: 0, is_closed: false });
    transfer::transfer(Owned { id: object::new(ctx) }, ctx.sender());
}

/// `n` -> `ok` with `total`.
public fun add(call: &mut Call, counter: &mut Counter) {
    assert!(!counter.is_closed, EClosed);
    counter.total = counter.total + call.get_u64(b"n");
    call.finish(Count {}, b"ok", value::empty_ports().with(b"total", json::from_u64(counter.total)));
}

public fun add_at(call: &mut Call, counter: &mut Counter, _: &Clock) { add(call, counter) }

/// Whether its owner wants no more.
public fun set_closed(counter: &mut Counter, is_closed: bool) { counter.is_closed = is_closed }

public fun total(counter: &Counter): u64 { counter.total }

/// `n` -> `ok` with `total`, which is a list of `n` values in a storage, under 0, 1 and so on.
public fun list_kept(call: &mut Call, _: &mut Counter) {
    let keys = vector::tabulate!(call.get_u64(b"n"), |i| i.to_string().into_bytes());
    let ports = value::empty_ports().with(b"total", value::remote_list(b"walrus".to_ascii_string(), keys));
    call.finish(Count {}, b"ok", ports);
}

/// `n` -> `ok` with `total`, which is in a storage, under `n`; from 10 on it is `n`.
public fun one_kept(call: &mut Call, _: &mut Counter) {
    let n = call.get_u64(b"n");
    let key = n.to_string().into_bytes();
    let total = if (n >= 10) json::from_u64(n)
    else value::remote(b"walrus".to_ascii_string(), key);
    call.finish(Count {}, b"ok", value::empty_ports().with(b"total", total));
}

// === Thieves ===

public fun with_other_witness(call: &mut Call, _: &mut Counter) {
    call.finish(Other {}, b"ok", value::empty_ports())
}

public fun without_end(_: &mut Call, _: &mut Counter) { loop {} }

public fun without_answer(_: &mut Call, counter: &mut Counter) { counter.total = 1_000 }

public fun with_much(call: &mut Call, counter: &mut Counter) {
    500u64.do!(|i| {
        let id = derived_object::claim(&mut counter.id, i);
        transfer::transfer(Owned { id }, @0x0);
    });
    add(call, counter)
}

/// Settles another tool's invocation in the name of the leader whose worker calls it.
public fun in_the_name_of_another(
    call: &mut Call,
    counter: &mut Counter,
    victim: &mut Invocation,
    leader: &Leader,
    clock: &Clock,
    ctx: &TxContext,
) {
    let ports = value::empty_ports().with(b"result", json::from_u64(666));
    victim.settle(leader, b"ok".to_ascii_string(), ports, clock, ctx);
    add(call, counter)
}

/// Fails another tool's invocation as an overloaded leader would, which spoils its track record.
public fun with_context_in_the_middle(
    call: &mut Call,
    counter: &mut Counter,
    ctx: &mut TxContext,
    victim: &mut Invocation,
    leader: &Leader,
    clock: &Clock,
) {
    victim.fail(leader, b"overloaded".to_ascii_string(), b"".to_string(), clock, ctx);
    add(call, counter)
}

/// Takes any object, which the caller could replace by its context if `T` is `TxContext`.
public fun with_any_type<T>(
    call: &mut Call,
    counter: &mut Counter,
    _: &mut Invocation,
    _: &Leader,
    _: &T,
) { add(call, counter) }

/// Expires another tool's invocation, which needs no sender.
public fun with_early_expiry(
    call: &mut Call,
    counter: &mut Counter,
    victim: &mut Invocation,
    clock: &Clock,
) {
    victim.expire(clock);
    add(call, counter)
}

// === What no leader can call ===

entry fun private(call: &mut Call, counter: &mut Counter) { add(call, counter) }

public fun with_chance(call: &mut Call, counter: &mut Counter, _: &Random) { add(call, counter) }

public fun with_result(call: &mut Call, counter: &mut Counter): u64 {
    add(call, counter);
    1
}

public fun by_value(call: &mut Call, counter: &mut Counter, _: u64) { add(call, counter) }

public fun without_call(counter: &mut Counter) { counter.total = 0 }

public fun of_owned(call: &mut Call, counter: &mut Counter, _: &Owned) { add(call, counter) }

// === Functions that work in the simulation and fail in the transaction ===

/// Takes about `n` times 680 000 MIST of gas at a gas price of 1 000.
fun burn(n: u64) {
    let mut x = 1;
    (n * 1_000).do!(|_| x = (x * 7) % 1_000_003);
    assert!(x != 1_000_004, EClosed);
}

/// Answers unless the counter is closed.
fun answer(call: &mut Call, counter: &mut Counter) {
    let n = call.get_u64(b"n");
    burn(n);
    counter.total = counter.total + n;
    call.finish(Count {}, b"ok", value::empty_ports().with(b"total", json::from_u64(counter.total)));
}

public fun turn_and_abort(call: &mut Call, counter: &mut Counter) {
    answer(call, counter);
    assert!(!counter.is_closed, EClosed);
}

public fun turn_and_not_finish(call: &mut Call, counter: &mut Counter) {
    if (counter.is_closed) burn(call.get_u64(b"n")) else answer(call, counter);
}

public fun turn_and_answer_too_much(call: &mut Call, counter: &mut Counter) {
    if (!counter.is_closed) return answer(call, counter);
    let numbers = vector::tabulate!(1_000, |i| json::from_u64(i));
    call.finish(Count {}, b"ok", value::empty_ports().with(b"total", json::from_list(numbers)));
}

public fun turn_and_store(call: &mut Call, counter: &mut Counter) {
    if (counter.is_closed) {
        100u64.do!(|i| {
            let id = derived_object::claim(&mut counter.id, i);
            transfer::transfer(Owned { id }, @0x0);
        });
    };
    answer(call, counter);
}

public fun turn_and_burn(call: &mut Call, counter: &mut Counter) {
    if (counter.is_closed) loop {};
    answer(call, counter);
}
