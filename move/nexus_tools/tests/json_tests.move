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
    assert_eq!(json::from_string(text).json(), b"\"\\\"\\\\/\\n\\u001f\x7f\xc3\xa9\"");
    assert_eq!(json::from_string(b"".to_string()).json(), b"\"\"");
}

#[test]
fun control_characters_are_written_with_two_digits_and_the_space_as_it_is() {
    let text = x"00070b0e10191f20".to_string();
    let json = b"\"\\u0000\\u0007\\u000b\\u000e\\u0010\\u0019\\u001f \"";
    assert_eq!(json::from_string(text).json(), json);
}

#[test]
fun control_characters_that_have_a_letter_are_written_with_it() {
    assert_eq!(json::from_string(x"08090a0c0d".to_string()).json(), b"\"\\b\\t\\n\\f\\r\"");
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

#[test]
fun each_decimal_digit_is_read() {
    assert_eq!(json::read_u64(&b"9876543210"), 9_876_543_210);
    assert_eq!(json::read_u64(&b"\t1234567890\r"), 1_234_567_890);
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

#[test, expected_failure(abort_code = json::ENotU64)]
fun no_bytes_are_no_number() {
    json::read_u64(&b"");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun white_space_is_no_number() {
    json::read_u64(&b" \n");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun what_is_just_below_the_digits_is_no_number() {
    json::read_u64(&b"1/2");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun what_is_just_above_the_digits_is_no_number() {
    json::read_u64(&b"1:2");
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

#[test]
fun each_hexadecimal_digit_is_read_small_and_large() {
    assert_eq!(json::read_address(&b"\"0x0123456789abcdef\""), @0x0123456789abcdef);
    assert_eq!(json::read_address(&b"\"0xFEDCBA9876543210\""), @0xfedcba9876543210);
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_is_quoted() {
    json::read_address(&b"0x6");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_is_quoted_and_not_only_long_enough() {
    json::read_address(&b"00x60");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun address_has_a_prefix() {
    json::read_address(&b"\"beef\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun prefix_of_an_address_begins_with_0() {
    json::read_address(&b"\"1x6\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun prefix_of_an_address_ends_with_x() {
    json::read_address(&b"\"0y6\"");
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
fun what_is_just_below_0_is_no_hexadecimal_digit() {
    json::read_address(&b"\"0x/\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun what_is_just_above_9_is_no_hexadecimal_digit() {
    json::read_address(&b"\"0x:\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun what_is_just_below_a_large_a_is_no_hexadecimal_digit() {
    json::read_address(&b"\"0x@\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun what_is_just_above_a_large_f_is_no_hexadecimal_digit() {
    json::read_address(&b"\"0xG\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun what_is_just_below_a_small_a_is_no_hexadecimal_digit() {
    json::read_address(&b"\"0x`\"");
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
    assert_eq!(json::read_string(&b"\"two words[]\""), b"two words[]".to_string());
    assert_eq!(json::read_string(&x"22c3a9e282ac22"), x"c3a9e282ac".to_string());
    let escaped = b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"";
    assert_eq!(json::read_string(&escaped), x"225c2f080c0a0d09".to_string());
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
fun string_is_quoted_in_front() {
    json::read_string(&b"plain\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun string_is_quoted_at_its_end() {
    json::read_string(&b"\"plain");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun white_space_is_no_string() {
    json::read_string(&b"\t\n");
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
fun last_control_character_within_is_escaped() {
    json::read_string(&x"221f22");
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
fun unknown_escape_with_four_digits_is_none() {
    json::read_string(&b"\"\\x0041\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun bytes_that_are_no_utf_8_are_no_string() {
    json::read_string(&x"22ff22");
    abort
}
