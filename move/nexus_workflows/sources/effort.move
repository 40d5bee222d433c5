/// What the steps of an execution do, about in tens of Move instructions.
///
/// The sender of a step is paid for its effort, by `terms::worked_mist`. Gas grows steeply with the
/// instructions of a transaction: so a workflow whose steps could take more than `most` is not
/// published.
module nexus_workflows::effort;

use nexus_workflows::plan::{Block, Edge, Vertex};

// === Constants ===

const MOST: u64 = 8_000;
/// Looking for a record, and at what was brought to it.
const LOOK: u64 = 20;
const BROUGHT: u64 = 2;
/// Looking at a port, and at a source of that.
const PORT: u64 = 5;
const SOURCE: u64 = 2;
/// Following an edge, and finding its port among those of an answer.
const EDGE: u64 = 75;
const ANSWER_PORT: u64 = 2;
/// Opening a region, and each of its cursors; starting a vertex of a loop that opens.
const OPEN: u64 = 60;
const START: u64 = 30;
/// Requesting a run.
const REQUEST: u64 = 150;

// === Package functions: what is done ===

/// The most that a step may take.
public(package) fun most(): u64 { MOST }

/// Looking for a record.
public(package) fun look(): u64 { LOOK }

/// Looking at so many values that were brought to a record.
public(package) fun brought(count: u64): u64 { BROUGHT * count }

/// Looking at so many ports.
public(package) fun ports(count: u64): u64 { PORT * count }

/// Looking at so many sources of ports, for each at so many vertices.
public(package) fun sources(count: u64, origins: u64): u64 { (SOURCE + origins) * count }

/// Following so many edges.
public(package) fun edges(count: u64): u64 { EDGE * count }

/// Finding the ports of so many edges among so many of an answer.
public(package) fun answer(edges: u64, ports: u64): u64 { ANSWER_PORT * edges * ports }

/// Opening a region with so many cursors.
public(package) fun open(cursors: u64): u64 { OPEN * (1 + cursors) }

/// Starting a vertex of a loop that opens.
public(package) fun start(): u64 { START }

/// Requesting a run.
public(package) fun request(): u64 { REQUEST }

// === Package functions: bounds ===

/// What following so many edges takes at least.
public(package) fun least(edges: u64): u64 { (EDGE + LOOK) * edges }

/// What following these edges takes, but for what follows where they lead.
public(package) fun of_edges(edges: &vector<Edge>): u64 {
    let mut ports = vector[];
    edges.do_ref!(|edge| if (!ports.contains(&edge.port())) ports.push_back(edge.port()));
    least(edges.length()) + answer(edges.length(), ports.length())
}

/// A look at what a vertex has, inside of blocks to which so many values can be brought.
public(package) fun of_vertex(vertex: &Vertex, needs: u64): u64 {
    let mut count = 0;
    vertex.ports().do_ref!(|port| count = count + port.sources().length());
    LOOK + PORT * vertex.ports().length() + SOURCE * count + BROUGHT * needs
}

/// A look at whether a block has all that it needs.
public(package) fun of_needs(block: &Block): u64 {
    let needs = block.needs().length();
    needs * (LOOK + BROUGHT * needs)
}
