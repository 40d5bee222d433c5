/// Helpers for tests of executions that Bob starts, with their terms, workflows and transactions.
#[test_only]
module nexus_workflows::execution_runner;

use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::run::Run;
use nexus_tools::test_runner::{field, mint, port};
use nexus_tools::value::Ports;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_runner::dag_tx;
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::records::Instance;
use nexus_workflows::schedule_runner::Stage;
use std::ascii::String;
use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const NONE: u16 = 0xFFFF;
const EACH: u16 = 1;
const JOIN: u16 = 2;

const HOUR_MS: u64 = 3_600_000;
const FUNDS_MIST: u64 = 100_000_000;
const PRICE_MIST: u64 = 5_000_000;
const MAX_OUTCOME_BYTES: u64 = 100;

// === Terms ===

/// The arguments for starting an execution.
public struct Terms has copy, drop {
    revision: u64,
    group: u8,
    prices: vector<u64>,
    outcome_bytes: u64,
    steps: u64,
    duration_ms: u64,
    funds_mist: u64,
    vertices: vector<u16>,
    values: vector<Ports>,
}

/// Return terms with a duration of one hour, ten steps, outcomes of 100 bytes, funds of 100 000 000
/// MIST, and the value 1 for port `a` of vertex 0.
public fun terms(): Terms {
    Terms {
        revision: 0,
        group: 0,
        prices: vector[PRICE_MIST],
        outcome_bytes: MAX_OUTCOME_BYTES,
        steps: 10,
        duration_ms: HOUR_MS,
        funds_mist: FUNDS_MIST,
        vertices: vector[0],
        values: vector[port(b"a", b"1")],
    }
}

public fun with_revision(mut self: Terms, revision: u64): Terms { self.revision = revision; self }

public fun with_group(mut self: Terms, group: u8): Terms { self.group = group; self }

public fun with_prices(mut self: Terms, prices: vector<u64>): Terms { self.prices = prices; self }

public fun with_outcome_bytes(mut self: Terms, bytes: u64): Terms {
    self.outcome_bytes = bytes;
    self
}

public fun with_steps(mut self: Terms, steps: u64): Terms { self.steps = steps; self }

public fun with_duration(mut self: Terms, duration_ms: u64): Terms {
    self.duration_ms = duration_ms; self
}

public fun with_funds(mut self: Terms, funds_mist: u64): Terms {
    self.funds_mist = funds_mist;
    self
}

/// Add the entry values of an additional vertex.
public fun with_values(mut self: Terms, vertex: u16, values: Ports): Terms {
    self.vertices.push_back(vertex);
    self.values.push_back(values);
    self
}

// === Workflows ===

/// Publish a workflow and use it from now on.
macro fun publish($stage: &mut Stage, $fqn: vector<u8>, $has_blocks: bool, $write: |&mut Dag|) {
    let (stage, fqn) = ($stage, $fqn);
    let mut id = @0x0.to_id();
    dag_tx!(stage.runner(), ALICE, |dags, tools, ctx| {
        let (fqn, named) = (fqn.to_ascii_string(), vector[ADD.to_ascii_string()]);
        let (mut dag, name) =
            dag::draft(dags, tools, fqn, b"Adds.".to_string(), b"digest", named, ctx);
        $write(&mut dag);
        id = object::id(&dag);
        name.share();
        dag.check_page(0);
        if ($has_blocks) dag.check_page(1);
        dag.publish(ctx);
    });
    stage.with_dag(id);
}

/// Use a workflow whose only entry group is empty.
public fun with_nothing_to_do(stage: &mut Stage) {
    publish!(stage, b"xyz.example.idle@1", false, |dag| {
        dag.add_group(b"none".to_ascii_string(), vector[]);
        add_vertices(dag, vector[vector[]]);
    });
}

