/// Iterations of regions, of regions in regions and of loops: how many are under way, and what is
/// live.
#[test_only]
module nexus_workflows::walks_region_tests;

use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::{columns, with_dag, with_draft};
use nexus_workflows::records::{Self, Instance};
use nexus_workflows::walks::Walks;
use nexus_workflows::walks_runner::{Self, at, list, nothing, one, out};
use std::ascii::String;
use std::unit_test::{assert_eq, destroy};

use fun walks_runner::assert_over as Walks.assert_over;
use fun walks_runner::closed as Walks.closed;
use fun walks_runner::failed as Walks.failed;
use fun walks_runner::gathered as Walks.gathered;
use fun walks_runner::gathers as Walks.gathers;
use fun walks_runner::settled as Walks.settled;
use fun walks_runner::taken as Walks.taken;

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;

// === How many at once ===

#[test]
fun eight_of_ten_iterations_are_under_way_at_once_and_the_others_follow() {
    with_dag!(|dag| {
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(10), begins);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 8);
        let runs = vector::tabulate!(8, |i| at(1, vector[i as u32]));
        walks.taken(dag, 1, vector[], 8, runs);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        assert_eq!(walks.records().at(region()).live(), 10);

        // One gives its place to the next one.
        let goes_on = nothing().readies(at(2, vector[3, 0])).begins(at(1, vector[]));
        walks.closed(dag, at(1, vector[3]), b"ok", out(one()), goes_on);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 1);
        // What follows in its iteration lives in its stead.
        assert_eq!(walks.records().at(region()).live(), 10);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[8])]);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        // An answer that leads nowhere ends its iteration.
        let next = nothing().begins(at(1, vector[]));
        walks.closed(dag, at(1, vector[0]), b"none", out(one()), next);
        assert_eq!(walks.records().at(region()).live(), 9);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[9])]);
        // No more are left.
        walks.closed(dag, at(1, vector[1]), b"none", out(one()), nothing());
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        assert_eq!(walks.records().at(region()).live(), 8);
        assert!(!walks.gathers(dag, region()));
        destroy(walks);
    });
}

#[test]
fun iterations_are_those_of_a_vertex_in_an_open_instance_of_its_region() {
    with_dag!(|dag| {
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(2), begins);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 2);
        // Paths are of another length, or of nothing that is there.
        assert_eq!(walks.iterations(dag, 1, &vector[0]), 0);
        assert_eq!(walks.iterations(dag, 6, &vector[]), 0);
        assert_eq!(walks.iterations(dag, 6, &vector[0]), 0);
        // These are outside all regions, or no iteration begins with them.
        assert_eq!(walks.iterations(dag, 0, &vector[]), 0);
        assert_eq!(walks.iterations(dag, 5, &vector[0]), 0);
        assert_eq!(walks.iterations(dag, 2, &vector[]), 0);
        assert_eq!(walks.iterations(dag, 3, &vector[]), 0);
        walks.end(b"cancelled".to_ascii_string());
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        walks.assert_over(b"cancelled");
        destroy(walks);
    });
}

#[test]
fun a_region_opens_once_all_that_it_needs_is_there() {
    with_draft!(|dag| {
        write_with_another_start(dag, true);
        let ready = nothing().readies(at(0, vector[])).readies(at(7, vector[]));
        let mut walks = walks_runner::begun(dag, ready);
        walks.settled(dag, at(0, vector[]), b"ok", list(2), nothing());
        // It is known, and not open.
        assert!(walks.records().knows(region()));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        assert!(!walks.gathers(dag, region()));
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(7, vector[]), b"ok", one(), begins);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 2);
        assert!(!walks.is_over());
        destroy(walks);
    });
}

#[test]
fun a_region_that_is_open_opens_no_second_time() {
    with_draft!(|dag| {
        write_with_another_start(dag, false);
        let ready = nothing().readies(at(0, vector[])).readies(at(7, vector[]));
        let mut walks = walks_runner::begun(dag, ready);
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(2), begins);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        // A value that it does not need comes later.
        walks.settled(dag, at(7, vector[]), b"ok", one(), nothing());
        assert_eq!(walks.iterations(dag, 1, &vector[]), 1);
        assert_eq!(walks.records().at(region()).live(), 2);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[1])]);
        destroy(walks);
    });
}

#[test]
fun nothing_is_gathered_after_the_end_or_where_no_region_is() {
    with_dag!(|dag| {
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        assert!(!walks.gathers(dag, region()));
        walks.settled(dag, at(0, vector[]), b"ok", list(0), nothing().empties(region()));
        assert!(!walks.gathers(dag, records::instance(0, vector[0])));
        assert!(walks.records().at(region()).is_left());
        walks.end(b"cancelled".to_ascii_string());
        assert!(!walks.gathers(dag, region()));
        assert!(!walks.gathers(dag, records::instance(3, vector[0])));
        assert!(walks.records().at(region()).is_left());
        assert!(walks.records().of(at(4, vector[])).is_waiting());
        walks.assert_over(b"cancelled");
        destroy(walks);
    });
}

