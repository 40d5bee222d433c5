/// Attempts: invocations of a package with a permit, for an object that it shows to be its own.
#[test_only]
module nexus_tools::attempt_tests;

use nexus_tools::attempt;
use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::on_chain_call;
use nexus_tools::on_chain_runner;
use nexus_tools::owner;
use nexus_tools::permit::{Self, Permit};
use nexus_tools::run;
use nexus_tools::settling;
use nexus_tools::signed_outcome;
use nexus_tools::state::{Self, State};
use nexus_tools::test_runner::{Self, Runner, alice_and_lee, field, key, mint, ok, sum, told};
use nexus_tools::tool::Tool;
use std::bcs;
use std::unit_test::{assert_eq, destroy};
use sui::clock::Clock;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";
const COUNT: vector<u8> = b"xyz.example.count@1";
const PAYMENT_MIST: u64 = 100_000_000;
const PRICE_MIST: u64 = 5_000_000;
/// 1 000 units at 1 000, 520 000, 1 000 000, and at 7 600 each 2 bytes of `ok` and 11 of its ports.
const FEE_MIST: u64 = 2_618_800;

#[test]
fun a_granted_permit_is_told_to_everybody() {
    let mut runner = test_runner::start();
    grant(&mut runner);
    assert_eq!(told<permit::PermitGranted>(), field(ADMIN));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_grants_no_permit() {
    let mut runner = test_runner::start();
    runner.admin_tx!(BOB, |admin, _, _, _, ctx| { permit::grant(admin, ctx); });
    abort
}

#[test]
fun attempt_says_what_it_carries() {
    let mut runner = test_runner::start();
    runner.tx!(BOB, |_, leaders, _, ctx| {
        let (id, run) = (@0xE.to_id(), run::new(3, vector[1, 0]));
        let settling = settling::by_leader_for_testing();
        let attempt = attempt::new(id, run, 2, &settling, leaders.settings(), ctx);
        assert_eq!(attempt.execution(), id);
        assert_eq!(attempt.run().vertex(), 3);
        assert_eq!(*attempt.run().path(), vector[1, 0]);
        assert_eq!(attempt.number(), 2);
        // A leader's word is enough: nothing is read on chain.
        assert_eq!(attempt.max_read_mist(), 0);
    });
    runner.end();
}

#[test]
fun reading_inputs_is_bounded_and_paid_by_the_byte() {
    let mut runner = test_runner::start();
    runner.tx!(BOB, |_, leaders, _, ctx| {
        let (id, run) = (@0xE.to_id(), run::new(3, vector[]));
        let settling = settling::signed_for_testing();
        let attempt = attempt::new(id, run, 1, &settling, leaders.settings(), ctx);
        // Three times 65 536 bytes, and 40 gas units at 1 000 MIST for 1 000 bytes.
        assert_eq!(attempt.max_read_bytes(), 196_608);
        assert_eq!(attempt.read_mist(0), 0);
        assert_eq!(attempt.read_mist(1), 40);
        assert_eq!(attempt.read_mist(25_000), 1_000_000);
        assert_eq!(attempt.max_read_mist(), 7_864_320);
    });
    runner.end();
}

#[test]
fun each_attempt_pays_its_closing_and_what_follows() {
    let mut runner = test_runner::start();
    runner.tx!(BOB, |_, leaders, _, ctx| {
        // 1 000 units for closing at 1 000 MIST and 520 000 for storage; settling pays half of
        // 2 000 000 more.
        let (settle_mist, fail_mist) = attempt::fees_mist(leaders.settings(), ctx);
        assert_eq!(fail_mist, 1_520_000);
        assert_eq!(settle_mist, 2_520_000);
        // 1 050 units for what follows, and 150 000 for the 1 500 bytes of the records.
        assert_eq!(attempt::step_fee_mist(leaders.settings(), ctx), 1_200_000);
        assert_eq!(attempt::record_bytes(), 1_500);
        assert_eq!(leaders.settings().fee_per_input_byte_mist(), 100);
    });
    runner.end();
}

#[test]
fun reading_is_paid_to_who_settles() {
    let (mut runner, execution, invocation, lee) = requested_of(COUNT);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, invocation, lee, |tool, invocation, leader, clock, ctx| {
        let inputs = test_runner::port(b"a", b"41");
        let mut call = on_chain_call::open_attempt(invocation, &execution, inputs, 10_000, tool);
        on_chain_runner::count(&mut call);
        let before = invocation.payment_mist();
        call.close(invocation, leader, clock, ctx);
        // 2 520 000 for settling, 400 000 for 10 000 bytes, and 7 600 for each of 2 + 13 bytes; the
        // function has 7 of gas, which the leader gets, too.
        let paid_mist = before - invocation.payment_mist();
        assert_eq!(paid_mist, 2_520_007 + 400_000 + 7_600 * (2 + invocation.state().ports().size()));
    });
    execution.delete();
    runner.end();
}

