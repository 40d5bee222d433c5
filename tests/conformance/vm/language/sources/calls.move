/// Recursion, aborts, and errors inside of calls.
module language::calls;

#[error]
const TooSmall: vector<u8> = b"too small";
#[error(code = 7)]
const TooLarge: vector<u8> = b"too large";

public fun fibonacci(n: u8): u64 {
    if (n % 16 < 2) (n % 16 as u64) else fibonacci(n % 16 - 1) + fibonacci(n % 16 - 2)
}

public fun is_even(n: u8): bool { if (n == 0) true else is_odd(n - 1) }

public fun is_odd(n: u8): bool { if (n == 0) false else is_even(n - 1) }

public fun ackermann(m: u64, n: u64): u64 {
    let m = m % 3;
    let n = n % 5;
    if (m == 0) n + 1
    else if (n == 0) ackermann(m - 1, 1)
    else ackermann(m - 1, ackermann(m, n - 1))
}

public fun depth(n: u64): u64 { if (n % 300 == 0) 0 else 1 + depth(n - 1) }

/// Calls itself `n` times, with nothing left on the operand stack.
public fun descend(n: u64) { if (n != 0) descend(n - 1) }

public fun endless() { endless() }

public fun sum_to(v: &mut vector<u64>): u64 {
    if (v.is_empty()) 0 else { let last = v.pop_back(); last / 4 + sum_to(v) }
}

public fun sum(mut v: vector<u64>): u64 { sum_to(&mut v) }

fun check(n: u64) { if (n % 5 == 0) abort n; }

public fun abort_inside(n: u64): u64 { check(n); check(n + 1); n }

public fun clever(n: u64): u64 {
    assert!(n > 10, TooSmall);
    assert!(n < 1000, TooLarge);
    assert!(n != 77);
    n
}

public fun overflow_inside(n: u64): u64 { square(n) + square(n + 1) }

fun square(n: u64): u64 { n * n }

public fun vector_errors(kind: u8, i: u64): u64 {
    let mut v = vector[1, 2, 3];
    if (kind % 4 == 0) v[i % 5]
    else if (kind % 4 == 1) { v.swap(i % 5, 1); v[0] }
    else if (kind % 4 == 2) { let mut n = i % 5; while (n > 0) { v.pop_back(); n = n - 1; }; v.length() }
    else { let w = vector<u64>[]; if (i % 2 == 0) w.destroy_empty() else { v.destroy_empty() }; 8 }
}

public fun divide_inside(a: u64, b: u64): u64 { let v = vector[a / b, a % b]; v[0] + v[1] }
