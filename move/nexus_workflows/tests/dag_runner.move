/// One workflow with a region, a loop inside it, and a loop with a region inside: each test changes
/// one number of it.
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

/// What is given to `add_…`, in columns.
public struct Columns has drop {
    groups: vector<vector<u16>>,
    are_regions: vector<bool>,
    around: vector<vector<u16>>,
    needs: vector<vector<u16>>,
    needed_ports: vector<vector<u8>>,
    cursors: vector<vector<u16>>,
    starts: vector<vector<u16>>,
    collecting: vector<u8>,
    collects: vector<vector<u16>>,
    collected: vector<vector<u16>>,
    tools: vector<u16>,
    blocks: vector<vector<u16>>,
    beginning: vector<vector<u8>>,
    attempts: vector<u8>,
    retry_after_ms: vector<u64>,
    parallel: vector<u16>,
    ports: vector<u8>,
    names: vector<vector<u8>>,
    flags: vector<u8>,
    fed: vector<u8>,
    fed_ports: vector<u8>,
    sources: vector<vector<u16>>,
    leading: vector<u8>,
    variants: vector<vector<u8>>,
    edges: vector<vector<u16>>,
    defaults: vector<u16>,
}

public fun columns(): Columns {
    Columns {
        groups: vector[vector[0]],
        are_regions: vector[true, false, false, true],
        around: vector[vector[], vector[], vector[0], vector[1]],
        needs: vector[vector[1], vector[5], vector[], vector[6]],
        needed_ports: vector[vector[0], vector[1], vector[], vector[0]],
        cursors: vector[vector[1], vector[], vector[], vector[6]],
        starts: vector[vector[], vector[5, BLOCKS + 3], vector[2], vector[]],
        collecting: vector[0, 3],
        collects: vector[
            vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0],
            vector[9, 5, 2, 0, 1, 0, NONE, NONE, 3],
        ],
        collected: vector[vector[3], vector[6]],
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
        beginning: vector[vector[0], vector[], vector[], vector[], vector[], vector[], vector[]],
        attempts: vector[1, 1, 3, 1, 1, 1, 1],
        retry_after_ms: vector[0, 0, 5_000, 0, 0, 0, 0],
        parallel: vector[32, 8, 32, 32, 32, 32, 32],
        ports: vector[0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 4],
        names: vector[
            b"in", b"in", b"in", b"in", b"in", b"by", b"in", b"kept", b"list", b"in", b"more",
        ],
        flags: vector[1, 0, 0, 0, 0, 2, 1, 4, 0, 0, 0],
        fed: vector[5, 5],
        fed_ports: vector[0, 0],
        sources: vector[vector[4, 0, 0], vector[5, 1]],
        leading: vector[0, 1, 2, 2, 3, 4, 0, 5, 5, 0, 6],
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

public fun around(self: &mut Columns): &mut vector<vector<u16>> { &mut self.around }

public fun needs(self: &mut Columns): &mut vector<vector<u16>> { &mut self.needs }

public fun needed_ports(self: &mut Columns): &mut vector<vector<u8>> { &mut self.needed_ports }

public fun cursors(self: &mut Columns): &mut vector<vector<u16>> { &mut self.cursors }

public fun starts(self: &mut Columns): &mut vector<vector<u16>> { &mut self.starts }

public fun collecting(self: &mut Columns): &mut vector<u8> { &mut self.collecting }

public fun collects(self: &mut Columns): &mut vector<vector<u16>> { &mut self.collects }

public fun collected(self: &mut Columns): &mut vector<vector<u16>> { &mut self.collected }

public fun tools(self: &mut Columns): &mut vector<u16> { &mut self.tools }

public fun blocks(self: &mut Columns): &mut vector<vector<u16>> { &mut self.blocks }

public fun beginning(self: &mut Columns): &mut vector<vector<u8>> { &mut self.beginning }

public fun attempts(self: &mut Columns): &mut vector<u8> { &mut self.attempts }

public fun retry_after_ms(self: &mut Columns): &mut vector<u64> { &mut self.retry_after_ms }

public fun parallel(self: &mut Columns): &mut vector<u16> { &mut self.parallel }

public fun ports(self: &mut Columns): &mut vector<u8> { &mut self.ports }

public fun names(self: &mut Columns): &mut vector<vector<u8>> { &mut self.names }

public fun flags(self: &mut Columns): &mut vector<u8> { &mut self.flags }

public fun fed(self: &mut Columns): &mut vector<u8> { &mut self.fed }

public fun fed_ports(self: &mut Columns): &mut vector<u8> { &mut self.fed_ports }

public fun sources(self: &mut Columns): &mut vector<vector<u16>> { &mut self.sources }

public fun leading(self: &mut Columns): &mut vector<u8> { &mut self.leading }

public fun variants(self: &mut Columns): &mut vector<vector<u8>> { &mut self.variants }

public fun edges(self: &mut Columns): &mut vector<vector<u16>> { &mut self.edges }

public fun defaults(self: &mut Columns): &mut vector<u16> { &mut self.defaults }

// === More of them ===

/// One more edge from a vertex.
public fun lead(self: &mut Columns, from: u8, variant: vector<u8>, row: vector<u16>) {
    self.leading.push_back(from);
    self.variants.push_back(variant);
    self.edges.push_back(row);
}

/// One more input port of a vertex.
public fun port(self: &mut Columns, vertex: u8, name: vector<u8>, flags: u8) {
    self.ports.push_back(vertex);
    self.names.push_back(name);
    self.flags.push_back(flags);
}

/// One more list of a region.
public fun collect(self: &mut Columns, block: u8, row: vector<u16>, sources: vector<u16>) {
    self.collecting.push_back(block);
    self.collects.push_back(row);
    self.collected.push_back(sources);
}

// === Writing ===

public fun start(): Runner {
    let mut runner = test_runner::start();
    create_registry(&mut runner);
    runner.register(ALICE, ADD, 0, vector[]);
    runner
}

/// The registry of workflows.
public fun create_registry(runner: &mut Runner) {
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| {
        dag_registry::create(permit::grant(admin, ctx), ctx);
    });
}

