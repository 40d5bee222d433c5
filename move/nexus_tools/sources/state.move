/// The state of an invocation.
module nexus_tools::state;

use nexus_tools::failure;
use nexus_tools::value::{Ports, Value};
use std::ascii;
use std::string::String;

// === Errors ===

/// The invocation is not settled, so it has no answer.
const ENotSettled: u64 = 0;
/// The invocation is neither failed nor expired, so it has no failure reason.
const ENotFailed: u64 = 1;

// === Constants ===

const EXPIRED: vector<u8> = b"expired";

// === Structs ===

/// The state of an invocation. `leader` is the ID of the leader that closed it. If anyone may close
/// invocations of the tool, `leader` is the address of the sender.
public enum State has copy, drop, store {
    Requested,
    Settled { variant: ascii::String, ports: Ports, leader: ID, settled_at_ms: u64 },
    Failed { reason: ascii::String, detail: String, leader: ID, failed_at_ms: u64 },
    Expired,
}

// === Views ===

/// Return whether the invocation is settled, failed or expired.
public fun is_closed(self: &State): bool { self != &State::Requested }

/// Return whether the invocation is settled.
public fun is_settled(self: &State): bool {
    match (self) {
        State::Settled { .. } => true,
        _ => false,
    }
}

/// Return the leader that closed the invocation, or none if it is not closed or expired.
public fun leader(self: &State): Option<ID> {
    match (self) {
        State::Settled { leader, .. } | State::Failed { leader, .. } => option::some(*leader),
        _ => option::none(),
    }
}

/// Return the variant of the answer. Aborts with `ENotSettled`.
public fun variant(self: &State): ascii::String {
    match (self) {
        State::Settled { variant, .. } => *variant,
        _ => abort ENotSettled,
    }
}

/// Return the ports of the answer. Aborts with `ENotSettled`.
public fun ports(self: &State): &Ports {
    match (self) {
        State::Settled { ports, .. } => ports,
        _ => abort ENotSettled,
    }
}

/// Return the reason of the failure. Aborts with `ENotFailed`.
///
/// The reason is `expired` if no leader closed the invocation in time.
public fun reason(self: &State): ascii::String {
    match (self) {
        State::Failed { reason, .. } => *reason,
        State::Expired => EXPIRED.to_ascii_string(),
        _ => abort ENotFailed,
    }
}

/// Return a port of the answer, or `reason` or `detail` of a failure as a JSON string. Aborts with
/// `value::EUnknownPort` or `ENotFailed`.
public fun output(self: &State, name: &ascii::String): Value {
    match (self) {
        State::Settled { ports, .. } => ports.port(name),
        State::Failed { detail, .. } => failure::port(&self.reason(), detail, name),
        _ => failure::port(&self.reason(), &b"".to_string(), name),
    }
}

/// Return an element of the list at a port. Aborts with `value::EUnknownPort`, `value::ENotAList`,
/// `value::EIndexOutOfBounds` or `ENotFailed`.
public fun element(self: &State, name: &ascii::String, i: u64): Value {
    match (self) {
        State::Settled { ports, .. } => ports.port_element(name, i),
        _ => self.output(name).element(i),
    }
}

/// Return the size of the answer or of the failure, in bytes.
public fun size(self: &State): u64 {
    match (self) {
        State::Settled { variant, ports, .. } => variant.length() + ports.size(),
        State::Failed { reason, detail, .. } => reason.length() + detail.length(),
        _ => 0,
    }
}

// === Package functions ===

/// Return the state of a new invocation.
public(package) fun requested(): State { State::Requested }

/// Return the state of an invocation with an answer.
public(package) fun settled(
    variant: ascii::String,
    ports: Ports,
    leader: ID,
    settled_at_ms: u64,
): State {
    State::Settled { variant, ports, leader, settled_at_ms }
}

/// Return the state of an invocation that failed for a reason.
public(package) fun failed(
    reason: ascii::String,
    detail: String,
    leader: ID,
    failed_at_ms: u64,
): State {
    State::Failed { reason, detail, leader, failed_at_ms }
}

/// Return the state of an invocation that no leader closed in time.
public(package) fun expired(): State { State::Expired }
