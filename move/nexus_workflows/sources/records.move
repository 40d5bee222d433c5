/// What is known of an execution: a flat map of small records, as dynamic fields.
///
/// There is one for each run that waits for values or has started, and one for each instance of
/// a block to which something was brought. Values are by reference: what is kept of one is the
/// edge that brought it. From which run it came follows from the path of where it lies, and
/// from `round` if it left a loop.
module nexus_workflows::records;

use nexus_tools::run::{Self, Run};
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::plan::{Self, Edge, Vertex};
use std::ascii::{Self, String};
use sui::dynamic_field as field;

public use fun source_run as Source.run;
public use fun source_port as Source.port;
public use fun source_element as Source.element;
public use fun source_gathered as Source.gathered;

// === Constants ===

/// Phases of a run.
const WAITING: u8 = 0;
const READY: u8 = 1;
const UNDER_WAY: u8 = 2;
const CLOSED: u8 = 3;

/// Phases of a region, after `WAITING`.
const OPEN: u8 = 1;
const GATHERED: u8 = 2;

/// What records take in objects, without the numbers of their paths.
const RUN_BYTES: u64 = 316;
const INSTANCE_BYTES: u64 = 293;
const MARK_BYTES: u64 = 287;
const NUMBER_BYTES: u64 = 4;
const DELIVERY_BYTES: u64 = 9;
const CURSOR_BYTES: u64 = 12;
const BROUGHT_BYTES: u64 = 18;

/// What steps do, about in tens of Move instructions: looking for a record, and at what was brought
/// to it; at a port, and at a source of that; following an edge; opening a region, and each of its
/// cursors; requesting a run.
const LOOK_EFFORT: u64 = 20;
const BROUGHT_EFFORT: u64 = 2;
const PORT_EFFORT: u64 = 5;
const SOURCE_EFFORT: u64 = 2;
const EDGE_EFFORT: u64 = 75;
const OPEN_EFFORT: u64 = 60;
const REQUEST_EFFORT: u64 = 150;

/// How deep blocks nest at most.
const MAX_DEPTH: u64 = 8;

// === Structs ===

/// The records of an execution.
public struct Records has store {
    id: UID,
    length: u64,
    /// What was written since `take_bytes`, what was done since `take_effort`, and the pages that were
    /// read since `take_pages`, as bits: somebody has to be paid for it.
    bytes: u64,
    effort: u64,
    pages: u64,
}

/// An instance of a block, with the path around it, and the key of its record.
public struct Instance has copy, drop, store {
    block: u16,
    path: vector<u32>,
}

/// The key of what an iteration gave to a port to which several edges lead.
public struct Mark has copy, drop, store {
    region: u16,
    path: vector<u32>,
    vertex: u16,
    input: u8,
    iteration: u32,
}

/// The edge that an iteration followed, and the vertex that it comes from.
public struct Gathered has copy, drop, store {
    origin: u16,
    edge: u16,
}

/// How far a run is, and what was brought to it alone.
public struct RunRecord has drop, store {
    phase: u8,
    /// The attempt that is ready, under way or was the last one, from 1.
    attempt: u8,
    /// Before this, it is not tried again.
    not_before_ms: u64,
    /// Its last invocation, or 0x0.
    invocation: ID,
    /// Why it was not invoked the last time, if it was not; or that its answer lacked a port.
    refusal: String,
    deliveries: vector<Delivery>,
}

/// A value of a port; `origin` is the vertex that it comes from, or the region.
public struct Delivery has copy, drop, store {
    port: u8,
    origin: u16,
    edge: u16,
    round: u32,
}

/// What was brought to all inside an instance of a block, and of a region how far it is.
public struct InstanceRecord has drop, store {
    phase: u8,
    /// Runs inside that are ready, under way or still to come, and regions that are open.
    live: u32,
    /// Those of the block's cursors, in their order.
    cursors: vector<Cursor>,
    brought: vector<Brought>,
}

