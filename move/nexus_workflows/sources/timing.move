/// When something is due: again and again, at times of a list, or whenever something happened.
///
/// Planned times follow from the timing alone, not from when anything was done: what was late
/// once is not late for ever. Several that have passed are one occurrence, of which the last
/// one counts: so nothing that was put off is made up for again and again.
module nexus_workflows::timing;

use std::ascii::String;

// === Errors ===

/// An interval is from 60 seconds to 366 days.
const EInvalidInterval: u64 = 0;
/// The times are not 1 to 256, in ascending order.
const EInvalidTimes: u64 = 1;
/// The type of the event is not 1 to 512 bytes long.
const EInvalidEvent: u64 = 2;
/// The pause after an execution that an event started must be from 10 seconds to 366 days.
const EInvalidPause: u64 = 3;
/// A schedule by events must allow at least one execution per day.
const EInvalidDailyLimit: u64 = 4;
/// An execution must be allowed to start 10 seconds late: with less, none would ever start.
const EInvalidLateness: u64 = 5;
/// Only a schedule with a list of times takes more times.
const ENotByTimes: u64 = 6;
/// Only an interval with an end takes a new end, and the new end must be later.
const EInvalidEnd: u64 = 7;

// === Constants ===

const MIN_INTERVAL_MS: u64 = 60 * 1000;
const MAX_INTERVAL_MS: u64 = 366 * 24 * 60 * 60 * 1000;
const MAX_TIMES: u64 = 256;
const MAX_EVENT_BYTES: u64 = 512;
/// The time that each leader has before the next one: see `schedule::WINDOW_MS`.
const MIN_PAUSE_MS: u64 = 10 * 1000;
const MIN_LATE_MS: u64 = 10 * 1000;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

// === Structs ===

/// When something is due.
public struct Timing has copy, drop, store {
    plan: Plan,
    /// How long after its planned time an occurrence may still begin; with none, at any time.
    max_late_ms: Option<u64>,
}

/// The planned times.
public enum Plan has copy, drop, store {
    /// From `first_at_ms` on, but not after `until_ms`.
    Every { interval_ms: u64, first_at_ms: u64, until_ms: Option<u64> },
    At { times: vector<u64> },
    /// Whenever an event of this type was told, but not sooner than `pause_ms` after the last time,
    /// and at most `max_per_day` times in a day of UTC.
    OnEvent { event: String, pause_ms: u64, max_per_day: u64 },
}

/// An occurrence that is due.
public struct Due has drop {
    planned_at_ms: u64,
    missed: u64,
}

// === Public functions ===

/// Again and again: the first time then, and the last time not after `until_ms`. Aborts with
/// `EInvalidInterval` or `EInvalidLateness`.
public fun every(
    interval_ms: u64,
    first_at_ms: u64,
    until_ms: Option<u64>,
    max_late_ms: Option<u64>,
): Timing {
    let is_valid = MIN_INTERVAL_MS <= interval_ms && interval_ms <= MAX_INTERVAL_MS;
    assert!(is_valid, EInvalidInterval);
    planned(Plan::Every { interval_ms, first_at_ms, until_ms }, max_late_ms)
}

/// At each of these times. Aborts with `EInvalidTimes` or `EInvalidLateness`.
public fun at(times: vector<u64>, max_late_ms: Option<u64>): Timing {
    check_times(&times);
    planned(Plan::At { times }, max_late_ms)
}

/// Whenever an event of this type was told, `package::module::Name`, but not sooner than
/// `pause_ms` after the last time, and at most `max_per_day` times in a day of UTC. The chain
/// cannot see that it was: leaders say so, and the pause and the limit bound what one that lies
/// can start. Aborts with `EInvalidEvent`, `EInvalidPause` or `EInvalidDailyLimit`.
public fun on_event(event: String, pause_ms: u64, max_per_day: u64): Timing {
    assert!(0 < event.length() && event.length() <= MAX_EVENT_BYTES, EInvalidEvent);
    assert!(MIN_PAUSE_MS <= pause_ms && pause_ms <= MAX_INTERVAL_MS, EInvalidPause);
    assert!(0 < max_per_day, EInvalidDailyLimit);
    Timing { plan: Plan::OnEvent { event, pause_ms, max_per_day }, max_late_ms: option::none() }
}

// === Package functions ===

/// Whether it is events that make something due.
public(package) fun is_on_event(self: &Timing): bool {
    match (&self.plan) {
        Plan::OnEvent { .. } => true,
        _ => false,
    }
}

/// The first planned time, if there is one.
public(package) fun first(self: &Timing): Option<u64> { self.next(0) }

/// The first planned time that is not before `from_ms`, if there is one; of events, that time.
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

/// The first planned time after `now_ms`, at which something was begun, as the `begun_today`-th
/// time of this day; of events, when the pause is over, and the day too if no more may begin in it.
public(package) fun after(self: &Timing, now_ms: u64, begun_today: u64): Option<u64> {
    match (&self.plan) {
        Plan::OnEvent { pause_ms, max_per_day, .. } => {
            let tomorrow_ms = if (begun_today < *max_per_day) 0 else (day(now_ms) + 1) * DAY_MS;
            option::some(tomorrow_ms.max(now_ms + *pause_ms))
        },
        _ => self.next(now_ms + 1),
    }
}

/// The occurrence that is due now, if those before `next_at_ms` are done with: when it was
/// planned, and how many before it are missed.
public(package) fun due(self: &Timing, next_at_ms: u64, now_ms: u64): Option<Due> {
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
    if (is_too_late) option::none() else option::some(Due { planned_at_ms, missed })
}

/// How many planned times there are from `next_at_ms` to then.
public(package) fun count(self: &Timing, next_at_ms: u64, until_ms: u64): u64 {
    let any = Timing { plan: self.plan, max_late_ms: option::none() };
    any.due(next_at_ms, until_ms).map!(|due| due.missed + 1).destroy_or!(0)
}

/// Adds times after the last one of a list, and drops those before `next_at_ms`, which are done
/// with; with none, all are. Aborts with `ENotByTimes` or `EInvalidTimes`.
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
        _ => abort ENotByTimes,
    }
}

/// Gives an interval a later end. Aborts with `EInvalidEnd`.
public(package) fun extend_until(self: &mut Timing, new_until_ms: u64) {
    match (&mut self.plan) {
        Plan::Every { until_ms, .. } => {
            assert!(until_ms.is_some_and!(|old| *old < new_until_ms), EInvalidEnd);
            *until_ms = option::some(new_until_ms);
        },
        _ => abort EInvalidEnd,
    }
}

/// The number of the day of UTC since 1970.
public(package) fun day(time_ms: u64): u64 { time_ms / DAY_MS }

/// When it was planned.
public(package) fun planned_at_ms(self: &Due): u64 { self.planned_at_ms }

/// How many planned times before it are missed.
public(package) fun missed(self: &Due): u64 { self.missed }

// === Private functions ===

fun planned(plan: Plan, max_late_ms: Option<u64>): Timing {
    assert!(!max_late_ms.is_some_and!(|late_ms| *late_ms < MIN_LATE_MS), EInvalidLateness);
    Timing { plan, max_late_ms }
}

fun check_times(times: &vector<u64>) {
    let n = times.length();
    assert!(0 < n && n <= MAX_TIMES, EInvalidTimes);
    (n - 1).do!(|i| assert!(times[i] < times[i + 1], EInvalidTimes));
}
