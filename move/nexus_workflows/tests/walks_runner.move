/// Walks of workflows that tests write themselves, and what a `Change` tells of them.
#[test_only]
module nexus_workflows::walks_runner;

use nexus_tools::run::{Self, Run};
use nexus_tools::test_runner::field;
use nexus_tools::value::{Self, Ports, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::records::Instance;
use nexus_workflows::walks::{Self, Change, Walks};
use std::unit_test::assert_eq;

const NOW_MS: u64 = 1_000;

/// What a `Change` tells.
public struct Told has copy, drop {
    ready: vector<Run>,
    iterations: vector<Run>,
    emptied: vector<Instance>,
    failures: vector<Failure>,
}

public struct Failure has copy, drop {
    run: Run,
    reason: vector<u8>,
}

// === What is told ===

public fun nothing(): Told {
    Told { ready: vector[], iterations: vector[], emptied: vector[], failures: vector[] }
}

public fun readies(mut self: Told, run: Run): Told {
    self.ready.push_back(run);
    self
}

public fun begins(mut self: Told, vertex: Run): Told {
    self.iterations.push_back(vertex);
    self
}

public fun empties(mut self: Told, region: Instance): Told {
    self.emptied.push_back(region);
    self
}

public fun fails(mut self: Told, run: Run, reason: vector<u8>): Told {
    self.failures.push_back(Failure { run, reason });
    self
}

/// Both are the same in BCS.
public fun assert_told(change: Change, expected: Told) { assert_eq!(field(change), field(expected)) }

// === Values ===

public fun at(vertex: u16, path: vector<u32>): Run { run::new(vertex, path) }

/// A text, which is no list.
public fun one(): Value { value::inline(b"5") }

/// A list of so many elements.
public fun list(n: u64): Value {
    value::inline_list(vector[vector::tabulate!(n, |_| b"1")])
}

/// What an answer has in the port `out`.
public fun out(value: Value): Ports { value::none().with(b"out", value) }

// === Walks ===

/// Begins with the first group.
public fun begun(dag: &Dag, expected: Told): Walks {
    let mut change = walks::no_change();
    let walks = walks::begin(dag, 0, &mut change, &mut tx_context::dummy());
    assert_told(change, expected);
    walks
}

/// Takes a run that is ready, and closes it.
public fun settled(
    self: &mut Walks,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    value: Value,
    expected: Told,
) {
    assert!(self.can_take(run, NOW_MS));
    self.take(run);
    assert!(!self.can_take(run, NOW_MS) && !self.is_over());
    self.closed(dag, run, variant, out(value), expected);
}

/// Closes a run that is under way.
public fun closed(
    self: &mut Walks,
    dag: &Dag,
    run: Run,
    variant: vector<u8>,
    ports: Ports,
    expected: Told,
) {
    let mut change = walks::no_change();
    self.settle(dag, run, &variant.to_ascii_string(), &ports, NOW_MS, &mut change);
    assert_told(change, expected);
}

/// Closes a run that is under way without an answer.
public fun failed(self: &mut Walks, dag: &Dag, run: Run, expected: Told) {
    let mut change = walks::no_change();
    self.fail(dag, run, b"timed_out".to_ascii_string(), true, NOW_MS, &mut change);
    assert_told(change, expected);
}

/// Gathers a region in which nothing is left to do, once.
public fun gathered(self: &mut Walks, dag: &Dag, region: Instance, expected: Told) {
    let mut change = walks::no_change();
    assert!(self.gather(dag, region, &mut change));
    assert_told(change, expected);
    assert!(!self.gathers(dag, region));
}

/// Whether a region is gathered, which tells nothing if it is not.
public fun gathers(self: &mut Walks, dag: &Dag, region: Instance): bool {
    let mut change = walks::no_change();
    let gathers = self.gather(dag, region, &mut change);
    if (!gathers) assert_told(change, nothing());
    gathers
}

/// Takes so many iterations of a vertex, from this one on.
public fun taken(
    self: &mut Walks,
    dag: &Dag,
    vertex: u16,
    path: vector<u32>,
    count: u64,
    expected: vector<Run>,
) {
    assert_eq!(self.take_iterations(dag, vertex, path, count), expected);
    assert!(!self.is_over());
}

public fun assert_over(self: &Walks, status: vector<u8>) {
    assert!(self.is_over());
    assert_eq!(self.status(), status.to_ascii_string());
}

use fun closed as Walks.closed;
use fun gathers as Walks.gathers;
