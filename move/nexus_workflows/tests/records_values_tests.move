/// Tests of the values of a run's ports. A value is delivered to the run alone, is delivered to all
/// runs in a block, or is missing.
///
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
/// Region 0 as the origin of a value.
const REGION: u16 = 0x8000;

/// The kinds of ports that a test can define.
const PLAIN: u8 = 0;
const ENTRY: u8 = 1;
const DEFAULT: u8 = 2;
const STAYING: u8 = 4;

/// The numbers of the edge kinds in a row.
const NORMAL: u16 = 0;
const FOR_EACH: u16 = 1;
const DO_WHILE: u16 = 2;
const BREAK: u16 = 3;
const STATIC: u16 = 4;

// === Ready runs ===

#[test]
fun entry_port_has_a_value_in_its_group() {
    with_target!(vector[], vector[ENTRY], |dag| {
        let (mut records, run) = (none(), at(vector[]));
        let (own, other) = (records.readiness(dag, &run, 0), records.readiness(dag, &run, 1));
        assert!(own.is_complete() && own.is_triggered());
        assert!(!other.is_complete() && !other.is_triggered());
        destroy(records);
    });
}

#[test]
fun group_does_not_fill_a_port_that_is_not_an_entry() {
    with_target!(vector[], vector[ENTRY, PLAIN], |dag| {
        let mut records = none();
        let readiness = records.readiness(dag, &at(vector[]), 0);
        assert!(!readiness.is_complete() && readiness.is_triggered());
        destroy(records);
    });
}

#[test]
fun default_value_fills_a_port_without_starting_the_run() {
    with_target!(vector[], vector[DEFAULT], |dag| {
        let mut records = none();
        let readiness = records.readiness(dag, &at(vector[]), 1);
        assert!(readiness.is_complete() && !readiness.is_triggered());
        assert_eq!(readiness.count(), 0);
        destroy(records);
    });
}

#[test]
fun group_does_not_start_iterations() {
    with_target!(vector[0], vector[ENTRY], |dag| {
        let mut records = none();
        let readiness = records.readiness(dag, &at(vector[0]), 0);
        assert!(readiness.is_complete() && !readiness.is_triggered());
        destroy(records);
    });
}

#[test]
fun every_port_needs_a_value() {
    with_target!(vector[], vector[PLAIN, PLAIN], |dag| {
        let (mut records, run) = (none(), at(vector[]));
        let (first, second) = (add_edge(dag, 0, NORMAL, 0, NONE), add_edge(dag, 1, NORMAL, 0, NONE));
        assert!(!records.readiness(dag, &run, 1).is_complete());
        assert!(records.deliver(dag, run, &second, 0, 0));
        assert!(!records.readiness(dag, &run, 1).is_complete());
        assert!(records.deliver(dag, run, &first, 0, 0));
        assert!(records.readiness(dag, &run, 1).is_complete());
        destroy(records);
    });
}

// === Defaults and sources ===

#[test]
fun default_value_waits_for_a_source() {
    with_target!(vector[], vector[DEFAULT, PLAIN], |dag| {
        dag.add_sources(0, vector[1], vector[0], vector[vector[0, 0]]);
        let (mut records, run) = (none(), at(vector[]));
        let edge = add_edge(dag, 1, NORMAL, 0, NONE);
        // A vertex that is not the source delivers a value to the other port.
        assert!(records.deliver(dag, run, &edge, 2, 0));
        assert!(!records.readiness(dag, &run, 1).is_complete());
        destroy(records);
    });
}

#[test]
fun default_value_is_used_after_the_source_delivered_elsewhere() {
    with_target!(vector[], vector[DEFAULT, PLAIN], |dag| {
        dag.add_sources(0, vector[1], vector[0], vector[vector[0, 0]]);
        let (mut records, run) = (none(), at(vector[]));
        let edge = add_edge(dag, 1, NORMAL, 0, NONE);
        assert!(records.deliver(dag, run, &edge, 0, 0));
        assert!(records.readiness(dag, &run, 1).is_complete());
        destroy(records);
    });
}

