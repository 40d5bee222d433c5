/// Tests of attempts, which are invocations that a package with a permit requests for one of its
/// objects.
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
use nexus_tools::settlement;
use nexus_tools::signed_outcome;
use nexus_tools::state::{Self, State};
use nexus_tools::test_runner::{Self, Runner, alice_and_lee, field, key, mint, ok, sum, event_bytes};
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
/// The leader's fee for settling. The fee covers 1 000 gas units at 1 000 MIST, 520 000 MIST of
/// storage, and a margin of 1 000 000 MIST. The fee also covers 7 600 MIST for each of the 2 bytes
/// of `ok` and the 11 bytes of its ports.
const FEE_MIST: u64 = 2_618_800;

#[test]
fun grant_emits_an_event() {
    let mut runner = test_runner::start();
    grant(&mut runner);
    assert_eq!(event_bytes<permit::PermitGranted>(), field(ADMIN));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun grant_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    runner.admin_tx!(BOB, |admin, _, _, _, ctx| { permit::grant(admin, ctx); });
    abort
}

#[test]
fun attempt_returns_its_execution_run_and_number() {
    let mut runner = test_runner::start();
    runner.tx!(BOB, |_, leaders, _, ctx| {
        let (id, run) = (@0xE.to_id(), run::new(3, vector[1, 0]));
        let settlement = settlement::by_leader_for_testing();
        let attempt = attempt::new(id, run, 2, &settlement, leaders.settings(), ctx);
        assert_eq!(attempt.execution(), id);
        assert_eq!(attempt.run().vertex(), 3);
        assert_eq!(*attempt.run().path(), vector[1, 0]);
        assert_eq!(attempt.number(), 2);
        // A leader settles without proof, so nothing is read on chain.
        assert_eq!(attempt.max_read_mist(), 0);
    });
    runner.end();
}

#[test]
fun read_mist_is_the_fee_for_each_byte_up_to_a_maximum() {
    let mut runner = test_runner::start();
    runner.tx!(BOB, |_, leaders, _, ctx| {
        let (id, run) = (@0xE.to_id(), run::new(3, vector[]));
        let settlement = settlement::signed_for_testing();
        let attempt = attempt::new(id, run, 1, &settlement, leaders.settings(), ctx);
        // The maximum is three times 65 536 bytes. Reading 1 000 bytes costs 40 gas units at
        // 1 000 MIST.
        assert_eq!(attempt.max_read_bytes(), 196_608);
        assert_eq!(attempt.read_mist(0), 0);
        assert_eq!(attempt.read_mist(1), 40);
        assert_eq!(attempt.read_mist(25_000), 1_000_000);
        assert_eq!(attempt.max_read_mist(), 7_864_320);
    });
    runner.end();
}

#[test]
fun fees_cover_the_closing_and_the_next_step() {
    let mut runner = test_runner::start();
    runner.tx!(BOB, |_, leaders, _, ctx| {
        // The fees cover 1 000 gas units at 1 000 MIST for closing, and 520 000 MIST for storage.
        // The fee for settling is higher by half of 2 000 000 MIST.
        let (settle_mist, fail_mist) = attempt::fees_mist(leaders.settings(), ctx);
        assert_eq!(fail_mist, 1_520_000);
        assert_eq!(settle_mist, 2_520_000);
        // The fee covers 1 060 gas units for the next step, and 150 000 MIST for the 1 500 bytes of
        // the records.
        assert_eq!(attempt::step_fee_mist(leaders.settings(), ctx), 1_210_000);
        assert_eq!(attempt::record_bytes(), 1_500);
        assert_eq!(leaders.settings().fee_per_input_byte_mist(), 100);
    });
    runner.end();
}

#[test]
fun settle_attempt_pays_the_worker_for_reading() {
    let (mut runner, execution, invocation, lee) = request_attempt_of(COUNT);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, invocation, lee, |tool, invocation, leader, clock, ctx| {
        let inputs = test_runner::port(b"a", b"41");
        let mut call = on_chain_call::open_attempt(invocation, &execution, inputs, 10_000, tool);
        on_chain_runner::count(&mut call);
        let before = invocation.payment_mist();
        call.close(invocation, leader, clock, ctx);
        // The leader receives 2 520 000 MIST for settling, 400 000 MIST for reading 10 000 bytes,
        // and 7 600 MIST for each of 2 + 13 bytes. The leader also receives 7 MIST for the gas of
        // the call.
        let paid_mist = before - invocation.payment_mist();
        assert_eq!(paid_mist, 2_520_007 + 400_000 + 7_600 * (2 + invocation.state().ports().size()));
    });
    execution.delete();
    runner.end();
}

#[test]
fun withdraw_remainder_returns_the_unused_payment() {
    let (mut runner, execution, invocation, lee) = request_attempt();
    settle(&mut runner, invocation, lee);
    let mut invocation = take(&mut runner, invocation);
    let rest = invocation.withdraw_remainder(&execution);
    assert_eq!(rest.value(), PAYMENT_MIST - PRICE_MIST - FEE_MIST);
    assert_eq!(invocation.payment_mist(), 0);
    invocation.delete_attempt(&execution);
    destroy(rest);
    execution.delete();
    runner.end();
}

