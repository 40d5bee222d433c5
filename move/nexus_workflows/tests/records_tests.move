/// Tests of the records of an execution, with their bytes, their phases, and the locations of
/// values. The workflow is that of `dag_runner`.
#[test_only]
module nexus_workflows::records_tests;

use nexus_tools::run::{Self, Run};
use nexus_tools::test_runner::field;
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::{columns, with_dag, with_draft};
use nexus_workflows::plan::Edge;
use nexus_workflows::records::{Self, Records};
use std::ascii::String;
use std::bcs;
use std::unit_test::{assert_eq, destroy};

const NOTHING: address = @0x0;
const INVOCATION: address = @0x17;
/// Region 3 as the origin of a value, which is 0x8000 plus the number of the region.
const REGION_3: u16 = 0x8003;

// === Costs ===

#[test]
fun new_records_are_empty() {
    let mut records = none();
    assert_eq!(records.length(), 0);
    assert_eq!(records.take_bytes(), 0);
    assert_eq!(records.take_effort(), 0);
    assert_eq!(records.take_pages(), 0);
    destroy(records);
}

#[test]
fun run_record_takes_316_bytes_and_4_per_path_number() {
    let mut records = none();
    assert_eq!(records.take_bytes(), 0);
    records.add_ready(at(0, vector[]));
    assert_eq!(records.take_bytes(), 316);
    assert_eq!(records.take_bytes(), 0);
    records.add_in_flight(at(1, vector[7]));
    records.add_in_flight(at(2, vector[7, 8]));
    // The two records have 320 and 324 bytes.
    assert_eq!(records.take_bytes(), 644);
    assert_eq!(records.length(), 3);
    destroy(records);
}

#[test]
fun add_bytes_counts_bytes_written_elsewhere() {
    let mut records = none();
    records.add_ready(at(0, vector[]));
    records.add_bytes(1_000);
    records.add_bytes(7);
    assert_eq!(records.take_bytes(), 1_323);
    assert_eq!(records.length(), 1);
    destroy(records);
}

#[test]
fun delivery_takes_9_bytes() {
    with_draft!(|dag| {
        let mut columns = columns();
        columns.write(dag);
        let mut records = none();
        let run = at(5, vector[0]);
        // The run does not have a record yet, so the delivery writes 316 + 4 + 9 bytes.
        assert!(records.deliver(dag, run, &edge(dag, 4, b"ok", 0), 4, 0));
        assert_eq!(records.take_bytes(), 329);
        assert!(records.deliver(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 0));
        assert_eq!(records.take_bytes(), 9);
        assert_eq!(records.length(), 1);
        // A second value for the same port does not write any bytes.
        assert!(!records.deliver(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 0));
        assert_eq!(records.take_bytes(), 0);
        destroy(records);
    });
}

