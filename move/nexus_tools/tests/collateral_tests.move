#[test_only]
module nexus_tools::collateral_tests;

use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::test_runner::{assert_paid_at_most, evidence, mint, text};
use std::unit_test::{assert_eq, destroy};
use sui::clock::{Self, Clock};

const OWNER: address = @0xA;
const TOOL: address = @0x7;
/// Where burnt SUI goes.
const NOBODY: address = @0x0;

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
    clock.set_for_testing(10 * DAY_MS - 1);
    execute(&mut collateral, &clock);
    assert_eq!(collateral.balance_mist(), 70);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ENoSlashPending)]
fun void_slash_is_not_executed() {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(10 * DAY_MS);
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
    // One that is cancelled, one that becomes void, one that is executed and made good.
    propose(&mut collateral, 10, &clock);
    cancel_slash(&mut collateral, &clock);
    propose(&mut collateral, 10, &clock);
    clock.set_for_testing(10 * DAY_MS);
    propose(&mut collateral, 10, &clock);
    clock.set_for_testing(13 * DAY_MS);
    execute(&mut collateral, &clock);
    top_up(&mut collateral, 10);
    assert_eq!(collateral.slashable_mist(), 20);
    propose(&mut collateral, 20, &clock);
    assert_eq!(collateral.slashable_mist(), 0);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::ESlashTooLarge)]
fun slashes_do_not_come_to_more_than_half() {
    let (mut collateral, clock) = locked();
    propose(&mut collateral, 50, &clock);
    cancel_slash(&mut collateral, &clock);
    propose(&mut collateral, 1, &clock);
    abort
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
    // All of what is left.
    propose(&mut collateral, 20, &clock);
    assert_eq!(collateral.slashable_mist(), 10);
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
fun pending_slash_holds_back_its_amount_alone() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    assert_eq!(claim(&mut collateral, &clock), 70);
    assert!(!collateral.is_claimed());
    assert_eq!(collateral.shortfall_mist(), 70);
    clock.set_for_testing(1_000 + 10 * DAY_MS);
    assert_eq!(collateral.held_back_mist(&clock), 0);
    assert_eq!(claim(&mut collateral, &clock), 30);
    assert!(collateral.is_claimed());
    assert_paid_at_most(OWNER, 100);
    end(collateral, clock);
}

#[test]
fun single_mist_that_is_not_held_back_is_claimed() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 20, &clock);
    claim(&mut collateral, &clock);
    cancel_slash(&mut collateral, &clock);
    propose(&mut collateral, 19, &clock);
    assert_eq!(claim(&mut collateral, &clock), 1);
    end(collateral, clock);
}

#[test, expected_failure(abort_code = collateral::EHeldBack)]
fun what_is_held_back_is_not_claimed() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    claim(&mut collateral, &clock);
    claim(&mut collateral, &clock);
    abort
}

#[test]
fun slash_that_is_executed_after_the_claim_leaves_nothing() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
    claim(&mut collateral, &clock);
    clock.set_for_testing(1_000 + 3 * DAY_MS);
    execute(&mut collateral, &clock);
    assert!(!collateral.is_claimed());
    assert_eq!(claim(&mut collateral, &clock), 0);
    assert!(collateral.is_claimed());
    assert_paid_at_most(OWNER, 70);
    assert_paid_at_most(NOBODY, 30);
    end(collateral, clock);
}

#[test]
fun slash_that_is_void_does_not_survive_the_claim() {
    let (mut collateral, mut clock) = unregistered();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(10 * DAY_MS);
    assert_eq!(claim(&mut collateral, &clock), 100);
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    assert!(!collateral.has_pending_slash(&clock));
    assert_eq!(collateral.slashable_mist(), 50);
    end(collateral, clock);
}

