#[test_only]
module nexus_tools::slash_tests;

use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::collateral_runner::{
    cancel_slash,
    cancel_unregister,
    claim,
    claimed,
    end,
    execute,
    lock,
    locked,
    new_clock,
    propose,
    propose_for,
    slashed,
    top_up,
    unregister,
    unregistered,
};
use nexus_tools::test_runner::{assert_paid_at_most, evidence, text};
use std::unit_test::assert_eq;
use sui::clock::Clock;

const OWNER: address = @0xA;
/// Where burnt SUI goes.
const NOBODY: address = @0x0;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

// === Slashes ===

#[test]
fun slash_is_executed_three_days_after_it_was_proposed_and_made_good() {
    let (mut collateral, mut clock) = locked();
    clock.set_for_testing(500);
    propose(&mut collateral, 30, &clock);
    assert!(collateral.has_pending_slash(&clock));
    assert_eq!(collateral.held_back_mist(&clock), 30);
    assert_eq!(collateral.balance_mist(), 100);
    assert!(collateral.is_in_force());
    clock.set_for_testing(500 + 3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert_paid_at_most(NOBODY, 30);
    assert_eq!(collateral.balance_mist(), 70);
    assert_eq!(collateral.required_mist(), 100);
    assert_eq!(collateral.shortfall_mist(), 30);
    assert!(!collateral.is_claimed());
    assert!(!collateral.is_whole());
    assert!(!collateral.is_in_force());
    assert!(!collateral.has_pending_slash(&clock));
    assert_eq!(collateral.held_back_mist(&clock), 0);
    top_up(&mut collateral, 30);
    assert!(collateral.is_in_force());
    end(collateral, clock);
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun all_that_is_slashed_is_burnt() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert_paid_at_most(NOBODY, 29);
    abort
}

#[test, expected_failure(abort_code = collateral::ENotDue)]
fun slash_is_not_executed_a_millisecond_before() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS - 1);
    execute(&mut collateral, &clock);
    abort
}

#[test]
fun slash_can_be_executed_until_it_is_void() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(4 * DAY_MS - 1);
    execute(&mut collateral, &clock);
    assert_eq!(collateral.balance_mist(), 70);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun void_slash_is_not_executed() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(4 * DAY_MS);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun slash_is_executed_once() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun cancelled_slash_is_not_executed() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    cancel_slash(&mut collateral, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun what_was_not_proposed_is_not_cancelled() {
    let (mut collateral, clock) = locked();
    cancel_slash(&mut collateral, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::ESlashPending)]
fun one_slash_is_pending_at_a_time() {
    let (mut collateral, clock) = locked();
    propose(&mut collateral, 1, &clock);
    propose(&mut collateral, 1, &clock);
    abort
}

#[test]
fun all_slashes_together_may_come_to_half() {
    let (mut collateral, mut clock) = locked();
    slash(&mut collateral, 20, &mut clock);
    assert_eq!(collateral.slashable_mist(), 30);
    slash(&mut collateral, 30, &mut clock);
    assert_eq!(collateral.slashable_mist(), 0);
    assert_eq!(collateral.balance_mist(), 50);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun slashes_do_not_come_to_more_than_half() {
    let (mut collateral, mut clock) = locked();
    slash(&mut collateral, 20, &mut clock);
    propose(&mut collateral, 31, &clock);
    abort
}

#[test]
fun slash_that_took_nothing_does_not_count() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 50, &clock);
    cancel_slash(&mut collateral, &clock);
    assert_eq!(collateral.slashable_mist(), 50);
    // This one becomes void.
    propose(&mut collateral, 50, &clock);
    clock.set_for_testing(4 * DAY_MS);
    assert_eq!(collateral.slashable_mist(), 50);
    propose(&mut collateral, 50, &clock);
    end(collateral, clock);
}

#[test]
fun who_makes_a_slash_good_may_lose_half_again() {
    let (mut collateral, mut clock) = locked();
    slash(&mut collateral, 50, &mut clock);
    top_up(&mut collateral, 50);
    assert_eq!(collateral.slashable_mist(), 50);
    slash(&mut collateral, 50, &mut clock);
    assert_eq!(collateral.balance_mist(), 50);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun single_slash_does_not_come_to_more_than_half() {
    let (mut collateral, clock) = locked();
    propose(&mut collateral, 51, &clock);
    abort
}

#[test]
fun half_is_rounded_down() {
    let (mut collateral, clock) = (collateral::none(), new_clock());
    lock(&mut collateral, 101, 100, 1_000, 1_000, &clock);
    assert_eq!(collateral.slashable_mist(), 50);
    end(collateral, clock);
}

#[test]
fun no_more_than_there_is_can_be_slashed() {
    let (mut collateral, mut clock) = unregistered();
    propose(&mut collateral, 20, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    assert_eq!(collateral.slashable_mist(), 20);
    cancel_slash(&mut collateral, &clock);
    cancel_unregister(&mut collateral);
    // All of what is left.
    propose(&mut collateral, 20, &clock);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EWrongSlash)]
fun slash_takes_something() {
    let (mut collateral, clock) = locked();
    propose(&mut collateral, 0, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EWrongSlash)]
fun slash_takes_no_more_than_there_is() {
    let (mut collateral, clock) = locked();
    propose(&mut collateral, 101, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EWrongSlash)]
fun claimed_collateral_is_not_slashed() {
    let (mut collateral, clock) = claimed();
    propose(&mut collateral, 1, &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidReason)]
fun slash_has_a_reason() {
    let (mut collateral, clock) = locked();
    propose_for(&mut collateral, b"", evidence(), &clock);
    abort
}

#[test]
fun reason_has_at_most_500_bytes() {
    let (mut collateral, clock) = locked();
    propose_for(&mut collateral, text(500, 0x61), evidence(), &clock);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EInvalidReason)]
