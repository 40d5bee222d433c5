/// Tests of a workflow that splits a list and gathers another list. The tests cover the inputs of
/// runs, and the deletion of records.
///
///
///     0 split ──for_each──▶ [region 0: 1 each ] ──collect──▶ 2 join      0 ──▶ 2 (`first`, `_after`)
#[test_only]
module nexus_workflows::region_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::test_runner::port;
use nexus_tools::value::{Self, Ports, Value};
use nexus_workflows::cleaning;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_runner::dag_tx;
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::inputs;
use nexus_workflows::schedule_runner::{Self, Stage, hourly};
use std::ascii::String;
use std::unit_test::assert_eq;
use sui::event;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const SPLIT_AND_JOIN: vector<u8> = b"xyz.example.split_and_join@1";
const OTHER: vector<u8> = b"xyz.example.other@1";
const NONE: u16 = 0xFFFF;
const PRICE_MIST: u64 = 5_000_000;

const SPLIT: u16 = 0;
const EACH: u16 = 1;
const JOIN: u16 = 2;

// === Values ===

#[test]
fun inputs_follow_the_edges() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    assert_eq!(stage.inputs(id, split, vector[]), port(b"in", b"1"));
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    3u64.do!(|i| {
        let expected = vector[b"10", b"20", b"30"][i];
        assert_eq!(stage.inputs(id, each[i], vector[split]), port(b"in", expected));
    });
    stage.settle(id, each[2], b"ok", port(b"out", b"300"));
    stage.fail(id, each[1]);
    assert!(!stage.gather(id));
    stage.settle(id, each[0], b"ok", port(b"out", b"100"));
    assert!(stage.gather(id));
    assert!(!stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let expected = value::empty_ports()
        .with(b"by", value::inline(b"7"))
        .with(b"first", json::from_u64(4))
        .with(b"list", value::list_of(vector[value::inline(b"100"), value::inline(b"300")]));
    let sources = vector[each[0], each[1], split, each[2]];
    assert_eq!(stage.inputs(id, join, sources), expected);
    stage.settle(id, join, b"ok", port(b"out", b"1"));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun list_omits_an_iteration_with_another_variant() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    stage.settle(id, each[0], b"none", port(b"out", b"100"));
    stage.settle(id, each[1], b"ok", port(b"out", b"200"));
    stage.settle(id, each[2], b"none", port(b"out", b"300"));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let sources = vector[split, each[0], each[1], each[2]];
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    assert_eq!(list, value::list_of(vector[value::inline(b"200")]));
    stage.end();
}

#[test]
fun empty_list_is_gathered_without_runs() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    let none = value::inline_list(vector[]);
    let ports = value::empty_ports().with(b"first", json::from_u64(4)).with(b"out", none);
    stage.settle(id, split, b"ok", ports);
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let list = stage.inputs(id, join, vector[split]).port(&b"list".to_ascii_string());
    assert_eq!(list, value::list_of(vector[]));
    stage.end();
}

#[test, expected_failure(abort_code = inputs::EInputsNotLoaded)]
fun into_ports_requires_every_source() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    each.do!(|each| stage.settle(id, each, b"ok", port(b"out", b"100")));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    stage.inputs(id, join, vector[split, each[0], each[2]]);
    abort
}

#[test]
fun list_contains_a_failure_with_an_error_edge() {
    let (mut stage, id) = start_with_failures();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    stage.settle(id, each[0], b"ok", port(b"out", b"100"));
    stage.fail(id, each[1]);
    stage.settle(id, each[2], b"none", port(b"out", b"300"));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let sources = vector[each[0], each[1], split];
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    let expected = vector[value::inline(b"100"), json::from_string(b"unreachable".to_string())];
    assert_eq!(list, value::list_of(expected));
    stage.end();
}

#[test]
fun iteration_delivers_one_value_to_a_port() {
    let (mut stage, id) = start_with_failures();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    each.do!(|each| stage.fail(id, each));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let mut sources = each;
    sources.push_back(split);
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    assert_eq!(list.length(), 3);
    stage.end();
}

/// The second iteration is refused because the price of the tool is too high. Then the price is
/// lowered again.
#[test]
fun list_contains_a_refused_iteration_with_an_error_edge() {
    let (mut stage, id) = start_with_failures();
    let (join, sources) = with_a_refused_one(&mut stage, id);
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    let expected = vector[
        value::inline(b"100"),
        json::from_string(b"price_too_high".to_string()),
        value::inline(b"300"),
    ];
    assert_eq!(list, value::list_of(expected));
    stage.end();
}

