/// A workflow with a region that contains a loop, and a loop that contains a region. Each test
/// changes one number of this workflow.
///
///
///     0 source ──for_each──▶ [region 0: 1 ──▶ [loop 2: 2 ⟲ ] ──break──▶ 3 ] ──collect──▶ 4
///     4 ──▶ [loop 1: 5 ⟲ ──for_each──▶ [region 3: 6 ] ──collect──▶ 5 ]      0 ──static──▶ 5
#[test_only]
module nexus_workflows::dag_runner;

use nexus_tools::name::Name;
use nexus_tools::permit;
use nexus_tools::test_runner::{Self, Runner};
use nexus_tools::tool_registry::ToolRegistry;
use nexus_tools::value;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_registry::{Self, DagRegistry};
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const ADD: vector<u8> = b"xyz.example.add@1";
const FLOW: vector<u8> = b"xyz.example.flow@1";
const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;

/// The arguments of the `add_…` functions of a draft, as columns.
public struct Columns has drop {
    groups: vector<vector<u16>>,
    are_regions: vector<bool>,
    enclosing: vector<vector<u16>>,
    needs: vector<vector<u16>>,
    needed_ports: vector<vector<u8>>,
    cursors: vector<vector<u16>>,
    starts: vector<vector<u16>>,
    collect_blocks: vector<u8>,
    collect_edges: vector<vector<u16>>,
    collect_sources: vector<vector<u16>>,
    tools: vector<u16>,
    blocks: vector<vector<u16>>,
    vertex_groups: vector<vector<u8>>,
    attempts: vector<u8>,
    retry_after_ms: vector<u64>,
    parallel: vector<u16>,
    ports: vector<u8>,
    names: vector<vector<u8>>,
    flags: vector<u8>,
    source_vertices: vector<u8>,
    source_ports: vector<u8>,
    sources: vector<vector<u16>>,
    edge_vertices: vector<u8>,
    variants: vector<vector<u8>>,
    edges: vector<vector<u16>>,
    defaults: vector<u16>,
}

public fun columns(): Columns {
    Columns {
        groups: vector[vector[0]],
        are_regions: vector[true, false, false, true],
        enclosing: vector[vector[], vector[], vector[0], vector[1]],
        needs: vector[vector[1], vector[5], vector[], vector[6]],
        needed_ports: vector[vector[0], vector[1], vector[], vector[0]],
        cursors: vector[vector[1], vector[], vector[], vector[6]],
        starts: vector[vector[], vector[5, BLOCKS + 3], vector[2], vector[]],
        collect_blocks: vector[0, 3],
        collect_edges: vector[
            vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0],
            vector[9, 5, 2, 0, 1, 0, NONE, NONE, 3],
        ],
        collect_sources: vector[vector[3], vector[6]],
        tools: vector[0, 0, 0, 0, 0, 0, 0],
        blocks: vector[
            vector[],
            vector[0],
            vector[0, 2],
            vector[0],
            vector[],
            vector[1],
            vector[1, 3],
        ],
        vertex_groups: vector[vector[0], vector[], vector[], vector[], vector[], vector[], vector[]],
        attempts: vector[1, 1, 3, 1, 1, 1, 1],
        retry_after_ms: vector[0, 0, 5_000, 0, 0, 0, 0],
        parallel: vector[32, 8, 32, 32, 32, 32, 32],
        ports: vector[0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 4],
        names: vector[
            b"in", b"in", b"in", b"in", b"in", b"by", b"in", b"kept", b"list", b"in", b"more",
        ],
        flags: vector[1, 0, 0, 0, 0, 2, 1, 4, 0, 0, 0],
        source_vertices: vector[5, 5],
        source_ports: vector[0, 0],
        sources: vector[vector[4, 0, 0], vector[5, 1]],
        edge_vertices: vector[0, 1, 2, 2, 3, 4, 0, 5, 5, 0, 6],
        variants: vector[
            b"ok", b"ok", b"poor", b"good", b"ok", b"ok", b"ok", b"ok", b"poor", b"ok", b"ok",
        ],
        edges: vector[
            vector[0, 1, 0, 1, 0, 0, 0, 0, NONE],
            vector[1, 2, 0, 0, 1, 1, NONE, NONE, NONE, 1],
            vector[2, 2, 0, 2, 2, 0, NONE, NONE, NONE],
            vector[3, 3, 0, 3, 1, 0, NONE, NONE, NONE],
            vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0],
            vector[5, 5, 0, 0, 0, 1, NONE, NONE, NONE, 0],
            vector[6, 5, 1, 4, 0, 0, 1, NONE, NONE, 0],
            vector[7, 6, 0, 1, 1, 0, 3, 1, NONE],
            vector[8, 5, 0, 2, 1, 0, NONE, NONE, NONE],
            vector[10, 4, 2, 0, 0, 0, NONE, NONE, NONE],
            vector[9, 5, 2, 0, 1, 0, NONE, NONE, 3],
        ],
        defaults: vector[4],
    }
}

