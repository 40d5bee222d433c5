"""The source of the functions that programs of the pure language call."""

from differential.programs.shapes import INTEGERS

_IMPORTS = """    use std::bcs;
    use std::hash;
    use std::string::{Self, String};
    use std::type_name;

    const EFirst: u64 = 101;
    #[error]
    const ESecond: vector<u8> = b"second";
"""
_OVER_REFERENCES = """    fun choose<T>(condition: bool, one: &T, other: &T): &T {
        if (condition) one else other
    }

    fun choose_mut<T>(condition: bool, one: &mut T, other: &mut T): &mut T {
        if (condition) one else other
    }

    fun replace<T: drop>(place: &mut T, value: T) {
        *place = value;
    }

    fun exchange<T: copy + drop>(one: &mut T, other: &mut T) {
        let kept = *one;
        *one = *other;
        *other = kept;
    }

    fun same<T>(one: &mut T): &mut T {
        one
    }

    fun element<T>(all: &mut vector<T>, place: u64): &mut T {
        let length = all.length();
        &mut all[place % length]
    }

    fun first_of<A, B>(pair: &mut Pair<A, B>): &mut A {
        &mut pair.first
    }

    fun inner_of<P, T>(wrap: &mut Wrap<P, T>): &mut T {
        &mut wrap.inner
    }
"""
_OVER_TYPES = """    fun neither<A, B>(): Either<A, B> {
        Either::Neither
    }

    fun swapped<A, B>(pair: Pair<A, B>): Pair<B, A> {
        let Pair { first, second } = pair;
        Pair { first: second, second: first }
    }

    fun twin<T: copy>(value: &T): Pair<T, T> {
        Pair { first: *value, second: *value }
    }

    fun parted<A: copy, B: copy + drop>(pair: &Pair<A, B>): (A, B) {
        (pair.first, pair.second)
    }

    fun deep<T: copy + drop>(value: T, depth: u8): T {
        if (depth == 0) value else deep(twin(&value).second, depth - 1)
    }

    fun repeated<T: copy + drop>(value: T, times: u8): vector<T> {
        let mut all = vector[];
        let mut count = 0;
        while (count < times % 5) {
            all.push_back(value);
            count = count + 1;
        };
        all.push_back(value);
        all
    }

    fun folded<T: drop>(either: Either<T, T>, default: T): T {
        match (either) {
            Either::Left(left) => left,
            Either::Right { value } => value,
            Either::Both(_, right) => right,
            Either::Neither => default,
        }
    }

    fun left_or<A: copy, B>(either: &Either<A, B>, default: &A): A {
        match (either) {
            Either::Left(left) | Either::Both(left, _) => *left,
            _ => *default,
        }
    }

    fun set_left<A: drop, B: drop>(either: &mut Either<A, B>, value: A): bool {
        match (either) {
            Either::Left(left) => { *left = value; true },
            Either::Both(left, _) => { replace(left, value); true },
            Either::Right { value: _ } => { *either = Either::Left(value); false },
            Either::Neither => { *either = Either::Left(value); false },
        }
    }

    fun left_mut<A, B>(either: &mut Either<A, B>): &mut A {
        match (either) {
            Either::Left(left) => left,
            Either::Both(left, _) => left,
            _ => abort 77,
        }
    }

    macro fun twice<$T>($x: $T, $f: |$T| -> $T): $T {
        let once = $f($x);
        $f(once)
    }
"""
_OVER_INTEGERS = """    fun mixed_{0}(value: {0}, times: u8): {0} {{
        let mut mixed = value / 3;
        let mut count = 0;
        while (count < times % 8) {{
            if (mixed % 5 == 3) break;
            mixed = mixed / 2 + (count as {0});
            count = count + 1;
        }};
        mixed
    }}

    fun descended_{0}(value: {0}, depth: u8): {0} {{
        if (depth == 0 || value == 0) return value;
        if (depth > 20) descended_{0}(value, depth % 20)
        else descended_{0}(value / 2, depth - 1) + value % 2
    }}

    fun nested_{0}(value: {0}, times: u8): {0} {{
        let mut sum = value % 7;
        let mut outer = 0u8;
        'rows: loop {{
            outer = outer + 1;
            if (outer > times % 6) break 'rows;
            let mut inner = 0u8;
            while (inner < 4) {{
                inner = inner + 1;
                if (inner == outer) continue 'rows;
                if (sum > 99) break 'rows;
                sum = sum + (inner as {0});
            }};
        }};
        sum
    }}
"""

FUNCTIONS = "\n".join(
    [
        _IMPORTS,
        _OVER_REFERENCES,
        _OVER_TYPES,
        *[_OVER_INTEGERS.format(type_) for type_ in INTEGERS],
    ]
)
