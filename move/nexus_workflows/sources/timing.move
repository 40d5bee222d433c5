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

// === Constants ===

const MIN_INTERVAL_MS: u64 = 60 * 1000;
const MAX_INTERVAL_MS: u64 = 366 * 24 * 60 * 60 * 1000;
const MAX_TIMES: u64 = 256;
const MAX_EVENT_BYTES: u64 = 512;

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
    /// Whenever an event of this type was told, but not sooner than `pause_ms` after the last time.
    OnEvent { event: String, pause_ms: u64 },
}

/// An occurrence that is due.
public struct Due has drop {
    planned_at_ms: u64,
    missed: u64,
}

// === Public functions ===

/// Again and again: the first time then, and the last time not after `until_ms`. Aborts with
/// `EInvalidInterval`.
public fun every(
    interval_ms: u64,
    first_at_ms: u64,
    until_ms: Option<u64>,
    max_late_ms: Option<u64>,
): Timing {
    let is_valid = MIN_INTERVAL_MS <= interval_ms && interval_ms <= MAX_INTERVAL_MS;
    assert!(is_valid, EInvalidInterval);
    Timing { plan: Plan::Every { interval_ms, first_at_ms, until_ms }, max_late_ms }
}

/// At each of these times. Aborts with `EInvalidTimes`.
public fun at(times: vector<u64>, max_late_ms: Option<u64>): Timing {
    let n = times.length();
    assert!(0 < n && n <= MAX_TIMES, EInvalidTimes);
    (n - 1).do!(|i| assert!(times[i] < times[i + 1], EInvalidTimes));
    Timing { plan: Plan::At { times }, max_late_ms }
}

/// Whenever an event of this type was told, `package::module::Name`, but not sooner than
/// `pause_ms` after the last time. The chain cannot see that it was: who says so has to be
/// trusted. Aborts with `EInvalidEvent` or `EInvalidInterval`.
public fun on_event(event: String, pause_ms: u64): Timing {
    assert!(0 < event.length() && event.length() <= MAX_EVENT_BYTES, EInvalidEvent);
    assert!(pause_ms <= MAX_INTERVAL_MS, EInvalidInterval);
    Timing { plan: Plan::OnEvent { event, pause_ms }, max_late_ms: option::none() }
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

/// The first planned time after `now_ms`, at which something was begun; of events, when the
/// pause is over.
public(package) fun after(self: &Timing, now_ms: u64): Option<u64> {
    match (&self.plan) {
        Plan::OnEvent { pause_ms, .. } => option::some(now_ms + *pause_ms),
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

/// When it was planned.
public(package) fun planned_at_ms(self: &Due): u64 { self.planned_at_ms }

/// How many planned times before it are missed.
public(package) fun missed(self: &Due): u64 { self.missed }
