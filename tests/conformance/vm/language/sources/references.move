/// References into locals, fields and elements, handed on and given back.
module language::references;

public struct Point has copy, drop, store { x: u64, y: u64 }
public struct Line has copy, drop, store { from: Point, to: Point, name: vector<u8> }
public struct Net has copy, drop, store { lines: vector<Line>, weights: vector<u8> }

public fun line(a: u64, b: u64): Line {
    Line { from: Point { x: a, y: b }, to: Point { x: b, y: a }, name: b"line" }
}

public fun net(a: u64, b: u64): Net {
    Net { lines: vector[line(a, b), line(b, b), line(1, 2)], weights: vector[1, 2, 3] }
}

fun larger(p: &mut Point): &mut u64 { if (p.x > p.y) &mut p.x else &mut p.y }

fun end(l: &mut Line, first: bool): &mut Point { if (first) &mut l.from else &mut l.to }

fun pair(l: &Line): (&Point, &Point) { (&l.from, &l.to) }

public fun set_larger(a: u64, b: u64, to: u64): Line {
    let mut l = line(a, b);
    *larger(end(&mut l, a > 3)) = to;
    l
}

public fun write_whole(a: u64, b: u64): Net {
    let mut n = net(a, b);
    n.lines[1].from = Point { x: 8, y: 9 };
    *&mut n.lines[0] = line(b, b);
    *n.weights.borrow_mut(2) = 77;
    let element = &mut n.weights[0];
    *element = *element + 1;
    n
}

public fun copies_are_apart(a: u64, b: u64): (Net, Net) {
    let mut n = net(a, b);
    let copied = n;
    let element = n.lines[0];
    n.lines[0].from.x = 1000;
    n.lines[2].name.push_back(33);
    n.weights.push_back(4);
    n.lines.push_back(element);
    (n, copied)
}

public fun by_index(a: u64, b: u64, i: u64): u64 {
    let n = net(a, b);
    let (from, to) = pair(&n.lines[i % 4]);
    from.x * 3 + to.x + (n.weights[i % 4] as u64)
}

public fun walk(mut numbers: vector<u64>): vector<u64> {
    let mut i = 0;
    while (i < numbers.length()) {
        let number = &mut numbers[i];
        let before = *number;
        *number = before / 2;
        if (before > 100) { *number = 1; } else { *number = *number + i; };
        i = i + 1;
    };
    numbers
}

public fun reassigned(a: u64): (u64, u64) {
    let mut x = a;
    let mut y = 5;
    let mut r = &mut x;
    *r = 10;
    r = &mut y;
    *r = *r + 1;
    (x, y)
}

public fun chosen(a: u64, first: bool): (u64, u64) {
    let (mut x, mut y) = (a, 5);
    let r = if (first) &mut x else &mut y;
    *r = 99;
    (x, y)
}

public fun moved_in_and_out(a: u64): vector<Point> {
    let mut p = Point { x: a, y: 1 };
    let mut kept = vector[];
    let mut i = 0;
    while (i < 3) {
        let r = &mut p;
        r.x = i;
        kept.push_back(p);
        p = Point { x: 0, y: r_of(&kept[i]) };
        p.y = p.y + 1;
        i = i + 1;
    };
    kept.push_back(p);
    kept
}

fun r_of(p: &Point): u64 { p.y }

public fun compared(a: u64, b: u64): vector<bool> {
    let n = net(a, b);
    let m = net(b, a);
    vector[
        &n == &m,
        &n.lines[0] == &m.lines[0],
        &n.lines[1].from != &m.lines[1].to,
        &n.weights == &m.weights,
        n.lines == m.lines,
        &n.lines[0].from.x == &m.lines[0].to.x,
    ]
}

public fun increment(x: &mut u64): u64 { *x = *x + 1; *x }

public fun order_of_evaluation(a: u64): (u64, u64, u64) {
    let mut x = a % 100;
    let first = x + increment(&mut x) * 2 + x;
    let second = { let y = x; increment(&mut x); y } + x;
    (first, second, x)
}

public fun read_only(p: &Point, q: &mut Point): u64 {
    q.x = p.x;
    freeze_and_sum(q) + q.y
}

fun freeze_and_sum(p: &Point): u64 { p.x / 2 + p.y / 2 }
