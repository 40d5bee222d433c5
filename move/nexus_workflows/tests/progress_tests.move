/// Tests of a workflow with a loop inside a region, and a region inside a loop, from start to end.
/// The workflow is that of `dag_runner`. The expected changes are written by hand.
#[test_only]
module nexus_workflows::progress_tests;

use nexus_tools::run::{Self, Run};
use nexus_tools::test_runner::field;
use nexus_tools::value::{Self, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::{columns, with_dag, with_draft};
use nexus_workflows::records::{Self, Instance};
use nexus_workflows::progress::{Self, Change, Progress};
use std::unit_test::{assert_eq, destroy};

const NOW_MS: u64 = 1_000;
/// The delay between the attempts of vertex 2.
const RETRY_MS: u64 = 5_000;

#[test]
fun workflow_with_nested_blocks_runs_to_the_end() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The list of vertex 5 has a default value for the first round.
        *&mut columns.flags()[8] = 2;
        columns.write(dag);
        let mut progress = start(dag);
        progress.settle_run(dag, at(0, vector[]), b"ok", two(), iteration(at(1, vector[])));
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 2);
        let runs = progress.claim_iterations(dag, 1, vector[], 2);
        assert_eq!(runs, vector[at(1, vector[0]), at(1, vector[1])]);
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);

        // The first iteration has two rounds, and leaves the loop with the second round.
        progress.close_run(dag, at(1, vector[0]), b"ok", scalar(), ready(at(2, vector[0, 0])));
        progress.settle_run(
            dag,
            at(2, vector[0, 0]),
            b"poor",
            scalar(),
            ready(at(2, vector[0, 1])),
        );
        progress.settle_run(dag, at(2, vector[0, 1]), b"good", scalar(), ready(at(3, vector[0])));
        progress.settle_run(dag, at(3, vector[0]), b"ok", scalar(), no_effect());
        let region = records::instance(0, vector[]);
        assert!(!progress.gather(dag, region, &mut progress::empty_change()));

        // The second iteration has one round, and is the last iteration.
        progress.close_run(dag, at(1, vector[1]), b"ok", scalar(), ready(at(2, vector[1, 0])));
        progress.settle_run(dag, at(2, vector[1, 0]), b"good", scalar(), ready(at(3, vector[1])));
        progress.settle_run(dag, at(3, vector[1]), b"ok", scalar(), finished_region(region));
        progress.gather_region(dag, region, ready(at(4, vector[])));

        // The loop starts with the gathered list, and has a region in each round.
        progress.settle_run(dag, at(4, vector[]), b"ok", scalar(), ready(at(5, vector[0])));
        progress.settle_run(dag, at(5, vector[0]), b"ok", two(), iteration(at(6, vector[0])));
        progress.claim_iterations(dag, 6, vector[0], 2);
        progress.close_run(dag, at(6, vector[0, 1]), b"ok", scalar(), no_effect());
        let inner = records::instance(3, vector[0]);
        progress.close_run(dag, at(6, vector[0, 0]), b"ok", scalar(), finished_region(inner));
        assert!(!progress.is_over());
        // The list is delivered to a closed round. This is an input conflict, which ends the
        // execution.
        progress.gather_region(dag, inner, failure(at(5, vector[0]), b"input_conflict"));
        assert!(progress.is_over());
        assert_eq!(progress.status(), b"terminated".to_ascii_string());
        destroy(progress);
    });
}

#[test]
fun empty_list_finishes_its_region_immediately() {
    with_dag!(|dag| {
        let mut progress = start(dag);
        let region = records::instance(0, vector[]);
        progress.settle_run(
            dag,
            at(0, vector[]),
            b"ok",
            value::inline_list(vector[]),
            finished_region(region),
        );
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        progress.gather_region(dag, region, ready(at(4, vector[])));
        destroy(progress);
    });
}

#[test]
fun value_that_is_not_a_list_is_a_failure_of_its_source() {
    with_dag!(|dag| {
        let mut progress = start(dag);
        let failed = failure(at(0, vector[]), b"not_a_list");
        progress.settle_run(dag, at(0, vector[]), b"ok", scalar(), failed);
        assert!(progress.is_over());
        assert_eq!(progress.status(), b"terminated".to_ascii_string());
        destroy(progress);
    });
}

#[test]
fun iteration_is_retried_while_attempts_remain() {
    with_dag!(|dag| {
        let mut progress = in_the_loop(dag);
        let run = at(2, vector[0, 0]);
        2u64.do!(|i| {
            progress.mark_in_flight(run);
            progress.fail_run(dag, run, ready(run));
            let due_ms = NOW_MS + RETRY_MS;
            assert_eq!(progress.records().run_record(run).attempt() as u64, i + 2);
            assert!(!progress.is_due(run, due_ms - 1) && progress.is_due(run, due_ms));
        });
        progress.mark_in_flight(run);
        progress.fail_run(dag, run, failure(run, b"timed_out"));
        assert_eq!(progress.status(), b"terminated".to_ascii_string());
        destroy(progress);
    });
}

