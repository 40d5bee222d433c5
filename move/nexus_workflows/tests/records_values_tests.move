/// What the ports of a run have, and where their values are: what came to the run alone, to all
/// inside a block around it, or to nobody.
///
///     0 source ──▶ 1 target, 2 neighbour: both inside the same blocks
///     blocks: [region 0: [loop 1: [region 2: ] ] ], [loop 3: ]
#[test_only]
module nexus_workflows::records_values_tests;

use nexus_tools::run::{Self, Run};
use nexus_workflows::dag::Dag;
use nexus_workflows::dag_runner::with_draft;
use nexus_workflows::plan::Edge;
use nexus_workflows::records::{Self, Instance, Records, Source};
use std::ascii::String;
use std::unit_test::{assert_eq, destroy};

const NONE: u16 = 0xFFFF;
/// What region 0 is as the origin of a value.
const REGION: u16 = 0x8000;

/// Kinds of ports.
const PLAIN: u8 = 0;
const ENTRY: u8 = 1;
const DEFAULT: u8 = 2;
const STAYING: u8 = 4;

/// Kinds of edges.
const NORMAL: u16 = 0;
const FOR_EACH: u16 = 1;
const DO_WHILE: u16 = 2;
const BREAK: u16 = 3;
const STATIC: u16 = 4;

// === Whether a run has all it needs ===

#[test]
fun entry_values_serve_the_group_that_begins_with_the_vertex() {
    with_target!(vector[], vector[ENTRY], |dag| {
        let (mut records, run) = (none(), at(vector[]));
        let (own, other) = (records.look(dag, &run, 0), records.look(dag, &run, 1));
        assert!(own.is_complete() && own.is_begun());
        assert!(!other.is_complete() && !other.is_begun());
        destroy(records);
    });
}

#[test]
fun a_group_brings_no_value_to_a_port_that_is_no_entry() {
    with_target!(vector[], vector[ENTRY, PLAIN], |dag| {
        let mut records = none();
        let look = records.look(dag, &at(vector[]), 0);
        assert!(!look.is_complete() && look.is_begun());
        destroy(records);
    });
}

#[test]
fun a_default_value_serves_any_group_and_begins_nothing() {
    with_target!(vector[], vector[DEFAULT], |dag| {
        let mut records = none();
        let look = records.look(dag, &at(vector[]), 1);
        assert!(look.is_complete() && !look.is_begun());
        assert_eq!(look.count(), 0);
        destroy(records);
    });
}

#[test]
fun a_group_begins_no_iteration() {
    with_target!(vector[0], vector[ENTRY], |dag| {
        let mut records = none();
        let look = records.look(dag, &at(vector[0]), 0);
        assert!(look.is_complete() && !look.is_begun());
        destroy(records);
    });
}

#[test]
fun each_port_needs_a_value_of_its_own() {
    with_target!(vector[], vector[PLAIN, PLAIN], |dag| {
        let (mut records, run) = (none(), at(vector[]));
        let (first, second) = (lead(dag, 0, NORMAL, 0, NONE), lead(dag, 1, NORMAL, 0, NONE));
        assert!(!records.look(dag, &run, 1).is_complete());
        assert!(records.put(dag, run, &second, 0, 0));
        assert!(!records.look(dag, &run, 1).is_complete());
        assert!(records.put(dag, run, &first, 0, 0));
        assert!(records.look(dag, &run, 1).is_complete());
        destroy(records);
    });
}

// === Defaults, and what may still come ===

#[test]
fun a_default_value_waits_for_who_may_bring_another_one() {
    with_target!(vector[], vector[DEFAULT, PLAIN], |dag| {
        dag.add_sources(0, vector[1], vector[0], vector[vector[0, 0]]);
        let (mut records, run) = (none(), at(vector[]));
        let edge = lead(dag, 1, NORMAL, 0, NONE);
        // Somebody else brings the other port.
        assert!(records.put(dag, run, &edge, 2, 0));
        assert!(!records.look(dag, &run, 1).is_complete());
        destroy(records);
    });
}

#[test]
fun a_default_value_serves_once_who_could_bring_another_one_brought_something_else() {
    with_target!(vector[], vector[DEFAULT, PLAIN], |dag| {
        dag.add_sources(0, vector[1], vector[0], vector[vector[0, 0]]);
        let (mut records, run) = (none(), at(vector[]));
        let edge = lead(dag, 1, NORMAL, 0, NONE);
        assert!(records.put(dag, run, &edge, 0, 0));
        assert!(records.look(dag, &run, 1).is_complete());
        destroy(records);
    });
}

