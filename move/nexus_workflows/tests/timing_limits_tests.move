/// Tests of times at their limits, such as the first and last millisecond, or distant times.
#[test_only]
module nexus_workflows::timing_limits_tests;

use nexus_workflows::timing::{Self, Timing};
use std::unit_test::assert_eq;

const FIRST_MS: u64 = 1_000_000;
const MINUTE_MS: u64 = 60_000;

/// A distant end does not make an execution due before its planned time.
#[test]
fun future_end_has_no_effect_before_it() {
    let timing = every_minute(FIRST_MS, option::some(minute(100)));
    assert_due(&timing, FIRST_MS, FIRST_MS, FIRST_MS, 0);
    assert_due(&timing, FIRST_MS, minute(1) - 1, FIRST_MS, 0);
    assert_due(&timing, FIRST_MS, minute(1), minute(1), 1);
    assert_due(&timing, FIRST_MS, minute(100), minute(100), 100);
    assert_due(&timing, FIRST_MS, minute(101), minute(100), 100);
    assert_eq!(timing.count(FIRST_MS, minute(1) - 1), 1);
    assert_eq!(timing.count(FIRST_MS, minute(200)), 101);
}

/// The end is between two planned times, so the earlier time is the last planned time.
#[test]
fun last_time_is_not_after_the_end() {
    let timing = every_minute(FIRST_MS, option::some(minute(3) - 1));
    assert_eq!(timing.next(minute(2)), option::some(minute(2)));
    assert_eq!(timing.next(minute(2) + 1), option::none());
    assert_due(&timing, FIRST_MS, minute(50), minute(2), 2);
}

/// The clock starts at 0 ms, and a timing can also start at 0 ms.
#[test]
fun time_zero_is_a_planned_time() {
    let timing = every_minute(0, option::none());
    assert_eq!(timing.first(), option::some(0));
    assert_eq!(timing.next(1), option::some(MINUTE_MS));
    assert_eq!(timing.next_after(0, 1), option::some(MINUTE_MS));
    assert_due(&timing, 0, 0, 0, 0);
    let timing = timing::at(vector[0, 1], option::none());
    assert_eq!(timing.first(), option::some(0));
    assert_eq!(timing.next_after(0, 1), option::some(1));
    assert_due(&timing, 0, 0, 0, 0);
    assert_due(&timing, 0, 1, 1, 1);
}

/// The millionth planned time is as exact as the first planned time.
#[test]
fun planned_times_do_not_drift() {
    let timing = every_minute(FIRST_MS, option::none());
    assert_eq!(timing.next(minute(1_000_000)), option::some(minute(1_000_000)));
    assert_eq!(timing.next(minute(1_000_000) + 1), option::some(minute(1_000_001)));
    assert_due(&timing, FIRST_MS, minute(1_000_000) - 1, minute(999_999), 999_999);
    assert_due(&timing, FIRST_MS, minute(1_000_000), minute(1_000_000), 1_000_000);
    assert_eq!(timing.count(FIRST_MS, minute(1_000_000)), 1_000_001);
}

/// One millisecond before the next listed time, the previous time is still due.
#[test]
fun listed_time_is_not_due_one_millisecond_early() {
    let timing = timing::at(vector[minute(1), minute(2), minute(3)], option::none());
    assert_due(&timing, minute(1), minute(2) - 1, minute(1), 0);
    assert_due(&timing, minute(1), minute(3) - 1, minute(2), 1);
    assert_eq!(timing.count(minute(2), minute(3) - 1), 1);
    assert_eq!(timing.count(minute(2), minute(3)), 2);
}

/// With a maximum lateness of 10 seconds, an execution is due for exactly 10 seconds.
#[test]
fun shortest_lateness_is_10_seconds() {
    let timing = timing::every(MINUTE_MS, FIRST_MS, option::none(), option::some(10_000));
    assert_due(&timing, FIRST_MS, FIRST_MS + 10_000, FIRST_MS, 0);
    assert!(timing.due(FIRST_MS, FIRST_MS + 10_001).is_none());
    assert_due(&timing, FIRST_MS, minute(2), minute(2), 2);
    let timing = timing::at(vector[FIRST_MS, minute(1)], option::some(10_000));
    assert_due(&timing, FIRST_MS, FIRST_MS + 10_000, FIRST_MS, 0);
    assert!(timing.due(FIRST_MS, FIRST_MS + 10_001).is_none());
    assert_due(&timing, FIRST_MS, minute(1), minute(1), 1);
    assert_eq!(timing.count(FIRST_MS, FIRST_MS + 10_001), 1);
}

#[test, expected_failure(abort_code = timing::EInvalidLateness)]
fun every_rejects_a_lateness_below_10_seconds() {
    timing::every(MINUTE_MS, FIRST_MS, option::none(), option::some(9_999));
}

#[test, expected_failure(abort_code = timing::EInvalidLateness)]
fun at_rejects_a_lateness_below_10_seconds() {
    timing::at(vector[FIRST_MS], option::some(9_999));
}

/// A list may have only one time, which is then also the last time.
#[test]
fun list_of_one_time_is_due_once() {
    let timing = timing::at(vector[FIRST_MS], option::none());
    assert_eq!(timing.first(), option::some(FIRST_MS));
    assert_eq!(timing.next(FIRST_MS), option::some(FIRST_MS));
    assert_eq!(timing.next(FIRST_MS + 1), option::none());
    assert_due(&timing, FIRST_MS, minute(9), FIRST_MS, 0);
    assert_eq!(timing.count(FIRST_MS, FIRST_MS - 1), 0);
}

/// The first two times of a list must be in ascending order, like the last two times.
#[test, expected_failure(abort_code = timing::EInvalidTimes)]
fun at_rejects_descending_times() {
    timing::at(vector[minute(2), minute(1), minute(3)], option::none());
}

// === Helpers ===

fun minute(number: u64): u64 { FIRST_MS + number * MINUTE_MS }

fun every_minute(first_at_ms: u64, until_ms: Option<u64>): Timing {
    timing::every(MINUTE_MS, first_at_ms, until_ms, option::none())
}

fun assert_due(timing: &Timing, next_at_ms: u64, now_ms: u64, planned_at_ms: u64, missed: u64) {
    let due = timing.due(next_at_ms, now_ms).destroy_some();
    assert_eq!(due.planned_at_ms(), planned_at_ms);
    assert_eq!(due.missed(), missed);
}
