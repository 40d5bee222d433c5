/// A published workflow: a graph whose vertices are tools, and whose edges carry values between
/// their ports.
///
/// It is published under an FQN, as tools are, and never changes again. Its id is derived from the
/// tool registry and the FQN, so that an FQN is that of a tool or of a workflow. It has
///
/// * the document that people wrote, compressed, in chunks, and the digest of what it says;
/// * the plan of it, which is what `walks` executes: the vertices with their ports and edges, and
///   the blocks around them, in pages of 64, which are dynamic fields.
///
/// Whether the plan is that of the document is for readers to check: whoever knows both does. The
/// chain checks that whatever the plan names is there.
///
/// What a plan consists of is in `plan`.
module nexus_tools::dag;

use nexus_tools::fqn;
use nexus_tools::name::{Self, Name};
use nexus_tools::plan::{Self, Block, Vertex};
use nexus_tools::tool_registry::ToolRegistry;
use nexus_tools::value::{Ports, Value};
use std::ascii;
use std::string::String;
use sui::derived_object;
use sui::dynamic_field as field;
use sui::event;

// === Errors ===

/// The FQN does not follow the grammar `domain.name@version`: see the module `fqn`.
const EInvalidFqn: u64 = 0;
/// The `Name` is not that of the workflow.
const EWrongName: u64 = 1;
/// The FQN is taken by a tool or a workflow: choose another version.
const EFqnTaken: u64 = 2;
/// The description is longer than 4 096 bytes: shorten it.
const EDescriptionTooLong: u64 = 3;
/// The columns do not have as many entries each: give one for each vertex, port, edge or block.
const ELengthMismatch: u64 = 4;
/// A page has at most 64 entries, and each but the last one exactly so many.
const EWrongPage: u64 = 5;
/// The plan names something that is not there, or a place to which the edge cannot lead.
const EWrongPlan: u64 = 6;
/// The plan goes beyond a limit: 2 048 vertices, 128 of them in an entry group.
const ETooLarge: u64 = 7;
/// A page was not checked: `check` each of them first.
const ENotChecked: u64 = 8;

// === Constants ===

const PAGE: u64 = 64;
const MAX_VERTICES: u64 = 2_048;
/// An execution begins with all vertices of its group at once.
const MAX_ENTRIES: u64 = 128;
const MAX_DESCRIPTION_BYTES: u64 = 4_096;

// === Events ===

/// A workflow was published.
public struct DagPublished has copy, drop {
    dag: ID,
    fqn: ascii::String,
    name: ID,
    owner: address,
    description: String,
    digest: vector<u8>,
    vertices: u64,
}

// === Structs ===

/// A workflow: owned by its publisher while it is written, frozen from then on.
public struct Dag has key {
    id: UID,
    fqn: ascii::String,
    /// The `Name` of which it is a version.
    name: ID,
    description: String,
    /// The SHA-256 of the canonical document.
    digest: vector<u8>,
    /// The chunks of the document.
    chunks: u64,
    /// The tools that vertices name, by number.
    tools: vector<ID>,
    groups: vector<Group>,
    vertices: u64,
    blocks: u64,
    /// How many pages of vertices, and then of blocks, are checked.
    checked: u64,
}

/// Where an execution may begin.
public struct Group has copy, drop, store {
    name: ascii::String,
    vertices: vector<u16>,
}

/// The key of a page of vertices.
public struct VertexPage(u64) has copy, drop, store;
/// The key of a page of blocks.
public struct BlockPage(u64) has copy, drop, store;
/// The key of a chunk of the document.
public struct Chunk(u64) has copy, drop, store;
/// The key of the default values of a vertex.
public struct Defaults(u16) has copy, drop, store;

// === Public functions ===

/// Begins to write the first version of a name, which the sender owns from now on; the name has to
/// be shared in the same transaction. Aborts with `name::ENameTaken`, and as `draft_version` does.
public fun draft(
    registry: &mut ToolRegistry,
    fqn: ascii::String,
    description: String,
    digest: vector<u8>,
    tools: vector<ascii::String>,
    ctx: &mut TxContext,
): (Dag, Name) {
    assert!(fqn::is_valid(&fqn), EInvalidFqn);
    let name = name::of_first_version(registry, &fqn, ctx);
    (draft_version(registry, &name, fqn, description, digest, tools, ctx), name)
}