#[test]
fun part_that_was_claimed_is_brought_back_when_the_unregistration_is_cancelled() {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    propose(&mut collateral, 30, &clock);
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

/// Each byte is a step, which is taken if the rules of the module's documentation allow it. Whatever
/// the order: a slash never holds back more than its amount, nothing is lost, and no more is burnt
/// than half.
#[random_test]
fun slashes_and_claims_in_any_order_lose_nothing(steps: vector<u8>) {
    let (mut collateral, mut clock) = locked();
    let (mut in_mist, mut claimed_mist, mut burnt_mist) = (100, 0, 0);
    // What was locked, what is there, and all that was proposed since; the pending slash, and when
    // it was proposed; when the timer was started.
    let (mut locked_mist, mut there_mist, mut proposed_mist) = (100, 100, 0);
    let (mut pending_mist, mut proposed_at_ms, mut unregistered_at_ms) = (0, 0, option::none());
    steps.do!(|step| {
        let (kind, size) = (step % 8, (step / 8) as u64);
        let now_ms = clock.timestamp_ms();
        if (pending_mist > 0 && now_ms >= proposed_at_ms + 10 * DAY_MS) pending_mist = 0;
        if (kind == 0 && locked_mist > 0 && unregistered_at_ms.is_none()) {
            unregister(&mut collateral, &clock);
            unregistered_at_ms = option::some(now_ms);
        } else if (kind == 1 && unregistered_at_ms.is_some()) {
            cancel_unregister(&mut collateral);
            unregistered_at_ms = option::none();
        } else if (kind == 2 && unregistered_at_ms.is_some_and!(|at_ms| *at_ms + 1_000 <= now_ms)) {
            if (pending_mist == 0 || there_mist > pending_mist) {
                assert_eq!(claim(&mut collateral, &clock), there_mist - pending_mist);
                claimed_mist = claimed_mist + there_mist - pending_mist;
                there_mist = pending_mist;
                if (pending_mist == 0) {
                    locked_mist = 0;
                    unregistered_at_ms = option::none();
                }
            }
        } else if (kind == 3 && locked_mist > 0) {
            let missing_mist = locked_mist - there_mist;
            top_up(&mut collateral, missing_mist);
            in_mist = in_mist + missing_mist;
            there_mist = locked_mist;
        } else if (kind == 4 && pending_mist == 0) {
            let amount_mist = size + 1;
            if (amount_mist <= there_mist && proposed_mist + amount_mist <= locked_mist / 2) {
                propose(&mut collateral, amount_mist, &clock);
                (pending_mist, proposed_at_ms) = (amount_mist, now_ms);
                proposed_mist = proposed_mist + amount_mist;
            }
        } else if (kind == 5 && pending_mist > 0) {
            if (size % 2 == 0) clock.increment_for_testing(3 * DAY_MS);
            let now_ms = clock.timestamp_ms();
            let is_due = now_ms >= proposed_at_ms + 3 * DAY_MS;
            if (is_due && now_ms < proposed_at_ms + 10 * DAY_MS) {
                execute(&mut collateral, &clock);
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
            (locked_mist, there_mist, proposed_mist) = (100, 100, 0);
        } else {
            clock.increment_for_testing(size * HOUR_MS);
        };
        assert_eq!(collateral.balance_mist(), there_mist);
        assert_eq!(collateral.required_mist(), locked_mist);
        assert_eq!(collateral.is_claimed(), locked_mist == 0);
        assert_eq!(collateral.unregistered_at_ms(), unregistered_at_ms);
        assert_eq!(in_mist, there_mist + claimed_mist + burnt_mist);
        assert!(collateral.held_back_mist(&clock) <= there_mist);
        assert!(proposed_mist <= 50);
    });
    assert_paid_at_most(OWNER, claimed_mist);
    assert_paid_at_most(NOBODY, burnt_mist);
    end(collateral, clock);
}

// === Helpers ===

/// 100 MIST with a delay of 1 s, at 0 ms.
fun locked(): (Collateral, Clock) {
    let (mut collateral, clock) = (collateral::none(), new_clock());
    lock(&mut collateral, 100, 100, 1_000, 1_000, &clock);
    (collateral, clock)
}

/// The same, unregistered at 0 ms.
fun unregistered(): (Collateral, Clock) {
    let (mut collateral, clock) = locked();
    unregister(&mut collateral, &clock);
    (collateral, clock)
}

/// The same, claimed after 1 s.
fun claimed(): (Collateral, Clock) {
    let (mut collateral, mut clock) = unregistered();
    clock.set_for_testing(1_000);
    claim(&mut collateral, &clock);
    (collateral, clock)
}

/// 100 MIST of which 30 were slashed.
fun slashed(): (Collateral, Clock) {
    let (mut collateral, mut clock) = locked();
    propose(&mut collateral, 30, &clock);
    clock.set_for_testing(3 * DAY_MS);
    execute(&mut collateral, &clock);
    (collateral, clock)
}

fun end(collateral: Collateral, clock: Clock) {
    destroy(collateral);
    clock.destroy_for_testing();
}

fun new_clock(): Clock { clock::create_for_testing(&mut by_owner()) }

fun by_owner(): TxContext { tx_context::new_from_hint(OWNER, 0, 0, 0, 0) }

fun tool(): ID { TOOL.to_id() }

fun lock(
    collateral: &mut Collateral,
    mist: u64,
    least_mist: u64,
    delay_ms: u64,
    max_delay_ms: u64,
    clock: &Clock,
) {
    let coin = mint(mist, &mut by_owner());
    collateral.lock(tool(), coin, least_mist, delay_ms, max_delay_ms, clock);
}

fun unregister(collateral: &mut Collateral, clock: &Clock) { collateral.unregister(tool(), clock); }

fun cancel_unregister(collateral: &mut Collateral) { collateral.cancel_unregister(tool()); }

/// Claims, and returns how much that is.
fun claim(collateral: &mut Collateral, clock: &Clock): u64 {
    let before_mist = collateral.balance_mist();
    collateral.claim(tool(), clock, &by_owner());
    before_mist - collateral.balance_mist()
}

fun top_up(collateral: &mut Collateral, mist: u64) {
    collateral.top_up(tool(), mint(mist, &mut by_owner()));
}

fun propose(collateral: &mut Collateral, amount_mist: u64, clock: &Clock) {
    collateral.propose_slash(tool(), amount_mist, b"It lied.".to_string(), evidence(), clock);
}

fun propose_for(
    collateral: &mut Collateral,
    reason: vector<u8>,
    evidence: vector<u8>,
    clock: &Clock,
) {
    collateral.propose_slash(tool(), 1, reason.to_string(), evidence, clock);
}

fun execute(collateral: &mut Collateral, clock: &Clock) { collateral.execute_slash(tool(), clock); }

fun cancel_slash(collateral: &mut Collateral, clock: &Clock) {
    collateral.cancel_slash(tool(), clock);
}
