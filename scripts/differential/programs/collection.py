"""The type of collections for programs that use the framework, and the head of their module."""

from dataclasses import dataclass

HEAD = """    use std::ascii;
    use std::bcs;
    use std::string;
    use sui::bag;
    use sui::balance;
    use sui::coin;
    use sui::derived_object;
    use sui::dynamic_field as df;
    use sui::dynamic_object_field as dof;
    use sui::event;
    use sui::linked_table;
    use sui::object_bag;
    use sui::object_table;
    use sui::priority_queue;
    use sui::table;
    use sui::table_vec;
    use sui::vec_map;
    use sui::vec_set;
    use sui::versioned;

    public struct Thing has key, store { id: UID, value: u64 }
    public struct Other has key, store { id: UID }
    public struct Happened has copy, drop { place: u64, value: u64, text: vector<u8> }
    public struct Moved<phantom T> has copy, drop { of: address }
    public struct Key has copy, drop, store { number: u64 }
    public struct Row has copy, drop, store { number: u64, cells: vector<u64> }
    public struct Money has drop {}
    public struct Holder has key { id: UID, supply: balance::Supply<Money> }

    fun thing(value: u64, ctx: &mut TxContext): Thing {
        Thing { id: object::new(ctx), value }
    }

    fun end(thing: Thing): u64 {
        let Thing { id, value } = thing;
        id.delete();
        value
    }

    fun seen_of(seen: &mut vector<u64>, value: Option<u64>) {
        seen.push_back(option::destroy_with_default(value, 99));
    }
"""


@dataclass(frozen=True, slots=True)
class Collection:
    """Templates for the creation of a collection, its operations and its end.

    `$k` stands for a small number, and `$v` for any number. The variable `seen` collects observed
    values. An operation that starts with `!` may abort.
    """

    made: str
    done: tuple[str, ...]
    ended: str
