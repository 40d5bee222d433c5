/// Tests of a region whose gathered list is the only input of the list's target.
#[test_only]
module nexus_workflows::region_short_funds_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::test_runner::port;
use nexus_tools::value;
use nexus_workflows::dag;
use nexus_workflows::dag_runner::dag_tx;
use nexus_workflows::schedule_runner::{Self, hourly};
use std::ascii::String;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const LEE: address = @0x1;
const NONE: u16 = 0xFFFF;

/// The cost of requesting the list. The attempt costs 9 490 000 MIST, which includes 1 060 gas units
/// for `advance`. The invocation has two leaders and 501 bytes at 7 600 MIST. The request has
/// 150 units of effort at 350 MIST.
const REQUESTED_MIST: u64 = 9_490_000 + 501 * 7_600 + 150 * 350;
/// The cost of the effects of the list. The region and its cursor have 324 bytes, and the records of
/// three waiting runs have 325 bytes each. The four edges have 308 units of effort, the region has
/// 215 units, and each waiting run has 30 units.
const EFFECTS_MIST: u64 = (324 + 3 * 325) * 7_600 + (308 + 215 + 3 * 30) * 350;
/// The storage of the run that receives the gathered list. Its record has 316 bytes, and the value
/// has 9 bytes.
const GATHER_MIST: u64 = (316 + 9) * 7_600;
/// The funds of the execution. The empty list and its variant have 9 bytes, so the payment for 91 of
/// 100 bytes is refunded.
const FUNDS_MIST: u64 = REQUESTED_MIST - 91 * 7_600 + EFFECTS_MIST + GATHER_MIST - 1;

#[test]
fun gather_waits_for_funds() {
    let mut stage = schedule_runner::start();
    let mut id = @0x0.to_id();
    dag_tx!(stage.runner(), ALICE, |dags, tools, ctx| {
        let (mut dag, name) = dag::draft(
            dags,
            tools,
            b"xyz.example.split_and_join@1".to_ascii_string(),
            b"".to_string(),
            vector::tabulate!(32, |_| 7),
            vector[b"xyz.example.add@1".to_ascii_string()],
            ctx,
        );
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        let none = vector[vector[]];
        dag.add_blocks(
            vector[true],
            none,
            vector[vector[1]],
            vector[vector[0]],
            vector[vector[1]],
            none,
        );
        dag.add_vertices(
            vector[0, 0, 0, 0, 0, 0],
            vector[vector[], vector[0], vector[], vector[], vector[], vector[]],
            vector[vector[0], vector[], vector[], vector[], vector[], vector[]],
            vector[1, 1, 1, 1, 1, 1],
            vector[0, 0, 0, 0, 0, 0],
            vector[32, 32, 32, 32, 32, 32],
            vector[true, true, true, true, true, true],
        );
        let list = vector[1, 2, 0, 0, 0, 0, NONE, NONE, 0];
        dag.add_collect_edges(0, vector[0], vector[list], vector[vector[1]]);
        // Three vertices never become ready, so their values must be stored in records.
        let names = ascii(vector[
            b"in", b"in", b"list", b"in", b"never", b"in", b"never", b"in", b"never",
        ]);
        let flags = vector[1, 0, 0, 0, 0, 0, 0, 0, 0];
        dag.add_ports(0, vector[0, 1, 2, 3, 3, 4, 4, 5, 5], names, flags);
        dag.add_edges(
            0,
            vector[0, 0, 0, 0, 1],
            ascii(vector[b"ok", b"ok", b"ok", b"ok", b"ok"]),
            ascii(vector[b"out", b"out", b"out", b"out", b"out"]),
            vector[
                vector[0, 1, 0, 1, 0, 0, 0, 0, NONE],
                vector[2, 3, 0, 0, 0, 0, NONE, NONE, NONE],
                vector[3, 4, 0, 0, 0, 0, NONE, NONE, NONE],
                vector[4, 5, 0, 0, 0, 0, NONE, NONE, NONE],
                list,
            ],
        );
        id = object::id(&dag);
        name.share();
        dag.check_page(0);
        dag.check_page(1);
        dag.publish(ctx);
    });
    stage.with_dag(id);
    let schedule = stage.create_with(hourly(), FUNDS_MIST, 0, port(b"in", b"1"));
    stage.wait_until(2_000_000);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    stage.runner().next_tx(LEE);
    let split = test_scenario::most_recent_id_shared<Invocation>().destroy_some();
    let lee = stage.lee();
    stage.runner().invocation_tx!(LEE, split, lee, |invocation, leader, clock, ctx| {
        let ports = value::empty_ports()
            .with(b"out", value::inline_list(vector[]));
        assert!(invocation.settle(leader, b"ok".to_ascii_string(), ports, clock, ctx));
    });
    let mut closed = stage.runner().next_tx(LEE).take_shared_by_id<Invocation>(split);
    stage.execution_tx!(LEE, execution, |execution, dag, _, _, clock, ctx| {
        assert!(execution.advance(dag, &mut closed, clock, ctx));
        assert_eq!(execution.funds_mist(), GATHER_MIST - 1);
        assert!(!execution.gather(dag, 0, vector[], clock, ctx));
    });
    test_scenario::return_shared(closed);
    stage.end();
}

fun ascii(texts: vector<vector<u8>>): vector<String> { texts.map!(|text| text.to_ascii_string()) }