#[test]
fun scoped_value_takes_18_bytes_and_1_per_round_and_element() {
    with_dag!(|dag| {
        let mut records = none();
        // The first value adds the record of the instance, with 293 + 18 bytes, and 1 byte for the
        // element.
        let outer = records::instance(0, vector[]);
        assert!(records.deliver_to_scope(dag, outer, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        assert_eq!(records.take_bytes(), 312);
        // The value applies to one round.
        let cycle = records::instance(1, vector[]);
        assert!(records.deliver_to_scope(dag, cycle, &edge(dag, 0, b"ok", 1), 0, 0, 0));
        assert_eq!(records.take_bytes(), 312);
        // The path has one number, and the value is split into elements.
        let inner = records::instance(3, vector[4]);
        assert!(records.deliver_to_scope(dag, inner, &edge(dag, 5, b"ok", 0), 5, 0, 3));
        assert_eq!(records.take_bytes(), 316);
        assert_eq!(records.length(), 3);
        // A second value for the same port does not write any bytes.
        assert!(!records.deliver_to_scope(dag, inner, &edge(dag, 5, b"ok", 0), 5, 0, 3));
        assert_eq!(records.take_bytes(), 0);
        assert_eq!(records.length(), 3);
        destroy(records);
    });
}

#[test]
fun second_scoped_value_uses_the_same_record() {
    with_draft!(|dag| {
        let mut columns = columns();
        // Vertex 1 has an additional port, to which an additional edge of the source leads. The
        // edge has no rounds, and it has an element.
        columns.ports().push_back(1);
        columns.names().push_back(b"also");
        columns.flags().push_back(0);
        columns.edge_vertices().push_back(0);
        columns.variants().push_back(b"ok");
        columns.edges().push_back(vector[11, 1, 1, 1, 0, 0, 0, 0, 0xFFFF]);
        columns.write(dag);
        let (mut records, region) = (none(), records::instance(0, vector[]));
        assert!(records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        records.take_bytes();
        assert!(records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 3), 0, 0, 5));
        assert_eq!(records.take_bytes(), 19);
        assert_eq!(records.length(), 1);
        // The longest list determines the maximum number of iterations.
        assert_eq!(records.instance_record(region).iterations(), 5);
        destroy(records);
    });
}

#[test]
fun cursor_takes_12_bytes() {
    with_dag!(|dag| {
        let (mut records, region) = open_region(dag, vector[2, 3]);
        assert_eq!(records.take_bytes(), 24);
        assert_eq!(records.instance_record(region).live(), 5);
        destroy(records);
    });
}

#[test]
fun mark_takes_289_bytes_and_4_per_path_number() {
    let mut records = none();
    let (outer, inner) = (mark(vector[]), mark(vector[5, 6]));
    // If the mark does not exist, the function returns vertex 0 as the origin.
    let (edge, origin) = records.marked(outer);
    assert!(edge.is_none() && origin == 0);
    assert!(records.add_mark(outer, 3, 4));
    let (edge, origin) = records.marked(outer);
    assert!(edge == option::some(4) && origin == 3);
    assert_eq!(records.take_bytes(), 289);
    assert!(records.add_mark(inner, 3, 4));
    assert_eq!(records.take_bytes(), 297);
    assert_eq!(records.length(), 2);
    assert!(!records.add_mark(inner, 3, 4));
    assert_eq!(records.take_bytes(), 0);
    assert_eq!(records.length(), 2);
    destroy(records);
}

#[test]
fun refusal_counts_the_bytes_beyond_the_previous_one() {
    let (mut records, run) = (none(), at(0, vector[]));
    records.add_in_flight(run);
    records.take_bytes();
    records.set_refusal(run, reason(b"too_dear"));
    assert_eq!(records.take_bytes(), 8);
    assert_eq!(records.run_record(run).refusal(), reason(b"too_dear"));
    records.set_refusal(run, reason(b"not_there"));
    assert_eq!(records.take_bytes(), 1);
    records.set_refusal(run, reason(b"no"));
    assert_eq!(records.take_bytes(), 0);
    assert_eq!(records.run_record(run).refusal(), reason(b"no"));
    destroy(records);
}

#[test]
fun removal_decreases_the_length() {
    with_dag!(|dag| {
        let (mut records, region) = open_region(dag, vector[2]);
        let (run, mark) = (at(0, vector[]), mark(vector[]));
        records.add_ready(run);
        records.add_ready(at(1, vector[3]));
        records.add_mark(mark, 3, 4);
        assert_eq!(records.length(), 4);
        assert!(records.remove_run(run) && !records.remove_run(run));
        assert_eq!(records.length(), 3);
        assert!(!records.has_run(run) && records.has_run(at(1, vector[3])));
        assert!(records.remove_instance(region) && !records.remove_instance(region));
        assert_eq!(records.length(), 2);
        assert!(!records.has_instance(region));
        assert!(records.remove_mark(mark) && !records.remove_mark(mark));
        assert_eq!(records.length(), 1);
        assert!(records.remove_run(at(1, vector[3])));
        assert_eq!(records.length(), 0);
        records.delete();
    });
}

// === Runs ===

/// Leaders read the BCS bytes of records. The phases of a run are 0 to 3.
#[test]
fun run_record_has_phase_attempt_time_invocation_and_refusal() {
    let (mut records, run) = (none(), at(0, vector[]));
    records.add_ready(run);
    assert_record(&records, run, run_fields(1, 1, 0, NOTHING, b""));
    assert!(records.run_record(run).is_ready());
    records.run_record_mut(run).set_in_flight();
    assert_record(&records, run, run_fields(2, 1, 0, NOTHING, b""));
    assert!(!records.run_record(run).is_ready() && !records.run_record(run).is_closed());
    records.set_refusal(run, reason(b"too_dear"));
    assert_record(&records, run, run_fields(2, 1, 0, NOTHING, b"too_dear"));
    records.run_record_mut(run).retry(5_000);
    assert_record(&records, run, run_fields(1, 2, 5_000, NOTHING, b"too_dear"));
    assert_eq!(records.run_record(run).not_before_ms(), 5_000);
    assert_eq!(records.run_record(run).attempt(), 2);
    records.run_record_mut(run).set_in_flight();
    // The invocation of the run is set later.
    records.set_invocation(run, INVOCATION.to_id());
    assert_record(&records, run, run_fields(2, 2, 5_000, INVOCATION, b""));
    assert_eq!(records.run_record(run).invocation(), INVOCATION.to_id());
    assert!(records.run_record(run).refusal().is_empty());
    records.run_record_mut(run).close();
    assert_record(&records, run, run_fields(3, 2, 5_000, INVOCATION, b""));
    assert!(records.run_record(run).is_closed() && !records.run_record(run).is_waiting());
    destroy(records);
}

#[test]
fun waiting_run_stores_its_deliveries() {
    with_dag!(|dag| {
        let (mut records, run) = (none(), at(5, vector[0]));
        assert!(records.deliver(dag, run, &edge(dag, 4, b"ok", 0), 4, 0));
        assert!(records.deliver(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 2));
        let mut expected = vector[0, 1];
        expected.append(field(0u64));
        expected.append(field(NOTHING));
        // The record has an empty refusal and two values. Each value has a port, an origin, an edge
        // and a round.
        expected.append(x"0002");
        expected.append(x"000400050000000000");
        expected.append(x"020380090002000000");
        assert_record(&records, run, expected);
        assert!(records.run_record(run).is_waiting() && !records.run_record(run).is_ready());
        records.run_record_mut(run).set_ready();
        assert!(!records.run_record(run).is_waiting() && records.run_record(run).is_ready());
        destroy(records);
    });
}

#[test]
fun awaits_returns_true_while_the_run_is_in_flight() {
    let (mut records, run) = (none(), at(0, vector[]));
    let (invocation, other) = (INVOCATION.to_id(), NOTHING.to_id());
    assert!(!records.awaits(run, other));
    records.add_ready(run);
    assert!(!records.awaits(run, other));
    records.run_record_mut(run).set_in_flight();
    records.set_invocation(run, invocation);
    assert!(records.awaits(run, invocation) && !records.awaits(run, other));
    assert!(!records.awaits(at(1, vector[0]), invocation));
    records.run_record_mut(run).close();
    assert!(!records.awaits(run, invocation));
    destroy(records);
}

#[test]
fun deliver_rejects_a_started_run() {
    with_dag!(|dag| {
        let (mut records, run) = (none(), at(5, vector[0]));
        assert!(records.deliver(dag, run, &edge(dag, 4, b"ok", 0), 4, 0));
        records.run_record_mut(run).set_ready();
        records.take_bytes();
        assert!(!records.deliver(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 0));
        assert_eq!(records.take_bytes(), 0);
        destroy(records);
    });
}

// === Instances ===

#[test]
fun claim_next_takes_iterations_in_order() {
    with_dag!(|dag| {
        let (mut records, region) = open_region(dag, vector[7, 2]);
        let record = records.instance_record_mut(region);
        assert_eq!(record.available(0, 3), 3);
        assert_eq!(record.available(0, 9), 7);
        assert_eq!(record.available(1, 3), 2);
        assert_eq!(record.claim_next(0, 2), 0);
        assert_eq!(record.available(0, 3), 1);
        assert_eq!(record.claim_next(0, 1), 2);
        assert_eq!(record.available(0, 3), 0);
        // `parallel` is less than the number of iterations in flight, so no iteration is available.
        assert_eq!(record.available(0, 2), 0);
        record.release_iteration(0);
        assert_eq!(record.available(0, 3), 1);
        assert_eq!(record.claim_next(0, 1), 3);
        record.release_iteration(0);
        record.release_iteration(0);
        record.release_iteration(0);
        assert_eq!(record.available(0, 32), 3);
        // The other cursor has its own count of iterations.
        assert_eq!(record.claim_next(1, 2), 0);
        assert_eq!(record.available(1, 32), 0);
        assert_eq!(record.claim_next(0, 3), 4);
        assert_eq!(record.available(0, 32), 0);
        destroy(records);
    });
}

/// Leaders read the BCS bytes of records. The phases of a region are 0 to 2.
#[test]
fun instance_record_has_phase_live_cursors_and_values() {
    with_dag!(|dag| {
        let (mut records, region) = (none(), records::instance(0, vector[]));
        assert!(records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 6, 2));
        // The record has one value, with the vertex, port, origin, edge and round. The value is not
        // static and has no rounds. The last fields are the position of the element in the path,
        // and the length.
        let brought = x"0101000000000000060000000000010002000000";
        assert_eq!(
            bcs::to_bytes(records.instance_record(region)),
            region_record(0, 0, x"00", brought),
        );
        assert!(!records.instance_record(region).is_open());
        assert!(!records.instance_record(region).is_opened());
        assert!(!records.instance_record(region).is_finished());
        assert!(!records.instance_record_mut(region).gather());
        records.open(region, vector[2]);
        let fresh = x"01000000000200000000000000";
        assert_eq!(
            bcs::to_bytes(records.instance_record(region)),
            region_record(1, 2, fresh, brought),
        );
        assert!(records.instance_record(region).is_open());
        assert!(records.instance_record(region).is_opened());
        assert!(!records.instance_record(region).is_finished());
        assert!(!records.instance_record_mut(region).gather());
        records.instance_record_mut(region).claim_next(0, 2);
        let taken = x"01020000000200000002000000";
        assert_eq!(
            bcs::to_bytes(records.instance_record(region)),
            region_record(1, 2, taken, brought),
        );
        records.instance_record_mut(region).add_live();
        assert_eq!(records.instance_record(region).live(), 3);
        assert!(!records.instance_record_mut(region).remove_live());
        assert!(!records.instance_record_mut(region).remove_live());
        assert_eq!(records.instance_record(region).live(), 1);
        assert!(!records.instance_record(region).is_finished());
        assert!(records.instance_record_mut(region).remove_live());
        assert!(records.instance_record(region).is_finished());
        assert!(records.instance_record_mut(region).gather());
        assert_eq!(
            bcs::to_bytes(records.instance_record(region)),
            region_record(2, 0, taken, brought),
        );
        assert!(!records.instance_record(region).is_open());
        assert!(records.instance_record(region).is_opened());
        assert!(!records.instance_record(region).is_finished());
        assert!(!records.instance_record_mut(region).gather());
        destroy(records);
    });
}

