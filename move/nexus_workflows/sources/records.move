/// The state of an execution, which is a flat map of small records in dynamic fields.
///
/// Each run that waits for values or has started has a record. Each instance of a block that
/// received a value has a record. Values are references, so a record stores only the edge that
/// delivered the value. The path of the record determines the source run. If the value left a loop,
/// `round` is the round of the source run.
module nexus_workflows::records;

use nexus_tools::run::{Self, Run};
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::effort;
use nexus_workflows::plan::{Self, Edge, Vertex};
use std::ascii::{Self, String};
use sui::dynamic_field as field;

public use fun source_run as Source.run;
public use fun source_port as Source.port;
public use fun source_element as Source.element;
public use fun source_region as Source.region;

// === Constants ===

/// The phases of a run.
const WAITING: u8 = 0;
const READY: u8 = 1;
const IN_FLIGHT: u8 = 2;
const CLOSED: u8 = 3;

/// The phases of a region that follow `WAITING`.
const OPEN: u8 = 1;
const GATHERED: u8 = 2;

/// The storage sizes of records in bytes, excluding the numbers of their paths.
const RUN_BYTES: u64 = 316;
const INSTANCE_BYTES: u64 = 293;
const MARK_BYTES: u64 = 289;
const NUMBER_BYTES: u64 = 4;
const DELIVERY_BYTES: u64 = 9;
const CURSOR_BYTES: u64 = 12;
const BROUGHT_BYTES: u64 = 18;

/// The maximum nesting depth of blocks.
const MAX_DEPTH: u64 = 8;

// === Structs ===

/// The records of an execution.
public struct Records has store {
    id: UID,
    length: u64,
    /// The bytes written, the effort, and the bit set of pages read. `take_bytes`, `take_effort`
    /// and `take_pages` reset these values. The sender of a step is paid for all three.
    bytes: u64,
    effort: u64,
    pages: u64,
}

/// An instance of a block, which consists of the block and the path around it. An `Instance` is the
/// key of the instance's record.
public struct Instance has copy, drop, store {
    block: u16,
    path: vector<u32>,
}

/// The key of a mark. A mark records that an iteration delivered a value to a port with several
/// edges.
public struct Mark has copy, drop, store {
    region: u16,
    path: vector<u32>,
    vertex: u16,
    input: u8,
    iteration: u32,
}

/// The edge that an iteration followed, and the source vertex of the edge.
public struct MarkedEdge has copy, drop, store {
    origin: u16,
    edge: u16,
}

/// The state of a run, and the values that were delivered to this run alone.
public struct RunRecord has drop, store {
    phase: u8,
    /// The number of the current or last attempt, counted from 1.
    attempt: u8,
    /// The time before which the run is not retried, in ms.
    not_before_ms: u64,
    /// The ID of the last invocation, or 0x0 if the run has no invocation.
    invocation: ID,
    /// The reason why the last attempt was refused, or `port_missing` if its answer lacked a port.
    /// Otherwise, the string is empty.
    refusal: String,
    deliveries: vector<Delivery>,
}

/// A value that was delivered to a port. `origin` is the vertex or region that delivered the value.
public struct Delivery has copy, drop, store {
    port: u8,
    origin: u16,
    edge: u16,
    round: u32,
}

/// The values that were delivered to an instance of a block, and the state of a region.
public struct InstanceRecord has drop, store {
    phase: u8,
    /// The number of runs inside that are ready, in flight or not yet requested, plus the number of
    /// open regions inside.
    live: u32,
    /// The cursors of the block, in the order of the plan.
    cursors: vector<Cursor>,
    values: vector<ScopedValue>,
}

/// The iterations that start with a vertex. The iterations from `next` to `count` are not yet
/// requested.
public struct Cursor has copy, drop, store {
    next: u32,
    count: u32,
    in_flight: u32,
}

