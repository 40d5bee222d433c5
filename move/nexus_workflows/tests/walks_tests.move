/// A workflow is walked to its end: a region, a loop inside it, and a loop with a region inside. The
/// workflow is that of `dag_runner`; what follows from each event is told by hand.
#[test_only]
module nexus_workflows::walks_tests;

use nexus_tools::run::{Self, Run};
use nexus_tools::test_runner::field;
use nexus_tools::value::{Self, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::{columns, with_dag, with_draft};
use nexus_workflows::records::{Self, Instance};
use nexus_workflows::walks::{Self, Change, Walks};
use std::unit_test::{assert_eq, destroy};

const NOW_MS: u64 = 1_000;
/// How far apart the attempts of vertex 2 are.
const RETRY_MS: u64 = 5_000;

#[test]
fun a_region_a_loop_and_a_region_in_a_loop_are_walked_to_the_end() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The list of vertex 5 has a default value for the first round.
        *&mut columns.flags()[8] = 2;
        columns.write(dag);
        let mut walks = begun(dag);
        walks.settled(dag, at(0, vector[]), b"ok", two(), begins(at(1, vector[])));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 2);
        let runs = walks.take_iterations(dag, 1, vector[], 2);
        assert_eq!(runs, vector[at(1, vector[0]), at(1, vector[1])]);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);

        // The first iteration goes round twice, and leaves the loop with its second round.
        walks.closed(dag, at(1, vector[0]), b"ok", one(), readies(at(2, vector[0, 0])));
        walks.settled(dag, at(2, vector[0, 0]), b"poor", one(), readies(at(2, vector[0, 1])));
        walks.settled(dag, at(2, vector[0, 1]), b"good", one(), readies(at(3, vector[0])));
        walks.settled(dag, at(3, vector[0]), b"ok", one(), nothing());
        let region = records::instance(0, vector[]);
        assert!(!walks.gather(dag, region, &mut walks::no_change()));

        // The second one goes round once; it is the last that is left.
        walks.closed(dag, at(1, vector[1]), b"ok", one(), readies(at(2, vector[1, 0])));
        walks.settled(dag, at(2, vector[1, 0]), b"good", one(), readies(at(3, vector[1])));
        walks.settled(dag, at(3, vector[1]), b"ok", one(), empties(region));
        walks.gathered(dag, region, readies(at(4, vector[])));

        // The loop begins with what was gathered, and has a region in each round.
        walks.settled(dag, at(4, vector[]), b"ok", one(), readies(at(5, vector[0])));
        walks.settled(dag, at(5, vector[0]), b"ok", two(), begins(at(6, vector[0])));
        walks.take_iterations(dag, 6, vector[0], 2);
        walks.closed(dag, at(6, vector[0, 1]), b"ok", one(), nothing());
        let inner = records::instance(3, vector[0]);
        walks.closed(dag, at(6, vector[0, 0]), b"ok", one(), empties(inner));
        assert!(!walks.is_over());
        // It leads back to the round that gave the list, which is closed: a race, and the end.
        walks.gathered(dag, inner, fails(at(5, vector[0]), b"raced"));
        assert!(walks.is_over());
        assert_eq!(walks.status(), b"terminated".to_ascii_string());
        destroy(walks);
    });
}

#[test]
fun an_empty_list_empties_its_region_at_once() {
    with_dag!(|dag| {
        let mut walks = begun(dag);
        let region = records::instance(0, vector[]);
        walks.settled(dag, at(0, vector[]), b"ok", value::inline_list(vector[]), empties(region));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        walks.gathered(dag, region, readies(at(4, vector[])));
        destroy(walks);
    });
}

#[test]
fun a_value_that_is_no_list_is_a_failure_of_who_gave_it() {
    with_dag!(|dag| {
        let mut walks = begun(dag);
        let failed = fails(at(0, vector[]), b"not_a_list");
        walks.settled(dag, at(0, vector[]), b"ok", one(), failed);
        assert!(walks.is_over());
        assert_eq!(walks.status(), b"terminated".to_ascii_string());
        destroy(walks);
    });
}

#[test]
fun an_iteration_is_tried_again_while_attempts_remain() {
    with_dag!(|dag| {
        let mut walks = in_the_loop(dag);
        let run = at(2, vector[0, 0]);
        2u64.do!(|i| {
            walks.take(run);
            walks.failed(dag, run, readies(run));
            let due_ms = NOW_MS + RETRY_MS;
            assert_eq!(walks.records().of(run).attempt() as u64, i + 2);
            assert!(!walks.can_take(run, due_ms - 1) && walks.can_take(run, due_ms));
        });
        walks.take(run);
        walks.failed(dag, run, fails(run, b"timed_out"));
        assert_eq!(walks.status(), b"terminated".to_ascii_string());
        destroy(walks);
    });
}

