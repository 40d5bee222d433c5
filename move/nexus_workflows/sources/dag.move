/// A published workflow: a graph whose vertices are tools, and whose edges carry values between
/// their ports.
///
/// It is published under an FQN, as tools are, and never changes again. Its id is derived from the
/// registry of workflows and the FQN. It has
///
/// * the document that people wrote, compressed, in chunks, and the digest of what it says;
/// * the plan of it, which is what `walks` executes: the vertices with their ports and edges, and
///   the blocks around them, in pages of 64, which are dynamic fields.
///
/// Whether the plan is that of the document is for readers to check: whoever knows both does. The
/// chain checks that whatever the plan names is there.
///
/// What a plan consists of is in `plan`.
module nexus_workflows::dag;

use nexus_tools::fqn;
use nexus_tools::name::{Self, Name};
use nexus_tools::permit::Permit;
use nexus_tools::tool_registry::ToolRegistry;
use nexus_tools::value::{Ports, Value};
use nexus_workflows::dag_registry::DagRegistry;
use nexus_workflows::plan::{Self, Block, Collect, Edge, Source, Vertex};
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
/// The plan goes beyond a limit: 2 048 vertices or blocks, blocks 8 deep, 256 entry groups of
/// 128 vertices, attempts 90 days apart, 64 KiB in a page, or in the workflow without its pages.
const ETooLarge: u64 = 7;
/// A page was not checked since the last addition: `check` each of them first.
const ENotChecked: u64 = 8;
/// A tool was never registered: register it first.
const EUnknownTool: u64 = 9;

// === Constants ===

const PAGE: u64 = 64;
const MAX_VERTICES: u64 = 2_048;
const MAX_BLOCKS: u64 = 2_048;
/// An execution begins with all vertices of its group at once.
const MAX_ENTRIES: u64 = 128;
/// Executions name groups by a byte.
const MAX_GROUPS: u64 = 256;
/// A path has a number for each block.
const MAX_DEPTH: u64 = 8;
const MAX_DESCRIPTION_BYTES: u64 = 4_096;
/// A step of an execution reads the workflow, and the pages of all vertices and blocks that it meets.
const MAX_PAGE_BYTES: u64 = 65_536;
/// The thousandths of gas units that reading a byte of the workflow takes, and of a page, and the gas
/// units of both that fees cover.
const HEAD_BYTE_GAS: u64 = 15;
const PAGE_BYTE_GAS: u64 = 3;
const COVERED_GAS_UNITS: u64 = 30;
/// Among the bits that stand for pages, that of the first page of blocks.
const BLOCK_PAGE_BIT: u64 = 32;
/// An execution lasts 90 days at most.
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
    /// The bytes of the pages of vertices, and then of blocks, that are checked.
    page_bytes: vector<u64>,
    /// The bytes of all but the pages, once it is published.
    head_bytes: u64,
    /// With which its runs are carried.
    permit: Permit,
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

/// Begins to write the first version of a name, which the sender owns from now on; the name has
/// to be shared in the same transaction. Aborts as `name::claim` and `draft_version`
/// does.
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

/// Begins to write a further version of a name; `tools` are the FQNs of its tools. Aborts with
/// `EInvalidFqn`, `EWrongName`, `EFqnTaken`, `EDescriptionTooLong`, `EUnknownTool`,
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
    assert!(name.is_of(&fqn), EWrongName);
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

/// Adds a chunk of the document, which is canonical JSON compressed with DEFLATE (RFC 1950).
public fun add_chunk(self: &mut Dag, chunk: vector<u8>) {
    field::add(&mut self.id, Chunk(self.chunks), chunk);
    self.chunks = self.chunks + 1;
}

/// Adds an entry group. Aborts with `ETooLarge`.
public fun add_group(self: &mut Dag, name: ascii::String, vertices: vector<u16>) {
    assert!(vertices.length() <= MAX_ENTRIES && self.groups.length() < MAX_GROUPS, ETooLarge);
    self.page_bytes = vector[];
    self.groups.push_back(Group { name, vertices });
}