#[test]
fun a_default_value_serves_in_the_rounds_that_nobody_reaches() {
    with_target!(vector[3], vector[DEFAULT], |dag| {
        // From outside the first round alone is reached.
        dag.add_sources(0, vector[1], vector[0], vector[vector[0, 0, 0]]);
        let mut records = none();
        assert!(!records.look(dag, &at(vector[0]), 1).is_complete());
        assert!(records.look(dag, &at(vector[1]), 1).is_complete());
        destroy(records);
    });
}

#[test]
fun a_default_value_serves_in_the_first_round_if_the_others_get_theirs_from_inside() {
    with_target!(vector[3], vector[DEFAULT], |dag| {
        dag.add_sources(0, vector[1], vector[0], vector[vector[1, 1]]);
        let mut records = none();
        assert!(records.look(dag, &at(vector[0]), 1).is_complete());
        assert!(!records.look(dag, &at(vector[1]), 1).is_complete());
        destroy(records);
    });
}

// === Elements ===

#[test]
fun an_iteration_has_the_element_of_its_number() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let list = lead(dag, 0, FOR_EACH, 0, 0);
        assert!(!records.look(dag, &at(vector[0]), 1).is_complete());
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 2));
        2u32.do!(|i| {
            let look = records.look(dag, &at(vector[i]), 1);
            assert!(look.is_complete() && look.is_begun());
            assert_eq!(look.count(), 2);
        });
        // Beyond the end of the list there is none.
        let look = records.look(dag, &at(vector[2]), 1);
        assert!(!look.is_complete() && look.is_begun());
        assert_eq!(look.count(), 2);
        assert!(records.source(dag, &at(vector[1]), 0).element() == option::some(1));
        destroy(records);
    });
}

#[test]
fun there_are_as_many_iterations_as_the_shortest_list_has_elements() {
    with_target!(vector[0], vector[PLAIN, PLAIN, PLAIN], |dag| {
        let mut records = none();
        let lengths = vector[4, 2, 3];
        3u64.do!(|i| {
            assert_eq!(records.look(dag, &at(vector[0]), 1).count(), 0);
            let list = lead(dag, i as u16, FOR_EACH, 0, 0);
            assert!(records.put_in_scope(dag, region(), &list, 0, 0, lengths[i]));
        });
        assert_eq!(records.look(dag, &at(vector[0]), 1).count(), 2);
        assert_eq!(records.at(region()).iterations(), 4);
        assert!(records.look(dag, &at(vector[1]), 1).is_complete());
        // Only the longest list has a fourth element, and two have a third one.
        assert!(!records.look(dag, &at(vector[2]), 1).is_complete());
        assert!(!records.look(dag, &at(vector[3]), 1).is_complete());
        destroy(records);
    });
}

#[test]
fun an_empty_list_has_no_iterations() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let list = lead(dag, 0, FOR_EACH, 0, 0);
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 0));
        let look = records.look(dag, &at(vector[0]), 1);
        assert!(!look.is_complete());
        assert_eq!(look.count(), 0);
        assert_eq!(records.at(region()).iterations(), 0);
        destroy(records);
    });
}

#[test]
fun what_came_to_a_run_alone_serves_beyond_the_end_of_a_list() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let (list, own) = (lead(dag, 0, FOR_EACH, 0, 0), lead(dag, 0, NORMAL, 1, NONE));
        assert!(records.put(dag, at(vector[5]), &own, 2, 0));
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 2));
        assert!(records.look(dag, &at(vector[5]), 1).is_complete());
        assert!(!records.look(dag, &at(vector[6]), 1).is_complete());
        // Its value is its own one.
        assert_from(records.source(dag, &at(vector[5]), 0), 2, vector[5], b"out_2");
        destroy(records);
    });
}