/// Use a workflow that delivers a value to four vertices, whether its first run succeeds or fails.
///
///
///     0 ──▶ 1, 2, 3, 4      0 ──_err_eval──▶ 1, 2, 3, 4
public fun with_fan(stage: &mut Stage) {
    publish!(stage, b"xyz.example.fan@1", false, |dag| {
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        add_vertices(dag, vector[vector[0], vector[], vector[], vector[], vector[]]);
        dag.add_ports(
            0,
            vector[0, 1, 2, 3, 4],
            ascii(vector[b"a", b"in", b"in", b"in", b"in"]),
            vector[1, 0, 0, 0, 0],
        );
        let four = vector::tabulate!(4, |i| i as u16);
        add_edges(dag, 0, b"ok", b"out", four.map_ref!(|i| edge_row(*i, *i + 1)));
        add_edges(dag, 0, b"_err_eval", b"reason", four.map_ref!(|i| edge_row(*i + 4, *i + 1)));
    });
}

/// Use a workflow that delivers a value to 32 vertices, each of which has `ports` ports.
public fun with_wide_fan(stage: &mut Stage, ports: u64) {
    publish!(stage, b"xyz.example.wide@1", false, |dag| {
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        add_vertices(dag, vector::tabulate!(33, |i| if (i == 0) vector[0] else vector[]));
        32u64.do!(|i| {
            let vertices = vector::tabulate!(ports, |_| i as u8 + 1);
            let names = vector::tabulate!(ports, |port| vector[97, 65 + (port as u8)]);
            dag.add_ports(0, vertices, ascii(names), vector::tabulate!(ports, |_| 0));
        });
        let edges = vector::tabulate!(32, |i| edge_row(i as u16, i as u16 + 1));
        add_edges(dag, 0, b"ok", b"out", edges);
    });
}

/// Use a workflow with a region in which one vertex delivers a value to 32 other vertices. Each of
/// these vertices has `ports` ports, whose names have `name_bytes` bytes.
///
///
///     0 split ──for_each──▶ [region 0: 1 each ──▶ 2, 3, …, 33 ]
public fun with_wide_region(stage: &mut Stage, ports: u64, name_bytes: u64) {
    publish!(stage, b"xyz.example.wide_region@1", true, |dag| {
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        let (none, each) = (vector[vector[]], vector[vector[EACH]]);
        dag.add_blocks(vector[true], none, each, vector[vector[0]], each, none);
        let ones = vector::tabulate!(34, |_| 1);
        dag.add_vertices(
            ones.map_ref!(|_| 0),
            vector::tabulate!(34, |i| if (i == 0) vector[] else vector[0]),
            vector::tabulate!(34, |i| if (i == 0) vector[0] else vector[]),
            ones,
            ones.map_ref!(|_| 0),
            ones.map_ref!(|_| 40),
            ones.map_ref!(|_| true),
        );
        dag.add_ports(0, vector[1], ascii(vector[b"in"]), vector[0]);
        let names = vector::tabulate!(ports, |port| {
            vector::tabulate!(name_bytes, |i| if (i == 0) 65 + (port as u8) else 97)
        });
        32u64.do!(|i| {
            let vertices = vector::tabulate!(ports, |_| i as u8 + 2);
            dag.add_ports(0, vertices, ascii(names), vector::tabulate!(ports, |_| 0));
        });
        add_edges(dag, 0, b"ok", b"out", vector[vector[0, EACH, 0, 1, 0, 0, 0, 0, NONE]]);
        let edges = vector::tabulate!(32, |i| {
            vector[i as u16 + 1, i as u16 + 2, 0, 0, 1, 0, NONE, NONE, NONE]
        });
        add_edges(dag, EACH as u8, b"ok", b"out", edges);
    });
}