/// Adds the default values of a vertex. Aborts with `EWrongPlan` if it has some.
public fun add_defaults(self: &mut Dag, vertex: u16, values: Ports) {
    assert!(!field::exists_(&self.id, Defaults(vertex)), EWrongPlan);
    field::add(&mut self.id, Defaults(vertex), values);
}

/// Adds a page of blocks, each given by whether it is a region, the blocks around it, the
/// vertices and ports that it needs, its cursors, and what may start. Blocks come before
/// vertices, and those around a block before it. Aborts with `ELengthMismatch`, `EWrongPage`,
/// `EWrongPlan`, `ETooLarge` or `plan::ETooLarge`.
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
    assert!(self.blocks % PAGE == 0 && self.vertices == 0, EWrongPage);
    assert!(0 < n && n <= PAGE, EWrongPage);
    assert!(self.blocks + n <= MAX_BLOCKS, ETooLarge);
    self.page_bytes = vector[];
    let mut page = vector[];
    n.do!(|i| {
        assert!(needs[i].length() == needed_ports[i].length(), ELengthMismatch);
        assert!(around[i].length() < MAX_DEPTH, ETooLarge);
        let region = self.innermost_region(&around[i], &page);
        let needed = needs[i].zip_map!(needed_ports[i], |vertex, port| plan::new_input(vertex, port));
        let block = plan::new_block(are_regions[i], around[i], region, needed, cursors[i], starts[i]);
        page.push_back(block);
    });
    field::add(&mut self.id, BlockPage(self.blocks / PAGE), page);
    self.blocks = self.blocks + n;
}

/// Adds to the blocks of a page what gets their lists: `blocks` are their places in the page,
/// `rows` edges as `add_edges` takes them, and `sources` the vertex of each edge that leads
/// there. Aborts with `ELengthMismatch`, `EWrongPage`, `plan::EWrongRow` or `plan::ETooLarge`.
public fun add_collects(
    self: &mut Dag,
    page: u64,
    blocks: vector<u8>,
    rows: vector<vector<u16>>,
    sources: vector<vector<u16>>,
) {
    let n = blocks.length();
    assert!(n == rows.length() && n == sources.length(), ELengthMismatch);
    let page: &mut vector<Block> = self.page_mut(BlockPage(page));
    n.do!(|i| page.entry(blocks[i]).add_collect(rows[i], sources[i]));
}