#[test]
fun of_two_lists_for_a_port_that_of_the_outer_region_counts() {
    with_target!(vector[0, 1, 2], vector[PLAIN], |dag| {
        let (mut records, inner) = (none(), records::instance(2, vector[1, 0]));
        let list = lead_to(dag, 0, vector[FOR_EACH, 2, 0, 2, 2, NONE]);
        let outer = lead(dag, 0, FOR_EACH, 0, 0);
        // A later one would find the outer one there.
        assert!(records.put_in_scope(dag, inner, &list, 2, 0, 3));
        assert!(records.put_in_scope(dag, region(), &outer, 0, 0, 5));
        let run = at(vector[1, 0, 4]);
        let look = records.look(dag, &run, 1);
        assert!(look.is_complete());
        assert_eq!(look.count(), 5);
        let source = records.source(dag, &run, 0);
        assert_from(source, 0, vector[], b"out_2");
        assert!(source.element() == option::some(1));
        assert!(!records.put_in_scope(dag, inner, &list, 2, 0, 3));
        destroy(records);
    });
}

// === What begins a run ===

#[test]
fun a_value_for_a_region_as_a_whole_begins_no_iteration() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let edge = lead(dag, 0, NORMAL, 0, 0);
        assert!(records.put_in_scope(dag, region(), &edge, 0, 0, 9));
        let look = records.look(dag, &at(vector[0]), 1);
        assert!(look.is_complete() && !look.is_begun());
        // It is no list of elements, as long as it may be.
        assert_eq!(look.count(), 0);
        destroy(records);
    });
}

#[test]
fun a_value_that_stays_in_a_loop_begins_runs_in_it() {
    with_target!(vector[3], vector[STAYING], |dag| {
        let mut records = none();
        let edge = lead_to(dag, 0, vector[STATIC, 0, 0, 3, NONE, NONE, 0]);
        assert!(!records.look(dag, &at(vector[0]), 1).is_complete());
        let cycle = records::instance(3, vector[]);
        assert!(records.put_in_scope(dag, cycle, &edge, 0, 0, 0));
        // It stays in all rounds.
        vector[0, 1, 7].do!(|round| {
            let look = records.look(dag, &at(vector[round]), 1);
            assert!(look.is_complete() && look.is_begun());
            assert_from(records.source(dag, &at(vector[round]), 0), 0, vector[], b"out_1");
        });
        destroy(records);
    });
}

#[test]
fun a_value_that_stays_begins_runs_if_it_came_into_the_iteration() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let mut records = none();
        let (whole, own) = (lead(dag, 0, STATIC, 0, 0), lead(dag, 0, STATIC, 1, 1));
        assert!(records.put_in_scope(dag, records::instance(1, vector[2]), &own, 2, 0, 0));
        let look = records.look(dag, &at(vector[2, 0]), 1);
        assert!(look.is_complete() && look.is_begun());
        let look = records.look(dag, &at(vector[3, 0]), 1);
        assert!(!look.is_complete() && !look.is_begun());
        // One for the whole region comes to all iterations, and begins none.
        assert!(records.put_in_scope(dag, region(), &whole, 0, 0, 0));
        let look = records.look(dag, &at(vector[3, 0]), 1);
        assert!(look.is_complete() && !look.is_begun());
        // What came to the inner block goes before.
        assert_from(records.source(dag, &at(vector[2, 0]), 0), 2, vector[2], b"out_2");
        assert_from(records.source(dag, &at(vector[3, 0]), 0), 0, vector[], b"out_1");
        destroy(records);
    });
}

#[test]
fun what_has_begun_stays_so_whatever_comes_besides() {
    with_target!(vector[0], vector[PLAIN, PLAIN], |dag| {
        let mut records = none();
        let (list, other) = (lead(dag, 0, FOR_EACH, 0, 0), lead(dag, 1, NORMAL, 0, 0));
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 2));
        assert!(!records.look(dag, &at(vector[0]), 1).is_complete());
        assert!(records.put_in_scope(dag, region(), &other, 0, 0, 0));
        let look = records.look(dag, &at(vector[0]), 1);
        assert!(look.is_complete() && look.is_begun());
        assert_eq!(look.count(), 2);
        destroy(records);
    });
}

