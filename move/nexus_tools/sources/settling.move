/// How an invocation is settled: what shows that an answer is the tool's.
module nexus_tools::settling;

use nexus_tools::tool::Tool;

// === Structs ===

/// What a request fixes: keys that are added later sign nothing of it.
public enum Settling has copy, drop, store {
    /// By a leader's word.
    Leader,
    /// By a leader with the signature of one of these keys of the tool.
    Signature { keys: vector<vector<u8>> },
    /// By a call of the tool's Move function in the same transaction.
    Call { for_anyone: bool },
}

// === Public functions ===

/// How invocations of a tool are settled.
public fun of(tool: &Tool): Settling {
    let function = tool.definition().function();
    if (function.is_some()) Settling::Call { for_anyone: function.borrow().is_for_anyone() }
    else if (tool.requires_signed_outcome()) Settling::Signature { keys: *tool.keys().keys() }
    else Settling::Leader
}

/// Whether a leader's word is enough.
public fun is_by_leader(self: &Settling): bool { self == &Settling::Leader }

// === Package functions ===

/// Whether anyone may call it.
public(package) fun is_for_anyone(self: &Settling): bool {
    match (self) {
        Settling::Call { for_anyone } => *for_anyone,
        _ => false,
    }
}

/// The keys of which one has to sign; with none, nobody has to.
public(package) fun keys(self: &Settling): vector<vector<u8>> {
    match (self) {
        Settling::Signature { keys } => *keys,
        _ => vector[],
    }
}

// === Test-only functions ===

#[test_only]
public fun by_leader_for_testing(): Settling { Settling::Leader }

#[test_only]
public fun signed_for_testing(): Settling { Settling::Signature { keys: vector[] } }
