"""The macros of the framework, which bytecode does not contain.

The macros are written from the documentation. Code that is compiled with these macros behaves like
code that is compiled with the framework's sources, but has different bytes.
"""

from collections.abc import Mapping

from nexus_tools.sui.localnet.compiler.vector_macros import VECTOR

_INTEGERS = ("u8", "u16", "u32", "u64", "u128", "u256")

_RANGES = """
public macro fun range_do<$T, $R: drop>($start: $T, $stop: $T, $use: |$T| -> $R) {
    let mut next = $start;
    let stop = $stop;
    while (next < stop) {
        $use(next);
        next = next + 1;
    }
}

public macro fun range_do_eq<$T, $R: drop>($start: $T, $stop: $T, $use: |$T| -> $R) {
    let mut next = $start;
    let stop = $stop;
    if (next <= stop) loop {
        $use(next);
        if (next == stop) break;
        next = next + 1;
    }
}

public macro fun do<$T, $R: drop>($stop: $T, $use: |$T| -> $R) {
    std::macros::range_do!(0, $stop, $use)
}

public macro fun do_eq<$T, $R: drop>($stop: $T, $use: |$T| -> $R) {
    std::macros::range_do_eq!(0, $stop, $use)
}

public macro fun num_max<$T>($one: $T, $other: $T): $T {
    let one = $one;
    let other = $other;
    if (one < other) other else one
}

public macro fun num_min<$T>($one: $T, $other: $T): $T {
    let one = $one;
    let other = $other;
    if (other < one) other else one
}

public macro fun num_diff<$T>($one: $T, $other: $T): $T {
    let one = $one;
    let other = $other;
    if (one < other) other - one else one - other
}
"""

# `MAX` and `TYPE` are placeholders for the maximum and the name of an integer type.
_INTEGER = """
public macro fun max_value(): TYPE { MAX }

public macro fun range_do<$R: drop>($start: TYPE, $stop: TYPE, $use: |TYPE| -> $R) {
    std::macros::range_do!($start, $stop, $use)
}

public macro fun range_do_eq<$R: drop>($start: TYPE, $stop: TYPE, $use: |TYPE| -> $R) {
    std::macros::range_do_eq!($start, $stop, $use)
}

public macro fun do<$R: drop>($stop: TYPE, $use: |TYPE| -> $R) {
    std::macros::range_do!(0, $stop, $use)
}

public macro fun do_eq<$R: drop>($stop: TYPE, $use: |TYPE| -> $R) {
    std::macros::range_do_eq!(0, $stop, $use)
}
"""

_OPTION = """
public macro fun do<$T, $R: drop>($option: Option<$T>, $use: |$T| -> $R) {
    let option = $option;
    if (option.is_some()) { $use(option.destroy_some()); } else { option.destroy_none() }
}

public macro fun destroy<$T, $R: drop>($option: Option<$T>, $use: |$T| -> $R) {
    std::option::do!($option, $use)
}

public macro fun do_ref<$T, $R: drop>($option: &Option<$T>, $use: |&$T| -> $R) {
    let option = $option;
    if (option.is_some()) { $use(option.borrow()); }
}

public macro fun do_mut<$T, $R: drop>($option: &mut Option<$T>, $use: |&mut $T| -> $R) {
    let option = $option;
    if (option.is_some()) { $use(option.borrow_mut()); }
}

public macro fun or<$T>($option: Option<$T>, $other: Option<$T>): Option<$T> {
    let option = $option;
    if (option.is_none()) { option.destroy_none(); $other } else { option }
}

public macro fun and<$T, $U>($option: Option<$T>, $make: |$T| -> Option<$U>): Option<$U> {
    let option = $option;
    if (option.is_none()) { option.destroy_none(); none() } else { $make(option.destroy_some()) }
}

public macro fun and_ref<$T, $U>($option: &Option<$T>, $make: |&$T| -> Option<$U>): Option<$U> {
    let option = $option;
    if (option.is_none()) { none() } else { $make(option.borrow()) }
}

public macro fun map<$T, $U>($option: Option<$T>, $make: |$T| -> $U): Option<$U> {
    std::option::and!($option, |value| some($make(value)))
}

public macro fun map_ref<$T, $U>($option: &Option<$T>, $make: |&$T| -> $U): Option<$U> {
    std::option::and_ref!($option, |value| some($make(value)))
}

public macro fun filter<$T: drop>($option: Option<$T>, $keep: |&$T| -> bool): Option<$T> {
    let option = $option;
    if (std::option::is_some_and!(&option, $keep)) { option } else { none() }
}

public macro fun is_some_and<$T>($option: &Option<$T>, $holds: |&$T| -> bool): bool {
    let option = $option;
    if (option.is_some()) { $holds(option.borrow()) } else { false }
}

public macro fun extract_or<$T>($option: &mut Option<$T>, $other: $T): $T {
    let option = $option;
    if (option.is_none()) { $other } else { option.extract() }
}

public macro fun destroy_or<$T>($option: Option<$T>, $other: $T): $T {
    let option = $option;
    if (option.is_none()) { option.destroy_none(); $other } else { option.destroy_some() }
}
"""

_BCS = """
public macro fun peel_vec<$T>($bcs: &mut BCS, $peel: |&mut BCS| -> $T): vector<$T> {
    let bytes = $bcs;
    vector::tabulate!(bytes.peel_vec_length(), |_| $peel(bytes))
}

public macro fun peel_option<$T>($bcs: &mut BCS, $peel: |&mut BCS| -> $T): Option<$T> {
    let bytes = $bcs;
    if (bytes.peel_bool()) { option::some($peel(bytes)) } else { option::none() }
}
"""

_PARTY = """
public macro fun transfer<$T: key>($party: Party, $object: $T) {
    let party = $party;
    sui::transfer::party_transfer($object, party)
}

public macro fun public_transfer<$T: key + store>($party: Party, $object: $T) {
    let party = $party;
    sui::transfer::public_party_transfer($object, party)
}
"""


def _integer(type_: str) -> str:
    bits = int(type_.removeprefix("u"))
    return _INTEGER.replace("TYPE", type_).replace("MAX", hex(2**bits - 1))


MACROS: Mapping[str, str] = {
    "std::macros": _RANGES,
    "std::option": _OPTION,
    "std::vector": VECTOR,
    "sui::bcs": _BCS,
    "sui::party": _PARTY,
    **{f"std::{type_}": _integer(type_) for type_ in _INTEGERS},
}
"""The source text of macros by module."""
