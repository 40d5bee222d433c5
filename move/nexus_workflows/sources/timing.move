/// The times at which a schedule is due, which are periodic, listed, or determined by events.
///
/// Planned times depend only on the timing, not on earlier executions. So a late execution does not
/// delay the next executions. If several planned times have passed, they count as one occurrence at
/// the last of these times. So missed times do not cause a series of executions.
module nexus_workflows::timing;

use std::ascii::String;

// === Errors ===

/// The interval is shorter than 60 seconds or longer than 366 days.
const EInvalidInterval: u64 = 0;
/// The list must contain 1 to 256 times in ascending order.
const EInvalidTimes: u64 = 1;
/// The type of the event must be 1 to 512 bytes long.
const EInvalidEvent: u64 = 2;
/// The pause after an execution is shorter than 10 seconds or longer than 366 days.
const EInvalidPause: u64 = 3;
/// The daily limit is zero: allow at least one execution per day.
const EInvalidDailyLimit: u64 = 4;
/// The maximum lateness is shorter than 10 seconds, so no execution could start.
const EInvalidLateness: u64 = 5;
/// The schedule does not have a list of times, so no times can be added.
const ENoTimeList: u64 = 6;
/// The schedule does not have an interval with an end, or the new end is not later than the old
/// end.
const EInvalidEnd: u64 = 7;

// === Constants ===

const MIN_INTERVAL_MS: u64 = 60 * 1000;
const MAX_INTERVAL_MS: u64 = 366 * 24 * 60 * 60 * 1000;
const MAX_TIMES: u64 = 256;
const MAX_EVENT_BYTES: u64 = 512;
/// The minimum pause, which equals the window of a leader: see `schedule::WINDOW_MS`.
const MIN_PAUSE_MS: u64 = 10 * 1000;
const MIN_LATE_MS: u64 = 10 * 1000;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

// === Structs ===

/// The times at which a schedule is due.
public struct Timing has copy, drop, store {
    plan: Plan,
    /// The maximum delay of an occurrence after its planned time, or none.
    max_late_ms: Option<u64>,
}

/// The planned times.
public enum Plan has copy, drop, store {
    /// Every `interval_ms`, from `first_at_ms` to `until_ms`.
    Every { interval_ms: u64, first_at_ms: u64, until_ms: Option<u64> },
    At { times: vector<u64> },
    /// On each reported event of this type.
    ///
    /// An execution starts at least `pause_ms` after the previous execution. At most `max_per_day`
    /// executions start per UTC day.
    OnEvent { event: String, pause_ms: u64, max_per_day: u64 },
}

/// A due occurrence, with its planned time and the number of missed planned times before it.
public struct Occurrence has drop {
    planned_at_ms: u64,
    missed: u64,
}

// === Public functions ===

/// Return a timing with an interval that starts at `first_at_ms` and ends at `until_ms`.
///
/// Aborts with `EInvalidInterval` or `EInvalidLateness`.
public fun every(
    interval_ms: u64,
    first_at_ms: u64,
    until_ms: Option<u64>,
    max_late_ms: Option<u64>,
): Timing {
    let is_valid = MIN_INTERVAL_MS <= interval_ms && interval_ms <= MAX_INTERVAL_MS;
    assert!(is_valid, EInvalidInterval);
    new(Plan::Every { interval_ms, first_at_ms, until_ms }, max_late_ms)
}

/// Return a timing with a list of times. Aborts with `EInvalidTimes` or `EInvalidLateness`.
public fun at(times: vector<u64>, max_late_ms: Option<u64>): Timing {
    check_times(&times);
    new(Plan::At { times }, max_late_ms)
}

/// Return a timing for events of a type, `package::module::Name`.
///
/// Executions start at least `pause_ms` apart, and at most `max_per_day` times per UTC day. The
/// chain cannot verify that an event was emitted, so leaders report events. The pause and the daily
/// limit bound the number of executions that a dishonest leader can start. Aborts with
/// `EInvalidEvent`, `EInvalidPause` or `EInvalidDailyLimit`.
public fun on_event(event: String, pause_ms: u64, max_per_day: u64): Timing {
    assert!(0 < event.length() && event.length() <= MAX_EVENT_BYTES, EInvalidEvent);
    assert!(MIN_PAUSE_MS <= pause_ms && pause_ms <= MAX_INTERVAL_MS, EInvalidPause);
    assert!(0 < max_per_day, EInvalidDailyLimit);
    Timing { plan: Plan::OnEvent { event, pause_ms, max_per_day }, max_late_ms: option::none() }
}

// === Package functions ===

/// Return whether events determine when the schedule is due.
public(package) fun is_on_event(self: &Timing): bool {
    match (&self.plan) {
        Plan::OnEvent { .. } => true,
        _ => false,
    }
}

/// Return the first planned time, or none.
public(package) fun first(self: &Timing): Option<u64> { self.next(0) }

