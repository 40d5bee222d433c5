/// The reason why an invocation failed.
module nexus_tools::failure;

use nexus_tools::json;
use nexus_tools::value::Value;
use std::ascii;
use std::string::String;

// === Errors ===

/// The reason is not a known failure reason.
const EUnknownReason: u64 = 0;
/// The detail is longer than 200 bytes: shorten it.
const EDetailTooLong: u64 = 1;

// === Constants ===

/// Known failure reasons. Most reasons concern the tool. A leader reports `refused` if it does not
/// want to dispatch the invocation, and `overloaded` if it cannot dispatch the invocation.
/// `aborted` concerns a Move function.
const REASONS: vector<vector<u8>> = vector[
    b"tool_not_registered",
    b"definition_mismatch",
    b"input_invalid",
    b"unreachable",
    b"timed_out",
    b"http_error",
    b"output_invalid",
    b"output_too_large",
    b"unauthorized",
    b"refused",
    b"overloaded",
    b"aborted",
];

const MAX_DETAIL_BYTES: u64 = 200;

// === Package functions ===

/// Abort with `EUnknownReason` or `EDetailTooLong` unless both texts are valid.
public(package) fun check(reason: &ascii::String, detail: &String) {
    let reasons = REASONS;
    assert!(reasons.contains(reason.as_bytes()), EUnknownReason);
    assert!(detail.length() <= MAX_DETAIL_BYTES, EDetailTooLong);
}

/// Return the port `reason` or `detail` of a failure, as a JSON string.
public fun port(reason: &ascii::String, detail: &String, name: &ascii::String): Value {
    json::from_string(if (name.as_bytes() == &b"reason") (*reason).to_string() else *detail)
}
