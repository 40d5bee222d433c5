/// What happens in an execution: which runs there are, and how it goes on when one is closed.
///
/// A *run* is one use of a vertex: the vertex and a path. It starts, once, when each port that
/// the plan names has a value, and ends in one variant, whose ports flow along their edges at
/// once. So which runs there are does not depend on the order of events, but for races and
/// early ends. The rules, with an example, are told in `workflow/semantics.py`; both are
/// executed beside each other and have to agree. There, a region closes with the last thing in
/// it; here, `gather` is a step of its own, so that no step grows with what follows from it.
///
/// This module knows nothing of money and of tools, and never aborts for what a document, a
/// tool or a leader did. What has to be told is in a `Change`.
module nexus_workflows::walks;

use nexus_tools::run::{Self, Run};
use nexus_tools::value::{Self, Ports};
use nexus_workflows::dag::Dag;
use nexus_workflows::effort;
use nexus_workflows::plan::{Self, Edge, Vertex};
use nexus_workflows::records::{Self, Instance, Records};
use std::ascii::String;

// === Constants ===

/// The variant of a run that failed for good, and its ports.
const ERR_EVAL: vector<u8> = b"_err_eval";
const REASON: vector<u8> = b"reason";
const DETAIL: vector<u8> = b"detail";

/// Why a run failed whose answer lacks a port that an edge carries.
const PORT_MISSING: vector<u8> = b"port_missing";

const TERMINATED: vector<u8> = b"terminated";
const COMPLETED: vector<u8> = b"completed";
const COMPLETED_WITH_FAILURES: vector<u8> = b"completed_with_failures";

// === Structs ===

/// All runs of an execution.
public struct Walks has store {
    records: Records,
    /// The entry group with which it began.
    group: u8,
    /// Runs outside all regions that are ready or under way, and open regions outside all others.
    live: u32,
    /// All runs that were requested and are not closed.
    under_way: u32,
    failures: u32,
    /// How it ends, if it does so before nothing is left to do.
    ending: Option<String>,
}

/// A failure that no edge handles.
public struct WalkFailure has copy, drop, store {
    run: Run,
    reason: String,
}

/// What followed from something that happened.
public struct Change has copy, drop, store {
    /// Runs that are ready since.
    ready: vector<Run>,
    /// Vertices with which iterations begin, and the path of the region, of which some are ready.
    iterations: vector<Run>,
    /// Regions in which nothing is left to do: they are to be gathered.
    emptied: vector<Instance>,
    failures: vector<WalkFailure>,
}

// === Package functions ===

/// The walks of an execution that begins with an entry group.
public(package) fun begin(dag: &Dag, group: u8, change: &mut Change, ctx: &mut TxContext): Walks {
    let records = records::none(ctx);
    let ending = option::none();
    let mut self = Walks { records, group, live: 0, under_way: 0, failures: 0, ending };
    dag.group(group).do_ref!(|number| {
        let depth = dag.vertex(*number).blocks().length();
        self.check_run(dag, run::new(*number, records::extended(&vector[], depth)), change);
    });
    self
}

/// Whether a run is ready, and may be tried by now.
public(package) fun can_take(self: &Walks, run: Run, now_ms: u64): bool {
    if (self.is_ending() || !self.records.has(run)) return false;
    let record = self.records.of(run);
    record.is_ready() && now_ms >= record.not_before_ms()
}

/// Takes a run that is ready under way.
public(package) fun take(self: &mut Walks, run: Run) {
    self.records.of_mut(run).take();
    self.under_way = self.under_way + 1;
}

/// How many iterations that begin with a vertex are ready, in the instance of its region that
/// has this path around it.
public(package) fun iterations(self: &Walks, dag: &Dag, number: u16, path: &vector<u32>): u64 {
    let vertex = dag.vertex(number);
    let cursor = cursor_of(dag, vertex, number);
    if (self.is_ending() || cursor.is_none()) return 0;
    let depth = vertex.region().destroy_some() as u64;
    if (path.length() != depth) return 0;
    let instance = records::instance(vertex.blocks()[depth], *path);
    if (!self.records.knows(instance) || !self.records.at(instance).is_open()) return 0;
    self.records.at(instance).free(cursor.destroy_some(), vertex.parallel())
}

