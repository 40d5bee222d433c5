#[test_only]
module nexus_tools::keys_tests;

use nexus_tools::keys::{Self, Keys};
use nexus_tools::test_runner::{key, text};
use std::unit_test::{assert_eq, destroy};

/// The public key of the secret key 0x000102…1f, and its signature of `abc`, made by OpenSSL.
const PUBLIC_KEY: vector<u8> = x"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
const SIGNATURE: vector<u8> =
    x"cc46d62d3754f41754b27b6ea2cb2c272bafa7a5a1f6062bd060f414e50caaeac2da66ad39cef4424a90236ea907b7d8057e3443dc5abfc9986967ee7213a407";

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

#[test]
fun signature_by_one_of_the_keys_is_valid() {
    let mut keys = keys::none();
    keys.add(key(1));
    keys.add(PUBLIC_KEY);
    assert!(keys.verify(&PUBLIC_KEY, &SIGNATURE, &b"abc"));
    assert!(!keys.verify(&PUBLIC_KEY, &SIGNATURE, &b"abd"));
    assert!(!keys.verify(&key(1), &SIGNATURE, &b"abc"));
    assert!(!keys.verify(&PUBLIC_KEY, &text(64, 1), &b"abc"));
    destroy(keys);
}

#[test]
fun signature_by_another_key_is_not_valid() {
    let mut keys = four_keys();
    assert!(!keys.verify(&PUBLIC_KEY, &SIGNATURE, &b"abc"));
    keys.remove(&key(4));
    keys.add(PUBLIC_KEY);
    keys.remove(&PUBLIC_KEY);
    assert!(!keys.verify(&PUBLIC_KEY, &SIGNATURE, &b"abc"));
    destroy(keys);
}

fun four_keys(): Keys {
    let mut keys = keys::none();
    vector[1, 2, 3, 4].do!(|byte| keys.add(key(byte)));
    keys
}