/// Use a workflow that splits a list, and gathers the results in `lists` lists.
///
/// Runs of the vertex `split` have two attempts, with a delay of 5 s. The failure of an element
/// does not end the execution. If `gathers_failures`, the first list also contains the reasons of
/// failures.
///
///
///     0 split ──for_each──▶ [region 0: 1 each ] ──collect──▶ 2 join
public fun with_spread(stage: &mut Stage, lists: u64, gathers_failures: bool) {
    publish!(stage, b"xyz.example.spread@1", true, |dag| {
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        let (none, each) = (vector[vector[]], vector[vector[EACH]]);
        dag.add_blocks(vector[true], none, each, vector[vector[0]], each, none);
        dag.add_vertices(
            vector[0, 0, 0],
            vector[vector[], vector[0], vector[]],
            vector[vector[0], vector[], vector[]],
            vector[2, 1, 1],
            vector[5_000, 0, 0],
            vector[1, 40, 1],
            vector[true, false, true],
        );
        dag.add_ports(0, vector[0, 1], ascii(vector[b"a", b"in"]), vector[1, 0]);
        let names = vector[b"1", b"2", b"3", b"4"];
        lists.do!(|i| dag.add_ports(0, vector[2], ascii(vector[names[i]]), vector[0]));
        add_edges(dag, 0, b"ok", b"out", vector[vector[0, EACH, 0, 1, 0, 0, 0, 0, NONE]]);
        let lists = vector::tabulate!(lists, |i| collect_row(i as u16 + 1, i as u16));
        add_edges(dag, EACH as u8, b"ok", b"out", lists);
        let mut sources = lists.map_ref!(|_| vector[EACH]);
        if (gathers_failures) {
            add_edges(dag, EACH as u8, b"_err_eval", b"reason", vector[collect_row(9, 0)]);
            sources[0].push_back(EACH);
        };
        dag.add_collect_edges(0, lists.map_ref!(|_| 0), lists, sources);
    });
}

/// Add vertices outside all blocks, with their entry groups. Each run has one attempt, and an
/// unhandled failure ends the execution.
fun add_vertices(dag: &mut Dag, groups: vector<vector<u8>>) {
    dag.add_vertices(
        groups.map_ref!(|_| 0),
        groups.map_ref!(|_| vector[]),
        groups,
        groups.map_ref!(|_| 1),
        groups.map_ref!(|_| 0),
        groups.map_ref!(|_| 1),
        groups.map_ref!(|_| true),
    );
}

fun add_edges(
    dag: &mut Dag,
    vertex: u8,
    variant: vector<u8>,
    port: vector<u8>,
    rows: vector<vector<u16>>,
) {
    let (variants, ports) = (rows.map_ref!(|_| variant), rows.map_ref!(|_| port));
    dag.add_edges(0, rows.map_ref!(|_| vertex), ascii(variants), ascii(ports), rows);
}

/// Return the row of an edge that leads to the first port of a vertex.
fun edge_row(number: u16, vertex: u16): vector<u16> {
    vector[number, vertex, 0, 0, 0, 0, NONE, NONE, NONE]
}

/// Return the row of an edge that leads from the region to a gathered list.
fun collect_row(number: u16, list: u16): vector<u16> {
    vector[number, JOIN, list, 0, 0, 0, NONE, NONE, 0]
}

fun ascii(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| text.to_ascii_string()) }

// === Transactions ===

/// Let Bob start an execution that lists Lee's leader.
public fun start_execution(stage: &mut Stage, terms: Terms): ID {
    let (dag, lee) = (stage.dag(), stage.lee());
    let scenario = stage.runner().next_tx(BOB);
    let registry = scenario.take_shared<LeaderRegistry>();
    let leader = scenario.take_shared_by_id<Leader>(lee);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let clock = scenario.take_shared<Clock>();
    let funds = mint(terms.funds_mist, scenario.ctx());
    let mut execution = execution::start(
        &registry,
        terms.revision,
        &dag,
        terms.group,
        &leader,
        terms.prices,
        HOUR_MS,
        terms.outcome_bytes,
        terms.steps,
        terms.duration_ms,
        funds,
        &clock,
        scenario.ctx(),
    );
    terms.vertices.zip_do!(terms.values, |vertex, values| execution.add_entry_values(vertex, values));
    assert!(execution.owner() == BOB && execution.dag() == object::id(&dag));
    let id = object::id(&execution);
    execution.share();
    test_scenario::return_shared(clock);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(registry);
    id
}

/// Request the first run, and return whether it was requested.
public fun request(stage: &mut Stage, sender: address, id: ID): bool {
    let mut requested = false;
    stage.execution_tx!(sender, id, |execution, dag, tool, leader, clock, ctx| {
        requested = execution.request(dag, tool, leader, 0, vector[], clock, ctx);
    });
    requested
}