/// Takes so many of these iterations under way.
public(package) fun take_iterations(
    self: &mut Walks,
    dag: &Dag,
    number: u16,
    path: vector<u32>,
    count: u64,
): vector<Run> {
    let vertex = dag.vertex(number);
    let cursor = cursor_of(dag, vertex, number).destroy_some();
    let block = vertex.blocks()[vertex.region().destroy_some() as u64];
    self.records.read_block(block);
    let first = self.records.at_mut(records::instance(block, path)).take_next(cursor, count);
    self.under_way = self.under_way + (count as u32);
    vector::tabulate!(count, |i| {
        let run = records::iteration(vertex.blocks().length(), number, &path, first + (i as u32));
        self.records.add_under_way(run);
        run
    })
}

/// Closes a run that is under way with a variant, whose ports flow along their edges.
public(package) fun settle(
    self: &mut Walks,
    dag: &Dag,
    run: Run,
    variant: &String,
    ports: &Ports,
    now_ms: u64,
    change: &mut Change,
) {
    if (self.is_ending()) {
        self.close(run);
        return
    };
    let vertex = dag.vertex(run.vertex());
    let edges = vertex.edges(variant);
    if (edges.any!(|edge| !ports.has(&edge.port()))) {
        // The invocation is settled: that the run failed all the same is kept here.
        let reason = PORT_MISSING.to_ascii_string();
        self.records.refuse(run, reason);
        self.fail(dag, run, reason, true, now_ms, change);
        return
    };
    self.close(run);
    self.flow(dag, &run, &edges, ports, change);
    self.leave(dag, vertex, &run, change);
}

/// Closes a run that is under way without an answer: it is tried again while attempts remain, if
/// it may be.
public(package) fun fail(
    self: &mut Walks,
    dag: &Dag,
    run: Run,
    reason: String,
    may_retry: bool,
    now_ms: u64,
    change: &mut Change,
) {
    self.close(run);
    if (self.is_ending()) return;
    let vertex = dag.vertex(run.vertex());
    let record = self.records.of_mut(run);
    if (may_retry && record.attempt() < vertex.attempts()) {
        record.retry(now_ms + vertex.retry_after_ms());
        change.ready.push_back(run);
        return
    };
    let edges = vertex.edges(&err_eval());
    if (edges.is_empty()) self.give_up(dag, run, reason, change)
    else self.flow(dag, &run, &edges, &error_ports(), change);
    self.leave(dag, vertex, &run, change);
}

/// Brings what a region gathered out of it, if nothing is left to do in it.
public(package) fun gather(
    self: &mut Walks,
    dag: &Dag,
    instance: Instance,
    change: &mut Change,
): bool {
    if (self.is_ending() || !self.records.knows(instance)) return false;
    if (!self.records.at_mut(instance).gather()) return false;
    let block = dag.block(instance.block());
    let edges = block.collects().map_ref!(|collect| *collect.edge());
    let lengths = edges.map_ref!(|_| 0);
    let origin = plan::region_origin(instance.block());
    self.bring(dag, origin, instance.outside(), &edges, &lengths, change);
    self.count_off(block.around(), block.region(), instance.outside(), change);
    true
}

/// Ends the execution early: nothing more is requested, and what is under way brings nothing.
public(package) fun end(self: &mut Walks, ending: String) {
    if (self.ending.is_none()) self.ending = option::some(ending);
}

/// The records.
public(package) fun records(self: &Walks): &Records { &self.records }

/// The records, to be changed.
public(package) fun records_mut(self: &mut Walks): &mut Records { &mut self.records }

/// Deletes walks of which no record is left.
public(package) fun delete(self: Walks) {
    let Walks { records, .. } = self;
    records.delete();
}

// === Package functions: views ===

/// Whether nothing more is requested.
public(package) fun is_ending(self: &Walks): bool { self.ending.is_some() }

/// Whether nothing happens any more.
public(package) fun is_over(self: &Walks): bool {
    self.under_way == 0 && (self.live == 0 || self.is_ending())
}

