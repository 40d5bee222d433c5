"""Operations without keys: money, objects, versions, strings, bytes."""

from differential.programs.collection import Collection

UNKEYED = (
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
        "let mut one = option::none<Thing>();",
        (
            "if (one.is_none()) one.fill(thing($v, ctx));",
            "if (one.is_none()) one.fill(thing($v, ctx));",
            "!one.fill(thing($v, ctx));",
            "if (one.is_some()) seen.push_back(end(one.extract()));",
            "!seen.push_back(end(one.swap(thing($v, ctx))));",
            (
                "{ let before = one.swap_or_fill(thing($k, ctx)); if (before.is_some())"
                " seen.push_back(end(before.destroy_some())) else before.destroy_none(); };"
            ),
            "!one.borrow_mut().value = $v;",
            "if (one.is_some()) { let it = one.borrow_mut(); it.value = it.value / 2 + $k; };",
            "!df::add(&mut one.borrow_mut().id, $k, $v);",
            "!seen.push_back(df::remove(&mut one.borrow_mut().id, $k));",
            "!seen.push_back(one.borrow().value);",
        ),
        "if (one.is_some()) seen.push_back(end(one.destroy_some())) else one.destroy_none();",
    ),
    Collection(
        "let mut one = sui::bcs::new("
        "bcs::to_bytes(&Row { number: p0, cells: vector[p1, $v, $k] }));",
        (
            "!seen.push_back(one.peel_u64());",
            "!seen.append(one.peel_vec_u64());",
            "!seen.push_back(one.peel_u8() as u64);",
            "!seen.push_back(one.peel_u32() as u64);",
            "!seen.push_back(one.peel_vec_length());",
            "!if (one.peel_bool()) seen.push_back(1);",
            "!seen_of(&mut seen, one.peel_option_u64());",
            "!seen.push_back(one.peel_vec_u8().length());",
            (
                "{ let row = Row { number: $k, cells: seen };"
                " one = sui::bcs::new(bcs::to_bytes(&row)); };"
            ),
        ),
        "seen.push_back(one.into_remainder_bytes().length());",
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
