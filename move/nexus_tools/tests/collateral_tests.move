#[test_only]
module nexus_tools::collateral_tests;

use nexus_tools::collateral::{Self, Collateral};
use std::unit_test::{assert_eq, destroy};
use sui::balance;
use sui::clock::{Self, Clock};

#[test]
fun collateral_comes_back_when_the_delay_is_over() {
    let (mut collateral, mut clock) = lock();
    clock.set_for_testing(500);
    collateral.unregister(&clock);
    assert_eq!(collateral.claimable_at_ms(), 1_500);
    clock.set_for_testing(1_500);
    assert_eq!(collateral.claim(&clock).destroy_for_testing(), 100);
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun collateral_does_not_come_back_a_millisecond_before() {
    let (mut collateral, mut clock) = lock();
    clock.set_for_testing(500);
    collateral.unregister(&clock);
    clock.set_for_testing(1_499);
    claim(collateral, clock)
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun collateral_does_not_come_back_without_an_unregistration() {
    let (collateral, mut clock) = lock();
    clock.set_for_testing(1_000_000);
    claim(collateral, clock)
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun cancelled_unregistration_does_not_count() {
    let (mut collateral, mut clock) = lock();
    collateral.unregister(&clock);
    collateral.cancel_unregister();
    clock.set_for_testing(1_000_000);
    claim(collateral, clock)
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun unregistration_that_was_not_started_is_not_cancelled() {
    let (mut collateral, clock) = lock();
    collateral.cancel_unregister();
    claim(collateral, clock)
}

#[test, expected_failure(abort_code = collateral::EAlreadyUnregistered)]
fun unregistration_is_not_restarted() {
    let (mut collateral, clock) = lock();
    collateral.unregister(&clock);
    collateral.unregister(&clock);
    claim(collateral, clock)
}

#[test]
fun slashed_collateral_is_made_whole() {
    let (mut collateral, clock) = lock();
    assert_eq!(collateral.slash(30).destroy_for_testing(), 30);
    assert!(!collateral.is_whole());
    assert_eq!(collateral.shortfall_mist(), 30);
    collateral.top_up(balance::create_for_testing(30));
    assert!(collateral.is_in_force());
    destroy(collateral);
    clock.destroy_for_testing();
}

#[test]
fun slash_takes_no_more_than_there_is() {
    let (mut collateral, mut clock) = lock();
    collateral.unregister(&clock);
    assert_eq!(collateral.slash(101).destroy_for_testing(), 100);
    clock.set_for_testing(1_000);
    assert_eq!(collateral.claim(&clock).destroy_for_testing(), 0);
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::EEmpty)]
fun empty_collateral_is_not_slashed() {
    let (mut collateral, clock) = lock();
    collateral.slash(100).destroy_for_testing();
    collateral.slash(1).destroy_for_testing();
    claim(collateral, clock)
}

#[test, expected_failure(abort_code = collateral::EWrongTopUp)]
fun top_up_is_exactly_the_shortfall() {
    let (mut collateral, clock) = lock();
    collateral.slash(30).destroy_for_testing();
    collateral.top_up(balance::create_for_testing(31));
    claim(collateral, clock)
}

/// 100 MIST with a delay of 1 s, at 0 ms.
fun lock(): (Collateral, Clock) {
    let collateral = collateral::lock(balance::create_for_testing(100), 1_000);
    (collateral, clock::create_for_testing(&mut tx_context::dummy()))
}

fun claim(collateral: Collateral, clock: Clock) {
    collateral.claim(&clock).destroy_for_testing();
    clock.destroy_for_testing();
}
