#[test_only]
module nexus_tools::definition_tests;

use nexus_tools::definition::{Self, Definition};
use nexus_tools::test_runner::text;
use std::unit_test::assert_eq;

#[test]
fun definition_returns_the_declared_values() {
    let mut definition = define(b"https://a.example", b"Adds.", b"{\"a\":1}", b"{}");
    assert_eq!(definition.fqn(), b"xyz.example.add@1".to_ascii_string());
    assert_eq!(definition.tool_type(), b"offchain".to_ascii_string());
    assert_eq!(definition.url(), b"https://a.example".to_ascii_string());
    assert_eq!(definition.description(), b"Adds.".to_string());
    assert_eq!(definition.timeout_ms(), 10_000);
    definition.set_url(b"https://b.example".to_ascii_string());
    definition.set_description(b"Adds two.".to_string());
    definition.set_timeout(2_000);
    assert_eq!(definition.url(), b"https://b.example".to_ascii_string());
    assert_eq!(definition.description(), b"Adds two.".to_string());
    assert_eq!(definition.timeout_ms(), 2_000);
}

#[test]
fun max_schema_bytes_is_the_size_of_the_larger_schema() {
    assert_eq!(define(b"", b"", text(7, 1), text(5, 1)).max_schema_bytes(), 7);
    assert_eq!(define(b"", b"", text(5, 1), text(8, 1)).max_schema_bytes(), 8);
}

/// The size is the sum of 17 bytes of the FQN, and the bytes of the URL, the description and the
/// schemas.
#[test]
fun size_is_the_sum_of_all_texts() {
    assert_eq!(define(b"", b"", b"", b"").size(), 17);
    assert_eq!(define(text(1, 97), text(2, 97), text(4, 1), text(8, 1)).size(), 17 + 15);
}

#[test, expected_failure(abort_code = definition::EInvalidFqn)]
fun define_aborts_for_an_invalid_fqn() { define_as(b"xyz.add@1", b"offchain"); }

#[test, expected_failure(abort_code = definition::EUnknownToolType)]
fun define_aborts_for_an_unknown_type() { define_as(b"xyz.example.add@1", b"offline"); }

#[test, expected_failure(abort_code = definition::EFunctionMissing)]
fun define_aborts_for_an_on_chain_tool_without_function() { define_as(b"xyz.example.add@1", b"onchain"); }

#[test]
fun define_accepts_a_url_and_description_of_maximum_length() {
    define(text(2_048, 0x61), text(4_096, 0x61), b"", b"");
}

#[test, expected_failure(abort_code = definition::EUrlTooLong)]
fun define_aborts_when_the_url_is_too_long() { define(text(2_049, 0x61), b"", b"", b""); }

#[test, expected_failure(abort_code = definition::EDescriptionTooLong)]
fun define_aborts_when_the_description_is_too_long() { define(b"", text(4_097, 0x61), b"", b""); }

#[test, expected_failure(abort_code = definition::EUrlTooLong)]
fun set_url_aborts_when_the_url_is_too_long() {
    define(b"", b"", b"", b"").set_url(text(2_049, 0x61).to_ascii_string());
}

#[test, expected_failure(abort_code = definition::EDescriptionTooLong)]
fun set_description_aborts_when_the_description_is_too_long() {
    define(b"", b"", b"", b"").set_description(text(4_097, 0x61).to_string());
}

// === Helpers ===

fun define(
    url: vector<u8>,
    description: vector<u8>,
    input_schema: vector<u8>,
    output_schema: vector<u8>,
): Definition {
    definition::define(
        b"xyz.example.add@1".to_ascii_string(),
        b"offchain".to_ascii_string(),
        url.to_ascii_string(),
        description.to_string(),
        input_schema,
        output_schema,
        10_000,
    )
}

fun define_as(fqn: vector<u8>, tool_type: vector<u8>) {
    definition::define(
        fqn.to_ascii_string(),
        tool_type.to_ascii_string(),
        b"https://tools.example.com/add".to_ascii_string(),
        b"Adds two integers.".to_string(),
        b"{}",
        b"{}",
        10_000,
    );
}
