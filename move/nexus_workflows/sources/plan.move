/// The plan of a workflow: its vertices with their ports and edges, and the blocks around them.
///
/// Vertices, blocks and edges have the numbers that they have in the document; a port has its
/// number among the input ports of its vertex. A *path* has a number for each block around a
/// vertex, outermost first: the iteration of a region, the round of a loop.
module nexus_workflows::plan;

use std::ascii::String;

public use fun vertex_blocks as Vertex.blocks;
public use fun vertex_region as Vertex.region;
public use fun vertex_groups as Vertex.groups;
public use fun variant_edges as Variant.edges;
public use fun variant_name as Variant.name;
public use fun port_name as Port.name;
public use fun port_sources as Port.sources;
public use fun port_is_static as Port.is_static;
public use fun source_reaches as Source.reaches;
public use fun source_is_again as Source.is_again;
public use fun edge_port as Edge.port;
public use fun edge_number as Edge.number;
public use fun edge_vertex as Edge.vertex;
public use fun edge_input as Edge.input;
public use fun edge_scope as Edge.scope;
public use fun edge_keeps as Edge.keeps;
public use fun edge_zeros as Edge.zeros;
public use fun edge_rounds as Edge.rounds;
public use fun edge_element as Edge.element;
public use fun edge_left as Edge.left;
public use fun edge_is_static as Edge.is_static;
public use fun edge_place as Edge.place;
public use fun block_around as Block.around;
public use fun block_region as Block.region;
public use fun block_is_region as Block.is_region;
public use fun input_vertex as Input.vertex;
public use fun input_port as Input.port;
public use fun collect_edge as Collect.edge;
public use fun collect_sources as Collect.sources;

// === Errors ===

/// The plan goes beyond a limit: 32 ports of a vertex, 32 edges of a variant, 32 bytes of a
/// name.
const ETooLarge: u64 = 0;
/// A row of numbers is too short, or has a number that is too large.
const EWrongRow: u64 = 1;
/// The vertex has an input port of this name: add each of them once.
const EPortTwice: u64 = 2;

// === Constants ===

const MAX_PORTS: u64 = 32;
/// What one step writes is bounded by the edges of one variant, and by what may start in a
/// block.
const MAX_EDGES: u64 = 32;
const MAX_NAME_BYTES: u64 = 32;

/// In rows: nothing.
const NONE: u16 = 0xFFFF;
/// Where vertices and blocks stand together: from here on, the numbers of blocks.
const BLOCKS: u16 = 0x8000;

/// The kinds of edges that matter to where a value goes.
const NORMAL: u16 = 0;
const FOR_EACH: u16 = 1;
const DO_WHILE: u16 = 2;
const BREAK: u16 = 3;
const STATIC: u16 = 4;

// === Structs ===

/// A use of a tool.
public struct Vertex has copy, drop, store {
    /// Its number among the tools of the workflow.
    tool: u16,
    /// The blocks around it, outermost first.
    blocks: vector<u16>,
    /// Where in them the innermost region is.
    region: Option<u8>,
    /// The entry groups that begin with it.
    groups: vector<u8>,
    /// How often a run is tried in all, and how far apart.
    attempts: u8,
    retry_after_ms: u64,
    /// How many of the iterations that begin with it are under way at once.
    parallel: u16,
    /// Whether a failure that no edge handles ends the execution.
    terminates: bool,
    ports: vector<Port>,
    variants: vector<Variant>,
}

/// An input port.
public struct Port has copy, drop, store {
    name: String,
    /// Whether who begins the execution gives its value.
    is_entry: bool,
    /// Whether it has a default value.
    is_constant: bool,
    /// Whether a `static` edge leads to it.
    is_static: bool,
    /// What may bring something to one run alone: until it cannot, no other value serves.
    sources: vector<Source>,
}

/// A vertex, or from `BLOCKS` on a region, that has an edge to a port.
public struct Source has copy, drop, store {
    origin: u16,
    /// Whether it brings something to rounds after the first one (`do_while`).
    is_again: bool,
    /// Where in a path a 0 has to stand if it brings something.
    rounds: vector<u8>,
}

/// The edges of a variant, which are followed at once.
public struct Variant has copy, drop, store {
    name: String,
    edges: vector<Edge>,
}

