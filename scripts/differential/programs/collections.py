"""Programs over the framework: objects, their fields, collections, money, events, transfers."""

from dataclasses import dataclass
from random import Random

from differential.programs.statements import Program

_KEYS = 5
_RARE = 0.15
_BOLD = 0.4
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
    """How one is made, what is done with it, and how it ends.

    `$k` is a small number, `$v` any; `seen` takes what is seen. What begins with `!` may well
    abort.
    """

    made: str
    done: tuple[str, ...]
    ended: str


COLLECTIONS = (
    Collection(
        "let mut one = table::new<u64, u64>(ctx);",
        (
            "!one.add($k, $v);",
            "if (!one.contains($k)) one.add($k, $v);",
            "if (!one.contains($k)) one.add($k, $v);",
            "if (one.contains($k)) seen.push_back(one.remove($k));",
            "!seen.push_back(one.remove($k));",
            "!seen.push_back(*one.borrow($k));",
            "if (one.contains($k)) *one.borrow_mut($k) = $v;",
            "!*(&mut one[$k]) = $v;",
            "seen.push_back(one.length());",
        ),
        "{ let mut i = 0; while (i < 5) { if (one.contains(i)) seen.push_back(one.remove(i));"
        " i = i + 1; }; }; one.destroy_empty();",
    ),
    Collection(
        "let mut one = bag::new(ctx);",
        (
            "!one.add($k, $v);",
            "if (!one.contains($k)) one.add($k, $v);",
            'if (!one.contains($k)) one.add($k, b"text");',
            "if (!one.contains(Key { number: $k })) one.add(Key { number: $k }, $v);",
            "!seen.push_back(one.remove<u64, u64>($k));",
            "if (one.contains_with_type<u64, u64>($k)) seen.push_back(one.remove($k));",
            (
                "if (one.contains_with_type<u64, vector<u8>>($k))"
                " seen.push_back(one.borrow<u64, vector<u8>>($k).length());"
            ),
            "!*one.borrow_mut<u64, u64>($k) = $v;",
            "!one.borrow_mut<u64, vector<u8>>($k).push_back(7);",
            "seen.push_back(one.length());",
        ),
        "{ let mut i = 0; while (i < 5) {"
        " if (one.contains_with_type<u64, u64>(i)) seen.push_back(one.remove(i));"
        " if (one.contains_with_type<u64, vector<u8>>(i))"
        " seen.push_back(one.remove<u64, vector<u8>>(i).length());"
        " if (one.contains(Key { number: i })) seen.push_back(one.remove(Key { number: i }));"
        " i = i + 1; }; }; one.destroy_empty();",
    ),
    Collection(
        "let mut one = linked_table::new<u64, u64>(ctx);",
        (
            "!one.push_back($k, $v);",
            "if (!one.contains($k)) one.push_back($k, $v);",
            "if (!one.contains($k)) one.push_front($k, $v);",
            "if (!one.contains($k)) one.push_front($k, $v);",
            "if (!one.is_empty()) { let (k, v) = one.pop_front(); seen.push_back(k + v % 9); };",
            "!{ let (k, v) = one.pop_back(); seen.push_back(k + v % 9); };",
            "if (one.contains($k)) seen.push_back(one.remove($k));",
            "seen_of(&mut seen, *one.front());",
            "seen_of(&mut seen, *one.back());",
            "if (one.contains($k)) seen_of(&mut seen, *one.next($k));",
            "!seen_of(&mut seen, *one.prev($k));",
            "!*one.borrow_mut($k) = $v;",
        ),
        "while (!one.is_empty()) { let (k, v) = one.pop_front(); seen.push_back(k + v % 9); };"
        " one.destroy_empty();",
    ),
    Collection(
        "let mut one = object_table::new<u64, Thing>(ctx);",
        (
            "!{ let it = thing($v, ctx); one.add($k, it); };",
            "if (!one.contains($k)) { let it = thing($v, ctx); one.add($k, it); };",
            "if (one.contains($k)) seen.push_back(end(one.remove($k)));",
            "!seen.push_back(one.borrow($k).value);",
            "!one.borrow_mut($k).value = $v;",
            "if (option::is_some(&one.value_id($k))) seen.push_back(1);",
        ),
        "{ let mut i = 0; while (i < 5) { if (one.contains(i)) seen.push_back(end(one.remove(i)));"
        " i = i + 1; }; }; one.destroy_empty();",
    ),
    Collection(
        "let mut one = object_bag::new(ctx);",
        (
            "if (!one.contains($k)) { let it = thing($v, ctx); one.add($k, it); };",
            "!{ let it = thing($v, ctx); one.add($k, it); };",
            "!seen.push_back(one.borrow<u64, Thing>($k).value);",
            "if (one.contains_with_type<u64, Other>($k)) seen.push_back(5);",
            "!{ let Other { id } = one.remove($k); id.delete(); };",
            "if (one.contains_with_type<u64, Thing>($k)) seen.push_back(end(one.remove($k)));",
        ),
        "{ let mut i = 0; while (i < 5) { if (one.contains(i)) seen.push_back(end(one.remove(i)));"
        " i = i + 1; }; }; one.destroy_empty();",
    ),
    Collection(
        "let mut one = thing(0, ctx);",
        (
            "!df::add(&mut one.id, $k, $v);",
            "if (!df::exists_(&one.id, $k)) df::add(&mut one.id, $k, $v);",
            'if (!df::exists_(&one.id, b"k")) df::add(&mut one.id, b"k", $k == $k);',
            "!seen.push_back(df::remove(&mut one.id, $k));",
            "seen_of(&mut seen, df::remove_if_exists(&mut one.id, $k));",
            "!seen.push_back(*df::borrow(&one.id, $k));",
            (
                "if (df::exists_with_type<u64, u64>(&one.id, $k))"
                " *df::borrow_mut(&mut one.id, $k) = $v;"
            ),
            "if (df::exists_with_type<u64, bool>(&one.id, $k)) seen.push_back(3);",
            "!if (*df::borrow<u64, bool>(&one.id, $k)) seen.push_back(4);",
            (
                "if (!dof::exists_(&one.id, $k)) { let it = thing($v, ctx);"
                " dof::add(&mut one.id, $k, it); };"
            ),
            (
                "if (dof::exists_with_type<u64, Thing>(&one.id, $k))"
                " seen.push_back(dof::borrow<u64, Thing>(&one.id, $k).value);"
            ),
            "!{ let it: Thing = dof::remove(&mut one.id, $k); seen.push_back(end(it)); };",
            "!dof::borrow_mut<u64, Thing>(&mut one.id, $k).value = $v;",
        ),
        "seen.push_back(end(one));",
    ),
    Collection(
        "let mut one = vec_map::empty<u8, u64>();",
        (
            "!one.insert(($k as u8), $v);",
            "{ let k = ($k as u8); if (!one.contains(&k)) one.insert(k, $v); };",
            "{ let k = ($k as u8); if (!one.contains(&k)) one.insert(k, $v); };",
            "!{ let k = ($k as u8); let (_, v) = one.remove(&k); seen.push_back(v); };",
            "!{ let k = ($k as u8); *one.get_mut(&k) = $v; };",
            "{ let k = ($k as u8); seen_of(&mut seen, one.try_get(&k)); };",
            "{ let k = ($k as u8); seen_of(&mut seen, one.get_idx_opt(&k)); };",
            "!{ let (_, v) = one.get_entry_by_idx($k); seen.push_back(*v); };",
            "!{ let (_, v) = one.pop(); seen.push_back(v); };",
            "seen.push_back(one.keys().length());",
        ),
        "{ let (_, values) = one.into_keys_values(); seen.append(values); };",
    ),
    Collection(
        "let mut one = vec_set::empty<u64>();",
        (
            "!one.insert($k);",
            "{ let k = $k; if (!one.contains(&k)) one.insert(k); };",
            "{ let k = $k; if (!one.contains(&k)) one.insert(k); };",
            "!{ let k = $k; one.remove(&k); };",
            "seen.push_back(one.length());",
        ),
        "seen.append(one.into_keys());",
    ),
    Collection(
        "let mut one = table_vec::empty<u64>(ctx);",
        (
            "one.push_back($v);",
            "one.push_back($v);",
            "!seen.push_back(one.pop_back());",
            "!seen.push_back(*one.borrow($k));",
            "!*one.borrow_mut($k) = $v;",
            "!one.swap($k, 0);",
            "!seen.push_back(one.swap_remove($k));",
        ),
        "while (!one.is_empty()) seen.push_back(one.pop_back()); one.destroy_empty();",
    ),
    Collection(
        "let mut one = priority_queue::new<u64>(vector[]);",
        (
            "one.insert($v, $k);",
            "one.insert($k, $v);",
            "!{ let (p, v) = one.pop_max(); seen.push_back(p); seen.push_back(v); };",
            "seen.append(one.priorities());",
        ),
        "seen.append(one.priorities());",
    ),
    Collection(
        "let mut supply = balance::create_supply(Money {}); let mut one = balance::zero<Money>();",
        (
            "!{ let more = supply.increase_supply($v); one.join(more); };",
            "{ let more = supply.increase_supply($k); one.join(more); };",
            "!{ let less = one.split($k); seen.push_back(supply.decrease_supply(less)); };",
            "!{ let less = one.split($v); one.join(less); };",
            "{ let all = one.withdraw_all(); one.join(all); };",
            (
                "if (one.value() > $k) { let mut part = coin::take(&mut one, $k, ctx);"
                " let half = $k / 2; let it = part.split(half, ctx); part.join(it);"
                " seen.push_back(part.value()); coin::put(&mut one, part); };"
            ),
            "!{ let it = coin::take(&mut one, $k, ctx); transfer::public_transfer(it, @0xB0B); };",
            "seen.push_back(supply.supply_value());",
        ),
        "seen.push_back(one.value()); transfer::public_freeze_object(coin::from_balance(one, ctx));"
        " { let id = object::new(ctx); transfer::share_object(Holder { id, supply }); };",
    ),
    Collection(
        "let mut one = vector<Thing>[];",
        (
            "one.push_back(thing($v, ctx));",
            "one.push_back(thing($v, ctx));",
            "if (!one.is_empty()) transfer::public_transfer(one.pop_back(), @0xB0B);",
            "if (!one.is_empty()) transfer::public_share_object(one.pop_back());",
            "if (!one.is_empty()) transfer::public_freeze_object(one.pop_back());",
            "!seen.push_back(end(one.swap_remove($k)));",
            "!{ let i = $k; (&mut one[i]).value = $v; };",
            (
                "{ let i = $k % (one.length() + 1); if (i < one.length()) {"
                " event::emit(Moved<Thing> { of: object::id_address(&one[i]) }); }; };"
            ),
        ),
        "{ while (!one.is_empty()) seen.push_back(end(one.pop_back())); one.destroy_empty(); };",
    ),
    Collection(
        "let mut one = versioned::create($k, 5u64, ctx);",
        (
            "seen.push_back(one.version());",
            "seen.push_back(*one.load_value<u64>());",
            "*one.load_value_mut<u64>() = $v;",
            (
                "!{ let (value, cap) = one.remove_value_for_upgrade<u64>();"
                " let next = one.version() + $k; one.upgrade(next, value, cap); };"
            ),
            (
                "{ let (value, cap) = one.remove_value_for_upgrade<u64>();"
                " let next = one.version() + 1; one.upgrade(next, value, cap); };"
            ),
            "!seen.push_back(one.load_value<vector<u8>>().length());",
        ),
        "seen.push_back(one.destroy<u64>());",
    ),
    Collection(
        "let mut one = thing($k, ctx);",
        (
            (
                "if (!derived_object::exists(&one.id, $k)) {"
                " let id = derived_object::claim(&mut one.id, $k);"
                " id.delete(); };"
            ),
            "!{ let id = derived_object::claim(&mut one.id, $k); id.delete(); };",
            (
                "{ let at = derived_object::derive_address(object::id_from_address(@0xA), $k);"
                " event::emit(Moved<Thing> { of: at }); };"
            ),
            (
                "{ let at = derived_object::derive_address(object::id_from_address(@0xA),"
                " Key { number: $k });"
                " event::emit(Moved<Key> { of: at }); };"
            ),
            "one.value = $v;",
        ),
        "seen.push_back(end(one));",
    ),
    Collection(
        'let mut one = string::utf8(b"h\\xc3\\xa9llo");',
        (
            'one.append_utf8(b"ab");',
            '{ let at = $k % (one.length() + 1); one.insert(at, string::utf8(b"-")); };',
            "!{ let end = one.length(); one = one.substring($k, end); };",
            '{ let part = string::utf8(b"l"); seen.push_back(one.index_of(&part)); };',
            "seen.push_back(one.length());",
            "seen.push_back(bcs::to_bytes(&one).length());",
            "!{ let text = ascii::string(*one.as_bytes()); seen.push_back(text.length()); };",
            "if (ascii::is_valid_char(($k as u8))) seen.push_back(1);",
            "event::emit(Happened { place: $k, value: $v, text: *one.as_bytes() });",
        ),
        "event::emit(Happened { place: 0, value: 0, text: one.into_bytes() });",
    ),
)
_EVENT = "event::emit(Happened { place: $k, value: $v, text: bcs::to_bytes(&seen) });"


