#[test_only]
module nexus_tools::slash_tests;

use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::collateral_runner::{
    cancel_slash,
    cancel_unregister,
    claim,
    claimed_collateral,
    end,
    execute,
    lock,
    locked_collateral,
    new_clock,
    propose,
    propose_for,
    slashed_collateral,
    top_up,
    unregister,
    unregistered_collateral,
};
use nexus_tools::test_runner::{assert_paid_at_most, evidence_digest, text};
use std::unit_test::assert_eq;
use sui::clock::Clock;

const OWNER: address = @0xA;
/// The address that receives burnt SUI.
const BURN_ADDRESS: address = @0x0;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

// === Slashes ===

#[test]
fun execute_slash_works_after_three_days_and_top_up_restores() {
    let (mut collateral, mut clock) = locked_collateral();
    clock.set_for_testing(500);
    propose(&mut collateral, 30, &clock);
    assert!(collateral.has_pending_slash(&clock));
    assert_eq!(collateral.locked_for_slash_mist(&clock), 30);
    assert_eq!(collateral.balance_mist(), 100);
    assert!(collateral.is_active());
    clock.set_for_testing(500 + 3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert_paid_at_most(BURN_ADDRESS, 30);
    assert_eq!(collateral.balance_mist(), 70);
    assert_eq!(collateral.required_mist(), 100);
    assert_eq!(collateral.shortfall_mist(), 30);
    assert!(!collateral.is_claimed());
    assert!(!collateral.is_sufficient());
    assert!(!collateral.is_active());
    assert!(!collateral.has_pending_slash(&clock));
    assert_eq!(collateral.locked_for_slash_mist(&clock), 0);
    top_up(&mut collateral, 30);
    assert!(collateral.is_active());
    end(collateral, clock);
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun execute_slash_burns_no_less_than_the_amount() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert_paid_at_most(BURN_ADDRESS, 29);
    abort
}

#[test, expected_failure(abort_code = collateral::ESlashNotDue)]
fun execute_slash_aborts_a_millisecond_early() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS - 1);
    execute(&mut collateral, &clock);
    abort
}

