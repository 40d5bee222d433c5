/// Tests of failures that are read as ports of a run.
#[test_only]
module nexus_tools::failure_tests;

use nexus_tools::failure;
use nexus_tools::value::{Self, Value};
use std::unit_test::assert_eq;

#[test]
fun port_returns_reason_and_detail_as_json_strings() {
    assert_eq!(port(b"DNS", b"reason"), value::inline(b"\"unreachable\""));
    assert_eq!(port(b"DNS", b"detail"), value::inline(b"\"DNS\""));
    assert_eq!(port(b"", b"detail"), value::inline(b"\"\""));
}

#[test]
fun port_escapes_the_detail() {
    assert_eq!(port(b"a \"b\"", b"detail"), value::inline(b"\"a \\\"b\\\"\""));
    assert_eq!(port(b"a\\b", b"detail"), value::inline(b"\"a\\\\b\""));
    assert_eq!(port(b"a\nb", b"detail"), value::inline(b"\"a\\nb\""));
}

fun port(detail: vector<u8>, name: vector<u8>): Value {
    let reason = b"unreachable".to_ascii_string();
    failure::port(&reason, &detail.to_string(), &name.to_ascii_string())
}
