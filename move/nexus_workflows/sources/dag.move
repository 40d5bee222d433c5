/// A published workflow, which is a graph of tools whose edges carry values between ports.
///
/// A workflow is published under an FQN, like a tool, and never changes afterwards. The ID of a
/// workflow is derived from the registry of workflows and the FQN. A workflow stores the document
/// that a user wrote, compressed and in chunks, and the digest of the document. The workflow also
/// stores the plan of the document, which `progress` executes. The plan has the vertices with their
/// ports and edges, and the blocks around the vertices. A plan is divided into pages of 64 entries,
/// which are dynamic fields.
///
/// The chain checks that every reference in the plan is valid. The chain does not check that the
/// plan corresponds to the document. Readers compare the plan with the document.
///
/// The module `plan` defines the parts of a plan.
module nexus_workflows::dag;

use nexus_tools::fqn;
use nexus_tools::name::{Self, Name};
use nexus_tools::permit::Permit;
use nexus_tools::tool_registry::ToolRegistry;
use nexus_tools::value::{Ports, Value};
use nexus_workflows::dag_registry::DagRegistry;
use nexus_workflows::effort;
use nexus_workflows::plan::{Self, Block, CollectEdge, Edge, Source, Vertex};
use std::ascii;
use std::bcs;
use std::string::String;
use sui::derived_object;
use sui::dynamic_field as field;
use sui::event;

use fun entry as vector.entry;

// === Errors ===

/// The FQN does not follow the grammar `domain.name@version`: see the module `fqn`.
const EInvalidFqn: u64 = 0;
/// The `Name` object is not the name of this workflow.
const EWrongName: u64 = 1;
/// A tool or a workflow already has this FQN: choose another version.
const EFqnTaken: u64 = 2;
/// The description is longer than 4 096 bytes: shorten it.
const EDescriptionTooLong: u64 = 3;
/// The columns have different lengths: pass one entry per vertex, port, edge or block.
const ELengthMismatch: u64 = 4;
/// The page is out of order, is not full, or does not exist: every page except the last has 64
/// entries.
const EInvalidPage: u64 = 5;
/// The plan refers to a missing entry, or an edge leads to an impossible target.
const EInvalidPlan: u64 = 6;
/// The plan exceeds a limit: 2 048 vertices or blocks, 8 nested blocks, 256 entry groups of 128
/// vertices, or 90 days between attempts. A page can have 64 KiB, and so can the workflow without
/// its pages.
const EPlanTooLarge: u64 = 7;
/// A page was not checked after the last addition: call `check_page` for each page first.
const EPagesNotChecked: u64 = 8;
/// A tool does not exist: register it first.
const EUnknownTool: u64 = 9;
/// A step would take too much gas, because one answer starts too many runs or opens too many
/// blocks. Use fewer edges per variant, or fewer ports per target.
const EStepTooLarge: u64 = 10;

// === Constants ===

const PAGE: u64 = 64;
const MAX_VERTICES: u64 = 2_048;
const MAX_BLOCKS: u64 = 2_048;
/// The maximum number of vertices of an entry group. An execution starts all vertices of its group
/// in one step.
const MAX_ENTRIES: u64 = 128;
/// The maximum number of entry groups. An execution stores the number of its group in one byte.
const MAX_GROUPS: u64 = 256;
/// The maximum nesting depth of blocks, which is also the maximum length of a path.
const MAX_DEPTH: u64 = 8;
const MAX_DESCRIPTION_BYTES: u64 = 4_096;
/// The maximum size of a page, in bytes. A step reads the workflow's head, and the pages of all
/// vertices and blocks that it uses.
const MAX_PAGE_BYTES: u64 = 65_536;
/// The thousandths of a gas unit for reading a byte of the head, and for reading a byte of a page.
/// The fees cover `COVERED_GAS_UNITS` for reading.
const HEAD_BYTE_GAS: u64 = 15;
const PAGE_BYTE_GAS: u64 = 3;
const COVERED_GAS_UNITS: u64 = 30;
/// The position of the first page of blocks in a bit set of pages.
const BLOCK_PAGE_BIT: u64 = 32;
/// The maximum delay of a retry, which is the maximum duration of an execution.
const MAX_RETRY_AFTER_MS: u64 = 7_776_000_000;

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