#[test]
fun list_omits_a_refused_iteration_without_an_error_edge() {
    let (mut stage, id) = started();
    let (join, sources) = with_a_refused_one(&mut stage, id);
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    assert_eq!(list, value::list_of(vector[value::inline(b"100"), value::inline(b"300")]));
    stage.end();
}

#[test]
fun answer_without_a_required_port_is_a_failure() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", port(b"out", b"[1]"));
    stage.assert_ended(id);
    stage.end();
}

#[test]
fun list_contains_an_answer_without_a_port_as_a_failure() {
    let (mut stage, id) = start_with_failures();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    stage.settle(id, each[0], b"ok", port(b"out", b"100"));
    stage.settle(id, each[1], b"ok", value::empty_ports());
    stage.settle(id, each[2], b"ok", port(b"out", b"300"));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let sources = vector[split, each[0], each[1], each[2]];
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    let expected = vector[
        value::inline(b"100"),
        json::from_string(b"port_missing".to_string()),
        value::inline(b"300"),
    ];
    assert_eq!(list, value::list_of(expected));
    stage.end();
}

#[test]
fun error_edge_carries_the_reason_of_an_answer_without_a_port() {
    let mut stage = schedule_runner::start();
    let mut dag_id = @0x0.to_id();
    dag_tx!(stage.runner(), ALICE, |dags, tools, ctx| {
        let (mut dag, name) = dag::draft(
            dags,
            tools,
            OTHER.to_ascii_string(),
            b"Handles.".to_string(),
            vector::tabulate!(32, |_| 7),
            vector[ADD.to_ascii_string()],
            ctx,
        );
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        dag.add_vertices(
            vector[0, 0, 0],
            vector[vector[], vector[], vector[]],
            vector[vector[0], vector[], vector[]],
            vector[1, 1, 1],
            vector[0, 0, 0],
            vector[1, 1, 1],
            vector[true, true, true],
        );
        dag.add_ports(0, vector[0, 1, 2], ascii(vector[b"in", b"in", b"why"]), vector[1, 0, 0]);
        dag.add_edges(
            0,
            vector[0, 0],
            ascii(vector[b"ok", b"_err_eval"]),
            ascii(vector[b"out", b"reason"]),
            vector[
                vector[0, 1, 0, 0, 0, 0, NONE, NONE, NONE],
                vector[1, 2, 0, 0, 0, 0, NONE, NONE, NONE],
            ],
        );
        dag_id = object::id(&dag);
        name.share();
        dag.check_page(0);
        dag.publish(ctx);
    });
    stage.with_dag(dag_id);
    let schedule = stage.create_with(hourly(), 200_000_000, 0, port(b"in", b"1"));
    stage.wait_until(2_000_000);
    let id = stage.start_execution(schedule);
    let first = stage.request(id, 0, vector[]);
    stage.settle(id, first, b"ok", value::empty_ports());
    let handler = stage.request(id, 2, vector[]);
    let inputs = stage.inputs(id, handler, vector[first]);
    assert_eq!(inputs, port(b"why", b"\"port_missing\""));
    stage.end();
}

/// The element counts as 300 bytes. Each of the 2 bytes of the element counts as 50 bytes, because
/// Move joins the bytes one by one. Each byte at the source and in the list counts as 1 byte.
#[test]
fun element_of_a_gathered_list_counts_404_bytes() {
    let one = vector[value::inline(b"1")];
    let two = vector[value::inline(b"1"), value::inline(b"1")];
    let (mut stage, first) = started();
    let schedule = stage.create_with(hourly(), 200_000_000, 0, port(b"in", b"1"));
    let second = stage.start_execution(schedule);
    let one_bytes = stage.bytes_with_a_gathered_list(first, one);
    let two_bytes = stage.bytes_with_a_gathered_list(second, two);
    assert_eq!(two_bytes - one_bytes, 404);
    stage.end();
}

/// Return the number of bytes that the inputs of `JOIN` count as, if an iteration returns this
/// list.
fun bytes_with_a_gathered_list(stage: &mut Stage, id: ID, elements: vector<Value>): u64 {
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    let list = value::empty_ports().with(b"out", value::list_of(elements));
    stage.settle(id, each[0], b"ok", list);
    stage.fail(id, each[1]);
    stage.fail(id, each[2]);
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let (_, bytes) = stage.read(id, join, vector[split, each[0], each[1], each[2]]);
    bytes
}

