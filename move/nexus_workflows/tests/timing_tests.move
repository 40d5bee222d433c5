/// Tests of due times, which are computed by hand. Times are in minutes (60 000 ms) after the first
/// time.
#[test_only]
module nexus_workflows::timing_tests;

use nexus_workflows::timing::{Self, Timing};
use std::unit_test::assert_eq;

const FIRST_MS: u64 = 1_000_000;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;
const MAX_U64: u64 = 18_446_744_073_709_551_615;

// === Intervals ===

#[test]
fun interval_counts_from_its_first_time() {
    let timing = every_minute(option::none(), option::none());
    assert_eq!(timing.first(), option::some(FIRST_MS));
    assert_eq!(timing.next(0), option::some(FIRST_MS));
    assert_eq!(timing.next(FIRST_MS), option::some(FIRST_MS));
    assert_eq!(timing.next(FIRST_MS + 1), option::some(minute(1)));
    assert_eq!(timing.next(minute(1)), option::some(minute(1)));
    assert_eq!(timing.next_after(minute(1), 1), option::some(minute(2)));
    assert_eq!(timing.next_after(minute(5) + 59_999, 1), option::some(minute(6)));
    assert!(!timing.is_on_event());
}

#[test]
fun interval_includes_its_end() {
    let timing = every_minute(option::some(minute(2)), option::none());
    assert_eq!(timing.next_after(minute(1), 1), option::some(minute(2)));
    assert_eq!(timing.next_after(minute(2), 1), option::none());
    let timing = every_minute(option::some(minute(2) - 1), option::none());
    assert_eq!(timing.next_after(minute(1), 1), option::none());
    let timing = every_minute(option::some(FIRST_MS - 1), option::none());
    assert_eq!(timing.first(), option::none());
}

#[test]
fun passed_times_are_one_occurrence() {
    let timing = every_minute(option::none(), option::none());
    assert!(timing.due(FIRST_MS, FIRST_MS - 1).is_none());
    assert_due(&timing, FIRST_MS, FIRST_MS, FIRST_MS, 0);
    assert_due(&timing, FIRST_MS, minute(1) - 1, FIRST_MS, 0);
    assert_due(&timing, FIRST_MS, minute(1), minute(1), 1);
    assert_due(&timing, minute(3), minute(10) + 30_000, minute(10), 7);
    // After a hundred years, all planned times are still one occurrence.
    let years_ms = 36_525 * DAY_MS;
    assert_due(&timing, FIRST_MS, FIRST_MS + years_ms, FIRST_MS + years_ms, 36_525 * 1_440);
}

#[test]
fun no_time_after_the_end_is_due() {
    let timing = every_minute(option::some(minute(2) + 1), option::none());
    assert_due(&timing, minute(1), minute(9), minute(2), 1);
}

#[test]
fun late_time_is_not_due() {
    let timing = every_minute(option::none(), option::some(10_000));
    assert_due(&timing, FIRST_MS, FIRST_MS + 10_000, FIRST_MS, 0);
    assert!(timing.due(FIRST_MS, FIRST_MS + 10_001).is_none());
    assert!(timing.due(FIRST_MS, minute(1) - 1).is_none());
    assert_due(&timing, FIRST_MS, minute(1), minute(1), 1);
}

#[test]
fun count_ignores_lateness() {
    let timing = every_minute(option::none(), option::some(10_000));
    assert_eq!(timing.count(minute(1), minute(1) - 1), 0);
    assert_eq!(timing.count(minute(1), minute(1)), 1);
    assert_eq!(timing.count(minute(1), minute(3) + 5), 3);
}

#[test]
fun every_accepts_60_seconds_and_366_days() {
    let timing = timing::every(MINUTE_MS, FIRST_MS, option::none(), option::none());
    assert_eq!(timing.next_after(FIRST_MS, 1), option::some(FIRST_MS + MINUTE_MS));
    let timing = timing::every(366 * DAY_MS, FIRST_MS, option::none(), option::none());
    assert_eq!(timing.next_after(FIRST_MS, 1), option::some(FIRST_MS + 366 * DAY_MS));
}

#[test]
fun largest_first_time_does_not_abort() {
    let timing = timing::every(MINUTE_MS, MAX_U64, option::none(), option::none());
    assert_eq!(timing.next_after(FIRST_MS, 1), option::some(MAX_U64));
    assert!(timing.due(MAX_U64, FIRST_MS).is_none());
}

