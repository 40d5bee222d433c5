/// How invocations of a tool are settled: what its definition says comes before its keys.
#[test_only]
module nexus_tools::settling_tests;

use nexus_tools::on_chain_runner;
use nexus_tools::settling::{Self, Settling};
use nexus_tools::test_runner::{Self, Runner, key};
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const ADD: vector<u8> = b"xyz.example.add@1";
const COUNT: vector<u8> = b"xyz.example.count@1";
const DAY_MS: u64 = 86_400_000;

#[test]
fun tool_that_signs_nothing_is_settled_by_a_leader() {
    let (mut runner, _) = test_runner::alice_and_lee();
    // Keys alone do not matter, as long as no signature is required.
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
    });
    let settling = settling_of(&mut runner, ADD);
    assert!(settling.is_by_leader());
    assert!(!settling.is_for_anyone());
    assert_eq!(settling.keys(), vector[]);
    runner.end();
}

#[test]
fun tool_that_signs_is_settled_by_one_of_the_keys_that_it_has_now() {
    let (mut runner, _) = test_runner::alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(2), ctx);
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let settling = settling_of(&mut runner, ADD);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(3), ctx);
    });
    assert!(!settling.is_by_leader());
    assert!(!settling.is_for_anyone());
    assert_eq!(settling.keys(), vector[key(2), key(1)]);
    runner.end();
}

#[test]
fun tool_on_chain_is_settled_by_a_call_of_leaders() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    let settling = settling_of(&mut runner, COUNT);
    assert!(!settling.is_by_leader());
    assert!(!settling.is_for_anyone());
    assert_eq!(settling.keys(), vector[]);
    runner.end();
}

#[test]
fun tool_on_chain_for_anyone_is_settled_by_a_call_of_anyone() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, true, DAY_MS, 0);
    let settling = settling_of(&mut runner, COUNT);
    assert!(!settling.is_by_leader());
    assert!(settling.is_for_anyone());
    assert_eq!(settling.keys(), vector[]);
    runner.end();
}

fun settling_of(runner: &mut Runner, fqn: vector<u8>): Settling {
    let mut settling = option::none();
    runner.tool_tx!(ALICE, fqn, |tool, _, _, _, _| settling.fill(settling::of(tool)));
    settling.destroy_some()
}