// === Columns ===

public fun groups(self: &mut Columns): &mut vector<vector<u16>> { &mut self.groups }

public fun are_regions(self: &mut Columns): &mut vector<bool> { &mut self.are_regions }

public fun enclosing(self: &mut Columns): &mut vector<vector<u16>> { &mut self.enclosing }

public fun needs(self: &mut Columns): &mut vector<vector<u16>> { &mut self.needs }

public fun needed_ports(self: &mut Columns): &mut vector<vector<u8>> { &mut self.needed_ports }

public fun cursors(self: &mut Columns): &mut vector<vector<u16>> { &mut self.cursors }

public fun starts(self: &mut Columns): &mut vector<vector<u16>> { &mut self.starts }

public fun collect_blocks(self: &mut Columns): &mut vector<u8> { &mut self.collect_blocks }

public fun collect_edges(self: &mut Columns): &mut vector<vector<u16>> { &mut self.collect_edges }

public fun collect_sources(self: &mut Columns): &mut vector<vector<u16>> {
    &mut self.collect_sources
}

public fun tools(self: &mut Columns): &mut vector<u16> { &mut self.tools }

public fun blocks(self: &mut Columns): &mut vector<vector<u16>> { &mut self.blocks }

public fun vertex_groups(self: &mut Columns): &mut vector<vector<u8>> { &mut self.vertex_groups }

public fun attempts(self: &mut Columns): &mut vector<u8> { &mut self.attempts }

public fun retry_after_ms(self: &mut Columns): &mut vector<u64> { &mut self.retry_after_ms }

public fun parallel(self: &mut Columns): &mut vector<u16> { &mut self.parallel }

public fun ports(self: &mut Columns): &mut vector<u8> { &mut self.ports }

public fun names(self: &mut Columns): &mut vector<vector<u8>> { &mut self.names }

public fun flags(self: &mut Columns): &mut vector<u8> { &mut self.flags }

public fun source_vertices(self: &mut Columns): &mut vector<u8> { &mut self.source_vertices }

public fun source_ports(self: &mut Columns): &mut vector<u8> { &mut self.source_ports }

public fun sources(self: &mut Columns): &mut vector<vector<u16>> { &mut self.sources }

public fun edge_vertices(self: &mut Columns): &mut vector<u8> { &mut self.edge_vertices }

public fun variants(self: &mut Columns): &mut vector<vector<u8>> { &mut self.variants }

public fun edges(self: &mut Columns): &mut vector<vector<u16>> { &mut self.edges }

public fun defaults(self: &mut Columns): &mut vector<u16> { &mut self.defaults }

// === Additional rows ===

/// Add an edge from a vertex.
public fun add_edge(self: &mut Columns, from: u8, variant: vector<u8>, row: vector<u16>) {
    self.edge_vertices.push_back(from);
    self.variants.push_back(variant);
    self.edges.push_back(row);
}

/// Add an input port of a vertex.
public fun add_port(self: &mut Columns, vertex: u8, name: vector<u8>, flags: u8) {
    self.ports.push_back(vertex);
    self.names.push_back(name);
    self.flags.push_back(flags);
}

/// Add a list that a region gathers.
public fun add_list(self: &mut Columns, block: u8, row: vector<u16>, sources: vector<u16>) {
    self.collect_blocks.push_back(block);
    self.collect_edges.push_back(row);
    self.collect_sources.push_back(sources);
}

// === Drafts ===

public fun start(): Runner {
    let mut runner = test_runner::start();
    create_registry(&mut runner);
    runner.register(ALICE, ADD, 0, vector[]);
    runner
}

/// Create the registry of workflows.
public fun create_registry(runner: &mut Runner) {
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| {
        dag_registry::create(permit::grant(admin, ctx), ctx);
    });
}

