/// An object with a field of every kind that a `Display` may or may not show.
/// `nexus-tools package build --output bytecode .` made what is beside it.
module card::card;

use std::ascii;
use std::string::String;
use sui::balance::{Self, Balance};
use sui::package;
use sui::sui::SUI;
use sui::url::{Self, Url};

public struct CARD has drop {}

public struct Card has key, store {
    id: UID,
    name: String,
    code: ascii::String,
    link: Url,
    small: u8,
    large: u256,
    sold: bool,
    author: address,
    origin: ID,
    some: Option<u64>,
    none: Option<u64>,
    bytes: vector<u8>,
    empty: Balance<SUI>,
    stats: Stats,
    rank: Rank,
}

public struct Stats has store { level: u64, inner: Inner }

public struct Inner has store { mark: String }

public enum Rank has store {
    Novice,
    Master { years: u16 },
}

public struct Boxed<phantom T> has key, store { id: UID, count: u64 }

fun init(witness: CARD, ctx: &mut TxContext) {
    package::claim_and_keep(witness, ctx);
}

public fun new(name: String, ctx: &mut TxContext): Card {
    let id = object::new(ctx);
    let origin = id.to_inner();
    Card {
        id,
        name,
        code: b"C-7".to_ascii_string(),
        link: url::new_unsafe_from_bytes(b"https://cards.example/7"),
        small: 8,
        large: 1 << 255,
        sold: true,
        author: @0xA11CE,
        origin,
        some: option::some(12),
        none: option::none(),
        bytes: b"ab",
        empty: balance::zero(),
        stats: Stats { level: 3, inner: Inner { mark: b"*".to_string() } },
        rank: Rank::Master { years: 40 },
    }
}

public fun boxed<T>(ctx: &mut TxContext): Boxed<T> { Boxed { id: object::new(ctx), count: 1 } }

/// Keeps the compiler from saying that a variant is never made.
public fun novice(): Rank { Rank::Novice }

public fun forget(rank: Rank): u16 {
    match (rank) {
        Rank::Novice => 0,
        Rank::Master { years } => years,
    }
}
