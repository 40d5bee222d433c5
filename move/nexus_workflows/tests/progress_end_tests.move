/// Tests of failures, input conflicts and ends of executions.
///
///
///     0 ──ok──▶ 1 (both ports) ──ok──▶ 3
///     0 ──_err_eval──▶ 2 (`reason`, `detail`), 3 (another port, which no failure has)
///     4 ──ok──▶ 1 (as a list), 3
#[test_only]
module nexus_workflows::progress_end_tests;

use nexus_tools::test_runner::text;
use nexus_tools::value;
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::with_draft;
use nexus_workflows::records;
use nexus_workflows::progress::{Self, Progress};
use nexus_workflows::progress_runner::{Self, at, list, no_effect, scalar, out};
use std::ascii::String;
use std::bcs;
use std::unit_test::{assert_eq, destroy};

use fun progress_runner::assert_over as Progress.assert_over;
use fun progress_runner::close_run as Progress.close_run;
use fun progress_runner::fail_run as Progress.fail_run;
use fun progress_runner::gather_region as Progress.gather_region;
use fun progress_runner::settle_run as Progress.settle_run;
use fun progress_runner::claim as Progress.claim;

const NONE: u16 = 0xFFFF;

/// The time at which the tests close runs, and the retry delay.
const NOW_MS: u64 = 1_000;
const RETRY_MS: u64 = 5_000;

// === Failures ===

#[test]
fun failure_flows_along_its_edges() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        progress.mark_in_flight(at(0, vector[]));
        progress.fail_run(dag, at(0, vector[]), no_effect().with_ready(at(0, vector[])));
        progress.mark_in_flight(at(0, vector[]));
        // The edges deliver `reason` and `detail`. Vertex 3 does not receive a value.
        progress.fail_run(dag, at(0, vector[]), no_effect().with_ready(at(2, vector[])));
        assert!(!progress.records().has_run(at(3, vector[])) && !progress.is_over());
        let source = progress.records().source(dag, &at(2, vector[]), 0);
        assert_eq!(source.port(), b"reason".to_ascii_string());
        let source = progress.records().source(dag, &at(2, vector[]), 1);
        assert_eq!(source.port(), b"detail".to_ascii_string());
        assert!(source.run() == option::some(at(0, vector[])));
        progress.settle_run(dag, at(2, vector[]), b"ok", scalar(), no_effect());
        // A handled failure is not recorded as an unhandled failure.
        assert_eq!(failures(&progress), 0);
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

#[test]
fun unhandled_failure_of_a_continuing_vertex_does_not_end_the_execution() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, false);
        let ready = no_effect().with_ready(at(0, vector[])).with_ready(at(4, vector[]));
        let mut progress = progress_runner::start(dag, ready);
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(1, vector[])),
        );
        progress.mark_in_flight(at(1, vector[]));
        let fails = no_effect().with_failure(at(1, vector[]), b"timed_out");
        progress.fail_run(dag, at(1, vector[]), fails);
        assert!(!progress.is_ending() && !progress.is_over());
        assert_eq!(failures(&progress), 1);
        progress.mark_in_flight(at(4, vector[]));
        let fails = no_effect().with_failure(at(4, vector[]), b"timed_out");
        progress.fail_run(dag, at(4, vector[]), fails);
        assert_eq!(failures(&progress), 2);
        progress.assert_over(b"completed_with_failures");
        destroy(progress);
    });
}

#[test]
fun terminating_failure_waits_for_runs_in_flight() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, true);
        let ready = no_effect().with_ready(at(0, vector[])).with_ready(at(4, vector[]));
        let mut progress = progress_runner::start(dag, ready);
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(1, vector[])),
        );
        progress.mark_in_flight(at(1, vector[]));
        progress.mark_in_flight(at(4, vector[]));
        progress.fail_run(
            dag,
            at(1, vector[]),
            no_effect().with_failure(at(1, vector[]), b"timed_out"),
        );
        assert!(progress.is_ending() && !progress.is_over());
        assert_eq!(progress.status(), b"terminated".to_ascii_string());
        // The record marks the run as closed, but its answer has no effect.
        progress.close_run(dag, at(4, vector[]), b"ok", out(list(1)), no_effect());
        assert!(progress.records().run_record(at(4, vector[])).is_closed());
        assert!(!progress.records().has_run(at(3, vector[])));
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

