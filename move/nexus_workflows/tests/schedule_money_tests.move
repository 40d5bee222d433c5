/// Tests of the exact payments of a schedule, in MIST. Each expected number is computed by hand.
///
/// The fields of an execution have 232 bytes. The ID of the execution, the ID of the workflow and
/// the owner have 32 bytes each. The schedule has 33 bytes, the funds 8, the progress 70, three
/// counts 24, and the time of the end 1. Sui counts 143 additional bytes for the object. The record
/// of a run with an empty path has 316 bytes. The terms have 203 bytes: the two leaders have
/// 65 bytes, the settings 81, the price of one tool 9, and six numbers 48. Sui counts 275
/// additional bytes for the terms. For the entry values of a vertex, Sui counts 276 bytes in
/// addition to the values, which have 6 bytes for `{"a": 1}`.
#[test_only]
module nexus_workflows::schedule_money_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::run;
use nexus_tools::test_runner::{assert_paid_at_most, field, mint, port, text, event_bytes};
use nexus_workflows::execution;
use nexus_workflows::schedule::{Self, Cursor};
use nexus_workflows::schedule_runner::{Self, Stage, hourly, on_event};
use std::unit_test::assert_eq;
use sui::bcs;
use sui::test_scenario;

const BOB: address = @0xB;
const LEE: address = @0x1;
const EVE: address = @0xE;

const FIRST_MS: u64 = 2_000_000;
const HOUR_MS: u64 = 3_600_000;
const FUNDS_MIST: u64 = 1_000_000_000;
const EACH_MIST: u64 = 50_000_000;
/// The payment for gas, plus the keeper fee. The payment is the sum of 1 220 gas units at
/// 1 000 MIST, 300 000 MIST of storage, and a fee of 300 000 MIST.
const FEE_MIST: u64 = 1_820_000;
/// The storage cost of an execution, which is 242 + 143 + 316 + 203 + 275 + 276 + 6 = 1 461 bytes
/// at 7 600 MIST.
const STORED_MIST: u64 = 11_103_600;
/// The funds that a start requires. The funds cover 1 576 bytes, because an execution counts as
/// 500 bytes instead of 242 + 143 bytes. The fee and the funds of the execution are also required.
const NEEDED_MIST: u64 = 63_797_600;

// === Keepers ===

/// Lee triggers the schedule 5 s late. The deadline of the execution is relative to its actual
/// start.
#[test]
fun trigger_emits_the_exact_payments() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS + 5_000);
    let (lee, max, dag) = (stage.lee(), stage.max(), stage.dag());
    let left_mist = FUNDS_MIST - EACH_MIST - FEE_MIST - STORED_MIST;
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, workflow, leader, clock, ctx| {
        assert!(schedule.trigger(registry, workflow, leader, clock, ctx));
        let id = started();
        // One run is ready. The other lists are empty.
        let change = vector[field(vector[run::new(0, vector[])]), vector[0, 0, 0]];
        let fields = vector[
            field(id),
            field(dag),
            field(b"xyz.example.flow@1"),
            field(BOB),
            field(option::some(object::id(schedule))),
            field(vector[lee, max]),
            field(0u8),
            field(EACH_MIST),
            field(FIRST_MS + 605_000),
            change.flatten(),
        ].flatten();
        assert_eq!(event_bytes<execution::ExecutionStarted>(), fields);
        let fields = vector[
            field(object::id(schedule)),
            field(id),
            field(LEE),
            field(FIRST_MS),
            field(0u64),
            field(option::none<Cursor>()),
            field(option::some(FIRST_MS + HOUR_MS)),
            field(FEE_MIST),
            field(STORED_MIST),
            field(left_mist),
        ].flatten();
        assert_eq!(event_bytes<schedule::ScheduleTriggered>(), fields);
        assert_eq!(schedule.funds_mist(), left_mist);
        assert_eq!(schedule.next_at_ms(), option::some(FIRST_MS + HOUR_MS));
        assert_paid_at_most(LEE, FEE_MIST + STORED_MIST);
    });
    stage.end();
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun trigger_pays_a_worker_no_less_than_its_cost() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger(registry, dag, leader, clock, ctx);
        assert_paid_at_most(LEE, FEE_MIST + STORED_MIST - 1);
    });
    stage.end();
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun trigger_by_anyone_pays_no_less_than_trigger() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS + 20_000);
    stage.keeper_tx!(EVE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_anyone(registry, dag, leader, clock, ctx);
        assert_paid_at_most(EVE, FEE_MIST + STORED_MIST - 1);
    });
    stage.end();
}

