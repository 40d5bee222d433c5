#[test_only]
module nexus_tools::leader_registry_tests;

use nexus_tools::admin::AdminCap;
use nexus_tools::collateral;
use nexus_tools::leader_registry::{Self, LeaderCap};
use nexus_tools::test_runner::{Self, Runner};
use nexus_tools::version;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const LEE: address = @0x1;
const MAX: address = @0x2;
const UMA: address = @0x3;

const COLLATERAL_MIST: u64 = 10_000_000_000;
const WEEK_MS: u64 = 604_800_000;
const DAY_MS: u64 = 86_400_000;

// === Registration ===

#[test]
fun registered_leader_is_active_when_it_says_so() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, b"Lee");
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| {
        let leader = object::id(cap);
        assert!(!leaders.is_active(leader));
        leaders.activate(cap);
        assert!(leaders.is_active(leader));
        leaders.deactivate(cap);
        assert!(!leaders.is_active(leader));
        assert_eq!(leaders.collateral(leader).balance_mist(), COLLATERAL_MIST);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ECollateralTooSmall)]
fun collateral_is_not_less_than_required() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST - 1, b"Lee");
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EDelayTooLong)]
fun leader_is_not_bound_for_longer_than_it_consents_to() {
    let mut runner = test_runner::start();
    runner.tx!(LEE, |_, leaders, _, ctx| {
        let collateral = test_runner::mint(COLLATERAL_MIST, ctx);
        let cap = leaders.register(collateral, WEEK_MS - 1, b"Lee".to_string(), ctx);
        transfer::public_transfer(cap, LEE);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENameTooLong)]
fun name_is_limited() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, vector::tabulate!(201, |_| 0x61));
    runner.end();
}

#[test]
fun listed_address_is_admitted() {
    let mut runner = test_runner::start();
    admit(&mut runner, option::some(vector[LEE]));
    register(&mut runner, COLLATERAL_MIST, b"Lee");
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotAdmitted)]
fun other_address_is_not_admitted() {
    let mut runner = test_runner::start();
    admit(&mut runner, option::some(vector[MAX]));
    register(&mut runner, COLLATERAL_MIST, b"Lee");
    runner.end();
}

#[test]
fun everyone_is_admitted_again() {
    let mut runner = test_runner::start();
    admit(&mut runner, option::some(vector[]));
    admit(&mut runner, option::none());
    register(&mut runner, COLLATERAL_MIST, b"Lee");
    runner.end();
}

// === Activity ===

#[test, expected_failure(abort_code = leader_registry::EAlreadyActive)]
fun leader_is_activated_once() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| leaders.activate(cap));
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotActive)]
fun leader_is_deactivated_once() {
    let mut runner = test_runner::start();
    register(&mut runner, COLLATERAL_MIST, b"Lee");
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| leaders.deactivate(cap));
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotInForce)]
fun unregistered_leader_is_not_activated() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    unregister(&mut runner);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| leaders.activate(cap));
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotInForce)]
fun suspended_leader_is_not_activated() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.slash_leader(leader, 1);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| leaders.activate(cap));
    runner.end();
}

// === Responsibility ===

#[test]
fun nobody_is_responsible_without_leaders() {
    let mut runner = test_runner::start();
    runner.tx!(ADMIN, |_, leaders, _, _| assert!(leaders.responsible(&b"a").is_empty()));
    runner.end();
}

#[test]
fun one_leader_is_responsible_alone() {
    let mut runner = test_runner::start();
    let lee = runner.register_leader(LEE);
    runner.tx!(ADMIN, |_, leaders, _, _| {
        assert_eq!(leaders.responsible(&b"a"), vector[lee]);
    });
    runner.end();
}

