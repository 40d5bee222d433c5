/// Records of an execution: what each takes, in which order they change, and where values are. The
/// workflow is that of `dag_runner`.
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
/// What region 3 is as the origin of a value: 0x8000 and its number.
const REGION_3: u16 = 0x8003;

// === What they take ===

#[test]
fun new_records_are_empty_and_owe_nothing() {
    let mut records = none();
    assert_eq!(records.length(), 0);
    assert_eq!(records.take_bytes(), 0);
    assert_eq!(records.take_effort(), 0);
    assert_eq!(records.take_pages(), 0);
    destroy(records);
}

#[test]
fun records_of_runs_take_316_bytes_and_4_for_each_number_of_their_path() {
    let mut records = none();
    assert_eq!(records.take_bytes(), 0);
    records.add_ready(at(0, vector[]));
    assert_eq!(records.take_bytes(), 316);
    assert_eq!(records.take_bytes(), 0);
    records.add_under_way(at(1, vector[7]));
    records.add_under_way(at(2, vector[7, 8]));
    // 320 and 324.
    assert_eq!(records.take_bytes(), 644);
    assert_eq!(records.length(), 3);
    destroy(records);
}

#[test]
fun what_is_written_elsewhere_is_counted_besides() {
    let mut records = none();
    records.add_ready(at(0, vector[]));
    records.write(1_000);
    records.write(7);
    assert_eq!(records.take_bytes(), 1_323);
    assert_eq!(records.length(), 1);
    destroy(records);
}

#[test]
fun a_value_for_one_run_takes_9_bytes() {
    with_draft!(|dag| {
        let mut columns = columns();
        columns.write(dag);
        let mut records = none();
        let run = at(5, vector[0]);
        // The run is new: 316 + 4 + 9.
        assert!(records.put(dag, run, &edge(dag, 4, b"ok", 0), 4, 0));
        assert_eq!(records.take_bytes(), 329);
        assert!(records.put(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 0));
        assert_eq!(records.take_bytes(), 9);
        assert_eq!(records.length(), 1);
        // One that there is already takes nothing.
        assert!(!records.put(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 0));
        assert_eq!(records.take_bytes(), 0);
        destroy(records);
    });
}

