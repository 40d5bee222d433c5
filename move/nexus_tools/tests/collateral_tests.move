#[test_only]
module nexus_tools::collateral_tests;

use nexus_tools::collateral;
use nexus_tools::collateral_runner::{
    cancel_slash,
    cancel_unregister,
    claim,
    claimed_collateral,
    end,
    lock,
    locked_collateral,
    new_clock,
    propose,
    unregister,
    unregistered_collateral,
};
use nexus_tools::test_runner::assert_paid_at_most;
use std::unit_test::{assert_eq, destroy};

const OWNER: address = @0xA;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

// === Locking ===

#[test]
fun empty_collateral_has_no_balance() {
    let collateral = collateral::empty();
    assert_eq!(collateral.balance_mist(), 0);
    assert_eq!(collateral.required_mist(), 0);
    assert_eq!(collateral.shortfall_mist(), 0);
    assert_eq!(collateral.slashable_mist(), 0);
    assert_eq!(collateral.delay_ms(), 0);
    assert_eq!(collateral.unregistered_at_ms(), option::none());
    assert!(collateral.is_claimed());
    assert!(!collateral.is_sufficient());
    assert!(!collateral.is_active());
    destroy(collateral);
}

#[test]
fun lock_makes_the_collateral_active() {
    let (collateral, clock) = locked_collateral();
    assert_eq!(collateral.balance_mist(), 100);
    assert_eq!(collateral.required_mist(), 100);
    assert_eq!(collateral.shortfall_mist(), 0);
    assert_eq!(collateral.slashable_mist(), 50);
    assert_eq!(collateral.locked_for_slash_mist(&clock), 0);
    assert_eq!(collateral.delay_ms(), 1_000);
    assert!(!collateral.is_unregistered());
    assert!(!collateral.has_pending_slash(&clock));
    assert!(!collateral.is_claimed());
    assert!(collateral.is_sufficient());
    assert!(collateral.is_active());
    end(collateral, clock);
}

#[test]
fun lock_accepts_more_than_the_minimum_and_a_shorter_delay() {
    let (mut collateral, clock) = (collateral::empty(), new_clock());
    lock(&mut collateral, 101, 100, 999, 1_000, &clock);
    assert_eq!(collateral.required_mist(), 101);
    assert_eq!(collateral.delay_ms(), 999);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ECollateralTooSmall)]
fun lock_aborts_below_the_minimum() {
    let (mut collateral, clock) = (collateral::empty(), new_clock());
    lock(&mut collateral, 99, 100, 1_000, 1_000, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EDelayTooLong)]
fun lock_aborts_when_the_delay_is_too_long() {
    let (mut collateral, clock) = (collateral::empty(), new_clock());
    lock(&mut collateral, 100, 100, 1_001, 1_000, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotClaimed)]
fun lock_aborts_before_a_claim() {
    let (mut collateral, clock) = locked_collateral();
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    abort
}

#[test]
fun are_valid_terms_accepts_values_up_to_the_bounds() {
    assert!(collateral::are_valid_terms(100_000_000, HOUR_MS));
    assert!(collateral::are_valid_terms(1_000_000_000_000, 7 * DAY_MS));
    assert!(!collateral::are_valid_terms(99_999_999, HOUR_MS));
    assert!(!collateral::are_valid_terms(1_000_000_000_001, HOUR_MS));
    assert!(!collateral::are_valid_terms(100_000_000, HOUR_MS - 1));
    assert!(!collateral::are_valid_terms(100_000_000, 7 * DAY_MS + 1));
}

// === Claims ===

#[test]
fun claim_pays_the_sender_after_the_delay() {
    let (mut collateral, mut clock) = locked_collateral();
    clock.set_for_testing(500);
    unregister(&mut collateral, &clock);
    assert_eq!(collateral.unregistered_at_ms(), option::some(500));
    assert_eq!(collateral.claimable_at_ms(), 1_500);
    assert!(collateral.is_unregistered());
    assert!(collateral.is_sufficient());
    assert!(!collateral.is_active());
    clock.set_for_testing(1_500);
    assert_eq!(claim(&mut collateral, &clock), 100);
    assert_paid_at_most(OWNER, 100);
    assert!(collateral.is_claimed());
    assert!(!collateral.is_unregistered());
    end(collateral, clock);
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun claim_pays_no_less_than_the_collateral() {
    let (mut collateral, mut clock) = unregistered_collateral();
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    assert_paid_at_most(OWNER, 99);
    abort
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun claim_aborts_a_millisecond_before_the_delay_ends() {
    let (mut collateral, mut clock) = unregistered_collateral();
    clock.set_for_testing(999);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun claim_aborts_without_an_unregistration() {
    let (mut collateral, mut clock) = locked_collateral();
    clock.set_for_testing(1_000_000);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EAlreadyClaimed)]
fun claim_aborts_the_second_time() {
    let (mut collateral, clock) = claimed_collateral();
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun claimable_at_ms_aborts_without_an_unregistration() {
    let (collateral, _clock) = locked_collateral();
    collateral.claimable_at_ms();
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun claim_aborts_after_a_cancelled_unregistration() {
    let (mut collateral, mut clock) = unregistered_collateral();
    cancel_unregister(&mut collateral);
    assert!(collateral.is_active());
    clock.set_for_testing(1_000_000);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun cancel_unregister_aborts_without_an_unregistration() {
    let (mut collateral, _clock) = locked_collateral();
    cancel_unregister(&mut collateral);
    abort
}

#[test, expected_failure(abort_code = collateral::EAlreadyUnregistered)]
fun unregister_aborts_the_second_time() {
    let (mut collateral, clock) = unregistered_collateral();
    unregister(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EAlreadyClaimed)]
fun unregister_aborts_after_the_claim() {
    let (mut collateral, clock) = claimed_collateral();
    unregister(&mut collateral, &clock);
    abort
}

#[test]
fun lock_after_a_claim_resets_all_values() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 50, &clock);
    cancel_slash(&mut collateral, &clock);
    unregister(&mut collateral, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    assert_eq!(collateral.slashable_mist(), 0);
    lock(&mut collateral, 200, 200, 2_000, 2_000, &clock);
    assert!(collateral.is_active());
    assert_eq!(collateral.balance_mist(), 200);
    assert_eq!(collateral.slashable_mist(), 100);
    unregister(&mut collateral, &clock);
    assert_eq!(collateral.claimable_at_ms(), 3_000);
    end(collateral, clock);
}
