#[test_only]
module nexus_tools::keys_tests;

use nexus_tools::keys::{Self, Keys};
use nexus_tools::test_runner::{key, text};
use std::unit_test::{assert_eq, destroy};

#[test]
fun keys_returns_the_order_of_addition() {
    let mut keys = keys::empty();
    assert!(keys.is_empty());
    keys.add(key(3));
    keys.add(key(1));
    keys.add(key(2));
    assert!(!keys.is_empty());
    assert_eq!(*keys.keys(), vector[key(3), key(1), key(2)]);
    keys.remove(&key(1));
    assert_eq!(*keys.keys(), vector[key(3), key(2)]);
    destroy(keys);
}

#[test, expected_failure(abort_code = keys::EInvalidKey)]
fun add_aborts_for_31_bytes() {
    keys::empty().add(text(31, 1));
    abort
}

#[test, expected_failure(abort_code = keys::EInvalidKey)]
fun add_aborts_for_33_bytes() {
    keys::empty().add(text(33, 1));
    abort
}

#[test, expected_failure(abort_code = keys::EDuplicateKey)]
fun add_aborts_for_a_duplicate_key() {
    let mut keys = four_keys();
    keys.remove(&key(4));
    keys.add(key(1));
    abort
}

#[test, expected_failure(abort_code = keys::ETooManyKeys)]
fun add_aborts_for_a_fifth_key() {
    four_keys().add(key(5));
    abort
}

#[test, expected_failure(abort_code = keys::EUnknownKey)]
fun remove_aborts_for_an_unknown_key() {
    let mut keys = four_keys();
    keys.remove(&key(4));
    keys.remove(&key(4));
    abort
}

// === Helpers ===

fun four_keys(): Keys {
    let mut keys = keys::empty();
    vector[1, 2, 3, 4].do!(|byte| keys.add(key(byte)));
    keys
}