#[test]
fun list_omits_an_answer_without_the_port() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    stage.settle(id, each[0], b"ok", port(b"out", b"100"));
    stage.settle(id, each[1], b"ok", value::empty_ports());
    stage.settle(id, each[2], b"ok", port(b"out", b"300"));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    let sources = vector[split, each[0], each[1], each[2]];
    let list = stage.inputs(id, join, sources).port(&b"list".to_ascii_string());
    assert_eq!(list, value::list_of(vector[value::inline(b"100"), value::inline(b"300")]));
    stage.end();
}

/// After the split, 41 524 100 MIST remain. The request of an iteration requires 24 134 500 MIST and
/// costs 15 812 500 MIST.
#[test]
fun request_iterations_halves_the_count_until_funds_suffice() {
    let (mut stage, _, id) = scheduled(false, 59_500_000);
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let expected = vector[1, 1, 0];
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        expected.do_ref!(|expected| {
            let n = execution.request_iterations(dag, tool, leader, EACH, vector[], 32, clock, ctx);
            assert_eq!(n, *expected);
        });
    });
    stage.end();
}

// === Leaders ===

#[test, expected_failure(abort_code = execution::ENotWorker)]
fun request_iterations_rejects_another_sender() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    stage.execution_tx!(EVE, id, |execution, dag, tool, leader, clock, ctx| {
        execution.request_iterations(dag, tool, leader, EACH, vector[], 1, clock, ctx);
    });
    abort
}

#[test]
fun request_iterations_has_no_effect_after_the_deadline() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    stage.runner().advance(600_000);
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, EACH, vector[], 1, clock, ctx);
        assert_eq!(n, 0);
        assert!(execution.is_ended());
    });
    stage.end();
}

#[test, expected_failure(abort_code = execution::EWrongDag)]
fun gather_rejects_another_workflow() {
    let (mut stage, id) = started();
    let other = schedule_runner::publish(stage.runner(), OTHER, 1);
    stage.with_dag(other);
    stage.gather(id);
    abort
}

#[test]
fun every_step_emits_one_event() {
    let (mut stage, id) = started();
    let split = stage.request(id, SPLIT, vector[]);
    let lee = stage.lee();
    stage.runner().invocation_tx!(LEE, split, lee, |invocation, leader, clock, ctx| {
        let ports = value::empty_ports()
            .with(b"first", json::from_u64(4))
            .with(b"out", value::inline_list(vector[]));
        assert!(invocation.settle(leader, b"ok".to_ascii_string(), ports, clock, ctx));
    });
    let mut closed = stage.runner().next_tx(LEE).take_shared_by_id<Invocation>(split);
    stage.execution_tx!(LEE, id, |execution, dag, _, _, clock, ctx| {
        assert!(execution.advance(dag, &mut closed, clock, ctx));
        assert!(!execution.advance(dag, &mut closed, clock, ctx));
        assert_eq!(event::events_by_type<execution::ExecutionAdvanced>().length(), 1);
        assert!(execution.gather(dag, 0, vector[], clock, ctx));
        assert!(!execution.gather(dag, 0, vector[], clock, ctx));
        assert_eq!(event::events_by_type<execution::RegionGathered>().length(), 1);
    });
    test_scenario::return_shared(closed);
    stage.end();
}

// === Ends ===

#[test]
fun all_records_can_be_removed() {
    let (mut stage, schedule, id) = scheduled(false, 200_000_000);
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    let each = stage.request_three(id);
    each.do!(|each| stage.settle(id, each, b"none", port(b"out", b"100")));
    assert!(stage.gather(id));
    let join = stage.request(id, JOIN, vector[]);
    stage.settle(id, join, b"ok", port(b"out", b"1"));
    stage.assert_ended(id);
    let mut invocations = each;
    invocations.append(vector[split, join]);
    invocations.do!(|invocation| {
        let invocation = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
        stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
            cleaning::clean_invocation(execution, invocation, clock, ctx);
        });
    });
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        let paths = vector[vector[], vector[0], vector[1], vector[2], vector[]];
        cleaning::clean_runs(execution, vector[SPLIT, EACH, EACH, EACH, JOIN], paths, clock, ctx);
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[SPLIT], clock, ctx);
        cleaning::clean_marks(execution, 0, vector[], JOIN, 3, vector[0, 1, 2], clock, ctx);
    });
    stage.collect(schedule, id);
    stage.delete_execution(BOB, id);
    stage.end();
}

