/// What became of an invocation.
module nexus_tools::state;

use nexus_tools::failure;
use nexus_tools::value::{Ports, Value};
use std::ascii;
use std::string::String;

// === Errors ===

/// The invocation is not settled: it has no answer.
const ENotSettled: u64 = 0;
/// The invocation is not failed or expired: there is no reason why it has no answer.
const ENotFailed: u64 = 1;

// === Constants ===

const EXPIRED: vector<u8> = b"expired";

// === Structs ===

/// What became of an invocation, and who closed it: a leader, or for a tool that anyone may call an
/// address.
public enum State has copy, drop, store {
    Requested,
    Settled { variant: ascii::String, ports: Ports, leader: ID, settled_at_ms: u64 },
    Failed { reason: ascii::String, detail: String, leader: ID, failed_at_ms: u64 },
    Expired,
}

// === Views ===

/// Whether it is settled, failed or expired.
public fun is_closed(self: &State): bool { self != &State::Requested }

/// Whether it is settled.
public fun is_settled(self: &State): bool {
    match (self) {
        State::Settled { .. } => true,
        _ => false,
    }
}

/// The variant of the answer. Aborts with `ENotSettled`.
public fun variant(self: &State): ascii::String {
    match (self) {
        State::Settled { variant, .. } => *variant,
        _ => abort ENotSettled,
    }
}

/// The ports of the answer. Aborts with `ENotSettled`.
public fun ports(self: &State): &Ports {
    match (self) {
        State::Settled { ports, .. } => ports,
        _ => abort ENotSettled,
    }
}

/// Why there is no answer: `expired` if no leader closed it in time. Aborts with `ENotFailed`.
public fun reason(self: &State): ascii::String {
    match (self) {
        State::Failed { reason, .. } => *reason,
        State::Expired => EXPIRED.to_ascii_string(),
        _ => abort ENotFailed,
    }
}

/// A port of what it came to: of the answer, or the `reason` or `detail` of a failure, as JSON
/// strings. Aborts with `value::EUnknownPort` or `ENotFailed`.
public fun output(self: &State, name: &ascii::String): Value {
    match (self) {
        State::Settled { ports, .. } => ports.port(name),
        State::Failed { detail, .. } => failure::port(&self.reason(), detail, name),
        _ => failure::port(&self.reason(), &b"".to_string(), name),
    }
}

/// An element of a port that is a list. Aborts with `value::EUnknownPort`, `value::ENotAList`,
/// `value::ENoElement` or `ENotFailed`.
public fun element(self: &State, name: &ascii::String, i: u64): Value {
    match (self) {
        State::Settled { ports, .. } => ports.port_element(name, i),
        _ => self.output(name).element(i),
    }
}

/// The bytes of what it came to.
public fun bytes(self: &State): u64 {
    match (self) {
        State::Settled { variant, ports, .. } => variant.length() + ports.size(),
        State::Failed { reason, detail, .. } => reason.length() + detail.length(),
        _ => 0,
    }
}

// === Package functions ===

/// Nothing yet.
public(package) fun requested(): State { State::Requested }

/// It has the tool's answer.
public(package) fun settled(
    variant: ascii::String,
    ports: Ports,
    leader: ID,
    settled_at_ms: u64,
): State {
    State::Settled { variant, ports, leader, settled_at_ms }
}

/// It has no answer, for a reason.
public(package) fun failed(
    reason: ascii::String,
    detail: String,
    leader: ID,
    failed_at_ms: u64,
): State {
    State::Failed { reason, detail, leader, failed_at_ms }
}

/// No leader closed it in time.
public(package) fun expired(): State { State::Expired }
