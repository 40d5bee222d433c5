/// Tests of the deletion of an execution's records. The owner or other accounts delete each kind of
/// record separately.
#[test_only]
module nexus_workflows::cleaning_record_tests;

use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::run;
use nexus_tools::test_runner::{field, port, event_bytes};
use nexus_tools::value;
use nexus_workflows::cleaning;
use nexus_workflows::execution_runner::{
    advance,
    assert_ended,
    start_execution,
    fail,
    gather,
    request,
    request_iterations,
    settle,
    terms,
    with_spread,
};
use nexus_workflows::records::{Self, Mark};
use nexus_workflows::schedule_runner::{Self, Stage};
use std::unit_test::assert_eq;

const BOB: address = @0xB;
const EVE: address = @0xE;
const LEE: address = @0x1;

const WEEK_MS: u64 = 604_800_000;
const FUNDS_MIST: u64 = 200_000_000;

const SPLIT: u16 = 0;
const EACH: u16 = 1;
const JOIN: u16 = 2;

/// The execution has the records of four runs and of a region. The execution also has the marks of
/// two iterations, which delivered a value to the same list.
#[test]
fun owner_removes_each_kind_of_record() {
    let (mut stage, id, mut invocations) = ended();
    stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
        assert_eq!(execution.progress().records().length(), 7);
        cleaning::clean_marks(execution, 0, vector[], JOIN, 0, vector[1], clock, ctx);
        assert_eq!(execution.progress().records().length(), 6);
        let (first, _) = execution.progress().records().marked(mark(0));
        let (second, _) = execution.progress().records().marked(mark(1));
        assert_eq!(first, option::some(1));
        assert_eq!(second, option::none());
        cleaning::clean_marks(execution, 0, vector[], JOIN, 0, vector[0, 1, 2], clock, ctx);
        assert_eq!(execution.progress().records().length(), 5);

        let region = records::instance(0, vector[]);
        assert!(execution.progress().records().has_instance(region));
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
        assert!(!execution.progress().records().has_instance(region));
        assert_eq!(execution.progress().records().length(), 4);

        let (vertices, paths) = (vector[EACH, JOIN], vector[vector[1], vector[]]);
        cleaning::clean_runs(execution, vertices, paths, clock, ctx);
        let records = execution.progress().records();
        assert!(records.has_run(run::new(SPLIT, vector[])));
        assert!(records.has_run(run::new(EACH, vector[0])));
        assert!(!records.has_run(run::new(EACH, vector[1])));
        assert!(!records.has_run(run::new(JOIN, vector[])));
        let (vertices, paths) = (vector[SPLIT, EACH], vector[vector[], vector[0]]);
        cleaning::clean_runs(execution, vertices, paths, clock, ctx);
        assert_eq!(execution.progress().records().length(), 0);
        cleaning::clean_entries(execution, vector[SPLIT], clock, ctx);
        assert_eq!(execution.entry(SPLIT, &b"a".to_ascii_string()), option::none());
        assert!(!execution.is_empty());
    });
    while (!invocations.is_empty()) {
        let invocation = invocations.pop_back();
        let deleted = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
        stage.execution_tx!(BOB, id, |execution, _, _, _, clock, ctx| {
            cleaning::clean_invocation(execution, deleted, clock, ctx);
            assert_eq!(execution.is_empty(), invocations.is_empty());
            let mut fields = sui::bcs::new(event_bytes<invocation::InvocationDeleted>());
            assert_eq!(fields.peel_address().to_id(), invocation);
        });
    };
    stage.delete_execution(BOB, id);
    assert_eq!(event_bytes<cleaning::ExecutionDeleted>(), vector[field(id), field(BOB)].flatten());
    stage.end();
}

#[test]
fun anyone_removes_all_records_after_7_days() {
    let (mut stage, id, invocations) = ended();
    stage.runner().advance(WEEK_MS);
    invocations.do!(|invocation| {
        let invocation = stage.runner().next_tx(EVE).take_shared_by_id<Invocation>(invocation);
        stage.execution_tx!(EVE, id, |execution, _, _, _, clock, ctx| {
            cleaning::clean_invocation(execution, invocation, clock, ctx);
        });
    });
    stage.execution_tx!(EVE, id, |execution, _, _, _, clock, ctx| {
        let paths = vector[vector[], vector[0], vector[1], vector[]];
        cleaning::clean_runs(execution, vector[SPLIT, EACH, EACH, JOIN], paths, clock, ctx);
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_marks(execution, 0, vector[], JOIN, 0, vector[0, 1], clock, ctx);
        assert!(!execution.is_empty());
        cleaning::clean_entries(execution, vector[SPLIT], clock, ctx);
        assert!(execution.is_empty());
    });
    stage.delete_execution(EVE, id);
    // The event contains the owner of the execution, not the sender.
    assert_eq!(event_bytes<cleaning::ExecutionDeleted>(), vector[field(id), field(BOB)].flatten());
    stage.end();
}

#[test, expected_failure(abort_code = invocation::EWrongExecution)]
fun clean_invocation_rejects_another_execution() {
    let mut stage = schedule_runner::start();
    let (one, other) = (stage.start_execution(terms()), stage.start_execution(terms()));
    assert!(stage.request(LEE, other));
    let invocation = stage.settle(b"ok", port(b"out", b"1"));
    assert!(stage.advance(LEE, other));
    stage.execution_tx!(BOB, one, |execution, _, _, _, clock, ctx| execution.cancel(clock, ctx));
    let invocation = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(BOB, one, |execution, _, _, _, clock, ctx| {
        cleaning::clean_invocation(execution, invocation, clock, ctx);
    });
    abort
}

// === Helpers ===

use fun advance as Stage.advance;
use fun assert_ended as Stage.assert_ended;
use fun start_execution as Stage.start_execution;
use fun fail as Stage.fail;
use fun gather as Stage.gather;
use fun request as Stage.request;
use fun request_iterations as Stage.request_iterations;
use fun settle as Stage.settle;
use fun with_spread as Stage.with_spread;

/// Return the key of the mark of an iteration for the gathered list.
fun mark(iteration: u32): Mark { records::mark(0, vector[], JOIN, 0, iteration) }

/// Return an execution of Bob that has just ended, and its four invocations. One of its two
/// iterations delivered its answer to the list, and the other iteration delivered the reason of its
/// failure.
fun ended(): (Stage, ID, vector<ID>) {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, true);
    let id = stage.start_execution(terms().with_funds(FUNDS_MIST));
    assert!(stage.request(LEE, id));
    let numbers = value::inline_list(vector[vector[b"1"], vector[b"2"]]);
    let split = stage.settle(b"ok", value::empty_ports().with(b"out", numbers));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.request_iterations(id, 1), 1);
    let first = stage.settle(b"ok", port(b"out", b"10"));
    assert!(stage.advance(LEE, id));
    assert_eq!(stage.request_iterations(id, 1), 1);
    let second = stage.fail();
    assert!(stage.advance(LEE, id));
    assert!(stage.gather(id));
    stage.execution_tx!(LEE, id, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, JOIN, vector[], clock, ctx));
    });
    let join = stage.settle(b"ok", port(b"out", b"3"));
    assert!(stage.advance(LEE, id));
    stage.assert_ended(id);
    (stage, id, vector[split, first, second, join])
}