/// The way of a value. It leads to a place: the first `keeps` numbers of the path, one more in
/// the last of them for `do_while`, and `zeros` zeros. That is the path of a run, or of an
/// instance of the block `scope`, to all runs inside which it brings the value.
public struct Edge has copy, drop, store {
    number: u16,
    /// The output port.
    port: String,
    vertex: u16,
    input: u8,
    kind: u16,
    keeps: u8,
    zeros: u8,
    scope: Option<u16>,
    /// Where in a path the number of an element of the list stands (`for_each`).
    element: Option<u8>,
    /// The region whose iterations it gathers (`collect`).
    left: Option<u16>,
    /// Where in a path a 0 has to stand so that the value serves it.
    rounds: vector<u8>,
}

/// What is repeated: for each element of a list, or round after round.
public struct Block has copy, drop, store {
    is_region: bool,
    /// The blocks around it, outermost first.
    around: vector<u16>,
    /// Where in them the innermost region is.
    region: Option<u8>,
    /// What has to be there before anything inside starts.
    needs: vector<Input>,
    /// The vertices with which each iteration of a region begins.
    cursors: vector<u16>,
    /// The vertices, and from `BLOCKS` on the blocks, that may start when a loop opens.
    starts: vector<u16>,
    /// What gets the lists of a region.
    collects: vector<Collect>,
}

/// An input port of a vertex.
public struct Input has copy, drop, store {
    vertex: u16,
    port: u8,
}

/// An edge that takes what a region gathered.
public struct Collect has copy, drop, store {
    edge: Edge,
    /// The vertices of the edges that lead there. If they are several, an iteration could bring two
    /// values.
    sources: vector<u16>,
}

// === Package functions: making ===

/// A vertex without ports and edges.
public(package) fun new_vertex(
    tool: u16,
    blocks: vector<u16>,
    region: Option<u8>,
    groups: vector<u8>,
    attempts: u8,
    retry_after_ms: u64,
    parallel: u16,
    terminates: bool,
): Vertex {
    Vertex {
        tool,
        blocks,
        region,
        groups,
        attempts,
        retry_after_ms,
        parallel,
        terminates,
        ports: vector[],
        variants: vector[],
    }
}

/// A block without what gets its lists. Aborts with `ETooLarge`.
public(package) fun new_block(
    is_region: bool,
    around: vector<u16>,
    region: Option<u8>,
    needs: vector<Input>,
    cursors: vector<u16>,
    starts: vector<u16>,
): Block {
    assert!(needs.length() <= MAX_EDGES, ETooLarge);
    assert!(cursors.length() <= MAX_EDGES && starts.length() <= MAX_EDGES, ETooLarge);
    Block { is_region, around, region, needs, cursors, starts, collects: vector[] }
}

/// A port of a vertex.
public(package) fun new_input(vertex: u16, port: u8): Input { Input { vertex, port } }

/// Adds an input port; `flags` have 1 for an entry port, 2 for a default value, 4 for a
/// `static` edge. Aborts with `ETooLarge` or `EPortTwice`.
public(package) fun add_port(self: &mut Vertex, name: String, flags: u8) {
    assert!(self.ports.length() < MAX_PORTS, ETooLarge);
    assert!(name.length() <= MAX_NAME_BYTES, ETooLarge);
    assert!(!self.ports.any!(|port| &port.name == &name), EPortTwice);
    self.ports.push_back(Port {
        name,
        is_entry: flags & 1 > 0,
        is_constant: flags & 2 > 0,
        is_static: flags & 4 > 0,
        sources: vector[],
    });
}

/// Adds a source to a port. The row has its origin, 1 for `do_while`, and the rounds. Aborts
/// with `ETooLarge` or `EWrongRow`.
public(package) fun add_source(self: &mut Vertex, port: u8, row: vector<u16>) {
    assert!((port as u64) < self.ports.length() && row.length() >= 2, EWrongRow);
    let sources = &mut self.ports[port as u64].sources;
    assert!(sources.length() < MAX_EDGES, ETooLarge);
    sources.push_back(Source { origin: row[0], is_again: row[1] == 1, rounds: bytes(&row, 2) });
}

/// Adds an edge to a variant. Aborts with `ETooLarge` or `EWrongRow`.
public(package) fun add_edge(self: &mut Vertex, variant: String, port: String, row: vector<u16>) {
    assert!(variant.length() <= MAX_NAME_BYTES, ETooLarge);
    let mut found = self.variants.find_index!(|each| &each.name == &variant);
    let at = if (found.is_some()) found.extract() else {
        assert!(self.variants.length() < MAX_EDGES, ETooLarge);
        self.variants.push_back(Variant { name: variant, edges: vector[] });
        self.variants.length() - 1
    };
    let edges = &mut self.variants[at].edges;
    assert!(edges.length() < MAX_EDGES, ETooLarge);
    edges.push_back(edge(port, row));
}

