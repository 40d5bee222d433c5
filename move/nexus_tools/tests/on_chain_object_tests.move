/// Tests that compare the BCS bytes of the objects of on-chain tools with the expected fields in
/// order.
#[test_only]
module nexus_tools::on_chain_object_tests;

use nexus_tools::function;
use nexus_tools::invocation::Invocation;
use nexus_tools::on_chain_call;
use nexus_tools::on_chain_runner::{Self, Count};
use nexus_tools::test_runner::{Self, Runner, field, port};
use std::bcs;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const MAX: address = @0x2;

const COUNT: vector<u8> = b"xyz.example.count@1";
const START_MS: u64 = 1_000_000;
const DAY_MS: u64 = 86_400_000;

#[test]
fun bcs_of_an_on_chain_tool_has_the_function() {
    let mut ctx = tx_context::dummy();
    let publisher = on_chain_runner::publisher(&mut ctx);
    let types = vector[b"u8".to_ascii_string(), b"u64".to_ascii_string()];
    let objects = vector[@0x6.to_id(), @0x8.to_id()];
    let function = function::new<Count>(&publisher, types, objects, 7, true);
    publisher.burn();
    let fields = vector[
        field(COUNT),
        field(b"onchain"),
        field(b"0xA::on_chain_runner::count"),
        field(b"Counts."),
        field(b"{}"),
        field(b"{}"),
        field(10_000u64),
        // The option contains the function of the tool.
        x"01",
        field(witness()),
        field(vector[b"u8", b"u64"]),
        field(vector[@0x6, @0x8]),
        field(7u64),
        field(true),
    ].flatten();
    assert_eq!(bcs::to_bytes(&on_chain_runner::define(COUNT, function, 10_000)), fields);
}

#[test]
fun bcs_of_an_invocation_closed_by_leaders_has_the_settlement() {
    let (mut runner, lee, id) = request_invocation(false, 10_000);
    // The window is 15 s longer than the timeout of the tool.
    let terms = terms(&runner, lee, id, 10_000, 25_000, false);
    assert_is(&mut runner, id, vector[terms, field(11_286_300u64), x"00"].flatten());
    runner.end();
}

#[test]
fun bcs_of_an_invocation_settled_by_anyone_has_the_sender() {
    let (mut runner, lee, id) = request_invocation(true, 30 * DAY_MS);
    runner.advance(29 * DAY_MS);
    on_chain_runner::call_tx!(&mut runner, MAX, COUNT, id, lee, |tool, invocation, _, clock, ctx| {
        let mut call = on_chain_call::open(invocation, tool);
        assert_eq!(call.requested_at_ms(), START_MS);
        assert_eq!(call.expires_at_ms(), START_MS + 30 * DAY_MS);
        on_chain_runner::count(&mut call);
        call.close_by_anyone(invocation, clock, ctx);
    });
    let fields = vector[
        terms(&runner, lee, id, 30 * DAY_MS, 30 * DAY_MS, true),
        field(0u64),
        x"01",
        field(b"ok"),
        field(port(b"result", b"12345679")),
        // The field for the leader contains the address of the sender.
        field(MAX),
        field(START_MS + 29 * DAY_MS),
    ].flatten();
    assert_is(&mut runner, id, fields);
    runner.end();
}

// === Helpers ===

/// Return the type of the witness, in the format of Sui's type names.
fun witness(): vector<u8> {
    b"0000000000000000000000000000000000000000000000000000000000000000::on_chain_runner::Count"
}

/// Request an invocation of Alice's tool by Lee's leader, as Bob. The tool has a price of
/// 5 000 MIST, and a call needs 7 000 000 MIST of gas.
fun request_invocation(closable_by_anyone: bool, timeout_ms: u64): (Runner, ID, ID) {
    let (mut runner, lee) = test_runner::alice_and_lee();
    on_chain_runner::register(&mut runner, COUNT, 7_000_000, closable_by_anyone, timeout_ms, 5_000);
    let id = runner.request(BOB, COUNT, vector[lee]);
    (runner, lee, id)
}

/// Return the BCS bytes of the requested invocation, without its payment and its state.
fun terms(
    runner: &Runner,
    lee: ID,
    id: ID,
    timeout_ms: u64,
    window_ms: u64,
    closable_by_anyone: bool,
): vector<u8> {
    vector[
        field(id),
        field(runner.id_of(COUNT)),
        field(COUNT),
        field(BOB),
        // The option is empty, because the invocation is not an attempt.
        x"00",
        field(test_runner::inputs()),
        field(vector[lee]),
        field(START_MS),
        field(timeout_ms),
        field(window_ms),
        field(5_000u64),
        field(ALICE),
        // The fee for settling includes the gas of the call. The fee for failing does not include
        // it.
        field(10_521_300u64),
        field(1_521_300u64),
        field(7_600u64),
        field(100u64),
        // The detail of a failure is not stored.
        field(false),
        // The invocation is settled by a call.
        x"02",
        field(closable_by_anyone),
        field(0u64),
        field(1u64),
    ].flatten()
}

fun assert_is(runner: &mut Runner, id: ID, fields: vector<u8>) {
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    assert_eq!(bcs::to_bytes(&invocation), fields);
    test_scenario::return_shared(invocation);
}
