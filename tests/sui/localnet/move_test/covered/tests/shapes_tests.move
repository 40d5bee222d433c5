module covered::shapes_tests;

use covered::shapes;

#[test]
fun areas_are_added() {
    let list = vector[shapes::square(2), shapes::square(1)];
    assert!(shapes::total(&list) == 5);
    assert!(list[0].perimeter() == 4);
}

#[test]
fun an_area_can_be_too_large() {
    let box = shapes::box(
        1 << 40,
        1 << 40,
    );
    let list = vector[
        box,
    ];
    shapes::total(&list);
}
