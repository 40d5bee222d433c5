/// Code points that a JSON string escapes: alone, or in two halves (RFC 8259, section 7).
#[test_only]
module nexus_tools::code_point_tests;

use nexus_tools::json;
use std::unit_test::assert_eq;

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
fun code_points_take_a_byte_more_at_each_limit_of_utf_8() {
    // RFC 3629, section 3: one byte up to U+007F, two up to U+07FF, three up to U+FFFF.
    assert_eq!(json::read_string(&b"\"\\u007F\""), x"7f".to_string());
    assert_eq!(json::read_string(&b"\"\\u0080\""), x"c280".to_string());
    assert_eq!(json::read_string(&b"\"\\u07FF\""), x"dfbf".to_string());
    assert_eq!(json::read_string(&b"\"\\u0800\""), x"e0a080".to_string());
    assert_eq!(json::read_string(&b"\"\\uFFFF\""), x"efbfbf".to_string());
    assert_eq!(json::read_string(&b"\"\\uD800\\uDC00\""), x"f0908080".to_string());
    assert_eq!(json::read_string(&b"\"\\uDBFF\\uDFFF\""), x"f48fbfbf".to_string());
}

#[test]
fun code_points_around_the_halves_stand_alone() {
    assert_eq!(json::read_string(&b"\"\\uD7FF\""), x"ed9fbf".to_string());
    assert_eq!(json::read_string(&b"\"\\uE000\""), x"ee8080".to_string());
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
fun first_half_is_not_followed_by_what_is_beyond_the_halves() {
    json::read_string(&b"\"\\uD834\\uE000\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun first_half_is_not_followed_by_a_backslash_alone() {
    json::read_string(&b"\"\\uD834\\\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun second_half_has_a_backslash() {
    json::read_string(&b"\"\\uD834xuDD1E\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun second_half_has_a_u_behind_its_backslash() {
    json::read_string(&b"\"\\uD834\\xDD1E\"");
    abort
}

#[test, expected_failure(abort_code = json::ENotString)]
fun second_half_has_four_digits() {
    json::read_string(&b"\"\\uD834\\uDD1\"");
    abort
}