// === Helpers ===

use fun assert_ended as Stage.assert_ended;
use fun fail as Stage.fail;
use fun gather as Stage.gather;
use fun bytes_with_a_gathered_list as Stage.bytes_with_a_gathered_list;
use fun inputs as Stage.inputs;
use fun last as Stage.last;
use fun read as Stage.read;
use fun request as Stage.request;
use fun request_three as Stage.request_three;
use fun settle as Stage.settle;

/// Return an execution of Bob that lists Lee's leader.
fun started(): (Stage, ID) {
    let (stage, _, id) = scheduled(false, 200_000_000);
    (stage, id)
}

/// Return an execution like `started`, for a workflow that also gathers the reasons of failures.
fun start_with_failures(): (Stage, ID) {
    let (stage, _, id) = scheduled(true, 200_000_000);
    (stage, id)
}

/// Return an execution with its schedule, which started the execution with these funds.
fun scheduled(gathers_failures: bool, funds_per_execution_mist: u64): (Stage, ID, ID) {
    let mut stage = schedule_runner::start();
    let dag = publish(&mut stage, gathers_failures);
    stage.with_dag(dag);
    let schedule = stage.create_with(hourly(), funds_per_execution_mist, 0, port(b"in", b"1"));
    stage.wait_until(2_000_000);
    let execution = stage.start_execution(schedule);
    (stage, schedule, execution)
}

fun split_ports(): Ports {
    let numbers = vector[10, 20, 30].map!(|number| json::from_u64(number));
    value::empty_ports().with(b"first", json::from_u64(4)).with(b"out", value::list_of(numbers))
}

fun publish(stage: &mut Stage, gathers_failures: bool): ID {
    let mut id = @0x0.to_id();
    dag_tx!(stage.runner(), ALICE, |dags, tools, ctx| {
        let (mut dag, name) = dag::draft(
            dags,
            tools,
            SPLIT_AND_JOIN.to_ascii_string(),
            b"Splits and joins.".to_string(),
            vector::tabulate!(32, |_| 7),
            vector[ADD.to_ascii_string()],
            ctx,
        );
        write(&mut dag, gathers_failures);
        id = object::id(&dag);
        name.share();
        dag.check_page(0);
        dag.check_page(1);
        dag.publish(ctx);
    });
    id
}

fun write(dag: &mut Dag, gathers_failures: bool) {
    dag.add_group(b"all".to_ascii_string(), vector[SPLIT]);
    dag.add_defaults(JOIN, port(b"by", b"7"));
    let (none, each) = (vector[vector[]], vector[vector[EACH]]);
    dag.add_blocks(vector[true], none, each, vector[vector[0]], each, none);
    dag.add_vertices(
        vector[0, 0, 0],
        vector[vector[], vector[0], vector[]],
        vector[vector[0], vector[], vector[]],
        vector[1, 1, 1],
        vector[0, 0, 0],
        vector[32, 8, 32],
        vector[true, false, true],
    );
    // The edge for failures follows the edge for answers, and leads to the same target.
    let (gathering, sources) = if (gathers_failures) (2, vector[EACH, EACH]) else (1, vector[EACH]);
    dag.add_collect_edges(0, vector[0], vector[to_list(gathering)], vector[sources]);
    dag.add_ports(
        0,
        vector[0, 1, 2, 2, 2, 2],
        ascii(vector[b"in", b"in", b"_after", b"by", b"first", b"list"]),
        vector[1, 0, 0, 2, 0, 0],
    );
    dag.add_edges(
        0,
        vector[0, 0, 0, 1],
        ascii(vector[b"ok", b"ok", b"ok", b"ok"]),
        ascii(vector[b"out", b"first", b"out", b"out"]),
        vector[
            vector[0, EACH, 0, 1, 0, 0, 0, 0, NONE],
            vector[gathering + 1, JOIN, 2, 0, 0, 0, NONE, NONE, NONE],
            vector[gathering + 2, JOIN, 0, 0, 0, 0, NONE, NONE, NONE],
            to_list(1),
        ],
    );
    if (gathers_failures) {
        let (variants, ports) = (ascii(vector[b"_err_eval"]), ascii(vector[b"reason"]));
        dag.add_edges(0, vector[1], variants, ports, vector[to_list(2)]);
    };
}

/// Return the row of an edge that leads from the region to the gathered list.
fun to_list(number: u16): vector<u16> { vector[number, JOIN, 3, 0, 0, 0, NONE, NONE, 0] }

