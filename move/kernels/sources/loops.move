/// Loops that benchmarks run: each function turns `n` times through one kind of work and answers
/// a number that depends on all of it.
module kernels::loops;

// === Constants ===

const MODULUS: u64 = 2_147_483_647;

// === Structs ===

public struct Account has copy, drop {
    balance: u64,
    updates: u64,
}

public struct Pair<A, B> has copy, drop {
    first: A,
    second: B,
}

public enum Shape has copy, drop {
    Empty,
    Square { side: u64 },
    Rectangle { width: u64, height: u64 },
}

// === Public functions ===

/// Nothing: what is left is what a call costs.
public fun empty(n: u64): u64 {
    n
}

/// Multiplication, division, bits and comparison of integers.
public fun arithmetic(n: u64): u64 {
    let mut state = 1;
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        state = (state * 48_271 + i) % MODULUS;
        sum = (sum ^ (state >> 3)) & 0xffff_ffff;
        if (state > MODULUS / 2) sum = sum + 1;
        i = i + 1;
    };
    sum
}

/// A vector that is filled and then added up.
public fun vectors(n: u64): u64 {
    let mut numbers = vector<u64>[];
    let mut i = 0;
    while (i < n) {
        numbers.push_back(i * 3);
        i = i + 1;
    };
    let mut sum = 0;
    i = 0;
    while (i < numbers.length()) {
        sum = sum + numbers[i];
        i = i + 1;
    };
    sum
}

/// Fields that are read and written through references.
public fun structs(n: u64): u64 {
    let mut account = Account { balance: 1, updates: 0 };
    let mut i = 0;
    while (i < n) {
        let reference = &mut account;
        reference.balance = (reference.balance * 7 + i) % MODULUS;
        reference.updates = reference.updates + 1;
        i = i + 1;
    };
    account.balance + account.updates
}

/// Generic structs, through generic functions.
public fun generics(n: u64): u64 {
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        let pair = swapped(Pair { first: i, second: i % 2 == 0 });
        if (pair.first) sum = sum + pair.second;
        i = i + 1;
    };
    sum
}

/// Enums that are made and matched.
public fun enums(n: u64): u64 {
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        sum = (sum + area(shape(i))) % MODULUS;
        i = i + 1;
    };
    sum
}

/// Calls that are nested in calls.
public fun calls(n: u64): u64 {
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        sum = (sum + outer(i)) % MODULUS;
        i = i + 1;
    };
    sum
}

// === Private functions ===

fun swapped<A, B>(pair: Pair<A, B>): Pair<B, A> {
    let Pair { first, second } = pair;
    Pair { first: second, second: first }
}

fun shape(i: u64): Shape {
    let kind = i % 3;
    if (kind == 0) Shape::Empty
    else if (kind == 1) Shape::Square { side: i % 100 }
    else Shape::Rectangle { width: i % 50, height: 3 }
}

fun area(shape: Shape): u64 {
    match (shape) {
        Shape::Empty => 0,
        Shape::Square { side } => side * side,
        Shape::Rectangle { width, height } => width * height,
    }
}

fun outer(x: u64): u64 {
    middle(x) + 1
}

fun middle(x: u64): u64 {
    inner(x) * 2
}

fun inner(x: u64): u64 {
    x % 1_000
}
