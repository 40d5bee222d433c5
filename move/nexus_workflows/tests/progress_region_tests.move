/// Tests of the iterations of regions, nested regions and loops. The tests check the number of
/// iterations in flight and the live count.
#[test_only]
module nexus_workflows::progress_region_tests;

use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::{columns, with_dag, with_draft};
use nexus_workflows::records::{Self, Instance};
use nexus_workflows::progress::Progress;
use nexus_workflows::progress_runner::{Self, at, list, no_effect, scalar, out};
use std::ascii::String;
use std::unit_test::{assert_eq, destroy};

use fun progress_runner::assert_over as Progress.assert_over;
use fun progress_runner::close_run as Progress.close_run;
use fun progress_runner::fail_run as Progress.fail_run;
use fun progress_runner::gather_region as Progress.gather_region;
use fun progress_runner::try_gather as Progress.try_gather;
use fun progress_runner::settle_run as Progress.settle_run;
use fun progress_runner::claim as Progress.claim;

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;

// === Iterations in flight ===

#[test]
fun parallel_limits_the_iterations_in_flight() {
    with_dag!(|dag| {
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(10), expected);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 8);
        let runs = vector::tabulate!(8, |i| at(1, vector[i as u32]));
        progress.claim(dag, 1, vector[], 8, runs);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        assert_eq!(progress.records().instance_record(region()).live(), 10);

        // After this iteration leaves the cursor, the next iteration can start.
        let goes_on = no_effect().with_ready(at(2, vector[3, 0])).with_iteration(at(1, vector[]));
        progress.close_run(dag, at(1, vector[3]), b"ok", out(scalar()), goes_on);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 1);
        // The next run of the iteration replaces the closed run in the live count.
        assert_eq!(progress.records().instance_record(region()).live(), 10);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[8])]);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        // An answer without edges ends its iteration.
        let next = no_effect().with_iteration(at(1, vector[]));
        progress.close_run(dag, at(1, vector[0]), b"none", out(scalar()), next);
        assert_eq!(progress.records().instance_record(region()).live(), 9);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[9])]);
        // The cursor has no iterations left.
        progress.close_run(dag, at(1, vector[1]), b"none", out(scalar()), no_effect());
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        assert_eq!(progress.records().instance_record(region()).live(), 8);
        assert!(!progress.try_gather(dag, region()));
        destroy(progress);
    });
}

#[test]
fun ready_iterations_requires_an_open_region() {
    with_dag!(|dag| {
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(2), expected);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 2);
        // These paths have a wrong length, or belong to a region that does not exist.
        assert_eq!(progress.ready_iterations(dag, 1, &vector[0]), 0);
        assert_eq!(progress.ready_iterations(dag, 6, &vector[]), 0);
        assert_eq!(progress.ready_iterations(dag, 6, &vector[0]), 0);
        // These vertices are outside all regions, or are not heads of iterations.
        assert_eq!(progress.ready_iterations(dag, 0, &vector[]), 0);
        assert_eq!(progress.ready_iterations(dag, 5, &vector[0]), 0);
        assert_eq!(progress.ready_iterations(dag, 2, &vector[]), 0);
        assert_eq!(progress.ready_iterations(dag, 3, &vector[]), 0);
        progress.end(b"cancelled".to_ascii_string());
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        progress.assert_over(b"cancelled");
        destroy(progress);
    });
}

#[test]
fun region_opens_when_all_needs_are_met() {
    with_draft!(|dag| {
        write_with_another_start(dag, true);
        let ready = no_effect().with_ready(at(0, vector[])).with_ready(at(7, vector[]));
        let mut progress = progress_runner::start(dag, ready);
        progress.settle_run(dag, at(0, vector[]), b"ok", list(2), no_effect());
        // The region has a record but is not open.
        assert!(progress.records().has_instance(region()));
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        assert!(!progress.try_gather(dag, region()));
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(7, vector[]), b"ok", scalar(), expected);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 2);
        assert!(!progress.is_over());
        destroy(progress);
    });
}

