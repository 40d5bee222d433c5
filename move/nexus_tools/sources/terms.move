/// To what the owner of an execution consented when it was begun.
module nexus_tools::terms;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::tool::Tool;
use nexus_tools::version;
use std::ascii::String;

// === Structs ===

/// What an execution has to keep to.
public struct Terms has drop, store {
    /// The leaders that carry it, in the order of their windows.
    leaders: vector<ID>,
    settings: LeaderSettings,
    /// The highest price of each tool, by its number.
    max_prices_mist: vector<u64>,
    max_outcome_bytes: u64,
    max_steps: u64,
    deadline_ms: u64,
    /// The version of the package with which it was begun: that one carries it, or a later one.
    version: u64,
}

// === Package functions ===

public(package) fun new(
    leaders: vector<ID>,
    settings: LeaderSettings,
    max_prices_mist: vector<u64>,
    max_outcome_bytes: u64,
    max_steps: u64,
    deadline_ms: u64,
): Terms {
    Terms {
        leaders,
        settings,
        max_prices_mist,
        max_outcome_bytes,
        max_steps,
        deadline_ms,
        version: version::number(),
    }
}

public(package) fun set_leaders(self: &mut Terms, leaders: vector<ID>) { self.leaders = leaders }

public(package) fun leaders(self: &Terms): &vector<ID> { &self.leaders }

public(package) fun settings(self: &Terms): &LeaderSettings { &self.settings }

public(package) fun max_outcome_bytes(self: &Terms): u64 { self.max_outcome_bytes }

public(package) fun max_steps(self: &Terms): u64 { self.max_steps }

public(package) fun deadline_ms(self: &Terms): u64 { self.deadline_ms }

/// Whether this version of the package carries it.
public(package) fun is_carried(self: &Terms): bool { self.version <= version::number() }

/// Why a tool, of this number, is not invoked in this step, if it is not.
public(package) fun refusal(self: &Terms, tool: &Tool, number: u16, step: u64): Option<String> {
    let max_price_mist = self.max_prices_mist[number as u64];
    if (step > self.max_steps) because(b"too_many_steps")
    else if (!tool.is_active()) because(b"tool_not_active")
    else if (tool.price_mist() > max_price_mist) because(b"price_too_high")
    else if (!self.leaders.any!(|leader| tool.accepts(*leader))) because(b"leader_not_accepted")
    else if (tool.min_outcome_bytes() > self.max_outcome_bytes) because(b"outcome_limit_too_small")
    else if (tool.requires_signed_outcome()) because(b"signature_required")
    else option::none()
}

/// What a request takes at most, up to this step, if it writes so many bytes, or in place of them
/// more if it is refused.
public(package) fun most_mist(
    self: &Terms,
    tool: &Tool,
    number: u16,
    step: u64,
    requested_bytes: u64,
    refused_bytes: u64,
    ctx: &TxContext,
): u64 {
    let settle_fee_mist = self.settings.settle_fee_mist(attempt::record_bytes(), ctx);
    let requested_mist = self.cost_of_mist(settle_fee_mist, tool) + self.stored_mist(requested_bytes);
    if (self.refusal(tool, number, step).is_none()) return requested_mist;
    let bytes = requested_bytes + refused_bytes;
    requested_mist.max(self.refusal_fee_mist(ctx) + self.stored_mist(bytes))
}

/// What an attempt costs at most: the tool's price, the leader's fees and the largest outcome.
public(package) fun cost_mist(self: &Terms, attempt: Attempt, tool: &Tool, ctx: &TxContext): u64 {
    let (settle_fee_mist, _) =
        attempt::fees_mist(&option::some(attempt), &self.settings, 0, ctx);
    self.cost_of_mist(settle_fee_mist, tool)
}

/// What a worker gets that finds a run to be refused: what the transaction costs.
public(package) fun refusal_fee_mist(self: &Terms, ctx: &TxContext): u64 {
    self.settings.fail_fee_mist(attempt::record_bytes(), ctx)
}

/// What Sui takes for storing so many bytes.
public(package) fun stored_mist(self: &Terms, bytes: u64): u64 {
    bytes * self.settings.fee_per_outcome_byte_mist()
}

// === Private functions ===

fun cost_of_mist(self: &Terms, settle_fee_mist: u64, tool: &Tool): u64 {
    tool.price_mist() + settle_fee_mist + self.stored_mist(self.max_outcome_bytes)
}

fun because(reason: vector<u8>): Option<String> { option::some(reason.to_ascii_string()) }