/// Request iterations of `with_spread`, and return their number.
public fun request_iterations(stage: &mut Stage, id: ID, limit: u64): u64 {
    let mut n = 0;
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        n = execution.request_iterations(dag, tool, leader, EACH, vector[], limit, clock, ctx);
    });
    n
}

public fun last_invocation(stage: &mut Stage): Invocation {
    let scenario = stage.runner().next_tx(LEE);
    let id = test_scenario::most_recent_id_shared<Invocation>().destroy_some();
    scenario.take_shared_by_id<Invocation>(id)
}

/// Let Lee settle the invocation that was shared last, and return its ID.
public fun settle(stage: &mut Stage, variant: vector<u8>, ports: Ports): ID {
    let lee = stage.lee();
    let invocation = stage.last_id();
    stage.runner().invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        assert!(invocation.settle(leader, variant.to_ascii_string(), ports, clock, ctx));
    });
    invocation
}

/// Let Lee fail the invocation that was shared last, and return its ID.
public fun fail(stage: &mut Stage): ID {
    let lee = stage.lee();
    let invocation = stage.last_id();
    stage.runner().invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"unreachable".to_ascii_string(), b"DNS".to_string());
        assert!(invocation.fail(leader, reason, detail, clock, ctx));
    });
    invocation
}

use fun last_id as Stage.last_id;

fun last_id(stage: &mut Stage): ID {
    let invocation = stage.last_invocation();
    let id = object::id(&invocation);
    test_scenario::return_shared(invocation);
    id
}

use fun last_invocation as Stage.last_invocation;

/// Call `advance` with the invocation that was shared last, and return whether the call had an
/// effect.
public fun advance(stage: &mut Stage, sender: address, id: ID): bool {
    let mut invocation = stage.last_invocation();
    let mut advanced = false;
    stage.execution_tx!(sender, id, |execution, dag, _, _, clock, ctx| {
        advanced = execution.advance(dag, &mut invocation, clock, ctx);
    });
    test_scenario::return_shared(invocation);
    advanced
}

/// Run a transaction of `$sender` on an execution, its workflow and the last shared invocation.
public macro fun closed_tx(
    $self: &mut Stage,
    $sender: address,
    $execution: ID,
    $f: |&mut Execution, &Dag, &mut Invocation, &Clock, &mut TxContext|,
) {
    let self = $self;
    let mut invocation = last_invocation(self);
    self.execution_tx!($sender, $execution, |execution, dag, _, _, clock, ctx| {
        $f(execution, dag, &mut invocation, clock, ctx);
    });
    test_scenario::return_shared(invocation);
}

/// Gather the region of `with_spread`, and return whether the call had an effect.
public fun gather(stage: &mut Stage, id: ID): bool {
    let mut gathered = false;
    stage.execution_tx!(LEE, id, |execution, dag, _, _, clock, ctx| {
        gathered = execution.gather(dag, 0, vector[], clock, ctx);
    });
    gathered
}

public fun refill(stage: &mut Stage, id: ID, mist: u64) {
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, ctx| execution.refill(mint(mist, ctx)));
}

public fun funds_mist(stage: &mut Stage, id: ID): u64 {
    let mut funds_mist = 0;
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, _| funds_mist = execution.funds_mist());
    funds_mist
}

/// Check that the execution has ended and has no funds.
public fun assert_ended(stage: &mut Stage, id: ID) {
    stage.execution_tx!(EVE, id, |execution, _, _, _, _, _| {
        assert!(execution.is_ended());
        assert_eq!(execution.funds_mist(), 0);
    });
}

// === Expected changes ===

/// Return a `Change` in BCS, with at most one failure.
public fun change(
    ready: vector<Run>,
    iterations: vector<Run>,
    finished_regions: vector<Instance>,
    failure: vector<u8>,
): vector<u8> {
    let mut bytes = vector[field(ready), field(iterations), field(finished_regions)].flatten();
    bytes.push_back(if (failure.is_empty()) 0 else 1);
    bytes.append(failure);
    bytes
}

/// Return an unhandled failure of a run in BCS.
public fun failure(run: Run, reason: vector<u8>): vector<u8> {
    vector[field(run), field(reason)].flatten()
}