/// A draft or a published workflow. The publisher owns the object until the workflow is published.
/// The publication freezes the object.
public struct Dag has key {
    id: UID,
    fqn: ascii::String,
    /// The `Name` of the workflow.
    name: ID,
    description: String,
    /// The SHA-256 digest of the canonical document.
    digest: vector<u8>,
    /// The number of chunks of the document.
    chunks: u64,
    /// The IDs of the tools. Vertices refer to tools by index.
    tools: vector<ID>,
    groups: vector<Group>,
    vertices: u64,
    blocks: u64,
    /// The size of each checked page, in bytes. Pages of vertices precede pages of blocks.
    page_bytes: vector<u64>,
    /// The size of the published workflow's head, in bytes. The head is everything except the
    /// pages.
    head_bytes: u64,
    /// The permit to request the invocations of the workflow's runs.
    permit: Permit,
}

/// An entry group, which is a set of vertices with which an execution may start.
public struct Group has copy, drop, store {
    name: ascii::String,
    vertices: vector<u16>,
}

/// The key of a page of vertices.
public struct VertexPageKey(u64) has copy, drop, store;
/// The key of a page of blocks.
public struct BlockPageKey(u64) has copy, drop, store;
/// The key of a chunk of the document.
public struct ChunkKey(u64) has copy, drop, store;
/// The key of the default values of a vertex.
public struct DefaultsKey(u16) has copy, drop, store;

// === Public functions ===

/// Start the draft of the first version of a name, and claim the name for the sender.
///
/// Share the name in the same transaction. Aborts as `name::claim` and `draft_version` do.
public fun draft(
    registry: &mut DagRegistry,
    tool_registry: &mut ToolRegistry,
    fqn: ascii::String,
    description: String,
    digest: vector<u8>,
    tools: vector<ascii::String>,
    ctx: &mut TxContext,
): (Dag, Name) {
    assert!(fqn::is_valid(&fqn), EInvalidFqn);
    let name = name::claim(registry.permit(), tool_registry, &fqn, ctx);
    (draft_version(registry, tool_registry, &name, fqn, description, digest, tools, ctx), name)
}

/// Start the draft of a further version of a name. `tools` are the FQNs of the workflow's tools.
///
/// Aborts with `EInvalidFqn`, `EWrongName`, `EFqnTaken`, `EDescriptionTooLong`, `EUnknownTool`,
/// `owner::ENotOwner` or `tool_registry::ENotAccepting`.
public fun draft_version(
    registry: &mut DagRegistry,
    tool_registry: &ToolRegistry,
    name: &Name,
    fqn: ascii::String,
    description: String,
    digest: vector<u8>,
    tools: vector<ascii::String>,
    ctx: &mut TxContext,
): Dag {
    registry.check_version();
    tool_registry.check_accepting();
    name.owner().check(ctx);
    assert!(fqn::is_valid(&fqn), EInvalidFqn);
    assert!(name.is_name_of(&fqn), EWrongName);
    assert!(!registry.contains(fqn) && !tool_registry.contains(fqn), EFqnTaken);
    assert!(description.length() <= MAX_DESCRIPTION_BYTES, EDescriptionTooLong);
    assert!(tools.all!(|tool| tool_registry.contains(*tool)), EUnknownTool);
    Dag {
        id: derived_object::claim(registry.uid_mut(), fqn),
        fqn,
        name: object::id(name),
        description,
        digest,
        chunks: 0,
        tools: tools.map!(|tool| tool_registry.tool_id(tool)),
        groups: vector[],
        vertices: 0,
        blocks: 0,
        page_bytes: vector[],
        head_bytes: 0,
        permit: registry.permit(),
    }
}

/// Add a chunk of the document: canonical JSON, compressed with DEFLATE (RFC 1950).
public fun add_chunk(self: &mut Dag, chunk: vector<u8>) {
    field::add(&mut self.id, ChunkKey(self.chunks), chunk);
    self.chunks = self.chunks + 1;
}

/// Add an entry group. Aborts with `EPlanTooLarge`.
public fun add_group(self: &mut Dag, name: ascii::String, vertices: vector<u16>) {
    assert!(vertices.length() <= MAX_ENTRIES && self.groups.length() < MAX_GROUPS, EPlanTooLarge);
    self.page_bytes = vector[];
    self.groups.push_back(Group { name, vertices });
}

/// Add the default values of a vertex. Aborts with `EInvalidPlan` if the vertex already has default
/// values.
public fun add_defaults(self: &mut Dag, vertex: u16, values: Ports) {
    assert!(!field::exists_(&self.id, DefaultsKey(vertex)), EInvalidPlan);
    field::add(&mut self.id, DefaultsKey(vertex), values);
}