/// The digests were computed apart from this package.
#[test]
fun digest_of_the_key_chooses_primary_and_secondary() {
    let mut runner = test_runner::start();
    let lee = runner.register_leader(LEE);
    let max = runner.register_leader(MAX);
    let uma = runner.register_leader(UMA);
    runner.tx!(ADMIN, |_, leaders, _, _| {
        assert_eq!(leaders.responsible(&b"a"), vector[max, uma]);
        assert_eq!(leaders.responsible(&b"b"), vector[lee, max]);
        assert_eq!(leaders.responsible(&b"d"), vector[uma, lee]);
        assert_eq!(leaders.responsible(&b"f"), vector[max, lee]);
        assert_eq!(leaders.responsible(&b"j"), vector[lee, uma]);
        assert_eq!(leaders.responsible(&b"k"), vector[uma, max]);
    });
    runner.end();
}

// === Leaving ===

#[test]
fun unregistered_leader_gets_its_collateral_back_after_the_delay() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    unregister(&mut runner);
    runner.tx!(ADMIN, |_, leaders, _, _| assert!(!leaders.is_active(leader)));
    runner.advance(WEEK_MS);
    assert_eq!(claim(&mut runner), COLLATERAL_MIST);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun collateral_is_not_claimed_before_the_delay_ends() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    unregister(&mut runner);
    runner.advance(WEEK_MS - 1);
    claim(&mut runner);
    runner.end();
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun registered_leader_does_not_claim_its_collateral() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    runner.advance(WEEK_MS);
    claim(&mut runner);
    runner.end();
}

#[test]
fun leader_stays_when_it_cancels() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    unregister(&mut runner);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| {
        leaders.cancel_unregister(cap);
        leaders.activate(cap);
        assert!(leaders.is_active(leader));
    });
    runner.end();
}

// === Admin ===

#[test]
fun slashed_leader_is_suspended_until_it_tops_up() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    assert_eq!(runner.slash_leader(leader, 4_000_000_000), 4_000_000_000);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, ctx| {
        assert!(!leaders.is_active(leader));
        leaders.top_up(cap, test_runner::mint(4_000_000_000, ctx));
        leaders.activate(cap);
        assert!(leaders.is_active(leader));
    });
    runner.end();
}

#[test]
fun unregistered_leader_is_slashed() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    unregister(&mut runner);
    runner.slash_leader(leader, 4_000_000_000);
    runner.advance(WEEK_MS);
    assert_eq!(claim(&mut runner), 6_000_000_000);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EUnknownLeader)]
fun unknown_leader_is_not_slashed() {
    let mut runner = test_runner::start();
    runner.propose_leader_slash(object::id_from_address(@0xBAD), 1);
    runner.end();
}

#[test]
fun pending_slash_holds_back_its_amount_alone() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    unregister(&mut runner);
    runner.advance(WEEK_MS);
    runner.propose_leader_slash(leader, 4_000_000_000);
    assert_eq!(claim(&mut runner), 6_000_000_000);
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, _| {
        leaders.cancel_slash(cap, leader, clock);
    });
    assert_eq!(claim(&mut runner), 4_000_000_000);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EUnknownLeader)]
fun leader_that_claimed_is_deleted() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    unregister(&mut runner);
    runner.advance(WEEK_MS);
    claim(&mut runner);
    delete(&mut runner);
    runner.tx!(ADMIN, |_, leaders, _, _| {
        leaders.collateral(leader);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotClaimed)]
fun leader_with_collateral_is_not_deleted() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    delete(&mut runner);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotInForce)]
fun leader_that_claimed_is_not_activated() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    unregister(&mut runner);
    runner.advance(WEEK_MS);
    claim(&mut runner);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| {
        leaders.cancel_unregister(cap);
        leaders.activate(cap);
    });
    runner.end();
}

