/// Answers that the tool signs: a leader can invent none, and can ask the tool nothing else.
///
/// What is signed covers the inputs. Those of an attempt are values by reference: its execution puts
/// them together on chain, in the transaction that settles it.
module nexus_tools::signed_outcome;

use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::value::Ports;
use std::ascii::String;
use std::bcs;
use sui::clock::Clock;
use sui::ed25519;
use sui::hash;

// === Errors ===

/// The key is none that the tool had when it was requested.
const EWrongKey: u64 = 0;
/// The signature is none by this key of this answer to these inputs of this invocation.
const EWrongSignature: u64 = 1;
/// The invocation is an attempt to carry a run: its execution settles it.
const EIsAttempt: u64 = 2;

// === Constants ===

/// What a signature of an answer begins with, so that it is none of anything else.
const DOMAIN: vector<u8> = b"nexus_tools::outcome";

// === Public functions ===

/// Settles with the tool's Ed25519 signature of the answer, by one of the keys that it had when
/// the invocation was requested. What is signed is the `message`. Aborts with `EIsAttempt`,
/// `EWrongKey` or `EWrongSignature`, and as `invocation::settle` does.
public fun settle(
    invocation: &mut Invocation,
    leader: &Leader,
    variant: String,
    ports: Ports,
    key: vector<u8>,
    signature: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(invocation.attempt().is_none(), EIsAttempt);
    let message = message(invocation, &variant, &ports);
    verify(invocation, &key, &signature, &message);
    invocation.settle_answer(leader, variant, ports, 0, clock, ctx)
}

/// Settles an attempt in the same way, which its execution shows to be its own: it says what its
/// inputs are, and how many bytes were read for them. Aborts with `invocation::EWrongExecution`, and as `settle` does.
public fun settle_attempt(
    invocation: &mut Invocation,
    execution: &UID,
    inputs: &Ports,
    read_bytes: u64,
    leader: &Leader,
    variant: String,
    ports: Ports,
    key: vector<u8>,
    signature: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    invocation.check_execution(execution);
    let message = message_of(invocation, inputs, &variant, &ports);
    verify(invocation, &key, &signature, &message);
    invocation.settle_answer(leader, variant, ports, read_bytes, clock, ctx)
}

// === Views ===

/// What a tool signs to answer an invocation: `nexus_tools::outcome`, the 32 bytes of its id,
/// the BLAKE2b-256 digest of the inputs in BCS, the variant in BCS, and that digest of the
/// ports. A leader that asks the tool something else has no signature with which it could
/// settle.
public fun message(invocation: &Invocation, variant: &String, ports: &Ports): vector<u8> {
    message_of(invocation, invocation.inputs(), variant, ports)
}

// === Private functions ===

fun message_of(
    invocation: &Invocation,
    inputs: &Ports,
    variant: &String,
    ports: &Ports,
): vector<u8> {
    let mut message = DOMAIN;
    message.append(object::id(invocation).to_bytes());
    message.append(hash::blake2b256(&bcs::to_bytes(inputs)));
    message.append(bcs::to_bytes(variant));
    message.append(hash::blake2b256(&bcs::to_bytes(ports)));
    message
}

fun verify(
    invocation: &Invocation,
    key: &vector<u8>,
    signature: &vector<u8>,
    message: &vector<u8>,
) {
    assert!(invocation.signers().contains(key), EWrongKey);
    assert!(ed25519::ed25519_verify(signature, key, message), EWrongSignature);
}