// === Nested blocks ===

#[test]
fun extended_and_prefix_change_the_path_length() {
    assert_eq!(records::extended(&vector[7], 3), vector[7, 0, 0]);
    assert_eq!(records::extended(&vector[7, 8], 2), vector[7, 8]);
    assert_eq!(records::prefix(&vector[7, 8, 9], 2), vector[7, 8]);
    with_dag!(|dag| {
        // Vertex 2 is in a region, and in a loop inside this region.
        assert!(records::iteration(2, 2, &vector[], 6) == at(2, vector[6, 0]));
        assert!(records::iteration(2, 6, &vector[4], 6) == at(6, vector[4, 6]));
        let enclosing = records::enclosing(dag.vertex(6).blocks(), 1, &vector[4, 6]);
        assert!(enclosing == records::instance(3, vector[4]));
        assert_eq!(enclosing.block(), 3);
        assert_eq!(*enclosing.path(), vector[4]);
    });
}

#[test]
fun needs_are_met_when_all_values_exist() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The first region also needs the port `also`, which receives one value for all iterations.
        columns.ports().push_back(1);
        columns.names().push_back(b"also");
        columns.flags().push_back(0);
        *&mut columns.needs()[0] = vector[1, 1];
        *&mut columns.needed_ports()[0] = vector[0, 1];
        columns.edge_vertices().push_back(0);
        columns.variants().push_back(b"ok");
        columns.edges().push_back(vector[11, 1, 1, 0, 0, 0, 0, 0xFFFF, 0xFFFF]);
        columns.write(dag);
        let (mut records, region) = (none(), records::instance(0, vector[]));
        assert!(!records.are_needs_met(dag, &region));
        assert!(records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        assert!(!records.are_needs_met(dag, &region));
        assert!(records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 3), 0, 0, 0));
        assert!(records.are_needs_met(dag, &region));
        destroy(records);
    });
}