#[test]
fun default_value_is_used_in_rounds_without_a_source() {
    with_target!(vector[3], vector[DEFAULT], |dag| {
        // An edge from outside the loop reaches only the first round.
        dag.add_sources(0, vector[1], vector[0], vector[vector[0, 0, 0]]);
        let mut records = none();
        assert!(!records.readiness(dag, &at(vector[0]), 1).is_complete());
        assert!(records.readiness(dag, &at(vector[1]), 1).is_complete());
        destroy(records);
    });
}

#[test]
fun default_value_is_used_in_the_first_round_of_a_do_while() {
    with_target!(vector[3], vector[DEFAULT], |dag| {
        dag.add_sources(0, vector[1], vector[0], vector[vector[1, 1]]);
        let mut records = none();
        assert!(records.readiness(dag, &at(vector[0]), 1).is_complete());
        assert!(!records.readiness(dag, &at(vector[1]), 1).is_complete());
        destroy(records);
    });
}

// === Elements ===

#[test]
fun iteration_receives_its_element() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let list = add_edge(dag, 0, FOR_EACH, 0, 0);
        assert!(!records.readiness(dag, &at(vector[0]), 1).is_complete());
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 2));
        2u32.do!(|i| {
            let readiness = records.readiness(dag, &at(vector[i]), 1);
            assert!(readiness.is_complete() && readiness.is_triggered());
            assert_eq!(readiness.count(), 2);
        });
        // An element beyond the end of the list does not exist.
        let readiness = records.readiness(dag, &at(vector[2]), 1);
        assert!(!readiness.is_complete() && readiness.is_triggered());
        assert_eq!(readiness.count(), 2);
        assert!(records.source(dag, &at(vector[1]), 0).element() == option::some(1));
        destroy(records);
    });
}

#[test]
fun shortest_list_determines_the_iterations() {
    with_target!(vector[0], vector[PLAIN, PLAIN, PLAIN], |dag| {
        let mut records = none();
        let lengths = vector[4, 2, 3];
        3u64.do!(|i| {
            assert_eq!(records.readiness(dag, &at(vector[0]), 1).count(), 0);
            let list = add_edge(dag, i as u16, FOR_EACH, 0, 0);
            assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, lengths[i]));
        });
        assert_eq!(records.readiness(dag, &at(vector[0]), 1).count(), 2);
        assert_eq!(records.instance_record(region()).iterations(), 4);
        assert!(records.readiness(dag, &at(vector[1]), 1).is_complete());
        // Only the longest list has a fourth element, and only two lists have a third element.
        assert!(!records.readiness(dag, &at(vector[2]), 1).is_complete());
        assert!(!records.readiness(dag, &at(vector[3]), 1).is_complete());
        destroy(records);
    });
}

#[test]
fun empty_list_has_no_iterations() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let list = add_edge(dag, 0, FOR_EACH, 0, 0);
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 0));
        let readiness = records.readiness(dag, &at(vector[0]), 1);
        assert!(!readiness.is_complete());
        assert_eq!(readiness.count(), 0);
        assert_eq!(records.instance_record(region()).iterations(), 0);
        destroy(records);
    });
}

#[test]
fun delivery_to_a_run_is_used_beyond_the_end_of_a_list() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let (list, own) = (add_edge(dag, 0, FOR_EACH, 0, 0), add_edge(dag, 0, NORMAL, 1, NONE));
        assert!(records.deliver(dag, at(vector[5]), &own, 2, 0));
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 2));
        assert!(records.readiness(dag, &at(vector[5]), 1).is_complete());
        assert!(!records.readiness(dag, &at(vector[6]), 1).is_complete());
        // The run uses the value that was delivered to the run alone.
        assert_from(records.source(dag, &at(vector[5]), 0), 2, vector[5], b"out_2");
        destroy(records);
    });
}