#[test]
fun open_region_does_not_open_again() {
    with_draft!(|dag| {
        write_with_another_start(dag, false);
        let ready = no_effect().with_ready(at(0, vector[])).with_ready(at(7, vector[]));
        let mut progress = progress_runner::start(dag, ready);
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(2), expected);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        // A value that the region does not need arrives after the region has opened.
        progress.settle_run(dag, at(7, vector[]), b"ok", scalar(), no_effect());
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 1);
        assert_eq!(progress.records().instance_record(region()).live(), 2);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[1])]);
        destroy(progress);
    });
}

#[test]
fun gather_has_no_effect_after_the_end_or_without_a_region() {
    with_dag!(|dag| {
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        assert!(!progress.try_gather(dag, region()));
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            list(0),
            no_effect().with_finished_region(region()),
        );
        assert!(!progress.try_gather(dag, records::instance(0, vector[0])));
        assert!(progress.records().instance_record(region()).is_finished());
        progress.end(b"cancelled".to_ascii_string());
        assert!(!progress.try_gather(dag, region()));
        assert!(!progress.try_gather(dag, records::instance(3, vector[0])));
        assert!(progress.records().instance_record(region()).is_finished());
        assert!(progress.records().run_record(at(4, vector[])).is_waiting());
        progress.assert_over(b"cancelled");
        destroy(progress);
    });
}

// === Loops in iterations ===