/// What it came to, once it is over.
public(package) fun status(self: &Walks): String {
    if (self.is_ending()) *self.ending.borrow()
    else if (self.failures > 0) COMPLETED_WITH_FAILURES.to_ascii_string()
    else COMPLETED.to_ascii_string()
}

/// The variant of a run that failed for good.
public(package) fun err_eval(): String { ERR_EVAL.to_ascii_string() }

/// Whether an edge takes why a run failed.
public(package) fun handles_failure(dag: &Dag, run: &Run): bool {
    !dag.vertex(run.vertex()).edges(&err_eval()).is_empty()
}

/// The most bytes that closing a run may write, with a variant or without.
public(package) fun most_bytes(dag: &Dag, run: &Run, variant: &Option<String>): u64 {
    let vertex = dag.vertex(run.vertex());
    let failed = edges_bytes(dag, &vertex.edges(&err_eval()));
    if (variant.is_none()) return failed;
    // An answer that lacks a port is a failure, of which the reason is kept.
    let reason = PORT_MISSING;
    (failed + reason.length()).max(edges_bytes(dag, &vertex.edges(variant.borrow())))
}

/// What following the edges of a run takes at least, with a variant or without.
public(package) fun least_effort(dag: &Dag, run: &Run, variant: &Option<String>): u64 {
    let variant = if (variant.is_some()) *variant.borrow() else err_eval();
    effort::least(dag.vertex(run.vertex()).edges(&variant).length())
}

/// Notes the pages that are read to find what closing a run may write, with a variant or without.
public(package) fun read_edges(self: &mut Walks, dag: &Dag, run: &Run, variant: &Option<String>) {
    let vertex = dag.vertex(run.vertex());
    let failure = err_eval();
    self.records.read_vertex(run.vertex());
    vertex.variants().do_ref!(|each| {
        let name = each.name();
        if (name == failure || variant.contains(&name)) each.edges().do_ref!(|edge| {
            edge.scope().do!(|block| self.records.read_block(block));
        });
    });
}

/// Notes the pages that are read to find what gathering a region may write.
public(package) fun read_collects(self: &mut Walks, dag: &Dag, region: u16) {
    self.records.read_block(region);
    dag.block(region).collects().do_ref!(|each| {
        each.edge().scope().do!(|block| self.records.read_block(block));
    });
}

/// The most bytes that gathering a region may write.
public(package) fun most_gathered_bytes(dag: &Dag, region: u16): u64 {
    let mut bytes = 0;
    let collects = dag.block(region).collects();
    collects.do_ref!(|each| bytes = bytes + records::brought_bytes(dag, each.edge()));
    bytes
}

/// What bringing out what a region gathered takes at least.
public(package) fun least_gathered_effort(dag: &Dag, region: u16): u64 {
    effort::least(dag.block(region).collects().length())
}

/// The most bytes that beginning with a group may write.
public(package) fun most_begun_bytes(dag: &Dag, group: u8): u64 {
    (*dag.group(group)).fold!(0, |bytes, number| {
        bytes + records::iteration_bytes(dag.vertex(number), 1)
    })
}

/// Nothing yet.
public(package) fun no_change(): Change {
    Change { ready: vector[], iterations: vector[], emptied: vector[], failures: vector[] }
}

// === Private functions: values ===

/// Follows all edges of a variant, and only then looks what is ready.
fun flow(
    self: &mut Walks,
    dag: &Dag,
    run: &Run,
    edges: &vector<Edge>,
    ports: &Ports,
    change: &mut Change,
) {
    let (mut followed, mut lengths) = (vector[], vector[]);
    self.records.work(effort::answer(edges.length(), ports.values().length()));
    // An answer has them all; a failure has a reason and a detail.
    (*edges).filter!(|edge| ports.has(&edge.port())).do_ref!(|edge| {
        let length = ports.list_length(&edge.port());
        if (edge.is_for_each() && length.is_none()) {
            self.give_up(dag, *run, b"not_a_list".to_ascii_string(), change);
        } else if (edge.left().is_none()) {
            followed.push_back(*edge);
            lengths.push_back(length.destroy_or!(0) as u32);
        } else if (!self.mark(dag, run, edge)) {
            self.race(dag, edge, records::prefix(run.path(), edge.keeps()), change);
        };
    });
    self.bring(dag, run.vertex(), run.path(), &followed, &lengths, change);
}

