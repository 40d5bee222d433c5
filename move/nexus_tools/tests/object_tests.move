/// Tests that compare the BCS bytes of objects with the expected fields in order. Clients read
/// fields that no function returns, and many fields have the same type.
#[test_only]
module nexus_tools::object_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::test_runner::{Self, Runner, field, key, port};
use std::bcs;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;
const CARL: address = @0xC;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";
const ADD_NAME: vector<u8> = b"xyz.example.add";

const START_MS: u64 = 1_000_000;
const WEEK_MS: u64 = 604_800_000;
const NOTICE_MS: u64 = 259_200_000;

#[test]
fun bcs_of_a_tool_has_the_documented_fields() {
    let mut runner = test_runner::start();
    let lee = runner.register_leader(LEE);
    runner.register(BOB, b"xyz.example.mul@1", 0, vector[]);
    runner.register(ALICE, ADD, 5_000_000, vector[lee]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, BOB, ctx);
        tool.add_key(name, tools, key(1), ctx);
        tool.update_payout(name, tools, CARL, ctx);
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let fields = vector[
        field(runner.id_of(ADD)),
        field(test_runner::define(ADD)),
        field(5_000_000u64),
        field(CARL),
        field(7u64),
        field(true),
        field(3u64),
        field(runner.id_of(ADD_NAME)),
        field(vector[BOB]),
        field(false),
        field(vector[lee]),
        field(vector[key(1)]),
        collateral(1_000_000_000),
        field(1u64),
        field(START_MS),
    ].flatten();
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| assert_eq!(bcs::to_bytes(tool), fields));
    runner.end();
}

#[test]
fun re_register_sets_registered_at_ms_of_a_tool() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    runner.re_register(ALICE, ADD);
    let last = vector[field(0u64), field(START_MS + WEEK_MS)].flatten();
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| assert_ends_with(bcs::to_bytes(tool), last));
    runner.end();
}

#[test]
fun bcs_of_a_name_has_the_documented_fields() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    let fields = vector[
        field(runner.id_of(ADD_NAME)),
        field(ADD_NAME),
        field(ALICE),
        field(option::some(BOB)),
    ].flatten();
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, _| assert_eq!(bcs::to_bytes(name), fields));
    runner.end();
}

#[test]
fun bcs_of_a_leader_has_the_documented_fields() {
    let mut runner = test_runner::start();
    runner.register_leader(MAX);
    let leader = runner.register_leader(LEE);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.add_worker(leaders, BOB, ctx);
        leader.add_key(leaders, key(1), ctx);
    });
    let fields = vector[
        field(leader),
        field(b"leader"),
        field(LEE),
        field(option::none<address>()),
        field(true),
        field(vector[LEE, BOB]),
        field(vector[key(1)]),
        collateral(10_000_000_000),
        field(1u64),
        field(START_MS),
    ].flatten();
    runner.leader_tx!(LEE, leader, |leader, _, _, _| assert_eq!(bcs::to_bytes(leader), fields));
    runner.end();
}

#[test]
fun re_register_sets_registered_at_ms_of_a_leader() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(LEE, leader);
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        let collateral = test_runner::mint(10_000_000_000, ctx);
        leader.re_register(leaders, collateral, WEEK_MS, clock, ctx);
    });
    let last = vector[field(0u64), field(START_MS + WEEK_MS)].flatten();
    runner.leader_tx!(LEE, leader, |leader, _, _, _| {
        assert_ends_with(bcs::to_bytes(leader), last);
    });
    runner.end();
}

#[test]
fun bcs_of_a_proposed_slash_has_the_documented_fields() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner.slash(ADD, 30);
    runner.unregister(ALICE, ADD);
    runner.advance(1);
    runner.propose_slash(ADD, 20);
    let fields = vector[
        field(999_999_970u64),
        field(1_000_000_000u64),
        field(WEEK_MS),
        field(option::some(START_MS + NOTICE_MS)),
        field(30u64),
        // The option of the pending slash contains a slash.
        x"01",
        field(20u64),
        field(b"It lied."),
        field(test_runner::evidence_digest()),
        field(START_MS + NOTICE_MS + 1),
    ].flatten();
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| {
        assert_eq!(bcs::to_bytes(tool.collateral()), fields);
    });
    runner.end();
}

#[test]
fun bcs_of_claimed_collateral_is_empty() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner.slash(ADD, 30);
    runner.unregister(ALICE, ADD);
    runner.propose_slash(ADD, 20);
    // After this time, the second slash has expired.
    runner.advance(2 * WEEK_MS);
    runner.claim(ALICE, ADD);
    let fields = vector[
        field(0u64),
        field(0u64),
        field(WEEK_MS),
        field(option::none<u64>()),
        field(0u64),
        // The option of the pending slash is empty.
        x"00",
    ].flatten();
    runner.tool_tx!(ALICE, ADD, |tool, _, _, _, _| {
        assert_eq!(bcs::to_bytes(tool.collateral()), fields);
    });
    runner.end();
}