/// The cursor counts an iteration as in flight only during its first round.
#[test]
fun iterations_of_a_loop_run_one_at_a_time() {
    with_draft!(|dag| {
        write_loop_in_region(dag);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(3), expected);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 1);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[0, 0])]);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);

        // The second round of the first iteration runs while the second iteration is in flight.
        let again = no_effect().with_ready(at(1, vector[0, 1])).with_iteration(at(1, vector[]));
        progress.close_run(dag, at(1, vector[0, 0]), b"poor", out(scalar()), again);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 1);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[1, 0])]);
        let third = no_effect().with_ready(at(1, vector[0, 2]));
        progress.settle_run(dag, at(1, vector[0, 1]), b"poor", scalar(), third);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        // The first iteration leaves the loop with its third round.
        let leaves = no_effect().with_ready(at(2, vector[0]));
        progress.settle_run(dag, at(1, vector[0, 2]), b"good", scalar(), leaves);
        let source = progress.records().source(dag, &at(2, vector[0]), 0);
        assert!(source.run() == option::some(at(1, vector[0, 2])));
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);

        // The second iteration leaves the loop with its first round.
        let next = no_effect().with_ready(at(2, vector[1])).with_iteration(at(1, vector[]));
        progress.close_run(dag, at(1, vector[1, 0]), b"good", out(scalar()), next);
        let source = progress.records().source(dag, &at(2, vector[1]), 0);
        assert!(source.run() == option::some(at(1, vector[1, 0])));
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[2, 0])]);
        progress.close_run(dag, at(1, vector[2, 0]), b"none", out(scalar()), no_effect());
        assert_eq!(progress.records().instance_record(region()).live(), 2);
        progress.settle_run(dag, at(2, vector[1]), b"ok", scalar(), no_effect());
        progress.settle_run(
            dag,
            at(2, vector[0]),
            b"ok",
            scalar(),
            no_effect().with_finished_region(region()),
        );
        assert!(!progress.is_over());
        progress.gather_region(dag, region(), no_effect().with_ready(at(3, vector[])));
        progress.settle_run(dag, at(3, vector[]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

#[test]
fun retried_iteration_stays_in_flight() {
    with_draft!(|dag| {
        write_loop_in_region(dag);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(2), expected);
        let run = at(1, vector[0, 0]);
        progress.claim(dag, 1, vector[], 1, vector[run]);
        progress.fail_run(dag, run, no_effect().with_ready(run));
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        assert_eq!(progress.records().instance_record(region()).live(), 2);
        progress.mark_in_flight(run);
        // The failure of the last attempt ends only the iteration of the run.
        let fails = no_effect().with_iteration(at(1, vector[])).with_failure(run, b"timed_out");
        progress.fail_run(dag, run, fails);
        assert!(progress.records().run_record(run).is_closed());
        assert_eq!(progress.records().instance_record(region()).live(), 1);
        let last = at(1, vector[1, 0]);
        progress.claim(dag, 1, vector[], 1, vector[last]);
        progress.close_run(
            dag,
            last,
            b"none",
            out(scalar()),
            no_effect().with_finished_region(region()),
        );
        progress.gather_region(dag, region(), no_effect().with_ready(at(3, vector[])));
        progress.settle_run(dag, at(3, vector[]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed_with_failures");
        destroy(progress);
    });
}

// === Regions in regions ===

#[test]
fun nested_region_is_live_until_it_is_gathered() {
    with_draft!(|dag| {
        write_region_in_region(dag, false);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(2), expected);
        progress.claim(dag, 1, vector[], 2, vector[at(1, vector[0]), at(1, vector[1])]);
        let (first, second) = (records::instance(1, vector[0]), records::instance(1, vector[1]));
        let inner = no_effect().with_iteration(at(2, vector[0]));
        progress.close_run(dag, at(1, vector[0]), b"ok", out(list(2)), inner);
        assert_eq!(progress.records().instance_record(region()).live(), 2);
        assert_eq!(progress.records().instance_record(first).live(), 2);
        // The second region has no iterations.
        progress.close_run(
            dag,
            at(1, vector[1]),
            b"ok",
            out(list(0)),
            no_effect().with_finished_region(second),
        );
        assert_eq!(progress.records().instance_record(region()).live(), 2);
        assert_eq!(progress.records().instance_record(second).live(), 0);
        assert_eq!(progress.ready_iterations(dag, 2, &vector[1]), 0);
        progress.gather_region(dag, second, no_effect().with_ready(at(3, vector[1])));
        assert_eq!(progress.records().instance_record(region()).live(), 2);
        progress.settle_run(dag, at(3, vector[1]), b"ok", scalar(), no_effect());
        assert_eq!(progress.records().instance_record(region()).live(), 1);

        assert!(!progress.try_gather(dag, region()) && !progress.try_gather(dag, first));
        assert_eq!(progress.ready_iterations(dag, 2, &vector[0]), 2);
        progress.claim(dag, 2, vector[0], 2, vector[at(2, vector[0, 0]), at(2, vector[0, 1])]);
        progress.close_run(dag, at(2, vector[0, 1]), b"ok", out(scalar()), no_effect());
        // Only one vertex delivers to the list, so no mark is needed.
        let (edge, _) = progress.records().marked(records::mark(1, vector[0], 3, 0, 1));
        assert!(edge.is_none());
        progress.close_run(
            dag,
            at(2, vector[0, 0]),
            b"ok",
            out(scalar()),
            no_effect().with_finished_region(first),
        );
        assert!(!progress.try_gather(dag, region()));
        progress.gather_region(dag, first, no_effect().with_ready(at(3, vector[0])));
        let source = progress.records().source(dag, &at(3, vector[0]), 0);
        assert!(source.region() == option::some(first));
        progress.settle_run(
            dag,
            at(3, vector[0]),
            b"ok",
            scalar(),
            no_effect().with_finished_region(region()),
        );
        assert_eq!(progress.records().instance_record(region()).live(), 0);
        progress.gather_region(dag, region(), no_effect().with_ready(at(4, vector[])));
        assert!(!progress.is_over());
        progress.settle_run(dag, at(4, vector[]), b"ok", scalar(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

#[test]
fun region_that_ends_the_execution_finishes_no_outer_region() {
    with_draft!(|dag| {
        // The run after the inner region also receives a value from a vertex before the region.
        write_region_in_region(dag, true);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        let expected = no_effect().with_iteration(at(1, vector[]));
        progress.settle_run(dag, at(0, vector[]), b"ok", list(1), expected);
        progress.claim(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        let inner = records::instance(1, vector[0]);
        let early = no_effect().with_ready(at(3, vector[0])).with_finished_region(inner);
        progress.close_run(dag, at(1, vector[0]), b"ok", out(list(0)), early);
        progress.settle_run(dag, at(3, vector[0]), b"ok", scalar(), no_effect());
        assert_eq!(progress.records().instance_record(region()).live(), 1);
        progress.gather_region(
            dag,
            inner,
            no_effect().with_failure(at(3, vector[0]), b"input_conflict"),
        );
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

// === Loops that open ===

#[test]
fun gathered_list_is_static_in_a_loop() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The first region gathers a list for the port `kept` of the loop, which has no other
        // source.
        let to_kept = vector[4, 5, 1, 4, 0, 0, 1, NONE, 0, 0];
        *&mut columns.collect_edges()[0] = to_kept;
        *&mut columns.edges()[4] = to_kept;
        *&mut columns.variants()[6] = b"never";
        columns.write(dag);
        let mut progress = progress_runner::start(dag, no_effect().with_ready(at(0, vector[])));
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            list(0),
            no_effect().with_finished_region(region()),
        );
        progress.gather_region(dag, region(), no_effect());
        let source = progress.records().source(dag, &at(5, vector[3]), 1);
        assert!(source.region() == option::some(region()));
        // The loop receives the whole list.
        assert_eq!(
            progress.records().instance_record(records::instance(1, vector[])).iterations(),
            0,
        );
        destroy(progress);
    });
}

/// The loop needs a static value. The run and the region inside the loop receive their values
/// earlier.
#[test]
fun opening_a_loop_starts_its_waiting_runs() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let mut progress = start_with_three(dag);
        progress.settle_run(dag, at(1, vector[]), b"ok", scalar(), no_effect());
        assert!(progress.records().run_record(at(3, vector[0])).is_waiting());
        progress.settle_run(dag, at(2, vector[]), b"ok", list(2), no_effect());
        assert_eq!(progress.ready_iterations(dag, 4, &vector[0]), 0);
        let opens = no_effect().with_ready(at(3, vector[0])).with_iteration(at(4, vector[0]));
        progress.settle_run(dag, at(0, vector[]), b"ok", scalar(), opens);
        assert_eq!(progress.ready_iterations(dag, 4, &vector[0]), 2);
        walk_the_loop(&mut progress, dag);
        destroy(progress);
    });
}

/// The run does not need the static value for which its loop waits.
#[test]
fun complete_run_waits_until_its_loop_opens() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let mut progress = start_with_three(dag);
        progress.settle_run(dag, at(1, vector[]), b"aside", scalar(), no_effect());
        assert!(progress.records().run_record(at(5, vector[0])).is_waiting());
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(5, vector[0])),
        );
        progress.settle_run(dag, at(5, vector[0]), b"ok", scalar(), no_effect());
        progress.settle_run(dag, at(2, vector[]), b"none", scalar(), no_effect());
        progress.assert_over(b"completed");
        destroy(progress);
    });
}