/// Brings values from a path to where edges lead, and looks what starts.
fun bring(
    self: &mut Walks,
    dag: &Dag,
    origin: u16,
    path: &vector<u32>,
    edges: &vector<Edge>,
    lengths: &vector<u32>,
    change: &mut Change,
) {
    let (mut runs, mut instances) = (vector[], vector[]);
    edges.length().do!(|i| {
        let edge = &edges[i];
        let place = edge.place(path);
        let round = if (edge.is_break()) path[path.length() - 1] else 0;
        let scope = edge.scope();
        if (scope.is_none()) {
            let run = run::new(edge.vertex(), place);
            if (!self.records.put(dag, run, edge, origin, round)) self.race(dag, edge, place, change)
            else if (!runs.contains(&run)) runs.push_back(run);
        } else {
            let instance = records::instance(scope.destroy_some(), place);
            if (!self.records.put_in_scope(dag, instance, edge, origin, round, lengths[i])) {
                self.race(dag, edge, place, change);
            } else if (!instances.contains(&instance)) {
                instances.push_back(instance);
            };
        };
    });
    runs.do!(|run| self.check_run(dag, run, change));
    instances.do!(|instance| self.check_instance(dag, instance, change));
}

/// Keeps what an iteration gives to a port to which several edges lead; false if it did before.
fun mark(self: &mut Walks, dag: &Dag, run: &Run, edge: &Edge): bool {
    let region = edge.left().destroy_some();
    self.records.read_block(region);
    let block = dag.block(region);
    if (block.gathered_from(edge.vertex(), edge.input()).length() == 1) return true;
    let depth = block.around().length();
    let path = records::prefix(run.path(), depth);
    let iteration = run.path()[depth];
    let mark = records::mark(region, path, edge.vertex(), edge.input(), iteration);
    self.records.add_mark(mark, run.vertex(), edge.number())
}

// === Private functions: starts ===

/// Starts a run if all its values are there.
fun check_run(self: &mut Walks, dag: &Dag, run: Run, change: &mut Change) {
    if (self.is_ending()) return;
    let exists = self.records.has(run);
    if (exists && !self.records.of(run).is_waiting()) return;
    self.records.read_vertex(run.vertex());
    let vertex = dag.vertex(run.vertex());
    if (!self.records.is_inside_open(dag, vertex.blocks(), run.path())) return;
    let look = self.records.look(dag, &run, self.group);
    if (!look.is_complete() || (!exists && !look.is_begun())) return;
    if (exists) self.records.of_mut(run).start() else self.records.add_ready(run);
    change.ready.push_back(run);
    self.count_on(vertex.blocks(), vertex.region(), run.path());
}

/// Opens an instance of a block if all that it needs is there.
fun check_instance(self: &mut Walks, dag: &Dag, instance: Instance, change: &mut Change) {
    let block = dag.block(instance.block());
    let path = instance.outside();
    if (self.is_ending() || !self.records.has_needs(dag, &instance)) return;
    if (block.is_region()) {
        if (!self.records.knows(instance) || self.records.at(instance).was_opened()) return;
        if (!self.records.is_inside_open(dag, block.around(), path)) return;
        self.open_region(dag, instance, change);
    } else {
        block.starts().do_ref!(|start| if (plan::is_block(*start)) {
            let inner = plan::block_number(*start);
            let depth = dag.block(inner).around().length();
            let instance = records::instance(inner, records::extended(path, depth));
            self.check_instance(dag, instance, change);
        } else {
            let depth = dag.vertex(*start).blocks().length();
            self.records.work(effort::start());
            self.check_run(dag, run::new(*start, records::extended(path, depth)), change);
        });
    }
}

