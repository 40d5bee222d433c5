/// To what the owner of an execution consented when it was begun.
module nexus_workflows::terms;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::run;
use nexus_tools::settling;
use nexus_tools::tool::Tool;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_registry;
use nexus_workflows::effort;
use nexus_workflows::records;
use nexus_workflows::walks;
use std::ascii::String;
use std::bcs;

// === Constants ===

/// More than any invocation of a run takes when it is requested.
const INVOCATION_BYTES: u64 = 1_600;
/// The bytes of an outcome for whose rewriting the fees are enough, and the gas units that rewriting
/// 1 000 more takes.
const COVERED_BYTES: u64 = 1_000;
const REWRITE_GAS_UNITS: u64 = 25;
/// The bytes of a tool's definition for whose reading the effort of a request is enough, and the gas
/// units that reading 1 000 more takes.
const COVERED_TOOL_BYTES: u64 = 1_000;
const TOOL_GAS_UNITS: u64 = 15;
/// Gas gets dearer the longer a transaction runs. So the effort of a step costs so many hundredths of
/// a gas unit, and beyond each of these bounds so many more.
const EFFORTS: vector<u64> = vector[0, 2_000, 3_200, 5_000];
const EFFORT_GAS: vector<u64> = vector[35, 27, 125, 220];

// === Structs ===

/// What an execution has to keep to.
public struct Terms has drop, store {
    /// The leaders that carry it, in the order of their windows.
    leaders: vector<ID>,
    settings: LeaderSettings,
    /// The highest price of each tool, by its number.
    max_prices_mist: vector<u64>,
    /// The longest timeout of a tool: for so long its invocation may keep funds.
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    deadline_ms: u64,
    /// The bytes of the entry values that were given.
    entry_bytes: u64,
    /// The version of the package with which it was begun: that one carries it, or a later one.
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

/// The same, of an execution that begins then: the deadline of these counts from its beginning.
public(package) fun begun_at(self: &Terms, now_ms: u64): Terms {
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

/// Counts entry values; false if they are too large together.
public(package) fun add_entry(self: &mut Terms, bytes: u64): bool {
    self.entry_bytes = self.entry_bytes + bytes;
    self.entry_bytes <= self.settings.max_ports_bytes()
}

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
    else if (tool.timeout_ms() > self.max_timeout_ms) because(b"timeout_too_long")
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
    let attempt = attempt::new(@0x0.to_id(), run, 1, &settling::of(tool), &self.settings, ctx);
    let requested_mist = self.cost_mist(&attempt, tool, ctx) + self.stored_mist(bytes)
        + worked_mist(effort::request(), ctx);
    if (self.refusal(tool, number, steps + count).is_none()) return count * requested_mist;
    let refused_bytes = bytes + walks::most_bytes(dag, &run, &option::none());
    let refused_mist = self.refusal_fee_mist(ctx) + self.stored_mist(refused_bytes)
        + worked_mist(walks::least_effort(dag, &run, &option::none()), ctx);
    count * requested_mist.max(refused_mist)
}

/// What an attempt costs at most: the tool's price, the leader's fees, with the most that it may
/// read, the largest outcome, and advancing by it, which is covered even if the owner cancels.
public(package) fun cost_mist(self: &Terms, attempt: &Attempt, tool: &Tool, ctx: &TxContext): u64 {
    let (settle_fee_mist, _) = attempt::fees_mist(&self.settings, ctx);
    let outcome_mist = self.stored_mist(self.max_outcome_bytes)
        + self.advancing_mist(self.max_outcome_bytes, ctx);
    tool.charge_mist() + settle_fee_mist + attempt.max_read_mist() + outcome_mist
}

/// What a worker gets that finds a run to be refused: what the transaction costs.
public(package) fun refusal_fee_mist(self: &Terms, ctx: &TxContext): u64 {
    self.settings.fail_fee_mist(attempt::record_bytes(), ctx)
}

/// What Sui takes for storing so many bytes.
public(package) fun stored_mist(self: &Terms, bytes: u64): u64 {
    bytes * self.settings.fee_per_outcome_byte_mist()
}

/// What a worker gets for the effort of a step, of which no more is paid than `effort::most`.
public(package) fun worked_mist(effort: u64, ctx: &TxContext): u64 {
    let effort = effort.min(effort::most());
    let (mut hundredths, bounds, prices) = (0, EFFORTS, EFFORT_GAS);
    bounds.zip_do!(prices, |bound, price| {
        hundredths = hundredths + price * (effort.max(bound) - bound);
    });
    hundredths * ctx.reference_gas_price() / 100
}

/// What the sender of `advance` gets, which rewrites an outcome of so many bytes: the fee of the
/// step covers a small one.
public(package) fun advancing_mist(self: &Terms, bytes: u64, ctx: &TxContext): u64 {
    let bytes = bytes.max(COVERED_BYTES) - COVERED_BYTES;
    let gas_mist = bytes * REWRITE_GAS_UNITS * ctx.reference_gas_price() / 1_000;
    let rewritten_mist = bytes * self.settings.fee_per_input_byte_mist() + gas_mist;
    attempt::step_fee_mist(&self.settings, ctx) + rewritten_mist
}

/// What a worker gets for reading the workflow, and pages of it.
public(package) fun read_mist(dag: &Dag, pages: u64, ctx: &TxContext): u64 {
    dag.read_units(pages) * ctx.reference_gas_price()
}

/// The same for requests of a vertex, with its tool.
public(package) fun request_read_mist(dag: &Dag, tool: &Tool, vertex: u16, ctx: &TxContext): u64 {
    let mut pages = dag::vertex_page(vertex);
    let (blocks, region) = (dag.vertex(vertex).blocks(), dag.vertex(vertex).region());
    region.do!(|depth| pages = pages | dag::block_page(blocks[depth as u64]));
    read_mist(dag, pages, ctx) + tool_mist(tool, ctx)
}

/// What a worker gets for reading a tool to request runs of it.
public(package) fun tool_mist(tool: &Tool, ctx: &TxContext): u64 {
    let bytes = tool.definition().size().max(COVERED_TOOL_BYTES) - COVERED_TOOL_BYTES;
    bytes * TOOL_GAS_UNITS * ctx.reference_gas_price() / 1_000
}

/// The bytes that they take in an object.
public(package) fun size(self: &Terms): u64 { bcs::to_bytes(self).length() }

// === Private functions ===

fun because(reason: vector<u8>): Option<String> { option::some(reason.to_ascii_string()) }

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut Terms, version: u64) { self.version = version }
