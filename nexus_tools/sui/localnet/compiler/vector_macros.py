"""The macros of `std::vector`."""

_WHOLE = """
public macro fun tabulate<$T>($count: u64, $make: |u64| -> $T): vector<$T> {
    let mut made = vector[];
    let count = $count;
    std::macros::range_do!(0, count, |index| made.push_back($make(index)));
    made
}

public macro fun destroy<$T, $R: drop>($values: vector<$T>, $use: |$T| -> $R) {
    let mut values = $values;
    while (!values.is_empty()) { $use(values.pop_back()); };
    values.destroy_empty()
}

public macro fun do<$T, $R: drop>($values: vector<$T>, $use: |$T| -> $R) {
    let mut values = $values;
    values.reverse();
    std::vector::destroy!(values, $use)
}

public macro fun do_ref<$T, $R: drop>($values: &vector<$T>, $use: |&$T| -> $R) {
    let values = $values;
    std::macros::range_do!(0, values.length(), |index| $use(&values[index]))
}

public macro fun do_mut<$T, $R: drop>($values: &mut vector<$T>, $use: |&mut $T| -> $R) {
    let values = $values;
    std::macros::range_do!(0, values.length(), |index| $use(&mut values[index]))
}

public macro fun map<$T, $U>($values: vector<$T>, $make: |$T| -> $U): vector<$U> {
    let mut made = vector[];
    std::vector::do!($values, |value| made.push_back($make(value)));
    made
}

public macro fun map_ref<$T, $U>($values: &vector<$T>, $make: |&$T| -> $U): vector<$U> {
    let mut made = vector[];
    std::vector::do_ref!($values, |value| made.push_back($make(value)));
    made
}

public macro fun filter<$T: drop>($values: vector<$T>, $keep: |&$T| -> bool): vector<$T> {
    let mut kept = vector[];
    std::vector::do!($values, |value| if ($keep(&value)) { kept.push_back(value) });
    kept
}

public macro fun partition<$T>(
    $values: vector<$T>,
    $choose: |&$T| -> bool,
): (vector<$T>, vector<$T>) {
    let mut chosen = vector[];
    let mut others = vector[];
    std::vector::do!(
        $values,
        |value| if ($choose(&value)) { chosen.push_back(value) } else { others.push_back(value) },
    );
    (chosen, others)
}

public macro fun fold<$T, $Acc>($values: vector<$T>, $first: $Acc, $add: |$Acc, $T| -> $Acc): $Acc {
    let values = $values;
    let mut folded = $first;
    std::vector::do!(values, |value| folded = $add(folded, value));
    folded
}
"""

_SEARCHES = """
public macro fun find_index<$T>($values: &vector<$T>, $holds: |&$T| -> bool): Option<u64> {
    let values = $values;
    let count = values.length();
    let mut index = 0;
    while (index < count && !$holds(&values[index])) { index = index + 1 };
    if (index < count) { std::option::some(index) } else { std::option::none() }
}

public macro fun find_indices<$T>($values: &vector<$T>, $holds: |&$T| -> bool): vector<u64> {
    let values = $values;
    let mut found = vector[];
    std::macros::range_do!(
        0,
        values.length(),
        |index| if ($holds(&values[index])) { found.push_back(index) },
    );
    found
}

public macro fun count<$T>($values: &vector<$T>, $holds: |&$T| -> bool): u64 {
    let mut counted = 0;
    std::vector::do_ref!($values, |value| if ($holds(value)) { counted = counted + 1 });
    counted
}

public macro fun any<$T>($values: &vector<$T>, $holds: |&$T| -> bool): bool {
    std::vector::find_index!($values, $holds).is_some()
}

public macro fun all<$T>($values: &vector<$T>, $holds: |&$T| -> bool): bool {
    std::vector::find_index!($values, |value| !$holds(value)).is_none()
}

public macro fun take_while<$T: drop>($values: vector<$T>, $holds: |&$T| -> bool): vector<$T> {
    let mut values = $values;
    let mut taken = vector[];
    values.reverse();
    while (!values.is_empty()) {
        let value = values.pop_back();
        if (!$holds(&value)) break;
        taken.push_back(value);
    };
    taken
}

public macro fun skip_while<$T: drop>($values: vector<$T>, $holds: |&$T| -> bool): vector<$T> {
    let mut values = $values;
    values.reverse();
    let mut left = values.length();
    while (left > 0 && $holds(&values[left - 1])) {
        values.pop_back();
        left = left - 1;
    };
    values.reverse();
    values
}
"""

