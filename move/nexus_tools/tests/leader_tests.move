#[test_only]
module nexus_tools::leader_tests;

use nexus_tools::collateral;
use nexus_tools::keys;
use nexus_tools::leader;
use nexus_tools::leader_registry;
use nexus_tools::owner;
use nexus_tools::roster;
use nexus_tools::slashing;
use nexus_tools::test_runner::{Self, Runner, key, mint, text};
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const COLLATERAL_MIST: u64 = 10_000_000_000;
const WEEK_MS: u64 = 604_800_000;

// === Registration ===

#[test]
fun register_returns_an_inactive_leader() {
    let mut runner = test_runner::start();
    let leader = register(&mut runner, COLLATERAL_MIST, WEEK_MS, b"Lee", vector[LEE, MAX]);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, _| {
        assert!(!leader.is_active());
        assert_eq!(object::id(leader), leaders.leader_id(0));
        assert_eq!(leader.name(), b"Lee".to_string());
        assert_eq!(leader.owner().owner(), LEE);
        assert!(leader.is_worker(LEE));
        assert!(leader.is_worker(MAX));
        assert!(!leader.is_worker(BOB));
        assert!(leader.keys().is_empty());
        assert_eq!(leader.collateral().balance_mist(), COLLATERAL_MIST);
        assert_eq!(leader.collateral().delay_ms(), WEEK_MS);
        assert!(leader.collateral().is_active());
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ECollateralTooSmall)]
fun register_aborts_below_the_minimum_collateral() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST - 1, WEEK_MS, b"Lee", vector[]);
    runner.end();
}

#[test]
fun register_accepts_more_than_the_minimum_collateral() {
    let mut runner = test_runner::start();
    let leader = register(&mut runner, COLLATERAL_MIST + 1, WEEK_MS + 1, b"Lee", vector[]);
    runner.leader_tx!(LEE, leader, |leader, _, _, _| {
        assert_eq!(leader.collateral().required_mist(), COLLATERAL_MIST + 1);
        assert_eq!(leader.collateral().delay_ms(), WEEK_MS);
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun register_aborts_when_the_delay_is_too_long() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS - 1, b"Lee", vector[]);
    runner.end();
}

#[test]
fun register_accepts_a_name_of_200_bytes() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS, text(200, 0x61), vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = leader::ENameTooLong)]
fun register_aborts_for_a_name_of_201_bytes() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS, text(201, 0x61), vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun register_aborts_for_duplicate_workers() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS, b"Lee", vector[LEE, LEE]);
    runner.end();
}

// === Activity ===

#[test]
fun activate_and_deactivate_change_the_state() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        assert!(leader.is_active());
        leader.deactivate(ctx);
        assert!(!leader.is_active());
        leader.activate(leaders, ctx);
        assert!(leader.is_active());
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader::EAlreadyActive)]
fun activate_aborts_for_an_active_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.activate(leaders, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = leader::ENotActive)]
fun deactivate_aborts_for_an_inactive_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| {
        leader.deactivate(ctx);
        leader.deactivate(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader::ECollateralInactive)]
fun activate_aborts_for_an_unregistered_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
        leader.activate(leaders, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader::ECollateralInactive)]
fun activate_aborts_for_a_suspended_leader() {
    let (mut runner, leader) = lee();
    runner.slash_leader(leader, 1);
    // The leader was active earlier, but the error still reports the collateral.
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.activate(leaders, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun activate_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.deactivate(ctx));
    runner.leader_tx!(BOB, leader, |leader, leaders, _, ctx| leader.activate(leaders, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun deactivate_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.deactivate(ctx));
    runner.end();
}

// === Unregistration and re-registration ===

#[test]
fun claim_pays_the_collateral_after_the_delay() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.leader_tx!(LEE, leader, |leader, _, _, _| assert!(!leader.is_active()));
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim_leader(LEE, leader), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun claim_aborts_before_the_delay_ends() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS - 1);
    runner.claim_leader(LEE, leader);
    runner.end();
}

#[test]
fun cancel_unregister_makes_the_leader_active_again() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.cancel_unregister(leaders, ctx);
        assert!(leader.is_active());
    });
    runner.end();
}

