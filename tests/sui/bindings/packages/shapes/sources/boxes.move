/// Values in boxes: what type parameters become.
///
/// | a table | stays |
/// |---------|-------|
/// | of      | lines |
module shapes::boxes;

use std::string::String;
use sui::balance::{Self, Balance};
use sui::clock::Clock;
use sui::coin::Coin;
use sui::event;
use sui::linked_table::{Self, LinkedTable};
use sui::random::{Random, new_generator};
use sui::transfer::Receiving;
use tokens::token::{Amount, Badge};

/// The box is empty: put something in first.
const EEmpty: u64 = 0;
/// Not an error: the capacity of a box.
const EIGHT_ITEMS: u64 = 8;

#[error]
const ETooHeavy: vector<u8> = b"The box is too heavy: take \"something\" out.";

#[error(code = 7)]
const ELocked: vector<u8> = b"The box is locked.";

/// The one-time witness, which has the name of no type in Python.
public struct BOXES has drop {}

/// A box. Its item is of any type.
public struct Box<T: store> has key, store {
    id: UID,
    /// The content.
    item: T,
    label: String,
}

/// Two values, the first in an option of an option.
public struct Pair<First: store, phantom Tag, Second: store> has store {
    first: Option<Option<First>>,
    second: vector<Second>,
}

/// Money of a coin type, which is in no field.
public struct Vault<phantom Money> has key {
    id: UID,
    balance: Balance<Money>,
    pairs: LinkedTable<u64, Pair<u8, Money, bool>>,
}

/// A generic enum whose variants use its parameters in another order.
public enum Either<A, B> has copy, drop, store {
    None,
    Right(B),
    Left { value: A, weight: u64 },
}

/// Something came of a box.
public struct Opened<T: copy + drop> has copy, drop {
    box: ID,
    item: T,
    either: Either<u8, vector<address>>,
}

/// A badge was put on.
public struct Worn has copy, drop {
    level: u8,
    amount: Amount<String>,
}

fun init(_: BOXES, ctx: &mut TxContext) {
    transfer::share_object(Vault<sui::sui::SUI> {
        id: object::new(ctx),
        balance: balance::zero(),
        pairs: linked_table::new(ctx),
    });
}

/// Packs an item. Aborts with `ETooHeavy`.
public fun pack<T: store>(item: T, label: String, ctx: &mut TxContext): Box<T> {
    assert!(label.length() < 40_000, ETooHeavy);
    Box { id: object::new(ctx), item, label }
}

/// Opens a box and gives what is inside, and its label.
public fun open<T: store + copy + drop>(box: Box<T>): (T, String) {
    let Box { id, item, label } = box;
    let either = Either::Right(vector[@0xB]);
    event::emit(Opened { box: id.to_inner(), item, either });
    id.delete();
    (item, label)
}

/// Says what is in many boxes at once.
public fun open_all(mut boxes: vector<Box<u64>>): u64 {
    let mut sum = 0;
    while (!boxes.is_empty()) {
        let (item, _) = open(boxes.pop_back());
        sum = sum + item;
    };
    boxes.destroy_empty();
    sum
}

public fun numbers(items: vector<vector<Option<u16>>>): u64 { items.length() }

public fun sum(mut items: vector<Either<u8, u64>>): u64 {
    let mut sum = 0;
    'all: while (true) {
        if (items.is_empty()) break 'all;
        sum = sum + match (items.pop_back()) {
            Either::None => 0,
            Either::Right(number) => number,
            Either::Left { value, weight } => (value as u64) * weight,
        };
    };
    sum
}

public fun none(): Either<u8, u64> { Either::None }

public fun left(value: u8, weight: u64): Either<u8, u64> { Either::Left { value, weight } }

/// Puts money into a vault.
entry fun deposit<Money>(self: &mut Vault<Money>, coin: Coin<Money>) {
    self.balance.join(coin.into_balance());
}

public fun remember<Money>(self: &mut Vault<Money>, key: u64) {
    self.pairs.push_back(key, Pair { first: option::some(option::some(1)), second: vector[true] });
}

public fun balance_of<Money>(self: &Vault<Money>): u64 { self.balance.value() }

public fun item<T: store>(self: &Box<T>): &T { &self.item }

public fun check(self: &Box<u64>, limit: Option<u64>) {
    assert!(self.item > 0, EEmpty);
    assert!(limit.is_none() || self.item <= *limit.borrow(), ELocked);
}

public fun wear(badge: &Badge, amount: Amount<String>) {
    event::emit(Worn { level: badge.level(), amount });
}

/// Takes badges off, which are of another package.
public fun take_off(mut badges: vector<Badge>): u64 {
    let count = badges.length();
    while (!badges.is_empty()) badges.pop_back().discard();
    badges.destroy_empty();
    count
}

public fun take_back(self: &mut Box<u64>, sent: Receiving<Box<u64>>): Box<u64> {
    transfer::receive(&mut self.id, sent)
}

entry fun roll(self: &mut Box<u64>, random: &Random, clock: &Clock, ctx: &mut TxContext) {
    let mut generator = new_generator(random, ctx);
    self.item = generator.generate_u64_in_range(1, 6) + clock.timestamp_ms() / 1_000_000_000_000_000;
}

public fun room(): u64 { EIGHT_ITEMS }