#[test]
fun execute_slash_works_until_the_slash_expires() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(4 * DAY_MS - 1);
    execute(&mut collateral, &clock);
    assert_eq!(collateral.balance_mist(), 70);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun execute_slash_aborts_after_the_slash_expired() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(4 * DAY_MS);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun execute_slash_aborts_the_second_time() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun execute_slash_aborts_after_a_cancellation() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 30, &clock);
    cancel_slash(&mut collateral, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun cancel_slash_aborts_without_a_proposal() {
    let (mut collateral, clock) = locked_collateral();
    cancel_slash(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ESlashPending)]
fun propose_slash_aborts_while_another_is_pending() {
    let (mut collateral, clock) = locked_collateral();
    propose(&mut collateral, 1, &clock);
    propose(&mut collateral, 1, &clock);
    abort
}

#[test]
fun propose_slash_accepts_half_in_several_slashes() {
    let (mut collateral, mut clock) = locked_collateral();
    slash(&mut collateral, 20, &mut clock);
    assert_eq!(collateral.slashable_mist(), 30);
    slash(&mut collateral, 30, &mut clock);
    assert_eq!(collateral.slashable_mist(), 0);
    assert_eq!(collateral.balance_mist(), 50);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun propose_slash_aborts_above_half_in_several_slashes() {
    let (mut collateral, mut clock) = locked_collateral();
    slash(&mut collateral, 20, &mut clock);
    propose(&mut collateral, 31, &clock);
    abort
}

#[test]
fun slashable_mist_ignores_cancelled_and_expired_slashes() {
    let (mut collateral, mut clock) = locked_collateral();
    propose(&mut collateral, 50, &clock);
    cancel_slash(&mut collateral, &clock);
    assert_eq!(collateral.slashable_mist(), 50);
    // The test lets this slash expire.
    propose(&mut collateral, 50, &clock);
    clock.set_for_testing(4 * DAY_MS);
    assert_eq!(collateral.slashable_mist(), 50);
    propose(&mut collateral, 50, &clock);
    end(collateral, clock);
}

#[test]
fun propose_slash_accepts_half_again_after_a_top_up() {
    let (mut collateral, mut clock) = locked_collateral();
    slash(&mut collateral, 50, &mut clock);
    top_up(&mut collateral, 50);
    assert_eq!(collateral.slashable_mist(), 50);
    slash(&mut collateral, 50, &mut clock);
    assert_eq!(collateral.balance_mist(), 50);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun propose_slash_aborts_above_half() {
    let (mut collateral, clock) = locked_collateral();
    propose(&mut collateral, 51, &clock);
    abort
}

#[test]
fun propose_slash_rounds_half_down() {
    let (mut collateral, clock) = (collateral::empty(), new_clock());
    lock(&mut collateral, 101, 100, 1_000, 1_000, &clock);
    assert_eq!(collateral.slashable_mist(), 50);
    end(collateral, clock);
}

#[test]
fun slashable_mist_is_at_most_the_remaining_balance() {
    let (mut collateral, mut clock) = unregistered_collateral();
    propose(&mut collateral, 20, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    assert_eq!(collateral.slashable_mist(), 20);
    cancel_slash(&mut collateral, &clock);
    cancel_unregister(&mut collateral);
    // The amount is the whole remaining balance.
    propose(&mut collateral, 20, &clock);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EInvalidSlashAmount)]
fun propose_slash_aborts_for_0() {
    let (mut collateral, clock) = locked_collateral();
    propose(&mut collateral, 0, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidSlashAmount)]
fun propose_slash_aborts_above_the_balance() {
    let (mut collateral, clock) = locked_collateral();
    propose(&mut collateral, 101, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidSlashAmount)]
fun propose_slash_aborts_after_the_claim() {
    let (mut collateral, clock) = claimed_collateral();
    propose(&mut collateral, 1, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidReason)]
fun propose_slash_aborts_for_an_empty_reason() {
    let (mut collateral, clock) = locked_collateral();
    propose_for(&mut collateral, b"", evidence_digest(), &clock);
    abort
}

#[test]
fun propose_slash_accepts_a_reason_of_500_bytes() {
    let (mut collateral, clock) = locked_collateral();
    propose_for(&mut collateral, text(500, 0x61), evidence_digest(), &clock);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EInvalidReason)]
fun propose_slash_aborts_for_a_reason_of_501_bytes() {
    let (mut collateral, clock) = locked_collateral();
    propose_for(&mut collateral, text(501, 0x61), evidence_digest(), &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidEvidence)]
fun propose_slash_aborts_for_a_digest_of_31_bytes() {
    let (mut collateral, clock) = locked_collateral();
    propose_for(&mut collateral, b"It lied.", text(31, 1), &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidEvidence)]
fun propose_slash_aborts_for_a_digest_of_33_bytes() {
    let (mut collateral, clock) = locked_collateral();
    propose_for(&mut collateral, b"It lied.", text(33, 1), &clock);
    abort
}

// === Slashes and claims ===

#[test]
fun propose_slash_works_until_the_delay_is_over() {
    let (mut collateral, mut clock) = unregistered_collateral();
    clock.set_for_testing(999);
    propose(&mut collateral, 30, &clock);
    assert!(collateral.has_pending_slash(&clock));
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EDelayOver)]
fun propose_slash_aborts_after_the_delay() {
    let (mut collateral, mut clock) = unregistered_collateral();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    abort
}

#[test]
fun is_claimable_returns_true_after_the_delay() {
    let (mut collateral, mut clock) = locked_collateral();
    clock.set_for_testing(500);
    assert!(!collateral.is_claimable(&clock));
    unregister(&mut collateral, &clock);
    clock.set_for_testing(1_499);
    assert!(!collateral.is_claimable(&clock));
    clock.set_for_testing(1_500);
    assert!(collateral.is_claimable(&clock));
    end(collateral, clock);
}

#[test]
fun claim_pays_all_but_the_amount_of_a_pending_slash() {
    let (mut collateral, mut clock) = unregistered_collateral();
    clock.set_for_testing(999);
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    assert_eq!(claim(&mut collateral, &clock), 70);
    assert!(!collateral.is_claimed());
    assert_eq!(collateral.shortfall_mist(), 70);
    clock.set_for_testing(999 + 4 * DAY_MS);
    assert_eq!(collateral.locked_for_slash_mist(&clock), 0);
    assert_eq!(claim(&mut collateral, &clock), 30);
    assert!(collateral.is_claimed());
    assert_paid_at_most(OWNER, 100);
    end(collateral, clock);
}

#[test]
fun claim_pays_a_single_mist_that_is_not_locked() {
    let (mut collateral, mut clock) = unregistered_collateral();
    propose(&mut collateral, 20, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    cancel_slash(&mut collateral, &clock);
    cancel_unregister(&mut collateral);
    unregister(&mut collateral, &clock);
    propose(&mut collateral, 19, &clock);
    clock.set_for_testing(2_000);
    assert_eq!(claim(&mut collateral, &clock), 1);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ELockedForSlash)]
fun claim_aborts_for_the_amount_locked_for_a_slash() {
    let (mut collateral, mut clock) = unregistered_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    claim(&mut collateral, &clock);
    abort
}

#[test]
fun execute_slash_after_a_claim_leaves_an_empty_balance() {
    let (mut collateral, mut clock) = unregistered_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert!(!collateral.is_claimed());
    assert_eq!(claim(&mut collateral, &clock), 0);
    assert!(collateral.is_claimed());
    assert_paid_at_most(OWNER, 70);
    assert_paid_at_most(BURN_ADDRESS, 30);
    end(collateral, clock);
}

#[test]
fun claim_resets_the_slashes() {
    let (mut collateral, mut clock) = locked_collateral();
    slash(&mut collateral, 30, &mut clock);
    unregister(&mut collateral, &clock);
    propose(&mut collateral, 10, &clock);
    // After this time, the slash has expired.
    clock.increment_for_testing(4 * DAY_MS);
    assert_eq!(claim(&mut collateral, &clock), 70);
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    assert!(!collateral.has_pending_slash(&clock));
    assert_eq!(collateral.slashable_mist(), 50);
    end(collateral, clock);
}

#[test]
fun top_up_restores_a_claimed_part_after_a_cancelled_unregistration() {
    let (mut collateral, mut clock) = unregistered_collateral();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    cancel_unregister(&mut collateral);
    assert!(!collateral.is_active());
    top_up(&mut collateral, 70);
    assert!(collateral.is_active());
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EWrongTopUpAmount)]
fun top_up_aborts_above_the_shortfall() {
    let (mut collateral, clock) = slashed_collateral();
    top_up(&mut collateral, 31);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EWrongTopUpAmount)]
