/// Tests of the ports of assembled inputs. The tests cover order-only ports, answers that a tool
/// signed together with its inputs, and calls of on-chain tools.
#[test_only]
module nexus_workflows::inputs_values_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::leader::Leader;
use nexus_tools::on_chain_runner;
use nexus_tools::signed_outcome;
use nexus_tools::test_runner::{ok, port, sum};
use nexus_tools::tool::Tool;
use nexus_tools::value::{Self, Ports};
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_runner::dag_tx;
use nexus_workflows::execution::Execution;
use nexus_workflows::inputs::{Self, Inputs};
use nexus_workflows::schedule_runner::{Self, Stage, hourly};
use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::test_scenario::{Self, Scenario};

const ALICE: address = @0xA;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const COUNT: vector<u8> = b"xyz.example.count@1";
const OTHER: vector<u8> = b"xyz.example.other@1";

const EACH_MIST: u64 = 50_000_000;
const GAS_MIST: u64 = 2_000_000;

// These values were computed with Python's hashlib and `cryptography`, as in
// `signed_outcome_tests`. The inputs are 01 0161 00 0131. The answer is `ok` with the ports `sum`.

/// The public key of the secret key 0x000102…1f.
const PUBLIC_KEY: vector<u8> = x"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
/// The ID of the first object that a transaction with the digest 0xff00…00 creates.
const SIGNED_ID: address = @0xf0f001538eeb5013bed23c30532512cd8c40500e7e388d0b1e438003e54917ee;
/// The signature of the answer to these inputs, for the invocation `SIGNED_ID`.
const SIGNATURE: vector<u8> =
    x"dda054162d0cdc766c219cc0936739c519c435e19198d7703cda51ac977f94cfedf06e41a5088cf2d87a52b819637b3404b0cd136da67d365cb819c03abd9c00";
/// The signature of the same answer to empty inputs. The invocation of an attempt stores empty
/// inputs.
const SIGNATURE_TO_NOTHING: vector<u8> =
    x"ec0a5400926462a08ea963fe90ea19ec9f17dcebe37645d68beffe17890b3748f027f326a0aa6d002e86617f08d17a67428a100645078538f7c9db4eab1bc30a";

// === Order-only ports ===

#[test]
fun order_only_ports_are_not_inputs() {
    let names = vector[b"_after", b"_after_all", b"_afterwards", b"b_after_c", b"after"];
    let values = names.fold!(value::empty_ports(), |ports, name| ports.with(name, value::inline(name)));
    let mut stage = schedule_runner::start();
    let dag = publish(&mut stage, ADD, names);
    stage.with_dag(dag);
    let (execution, invocation) = requested(&mut stage, ADD, values);
    inputs_tx!(&mut stage, ADD, execution, invocation, |inputs, _, _, _, _, _, _| {
        let expected = value::empty_ports()
            .with(b"_afterwards", value::inline(b"_afterwards"))
            .with(b"b_after_c", value::inline(b"b_after_c"))
            .with(b"after", value::inline(b"after"));
        let (ports, _) = inputs.into_ports();
        assert_eq!(ports, expected);
    });
    stage.end();
}

// === Answers that a tool signed ===

#[test]
fun settle_accepts_a_signature_over_the_inputs_once() {
    let (mut stage, execution) = requested_signed();
    settle_signed(&mut stage, execution, SIGNATURE, true);
    settle_signed(&mut stage, execution, SIGNATURE, false);
    let scenario = stage.runner().next_tx(LEE);
    let invocation = scenario.take_shared_by_id<Invocation>(SIGNED_ID.to_id());
    assert!(invocation.state().is_settled());
    // The remaining payment covers a step of 1 060 gas units and 150 000 MIST, 87 unused bytes of
    // the answer, and the unused reading.
    // The unused reading is 196 608 bytes minus the 312 bytes of the inputs, at 40 gas units per
    // 1 000 bytes.
    assert_eq!(invocation.payment_mist(), 1_210_000 + 87 * 7_600 + 7_864_320 - 12_480);
    assert_eq!(invocation.state().variant(), ok());
    assert_eq!(*invocation.state().ports(), sum());
    test_scenario::return_shared(invocation);
    stage.end();
}

#[test, expected_failure(abort_code = signed_outcome::EInvalidSignature)]
fun settle_rejects_a_signature_without_the_inputs() {
    let (mut stage, execution) = requested_signed();
    settle_signed(&mut stage, execution, SIGNATURE_TO_NOTHING, true);
    abort
}

// === On-chain tools ===

