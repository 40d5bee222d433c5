/// Tests of the JSON conversions. The JSON texts are from RFC 8259 and RFC 3629, or are written by
/// hand.
#[test_only]
module nexus_tools::json_tests;

use nexus_tools::json;
use std::unit_test::assert_eq;

// === Writing ===

#[test]
fun from_u64_writes_a_string_above_the_limit_of_readers() {
    assert_eq!(json::from_u64(0).json(), b"0");
    assert_eq!(json::from_u64(9_007_199_254_740_991).json(), b"9007199254740991");
    assert_eq!(json::from_u64(9_007_199_254_740_992).json(), b"\"9007199254740992\"");
    assert_eq!(json::from_u64(18_446_744_073_709_551_615).json(), b"\"18446744073709551615\"");
}

#[test]
fun from_bool_writes_true_or_false() {
    assert_eq!(json::from_bool(true).json(), b"true");
    assert_eq!(json::from_bool(false).json(), b"false");
}

#[test]
fun from_string_escapes_quotes_and_backslashes() {
    let text = x"225c2f0a1f7fc3a9".to_string();
    // The writer escapes the quote, the backslash and characters below U+0020. The writer does not
    // escape the slash, U+007F and é.
    assert_eq!(json::from_string(text).json(), b"\"\\\"\\\\/\\n\\u001f\x7f\xc3\xa9\"");
    assert_eq!(json::from_string(b"".to_string()).json(), b"\"\"");
}

#[test]
fun from_string_escapes_control_characters_with_two_digits() {
    let text = x"00070b0e10191f20".to_string();
    let json = b"\"\\u0000\\u0007\\u000b\\u000e\\u0010\\u0019\\u001f \"";
    assert_eq!(json::from_string(text).json(), json);
}

#[test]
fun from_string_escapes_control_characters_with_a_letter() {
    assert_eq!(json::from_string(x"08090a0c0d".to_string()).json(), b"\"\\b\\t\\n\\f\\r\"");
}

#[test]
fun from_address_writes_64_digits() {
    let text = b"\"0x000000000000000000000000000000000000000000000000000000000000beef\"";
    assert_eq!(json::from_address(@0xBEEF).json(), text);
}

#[test]
fun from_list_writes_a_list() {
    let list = json::from_list(vector[json::from_u64(1), json::from_bool(true)]);
    assert_eq!(list.length(), 2);
    assert_eq!(list.elements(), vector[b"1", b"true"]);
    assert_eq!(list.json(), b"[1,true]");
}

// === Reading numbers ===

#[test]
fun read_u64_accepts_white_space_and_strings() {
    assert_eq!(json::read_u64(&b"0"), 0);
    assert_eq!(json::read_u64(&b" \t\r\n42 \n"), 42);
    assert_eq!(json::read_u64(&b"\"42\""), 42);
    assert_eq!(json::read_u64(&b"18446744073709551615"), 18_446_744_073_709_551_615);
}

