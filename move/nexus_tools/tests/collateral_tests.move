#[test_only]
module nexus_tools::collateral_tests;

use nexus_tools::collateral;
use nexus_tools::collateral_runner::{
    cancel_slash,
    cancel_unregister,
    claim,
    claimed,
    end,
    lock,
    locked,
    new_clock,
    propose,
    unregister,
    unregistered,
};
use nexus_tools::test_runner::assert_paid_at_most;
use std::unit_test::{assert_eq, destroy};

const OWNER: address = @0xA;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

// === Locking ===

#[test]
fun nothing_is_there_before_it_is_locked() {
    let collateral = collateral::none();
    assert_eq!(collateral.balance_mist(), 0);
    assert_eq!(collateral.required_mist(), 0);
    assert_eq!(collateral.shortfall_mist(), 0);
    assert_eq!(collateral.slashable_mist(), 0);
    assert_eq!(collateral.delay_ms(), 0);
    assert_eq!(collateral.unregistered_at_ms(), option::none());
    assert!(collateral.is_claimed());
    assert!(!collateral.is_whole());
    assert!(!collateral.is_in_force());
    destroy(collateral);
}

#[test]
fun locked_collateral_is_in_force() {
    let (collateral, clock) = locked();
    assert_eq!(collateral.balance_mist(), 100);
    assert_eq!(collateral.required_mist(), 100);
    assert_eq!(collateral.shortfall_mist(), 0);
    assert_eq!(collateral.slashable_mist(), 50);
    assert_eq!(collateral.held_back_mist(&clock), 0);
    assert_eq!(collateral.delay_ms(), 1_000);
    assert!(!collateral.is_unregistered());
    assert!(!collateral.has_pending_slash(&clock));
    assert!(!collateral.is_claimed());
    assert!(collateral.is_whole());
    assert!(collateral.is_in_force());
    end(collateral, clock);
}

#[test]
fun more_than_the_least_may_be_locked_for_less_than_consented_to() {
    let (mut collateral, clock) = (collateral::none(), new_clock());
    lock(&mut collateral, 101, 100, 999, 1_000, &clock);
    assert_eq!(collateral.required_mist(), 101);
    assert_eq!(collateral.delay_ms(), 999);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ECollateralTooSmall)]
fun no_less_than_the_least_is_locked() {
    let (mut collateral, clock) = (collateral::none(), new_clock());
    lock(&mut collateral, 99, 100, 1_000, 1_000, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun owner_is_not_bound_for_longer_than_it_consents_to() {
    let (mut collateral, clock) = (collateral::none(), new_clock());
    lock(&mut collateral, 100, 100, 1_001, 1_000, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotClaimed)]
fun collateral_is_locked_once() {
    let (mut collateral, clock) = locked();
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    abort
}

#[test]
fun terms_go_as_far_as_their_bounds() {
    assert!(collateral::are_terms(100_000_000, HOUR_MS));
    assert!(collateral::are_terms(1_000_000_000_000, 7 * DAY_MS));
    assert!(!collateral::are_terms(99_999_999, HOUR_MS));
    assert!(!collateral::are_terms(1_000_000_000_001, HOUR_MS));
    assert!(!collateral::are_terms(100_000_000, HOUR_MS - 1));
    assert!(!collateral::are_terms(100_000_000, 7 * DAY_MS + 1));
}

// === Coming back ===

#[test]
fun collateral_comes_back_to_the_sender_when_the_delay_is_over() {
    let (mut collateral, mut clock) = locked();
    clock.set_for_testing(500);
    unregister(&mut collateral, &clock);
    assert_eq!(collateral.unregistered_at_ms(), option::some(500));
    assert_eq!(collateral.claimable_at_ms(), 1_500);
    assert!(collateral.is_unregistered());
    assert!(collateral.is_whole());
    assert!(!collateral.is_in_force());
    clock.set_for_testing(1_500);
    assert_eq!(claim(&mut collateral, &clock), 100);
    assert_paid_at_most(OWNER, 100);
    assert!(collateral.is_claimed());
    assert!(!collateral.is_unregistered());
    end(collateral, clock);
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun no_less_than_the_collateral_comes_back() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    assert_paid_at_most(OWNER, 99);
    abort
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun collateral_does_not_come_back_a_millisecond_before() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(999);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun collateral_does_not_come_back_without_an_unregistration() {
    let (mut collateral, mut clock) = locked();
    clock.set_for_testing(1_000_000);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EClaimed)]
fun collateral_comes_back_once() {
    let (mut collateral, clock) = claimed();
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun nothing_is_claimable_without_an_unregistration() {
    let (collateral, _clock) = locked();
    collateral.claimable_at_ms();
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun cancelled_unregistration_does_not_count() {
    let (mut collateral, mut clock) = unregistered();
    cancel_unregister(&mut collateral);
    assert!(collateral.is_in_force());
    clock.set_for_testing(1_000_000);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun unregistration_that_was_not_started_is_not_cancelled() {
    let (mut collateral, _clock) = locked();
    cancel_unregister(&mut collateral);
    abort
}

#[test, expected_failure(abort_code = collateral::EAlreadyUnregistered)]
fun unregistration_is_not_restarted() {
    let (mut collateral, clock) = unregistered();
    unregister(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EClaimed)]
fun claimed_collateral_is_not_unregistered() {
    let (mut collateral, clock) = claimed();
    unregister(&mut collateral, &clock);
    abort
}

#[test]
fun claimed_collateral_is_locked_anew_without_a_past() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 50, &clock);
    cancel_slash(&mut collateral, &clock);
    unregister(&mut collateral, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    assert_eq!(collateral.slashable_mist(), 0);
    lock(&mut collateral, 200, 200, 2_000, 2_000, &clock);
    assert!(collateral.is_in_force());
    assert_eq!(collateral.balance_mist(), 200);
    assert_eq!(collateral.slashable_mist(), 100);
    unregister(&mut collateral, &clock);
    assert_eq!(collateral.claimable_at_ms(), 3_000);
    end(collateral, clock);
}
