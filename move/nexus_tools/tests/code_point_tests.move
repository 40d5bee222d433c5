/// Tests of escaped code points in JSON strings, as one code unit or as a surrogate pair (RFC 8259,
/// section 7).
#[test_only]
module nexus_tools::code_point_tests;

use nexus_tools::json;
use std::unit_test::assert_eq;

#[test]
fun read_string_decodes_escaped_code_points_to_utf_8() {
    // The UTF-8 bytes (RFC 3629) are 24 for U+0024, C3 A9 for U+00E9, and E2 82 AC for U+20AC. The
    // surrogate pair (RFC 8259) of U+1D11E is D834 DD1E.
    assert_eq!(json::read_string(&b"\"\\u0024\""), x"24".to_string());
    assert_eq!(json::read_string(&b"\"\\u00E9\\u00e9\""), x"c3a9c3a9".to_string());
    assert_eq!(json::read_string(&b"\"\\u20AC\""), x"e282ac".to_string());
    assert_eq!(json::read_string(&b"\"\\uD834\\uDD1E!\""), x"f09d849e21".to_string());
    assert_eq!(json::read_string(&b"\"\\u0000\""), x"00".to_string());
}

#[test]
fun utf_8_needs_one_more_byte_at_each_limit() {
    // A code point has one byte up to U+007F, two bytes up to U+07FF, and three bytes up to U+FFFF
    // (RFC 3629, section 3).
    assert_eq!(json::read_string(&b"\"\\u007F\""), x"7f".to_string());
    assert_eq!(json::read_string(&b"\"\\u0080\""), x"c280".to_string());
    assert_eq!(json::read_string(&b"\"\\u07FF\""), x"dfbf".to_string());
    assert_eq!(json::read_string(&b"\"\\u0800\""), x"e0a080".to_string());
    assert_eq!(json::read_string(&b"\"\\uFFFF\""), x"efbfbf".to_string());
    assert_eq!(json::read_string(&b"\"\\uD800\\uDC00\""), x"f0908080".to_string());
    assert_eq!(json::read_string(&b"\"\\uDBFF\\uDFFF\""), x"f48fbfbf".to_string());
}

#[test]
fun read_string_accepts_code_points_next_to_the_surrogates() {
    assert_eq!(json::read_string(&b"\"\\uD7FF\""), x"ed9fbf".to_string());
    assert_eq!(json::read_string(&b"\"\\uE000\""), x"ee8080".to_string());
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_an_escape_with_three_digits() {
    json::read_string(&b"\"\\u00e\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_an_escape_with_other_digits() {
    json::read_string(&b"\"\\u00eg\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_lone_low_surrogate() {
    json::read_string(&b"\"\\uDD1E\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_lone_high_surrogate() {
    json::read_string(&b"\"\\uD834\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_two_high_surrogates() {
    json::read_string(&b"\"\\uD834\\u0041\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_high_surrogate_before_another_code_unit() {
    json::read_string(&b"\"\\uD834\\uE000\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_high_surrogate_before_a_backslash() {
    json::read_string(&b"\"\\uD834\\\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_low_surrogate_without_backslash() {
    json::read_string(&b"\"\\uD834xuDD1E\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_low_surrogate_without_u() {
    json::read_string(&b"\"\\uD834\\xDD1E\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun read_string_rejects_a_low_surrogate_with_three_digits() {
    json::read_string(&b"\"\\uD834\\uDD1\"");
    abort
}