#[test]
fun answer_without_a_port_is_retried() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(1, vector[])),
        );
        let run = at(1, vector[]);
        progress.mark_in_flight(run);
        progress.close_run(dag, run, b"ok", value::empty_ports(), no_effect().with_ready(run));
        assert_eq!(progress.records().run_record(run).attempt(), 2);
        assert_eq!(progress.records().run_record(run).not_before_ms(), NOW_MS + RETRY_MS);
        assert!(!progress.is_due(run, NOW_MS + RETRY_MS - 1));
        assert!(progress.is_due(run, NOW_MS + RETRY_MS));
        progress.mark_in_flight(run);
        progress.close_run(
            dag,
            run,
            b"ok",
            value::empty_ports(),
            no_effect().with_failure(run, b"port_missing"),
        );
        assert!(progress.records().run_record(run).is_closed());
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

#[test]
fun variant_without_edges_requires_no_port() {
    with_draft!(|dag| {
        write(dag, vector[0], 1, true);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        progress.mark_in_flight(at(0, vector[]));
        progress.close_run(dag, at(0, vector[]), b"none", value::empty_ports(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

#[test]
fun value_that_is_not_a_list_does_not_end_a_continuing_vertex() {
    with_draft!(|dag| {
        write(dag, vector[4], 1, false);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(4, vector[])));
        let expected = no_effect().with_ready(at(3, vector[])).with_failure(
            at(4, vector[]),
            b"not_a_list",
        );
        progress.settle_run(dag, at(4, vector[]), b"ok", scalar(), expected);
        assert!(!progress.records().has_run(at(1, vector[])));
        progress.settle_run(dag, at(3, vector[]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed_with_failures");
        destroy(progress);
    });
}

#[test]
fun value_that_is_not_a_list_ends_a_terminating_vertex() {
    with_draft!(|dag| {
        write(dag, vector[4], 1, true);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(4, vector[])));
        let expected = no_effect().with_failure(at(4, vector[]), b"not_a_list");
        progress.settle_run(dag, at(4, vector[]), b"ok", scalar(), expected);
        // The other value of the answer is stored but unused. The delivery is to port 0, from
        // vertex 4 along edge 7, without a round.
        let record = vector[vector[0, 1], zeros(8), zeros(32), x"0001", x"0004000700", zeros(4)];
        assert_eq!(bcs::to_bytes(progress.records().run_record(at(3, vector[]))), record.flatten());
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

#[test]
fun no_iteration_starts_after_a_terminating_failure() {
    with_draft!(|dag| {
        write_gathering(dag, true);
        let mut progress = in_the_region(dag, 2);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        progress.fail_run(
            dag,
            at(1, vector[0]),
            no_effect().with_failure(at(1, vector[0]), b"timed_out"),
        );
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

// === Input conflicts ===

/// Vertices 1 and 2 deliver to the same port, which accepts one value per iteration.
#[test]
fun second_value_of_an_iteration_is_an_input_conflict() {
    with_draft!(|dag| {
        write_gathering(dag, false);
        let mut progress = in_the_region(dag, 2);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        let goes_on = no_effect().with_ready(at(2, vector[0])).with_iteration(at(1, vector[]));
        progress.close_run(dag, at(1, vector[0]), b"both", out(scalar()), goes_on);
        let (edge, origin) = progress.records().marked(mark(0));
        assert!(edge == option::some(2) && origin == 1);
        let races = no_effect().with_failure(at(3, vector[]), b"input_conflict");
        progress.settle_run(dag, at(2, vector[0]), b"ok", scalar(), races);
        // The mark still contains the first value.
        let (edge, origin) = progress.records().marked(mark(0));
        assert!(edge == option::some(2) && origin == 1);
        let (edge, _) = progress.records().marked(mark(1));
        assert!(edge.is_none());
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[1])]);
        progress.close_run(
            dag,
            at(1, vector[1]),
            b"on",
            out(scalar()),
            no_effect().with_ready(at(2, vector[1])),
        );
        let region = records::instance(0, vector[]);
        progress.settle_run(
            dag,
            at(2, vector[1]),
            b"ok",
            scalar(),
            no_effect().with_finished_region(region),
        );
        let (edge, origin) = progress.records().marked(mark(1));
        assert!(edge == option::some(3) && origin == 2);
        progress.gather_region(dag, region, no_effect().with_ready(at(3, vector[])));
        progress.settle_run(dag, at(3, vector[]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed_with_failures");
        destroy(progress);
    });
}

// === Ends ===

#[test]
fun first_early_end_is_final() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let run = at(0, vector[]);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(run));
        assert!(!progress.is_over() && !progress.is_ending());
        assert!(progress.is_due(run, 0));
        // A run without a record is not due.
        assert!(!progress.is_due(at(1, vector[]), NOW_MS));
        progress.end(b"cancelled".to_ascii_string());
        progress.end(b"timed_out".to_ascii_string());
        assert!(!progress.is_due(run, NOW_MS) && !progress.is_due(at(1, vector[]), NOW_MS));
        progress.assert_over(b"cancelled");
        destroy(progress);
    });
}

#[test]
fun no_run_is_retried_after_the_end() {
    with_draft!(|dag| {
        write(dag, vector[0], 2, true);
        let run = at(0, vector[]);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(run));
        progress.mark_in_flight(run);
        progress.end(b"cancelled".to_ascii_string());
        assert!(!progress.is_over());
        // A run has two attempts, and an edge would handle its failure, but the execution has
        // ended.
        progress.fail_run(dag, run, no_effect());
        assert!(progress.records().run_record(run).is_closed());
        assert!(!progress.records().has_run(at(2, vector[])));
        progress.assert_over(b"cancelled");
        destroy(progress);
    });
}

#[test]
fun two_runs_in_flight_are_closed_after_the_end() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, true);
        let ready = no_effect().with_ready(at(0, vector[])).with_ready(at(4, vector[]));
        let mut progress = progress_runner::start(dag, ready);
        progress.mark_in_flight(at(0, vector[]));
        progress.mark_in_flight(at(4, vector[]));
        progress.end(b"timed_out".to_ascii_string());
        assert!(!progress.is_over());
        progress.fail_run(dag, at(0, vector[]), no_effect());
        assert!(!progress.is_over());
        progress.close_run(dag, at(4, vector[]), b"ok", value::empty_ports(), no_effect());
        progress.assert_over(b"timed_out");
        destroy(progress);
    });
}

