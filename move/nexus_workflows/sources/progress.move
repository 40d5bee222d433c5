/// The progress of an execution, which consists of its runs and the effects of each closed run.
///
/// A *run* is one use of a vertex, and is identified by the vertex and a path. A run starts once,
/// when every port that the plan names has a value. A run ends in one variant, and the values of
/// the variant's ports flow along its edges in one step. So the set of runs does not depend on the
/// order of events, unless an input conflict or an early end occurs.
/// `nexus_tools/workflow/semantics/semantics.py` explains the rules with an example. Tests execute
/// the Move and the Python implementation and compare the results. The two implementations differ
/// in one respect. In Python, a region closes with its last run. In Move, `gather` is a separate
/// step, so that the size of a step is bounded.
///
/// This module does not handle money or tools, and never aborts because of a document, a tool or a
/// leader. A `Change` reports the effects of a step.
module nexus_workflows::progress;

use nexus_tools::run::{Self, Run};
use nexus_tools::value::{Self, Ports};
use nexus_workflows::dag::Dag;
use nexus_workflows::effort;
use nexus_workflows::plan::{Self, Edge, Vertex};
use nexus_workflows::records::{Self, Instance, Records};
use std::ascii::String;

// === Constants ===

/// The output variant of a run whose last attempt failed, and the ports of this variant.
const ERR_EVAL: vector<u8> = b"_err_eval";
const REASON: vector<u8> = b"reason";
const DETAIL: vector<u8> = b"detail";

/// The failure reason of a run whose answer lacks the port of an edge.
const PORT_MISSING: vector<u8> = b"port_missing";

const TERMINATED: vector<u8> = b"terminated";
const COMPLETED: vector<u8> = b"completed";
const COMPLETED_WITH_FAILURES: vector<u8> = b"completed_with_failures";

// === Structs ===

/// The progress of all runs of an execution.
public struct Progress has store {
    records: Records,
    /// The entry group with which the execution started.
    group: u8,
    /// The number of runs outside all regions that are ready or in flight, plus the number of open
    /// regions outside all other regions.
    live: u32,
    /// The number of runs that were requested and are not closed.
    in_flight: u32,
    failures: u32,
    /// The final status, if the execution ends early while runs or regions remain.
    ending: Option<String>,
}

/// The failure of a run that no edge handles.
public struct UnhandledFailure has copy, drop, store {
    run: Run,
    reason: String,
}

/// The effects of one step.
public struct Change has copy, drop, store {
    /// Runs that became ready.
    ready: vector<Run>,
    /// The vertices whose iterations became ready, each with the path of the region.
    iterations: vector<Run>,
    /// Regions without unfinished runs, which can be gathered.
    finished_regions: vector<Instance>,
    failures: vector<UnhandledFailure>,
}

// === Package functions ===

/// Start an execution with an entry group.
public(package) fun start(
    dag: &Dag,
    group: u8,
    change: &mut Change,
    ctx: &mut TxContext,
): Progress {
    let records = records::new(ctx);
    let ending = option::none();
    let mut self = Progress { records, group, live: 0, in_flight: 0, failures: 0, ending };
    dag.group(group).do_ref!(|number| {
        let depth = dag.vertex(*number).blocks().length();
        self.start_if_ready(dag, run::new(*number, records::extended(&vector[], depth)), change);
    });
    self
}

/// Return whether a run is ready and its retry delay has passed.
public(package) fun is_due(self: &Progress, run: Run, now_ms: u64): bool {
    if (self.is_ending() || !self.records.has_run(run)) return false;
    let record = self.records.run_record(run);
    record.is_ready() && now_ms >= record.not_before_ms()
}

/// Mark a ready run as in flight.
public(package) fun mark_in_flight(self: &mut Progress, run: Run) {
    self.records.run_record_mut(run).set_in_flight();
    self.in_flight = self.in_flight + 1;
}