#[test]
fun outer_list_of_a_port_has_priority() {
    with_target!(vector[0, 1, 2], vector[PLAIN], |dag| {
        let (mut records, inner) = (none(), records::instance(2, vector[1, 0]));
        let list = add_edge_row(dag, 0, vector[FOR_EACH, 2, 0, 2, 2, NONE]);
        let outer = add_edge(dag, 0, FOR_EACH, 0, 0);
        // The inner value arrives first, because `deliver_to_scope` rejects it after the outer
        // value.
        assert!(records.deliver_to_scope(dag, inner, &list, 2, 0, 3));
        assert!(records.deliver_to_scope(dag, region(), &outer, 0, 0, 5));
        let run = at(vector[1, 0, 4]);
        let readiness = records.readiness(dag, &run, 1);
        assert!(readiness.is_complete());
        assert_eq!(readiness.count(), 5);
        let source = records.source(dag, &run, 0);
        assert_from(source, 0, vector[], b"out_2");
        assert!(source.element() == option::some(1));
        assert!(!records.deliver_to_scope(dag, inner, &list, 2, 0, 3));
        destroy(records);
    });
}

// === Starts of a run ===

#[test]
fun value_for_a_whole_region_does_not_start_iterations() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let edge = add_edge(dag, 0, NORMAL, 0, 0);
        assert!(records.deliver_to_scope(dag, region(), &edge, 0, 0, 9));
        let readiness = records.readiness(dag, &at(vector[0]), 1);
        assert!(readiness.is_complete() && !readiness.is_triggered());
        // The length of the value is ignored, because the run does not use an element of it.
        assert_eq!(readiness.count(), 0);
        destroy(records);
    });
}

#[test]
fun static_value_in_a_loop_starts_runs() {
    with_target!(vector[3], vector[STAYING], |dag| {
        let mut records = none();
        let edge = add_edge_row(dag, 0, vector[STATIC, 0, 0, 3, NONE, NONE, 0]);
        assert!(!records.readiness(dag, &at(vector[0]), 1).is_complete());
        let cycle = records::instance(3, vector[]);
        assert!(records.deliver_to_scope(dag, cycle, &edge, 0, 0, 0));
        // The static value is available in all rounds.
        vector[0, 1, 7].do!(|round| {
            let readiness = records.readiness(dag, &at(vector[round]), 1);
            assert!(readiness.is_complete() && readiness.is_triggered());
            assert_from(records.source(dag, &at(vector[round]), 0), 0, vector[], b"out_1");
        });
        destroy(records);
    });
}

#[test]
fun static_value_inside_an_iteration_starts_runs() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let mut records = none();
        let (whole, own) = (add_edge(dag, 0, STATIC, 0, 0), add_edge(dag, 0, STATIC, 1, 1));
        assert!(records.deliver_to_scope(dag, records::instance(1, vector[2]), &own, 2, 0, 0));
        let readiness = records.readiness(dag, &at(vector[2, 0]), 1);
        assert!(readiness.is_complete() && readiness.is_triggered());
        let readiness = records.readiness(dag, &at(vector[3, 0]), 1);
        assert!(!readiness.is_complete() && !readiness.is_triggered());
        // A value for the whole region reaches all iterations, but does not start an iteration.
        assert!(records.deliver_to_scope(dag, region(), &whole, 0, 0, 0));
        let readiness = records.readiness(dag, &at(vector[3, 0]), 1);
        assert!(readiness.is_complete() && !readiness.is_triggered());
        // The value in the inner block has priority.
        assert_from(records.source(dag, &at(vector[2, 0]), 0), 2, vector[2], b"out_2");
        assert_from(records.source(dag, &at(vector[3, 0]), 0), 0, vector[], b"out_1");
        destroy(records);
    });
}

#[test]
fun triggered_run_stays_triggered() {
    with_target!(vector[0], vector[PLAIN, PLAIN], |dag| {
        let mut records = none();
        let (list, other) = (add_edge(dag, 0, FOR_EACH, 0, 0), add_edge(dag, 1, NORMAL, 0, 0));
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 2));
        assert!(!records.readiness(dag, &at(vector[0]), 1).is_complete());
        assert!(records.deliver_to_scope(dag, region(), &other, 0, 0, 0));
        let readiness = records.readiness(dag, &at(vector[0]), 1);
        assert!(readiness.is_complete() && readiness.is_triggered());
        assert_eq!(readiness.count(), 2);
        destroy(records);
    });
}