// === Loops in iterations ===

/// An iteration gives its place away with its first round; the later ones have none.
#[test]
fun one_iteration_at_a_time_goes_round_in_a_loop() {
    with_draft!(|dag| {
        write_loop_in_region(dag);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(3), begins);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 1);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[0, 0])]);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);

        // The second round of the first iteration, while the second one is under way.
        let again = nothing().readies(at(1, vector[0, 1])).begins(at(1, vector[]));
        walks.closed(dag, at(1, vector[0, 0]), b"poor", out(one()), again);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 1);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[1, 0])]);
        let third = nothing().readies(at(1, vector[0, 2]));
        walks.settled(dag, at(1, vector[0, 1]), b"poor", one(), third);
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        // It leaves with its third round.
        let leaves = nothing().readies(at(2, vector[0]));
        walks.settled(dag, at(1, vector[0, 2]), b"good", one(), leaves);
        let source = walks.records().source(dag, &at(2, vector[0]), 0);
        assert!(source.run() == option::some(at(1, vector[0, 2])));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);

        // The second iteration leaves with its first round.
        let next = nothing().readies(at(2, vector[1])).begins(at(1, vector[]));
        walks.closed(dag, at(1, vector[1, 0]), b"good", out(one()), next);
        let source = walks.records().source(dag, &at(2, vector[1]), 0);
        assert!(source.run() == option::some(at(1, vector[1, 0])));
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[2, 0])]);
        walks.closed(dag, at(1, vector[2, 0]), b"none", out(one()), nothing());
        assert_eq!(walks.records().at(region()).live(), 2);
        walks.settled(dag, at(2, vector[1]), b"ok", one(), nothing());
        walks.settled(dag, at(2, vector[0]), b"ok", one(), nothing().empties(region()));
        assert!(!walks.is_over());
        walks.gathered(dag, region(), nothing().readies(at(3, vector[])));
        walks.settled(dag, at(3, vector[]), b"ok", one(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

#[test]
fun an_iteration_that_is_tried_again_keeps_its_place() {
    with_draft!(|dag| {
        write_loop_in_region(dag);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(2), begins);
        let run = at(1, vector[0, 0]);
        walks.taken(dag, 1, vector[], 1, vector[run]);
        walks.failed(dag, run, nothing().readies(run));
        assert_eq!(walks.iterations(dag, 1, &vector[]), 0);
        assert_eq!(walks.records().at(region()).live(), 2);
        walks.take(run);
        // It fails for good, which ends its iteration alone.
        let fails = nothing().begins(at(1, vector[])).fails(run, b"timed_out");
        walks.failed(dag, run, fails);
        assert!(walks.records().of(run).is_closed());
        assert_eq!(walks.records().at(region()).live(), 1);
        let last = at(1, vector[1, 0]);
        walks.taken(dag, 1, vector[], 1, vector[last]);
        walks.closed(dag, last, b"none", out(one()), nothing().empties(region()));
        walks.gathered(dag, region(), nothing().readies(at(3, vector[])));
        walks.settled(dag, at(3, vector[]), b"ok", one(), nothing());
        walks.assert_over(b"completed_with_failures");
        destroy(walks);
    });
}

// === Regions in regions ===

#[test]
fun a_region_in_a_region_lives_until_it_is_gathered() {
    with_draft!(|dag| {
        write_region_in_region(dag, false);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(2), begins);
        walks.taken(dag, 1, vector[], 2, vector[at(1, vector[0]), at(1, vector[1])]);
        let (first, second) = (records::instance(1, vector[0]), records::instance(1, vector[1]));
        let inner = nothing().begins(at(2, vector[0]));
        walks.closed(dag, at(1, vector[0]), b"ok", out(list(2)), inner);
        assert_eq!(walks.records().at(region()).live(), 2);
        assert_eq!(walks.records().at(first).live(), 2);
        // The second one has nothing inside.
        walks.closed(dag, at(1, vector[1]), b"ok", out(list(0)), nothing().empties(second));
        assert_eq!(walks.records().at(region()).live(), 2);
        assert_eq!(walks.records().at(second).live(), 0);
        assert_eq!(walks.iterations(dag, 2, &vector[1]), 0);
        walks.gathered(dag, second, nothing().readies(at(3, vector[1])));
        assert_eq!(walks.records().at(region()).live(), 2);
        walks.settled(dag, at(3, vector[1]), b"ok", one(), nothing());
        assert_eq!(walks.records().at(region()).live(), 1);

        assert!(!walks.gathers(dag, region()) && !walks.gathers(dag, first));
        assert_eq!(walks.iterations(dag, 2, &vector[0]), 2);
        walks.taken(dag, 2, vector[0], 2, vector[at(2, vector[0, 0]), at(2, vector[0, 1])]);
        walks.closed(dag, at(2, vector[0, 1]), b"ok", out(one()), nothing());
        // One vertex alone gives something to the list: nobody has to note that it did.
        let (edge, _) = walks.records().marked(records::mark(1, vector[0], 3, 0, 1));
        assert!(edge.is_none());
        walks.closed(dag, at(2, vector[0, 0]), b"ok", out(one()), nothing().empties(first));
        assert!(!walks.gathers(dag, region()));
        walks.gathered(dag, first, nothing().readies(at(3, vector[0])));
        let source = walks.records().source(dag, &at(3, vector[0]), 0);
        assert!(source.gathered() == option::some(first));
        walks.settled(dag, at(3, vector[0]), b"ok", one(), nothing().empties(region()));
        assert_eq!(walks.records().at(region()).live(), 0);
        walks.gathered(dag, region(), nothing().readies(at(4, vector[])));
        assert!(!walks.is_over());
        walks.settled(dag, at(4, vector[]), b"ok", one(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

#[test]
fun a_region_that_ends_the_execution_empties_none_around_it() {
    with_draft!(|dag| {
        // What follows the inner region gets a value from before it, too.
        write_region_in_region(dag, true);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        let begins = nothing().begins(at(1, vector[]));
        walks.settled(dag, at(0, vector[]), b"ok", list(1), begins);
        walks.taken(dag, 1, vector[], 1, vector[at(1, vector[0])]);
        let inner = records::instance(1, vector[0]);
        let early = nothing().readies(at(3, vector[0])).empties(inner);
        walks.closed(dag, at(1, vector[0]), b"ok", out(list(0)), early);
        walks.settled(dag, at(3, vector[0]), b"ok", one(), nothing());
        assert_eq!(walks.records().at(region()).live(), 1);
        walks.gathered(dag, inner, nothing().fails(at(3, vector[0]), b"raced"));
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

// === Loops that open ===

#[test]
fun a_list_that_was_gathered_stays_in_a_loop() {
    with_draft!(|dag| {
        let mut columns = columns();
        // The first region gathers for `kept` of the loop, to which nothing else leads.
        let to_kept = vector[4, 5, 1, 4, 0, 0, 1, NONE, 0, 0];
        *&mut columns.collects()[0] = to_kept;
        *&mut columns.edges()[4] = to_kept;
        *&mut columns.variants()[6] = b"never";
        columns.write(dag);
        let mut walks = walks_runner::begun(dag, nothing().readies(at(0, vector[])));
        walks.settled(dag, at(0, vector[]), b"ok", list(0), nothing().empties(region()));
        walks.gathered(dag, region(), nothing());
        let source = walks.records().source(dag, &at(5, vector[3]), 1);
        assert!(source.gathered() == option::some(region()));
        // The loop has it as a whole.
        assert_eq!(walks.records().at(records::instance(1, vector[])).iterations(), 0);
        destroy(walks);
    });
}

/// The loop needs what stays in it; the run in it and the region in it get their values before.
#[test]
fun a_loop_starts_what_waits_in_it_when_it_opens() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let mut walks = begun_with_three(dag);
        walks.settled(dag, at(1, vector[]), b"ok", one(), nothing());
        assert!(walks.records().of(at(3, vector[0])).is_waiting());
        walks.settled(dag, at(2, vector[]), b"ok", list(2), nothing());
        assert_eq!(walks.iterations(dag, 4, &vector[0]), 0);
        let opens = nothing().readies(at(3, vector[0])).begins(at(4, vector[0]));
        walks.settled(dag, at(0, vector[]), b"ok", one(), opens);
        assert_eq!(walks.iterations(dag, 4, &vector[0]), 2);
        walk_the_loop(&mut walks, dag);
        destroy(walks);
    });
}

/// It needs nothing itself of what the loop waits for.
#[test]
fun a_run_with_all_its_values_waits_until_its_loop_opens() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let mut walks = begun_with_three(dag);
        walks.settled(dag, at(1, vector[]), b"aside", one(), nothing());
        assert!(walks.records().of(at(5, vector[0])).is_waiting());
        walks.settled(dag, at(0, vector[]), b"ok", one(), nothing().readies(at(5, vector[0])));
        walks.settled(dag, at(5, vector[0]), b"ok", one(), nothing());
        walks.settled(dag, at(2, vector[]), b"none", one(), nothing());
        walks.assert_over(b"completed");
        destroy(walks);
    });
}

#[test]
fun in_an_open_loop_starts_what_gets_its_values() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let mut walks = begun_with_three(dag);
        walks.settled(dag, at(0, vector[]), b"ok", one(), nothing());
        assert!(!walks.records().has(at(3, vector[0])));
        // What is no list has no elements.
        assert_eq!(walks.records().at(records::instance(0, vector[])).iterations(), 0);
        walks.settled(dag, at(1, vector[]), b"ok", one(), nothing().readies(at(3, vector[0])));
        let begins = nothing().begins(at(4, vector[0]));
        walks.settled(dag, at(2, vector[]), b"ok", list(2), begins);
        walk_the_loop(&mut walks, dag);
        destroy(walks);
    });
}