#[test]
fun what_is_left_of_an_attempt_is_its_executions() {
    let (mut runner, execution, invocation, lee) = requested();
    settle(&mut runner, invocation, lee);
    let mut invocation = take(&mut runner, invocation);
    let rest = invocation.take_rest(&execution);
    assert_eq!(rest.value(), PAYMENT_MIST - PRICE_MIST - FEE_MIST);
    assert_eq!(invocation.payment_mist(), 0);
    invocation.delete_attempt(&execution);
    destroy(rest);
    execution.delete();
    runner.end();
}

#[test]
fun invocation_has_its_attempt_behind_its_requester() {
    let (mut runner, execution, id, lee) = requested();
    let invocation = take(&mut runner, id);
    let first = vector[
        field(id),
        field(runner.id_of(ADD)),
        field(ADD),
        field(BOB),
        // It is an attempt.
        x"01",
        field(execution.to_inner()),
        field(3u16),
        field(vector[1u32, 0]),
        field(1u8),
        // A leader's word is enough: reading pays nothing.
        field(196_608u64),
        field(0u64),
        // Its inputs are those of its execution.
        x"00",
        field(vector[lee]),
    ].flatten();
    let bytes = bcs::to_bytes(&invocation);
    assert_eq!(vector::tabulate!(first.length(), |i| bytes[i]), first);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

#[test, expected_failure(abort_code = invocation::ENotClosed)]
fun nothing_is_left_of_what_is_open() {
    let (mut runner, execution, invocation, _) = requested();
    let mut invocation = take(&mut runner, invocation);
    let _rest = invocation.take_rest(&execution);
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun the_rest_is_not_that_of_another_object() {
    let (mut runner, _execution, invocation, lee) = requested();
    settle(&mut runner, invocation, lee);
    let mut invocation = take(&mut runner, invocation);
    let other = object::new(runner.scenario().ctx());
    let _rest = invocation.take_rest(&other);
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun another_object_does_not_delete_it() {
    let (mut runner, _execution, invocation, lee) = requested();
    settle(&mut runner, invocation, lee);
    let invocation = take(&mut runner, invocation);
    let other = object::new(runner.scenario().ctx());
    invocation.delete_attempt(&other);
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun an_invocation_of_a_user_is_no_execution_s() {
    let (mut runner, execution, _, lee) = requested();
    let invocation = runner.request(BOB, ADD, vector[lee]);
    settle(&mut runner, invocation, lee);
    let mut invocation = take(&mut runner, invocation);
    let _rest = invocation.take_rest(&execution);
    abort
}

#[test, expected_failure(abort_code = invocation::EOfExecution)]
fun its_requester_does_not_delete_an_attempt() {
    let (mut runner, _execution, invocation, lee) = requested();
    settle(&mut runner, invocation, lee);
    let invocation = take(&mut runner, invocation);
    invocation.delete(runner.scenario().ctx());
    abort
}

#[test, expected_failure(abort_code = signed_outcome::EIsAttempt)]
fun a_signed_answer_to_an_attempt_is_settled_by_its_execution() {
    let (mut runner, _execution, invocation, lee) = requested();
    runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let signature = test_runner::text(64, 0);
        signed_outcome::settle(invocation, leader, ok(), sum(), key(1), signature, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun another_object_does_not_say_what_its_inputs_are() {
    let (mut runner, _execution, invocation, lee) = requested();
    runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let other = object::new(ctx);
        let (inputs, key, signature) = (sum(), key(1), test_runner::text(64, 0));
        signed_outcome::settle_attempt(
            invocation,
            &other,
            &inputs,
            0,
            leader,
            ok(),
            sum(),
            key,
            signature,
            clock,
            ctx,
        );
        other.delete();
    });
    abort
}

// === Failure details ===

#[test]
fun fail_keeps_a_detail_of_at_most_the_outcome_limit() {
    let (mut runner, execution, id, lee) = requested_with(ADD, true);
    let invocation = failed_with(&mut runner, id, lee, 100);
    assert_eq!(*invocation.state(), failure_of(lee, 100));
    // 7 600 MIST for each byte of the detail.
    assert_eq!(invocation.payment_mist(), PAYMENT_MIST - 1_520_000 - 760_000);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

#[test]
fun fail_drops_a_detail_above_the_outcome_limit() {
    let (mut runner, execution, id, lee) = requested_with(ADD, true);
    let invocation = failed_with(&mut runner, id, lee, 101);
    assert_eq!(*invocation.state(), failure_of(lee, 0));
    assert_eq!(invocation.payment_mist(), PAYMENT_MIST - 1_520_000);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

#[test]
fun fail_drops_a_detail_that_no_edge_reads() {
    let (mut runner, execution, id, lee) = requested();
    let invocation = failed_with(&mut runner, id, lee, 1);
    assert_eq!(*invocation.state(), failure_of(lee, 0));
    assert_eq!(invocation.payment_mist(), PAYMENT_MIST - 1_520_000);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

// === On-chain tools ===

#[test]
fun call_of_an_attempt_has_the_inputs_that_its_execution_says() {
    let (mut runner, execution, invocation, lee) = requested_of(COUNT);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, invocation, lee, |tool, invocation, leader, clock, ctx| {
        let inputs = test_runner::port(b"a", b"41");
        let mut call = on_chain_call::open_attempt(invocation, &execution, inputs, 0, tool);
        assert_eq!(call.requester(), BOB);
        assert_eq!(call.requested_at_ms(), 1_000_000);
        assert_eq!(call.expires_at_ms(), 1_025_000);
        on_chain_runner::count(&mut call);
        call.close(invocation, leader, clock, ctx);
        assert_eq!(*invocation.state().ports(), test_runner::port(b"result", b"42"));
    });
    execution.delete();
    runner.end();
}

#[test, expected_failure(abort_code = on_chain_call::EIsAttempt)]
fun an_attempt_is_not_opened_without_its_inputs() {
    let (mut runner, _execution, invocation, lee) = requested_of(COUNT);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, invocation, lee, |tool, invocation, leader, clock, ctx| {
        on_chain_call::open(invocation, tool).close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun another_object_does_not_open_an_attempt() {
    let (mut runner, _execution, invocation, lee) = requested_of(COUNT);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, invocation, lee, |tool, invocation, leader, clock, ctx| {
        let other = object::new(ctx);
        let inputs = test_runner::port(b"a", b"41");
        let call = on_chain_call::open_attempt(invocation, &other, inputs, 0, tool);
        call.close(invocation, leader, clock, ctx);
        other.delete();
    });
    abort
}

// === Helpers ===

fun grant(runner: &mut Runner): Permit {
    let mut permit = option::none();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| permit.fill(permit::grant(admin, ctx)));
    permit.destroy_some()
}

/// An object of Bob's, and the first attempt for it, by Lee's leader.
fun requested(): (Runner, UID, ID, ID) { requested_of(ADD) }

/// The same for another tool: `ADD`, or one that counts on chain.
fun requested_of(fqn: vector<u8>): (Runner, UID, ID, ID) { requested_with(fqn, false) }

/// The same, optionally keeping the detail of a failure.
fun requested_with(fqn: vector<u8>, keeps_detail: bool): (Runner, UID, ID, ID) {
    let (mut runner, lee) = alice_and_lee();
    on_chain_runner::register(&mut runner, COUNT, 7, false, 10_000, 0);
    let permit = grant(&mut runner);
    let tool = runner.id_of(fqn);
    let scenario = runner.next_tx(BOB);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let registry = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    let execution = object::new(scenario.ctx());
    let attempt = attempt::new(
        execution.to_inner(),
        run::new(3, vector[1, 0]),
        1,
        &settling::of(&tool),
        registry.settings(),
        scenario.ctx(),
    );
    let (invocation, _) = invocation::request_attempt(
        permit,
        attempt,
        &tool,
        BOB,
        vector[lee],
        registry.settings(),
        100,
        keeps_detail,
        mint(PAYMENT_MIST, scenario.ctx()).into_balance(),
        &clock,
        scenario.ctx(),
    );
    test_scenario::return_shared(clock);
    test_scenario::return_shared(registry);
    test_scenario::return_shared(tool);
    (runner, execution, invocation, lee)
}

fun settle(runner: &mut Runner, invocation: ID, lee: ID) {
    runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        invocation.settle(leader, ok(), sum(), clock, ctx);
    });
}

/// Fails the invocation with a detail of `bytes` bytes and returns it.
fun failed_with(runner: &mut Runner, invocation: ID, lee: ID, bytes: u64): Invocation {
    runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), test_runner::text(bytes, 0x61));
        assert!(invocation.fail(leader, reason, detail.to_string(), clock, ctx));
    });
    take(runner, invocation)
}

/// The state after `failed_with`, with `bytes` bytes of the detail kept.
fun failure_of(lee: ID, bytes: u64): State {
    let detail = test_runner::text(bytes, 0x61).to_string();
    state::failed(b"timed_out".to_ascii_string(), detail, lee, 1_000_000)
}

fun take(runner: &mut Runner, invocation: ID): Invocation {
    runner.next_tx(BOB).take_shared_by_id<Invocation>(invocation)
}
