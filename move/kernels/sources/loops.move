/// Loops for benchmarks. Each function repeats one kind of operation `n` times, and returns a
/// number that depends on all results.
module kernels::loops;

use std::hash;
use std::string::String;
use sui::bcs;
use sui::table;

// === Constants ===

const MODULUS: u64 = 2_147_483_647;
const PLACES: u64 = 16;

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

/// Do nothing, so that the benchmark measures only the cost of a call.
public fun empty(n: u64): u64 {
    n
}

/// Multiply, divide, shift, mask and compare integers.
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

/// Fill a vector, and add up its elements.
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

/// Read and write fields through references.
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

/// Pass generic structs through generic functions.
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

/// Create and match enums.
public fun enums(n: u64): u64 {
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        sum = (sum + area(shape(i))) % MODULUS;
        i = i + 1;
    };
    sum
}

/// Pass references to elements of a vector through functions.
public fun references(n: u64): u64 {
    let mut accounts = vector<Account>[];
    let mut i = 0;
    while (i < PLACES) {
        accounts.push_back(Account { balance: i, updates: 0 });
        i = i + 1;
    };
    i = 0;
    while (i < n) {
        let account = &mut accounts[i % PLACES];
        deposit(account, i % 1_000);
        i = i + 1;
    };
    accounts[3].balance + accounts[PLACES - 1].updates
}

/// Format numbers as strings, and concatenate, split and search these strings.
public fun strings(n: u64): u64 {
    let separator: String = "-";
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        let mut text = i.to_string();
        text.append(separator);
        text.append_utf8(b"tail");
        let place = text.index_of(&separator);
        sum = sum + text.substring(0, place).length() + text.length();
        i = i + 1;
    };
    sum
}

/// Hash the result of the previous hash.
public fun hashing(n: u64): u64 {
    let mut data = b"start";
    let mut i = 0;
    while (i < n) {
        data = if (i % 2 == 0) hash::sha2_256(data) else hash::sha3_256(data);
        i = i + 1;
    };
    data[0] as u64
}

/// Add, change and remove dynamic fields of a table.
public fun tables(n: u64, ctx: &mut TxContext): u64 {
    let mut numbers = table::new<u64, u64>(ctx);
    let mut i = 0;
    while (i < PLACES) {
        numbers.add(i, i);
        i = i + 1;
    };
    i = 0;
    while (i < n) {
        let number = &mut numbers[i % PLACES];
        *number = *number + i;
        i = i + 1;
    };
    let sum = numbers.remove(3);
    numbers.drop();
    sum
}

/// Serialize structs with BCS, and read the fields from the bytes.
public fun bcs(n: u64): u64 {
    let mut sum = 0;
    let mut i = 0;
    while (i < n) {
        let bytes = bcs::to_bytes(&Account { balance: i, updates: n });
        let mut reader = bcs::new(bytes);
        sum = sum + reader.peel_u64();
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

fun deposit(account: &mut Account, amount: u64) {
    raise(&mut account.balance, amount);
    raise(&mut account.updates, 1);
}

fun raise(number: &mut u64, by: u64) {
    *number = *number + by;
}
