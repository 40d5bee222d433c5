/// The plan of a workflow: its vertices with their ports and edges, and its blocks.
///
/// Vertices, blocks and edges have the same numbers as in the document. The number of a port is its
/// index among the input ports of its vertex. A *path* has a number for each block around a vertex,
/// outermost first. The number is the iteration of a region, or the round of a loop.
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
public use fun source_is_do_while as Source.is_do_while;
public use fun edge_port as Edge.port;
public use fun edge_number as Edge.number;
public use fun edge_vertex as Edge.vertex;
public use fun edge_input as Edge.input;
public use fun edge_scope as Edge.scope;
public use fun edge_prefix_length as Edge.prefix_length;
public use fun edge_zeros as Edge.zeros;
public use fun edge_rounds as Edge.rounds;
public use fun edge_element as Edge.element;
public use fun edge_left_region as Edge.left_region;
public use fun edge_is_static as Edge.is_static;
public use fun edge_target_path as Edge.target_path;
public use fun block_enclosing as Block.enclosing;
public use fun block_region as Block.region;
public use fun block_is_region as Block.is_region;
public use fun input_vertex as Input.vertex;
public use fun input_port as Input.port;
public use fun collect_edge as CollectEdge.edge;
public use fun collect_sources as CollectEdge.sources;

// === Errors ===

/// The plan exceeds a limit: 32 ports per vertex, 32 edges per variant, or 32 bytes per name.
const EPlanTooLarge: u64 = 0;
/// A row of numbers is too short, or has a number that is too large.
const EInvalidRow: u64 = 1;
/// The vertex already has an input port with this name: add each port once.
const EDuplicatePort: u64 = 2;

// === Constants ===

const MAX_PORTS: u64 = 32;
/// The maximum number of edges of a variant, and of starts in a block. The limit bounds the bytes
/// that one step writes.
const MAX_EDGES: u64 = 32;
const MAX_NAME_BYTES: u64 = 32;

/// The number that means "none" in a row.
const NONE: u16 = 0xFFFF;
/// The number of the first block in fields that hold either a vertex or a block.
const BLOCKS: u16 = 0x8000;

/// The numbers of the edge kinds that affect the target of a value.
const NORMAL: u16 = 0;
const FOR_EACH: u16 = 1;
const DO_WHILE: u16 = 2;
const BREAK: u16 = 3;
const STATIC: u16 = 4;

// === Structs ===

/// A use of a tool.
public struct Vertex has copy, drop, store {
    /// The number of the vertex's tool in the workflow.
    tool: u16,
    /// The enclosing blocks, outermost first.
    blocks: vector<u16>,
    /// The index of the innermost region in `blocks`.
    region: Option<u8>,
    /// The entry groups that start with the vertex.
    groups: vector<u8>,
    /// The maximum number of attempts of a run, and the delay between them.
    attempts: u8,
    retry_after_ms: u64,
    /// The maximum number of iterations in flight that start with the vertex.
    parallel: u16,
    /// Whether an unhandled failure ends the execution.
    terminates: bool,
    ports: vector<Port>,
    variants: vector<Variant>,
}

/// An input port.
public struct Port has copy, drop, store {
    name: String,
    /// Whether the owner of an execution sets the port's value at the start.
    is_entry: bool,
    /// Whether the port has a default value.
    has_default: bool,
    /// Whether a `static` edge leads to the port.
    is_static: bool,
    /// The sources that may deliver a value to a single run. While one of these sources may still
    /// deliver a value, the run does not use a static, entry or default value.
    sources: vector<Source>,
}

/// The source of an edge to a port. `origin` is the number of a vertex, or `BLOCKS` plus the number
/// of a region.
public struct Source has copy, drop, store {
    origin: u16,
    /// Whether the source delivers only to rounds after the first round (`do_while`).
    is_do_while: bool,
    /// The positions in a path at which a run must have a 0 to receive a value.
    rounds: vector<u8>,
}

/// A variant and its edges. One step follows all edges of a variant.
public struct Variant has copy, drop, store {
    name: String,
    edges: vector<Edge>,
}

/// The route of a value. The target path consists of the first `prefix_length` numbers of the
/// source path, followed by `zeros` zeros. For `do_while`, the last number of the prefix is
/// incremented. Without a `scope`, the target is the run at the target path. With a `scope`, the
/// target is the instance of this block at the target path, and all runs inside receive the value.
public struct Edge has copy, drop, store {
    number: u16,
    /// The output port from which the edge leads.
    port: String,
    vertex: u16,
    input: u8,
    kind: u16,
    prefix_length: u8,
    zeros: u8,
    scope: Option<u16>,
    /// The position in a path of the number that selects an element of a list (`for_each`).
    element: Option<u8>,
    /// The region whose iterations the edge gathers (`collect`).
    left_region: Option<u16>,
    /// The positions in a path at which a run must have a 0 to receive the value.
    rounds: vector<u8>,
}

