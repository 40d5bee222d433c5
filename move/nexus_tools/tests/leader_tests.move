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
fun registered_leader_is_not_active_yet() {
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
        assert!(leader.collateral().is_in_force());
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ECollateralTooSmall)]
fun collateral_is_not_less_than_required() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST - 1, WEEK_MS, b"Lee", vector[]);
    runner.end();
}

#[test]
fun more_collateral_than_required_is_locked() {
    let mut runner = test_runner::start();
    let leader = register(&mut runner, COLLATERAL_MIST + 1, WEEK_MS + 1, b"Lee", vector[]);
    runner.leader_tx!(LEE, leader, |leader, _, _, _| {
        assert_eq!(leader.collateral().required_mist(), COLLATERAL_MIST + 1);
        assert_eq!(leader.collateral().delay_ms(), WEEK_MS);
    });
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun leader_is_not_bound_for_longer_than_it_consents_to() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS - 1, b"Lee", vector[]);
    runner.end();
}

#[test]
fun name_has_at_most_200_bytes() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS, text(200, 0x61), vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = leader::ENameTooLong)]
fun name_does_not_have_201_bytes() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS, text(201, 0x61), vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun worker_is_named_once() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, WEEK_MS, b"Lee", vector[LEE, LEE]);
    runner.end();
}

// === Activity ===

#[test]
fun leader_is_active_when_its_owner_says_so() {
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
fun leader_is_activated_once() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.activate(leaders, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = leader::ENotActive)]
fun leader_is_deactivated_once() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| {
        leader.deactivate(ctx);
        leader.deactivate(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader::ENotInForce)]
fun unregistered_leader_is_not_activated() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
        leader.activate(leaders, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader::ENotInForce)]
fun suspended_leader_is_not_activated() {
    let (mut runner, leader) = lee();
    runner.slash_leader(leader, 1);
    // It was accepting before, and hears what it lacks all the same.
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.activate(leaders, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_activate_a_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.deactivate(ctx));
    runner.leader_tx!(BOB, leader, |leader, leaders, _, ctx| leader.activate(leaders, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_deactivate_a_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.deactivate(ctx));
    runner.end();
}

// === Leaving and coming back ===

#[test]
fun unregistered_leader_gets_its_collateral_back_after_the_delay() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.leader_tx!(LEE, leader, |leader, _, _, _| assert!(!leader.is_active()));
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim_leader(LEE, leader), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun collateral_is_not_claimed_before_the_delay_ends() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS - 1);
    runner.claim_leader(LEE, leader);
    runner.end();
}

#[test]
fun leader_stays_when_it_cancels() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.cancel_unregister(leaders, ctx);
        assert!(leader.is_active());
    });
    runner.end();
}