/// Return the number of ready iterations that start with a vertex.
///
/// `path` is the path around the region.
public(package) fun ready_iterations(
    self: &Progress,
    dag: &Dag,
    number: u16,
    path: &vector<u32>,
): u64 {
    let vertex = dag.vertex(number);
    let cursor = cursor_index(dag, vertex, number);
    if (self.is_ending() || cursor.is_none()) return 0;
    let depth = vertex.region().destroy_some() as u64;
    if (path.length() != depth) return 0;
    let instance = records::instance(vertex.blocks()[depth], *path);
    if (!self.records.has_instance(instance)) return 0;
    if (!self.records.instance_record(instance).is_open()) return 0;
    self.records.instance_record(instance).available(cursor.destroy_some(), vertex.parallel())
}

/// Mark the next `count` ready iterations as in flight, and return their runs.
public(package) fun claim_iterations(
    self: &mut Progress,
    dag: &Dag,
    number: u16,
    path: vector<u32>,
    count: u64,
): vector<Run> {
    let vertex = dag.vertex(number);
    let cursor = cursor_index(dag, vertex, number).destroy_some();
    let block = vertex.blocks()[vertex.region().destroy_some() as u64];
    self.records.note_block_page(block);
    let instance = records::instance(block, path);
    let first = self.records.instance_record_mut(instance).claim_next(cursor, count);
    self.in_flight = self.in_flight + (count as u32);
    vector::tabulate!(count, |i| {
        let run = records::iteration(vertex.blocks().length(), number, &path, first + (i as u32));
        self.records.add_in_flight(run);
        run
    })
}

/// Close a run with a variant, and deliver the values of its ports along their edges.
public(package) fun settle(
    self: &mut Progress,
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
        // The invocation is settled, so the record stores the failure.
        let reason = PORT_MISSING.to_ascii_string();
        self.records.set_refusal(run, reason);
        self.fail(dag, run, reason, true, now_ms, change);
        return
    };
    self.close(run);
    self.flow(dag, &run, &edges, ports, change);
    self.leave_region(dag, vertex, &run, change);
}

/// Close a run without an answer. The run is retried if a retry is allowed and attempts remain.
public(package) fun fail(
    self: &mut Progress,
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
    let record = self.records.run_record_mut(run);
    if (may_retry && record.attempt() < vertex.attempts()) {
        record.retry(now_ms + vertex.retry_after_ms());
        change.ready.push_back(run);
        return
    };
    let edges = vertex.edges(&err_eval());
    if (edges.is_empty()) self.record_failure(dag, run, reason, change)
    else self.flow(dag, &run, &edges, &error_ports(), change);
    self.leave_region(dag, vertex, &run, change);
}

/// Deliver the lists that a region gathered, unless the region has unfinished runs.
public(package) fun gather(
    self: &mut Progress,
    dag: &Dag,
    instance: Instance,
    change: &mut Change,
): bool {
    if (self.is_ending() || !self.records.has_instance(instance)) return false;
    if (!self.records.instance_record_mut(instance).gather()) return false;
    let block = dag.block(instance.block());
    let edges = block.collect_edges().map_ref!(|collect| *collect.edge());
    let lengths = edges.map_ref!(|_| 0);
    let origin = plan::region_origin(instance.block());
    self.deliver(dag, origin, instance.path(), &edges, &lengths, change);
    self.remove_live(block.enclosing(), block.region(), instance.path(), change);
    true
}

/// End the execution early. No more runs are requested, and the outcomes of runs in flight are
/// ignored.
public(package) fun end(self: &mut Progress, ending: String) {
    if (self.ending.is_none()) self.ending = option::some(ending);
}

/// Return the records.
public(package) fun records(self: &Progress): &Records { &self.records }

/// Return a mutable reference to the records.
public(package) fun records_mut(self: &mut Progress): &mut Records { &mut self.records }

/// Delete the progress of an execution without records.
public(package) fun delete(self: Progress) {
    let Progress { records, .. } = self;
    records.delete();
}

// === Package functions: views ===

/// Return whether the execution was ended early.
public(package) fun is_ending(self: &Progress): bool { self.ending.is_some() }

/// Return whether no run is ready or in flight, and no region is open.
public(package) fun is_over(self: &Progress): bool {
    self.in_flight == 0 && (self.live == 0 || self.is_ending())
}

/// Return the final status. Call this function only if `is_over` returns true.
public(package) fun status(self: &Progress): String {
    if (self.is_ending()) *self.ending.borrow()
    else if (self.failures > 0) COMPLETED_WITH_FAILURES.to_ascii_string()
    else COMPLETED.to_ascii_string()
}