/// A repeated part of a workflow, which is a region or a loop. A region has an iteration for each
/// element of a list.
public struct Block has copy, drop, store {
    is_region: bool,
    /// The enclosing blocks, outermost first.
    enclosing: vector<u16>,
    /// The index of the innermost region in `enclosing`.
    region: Option<u8>,
    /// The values that must exist before any run inside starts.
    needs: vector<Input>,
    /// The vertices with which each iteration of a region starts.
    cursors: vector<u16>,
    /// The vertices and blocks that may start when a loop opens. A number that is `BLOCKS` or more
    /// represents a block.
    starts: vector<u16>,
    /// The edges that carry the lists of a region.
    collect_edges: vector<CollectEdge>,
}

/// An input port of a vertex.
public struct Input has copy, drop, store {
    vertex: u16,
    port: u8,
}

/// An edge that carries a list of a region.
public struct CollectEdge has copy, drop, store {
    edge: Edge,
    /// The source vertices of the edges that lead to the list. If the list has several sources, one
    /// iteration could deliver two values.
    sources: vector<u16>,
}

// === Package functions: construction ===

/// Return a vertex without ports and edges.
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

/// Return a block without collect edges. Aborts with `EPlanTooLarge`.
public(package) fun new_block(
    is_region: bool,
    enclosing: vector<u16>,
    region: Option<u8>,
    needs: vector<Input>,
    cursors: vector<u16>,
    starts: vector<u16>,
): Block {
    assert!(needs.length() <= MAX_EDGES, EPlanTooLarge);
    assert!(cursors.length() <= MAX_EDGES && starts.length() <= MAX_EDGES, EPlanTooLarge);
    Block { is_region, enclosing, region, needs, cursors, starts, collect_edges: vector[] }
}

/// Return a port of a vertex.
public(package) fun new_input(vertex: u16, port: u8): Input { Input { vertex, port } }

/// Add an input port. `flags` are a sum of 1 for an entry port, 2 for a default value and 4 for a
/// `static` edge. Aborts with `EPlanTooLarge` or `EDuplicatePort`.
public(package) fun add_port(self: &mut Vertex, name: String, flags: u8) {
    assert!(self.ports.length() < MAX_PORTS, EPlanTooLarge);
    assert!(name.length() <= MAX_NAME_BYTES, EPlanTooLarge);
    assert!(!self.ports.any!(|port| &port.name == &name), EDuplicatePort);
    self.ports.push_back(Port {
        name,
        is_entry: flags & 1 > 0,
        has_default: flags & 2 > 0,
        is_static: flags & 4 > 0,
        sources: vector[],
    });
}

/// Add a source to a port. The row contains the origin, then 1 for `do_while` and 0 otherwise, then
/// the rounds. Aborts with `EPlanTooLarge` or `EInvalidRow`.
public(package) fun add_source(self: &mut Vertex, port: u8, row: vector<u16>) {
    assert!((port as u64) < self.ports.length() && row.length() >= 2, EInvalidRow);
    let sources = &mut self.ports[port as u64].sources;
    assert!(sources.length() < MAX_EDGES, EPlanTooLarge);
    sources.push_back(Source { origin: row[0], is_do_while: row[1] == 1, rounds: bytes(&row, 2) });
}

/// Add an edge to a variant. Aborts with `EPlanTooLarge` or `EInvalidRow`.
public(package) fun add_edge(self: &mut Vertex, variant: String, port: String, row: vector<u16>) {
    assert!(variant.length() <= MAX_NAME_BYTES, EPlanTooLarge);
    let mut found = self.variants.find_index!(|other| &other.name == &variant);
    let at = if (found.is_some()) found.extract() else {
        assert!(self.variants.length() < MAX_EDGES, EPlanTooLarge);
        self.variants.push_back(Variant { name: variant, edges: vector[] });
        self.variants.length() - 1
    };
    let edges = &mut self.variants[at].edges;
    assert!(edges.length() < MAX_EDGES, EPlanTooLarge);
    edges.push_back(edge(port, row));
}