#[test]
fun settings_reach_the_next_leader_only() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    configure(&mut runner, DAY_MS, 3);
    runner.tx!(ADMIN, |_, leaders, _, _| {
        assert_eq!(leaders.settings().collateral_mist(), 2_000_000_000);
        assert_eq!(leaders.settings().unregister_delay_ms(), DAY_MS);
        assert_eq!(leaders.settings().settle_fee_mist(), 4);
        assert_eq!(leaders.settings().fail_fee_mist(), 3);
        assert_eq!(leaders.settings().fee_per_input_byte_mist(), 5);
        assert_eq!(leaders.settings().fee_per_outcome_byte_mist(), 6);
        assert_eq!(leaders.settings().grace_ms(), 7_000);
        assert_eq!(leaders.settings().max_ports_bytes(), 8);
        assert_eq!(leaders.collateral(leader).required_mist(), COLLATERAL_MIST);
        assert_eq!(leaders.collateral(leader).delay_ms(), WEEK_MS);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun collateral_is_not_held_for_more_than_a_week() {
    let mut runner = test_runner::start();
    configure(&mut runner, WEEK_MS + 1, 3);
    runner.end();
}

#[test]
fun grace_goes_as_far_as_its_bounds() {
    let mut runner = test_runner::start();
    set(&mut runner, true, DAY_MS, 3, 5_000);
    set(&mut runner, true, DAY_MS, 3, 60_000);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun grace_is_at_least_five_seconds() {
    let mut runner = test_runner::start();
    set(&mut runner, true, DAY_MS, 3, 4_999);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun grace_is_at_most_a_minute() {
    let mut runner = test_runner::start();
    set(&mut runner, true, DAY_MS, 3, 60_001);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun registry_that_accepts_nothing_takes_no_new_leader() {
    let mut runner = test_runner::start();
    set(&mut runner, false, DAY_MS, 3, 7_000);
    runner.register_leader(LEE);
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun failure_does_not_pay_more_than_settlement() {
    let mut runner = test_runner::start();
    configure(&mut runner, DAY_MS, 5);
    runner.end();
}

#[test]
fun newest_version_works_once_the_registry_is_migrated() {
    let mut runner = test_runner::start();
    runner.tx!(ADMIN, |_, leaders, _, _| leaders.set_version_for_testing(0));
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| leaders.migrate(cap));
    runner.register_leader(LEE);
    runner.end();
}

#[test, expected_failure(abort_code = version::EAlreadyMigrated)]
fun registry_is_not_migrated_twice() {
    let mut runner = test_runner::start();
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| leaders.migrate(cap));
    runner.end();
}

// === Helpers ===

fun register(runner: &mut Runner, collateral_mist: u64, name: vector<u8>) {
    runner.tx!(LEE, |_, leaders, _, ctx| {
        let cap = leaders.register(
            test_runner::mint(collateral_mist, ctx),
            WEEK_MS,
            name.to_string(),
            ctx,
        );
        transfer::public_transfer(cap, LEE);
    });
}

fun unregister(runner: &mut Runner) {
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, _| leaders.unregister(cap, clock));
}

fun claim(runner: &mut Runner): u64 {
    let claimed_mist;
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, ctx| {
        claimed_mist = leaders.claim(cap, clock, ctx).burn_for_testing();
    });
    claimed_mist
}

fun delete(runner: &mut Runner) {
    let cap = runner.next_tx(LEE).take_from_sender<LeaderCap>();
    runner.tx!(LEE, |_, leaders, _, _| leaders.delete(cap));
}

fun admit(runner: &mut Runner, addresses: Option<vector<address>>) {
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| leaders.admit(cap, addresses));
}

fun configure(runner: &mut Runner, unregister_delay_ms: u64, fail_fee_mist: u64) {
    set(runner, true, unregister_delay_ms, fail_fee_mist, 7_000);
}

fun set(
    runner: &mut Runner,
    accepting: bool,
    delay_ms: u64,
    fail_fee_mist: u64,
    grace_ms: u64,
) {
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| {
        leaders.configure(
            cap,
            accepting,
            2_000_000_000,
            delay_ms,
            4,
            fail_fee_mist,
            5,
            6,
            grace_ms,
            8,
        );
        assert_eq!(leaders.settings().is_accepting(), accepting);
    });
}
