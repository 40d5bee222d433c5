/// Tests of the size limits of a workflow and its pages, and of the payment for reading them.
#[test_only]
module nexus_workflows::dag_reading_tests;

use nexus_tools::test_runner::{assert_paid_at_most, port, text};
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_runner::{
    add_blocks,
    add_vertices,
    dag_tx,
    draft,
    draft_version,
    start,
    with_draft,
};
use nexus_workflows::execution::Execution;
use nexus_workflows::execution_runner::{
    start_execution,
    closed_tx,
    last_invocation,
    refill,
    request,
    settle,
    terms,
};
use nexus_workflows::inputs;
use nexus_workflows::schedule_runner::{Self, Stage, hourly};
use nexus_workflows::terms as consent;
use std::bcs;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const FLOW: vector<u8> = b"xyz.example.large@1";
const MAX_PAGE_BYTES: u64 = 65_536;
/// The gas units for reading the largest page and a workflow of about 300 bytes, minus the 30 units
/// that fees cover. The page costs 196 608 thousandths of a gas unit.
const UNITS: u64 = 169;
/// The payment for `advance`, which is 1 060 gas units and 150 000 MIST.
const STEP_MIST: u64 = 1_060_000 + 150_000;
/// The payment for an attempt, which is the price, the fee for settling, the payment for `advance`,
/// and the storage of 100 bytes of an outcome.
const ATTEMPT_MIST: u64 = 5_000_000 + 2_520_000 + STEP_MIST + 100 * 7_600;
/// The effort of a request, which is 150 units.
const REQUEST_EFFORT_MIST: u64 = 150 * 350;

// === Sizes ===

#[test]
fun check_accepts_a_page_of_64_kib() {
    with_draft!(|dag| {
        write_page(dag, MAX_PAGE_BYTES);
        dag.check_page(0);
    });
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun check_rejects_vertices_with_one_byte_more() {
    with_draft!(|dag| {
        write_page(dag, MAX_PAGE_BYTES + 1);
        dag.check_page(0);
    });
}

/// Each of 64 blocks delivers 32 lists, and each list has 12 source vertices. So the page is too
/// large.
#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun check_rejects_a_page_of_blocks_above_64_kib() {
    with_draft!(|dag| {
        add_blocks(dag, 64);
        let sources = vector::tabulate!(12, |_| 0);
        let list = vector[0, 0, 0, 0, 0, 0, 0xFFFF, 0xFFFF, 0];
        64u8.do!(|block| {
            let rows = vector::tabulate!(32, |_| list);
            dag.add_collect_edges(0, rows.map_ref!(|_| block), rows, rows.map_ref!(|_| sources));
        });
        add_vertices(dag, 1);
        dag.check_page(0);
        dag.check_page(1);
    });
}

/// A workflow may list the same tool any number of times.
#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun publish_rejects_more_than_64_kib_without_pages() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        dag.save_draft(ctx);
        let named = vector::tabulate!(2_048, |_| ADD);
        let mut dag = draft_version(dags, tools, &name, b"xyz.example.flow@2", named, ctx);
        add_vertices(&mut dag, 1);
        dag.check_page(0);
        dag.publish(ctx);
        name.share();
    });
    abort
}

#[test]
fun read_units_count_each_page_beyond_the_fees() {
    let mut stage = large();
    let id = stage.dag();
    let dag = stage.runner().next_tx(ALICE).take_immutable_by_id<Dag>(id);
    let head = 15 * bcs::to_bytes(&dag).length();
    // Each of the 64 blocks has 7 bytes, and the page has 1 additional byte.
    assert_eq!(dag.read_units(0), 0);
    assert_eq!(dag.read_units(dag::block_page_bit(63)), 0);
    assert_eq!(dag.read_units(dag::vertex_page_bit(63)), (head + 3 * MAX_PAGE_BYTES) / 1_000 - 30);
    assert_eq!(
        dag.read_units(dag::all_page_bits()),
        (head + 3 * (MAX_PAGE_BYTES + 449)) / 1_000 - 30,
    );
    assert_eq!(dag::vertex_page_bit(63), 1);
    assert_eq!(dag::vertex_page_bit(64), 2);
    assert_eq!(dag::block_page_bit(0), 0x1_0000_0000);
    assert_eq!(dag::block_page_bit(2_047), 0x8000_0000_0000_0000);
    test_scenario::return_immutable(dag);
    stage.end();
}

// === Payments ===