fun open_region(self: &mut Walks, dag: &Dag, instance: Instance, change: &mut Change) {
    let block = dag.block(instance.block());
    let path = instance.outside();
    self.count_on(block.around(), block.region(), path);
    let counts = block.cursors().map_ref!(|number| {
        let depth = dag.vertex(*number).blocks().length();
        let first = records::iteration(depth, *number, path, 0);
        let count = self.records.look(dag, &first, self.group).count();
        if (count > 0) change.iterations.push_back(run::new(*number, *path));
        count
    });
    self.records.open(instance, counts);
    if (self.records.at(instance).live() == 0) change.emptied.push_back(instance);
}

// === Private functions: ends ===

fun close(self: &mut Walks, run: Run) {
    self.under_way = self.under_way - 1;
    self.records.of_mut(run).close();
}

/// Ends a walk, or the execution.
fun give_up(self: &mut Walks, dag: &Dag, run: Run, reason: String, change: &mut Change) {
    self.failures = self.failures + 1;
    change.failures.push_back(WalkFailure { run, reason });
    if (dag.vertex(run.vertex()).terminates()) self.end(TERMINATED.to_ascii_string());
}

fun race(self: &mut Walks, dag: &Dag, edge: &Edge, path: vector<u32>, change: &mut Change) {
    let run = run::new(edge.vertex(), path);
    self.give_up(dag, run, b"raced".to_ascii_string(), change);
}

/// Counts a closed run off the region around it.
fun leave(self: &mut Walks, dag: &Dag, vertex: &Vertex, run: &Run, change: &mut Change) {
    if (self.is_ending()) return;
    vertex.region().do!(|depth| self.records.read_block(vertex.blocks()[depth as u64]));
    let cursor = cursor_of(dag, vertex, run.vertex());
    if (cursor.is_some()) {
        let depth = vertex.region().destroy_some() as u64;
        let mut at = depth + 1;
        while (at < run.path().length() && run.path()[at] == 0) at = at + 1;
        // In later rounds of a loop inside the iteration, it is none that the cursor made.
        if (at == run.path().length()) {
            let instance = records::around(vertex.blocks(), depth, run.path());
            let (cursor, record) = (cursor.destroy_some(), self.records.at_mut(instance));
            record.give_back(cursor);
            if (record.free(cursor, vertex.parallel()) > 0) {
                change.iterations.push_back(run::new(run.vertex(), *instance.outside()));
            };
        };
    };
    self.count_off(vertex.blocks(), vertex.region(), run.path(), change);
}

/// Counts one more that is live in the innermost region of these blocks around a path.
fun count_on(self: &mut Walks, blocks: &vector<u16>, region: Option<u8>, path: &vector<u32>) {
    if (region.is_none()) self.live = self.live + 1
    else {
        let instance = records::around(blocks, region.destroy_some() as u64, path);
        self.records.at_mut(instance).count_on();
    }
}

/// Counts one less, unless the execution ends.
fun count_off(
    self: &mut Walks,
    blocks: &vector<u16>,
    region: Option<u8>,
    path: &vector<u32>,
    change: &mut Change,
) {
    if (self.is_ending()) return;
    if (region.is_none()) self.live = self.live - 1
    else {
        let instance = records::around(blocks, region.destroy_some() as u64, path);
        if (self.records.at_mut(instance).count_off()) change.emptied.push_back(instance);
    }
}

// === Private functions ===

fun edges_bytes(dag: &Dag, edges: &vector<Edge>): u64 {
    let mut bytes = 0;
    edges.do_ref!(|edge| bytes = bytes + records::edge_bytes(dag, edge));
    bytes
}

/// The place of a vertex among those with which iterations of its region begin.
fun cursor_of(dag: &Dag, vertex: &Vertex, number: u16): Option<u64> {
    let region = vertex.region();
    if (region.is_none()) return option::none();
    let block = dag.block(vertex.blocks()[region.destroy_some() as u64]);
    block.cursors().find_index!(|each| *each == number)
}

/// What a failure gives to the edges of `_err_eval`.
fun error_ports(): Ports {
    let names = vector[REASON.to_ascii_string(), DETAIL.to_ascii_string()];
    value::ports(names, vector[value::inline(b""), value::inline(b"")])
}