/// The iterations that begin with a vertex: those from `next` to `count` were not requested.
public struct Cursor has copy, drop, store {
    next: u32,
    count: u32,
    outstanding: u32,
}

/// A value of a port for all that is inside; `length` is that of the list if `element` picks
/// one.
public struct Brought has copy, drop, store {
    vertex: u16,
    port: u8,
    origin: u16,
    edge: u16,
    round: u32,
    is_static: bool,
    rounds: vector<u8>,
    element: Option<u8>,
    length: u32,
}

/// What the ports of a run have.
public struct Look has drop {
    /// Whether each has a value, elements beyond the end of their list included.
    is_served: bool,
    /// Whether no element is beyond the end of its list.
    is_within: bool,
    /// Whether something brought the run about that did not come to it alone.
    is_begun: bool,
    /// The length of the shortest list of which it takes an element.
    count: Option<u32>,
}

/// Where the value of a port is: an output port of a run, or an element of its list; or what a
/// region gathered; or neither, if it is an entry or a default value.
public struct Source has copy, drop, store {
    run: Option<Run>,
    port: String,
    element: Option<u32>,
    gathered: Option<Instance>,
}

// === Package functions: keys ===

/// The run with which an iteration begins at a vertex that has so many blocks around it.
public(package) fun iteration(
    depth: u64,
    number: u16,
    path: &vector<u32>,
    iteration: u32,
): Run {
    let mut path = *path;
    path.push_back(iteration);
    run::new(number, extended(&path, depth))
}

public(package) fun instance(block: u16, path: vector<u32>): Instance { Instance { block, path } }

/// The instance of one of these blocks that is around a path.
public(package) fun around(blocks: &vector<u16>, depth: u64, path: &vector<u32>): Instance {
    Instance { block: blocks[depth], path: prefix(path, depth) }
}

public(package) fun block(self: &Instance): u16 { self.block }

public(package) fun outside(self: &Instance): &vector<u32> { &self.path }

public(package) fun mark(
    region: u16,
    path: vector<u32>,
    vertex: u16,
    input: u8,
    iteration: u32,
): Mark {
    Mark { region, path, vertex, input, iteration }
}

/// A path with zeros up to this length.
public(package) fun extended(path: &vector<u32>, length: u64): vector<u32> {
    vector::tabulate!(length, |i| if (i < path.length()) path[i] else 0)
}

/// The first numbers of a path.
public(package) fun prefix(path: &vector<u32>, length: u64): vector<u32> {
    vector::tabulate!(length, |i| path[i])
}

// === Package functions: all records ===

/// No records.
public(package) fun none(ctx: &mut TxContext): Records {
    Records { id: object::new(ctx), length: 0, bytes: 0, effort: 0, pages: 0 }
}

/// How many there are.
public(package) fun length(self: &Records): u64 { self.length }

/// Counts bytes that are written elsewhere.
public(package) fun write(self: &mut Records, bytes: u64) { self.bytes = self.bytes + bytes }

/// The bytes that were written since.
public(package) fun take_bytes(self: &mut Records): u64 {
    let bytes = self.bytes;
    self.bytes = 0;
    bytes
}

/// Counts what is done, about in tens of Move instructions.
public(package) fun work(self: &mut Records, effort: u64) { self.effort = self.effort + effort }

/// What was done since.
public(package) fun take_effort(self: &mut Records): u64 {
    let effort = self.effort;
    self.effort = 0;
    effort
}

/// Notes that the page of a vertex is read.
public(package) fun read_vertex(self: &mut Records, number: u16) {
    self.pages = self.pages | dag::vertex_page(number);
}

/// Notes that the page of a block is read.
public(package) fun read_block(self: &mut Records, number: u16) {
    self.pages = self.pages | dag::block_page(number);
}

