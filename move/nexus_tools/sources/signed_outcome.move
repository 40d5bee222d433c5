/// Answers that the tool signs. A leader cannot forge a signed answer, or use an answer to other
/// inputs.
///
/// The signature covers the inputs. An attempt has references instead of inputs. So its execution
/// reads the values on chain, in the transaction that settles the attempt.
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

/// The tool did not have this key when the invocation was requested.
const EWrongKey: u64 = 0;
/// The signature is not a signature of this answer to these inputs, by this key.
const EInvalidSignature: u64 = 1;
/// The invocation is an attempt of a run: settle it with the functions of the execution.
const EIsAttempt: u64 = 2;

// === Constants ===

/// The prefix of the signed bytes, which distinguishes signed answers from other signed data.
const DOMAIN: vector<u8> = b"nexus_tools::outcome";

// === Public functions ===

/// Settle with the answer and the tool's Ed25519 signature of the answer.
///
/// The key must be one of the keys that the tool had when the invocation was requested. The signed
/// bytes are the `message`. Aborts with `EIsAttempt`, `EWrongKey` or `EInvalidSignature`, and as
/// `invocation::settle` does.
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

/// Settle an attempt as `settle` does, with inputs for which its execution read `read_bytes`.
///
/// The `UID` proves which execution is the caller. Aborts with `invocation::EWrongExecution`, and
/// as `settle` does.
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

/// Return the bytes that a tool signs to answer an invocation.
///
/// The bytes start with `nexus_tools::outcome` and the 32 bytes of the invocation's ID. The next
/// bytes are the BLAKE2b-256 digest of the inputs in BCS, the variant in BCS, and the BLAKE2b-256
/// digest of the ports in BCS. If a leader sends other inputs to the tool, the leader cannot settle
/// with the signature that it receives.
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
    assert!(invocation.signing_keys().contains(key), EWrongKey);
    assert!(ed25519::ed25519_verify(signature, key, message), EInvalidSignature);
}