#[test]
fun run_in_an_open_loop_starts_when_it_is_complete() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let mut progress = start_with_three(dag);
        progress.settle_run(dag, at(0, vector[]), b"ok", scalar(), no_effect());
        assert!(!progress.records().has_run(at(3, vector[0])));
        // A value that is not a list has no elements.
        assert_eq!(
            progress.records().instance_record(records::instance(0, vector[])).iterations(),
            0,
        );
        progress.settle_run(
            dag,
            at(1, vector[]),
            b"ok",
            scalar(),
            no_effect().with_ready(at(3, vector[0])),
        );
        let expected = no_effect().with_iteration(at(4, vector[0]));
        progress.settle_run(dag, at(2, vector[]), b"ok", list(2), expected);
        walk_the_loop(&mut progress, dag);
        destroy(progress);
    });
}

#[test]
fun second_static_value_is_an_input_conflict() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let more = vector[9, 3, 1, 4, 0, 0, 0, NONE, NONE, 0];
        dag.add_edges(0, vector[0], ascii(vector[b"ok"]), ascii(vector[b"out"]), vector[more]);
        let mut progress = start_with_three(dag);
        let races = no_effect().with_failure(at(3, vector[]), b"input_conflict");
        progress.settle_run(dag, at(0, vector[]), b"ok", scalar(), races);
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

#[test]
fun no_loop_opens_after_the_end() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        // The static value arrives together with a value that is not a list.
        let more = vector[9, 4, 0, 1, 0, 1, 1, 1, NONE, 0];
        dag.add_edges(0, vector[0], ascii(vector[b"ok"]), ascii(vector[b"out"]), vector[more]);
        let mut progress = start_with_three(dag);
        progress.settle_run(dag, at(1, vector[]), b"ok", scalar(), no_effect());
        let fails = no_effect().with_failure(at(0, vector[]), b"not_a_list");
        progress.settle_run(dag, at(0, vector[]), b"ok", scalar(), fails);
        assert!(progress.records().run_record(at(3, vector[0])).is_waiting());
        progress.assert_over(b"terminated");
        destroy(progress);
    });
}

