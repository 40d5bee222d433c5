/// Helpers for tests of `progress`, and for expected changes.
#[test_only]
module nexus_workflows::progress_runner;

use nexus_tools::run::{Self, Run};
use nexus_tools::test_runner::field;
use nexus_tools::value::{Self, Ports, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::records::Instance;
use nexus_workflows::progress::{Self, Change, Progress};
use std::unit_test::assert_eq;

const NOW_MS: u64 = 1_000;

/// The expected fields of a `Change`.
public struct Effects has copy, drop {
    ready: vector<Run>,
    iterations: vector<Run>,
    finished_regions: vector<Instance>,
    failures: vector<Failure>,
}

public struct Failure has copy, drop {
    run: Run,
    reason: vector<u8>,
}

// === Expected changes ===

public fun no_effect(): Effects {
    Effects { ready: vector[], iterations: vector[], finished_regions: vector[], failures: vector[] }
}

public fun with_ready(mut self: Effects, run: Run): Effects {
    self.ready.push_back(run);
    self
}

public fun with_iteration(mut self: Effects, vertex: Run): Effects {
    self.iterations.push_back(vertex);
    self
}

public fun with_finished_region(mut self: Effects, region: Instance): Effects {
    self.finished_regions.push_back(region);
    self
}

public fun with_failure(mut self: Effects, run: Run, reason: vector<u8>): Effects {
    self.failures.push_back(Failure { run, reason });
    self
}

/// Check that the actual and the expected change have equal BCS bytes.
public fun assert_change(change: Change, expected: Effects) {
    assert_eq!(field(change), field(expected))
}

// === Values ===

public fun at(vertex: u16, path: vector<u32>): Run { run::new(vertex, path) }

/// Return a value that is not a list.
public fun scalar(): Value { value::inline(b"5") }

/// Return a list of `n` elements.
public fun list(n: u64): Value {
    value::inline_list(vector[vector::tabulate!(n, |_| b"1")])
}

/// Return the ports of an answer with the port `out`.
public fun out(value: Value): Ports { value::empty_ports().with(b"out", value) }

// === Progress ===

/// Start an execution with the first entry group.
public fun start(dag: &Dag, expected: Effects): Progress {
    let mut change = progress::empty_change();
    let progress = progress::start(dag, 0, &mut change, &mut tx_context::dummy());
    assert_change(change, expected);
    progress
}

/// Mark a ready run as in flight, and close it.
public fun settle_run(
    self: &mut Progress,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    value: Value,
    expected: Effects,
) {
    assert!(self.is_due(run, NOW_MS));
    self.mark_in_flight(run);
    assert!(!self.is_due(run, NOW_MS) && !self.is_over());
    self.close_run(dag, run, variant, out(value), expected);
}

/// Close a run in flight.
public fun close_run(
    self: &mut Progress,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    ports: Ports,
    expected: Effects,
) {
    let mut change = progress::empty_change();
    self.settle(dag, run, &variant.to_ascii_string(), &ports, NOW_MS, &mut change);
    assert_change(change, expected);
}

/// Close a run in flight without an answer.
public fun fail_run(self: &mut Progress, dag: &Dag, run: Run, expected: Effects) {
    let mut change = progress::empty_change();
    self.fail(dag, run, b"timed_out".to_ascii_string(), true, NOW_MS, &mut change);
    assert_change(change, expected);
}

/// Gather a finished region, and check that a second call has no effect.
public fun gather_region(self: &mut Progress, dag: &Dag, region: Instance, expected: Effects) {
    let mut change = progress::empty_change();
    assert!(self.gather(dag, region, &mut change));
    assert_change(change, expected);
    assert!(!self.try_gather(dag, region));
}

/// Try to gather a region, and return whether this succeeded. If not, check that nothing changed.
public fun try_gather(self: &mut Progress, dag: &Dag, region: Instance): bool {
    let mut change = progress::empty_change();
    let gathers = self.gather(dag, region, &mut change);
    if (!gathers) assert_change(change, no_effect());
    gathers
}

/// Claim iterations of a vertex, and check their runs.
public fun claim(
    self: &mut Progress,
    dag: &Dag,
    vertex: u16,
    path: vector<u32>,
    count: u64,
    expected: vector<Run>,
) {
    assert_eq!(self.claim_iterations(dag, vertex, path, count), expected);
    assert!(!self.is_over());
}

public fun assert_over(self: &Progress, status: vector<u8>) {
    assert!(self.is_over());
    assert_eq!(self.status(), status.to_ascii_string());
}

use fun close_run as Progress.close_run;
use fun try_gather as Progress.try_gather;