#[test]
fun values_for_all_inside_take_18_bytes_and_one_for_each_round_and_element() {
    with_dag!(|dag| {
        let mut records = none();
        // The first one adds the instance: 293 + 18 and one for the element.
        let outer = records::instance(0, vector[]);
        assert!(records.put_in_scope(dag, outer, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        assert_eq!(records.take_bytes(), 312);
        // One round.
        let cycle = records::instance(1, vector[]);
        assert!(records.put_in_scope(dag, cycle, &edge(dag, 0, b"ok", 1), 0, 0, 0));
        assert_eq!(records.take_bytes(), 312);
        // One number of its path, and an element.
        let inner = records::instance(3, vector[4]);
        assert!(records.put_in_scope(dag, inner, &edge(dag, 5, b"ok", 0), 5, 0, 3));
        assert_eq!(records.take_bytes(), 316);
        assert_eq!(records.length(), 3);
        // What is there already takes nothing.
        assert!(!records.put_in_scope(dag, inner, &edge(dag, 5, b"ok", 0), 5, 0, 3));
        assert_eq!(records.take_bytes(), 0);
        assert_eq!(records.length(), 3);
        destroy(records);
    });
}

#[test]
fun a_further_value_for_an_instance_takes_no_new_one() {
    with_draft!(|dag| {
        let mut columns = columns();
        // Vertex 1 has a port more, and the source another edge to it: 0 rounds and an element.
        columns.ports().push_back(1);
        columns.names().push_back(b"also");
        columns.flags().push_back(0);
        columns.leading().push_back(0);
        columns.variants().push_back(b"ok");
        columns.edges().push_back(vector[11, 1, 1, 1, 0, 0, 0, 0, 0xFFFF]);
        columns.write(dag);
        let (mut records, region) = (none(), records::instance(0, vector[]));
        assert!(records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        records.take_bytes();
        assert!(records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 3), 0, 0, 5));
        assert_eq!(records.take_bytes(), 19);
        assert_eq!(records.length(), 1);
        // The longest list decides how many iterations there may be.
        assert_eq!(records.at(region).iterations(), 5);
        destroy(records);
    });
}

#[test]
fun cursors_of_a_region_take_12_bytes_each() {
    with_dag!(|dag| {
        let (mut records, region) = opened(dag, vector[2, 3]);
        assert_eq!(records.take_bytes(), 24);
        assert_eq!(records.at(region).live(), 5);
        destroy(records);
    });
}

#[test]
fun marks_take_287_bytes_and_4_for_each_number_of_their_path() {
    let mut records = none();
    let (outer, inner) = (mark(vector[]), mark(vector[5, 6]));
    // Vertex 0, which each workflow has, stands for nobody.
    let (edge, origin) = records.marked(outer);
    assert!(edge.is_none() && origin == 0);
    assert!(records.add_mark(outer, 3, 4));
    let (edge, origin) = records.marked(outer);
    assert!(edge == option::some(4) && origin == 3);
    assert_eq!(records.take_bytes(), 287);
    assert!(records.add_mark(inner, 3, 4));
    assert_eq!(records.take_bytes(), 295);
    assert_eq!(records.length(), 2);
    assert!(!records.add_mark(inner, 3, 4));
    assert_eq!(records.take_bytes(), 0);
    assert_eq!(records.length(), 2);
    destroy(records);
}

#[test]
fun a_refusal_takes_what_it_is_longer_than_the_one_before() {
    let (mut records, run) = (none(), at(0, vector[]));
    records.add_under_way(run);
    records.take_bytes();
    records.refuse(run, reason(b"too_dear"));
    assert_eq!(records.take_bytes(), 8);
    assert_eq!(records.of(run).refusal(), reason(b"too_dear"));
    records.refuse(run, reason(b"not_there"));
    assert_eq!(records.take_bytes(), 1);
    records.refuse(run, reason(b"no"));
    assert_eq!(records.take_bytes(), 0);
    assert_eq!(records.of(run).refusal(), reason(b"no"));
    destroy(records);
}

#[test]
fun what_is_removed_is_counted_off() {
    with_dag!(|dag| {
        let (mut records, region) = opened(dag, vector[2]);
        let (run, mark) = (at(0, vector[]), mark(vector[]));
        records.add_ready(run);
        records.add_ready(at(1, vector[3]));
        records.add_mark(mark, 3, 4);
        assert_eq!(records.length(), 4);
        assert!(records.remove_run(run) && !records.remove_run(run));
        assert_eq!(records.length(), 3);
        assert!(!records.has(run) && records.has(at(1, vector[3])));
        assert!(records.remove_instance(region) && !records.remove_instance(region));
        assert_eq!(records.length(), 2);
        assert!(!records.knows(region));
        assert!(records.remove_mark(mark) && !records.remove_mark(mark));
        assert_eq!(records.length(), 1);
        assert!(records.remove_run(at(1, vector[3])));
        assert_eq!(records.length(), 0);
        records.delete();
    });
}

// === Runs ===

/// What leaders read is a record in BCS: the numbers of the phases are 0 to 3.
#[test]
fun a_run_is_told_by_its_phase_attempt_time_invocation_and_refusal() {
    let (mut records, run) = (none(), at(0, vector[]));
    records.add_ready(run);
    assert_told(&records, run, told(1, 1, 0, NOTHING, b""));
    assert!(records.of(run).is_ready());
    records.of_mut(run).take();
    assert_told(&records, run, told(2, 1, 0, NOTHING, b""));
    assert!(!records.of(run).is_ready() && !records.of(run).is_closed());
    records.refuse(run, reason(b"too_dear"));
    assert_told(&records, run, told(2, 1, 0, NOTHING, b"too_dear"));
    records.of_mut(run).retry(5_000);
    assert_told(&records, run, told(1, 2, 5_000, NOTHING, b"too_dear"));
    assert_eq!(records.of(run).not_before_ms(), 5_000);
    assert_eq!(records.of(run).attempt(), 2);
    records.of_mut(run).take();
    // It is invoked after all.
    records.invoke(run, INVOCATION.to_id());
    assert_told(&records, run, told(2, 2, 5_000, INVOCATION, b""));
    assert_eq!(records.of(run).invocation(), INVOCATION.to_id());
    assert!(records.of(run).refusal().is_empty());
    records.of_mut(run).close();
    assert_told(&records, run, told(3, 2, 5_000, INVOCATION, b""));
    assert!(records.of(run).is_closed() && !records.of(run).is_waiting());
    destroy(records);
}

#[test]
fun a_run_that_waits_has_the_values_that_came_to_it() {
    with_dag!(|dag| {
        let (mut records, run) = (none(), at(5, vector[0]));
        assert!(records.put(dag, run, &edge(dag, 4, b"ok", 0), 4, 0));
        assert!(records.put(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 2));
        let mut expected = vector[0, 1];
        expected.append(field(0u64));
        expected.append(field(NOTHING));
        // No refusal, and two values: port, origin, edge and round.
        expected.append(x"0002");
        expected.append(x"000400050000000000");
        expected.append(x"020380090002000000");
        assert_told(&records, run, expected);
        assert!(records.of(run).is_waiting() && !records.of(run).is_ready());
        records.of_mut(run).start();
        assert!(!records.of(run).is_waiting() && records.of(run).is_ready());
        destroy(records);
    });
}

#[test]
fun an_invocation_is_awaited_while_its_run_is_under_way() {
    let (mut records, run) = (none(), at(0, vector[]));
    let (invocation, other) = (INVOCATION.to_id(), NOTHING.to_id());
    assert!(!records.awaits(run, other));
    records.add_ready(run);
    assert!(!records.awaits(run, other));
    records.of_mut(run).take();
    records.invoke(run, invocation);
    assert!(records.awaits(run, invocation) && !records.awaits(run, other));
    assert!(!records.awaits(at(1, vector[0]), invocation));
    records.of_mut(run).close();
    assert!(!records.awaits(run, invocation));
    destroy(records);
}

#[test]
fun what_has_started_takes_no_further_value() {
    with_dag!(|dag| {
        let (mut records, run) = (none(), at(5, vector[0]));
        assert!(records.put(dag, run, &edge(dag, 4, b"ok", 0), 4, 0));
        records.of_mut(run).start();
        records.take_bytes();
        assert!(!records.put(dag, run, &edge(dag, 6, b"ok", 0), REGION_3, 0));
        assert_eq!(records.take_bytes(), 0);
        destroy(records);
    });
}

// === Instances ===

#[test]
fun iterations_are_taken_in_order_and_so_many_at_once() {
    with_dag!(|dag| {
        let (mut records, region) = opened(dag, vector[7, 2]);
        let record = records.at_mut(region);
        assert_eq!(record.free(0, 3), 3);
        assert_eq!(record.free(0, 9), 7);
        assert_eq!(record.free(1, 3), 2);
        assert_eq!(record.take_next(0, 2), 0);
        assert_eq!(record.free(0, 3), 1);
        assert_eq!(record.take_next(0, 1), 2);
        assert_eq!(record.free(0, 3), 0);
        // Fewer at once than are under way: none is free.
        assert_eq!(record.free(0, 2), 0);
        record.give_back(0);
        assert_eq!(record.free(0, 3), 1);
        assert_eq!(record.take_next(0, 1), 3);
        record.give_back(0);
        record.give_back(0);
        record.give_back(0);
        assert_eq!(record.free(0, 32), 3);
        // The other cursor goes its own way.
        assert_eq!(record.take_next(1, 2), 0);
        assert_eq!(record.free(1, 32), 0);
        assert_eq!(record.take_next(0, 3), 4);
        assert_eq!(record.free(0, 32), 0);
        destroy(records);
    });
}

/// What leaders read is a record in BCS: the numbers of the phases are 0 to 2.
#[test]
fun a_region_is_told_by_its_phase_what_lives_its_cursors_and_values() {
    with_dag!(|dag| {
        let (mut records, region) = (none(), records::instance(0, vector[]));
        assert!(records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 6, 2));
        // One value: vertex, port, origin, edge, round, not static, no rounds, the first number of
        // the path, length.
        let brought = x"0101000000000000060000000000010002000000";
        assert_eq!(bcs::to_bytes(records.at(region)), region_record(0, 0, x"00", brought));
        assert!(!records.at(region).is_open() && !records.at(region).was_opened());
        assert!(!records.at(region).is_left() && !records.at_mut(region).gather());
        records.open(region, vector[2]);
        let fresh = x"01000000000200000000000000";
        assert_eq!(bcs::to_bytes(records.at(region)), region_record(1, 2, fresh, brought));
        assert!(records.at(region).is_open() && records.at(region).was_opened());
        assert!(!records.at(region).is_left() && !records.at_mut(region).gather());
        records.at_mut(region).take_next(0, 2);
        let taken = x"01020000000200000002000000";
        assert_eq!(bcs::to_bytes(records.at(region)), region_record(1, 2, taken, brought));
        records.at_mut(region).count_on();
        assert_eq!(records.at(region).live(), 3);
        assert!(!records.at_mut(region).count_off());
        assert!(!records.at_mut(region).count_off());
        assert_eq!(records.at(region).live(), 1);
        assert!(!records.at(region).is_left());
        assert!(records.at_mut(region).count_off());
        assert!(records.at(region).is_left());
        assert!(records.at_mut(region).gather());
        assert_eq!(bcs::to_bytes(records.at(region)), region_record(2, 0, taken, brought));
        assert!(!records.at(region).is_open() && records.at(region).was_opened());
        assert!(!records.at(region).is_left() && !records.at_mut(region).gather());
        destroy(records);
    });
}