// === Helpers ===

fun region(): Instance { records::instance(0, vector[]) }

fun ascii(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| text.to_ascii_string()) }

/// Write the workflow of `dag_runner`, whose execution also starts with another vertex. The value
/// of this vertex is for all iterations of the first region. `needs_it` is whether the region needs
/// the value.
fun write_with_another_start(dag: &mut Dag, needs_it: bool) {
    let mut columns = columns();
    *&mut columns.groups()[0] = vector[0, 7];
    columns.tools().push_back(0);
    columns.blocks().push_back(vector[]);
    columns.vertex_groups().push_back(vector[0]);
    columns.attempts().push_back(1);
    columns.retry_after_ms().push_back(0);
    columns.parallel().push_back(1);
    columns.ports().append(vector[1, 7]);
    columns.names().append(vector[b"also", b"in"]);
    columns.flags().append(vector[if (needs_it) 0 else 2, 1]);
    if (needs_it) {
        *&mut columns.needs()[0] = vector[1, 1];
        *&mut columns.needed_ports()[0] = vector[0, 1];
    };
    columns.edge_vertices().push_back(7);
    columns.variants().push_back(b"ok");
    columns.edges().push_back(vector[11, 1, 1, 0, 0, 0, 0, NONE, NONE]);
    columns.write(dag);
}

fun start_with_three(dag: &Dag): Progress {
    let mut ready = no_effect();
    3u16.do!(|vertex| ready = ready.with_ready(at(vertex, vector[])));
    progress_runner::start(dag, ready)
}

/// Close the run in the loop, and both iterations of the inner region. No region gathers a list.
fun walk_the_loop(progress: &mut Progress, dag: &Dag) {
    let inner = records::instance(1, vector[0]);
    progress.settle_run(dag, at(3, vector[0]), b"ok", scalar(), no_effect());
    progress.claim(dag, 4, vector[0], 2, vector[at(4, vector[0, 0]), at(4, vector[0, 1])]);
    progress.close_run(dag, at(4, vector[0, 0]), b"ok", out(scalar()), no_effect());
    progress.close_run(
        dag,
        at(4, vector[0, 1]),
        b"ok",
        out(scalar()),
        no_effect().with_finished_region(inner),
    );
    assert!(!progress.is_over());
    progress.gather_region(dag, inner, no_effect());
    progress.assert_over(b"completed");
}

/// Write 0 ──for_each──▶ [region 0: [loop 1: 1 ⟲ ] ──break──▶ 2 ] ──collect──▶ 3. At most one
/// iteration is in flight. Runs have two attempts.
fun write_loop_in_region(dag: &mut Dag) {
    let none = vector[vector[], vector[]];
    dag.add_group(b"all".to_ascii_string(), vector[0]);
    dag.add_blocks(
        vector[true, false],
        vector[vector[], vector[0]],
        vector[vector[1], vector[]],
        vector[vector[0], vector[]],
        vector[vector[1], vector[]],
        none,
    );
    dag.add_vertices(
        vector[0, 0, 0, 0],
        vector[vector[], vector[0, 1], vector[0], vector[]],
        vector[vector[0], vector[], vector[], vector[]],
        vector[1, 2, 1, 1],
        vector[0, 0, 0, 0],
        vector[1, 1, 1, 1],
        vector[true, false, true, true],
    );
    let collected = vector[3, 3, 0, 0, 0, 0, NONE, NONE, 0];
    dag.add_collect_edges(0, vector[0], vector[collected], vector[vector[2]]);
    let names = ascii(vector[b"in", b"in", b"in", b"in"]);
    dag.add_ports(0, vector[0, 1, 2, 3], names, vector[1, 0, 0, 0]);
    dag.add_sources(0, vector[1], vector[0], vector[vector[1, 1]]);
    dag.add_edges(
        0,
        vector[0, 1, 1, 2],
        ascii(vector[b"ok", b"poor", b"good", b"ok"]),
        ascii(vector[b"out", b"out", b"out", b"out"]),
        vector[
            vector[0, 1, 0, 1, 0, 0, 0, 0, NONE, 1],
            vector[1, 1, 0, 2, 2, 0, NONE, NONE, NONE],
            vector[2, 2, 0, 3, 1, 0, NONE, NONE, NONE],
            collected,
        ],
    );
}

