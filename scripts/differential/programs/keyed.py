"""Operations on keyed collections: tables, bags, dynamic fields, maps and sets."""

from differential.programs.collection import Collection

KEYED = (
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
        "let mut one = table::new<u64, vector<Row>>(ctx);",
        (
            "if (!one.contains($k)) one.add($k, vector[Row { number: $v, cells: vector[$k] }]);",
            "if (!one.contains($k)) one.add($k, vector[]);",
            (
                "if (one.contains($k)) {"
                " one.borrow_mut($k).push_back(Row { number: $k, cells: vector[$v, 5] }); };"
            ),
            "!one[$k].push_back(Row { number: $v, cells: vector[] });",
            "!{ let rows = one.borrow_mut($k); let row = &mut rows[0]; row.cells.push_back($v); };",
            "!(&mut one[$k][$k % 2]).number = $v;",
            "!{ let row = one[$k][0]; seen.push_back(row.number); seen.append(row.cells); };",
            "!{ let cell = &mut one[$k][0].cells[$k % 3]; *cell = *cell / 2 + 1; };",
            "if (one.contains($k)) seen.push_back(one.borrow($k).length());",
        ),
        "{ let mut i = 0; while (i < 5) { if (one.contains(i)) { let rows = one.remove(i);"
        " seen.push_back(bcs::to_bytes(&rows).length()); }; i = i + 1; }; };"
        " one.destroy_empty();",
    ),
)