// === Blocks around ===

#[test]
fun paths_are_filled_up_with_zeros_and_cut() {
    assert_eq!(records::extended(&vector[7], 3), vector[7, 0, 0]);
    assert_eq!(records::extended(&vector[7, 8], 2), vector[7, 8]);
    assert_eq!(records::prefix(&vector[7, 8, 9], 2), vector[7, 8]);
    with_dag!(|dag| {
        // Vertex 2 lies in a region and in a loop of it.
        assert!(records::iteration(2, 2, &vector[], 6) == at(2, vector[6, 0]));
        assert!(records::iteration(2, 6, &vector[4], 6) == at(6, vector[4, 6]));
        let around = records::around(dag.vertex(6).blocks(), 1, &vector[4, 6]);
        assert!(around == records::instance(3, vector[4]));
        assert_eq!(around.block(), 3);
        assert_eq!(*around.outside(), vector[4]);
    });
}

#[test]
fun an_instance_has_its_needs_when_all_of_them_were_brought() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The first region needs `also` besides, to which an edge brings one value for all.
        columns.ports().push_back(1);
        columns.names().push_back(b"also");
        columns.flags().push_back(0);
        *&mut columns.needs()[0] = vector[1, 1];
        *&mut columns.needed_ports()[0] = vector[0, 1];
        columns.leading().push_back(0);
        columns.variants().push_back(b"ok");
        columns.edges().push_back(vector[11, 1, 1, 0, 0, 0, 0, 0xFFFF, 0xFFFF]);
        columns.write(dag);
        let (mut records, region) = (none(), records::instance(0, vector[]));
        assert!(!records.has_needs(dag, &region));
        assert!(records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        assert!(!records.has_needs(dag, &region));
        assert!(records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 3), 0, 0, 0));
        assert!(records.has_needs(dag, &region));
        destroy(records);
    });
}

