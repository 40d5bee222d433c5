/// Tests of the settlement of a tool. A function has priority over registered keys.
#[test_only]
module nexus_tools::settling_tests;

use nexus_tools::on_chain_runner;
use nexus_tools::settlement::{Self, Settlement};
use nexus_tools::test_runner::{Self, Runner, key};
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const ADD: vector<u8> = b"xyz.example.add@1";
const COUNT: vector<u8> = b"xyz.example.count@1";
const DAY_MS: u64 = 86_400_000;

#[test]
fun for_tool_needs_no_proof_by_default() {
    let (mut runner, _) = test_runner::alice_and_lee();
    // Keys do not affect the settlement unless the tool requires signed answers.
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
    });
    let settlement = settlement_of(&mut runner, ADD);
    assert!(settlement.is_by_leader());
    assert!(!settlement.is_closable_by_anyone());
    assert_eq!(settlement.keys(), vector[]);
    runner.end();
}

#[test]
fun for_tool_has_the_current_keys_of_a_signing_tool() {
    let (mut runner, _) = test_runner::alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(2), ctx);
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let settlement = settlement_of(&mut runner, ADD);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(3), ctx);
    });
    assert!(!settlement.is_by_leader());
    assert!(!settlement.is_closable_by_anyone());
    assert_eq!(settlement.keys(), vector[key(2), key(1)]);
    runner.end();
}

#[test]
fun for_tool_needs_a_call_by_a_leader() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    let settlement = settlement_of(&mut runner, COUNT);
    assert!(!settlement.is_by_leader());
    assert!(!settlement.is_closable_by_anyone());
    assert_eq!(settlement.keys(), vector[]);
    runner.end();
}

#[test]
fun for_tool_needs_a_call_by_anyone() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, true, DAY_MS, 0);
    let settlement = settlement_of(&mut runner, COUNT);
    assert!(!settlement.is_by_leader());
    assert!(settlement.is_closable_by_anyone());
    assert_eq!(settlement.keys(), vector[]);
    runner.end();
}

fun settlement_of(runner: &mut Runner, fqn: vector<u8>): Settlement {
    let mut settlement = option::none();
    runner.tool_tx!(ALICE, fqn, |tool, _, _, _, _| settlement.fill(settlement::for_tool(tool)));
    settlement.destroy_some()
}