/// A value that was delivered to a port of all runs inside an instance. If `element` is set,
/// `length` is the length of the list.
public struct ScopedValue has copy, drop, store {
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

/// The state of the ports of a run.
public struct Readiness has drop {
    /// Whether each port has a value. An element beyond the end of a list counts as a value here.
    has_values: bool,
    /// Whether all required elements exist in their lists.
    is_in_range: bool,
    /// Whether the entry group, or a value for several runs, starts the run.
    is_triggered: bool,
    /// The length of the shortest list from which the run receives an element.
    count: Option<u32>,
}

/// The location of a port's value.
///
/// The location is an output port of a run, an element of the port's list, or the gathered list of
/// a region. If `run` and `region` are none, the value is an entry or default value.
public struct Source has copy, drop, store {
    run: Option<Run>,
    port: String,
    element: Option<u32>,
    region: Option<Instance>,
}

// === Package functions: keys ===

/// Return the first run of an iteration, for a vertex inside `depth` blocks.
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

/// Return the instance at this depth among the blocks around a path.
public(package) fun enclosing(blocks: &vector<u16>, depth: u64, path: &vector<u32>): Instance {
    Instance { block: blocks[depth], path: prefix(path, depth) }
}

public(package) fun block(self: &Instance): u16 { self.block }

public(package) fun path(self: &Instance): &vector<u32> { &self.path }

public(package) fun mark(
    region: u16,
    path: vector<u32>,
    vertex: u16,
    input: u8,
    iteration: u32,
): Mark {
    Mark { region, path, vertex, input, iteration }
}

/// Return the path, extended with zeros to a length of `length`.
public(package) fun extended(path: &vector<u32>, length: u64): vector<u32> {
    vector::tabulate!(length, |i| if (i < path.length()) path[i] else 0)
}

/// Return the first `length` numbers of a path.
public(package) fun prefix(path: &vector<u32>, length: u64): vector<u32> {
    vector::tabulate!(length, |i| path[i])
}

// === Package functions: records ===

/// Return an empty map of records.
public(package) fun new(ctx: &mut TxContext): Records {
    Records { id: object::new(ctx), length: 0, bytes: 0, effort: 0, pages: 0 }
}

/// Return the number of records.
public(package) fun length(self: &Records): u64 { self.length }

/// Add the number of bytes that another module writes.
public(package) fun add_bytes(self: &mut Records, bytes: u64) { self.bytes = self.bytes + bytes }

/// Return the bytes written since the last call, and reset the count.
public(package) fun take_bytes(self: &mut Records): u64 {
    let bytes = self.bytes;
    self.bytes = 0;
    bytes
}

/// Add to the effort. A unit is about ten Move instructions.
public(package) fun add_effort(self: &mut Records, effort: u64) {
    self.effort = self.effort + effort
}

/// Return the effort since the last call, and reset the count.
public(package) fun take_effort(self: &mut Records): u64 {
    let effort = self.effort;
    self.effort = 0;
    effort
}

/// Record that the page of a vertex is read.
public(package) fun note_vertex_page(self: &mut Records, number: u16) {
    self.pages = self.pages | dag::vertex_page_bit(number);
}

/// Record that the page of a block is read.
public(package) fun note_block_page(self: &mut Records, number: u16) {
    self.pages = self.pages | dag::block_page_bit(number);
}

/// Return a bit set of the pages read since the last call, and reset the set.
public(package) fun take_pages(self: &mut Records): u64 {
    let pages = self.pages;
    self.pages = 0;
    pages
}

/// Remove the record of a run. Return false if the record does not exist.
public(package) fun remove_run(self: &mut Records, run: Run): bool {
    if (!self.has_run(run)) return false;
    let _: RunRecord = field::remove(&mut self.id, run);
    self.length = self.length - 1;
    true
}

/// Remove the record of a block instance. Return false if the record does not exist.
public(package) fun remove_instance(self: &mut Records, instance: Instance): bool {
    if (!self.has_instance(instance)) return false;
    let _: InstanceRecord = field::remove(&mut self.id, instance);
    self.length = self.length - 1;
    true
}

/// Remove a mark. Return false if the mark does not exist.
public(package) fun remove_mark(self: &mut Records, mark: Mark): bool {
    if (!field::exists_(&self.id, mark)) return false;
    let _: MarkedEdge = field::remove(&mut self.id, mark);
    self.length = self.length - 1;
    true
}

/// Delete an empty map of records.
public(package) fun delete(self: Records) {
    let Records { id, .. } = self;
    id.delete();
}

// === Package functions: runs ===

/// Return whether a run has a record.
public(package) fun has_run(self: &Records, run: Run): bool { field::exists_(&self.id, run) }

/// Add the record of a run that is ready.
public(package) fun add_ready(self: &mut Records, run: Run) { self.add_run(run, READY) }

/// Add the record of a run that is in flight.
public(package) fun add_in_flight(self: &mut Records, run: Run) { self.add_run(run, IN_FLIGHT) }

/// Return the record of a run.
public(package) fun run_record(self: &Records, run: Run): &RunRecord {
    field::borrow(&self.id, run)
}

/// Return a mutable reference to the record of a run.
public(package) fun run_record_mut(self: &mut Records, run: Run): &mut RunRecord {
    field::borrow_mut(&mut self.id, run)
}

/// Deliver a value to one run. Return false if the port already has a value.
public(package) fun deliver(
    self: &mut Records,
    dag: &Dag,
    run: Run,
    edge: &Edge,
    origin: u16,
    round: u32,
): bool {
    let port = edge.input();
    self.add_effort(effort::edges(1));
    if (self.has_scoped_value(dag, run.vertex(), port, run.path(), false)) return false;
    if (!self.has_run(run)) self.add_run(run, WAITING);
    let record = self.run_record_mut(run);
    if (record.phase != WAITING) return false;
    if (record.deliveries.any!(|delivery| delivery.port == port)) return false;
    record.deliveries.push_back(Delivery { port, origin, edge: edge.number(), round });
    self.bytes = self.bytes + DELIVERY_BYTES;
    true
}

public(package) fun is_waiting(self: &RunRecord): bool { self.phase == WAITING }

public(package) fun is_ready(self: &RunRecord): bool { self.phase == READY }

public(package) fun is_closed(self: &RunRecord): bool { self.phase == CLOSED }

/// Return the ID of the last invocation, or 0x0 if the run has no invocation.
public(package) fun invocation(self: &RunRecord): ID { self.invocation }

/// Return the reason why the last attempt was refused, or an empty string.
public(package) fun refusal(self: &RunRecord): String { self.refusal }

public(package) fun attempt(self: &RunRecord): u8 { self.attempt }

public(package) fun not_before_ms(self: &RunRecord): u64 { self.not_before_ms }

public(package) fun set_ready(self: &mut RunRecord) { self.phase = READY }

public(package) fun set_in_flight(self: &mut RunRecord) { self.phase = IN_FLIGHT }

/// Set the invocation of a run in flight.
public(package) fun set_invocation(self: &mut Records, run: Run, invocation: ID) {
    let record = self.run_record_mut(run);
    record.invocation = invocation;
    record.refusal = ascii::string(b"");
}

/// Set the reason why a run in flight fails. Either the tool was not invoked, or its answer lacks a
/// port.
public(package) fun set_refusal(self: &mut Records, run: Run, reason: String) {
    let length = self.run_record(run).refusal.length();
    self.bytes = self.bytes + reason.length() - length.min(reason.length());
    self.run_record_mut(run).refusal = reason;
}

/// Return whether a run in flight waits for this invocation.
public(package) fun awaits(self: &Records, run: Run, invocation: ID): bool {
    if (!self.has_run(run)) return false;
    let record = self.run_record(run);
    record.phase == IN_FLIGHT && record.invocation == invocation
}

/// Make the run ready for the next attempt.
public(package) fun retry(self: &mut RunRecord, not_before_ms: u64) {
    self.phase = READY;
    self.attempt = self.attempt + 1;
    self.not_before_ms = not_before_ms;
}

public(package) fun close(self: &mut RunRecord) { self.phase = CLOSED }

/// Return the state of the ports of a run.
///
/// See `Records.value_of_port` and `Records.starts` in `nexus_tools/workflow/semantics/records.py`.
public(package) fun readiness(self: &mut Records, dag: &Dag, run: &Run, group: u8): Readiness {
    self.note_vertex_page(run.vertex());
    let vertex = dag.vertex(run.vertex());
    let (ports, blocks, region) = (vertex.ports(), vertex.blocks(), vertex.region());
    let n = ports.length();
    let (mut delivered, mut scoped, mut statics) = (flags(n), flags(n), flags(n));
    let mut origins = vector[];
    let mut effort = effort::lookup() + effort::ports(n);
    if (self.has_run(*run)) {
        self.run_record(*run).deliveries.do_ref!(|delivery| {
            *&mut delivered[delivery.port as u64] = true;
            origins.push_back(delivery.origin);
        });
    };
    let mut readiness = Readiness {
        has_values: true,
        is_in_range: true,
        is_triggered: region.is_none() && vertex.is_in_group(group),
        count: option::none(),
    };
    // A value for the whole region does not start an iteration.
    let inside = region.map!(|depth| depth as u64 + 1).destroy_or!(0);
    blocks.length().do!(|depth| {
        let key = enclosing(blocks, depth, run.path());
        if (self.has_instance(key)) self.instance_record(key).values.do_ref!(|value| {
            effort = effort + effort::values(1);
            let port = value.port as u64;
            if (value.vertex == run.vertex() && value.applies_to(run.path())) {
                let is_first = if (value.is_static) !statics[port] else !scoped[port];
                if (is_first) {
                    if (value.is_static) *&mut statics[port] = true else *&mut scoped[port] = true;
                    if (value.element.is_some()) {
                        let at = *value.element.borrow() as u64;
                        let is_in_range = delivered[port] || run.path()[at] < value.length;
                        readiness.is_in_range = readiness.is_in_range && is_in_range;
                        let count = readiness.count.destroy_or!(value.length).min(value.length);
                        readiness.count = option::some(count);
                    };
                    readiness.is_triggered =
                        readiness.is_triggered || value.element.is_some() || depth >= inside;
                };
            };
        });
    });
    n.do!(|i| if (!delivered[i] && !scoped[i]) {
        let port = &ports[i];
        let falls_back = if (port.is_static()) statics[i]
            else port.has_default() || (port.is_entry() && vertex.is_in_group(group));
        effort = effort + effort::sources(port.sources().length(), origins.length());
        let waits = port.sources().any!(|source| {
            source.reaches(run.path()) && !origins.contains(&source.origin())
        });
        if (!falls_back || waits) readiness.has_values = false;
    });
    self.add_effort(effort);
    readiness
}

/// Return the location of the value of a port, for a run whose ports all have values.
public(package) fun source(self: &Records, dag: &Dag, run: &Run, port: u8): Source {
    if (self.has_run(*run)) {
        let deliveries = &self.run_record(*run).deliveries;
        let found = deliveries.find_index!(|delivery| delivery.port == port);
        if (found.is_some()) {
            let delivery = &deliveries[found.destroy_some()];
            return locate(
                dag,
                delivery.origin,
                delivery.edge,
                delivery.round,
                run.path(),
                option::none(),
            )
        };
    };
    // Values that are not static have priority over static values.
    let mut source = Source {
        run: option::none(),
        port: ascii::string(b""),
        element: option::none(),
        region: option::none(),
    };
    let blocks = dag.vertex(run.vertex()).blocks();
    let mut depth = blocks.length();
    while (depth > 0) {
        depth = depth - 1;
        let key = enclosing(blocks, depth, run.path());
        if (self.has_instance(key)) self.instance_record(key).values.do_ref!(|value| {
            let is_mine = value.vertex == run.vertex() && value.port == port;
            let is_better = !value.is_static || source.run.is_none() && source.region.is_none();
            if (is_mine && value.applies_to(run.path()) && is_better) {
                let element = value.element.map!(|at| run.path()[at as u64]);
                source = locate(dag, value.origin, value.edge, value.round, &key.path, element);
            };
        });
    };
    source
}

public(package) fun source_run(self: &Source): Option<Run> { self.run }

public(package) fun source_port(self: &Source): String { self.port }

public(package) fun source_element(self: &Source): Option<u32> { self.element }

public(package) fun source_region(self: &Source): Option<Instance> { self.region }

/// Return whether each port has a value.
public(package) fun is_complete(self: &Readiness): bool { self.has_values && self.is_in_range }

public(package) fun is_triggered(self: &Readiness): bool { self.is_triggered }

/// Return the number of iterations. `self` must be the state of the first run of the first
/// iteration.
public(package) fun count(self: &Readiness): u32 {
    if (self.has_values) self.count.destroy_or!(0) else 0
}

// === Package functions: instances ===

/// Return whether an instance has a record.
public(package) fun has_instance(self: &Records, instance: Instance): bool {
    field::exists_(&self.id, instance)
}

/// Return the record of an instance.
public(package) fun instance_record(self: &Records, instance: Instance): &InstanceRecord {
    field::borrow(&self.id, instance)
}

/// Return a mutable reference to the record of an instance.
public(package) fun instance_record_mut(
    self: &mut Records,
    instance: Instance,
): &mut InstanceRecord {
    field::borrow_mut(&mut self.id, instance)
}

/// Deliver a value to all runs in an instance. Return false if the port already has a value.
public(package) fun deliver_to_scope(
    self: &mut Records,
    dag: &Dag,
    instance: Instance,
    edge: &Edge,
    origin: u16,
    round: u32,
    length: u32,
): bool {
    let (vertex, port, is_static) = (edge.vertex(), edge.input(), edge.is_static());
    self.add_effort(effort::edges(1));
    if (self.has_scoped_value(dag, vertex, port, &instance.path, is_static)) return false;
    if (!self.has_instance(instance)) {
        field::add(
            &mut self.id,
            instance,
            InstanceRecord { phase: WAITING, live: 0, cursors: vector[], values: vector[] },
        );
        self.length = self.length + 1;
        self.bytes = self.bytes + INSTANCE_BYTES + NUMBER_BYTES * instance.path.length();
    };
    let (rounds, element) = (*edge.rounds(), edge.element());
    let element_bytes = if (element.is_some()) 1 else 0;
    self.bytes = self.bytes + BROUGHT_BYTES + rounds.length() + element_bytes;
    let edge = edge.number();
    let values = ScopedValue { vertex, port, origin, edge, round, is_static, rounds, element, length };
    self.instance_record_mut(instance).values.push_back(values);
    true
}

/// Open a region. `counts` has the number of iterations for each cursor.
public(package) fun open(self: &mut Records, instance: Instance, counts: vector<u32>) {
    self.bytes = self.bytes + CURSOR_BYTES * counts.length();
    self.add_effort(effort::open(counts.length()));
    let record = self.instance_record_mut(instance);
    record.phase = OPEN;
    record.live = counts.fold!(record.live, |live, count| live + count);
    record.cursors = counts.map!(|count| Cursor { next: 0, count, in_flight: 0 });
}

/// Close a finished region. Return false if the region is not open or not finished.
public(package) fun gather(self: &mut InstanceRecord): bool {
    let is_finished = self.is_finished();
    if (is_finished) self.phase = GATHERED;
    is_finished
}

/// Return whether the region is open and all its runs are finished.
public(package) fun is_finished(self: &InstanceRecord): bool {
    self.phase == OPEN && self.live == 0
}

public(package) fun is_open(self: &InstanceRecord): bool { self.phase == OPEN }

public(package) fun is_opened(self: &InstanceRecord): bool { self.phase != WAITING }

public(package) fun live(self: &InstanceRecord): u32 { self.live }

/// Return an upper bound of the number of iterations, which is the length of the longest list.
public(package) fun iterations(self: &InstanceRecord): u32 {
    let mut length = 0;
    self.values.do_ref!(|value| length = value.length.max(length));
    length
}

/// Add one to the live count.
public(package) fun add_live(self: &mut InstanceRecord) { self.live = self.live + 1 }

/// Subtract one from the live count. Return whether the count is then zero.
public(package) fun remove_live(self: &mut InstanceRecord): bool {
    self.live = self.live - 1;
    self.live == 0
}

/// Return the number of iterations that a cursor can start without exceeding `parallel` iterations
/// in flight.
public(package) fun available(self: &InstanceRecord, cursor: u64, parallel: u64): u64 {
    let cursor = &self.cursors[cursor];
    let in_flight = (cursor.in_flight as u64).min(parallel);
    (parallel - in_flight).min((cursor.count - cursor.next) as u64)
}

/// Mark the next `count` iterations of a cursor as in flight, and return the first number.
public(package) fun claim_next(self: &mut InstanceRecord, cursor: u64, count: u64): u32 {
    let cursor = &mut self.cursors[cursor];
    let first = cursor.next;
    cursor.next = first + (count as u32);
    cursor.in_flight = cursor.in_flight + (count as u32);
    first
}

/// Mark one iteration of a cursor as finished.
public(package) fun release_iteration(self: &mut InstanceRecord, cursor: u64) {
    let cursor = &mut self.cursors[cursor];
    cursor.in_flight = cursor.in_flight - 1;
}

/// Set the mark of an iteration. Return false if the mark already exists.
public(package) fun add_mark(self: &mut Records, mark: Mark, origin: u16, edge: u16): bool {
    self.add_effort(effort::edges(1));
    if (field::exists_(&self.id, mark)) return false;
    self.bytes = self.bytes + MARK_BYTES + NUMBER_BYTES * mark.path.length();
    field::add(&mut self.id, mark, MarkedEdge { origin, edge });
    self.length = self.length + 1;
    true
}

/// Return the edge and the source vertex of a mark, or (none, 0) if the mark does not exist.
public(package) fun marked(self: &Records, mark: Mark): (Option<u16>, u16) {
    if (!field::exists_(&self.id, mark)) return (option::none(), 0);
    let MarkedEdge { origin, edge } = field::borrow(&self.id, mark);
    (option::some(*edge), *origin)
}

/// Return whether all these blocks are open around a path.
public(package) fun are_blocks_open(
    self: &mut Records,
    dag: &Dag,
    blocks: &vector<u16>,
    path: &vector<u32>,
): bool {
    let mut depth = 0;
    while (depth < blocks.length()) {
        let key = enclosing(blocks, depth, path);
        self.note_block_page(key.block);
        let is_open = if (dag.block(key.block).is_region()) {
            self.has_instance(key) && self.instance_record(key).is_opened()
        } else {
            self.are_needs_met(dag, &key)
        };
        if (!is_open) return false;
        depth = depth + 1;
    };
    true
}

/// Return whether an instance of a block has all values that the block needs.
public(package) fun are_needs_met(self: &mut Records, dag: &Dag, instance: &Instance): bool {
    self.note_block_page(instance.block);
    let block = dag.block(instance.block);
    block.needs().all!(|need| {
        let (vertex, port) = (need.vertex(), need.port());
        self.has_scoped_value(dag, vertex, port, &instance.path, true)
            || (block.is_region() && self.has_scoped_value(dag, vertex, port, &instance.path, false))
    })
}

// === Package functions: bounds ===

/// Return the maximum number of bytes that following an edge writes. An edge that leaves a region
/// writes only a mark.
public(package) fun max_edge_bytes(dag: &Dag, edge: &Edge): u64 {
    if (edge.left_region().is_some()) MARK_BYTES + NUMBER_BYTES * MAX_DEPTH
    else max_delivery_bytes(dag, edge)
}

/// Return the maximum number of bytes that delivering a value along an edge writes.
public(package) fun max_delivery_bytes(dag: &Dag, edge: &Edge): u64 {
    let run_bytes = RUN_BYTES + NUMBER_BYTES * MAX_DEPTH + DELIVERY_BYTES;
    let scope = edge.scope();
    if (scope.is_none()) return run_bytes;
    let block = dag.block(scope.destroy_some());
    // Opening a loop starts runs or opens regions. Opening a region creates cursors.
    let start_bytes = run_bytes + CURSOR_BYTES * plan::max_cursors();
    INSTANCE_BYTES + NUMBER_BYTES * MAX_DEPTH + BROUGHT_BYTES + 1 + edge.rounds().length()
        + CURSOR_BYTES * block.cursors().length()
        + start_bytes * block.starts().length()
}

/// Return the storage size of the records of `count` iterations of a vertex, in bytes.
public(package) fun iteration_bytes(vertex: &Vertex, count: u64): u64 {
    count * (RUN_BYTES + NUMBER_BYTES * vertex.blocks().length())
}

// === Private functions ===

fun add_run(self: &mut Records, run: Run, phase: u8) {
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

/// Return whether a value for a port was delivered to a block around this path, or to the block
/// instance at this path.
fun has_scoped_value(
    self: &mut Records,
    dag: &Dag,
    number: u16,
    port: u8,
    path: &vector<u32>,
    is_static: bool,
): bool {
    self.note_vertex_page(number);
    let blocks = dag.vertex(number).blocks();
    let mut depth = 0;
    while (depth < blocks.length() && depth <= path.length()) {
        let key = enclosing(blocks, depth, path);
        self.add_effort(effort::lookup());
        if (self.has_instance(key)) {
            let effort = effort::values(self.instance_record(key).values.length());
            self.add_effort(effort);
            let is_there = self.instance_record(key).values.any!(|value| {
                value.vertex == number
                    && value.port == port
                    && value.is_static == is_static
                    && value.applies_to(path)
            });
            if (is_there) return true;
        };
        depth = depth + 1;
    };
    false
}

/// Return whether the run at this path receives the value.
fun applies_to(self: &ScopedValue, path: &vector<u32>): bool {
    self.is_static || plan::reaches(false, &self.rounds, path)
}

/// Return the location of a value that an edge delivered to the run or the instance at `place`.
fun locate(
    dag: &Dag,
    origin: u16,
    edge: u16,
    round: u32,
    place: &vector<u32>,
    element: Option<u32>,
): Source {
    if (plan::is_block(origin)) {
        let region = plan::block_number(origin);
        let path = prefix(place, dag.block(region).enclosing().length().min(place.length()));
        let region = option::some(Instance { block: region, path });
        return Source { run: option::none(), port: ascii::string(b""), element, region }
    };
    let (edge, _) = dag.vertex(origin).edge_of(edge);
    let run = run::new(origin, edge.source_path(place, round));
    Source { run: option::some(run), port: edge.port(), element, region: option::none() }
}

fun flags(n: u64): vector<bool> { vector::tabulate!(n, |_| false) }