/// Add a page of blocks. Each column has one entry per block.
///
/// The first columns contain whether the block is a region, and the blocks around it. The next
/// columns contain the vertices and the ports whose values the block needs. The last columns
/// contain the cursors of the block, and the vertices and blocks that may start in it. Add blocks
/// before vertices, and outer blocks before inner blocks. Aborts with `ELengthMismatch`,
/// `EInvalidPage`, `EInvalidPlan`, `EPlanTooLarge` or `plan::EPlanTooLarge`.
public fun add_blocks(
    self: &mut Dag,
    are_regions: vector<bool>,
    enclosing: vector<vector<u16>>,
    needs: vector<vector<u16>>,
    needed_ports: vector<vector<u8>>,
    cursors: vector<vector<u16>>,
    starts: vector<vector<u16>>,
) {
    let n = are_regions.length();
    assert!(n == enclosing.length() && n == needs.length(), ELengthMismatch);
    assert!(n == needed_ports.length() && n == cursors.length(), ELengthMismatch);
    assert!(n == starts.length(), ELengthMismatch);
    assert!(self.blocks % PAGE == 0 && self.vertices == 0, EInvalidPage);
    assert!(0 < n && n <= PAGE, EInvalidPage);
    assert!(self.blocks + n <= MAX_BLOCKS, EPlanTooLarge);
    self.page_bytes = vector[];
    let mut page = vector[];
    n.do!(|i| {
        assert!(needs[i].length() == needed_ports[i].length(), ELengthMismatch);
        assert!(enclosing[i].length() < MAX_DEPTH, EPlanTooLarge);
        let region = self.innermost_region(&enclosing[i], &page);
        let needed = needs[i].zip_map!(needed_ports[i], |vertex, port| {
            plan::new_input(vertex, port)
        });
        let block = plan::new_block(
            are_regions[i],
            enclosing[i],
            region,
            needed,
            cursors[i],
            starts[i],
        );
        page.push_back(block);
    });
    field::add(&mut self.id, BlockPageKey(self.blocks / PAGE), page);
    self.blocks = self.blocks + n;
}

/// Add the edges that carry gathered lists to the blocks of a page.
///
/// `blocks` are positions in the page. `rows` are edges in the format of `add_edges`. `sources` are
/// the source vertices of the edges that lead to the list. Aborts with `ELengthMismatch`,
/// `EInvalidPage`, `plan::EInvalidRow` or `plan::EPlanTooLarge`.
public fun add_collect_edges(
    self: &mut Dag,
    page: u64,
    blocks: vector<u8>,
    rows: vector<vector<u16>>,
    sources: vector<vector<u16>>,
) {
    let n = blocks.length();
    assert!(n == rows.length() && n == sources.length(), ELengthMismatch);
    let page: &mut vector<Block> = self.page_mut(BlockPageKey(page));
    n.do!(|i| page.entry(blocks[i]).add_collect_edge(rows[i], sources[i]));
}

