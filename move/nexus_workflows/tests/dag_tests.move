/// Tests of drafts and published workflows.
#[test_only]
module nexus_workflows::dag_tests;

use nexus_tools::name;
use nexus_workflows::dag::{Self, Dag, DagPublished};
use nexus_workflows::dag_runner::{
    add_blocks,
    add_vertices,
    columns,
    dag_tx,
    draft,
    draft_version,
    start,
};
use nexus_workflows::dag_runner::{with_dag, with_draft};
use nexus_workflows::plan;
use std::unit_test::assert_eq;
use sui::event;
use sui::test_scenario;

const ALICE: address = @0xA;
const ADD: vector<u8> = b"xyz.example.add@1";
const FLOW: vector<u8> = b"xyz.example.flow@1";
const FLOW_2: vector<u8> = b"xyz.example.flow@2";
const BLOCKS: u16 = 0x8000;

// === Publishing ===

#[test]
fun publish_freezes_the_workflow() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        columns().write(&mut dag);
        dag.check_page(0);
        dag.check_page(1);
        dag.publish(ctx);
        name.share();
        let published = event::events_by_type<DagPublished>();
        assert_eq!(published.length(), 1);
    });
    let scenario = runner.next_tx(ALICE);
    let dag = scenario.take_immutable<Dag>();
    assert_eq!(dag.fqn(), FLOW.to_ascii_string());
    assert_eq!(dag.digest(), b"digest");
    assert_eq!(dag.groups(), 1);
    assert_eq!(*dag.group(0), vector[0]);
    let value = dag.default(4, &b"by".to_ascii_string());
    assert_eq!(value.json(), b"7");
    let id = object::id(&dag);
    test_scenario::return_immutable(dag);
    dag_tx!(&mut runner, ALICE, |dags, tools, _| {
        assert!(dags.contains(FLOW.to_ascii_string()));
        assert_eq!(dags.dag_id(FLOW.to_ascii_string()), id);
        assert!(!tools.contains(FLOW.to_ascii_string()));
    });
    runner.end();
}

#[test]
fun add_vertices_stores_the_columns() {
    with_dag!(|dag| {
        let vertex = dag.vertex(2);
        assert_eq!(vertex.tool(), 0);
        assert_eq!(*vertex.blocks(), vector[0, 2]);
        assert_eq!(vertex.region(), option::some(0));
        assert_eq!((vertex.attempts() as u64) * vertex.retry_after_ms(), 15_000);
        assert_eq!(vertex.parallel(), 32);
        assert!(vertex.terminates());
        assert!(dag.vertex(0).is_in_group(0) && !vertex.is_in_group(0));
        assert_eq!(vertex.edges(&b"poor".to_ascii_string()).length(), 1);
        assert!(vertex.edges(&b"bad".to_ascii_string()).is_empty());
        assert_eq!(vertex.variants()[1].name(), b"good".to_ascii_string());
        let (edge, variant) = vertex.edge_of(3);
        assert_eq!((edge.vertex() as u64), 3);
        assert_eq!(edge.port(), b"out".to_ascii_string());
        assert_eq!(variant, b"good".to_ascii_string());
        assert_eq!(dag.vertex(3).edges_to(4, 0).length(), 1);
        let ports = dag.vertex(5).ports();
        assert!(ports[0].is_entry() && !ports[0].has_default() && ports[1].is_static());
        assert!(dag.vertex(4).ports()[1].has_default());
        assert_eq!(ports[2].name(), b"list".to_ascii_string());
        let source = &ports[0].sources()[1];
        assert_eq!(source.origin(), 5);
        assert!(source.reaches(&vector[1]) && !source.reaches(&vector[0]));
        let first = &ports[0].sources()[0];
        assert!(first.reaches(&vector[0]) && !first.reaches(&vector[1]));
    });
}

#[test]
fun target_path_and_source_path_are_inverse() {
    with_dag!(|dag| {
        // The three edges lead into the loop, to the next round, and out of the loop.
        let (enter, _) = dag.vertex(1).edge_of(1);
        assert_eq!(enter.target_path(&vector[7]), vector[7, 0]);
        assert_eq!(enter.source_path(&vector[7, 0], 0), vector[7]);
        assert!(plan::reaches(false, enter.rounds(), &vector[7, 0]));
        assert!(!plan::reaches(false, enter.rounds(), &vector[7, 1]));
        assert!(plan::reaches(false, enter.rounds(), &vector[7]));
        let (again, _) = dag.vertex(2).edge_of(2);
        assert_eq!(again.target_path(&vector[7, 0]), vector[7, 1]);
        assert_eq!(again.source_path(&vector[7, 1], 0), vector[7, 0]);
        let (out, _) = dag.vertex(2).edge_of(3);
        assert!(out.is_break() && !out.is_normal());
        assert_eq!(out.target_path(&vector[7, 4]), vector[7]);
        assert_eq!(out.source_path(&vector[7], 4), vector[7, 4]);
        let (each, _) = dag.vertex(0).edge_of(0);
        assert!(each.is_for_each());
        assert_eq!(each.scope(), option::some(0));
        assert_eq!(each.element(), option::some(0));
    });
}

#[test]
fun add_blocks_stores_the_columns() {
    with_dag!(|dag| {
        let (region, loop_) = (dag.block(0), dag.block(1));
        assert!(region.is_region() && !loop_.is_region());
        assert_eq!(*dag.block(3).enclosing(), vector[1]);
        assert_eq!(dag.block(2).region(), option::some(0));
        assert_eq!(*region.cursors(), vector[1]);
        assert_eq!(*loop_.starts(), vector[5, BLOCKS + 3]);
        assert!(plan::is_block(BLOCKS + 3) && !plan::is_block(5));
        assert_eq!(plan::block_number(plan::region_origin(3)), 3);
        assert_eq!(region.needs()[0].vertex(), 1);
        assert_eq!(region.needs()[0].port(), 0);
        assert!(region.has_need(1, 0) && !region.has_need(1, 1));
        assert_eq!(region.collect_edges()[0].edge().left_region(), option::some(0));
        assert_eq!(*region.gathered_from(4, 0), vector[3]);
        assert_eq!(plan::max_cursors(), 32);
    });
}