#[test]
fun execution_is_over_when_all_runs_are_closed() {
    with_draft!(|dag| {
        write(dag, vector[0, 4], 1, true);
        let ready = no_effect().with_ready(at(0, vector[])).with_ready(at(4, vector[]));
        let mut progress = progress_runner::start(dag, ready);
        progress.settle_run(dag, at(4, vector[]), b"none", scalar(), no_effect());
        assert!(!progress.is_over());
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(1, vector[])),
        );
        assert!(!progress.is_over());
        progress.settle_run(
            dag,
            at(1, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(3, vector[])),
        );
        assert!(!progress.is_over());
        progress.settle_run(dag, at(3, vector[]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

// === Beginnings ===

#[test]
fun vertex_listed_twice_in_a_group_starts_once() {
    with_draft!(|dag| {
        write(dag, vector[0, 0], 1, true);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        progress.settle_run(dag, at(0, vector[]), b"none", scalar(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

#[test]
fun start_opens_loops_but_no_regions() {
    with_draft!(|dag| {
        write_start_inside(dag);
        // The other vertex of the entry group waits for a list that never arrives.
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[0])));
        assert!(!progress.records().has_run(at(1, vector[0])));
        progress.settle_run(dag, at(0, vector[0]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

// === Bounds ===

/// The record of a run and a value have at most 357 bytes. The record has 316 bytes, a path of 8
/// numbers has 32 bytes, and the value has 9 bytes.
#[test]
fun max_closing_bytes_bounds_the_written_bytes() {
    with_draft!(|dag| {
        write(dag, vector[0], 1, true);
        // The variant `ok` has two edges, and the variant for failures has three edges. An answer
        // may become a failure, whose reason has 12 bytes.
        assert_eq!(most(dag, 0, b"ok"), 1_083);
        assert_eq!(most(dag, 0, b"none"), 1_083);
        assert_eq!(progress::max_closing_bytes(dag, &at(0, vector[]), &option::none()), 1_071);
        assert_eq!(most(dag, 1, b"ok"), 357);
        assert_eq!(most(dag, 1, b"none"), 12);
        assert_eq!(progress::max_closing_bytes(dag, &at(1, vector[]), &option::none()), 0);
        // The variant has two edges, which write at most 357 bytes each.
        assert_eq!(most(dag, 4, b"ok"), 714);
        assert!(progress::handles_failure(dag, &at(0, vector[])));
        assert!(!progress::handles_failure(dag, &at(1, vector[])));
        assert_eq!(progress::err_eval(), b"_err_eval".to_ascii_string());
    });
}

#[test]
fun max_start_bytes_counts_a_record_per_vertex() {
    with_draft!(|dag| {
        // The start writes a vertex in a loop and a vertex in a region, with 320 bytes each.
        write_start_inside(dag);
        assert_eq!(progress::max_start_bytes(dag, 0), 640);
        assert_eq!(progress::max_start_bytes(dag, 1), 0);
    });
}

// === Helpers ===

/// Return the number of unhandled failures of an execution that did not end early. The number is
/// the second last field of the BCS bytes.
fun failures(progress: &Progress): u8 {
    let bytes = bcs::to_bytes(progress);
    assert_eq!(bytes[bytes.length() - 1], 0);
    bytes[bytes.length() - 5]
}

fun zeros(n: u64): vector<u8> { text(n, 0) }

/// Return the maximum number of bytes that closing a run outside all blocks with a variant writes.
fun most(dag: &Dag, vertex: u16, variant: vector<u8>): u64 {
    progress::max_closing_bytes(dag, &at(vertex, vector[]), &option::some(ascii(variant)))
}

fun ascii(text: vector<u8>): String { text.to_ascii_string() }

fun ascii_all(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| ascii(text)) }

/// Write the workflow that the comment of the module shows, with `attempts` attempts per vertex.
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

/// Return the row of an edge whose ends are outside all blocks.
fun to(number: u16, vertex: u16, port: u16, kind: u16): vector<u16> {
    vector[number, vertex, port, kind, 0, 0, NONE, NONE, NONE]
}

/// Write 0 ──for_each──▶ [region 0: 1 ──▶ 2 ] ──collect──▶ 3, from vertex 1 with `both` and from
/// vertex 2 with `ok`. At most one iteration is in flight.
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
    dag.add_collect_edges(0, vector[0], vector[to_list(2)], vector[vector[1, 2]]);
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

/// Return the row of an edge that leads from the region to the gathered list.
fun to_list(number: u16): vector<u16> { vector[number, 3, 0, 0, 0, 0, NONE, NONE, 0] }

/// Return the key of the mark of an iteration for the gathered list.
fun mark(iteration: u32): records::Mark { records::mark(0, vector[], 3, 0, iteration) }

/// Return the progress after vertex 0 has returned a list of `n` elements.
fun in_the_region(dag: &Dag, n: u64): Progress {
    let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
    let expected = no_effect().with_iteration(at(1, vector[]));
    progress.settle_run(dag, at(0, vector[]), b"ok", list(n), expected);
    progress
}

/// Write [loop 0: 0 ], [region 1: 1 ]. One entry group starts with both vertices, and the other
/// entry group is empty.
fun write_start_inside(dag: &mut Dag) {
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
