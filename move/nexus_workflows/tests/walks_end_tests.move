/// Failures, races and ends: what handles them, what goes on, and what it comes to.
///
///     0 ──ok──▶ 1 (both ports) ──ok──▶ 3
///     0 ──_err_eval──▶ 2 (`reason`, `detail`), 3 (another port, which no failure has)
///     4 ──ok──▶ 1 (as a list), 3
#[test_only]
module nexus_workflows::walks_end_tests;

use nexus_tools::test_runner::text;
use nexus_tools::value;
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::with_draft;
use nexus_workflows::records;
use nexus_workflows::walks::{Self, Walks};
use nexus_workflows::walks_runner::{Self, at, list, nothing, one, out};
use std::ascii::String;
use std::bcs;
use std::unit_test::{assert_eq, destroy};

use fun walks_runner::assert_over as Walks.assert_over;
use fun walks_runner::closed as Walks.closed;
use fun walks_runner::failed as Walks.failed;
use fun walks_runner::gathered as Walks.gathered;
use fun walks_runner::settled as Walks.settled;
use fun walks_runner::taken as Walks.taken;

const NONE: u16 = 0xFFFF;

/// When a run is closed, and how much later it is tried again.
const NOW_MS: u64 = 1_000;
const RETRY_MS: u64 = 5_000;

// === Failures ===

#[test]
fun a_failure_goes_where_its_edges_lead() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        walks.take(at(0, vector[]));
        walks.failed(dag, at(0, vector[]), nothing().readies(at(0, vector[])));
        walks.take(at(0, vector[]));
        // Reason and detail are there; nothing comes to vertex 3.
        walks.failed(dag, at(0, vector[]), nothing().readies(at(2, vector[])));
        assert!(!walks.records().has(at(3, vector[])) && !walks.is_over());
        let source = walks.records().source(dag, &at(2, vector[]), 0);
        assert_eq!(source.port(), b"reason".to_ascii_string());
        let source = walks.records().source(dag, &at(2, vector[]), 1);
        assert_eq!(source.port(), b"detail".to_ascii_string());
        assert!(source.run() == option::some(at(0, vector[])));
        walks.settled(dag, at(2, vector[]), b"ok", one(), nothing());
        // Who handles a failure has none.
        assert_eq!(failures(&walks), 0);
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

#[test]
fun a_failure_that_no_edge_handles_ends_its_walk_alone_if_its_vertex_goes_on() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, false);
        let ready = nothing().readies(at(0, vector[])).readies(at(4, vector[]));
        let mut walks = walks_runner::begun(dag, ready);
        walks.settled(dag, at(0, vector[]), b"ok", one(), nothing().readies(at(1, vector[])));
        walks.take(at(1, vector[]));
        let fails = nothing().fails(at(1, vector[]), b"timed_out");
        walks.failed(dag, at(1, vector[]), fails);
        assert!(!walks.is_ending() && !walks.is_over());
        assert_eq!(failures(&walks), 1);
        walks.take(at(4, vector[]));
        let fails = nothing().fails(at(4, vector[]), b"timed_out");
        walks.failed(dag, at(4, vector[]), fails);
        assert_eq!(failures(&walks), 2);
        walks.assert_over(b"completed_with_failures");
        destroy(walks);
    });
}

#[test]
fun a_failure_that_ends_the_execution_waits_for_what_is_under_way() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, true);
        let ready = nothing().readies(at(0, vector[])).readies(at(4, vector[]));
        let mut walks = walks_runner::begun(dag, ready);
        walks.settled(dag, at(0, vector[]), b"ok", one(), nothing().readies(at(1, vector[])));
        walks.take(at(1, vector[]));
        walks.take(at(4, vector[]));
        walks.failed(dag, at(1, vector[]), nothing().fails(at(1, vector[]), b"timed_out"));
        assert!(walks.is_ending() && !walks.is_over());
        assert_eq!(walks.status(), b"terminated".to_ascii_string());
        // Its answer is kept, and leads nowhere.
        walks.closed(dag, at(4, vector[]), b"ok", out(list(1)), nothing());
        assert!(walks.records().of(at(4, vector[])).is_closed());
        assert!(!walks.records().has(at(3, vector[])));
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

