/// Loops, branches, and ways out of both.
module language::control;

public fun collatz(n: u64): u64 {
    let mut n = n % 1000 + 1;
    let mut steps = 0;
    while (n != 1) {
        n = if (n % 2 == 0) n / 2 else 3 * n + 1;
        steps = steps + 1;
    };
    steps
}

public fun primes(limit: u64): vector<u64> {
    let limit = limit % 200;
    let mut found = vector[];
    let mut n = 2;
    'next: while (n < limit) {
        let mut i = 0;
        while (i < found.length()) {
            if (n % found[i] == 0) {
                n = n + 1;
                continue 'next
            };
            i = i + 1;
        };
        found.push_back(n);
        n = n + 1;
    };
    found
}

public fun find_pair(numbers: vector<u64>, sum: u64): vector<u64> {
    let mut found = vector[];
    let mut i = 0;
    'search: loop {
        if (i >= numbers.length()) break;
        let mut j = i + 1;
        loop {
            if (j >= numbers.length()) break;
            if (numbers[i] <= sum && numbers[j] == sum - numbers[i]) {
                found.push_back(numbers[i]);
                found.push_back(numbers[j]);
                break 'search
            };
            if (numbers[j] == 77) return vector[i, j];
            j = j + 1;
        };
        i = i + 1;
    };
    found
}

public fun three_deep(a: u64, b: u64, c: u64): u64 {
    let (a, b, c) = (a % 7, b % 7, c % 7);
    let mut sum = 0;
    let mut i = 0;
    'outer: while (i < a) {
        i = i + 1;
        let mut j = 0;
        'middle: while (j < b) {
            j = j + 1;
            let mut k = 0;
            while (k < c) {
                k = k + 1;
                if (k == 5 && j == 3) continue 'outer;
                if (k == 4 && i == 2) continue 'middle;
                if (i * j * k == 60) break 'outer;
                sum = sum + i * 100 + j * 10 + k;
            };
            if (sum > 5000) break 'outer;
        };
    };
    sum
}

public fun classify(n: u64): u8 {
    match (n) {
        0 => 10,
        1 | 2 | 3 => 11,
        77 => 12,
        x if (*x > 1000) => 13,
        _ => 14,
    }
}

public fun short_circuit(a: u64, b: u64): bool {
    (b != 0 && a / b > 2) || (a == 0 && (b == 0 || b > 5)) || !(a != b)
}

public fun swap_in_loop(a: u64, b: u64): (u64, u64) {
    let (mut x, mut y) = (a % 1000, b % 1000);
    let mut i = 0u64;
    while (i < 5) {
        (x, y) = (y, x + y);
        if (x % 3 == 0) (x, y) = (y, x) else if (y % 5 == 0) { x = x + 1; };
        i = i + 1;
    };
    (x, y)
}

public fun gcd(a: u64, b: u64): u64 {
    let (mut a, mut b) = (a, b);
    while (b > 0) (a, b) = (b, a % b);
    a
}

public fun many_checks(a: u8): u64 {
    assert!(a != 1, 101);
    assert!(a != 2, 102);
    assert!(a != 3, 103);
    let mut i = 0;
    loop {
        assert!(i != 5, 104);
        if (i == (a as u64)) return i * 2;
        i = i + 1;
    }
}

public fun nested_value(a: bool, b: bool, c: u64): u64 {
    let x = if (a) { if (b) { c } else { if (c > 5) return 1 else 2 } } else { loop { if (b) break 3; break 4 } };
    let y = if (x > c) { x - c } else { c - x };
    x ^ y
}

public fun bubble_sort(mut v: vector<u64>): vector<u64> {
    let n = v.length();
    let mut i = 0;
    while (i < n) {
        let mut j = 0;
        while (j + 1 < n - i) {
            if (v[j] > v[j + 1]) v.swap(j, j + 1);
            j = j + 1;
        };
        i = i + 1;
    };
    v
}

public fun matrix(n: u64): vector<vector<u64>> {
    let n = n % 6;
    let mut rows = vector[];
    let mut i = 0;
    while (i < n) {
        let mut row = vector[];
        let mut j = 0;
        while (j < n) {
            row.push_back(if (i == j) 1 else if (i < j) i * j else 0);
            j = j + 1;
        };
        rows.push_back(row);
        i = i + 1;
    };
    rows
}
