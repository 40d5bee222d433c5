/// The Move function that an on-chain tool is.
///
/// It is `public`, takes a `&mut Call` and then the tool's objects, and ends with `Call::finish`:
/// see `on_chain_call`. That takes a witness, a value of a type of which only the function's own
/// module makes one. So whoever calls it, the answer is the tool's; and no stranger registers a tool
/// for a function that is not his, since he has no `Publisher` of its module. A module has a witness
/// for each of its tools, or one tool's inputs could be given to another.
///
/// It takes no `TxContext`: by that it could act in the name of whoever calls it, and so nobody
/// does. New objects have ids that `sui::derived_object` derives.
module nexus_tools::function;

use std::ascii::String;
use std::type_name::{Self, TypeName};
use sui::package::Publisher;

// === Errors ===

/// The witness is no type of the module that the publisher object is for.
const EWrongPublisher: u64 = 0;
/// A call takes 50 000 000 MIST of gas at most.
const EGasTooHigh: u64 = 1;
/// There are more than 16 objects, or more than 8 type arguments, or one longer than 512 bytes.
const ETooManyArguments: u64 = 2;

// === Constants ===

const MAX_GAS_MIST: u64 = 50_000_000;
const MAX_OBJECTS: u64 = 16;
const MAX_TYPE_ARGUMENTS: u64 = 8;
const MAX_TYPE_BYTES: u64 = 512;

// === Structs ===

/// A function and how it is called; the URL of the tool says where it is.
public struct Function has copy, drop, store {
    /// The type of the witness, by original ids: upgrades of its package do not change it.
    witness: TypeName,
    type_arguments: vector<String>,
    /// The shared and immutable objects that it takes after the `Call`, in its order.
    objects: vector<ID>,
    /// The gas of one call. Whoever closes an invocation with it gets that.
    gas_mist: u64,
    /// Whether anyone closes invocations of the tool, within its timeout: leaders alone do, or not.
    for_anyone: bool,
}

// === Public functions ===

/// A function whose witness is `W`, to be declared by the publisher of its module. Aborts with
/// `EWrongPublisher`, `EGasTooHigh` or `ETooManyArguments`.
public fun of<W: drop>(
    publisher: &Publisher,
    type_arguments: vector<String>,
    objects: vector<ID>,
    gas_mist: u64,
    for_anyone: bool,
): Function {
    assert!(publisher.from_module<W>(), EWrongPublisher);
    assert!(gas_mist <= MAX_GAS_MIST, EGasTooHigh);
    assert!(objects.length() <= MAX_OBJECTS, ETooManyArguments);
    assert!(type_arguments.length() <= MAX_TYPE_ARGUMENTS, ETooManyArguments);
    assert!(type_arguments.all!(|each| each.length() <= MAX_TYPE_BYTES), ETooManyArguments);
    let witness = type_name::with_original_ids<W>();
    Function { witness, type_arguments, objects, gas_mist, for_anyone }
}

// === Views ===

/// The type of which a value shows that the tool's own module answers.
public fun witness(self: &Function): TypeName { self.witness }

/// The gas of one call.
public fun gas_mist(self: &Function): u64 { self.gas_mist }

/// Whether anyone closes invocations of the tool.
public fun is_for_anyone(self: &Function): bool { self.for_anyone }