fun top_up_aborts_below_the_shortfall() {
    let (mut collateral, clock) = slashed_collateral();
    top_up(&mut collateral, 29);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EAlreadyClaimed)]
fun top_up_aborts_after_the_claim() {
    let (mut collateral, clock) = claimed_collateral();
    top_up(&mut collateral, 0);
    end(collateral, clock);
}

/// Each byte selects an operation, which is executed if the documentation of the module allows it.
/// In any order of operations, no MIST is lost, and slashes burn at most half of the locked amount.
#[random_test]
fun slashes_and_claims_in_any_order_conserve_the_balance(steps: vector<u8>) {
    let (mut collateral, mut clock) = locked_collateral();
    let (mut in_mist, mut claimed_mist, mut burnt_mist) = (100, 0, 0);
    // The model stores the locked amount, the balance and the slashed amount. The model also stores
    // the pending slash with its time, and the time of the unregistration.
    let (mut locked_mist, mut there_mist, mut slashed_mist) = (100, 100, 0);
    let (mut pending_mist, mut proposed_at_ms, mut unregistered_at_ms) = (0, 0, option::none());
    steps.do!(|step| {
        let (kind, size) = (step % 8, (step / 8) as u64);
        let now_ms = clock.timestamp_ms();
        if (pending_mist > 0 && now_ms >= proposed_at_ms + 4 * DAY_MS) pending_mist = 0;
        let is_claimable = unregistered_at_ms.is_some_and!(|at_ms| *at_ms + 1_000 <= now_ms);
        if (kind == 0 && locked_mist > 0 && unregistered_at_ms.is_none()) {
            unregister(&mut collateral, &clock);
            unregistered_at_ms = option::some(now_ms);
        } else if (kind == 1 && unregistered_at_ms.is_some()) {
            cancel_unregister(&mut collateral);
            unregistered_at_ms = option::none();
        } else if (kind == 2 && is_claimable) {
            if (pending_mist == 0 || there_mist > pending_mist) {
                assert_eq!(claim(&mut collateral, &clock), there_mist - pending_mist);
                claimed_mist = claimed_mist + there_mist - pending_mist;
                there_mist = pending_mist;
                if (pending_mist == 0) {
                    (locked_mist, slashed_mist) = (0, 0);
                    unregistered_at_ms = option::none();
                }
            }
        } else if (kind == 3 && locked_mist > 0) {
            let missing_mist = locked_mist - there_mist;
            top_up(&mut collateral, missing_mist);
            in_mist = in_mist + missing_mist;
            (there_mist, slashed_mist) = (locked_mist, 0);
        } else if (kind == 4 && pending_mist == 0 && !is_claimable) {
            let amount_mist = size + 1;
            if (amount_mist <= there_mist && slashed_mist + amount_mist <= locked_mist / 2) {
                propose(&mut collateral, amount_mist, &clock);
                (pending_mist, proposed_at_ms) = (amount_mist, now_ms);
            }
        } else if (kind == 5 && pending_mist > 0) {
            if (size % 2 == 0) clock.increment_for_testing(3 * DAY_MS);
            let now_ms = clock.timestamp_ms();
            let is_due = now_ms >= proposed_at_ms + 3 * DAY_MS;
            if (is_due && now_ms < proposed_at_ms + 4 * DAY_MS) {
                execute(&mut collateral, &clock);
                slashed_mist = slashed_mist + pending_mist;
                burnt_mist = burnt_mist + pending_mist;
                there_mist = there_mist - pending_mist;
                pending_mist = 0;
            } else if (is_due) pending_mist = 0;
        } else if (kind == 6 && pending_mist > 0) {
            cancel_slash(&mut collateral, &clock);
            pending_mist = 0;
        } else if (locked_mist == 0) {
            lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
            in_mist = in_mist + 100;
            (locked_mist, there_mist) = (100, 100);
        } else {
            clock.increment_for_testing(size * HOUR_MS);
        };
        assert_eq!(collateral.balance_mist(), there_mist);
        assert_eq!(collateral.required_mist(), locked_mist);
        assert_eq!(collateral.is_claimed(), locked_mist == 0);
        assert_eq!(collateral.unregistered_at_ms(), unregistered_at_ms);
        assert_eq!(in_mist, there_mist + claimed_mist + burnt_mist);
        assert!(collateral.locked_for_slash_mist(&clock) <= there_mist);
        assert_eq!(collateral.slashable_mist(), (locked_mist / 2 - slashed_mist).min(there_mist));
    });
    assert_paid_at_most(OWNER, claimed_mist);
    assert_paid_at_most(BURN_ADDRESS, burnt_mist);
    end(collateral, clock);
}

// === Helpers ===

/// Propose a slash, and execute it as soon as possible.
fun slash(collateral: &mut Collateral, amount_mist: u64, clock: &mut Clock) {
    propose(collateral, amount_mist, clock);
    clock.increment_for_testing(3 * DAY_MS);
    execute(collateral, clock);
}
