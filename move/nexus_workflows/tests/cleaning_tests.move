/// What is left of executions: who removes it, and when.
#[test_only]
module nexus_workflows::cleaning_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::test_runner::{field, told};
use nexus_workflows::cleaning;
use nexus_workflows::execution::Execution;
use nexus_workflows::schedule_runner::{Self, Stage, hourly};
use std::unit_test::assert_eq;
use sui::clock::Clock;

const BOB: address = @0xB;
const EVE: address = @0xE;

const FIRST_MS: u64 = 2_000_000;
const WEEK_MS: u64 = 604_800_000;

#[test, expected_failure(abort_code = cleaning::ENotEnded)]
fun what_runs_is_not_cleaned() {
    let (mut stage, _, execution) = begun();
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun for_7_days_the_owner_alone_cleans() {
    let (mut stage, schedule, execution) = begun();
    stage.expire(execution);
    stage.collect(schedule, execution);
    stage.runner().advance(WEEK_MS - 1);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun for_7_days_the_owner_alone_removes_runs() {
    clean_as_a_stranger!(|execution, clock, ctx| {
        cleaning::clean_runs(execution, vector[0], vector[vector[]], clock, ctx);
    });
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun for_7_days_the_owner_alone_removes_instances() {
    clean_as_a_stranger!(|execution, clock, ctx| {
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
    });
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun for_7_days_the_owner_alone_removes_marks() {
    clean_as_a_stranger!(|execution, clock, ctx| {
        cleaning::clean_marks(execution, 0, vector[], 0, 0, vector[0], clock, ctx);
    });
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun for_7_days_the_owner_alone_deletes_invocations() {
    let (mut stage, _, execution) = begun();
    let invocation = stage.carry(execution, true);
    let invocation = stage.runner().next_tx(EVE).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_invocation(execution, invocation, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun for_7_days_the_owner_alone_deletes_the_execution() {
    let (mut stage, _, execution) = begun();
    stage.expire(execution);
    stage.delete_execution(EVE, execution);
    abort
}

#[test, expected_failure(abort_code = cleaning::ENotClean)]
fun what_has_records_is_not_deleted() {
    let (mut stage, schedule, execution) = begun();
    stage.expire(execution);
    stage.collect(schedule, execution);
    stage.delete_execution(BOB, execution);
    abort
}

#[test]
fun after_7_days_anyone_removes_all() {
    let (mut stage, schedule, execution) = begun();
    stage.expire(execution);
    stage.collect(schedule, execution);
    stage.runner().advance(WEEK_MS);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        // What is not there is removed in vain.
        cleaning::clean_runs(execution, vector[0, 9], vector[vector[], vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[0, 9], clock, ctx);
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_marks(execution, 0, vector[], 0, 0, vector[0], clock, ctx);
    });
    stage.delete_execution(EVE, execution);
    assert_eq!(told<cleaning::ExecutionDeleted>(), vector[field(execution), field(BOB)].flatten());
    stage.end();
}

#[test]
fun an_invocation_is_deleted_with_its_execution() {
    let (mut stage, schedule, execution) = begun();
    let invocation = stage.carry(execution, true);
    stage.collect(schedule, execution);
    let invocation = stage.runner().next_tx(BOB).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_invocation(execution, invocation, clock, ctx);
        cleaning::clean_runs(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    stage.delete_execution(BOB, execution);
    stage.end();
}

/// Lets Eve remove something of an execution that has just ended.
macro fun clean_as_a_stranger($f: |&mut Execution, &Clock, &mut TxContext|) {
    let (mut stage, _, execution) = begun();
    stage.expire(execution);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        $f(execution, clock, ctx);
    });
    abort
}

fun begun(): (Stage, ID, ID) {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    (stage, schedule, execution)
}