/// Begins to write a further version of a name; `tools` are the FQNs of its tools. Aborts with
/// `EInvalidFqn`, `EWrongName`, `EFqnTaken`, `EDescriptionTooLong`, `owner::ENotOwner` or
/// `tool_registry::ENotAccepting`.
public fun draft_version(
    registry: &mut ToolRegistry,
    name: &Name,
    fqn: ascii::String,
    description: String,
    digest: vector<u8>,
    tools: vector<ascii::String>,
    ctx: &mut TxContext,
): Dag {
    registry.check_version();
    registry.check_accepting();
    name.owner().check(ctx);
    assert!(fqn::is_valid(&fqn), EInvalidFqn);
    assert!(name.is_of(&fqn), EWrongName);
    assert!(!registry.contains(fqn), EFqnTaken);
    assert!(description.length() <= MAX_DESCRIPTION_BYTES, EDescriptionTooLong);
    Dag {
        id: derived_object::claim(registry.uid_mut(), fqn),
        fqn,
        name: object::id(name),
        description,
        digest,
        chunks: 0,
        tools: tools.map!(|tool| registry.tool_id(tool)),
        groups: vector[],
        vertices: 0,
        blocks: 0,
        checked: 0,
    }
}

/// Adds a chunk of the document, which is canonical JSON compressed with DEFLATE (RFC 1950).
public fun add_chunk(self: &mut Dag, chunk: vector<u8>) {
    field::add(&mut self.id, Chunk(self.chunks), chunk);
    self.chunks = self.chunks + 1;
}

/// Adds an entry group. Aborts with `ETooLarge`.
public fun add_group(self: &mut Dag, name: ascii::String, vertices: vector<u16>) {
    assert!(vertices.length() <= MAX_ENTRIES, ETooLarge);
    self.groups.push_back(Group { name, vertices });
}

/// Adds the default values of a vertex.
public fun add_defaults(self: &mut Dag, vertex: u16, values: Ports) {
    field::add(&mut self.id, Defaults(vertex), values);
}

/// Adds a page of blocks, each given by whether it is a region, the blocks around it, the vertices
/// and ports that it needs, its cursors, and what may start. Blocks come before vertices, and those
/// around a block before it. Aborts with `ELengthMismatch`, `EWrongPage`, `EWrongPlan` or
/// `plan::ETooLarge`.
public fun add_blocks(
    self: &mut Dag,
    are_regions: vector<bool>,
    around: vector<vector<u16>>,
    needs: vector<vector<u16>>,
    needed_ports: vector<vector<u8>>,
    cursors: vector<vector<u16>>,
    starts: vector<vector<u16>>,
) {
    let n = are_regions.length();
    assert!(n == around.length() && n == needs.length(), ELengthMismatch);
    assert!(n == needed_ports.length() && n == cursors.length(), ELengthMismatch);
    assert!(n == starts.length(), ELengthMismatch);
    assert!(self.blocks % PAGE == 0 && n <= PAGE && self.vertices == 0, EWrongPage);
    let mut page = vector[];
    n.do!(|i| {
        assert!(needs[i].length() == needed_ports[i].length(), ELengthMismatch);
        let region = self.innermost_region(&around[i], &page);
        let needed = needs[i].zip_map!(needed_ports[i], |vertex, port| plan::new_input(vertex, port));
        let block = plan::new_block(are_regions[i], around[i], region, needed, cursors[i], starts[i]);
        page.push_back(block);
    });
    field::add(&mut self.id, BlockPage(self.blocks / PAGE), page);
    self.blocks = self.blocks + n;
}

/// Adds to the blocks of a page what gets their lists: `blocks` are their places in the page, `rows`
/// edges as `add_edges` takes them, and `sources` the vertex of each edge that leads there. Aborts with `ELengthMismatch`, `plan::EWrongRow` or
/// `plan::ETooLarge`.
public fun add_collects(
    self: &mut Dag,
    page: u64,
    blocks: vector<u8>,
    rows: vector<vector<u16>>,
    sources: vector<vector<u16>>,
) {
    let n = blocks.length();
    assert!(n == rows.length() && n == sources.length(), ELengthMismatch);
    let page: &mut vector<Block> = field::borrow_mut(&mut self.id, BlockPage(page));
    n.do!(|i| page[blocks[i] as u64].add_collect(rows[i], sources[i]));
}

/// Adds a page of vertices, each given by the number of its tool, the blocks around it, the groups
/// that begin with it, its attempts and how far apart they are, how many iterations are under way at
/// once, and whether its failures end the execution. Aborts with `ELengthMismatch`, `EWrongPage`,
/// `EWrongPlan` or `ETooLarge`.
public fun add_vertices(
    self: &mut Dag,
    tools: vector<u16>,
    blocks: vector<vector<u16>>,
    groups: vector<vector<u8>>,
    attempts: vector<u8>,
    retry_after_ms: vector<u64>,
    parallel: vector<u16>,
    terminates: vector<bool>,
) {
    let n = tools.length();
    assert!(n == blocks.length() && n == groups.length(), ELengthMismatch);
    assert!(n == attempts.length() && n == retry_after_ms.length(), ELengthMismatch);
    assert!(n == parallel.length() && n == terminates.length(), ELengthMismatch);
    assert!(self.vertices % PAGE == 0 && n <= PAGE, EWrongPage);
    assert!(self.vertices + n <= MAX_VERTICES, ETooLarge);
    let page = vector::tabulate!(n, |i| {
        assert!((tools[i] as u64) < self.tools.length(), EWrongPlan);
        plan::new_vertex(
            tools[i],
            blocks[i],
            self.innermost_region(&blocks[i], &vector[]),
            groups[i],
            attempts[i],
            retry_after_ms[i],
            parallel[i],
            terminates[i],
        )
    });
    field::add(&mut self.id, VertexPage(self.vertices / PAGE), page);
    self.vertices = self.vertices + n;
}