#[test]
fun needs_of_a_loop_are_met_by_static_values() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The edge delivers a value to the port `kept` of the loop in the first round only.
        columns.edge_vertices().push_back(0);
        columns.variants().push_back(b"ok");
        columns.edges().push_back(vector[11, 5, 1, 0, 0, 0, 1, 0xFFFF, 0xFFFF, 0]);
        columns.write(dag);
        let (mut records, cycle) = (none(), records::instance(1, vector[]));
        assert!(!records.are_needs_met(dag, &cycle));
        assert!(records.deliver_to_scope(dag, cycle, &edge(dag, 0, b"ok", 3), 0, 0, 0));
        assert!(!records.are_needs_met(dag, &cycle));
        // The port can have both the value for the first round and the static value.
        assert!(records.deliver_to_scope(dag, cycle, &edge(dag, 0, b"ok", 1), 0, 0, 0));
        assert!(records.are_needs_met(dag, &cycle));
        destroy(records);
    });
}

#[test]
fun blocks_are_open_when_regions_are_opened_and_loop_needs_are_met() {
    with_dag!(|dag| {
        let (mut records, region) = (none(), records::instance(0, vector[]));
        let (outside, inside, deep) = (vector[], vector[0], vector[0, 2]);
        assert!(records.are_blocks_open(dag, &outside, &vector[]));
        assert!(!records.are_blocks_open(dag, &inside, &vector[1]));
        assert!(records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        assert!(!records.are_blocks_open(dag, &inside, &vector[1]));
        records.open(region, vector[2]);
        assert!(records.are_blocks_open(dag, &inside, &vector[1]));
        // The inner loop does not need any value to open.
        assert!(records.are_blocks_open(dag, &deep, &vector[1, 3]));

        // The other loop needs a value at the port `kept`, and the region inside it needs a list.
        let (enclosing, inner) = (vector[1], vector[1, 3]);
        assert!(!records.are_blocks_open(dag, &enclosing, &vector[0]));
        let (cycle, within) = (records::instance(1, vector[]), records::instance(3, vector[0]));
        assert!(records.deliver_to_scope(dag, within, &edge(dag, 5, b"ok", 0), 5, 0, 2));
        records.open(within, vector[2]);
        // The inner region is open, but its outer block is not.
        assert!(!records.are_blocks_open(dag, &inner, &vector[0, 0]));
        assert!(records.deliver_to_scope(dag, cycle, &edge(dag, 0, b"ok", 1), 0, 0, 0));
        assert!(records.are_blocks_open(dag, &enclosing, &vector[0]));
        assert!(records.are_blocks_open(dag, &inner, &vector[0, 0]));
        // In the next round, the inner region is not open.
        assert!(records.are_blocks_open(dag, &enclosing, &vector[1]));
        assert!(!records.are_blocks_open(dag, &inner, &vector[1, 0]));
        destroy(records);
    });
}

// === Bounds ===

/// A path has at most 8 numbers, which have 32 bytes.
#[test]
fun max_edge_bytes_bounds_the_written_bytes() {
    with_dag!(|dag| {
        // A mark has 289 + 32 bytes.
        assert_eq!(records::max_edge_bytes(dag, &edge(dag, 3, b"ok", 0)), 321);
        // The record of a run and a value have 316 + 32 + 9 bytes.
        assert_eq!(records::max_edge_bytes(dag, &edge(dag, 2, b"good", 0)), 357);
        // The record of an instance with a value, an element and one cursor has 293 + 32 + 18 + 1 +
        // 12 bytes.
        assert_eq!(records::max_edge_bytes(dag, &edge(dag, 0, b"ok", 0)), 356);
        // The instance has a value, an element and a round, and two starts in the loop. Each start
        // is a run with a value, or a region with 32 cursors. The total is 293 + 32 + 18 + 1 + 1 +
        // 2 * (357 + 384).
        assert_eq!(records::max_edge_bytes(dag, &edge(dag, 0, b"ok", 1)), 1_827);
    });
}

#[test]
fun iteration_bytes_bound_the_written_bytes() {
    with_dag!(|dag| {
        assert_eq!(records::iteration_bytes(dag.vertex(0), 1), 316);
        assert_eq!(records::iteration_bytes(dag.vertex(1), 1), 320);
        assert_eq!(records::iteration_bytes(dag.vertex(2), 3), 972);
    });
}

// === Helpers ===

fun none(): Records { records::new(&mut tx_context::dummy()) }

fun at(vertex: u16, path: vector<u32>): Run { run::new(vertex, path) }

fun reason(text: vector<u8>): String { text.to_ascii_string() }

/// Return the key of the mark of the third iteration of region 0, for a port of vertex 4.
fun mark(path: vector<u32>): records::Mark { records::mark(0, path, 4, 0, 2) }

/// Return the edge at index `place` among the edges of a variant.
fun edge(dag: &Dag, vertex: u16, variant: vector<u8>, place: u64): Edge {
    dag.vertex(vertex).edges(&variant.to_ascii_string())[place]
}

/// Return records with an open first region, whose cursors have `counts` iterations.
fun open_region(dag: &Dag, counts: vector<u32>): (Records, records::Instance) {
    let (mut records, region) = (none(), records::instance(0, vector[]));
    records.deliver_to_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2);
    records.take_bytes();
    records.open(region, counts);
    (records, region)
}

fun assert_record(records: &Records, run: Run, expected: vector<u8>) {
    assert_eq!(bcs::to_bytes(records.run_record(run)), expected);
}

/// Return the BCS fields of a run record that precede its deliveries.
fun run_fields(
    phase: u8,
    attempt: u8,
    not_before_ms: u64,
    invocation: address,
    refusal: vector<u8>,
): vector<u8> {
    let mut bytes = vector[phase, attempt];
    bytes.append(field(not_before_ms));
    bytes.append(field(invocation));
    bytes.append(field(refusal));
    bytes.push_back(0);
    bytes
}

/// Return the BCS fields of a region record whose live count is below 256.
fun region_record(phase: u8, live: u8, cursors: vector<u8>, brought: vector<u8>): vector<u8> {
    vector[vector[phase, live, 0, 0, 0], cursors, brought].flatten()
}
