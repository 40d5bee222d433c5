/// What the author declares about a tool.
///
/// Its schemas never change: another interface is another version of the tool.
module nexus_tools::definition;

use nexus_tools::fqn;
use std::ascii;
use std::string::String;

// === Errors ===

/// The FQN does not follow the grammar `domain.name@version`: see the module `fqn`.
const EInvalidFqn: u64 = 0;
/// The type is none of the types of tools: say `offchain`.
const EUnknownToolType: u64 = 1;
/// On-chain tools are not accepted yet: offer the tool over HTTP as `offchain`.
const EOnchainNotAccepted: u64 = 2;
/// The URL is longer than 2 048 bytes: shorten it.
const EUrlTooLong: u64 = 3;
/// The description is longer than 4 096 bytes: shorten it.
const EDescriptionTooLong: u64 = 4;

// === Constants ===

/// The type of a tool that is invoked over HTTP.
const OFFCHAIN: vector<u8> = b"offchain";
/// The type of a tool that is a Move function.
const ONCHAIN: vector<u8> = b"onchain";

const MAX_URL_BYTES: u64 = 2_048;
const MAX_DESCRIPTION_BYTES: u64 = 4_096;

// === Structs ===

/// What the author declares about a tool.
public struct Definition has copy, drop, store {
    fqn: ascii::String,
    /// `offchain`.
    tool_type: ascii::String,
    /// The base URL under which the tool is invoked.
    url: ascii::String,
    description: String,
    /// JSON Schemas.
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    /// How long the tool may take for one invocation.
    timeout_ms: u64,
}

// === Public functions ===

/// The definition of a tool. Aborts with `EInvalidFqn`, `EUnknownToolType`, `EOnchainNotAccepted`,
/// `EUrlTooLong` or `EDescriptionTooLong`.
public fun define(
    fqn: ascii::String,
    tool_type: ascii::String,
    url: ascii::String,
    description: String,
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    timeout_ms: u64,
): Definition {
    assert!(fqn::is_valid(&fqn), EInvalidFqn);
    assert!(tool_type.into_bytes() != ONCHAIN, EOnchainNotAccepted);
    assert!(tool_type.into_bytes() == OFFCHAIN, EUnknownToolType);
    assert_url(&url);
    assert_description(&description);
    Definition { fqn, tool_type, url, description, input_schema, output_schema, timeout_ms }
}

// === Views ===

/// The FQN.
public fun fqn(self: &Definition): ascii::String { self.fqn }

/// The type.
public fun tool_type(self: &Definition): ascii::String { self.tool_type }

/// The base URL under which the tool is invoked.
public fun url(self: &Definition): ascii::String { self.url }

/// What the tool does, in words.
public fun description(self: &Definition): String { self.description }

/// How long the tool may take for one invocation.
public fun timeout_ms(self: &Definition): u64 { self.timeout_ms }

/// The bytes of the larger schema.
public fun max_schema_bytes(self: &Definition): u64 {
    self.input_schema.length().max(self.output_schema.length())
}

// === Package functions ===

/// Sets the URL. Aborts with `EUrlTooLong`.
public(package) fun set_url(self: &mut Definition, url: ascii::String) {
    assert_url(&url);
    self.url = url;
}

/// Sets the description. Aborts with `EDescriptionTooLong`.
public(package) fun set_description(self: &mut Definition, description: String) {
    assert_description(&description);
    self.description = description;
}

/// Sets the timeout.
public(package) fun set_timeout(self: &mut Definition, timeout_ms: u64) {
    self.timeout_ms = timeout_ms;
}

// === Private functions ===

fun assert_url(url: &ascii::String) { assert!(url.length() <= MAX_URL_BYTES, EUrlTooLong); }

fun assert_description(description: &String) {
    assert!(description.length() <= MAX_DESCRIPTION_BYTES, EDescriptionTooLong);
}