/// Add an edge that carries a list. Aborts with `EPlanTooLarge` or `EInvalidRow`.
public(package) fun add_collect_edge(self: &mut Block, row: vector<u16>, sources: vector<u16>) {
    assert!(
        self.collect_edges.length() < MAX_EDGES && sources.length() <= MAX_EDGES,
        EPlanTooLarge,
    );
    self.collect_edges.push_back(CollectEdge { edge: edge(b"".to_ascii_string(), row), sources });
}

// === Package functions: vertices ===

public(package) fun tool(self: &Vertex): u16 { self.tool }

public(package) fun vertex_blocks(self: &Vertex): &vector<u16> { &self.blocks }

public(package) fun vertex_region(self: &Vertex): Option<u8> { self.region }

/// Return whether an entry group starts with the vertex.
public(package) fun is_in_group(self: &Vertex, group: u8): bool { self.groups.contains(&group) }

/// Return the entry groups that start with the vertex.
public(package) fun vertex_groups(self: &Vertex): &vector<u8> { &self.groups }

public(package) fun attempts(self: &Vertex): u8 { self.attempts }

public(package) fun retry_after_ms(self: &Vertex): u64 { self.retry_after_ms }

public(package) fun parallel(self: &Vertex): u64 { self.parallel as u64 }

public(package) fun terminates(self: &Vertex): bool { self.terminates }

public(package) fun ports(self: &Vertex): &vector<Port> { &self.ports }

public(package) fun variants(self: &Vertex): &vector<Variant> { &self.variants }

public(package) fun variant_name(self: &Variant): String { self.name }

public(package) fun variant_edges(self: &Variant): &vector<Edge> { &self.edges }

/// Return the edges of a variant, or an empty vector.
public(package) fun edges(self: &Vertex, variant: &String): vector<Edge> {
    let found = self.variants.find_index!(|other| &other.name == variant);
    if (found.is_some()) self.variants[found.destroy_some()].edges else vector[]
}

/// Return the edge with this number, and the name of its variant.
public(package) fun edge_of(self: &Vertex, number: u16): (Edge, String) {
    let mut at = 0;
    loop {
        let variant = &self.variants[at];
        let found = variant.edges.find_index!(|edge| edge.number == number);
        if (found.is_some()) return (variant.edges[found.destroy_some()], variant.name);
        at = at + 1;
    }
}

/// Return the edges that lead to a port of a vertex.
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

public(package) fun has_default(self: &Port): bool { self.has_default }

public(package) fun port_is_static(self: &Port): bool { self.is_static }

public(package) fun port_sources(self: &Port): &vector<Source> { &self.sources }

public(package) fun origin(self: &Source): u16 { self.origin }

public(package) fun source_is_do_while(self: &Source): bool { self.is_do_while }

/// Return whether the source can deliver a value to the run with this path.
public(package) fun source_reaches(self: &Source, path: &vector<u32>): bool {
    reaches(self.is_do_while, &self.rounds, path)
}

// === Package functions: edges ===

public(package) fun edge_number(self: &Edge): u16 { self.number }

public(package) fun edge_port(self: &Edge): String { self.port }

public(package) fun edge_vertex(self: &Edge): u16 { self.vertex }

public(package) fun edge_input(self: &Edge): u8 { self.input }

public(package) fun edge_scope(self: &Edge): Option<u16> { self.scope }

public(package) fun edge_prefix_length(self: &Edge): u64 { self.prefix_length as u64 }

public(package) fun edge_zeros(self: &Edge): u64 { self.zeros as u64 }

public(package) fun edge_rounds(self: &Edge): &vector<u8> { &self.rounds }

public(package) fun edge_element(self: &Edge): Option<u8> { self.element }

public(package) fun edge_left_region(self: &Edge): Option<u16> { self.left_region }

/// Return whether the edge leads from a vertex outside all blocks to a vertex outside all blocks.
public(package) fun is_plain(self: &Edge): bool {
    self.kind == NORMAL && self.prefix_length == 0 && self.zeros == 0 && self.scope.is_none()
        && self.element.is_none() && self.left_region.is_none() && self.rounds.is_empty()
}

public(package) fun is_normal(self: &Edge): bool { self.kind == NORMAL }

public(package) fun is_for_each(self: &Edge): bool { self.kind == FOR_EACH }

public(package) fun is_do_while(self: &Edge): bool { self.kind == DO_WHILE }

public(package) fun is_break(self: &Edge): bool { self.kind == BREAK }

public(package) fun edge_is_static(self: &Edge): bool { self.kind == STATIC }

