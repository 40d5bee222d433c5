/// Property tests. Readers return the values that writers wrote, and the parts of a list do not
/// affect its JSON text.
#[test_only]
module nexus_tools::json_law_tests;

use nexus_tools::json;
use nexus_tools::value;
use std::unit_test::assert_eq;

#[random_test]
fun read_u64_returns_any_written_number(number: u64, small: u8) {
    assert_eq!(json::read_u64(&json::from_u64(number).json()), number);
    assert_eq!(json::read_u64(&json::from_u64(small as u64).json()), small as u64);
}

#[random_test]
fun read_address_returns_any_written_address(address: address) {
    assert_eq!(json::read_address(&json::from_address(address).json()), address);
}

#[random_test]
fun read_string_returns_any_written_text(bytes: vector<u8>) {
    // Each character has one byte. The characters include control characters, quotes and
    // backslashes.
    let text = bytes.map!(|byte| byte & 0x7F).to_string();
    let json = json::from_string(text).json();
    assert_eq!(json::read_string(&json), text);
    // RFC 8259, section 7: a string contains no unescaped control character.
    assert!(json.all!(|byte| *byte >= 0x20));
}

#[random_test]
fun read_functions_ignore_surrounding_white_space(before: u8, after: u8, number: u64) {
    let (before, after) = (white_space(before), white_space(after));
    let json = vector[before, json::from_u64(number).json(), after].flatten();
    assert_eq!(json::read_u64(&json), number);
    assert!(json::read_bool(&vector[before, b"true", after].flatten()));
    let json = vector[before, b"\"0xBEEF\"", after].flatten();
    assert_eq!(json::read_address(&json), @0xBEEF);
    // The reader does not remove white space inside a string.
    let json = vector[before, b"\" a \"", after].flatten();
    assert_eq!(json::read_string(&json), b" a ".to_string());
}

#[random_test]
fun read_string_decodes_any_escaped_code_point(short: u16, long: u32) {
    let (short, long) = (short as u32, 0x10000 + long % 0x100000);
    // Surrogates are not code points.
    if (short < 0xD800 || short >= 0xE000) assert_eq!(read(unit(short)), short);
    // Each surrogate has ten of the 20 bits above U+FFFF.
    let halves = vector[unit(0xD7C0 + (long >> 10)), unit(0xDC00 + (long & 0x3FF))];
    assert_eq!(read(halves.flatten()), long);
}

#[random_test]
fun elements_returns_the_parts_of_any_list_in_order(lengths: vector<u8>) {
    let parts = lengths.map!(|length| {
        vector::tabulate!((length % 4) as u64, |i| json::from_u64(i).json())
    });
    let (list, all) = (value::inline_list(parts), parts.flatten());
    assert_eq!(list.length(), all.length());
    assert_eq!(list.elements(), all);
    assert_eq!(value::list_of(all.map!(|text| value::inline(text))).json(), list.json());
}

// === Helpers ===

/// Return up to four JSON white space characters.
fun white_space(which: u8): vector<u8> {
    let all = b" \t\n\r";
    vector::tabulate!((which % 5) as u64, |i| all[(i + ((which / 5) as u64)) % 4])
}

/// Return an escape sequence, which is a backslash, a `u`, and four hexadecimal digits.
fun unit(code: u32): vector<u8> {
    let digits = b"0123456789abcdef";
    let mut escape = b"\\u";
    vector[12u8, 8, 4, 0].do!(|shift| escape.push_back(digits[((code >> shift) & 0xF) as u64]));
    escape
}

/// Return the only code point of an escaped text. RFC 3629, section 3, defines how many bits of the
/// code point the first byte contains.
fun read(escaped: vector<u8>): u32 {
    let text = json::read_string(&vector[b"\"", escaped, b"\""].flatten());
    let bytes = text.as_bytes();
    let own = vector[0x7Fu32, 0x1F, 0xF, 0x7];
    let mut code = (bytes[0] as u32) & own[bytes.length() - 1];
    (bytes.length() - 1).do!(|i| code = (code << 6) | ((bytes[i + 1] as u32) & 0x3F));
    code
}
