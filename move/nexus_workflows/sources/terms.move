/// The terms to which the owner of an execution agreed at the start.
module nexus_workflows::terms;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::run;
use nexus_tools::settlement;
use nexus_tools::tool::Tool;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_registry;
use nexus_workflows::effort;
use nexus_workflows::records;
use nexus_workflows::progress;
use std::ascii::String;
use std::bcs;

// === Constants ===

/// An upper bound of the size of an invocation when it is requested, in bytes.
const INVOCATION_BYTES: u64 = 1_600;
/// The number of outcome bytes whose rewriting the fees cover, and the gas units for rewriting
/// 1 000 additional bytes.
const COVERED_BYTES: u64 = 1_000;
const REWRITE_GAS_UNITS: u64 = 25;
/// The number of bytes of a tool's definition whose reading the effort of a request covers, and the
/// gas units for reading 1 000 additional bytes.
const COVERED_TOOL_BYTES: u64 = 1_000;
const TOOL_GAS_UNITS: u64 = 15;
/// The price of effort, in hundredths of a gas unit. Gas becomes more expensive as a transaction
/// gets longer. So for each bound in `EFFORTS`, every unit above the bound costs the additional
/// price in `EFFORT_GAS`.
const EFFORTS: vector<u64> = vector[0, 2_000, 3_200, 5_000];
const EFFORT_GAS: vector<u64> = vector[35, 27, 125, 220];

// === Structs ===

/// The terms of an execution.
public struct Terms has drop, store {
    /// The leaders that dispatch the execution, in the order of their windows.
    leaders: vector<ID>,
    settings: LeaderSettings,
    /// The maximum price of each tool, by the tool's number.
    max_prices_mist: vector<u64>,
    /// The maximum timeout of a tool, which limits the time for which an invocation holds funds.
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    deadline_ms: u64,
    /// The total size of all entry values, in bytes.
    entry_bytes: u64,
    /// The version of the package that started the execution. Only this version or a later version
    /// can continue the execution.
    version: u64,
}

// === Package functions ===

public(package) fun new(
    leaders: vector<ID>,
    settings: LeaderSettings,
    max_prices_mist: vector<u64>,
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    deadline_ms: u64,
): Terms {
    Terms {
        leaders,
        settings,
        max_prices_mist,
        max_timeout_ms,
        max_outcome_bytes,
        max_steps,
        deadline_ms,
        entry_bytes: 0,
        version: dag_registry::version(),
    }
}

/// Return the terms for an execution that starts at `now_ms`. The deadline of `self` is a duration.
public(package) fun with_start(self: &Terms, now_ms: u64): Terms {
    new(
        self.leaders,
        self.settings,
        self.max_prices_mist,
        self.max_timeout_ms,
        self.max_outcome_bytes,
        self.max_steps,
        self.deadline_ms + now_ms,
    )
}

public(package) fun set_leaders(self: &mut Terms, leaders: vector<ID>) { self.leaders = leaders }

/// Add to the size of the entry values. Return false if the total size exceeds the limit.
public(package) fun add_entry(self: &mut Terms, bytes: u64): bool {
    self.entry_bytes = self.entry_bytes + bytes;
    self.entry_bytes <= self.settings.max_ports_bytes()
}

public(package) fun leaders(self: &Terms): &vector<ID> { &self.leaders }

public(package) fun settings(self: &Terms): &LeaderSettings { &self.settings }

public(package) fun max_outcome_bytes(self: &Terms): u64 { self.max_outcome_bytes }

public(package) fun max_steps(self: &Terms): u64 { self.max_steps }

public(package) fun deadline_ms(self: &Terms): u64 { self.deadline_ms }

/// Return whether this version of the package can continue the execution.
public(package) fun is_supported(self: &Terms): bool { self.version <= dag_registry::version() }

/// Return the reason why this step must not invoke a tool, or none. `number` is the tool's number.
public(package) fun refusal(self: &Terms, tool: &Tool, number: u16, step: u64): Option<String> {
    let max_price_mist = self.max_prices_mist[number as u64];
    if (step > self.max_steps) refused(b"too_many_steps")
    else if (!tool.is_active()) refused(b"tool_not_active")
    else if (tool.charge_mist() > max_price_mist) refused(b"price_too_high")
    else if (tool.timeout_ms() > self.max_timeout_ms) refused(b"timeout_too_long")
    else if (!self.leaders.any!(|leader| tool.accepts(*leader))) refused(b"leader_not_accepted")
    else if (tool.min_outcome_bytes() > self.max_outcome_bytes) refused(b"outcome_limit_too_small")
    else if (tool.requires_signed_outcome() && tool.keys().is_empty()) refused(b"tool_without_key")
    else option::none()
}

