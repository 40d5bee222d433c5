/// A run, which is one use of a vertex of a workflow. Attempts execute runs.
module nexus_tools::run;

// === Structs ===

/// A vertex, and the numbers of the iterations and rounds around it, outermost first.
public struct Run has copy, drop, store {
    vertex: u16,
    path: vector<u32>,
}

// === Public functions ===

/// Return a run. The run does not have to exist in a workflow.
public fun new(vertex: u16, path: vector<u32>): Run { Run { vertex, path } }

// === Views ===

/// Return the vertex.
public fun vertex(self: &Run): u16 { self.vertex }

/// Return the numbers of the iterations and rounds around the vertex.
public fun path(self: &Run): &vector<u32> { &self.path }