#[test]
fun save_draft_allows_a_second_transaction() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        dag.add_chunk(b"first");
        dag.save_draft(ctx);
        name.share();
    });
    let scenario = runner.next_tx(ALICE);
    let mut dag = scenario.take_from_sender<Dag>();
    dag.add_chunk(b"second");
    columns().write(&mut dag);
    dag.check_page(0);
    dag.check_page(1);
    dag.publish(scenario.ctx());
    runner.end();
}

#[test]
fun draft_version_requires_the_name() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        let second = draft_version(dags, tools, &name, FLOW_2, vector[ADD], ctx);
        assert_eq!(second.fqn(), FLOW_2.to_ascii_string());
        assert_eq!(*dag.tools(), *second.tools());
        dag.save_draft(ctx);
        second.save_draft(ctx);
        name.share();
    });
    runner.end();
}

// === Rejected calls ===

#[test, expected_failure(abort_code = dag::EInvalidFqn)]
fun draft_rejects_an_invalid_fqn() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = dag::draft(
            dags,
            tools,
            b"flow".to_ascii_string(),
            b"".to_string(),
            b"",
            vector[],
            ctx,
        );
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EInvalidFqn)]
fun draft_version_rejects_an_invalid_fqn() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        draft_version(dags, tools, &name, b"xyz.example.flow@0", vector[ADD], ctx).save_draft(ctx);
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EWrongName)]
fun draft_version_rejects_another_name() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        draft_version(dags, tools, &name, b"xyz.example.other@1", vector[ADD], ctx).save_draft(ctx);
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EFqnTaken)]
fun draft_version_rejects_a_taken_fqn() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        draft_version(dags, tools, &name, FLOW, vector[ADD], ctx).save_draft(ctx);
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EUnknownTool)]
fun draft_version_rejects_an_unknown_tool() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        let tool_names = vector[ADD, b"xyz.example.sub@1"];
        draft_version(dags, tools, &name, FLOW_2, tool_names, ctx).save_draft(ctx);
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = name::ENameTaken)]
fun draft_rejects_a_taken_name() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        let (other, second) = dag::draft(
            dags,
            tools,
            FLOW_2.to_ascii_string(),
            b"".to_string(),
            b"",
            vector[],
            ctx,
        );
        dag.save_draft(ctx);
        other.save_draft(ctx);
        name.share();
        second.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EDescriptionTooLong)]
fun draft_rejects_a_long_description() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = dag::draft(
            dags,
            tools,
            FLOW.to_ascii_string(),
            vector::tabulate!(4_097, |_| 32u8).to_string(),
            b"",
            vector[],
            ctx,
        );
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_ports_rejects_a_missing_page() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.add_ports(1, vector[], vector[], vector[]);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_collect_edges_rejects_a_missing_page() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.add_collect_edges(1, vector[], vector[], vector[]);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_vertices_rejects_an_empty_page() {
    with_draft!(|dag| {
        add_vertices(dag, 0);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_vertices_rejects_65_entries() {
    with_draft!(|dag| {
        add_vertices(dag, 65);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_vertices_rejects_a_page_after_a_partial_one() {
    with_draft!(|dag| {
        add_vertices(dag, 3);
        add_vertices(dag, 1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_blocks_rejects_an_empty_page() {
    with_draft!(|dag| {
        add_blocks(dag, 0);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_blocks_rejects_65_entries() {
    with_draft!(|dag| {
        add_blocks(dag, 65);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_blocks_rejects_a_page_after_a_partial_one() {
    with_draft!(|dag| {
        add_blocks(dag, 3);
        add_blocks(dag, 1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_blocks_rejects_a_draft_with_vertices() {
    with_draft!(|dag| {
        add_vertices(dag, 1);
        add_blocks(dag, 1);
    });
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_vertices_rejects_a_2049th_vertex() {
    with_draft!(|dag| {
        32u64.do!(|_| add_vertices(dag, 64));
        add_vertices(dag, 1);
    });
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_blocks_rejects_a_2049th_block() {
    with_draft!(|dag| {
        32u64.do!(|_| add_blocks(dag, 64));
        add_blocks(dag, 1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun check_rejects_a_later_page() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.check_page(1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun check_rejects_a_missing_page() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.check_page(0);
        dag.check_page(1);
        dag.check_page(2);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_group_invalidates_the_checks() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.check_page(0);
        dag.add_group(b"more".to_ascii_string(), vector[]);
        dag.check_page(1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_ports_invalidates_the_checks() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.check_page(0);
        dag.add_ports(0, vector[0], vector[b"new".to_ascii_string()], vector[0]);
        dag.check_page(1);
    });
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_collect_edges_invalidates_the_checks() {
    with_draft!(|dag| {
        columns().write(dag);
        dag.check_page(0);
        dag.add_collect_edges(0, vector[], vector[], vector[]);
        dag.check_page(1);
    });
}

#[test, expected_failure(abort_code = dag::EPagesNotChecked)]
fun publish_requires_all_checks() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        columns().write(&mut dag);
        dag.check_page(0);
        dag.publish(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EPagesNotChecked)]
fun publish_requires_a_vertex() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = draft(dags, tools, ctx);
        dag.add_chunk(b"nothing");
        dag.publish(ctx);
        name.share();
    });
    runner.end();
}