_PAIRS = """
public macro fun zip_do<$T1, $T2, $R: drop>(
    $ones: vector<$T1>,
    $others: vector<$T2>,
    $use: |$T1, $T2| -> $R,
) {
    let mut ones = $ones;
    let mut others = $others;
    ones.reverse();
    others.reverse();
    std::vector::zip_do_reverse!(ones, others, $use)
}

public macro fun zip_do_reverse<$T1, $T2, $R: drop>(
    $ones: vector<$T1>,
    $others: vector<$T2>,
    $use: |$T1, $T2| -> $R,
) {
    let ones = $ones;
    let mut others = $others;
    assert!(ones.length() == others.length());
    std::vector::destroy!(ones, |one| $use(one, others.pop_back()));
    others.destroy_empty()
}

public macro fun zip_do_ref<$T1, $T2, $R: drop>(
    $ones: &vector<$T1>,
    $others: &vector<$T2>,
    $use: |&$T1, &$T2| -> $R,
) {
    let ones = $ones;
    let others = $others;
    let count = ones.length();
    assert!(count == others.length());
    std::macros::range_do!(0, count, |index| $use(&ones[index], &others[index]))
}

public macro fun zip_do_mut<$T1, $T2, $R: drop>(
    $ones: &mut vector<$T1>,
    $others: &mut vector<$T2>,
    $use: |&mut $T1, &mut $T2| -> $R,
) {
    let ones = $ones;
    let others = $others;
    let count = ones.length();
    assert!(count == others.length());
    std::macros::range_do!(0, count, |index| $use(&mut ones[index], &mut others[index]))
}

public macro fun zip_map<$T1, $T2, $U>(
    $ones: vector<$T1>,
    $others: vector<$T2>,
    $make: |$T1, $T2| -> $U,
): vector<$U> {
    let mut made = vector[];
    std::vector::zip_do!($ones, $others, |one, other| made.push_back($make(one, other)));
    made
}

public macro fun zip_map_ref<$T1, $T2, $U>(
    $ones: &vector<$T1>,
    $others: &vector<$T2>,
    $make: |&$T1, &$T2| -> $U,
): vector<$U> {
    let mut made = vector[];
    std::vector::zip_do_ref!($ones, $others, |one, other| made.push_back($make(one, other)));
    made
}
"""

_ORDER = """
public macro fun insertion_sort_by<$T>($values: &mut vector<$T>, $in_order: |&$T, &$T| -> bool) {
    let values = $values;
    std::macros::range_do!(1, values.length(), |sorted| {
        let mut place = sorted;
        while (place > 0 && !$in_order(&values[place - 1], &values[place])) {
            values.swap(place - 1, place);
            place = place - 1;
        }
    })
}

public macro fun merge_sort_by<$T>($values: &mut vector<$T>, $in_order: |&$T, &$T| -> bool) {
    std::vector::insertion_sort_by!($values, $in_order)
}

public macro fun is_sorted_by<$T>($values: &vector<$T>, $in_order: |&$T, &$T| -> bool): bool {
    let values = $values;
    let count = values.length();
    let mut index = 1;
    while (index < count && $in_order(&values[index - 1], &values[index])) { index = index + 1 };
    index >= count
}
"""

VECTOR = _WHOLE + _SEARCHES + _PAIRS + _ORDER
"""The macros of `std::vector`, which behave as documented.

The sorting macros use a different algorithm, because all stable sorting algorithms give equal
results.
"""