/// The pages that were read since.
public(package) fun take_pages(self: &mut Records): u64 {
    let pages = self.pages;
    self.pages = 0;
    pages
}

/// Removes the record of a run; false if there is none.
public(package) fun remove_run(self: &mut Records, run: Run): bool {
    if (!self.has(run)) return false;
    let _: RunRecord = field::remove(&mut self.id, run);
    self.length = self.length - 1;
    true
}

/// Removes the record of an instance of a block; false if there is none.
public(package) fun remove_instance(self: &mut Records, instance: Instance): bool {
    if (!self.knows(instance)) return false;
    let _: InstanceRecord = field::remove(&mut self.id, instance);
    self.length = self.length - 1;
    true
}

/// Removes a mark; false if there is none.
public(package) fun remove_mark(self: &mut Records, mark: Mark): bool {
    if (!field::exists_(&self.id, mark)) return false;
    let _: Gathered = field::remove(&mut self.id, mark);
    self.length = self.length - 1;
    true
}

/// Deletes what has no record any more.
public(package) fun delete(self: Records) {
    let Records { id, .. } = self;
    id.delete();
}

// === Package functions: runs ===

/// Whether there is a record of a run.
public(package) fun has(self: &Records, run: Run): bool { field::exists_(&self.id, run) }

/// Adds the record of a run that is ready.
public(package) fun add_ready(self: &mut Records, run: Run) { self.add(run, READY) }

/// Adds the record of a run that is under way.
public(package) fun add_under_way(self: &mut Records, run: Run) { self.add(run, UNDER_WAY) }

/// The record of a run.
public(package) fun of(self: &Records, run: Run): &RunRecord { field::borrow(&self.id, run) }

/// The record of a run, to be changed.
public(package) fun of_mut(self: &mut Records, run: Run): &mut RunRecord {
    field::borrow_mut(&mut self.id, run)
}

/// Brings a value to one run; false if there is one.
public(package) fun put(
    self: &mut Records,
    dag: &Dag,
    run: Run,
    edge: &Edge,
    origin: u16,
    round: u32,
): bool {
    let port = edge.input();
    self.work(EDGE_EFFORT);
    if (self.is_scoped(dag, run.vertex(), port, run.path(), false)) return false;
    if (!self.has(run)) self.add(run, WAITING);
    let record = self.of_mut(run);
    if (record.phase != WAITING) return false;
    if (record.deliveries.any!(|each| each.port == port)) return false;
    record.deliveries.push_back(Delivery { port, origin, edge: edge.number(), round });
    self.bytes = self.bytes + DELIVERY_BYTES;
    true
}

public(package) fun is_waiting(self: &RunRecord): bool { self.phase == WAITING }

public(package) fun is_ready(self: &RunRecord): bool { self.phase == READY }

public(package) fun is_closed(self: &RunRecord): bool { self.phase == CLOSED }

/// Its last invocation, or 0x0.
public(package) fun invocation(self: &RunRecord): ID { self.invocation }

/// Why it was not invoked the last time, or what its answer was taken for; or nothing.
public(package) fun refusal(self: &RunRecord): String { self.refusal }

public(package) fun attempt(self: &RunRecord): u8 { self.attempt }

public(package) fun not_before_ms(self: &RunRecord): u64 { self.not_before_ms }

public(package) fun start(self: &mut RunRecord) { self.phase = READY }

public(package) fun take(self: &mut RunRecord) { self.phase = UNDER_WAY }

/// Keeps the invocation of a run that is under way.
public(package) fun invoke(self: &mut Records, run: Run, invocation: ID) {
    let record = self.of_mut(run);
    record.invocation = invocation;
    record.refusal = ascii::string(b"");
}

/// Keeps why a run that is under way fails: it was not invoked, or its answer lacks a port.
public(package) fun refuse(self: &mut Records, run: Run, reason: String) {
    let length = self.of(run).refusal.length();
    self.bytes = self.bytes + reason.length() - length.min(reason.length());
    self.of_mut(run).refusal = reason;
}

