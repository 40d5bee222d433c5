#[test_only]
module nexus_tools::collateral_tests;

use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::test_runner;
use std::unit_test::{assert_eq, destroy};
use sui::balance;
use sui::clock::{Self, Clock};

const DAY_MS: u64 = 86_400_000;

// === Coming back ===

#[test]
fun collateral_comes_back_when_the_delay_is_over() {
    let (mut collateral, mut clock) = lock();
    clock.set_for_testing(500);
    collateral.unregister(&clock);
    assert_eq!(collateral.unregistered_at_ms(), option::some(500));
    assert_eq!(collateral.claimable_at_ms(), 1_500);
    clock.set_for_testing(1_500);
    assert_eq!(claim(&mut collateral, &clock), 100);
    collateral.destroy_empty();
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::EDelayNotOver)]
fun collateral_does_not_come_back_a_millisecond_before() {
    let (mut collateral, mut clock) = lock();
    clock.set_for_testing(500);
    collateral.unregister(&clock);
    clock.set_for_testing(1_499);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun collateral_does_not_come_back_without_an_unregistration() {
    let (mut collateral, mut clock) = lock();
    clock.set_for_testing(1_000_000);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun cancelled_unregistration_does_not_count() {
    let (mut collateral, mut clock) = lock();
    collateral.unregister(&clock);
    collateral.cancel_unregister();
    clock.set_for_testing(1_000_000);
    claim(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotUnregistered)]
fun unregistration_that_was_not_started_is_not_cancelled() {
    let (mut collateral, _clock) = lock();
    collateral.cancel_unregister();
    abort
}

#[test, expected_failure(abort_code = collateral::EAlreadyUnregistered)]
fun unregistration_is_not_restarted() {
    let (mut collateral, clock) = lock();
    collateral.unregister(&clock);
    collateral.unregister(&clock);
    abort
}

#[test, expected_failure(abort_code = balance::ENonZero)]
fun collateral_that_is_not_empty_is_not_destroyed() {
    let (collateral, _clock) = lock();
    collateral.destroy_empty();
    abort
}

// === Slashes ===

#[test]
fun slash_is_executed_three_days_after_it_was_proposed_and_made_good() {
    let (mut collateral, mut clock) = lock();
    clock.set_for_testing(500);
    let slash = propose(&mut collateral, 30, &clock);
    assert_eq!(slash.due_at_ms(), 500 + 3 * DAY_MS);
    assert_eq!(slash.void_at_ms(), 500 + 10 * DAY_MS);
    assert!(collateral.is_in_force());
    clock.set_for_testing(500 + 3 * DAY_MS);
    assert_eq!(execute(&mut collateral, &clock), 30);
    assert!(!collateral.is_whole());
    assert!(!collateral.has_pending_slash(&clock));
    assert_eq!(collateral.shortfall_mist(), 30);
    collateral.top_up(balance::create_for_testing(30));
    assert!(collateral.is_in_force());
    destroy(collateral);
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::ENotDue)]
fun slash_is_not_executed_a_millisecond_before() {
    let (mut collateral, mut clock) = lock();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS - 1);
    execute(&mut collateral, &clock);
    abort
}

