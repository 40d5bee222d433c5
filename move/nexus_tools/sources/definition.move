/// What the author declares about a tool.
///
/// Its schemas never change: another interface is another version of the tool.
module nexus_tools::definition;

use nexus_tools::fqn;
use nexus_tools::function::Function;
use std::ascii;
use std::string::String;

// === Errors ===

/// The FQN does not follow the grammar `domain.name@version`: see the module `fqn`.
const EInvalidFqn: u64 = 0;
/// The type is none of the types of tools: say `offchain`.
const EUnknownToolType: u64 = 1;
/// An on-chain tool has a function: use `define_on_chain`.
const EFunctionNeeded: u64 = 2;
/// The URL is longer than 2 048 bytes: shorten it.
const EUrlTooLong: u64 = 3;
/// The description is longer than 4 096 bytes: shorten it.
const EDescriptionTooLong: u64 = 4;
/// The function of a tool keeps its witness, and is for leaders or for anyone as it was.
const EOtherFunction: u64 = 5;

// === Constants ===

/// The type of a tool that is invoked over HTTP.
const OFFCHAIN: vector<u8> = b"offchain";
/// The type of a tool that is a Move function.
const ONCHAIN: vector<u8> = b"onchain";

const MAX_URL_BYTES: u64 = 2_048;
/// Anyone closes an invocation within so many days at most.
const MAX_DAYS_FOR_ANYONE: u64 = 90;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MAX_DESCRIPTION_BYTES: u64 = 4_096;

// === Structs ===

/// What the author declares about a tool.
public struct Definition has copy, drop, store {
    fqn: ascii::String,
    /// `offchain` or `onchain`.
    tool_type: ascii::String,
    /// The base URL under which the tool is invoked; of an on-chain one `package::module::function`.
    url: ascii::String,
    description: String,
    /// JSON Schemas.
    input_schema: vector<u8>,
    output_schema: vector<u8>,
    /// How long the tool may take for one invocation.
    timeout_ms: u64,
    /// Of an on-chain tool.
    function: Option<Function>,
}

// === Public functions ===

/// The definition of a tool. Aborts with `EInvalidFqn`, `EUnknownToolType`, `EFunctionNeeded`,
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
    assert!(tool_type.into_bytes() != ONCHAIN, EFunctionNeeded);
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

/// The definition of an on-chain tool. `function_url` is `package::module::function`, with the
/// package that is called, of which the owner follows upgrades. Aborts with `EInvalidFqn`,
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

/// The function of an on-chain tool.
public fun function(self: &Definition): &Option<Function> { &self.function }

/// The gas that whoever calls the function gets.
public fun gas_mist(self: &Definition): u64 {
    if (self.function.is_some()) self.function.borrow().gas_mist() else 0
}

/// The longest timeout: of a tool that leaders close, so long.
public fun max_timeout_ms(self: &Definition, for_leaders_ms: u64): u64 {
    let is_for_anyone = self.function.is_some_and!(|function| function.is_for_anyone());
    if (is_for_anyone) MAX_DAYS_FOR_ANYONE * DAY_MS else for_leaders_ms
}

/// The bytes of the larger schema.
public fun max_schema_bytes(self: &Definition): u64 {
    self.input_schema.length().max(self.output_schema.length())
}

/// The bytes of its texts, which whoever reads the tool reads.
public fun size(self: &Definition): u64 {
    self.fqn.length() + self.url.length() + self.description.length()
        + self.input_schema.length() + self.output_schema.length()
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

/// Sets what the function takes: objects, type arguments and gas. Aborts with `EOtherFunction`.
public(package) fun set_function(self: &mut Definition, function: Function) {
    let is_same = self.function.is_some_and!(|former| {
        former.witness() == function.witness()
            && former.is_for_anyone() == function.is_for_anyone()
    });
    assert!(is_same, EOtherFunction);
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
