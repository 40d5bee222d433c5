/// Conversions between JSON texts (RFC 8259) and Move values, for the ports of on-chain tools.
///
/// | Move      | JSON                                                                    |
/// |-----------|-------------------------------------------------------------------------|
/// | `u64`     | a number; a string of digits above 2^53 - 1, the limit of some readers  |
/// | `bool`    | `true` or `false`                                                       |
/// | `String`  | a string                                                                |
/// | `address` | a string: `0x` and 64 hexadecimal digits; readers accept fewer digits   |
module nexus_tools::json;

use nexus_tools::value::{Self, Value};
use std::string::String;
use sui::address;

// === Errors ===

/// The text is neither a number from 0 to 2^64 - 1 nor a string with its decimal digits.
const ENotU64: u64 = 0;
/// The text is neither `true` nor `false`.
const ENotBool: u64 = 1;
/// The text is not a JSON string.
const ENotString: u64 = 2;
/// The text is not a JSON string that contains an address.
const ENotAddress: u64 = 3;

// === Constants ===

/// The largest integer that all JSON readers represent exactly (RFC 8259, section 6).
const MAX_NUMBER: u64 = 9_007_199_254_740_991;
const MAX_ADDRESS_DIGITS: u64 = 64;

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5C;
/// Characters that may follow a backslash in a JSON string. `ESCAPED` has at each index the byte
/// that the escape represents.
const ESCAPES: vector<u8> = b"\"\\/bfnrt";
const ESCAPED: vector<u8> = x"225c2f080c0a0d09";
/// The first high surrogate, the first low surrogate, and the code unit after the last surrogate. A
/// code point from 0x10000 is escaped as two surrogates of 10 bits each.
const HIGH_HALVES: u32 = 0xD800;
const LOW_HALVES: u32 = 0xDC00;
const AFTER_HALVES: u32 = 0xE000;

// === Public functions: writing ===

/// Return the JSON text of a number.
public fun from_u64(number: u64): Value {
    let digits = number.to_string().into_bytes();
    value::inline(if (number <= MAX_NUMBER) digits else quoted(digits))
}

/// Return `true` or `false`.
public fun from_bool(value: bool): Value { value::inline(if (value) b"true" else b"false") }

/// Return the JSON text of a string.
public fun from_string(text: String): Value { value::inline(quoted(escaped(text.as_bytes()))) }

/// Return the JSON text of an address or object ID.
public fun from_address(address: address): Value {
    let mut text = b"0x";
    text.append(address.to_string().into_bytes());
    value::inline(quoted(text))
}

/// Return a list value with these values as elements. Aborts with `value::ERemoteValue`.
public fun from_list(values: vector<Value>): Value { value::list_of(values) }

// === Public functions: reading ===

/// Return the number in a JSON text. Aborts with `ENotU64`.
public fun read_u64(json: &vector<u8>): u64 {
    let text = trimmed(json);
    let digits = if (is_quoted(&text)) inside(&text) else text;
    let n = digits.length();
    assert!(n > 0 && (n == 1 || digits[0] != 0x30), ENotU64);
    let mut number = 0u64;
    digits.do!(|digit| {
        assert!(digit >= 0x30 && digit <= 0x39, ENotU64);
        let next = (number as u128) * 10 + ((digit - 0x30) as u128);
        assert!(next <= std::u64::max_value!() as u128, ENotU64);
        number = next as u64;
    });
    number
}

/// Return the boolean in a JSON text. Aborts with `ENotBool`.
public fun read_bool(json: &vector<u8>): bool {
    let text = trimmed(json);
    assert!(text == b"true" || text == b"false", ENotBool);
    text == b"true"
}

/// Return the address of 1 to 64 hexadecimal digits in a JSON text. Aborts with `ENotAddress`.
public fun read_address(json: &vector<u8>): address {
    let text = trimmed(json);
    assert!(is_quoted(&text), ENotAddress);
    let text = inside(&text);
    let n = text.length();
    assert!(2 < n && n <= 2 + MAX_ADDRESS_DIGITS, ENotAddress);
    assert!(text[0] == 0x30 && text[1] == 0x78, ENotAddress);
    let mut number = 0u256;
    (n - 2).do!(|i| {
        let digit = digit_of(text[2 + i]);
        assert!(digit < 16, ENotAddress);
        number = number * 16 + (digit as u256);
    });
    address::from_u256(number)
}