/// Whether this invocation is what a run that is under way waits for.
public(package) fun awaits(self: &Records, run: Run, invocation: ID): bool {
    if (!self.has(run)) return false;
    let record = self.of(run);
    record.phase == UNDER_WAY && record.invocation == invocation
}

/// The run is tried once more.
public(package) fun retry(self: &mut RunRecord, not_before_ms: u64) {
    self.phase = READY;
    self.attempt = self.attempt + 1;
    self.not_before_ms = not_before_ms;
}

public(package) fun close(self: &mut RunRecord) { self.phase = CLOSED }

/// What the ports of a run have; see `Records.served` and `Records.begins` in
/// `workflow/records.py`.
public(package) fun look(self: &mut Records, dag: &Dag, run: &Run, group: u8): Look {
    self.read_vertex(run.vertex());
    let vertex = dag.vertex(run.vertex());
    let (ports, blocks, region) = (vertex.ports(), vertex.blocks(), vertex.region());
    let n = ports.length();
    let (mut brought, mut scoped, mut statics) = (flags(n), flags(n), flags(n));
    let mut origins = vector[];
    let mut effort = LOOK_EFFORT + PORT_EFFORT * n;
    if (self.has(*run)) {
        self.of(*run).deliveries.do_ref!(|each| {
            *&mut brought[each.port as u64] = true;
            origins.push_back(each.origin);
        });
    };
    let mut found = Look {
        is_served: true,
        is_within: true,
        is_begun: region.is_none() && vertex.is_in_group(group),
        count: option::none(),
    };
    // What came for a region as a whole begins no iteration.
    let inside = region.map!(|depth| depth as u64 + 1).destroy_or!(0);
    blocks.length().do!(|depth| {
        let key = around(blocks, depth, run.path());
        if (self.knows(key)) self.at(key).brought.do_ref!(|each| {
            effort = effort + BROUGHT_EFFORT;
            let port = each.port as u64;
            if (each.vertex == run.vertex() && each.serves(run.path())) {
                let is_first = if (each.is_static) !statics[port] else !scoped[port];
                if (is_first) {
                    if (each.is_static) *&mut statics[port] = true else *&mut scoped[port] = true;
                    if (each.element.is_some()) {
                        let at = *each.element.borrow() as u64;
                        let is_within = brought[port] || run.path()[at] < each.length;
                        found.is_within = found.is_within && is_within;
                        let count = found.count.destroy_or!(each.length).min(each.length);
                        found.count = option::some(count);
                    };
                    found.is_begun = found.is_begun || each.element.is_some() || depth >= inside;
                };
            };
        });
    });
    n.do!(|i| if (!brought[i] && !scoped[i]) {
        let port = &ports[i];
        let falls_back = if (port.is_static()) statics[i]
            else port.is_constant() || (port.is_entry() && vertex.is_in_group(group));
        effort = effort + (SOURCE_EFFORT + origins.length()) * port.sources().length();
        let waits = port.sources().any!(|each| {
            each.reaches(run.path()) && !origins.contains(&each.origin())
        });
        if (!falls_back || waits) found.is_served = false;
    });
    self.work(effort);
    found
}