def collection_program(name: str, chance: Random) -> Program:
    """A program that does things with one collection."""
    collection = chance.choice(COLLECTIONS)
    statements = ["let mut seen = vector<u64>[];", _filled(chance, collection.made)]
    safe = [one for one in collection.done if not one.startswith("!")]
    bold = chance.random() < _BOLD
    for _ in range(chance.randint(4, 14)):
        done = chance.choice(collection.done if bold else safe)
        line = _filled(chance, _EVENT if chance.random() < _RARE else done.removeprefix("!"))
        line = line.rstrip(";") + ";"
        if chance.random() < _RARE:
            line = f"if (p0 % 7 < {chance.randrange(7)}) {{ {line} }};"
        statements.append(line)
    statements.append(collection.ended)
    parameters = (("p0", "u64"), ("p1", "u64"), ("ctx", "&mut TxContext"))
    return Program(name, parameters, tuple(statements), (("vector<u64>", "seen"),))


def _filled(chance: Random, line: str) -> str:
    key = chance.choice([str(chance.randrange(_KEYS)), str(chance.randrange(_KEYS)), "(p1 % 5)"])
    value = chance.choice([str(chance.randrange(100)), "p1", "(p0 % 1000)", "p0"])
    return line.replace("$k", key).replace("$v", value)
