/// The Move function of an on-chain tool.
///
/// The function is `public`, and its parameters are a `&mut Call` and then the tool's objects. The
/// function must call `finish` of the `Call`: see `on_chain_call`. `finish` takes a witness, which
/// is a value that only the function's own module can create. So the answer comes from the tool, no
/// matter who calls the function. Only the owner of the module's `Publisher` can register a tool
/// for the function. A module needs a separate witness for each of its tools. Otherwise a caller
/// could pass one tool's inputs to another tool.
///
/// The function must not take a `TxContext`. With a `TxContext`, the function could act on behalf
/// of its caller, so no leader calls such a function. Use `sui::derived_object` for the IDs of new
/// objects.
module nexus_tools::function;

use std::ascii::String;
use std::type_name::{Self, TypeName};
use sui::package::Publisher;

// === Errors ===

/// The witness is not a type of the publisher's module.
const EWrongPublisher: u64 = 0;
/// The gas of a call is more than 50 000 000 MIST.
const EGasTooHigh: u64 = 1;
/// The function has more than 16 objects or 8 type arguments, or a type argument above 512 bytes.
const ETooManyArguments: u64 = 2;

// === Constants ===

const MAX_GAS_MIST: u64 = 50_000_000;
const MAX_OBJECTS: u64 = 16;
const MAX_TYPE_ARGUMENTS: u64 = 8;
const MAX_TYPE_BYTES: u64 = 512;

// === Structs ===

/// A function and its arguments. The URL of the tool is the location of the function.
public struct Function has copy, drop, store {
    /// The type of the witness. The package IDs in the type are those of the first versions, which
    /// upgrades preserve.
    witness: TypeName,
    type_arguments: vector<String>,
    /// The shared and immutable objects that the function takes after the `Call`, in order.
    objects: vector<ID>,
    /// The gas of one call, in MIST. The account that closes an invocation by a call receives this
    /// amount.
    gas_mist: u64,
    /// Whether anyone can close invocations of the tool within its timeout. Otherwise, only leaders
    /// can close invocations of the tool.
    closable_by_anyone: bool,
}

// === Public functions ===

/// Return a function with the witness `W`, declared by the publisher of its module. Aborts with
/// `EWrongPublisher`, `EGasTooHigh` or `ETooManyArguments`.
public fun new<W: drop>(
    publisher: &Publisher,
    type_arguments: vector<String>,
    objects: vector<ID>,
    gas_mist: u64,
    closable_by_anyone: bool,
): Function {
    assert!(publisher.from_module<W>(), EWrongPublisher);
    assert!(gas_mist <= MAX_GAS_MIST, EGasTooHigh);
    assert!(objects.length() <= MAX_OBJECTS, ETooManyArguments);
    assert!(type_arguments.length() <= MAX_TYPE_ARGUMENTS, ETooManyArguments);
    assert!(type_arguments.all!(|argument| argument.length() <= MAX_TYPE_BYTES), ETooManyArguments);
    let witness = type_name::with_original_ids<W>();
    Function { witness, type_arguments, objects, gas_mist, closable_by_anyone }
}

// === Views ===

/// Return the type that proves that the tool's own module answers.
public fun witness(self: &Function): TypeName { self.witness }

/// Return the gas of one call, in MIST.
public fun gas_mist(self: &Function): u64 { self.gas_mist }

/// Return whether anyone can close invocations of the tool.
public fun is_closable_by_anyone(self: &Function): bool { self.closable_by_anyone }