#[test]
fun an_answer_that_lacks_a_port_is_a_failure_that_is_tried_again() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        walks.settled(dag, at(0, vector[]), b"ok", one(), nothing().readies(at(1, vector[])));
        let run = at(1, vector[]);
        walks.take(run);
        walks.closed(dag, run, b"ok", value::none(), nothing().readies(run));
        assert_eq!(walks.records().of(run).attempt(), 2);
        assert_eq!(walks.records().of(run).not_before_ms(), NOW_MS + RETRY_MS);
        assert!(!walks.can_take(run, NOW_MS + RETRY_MS - 1));
        assert!(walks.can_take(run, NOW_MS + RETRY_MS));
        walks.take(run);
        walks.closed(dag, run, b"ok", value::none(), nothing().fails(run, b"port_missing"));
        assert!(walks.records().of(run).is_closed());
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

#[test]
fun a_variant_without_edges_lacks_no_port() {
    with_draft!(|dag| {
        write(dag, vector[0], 1, true);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        walks.take(at(0, vector[]));
        walks.closed(dag, at(0, vector[]), b"none", value::none(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

#[test]
fun what_is_no_list_fails_alone_if_its_vertex_goes_on() {
    with_draft!(|dag| {
        write(dag, vector[4], 1, false);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(4, vector[])));
        let told = nothing().readies(at(3, vector[])).fails(at(4, vector[]), b"not_a_list");
        walks.settled(dag, at(4, vector[]), b"ok", one(), told);
        assert!(!walks.records().has(at(1, vector[])));
        walks.settled(dag, at(3, vector[]), b"ok", one(), nothing());
        walks.assert_over(b"completed_with_failures");
        destroy(walks);
    });
}

#[test]
fun what_is_no_list_starts_nothing_if_its_vertex_ends_the_execution() {
    with_draft!(|dag| {
        write(dag, vector[4], 1, true);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(4, vector[])));
        let told = nothing().fails(at(4, vector[]), b"not_a_list");
        walks.settled(dag, at(4, vector[]), b"ok", one(), told);
        // The other value of the answer is there, for nobody.
        // Port 0, from vertex 4 along edge 7, and no round of a loop that it left.
        let record = vector[vector[0, 1], zeros(8), zeros(32), x"0001", x"0004000700", zeros(4)];
        assert_eq!(bcs::to_bytes(walks.records().of(at(3, vector[]))), record.flatten());
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

#[test]
fun an_iteration_that_ends_the_execution_lets_no_other_one_begin() {
    with_draft!(|dag| {
        write_gathering(dag, true);
        let mut walks = in_the_region(dag, 2);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        walks.failed(dag, at(1, vector[0]), nothing().fails(at(1, vector[0]), b"timed_out"));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

// === Races ===

/// Vertices 1 and 2 give something to the same port: each iteration has one value for it.
#[test]
fun an_iteration_that_gives_two_values_to_a_list_races_in_the_walk_that_would_get_it() {
    with_draft!(|dag| {
        write_gathering(dag, false);
        let mut walks = in_the_region(dag, 2);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        let goes_on = nothing().readies(at(2, vector[0])).begins(at(1, vector[]));
        walks.closed(dag, at(1, vector[0]), b"both", out(one()), goes_on);
        let (edge, origin) = walks.records().marked(mark(0));
        assert!(edge == option::some(2) && origin == 1);
        let races = nothing().fails(at(3, vector[]), b"raced");
        walks.settled(dag, at(2, vector[0]), b"ok", one(), races);
        // The first one stays.
        let (edge, origin) = walks.records().marked(mark(0));
        assert!(edge == option::some(2) && origin == 1);
        let (edge, _) = walks.records().marked(mark(1));
        assert!(edge.is_none());
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[1])]);
        walks.closed(dag, at(1, vector[1]), b"on", out(one()), nothing().readies(at(2, vector[1])));
        let region = records::instance(0, vector[]);
        walks.settled(dag, at(2, vector[1]), b"ok", one(), nothing().empties(region));
        let (edge, origin) = walks.records().marked(mark(1));
        assert!(edge == option::some(3) && origin == 2);
        walks.gathered(dag, region, nothing().readies(at(3, vector[])));
        walks.settled(dag, at(3, vector[]), b"ok", one(), nothing());
        walks.assert_over(b"completed_with_failures");
        destroy(walks);
    });
}

// === Ends ===

#[test]
fun the_first_end_stays() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let run = at(0, vector[]);
        let mut walks = walks_runner::begun(dag, nothing().readies(run));
        assert!(!walks.is_over() && !walks.is_ending());
        assert!(walks.can_take(run, 0));
        // There is no such run.
        assert!(!walks.can_take(at(1, vector[]), NOW_MS));
        walks.end(b"cancelled".to_ascii_string());
        walks.end(b"timed_out".to_ascii_string());
        assert!(!walks.can_take(run, NOW_MS) && !walks.can_take(at(1, vector[]), NOW_MS));
        walks.assert_over(b"cancelled");
        destroy(walks);
    });
}

#[test]
fun after_the_end_nothing_is_tried_again() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let run = at(0, vector[]);
        let mut walks = walks_runner::begun(dag, nothing().readies(run));
        walks.take(run);
        walks.end(b"cancelled".to_ascii_string());
        assert!(!walks.is_over());
        // Two attempts, and edges that would handle it.
        walks.failed(dag, run, nothing());
        assert!(walks.records().of(run).is_closed());
        assert!(!walks.records().has(at(2, vector[])));
        walks.assert_over(b"cancelled");
        destroy(walks);
    });
}