#[test]
fun a_loop_has_its_needs_by_what_stays_in_all_its_rounds() {
    with_draft!(|dag| {
        let mut columns = columns();
        // What comes to `kept` of the loop by this edge is there in the first round alone.
        columns.leading().push_back(0);
        columns.variants().push_back(b"ok");
        columns.edges().push_back(vector[11, 5, 1, 0, 0, 0, 1, 0xFFFF, 0xFFFF, 0]);
        columns.write(dag);
        let (mut records, cycle) = (none(), records::instance(1, vector[]));
        assert!(!records.has_needs(dag, &cycle));
        assert!(records.put_in_scope(dag, cycle, &edge(dag, 0, b"ok", 3), 0, 0, 0));
        assert!(!records.has_needs(dag, &cycle));
        // The one does not stand in the way of the other.
        assert!(records.put_in_scope(dag, cycle, &edge(dag, 0, b"ok", 1), 0, 0, 0));
        assert!(records.has_needs(dag, &cycle));
        destroy(records);
    });
}

#[test]
fun a_path_is_inside_what_is_open_if_each_region_was_opened_and_each_loop_has_its_needs() {
    with_dag!(|dag| {
        let (mut records, region) = (none(), records::instance(0, vector[]));
        let (outside, inside, deep) = (vector[], vector[0], vector[0, 2]);
        assert!(records.is_inside_open(dag, &outside, &vector[]));
        assert!(!records.is_inside_open(dag, &inside, &vector[1]));
        assert!(records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2));
        assert!(!records.is_inside_open(dag, &inside, &vector[1]));
        records.open(region, vector[2]);
        assert!(records.is_inside_open(dag, &inside, &vector[1]));
        // The loop inside needs nothing.
        assert!(records.is_inside_open(dag, &deep, &vector[1, 3]));

        // The other loop needs `kept`, and the region inside it its list.
        let (around, inner) = (vector[1], vector[1, 3]);
        assert!(!records.is_inside_open(dag, &around, &vector[0]));
        let (cycle, within) = (records::instance(1, vector[]), records::instance(3, vector[0]));
        assert!(records.put_in_scope(dag, within, &edge(dag, 5, b"ok", 0), 5, 0, 2));
        records.open(within, vector[2]);
        // The region inside is open, and what is around it is not.
        assert!(!records.is_inside_open(dag, &inner, &vector[0, 0]));
        assert!(records.put_in_scope(dag, cycle, &edge(dag, 0, b"ok", 1), 0, 0, 0));
        assert!(records.is_inside_open(dag, &around, &vector[0]));
        assert!(records.is_inside_open(dag, &inner, &vector[0, 0]));
        // In the next round it is not.
        assert!(records.is_inside_open(dag, &around, &vector[1]));
        assert!(!records.is_inside_open(dag, &inner, &vector[1, 0]));
        destroy(records);
    });
}