#[test]
fun a_value_serves_the_rounds_for_which_it_came() {
    with_target!(vector[0, 1], vector[PLAIN], |dag| {
        let mut records = none();
        let list = lead_to(dag, 0, vector[FOR_EACH, 0, 0, 0, 0, NONE, 1]);
        let again = lead_to(dag, 0, vector[DO_WHILE, 2, 0, NONE, NONE, NONE]);
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 3));
        assert!(records.look(dag, &at(vector[2, 0]), 1).is_complete());
        assert!(!records.look(dag, &at(vector[2, 1]), 1).is_complete());
        let source = records.source(dag, &at(vector[2, 1]), 0);
        assert!(source.run().is_none() && source.gathered().is_none());
        // So the first round has its value, and the second one takes another one.
        assert!(!records.put(dag, at(vector[2, 0]), &again, 2, 0));
        assert!(records.put(dag, at(vector[2, 1]), &again, 2, 0));
        assert_from(records.source(dag, &at(vector[2, 1]), 0), 2, vector[2, 0], b"out_2");
        destroy(records);
    });
}

#[test]
fun values_of_a_neighbour_are_no_values_of_a_run() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let (edge, mine) = (lead_neighbour(dag), lead(dag, 0, NORMAL, 1, NONE));
        assert!(records.put_in_scope(dag, region(), &edge, 0, 0, 3));
        let look = records.look(dag, &at(vector[0]), 1);
        assert!(!look.is_complete() && !look.is_begun());
        assert_eq!(look.count(), 0);
        let source = records.source(dag, &at(vector[0]), 0);
        assert!(source.run().is_none() && source.gathered().is_none());
        assert!(records.put(dag, at(vector[0]), &mine, 2, 0));
        assert!(records.look(dag, &at(vector[0]), 1).is_complete());
        // The neighbour has its own.
        assert!(records.look(dag, &run::new(2, vector[1]), 1).is_complete());
        destroy(records);
    });
}

// === Values that come second ===

#[test]
fun a_run_takes_no_value_for_a_port_that_has_one_for_all() {
    with_target!(vector[0], vector[PLAIN, PLAIN], |dag| {
        let mut records = none();
        let list = lead(dag, 0, FOR_EACH, 0, 0);
        let (second, other) = (lead(dag, 0, NORMAL, 1, NONE), lead(dag, 1, NORMAL, 1, NONE));
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 2));
        assert!(!records.put(dag, at(vector[1]), &second, 2, 0));
        assert!(!records.has(at(vector[1])));
        assert!(records.put(dag, at(vector[1]), &other, 2, 0));
        assert!(records.has(at(vector[1])));
        destroy(records);
    });
}

#[test]
fun a_run_takes_a_value_before_one_that_stays() {
    with_target!(vector[0], vector[STAYING], |dag| {
        let mut records = none();
        let (whole, own) = (lead(dag, 0, STATIC, 0, 0), lead(dag, 0, NORMAL, 1, NONE));
        assert!(records.put_in_scope(dag, region(), &whole, 0, 0, 0));
        assert!(!records.put_in_scope(dag, region(), &whole, 0, 0, 0));
        assert!(records.put(dag, at(vector[1]), &own, 2, 0));
        assert_from(records.source(dag, &at(vector[1]), 0), 2, vector[1], b"out_2");
        assert_from(records.source(dag, &at(vector[2]), 0), 0, vector[], b"out_1");
        destroy(records);
    });
}

// === Where values are ===

#[test]
fun each_port_of_a_run_has_its_own_value() {
    with_target!(vector[], vector[PLAIN, PLAIN, ENTRY], |dag| {
        let (mut records, run) = (none(), at(vector[]));
        let first = lead(dag, 0, NORMAL, 0, NONE);
        let second = lead_from_neighbour(dag, 1);
        assert!(records.put(dag, run, &first, 0, 0));
        assert!(records.put(dag, run, &second, 2, 0));
        assert_from(records.source(dag, &run, 0), 0, vector[], b"out_1");
        assert_from(records.source(dag, &run, 1), 2, vector[], b"aside");
        // The entry value lies elsewhere.
        let source = records.source(dag, &run, 2);
        assert!(source.run().is_none() && source.gathered().is_none());
        assert!(source.element().is_none() && source.port().is_empty());
        destroy(records);
    });
}

#[test]
fun each_port_inside_a_block_has_its_own_value() {
    with_target!(vector[0], vector[PLAIN, PLAIN], |dag| {
        let mut records = none();
        let (list, whole) = (lead(dag, 0, FOR_EACH, 0, 0), lead(dag, 1, NORMAL, 0, 0));
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 2));
        assert!(records.put_in_scope(dag, region(), &whole, 0, 0, 0));
        let source = records.source(dag, &at(vector[1]), 0);
        assert_from(source, 0, vector[], b"out_1");
        assert!(source.element() == option::some(1));
        let source = records.source(dag, &at(vector[1]), 1);
        assert_from(source, 0, vector[], b"out_2");
        assert!(source.element().is_none());
        destroy(records);
    });
}