#[test]
fun re_register_restores_the_previous_activity() {
    let (mut runner, leader) = lee_claimed();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        assert!(!leader.is_active());
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS, clock, ctx);
        assert!(leader.is_active());
        assert_eq!(leader.collateral().balance_mist(), COLLATERAL_MIST);
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun re_register_aborts_when_the_delay_is_too_long() {
    let (mut runner, leader) = lee_claimed();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS - 1, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun unregister_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(BOB, leader);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun cancel_unregister_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.leader_tx!(BOB, leader, |leader, leaders, _, ctx| {
        leader.cancel_unregister(leaders, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun claim_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(BOB, leader);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun re_register_aborts_for_another_sender() {
    let (mut runner, leader) = lee_claimed();
    runner.leader_tx!(BOB, leader, |leader, leaders, clock, ctx| {
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun re_register_aborts_while_the_registry_accepts_nothing() {
    let (mut runner, leader) = lee_claimed();
    runner.configure_leaders(false);
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS, clock, ctx);
    });
    runner.end();
}

// === Workers and keys ===

#[test]
fun add_worker_and_remove_worker_change_the_list() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.add_worker(leaders, MAX, ctx);
        assert!(leader.is_worker(MAX));
        leader.remove_worker(LEE, ctx);
        assert!(!leader.is_worker(LEE));
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun add_worker_aborts_for_a_worker() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(MAX, leader, |leader, leaders, _, ctx| leader.add_worker(leaders, BOB, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun remove_worker_aborts_for_a_worker() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(MAX, leader, |leader, _, _, ctx| leader.remove_worker(LEE, ctx));
    runner.end();
}

#[test]
fun add_key_and_remove_key_change_the_list() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.add_key(leaders, key(1), ctx);
        leader.add_key(leaders, key(2), ctx);
        assert_eq!(*leader.keys().keys(), vector[key(1), key(2)]);
        leader.remove_key(key(1), ctx);
        assert_eq!(*leader.keys().keys(), vector[key(2)]);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun add_key_aborts_for_a_worker() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(MAX, leader, |leader, leaders, _, ctx| leader.add_key(leaders, key(2), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun remove_key_aborts_for_a_worker() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.add_key(leaders, key(1), ctx));
    runner.leader_tx!(MAX, leader, |leader, _, _, ctx| leader.remove_key(key(1), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = keys::EUnknownKey)]
fun remove_key_aborts_for_an_unknown_key() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.remove_key(key(1), ctx));
    runner.end();
}

// === Ownership ===

#[test]
fun accept_replaces_the_workers_and_removes_the_keys() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.offer(option::some(BOB), ctx);
        // Workers and keys that are added after the offer are also removed.
        leader.add_worker(leaders, MAX, ctx);
        leader.add_key(leaders, key(1), ctx);
    });
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| {
        assert_eq!(leader.owner().pending_owner(), option::some(BOB));
        leader.accept(vector[BOB, @0xC], ctx);
        assert_eq!(leader.owner().owner(), BOB);
        assert_eq!(leader.owner().pending_owner(), option::none());
        assert!(!leader.is_worker(LEE));
        assert!(!leader.is_worker(MAX));
        assert!(leader.is_worker(BOB));
        assert!(leader.is_worker(@0xC));
        assert!(leader.keys().is_empty());
        assert!(leader.is_active());
        assert_eq!(leader.collateral().balance_mist(), COLLATERAL_MIST);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun accept_aborts_for_duplicate_workers() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.offer(option::some(BOB), ctx));
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.accept(vector[BOB, BOB], ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun offer_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.offer(option::some(BOB), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.accept(vector[BOB], ctx));
    runner.end();
}

// === Admin ===

#[test]
fun top_up_ends_the_suspension() {
    let (mut runner, leader) = lee();
    runner.slash_leader(leader, 4_000_000_000);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        assert!(!leader.is_active());
        leader.top_up(leaders, mint(4_000_000_000, ctx), ctx);
        assert!(leader.is_active());
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun top_up_aborts_for_another_sender() {
    let (mut runner, leader) = lee();
    runner.slash_leader(leader, 1);
    runner.leader_tx!(BOB, leader, |leader, leaders, _, ctx| {
        leader.top_up(leaders, mint(1, ctx), ctx);
    });
    runner.end();
}

#[test]
fun slash_works_for_an_unregistered_leader() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.slash_leader(leader, 4_000_000_000);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim_leader(LEE, leader), 6_000_000_000);
    runner.end();
}

#[test]
fun claim_pays_all_but_the_amount_of_a_pending_slash() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS - 1);
    runner.propose_leader_slash(leader, 4_000_000_000);
    runner.advance(1);
    assert_eq!(runner.claim_leader(LEE, leader), 6_000_000_000);
    runner.leader_admin_tx!(ADMIN, leader, |leader, admin, _, clock, ctx| {
        slashing::cancel_for_leader(leader, admin, clock, ctx);
    });
    assert_eq!(runner.claim_leader(LEE, leader), 4_000_000_000);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayOver)]
fun propose_slash_aborts_after_the_delay() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.propose_leader_slash(leader, 1);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun propose_slash_aborts_for_the_owner() {
    let (mut runner, leader) = lee();
    runner.leader_admin_tx!(LEE, leader, |leader, admin, leaders, clock, ctx| {
        let (reason, evidence_digest) = (b"It lied.".to_string(), test_runner::evidence_digest());
        slashing::propose_for_leader(leader, admin, leaders, 1, reason, evidence_digest, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun execute_slash_aborts_for_the_owner() {
    let (mut runner, leader) = lee();
    runner.propose_leader_slash(leader, 1);
    runner.advance(WEEK_MS);
    runner.leader_admin_tx!(LEE, leader, |leader, admin, leaders, clock, ctx| {
        slashing::execute_for_leader(leader, admin, leaders, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun cancel_slash_aborts_for_the_owner() {
    let (mut runner, leader) = lee();
    runner.propose_leader_slash(leader, 1);
    runner.leader_admin_tx!(LEE, leader, |leader, admin, _, clock, ctx| {
        slashing::cancel_for_leader(leader, admin, clock, ctx);
    });
    runner.end();
}

// === Helpers ===

/// Register and activate Lee's leader.
fun lee(): (Runner, ID) {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    (runner, leader)
}

/// Register, unregister and claim Lee's leader.
fun lee_claimed(): (Runner, ID) {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(LEE, leader);
    (runner, leader)
}

/// Register Lee's leader with Max as a second worker.
fun lee_with_worker_max(): (Runner, ID) {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.add_worker(leaders, MAX, ctx));
    (runner, leader)
}

fun register(
    runner: &mut Runner,
    collateral_mist: u64,
    max_delay_ms: u64,
    name: vector<u8>,
    workers: vector<address>,
): ID {
    runner.tx!(LEE, |_, leaders, clock, ctx| {
        let collateral = mint(collateral_mist, ctx);
        let name = name.to_string();
        leader::register(leaders, collateral, max_delay_ms, name, workers, clock, ctx).share();
    });
    runner.leader_id(0)
}
