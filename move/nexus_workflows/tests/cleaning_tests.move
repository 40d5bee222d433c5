/// Tests of the deletion of ended executions, with the accounts that may delete them, and the
/// times.
#[test_only]
module nexus_workflows::cleaning_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::test_runner::{field, event_bytes};
use nexus_workflows::cleaning;
use nexus_workflows::execution::Execution;
use nexus_workflows::schedule_runner::{Self, Stage, hourly};
use std::unit_test::assert_eq;
use sui::clock::Clock;

const BOB: address = @0xB;
const EVE: address = @0xE;

const FIRST_MS: u64 = 2_000_000;
const WEEK_MS: u64 = 604_800_000;

#[test, expected_failure(abort_code = cleaning::EExecutionNotEnded)]
fun clean_runs_rejects_an_active_execution() {
    let (mut stage, _, execution) = started();
    stage.execution_tx!(BOB, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun clean_entries_rejects_others_for_7_days() {
    let (mut stage, schedule, execution) = started();
    stage.expire(execution);
    stage.collect(schedule, execution);
    stage.runner().advance(WEEK_MS - 1);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_entries(execution, vector[0], clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun clean_runs_rejects_others_for_7_days() {
    clean_as_other!(|execution, clock, ctx| {
        cleaning::clean_runs(execution, vector[0], vector[vector[]], clock, ctx);
    });
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun clean_instances_rejects_others_for_7_days() {
    clean_as_other!(|execution, clock, ctx| {
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
    });
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun clean_marks_rejects_others_for_7_days() {
    clean_as_other!(|execution, clock, ctx| {
        cleaning::clean_marks(execution, 0, vector[], 0, 0, vector[0], clock, ctx);
    });
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun clean_invocation_rejects_others_for_7_days() {
    let (mut stage, _, execution) = started();
    let invocation = stage.run_to_end(execution, true);
    let invocation = stage.runner().next_tx(EVE).take_shared_by_id<Invocation>(invocation);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        cleaning::clean_invocation(execution, invocation, clock, ctx);
    });
    abort
}

#[test, expected_failure(abort_code = cleaning::ETooEarly)]
fun delete_rejects_others_for_7_days() {
    let (mut stage, _, execution) = started();
    stage.expire(execution);
    stage.delete_execution(EVE, execution);
    abort
}

#[test, expected_failure(abort_code = cleaning::EExecutionNotEmpty)]
fun delete_rejects_an_execution_with_records() {
    let (mut stage, schedule, execution) = started();
    stage.expire(execution);
    stage.collect(schedule, execution);
    stage.delete_execution(BOB, execution);
    abort
}

#[test]
fun anyone_cleans_and_deletes_after_7_days() {
    let (mut stage, schedule, execution) = started();
    stage.expire(execution);
    stage.collect(schedule, execution);
    stage.runner().advance(WEEK_MS);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        // The removal of a record that does not exist has no effect.
        cleaning::clean_runs(execution, vector[0, 9], vector[vector[], vector[]], clock, ctx);
        cleaning::clean_entries(execution, vector[0, 9], clock, ctx);
        cleaning::clean_instances(execution, vector[0], vector[vector[]], clock, ctx);
        cleaning::clean_marks(execution, 0, vector[], 0, 0, vector[0], clock, ctx);
    });
    stage.delete_execution(EVE, execution);
    assert_eq!(event_bytes<cleaning::ExecutionDeleted>(), vector[field(execution), field(BOB)].flatten());
    stage.end();
}

#[test]
fun clean_invocation_deletes_an_invocation() {
    let (mut stage, schedule, execution) = started();
    let invocation = stage.run_to_end(execution, true);
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

/// Let Eve, who is not the owner, remove records of an execution that has just ended.
macro fun clean_as_other($f: |&mut Execution, &Clock, &mut TxContext|) {
    let (mut stage, _, execution) = started();
    stage.expire(execution);
    stage.execution_tx!(EVE, execution, |execution, _, _, _, clock, ctx| {
        $f(execution, clock, ctx);
    });
    abort
}

fun started(): (Stage, ID, ID) {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    (stage, schedule, execution)
}
