/// The declaration of a tool by its author.
///
/// The schemas of a tool never change. To change the interface, register another version of the
/// tool.
module nexus_tools::definition;

use nexus_tools::fqn;
use nexus_tools::function::Function;
use std::ascii;
use std::string::String;

// === Errors ===

/// The FQN does not have the form `domain.name@version`: see the module `fqn`.
const EInvalidFqn: u64 = 0;
/// The type of the tool is unknown: use `offchain`.
const EUnknownToolType: u64 = 1;
/// An on-chain tool needs a function: use `define_on_chain`.
const EFunctionMissing: u64 = 2;
/// The URL is longer than 2 048 bytes: shorten it.
const EUrlTooLong: u64 = 3;
/// The description is longer than 4 096 bytes: shorten it.
const EDescriptionTooLong: u64 = 4;
/// An update cannot change the witness of a function, or whether anyone can close its invocations.
const EIncompatibleFunction: u64 = 5;

// === Constants ===

/// The type of a tool that is invoked over HTTP.
const OFFCHAIN: vector<u8> = b"offchain";
/// The type of a tool that is a Move function.
const ONCHAIN: vector<u8> = b"onchain";

const MAX_URL_BYTES: u64 = 2_048;
/// The longest timeout of a tool whose invocations anyone can close, in days.
const MAX_DAYS_FOR_ANYONE: u64 = 90;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MAX_DESCRIPTION_BYTES: u64 = 4_096;

// === Structs ===

/// The declaration of a tool by its author.
public struct Definition has copy, drop, store {
    fqn: ascii::String,
    /// `offchain` or `onchain`.
    tool_type: ascii::String,
    /// The base URL of the tool, or `package::module::function` for an on-chain tool.
    url: ascii::String,
    description: String,
    /// The JSON Schemas of the inputs and the outputs.
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    /// The maximum duration of one invocation, in ms.
    timeout_ms: u64,
    /// The function of an on-chain tool.
    function: Option<Function>,
}

// === Public functions ===

/// Define a tool that is invoked over HTTP. Aborts with `EInvalidFqn`, `EUnknownToolType`,
/// `EFunctionMissing`, `EUrlTooLong` or `EDescriptionTooLong`.
public fun define(
    fqn: ascii::String,
    tool_type: ascii::String,
    url: ascii::String,
    description: String,
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    timeout_ms: u64,
): Definition {
    assert!(tool_type.into_bytes() != ONCHAIN, EFunctionMissing);
    assert!(tool_type.into_bytes() == OFFCHAIN, EUnknownToolType);
    let self = Definition {
        fqn,
        tool_type,
        url,
        description,
        input_schema,
        output_schema,
        timeout_ms,
        function: option::none(),
    };
    self.check();
    self
}

/// Define an on-chain tool. `function_url` has the form `package::module::function`, with the ID of
/// the package version to call. The owner updates it after an upgrade. Aborts with `EInvalidFqn`,
/// `EUrlTooLong` or `EDescriptionTooLong`.
public fun define_on_chain(
    fqn: ascii::String,
    function: Function,
    function_url: ascii::String,
    description: String,
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    timeout_ms: u64,
): Definition {
    let self = Definition {
        fqn,
        tool_type: ONCHAIN.to_ascii_string(),
        url: function_url,
        description,
        input_schema,
        output_schema,
        timeout_ms,
        function: option::some(function),
    };
    self.check();
    self
}

// === Views ===

/// Return the FQN.
public fun fqn(self: &Definition): ascii::String { self.fqn }

/// Return the type, `offchain` or `onchain`.
public fun tool_type(self: &Definition): ascii::String { self.tool_type }

/// Return the URL of the tool.
public fun url(self: &Definition): ascii::String { self.url }

/// Return the description.
public fun description(self: &Definition): String { self.description }

/// Return the maximum duration of one invocation, in ms.
public fun timeout_ms(self: &Definition): u64 { self.timeout_ms }

/// Return the function of an on-chain tool, or none.
public fun function(self: &Definition): &Option<Function> { &self.function }

/// Return the gas payment for the caller of the function, in MIST. The payment is 0 for other
/// tools.
public fun gas_mist(self: &Definition): u64 {
    if (self.function.is_some()) self.function.borrow().gas_mist() else 0
}

/// Return the longest timeout in ms.
///
/// The longest timeout is 90 days if anyone can close the invocations, otherwise `leader_max_ms`.
public fun max_timeout_ms(self: &Definition, leader_max_ms: u64): u64 {
    let is_for_anyone = self.function.is_some_and!(|function| function.is_closable_by_anyone());
    if (is_for_anyone) MAX_DAYS_FOR_ANYONE * DAY_MS else leader_max_ms
}

/// Return the size of the larger of the two schemas, in bytes.
public fun max_schema_bytes(self: &Definition): u64 {
    self.input_schema.length().max(self.output_schema.length())
}

/// Return the total size of all texts, in bytes. A transaction that reads the tool reads all texts.
public fun size(self: &Definition): u64 {
    self.fqn.length() + self.url.length() + self.description.length()
        + self.input_schema.length() + self.output_schema.length()
}

// === Package functions ===

/// Set the URL. Aborts with `EUrlTooLong`.
public(package) fun set_url(self: &mut Definition, url: ascii::String) {
    assert_url(&url);
    self.url = url;
}

/// Set the description. Aborts with `EDescriptionTooLong`.
public(package) fun set_description(self: &mut Definition, description: String) {
    assert_description(&description);
    self.description = description;
}

/// Set the timeout.
public(package) fun set_timeout(self: &mut Definition, timeout_ms: u64) {
    self.timeout_ms = timeout_ms;
}

/// Replace the function, which must have the same witness. Aborts with `EIncompatibleFunction`.
public(package) fun set_function(self: &mut Definition, function: Function) {
    let is_compatible = self.function.is_some_and!(|current| {
        current.witness() == function.witness()
            && current.is_closable_by_anyone() == function.is_closable_by_anyone()
    });
    assert!(is_compatible, EIncompatibleFunction);
    self.function = option::some(function);
}

// === Private functions ===

fun check(self: &Definition) {
    assert!(fqn::is_valid(&self.fqn), EInvalidFqn);
    assert_url(&self.url);
    assert_description(&self.description);
}

fun assert_url(url: &ascii::String) { assert!(url.length() <= MAX_URL_BYTES, EUrlTooLong); }

fun assert_description(description: &String) {
    assert!(description.length() <= MAX_DESCRIPTION_BYTES, EDescriptionTooLong);
}