#[test]
fun outcomes_have_no_effect_after_the_end() {
    with_dag!(|dag| {
        let mut progress = in_the_loop(dag);
        progress.mark_in_flight(at(2, vector[0, 0]));
        progress.end(b"cancelled".to_ascii_string());
        assert!(!progress.is_over());
        assert_eq!(progress.ready_iterations(dag, 1, &vector[]), 0);
        progress.close_run(dag, at(2, vector[0, 0]), b"good", scalar(), no_effect());
        progress.fail_run(dag, at(1, vector[1]), no_effect());
        assert!(progress.is_over());
        assert!(
            !progress.gather(dag, records::instance(0, vector[]), &mut progress::empty_change()),
        );
        assert_eq!(progress.status(), b"cancelled".to_ascii_string());
        destroy(progress);
    });
}

#[test]
fun records_can_be_removed_once() {
    with_dag!(|dag| {
        let mut progress = in_the_loop(dag);
        let (run, region) = (at(2, vector[0, 0]), records::instance(0, vector[]));
        let mark = records::mark(0, vector[], 4, 0, 0);
        let records = progress.records_mut();
        assert!(records.add_mark(mark, 3, 4));
        assert!(!records.add_mark(mark, 3, 5));
        let (edge, origin) = records.marked(mark);
        assert_eq!(edge, option::some(4));
        assert_eq!(origin, 3);
        assert!(records.remove_mark(mark) && !records.remove_mark(mark));
        let (edge, _) = records.marked(mark);
        assert!(edge.is_none());
        assert!(records.remove_run(run) && !records.remove_run(run));
        assert!(records.remove_instance(region) && !records.remove_instance(region));
        destroy(progress);
    });
}

// === Helpers ===

use fun settle_run as Progress.settle_run;
use fun close_run as Progress.close_run;
use fun fail_run as Progress.fail_run;
use fun gather_region as Progress.gather_region;

fun at(vertex: u16, path: vector<u32>): Run { run::new(vertex, path) }

fun scalar(): Value { value::inline(b"5") }

fun two(): Value { value::inline_list(vector[vector[b"1"], vector[b"2"]]) }

fun start(dag: &Dag): Progress {
    let mut change = progress::empty_change();
    let progress = progress::start(dag, 0, &mut change, &mut tx_context::dummy());
    assert_eq!(field(change), ready(at(0, vector[])));
    progress
}

/// Return the progress with both iterations of the first region in flight. The first iteration is
/// in its loop.
fun in_the_loop(dag: &Dag): Progress {
    let mut progress = start(dag);
    progress.settle_run(dag, at(0, vector[]), b"ok", two(), iteration(at(1, vector[])));
    progress.claim_iterations(dag, 1, vector[], 2);
    progress.close_run(dag, at(1, vector[0]), b"ok", scalar(), ready(at(2, vector[0, 0])));
    progress
}

/// Mark a run as in flight, and close it.
fun settle_run(
    progress: &mut Progress,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    out: Value,
    followed: vector<u8>,
) {
    assert!(progress.is_due(run, NOW_MS));
    progress.mark_in_flight(run);
    progress.close_run(dag, run, variant, out, followed);
}

/// Close a run with a variant whose port `out` has this value.
fun close_run(
    progress: &mut Progress,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    out: Value,
    followed: vector<u8>,
) {
    let mut change = progress::empty_change();
    let ports = value::ports(vector[b"out".to_ascii_string()], vector[out]);
    progress.settle(dag, run, &variant.to_ascii_string(), &ports, NOW_MS, &mut change);
    assert_eq!(field(change), followed);
}

/// Close a run without an answer.
fun fail_run(progress: &mut Progress, dag: &Dag, run: Run, followed: vector<u8>) {
    let mut change = progress::empty_change();
    progress.fail(dag, run, b"timed_out".to_ascii_string(), true, NOW_MS, &mut change);
    assert_eq!(field(change), followed);
}

/// Gather a finished region, and check that a second call has no effect.
fun gather_region(progress: &mut Progress, dag: &Dag, region: Instance, followed: vector<u8>) {
    let mut change = progress::empty_change();
    assert!(progress.gather(dag, region, &mut change));
    assert_eq!(field(change), followed);
    assert!(!progress.gather(dag, region, &mut change));
}

fun no_effect(): vector<u8> { effects(vector[], vector[], vector[], vector[]) }

fun ready(run: Run): vector<u8> { effects(vector[run], vector[], vector[], vector[]) }

fun iteration(run: Run): vector<u8> { effects(vector[], vector[run], vector[], vector[]) }

fun finished_region(region: Instance): vector<u8> {
    effects(vector[], vector[], vector[region], vector[])
}

fun failure(run: Run, reason: vector<u8>): vector<u8> {
    let mut failure = field(run);
    failure.append(field(reason));
    effects(vector[], vector[], vector[], failure)
}

/// Return a `Change` in BCS, with at most one failure.
fun effects(
    ready: vector<Run>,
    iterations: vector<Run>,
    finished_regions: vector<Instance>,
    failure: vector<u8>,
): vector<u8> {
    let mut bytes = field(ready);
    bytes.append(field(iterations));
    bytes.append(field(finished_regions));
    bytes.push_back(if (failure.is_empty()) 0 else 1);
    bytes.append(failure);
    bytes
}