#[test, expected_failure(abort_code = timing::EInvalidInterval)]
fun every_rejects_an_interval_below_a_minute() {
    timing::every(MINUTE_MS - 1, FIRST_MS, option::none(), option::none());
}

#[test, expected_failure(abort_code = timing::EInvalidInterval)]
fun every_rejects_an_interval_above_a_year() {
    timing::every(366 * DAY_MS + 1, FIRST_MS, option::none(), option::none());
}

// === Listed times ===

#[test]
fun listed_times_are_due_in_order() {
    let timing = timing::at(vector[minute(1), minute(2), minute(9)], option::none());
    assert_eq!(timing.first(), option::some(minute(1)));
    assert_eq!(timing.next_after(minute(1), 1), option::some(minute(2)));
    assert_eq!(timing.next(minute(2)), option::some(minute(2)));
    assert_eq!(timing.next_after(minute(2), 1), option::some(minute(9)));
    assert_eq!(timing.next_after(minute(9), 1), option::none());
    assert!(!timing.is_on_event());

    assert!(timing.due(minute(1), minute(1) - 1).is_none());
    assert_due(&timing, minute(1), minute(1), minute(1), 0);
    assert_due(&timing, minute(1), minute(2), minute(2), 1);
    assert_due(&timing, minute(2), minute(8), minute(2), 0);
    assert_due(&timing, minute(1), minute(20), minute(9), 2);
    assert_eq!(timing.count(minute(2), minute(20)), 2);
}

#[test]
fun listed_time_can_be_too_late() {
    let timing = timing::at(vector[minute(1), minute(9)], option::some(MINUTE_MS));
    assert!(timing.due(minute(1), minute(2) + 1).is_none());
    assert_due(&timing, minute(1), minute(10), minute(9), 1);
    assert!(timing.due(minute(1), minute(10) + 1).is_none());
}