fun reason_does_not_have_501_bytes() {
    let (mut collateral, clock) = locked();
    propose_for(&mut collateral, text(501, 0x61), evidence(), &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidEvidence)]
fun digest_of_the_evidence_has_no_less_than_32_bytes() {
    let (mut collateral, clock) = locked();
    propose_for(&mut collateral, b"It lied.", text(31, 1), &clock);
    abort
}

#[test, expected_failure(abort_code = collateral::EInvalidEvidence)]
fun digest_of_the_evidence_has_no_more_than_32_bytes() {
    let (mut collateral, clock) = locked();
    propose_for(&mut collateral, b"It lied.", text(33, 1), &clock);
    abort
}

// === Slashes and claims ===

#[test]
fun slash_is_proposed_until_the_delay_is_over() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(999);
    propose(&mut collateral, 30, &clock);
    assert!(collateral.has_pending_slash(&clock));
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EDelayOver)]
fun no_slash_is_proposed_when_the_delay_is_over() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    abort
}

#[test]
fun collateral_is_claimable_when_the_delay_is_over() {
    let (mut collateral, mut clock) = locked();
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
fun pending_slash_holds_back_its_amount_alone() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(999);
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    assert_eq!(claim(&mut collateral, &clock), 70);
    assert!(!collateral.is_claimed());
    assert_eq!(collateral.shortfall_mist(), 70);
    clock.set_for_testing(999 + 4 * DAY_MS);
    assert_eq!(collateral.held_back_mist(&clock), 0);
    assert_eq!(claim(&mut collateral, &clock), 30);
    assert!(collateral.is_claimed());
    assert_paid_at_most(OWNER, 100);
    end(collateral, clock);
}

#[test]
fun single_mist_that_is_not_held_back_is_claimed() {
    let (mut collateral, mut clock) = unregistered();
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

#[test, expected_failure(abort_code = collateral::EHeldBack)]
fun what_is_held_back_is_not_claimed() {
    let (mut collateral, mut clock) = unregistered();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    claim(&mut collateral, &clock);
    abort
}

#[test]
fun slash_that_is_executed_after_the_claim_leaves_nothing() {
    let (mut collateral, mut clock) = unregistered();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert!(!collateral.is_claimed());
    assert_eq!(claim(&mut collateral, &clock), 0);
    assert!(collateral.is_claimed());
    assert_paid_at_most(OWNER, 70);
    assert_paid_at_most(NOBODY, 30);
    end(collateral, clock);
}

#[test]
fun slashes_do_not_survive_the_claim() {
    let (mut collateral, mut clock) = locked();
    slash(&mut collateral, 30, &mut clock);
    unregister(&mut collateral, &clock);
    propose(&mut collateral, 10, &clock);
    // This one is void by then.
    clock.increment_for_testing(4 * DAY_MS);
    assert_eq!(claim(&mut collateral, &clock), 70);
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    assert!(!collateral.has_pending_slash(&clock));
    assert_eq!(collateral.slashable_mist(), 50);
    end(collateral, clock);
}

#[test]
fun part_that_was_claimed_is_brought_back_when_the_unregistration_is_cancelled() {
    let (mut collateral, mut clock) = unregistered();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    cancel_unregister(&mut collateral);
    assert!(!collateral.is_in_force());
    top_up(&mut collateral, 70);
    assert!(collateral.is_in_force());
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EWrongTopUp)]
fun top_up_is_no_more_than_the_shortfall() {
    let (mut collateral, clock) = slashed();
    top_up(&mut collateral, 31);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EWrongTopUp)]
fun top_up_is_no_less_than_the_shortfall() {
    let (mut collateral, clock) = slashed();
    top_up(&mut collateral, 29);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EClaimed)]
fun claimed_collateral_is_not_topped_up() {
    let (mut collateral, clock) = claimed();
    top_up(&mut collateral, 0);
    end(collateral, clock);
}

/// Each byte is a step, which is taken if the rules of the module's documentation allow it.
/// Whatever the order: nothing is lost, and no more is slashed than half.
#[random_test]
fun slashes_and_claims_in_any_order_lose_nothing(steps: vector<u8>) {
    let (mut collateral, mut clock) = locked();
    let (mut in_mist, mut claimed_mist, mut burnt_mist) = (100, 0, 0);
    // What was locked, what is there, and what was slashed since; the pending slash, and when it
    // was proposed; when the timer was started.
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
        assert!(collateral.held_back_mist(&clock) <= there_mist);
        assert_eq!(collateral.slashable_mist(), (locked_mist / 2 - slashed_mist).min(there_mist));
    });
    assert_paid_at_most(OWNER, claimed_mist);
    assert_paid_at_most(NOBODY, burnt_mist);
    end(collateral, clock);
}

// === Helpers ===

/// Proposes a slash and executes it as soon as the rules allow.
fun slash(collateral: &mut Collateral, amount_mist: u64, clock: &mut Clock) {
    propose(collateral, amount_mist, clock);
    clock.increment_for_testing(3 * DAY_MS);
    execute(collateral, clock);
}
