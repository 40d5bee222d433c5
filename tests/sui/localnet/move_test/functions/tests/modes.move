// The longer word for `test_only`, for a module and for a function.
#[mode(test)]
module functions::modes;

#[mode(other, test)]
fun two(): u64 { 2 }

#[test]
fun what_has_the_mode_of_tests_is_there() {
    assert!(two() == 2);
}
