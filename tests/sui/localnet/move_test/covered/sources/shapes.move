module covered::shapes;

public enum Shape has copy, drop {
    Point,
    Square(u64),
    Box { width: u64, height: u64 },
}

macro fun twice($value: u64): u64 {
    let value = $value;
    value + value
}

public fun area(shape: &Shape): u64 {
    match (shape) {
        Shape::Point => 0,
        Shape::Square(side) => *side * *side,
        Shape::Box { width, height } => {
            let area = *width * *height;
            area
        },
    }
}

public fun square(side: u64): Shape { Shape::Square(side) }

public fun perimeter(shape: &Shape): u64 {
    let sides = if (shape == &Shape::Point) {
        0
    } else {
        2
    };
    twice!(sides + 0)
}

public fun total(shapes: &vector<Shape>): u64 {
    let mut total = 0;
    shapes.do_ref!(|shape| {
        total = total + shape.area();
    });
    total
}

public fun unused(): u64 {
    let one = 1;

    one + 1
}

public fun nothing() {}

#[test_only]
public fun box(width: u64, height: u64): Shape {
    Shape::Box { width, height }
}

#[test]
fun a_square_has_an_area() {
    assert!(square(3).area() == 9);
}
