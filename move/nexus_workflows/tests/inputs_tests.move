/// Tests of inputs that are assembled on chain, and of signed answers to these inputs.
#[test_only]
module nexus_workflows::inputs_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::on_chain_call;
use nexus_tools::signed_outcome;
use nexus_tools::test_runner::{Self, key, ok, sum};
use nexus_tools::tool::Tool;
use nexus_tools::value;
use nexus_workflows::dag::Dag;
use nexus_workflows::execution::Execution;
use nexus_workflows::inputs;
use nexus_workflows::schedule_runner::{Self, Stage, hourly};
use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const FLOW_2: vector<u8> = b"xyz.example.other@1";

#[test]
fun entry_values_need_no_load() {
    let (mut stage, execution, invocation) = requested();
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(execution);
    let invocation = scenario.take_shared_by_id<Invocation>(invocation);
    let dag = scenario.take_immutable<Dag>();
    let mut inputs = inputs::new(&execution, &dag, &invocation);
    // The inputs do not need a value of this invocation.
    inputs.load(&invocation);
    let (ports, read_bytes) = inputs.into_ports();
    assert_eq!(ports, test_runner::port(b"a", b"1"));
    // The port counts as 300 bytes. The 6 bytes of the value count twice, once in the entry values
    // and once in the inputs.
    assert_eq!(read_bytes, 300 + 6 + 6);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(execution);
    stage.end();
}

#[test, expected_failure(abort_code = inputs::EInputsTooLarge)]
fun inputs_above_the_read_limit_abort() {
    let mut inputs = inputs::none_for_testing(@0x1.to_id(), 5);
    inputs.give_for_testing(b"a".to_ascii_string(), value::inline(b"1"));
    // `{"a": 1}` has 6 bytes.
    inputs.into_ports();
}

#[test]
fun inputs_at_the_read_limit_succeed() {
    let mut inputs = inputs::none_for_testing(@0x1.to_id(), 6);
    inputs.give_for_testing(b"a".to_ascii_string(), value::inline(b"1"));
    let (_, read_bytes) = inputs.into_ports();
    assert_eq!(read_bytes, 6);
}

#[test, expected_failure(abort_code = inputs::EWrongDag)]
fun new_rejects_another_workflow() {
    let (mut stage, execution, invocation) = requested();
    let other = schedule_runner::publish(stage.runner(), FLOW_2, 1);
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(execution);
    let invocation = scenario.take_shared_by_id<Invocation>(invocation);
    let dag = scenario.take_immutable_by_id<Dag>(other);
    let _inputs = inputs::new(&execution, &dag, &invocation);
    abort
}

#[test, expected_failure(abort_code = inputs::EWrongExecution)]
fun new_rejects_an_invocation_that_is_not_an_attempt() {
    let (mut stage, execution, _) = requested();
    let lee = stage.lee();
    let other = stage.runner().request(BOB, ADD, vector[lee]);
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(execution);
    let invocation = scenario.take_shared_by_id<Invocation>(other);
    let dag = scenario.take_immutable<Dag>();
    let _inputs = inputs::new(&execution, &dag, &invocation);
    abort
}

#[test, expected_failure(abort_code = signed_outcome::EIsAttempt)]
fun settle_without_inputs_rejects_an_attempt() {
    let (mut stage, _, invocation) = requested();
    let lee = stage.lee();
    stage.runner().invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let signature = test_runner::text(64, 0);
        signed_outcome::settle(invocation, leader, ok(), sum(), key(1), signature, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = signed_outcome::EWrongKey)]
fun settle_rejects_a_key_of_a_tool_without_keys() {
    let (mut stage, execution, invocation) = requested();
    settle_signed(&mut stage, execution, invocation, invocation);
    abort
}

#[test, expected_failure(abort_code = inputs::EWrongInputs)]
fun settle_rejects_inputs_of_another_invocation() {
    let (mut stage, execution, invocation) = requested();
    let lee = stage.lee();
    let other = stage.runner().request(BOB, ADD, vector[lee]);
    settle_signed(&mut stage, execution, invocation, other);
    abort
}

#[test, expected_failure(abort_code = on_chain_call::ENotOnChain)]
fun open_rejects_a_tool_that_is_not_on_chain() {
    let (mut stage, execution, invocation) = requested();
    let tool = stage.tool();
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(execution);
    let invocation = scenario.take_shared_by_id<Invocation>(invocation);
    let dag = scenario.take_immutable<Dag>();
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let inputs = inputs::new(&execution, &dag, &invocation);
    let _call = inputs.open(&execution, &invocation, &tool);
    abort
}

#[test, expected_failure(abort_code = inputs::EWrongInputs)]
fun open_rejects_inputs_of_another_invocation() {
    let (mut stage, execution, invocation) = requested();
    let (lee, tool) = (stage.lee(), stage.tool());
    let other = stage.runner().request(BOB, ADD, vector[lee]);
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(execution);
    let invocation = scenario.take_shared_by_id<Invocation>(invocation);
    let dag = scenario.take_immutable<Dag>();
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let inputs = inputs::new(&execution, &dag, &invocation);
    let other = scenario.take_shared_by_id<Invocation>(other);
    let _call = inputs.open(&execution, &other, &tool);
    abort
}

// === Helpers ===

/// Return an execution of Bob whose only run was requested.
fun requested(): (Stage, ID, ID) {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(2_000_000);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    stage.runner().next_tx(ALICE);
    let invocation = test_scenario::most_recent_id_shared<Invocation>().destroy_some();
    (stage, execution, invocation)
}

/// Let Lee settle the invocation `closed` with the inputs of `invocation`.
fun settle_signed(stage: &mut Stage, execution: ID, invocation: ID, closed: ID) {
    let lee = stage.lee();
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared_by_id<Execution>(execution);
    let invocation = scenario.take_shared_by_id<Invocation>(invocation);
    let dag = scenario.take_immutable<Dag>();
    let inputs = inputs::new(&execution, &dag, &invocation);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(execution);
    let scenario = stage.runner().next_tx(LEE);
    let execution = scenario.take_shared<Execution>();
    let mut closed = scenario.take_shared_by_id<Invocation>(closed);
    let leader = scenario.take_shared_by_id<Leader>(lee);
    let clock = scenario.take_shared<Clock>();
    inputs.settle(
        &execution,
        &mut closed,
        &leader,
        ok(),
        sum(),
        key(1),
        test_runner::text(64, 0),
        &clock,
        scenario.ctx(),
    );
    abort
}

#[test, expected_failure(abort_code = inputs::EInputsNotLoaded)]
fun settle_rejects_inputs_that_are_not_loaded() {
    let mut inputs = inputs::none_for_testing(@0x1.to_id(), 1_000);
    inputs.wait_for_testing(b"a".to_ascii_string(), @0x2.to_id());
    inputs.into_ports();
}
