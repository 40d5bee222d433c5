/// To what the owner of an execution consented when it was begun.
module nexus_workflows::terms;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::run;
use nexus_tools::tool::Tool;
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_registry;
use nexus_workflows::records;
use nexus_workflows::walks;
use std::ascii::String;
use std::bcs;

// === Constants ===

/// More than any invocation of a run takes when it is requested.
const INVOCATION_BYTES: u64 = 1_400;

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
        version: dag_registry::version(),
    }
}

/// The same, of an execution that begins then: the deadline of these counts from its beginning.
public(package) fun begun_at(self: &Terms, now_ms: u64): Terms {
    new(
        self.leaders,
        self.settings,
        self.max_prices_mist,
        self.max_outcome_bytes,
        self.max_steps,
        self.deadline_ms + now_ms,
    )
}

public(package) fun set_leaders(self: &mut Terms, leaders: vector<ID>) { self.leaders = leaders }

public(package) fun leaders(self: &Terms): &vector<ID> { &self.leaders }

public(package) fun settings(self: &Terms): &LeaderSettings { &self.settings }

public(package) fun max_outcome_bytes(self: &Terms): u64 { self.max_outcome_bytes }

public(package) fun max_steps(self: &Terms): u64 { self.max_steps }

public(package) fun deadline_ms(self: &Terms): u64 { self.deadline_ms }

/// Whether this version of the package carries it.
public(package) fun is_carried(self: &Terms): bool { self.version <= dag_registry::version() }

/// Why a tool, of this number, is not invoked in this step, if it is not.
public(package) fun refusal(self: &Terms, tool: &Tool, number: u16, step: u64): Option<String> {
    let max_price_mist = self.max_prices_mist[number as u64];
    if (step > self.max_steps) because(b"too_many_steps")
    else if (!tool.is_active()) because(b"tool_not_active")
    else if (tool.charge_mist() > max_price_mist) because(b"price_too_high")
    else if (!self.leaders.any!(|leader| tool.accepts(*leader))) because(b"leader_not_accepted")
    else if (tool.min_outcome_bytes() > self.max_outcome_bytes) because(b"outcome_limit_too_small")
    else if (tool.requires_signed_outcome() && tool.keys().is_empty()) because(b"tool_without_key")
    else option::none()
}

/// What so many requests of a vertex take at most after these steps, refused ones included.
public(package) fun requests_mist(
    self: &Terms,
    dag: &Dag,
    tool: &Tool,
    vertex: u16,
    steps: u64,
    count: u64,
    ctx: &TxContext,
): u64 {
    let (number, run) = (dag.vertex(vertex).tool(), run::new(vertex, vector[]));
    let bytes = records::iteration_bytes(dag.vertex(vertex), 1) + INVOCATION_BYTES;
    let settle_fee_mist = self.settings.settle_fee_mist(attempt::record_bytes(), ctx);
    let requested_mist = self.cost_of_mist(settle_fee_mist, tool) + self.stored_mist(bytes);
    if (self.refusal(tool, number, steps + count).is_none()) return count * requested_mist;
    let refused_bytes = bytes + walks::most_bytes(dag, &run, &option::none());
    let refused_mist = self.refusal_fee_mist(ctx) + self.stored_mist(refused_bytes);
    count * requested_mist.max(refused_mist)
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

/// The bytes that they take in an object.
public(package) fun size(self: &Terms): u64 { bcs::to_bytes(self).length() }

// === Private functions ===

fun cost_of_mist(self: &Terms, settle_fee_mist: u64, tool: &Tool): u64 {
    tool.charge_mist() + settle_fee_mist + self.stored_mist(self.max_outcome_bytes)
}

fun because(reason: vector<u8>): Option<String> { option::some(reason.to_ascii_string()) }

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut Terms, version: u64) { self.version = version }