// === Bounds ===

/// A path has 8 numbers at most: 32 bytes.
#[test]
fun an_edge_writes_no_more_than_what_it_may_begin() {
    with_dag!(|dag| {
        // A mark: 287 + 32.
        assert_eq!(records::edge_bytes(dag, &edge(dag, 3, b"ok", 0)), 319);
        // A run and a value: 316 + 32 + 9.
        assert_eq!(records::edge_bytes(dag, &edge(dag, 2, b"good", 0)), 357);
        // An instance with a value and an element, and one cursor: 293 + 32 + 18 + 1 + 12.
        assert_eq!(records::edge_bytes(dag, &edge(dag, 0, b"ok", 0)), 356);
        // An instance with a value, an element and a round, and two things that start in the loop:
        // of each a run with a value, or 32 cursors: 293 + 32 + 18 + 1 + 1 + 2 * (357 + 384).
        assert_eq!(records::edge_bytes(dag, &edge(dag, 0, b"ok", 1)), 1_827);
    });
}

#[test]
fun iterations_write_no_more_than_their_records() {
    with_dag!(|dag| {
        assert_eq!(records::iteration_bytes(dag.vertex(0), 1), 316);
        assert_eq!(records::iteration_bytes(dag.vertex(1), 1), 320);
        assert_eq!(records::iteration_bytes(dag.vertex(2), 3), 972);
    });
}

// === Helpers ===

fun none(): Records { records::none(&mut tx_context::dummy()) }

fun at(vertex: u16, path: vector<u32>): Run { run::new(vertex, path) }

fun reason(text: vector<u8>): String { text.to_ascii_string() }

/// What the third iteration of region 0 gave to a port of vertex 4.
fun mark(path: vector<u32>): records::Mark { records::mark(0, path, 4, 0, 2) }

/// One of the edges of a variant.
fun edge(dag: &Dag, vertex: u16, variant: vector<u8>, place: u64): Edge {
    dag.vertex(vertex).edges(&variant.to_ascii_string())[place]
}

/// Records of the first region, which is open with cursors of these lengths.
fun opened(dag: &Dag, counts: vector<u32>): (Records, records::Instance) {
    let (mut records, region) = (none(), records::instance(0, vector[]));
    records.put_in_scope(dag, region, &edge(dag, 0, b"ok", 0), 0, 0, 2);
    records.take_bytes();
    records.open(region, counts);
    (records, region)
}

fun assert_told(records: &Records, run: Run, expected: vector<u8>) {
    assert_eq!(bcs::to_bytes(records.of(run)), expected);
}

/// The record of a run to which nothing was brought.
fun told(
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

/// The record of a region, fewer than 256 things of which live.
fun region_record(phase: u8, live: u8, cursors: vector<u8>, brought: vector<u8>): vector<u8> {
    vector[vector[phase, live, 0, 0, 0], cursors, brought].flatten()
}