/// Adds what gets a list. Aborts with `ETooLarge` or `EWrongRow`.
public(package) fun add_collect(self: &mut Block, row: vector<u16>, sources: vector<u16>) {
    assert!(self.collects.length() < MAX_EDGES && sources.length() <= MAX_EDGES, ETooLarge);
    self.collects.push_back(Collect { edge: edge(b"".to_ascii_string(), row), sources });
}

// === Package functions: vertices ===

public(package) fun tool(self: &Vertex): u16 { self.tool }

public(package) fun vertex_blocks(self: &Vertex): &vector<u16> { &self.blocks }

public(package) fun vertex_region(self: &Vertex): Option<u8> { self.region }

/// Whether an entry group begins with it.
public(package) fun is_in_group(self: &Vertex, group: u8): bool { self.groups.contains(&group) }

/// The entry groups that begin with it.
public(package) fun vertex_groups(self: &Vertex): &vector<u8> { &self.groups }

public(package) fun attempts(self: &Vertex): u8 { self.attempts }

public(package) fun retry_after_ms(self: &Vertex): u64 { self.retry_after_ms }

public(package) fun parallel(self: &Vertex): u64 { self.parallel as u64 }

public(package) fun terminates(self: &Vertex): bool { self.terminates }

public(package) fun ports(self: &Vertex): &vector<Port> { &self.ports }

public(package) fun variants(self: &Vertex): &vector<Variant> { &self.variants }

public(package) fun variant_name(self: &Variant): String { self.name }

public(package) fun variant_edges(self: &Variant): &vector<Edge> { &self.edges }

/// The edges of a variant, if there are any.
public(package) fun edges(self: &Vertex, variant: &String): vector<Edge> {
    let found = self.variants.find_index!(|each| &each.name == variant);
    if (found.is_some()) self.variants[found.destroy_some()].edges else vector[]
}

/// The edge of this number, and the variant that has it.
public(package) fun edge_of(self: &Vertex, number: u16): (Edge, String) {
    let mut at = 0;
    loop {
        let variant = &self.variants[at];
        let found = variant.edges.find_index!(|edge| edge.number == number);
        if (found.is_some()) return (variant.edges[found.destroy_some()], variant.name);
        at = at + 1;
    }
}

/// The edges that lead to a port of a vertex.
public(package) fun edges_to(self: &Vertex, vertex: u16, input: u8): vector<Edge> {
    let mut edges = vector[];
    self.variants.do_ref!(|variant| variant.edges.do_ref!(|edge| {
        if (edge.vertex == vertex && edge.input == input) edges.push_back(*edge);
    }));
    edges
}

// === Package functions: ports ===

public(package) fun port_name(self: &Port): String { self.name }

public(package) fun is_entry(self: &Port): bool { self.is_entry }

public(package) fun is_constant(self: &Port): bool { self.is_constant }

public(package) fun port_is_static(self: &Port): bool { self.is_static }

public(package) fun port_sources(self: &Port): &vector<Source> { &self.sources }

public(package) fun origin(self: &Source): u16 { self.origin }

public(package) fun source_is_again(self: &Source): bool { self.is_again }

/// Whether the source can bring something to the run of this path.
public(package) fun source_reaches(self: &Source, path: &vector<u32>): bool {
    reaches(self.is_again, &self.rounds, path)
}

// === Package functions: edges ===

public(package) fun edge_number(self: &Edge): u16 { self.number }

public(package) fun edge_port(self: &Edge): String { self.port }

public(package) fun edge_vertex(self: &Edge): u16 { self.vertex }

public(package) fun edge_input(self: &Edge): u8 { self.input }

public(package) fun edge_scope(self: &Edge): Option<u16> { self.scope }

public(package) fun edge_keeps(self: &Edge): u64 { self.keeps as u64 }

public(package) fun edge_zeros(self: &Edge): u64 { self.zeros as u64 }

public(package) fun edge_rounds(self: &Edge): &vector<u8> { &self.rounds }

public(package) fun edge_element(self: &Edge): Option<u8> { self.element }

public(package) fun edge_left(self: &Edge): Option<u16> { self.left }

/// Whether it leads from a vertex outside all blocks to another one.
public(package) fun is_plain(self: &Edge): bool {
    self.kind == NORMAL && self.keeps == 0 && self.zeros == 0 && self.scope.is_none()
        && self.element.is_none() && self.left.is_none() && self.rounds.is_empty()
}

public(package) fun is_normal(self: &Edge): bool { self.kind == NORMAL }

public(package) fun is_for_each(self: &Edge): bool { self.kind == FOR_EACH }