#[test]
fun read_u64_accepts_each_digit() {
    assert_eq!(json::read_u64(&b"9876543210"), 9_876_543_210);
    assert_eq!(json::read_u64(&b"\t1234567890\r"), 1_234_567_890);
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_more_than_64_bits() {
    json::read_u64(&b"18446744073709551616");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_a_leading_zero() {
    json::read_u64(&b"042");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_a_negative_number() {
    json::read_u64(&b"-1");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_a_fraction() {
    json::read_u64(&b"1.0");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_an_empty_string() {
    json::read_u64(&b"\"\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_two_numbers() {
    json::read_u64(&b"1 2");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_an_empty_text() {
    json::read_u64(&b"");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_white_space() {
    json::read_u64(&b" \n");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_the_byte_below_the_digits() {
    json::read_u64(&b"1/2");
    abort
}

#[test, expected_failure(abort_code = json::ENotU64)]
fun read_u64_rejects_the_byte_above_the_digits() {
    json::read_u64(&b"1:2");
    abort
}

// === Reading booleans ===

#[test]
fun read_bool_accepts_true_and_false() {
    assert!(json::read_bool(&b" true"));
    assert!(!json::read_bool(&b"false\n"));
}

#[test, expected_failure(abort_code = json::ENotBool)]
fun read_bool_rejects_capital_letters() {
    json::read_bool(&b"True");
    abort
}

// === Reading addresses ===

#[test]
fun read_address_accepts_any_number_of_digits() {
    assert_eq!(json::read_address(&b"\"0x6\""), @0x6);
    assert_eq!(json::read_address(&b"\"0xBeef\""), @0xBEEF);
    let text = b"\"0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\"";
    let most = @0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;
    assert_eq!(json::read_address(&text), most);
}

#[test]
fun read_address_accepts_each_digit_in_both_cases() {
    assert_eq!(json::read_address(&b"\"0x0123456789abcdef\""), @0x0123456789abcdef);
    assert_eq!(json::read_address(&b"\"0xFEDCBA9876543210\""), @0xfedcba9876543210);
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_a_text_without_quotes() {
    json::read_address(&b"0x6");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_other_delimiters() {
    json::read_address(&b"00x60");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_a_missing_prefix() {
    json::read_address(&b"\"beef\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_a_prefix_without_0() {
    json::read_address(&b"\"1x6\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_a_prefix_without_x() {
    json::read_address(&b"\"0y6\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_a_prefix_without_digits() {
    json::read_address(&b"\"0x\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_other_letters() {
    json::read_address(&b"\"0xg\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_the_byte_below_0() {
    json::read_address(&b"\"0x/\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_the_byte_above_9() {
    json::read_address(&b"\"0x:\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_the_byte_below_a_capital_a() {
    json::read_address(&b"\"0x@\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_the_byte_above_a_capital_f() {
    json::read_address(&b"\"0xG\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_the_byte_below_a_small_a() {
    json::read_address(&b"\"0x`\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotAddress)]
fun read_address_rejects_65_digits() {
    json::read_address(
        &b"\"0x00000000000000000000000000000000000000000000000000000000000000006\"",
    );
    abort
}

// === Reading strings ===

#[test]
fun read_string_decodes_escapes() {
    assert_eq!(json::read_string(&b"\"\""), b"".to_string());
    assert_eq!(json::read_string(&b" \"plain\" "), b"plain".to_string());
    assert_eq!(json::read_string(&b"\"two words[]\""), b"two words[]".to_string());
    assert_eq!(json::read_string(&x"22c3a9e282ac22"), x"c3a9e282ac".to_string());
    let escaped = b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"";
    assert_eq!(json::read_string(&escaped), x"225c2f080c0a0d09".to_string());
}

#[test]
fun read_functions_return_written_values() {
    let text = x"225c2f0a1f7fc3a9f09d849e".to_string();
    assert_eq!(json::read_string(&json::from_string(text).json()), text);
    assert_eq!(json::read_address(&json::from_address(@0xBEEF).json()), @0xBEEF);
    assert_eq!(json::read_u64(&json::from_u64(9_007_199_254_740_992).json()), 9_007_199_254_740_992);
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_text_without_quotes() {
    json::read_string(&b"plain");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_missing_opening_quote() {
    json::read_string(&b"plain\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_missing_closing_quote() {
    json::read_string(&b"\"plain");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_white_space() {
    json::read_string(&b"\t\n");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_lone_quote() {
    json::read_string(&b"\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_an_unescaped_quote() {
    json::read_string(&b"\"a\"b\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_an_unescaped_line_feed() {
    json::read_string(&b"\"a\nb\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_the_last_control_character() {
    json::read_string(&x"221f22");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_backslash_before_the_closing_quote() {
    json::read_string(&b"\"\\\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_an_unknown_escape() {
    json::read_string(&b"\"\\x41\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_an_unknown_escape_with_four_digits() {
    json::read_string(&b"\"\\x0041\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_invalid_utf_8() {
    json::read_string(&x"22ff22");
    abort
}
