/// Tests of workflows with several pages, and of workflows at the exact limits.
#[test_only]
module nexus_workflows::dag_pages_tests;

use nexus_tools::test_runner::{field, event_bytes};
use nexus_tools::value;
use nexus_workflows::dag::{Self, Dag, DagPublished};
use nexus_workflows::dag_runner::{add_blocks, add_vertices, dag_tx, draft, start, with_draft};
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const FLOW: vector<u8> = b"xyz.example.flow@1";
const NINETY_DAYS_MS: u64 = 7_776_000_000;

// === Pages ===

#[test]
fun publish_accepts_two_pages_of_vertices_and_blocks() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        write_two_pages(&mut dag, vector[0]);
        4u64.do!(|page| dag.check_page(page));
        let mut fields = field(object::id(&dag));
        fields.append(field(FLOW));
        fields.append(field(object::id(&name)));
        fields.append(field(ALICE));
        fields.append(field(b"Adds."));
        fields.append(field(b"digest"));
        fields.append(field(65u64));
        dag.publish(ctx);
        name.share();
        assert_eq!(event_bytes<DagPublished>(), fields);
    });
    let dag = runner.next_tx(ALICE).take_immutable<Dag>();
    assert_eq!(*dag.group(0), vector[64]);
    assert_eq!(dag.vertex(63).parallel(), 1);
    assert_eq!(dag.vertex(64).parallel(), 7);
    assert_eq!(*dag.vertex(64).blocks(), vector[0, 64, 65]);
    assert_eq!(dag.vertex(64).region(), option::some(2));
    assert_eq!(*dag.block(64).enclosing(), vector[0]);
    assert_eq!(dag.block(64).region(), option::none());
    assert_eq!(*dag.block(65).enclosing(), vector[0, 64]);
    assert_eq!(dag.block(65).region(), option::some(1));
    assert!(dag.block(64).is_region() && dag.block(65).is_region() && !dag.block(63).is_region());
    assert_eq!(dag.default(64, &b"in".to_ascii_string()).json(), b"7");
    test_scenario::return_immutable(dag);
    runner.end();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_vertex_of_the_second_page_without_its_group() {
    with_draft!(|dag| {
        write_two_pages(dag, vector[]);
        dag.check_page(0);
        dag.check_page(1);
    });
}