public(package) fun is_again(self: &Edge): bool { self.kind == DO_WHILE }

public(package) fun is_break(self: &Edge): bool { self.kind == BREAK }

public(package) fun edge_is_static(self: &Edge): bool { self.kind == STATIC }

/// Where it leads from the run of this path.
public(package) fun edge_place(self: &Edge, path: &vector<u32>): vector<u32> {
    let mut place = vector::tabulate!(self.keeps as u64, |i| path[i]);
    if (self.is_again()) {
        let round = place.pop_back();
        place.push_back(round + 1);
    };
    (self.zeros as u64).do!(|_| place.push_back(0));
    place
}

/// From where it led to the place of this path; `round` is that of the loop that it left.
public(package) fun source_path(self: &Edge, place: &vector<u32>, round: u32): vector<u32> {
    let mut path = vector::tabulate!(self.keeps as u64, |i| place[i]);
    if (self.is_again()) {
        let next = path.pop_back();
        path.push_back(next - 1);
    } else if (self.is_break()) {
        path.push_back(round);
    };
    path
}

/// Whether a value serves the run of this path: what begins another round (`is_again`) serves
/// all rounds but the first one, all else where a 0 stands at each of the `rounds` that the
/// path has.
public(package) fun reaches(is_again: bool, rounds: &vector<u8>, path: &vector<u32>): bool {
    if (is_again) return path[path.length() - 1] > 0;
    rounds.all!(|at| (*at as u64) >= path.length() || path[*at as u64] == 0)
}

// === Package functions: blocks ===

public(package) fun block_is_region(self: &Block): bool { self.is_region }

public(package) fun block_around(self: &Block): &vector<u16> { &self.around }

public(package) fun block_region(self: &Block): Option<u8> { self.region }

public(package) fun needs(self: &Block): &vector<Input> { &self.needs }

/// Whether the block needs something at a port of a vertex.
public(package) fun has_need(self: &Block, vertex: u16, port: u8): bool {
    self.needs.contains(&new_input(vertex, port))
}

/// How many cursors a block has at most.
public(package) fun max_cursors(): u64 { MAX_EDGES }

public(package) fun cursors(self: &Block): &vector<u16> { &self.cursors }

public(package) fun starts(self: &Block): &vector<u16> { &self.starts }

public(package) fun collects(self: &Block): &vector<Collect> { &self.collects }

public(package) fun input_vertex(self: &Input): u16 { self.vertex }

public(package) fun input_port(self: &Input): u8 { self.port }

public(package) fun collect_edge(self: &Collect): &Edge { &self.edge }

/// The vertex of each edge that leads there.
public(package) fun collect_sources(self: &Collect): &vector<u16> { &self.sources }

/// The vertex of each edge by which a region gathers a list for a port.
public(package) fun gathered_from(self: &Block, vertex: u16, input: u8): &vector<u16> {
    let found = self.collects.find_index!(|each| {
        each.edge.vertex == vertex && each.edge.input == input
    });
    &self.collects[found.destroy_some()].sources
}

/// Whether a number means a block where vertices and blocks stand together; see `block_number`.
public(package) fun is_block(number: u16): bool { number >= BLOCKS }

/// The number of a block that stands among vertices.
public(package) fun block_number(number: u16): u16 { number - BLOCKS }

/// What a region's number is as the origin of what it gathered.
public(package) fun region_origin(region: u16): u16 { region + BLOCKS }

// === Private functions ===

/// The edge of a row: its number, the vertex and the number of the port that it leads to, its
/// kind, `keeps`, `zeros`, `scope`, `element`, `left`, and the rounds.
fun edge(port: String, row: vector<u16>): Edge {
    assert!(port.length() <= MAX_NAME_BYTES, ETooLarge);
    assert!(row.length() >= 9 && row[0] < BLOCKS && row[3] <= STATIC, EWrongRow);
    Edge {
        number: row[0],
        port,
        vertex: row[1],
        input: byte(row[2]),
        kind: row[3],
        keeps: byte(row[4]),
        zeros: byte(row[5]),
        scope: if (row[6] == NONE) option::none() else option::some(row[6]),
        element: if (row[7] == NONE) option::none() else option::some(byte(row[7])),
        left: if (row[8] == NONE) option::none() else option::some(row[8]),
        rounds: bytes(&row, 9),
    }
}

fun bytes(row: &vector<u16>, from: u64): vector<u8> {
    vector::tabulate!(row.length() - from, |i| byte(row[from + i]))
}

fun byte(number: u16): u8 {
    assert!(number <= 0xFF, EWrongRow);
    number as u8
}