/// Run a transaction of `$sender` on the registries of workflows and of tools.
public macro fun dag_tx(
    $runner: &mut Runner,
    $sender: address,
    $f: |&mut DagRegistry, &mut ToolRegistry, &mut TxContext|,
) {
    let runner = $runner;
    let scenario = runner.next_tx($sender);
    let mut dags = scenario.take_shared<DagRegistry>();
    let mut tools = scenario.take_shared<ToolRegistry>();
    $f(&mut dags, &mut tools, scenario.ctx());
    test_scenario::return_shared(tools);
    test_scenario::return_shared(dags);
}

public fun draft(
    dags: &mut DagRegistry,
    tools: &mut ToolRegistry,
    ctx: &mut TxContext,
): (Dag, Name) {
    let fqn = FLOW.to_ascii_string();
    let named = vector[ADD.to_ascii_string()];
    dag::draft(dags, tools, fqn, b"Adds.".to_string(), b"digest", named, ctx)
}

public fun draft_version(
    dags: &mut DagRegistry,
    tools: &ToolRegistry,
    name: &Name,
    fqn: vector<u8>,
    named: vector<vector<u8>>,
    ctx: &mut TxContext,
): Dag {
    let named = named.map!(|each| each.to_ascii_string());
    dag::draft_version(dags, tools, name, fqn.to_ascii_string(), b"".to_string(), b"", named, ctx)
}

/// Run a transaction that writes a draft.
public macro fun with_draft($f: |&mut Dag|) {
    let mut runner = start();
    dag_tx!(&mut runner, @0xA, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        $f(&mut dag);
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

/// Run a transaction that reads the workflow that `columns` describes.
public macro fun with_dag($f: |&Dag|) {
    with_draft!(|dag| {
        columns().write(dag);
        $f(dag);
    });
}

public fun publish(self: Columns) { self.is_published(); }

/// Try to publish the workflow that the columns describe, and return whether this succeeded.
public fun is_published(self: Columns): bool {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        self.write(&mut dag);
        dag.check_page(0);
        dag.check_page(1);
        dag.publish(ctx);
        name.share();
    });
    runner.next_tx(ALICE);
    let is_there = test_scenario::has_most_recent_immutable<Dag>();
    runner.end();
    is_there
}

public fun publish_with(edge: u64, place: u64, value: u16) {
    let mut columns = columns();
    *&mut columns.edges[edge][place] = value;
    columns.publish();
}

public fun write(self: &Columns, dag: &mut Dag) {
    self.groups.do_ref!(|vertices| dag.add_group(b"group".to_ascii_string(), *vertices));
    self.defaults.do_ref!(|vertex| {
        dag.add_defaults(
            *vertex,
            value::ports(vector[b"by".to_ascii_string()], vector[value::inline(b"7")]),
        );
    });
    dag.add_blocks(
        self.are_regions,
        self.enclosing,
        self.needs,
        self.needed_ports,
        self.cursors,
        self.starts,
    );
    dag.add_vertices(
        self.tools,
        self.blocks,
        self.vertex_groups,
        self.attempts,
        self.retry_after_ms,
        self.parallel,
        self.tools.map_ref!(|_| true),
    );
    dag.add_collect_edges(0, self.collect_blocks, self.collect_edges, self.collect_sources);
    dag.add_ports(0, self.ports, self.names.map!(|each| each.to_ascii_string()), self.flags);
    dag.add_sources(0, self.source_vertices, self.source_ports, self.sources);
    let outputs = self.edges.map_ref!(|_| b"out".to_ascii_string());
    dag.add_edges(
        0,
        self.edge_vertices,
        self.variants.map!(|each| each.to_ascii_string()),
        outputs,
        self.edges,
    );
}

public fun add_vertices(dag: &mut Dag, n: u64) {
    dag.add_vertices(
        vector::tabulate!(n, |_| 0),
        vector::tabulate!(n, |_| vector[]),
        vector::tabulate!(n, |_| vector[]),
        vector::tabulate!(n, |_| 1),
        vector::tabulate!(n, |_| 0),
        vector::tabulate!(n, |_| 1),
        vector::tabulate!(n, |_| false),
    );
}

public fun add_blocks(dag: &mut Dag, n: u64) {
    let none = vector::tabulate!(n, |_| vector[]);
    let ports = vector::tabulate!(n, |_| vector[]);
    dag.add_blocks(vector::tabulate!(n, |_| false), none, none, ports, none, none);
}