#[test]
fun what_was_gathered_is_where_the_region_is() {
    with_target!(vector[3], vector[PLAIN, STAYING], |dag| {
        let (mut records, run) = (none(), at(vector[0]));
        let (own, whole) = (lead(dag, 0, NORMAL, 0, NONE), lead(dag, 1, STATIC, 0, 3));
        assert!(records.put(dag, run, &own, REGION, 0));
        let cycle = records::instance(3, vector[]);
        assert!(records.put_in_scope(dag, cycle, &whole, REGION, 0, 0));
        vector[0, 1].do!(|port| {
            let source = records.source(dag, &run, port);
            assert!(source.gathered() == option::some(region()));
            assert!(source.run().is_none() && source.element().is_none());
            assert!(source.port().is_empty());
        });
        destroy(records);
    });
}

#[test]
fun what_was_gathered_in_an_iteration_is_where_its_region_is() {
    with_target!(vector[0, 1], vector[PLAIN], |dag| {
        let (mut records, run) = (none(), at(vector[6, 3]));
        let own = lead(dag, 0, NORMAL, 2, NONE);
        // Region 2 lies in block 1: two numbers.
        assert!(records.put(dag, run, &own, 0x8002, 0));
        let source = records.source(dag, &run, 0);
        assert!(source.gathered() == option::some(records::instance(2, vector[6, 3])));
        destroy(records);
    });
}

#[test]
fun a_value_that_left_a_loop_comes_from_the_round_that_it_left() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let (mut records, run) = (none(), at(vector[6]));
        let out = lead(dag, 0, BREAK, 1, NONE);
        assert!(records.put(dag, run, &out, 2, 4));
        assert_from(records.source(dag, &run, 0), 2, vector[6, 4], b"out_1");
        destroy(records);
    });
}

#[test]
fun what_does_not_stay_goes_before_what_stays_further_inside() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let (mut records, inner) = (none(), records::instance(1, vector[2]));
        let (stays, list) = (lead(dag, 0, STATIC, 1, 1), lead(dag, 0, FOR_EACH, 0, 0));
        assert!(records.put_in_scope(dag, inner, &stays, 2, 0, 0));
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 4));
        assert_from(records.source(dag, &at(vector[2, 0]), 0), 0, vector[], b"out_2");
        let look = records.look(dag, &at(vector[2, 0]), 1);
        assert!(look.is_complete());
        assert_eq!(look.count(), 4);
        destroy(records);
    });
}

#[test]
fun what_does_not_stay_goes_before_what_stays_further_out() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let (mut records, inner) = (none(), records::instance(1, vector[2]));
        let (stays, own) = (lead(dag, 0, STATIC, 0, 0), lead(dag, 0, NORMAL, 1, 1));
        assert!(records.put_in_scope(dag, inner, &own, 2, 0, 0));
        assert!(records.put_in_scope(dag, region(), &stays, 0, 0, 0));
        assert_from(records.source(dag, &at(vector[2, 0]), 0), 2, vector[2], b"out_2");
        assert_from(records.source(dag, &at(vector[3, 0]), 0), 0, vector[], b"out_1");
        destroy(records);
    });
}

#[test]
fun what_a_region_gathered_stays_before_what_came_from_further_out() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let (mut records, inner) = (none(), records::instance(1, vector[2]));
        let (outer, own) = (lead(dag, 0, STATIC, 0, 0), lead(dag, 0, STATIC, 1, 1));
        assert!(records.put_in_scope(dag, inner, &own, REGION, 0, 0));
        assert!(records.put_in_scope(dag, region(), &outer, 0, 0, 0));
        let source = records.source(dag, &at(vector[2, 0]), 0);
        assert!(source.gathered() == option::some(region()) && source.run().is_none());
        destroy(records);
    });
}

#[test]
fun an_element_serves_besides_what_stays() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let (stays, list) = (lead(dag, 0, STATIC, 0, 0), lead(dag, 0, FOR_EACH, 0, 0));
        assert!(records.put_in_scope(dag, region(), &stays, 0, 0, 0));
        // What stays is no value of a port that does not take such ones.
        assert!(!records.look(dag, &at(vector[0]), 1).is_complete());
        assert!(records.put_in_scope(dag, region(), &list, 0, 0, 2));
        let look = records.look(dag, &at(vector[0]), 1);
        assert!(look.is_complete() && look.is_begun());
        assert_eq!(look.count(), 2);
        destroy(records);
    });
}