#[test]
fun invocation_bcs_has_the_attempt_after_the_requester() {
    let (mut runner, execution, id, lee) = request_attempt();
    let invocation = take(&mut runner, id);
    let first = vector[
        field(id),
        field(runner.id_of(ADD)),
        field(ADD),
        field(BOB),
        // The option contains the attempt, because the invocation is an attempt.
        x"01",
        field(execution.to_inner()),
        field(3u16),
        field(vector[1u32, 0]),
        field(1u8),
        // A leader settles without proof, so the fee for reading is 0.
        field(196_608u64),
        field(0u64),
        // The invocation has no inputs, because the execution supplies the inputs.
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
fun withdraw_remainder_aborts_before_the_closing() {
    let (mut runner, execution, invocation, _) = request_attempt();
    let mut invocation = take(&mut runner, invocation);
    let _rest = invocation.withdraw_remainder(&execution);
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun withdraw_remainder_aborts_for_another_object() {
    let (mut runner, _execution, invocation, lee) = request_attempt();
    settle(&mut runner, invocation, lee);
    let mut invocation = take(&mut runner, invocation);
    let other = object::new(runner.scenario().ctx());
    let _rest = invocation.withdraw_remainder(&other);
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun delete_attempt_aborts_for_another_object() {
    let (mut runner, _execution, invocation, lee) = request_attempt();
    settle(&mut runner, invocation, lee);
    let invocation = take(&mut runner, invocation);
    let other = object::new(runner.scenario().ctx());
    invocation.delete_attempt(&other);
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun withdraw_remainder_aborts_for_an_invocation_without_attempt() {
    let (mut runner, execution, _, lee) = request_attempt();
    let invocation = runner.request(BOB, ADD, vector[lee]);
    settle(&mut runner, invocation, lee);
    let mut invocation = take(&mut runner, invocation);
    let _rest = invocation.withdraw_remainder(&execution);
    abort
}

#[test, expected_failure(abort_code = invocation::EIsAttempt)]
fun delete_aborts_for_an_attempt() {
    let (mut runner, _execution, invocation, lee) = request_attempt();
    settle(&mut runner, invocation, lee);
    let invocation = take(&mut runner, invocation);
    invocation.delete(runner.scenario().ctx());
    abort
}

#[test, expected_failure(abort_code = signed_outcome::EIsAttempt)]
fun signed_outcome_settle_aborts_for_an_attempt() {
    let (mut runner, _execution, invocation, lee) = request_attempt();
    runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let signature = test_runner::text(64, 0);
        signed_outcome::settle(invocation, leader, ok(), sum(), key(1), signature, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun settle_attempt_aborts_for_another_object() {
    let (mut runner, _execution, invocation, lee) = request_attempt();
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
fun fail_stores_a_detail_up_to_the_outcome_limit() {
    let (mut runner, execution, id, lee) = request_attempt_with(ADD, true);
    let invocation = fail_with_detail(&mut runner, id, lee, 100);
    assert_eq!(*invocation.state(), stored_failure(lee, 100));
    // The leader receives 7 600 MIST for each byte of the detail.
    assert_eq!(invocation.payment_mist(), PAYMENT_MIST - 1_520_000 - 760_000);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

#[test]
fun fail_drops_a_detail_above_the_outcome_limit() {
    let (mut runner, execution, id, lee) = request_attempt_with(ADD, true);
    let invocation = fail_with_detail(&mut runner, id, lee, 101);
    assert_eq!(*invocation.state(), stored_failure(lee, 0));
    assert_eq!(invocation.payment_mist(), PAYMENT_MIST - 1_520_000);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

#[test]
fun fail_drops_a_detail_that_no_edge_reads() {
    let (mut runner, execution, id, lee) = request_attempt();
    let invocation = fail_with_detail(&mut runner, id, lee, 1);
    assert_eq!(*invocation.state(), stored_failure(lee, 0));
    assert_eq!(invocation.payment_mist(), PAYMENT_MIST - 1_520_000);
    test_scenario::return_shared(invocation);
    execution.delete();
    runner.end();
}

// === On-chain tools ===

#[test]
fun open_attempt_uses_the_inputs_of_the_execution() {
    let (mut runner, execution, invocation, lee) = request_attempt_of(COUNT);
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
fun open_aborts_for_an_attempt() {
    let (mut runner, _execution, invocation, lee) = request_attempt_of(COUNT);
    on_chain_runner::call_tx!(&mut runner, LEE, COUNT, invocation, lee, |tool, invocation, leader, clock, ctx| {
        on_chain_call::open(invocation, tool).close(invocation, leader, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun open_attempt_aborts_for_another_object() {
    let (mut runner, _execution, invocation, lee) = request_attempt_of(COUNT);
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

/// Create an object of Bob, and request the first attempt for this object from Lee's leader.
fun request_attempt(): (Runner, UID, ID, ID) { request_attempt_of(ADD) }

/// Request an attempt like `request_attempt`, for `ADD` or for an on-chain tool that counts.
fun request_attempt_of(fqn: vector<u8>): (Runner, UID, ID, ID) { request_attempt_with(fqn, false) }

/// Request an attempt like `request_attempt_of`, which may store the detail of a failure.
fun request_attempt_with(fqn: vector<u8>, stores_failure_detail: bool): (Runner, UID, ID, ID) {
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
        &settlement::for_tool(&tool),
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
        stores_failure_detail,
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

/// Fail the invocation with a detail of `bytes` bytes, and return it.
fun fail_with_detail(runner: &mut Runner, invocation: ID, lee: ID, bytes: u64): Invocation {
    runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), test_runner::text(bytes, 0x61));
        assert!(invocation.fail(leader, reason, detail.to_string(), clock, ctx));
    });
    take(runner, invocation)
}

/// Return the state after `fail_with_detail` if `bytes` bytes of the detail were stored.
fun stored_failure(lee: ID, bytes: u64): State {
    let detail = test_runner::text(bytes, 0x61).to_string();
    state::failed(b"timed_out".to_ascii_string(), detail, lee, 1_000_000)
}

fun take(runner: &mut Runner, invocation: ID): Invocation {
    runner.next_tx(BOB).take_shared_by_id<Invocation>(invocation)
}