/// Return the first planned time from `from_ms` on, or none. For events, return `from_ms`.
public(package) fun next(self: &Timing, from_ms: u64): Option<u64> {
    match (&self.plan) {
        Plan::Every { interval_ms, first_at_ms, until_ms } => {
            let passed_ms = from_ms.max(*first_at_ms) - *first_at_ms;
            let number = passed_ms.divide_and_round_up(*interval_ms);
            let planned_at_ms = *first_at_ms + number * *interval_ms;
            let is_over = until_ms.is_some_and!(|until_ms| planned_at_ms > *until_ms);
            if (is_over) option::none() else option::some(planned_at_ms)
        },
        Plan::At { times } => times.find_index!(|time| *time >= from_ms).map!(|i| times[i]),
        Plan::OnEvent { .. } => option::some(from_ms),
    }
}

/// Return the first planned time after a start at `now_ms`, or none.
///
/// `started_today` is the number of starts on this UTC day. For events, the time is the end of the
/// pause, or the start of the next day if the daily limit is reached.
public(package) fun next_after(self: &Timing, now_ms: u64, started_today: u64): Option<u64> {
    match (&self.plan) {
        Plan::OnEvent { pause_ms, max_per_day, .. } => {
            let tomorrow_ms = if (started_today < *max_per_day) 0 else (day(now_ms) + 1) * DAY_MS;
            option::some(tomorrow_ms.max(now_ms + *pause_ms))
        },
        _ => self.next(now_ms + 1),
    }
}

/// Return the occurrence that is due now, or none. `next_at_ms` is the next planned time.
public(package) fun due(self: &Timing, next_at_ms: u64, now_ms: u64): Option<Occurrence> {
    if (now_ms < next_at_ms) return option::none();
    let (planned_at_ms, missed) = match (&self.plan) {
        Plan::Every { interval_ms, until_ms, .. } => {
            let last_ms = (*until_ms).destroy_or!(now_ms).min(now_ms);
            let missed = (last_ms - next_at_ms) / *interval_ms;
            (next_at_ms + missed * *interval_ms, missed)
        },
        Plan::At { times } => {
            let passed = times.count!(|time| *time <= now_ms);
            let missed = passed - times.count!(|time| *time <= next_at_ms);
            (times[passed - 1], missed)
        },
        Plan::OnEvent { .. } => (next_at_ms, 0),
    };
    let is_too_late = self.max_late_ms.is_some_and!(|max_ms| now_ms - planned_at_ms > *max_ms);
    if (is_too_late) option::none() else option::some(Occurrence { planned_at_ms, missed })
}

/// Return the number of planned times from `next_at_ms` to `until_ms`.
public(package) fun count(self: &Timing, next_at_ms: u64, until_ms: u64): u64 {
    let any = Timing { plan: self.plan, max_late_ms: option::none() };
    any.due(next_at_ms, until_ms).map!(|due| due.missed + 1).destroy_or!(0)
}

/// Append times to a list of times. Drop times before `next_at_ms`, or all old times if
/// `next_at_ms` is none.
///
/// Aborts with `ENoTimeList` or `EInvalidTimes`.
public(package) fun add_times(self: &mut Timing, next_at_ms: Option<u64>, more: vector<u64>) {
    match (&mut self.plan) {
        Plan::At { times } => {
            let last = times[times.length() - 1];
            assert!(more.all!(|time| *time > last), EInvalidTimes);
            let left = next_at_ms.map!(|next| (*times).filter!(|time| *time >= next));
            let mut all = left.destroy_or!(vector[]);
            all.append(more);
            check_times(&all);
            *times = all;
        },
        _ => abort ENoTimeList,
    }
}

/// Set a later end of an interval. Aborts with `EInvalidEnd`.
public(package) fun extend_until(self: &mut Timing, new_until_ms: u64) {
    match (&mut self.plan) {
        Plan::Every { until_ms, .. } => {
            assert!(until_ms.is_some_and!(|old| *old < new_until_ms), EInvalidEnd);
            *until_ms = option::some(new_until_ms);
        },
        _ => abort EInvalidEnd,
    }
}

/// Return the number of UTC days since 1970.
public(package) fun day(time_ms: u64): u64 { time_ms / DAY_MS }

/// Return the planned time in ms.
public(package) fun planned_at_ms(self: &Occurrence): u64 { self.planned_at_ms }

/// Return the number of earlier planned times that were missed.
public(package) fun missed(self: &Occurrence): u64 { self.missed }

// === Private functions ===

fun new(plan: Plan, max_late_ms: Option<u64>): Timing {
    assert!(!max_late_ms.is_some_and!(|late_ms| *late_ms < MIN_LATE_MS), EInvalidLateness);
    Timing { plan, max_late_ms }
}

fun check_times(times: &vector<u64>) {
    let n = times.length();
    assert!(0 < n && n <= MAX_TIMES, EInvalidTimes);
    (n - 1).do!(|i| assert!(times[i] < times[i + 1], EInvalidTimes));
}
