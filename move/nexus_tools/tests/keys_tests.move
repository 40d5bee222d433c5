#[test_only]
module nexus_tools::keys_tests;

use nexus_tools::keys::{Self, Keys};
use nexus_tools::test_runner::{key, text};
use std::unit_test::{assert_eq, destroy};

#[test]
fun keys_are_kept_in_their_order() {
    let mut keys = keys::none();
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
fun key_has_no_less_than_32_bytes() {
    keys::none().add(text(31, 1));
    abort
}

#[test, expected_failure(abort_code = keys::EInvalidKey)]
fun key_has_no_more_than_32_bytes() {
    keys::none().add(text(33, 1));
    abort
}

#[test, expected_failure(abort_code = keys::EKeyTaken)]
fun key_is_added_once() {
    let mut keys = four_keys();
    keys.remove(&key(4));
    keys.add(key(1));
    abort
}

#[test, expected_failure(abort_code = keys::ETooManyKeys)]
fun there_cannot_be_five_keys() {
    four_keys().add(key(5));
    abort
}

#[test, expected_failure(abort_code = keys::EUnknownKey)]
fun key_is_removed_once() {
    let mut keys = four_keys();
    keys.remove(&key(4));
    keys.remove(&key(4));
    abort
}

// === Helpers ===

fun four_keys(): Keys {
    let mut keys = keys::none();
    vector[1, 2, 3, 4].do!(|byte| keys.add(key(byte)));
    keys
}
