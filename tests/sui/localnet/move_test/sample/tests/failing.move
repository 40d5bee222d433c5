/// No test here passes.
#[test_only]
module sample::failing;

use sample::vault;
use std::unit_test::assert_eq;

#[test]
fun aborts_with_a_constant() {
    let mut vault = vault::new(0, &mut tx_context::dummy());
    vault.take(1);
    vault.destroy();
}

#[test]
fun asserts_without_a_code() {
    let one = 1;
    assert!(one == 2);
}

#[test]
fun compares() { assert_eq!(b"left".to_string(), b"right".to_string()) }

#[test]
fun overflows() {
    let mut vault = vault::new(0, &mut tx_context::dummy());
    vault.take_unchecked(1);
    vault.destroy();
}

#[test, expected_failure]
fun does_not_fail() {}

#[test, expected_failure(abort_code = 8)]
fun fails_with_another_code() { abort 9 }

#[test, expected_failure(abort_code = 7, location = Self)]
fun fails_elsewhere() {
    let mut vault = vault::new(0, &mut tx_context::dummy());
    vault.take(1);
    vault.destroy();
}

#[test, expected_failure(arithmetic_error, location = Self)]
fun fails_in_another_way() { abort 1 }

#[test, expected_failure(vector_error, minor_status = 2, location = Self)]
fun fails_with_another_status() {
    let empty = vector<u64>[];
    assert!(empty[0] == 0);
}

#[random_test]
fun is_not_always_small(number: u64) { assert!(number < 100) }
