/// The effort of a step, which is its computation in units of about ten Move instructions.
///
/// The sender of a step is paid for its effort: see `terms::effort_mist`. Gas grows steeply with
/// the number of instructions of a transaction. So a workflow cannot be published if one of its
/// steps may exceed `max_step`.
module nexus_workflows::effort;

use nexus_workflows::plan::{Block, Edge, Vertex};

// === Constants ===

const MAX_STEP: u64 = 8_000;
/// The effort of looking up a record, and the effort of inspecting each value in the record.
const LOOKUP: u64 = 20;
const VALUE: u64 = 2;
/// The effort of inspecting a port, and the effort of inspecting each source of the port.
const PORT: u64 = 5;
const SOURCE: u64 = 2;
/// The effort of following an edge, and the effort of comparing its port with each answer port.
const EDGE: u64 = 75;
const ANSWER_PORT: u64 = 2;
/// The effort of opening a region and each of its cursors, and of starting a vertex when a loop
/// opens.
const OPEN: u64 = 62;
const START: u64 = 30;
/// The effort of requesting a run.
const REQUEST: u64 = 150;

// === Package functions: effort of operations ===

/// Return the maximum effort of a step.
public(package) fun max_step(): u64 { MAX_STEP }

/// Return the effort of looking up a record.
public(package) fun lookup(): u64 { LOOKUP }

/// Return the effort of inspecting the values in a record.
public(package) fun values(count: u64): u64 { VALUE * count }

/// Return the effort of inspecting ports.
public(package) fun ports(count: u64): u64 { PORT * count }

/// Return the effort of searching `count` sources in `origins` vertices.
public(package) fun sources(count: u64, origins: u64): u64 { (SOURCE + origins) * count }

/// Return the effort of following edges.
public(package) fun edges(count: u64): u64 { EDGE * count }

/// Return the effort of searching an answer for the ports of edges.
public(package) fun find_ports(edges: u64, ports: u64): u64 { ANSWER_PORT * edges * ports }

/// Return the effort of opening a region.
public(package) fun open(cursors: u64): u64 { OPEN * (1 + cursors) }

/// Return the effort of starting a vertex when a loop opens.
public(package) fun start(): u64 { START }

/// Return the effort of requesting a run.
public(package) fun request(): u64 { REQUEST }

// === Package functions: bounds ===

/// Return the minimum effort of following edges.
public(package) fun min_edges(edges: u64): u64 { (EDGE + LOOKUP) * edges }

/// Return the effort of following these edges, excluding the effort at the targets of the edges.
public(package) fun of_edges(edges: &vector<Edge>): u64 {
    let mut ports = vector[];
    edges.do_ref!(|edge| if (!ports.contains(&edge.port())) ports.push_back(edge.port()));
    min_edges(edges.length()) + find_ports(edges.length(), ports.length())
}

/// Return the effort of inspecting a vertex whose surrounding blocks can receive `needs` values.
public(package) fun of_vertex(vertex: &Vertex, needs: u64): u64 {
    let mut count = 0;
    vertex.ports().do_ref!(|port| count = count + port.sources().length());
    LOOKUP + PORT * vertex.ports().length() + SOURCE * count + VALUE * needs
}

/// Return the effort of checking whether a block has received all values that it needs.
public(package) fun of_needs(block: &Block): u64 {
    let needs = block.needs().length();
    needs * (LOOKUP + VALUE * needs)
}