#[test]
fun what_is_under_way_brings_nothing_after_the_end() {
    with_dag!(|dag| {
        let mut walks = in_the_loop(dag);
        walks.take(at(2, vector[0, 0]));
        walks.end(b"cancelled".to_ascii_string());
        assert!(!walks.is_over());
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        walks.closed(dag, at(2, vector[0, 0]), b"good", one(), nothing());
        walks.failed(dag, at(1, vector[1]), nothing());
        assert!(walks.is_over());
        assert!(!walks.gather(dag, records::instance(0, vector[]), &mut walks::no_change()));
        assert_eq!(walks.status(), b"cancelled".to_ascii_string());
        destroy(walks);
    });
}

#[test]
fun records_are_removed_once_and_then_nothing_is_left() {
    with_dag!(|dag| {
        let mut walks = in_the_loop(dag);
        let (run, region) = (at(2, vector[0, 0]), records::instance(0, vector[]));
        let mark = records::mark(0, vector[], 4, 0, 0);
        let records = walks.records_mut();
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
        destroy(walks);
    });
}

// === Helpers ===

use fun settled as Walks.settled;
use fun closed as Walks.closed;
use fun failed as Walks.failed;
use fun gathered as Walks.gathered;

fun at(vertex: u16, path: vector<u32>): Run { run::new(vertex, path) }

fun one(): Value { value::inline(b"5") }

fun two(): Value { value::inline_list(vector[vector[b"1"], vector[b"2"]]) }

fun begun(dag: &Dag): Walks {
    let mut change = walks::no_change();
    let walks = walks::begin(dag, 0, &mut change, &mut tx_context::dummy());
    assert_eq!(field(change), readies(at(0, vector[])));
    walks
}

/// Both iterations of the first region are under way, the first one in its loop.
fun in_the_loop(dag: &Dag): Walks {
    let mut walks = begun(dag);
    walks.settled(dag, at(0, vector[]), b"ok", two(), begins(at(1, vector[])));
    walks.take_iterations(dag, 1, vector[], 2);
    walks.closed(dag, at(1, vector[0]), b"ok", one(), readies(at(2, vector[0, 0])));
    walks
}

/// Takes a run, and closes it.
fun settled(
    walks: &mut Walks,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    out: Value,
    followed: vector<u8>,
) {
    assert!(walks.can_take(run, NOW_MS));
    walks.take(run);
    walks.closed(dag, run, variant, out, followed);
}

/// Closes a run with a variant whose port `out` has this value.
fun closed(
    walks: &mut Walks,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    out: Value,
    followed: vector<u8>,
) {
    let mut change = walks::no_change();
    let ports = value::ports(vector[b"out".to_ascii_string()], vector[out]);
    walks.settle(dag, run, &variant.to_ascii_string(), &ports, NOW_MS, &mut change);
    assert_eq!(field(change), followed);
}

/// Closes a run without an answer.
fun failed(walks: &mut Walks, dag: &Dag, run: Run, followed: vector<u8>) {
    let mut change = walks::no_change();
    walks.fail(dag, run, b"timed_out".to_ascii_string(), true, NOW_MS, &mut change);
    assert_eq!(field(change), followed);
}

/// Gathers a region in which nothing is left to do, once.
fun gathered(walks: &mut Walks, dag: &Dag, region: Instance, followed: vector<u8>) {
    let mut change = walks::no_change();
    assert!(walks.gather(dag, region, &mut change));
    assert_eq!(field(change), followed);
    assert!(!walks.gather(dag, region, &mut change));
}

fun nothing(): vector<u8> { told(vector[], vector[], vector[], vector[]) }

fun readies(run: Run): vector<u8> { told(vector[run], vector[], vector[], vector[]) }

fun begins(run: Run): vector<u8> { told(vector[], vector[run], vector[], vector[]) }

fun empties(region: Instance): vector<u8> { told(vector[], vector[], vector[region], vector[]) }

fun fails(run: Run, reason: vector<u8>): vector<u8> {
    let mut failure = field(run);
    failure.append(field(reason));
    told(vector[], vector[], vector[], failure)
}

/// What a `Change` is in BCS; of failures there is one at most.
fun told(
    ready: vector<Run>,
    iterations: vector<Run>,
    emptied: vector<Instance>,
    failure: vector<u8>,
): vector<u8> {
    let mut bytes = field(ready);
    bytes.append(field(iterations));
    bytes.append(field(emptied));
    bytes.push_back(if (failure.is_empty()) 0 else 1);
    bytes.append(failure);
    bytes
}
