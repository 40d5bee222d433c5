/// A run: one use of a vertex of a workflow, which an attempt executes.
module nexus_tools::run;

// === Structs ===

/// A vertex, and the numbers of the iterations and rounds around it, the outermost first.
public struct Run has copy, drop, store {
    vertex: u16,
    path: vector<u32>,
}

// === Public functions ===

/// Return a run. It need not exist in any workflow.
public fun new(vertex: u16, path: vector<u32>): Run { Run { vertex, path } }

// === Views ===

/// Return the vertex.
public fun vertex(self: &Run): u16 { self.vertex }

/// Return the numbers of the iterations and rounds around the vertex.
public fun path(self: &Run): &vector<u32> { &self.path }