#[test]
fun bcs_of_a_requested_invocation_has_the_documented_fields() {
    let (mut runner, id, lee) = request_invocation();
    let fields = vector[invocation(&runner, id, lee), field(9_281_300u64), x"00"].flatten();
    assert_is(&mut runner, id, fields);
    runner.end();
}

#[test]
fun bcs_of_a_request_for_a_signed_answer_has_the_keys() {
    let (mut runner, lee) = alice_paying_carl();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(2), ctx);
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let id = runner.request(BOB, ADD, vector[lee]);
    let fields = vector[
        terms(&runner, id, lee),
        // The invocation is settled by a signature.
        x"01",
        field(vector[key(2), key(1)]),
        field(2u64),
        field(1u64),
        field(9_281_300u64),
        x"00",
    ].flatten();
    assert_is(&mut runner, id, fields);
    runner.end();
}

#[test]
fun bcs_of_a_settled_invocation_has_the_answer() {
    let (mut runner, id, lee) = request_invocation();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        let (variant, ports) = (b"ok".to_ascii_string(), port(b"result", b"3"));
        invocation.settle(leader, variant, ports, clock, ctx);
    });
    let fields = vector[
        invocation(&runner, id, lee),
        field(0u64),
        x"01",
        field(b"ok"),
        field(port(b"result", b"3")),
        field(lee),
        field(START_MS + 1),
    ].flatten();
    assert_is(&mut runner, id, fields);
    runner.end();
}

#[test]
fun bcs_of_a_failed_invocation_has_the_reason() {
    let (mut runner, id, lee) = request_invocation();
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"5 s".to_string());
        invocation.fail(leader, reason, detail, clock, ctx);
    });
    let fields = vector[
        invocation(&runner, id, lee),
        field(0u64),
        x"02",
        field(b"timed_out"),
        field(b""),
        field(lee),
        field(START_MS + 1),
    ].flatten();
    assert_is(&mut runner, id, fields);
    runner.end();
}

#[test]
fun bcs_of_an_expired_invocation_has_the_state() {
    let (mut runner, id, lee) = request_invocation();
    runner.advance(24_999);
    runner.expire(id, BOB, 9_281_300);
    let fields = vector[invocation(&runner, id, lee), field(0u64), x"03"].flatten();
    assert_is(&mut runner, id, fields);
    runner.end();
}

// === Helpers ===

/// Return the BCS bytes of collateral that was locked and has not changed.
fun collateral(mist: u64): vector<u8> {
    vector[
        field(mist),
        field(mist),
        field(WEEK_MS),
        field(option::none<u64>()),
        field(0u64),
        // The option of the pending slash is empty.
        x"00",
    ].flatten()
}

/// Request an invocation of Alice's tool by Lee's leader, as Bob, 1 ms before the current time.
fun request_invocation(): (Runner, ID, ID) {
    let (mut runner, lee) = alice_paying_carl();
    let id = runner.request(BOB, ADD, vector[lee]);
    runner.advance(1);
    (runner, id, lee)
}

/// Register Lee's leader, and Alice's tool, whose price is paid to Carl.
fun alice_paying_carl(): (Runner, ID) {
    let (mut runner, lee) = test_runner::alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, CARL, ctx);
    });
    (runner, lee)
}

/// Return the BCS bytes of the requested invocation, without its payment and its state.
fun invocation(runner: &Runner, id: ID, lee: ID): vector<u8> {
    vector[
        terms(runner, id, lee),
        // A leader settles without proof.
        field(vector<vector<u8>>[]),
        field(1u64),
        field(1u64),
    ].flatten()
}

/// Return the first BCS bytes, which all invocations of Alice's tool have in common.
fun terms(runner: &Runner, id: ID, lee: ID): vector<u8> {
    vector[
        field(id),
        field(runner.id_of(ADD)),
        field(ADD),
        field(BOB),
        // The option is empty, because the invocation is not an attempt.
        x"00",
        field(test_runner::inputs()),
        field(vector[lee]),
        field(START_MS),
        field(10_000u64),
        field(25_000u64),
        field(5_000_000u64),
        field(CARL),
        field(3_521_300u64),
        field(1_521_300u64),
        field(7_600u64),
        field(100u64),
        // The detail of a failure is not stored.
        field(false),
    ].flatten()
}

fun assert_is(runner: &mut Runner, id: ID, fields: vector<u8>) {
    let invocation = runner.next_tx(BOB).take_shared_by_id<Invocation>(id);
    assert_eq!(bcs::to_bytes(&invocation), fields);
    test_scenario::return_shared(invocation);
}

fun assert_ends_with(bytes: vector<u8>, end: vector<u8>) {
    let skipped = bytes.length() - end.length();
    assert_eq!(vector::tabulate!(end.length(), |i| bytes[skipped + i]), end);
}