/// Write 0 ──for_each──▶ [region 0: 1 ──for_each──▶ [region 1: 2 ] ──collect──▶ 3 ] ──collect──▶ 4,
/// and 1 ──▶ 3 if the workflow is to cause a conflict.
fun write_region_in_region(dag: &mut Dag, races: bool) {
    let none = vector[vector[], vector[]];
    dag.add_group(b"all".to_ascii_string(), vector[0]);
    dag.add_blocks(
        vector[true, true],
        vector[vector[], vector[0]],
        vector[vector[1], vector[2]],
        vector[vector[0], vector[0]],
        vector[vector[1], vector[2]],
        none,
    );
    dag.add_vertices(
        vector[0, 0, 0, 0, 0],
        vector[vector[], vector[0], vector[0, 1], vector[0], vector[]],
        vector[vector[0], vector[], vector[], vector[], vector[]],
        vector[1, 1, 1, 1, 1],
        vector[0, 0, 0, 0, 0],
        vector[32, 32, 32, 32, 32],
        vector[true, true, true, true, true],
    );
    let (outer, inner) = (
        vector[3, 4, 0, 0, 0, 0, NONE, NONE, 0],
        vector[2, 3, 0, 0, 1, 0, NONE, NONE, 1],
    );
    dag.add_collect_edges(0, vector[0, 1], vector[outer, inner], vector[vector[3], vector[2]]);
    let names = ascii(vector[b"in", b"in", b"in", b"in", b"in"]);
    dag.add_ports(0, vector[0, 1, 2, 3, 4], names, vector[1, 0, 0, 0, 0]);
    dag.add_edges(
        0,
        vector[0, 1, 2, 3],
        ascii(vector[b"ok", b"ok", b"ok", b"ok"]),
        ascii(vector[b"out", b"out", b"out", b"out"]),
        vector[
            vector[0, 1, 0, 1, 0, 0, 0, 0, NONE],
            vector[1, 2, 0, 1, 1, 0, 1, 1, NONE],
            inner,
            outer,
        ],
    );
    if (races) {
        let early = vector[4, 3, 0, 0, 1, 0, NONE, NONE, NONE];
        dag.add_edges(0, vector[1], ascii(vector[b"ok"]), ascii(vector[b"out"]), vector[early]);
    };
}

/// Write 0 ──static──▶ [loop 0: 3, 5, [region 1: 4 ] ]; 1 ──▶ 3, or with `aside` ──▶ 5; 2
/// ──for_each──▶ 4.
fun write_region_in_loop(dag: &mut Dag) {
    dag.add_group(b"all".to_ascii_string(), vector[0, 1, 2]);
    dag.add_blocks(
        vector[false, true],
        vector[vector[], vector[0]],
        vector[vector[3], vector[4]],
        vector[vector[1], vector[0]],
        vector[vector[], vector[4]],
        vector[vector[3, 5, BLOCKS + 1], vector[]],
    );
    dag.add_vertices(
        vector[0, 0, 0, 0, 0, 0],
        vector[vector[], vector[], vector[], vector[0], vector[0, 1], vector[0]],
        vector[vector[0], vector[0], vector[0], vector[], vector[], vector[]],
        vector[1, 1, 1, 1, 1, 1],
        vector[0, 0, 0, 0, 0, 0],
        vector[32, 32, 32, 32, 32, 32],
        vector[true, true, true, true, true, true],
    );
    let names = ascii(vector[b"in", b"in", b"in", b"in", b"kept", b"in", b"in"]);
    dag.add_ports(0, vector[0, 1, 2, 3, 3, 4, 5], names, vector[1, 1, 1, 0, 4, 0, 0]);
    dag.add_edges(
        0,
        vector[0, 1, 2, 1],
        ascii(vector[b"ok", b"ok", b"ok", b"aside"]),
        ascii(vector[b"out", b"out", b"out", b"out"]),
        vector[
            vector[0, 3, 1, 4, 0, 0, 0, NONE, NONE, 0],
            vector[1, 3, 0, 0, 0, 1, NONE, NONE, NONE, 0],
            vector[2, 4, 0, 1, 0, 1, 1, 1, NONE, 0],
            vector[3, 5, 0, 0, 0, 1, NONE, NONE, NONE, 0],
        ],
    );
}