/// Adds input ports to the vertices of a page: `vertices` are their places in it, and `flags` have
/// 1 for an entry port, 2 for a default value, 4 for a `static` edge. Aborts with `ELengthMismatch`
/// or `plan::ETooLarge`.
public fun add_ports(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    names: vector<ascii::String>,
    flags: vector<u8>,
) {
    let n = vertices.length();
    assert!(n == names.length() && n == flags.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = field::borrow_mut(&mut self.id, VertexPage(page));
    n.do!(|i| page[vertices[i] as u64].add_port(names[i], flags[i]));
}

/// Adds sources to ports of the vertices of a page. A row is the origin, 1 for `do_while`, and the
/// rounds. Aborts with `ELengthMismatch`, `plan::EWrongRow` or `plan::ETooLarge`.
public fun add_sources(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    ports: vector<u8>,
    rows: vector<vector<u16>>,
) {
    let n = vertices.length();
    assert!(n == ports.length() && n == rows.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = field::borrow_mut(&mut self.id, VertexPage(page));
    n.do!(|i| page[vertices[i] as u64].add_source(ports[i], rows[i]));
}

/// Adds edges to the vertices of a page, those of one variant in their order. A row is the number of
/// the edge, the vertex and the number of the port that it leads to, its kind (1 for `for_each`, 2
/// for `do_while`, 3 for `break`, 4 for `static`, else 0), `keeps`, `zeros`, `scope`, `element`,
/// `left` (65 535 for none), and the rounds. Aborts with `ELengthMismatch`, `plan::EWrongRow` or
/// `plan::ETooLarge`.
public fun add_edges(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    variants: vector<ascii::String>,
    ports: vector<ascii::String>,
    rows: vector<vector<u16>>,
) {
    let n = vertices.length();
    assert!(n == variants.length() && n == ports.length() && n == rows.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = field::borrow_mut(&mut self.id, VertexPage(page));
    n.do!(|i| page[vertices[i] as u64].add_edge(variants[i], ports[i], rows[i]));
}

/// Keeps an unfinished workflow with the sender, who goes on in the next transaction.
public fun keep(self: Dag, ctx: &TxContext) { transfer::transfer(self, ctx.sender()) }

/// Publishes the workflow: it never changes again. Aborts with `ENotChecked`.
public fun publish(self: Dag, ctx: &TxContext) {
    event::emit(DagPublished {
        dag: object::id(&self),
        fqn: self.fqn,
        name: self.name,
        owner: ctx.sender(),
        description: self.description,
        digest: self.digest,
        vertices: self.vertices,
    });
    transfer::freeze_object(self);
}

// === Views ===

/// The FQN.
public fun fqn(self: &Dag): ascii::String { self.fqn }

/// The SHA-256 of the canonical document.
public fun digest(self: &Dag): vector<u8> { self.digest }

/// The tools that vertices name.
public fun tools(self: &Dag): &vector<ID> { &self.tools }

// === Package functions ===

/// The vertices with which a group begins.
public(package) fun group(self: &Dag, group: u8): &vector<u16> {
    &self.groups[group as u64].vertices
}

/// How many entry groups there are.
public(package) fun groups(self: &Dag): u64 { self.groups.length() }

/// The vertex of this number.
public(package) fun vertex(self: &Dag, number: u16): &Vertex {
    let page: &vector<Vertex> = field::borrow(&self.id, VertexPage(number as u64 / PAGE));
    &page[number as u64 % PAGE]
}

/// The block of this number.
public(package) fun block(self: &Dag, number: u16): &Block {
    let page: &vector<Block> = field::borrow(&self.id, BlockPage(number as u64 / PAGE));
    &page[number as u64 % PAGE]
}

/// The default value of a port of a vertex. Aborts with `value::EUnknownPort`.
public(package) fun default(self: &Dag, number: u16, port: &ascii::String): Value {
    let values: &Ports = field::borrow(&self.id, Defaults(number));
    values.port(port)
}

// === Private functions ===

/// Where the innermost region of these blocks is; the last ones may be in a page to come.
fun innermost_region(self: &Dag, blocks: &vector<u16>, page: &vector<Block>): Option<u8> {
    let mut found = option::none();
    blocks.length().do!(|i| {
        let number = blocks[i] as u64;
        assert!(number < self.blocks + page.length(), EWrongPlan);
        let is_region = if (number < self.blocks) self.block(blocks[i]).is_region()
            else page[number - self.blocks].is_region();
        if (is_region) found = option::some(i as u8);
    });
    found
}