/// Add a page of vertices. Each column has one entry per vertex.
///
/// The first columns contain the number of the vertex's tool, the blocks around the vertex, and the
/// entry groups that start with it. The next columns contain the maximum number of attempts, and
/// the delay between attempts in ms. The last columns contain the maximum number of iterations in
/// flight, and whether a failure ends the execution. Aborts with `ELengthMismatch`, `EInvalidPage`,
/// `EInvalidPlan` or `EPlanTooLarge`.
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
    assert!(self.vertices % PAGE == 0 && 0 < n && n <= PAGE, EInvalidPage);
    assert!(self.vertices + n <= MAX_VERTICES, EPlanTooLarge);
    self.page_bytes = vector[];
    let page = vector::tabulate!(n, |i| {
        assert!((tools[i] as u64) < self.tools.length(), EInvalidPlan);
        assert!(attempts[i] > 0 && parallel[i] > 0, EInvalidPlan);
        assert!(blocks[i].length() <= MAX_DEPTH, EPlanTooLarge);
        assert!(retry_after_ms[i] <= MAX_RETRY_AFTER_MS, EPlanTooLarge);
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
    field::add(&mut self.id, VertexPageKey(self.vertices / PAGE), page);
    self.vertices = self.vertices + n;
}

/// Add input ports to the vertices of a page.
///
/// `vertices` are positions in the page. `flags` are sums of 1 for an entry port, 2 for a default
/// value and 4 for a `static` edge. Aborts with `ELengthMismatch`, `EInvalidPage`,
/// `plan::EDuplicatePort` or `plan::EPlanTooLarge`.
public fun add_ports(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    names: vector<ascii::String>,
    flags: vector<u8>,
) {
    let n = vertices.length();
    assert!(n == names.length() && n == flags.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = self.page_mut(VertexPageKey(page));
    n.do!(|i| page.entry(vertices[i]).add_port(names[i], flags[i]));
}

/// Add sources to ports of the vertices of a page.
///
/// A row contains the origin, then 1 for a `do_while` edge and 0 for other edges, then the rounds.
/// Aborts with `ELengthMismatch`, `EInvalidPage`, `plan::EInvalidRow` or `plan::EPlanTooLarge`.
public fun add_sources(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    ports: vector<u8>,
    rows: vector<vector<u16>>,
) {
    let n = vertices.length();
    assert!(n == ports.length() && n == rows.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = self.page_mut(VertexPageKey(page));
    n.do!(|i| page.entry(vertices[i]).add_source(ports[i], rows[i]));
}

/// Add edges to the vertices of a page. The order of the edges of a variant does not change.
///
/// A row contains the number of the edge, the vertex and port number of its target, and its kind.
/// The next numbers are `prefix_length`, `zeros`, `scope`, `element`, `left_region`, and the
/// rounds. The kind is 1 for `for_each`, 2 for `do_while`, 3 for `break`, 4 for `static`, and 0 for
/// other edges. The number 65 535 means none. Aborts with `ELengthMismatch`, `EInvalidPage`,
/// `plan::EInvalidRow` or `plan::EPlanTooLarge`.
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
    let page: &mut vector<Vertex> = self.page_mut(VertexPageKey(page));
    n.do!(|i| page.entry(vertices[i]).add_edge(variants[i], ports[i], rows[i]));
}

/// Transfer a draft to the sender, who can continue it in another transaction.
public fun save_draft(self: Dag, ctx: &TxContext) { transfer::transfer(self, ctx.sender()) }

/// Check the next page of a complete draft. Pages of vertices precede pages of blocks.
///
/// The function checks that all references exist, and that every edge can be followed. So a step of
/// an execution never aborts because of its workflow. Aborts with `EInvalidPage`, `EInvalidPlan`,
/// `EStepTooLarge` or `EPlanTooLarge`.
public fun check_page(self: &mut Dag, page: u64) {
    let vertex_pages = pages(self.vertices);
    let is_next = page == self.page_bytes.length();
    assert!(is_next && page < vertex_pages + pages(self.blocks), EInvalidPage);
    let bytes = if (page < vertex_pages) self.check_vertices(page)
    else self.check_blocks(page - vertex_pages);
    self.page_bytes.push_back(bytes);
}

/// Publish the workflow, which never changes afterwards.
///
/// Aborts with `EPagesNotChecked` or `EPlanTooLarge`.
public fun publish(mut self: Dag, ctx: &TxContext) {
    let pages = pages(self.vertices) + pages(self.blocks);
    assert!(self.vertices > 0 && self.page_bytes.length() == pages, EPagesNotChecked);
    self.head_bytes = size(&self);
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

/// Return the FQN.
public fun fqn(self: &Dag): ascii::String { self.fqn }

/// Return the SHA-256 digest of the canonical document.
public fun digest(self: &Dag): vector<u8> { self.digest }

/// Return the IDs of the tools, in the order of their numbers.
public fun tools(self: &Dag): &vector<ID> { &self.tools }

// === Package functions ===

public(package) fun permit(self: &Dag): Permit { self.permit }

/// Return the vertices with which an entry group starts.
public(package) fun group(self: &Dag, group: u8): &vector<u16> {
    &self.groups[group as u64].vertices
}

/// Return the number of entry groups.
public(package) fun groups(self: &Dag): u64 { self.groups.length() }

/// Return the vertex with this number.
public(package) fun vertex(self: &Dag, number: u16): &Vertex {
    let page: &vector<Vertex> = field::borrow(&self.id, VertexPageKey(number as u64 / PAGE));
    &page[number as u64 % PAGE]
}

/// Return the block with this number.
public(package) fun block(self: &Dag, number: u16): &Block {
    let page: &vector<Block> = field::borrow(&self.id, BlockPageKey(number as u64 / PAGE));
    &page[number as u64 % PAGE]
}

/// Return the default value of a port of a vertex. Aborts with `value::EUnknownPort`.
public(package) fun default(self: &Dag, number: u16, port: &ascii::String): Value {
    let values: &Ports = field::borrow(&self.id, DefaultsKey(number));
    values.port(port)
}

/// Return the bytes of all default values of a vertex. A transaction that reads one value reads all
/// values.
public(package) fun default_bytes(self: &Dag, number: u16): u64 {
    if (!field::exists_(&self.id, DefaultsKey(number))) return 0;
    let values: &Ports = field::borrow(&self.id, DefaultsKey(number));
    values.size()
}

/// Return the bit that represents the page of a vertex.
public(package) fun vertex_page_bit(number: u16): u64 { 1 << (((number as u64) / PAGE) as u8) }

/// Return the bit that represents the page of a block.
public(package) fun block_page_bit(number: u16): u64 {
    1 << ((BLOCK_PAGE_BIT + (number as u64) / PAGE) as u8)
}

/// Return the bits that represent all pages.
public(package) fun all_page_bits(): u64 { 0xFFFF_FFFF_FFFF_FFFF }

/// Return the gas units for reading the workflow and these pages, minus the units that fees cover.
///
/// Sui reads a page once per transaction, and charges for it once.
public(package) fun read_units(self: &Dag, read: u64): u64 {
    let (mut thousandths, vertex_pages) = (HEAD_BYTE_GAS * self.head_bytes, pages(self.vertices));
    self.page_bytes.length().do!(|i| {
        let bit = if (i < vertex_pages) i else BLOCK_PAGE_BIT + i - vertex_pages;
        let is_read = read & (1 << (bit as u8)) > 0;
        if (is_read) thousandths = thousandths + PAGE_BYTE_GAS * self.page_bytes[i];
    });
    (thousandths / 1_000).max(COVERED_GAS_UNITS) - COVERED_GAS_UNITS
}

// === Private functions: pages ===

/// Return the number of pages for this number of entries.
fun pages(entries: u64): u64 { entries.divide_and_round_up(PAGE) }

/// Return the size in bytes of a page, or of a workflow without its pages. Aborts with
/// `EPlanTooLarge`.
fun size<T>(value: &T): u64 {
    let bytes = bcs::to_bytes(value).length();
    assert!(bytes <= MAX_PAGE_BYTES, EPlanTooLarge);
    bytes
}

/// Return a mutable page, to which entries are added. After an addition, all pages must be checked
/// again.
fun page_mut<Key: copy + drop + store, Entry: store>(
    self: &mut Dag,
    key: Key,
): &mut vector<Entry> {
    assert!(field::exists_(&self.id, key), EInvalidPage);
    self.page_bytes = vector[];
    field::borrow_mut(&mut self.id, key)
}

/// Return an entry of a page.
fun entry<Entry>(page: &mut vector<Entry>, place: u8): &mut Entry {
    assert!((place as u64) < page.length(), EInvalidPage);
    &mut page[place as u64]
}

/// Return the index of the innermost region in a list of nested blocks.
///
/// The last blocks of the list may be in `page`, which is not stored yet. Aborts with
/// `EInvalidPlan` unless each block contains the next block.
fun innermost_region(self: &Dag, blocks: &vector<u16>, page: &vector<Block>): Option<u8> {
    let mut found = option::none();
    blocks.length().do!(|i| {
        let number = blocks[i] as u64;
        assert!(number < self.blocks + page.length(), EInvalidPlan);
        let block = if (number < self.blocks) self.block(blocks[i]) else &page[number - self.blocks];
        let enclosing = block.enclosing();
        // The blocks around the previous block were compared earlier.
        assert!(
            enclosing.length() == i && (i == 0 || enclosing[i - 1] == blocks[i - 1]),
            EInvalidPlan,
        );
        if (block.is_region()) found = option::some(i as u8);
    });
    found
}

// === Private functions: checking vertices ===

/// Check a page, and return its size in bytes.
fun check_vertices(self: &Dag, page: u64): u64 {
    let vertices: &vector<Vertex> = field::borrow(&self.id, VertexPageKey(page));
    let bytes = size(vertices);
    self.groups.length().do!(|group| self.groups[group].vertices.do_ref!(|number| {
        let number = *number as u64;
        assert!(number < self.vertices, EInvalidPlan);
        let is_here = number / PAGE == page;
        assert!(!is_here || vertices[number % PAGE].is_in_group(group as u8), EInvalidPlan);
    }));
    vertices.length().do!(|i| self.check_vertex((page * PAGE + i) as u16, &vertices[i]));
    bytes
}

fun check_vertex(self: &Dag, number: u16, vertex: &Vertex) {
    vertex.groups().do_ref!(|group| {
        assert!((*group as u64) < self.groups.length(), EInvalidPlan);
        assert!(self.group(*group).contains(&number), EInvalidPlan);
    });
    vertex.ports().do_ref!(|port| {
        assert!(!port.has_default() || self.has_default(number, &port.name()), EInvalidPlan);
        port.sources().do_ref!(|source| self.check_source(vertex.blocks(), source));
    });
    let mut numbers = vector[];
    vertex.variants().do_ref!(|variant| variant.edges().do_ref!(|edge| {
        assert!(!numbers.contains(&edge.number()), EInvalidPlan);
        numbers.push_back(edge.number());
        self.check_edge(vertex.blocks(), edge);
        assert!(edge.left_region().is_none() || self.is_gathered(number, edge), EInvalidPlan);
    }));
    vertex.variants().do_ref!(|variant| self.check_effort(variant.edges()));
}

/// Check that one step can follow these edges together.
fun check_effort(self: &Dag, edges: &vector<Edge>) {
    let (mut vertices, mut blocks) = (vector[], vector[]);
    let mut effort = effort::of_edges(edges);
    edges.do_ref!(|edge| {
        let (vertex, scope) = (edge.vertex(), edge.scope());
        effort = effort + effort::lookup() * self.vertex(vertex).blocks().length();
        if (edge.left_region().is_none() && scope.is_none() && !vertices.contains(&vertex)) {
            vertices.push_back(vertex);
            effort = effort + self.starting_effort(vertex);
        };
        scope.do!(|block| if (!blocks.contains(&block)) {
            blocks.push_back(block);
            effort = effort + self.opening_effort(block);
        });
    });
    assert!(effort <= effort::max_step(), EStepTooLarge);
}

/// Return the effort of checking whether a vertex starts. Aborts with `EInvalidPlan`.
fun starting_effort(self: &Dag, number: u16): u64 {
    assert!((number as u64) < self.vertices, EInvalidPlan);
    let vertex = self.vertex(number);
    let (mut needs, mut effort) = (0, 0);
    vertex.blocks().do_ref!(|number| {
        let block = self.block(*number);
        needs = needs + block.needs().length();
        effort = effort + if (block.is_region()) effort::lookup() else effort::of_needs(block);
    });
    effort + effort::of_vertex(vertex, needs)
}

/// Return the effort of opening a block and starting its runs. Aborts with `EInvalidPlan`.
fun opening_effort(self: &Dag, number: u16): u64 {
    assert!((number as u64) < self.blocks, EInvalidPlan);
    let block = self.block(number);
    let (needs, mut effort) = (block.needs().length(), effort::of_needs(block));
    if (block.is_region()) effort = effort + effort::open(block.cursors().length());
    block.cursors().do_ref!(|cursor| {
        assert!((*cursor as u64) < self.vertices, EInvalidPlan);
        effort = effort + effort::of_vertex(self.vertex(*cursor), needs);
    });
    block.starts().do_ref!(|start| {
        effort = effort + if (plan::is_block(*start)) {
            self.opening_effort(plan::block_number(*start))
        } else {
            effort::start() + self.starting_effort(*start)
        };
    });
    effort
}

fun has_default(self: &Dag, number: u16, port: &ascii::String): bool {
    if (!field::exists_(&self.id, DefaultsKey(number))) return false;
    let values: &Ports = field::borrow(&self.id, DefaultsKey(number));
    values.has(port)
}

fun check_source(self: &Dag, blocks: &vector<u16>, source: &Source) {
    let origin = source.origin();
    let is_there = if (plan::is_block(origin)) {
        (plan::block_number(origin) as u64) < self.blocks
    } else (origin as u64) < self.vertices;
    assert!(is_there, EInvalidPlan);
    assert!(!source.is_do_while() || self.is_in_loop(blocks), EInvalidPlan);
}

/// Return whether the region that a `collect` edge leaves delivers its list to the edge's target.
fun is_gathered(self: &Dag, number: u16, edge: &Edge): bool {
    self.block(edge.left_region().destroy_some()).collect_edges().any!(|collect| {
        is_like(collect.edge(), edge) && collect.sources().contains(&number)
    })
}

/// Return whether two edges lead to the same port.
fun is_like(edge: &Edge, other: &Edge): bool {
    edge.vertex() == other.vertex() && edge.input() == other.input()
}

// === Private functions: checking edges ===

/// Check the target of an edge from inside these blocks.
///
/// The blocks around the source and the target determine every field of the edge except the port.
fun check_edge(self: &Dag, from: &vector<u16>, edge: &Edge) {
    assert!((edge.vertex() as u64) < self.vertices, EInvalidPlan);
    let target = self.vertex(edge.vertex());
    assert!((edge.input() as u64) < target.ports().length(), EInvalidPlan);
    if (from.is_empty() && target.blocks().is_empty()) {
        assert!(edge.is_plain(), EInvalidPlan);
        return
    };
    let (to, prefix_length, end) = (
        target.blocks(),
        edge.prefix_length(),
        edge.prefix_length() + edge.zeros(),
    );
    assert!(prefix_length == shared_length(from, to), EInvalidPlan);
    self.check_leaving(from, edge);
    let mut rounds = vector[];
    prefix_length.range_do!(to.length(), |at| {
        // Each zero in the path is the first round of an entered loop.
        if (self.is_region(to[at])) {
            assert!(at >= end, EInvalidPlan);
        } else {
            rounds.push_back(at as u8);
        };
    });
    assert!(edge.rounds() == &rounds, EInvalidPlan);
    // If the port has a `static` edge, a value that enters a block is kept for all rounds.
    let is_entered = prefix_length < to.length();
    let holds_statics = target.ports()[edge.input() as u64].is_static();
    assert!(edge.is_static() == (is_entered && holds_statics), EInvalidPlan);
    if (edge.scope().is_some()) self.check_scope(to, edge)
    else {
        assert!(end == to.length(), EInvalidPlan);
        assert!(edge.is_do_while() || !self.is_cursor(target, edge.vertex())
            || (!holds_statics && self.is_needed(target, edge)), EInvalidPlan);
    };
    let element = edge.element();
    assert!(edge.is_for_each() == element.is_some(), EInvalidPlan);
    assert!(element.is_none() || element == target.region(), EInvalidPlan);
    assert!(element.destroy_or!(0xFF) as u64 >= prefix_length, EInvalidPlan);
    let stays = from == to && self.is_in_loop(to);
    assert!(!edge.is_do_while() || stays, EInvalidPlan);
}

/// Check that an edge does not leave a block. A `collect` or `break` edge may leave only the block
/// that it ends.
fun check_leaving(self: &Dag, from: &vector<u16>, edge: &Edge) {
    let (prefix_length, left) = (edge.prefix_length(), edge.left_region());
    let leaves = from.length() - prefix_length;
    if (left.is_some()) {
        assert!(leaves == 1 && left.contains(&from[prefix_length]), EInvalidPlan);
        assert!(self.is_region(from[prefix_length]) && edge.is_normal(), EInvalidPlan);
    } else if (edge.is_break()) {
        assert!(leaves == 1 && !self.is_region(from[prefix_length]), EInvalidPlan);
    } else assert!(leaves == 0, EInvalidPlan);
}

/// Check the scope of an edge, which is the first region that the edge enters.
///
/// For a `static` edge, the scope is the first block that the edge enters.
fun check_scope(self: &Dag, to: &vector<u16>, edge: &Edge) {
    let (scope, end) = (edge.scope().destroy_some(), edge.prefix_length() + edge.zeros());
    assert!(end < to.length() && to[end] == scope, EInvalidPlan);
    assert!(if (edge.is_static()) edge.zeros() == 0 else self.is_region(scope), EInvalidPlan);
    assert!(self.block(scope).has_need(edge.vertex(), edge.input()), EInvalidPlan);
}

/// Return whether iterations of the region around a vertex start with this vertex.
fun is_cursor(self: &Dag, vertex: &Vertex, number: u16): bool {
    vertex.region().is_some_and!(|at| {
        self.block(vertex.blocks()[*at as u64]).cursors().contains(&number)
    })
}

/// Return whether the region around a head of iterations needs the port to open.
///
/// If the region needs the port, a value from inside arrives later. So the run can start in only
/// one way.
fun is_needed(self: &Dag, vertex: &Vertex, edge: &Edge): bool {
    let region = vertex.blocks()[vertex.region().destroy_some() as u64];
    self.block(region).has_need(edge.vertex(), edge.input())
}

/// Return the number of blocks that contain both ends of an edge.
fun shared_length(one: &vector<u16>, other: &vector<u16>): u64 {
    let most = one.length().min(other.length());
    let mut length = 0;
    while (length < most && one[length] == other[length]) length = length + 1;
    length
}

fun is_region(self: &Dag, block: u16): bool { self.block(block).is_region() }

/// Return whether the innermost of these blocks is a loop.
fun is_in_loop(self: &Dag, blocks: &vector<u16>): bool {
    !blocks.is_empty() && !self.is_region(blocks[blocks.length() - 1])
}

// === Private functions: checking blocks ===

/// Check a page, and return its size in bytes.
fun check_blocks(self: &Dag, page: u64): u64 {
    let blocks: &vector<Block> = field::borrow(&self.id, BlockPageKey(page));
    let bytes = size(blocks);
    blocks.length().do!(|i| {
        let (number, block) = ((page * PAGE + i) as u16, &blocks[i]);
        block.needs().do_ref!(|need| {
            let vertex = self.inside(need.vertex(), number);
            assert!((need.port() as u64) < vertex.ports().length(), EInvalidPlan);
        });
        if (block.is_region()) self.check_region(number, block) else self.check_loop(number, block);
    });
    bytes
}

fun check_region(self: &Dag, number: u16, block: &Block) {
    assert!(block.starts().is_empty(), EInvalidPlan);
    let mut cursors = vector[];
    block.cursors().do_ref!(|cursor| {
        assert!(!cursors.contains(cursor), EInvalidPlan);
        cursors.push_back(*cursor);
        self.check_cursor(self.inside(*cursor, number), block);
    });
    let mut from = *block.enclosing();
    from.push_back(number);
    let mut edges = vector[];
    block.collect_edges().do_ref!(|collect| {
        let edge = collect.edge();
        assert!(edge.left_region().contains(&number), EInvalidPlan);
        self.check_edge(&from, edge);
        assert!(!edges.any!(|other| is_like(edge, other)), EInvalidPlan);
        edges.push_back(*edge);
        self.check_sources(collect);
    });
    self.check_effort(&edges);
}

/// Check that the blocks between `region` and `vertex` need only inputs that `region` needs.
fun check_cursor(self: &Dag, vertex: &Vertex, region: &Block) {
    let depth = region.enclosing().length();
    assert!(vertex.region().contains(&(depth as u8)), EInvalidPlan);
    (depth + 1).range_do!(vertex.blocks().length(), |at| {
        self.block(vertex.blocks()[at]).needs().do_ref!(|need| {
            assert!(region.has_need(need.vertex(), need.port()), EInvalidPlan);
        });
    });
}

/// Check that the sources of a list are in ascending order, with one entry for each edge to the
/// list.
fun check_sources(self: &Dag, collect: &CollectEdge) {
    let (edge, sources) = (collect.edge(), collect.sources());
    assert!(!sources.is_empty(), EInvalidPlan);
    sources.length().do!(|i| {
        assert!((sources[i] as u64) < self.vertices, EInvalidPlan);
        assert!(i == 0 || sources[i - 1] <= sources[i], EInvalidPlan);
        let edges = self.vertex(sources[i]).edges_to(edge.vertex(), edge.input());
        let leaving = edges.count!(|other| other.left_region() == edge.left_region());
        assert!(leaving == sources.count!(|source| source == &sources[i]), EInvalidPlan);
    });
}

fun check_loop(self: &Dag, number: u16, block: &Block) {
    assert!(block.cursors().is_empty() && block.collect_edges().is_empty(), EInvalidPlan);
    block.starts().do_ref!(|start| {
        let region = if (plan::is_block(*start)) {
            let inner = plan::block_number(*start);
            assert!((inner as u64) < self.blocks, EInvalidPlan);
            let inner = self.block(inner);
            assert!(inner.is_region() && inner.enclosing().contains(&number), EInvalidPlan);
            inner.region()
        } else self.inside(*start, number).region();
        assert!(region == block.region(), EInvalidPlan);
    });
}

/// Return a vertex that is inside a block. Aborts with `EInvalidPlan`.
fun inside(self: &Dag, vertex: u16, block: u16): &Vertex {
    assert!((vertex as u64) < self.vertices, EInvalidPlan);
    let vertex = self.vertex(vertex);
    assert!(vertex.blocks().contains(&block), EInvalidPlan);
    vertex
}