#[test]
fun after_the_end_two_that_are_under_way_are_closed_one_after_the_other() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, true);
        let ready = nothing().readies(at(0, vector[])).readies(at(4, vector[]));
        let mut walks = walks_runner::begun(dag, ready);
        walks.take(at(0, vector[]));
        walks.take(at(4, vector[]));
        walks.end(b"timed_out".to_ascii_string());
        assert!(!walks.is_over());
        walks.failed(dag, at(0, vector[]), nothing());
        assert!(!walks.is_over());
        walks.closed(dag, at(4, vector[]), b"ok", value::none(), nothing());
        walks.assert_over(b"timed_out");
        destroy(walks);
    });
}

#[test]
fun an_execution_is_over_when_each_of_its_runs_is_closed() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, true);
        let ready = nothing().readies(at(0, vector[])).readies(at(4, vector[]));
        let mut walks = walks_runner::begun(dag, ready);
        walks.settled(dag, at(4, vector[]), b"none", one(), nothing());
        assert!(!walks.is_over());
        walks.settled(dag, at(0, vector[]), b"ok", one(), nothing().readies(at(1, vector[])));
        assert!(!walks.is_over());
        walks.settled(dag, at(1, vector[]), b"ok", one(), nothing().readies(at(3, vector[])));
        assert!(!walks.is_over());
        walks.settled(dag, at(3, vector[]), b"ok", one(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

// === Beginnings ===

#[test]
fun a_vertex_that_a_group_names_twice_begins_once() {
    with_draft!(|dag| {
        write(dag, vector[0, 0], 1, true);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        walks.settled(dag, at(0, vector[]), b"none", one(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

#[test]
fun an_execution_begins_in_the_first_round_of_a_loop_and_in_no_region() {
    with_draft!(|dag| {
        write_begun_inside(dag);
        // The other vertex of the group waits for a list that nobody brings.
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[0])));
        assert!(!walks.records().has(at(1, vector[0])));
        walks.settled(dag, at(0, vector[0]), b"ok", one(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

// === Bounds ===

/// A run with a value takes 357 bytes at most: 316, a path of 8 numbers, and 9.
#[test]
fun a_closing_writes_no_more_than_the_edges_of_its_variant_or_of_a_failure() {
    with_draft!(|dag| {
        write(dag, vector[0], 1, true);
        // Two edges of `ok`, and three of a failure: an answer may turn out to be one, and then 12
        // bytes say that it lacks a port.
        assert_eq!(most(dag, 0, b"ok"), 1_083);
        assert_eq!(most(dag, 0, b"none"), 1_083);
        assert_eq!(walks::most_bytes(dag, &at(0, vector[]), &option::none()), 1_071);
        assert_eq!(most(dag, 1, b"ok"), 357);
        assert_eq!(most(dag, 1, b"none"), 12);
        assert_eq!(walks::most_bytes(dag, &at(1, vector[]), &option::none()), 0);
        // Two edges.
        assert_eq!(most(dag, 4, b"ok"), 714);
        assert!(walks::handles_failure(dag, &at(0, vector[])));
        assert!(!walks::handles_failure(dag, &at(1, vector[])));
        assert_eq!(walks::err_eval(), b"_err_eval".to_ascii_string());
    });
}

#[test]
fun a_beginning_writes_a_record_for_each_vertex_of_its_group() {
    with_draft!(|dag| {
        // One in a loop, and one in a region: 320 each.
        write_begun_inside(dag);
        assert_eq!(walks::most_begun_bytes(dag, 0), 640);
        assert_eq!(walks::most_begun_bytes(dag, 1), 0);
    });
}

// === Helpers ===

/// How many failures the walks of an execution that has no early end tell in BCS: these are the last
/// but one of their fields.
fun failures(walks: &Walks): u8 {
    let bytes = bcs::to_bytes(walks);
    assert_eq!(bytes[bytes.length() - 1], 0);
    bytes[bytes.length() - 5]
}

fun zeros(n: u64): vector<u8> { text(n, 0) }

/// The most bytes that closing a run outside all blocks with a variant writes.
fun most(dag: &Dag, vertex: u16, variant: vector<u8>): u64 {
    walks::most_bytes(dag, &at(vertex, vector[]), &option::some(ascii(variant)))
}

fun ascii(text: vector<u8>): String { text.to_ascii_string() }

fun ascii_all(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| ascii(text)) }

/// The workflow above, of which each vertex has so many attempts, and ends the execution or not.
fun write(dag: &mut Dag, group: vector<u16>, attempts: u8, terminates: bool) {
    dag.add_group(b"all".to_ascii_string(), group);
    dag.add_vertices(
        vector[0, 0, 0, 0, 0],
        vector::tabulate!(5, |_| vector[]),
        vector::tabulate!(5, |i| if (group.contains(&(i as u16))) vector[0] else vector[]),
        vector::tabulate!(5, |_| attempts),
        vector::tabulate!(5, |_| RETRY_MS),
        vector::tabulate!(5, |_| 1),
        vector::tabulate!(5, |_| terminates),
    );
    dag.add_ports(
        0,
        vector[0, 1, 1, 2, 2, 3, 4],
        ascii_all(vector[b"in", b"a", b"b", b"reason", b"detail", b"in", b"in"]),
        vector[1, 0, 0, 0, 0, 0, 1],
    );
    dag.add_edges(
        0,
        vector[0, 0, 0, 0, 0, 1, 4, 4],
        ascii_all(vector[
            b"ok", b"ok", b"_err_eval", b"_err_eval", b"_err_eval", b"ok", b"ok", b"ok",
        ]),
        ascii_all(vector[b"out", b"out", b"reason", b"detail", b"out", b"out", b"out", b"out"]),
        vector[
            to(0, 1, 0, 0),
            to(1, 1, 1, 0),
            to(2, 2, 0, 0),
            to(3, 2, 1, 0),
            to(4, 3, 0, 0),
            to(5, 3, 0, 0),
            to(6, 1, 0, 1),
            to(7, 3, 0, 0),
        ],
    );
}

/// An edge outside all blocks.
fun to(number: u16, vertex: u16, port: u16, kind: u16): vector<u16> {
    vector[number, vertex, port, kind, 0, 0, NONE, NONE, NONE]
}

/// 0 ──for_each──▶ [region 0: 1 ──▶ 2 ] ──collect──▶ 3, of 1 with `both` and of 2 with `ok`; one
/// iteration at a time.
fun write_gathering(dag: &mut Dag, terminates: bool) {
    dag.add_group(b"all".to_ascii_string(), vector[0]);
    let nothing = vector[vector[]];
    let (needs, ports, cursors) = (vector[vector[1]], vector[vector[0]], vector[vector[1]]);
    dag.add_blocks(vector[true], nothing, needs, ports, cursors, nothing);
    dag.add_vertices(
        vector[0, 0, 0, 0],
        vector[vector[], vector[0], vector[0], vector[]],
        vector[vector[0], vector[], vector[], vector[]],
        vector[1, 1, 1, 1],
        vector[0, 0, 0, 0],
        vector[1, 1, 1, 1],
        vector::tabulate!(4, |_| terminates),
    );
    dag.add_collects(0, vector[0], vector[to_list(2)], vector[vector[1, 2]]);
    let names = ascii_all(vector[b"in", b"in", b"in", b"in"]);
    dag.add_ports(0, vector[0, 1, 2, 3], names, vector[1, 0, 0, 0]);
    dag.add_edges(
        0,
        vector[0, 1, 1, 1, 2],
        ascii_all(vector[b"ok", b"both", b"both", b"on", b"ok"]),
        ascii_all(vector[b"out", b"out", b"out", b"out", b"out"]),
        vector[
            vector[0, 1, 0, 1, 0, 0, 0, 0, NONE],
            vector[1, 2, 0, 0, 1, 0, NONE, NONE, NONE],
            to_list(2),
            vector[4, 2, 0, 0, 1, 0, NONE, NONE, NONE],
            to_list(3),
        ],
    );
}

/// An edge that leaves the region for the list.
fun to_list(number: u16): vector<u16> { vector[number, 3, 0, 0, 0, 0, NONE, NONE, 0] }

/// What an iteration gave to the list.
fun mark(iteration: u32): records::Mark { records::mark(0, vector[], 3, 0, iteration) }

/// The source has given a list of so many elements.
fun in_the_region(dag: &Dag, n: u64): Walks {
    let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
    let begins = nothing().begins(at(1, vector[]));
    walks.settled(dag, at(0, vector[]), b"ok", list(n), begins);
    walks
}

/// [loop 0: 0 ], [region 1: 1 ]: a group begins with both, and another one with nothing.
fun write_begun_inside(dag: &mut Dag) {
    dag.add_group(b"all".to_ascii_string(), vector[0, 1]);
    dag.add_group(b"none".to_ascii_string(), vector[]);
    let nothing = vector[vector[], vector[]];
    let cursors = vector[vector[], vector[1]];
    let no_ports = vector[vector[], vector[]];
    dag.add_blocks(vector[false, true], nothing, nothing, no_ports, cursors, nothing);
    dag.add_vertices(
        vector[0, 0],
        vector[vector[0], vector[1]],
        vector[vector[0], vector[0]],
        vector[1, 1],
        vector[0, 0],
        vector[1, 1],
        vector[true, true],
    );
    dag.add_ports(0, vector[0, 1], ascii_all(vector[b"in", b"in"]), vector[1, 1]);
}
