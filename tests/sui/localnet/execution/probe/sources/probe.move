/// One function for each thing that a transaction can do to Move values.
module probe::probe;

use std::ascii;
use std::string::String;
use std::type_name;
use sui::dynamic_field;
use sui::dynamic_object_field;
use sui::event;
use sui::party;
use sui::transfer::Receiving;
use sui::types;

/// The number that `code_of_version` returns: upgrades change it.
const VERSION: u64 = 1;

public struct PROBE has drop {}

public struct Thing has key, store { id: UID, value: u64 }

public struct Soulbound has key { id: UID }

public struct Potato { value: u64 }

public struct Stubborn has copy { value: u64 }

public struct Wrapper has key, store { id: UID, inner: Thing }

public struct Box has key { id: UID, count: u64 }

public struct Note has copy, drop { value: u64 }

public struct Blob has copy, drop { words: vector<u256> }

public struct Pair<T: copy + drop + store> has copy, drop, store { first: T, second: T }

fun init(witness: PROBE, ctx: &mut TxContext) {
    assert!(types::is_one_time_witness(&witness), 77);
    event::emit(Note { value: 1 });
    transfer::share_object(Box { id: object::new(ctx), count: 0 });
    transfer::public_transfer(Thing { id: object::new(ctx), value: 5 }, ctx.sender());
}

// === Values ===

public fun code_of_version(): u64 { VERSION }

public fun pair(first: u64, second: u64): (u64, u64) { (first, second) }

public fun nothing() {}

public fun sum(numbers: vector<u64>): u64 {
    let mut total = 0;
    let mut i = 0;
    while (i < numbers.length()) {
        total = total + numbers[i];
        i = i + 1;
    };
    total
}

public fun increment(number: &mut u64) { *number = *number + 1; }

public fun expect(number: u64, expected: u64) { assert!(number == expected, 1); }

public fun lengths(text: String, letters: ascii::String, maybe: Option<u64>, rows: vector<vector<u8>>): vector<u64> {
    let mut lengths = vector[text.length(), letters.length()];
    lengths.push_back(if (maybe.is_some()) { *maybe.borrow() } else { 0 });
    lengths.push_back(rows.length());
    lengths
}

public fun identify(id: ID, address: address): bool { id.to_address() == address }

public fun make_pair<T: copy + drop + store>(value: T): Pair<T> { Pair { first: value, second: value } }

public fun name_of<T>(): ascii::String { type_name::with_defining_ids<T>().into_string() }

public fun original_name_of<T>(): ascii::String { type_name::with_original_ids<T>().into_string() }

public fun defining_id_of<T>(): address { type_name::defining_id<T>() }

// === Objects ===

public fun new_thing(value: u64, ctx: &mut TxContext): Thing { Thing { id: object::new(ctx), value } }

public fun value(thing: &Thing): u64 { thing.value }

public fun set(thing: &mut Thing, value: u64) { thing.value = value; }

public fun swap(one: &mut Thing, other: &mut Thing) {
    let value = one.value;
    one.value = other.value;
    other.value = value;
}

public fun same(one: &Thing, other: &Thing): bool { one.value == other.value }

public fun look_and_eat(_thing: &Thing, eaten: Thing) { destroy(eaten) }

public fun borrow_value(thing: &Thing): &u64 { &thing.value }

public fun destroy(thing: Thing) {
    let Thing { id, value: _ } = thing;
    id.delete();
}

public fun destroy_all(things: vector<Thing>): u64 {
    let mut things = things;
    let count = things.length();
    while (!things.is_empty()) destroy(things.pop_back());
    things.destroy_empty();
    count
}

public fun soulbound(ctx: &mut TxContext): Soulbound { Soulbound { id: object::new(ctx) } }

public fun send_soulbound(value: Soulbound, to: address) { transfer::transfer(value, to); }

public fun share_thing(thing: Thing) { transfer::public_share_object(thing); }

public fun freeze_thing(thing: Thing) { transfer::public_freeze_object(thing); }

public fun party_thing(thing: Thing, to: address) {
    transfer::public_party_transfer(thing, party::single_owner(to));
}

public fun wrap(inner: Thing, ctx: &mut TxContext): Wrapper { Wrapper { id: object::new(ctx), inner } }

public fun unwrap(wrapper: Wrapper): Thing {
    let Wrapper { id, inner } = wrapper;
    id.delete();
    inner
}

public fun receive(parent: &mut Thing, ticket: Receiving<Thing>): Thing {
    transfer::public_receive(&mut parent.id, ticket)
}