#[test]
fun a_second_value_that_would_stay_is_a_race() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        let more = vector[9, 3, 1, 4, 0, 0, 0, NONE, NONE, 0];
        dag.add_edges(0, vector[0], ascii(vector[b"ok"]), ascii(vector[b"out"]), vector[more]);
        let mut walks = begun_with_three(dag);
        let races = nothing().fails(at(3, vector[]), b"raced");
        walks.settled(dag, at(0, vector[]), b"ok", one(), races);
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

#[test]
fun no_loop_opens_once_the_execution_ends() {
    with_draft!(|dag| {
        write_region_in_loop(dag);
        // What stays comes with a list that is none.
        let more = vector[9, 4, 0, 1, 0, 1, 1, 1, NONE, 0];
        dag.add_edges(0, vector[0], ascii(vector[b"ok"]), ascii(vector[b"out"]), vector[more]);
        let mut walks = begun_with_three(dag);
        walks.settled(dag, at(1, vector[]), b"ok", one(), nothing());
        let fails = nothing().fails(at(0, vector[]), b"not_a_list");
        walks.settled(dag, at(0, vector[]), b"ok", one(), fails);
        assert!(walks.records().of(at(3, vector[0])).is_waiting());
        walks.assert_over(b"terminated");
        destroy(walks);
    });
}