/// Return the name of the output variant of a run whose last attempt failed.
public(package) fun err_eval(): String { ERR_EVAL.to_ascii_string() }

/// Return whether an edge handles the failure of the run.
public(package) fun handles_failure(dag: &Dag, run: &Run): bool {
    !dag.vertex(run.vertex()).edges(&err_eval()).is_empty()
}

/// Return the maximum number of bytes that closing a run writes. If `variant` is none, the run
/// fails.
public(package) fun max_closing_bytes(dag: &Dag, run: &Run, variant: &Option<String>): u64 {
    let vertex = dag.vertex(run.vertex());
    let failed = max_edges_bytes(dag, &vertex.edges(&err_eval()));
    if (variant.is_none()) return failed;
    // An answer without a required port is a failure, and the record stores the reason.
    let reason = PORT_MISSING;
    (failed + reason.length()).max(max_edges_bytes(dag, &vertex.edges(variant.borrow())))
}

/// Return the minimum effort of following the edges of a run. If `variant` is none, the run fails.
public(package) fun min_closing_effort(dag: &Dag, run: &Run, variant: &Option<String>): u64 {
    let variant = if (variant.is_some()) *variant.borrow() else err_eval();
    effort::min_edges(dag.vertex(run.vertex()).edges(&variant).length())
}

/// Record the pages that `max_closing_bytes` reads.
public(package) fun note_edge_pages(
    self: &mut Progress,
    dag: &Dag,
    run: &Run,
    variant: &Option<String>,
) {
    let vertex = dag.vertex(run.vertex());
    let failure = err_eval();
    self.records.note_vertex_page(run.vertex());
    vertex.variants().do_ref!(|other| {
        let name = other.name();
        if (name == failure || variant.contains(&name)) other.edges().do_ref!(|edge| {
            edge.scope().do!(|block| self.records.note_block_page(block));
        });
    });
}

/// Record the pages that `max_gather_bytes` reads.
public(package) fun note_collect_pages(self: &mut Progress, dag: &Dag, region: u16) {
    self.records.note_block_page(region);
    dag.block(region).collect_edges().do_ref!(|collect| {
        collect.edge().scope().do!(|block| self.records.note_block_page(block));
    });
}

/// Return the maximum number of bytes that gathering a region writes.
public(package) fun max_gather_bytes(dag: &Dag, region: u16): u64 {
    let mut bytes = 0;
    let collect_edges = dag.block(region).collect_edges();
    collect_edges.do_ref!(|collect| {
        bytes = bytes + records::max_delivery_bytes(dag, collect.edge());
    });
    bytes
}

/// Return the minimum effort of delivering the lists of a region.
public(package) fun min_gather_effort(dag: &Dag, region: u16): u64 {
    effort::min_edges(dag.block(region).collect_edges().length())
}

/// Return the maximum number of bytes that a start with an entry group writes.
public(package) fun max_start_bytes(dag: &Dag, group: u8): u64 {
    (*dag.group(group)).fold!(0, |bytes, number| {
        bytes + records::iteration_bytes(dag.vertex(number), 1)
    })
}

/// Return a change without effects.
public(package) fun empty_change(): Change {
    Change { ready: vector[], iterations: vector[], finished_regions: vector[], failures: vector[] }
}

// === Private functions: values ===

/// Follow all edges of a variant, and then start the runs and open the blocks that became ready.
fun flow(
    self: &mut Progress,
    dag: &Dag,
    run: &Run,
    edges: &vector<Edge>,
    ports: &Ports,
    change: &mut Change,
) {
    let (mut followed, mut lengths) = (vector[], vector[]);
    self.records.add_effort(effort::find_ports(edges.length(), ports.values().length()));
    // An answer has the ports of all edges. A failure has only the ports `reason` and `detail`.
    (*edges).filter!(|edge| ports.has(&edge.port())).do_ref!(|edge| {
        let length = ports.list_length(&edge.port());
        if (edge.is_for_each() && length.is_none()) {
            self.record_failure(dag, *run, b"not_a_list".to_ascii_string(), change);
        } else if (edge.left_region().is_none()) {
            followed.push_back(*edge);
            lengths.push_back(length.destroy_or!(0) as u32);
        } else if (!self.add_mark(dag, run, edge)) {
            self.record_conflict(
                dag,
                edge,
                records::prefix(run.path(), edge.prefix_length()),
                change,
            );
        };
    });
    self.deliver(dag, run.vertex(), run.path(), &followed, &lengths, change);
}

