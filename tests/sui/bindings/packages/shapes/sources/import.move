/** Names that mean something in Python.
 *
 *  And a comment in a block.
 */
module shapes::import;

use std::ascii;
use std::type_name::{Self, TypeName};
use sui::bag::{Self, Bag};
use sui::event;
use sui::dynamic_object_field;
use sui::object_bag::{Self, ObjectBag};
use sui::object_table::{Self, ObjectTable};
use sui::table::{Self, Table};
use sui::url::{Self, Url};
use sui::vec_map::{Self, VecMap};
use sui::vec_set::{Self, VecSet};

/// A struct with the name of what bindings import.
public struct Package has copy, drop, store {}

public struct Address(address, vector<u8>) has copy, drop, store;

/// Fields with the names of types, of keywords and of members: "quoted".
public struct MoveStruct has key {
    id: UID,
    bytes: vector<u8>,
    from: address,
    int: u256,
    str: ascii::String,
    bcs: u128,
    type_tag: TypeName,
    class: u32,
    empty: Package,
    place: Address,
    url: Url,
    tuple: VecMap<ascii::String, u64>,
    bool: VecSet<u16>,
    table: Table<u64, bool>,
    bag: Bag,
    objects: ObjectTable<u8, Thing>,
    object_bag: ObjectBag,
}

public struct Thing has key, store {
    id: UID,
}

public enum True has copy, drop, store {
    Variant(bool),
    False { is: u8, bcs: u8 },
}

public struct Event has copy, drop {
    kind: True,
    lambda: Package,
}

/// Makes one, with \ and """ in its comment.
public fun def(from: address, `match`: u256, package: vector<u8>, builder: ascii::String, ctx: &mut TxContext) {
    let mut map = vec_map::empty();
    map.insert(b"one".to_ascii_string(), 1);
    transfer::share_object(MoveStruct {
        id: object::new(ctx),
        bytes: package,
        from,
        int: `match`,
        str: builder,
        bcs: 1 << 100,
        type_tag: type_name::with_defining_ids<Package>(),
        class: 7,
        empty: Package {},
        place: Address(from, b"here"),
        url: url::new_unsafe_from_bytes(b"https://example.com"),
        tuple: map,
        bool: vec_set::singleton(3),
        table: table::new(ctx),
        bag: bag::new(ctx),
        objects: object_table::new(ctx),
        object_bag: object_bag::new(ctx),
    });
}

/// Changes what is in the table.
public fun bytes(self: &mut MoveStruct, _key: u64, _: bool) {
    self.table.add(_key, true);
    self.bag.add(_key, 5u8);
    event::emit(Event { kind: True::False { is: 1, bcs: 2 }, lambda: Package {} });
    event::emit(Event { kind: True::Variant(true), lambda: Package {} });
}

/// Puts three things into what keeps objects as such.
public fun keep(self: &mut MoveStruct, ctx: &mut TxContext) {
    self.objects.add(7, Thing { id: object::new(ctx) });
    self.object_bag.add(b"key".to_ascii_string(), Thing { id: object::new(ctx) });
    dynamic_object_field::add(&mut self.id, true, Thing { id: object::new(ctx) });
}