// === Helpers ===

fun region(): Instance { records::instance(0, vector[]) }

fun ascii(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| text.to_ascii_string()) }

/// The workflow of `dag_runner`, whose execution begins with another vertex besides: its value is for
/// all iterations of the first region, which needs it or not.
fun write_with_another_start(dag: &mut Dag, needs_it: bool) {
    let mut columns = columns();
    *&mut columns.groups()[0] = vector[0, 7];
    columns.tools().push_back(0);
    columns.blocks().push_back(vector[]);
    columns.beginning().push_back(vector[0]);
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
    columns.leading().push_back(7);
    columns.variants().push_back(b"ok");
    columns.edges().push_back(vector[11, 1, 1, 0, 0, 0, 0, NONE, NONE]);
    columns.write(dag);
}

fun begun_with_three(dag: &Dag): Walks {
    let mut ready = nothing();
    3u16.do!(|vertex| ready = ready.readies(at(vertex, vector[])));
    walks_runner::begun(dag, ready)
}

/// The run in the loop, and both iterations in it; nothing is gathered.
fun walk_the_loop(walks: &mut Walks, dag: &Dag) {
    let inner = records::instance(1, vector[0]);
    walks.settled(dag, at(3, vector[0]), b"ok", one(), nothing());
    walks.taken(dag, 4, vector[0], 2, vector[at(4, vector[0, 0]), at(4, vector[0, 1])]);
    walks.closed(dag, at(4, vector[0, 0]), b"ok", out(one()), nothing());
    walks.closed(dag, at(4, vector[0, 1]), b"ok", out(one()), nothing().empties(inner));
    assert!(!walks.is_over());
    walks.gathered(dag, inner, nothing());
    walks.assert_over(b"completed");
}

/// 0 ──for_each──▶ [region 0: [loop 1: 1 ⟲ ] ──break──▶ 2 ] ──collect──▶ 3; one iteration at a time,
/// and two attempts, of which the second one fails alone.
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
    dag.add_collects(0, vector[0], vector[collected], vector[vector[2]]);
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

/// 0 ──for_each──▶ [region 0: 1 ──for_each──▶ [region 1: 2 ] ──collect──▶ 3 ] ──collect──▶ 4; and
/// 1 ──▶ 3 if that is to race.
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
    dag.add_collects(0, vector[0, 1], vector[outer, inner], vector[vector[3], vector[2]]);
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

/// 0 ──static──▶ [loop 0: 3, 5, [region 1: 4 ] ]; 1 ──▶ 3, or with `aside` ──▶ 5; 2 ──for_each──▶ 4
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
