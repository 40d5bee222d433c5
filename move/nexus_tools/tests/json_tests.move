/// The texts are those of RFC 8259 and RFC 3629, or written by hand.
#[test_only]
module nexus_tools::json_tests;

use nexus_tools::json;
use std::unit_test::assert_eq;

// === Writing ===

#[test]
fun numbers_are_numbers_as_far_as_each_reader_takes_them() {
    assert_eq!(json::from_u64(0).json(), b"0");
    assert_eq!(json::from_u64(9_007_199_254_740_991).json(), b"9007199254740991");
    assert_eq!(json::from_u64(9_007_199_254_740_992).json(), b"\"9007199254740992\"");
    assert_eq!(json::from_u64(18_446_744_073_709_551_615).json(), b"\"18446744073709551615\"");
}

#[test]
fun truth_is_written_in_a_word() {
    assert_eq!(json::from_bool(true).json(), b"true");
    assert_eq!(json::from_bool(false).json(), b"false");
}

#[test]
fun strings_escape_what_has_to_be() {
    let text = x"225c2f0a1f7fc3a9".to_string();
    // The quote, the backslash and what is below U+0020; neither the slash nor U+007F nor é.
    assert_eq!(json::from_string(text).json(), b"\"\\\"\\\\/\\u000a\\u001f\x7f\xc3\xa9\"");
    assert_eq!(json::from_string(b"".to_string()).json(), b"\"\"");
}

#[test]
fun addresses_have_all_their_digits() {
    let text = b"\"0x000000000000000000000000000000000000000000000000000000000000beef\"";
    assert_eq!(json::from_address(@0xBEEF).json(), text);
}

#[test]
fun lists_are_lists() {
    let list = json::from_list(vector[json::from_u64(1), json::from_bool(true)]);
    assert_eq!(list.length(), 2);
    assert_eq!(list.elements(), vector[b"1", b"true"]);
    assert_eq!(list.json(), b"[1,true]");
}

// === Reading numbers ===

#[test]
fun numbers_are_read_with_white_space_and_from_strings() {
    assert_eq!(json::read_u64(&b"0"), 0);
    assert_eq!(json::read_u64(&b" \t\r\n42 \n"), 42);
    assert_eq!(json::read_u64(&b"\"42\""), 42);
    assert_eq!(json::read_u64(&b"18446744073709551615"), 18_446_744_073_709_551_615);
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun number_above_64_bits_is_none() {
    json::read_u64(&b"18446744073709551616");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun number_with_a_leading_zero_is_none() {
    json::read_u64(&b"042");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun negative_number_is_none() {
    json::read_u64(&b"-1");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun fraction_is_none() {
    json::read_u64(&b"1.0");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun nothing_is_no_number() {
    json::read_u64(&b"\"\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun two_numbers_are_none() {
    json::read_u64(&b"1 2");
    abort
}

// === Reading truth ===

#[test]
fun truth_is_read() {
    assert!(json::read_bool(&b" true"));
    assert!(!json::read_bool(&b"false\n"));
}

#[test, expected_failure(abort_code = json::ENotBool)]
fun truth_has_small_letters() {
    json::read_bool(&b"True");
    abort
}

// === Reading addresses ===

#[test]
fun addresses_are_read_with_any_number_of_digits() {
    assert_eq!(json::read_address(&b"\"0x6\""), @0x6);
    assert_eq!(json::read_address(&b"\"0xBeef\""), @0xBEEF);
    let text = b"\"0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\"";
    let most = @0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;
    assert_eq!(json::read_address(&text), most);
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_is_quoted() {
    json::read_address(&b"0x6");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_has_a_prefix() {
    json::read_address(&b"\"beef\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_has_a_digit() {
    json::read_address(&b"\"0x\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_has_hexadecimal_digits() {
    json::read_address(&b"\"0xg\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_has_64_digits_at_most() {
    json::read_address(
        &b"\"0x00000000000000000000000000000000000000000000000000000000000000006\"",
    );
    abort
}

// === Reading strings ===

#[test]
fun strings_are_read() {
    assert_eq!(json::read_string(&b"\"\""), b"".to_string());
    assert_eq!(json::read_string(&b" \"plain\" "), b"plain".to_string());
    let escaped = b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"";
    assert_eq!(json::read_string(&escaped), x"225c2f080c0a0d09".to_string());
}

#[test]
fun escaped_code_points_are_read_as_utf_8() {
    // RFC 3629: U+0024 is 24, U+00E9 C3 A9, U+20AC E2 82 AC; RFC 8259: U+1D11E is D834 DD1E.
    assert_eq!(json::read_string(&b"\"\\u0024\""), x"24".to_string());
    assert_eq!(json::read_string(&b"\"\\u00E9\\u00e9\""), x"c3a9c3a9".to_string());
    assert_eq!(json::read_string(&b"\"\\u20AC\""), x"e282ac".to_string());
    assert_eq!(json::read_string(&b"\"\\uD834\\uDD1E!\""), x"f09d849e21".to_string());
    assert_eq!(json::read_string(&b"\"\\u0000\""), x"00".to_string());
}

#[test]
fun what_is_written_is_read() {
    let text = x"225c2f0a1f7fc3a9f09d849e".to_string();
    assert_eq!(json::read_string(&json::from_string(text).json()), text);
    assert_eq!(json::read_address(&json::from_address(@0xBEEF).json()), @0xBEEF);
    assert_eq!(json::read_u64(&json::from_u64(9_007_199_254_740_992).json()), 9_007_199_254_740_992);
}

#[test, expected_failure(abort_code = json::ENotString)]
fun string_is_quoted() {
    json::read_string(&b"plain");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun lone_quote_is_no_string() {
    json::read_string(&b"\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun quote_within_is_escaped() {
    json::read_string(&b"\"a\"b\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun line_break_within_is_escaped() {
    json::read_string(&b"\"a\nb\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun escape_ends_before_the_quote() {
    json::read_string(&b"\"\\\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun unknown_escape_is_none() {
    json::read_string(&b"\"\\x41\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun escaped_code_point_has_four_digits() {
    json::read_string(&b"\"\\u00e\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun escaped_code_point_has_hexadecimal_digits() {
    json::read_string(&b"\"\\u00eg\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun second_half_does_not_stand_alone() {
    json::read_string(&b"\"\\uDD1E\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun first_half_does_not_stand_alone() {
    json::read_string(&b"\"\\uD834\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun first_half_is_followed_by_a_second() {
    json::read_string(&b"\"\\uD834\\u0041\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun bytes_that_are_no_utf_8_are_no_string() {
    json::read_string(&x"22ff22");
    abort
}