#[test]
fun open_passes_the_inputs_to_an_on_chain_tool() {
    let mut stage = schedule_runner::start();
    on_chain_runner::register(stage.runner(), COUNT, GAS_MIST, false, 60_000, 1_000);
    let dag = publish(&mut stage, COUNT, vector[b"a"]);
    stage.with_dag(dag);
    let (execution, invocation) = requested(&mut stage, COUNT, port(b"a", b"41"));
    inputs_tx!(
        &mut stage,
        COUNT,
        execution,
        invocation,
        |inputs, execution, tool, invocation, leader, clock, ctx| {
            let mut call = inputs.open(execution, invocation, tool);
            assert_eq!(call.invocation(), object::id(invocation));
            assert_eq!(call.get_u64(b"a"), 41);
            on_chain_runner::count(&mut call);
            call.close(invocation, leader, clock, ctx);
            let result = invocation.state().output(&b"result".to_ascii_string());
            assert_eq!(result, json::from_u64(42));
        },
    );
    stage.end();
}

// === Helpers ===

/// Publish a workflow of one vertex with these entry ports.
fun publish(stage: &mut Stage, tool: vector<u8>, names: vector<vector<u8>>): ID {
    let mut id = @0x0.to_id();
    dag_tx!(stage.runner(), ALICE, |dags, tools, ctx| {
        let (mut dag, name) = dag::draft(
            dags,
            tools,
            OTHER.to_ascii_string(),
            b"Has ports.".to_string(),
            vector::tabulate!(32, |_| 7),
            vector[tool.to_ascii_string()],
            ctx,
        );
        dag.add_group(b"all".to_ascii_string(), vector[0]);
        dag.add_vertices(
            vector[0],
            vector[vector[]],
            vector[vector[0]],
            vector[1],
            vector[0],
            vector[1],
            vector[true],
        );
        dag.add_ports(
            0,
            names.map_ref!(|_| 0),
            names.map!(|name| name.to_ascii_string()),
            names.map_ref!(|_| 1),
        );
        id = object::id(&dag);
        name.share();
        dag.check_page(0);
        dag.publish(ctx);
    });
    id
}

/// Return an execution of Bob with these entry values, whose only run was requested by Lee.
fun requested(stage: &mut Stage, tool: vector<u8>, values: Ports): (ID, ID) {
    let execution = started(stage, values);
    let tool = stage.runner().id_of(tool);
    let (dag, lee) = (stage.dag(), stage.lee());
    let scenario = stage.runner().next_tx(LEE);
    let mut shared = scenario.take_shared_by_id<Execution>(execution);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let leader = scenario.take_shared_by_id<Leader>(lee);
    let clock = scenario.take_shared<Clock>();
    assert!(shared.request(&dag, &tool, &leader, 0, vector[], &clock, scenario.ctx()));
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(tool);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(shared);
    stage.runner().next_tx(LEE);
    (execution, test_scenario::most_recent_id_shared<Invocation>().destroy_some())
}

fun started(stage: &mut Stage, values: Ports): ID {
    let schedule = stage.create_with(hourly(), EACH_MIST, 0, values);
    stage.wait_until(2_000_000);
    stage.start_execution(schedule)
}

/// Return an execution whose only run has the invocation `SIGNED_ID`. The tool of the run signs its
/// answers.
fun requested_signed(): (Stage, ID) {
    let mut stage = schedule_runner::start();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, PUBLIC_KEY, ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let execution = started(&mut stage, port(b"a", b"1"));
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, _| {
        let ctx = &mut tx_context::new_from_hint(LEE, 0xff, 0, 0, 0);
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    (stage, execution)
}

/// Let Lee settle the invocation `SIGNED_ID` with a signature.
fun settle_signed(stage: &mut Stage, execution: ID, signature: vector<u8>, settles: bool) {
    let id = SIGNED_ID.to_id();
    inputs_tx!(
        stage,
        ADD,
        execution,
        id,
        |inputs, execution, _, invocation, leader, clock, ctx| {
            let settled = inputs.settle(
                execution,
                invocation,
                leader,
                ok(),
                sum(),
                PUBLIC_KEY,
                signature,
                clock,
                ctx,
            );
            assert_eq!(settled, settles);
        },
    );
}

/// Run a transaction of Lee on the inputs of an invocation.
macro fun inputs_tx(
    $stage: &mut Stage,
    $tool: vector<u8>,
    $execution: ID,
    $invocation: ID,
    $f: |Inputs, &Execution, &Tool, &mut Invocation, &Leader, &Clock, &mut TxContext|,
) {
    let stage = $stage;
    let (tool, dag, lee) = (stage.runner().id_of($tool), stage.dag(), stage.lee());
    let scenario: &mut Scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>($execution);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let mut invocation = scenario.take_shared_by_id<Invocation>($invocation);
    let leader = scenario.take_shared_by_id<Leader>(lee);
    let clock = scenario.take_shared<Clock>();
    let inputs = inputs::new(&execution, &dag, &invocation);
    $f(inputs, &execution, &tool, &mut invocation, &leader, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(tool);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(execution);
}