#[test]
fun value_is_used_only_in_its_rounds() {
    with_target!(vector[0, 1], vector[PLAIN], |dag| {
        let mut records = none();
        let list = add_edge_row(dag, 0, vector[FOR_EACH, 0, 0, 0, 0, NONE, 1]);
        let again = add_edge_row(dag, 0, vector[DO_WHILE, 2, 0, NONE, NONE, NONE]);
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 3));
        assert!(records.readiness(dag, &at(vector[2, 0]), 1).is_complete());
        assert!(!records.readiness(dag, &at(vector[2, 1]), 1).is_complete());
        let source = records.source(dag, &at(vector[2, 1]), 0);
        assert!(source.run().is_none() && source.region().is_none());
        // The first round already has a value, and the second round receives another value.
        assert!(!records.deliver(dag, at(vector[2, 0]), &again, 2, 0));
        assert!(records.deliver(dag, at(vector[2, 1]), &again, 2, 0));
        assert_from(records.source(dag, &at(vector[2, 1]), 0), 2, vector[2, 0], b"out_2");
        destroy(records);
    });
}

#[test]
fun run_does_not_receive_values_of_another_vertex() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let (edge, mine) = (add_list_of_neighbour(dag), add_edge(dag, 0, NORMAL, 1, NONE));
        assert!(records.deliver_to_scope(dag, region(), &edge, 0, 0, 3));
        let readiness = records.readiness(dag, &at(vector[0]), 1);
        assert!(!readiness.is_complete() && !readiness.is_triggered());
        assert_eq!(readiness.count(), 0);
        let source = records.source(dag, &at(vector[0]), 0);
        assert!(source.run().is_none() && source.region().is_none());
        assert!(records.deliver(dag, at(vector[0]), &mine, 2, 0));
        assert!(records.readiness(dag, &at(vector[0]), 1).is_complete());
        // The neighbour received the value of its own edge.
        assert!(records.readiness(dag, &run::new(2, vector[1]), 1).is_complete());
        destroy(records);
    });
}

// === Second values ===

#[test]
fun deliver_rejects_a_port_with_a_scoped_value() {
    with_target!(vector[0], vector[PLAIN, PLAIN], |dag| {
        let mut records = none();
        let list = add_edge(dag, 0, FOR_EACH, 0, 0);
        let (second, other) = (add_edge(dag, 0, NORMAL, 1, NONE), add_edge(dag, 1, NORMAL, 1, NONE));
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 2));
        assert!(!records.deliver(dag, at(vector[1]), &second, 2, 0));
        assert!(!records.has_run(at(vector[1])));
        assert!(records.deliver(dag, at(vector[1]), &other, 2, 0));
        assert!(records.has_run(at(vector[1])));
        destroy(records);
    });
}

#[test]
fun delivery_has_priority_over_a_static_value() {
    with_target!(vector[0], vector[STAYING], |dag| {
        let mut records = none();
        let (whole, own) = (add_edge(dag, 0, STATIC, 0, 0), add_edge(dag, 0, NORMAL, 1, NONE));
        assert!(records.deliver_to_scope(dag, region(), &whole, 0, 0, 0));
        assert!(!records.deliver_to_scope(dag, region(), &whole, 0, 0, 0));
        assert!(records.deliver(dag, at(vector[1]), &own, 2, 0));
        assert_from(records.source(dag, &at(vector[1]), 0), 2, vector[1], b"out_2");
        assert_from(records.source(dag, &at(vector[2]), 0), 0, vector[], b"out_1");
        destroy(records);
    });
}

// === Locations of values ===

#[test]
fun source_returns_the_value_of_each_port_of_a_run() {
    with_target!(vector[], vector[PLAIN, PLAIN, ENTRY], |dag| {
        let (mut records, run) = (none(), at(vector[]));
        let first = add_edge(dag, 0, NORMAL, 0, NONE);
        let second = add_edge_from_neighbour(dag, 1);
        assert!(records.deliver(dag, run, &first, 0, 0));
        assert!(records.deliver(dag, run, &second, 2, 0));
        assert_from(records.source(dag, &run, 0), 0, vector[], b"out_1");
        assert_from(records.source(dag, &run, 1), 2, vector[], b"aside");
        // The records do not contain the entry value, so its location is empty.
        let source = records.source(dag, &run, 2);
        assert!(source.run().is_none() && source.region().is_none());
        assert!(source.element().is_none() && source.port().is_empty());
        destroy(records);
    });
}