/// Deliver values from a path to the targets of edges. Then start the runs and open the blocks that
/// became ready.
fun deliver(
    self: &mut Progress,
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
        let target_path = edge.target_path(path);
        let round = if (edge.is_break()) path[path.length() - 1] else 0;
        let scope = edge.scope();
        if (scope.is_none()) {
            let run = run::new(edge.vertex(), target_path);
            if (!self.records.deliver(dag, run, edge, origin, round)) {
                self.record_conflict(dag, edge, target_path, change);
            } else if (!runs.contains(&run)) {
                runs.push_back(run);
            };
        } else {
            let instance = records::instance(scope.destroy_some(), target_path);
            if (!self.records.deliver_to_scope(dag, instance, edge, origin, round, lengths[i])) {
                self.record_conflict(dag, edge, target_path, change);
            } else if (!instances.contains(&instance)) {
                instances.push_back(instance);
            };
        };
    });
    runs.do!(|run| self.start_if_ready(dag, run, change));
    instances.do!(|instance| self.open_if_ready(dag, instance, change));
}

/// Record that an iteration delivered a value to a port with several edges. Return false if the
/// iteration has already delivered a value.
fun add_mark(self: &mut Progress, dag: &Dag, run: &Run, edge: &Edge): bool {
    let region = edge.left_region().destroy_some();
    self.records.note_block_page(region);
    let block = dag.block(region);
    if (block.gathered_from(edge.vertex(), edge.input()).length() == 1) return true;
    let depth = block.enclosing().length();
    let path = records::prefix(run.path(), depth);
    let iteration = run.path()[depth];
    let mark = records::mark(region, path, edge.vertex(), edge.input(), iteration);
    self.records.add_mark(mark, run.vertex(), edge.number())
}

// === Private functions: starts ===

/// Make a run ready if all values that it needs exist.
fun start_if_ready(self: &mut Progress, dag: &Dag, run: Run, change: &mut Change) {
    if (self.is_ending()) return;
    let exists = self.records.has_run(run);
    if (exists && !self.records.run_record(run).is_waiting()) return;
    self.records.note_vertex_page(run.vertex());
    let vertex = dag.vertex(run.vertex());
    if (!self.records.are_blocks_open(dag, vertex.blocks(), run.path())) return;
    let readiness = self.records.readiness(dag, &run, self.group);
    if (!readiness.is_complete() || (!exists && !readiness.is_triggered())) return;
    if (exists) self.records.run_record_mut(run).set_ready() else self.records.add_ready(run);
    change.ready.push_back(run);
    self.add_live(vertex.blocks(), vertex.region(), run.path());
}

/// Open an instance of a block if all values that the block needs exist.
fun open_if_ready(self: &mut Progress, dag: &Dag, instance: Instance, change: &mut Change) {
    let block = dag.block(instance.block());
    let path = instance.path();
    if (self.is_ending() || !self.records.are_needs_met(dag, &instance)) return;
    if (block.is_region()) {
        if (!self.records.has_instance(instance)) return;
        if (self.records.instance_record(instance).is_opened()) return;
        if (!self.records.are_blocks_open(dag, block.enclosing(), path)) return;
        self.open_region(dag, instance, change);
    } else {
        block.starts().do_ref!(|start| if (plan::is_block(*start)) {
            let inner = plan::block_number(*start);
            let depth = dag.block(inner).enclosing().length();
            let instance = records::instance(inner, records::extended(path, depth));
            self.open_if_ready(dag, instance, change);
        } else {
            let depth = dag.vertex(*start).blocks().length();
            self.records.add_effort(effort::start());
            self.start_if_ready(dag, run::new(*start, records::extended(path, depth)), change);
        });
    }
}