/// Return the maximum cost of `count` requests of a vertex after `steps` steps. The cost also
/// covers requests that are refused.
public(package) fun max_requests_mist(
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
    let attempt = attempt::new(@0x0.to_id(), run, 1, &settlement::for_tool(tool), &self.settings, ctx);
    let requested_mist = self.cost_mist(&attempt, tool, ctx) + self.storage_mist(bytes)
        + effort_mist(effort::request(), ctx);
    if (self.refusal(tool, number, steps + count).is_none()) return count * requested_mist;
    let refused_bytes = bytes + progress::max_closing_bytes(dag, &run, &option::none());
    let refused_mist = self.refusal_fee_mist(ctx) + self.storage_mist(refused_bytes)
        + effort_mist(progress::min_closing_effort(dag, &run, &option::none()), ctx);
    count * requested_mist.max(refused_mist)
}

/// Return the maximum cost of an attempt.
///
/// The cost is the sum of the tool's price, the leader's fees with the maximum of read bytes, the
/// storage of the largest outcome, and `advance` with this outcome. The cost covers `advance` even
/// if the owner cancels the execution.
public(package) fun cost_mist(self: &Terms, attempt: &Attempt, tool: &Tool, ctx: &TxContext): u64 {
    let (settle_fee_mist, _) = attempt::fees_mist(&self.settings, ctx);
    let outcome_mist = self.storage_mist(self.max_outcome_bytes)
        + self.advance_mist(self.max_outcome_bytes, ctx);
    tool.charge_mist() + settle_fee_mist + attempt.max_read_mist() + outcome_mist
}

/// Return the fee for refusing a run, which covers the gas of the transaction.
public(package) fun refusal_fee_mist(self: &Terms, ctx: &TxContext): u64 {
    self.settings.fail_fee_mist(attempt::record_bytes(), ctx)
}

/// Return the cost of storing bytes.
public(package) fun storage_mist(self: &Terms, bytes: u64): u64 {
    bytes * self.settings.fee_per_outcome_byte_mist()
}

/// Return the payment for the effort of a step, up to `effort::max_step`.
public(package) fun effort_mist(effort: u64, ctx: &TxContext): u64 {
    let effort = effort.min(effort::max_step());
    let (mut hundredths, bounds, prices) = (0, EFFORTS, EFFORT_GAS);
    bounds.zip_do!(prices, |bound, price| {
        hundredths = hundredths + price * (effort.max(bound) - bound);
    });
    hundredths * ctx.reference_gas_price() / 100
}

/// Return the payment for the sender of `advance`, which rewrites an outcome of `bytes` bytes.
///
/// The fee of the step covers the first `COVERED_BYTES`.
public(package) fun advance_mist(self: &Terms, bytes: u64, ctx: &TxContext): u64 {
    let bytes = bytes.max(COVERED_BYTES) - COVERED_BYTES;
    let gas_mist = bytes * REWRITE_GAS_UNITS * ctx.reference_gas_price() / 1_000;
    let rewritten_mist = bytes * self.settings.fee_per_input_byte_mist() + gas_mist;
    attempt::step_fee_mist(&self.settings, ctx) + rewritten_mist
}

/// Return the payment for reading the workflow and some of its pages.
public(package) fun read_mist(dag: &Dag, pages: u64, ctx: &TxContext): u64 {
    dag.read_units(pages) * ctx.reference_gas_price()
}

/// Return the payment for reading the workflow and the tool to request runs of a vertex.
public(package) fun request_read_mist(dag: &Dag, tool: &Tool, vertex: u16, ctx: &TxContext): u64 {
    let mut pages = dag::vertex_page_bit(vertex);
    let (blocks, region) = (dag.vertex(vertex).blocks(), dag.vertex(vertex).region());
    region.do!(|depth| pages = pages | dag::block_page_bit(blocks[depth as u64]));
    read_mist(dag, pages, ctx) + tool_read_mist(tool, ctx)
}

/// Return the payment for reading a tool when runs of the tool are requested.
public(package) fun tool_read_mist(tool: &Tool, ctx: &TxContext): u64 {
    let bytes = tool.definition().size().max(COVERED_TOOL_BYTES) - COVERED_TOOL_BYTES;
    bytes * TOOL_GAS_UNITS * ctx.reference_gas_price() / 1_000
}

/// Return the storage size of the terms, in bytes.
public(package) fun size(self: &Terms): u64 { bcs::to_bytes(self).length() }

// === Private functions ===

fun refused(reason: vector<u8>): Option<String> { option::some(reason.to_ascii_string()) }

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut Terms, version: u64) { self.version = version }