#[test]
fun source_returns_the_value_of_each_port_in_a_block() {
    with_target!(vector[0], vector[PLAIN, PLAIN], |dag| {
        let mut records = none();
        let (list, whole) = (add_edge(dag, 0, FOR_EACH, 0, 0), add_edge(dag, 1, NORMAL, 0, 0));
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 2));
        assert!(records.deliver_to_scope(dag, region(), &whole, 0, 0, 0));
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
fun source_returns_the_region_of_a_gathered_list() {
    with_target!(vector[3], vector[PLAIN, STAYING], |dag| {
        let (mut records, run) = (none(), at(vector[0]));
        let (own, whole) = (add_edge(dag, 0, NORMAL, 0, NONE), add_edge(dag, 1, STATIC, 0, 3));
        assert!(records.deliver(dag, run, &own, REGION, 0));
        let cycle = records::instance(3, vector[]);
        assert!(records.deliver_to_scope(dag, cycle, &whole, REGION, 0, 0));
        vector[0, 1].do!(|port| {
            let source = records.source(dag, &run, port);
            assert!(source.region() == option::some(region()));
            assert!(source.run().is_none() && source.element().is_none());
            assert!(source.port().is_empty());
        });
        destroy(records);
    });
}

#[test]
fun source_returns_the_nested_region_of_a_gathered_list() {
    with_target!(vector[0, 1], vector[PLAIN], |dag| {
        let (mut records, run) = (none(), at(vector[6, 3]));
        let own = add_edge(dag, 0, NORMAL, 2, NONE);
        // Region 2 is inside block 1, so the path of its instance has two numbers.
        assert!(records.deliver(dag, run, &own, 0x8002, 0));
        let source = records.source(dag, &run, 0);
        assert!(source.region() == option::some(records::instance(2, vector[6, 3])));
        destroy(records);
    });
}

#[test]
fun source_returns_the_round_that_a_value_left() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let (mut records, run) = (none(), at(vector[6]));
        let out = add_edge(dag, 0, BREAK, 1, NONE);
        assert!(records.deliver(dag, run, &out, 2, 4));
        assert_from(records.source(dag, &run, 0), 2, vector[6, 4], b"out_1");
        destroy(records);
    });
}

#[test]
fun normal_value_has_priority_over_an_inner_static_value() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let (mut records, inner) = (none(), records::instance(1, vector[2]));
        let (stays, list) = (add_edge(dag, 0, STATIC, 1, 1), add_edge(dag, 0, FOR_EACH, 0, 0));
        assert!(records.deliver_to_scope(dag, inner, &stays, 2, 0, 0));
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 4));
        assert_from(records.source(dag, &at(vector[2, 0]), 0), 0, vector[], b"out_2");
        let readiness = records.readiness(dag, &at(vector[2, 0]), 1);
        assert!(readiness.is_complete());
        assert_eq!(readiness.count(), 4);
        destroy(records);
    });
}

#[test]
fun normal_value_has_priority_over_an_outer_static_value() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let (mut records, inner) = (none(), records::instance(1, vector[2]));
        let (stays, own) = (add_edge(dag, 0, STATIC, 0, 0), add_edge(dag, 0, NORMAL, 1, 1));
        assert!(records.deliver_to_scope(dag, inner, &own, 2, 0, 0));
        assert!(records.deliver_to_scope(dag, region(), &stays, 0, 0, 0));
        assert_from(records.source(dag, &at(vector[2, 0]), 0), 2, vector[2], b"out_2");
        assert_from(records.source(dag, &at(vector[3, 0]), 0), 0, vector[], b"out_1");
        destroy(records);
    });
}

#[test]
fun gathered_list_has_priority_over_an_outer_value() {
    with_target!(vector[0, 1], vector[STAYING], |dag| {
        let (mut records, inner) = (none(), records::instance(1, vector[2]));
        let (outer, own) = (add_edge(dag, 0, STATIC, 0, 0), add_edge(dag, 0, STATIC, 1, 1));
        assert!(records.deliver_to_scope(dag, inner, &own, REGION, 0, 0));
        assert!(records.deliver_to_scope(dag, region(), &outer, 0, 0, 0));
        let source = records.source(dag, &at(vector[2, 0]), 0);
        assert!(source.region() == option::some(region()) && source.run().is_none());
        destroy(records);
    });
}

