/// The settlement of an invocation: the proof that an answer comes from the tool.
module nexus_tools::settlement;

use nexus_tools::tool::Tool;
use std::ascii::String;
use sui::event;

// === Events ===

/// An invocation that anyone can close was requested, such as a question.
///
/// The event is emitted in addition to `InvocationRequested`. So an account can find questions
/// without reading the requests of other tools.
public struct InvocationOpened has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: String,
    requester: address,
}

// === Structs ===

/// The required proof, which the request determines. So keys that are added later cannot sign the
/// answer.
public enum Settlement has copy, drop, store {
    /// No proof is required, because the requester trusts the leader.
    Leader,
    /// One of these keys of the tool must sign the answer.
    Signature { keys: vector<vector<u8>> },
    /// The transaction that settles must also call the tool's Move function.
    Call { closable_by_anyone: bool },
}

// === Public functions ===

/// Return the settlement of new invocations of a tool.
public fun for_tool(tool: &Tool): Settlement {
    let function = tool.definition().function();
    if (function.is_some()) {
        Settlement::Call { closable_by_anyone: function.borrow().is_closable_by_anyone() }
    } else if (tool.requires_signed_outcome()) Settlement::Signature { keys: *tool.keys().keys() }
    else Settlement::Leader
}

/// Return whether a leader settles without proof.
public fun is_by_leader(self: &Settlement): bool { self == &Settlement::Leader }

// === Package functions ===

/// Return whether anyone may settle by a call of the tool's function.
public(package) fun is_closable_by_anyone(self: &Settlement): bool {
    match (self) {
        Settlement::Call { closable_by_anyone } => *closable_by_anyone,
        _ => false,
    }
}

/// Emit `InvocationOpened` if anyone can close the new invocation.
public(package) fun emit_opened(
    self: &Settlement,
    invocation: ID,
    tool: ID,
    fqn: String,
    requester: address,
) {
    if (self.is_closable_by_anyone()) {
        event::emit(InvocationOpened { invocation, tool, fqn, requester });
    };
}

/// Return the keys, one of which must sign the answer. The list is empty if no signature is
/// required.
public(package) fun keys(self: &Settlement): vector<vector<u8>> {
    match (self) {
        Settlement::Signature { keys } => *keys,
        _ => vector[],
    }
}

// === Test-only functions ===

#[test_only]
public fun by_leader_for_testing(): Settlement { Settlement::Leader }

#[test_only]
public fun signed_for_testing(): Settlement { Settlement::Signature { keys: vector[] } }