/// The first event adds a cursor of 24 bytes to the schedule, which costs 182 400 MIST once.
#[test]
fun only_the_first_event_grows_the_schedule() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event().with_overlap()), stage.lee());
    let now_ms = stage.now_ms();
    let paid_mist = FEE_MIST + STORED_MIST;
    let other_mist = EACH_MIST + paid_mist;
    let first_mist = FUNDS_MIST - other_mist - 182_400;
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, 7, 3, 1, clock, ctx));
        let fields = vector[
            field(object::id(schedule)),
            field(started()),
            field(LEE),
            // Events count from time 0 on.
            field(0u64),
            field(0u64),
            cursor(7, 3, 1),
            field(option::some(now_ms + 10_000)),
            field(FEE_MIST),
            field(STORED_MIST + 182_400),
            field(first_mist),
        ].flatten();
        assert_eq!(event_bytes<schedule::ScheduleTriggered>(), fields);
        assert_eq!(schedule.funds_mist(), first_mist);
        assert_paid_at_most(LEE, paid_mist + 182_400);
    });
    stage.runner().advance(12_000);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, 7, 3, 2, clock, ctx));
        let fields = vector[
            field(object::id(schedule)),
            field(started()),
            field(LEE),
            field(now_ms + 10_000),
            field(0u64),
            cursor(7, 3, 2),
            field(option::some(now_ms + 22_000)),
            field(FEE_MIST),
            field(STORED_MIST),
            field(first_mist - other_mist),
        ].flatten();
        assert_eq!(event_bytes<schedule::ScheduleTriggered>(), fields);
        assert_eq!(schedule.funds_mist(), first_mist - other_mist);
        assert_paid_at_most(LEE, paid_mist);
    });
    stage.end();
}

// === Variations ===

/// Three runs and two vertices with values cost 1 250 gas units. The execution has 242 + 143 bytes,
/// the runs have 948 bytes, and the terms have 478 bytes. The values have 199 bytes, and Sui counts
/// 552 additional bytes for them.
#[test]
fun values_below_200_bytes_cost_no_gas_unit() {
    assert_pays_with_three_vertices(187, 1_850_000, 19_471_200);
}

#[test]
fun values_of_200_bytes_cost_one_gas_unit() {
    assert_pays_with_three_vertices(188, 1_851_000, 19_478_800);
}

/// The payment does not include values that were replaced. `{"b": 22}` has one byte more than
/// `{"a": 1}`.
#[test]
fun replaced_values_are_not_paid_for() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.set_entry_values(0, port(b"a", text(3_000, 49)), ctx);
        schedule.set_entry_values(0, port(b"b", b"22"), ctx);
    });
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    let left_mist = FUNDS_MIST - EACH_MIST - FEE_MIST - STORED_MIST - 7_600;
    assert_eq!(stage.funds_mist(schedule), left_mist);
    stage.end();
}

/// The values of the first of three vertices are replaced. The values of the other vertices do not
/// change.
#[test]
fun values_belong_to_their_vertices() {
    let mut stage = schedule_runner::start();
    let three = schedule_runner::publish(stage.runner(), b"xyz.example.three@1", 3);
    stage.with_dag(three);
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.set_entry_values(1, port(b"b", b"1"), ctx);
        schedule.set_entry_values(2, port(b"c", b"1"), ctx);
        schedule.set_entry_values(0, port(b"d", b"1"), ctx);
    });
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, _, _| {
        let ports = vector[b"d", b"b", b"c"];
        3u64.do!(|vertex| vector[b"a", b"b", b"c", b"d"].do!(|port| {
            let has = execution.entry(vertex as u16, &port.to_ascii_string()).is_some();
            assert_eq!(has, port == ports[vertex]);
        }));
    });
    stage.end();
}

/// A schedule with one leader stores 32 bytes less than a schedule with two leaders, which costs
/// 243 200 MIST less.
#[test]
fun schedule_with_one_leader_costs_less_storage() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.set_leader(leader, ctx);
    });
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    let left_mist = FUNDS_MIST - EACH_MIST - FEE_MIST - STORED_MIST + 243_200;
    assert_eq!(stage.funds_mist(schedule), left_mist);
    stage.end();
}