/// Where the value of a port of a run is that has all its values.
public(package) fun source(self: &Records, dag: &Dag, run: &Run, port: u8): Source {
    if (self.has(*run)) {
        let deliveries = &self.of(*run).deliveries;
        let found = deliveries.find_index!(|each| each.port == port);
        if (found.is_some()) {
            let each = &deliveries[found.destroy_some()];
            return source_of(dag, each.origin, each.edge, each.round, run.path(), option::none())
        };
    };
    // What is not static goes before what is.
    let mut source = Source {
        run: option::none(),
        port: ascii::string(b""),
        element: option::none(),
        gathered: option::none(),
    };
    let blocks = dag.vertex(run.vertex()).blocks();
    let mut depth = blocks.length();
    while (depth > 0) {
        depth = depth - 1;
        let key = around(blocks, depth, run.path());
        if (self.knows(key)) self.at(key).brought.do_ref!(|each| {
            let is_mine = each.vertex == run.vertex() && each.port == port;
            let is_better = !each.is_static || source.run.is_none() && source.gathered.is_none();
            if (is_mine && each.serves(run.path()) && is_better) {
                let element = each.element.map!(|at| run.path()[at as u64]);
                source = source_of(dag, each.origin, each.edge, each.round, &key.path, element);
            };
        });
    };
    source
}

public(package) fun source_run(self: &Source): Option<Run> { self.run }

public(package) fun source_port(self: &Source): String { self.port }

public(package) fun source_element(self: &Source): Option<u32> { self.element }

public(package) fun source_gathered(self: &Source): Option<Instance> { self.gathered }

/// Whether each port has a value.
public(package) fun is_complete(self: &Look): bool { self.is_served && self.is_within }

public(package) fun is_begun(self: &Look): bool { self.is_begun }

/// How many iterations begin with the run, if it is that of the first one.
public(package) fun count(self: &Look): u32 { if (self.is_served) self.count.destroy_or!(0) else 0 }

// === Package functions: instances ===

/// Whether there is a record of an instance.
public(package) fun knows(self: &Records, instance: Instance): bool {
    field::exists_(&self.id, instance)
}

/// The record of an instance.
public(package) fun at(self: &Records, instance: Instance): &InstanceRecord {
    field::borrow(&self.id, instance)
}

/// The record of an instance, to be changed.
public(package) fun at_mut(self: &mut Records, instance: Instance): &mut InstanceRecord {
    field::borrow_mut(&mut self.id, instance)
}

/// Brings a value to all that is inside an instance; false if there is one.
public(package) fun put_in_scope(
    self: &mut Records,
    dag: &Dag,
    instance: Instance,
    edge: &Edge,
    origin: u16,
    round: u32,
    length: u32,
): bool {
    let (vertex, port, is_static) = (edge.vertex(), edge.input(), edge.is_static());
    self.work(EDGE_EFFORT);
    if (self.is_scoped(dag, vertex, port, &instance.path, is_static)) return false;
    if (!self.knows(instance)) {
        let record = InstanceRecord { phase: WAITING, live: 0, cursors: vector[], brought: vector[] };
        field::add(&mut self.id, instance, record);
        self.length = self.length + 1;
        self.bytes = self.bytes + INSTANCE_BYTES + NUMBER_BYTES * instance.path.length();
    };
    let (rounds, element) = (*edge.rounds(), edge.element());
    let element_bytes = if (element.is_some()) 1 else 0;
    self.bytes = self.bytes + BROUGHT_BYTES + rounds.length() + element_bytes;
    let edge = edge.number();
    let brought = Brought { vertex, port, origin, edge, round, is_static, rounds, element, length };
    self.at_mut(instance).brought.push_back(brought);
    true
}

/// Opens a region, with the lengths of its cursors.
public(package) fun open(self: &mut Records, instance: Instance, counts: vector<u32>) {
    self.bytes = self.bytes + CURSOR_BYTES * counts.length();
    self.work(OPEN_EFFORT * (1 + counts.length()));
    let record = self.at_mut(instance);
    record.phase = OPEN;
    record.live = counts.fold!(record.live, |live, count| live + count);
    record.cursors = counts.map!(|count| Cursor { next: 0, count, outstanding: 0 });
}

/// Closes a region in which nothing is left to do; false if it is not open, or something is.
public(package) fun gather(self: &mut InstanceRecord): bool {
    let is_left = self.is_left();
    if (is_left) self.phase = GATHERED;
    is_left
}