#[test]
fun at_accepts_256_times() {
    let timing = timing::at(vector::tabulate!(256, |i| i + 1), option::none());
    assert_due(&timing, 1, 1_000, 256, 255);
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun at_rejects_257_times() {
    timing::at(vector::tabulate!(257, |i| i + 1), option::none());
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun at_rejects_an_empty_list() {
    timing::at(vector[], option::none());
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun at_rejects_a_duplicate_time() {
    timing::at(vector[minute(1), minute(2), minute(2)], option::none());
}

// === Events ===

#[test]
fun events_count_after_the_pause() {
    let timing = timing::on_event(b"0x2::coin::Minted".to_ascii_string(), 10_000, 2);
    assert!(timing.is_on_event());
    assert_eq!(timing.first(), option::some(0));
    assert_eq!(timing.next(FIRST_MS), option::some(FIRST_MS));
    assert_eq!(timing.next_after(FIRST_MS, 1), option::some(FIRST_MS + 10_000));
    assert!(timing.due(FIRST_MS, FIRST_MS - 1).is_none());
    assert_due(&timing, FIRST_MS, FIRST_MS + 7, FIRST_MS, 0);
}

#[test]
fun on_event_accepts_a_type_of_512_bytes() {
    let event = vector::tabulate!(512, |_| 97).to_ascii_string();
    assert!(timing::on_event(event, 366 * DAY_MS, 1).is_on_event());
}

#[test, expected_failure(abort_code = timing::EInvalidEvent)]
fun on_event_rejects_a_longer_type() {
    timing::on_event(vector::tabulate!(513, |_| 97).to_ascii_string(), 10_000, 1);
}

#[test, expected_failure(abort_code = timing::EInvalidEvent)]
fun on_event_rejects_an_empty_type() {
    timing::on_event(b"".to_ascii_string(), 10_000, 1);
}

#[test, expected_failure(abort_code = timing::EInvalidPause)]
fun on_event_rejects_a_pause_above_a_year() {
    timing::on_event(b"0x2::coin::Minted".to_ascii_string(), 366 * DAY_MS + 1, 1);
}

#[test]
fun on_event_accepts_the_shortest_pause() {
    let timing = timing::on_event(b"a".to_ascii_string(), 10_000, 1);
    assert_eq!(timing.next(FIRST_MS), option::some(FIRST_MS));
}

#[test, expected_failure(abort_code = timing::EInvalidPause)]
fun on_event_rejects_a_pause_below_10_seconds() {
    timing::on_event(b"a".to_ascii_string(), 9_999, 1);
}

#[test, expected_failure(abort_code = timing::EInvalidDailyLimit)]
fun on_event_rejects_a_daily_limit_of_zero() {
    timing::on_event(b"a".to_ascii_string(), 10_000, 0);
}

/// Days start at midnight UTC. A pause that is longer than the rest of the day continues on the
/// next day.
#[test]
fun daily_limit_waits_for_the_next_day() {
    let timing = timing::on_event(b"a".to_ascii_string(), 10_000, 3);
    assert_eq!(timing.next_after(5 * DAY_MS, 2), option::some(5 * DAY_MS + 10_000));
    assert_eq!(timing.next_after(5 * DAY_MS, 3), option::some(6 * DAY_MS));
    assert_eq!(timing.next_after(6 * DAY_MS - 1, 3), option::some(6 * DAY_MS + 9_999));
    assert_eq!(timing.next_after(6 * DAY_MS - 10_000, 3), option::some(6 * DAY_MS));
    assert_eq!(timing::day(6 * DAY_MS - 1), 5);
    assert_eq!(timing::day(6 * DAY_MS), 6);
}

// === More times ===

#[test]
fun add_times_appends_to_the_remaining_times() {
    let mut timing = timing::at(vector[minute(1), minute(2), minute(3)], option::none());
    timing.add_times(option::some(minute(2)), vector[minute(4), minute(6)]);
    assert_eq!(timing.first(), option::some(minute(2)));
    assert_eq!(timing.next(minute(5)), option::some(minute(6)));
    assert_eq!(timing.count(minute(2), minute(9)), 4);
    timing.add_times(option::none(), vector[minute(7)]);
    assert_eq!(timing.first(), option::some(minute(7)));
}

#[test]
fun add_times_accepts_256_times_in_all() {
    let mut timing = timing::at(vector::tabulate!(256, |i| minute(i)), option::none());
    timing.add_times(option::some(minute(255)), vector::tabulate!(255, |i| minute(256 + i)));
    assert_eq!(timing.count(minute(255), minute(1_000)), 256);
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun add_times_rejects_more_than_256_times_in_all() {
    let mut timing = timing::at(vector::tabulate!(256, |i| minute(i)), option::none());
    timing.add_times(option::some(minute(255)), vector::tabulate!(256, |i| minute(256 + i)));
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun add_times_rejects_a_past_time() {
    let mut timing = timing::at(vector[minute(1), minute(2)], option::none());
    timing.add_times(option::none(), vector[minute(2)]);
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun add_times_rejects_descending_times() {
    let mut timing = timing::at(vector[minute(1)], option::none());
    timing.add_times(option::none(), vector[minute(3), minute(2)]);
}

#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun add_times_rejects_an_empty_result() {
    let mut timing = timing::at(vector[minute(1)], option::none());
    timing.add_times(option::none(), vector[]);
}

#[test, expected_failure(abort_code = timing::ENoTimeList)]
fun add_times_rejects_an_interval() {
    let mut timing = every_minute(option::none(), option::none());
    timing.add_times(option::none(), vector[minute(9)]);
}

#[test]
fun extend_until_moves_the_end() {
    let mut timing = every_minute(option::some(minute(2)), option::none());
    assert_eq!(timing.next(minute(3)), option::none());
    timing.extend_until(minute(3));
    assert_eq!(timing.next(minute(3)), option::some(minute(3)));
    assert_eq!(timing.next(minute(3) + 1), option::none());
}

#[test, expected_failure(abort_code = timing::EInvalidEnd)]
fun extend_until_rejects_the_same_end() {
    let mut timing = every_minute(option::some(minute(2)), option::none());
    timing.extend_until(minute(2));
}

#[test, expected_failure(abort_code = timing::EInvalidEnd)]
fun extend_until_rejects_an_interval_without_an_end() {
    let mut timing = every_minute(option::none(), option::none());
    timing.extend_until(minute(2));
}

#[test, expected_failure(abort_code = timing::EInvalidEnd)]
fun extend_until_rejects_a_list_of_times() {
    let mut timing = timing::at(vector[minute(1)], option::none());
    timing.extend_until(minute(2));
}

// === Helpers ===

fun minute(number: u64): u64 { FIRST_MS + number * MINUTE_MS }

fun every_minute(until_ms: Option<u64>, max_late_ms: Option<u64>): Timing {
    timing::every(MINUTE_MS, FIRST_MS, until_ms, max_late_ms)
}

fun assert_due(timing: &Timing, next_at_ms: u64, now_ms: u64, planned_at_ms: u64, missed: u64) {
    let due = timing.due(next_at_ms, now_ms).destroy_some();
    assert_eq!(due.planned_at_ms(), planned_at_ms);
    assert_eq!(due.missed(), missed);
}
