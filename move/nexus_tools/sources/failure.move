/// Why an invocation fails.
module nexus_tools::failure;

use nexus_tools::json;
use nexus_tools::value::Value;
use std::ascii;
use std::string::String;

// === Errors ===

/// The reason is none of the reasons for which an invocation fails.
const EUnknownReason: u64 = 0;
/// The detail is longer than 200 bytes: shorten it.
const EDetailTooLong: u64 = 1;

// === Constants ===

/// Because of the tool, or because the leader will not (`refused`) or cannot (`overloaded`) do
/// it. A Move function has `aborted`.
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

/// Aborts with `EUnknownReason` or `EDetailTooLong`.
public(package) fun check(reason: &ascii::String, detail: &String) {
    let reasons = REASONS;
    assert!(reasons.contains(reason.as_bytes()), EUnknownReason);
    assert!(detail.length() <= MAX_DETAIL_BYTES, EDetailTooLong);
}

/// The ports of a failure, `reason` and `detail`, as JSON strings.
public fun port(reason: &ascii::String, detail: &String, name: &ascii::String): Value {
    json::from_string(if (name.as_bytes() == &b"reason") (*reason).to_string() else *detail)
}