/// Whether the region is open, and nothing is left to do in it.
public(package) fun is_left(self: &InstanceRecord): bool { self.phase == OPEN && self.live == 0 }

public(package) fun is_open(self: &InstanceRecord): bool { self.phase == OPEN }

public(package) fun was_opened(self: &InstanceRecord): bool { self.phase != WAITING }

public(package) fun live(self: &InstanceRecord): u32 { self.live }

/// How many iterations there are at most.
public(package) fun iterations(self: &InstanceRecord): u32 {
    let mut length = 0;
    self.brought.do_ref!(|each| length = each.length.max(length));
    length
}

/// Counts one more that is live.
public(package) fun count_on(self: &mut InstanceRecord) { self.live = self.live + 1 }

/// Counts one less; whether that was the last one.
public(package) fun count_off(self: &mut InstanceRecord): bool {
    self.live = self.live - 1;
    self.live == 0
}

/// How many more iterations of a cursor may be taken, if `parallel` of them are under way at
/// once.
public(package) fun free(self: &InstanceRecord, cursor: u64, parallel: u64): u64 {
    let cursor = &self.cursors[cursor];
    let outstanding = (cursor.outstanding as u64).min(parallel);
    (parallel - outstanding).min((cursor.count - cursor.next) as u64)
}

/// Takes so many iterations of a cursor, and gives the first one.
public(package) fun take_next(self: &mut InstanceRecord, cursor: u64, count: u64): u32 {
    let cursor = &mut self.cursors[cursor];
    let first = cursor.next;
    cursor.next = first + (count as u32);
    cursor.outstanding = cursor.outstanding + (count as u32);
    first
}

/// Gives an iteration back that was under way.
public(package) fun give_back(self: &mut InstanceRecord, cursor: u64) {
    let cursor = &mut self.cursors[cursor];
    cursor.outstanding = cursor.outstanding - 1;
}

/// Keeps what an iteration gave; false if it gave something already.
public(package) fun add_mark(self: &mut Records, mark: Mark, origin: u16, edge: u16): bool {
    self.work(EDGE_EFFORT);
    if (field::exists_(&self.id, mark)) return false;
    self.bytes = self.bytes + MARK_BYTES + NUMBER_BYTES * mark.path.length();
    field::add(&mut self.id, mark, Gathered { origin, edge });
    self.length = self.length + 1;
    true
}

/// What an iteration gave, if it did: the edge, and the vertex that it comes from.
public(package) fun marked(self: &Records, mark: Mark): (Option<u16>, u16) {
    if (!field::exists_(&self.id, mark)) return (option::none(), 0);
    let Gathered { origin, edge } = field::borrow(&self.id, mark);
    (option::some(*edge), *origin)
}

/// Whether all these blocks are open around a path.
public(package) fun is_inside_open(
    self: &mut Records,
    dag: &Dag,
    blocks: &vector<u16>,
    path: &vector<u32>,
): bool {
    let mut depth = 0;
    while (depth < blocks.length()) {
        let key = around(blocks, depth, path);
        self.read_block(key.block);
        let is_open = if (dag.block(key.block).is_region()) {
            self.knows(key) && self.at(key).was_opened()
        } else {
            self.has_needs(dag, &key)
        };
        if (!is_open) return false;
        depth = depth + 1;
    };
    true
}

/// Whether an instance of a block has all that it needs.
public(package) fun has_needs(self: &mut Records, dag: &Dag, instance: &Instance): bool {
    self.read_block(instance.block);
    let block = dag.block(instance.block);
    block.needs().all!(|need| {
        let (vertex, port) = (need.vertex(), need.port());
        self.is_scoped(dag, vertex, port, &instance.path, true)
            || (block.is_region() && self.is_scoped(dag, vertex, port, &instance.path, false))
    })
}

// === Package functions: bounds ===

