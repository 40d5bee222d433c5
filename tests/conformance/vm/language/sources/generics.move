/// Type parameters: of functions and of structs.
module language::generics;

public struct Box<T> has copy, drop, store { value: T }
public struct Two<A, phantom B> has copy, drop, store { first: A, count: u64 }
public struct Marker has drop {}

public fun repeat<T: copy + drop>(value: T, n: u64): vector<T> {
    let mut all = vector[];
    let mut i = 0;
    while (i < n % 5) { all.push_back(value); i = i + 1; };
    all
}

public fun last<T: drop>(mut v: vector<T>): T { v.pop_back() }

public fun reversed<T>(mut v: vector<T>): vector<T> {
    let mut r = vector[];
    while (!v.is_empty()) r.push_back(v.pop_back());
    v.destroy_empty();
    r
}

public fun wrap<T>(value: T): Box<Box<T>> { Box { value: Box { value } } }

public fun open<T>(box: Box<Box<T>>): T { let Box { value: Box { value } } = box; value }

public fun two<A: copy, B>(first: A): Two<A, B> { Two { first, count: 1 } }

public fun bytes(n: u64): (vector<u8>, vector<vector<u8>>, vector<u64>) {
    (reversed(repeat(7u8, n)), reversed(vector[b"ab", b"c"]), reversed(vector[n, 1, 2]))
}

public fun boxed(n: u64): (Box<Box<vector<u8>>>, u64, Two<u8, Marker>) {
    (wrap(repeat(1u8, n)), open(wrap(n)), two(4))
}

public fun pick<T: copy + drop>(v: &vector<T>, i: u64): T { v[i] }

public fun picked(v: vector<u8>, i: u64): u8 { pick(&v, i) }

public fun set<T: drop>(v: &mut vector<T>, i: u64, value: T) { *&mut v[i] = value; }

public fun set_byte(mut v: vector<u8>, i: u64): vector<u8> { set(&mut v, i, 255); v }

public fun index_of<T>(v: &vector<T>, wanted: &T): u64 {
    let mut i = 0;
    while (i < v.length()) { if (&v[i] == wanted) return i; i = i + 1; };
    abort 404
}

public fun index_of_bytes(v: vector<vector<u8>>, wanted: vector<u8>): u64 { index_of(&v, &wanted) }