#[test]
fun element_fills_a_port_that_a_static_value_does_not() {
    with_target!(vector[0], vector[PLAIN], |dag| {
        let mut records = none();
        let (stays, list) = (add_edge(dag, 0, STATIC, 0, 0), add_edge(dag, 0, FOR_EACH, 0, 0));
        assert!(records.deliver_to_scope(dag, region(), &stays, 0, 0, 0));
        // A static value does not fill a port without a static edge.
        assert!(!records.readiness(dag, &at(vector[0]), 1).is_complete());
        assert!(records.deliver_to_scope(dag, region(), &list, 0, 0, 2));
        let readiness = records.readiness(dag, &at(vector[0]), 1);
        assert!(readiness.is_complete() && readiness.is_triggered());
        assert_eq!(readiness.count(), 2);
        destroy(records);
    });
}

// === Helpers ===

fun none(): Records { records::new(&mut tx_context::dummy()) }

/// Return the run of the target vertex at a path.
fun at(path: vector<u32>): Run { run::new(1, path) }

fun region(): Instance { records::instance(0, vector[]) }

/// Run `$f` on a workflow whose target is in these blocks and has ports of these kinds. Entry group
/// 0 starts with the target, and entry group 1 is empty.
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
    let enclosing = vector[vector[], vector[0], vector[0, 1], vector[]];
    let no_ports = vector[vector[], vector[], vector[], vector[]];
    dag.add_blocks(
        vector[true, false, true, false],
        enclosing,
        nothing,
        no_ports,
        nothing,
        nothing,
    );
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

/// Add an edge from the source to a port of the target, for one run or for all runs in a block.
/// `keeps` is the prefix length of the edge. The neighbour has the same edge, so that values may
/// come from inside the blocks.
fun add_edge(dag: &mut Dag, port: u16, kind: u16, keeps: u16, scope: u16): Edge {
    let element = if (kind == FOR_EACH) 0 else NONE;
    add_edge_row(dag, port, vector[kind, keeps, 0, scope, element, NONE])
}

/// Add the edge that `add_edge` describes, and return it. `rest` is the part of the row after the
/// port.
fun add_edge_row(dag: &mut Dag, port: u16, rest: vector<u16>): Edge {
    let number = dag.vertex(0).edges(&ascii(b"ok")).length() as u16 + 1;
    let mut row = vector[number, 1, port];
    row.append(rest);
    let output = ascii(if (number == 1) b"out_1" else b"out_2");
    let both = vector[output, output];
    dag.add_edges(0, vector[0, 2], vector[ascii(b"ok"), ascii(b"ok")], both, vector[row, row]);
    let edges = dag.vertex(0).edges(&ascii(b"ok"));
    edges[edges.length() - 1]
}

/// Add an edge from the neighbour, but not from the source, to a port of the target.
fun add_edge_from_neighbour(dag: &mut Dag, port: u16): Edge {
    let row = vector[9, 1, port, NORMAL, 0, 0, NONE, NONE, NONE];
    dag.add_edges(0, vector[2], vector[ascii(b"ok")], vector[ascii(b"aside")], vector[row]);
    let edges = dag.vertex(2).edges(&ascii(b"ok"));
    edges[edges.length() - 1]
}

/// Add a `for_each` edge that splits a list for the neighbour.
fun add_list_of_neighbour(dag: &mut Dag): Edge {
    let row = vector[8, 2, 0, FOR_EACH, 0, 0, 0, 0, NONE];
    dag.add_edges(0, vector[0], vector[ascii(b"other")], vector[ascii(b"list")], vector[row]);
    dag.vertex(0).edges(&ascii(b"other"))[0]
}

/// Check that the location of a value is this port of this run.
fun assert_from(source: Source, vertex: u16, path: vector<u32>, port: vector<u8>) {
    assert_eq!(source.run(), option::some(run::new(vertex, path)));
    assert_eq!(source.port(), ascii(port));
    assert!(source.region().is_none());
}