#[test]
fun claimed_leader_comes_back_as_active_as_it_was() {
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
fun leader_that_comes_back_consents_to_the_delay_anew() {
    let (mut runner, leader) = lee_claimed();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS - 1, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_unregister_a_leader() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(BOB, leader);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_cancel_an_unregistration() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.leader_tx!(BOB, leader, |leader, leaders, _, ctx| {
        leader.cancel_unregister(leaders, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_claim_the_collateral() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(BOB, leader);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_re_register_a_leader() {
    let (mut runner, leader) = lee_claimed();
    runner.leader_tx!(BOB, leader, |leader, leaders, clock, ctx| {
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun claimed_leader_does_not_come_back_while_nothing_is_accepted() {
    let (mut runner, leader) = lee_claimed();
    runner.configure_leaders(false);
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.re_register(leaders, mint(COLLATERAL_MIST, ctx), WEEK_MS, clock, ctx);
    });
    runner.end();
}

// === Workers and keys ===

#[test]
fun owner_changes_the_workers() {
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
fun worker_does_not_add_a_worker() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(MAX, leader, |leader, leaders, _, ctx| leader.add_worker(leaders, BOB, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun worker_does_not_remove_a_worker() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(MAX, leader, |leader, _, _, ctx| leader.remove_worker(LEE, ctx));
    runner.end();
}

#[test]
fun owner_changes_the_keys() {
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
fun worker_does_not_add_a_key() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(MAX, leader, |leader, leaders, _, ctx| leader.add_key(leaders, key(2), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun worker_does_not_remove_a_key() {
    let (mut runner, leader) = lee_with_worker_max();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| leader.add_key(leaders, key(1), ctx));
    runner.leader_tx!(MAX, leader, |leader, _, _, ctx| leader.remove_key(key(1), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = keys::EUnknownKey)]
fun key_that_was_not_added_is_not_removed() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.remove_key(key(1), ctx));
    runner.end();
}

// === Ownership ===

#[test]
fun leader_is_passed_on_without_its_workers_and_keys() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.offer(option::some(BOB), ctx);
        // What is added after the offer is gone, too.
        leader.add_worker(leaders, MAX, ctx);
        leader.add_key(leaders, key(1), ctx);
    });
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| {
        assert_eq!(leader.owner().offered(), option::some(BOB));
        leader.accept(vector[BOB, @0xC], ctx);
        assert_eq!(leader.owner().owner(), BOB);
        assert_eq!(leader.owner().offered(), option::none());
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
fun who_accepts_a_leader_names_each_worker_once() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.offer(option::some(BOB), ctx));
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.accept(vector[BOB, BOB], ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_offer_a_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.offer(option::some(BOB), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun stranger_does_not_accept_a_leader() {
    let (mut runner, leader) = lee();
    runner.leader_tx!(BOB, leader, |leader, _, _, ctx| leader.accept(vector[BOB], ctx));
    runner.end();
}

// === Admin ===

#[test]
fun slashed_leader_is_suspended_until_it_tops_up() {
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
fun stranger_does_not_top_up_a_leader() {
    let (mut runner, leader) = lee();
    runner.slash_leader(leader, 1);
    runner.leader_tx!(BOB, leader, |leader, leaders, _, ctx| {
        leader.top_up(leaders, mint(1, ctx), ctx);
    });
    runner.end();
}

#[test]
fun unregistered_leader_is_slashed() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.slash_leader(leader, 4_000_000_000);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim_leader(LEE, leader), 6_000_000_000);
    runner.end();
}

#[test]
fun pending_slash_holds_back_its_amount_alone() {
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
fun leader_that_may_leave_is_not_slashed() {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.propose_leader_slash(leader, 1);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun owner_of_a_leader_does_not_propose_to_slash() {
    let (mut runner, leader) = lee();
    runner.leader_admin_tx!(LEE, leader, |leader, admin, leaders, clock, ctx| {
        let (reason, evidence) = (b"It lied.".to_string(), test_runner::evidence());
        slashing::propose_for_leader(leader, admin, leaders, 1, reason, evidence, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun owner_of_a_leader_does_not_execute_a_slash() {
    let (mut runner, leader) = lee();
    runner.propose_leader_slash(leader, 1);
    runner.advance(WEEK_MS);
    runner.leader_admin_tx!(LEE, leader, |leader, admin, leaders, clock, ctx| {
        slashing::execute_for_leader(leader, admin, leaders, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun owner_of_a_leader_does_not_cancel_a_slash() {
    let (mut runner, leader) = lee();
    runner.propose_leader_slash(leader, 1);
    runner.leader_admin_tx!(LEE, leader, |leader, admin, _, clock, ctx| {
        slashing::cancel_for_leader(leader, admin, clock, ctx);
    });
    runner.end();
}

// === Helpers ===

/// Lee's active leader.
fun lee(): (Runner, ID) {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    (runner, leader)
}

/// Lee's leader, unregistered and claimed.
fun lee_claimed(): (Runner, ID) {
    let (mut runner, leader) = lee();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(LEE, leader);
    (runner, leader)
}

/// Lee's leader, for which Max works, too.
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
