/// A run: one use of a vertex of a workflow, which an attempt carries.
module nexus_tools::run;

// === Structs ===

/// A vertex, and the numbers of the iterations and rounds around it, the outermost first.
public struct Run has copy, drop, store {
    vertex: u16,
    path: vector<u32>,
}

// === Public functions ===

/// A run, whether there is such a one or not.
public fun new(vertex: u16, path: vector<u32>): Run { Run { vertex, path } }

// === Views ===

/// The vertex that is used.
public fun vertex(self: &Run): u16 { self.vertex }

/// The iterations and rounds around it.
public fun path(self: &Run): &vector<u32> { &self.path }