/// The most bytes that following an edge may write: what leaves a region is marked alone.
public(package) fun edge_bytes(dag: &Dag, edge: &Edge): u64 {
    if (edge.left().is_some()) MARK_BYTES + NUMBER_BYTES * MAX_DEPTH
    else brought_bytes(dag, edge)
}

/// The most bytes that bringing a value to where an edge leads may write.
public(package) fun brought_bytes(dag: &Dag, edge: &Edge): u64 {
    let run_bytes = RUN_BYTES + NUMBER_BYTES * MAX_DEPTH + DELIVERY_BYTES;
    let scope = edge.scope();
    if (scope.is_none()) return run_bytes;
    let block = dag.block(scope.destroy_some());
    // A loop that opens starts runs, or opens regions; a region that opens has cursors.
    let start_bytes = run_bytes + CURSOR_BYTES * plan::max_cursors();
    INSTANCE_BYTES + NUMBER_BYTES * MAX_DEPTH + BROUGHT_BYTES + 1 + edge.rounds().length()
        + CURSOR_BYTES * block.cursors().length()
        + start_bytes * block.starts().length()
}

/// What requesting a run takes.
public(package) fun request_effort(): u64 { REQUEST_EFFORT }

/// What following so many edges takes at least.
public(package) fun edges_effort(count: u64): u64 { (EDGE_EFFORT + LOOK_EFFORT) * count }

/// The bytes of the records of so many iterations of a vertex.
public(package) fun iteration_bytes(vertex: &Vertex, count: u64): u64 {
    count * (RUN_BYTES + NUMBER_BYTES * vertex.blocks().length())
}

// === Private functions ===

fun add(self: &mut Records, run: Run, phase: u8) {
    self.bytes = self.bytes + RUN_BYTES + NUMBER_BYTES * run.path().length();
    field::add(
        &mut self.id,
        run,
        RunRecord {
            phase,
            attempt: 1,
            not_before_ms: 0,
            invocation: @0x0.to_id(),
            refusal: ascii::string(b""),
            deliveries: vector[],
        },
    );
    self.length = self.length + 1;
}

/// Whether a value for a port was brought to blocks around this path, or to those whose
/// instance it is.
fun is_scoped(
    self: &mut Records,
    dag: &Dag,
    number: u16,
    port: u8,
    path: &vector<u32>,
    is_static: bool,
): bool {
    self.read_vertex(number);
    let blocks = dag.vertex(number).blocks();
    let mut depth = 0;
    while (depth < blocks.length() && depth <= path.length()) {
        let key = around(blocks, depth, path);
        self.work(LOOK_EFFORT);
        if (self.knows(key)) {
            let effort = BROUGHT_EFFORT * self.at(key).brought.length();
            self.work(effort);
            let is_there = self.at(key).brought.any!(|each| {
                each.vertex == number
                    && each.port == port
                    && each.is_static == is_static
                    && each.serves(path)
            });
            if (is_there) return true;
        };
        depth = depth + 1;
    };
    false
}

/// Whether the value is there for the run of this path.
fun serves(self: &Brought, path: &vector<u32>): bool {
    self.is_static || plan::reaches(false, &self.rounds, path)
}

/// Where a value is that an edge brought to a place.
fun source_of(
    dag: &Dag,
    origin: u16,
    edge: u16,
    round: u32,
    place: &vector<u32>,
    element: Option<u32>,
): Source {
    if (plan::is_block(origin)) {
        let region = plan::block_number(origin);
        let path = prefix(place, dag.block(region).around().length().min(place.length()));
        let gathered = option::some(Instance { block: region, path });
        return Source { run: option::none(), port: ascii::string(b""), element, gathered }
    };
    let (edge, _) = dag.vertex(origin).edge_of(edge);
    let run = run::new(origin, edge.source_path(place, round));
    Source { run: option::some(run), port: edge.port(), element, gathered: option::none() }
}

fun flags(n: u64): vector<bool> { vector::tabulate!(n, |_| false) }
