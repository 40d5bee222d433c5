module std::unit_test;

public macro fun assert_eq<$T: drop>($left: $T, $right: $T) {
    let left = $left;
    let right = $right;
    std::unit_test::assert_ref_eq!(&left, &right)
}

public macro fun assert_ref_eq<$T>($left: &$T, $right: &$T) {
    let left = $left;
    let right = $right;
    if (left != right) {
        std::debug::print(left);
        std::debug::print(right);
        assert!(false)
    }
}