fun open_region(self: &mut Progress, dag: &Dag, instance: Instance, change: &mut Change) {
    let block = dag.block(instance.block());
    let path = instance.path();
    self.add_live(block.enclosing(), block.region(), path);
    let counts = block.cursors().map_ref!(|number| {
        let depth = dag.vertex(*number).blocks().length();
        let first = records::iteration(depth, *number, path, 0);
        let count = self.records.readiness(dag, &first, self.group).count();
        if (count > 0) change.iterations.push_back(run::new(*number, *path));
        count
    });
    self.records.open(instance, counts);
    if (self.records.instance_record(instance).live() == 0) {
        change.finished_regions.push_back(instance);
    };
}

// === Private functions: ends ===

fun close(self: &mut Progress, run: Run) {
    self.in_flight = self.in_flight - 1;
    self.records.run_record_mut(run).close();
}

/// Record an unhandled failure. If the vertex terminates on failure, end the execution.
fun record_failure(self: &mut Progress, dag: &Dag, run: Run, reason: String, change: &mut Change) {
    self.failures = self.failures + 1;
    change.failures.push_back(UnhandledFailure { run, reason });
    if (dag.vertex(run.vertex()).terminates()) self.end(TERMINATED.to_ascii_string());
}

fun record_conflict(
    self: &mut Progress,
    dag: &Dag,
    edge: &Edge,
    path: vector<u32>,
    change: &mut Change,
) {
    let run = run::new(edge.vertex(), path);
    self.record_failure(dag, run, b"input_conflict".to_ascii_string(), change);
}

/// Subtract a closed run from the live count of its region.
fun leave_region(self: &mut Progress, dag: &Dag, vertex: &Vertex, run: &Run, change: &mut Change) {
    if (self.is_ending()) return;
    vertex.region().do!(|depth| self.records.note_block_page(vertex.blocks()[depth as u64]));
    let cursor = cursor_index(dag, vertex, run.vertex());
    if (cursor.is_some()) {
        let depth = vertex.region().destroy_some() as u64;
        let mut at = depth + 1;
        while (at < run.path().length() && run.path()[at] == 0) at = at + 1;
        // If a loop inside the iteration is in a later round, the cursor did not start this run.
        if (at == run.path().length()) {
            let instance = records::enclosing(vertex.blocks(), depth, run.path());
            let (cursor, record) = (
                cursor.destroy_some(),
                self.records.instance_record_mut(instance),
            );
            record.release_iteration(cursor);
            if (record.available(cursor, vertex.parallel()) > 0) {
                change.iterations.push_back(run::new(run.vertex(), *instance.path()));
            };
        };
    };
    self.remove_live(vertex.blocks(), vertex.region(), run.path(), change);
}

/// Add one to the live count of the innermost region around a path.
fun add_live(self: &mut Progress, blocks: &vector<u16>, region: Option<u8>, path: &vector<u32>) {
    if (region.is_none()) self.live = self.live + 1
    else {
        let instance = records::enclosing(blocks, region.destroy_some() as u64, path);
        self.records.instance_record_mut(instance).add_live();
    }
}

/// Subtract one from the live count, unless the execution is ending early.
fun remove_live(
    self: &mut Progress,
    blocks: &vector<u16>,
    region: Option<u8>,
    path: &vector<u32>,
    change: &mut Change,
) {
    if (self.is_ending()) return;
    if (region.is_none()) self.live = self.live - 1
    else {
        let instance = records::enclosing(blocks, region.destroy_some() as u64, path);
        if (self.records.instance_record_mut(instance).remove_live()) {
            change.finished_regions.push_back(instance);
        };
    }
}

// === Private functions ===

fun max_edges_bytes(dag: &Dag, edges: &vector<Edge>): u64 {
    let mut bytes = 0;
    edges.do_ref!(|edge| bytes = bytes + records::max_edge_bytes(dag, edge));
    bytes
}

/// Return the index of a vertex among the cursors of its region, or none.
fun cursor_index(dag: &Dag, vertex: &Vertex, number: u16): Option<u64> {
    let region = vertex.region();
    if (region.is_none()) return option::none();
    let block = dag.block(vertex.blocks()[region.destroy_some() as u64]);
    block.cursors().find_index!(|cursor| *cursor == number)
}

/// Return the ports of `_err_eval`.
fun error_ports(): Ports {
    let names = vector[REASON.to_ascii_string(), DETAIL.to_ascii_string()];
    value::ports(names, vector[value::inline(b""), value::inline(b"")])
}