/// Return the target path of the edge for the path of a source run.
public(package) fun edge_target_path(self: &Edge, path: &vector<u32>): vector<u32> {
    let mut place = vector::tabulate!(self.prefix_length as u64, |i| path[i]);
    if (self.is_do_while()) {
        let round = place.pop_back();
        place.push_back(round + 1);
    };
    (self.zeros as u64).do!(|_| place.push_back(0));
    place
}

/// Return the path of the source run, given the target path. `round` is the round of the loop that
/// the value left.
public(package) fun source_path(self: &Edge, place: &vector<u32>, round: u32): vector<u32> {
    let mut path = vector::tabulate!(self.prefix_length as u64, |i| place[i]);
    if (self.is_do_while()) {
        let next = path.pop_back();
        path.push_back(next - 1);
    } else if (self.is_break()) {
        path.push_back(round);
    };
    path
}

/// Return whether the run at this path receives a value.
///
/// All rounds except the first receive the value of a `do_while` edge. For any other value, the
/// path must have a 0 at each position in `rounds` that the path contains.
public(package) fun reaches(is_do_while: bool, rounds: &vector<u8>, path: &vector<u32>): bool {
    if (is_do_while) return path[path.length() - 1] > 0;
    rounds.all!(|at| (*at as u64) >= path.length() || path[*at as u64] == 0)
}

// === Package functions: blocks ===

public(package) fun block_is_region(self: &Block): bool { self.is_region }

public(package) fun block_enclosing(self: &Block): &vector<u16> { &self.enclosing }

public(package) fun block_region(self: &Block): Option<u8> { self.region }

public(package) fun needs(self: &Block): &vector<Input> { &self.needs }

/// Return whether the block needs a value at a port of a vertex.
public(package) fun has_need(self: &Block, vertex: u16, port: u8): bool {
    self.needs.contains(&new_input(vertex, port))
}

/// Return the maximum number of cursors of a block.
public(package) fun max_cursors(): u64 { MAX_EDGES }

public(package) fun cursors(self: &Block): &vector<u16> { &self.cursors }

public(package) fun starts(self: &Block): &vector<u16> { &self.starts }

public(package) fun collect_edges(self: &Block): &vector<CollectEdge> { &self.collect_edges }

public(package) fun input_vertex(self: &Input): u16 { self.vertex }

public(package) fun input_port(self: &Input): u8 { self.port }

public(package) fun collect_edge(self: &CollectEdge): &Edge { &self.edge }

/// Return the source vertex of each edge that leads to the list.
public(package) fun collect_sources(self: &CollectEdge): &vector<u16> { &self.sources }

/// Return the source vertex of each edge through which a region gathers a list for a port.
public(package) fun gathered_from(self: &Block, vertex: u16, input: u8): &vector<u16> {
    let found = self.collect_edges.find_index!(|collect| {
        collect.edge.vertex == vertex && collect.edge.input == input
    });
    &self.collect_edges[found.destroy_some()].sources
}

/// Return whether a number that can represent a vertex or a block represents a block.
public(package) fun is_block(number: u16): bool { number >= BLOCKS }

/// Return the number of a block, given a number that `is_block` accepts.
public(package) fun block_number(number: u16): u16 { number - BLOCKS }

/// Return the number that represents a region as the origin of a gathered list.
public(package) fun region_origin(region: u16): u16 { region + BLOCKS }

// === Private functions ===

/// Return the edge that a row describes.
///
/// A row contains the number of the edge, the vertex and port number of its target, its kind,
/// `prefix_length`, `zeros`, `scope`, `element`, `left_region`, and the rounds.
fun edge(port: String, row: vector<u16>): Edge {
    assert!(port.length() <= MAX_NAME_BYTES, EPlanTooLarge);
    assert!(row.length() >= 9 && row[0] < BLOCKS && row[3] <= STATIC, EInvalidRow);
    Edge {
        number: row[0],
        port,
        vertex: row[1],
        input: byte(row[2]),
        kind: row[3],
        prefix_length: byte(row[4]),
        zeros: byte(row[5]),
        scope: if (row[6] == NONE) option::none() else option::some(row[6]),
        element: if (row[7] == NONE) option::none() else option::some(byte(row[7])),
        left_region: if (row[8] == NONE) option::none() else option::some(row[8]),
        rounds: bytes(&row, 9),
    }
}

fun bytes(row: &vector<u16>, from: u64): vector<u8> {
    vector::tabulate!(row.length() - from, |i| byte(row[from + i]))
}

fun byte(number: u16): u8 {
    assert!(number <= 0xFF, EInvalidRow);
    number as u8
}