#[test]
fun page_may_have_one_entry() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        add_blocks(&mut dag, 1);
        // A page of blocks can be checked before vertices are added.
        dag.check_page(0);
        add_vertices(&mut dag, 1);
        dag.check_page(0);
        dag.check_page(1);
        assert!(dag.block(0).enclosing().is_empty() && dag.vertex(0).blocks().is_empty());
        dag.publish(ctx);
        name.share();
    });
    runner.next_tx(ALICE);
    assert!(test_scenario::has_most_recent_immutable<Dag>());
    runner.end();
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_blocks_invalidates_the_checks() {
    with_draft!(|dag| {
        add_blocks(dag, 64);
        dag.check_page(0);
        add_blocks(dag, 1);
        dag.check_page(1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_vertices_invalidates_the_checks() {
    with_draft!(|dag| {
        add_vertices(dag, 64);
        dag.check_page(0);
        add_vertices(dag, 1);
        dag.check_page(1);
    });
}

#[test]
fun check_of_the_first_page_checks_groups() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        add_vertices(&mut dag, 1);
        dag.check_page(0);
        dag.add_group(b"none".to_ascii_string(), vector[]);
        dag.check_page(0);
        assert_eq!(dag.groups(), 1);
        dag.publish(ctx);
        name.share();
    });
    runner.next_tx(ALICE);
    assert!(test_scenario::has_most_recent_immutable<Dag>());
    runner.end();
}

// === Limits ===

#[test]
fun add_vertices_accepts_2048_vertices() {
    with_draft!(|dag| {
        32u64.do!(|_| add_vertices(dag, 64));
        assert_eq!(dag.vertex(2_047).parallel(), 1);
        assert_eq!(dag.vertex(1_984).attempts(), 1);
    });
}

#[test]
fun add_blocks_accepts_2048_blocks() {
    with_draft!(|dag| {
        32u64.do!(|_| add_blocks(dag, 64));
        assert!(!dag.block(2_047).is_region());
        assert!(dag.block(1_984).enclosing().is_empty());
    });
}

#[test]
fun add_group_accepts_256_groups_of_128_vertices() {
    with_draft!(|dag| {
        256u64.do!(|_| {
            dag.add_group(b"group".to_ascii_string(), vector::tabulate!(128, |i| i as u16));
        });
        assert_eq!(dag.groups(), 256);
        assert_eq!(dag.group(255).length(), 128);
        assert_eq!(dag.group(255)[127], 127);
    });
}

#[test]
fun add_vertices_accepts_8_nested_blocks_and_90_days() {
    with_draft!(|dag| {
        let all = vector<u16>[0, 1, 2, 3, 4, 5, 6, 7];
        let none = vector::tabulate!(8, |_| vector[]);
        dag.add_blocks(
            vector[true, false, true, false, false, false, false, false],
            vector::tabulate!(8, |i| all.take(i)),
            none,
            vector::tabulate!(8, |_| vector[]),
            none,
            none,
        );
        dag.add_vertices(
            vector[0, 0],
            vector[all, vector[0, 1]],
            vector[vector[], vector[]],
            vector[255, 1],
            vector[NINETY_DAYS_MS, 0],
            vector[65_535, 1],
            vector[true, false],
        );
        assert_eq!(*dag.block(7).enclosing(), vector[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(dag.block(7).region(), option::some(2));
        assert_eq!(dag.block(2).region(), option::some(0));
        let vertex = dag.vertex(0);
        assert_eq!(*vertex.blocks(), all);
        assert_eq!(vertex.region(), option::some(2));
        assert_eq!(vertex.attempts(), 255);
        assert_eq!(vertex.retry_after_ms(), 7_776_000_000);
        assert_eq!(vertex.parallel(), 65_535);
        assert!(vertex.terminates() && !dag.vertex(1).terminates());
        assert_eq!(dag.vertex(1).region(), option::some(0));
    });
}

// === Nested blocks ===

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_a_gap_in_the_nesting() {
    with_draft!(|dag| {
        write_blocks(dag);
        add_vertex_in(dag, vector[2]);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_blocks_that_are_not_nested() {
    with_draft!(|dag| {
        write_blocks(dag);
        add_vertex_in(dag, vector[1, 2]);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_sibling_blocks() {
    with_draft!(|dag| {
        write_blocks(dag);
        add_vertex_in(dag, vector[0, 1]);
    });
}

#[test]
fun add_vertices_accepts_nested_blocks() {
    with_draft!(|dag| {
        write_blocks(dag);
        add_vertex_in(dag, vector[0, 2]);
        assert_eq!(*dag.vertex(0).blocks(), vector[0, 2]);
    });
}

// === Columns ===

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_terminates() {
    with_draft!(|dag| dag.add_vertices(
        vector[0],
        vector[vector[]],
        vector[vector[]],
        vector[1],
        vector[0],
        vector[1],
        vector[],
    ));
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_edges_rejects_fewer_ports() {
    with_draft!(|dag| {
        add_vertices(dag, 1);
        dag.add_edges(0, vector[0], vector[b"ok".to_ascii_string()], vector[], vector[vector[0]]);
    });
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_edges_rejects_fewer_rows() {
    with_draft!(|dag| {
        add_vertices(dag, 1);
        let name = b"ok".to_ascii_string();
        dag.add_edges(0, vector[0], vector[name], vector[name], vector[]);
    });
}

// === Setup ===

/// Write the nested blocks 0, 64 and 65, with vertex 64 inside them. `beginning` lists the entry
/// groups that start with this vertex.
fun write_two_pages(dag: &mut Dag, beginning: vector<u8>) {
    add_blocks(dag, 64);
    dag.add_blocks(
        vector[true, true],
        vector[vector[0], vector[0, 64]],
        vector[vector[], vector[64]],
        vector[vector[], vector[0]],
        vector[vector[], vector[64]],
        vector[vector[], vector[]],
    );
    add_vertices(dag, 64);
    dag.add_vertices(
        vector[0],
        vector[vector[0, 64, 65]],
        vector[beginning],
        vector[1],
        vector[0],
        vector[7],
        vector[true],
    );
    dag.add_group(b"late".to_ascii_string(), vector[64]);
    let port = b"in".to_ascii_string();
    dag.add_ports(1, vector[0], vector[port], vector[2]);
    dag.add_defaults(64, value::ports(vector[port], vector[value::inline(b"7")]));
}

/// Write the blocks 0 and 1, neither of which contains the other, and block 2 inside block 0.
fun write_blocks(dag: &mut Dag) {
    let none = vector[vector[], vector[], vector[]];
    dag.add_blocks(
        vector[true, true, true],
        vector[vector[], vector[], vector[0]],
        none,
        vector[vector[], vector[], vector[]],
        none,
        none,
    );
}

fun add_vertex_in(dag: &mut Dag, blocks: vector<u16>) {
    dag.add_vertices(
        vector[0],
        vector[blocks],
        vector[vector[]],
        vector[1],
        vector[0],
        vector[1],
        vector[false],
    );
}