fun ascii(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| text.to_ascii_string()) }

/// Let Lee request a run, and return the invocation.
fun request(stage: &mut Stage, id: ID, vertex: u16, path: vector<u32>): ID {
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, vertex, path, clock, ctx));
    });
    stage.last()
}

/// Let Lee request an iteration.
fun request_one(stage: &mut Stage, id: ID) {
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        let n = execution.request_iterations(dag, tool, leader, EACH, vector[], 1, clock, ctx);
        assert_eq!(n, 1);
    });
}

/// Run three iterations, of which the second iteration is refused. Return the invocation that
/// receives the list, and all other invocations.
fun with_a_refused_one(stage: &mut Stage, id: ID): (ID, vector<ID>) {
    let split = stage.request(id, SPLIT, vector[]);
    stage.settle(id, split, b"ok", split_ports());
    request_one(stage, id);
    let first = stage.last();
    reprice(stage, PRICE_MIST + 1);
    request_one(stage, id);
    assert!(event::events_by_type<execution::RunRefused>().length() == 1);
    reprice(stage, PRICE_MIST);
    request_one(stage, id);
    let third = stage.last();
    stage.settle(id, first, b"ok", port(b"out", b"100"));
    stage.settle(id, third, b"ok", port(b"out", b"300"));
    assert!(stage.gather(id));
    (stage.request(id, JOIN, vector[]), vector[split, first, third])
}

fun reprice(stage: &mut Stage, price_mist: u64) {
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, price_mist, ctx);
    });
}

/// Let Lee request the three iterations, and return their invocations in order.
fun request_three(stage: &mut Stage, id: ID): vector<ID> {
    vector::tabulate!(3, |_| {
        stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
            let n = execution.request_iterations(dag, tool, leader, EACH, vector[], 1, clock, ctx);
            assert_eq!(n, 1);
        });
        stage.last()
    })
}

fun last(stage: &mut Stage): ID {
    stage.runner().next_tx(LEE);
    test_scenario::most_recent_id_shared<Invocation>().destroy_some()
}

/// Return the inputs of an attempt, after loading the values of these source invocations.
fun inputs(stage: &mut Stage, id: ID, invocation: ID, sources: vector<ID>): Ports {
    let (ports, _) = stage.read(id, invocation, sources);
    ports
}

/// Return the inputs of an invocation, and the number of bytes that the inputs count as.
fun read(stage: &mut Stage, id: ID, invocation: ID, sources: vector<ID>): (Ports, u64) {
    let dag = stage.dag();
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(id);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let mine = scenario.take_shared_by_id<Invocation>(invocation);
    let mut inputs = inputs::new(&execution, &dag, &mine);
    assert!(inputs.invocation() == invocation);
    test_scenario::return_shared(mine);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(execution);
    // The elements of a list are loaded from the last element to the first.
    let mut sources = sources;
    sources.reverse();
    sources.do!(|source| {
        let source = scenario.take_shared_by_id<Invocation>(source);
        inputs.load(&source);
        test_scenario::return_shared(source);
    });
    inputs.into_ports()
}

fun settle(stage: &mut Stage, id: ID, invocation: ID, variant: vector<u8>, ports: Ports) {
    let lee = stage.lee();
    stage.runner().invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        assert!(invocation.settle(leader, variant.to_ascii_string(), ports, clock, ctx));
    });
    advance(stage, id, invocation);
}

fun fail(stage: &mut Stage, id: ID, invocation: ID) {
    let lee = stage.lee();
    stage.runner().invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"unreachable".to_ascii_string(), b"DNS".to_string());
        assert!(invocation.fail(leader, reason, detail, clock, ctx));
    });
    advance(stage, id, invocation);
}

fun advance(stage: &mut Stage, id: ID, invocation: ID) {
    let mut closed = stage.runner().next_tx(LEE).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(LEE, id, |execution, dag, _, _, clock, ctx| {
        assert!(execution.advance(dag, &mut closed, clock, ctx));
    });
    test_scenario::return_shared(closed);
}

fun gather(stage: &mut Stage, id: ID): bool {
    let mut gathered = false;
    stage.execution_tx!(LEE, id, |execution, dag, _, _, clock, ctx| {
        gathered = execution.gather(dag, 0, vector[], clock, ctx);
    });
    gathered
}

fun assert_ended(stage: &mut Stage, id: ID) {
    stage.execution_tx!(ALICE, id, |execution, _, _, _, _, _| assert!(execution.is_ended()));
}