/// Return the string in a JSON text. Aborts with `ENotString`.
public fun read_string(json: &vector<u8>): String {
    let text = trimmed(json);
    assert!(is_quoted(&text), ENotString);
    let (text, escapes, escaped) = (inside(&text), ESCAPES, ESCAPED);
    let (mut read, mut i, n) = (vector[], 0, text.length());
    while (i < n) {
        let byte = text[i];
        assert!(byte >= 0x20 && byte != QUOTE, ENotString);
        i = i + 1;
        if (byte != BACKSLASH) {
            read.push_back(byte);
            continue
        };
        assert!(i < n, ENotString);
        let escape = text[i];
        i = i + 1;
        let (is_short, index) = escapes.index_of(&escape);
        if (is_short) {
            read.push_back(escaped[index]);
            continue
        };
        assert!(escape == 0x75, ENotString); // u
        let mut code = code_unit(&text, i);
        i = i + 4;
        if (code >= HIGH_HALVES && code < LOW_HALVES) {
            assert!(i + 1 < n && text[i] == BACKSLASH && text[i + 1] == 0x75, ENotString);
            let low = code_unit(&text, i + 2);
            assert!(low >= LOW_HALVES && low < AFTER_HALVES, ENotString);
            code = 0x10000 + ((code - HIGH_HALVES) << 10) + (low - LOW_HALVES);
            i = i + 6;
        };
        append_utf8(&mut read, code);
    };
    let text = read.try_to_string();
    assert!(text.is_some(), ENotString);
    text.destroy_some()
}

// === Private functions ===

/// Return the text without leading and trailing white space.
fun trimmed(json: &vector<u8>): vector<u8> {
    let (mut start, mut end) = (0, json.length());
    while (start < end && is_space(json[start])) start = start + 1;
    while (end > start && is_space(json[end - 1])) end = end - 1;
    if (start == 0 && end == json.length()) return *json;
    vector::tabulate!(end - start, |i| json[start + i])
}

fun is_space(byte: u8): bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

fun is_quoted(text: &vector<u8>): bool {
    let n = text.length();
    n >= 2 && text[0] == QUOTE && text[n - 1] == QUOTE
}

/// Return the text between the quotes.
fun inside(text: &vector<u8>): vector<u8> {
    vector::tabulate!(text.length() - 2, |i| text[i + 1])
}

fun quoted(text: vector<u8>): vector<u8> {
    let mut json = vector[QUOTE];
    json.append(text);
    json.push_back(QUOTE);
    json
}

/// Escape a string with the shortest escape sequences (RFC 8785, section 3.2.2.2). A line feed
/// becomes `\n`, and a control character without a short escape becomes `\u00XX`.
fun escaped(text: &vector<u8>): vector<u8> {
    let (mut json, escapes, escaped) = (vector[], ESCAPES, ESCAPED);
    text.do_ref!(|byte| {
        let byte = *byte;
        if (byte >= 0x20 && byte != QUOTE && byte != BACKSLASH) {
            json.push_back(byte);
            return
        };
        let (is_short, index) = escaped.index_of(&byte);
        if (is_short) {
            json.push_back(BACKSLASH);
            json.push_back(escapes[index]);
        } else {
            json.append(b"\\u00");
            json.push_back(0x30 + (byte >> 4));
            json.push_back(hex_digit(byte & 0xF));
        };
    });
    json
}

/// Return the code unit of the four hexadecimal digits at an index. Aborts with `ENotString`.
fun code_unit(text: &vector<u8>, at: u64): u32 {
    assert!(at + 4 <= text.length(), ENotString);
    let mut code = 0u32;
    4u64.do!(|i| {
        let digit = digit_of(text[at + i]);
        assert!(digit < 16, ENotString);
        code = code * 16 + (digit as u32);
    });
    code
}

/// Return the value of a hexadecimal digit, or 16 for any other byte.
fun digit_of(byte: u8): u8 {
    if (byte >= 0x30 && byte <= 0x39) byte - 0x30
    else if (byte >= 0x41 && byte <= 0x46) byte - 0x37
    else if (byte >= 0x61 && byte <= 0x66) byte - 0x57
    else 16
}

fun hex_digit(digit: u8): u8 { if (digit < 10) 0x30 + digit else 0x57 + digit }

/// Append a code point in UTF-8 (RFC 3629). The first byte contains the high bits of the code
/// point, and each further byte contains six bits. For example, U+00E9 becomes C3 A9, which is
/// 110_00011 10_101001.
fun append_utf8(bytes: &mut vector<u8>, code: u32) {
    if (code < 0x80) bytes.push_back(code as u8)
    else if (code < 0x800) {
        bytes.push_back((0xC0 | (code >> 6)) as u8);
        bytes.push_back(tail(code));
    } else if (code < 0x10000) {
        bytes.push_back((0xE0 | (code >> 12)) as u8);
        bytes.push_back(tail(code >> 6));
        bytes.push_back(tail(code));
    } else {
        bytes.push_back((0xF0 | (code >> 18)) as u8);
        bytes.push_back(tail(code >> 12));
        bytes.push_back(tail(code >> 6));
        bytes.push_back(tail(code));
    }
}

fun tail(code: u32): u8 { (0x80 | (code & 0x3F)) as u8 }