public fun receive_twice(parent: &mut Thing, first: Receiving<Thing>, second: Receiving<Thing>) {
    destroy(transfer::public_receive(&mut parent.id, first));
    destroy(transfer::public_receive(&mut parent.id, second));
}

// === The shared object ===

public fun bump(box: &mut Box) { box.count = box.count + 1; }

public fun count(box: &Box): u64 { box.count }

public fun delete_box(box: Box) {
    let Box { id, count: _ } = box;
    id.delete();
}

public fun reshare_box(box: Box) { transfer::share_object(box); }

public fun freeze_box(box: Box) { transfer::freeze_object(box); }

public fun delete_box_and_return(box: Box): u64 {
    let count = box.count;
    delete_box(box);
    count
}

// === Dynamic fields ===

public fun add_field(thing: &mut Thing, key: u64, value: u64) { dynamic_field::add(&mut thing.id, key, value); }

public fun set_field(thing: &mut Thing, key: u64, value: u64) {
    *dynamic_field::borrow_mut(&mut thing.id, key) = value;
}

public fun field(thing: &Thing, key: u64): u64 { *dynamic_field::borrow(&thing.id, key) }

public fun has_field(thing: &Thing, key: u64): bool { dynamic_field::exists_(&thing.id, key) }

public fun remove_field(thing: &mut Thing, key: u64): u64 { dynamic_field::remove(&mut thing.id, key) }

public fun field_as_bool(thing: &Thing, key: u64): bool { *dynamic_field::borrow(&thing.id, key) }

public fun add_many_fields(thing: &mut Thing, count: u64) {
    let mut i = 0;
    while (i < count) {
        dynamic_field::add(&mut thing.id, i, i);
        i = i + 1;
    }
}

public fun add_object_field(thing: &mut Thing, key: u64, child: Thing) {
    dynamic_object_field::add(&mut thing.id, key, child);
}

public fun remove_object_field(thing: &mut Thing, key: u64): Thing {
    dynamic_object_field::remove(&mut thing.id, key)
}

// === Events, aborts, limits ===

public fun emit(count: u64) {
    let mut i = 0;
    while (i < count) {
        event::emit(Note { value: i });
        i = i + 1;
    }
}

fun words(count: u64): vector<u256> {
    let mut words = vector[];
    while (words.length() < count) words.push_back(0);
    words
}

public fun emit_blob(count: u64) { event::emit(Blob { words: words(count) }); }

public fun fail(code: u64) { abort code }

public fun overflow(number: u64): u64 { number + 1 }

public fun out_of_bounds(): u64 { vector[1, 2][2] }

public fun spin() { loop {} }

public fun make_ids(count: u64, ctx: &mut TxContext) {
    let mut i = 0;
    while (i < count) {
        object::new(ctx).delete();
        i = i + 1;
    }
}

public fun keep_ids(count: u64, ctx: &mut TxContext) {
    let mut i = 0;
    while (i < count) {
        transfer::public_transfer(new_thing(i, ctx), @0x5);
        i = i + 1;
    }
}

public fun big_object(count: u64, ctx: &mut TxContext) {
    let mut thing = new_thing(0, ctx);
    dynamic_field::add(&mut thing.id, 0u8, words(count));
    transfer::public_transfer(thing, ctx.sender());
}

// === Hot potatoes and entry functions ===

public fun potato(value: u64): Potato { Potato { value } }

public fun potato_of(thing: &Thing): Potato { Potato { value: thing.value } }

public fun eat(potato: Potato): u64 {
    let Potato { value } = potato;
    value
}

public fun stubborn(): Stubborn { Stubborn { value: 1 } }

public fun take_stubborn(value: Stubborn) { let Stubborn { value: _ } = value; }

public fun look_at_stubborn(_value: &Stubborn) {}

entry fun private_entry(thing: &mut Thing, value: u64) { thing.value = value; }

entry fun private_eat(potato: Potato, _thing: &Thing) { eat(potato); }

public(package) fun package_only() {}

fun hidden(): u64 { 42 }

public fun call_hidden(): u64 { hidden() }

// === The transaction ===

public fun circumstances(ctx: &TxContext): (address, u64, u64, u64, u64, Option<address>) {
    (
        ctx.sender(),
        ctx.epoch(),
        ctx.epoch_timestamp_ms(),
        ctx.reference_gas_price(),
        ctx.gas_price(),
        ctx.sponsor(),
    )
}

public fun digest(ctx: &TxContext): vector<u8> { *ctx.digest() }