/// A call of `advance` does not store bytes.
#[test]
fun request_and_advance_pay_for_reading_the_page() {
    let mut stage = large();
    let id = stage.start_with(terms());
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert_eq!(consent::read_mist(dag, dag::vertex_page_bit(0), ctx), UNITS * 1_000);
        assert_eq!(consent::request_read_mist(dag, tool, 0, ctx), UNITS * 1_000);
        let before_mist = execution.funds_mist();
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
        // The invocation has 469 bytes.
        let paid_mist = 469 * 7_600 + REQUEST_EFFORT_MIST + UNITS * 1_000;
        assert_paid_at_most(LEE, paid_mist);
        // The request also prepays the attempt.
        assert_eq!(before_mist - execution.funds_mist(), ATTEMPT_MIST + paid_mist);
    });
    stage.settle(b"ok", port(b"out", b"1"));
    stage.closed_tx!(LEE, id, |execution, dag, invocation, clock, ctx| {
        assert!(execution.advance(dag, invocation, clock, ctx));
        assert_paid_at_most(LEE, STEP_MIST + UNITS * 1_000);
    });
    stage.end();
}

/// The funds also cover 316 bytes of a record, and 1 600 bytes of an invocation.
#[test]
fun request_requires_funds_for_reading() {
    let mut stage = large();
    let request_mist = ATTEMPT_MIST + 1_916 * 7_600 + REQUEST_EFFORT_MIST;
    let id = stage.start_with(terms().with_funds(request_mist + UNITS * 1_000 - 1));
    assert!(!stage.request(LEE, id));
    stage.refill(id, 1);
    assert!(stage.request(LEE, id));
    stage.end();
}

/// Each gas unit counts as 25 read bytes. The port counts as 300 bytes, and its 6 bytes count
/// twice.
#[test]
fun inputs_count_the_read_pages() {
    let mut stage = large();
    let id = stage.start_with(terms());
    assert!(stage.request(LEE, id));
    let (dag, invocation) = (stage.dag(), stage.last_invocation());
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(id);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let (_, read_bytes) = inputs::new(&execution, &dag, &invocation).into_ports();
    assert_eq!(read_bytes, 300 + 6 + 6 + 25 * UNITS);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(execution);
    stage.end();
}

/// The keeper reads the same page. For a small page, the keeper is paid 1 180 gas units,
/// 300 000 MIST of storage, and a fee of 300 000 MIST.
#[test]
fun keeper_is_paid_for_reading_the_page() {
    let mut stage = large();
    let schedule = stage.create(hourly());
    stage.wait_until(2_000_000);
    stage.start_execution(schedule);
    let paid_mist = 1_000_000_000 - 50_000_000 - stage.funds_mist(schedule);
    assert_eq!(paid_mist, 1_820_000 + 11_103_600 + UNITS * 1_000);
    stage.end();
}

// === Helpers ===

use fun start_execution as Stage.start_with;
use fun closed_tx as Stage.closed_tx;
use fun last_invocation as Stage.last_invocation;
use fun refill as Stage.refill;
use fun request as Stage.request;
use fun settle as Stage.settle;

/// Return a stage with a workflow that has one run, and whose page has the maximum size.
fun large(): Stage {
    let mut stage = schedule_runner::start();
    let mut id = @0x0.to_id();
    dag_tx!(stage.runner(), ALICE, |dags, tools, ctx| {
        let (mut dag, name) = dag::draft(
            dags,
            tools,
            FLOW.to_ascii_string(),
            b"".to_string(),
            vector::tabulate!(32, |_| 7),
            vector[ADD.to_ascii_string()],
            ctx,
        );
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        add_blocks(&mut dag, 64);
        write_page(&mut dag, MAX_PAGE_BYTES);
        dag.check_page(0);
        dag.check_page(1);
        id = object::id(&dag);
        dag.publish(ctx);
        name.share();
    });
    stage.with_dag(id);
    stage
}

/// Add 64 vertices, whose page has `bytes` bytes. If the workflow has an entry group, the group
/// starts with the first vertex.
///
/// A vertex has 19 bytes, and a port has 5 bytes in addition to its name. The page and the group
/// add 1 byte each.
fun write_page(dag: &mut Dag, bytes: u64) {
    let has_group = dag.groups() > 0;
    dag.add_vertices(
        vector::tabulate!(64, |_| 0),
        vector::tabulate!(64, |_| vector[]),
        vector::tabulate!(64, |i| if (has_group && i == 0) vector[0] else vector[]),
        vector::tabulate!(64, |_| 1),
        vector::tabulate!(64, |_| 0),
        vector::tabulate!(64, |_| 1),
        vector::tabulate!(64, |_| true),
    );
    dag.add_ports(0, vector[0], vector[b"a".to_ascii_string()], vector[1]);
    let mut left = bytes - 1 - 64 * 19 - 6 - if (has_group) 1 else 0;
    let ports = 63u64 * 32;
    ports.do!(|i| {
        let length = left / (ports - i) - 5;
        let mut name = text(length - 2, 0x78);
        name.push_back(0x61 + ((i % 32 / 16) as u8));
        name.push_back(0x61 + ((i % 16) as u8));
        left = left - 5 - length;
        dag.add_ports(0, vector[(1 + i / 32) as u8], vector[name.to_ascii_string()], vector[0]);
    });
}