/// If the keeper fee and the funds per execution are 0, the schedule pays only the costs.
#[test]
fun keeper_without_a_fee_is_paid_its_cost() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create_with(hourly(), 0, 0, port(b"a", b"1"));
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    assert_eq!(stage.funds_mist(schedule), FUNDS_MIST - 1_520_000 - STORED_MIST);
    stage.end();
}

// === Exact funds ===

#[test]
fun trigger_succeeds_with_the_exact_funds() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().with_funds(NEEDED_MIST));
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    // The remaining funds are the cost of 115 bytes, which the start could have stored but did not
    // store.
    assert_eq!(stage.funds_mist(schedule), 874_000);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, _, _| {
        assert_eq!(execution.funds_mist(), EACH_MIST);
    });
    stage.end();
}

#[test]
fun trigger_fails_when_one_mist_is_missing() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly().with_funds(NEEDED_MIST - 1)), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
        assert_eq!(schedule.funds_mist(), NEEDED_MIST - 1);
        assert_eq!(schedule.next_at_ms(), option::some(FIRST_MS));
        assert_paid_at_most(LEE, 0);
    });
    stage.end();
}

// === Terms ===

/// An execution costs the tool's price of 5 000 000 MIST, 2 060 gas units, 520 000 MIST of storage,
/// and 1 500 bytes of records at 100 MIST. The leader receives an additional 1 000 000 MIST, and an
/// outcome has at most 100 bytes.
#[test]
fun execution_has_the_terms_of_its_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    let leaders = vector[stage.lee(), stage.max()];
    let invocation = stage.runner().next_tx(LEE).take_shared<Invocation>();
    assert_eq!(invocation.payment_mist(), 9_490_000);
    assert_eq!(invocation.requester(), BOB);
    assert_eq!(invocation.leaders(), leaders);
    test_scenario::return_shared(invocation);
    stage.end();
}

// === Refunds ===

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun cancel_pays_the_owner_all_funds() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        assert_paid_at_most(BOB, FUNDS_MIST - 1);
    });
    stage.end();
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun collect_after_cancel_pays_the_owner_all_funds() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.expire(execution);
    stage.collect_tx!(EVE, schedule, execution, |schedule, execution| {
        schedule.collect(execution);
        assert_paid_at_most(BOB, EACH_MIST - 1);
    });
    stage.end();
}

/// `collect` does not pay any account. The remaining funds return to the schedule.
#[test]
fun collected_funds_stay_in_the_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.start_execution(schedule);
    stage.expire(execution);
    stage.collect_tx!(EVE, schedule, execution, |schedule, execution| {
        assert!(schedule.collect(execution));
        assert_eq!(schedule.funds_mist(), FUNDS_MIST - FEE_MIST - STORED_MIST);
        assert_eq!(execution.funds_mist(), 0);
        assert_paid_at_most(BOB, 0);
        assert_paid_at_most(EVE, 0);
    });
    stage.end();
}

// === Helpers ===

/// Return the ID of the execution that this transaction started.
fun started(): address { bcs::new(event_bytes<execution::ExecutionStarted>()).peel_address() }

/// Return the BCS bytes of an event cursor.
fun cursor(checkpoint: u64, transaction: u64, event: u64): vector<u8> {
    vector[field(true), field(checkpoint), field(transaction), field(event)].flatten()
}

/// Check the payments for an execution of three vertices. The first vertex has values of 6 bytes,
/// and the last vertex has a string as its value.
fun assert_pays_with_three_vertices(length: u64, fee_mist: u64, storage_mist: u64) {
    let mut stage = schedule_runner::start();
    let three = schedule_runner::publish(stage.runner(), b"xyz.example.three@1", 3);
    stage.with_dag(three);
    let schedule = stage.create(hourly());
    give_text(&mut stage, schedule, length);
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    let paid_mist = fee_mist + storage_mist;
    assert_eq!(stage.funds_mist(schedule), FUNDS_MIST - EACH_MIST - paid_mist);
    // The funds must also cover 115 bytes that the start does not store.
    let needed_mist = EACH_MIST + paid_mist + 874_000;
    let schedule = stage.create(hourly().with_funds(needed_mist - 1));
    give_text(&mut stage, schedule, length);
    assert!(!stage.trigger(schedule));
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.refill(mint(1, ctx));
    });
    assert!(stage.trigger(schedule));
    assert_eq!(stage.funds_mist(schedule), 874_000);
    stage.end();
}

fun give_text(stage: &mut Stage, schedule: ID, length: u64) {
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.set_entry_values(2, port(b"a", text(length, 49)), ctx);
    });
}