#[test]
fun slash_can_be_executed_until_it_is_void() {
    let (mut collateral, mut clock) = lock();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(10 * DAY_MS - 1);
    assert_eq!(execute(&mut collateral, &clock), 30);
    destroy(collateral);
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun void_slash_is_not_executed() {
    let (mut collateral, mut clock) = lock();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(10 * DAY_MS);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun slash_is_executed_once() {
    let (mut collateral, mut clock) = lock();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun what_was_not_proposed_is_not_cancelled() {
    let (mut collateral, clock) = lock();
    collateral.cancel_slash(&clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ESlashPending)]
fun one_slash_is_pending_at_a_time() {
    let (mut collateral, clock) = lock();
    propose(&mut collateral, 1, &clock);
    propose(&mut collateral, 1, &clock);
    abort
}

#[test]
fun all_slashes_together_may_come_to_half() {
    let (mut collateral, mut clock) = lock();
    // One that is cancelled, one that becomes void, one that is executed and made good.
    propose(&mut collateral, 10, &clock);
    assert_eq!(collateral.cancel_slash(&clock).amount_mist(), 10);
    propose(&mut collateral, 10, &clock);
    clock.set_for_testing(10 * DAY_MS);
    propose(&mut collateral, 10, &clock);
    clock.set_for_testing(13 * DAY_MS);
    execute(&mut collateral, &clock);
    collateral.top_up(balance::create_for_testing(10));
    assert_eq!(collateral.slashable_mist(), 20);
    propose(&mut collateral, 20, &clock);
    assert_eq!(collateral.slashable_mist(), 0);
    destroy(collateral);
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun slashes_do_not_come_to_more_than_half() {
    let (mut collateral, clock) = lock();
    propose(&mut collateral, 50, &clock);
    collateral.cancel_slash(&clock);
    propose(&mut collateral, 1, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun single_slash_does_not_come_to_more_than_half() {
    let (mut collateral, clock) = lock();
    propose(&mut collateral, 51, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EWrongSlash)]
fun slash_takes_something() {
    let (mut collateral, clock) = lock();
    propose(&mut collateral, 0, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EWrongSlash)]
fun slash_takes_no_more_than_there_is() {
    let (mut collateral, clock) = lock();
    propose(&mut collateral, 101, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidReason)]
fun slash_has_a_reason() {
    let (mut collateral, clock) = lock();
    collateral.propose_slash(1, b"".to_string(), test_runner::evidence(), &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidReason)]
fun reason_is_limited() {
    let (mut collateral, clock) = lock();
    propose_for(&mut collateral, text(500), test_runner::evidence(), &clock);
    collateral.cancel_slash(&clock);
    propose_for(&mut collateral, text(501), test_runner::evidence(), &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidEvidence)]
fun evidence_has_a_digest() {
    let (mut collateral, clock) = lock();
    propose_for(&mut collateral, b"It lied.", text(31), &clock);
    abort
}

#[test]
fun pending_slash_holds_back_its_amount_alone() {
    let (mut collateral, mut clock) = lock();
    collateral.unregister(&clock);
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    assert_eq!(collateral.held_back_mist(&clock), 30);
    assert_eq!(claim(&mut collateral, &clock), 70);
    clock.set_for_testing(1_000 + 10 * DAY_MS);
    assert_eq!(collateral.held_back_mist(&clock), 0);
    assert_eq!(claim(&mut collateral, &clock), 30);
    collateral.destroy_empty();
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::EHeldBack)]
fun what_is_held_back_is_not_claimed() {
    let (mut collateral, mut clock) = lock();
    collateral.unregister(&clock);
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    claim(&mut collateral, &clock);
    claim(&mut collateral, &clock);
    abort
}

#[test]
fun slash_that_is_executed_after_the_claim_leaves_nothing() {
    let (mut collateral, mut clock) = lock();
    collateral.unregister(&clock);
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    claim(&mut collateral, &clock);
    clock.set_for_testing(1_000 + 3 * DAY_MS);
    assert_eq!(execute(&mut collateral, &clock), 30);
    assert_eq!(claim(&mut collateral, &clock), 0);
    collateral.destroy_empty();
    clock.destroy_for_testing();
}

#[test, expected_failure(abort_code = collateral::EWrongTopUp)]
fun top_up_is_exactly_the_shortfall() {
    let (mut collateral, mut clock) = lock();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    collateral.top_up(balance::create_for_testing(31));
    abort
}

// === Helpers ===

/// 100 MIST with a delay of 1 s, at 0 ms.
fun lock(): (Collateral, Clock) {
    let collateral = collateral::lock(balance::create_for_testing(100), 1_000);
    (collateral, clock::create_for_testing(&mut tx_context::dummy()))
}

fun claim(collateral: &mut Collateral, clock: &Clock): u64 {
    collateral.claim(clock).destroy_for_testing()
}

fun propose(collateral: &mut Collateral, amount_mist: u64, clock: &Clock): collateral::Slash {
    collateral.propose_slash(amount_mist, b"It lied.".to_string(), test_runner::evidence(), clock)
}

fun propose_for(
    collateral: &mut Collateral,
    reason: vector<u8>,
    evidence: vector<u8>,
    clock: &Clock,
) {
    collateral.propose_slash(1, reason.to_string(), evidence, clock);
}

fun execute(collateral: &mut Collateral, clock: &Clock): u64 {
    collateral.execute_slash(clock, &mut tx_context::dummy()).amount_mist()
}

fun text(length: u64): vector<u8> { vector::tabulate!(length, |_| 0x61) }
