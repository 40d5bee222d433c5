#[test_only]
module nexus_tools::function_tests;

use nexus_tools::definition;
use nexus_tools::function;
use nexus_tools::on_chain_runner::{Self, Count, Other, counting, define};
use nexus_tools::test_runner::{Self, text};
use nexus_tools::tool;
use nexus_tools::value::Ports;
use std::type_name;
use std::unit_test::assert_eq;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const COUNT: vector<u8> = b"xyz.example.count@1";
const DAY_MS: u64 = 86_400_000;

#[test]
fun new_accepts_the_publisher_of_the_module() {
    let mut ctx = tx_context::dummy();
    let function = counting(50_000_000, true, &mut ctx);
    assert_eq!(function.witness(), type_name::with_original_ids<Count>());
    assert_eq!(function.gas_mist(), 50_000_000);
    assert!(function.is_closable_by_anyone());
}

#[test, expected_failure(abort_code = function::EWrongPublisher)]
fun new_aborts_for_the_publisher_of_another_module() {
    let mut ctx = tx_context::dummy();
    let publisher = on_chain_runner::publisher(&mut ctx);
    function::new<Ports>(&publisher, vector[], vector[], 1, false);
    abort
}

#[test, expected_failure(abort_code = function::EGasTooHigh)]
fun new_aborts_above_the_maximum_gas() {
    counting(50_000_001, false, &mut tx_context::dummy());
    abort
}

#[test]
fun new_accepts_16_objects_and_8_types_of_512_bytes() {
    let mut ctx = tx_context::dummy();
    let publisher = on_chain_runner::publisher(&mut ctx);
    let types = vector::tabulate!(8, |_| text(512, 0x61).to_ascii_string());
    let objects = vector::tabulate!(16, |_| @0x6.to_id());
    function::new<Count>(&publisher, types, objects, 1, false);
    publisher.burn();
}

#[test, expected_failure(abort_code = function::ETooManyArguments)]
fun new_aborts_for_17_objects() {
    let mut ctx = tx_context::dummy();
    let publisher = on_chain_runner::publisher(&mut ctx);
    let objects = vector::tabulate!(17, |_| @0x6.to_id());
    function::new<Count>(&publisher, vector[], objects, 1, false);
    abort
}

#[test, expected_failure(abort_code = function::ETooManyArguments)]
fun new_aborts_for_9_types() {
    let mut ctx = tx_context::dummy();
    let publisher = on_chain_runner::publisher(&mut ctx);
    let types = vector::tabulate!(9, |_| b"u64".to_ascii_string());
    function::new<Count>(&publisher, types, vector[], 1, false);
    abort
}

#[test, expected_failure(abort_code = function::ETooManyArguments)]
fun new_aborts_for_a_type_of_513_bytes() {
    let mut ctx = tx_context::dummy();
    let publisher = on_chain_runner::publisher(&mut ctx);
    function::new<Count>(
        &publisher,
        vector[text(513, 0x61).to_ascii_string()],
        vector[],
        1,
        false,
    );
    abort
}

// === Tools with a function ===

#[test]
fun register_accepts_a_priced_on_chain_tool_for_any_leader() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 5_000);
    runner.tool_tx!(ALICE, COUNT, |tool, _, _, _, _| {
        assert!(tool.accepts(@0x1EAD.to_id()));
        assert_eq!(tool.charge_mist(), 5_007);
        assert_eq!(tool.definition().gas_mist(), 7);
        assert_eq!(tool.definition().tool_type(), b"onchain".to_ascii_string());
    });
    runner.end();
}

#[test]
fun register_accepts_a_timeout_of_90_days_closable_by_anyone() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 1, true, 90 * DAY_MS, 0);
    runner.end();
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun register_aborts_above_90_days() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 1, true, 90 * DAY_MS + 1, 0);
    abort
}

#[test, expected_failure(abort_code = tool::ETimeoutOutOfRange)]
fun register_aborts_for_days_when_leaders_close() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 1, false, DAY_MS, 0);
    abort
}

#[test]
fun update_function_changes_the_arguments_and_gas() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    runner.tool_tx!(ALICE, COUNT, |tool, name, tools, _, ctx| {
        let function = counting(8, false, ctx);
        tool.update_function(name, tools, function, ctx);
        assert_eq!(tool.definition().gas_mist(), 8);
        assert_eq!(tool.revision(), 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = nexus_tools::owner::ENotOwner)]
fun update_function_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    runner.tool_tx!(BOB, COUNT, |tool, name, tools, _, ctx| {
        let function = counting(8, false, ctx);
        tool.update_function(name, tools, function, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = definition::EIncompatibleFunction)]
fun update_function_aborts_for_another_witness() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    runner.tool_tx!(ALICE, COUNT, |tool, name, tools, _, ctx| {
        let publisher = on_chain_runner::publisher(ctx);
        let function = function::new<Other>(&publisher, vector[], vector[], 7, false);
        publisher.burn();
        tool.update_function(name, tools, function, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = definition::EIncompatibleFunction)]
fun update_function_aborts_when_the_closers_change() {
    let mut runner = test_runner::start();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    runner.tool_tx!(ALICE, COUNT, |tool, name, tools, _, ctx| {
        let function = counting(7, true, ctx);
        tool.update_function(name, tools, function, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = definition::EIncompatibleFunction)]
fun update_function_aborts_for_a_tool_over_http() {
    let (mut runner, _) = test_runner::alice_and_lee();
    runner.tool_tx!(ALICE, b"xyz.example.add@1", |tool, name, tools, _, ctx| {
        let function = counting(7, false, ctx);
        tool.update_function(name, tools, function, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = definition::EInvalidFqn)]
fun define_on_chain_aborts_for_an_invalid_fqn() {
    define(b"count", counting(1, false, &mut tx_context::dummy()), 10_000);
    abort
}