/// Adds a page of vertices, each given by the number of its tool, the blocks around it, the
/// groups that begin with it, its attempts and how far apart they are, how many iterations are
/// under way at once, and whether its failures end the execution. Aborts with
/// `ELengthMismatch`, `EWrongPage`, `EWrongPlan` or `ETooLarge`.
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
    assert!(self.vertices % PAGE == 0 && 0 < n && n <= PAGE, EWrongPage);
    assert!(self.vertices + n <= MAX_VERTICES, ETooLarge);
    self.page_bytes = vector[];
    let page = vector::tabulate!(n, |i| {
        assert!((tools[i] as u64) < self.tools.length(), EWrongPlan);
        assert!(attempts[i] > 0 && parallel[i] > 0, EWrongPlan);
        assert!(blocks[i].length() <= MAX_DEPTH, ETooLarge);
        assert!(retry_after_ms[i] <= MAX_RETRY_AFTER_MS, ETooLarge);
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

/// Adds input ports to the vertices of a page: `vertices` are their places in it, `flags` have
/// 1 for an entry port, 2 for a default value, 4 for a `static` edge. Aborts with
/// `ELengthMismatch`, `EWrongPage`, `plan::EPortTwice` or `plan::ETooLarge`.
public fun add_ports(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    names: vector<ascii::String>,
    flags: vector<u8>,
) {
    let n = vertices.length();
    assert!(n == names.length() && n == flags.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = self.page_mut(VertexPage(page));
    n.do!(|i| page.entry(vertices[i]).add_port(names[i], flags[i]));
}

/// Adds sources to ports of the vertices of a page. A row is the origin, 1 for `do_while`, and
/// the rounds. Aborts with `ELengthMismatch`, `EWrongPage`, `plan::EWrongRow` or
/// `plan::ETooLarge`.
public fun add_sources(
    self: &mut Dag,
    page: u64,
    vertices: vector<u8>,
    ports: vector<u8>,
    rows: vector<vector<u16>>,
) {
    let n = vertices.length();
    assert!(n == ports.length() && n == rows.length(), ELengthMismatch);
    let page: &mut vector<Vertex> = self.page_mut(VertexPage(page));
    n.do!(|i| page.entry(vertices[i]).add_source(ports[i], rows[i]));
}

/// Adds edges to the vertices of a page, those of one variant in their order. A row is the
/// number of the edge, the vertex and the number of the port that it leads to, its kind (1 for
/// `for_each`, 2 for `do_while`, 3 for `break`, 4 for `static`, else 0), `keeps`, `zeros`,
/// `scope`, `element`, `left` (65 535 for none), and the rounds. Aborts with `ELengthMismatch`,
/// `EWrongPage`, `plan::EWrongRow` or `plan::ETooLarge`.
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
    let page: &mut vector<Vertex> = self.page_mut(VertexPage(page));
    n.do!(|i| page.entry(vertices[i]).add_edge(variants[i], ports[i], rows[i]));
}

/// Keeps an unfinished workflow with the sender, who goes on in the next transaction.
public fun keep(self: Dag, ctx: &TxContext) { transfer::transfer(self, ctx.sender()) }

/// Checks a page of vertices or, after them, of blocks, once all is there, one after the other:
/// what it names exists, and what it says of the ways of values can be followed from
/// everywhere. So a step of an execution finds whatever it looks for. Aborts with `EWrongPage`,
/// `EWrongPlan` or `ETooLarge`.
public fun check(self: &mut Dag, page: u64) {
    let vertex_pages = pages(self.vertices);
    let is_next = page == self.page_bytes.length();
    assert!(is_next && page < vertex_pages + pages(self.blocks), EWrongPage);
    let bytes = if (page < vertex_pages) self.check_vertices(page)
    else self.check_blocks(page - vertex_pages);
    self.page_bytes.push_back(bytes);
}

/// Publishes the workflow: it never changes again. Aborts with `ENotChecked` or `ETooLarge`.
public fun publish(mut self: Dag, ctx: &TxContext) {
    let pages = pages(self.vertices) + pages(self.blocks);
    assert!(self.vertices > 0 && self.page_bytes.length() == pages, ENotChecked);
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

/// The FQN.
public fun fqn(self: &Dag): ascii::String { self.fqn }

/// The SHA-256 of the canonical document.
public fun digest(self: &Dag): vector<u8> { self.digest }

/// The tools that vertices name.
public fun tools(self: &Dag): &vector<ID> { &self.tools }

// === Package functions ===

public(package) fun permit(self: &Dag): Permit { self.permit }

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

/// The bytes of the default values of a vertex, which are read together.
public(package) fun default_bytes(self: &Dag, number: u16): u64 {
    if (!field::exists_(&self.id, Defaults(number))) return 0;
    let values: &Ports = field::borrow(&self.id, Defaults(number));
    values.size()
}

/// The page of a vertex, as a bit.
public(package) fun vertex_page(number: u16): u64 { 1 << (((number as u64) / PAGE) as u8) }

/// The page of a block, as a bit.
public(package) fun block_page(number: u16): u64 {
    1 << ((BLOCK_PAGE_BIT + (number as u64) / PAGE) as u8)
}

/// All pages, as bits.
public(package) fun all_pages(): u64 { 0xFFFF_FFFF_FFFF_FFFF }

/// The gas units of a transaction that reads the workflow and these pages, beyond those that fees
/// cover. Sui reads a page once, and takes as much for it however often it is looked at.
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

/// How many pages so many entries take.
fun pages(entries: u64): u64 { entries.divide_and_round_up(PAGE) }

/// The bytes of a page, or of a workflow without its pages. Aborts with `ETooLarge`.
fun size<T>(value: &T): u64 {
    let bytes = bcs::to_bytes(value).length();
    assert!(bytes <= MAX_PAGE_BYTES, ETooLarge);
    bytes
}

/// A page to which something is added: all of them are to be checked afterwards.
fun page_mut<Key: copy + drop + store, Entry: store>(
    self: &mut Dag,
    key: Key,
): &mut vector<Entry> {
    assert!(field::exists_(&self.id, key), EWrongPage);
    self.page_bytes = vector[];
    field::borrow_mut(&mut self.id, key)
}

/// An entry of a page.
fun entry<Entry>(page: &mut vector<Entry>, place: u8): &mut Entry {
    assert!((place as u64) < page.length(), EWrongPage);
    &mut page[place as u64]
}

/// Where the innermost region of these blocks is, the last ones of which may be in a page to
/// come. Aborts with `EWrongPlan` unless they lie in each other.
fun innermost_region(self: &Dag, blocks: &vector<u16>, page: &vector<Block>): Option<u8> {
    let mut found = option::none();
    blocks.length().do!(|i| {
        let number = blocks[i] as u64;
        assert!(number < self.blocks + page.length(), EWrongPlan);
        let block = if (number < self.blocks) self.block(blocks[i]) else &page[number - self.blocks];
        let around = block.around();
        // What is around the one around it was compared before.
        assert!(around.length() == i && (i == 0 || around[i - 1] == blocks[i - 1]), EWrongPlan);
        if (block.is_region()) found = option::some(i as u8);
    });
    found
}

// === Private functions: checking vertices ===

/// Checks a page, and gives its bytes.
fun check_vertices(self: &Dag, page: u64): u64 {
    let vertices: &vector<Vertex> = field::borrow(&self.id, VertexPage(page));
    let bytes = size(vertices);
    self.groups.length().do!(|group| self.groups[group].vertices.do_ref!(|number| {
        let number = *number as u64;
        assert!(number < self.vertices, EWrongPlan);
        let is_here = number / PAGE == page;
        assert!(!is_here || vertices[number % PAGE].is_in_group(group as u8), EWrongPlan);
    }));
    vertices.length().do!(|i| self.check_vertex((page * PAGE + i) as u16, &vertices[i]));
    bytes
}

fun check_vertex(self: &Dag, number: u16, vertex: &Vertex) {
    vertex.groups().do_ref!(|group| {
        assert!((*group as u64) < self.groups.length(), EWrongPlan);
        assert!(self.group(*group).contains(&number), EWrongPlan);
    });
    vertex.ports().do_ref!(|port| {
        assert!(!port.is_constant() || self.has_default(number, &port.name()), EWrongPlan);
        port.sources().do_ref!(|source| self.check_source(vertex.blocks(), source));
    });
    let mut numbers = vector[];
    vertex.variants().do_ref!(|variant| variant.edges().do_ref!(|edge| {
        assert!(!numbers.contains(&edge.number()), EWrongPlan);
        numbers.push_back(edge.number());
        self.check_edge(vertex.blocks(), edge);
        assert!(edge.left().is_none() || self.is_gathered(number, edge), EWrongPlan);
    }));
}

fun has_default(self: &Dag, number: u16, port: &ascii::String): bool {
    if (!field::exists_(&self.id, Defaults(number))) return false;
    let values: &Ports = field::borrow(&self.id, Defaults(number));
    values.has(port)
}

fun check_source(self: &Dag, blocks: &vector<u16>, source: &Source) {
    let origin = source.origin();
    let is_there = if (plan::is_block(origin)) {
        (plan::block_number(origin) as u64) < self.blocks
    } else (origin as u64) < self.vertices;
    assert!(is_there, EWrongPlan);
    assert!(!source.is_again() || self.is_in_loop(blocks), EWrongPlan);
}

/// Whether the region that a `collect` edge leaves brings the list to where the edge leads.
fun is_gathered(self: &Dag, number: u16, edge: &Edge): bool {
    self.block(edge.left().destroy_some()).collects().any!(|collect| {
        is_like(collect.edge(), edge) && collect.sources().contains(&number)
    })
}

/// Whether two edges lead to the same port.
fun is_like(edge: &Edge, other: &Edge): bool {
    edge.vertex() == other.vertex() && edge.input() == other.input()
}

// === Private functions: checking edges ===

/// Checks where an edge leads from inside these blocks. All of it but the port follows from the
/// blocks around both ends.
fun check_edge(self: &Dag, from: &vector<u16>, edge: &Edge) {
    assert!((edge.vertex() as u64) < self.vertices, EWrongPlan);
    let target = self.vertex(edge.vertex());
    assert!((edge.input() as u64) < target.ports().length(), EWrongPlan);
    if (from.is_empty() && target.blocks().is_empty()) {
        assert!(edge.is_plain(), EWrongPlan);
        return
    };
    let (to, keeps, end) = (target.blocks(), edge.keeps(), edge.keeps() + edge.zeros());
    assert!(keeps == shared_length(from, to), EWrongPlan);
    self.check_leaving(from, edge);
    let mut rounds = vector[];
    keeps.range_do!(to.length(), |at| {
        // Zeros are the first rounds of loops.
        if (self.is_region(to[at])) assert!(at >= end, EWrongPlan) else rounds.push_back(at as u8);
    });
    assert!(edge.rounds() == &rounds, EWrongPlan);
    // What enters a block stays there in all rounds, or nothing for this port does.
    let is_entered = keeps < to.length();
    let holds_statics = target.ports()[edge.input() as u64].is_static();
    assert!(edge.is_static() == (is_entered && holds_statics), EWrongPlan);
    if (edge.scope().is_some()) self.check_scope(to, edge)
    else {
        assert!(end == to.length(), EWrongPlan);
        assert!(edge.is_again() || !self.is_cursor(target, edge.vertex())
            || (!holds_statics && self.is_needed(target, edge)), EWrongPlan);
    };
    let element = edge.element();
    assert!(edge.is_for_each() == element.is_some(), EWrongPlan);
    assert!(element.is_none() || element == target.region(), EWrongPlan);
    assert!(element.destroy_or!(0xFF) as u64 >= keeps, EWrongPlan);
    let stays = from == to && self.is_in_loop(to);
    assert!(!edge.is_again() || stays, EWrongPlan);
}

/// Only `collect` and `break` edges leave a block, their own.
fun check_leaving(self: &Dag, from: &vector<u16>, edge: &Edge) {
    let (keeps, left) = (edge.keeps(), edge.left());
    let leaves = from.length() - keeps;
    if (left.is_some()) {
        assert!(leaves == 1 && left.contains(&from[keeps]), EWrongPlan);
        assert!(self.is_region(from[keeps]) && edge.is_normal(), EWrongPlan);
    } else if (edge.is_break()) {
        assert!(leaves == 1 && !self.is_region(from[keeps]), EWrongPlan);
    } else assert!(leaves == 0, EWrongPlan);
}

/// The value is kept where the edge enters the first region, or `static` the first block, which
/// opens by it.
fun check_scope(self: &Dag, to: &vector<u16>, edge: &Edge) {
    let (scope, end) = (edge.scope().destroy_some(), edge.keeps() + edge.zeros());
    assert!(end < to.length() && to[end] == scope, EWrongPlan);
    assert!(if (edge.is_static()) edge.zeros() == 0 else self.is_region(scope), EWrongPlan);
    assert!(self.block(scope).has_need(edge.vertex(), edge.input()), EWrongPlan);
}

/// Whether iterations of the region around a vertex begin with it.
fun is_cursor(self: &Dag, vertex: &Vertex, number: u16): bool {
    vertex.region().is_some_and!(|at| {
        self.block(vertex.blocks()[*at as u64]).cursors().contains(&number)
    })
}

/// Whether the region around a vertex with which iterations begin needs the port to open: then
/// what comes from inside comes second, and there is one way alone in which the run starts.
fun is_needed(self: &Dag, vertex: &Vertex, edge: &Edge): bool {
    let region = vertex.blocks()[vertex.region().destroy_some() as u64];
    self.block(region).has_need(edge.vertex(), edge.input())
}

/// How many blocks are around both ends.
fun shared_length(one: &vector<u16>, other: &vector<u16>): u64 {
    let most = one.length().min(other.length());
    let mut length = 0;
    while (length < most && one[length] == other[length]) length = length + 1;
    length
}

fun is_region(self: &Dag, block: u16): bool { self.block(block).is_region() }

/// Whether the innermost of these blocks is a loop.
fun is_in_loop(self: &Dag, blocks: &vector<u16>): bool {
    !blocks.is_empty() && !self.is_region(blocks[blocks.length() - 1])
}

// === Private functions: checking blocks ===

/// Checks a page, and gives its bytes.
fun check_blocks(self: &Dag, page: u64): u64 {
    let blocks: &vector<Block> = field::borrow(&self.id, BlockPage(page));
    let bytes = size(blocks);
    blocks.length().do!(|i| {
        let (number, block) = ((page * PAGE + i) as u16, &blocks[i]);
        block.needs().do_ref!(|need| {
            let vertex = self.inside(need.vertex(), number);
            assert!((need.port() as u64) < vertex.ports().length(), EWrongPlan);
        });
        if (block.is_region()) self.check_region(number, block) else self.check_loop(number, block);
    });
    bytes
}

fun check_region(self: &Dag, number: u16, block: &Block) {
    assert!(block.starts().is_empty(), EWrongPlan);
    let mut cursors = vector[];
    block.cursors().do_ref!(|cursor| {
        assert!(!cursors.contains(cursor), EWrongPlan);
        cursors.push_back(*cursor);
        self.check_cursor(self.inside(*cursor, number), block);
    });
    let mut from = *block.around();
    from.push_back(number);
    let mut edges = vector[];
    block.collects().do_ref!(|collect| {
        let edge = collect.edge();
        assert!(edge.left().contains(&number), EWrongPlan);
        self.check_edge(&from, edge);
        assert!(!edges.any!(|other| is_like(edge, other)), EWrongPlan);
        edges.push_back(*edge);
        self.check_sources(collect);
    });
}

/// The loops between a region and a vertex with which its iterations begin open with the
/// region.
fun check_cursor(self: &Dag, vertex: &Vertex, region: &Block) {
    let depth = region.around().length();
    assert!(vertex.region().contains(&(depth as u8)), EWrongPlan);
    (depth + 1).range_do!(vertex.blocks().length(), |at| {
        self.block(vertex.blocks()[at]).needs().do_ref!(|need| {
            assert!(region.has_need(need.vertex(), need.port()), EWrongPlan);
        });
    });
}

/// The sources of a list are told in order, each as often as it has an edge to it.
fun check_sources(self: &Dag, collect: &Collect) {
    let (edge, sources) = (collect.edge(), collect.sources());
    assert!(!sources.is_empty(), EWrongPlan);
    sources.length().do!(|i| {
        assert!((sources[i] as u64) < self.vertices, EWrongPlan);
        assert!(i == 0 || sources[i - 1] <= sources[i], EWrongPlan);
        let edges = self.vertex(sources[i]).edges_to(edge.vertex(), edge.input());
        let leaving = edges.count!(|each| each.left() == edge.left());
        assert!(leaving == sources.count!(|each| each == &sources[i]), EWrongPlan);
    });
}

fun check_loop(self: &Dag, number: u16, block: &Block) {
    assert!(block.cursors().is_empty() && block.collects().is_empty(), EWrongPlan);
    block.starts().do_ref!(|start| {
        let region = if (plan::is_block(*start)) {
            let inner = plan::block_number(*start);
            assert!((inner as u64) < self.blocks, EWrongPlan);
            let inner = self.block(inner);
            assert!(inner.is_region() && inner.around().contains(&number), EWrongPlan);
            inner.region()
        } else self.inside(*start, number).region();
        assert!(region == block.region(), EWrongPlan);
    });
}

/// A vertex that is inside a block. Aborts with `EWrongPlan`.
fun inside(self: &Dag, vertex: u16, block: u16): &Vertex {
    assert!((vertex as u64) < self.vertices, EWrongPlan);
    let vertex = self.vertex(vertex);
    assert!(vertex.blocks().contains(&block), EWrongPlan);
    vertex
}