/// A transaction of `$sender` on the registries of workflows and of tools.
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

public fun draft(dags: &mut DagRegistry, tools: &mut ToolRegistry, ctx: &mut TxContext): (Dag, Name) {
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

/// A transaction that writes a workflow.
public macro fun with_draft($f: |&mut Dag|) {
    let mut runner = start();
    dag_tx!(&mut runner, @0xA, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        $f(&mut dag);
        dag.keep(ctx);
        name.share();
    });
    runner.end();
}

/// A look at what the columns make.
public macro fun with_dag($f: |&Dag|) {
    with_draft!(|dag| {
        columns().write(dag);
        $f(dag);
    });
}

public fun publish(self: Columns) { self.is_published(); }

/// Whether everybody can read what the columns make, once they are checked.
public fun is_published(self: Columns): bool {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        self.write(&mut dag);
        dag.check(0);
        dag.check(1);
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
        self.around,
        self.needs,
        self.needed_ports,
        self.cursors,
        self.starts,
    );
    dag.add_vertices(
        self.tools,
        self.blocks,
        self.beginning,
        self.attempts,
        self.retry_after_ms,
        self.parallel,
        self.tools.map_ref!(|_| true),
    );
    dag.add_collects(0, self.collecting, self.collects, self.collected);
    dag.add_ports(0, self.ports, self.names.map!(|each| each.to_ascii_string()), self.flags);
    dag.add_sources(0, self.fed, self.fed_ports, self.sources);
    let outputs = self.edges.map_ref!(|_| b"out".to_ascii_string());
    dag.add_edges(
        0,
        self.leading,
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