// === Helpers ===

fun none(): Records { records::none(&mut tx_context::dummy()) }

/// A run of the target.
fun at(path: vector<u32>): Run { run::new(1, path) }

fun region(): Instance { records::instance(0, vector[]) }

/// A workflow whose target lies in these blocks and has ports of these kinds; group 0 begins with
/// the target, and group 1 with nothing.
macro fun with_target($blocks: vector<u16>, $kinds: vector<u8>, $f: |&mut Dag|) {
    let (blocks, kinds) = ($blocks, $kinds);
    with_draft!(|dag| {
        write(dag, blocks, kinds);
        $f(dag);
    });
}

fun write(dag: &mut Dag, blocks: vector<u16>, kinds: vector<u8>) {
    dag.add_group(b"all".to_ascii_string(), vector[1]);
    dag.add_group(b"none".to_ascii_string(), vector[]);
    let nothing = vector[vector[], vector[], vector[], vector[]];
    let around = vector[vector[], vector[0], vector[0, 1], vector[]];
    let no_ports = vector[vector[], vector[], vector[], vector[]];
    dag.add_blocks(vector[true, false, true, false], around, nothing, no_ports, nothing, nothing);
    dag.add_vertices(
        vector[0, 0, 0],
        vector[vector[], blocks, blocks],
        vector[vector[], vector[0], vector[]],
        vector[1, 1, 1],
        vector[0, 0, 0],
        vector[32, 32, 32],
        vector[true, true, true],
    );
    let names = vector[b"a", b"b", b"c"];
    let n = kinds.length();
    dag.add_ports(0, vector::tabulate!(n, |_| 1), vector::tabulate!(n, |i| ascii(names[i])), kinds);
    dag.add_ports(0, vector[2], vector[ascii(b"a")], vector[PLAIN]);
}

fun ascii(text: vector<u8>): String { text.to_ascii_string() }

/// An edge of the source to a port of the target, which keeps so many numbers of a path, to the run
/// or to all inside a block. The neighbour has it, too, so that values may come from inside.
fun lead(dag: &mut Dag, port: u16, kind: u16, keeps: u16, scope: u16): Edge {
    let element = if (kind == FOR_EACH) 0 else NONE;
    lead_to(dag, port, vector[kind, keeps, 0, scope, element, NONE])
}

/// The same, of whose row what follows the port is given.
fun lead_to(dag: &mut Dag, port: u16, rest: vector<u16>): Edge {
    let number = dag.vertex(0).edges(&ascii(b"ok")).length() as u16 + 1;
    let mut row = vector[number, 1, port];
    row.append(rest);
    let output = ascii(if (number == 1) b"out_1" else b"out_2");
    let both = vector[output, output];
    dag.add_edges(0, vector[0, 2], vector[ascii(b"ok"), ascii(b"ok")], both, vector[row, row]);
    let edges = dag.vertex(0).edges(&ascii(b"ok"));
    edges[edges.length() - 1]
}

/// An edge of the neighbour's alone to a port of the target.
fun lead_from_neighbour(dag: &mut Dag, port: u16): Edge {
    let row = vector[9, 1, port, NORMAL, 0, 0, NONE, NONE, NONE];
    dag.add_edges(0, vector[2], vector[ascii(b"ok")], vector[ascii(b"aside")], vector[row]);
    let edges = dag.vertex(2).edges(&ascii(b"ok"));
    edges[edges.length() - 1]
}

/// An edge by which the region splits a list for the neighbour.
fun lead_neighbour(dag: &mut Dag): Edge {
    let row = vector[8, 2, 0, FOR_EACH, 0, 0, 0, 0, NONE];
    dag.add_edges(0, vector[0], vector[ascii(b"other")], vector[ascii(b"list")], vector[row]);
    dag.vertex(0).edges(&ascii(b"other"))[0]
}

/// The value is in this port of this run.
fun assert_from(source: Source, vertex: u16, path: vector<u32>, port: vector<u8>) {
    assert_eq!(source.run(), option::some(run::new(vertex, path)));
    assert_eq!(source.port(), ascii(port));
    assert!(source.gathered().is_none());
}
