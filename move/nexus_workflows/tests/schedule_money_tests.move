/// What a schedule pays, to the MIST: each number is computed by hand.
///
/// The bytes that a keeper stores. The execution itself has 232: its id, that of the workflow, its
/// owner (32 each), its schedule (33), funds (8), walks (70), three counts (24) and when it ended
/// (1). Sui counts 143 more. A run on no path has 316. The terms have 203: two leaders (65), the
/// settings (81), the price of one tool (9), and six numbers (48); and 275 more. The values of a
/// vertex have 276 besides their own: of `{"a": 1}`, that is 6.
#[test_only]
module nexus_workflows::schedule_money_tests;

use nexus_tools::invocation::Invocation;
use nexus_tools::run;
use nexus_tools::test_runner::{assert_paid_at_most, field, mint, port, text, told};
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
/// 1 220 gas units at 1 000 MIST, 300 000 MIST of storage, and 300 000 MIST that Bob chose.
const FEE_MIST: u64 = 1_820_000;
/// 242 + 143 + 316 + 203 + 275 + 276 + 6 = 1 461 bytes, at 7 600 MIST.
const STORED_MIST: u64 = 11_103_600;
/// 500 bytes instead of 242 + 143, so that it is 1 576; with what the execution gets, and the fee.
const NEEDED_MIST: u64 = 63_797_600;

// === Keepers ===

/// Lee comes 5 s late: the execution lasts as long as it would have all the same.
#[test]
fun an_execution_and_its_keeper_are_told_to_the_byte() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS + 5_000);
    let (lee, max, dag) = (stage.lee(), stage.max(), stage.dag());
    let left_mist = FUNDS_MIST - EACH_MIST - FEE_MIST - STORED_MIST;
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, workflow, leader, clock, ctx| {
        assert!(schedule.trigger(registry, workflow, leader, clock, ctx));
        let id = begun();
        // One run is ready; no iterations, regions or failures.
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
        assert_eq!(told<execution::ExecutionBegun>(), fields);
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
        assert_eq!(told<schedule::ScheduleTriggered>(), fields);
        assert_eq!(schedule.funds_mist(), left_mist);
        assert_eq!(schedule.next_at_ms(), option::some(FIRST_MS + HOUR_MS));
        assert_paid_at_most(LEE, FEE_MIST + STORED_MIST);
    });
    stage.end();
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun a_worker_that_triggers_is_paid_no_less_than_what_it_spent() {
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
fun a_stranger_that_triggers_is_paid_no_less_than_a_worker() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.wait_until(FIRST_MS + 20_000);
    stage.keeper_tx!(EVE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        schedule.trigger_by_anyone(registry, dag, leader, clock, ctx);
        assert_paid_at_most(EVE, FEE_MIST + STORED_MIST - 1);
    });
    stage.end();
}

/// The schedule keeps where the last event stands, which takes 24 bytes once: 182 400 MIST.
#[test]
fun the_first_event_alone_takes_room_in_the_schedule() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(on_event().overlapping()), stage.lee());
    let now_ms = stage.now_ms();
    let paid_mist = FEE_MIST + STORED_MIST;
    let other_mist = EACH_MIST + paid_mist;
    let first_mist = FUNDS_MIST - other_mist - 182_400;
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, 7, 3, 1, clock, ctx));
        let fields = vector[
            field(object::id(schedule)),
            field(begun()),
            field(LEE),
            // Events count from the beginning of all time on.
            field(0u64),
            field(0u64),
            cursor(7, 3, 1),
            field(option::some(now_ms + 10_000)),
            field(FEE_MIST),
            field(STORED_MIST + 182_400),
            field(first_mist),
        ].flatten();
        assert_eq!(told<schedule::ScheduleTriggered>(), fields);
        assert_eq!(schedule.funds_mist(), first_mist);
        assert_paid_at_most(LEE, paid_mist + 182_400);
    });
    stage.runner().advance(12_000);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(schedule.trigger_by_event(registry, dag, leader, 7, 3, 2, clock, ctx));
        let fields = vector[
            field(object::id(schedule)),
            field(begun()),
            field(LEE),
            field(now_ms + 10_000),
            field(0u64),
            cursor(7, 3, 2),
            field(option::some(now_ms + 22_000)),
            field(FEE_MIST),
            field(STORED_MIST),
            field(first_mist - other_mist),
        ].flatten();
        assert_eq!(told<schedule::ScheduleTriggered>(), fields);
        assert_eq!(schedule.funds_mist(), first_mist - other_mist);
        assert_paid_at_most(LEE, paid_mist);
    });
    stage.end();
}

// === What is more, and what is less ===

/// Three runs and two vertices with values: 1 250 gas units. 242 + 143 bytes, 948 of the runs, 478
/// of the terms, 552 of the values besides their 199.
#[test]
fun values_of_less_than_200_bytes_take_no_gas_unit_more() {
    assert_pays_with_three_vertices(187, 1_850_000, 19_471_200);
}

#[test]
fun values_of_200_bytes_take_one_gas_unit_more() {
    assert_pays_with_three_vertices(188, 1_851_000, 19_478_800);
}

/// What was given before is not paid for: `{"b": 22}` has one byte more than `{"a": 1}`.
#[test]
fun values_that_are_given_anew_are_paid_for_alone() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.give(0, port(b"a", text(3_000, 49)), ctx);
        schedule.give(0, port(b"b", b"22"), ctx);
    });
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    let left_mist = FUNDS_MIST - EACH_MIST - FEE_MIST - STORED_MIST - 7_600;
    assert_eq!(stage.funds_mist(schedule), left_mist);
    stage.end();
}

/// Of three vertices with values, the first one is given anew: the others keep theirs.
#[test]
fun values_stay_with_their_vertices() {
    let mut stage = schedule_runner::start();
    let three = schedule_runner::publish(stage.runner(), b"xyz.example.three@1", 3);
    stage.with_dag(three);
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.give(1, port(b"b", b"1"), ctx);
        schedule.give(2, port(b"c", b"1"), ctx);
        schedule.give(0, port(b"d", b"1"), ctx);
    });
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, _, _| {
        let ports = vector[b"d", b"b", b"c"];
        3u64.do!(|vertex| vector[b"a", b"b", b"c", b"d"].do!(|port| {
            let has = execution.entry(vertex as u16, &port.to_ascii_string()).is_some();
            assert_eq!(has, port == ports[vertex]);
        }));
    });
    stage.end();
}

/// One leader instead of two has 32 bytes less: 243 200 MIST.
#[test]
fun a_leader_less_is_paid_for_less() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly()), stage.lee());
    stage.keeper_tx!(BOB, schedule, lee, |schedule, _, _, leader, _, ctx| {
        schedule.name_leader(leader, ctx);
    });
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    let left_mist = FUNDS_MIST - EACH_MIST - FEE_MIST - STORED_MIST + 243_200;
    assert_eq!(stage.funds_mist(schedule), left_mist);
    stage.end();
}

/// With a fee of nothing and no funds for executions: what is spent is paid.
#[test]
fun a_keeper_without_a_fee_is_paid_what_it_spent() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create_with(hourly(), 0, 0, port(b"a", b"1"));
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    assert_eq!(stage.funds_mist(schedule), FUNDS_MIST - 1_520_000 - STORED_MIST);
    stage.end();
}

// === Funds that are just enough ===

#[test]
fun funds_that_are_just_enough_begin_an_execution() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly().funded(NEEDED_MIST));
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    // 115 bytes that it did not store.
    assert_eq!(stage.funds_mist(schedule), 874_000);
    stage.execution_tx!(BOB, execution, |execution, _, _, _, _, _| {
        assert_eq!(execution.funds_mist(), EACH_MIST);
    });
    stage.end();
}

#[test]
fun funds_that_lack_one_mist_begin_nothing() {
    let mut stage = schedule_runner::start();
    let (schedule, lee) = (stage.create(hourly().funded(NEEDED_MIST - 1)), stage.lee());
    stage.wait_until(FIRST_MS);
    stage.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        assert!(!schedule.trigger(registry, dag, leader, clock, ctx));
        assert_eq!(schedule.funds_mist(), NEEDED_MIST - 1);
        assert_eq!(schedule.next_at_ms(), option::some(FIRST_MS));
        assert_paid_at_most(LEE, 0);
    });
    stage.end();
}

// === What the owner consented to ===

/// The tool's 5 000 000 MIST; 2 050 gas units, 520 000 MIST of storage, 1 500 bytes of records at 100
/// MIST and 1 000 000 MIST for the leader; and the 100 bytes that an outcome has at most.
#[test]
fun an_execution_has_the_terms_of_its_schedule() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    let leaders = vector[stage.lee(), stage.max()];
    let invocation = stage.runner().next_tx(LEE).take_shared<Invocation>();
    assert_eq!(invocation.payment_mist(), 9_480_000);
    assert_eq!(invocation.requester(), BOB);
    assert_eq!(invocation.leaders(), leaders);
    test_scenario::return_shared(invocation);
    stage.end();
}

// === What flows back ===

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun an_owner_that_cancels_is_paid_no_less_than_the_funds() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| {
        schedule.cancel(ctx);
        assert_paid_at_most(BOB, FUNDS_MIST - 1);
    });
    stage.end();
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun an_owner_that_has_cancelled_is_paid_no_less_than_what_is_collected() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
    stage.schedule_tx!(BOB, schedule, |schedule, _, ctx| schedule.cancel(ctx));
    stage.expire(execution);
    stage.collect_tx!(EVE, schedule, execution, |schedule, execution| {
        schedule.collect(execution);
        assert_paid_at_most(BOB, EACH_MIST - 1);
    });
    stage.end();
}

/// Nothing is paid to anyone when an execution is collected: what it leaves is in the schedule again.
#[test]
fun what_is_collected_is_not_paid_out() {
    let mut stage = schedule_runner::start();
    let schedule = stage.create(hourly());
    stage.wait_until(FIRST_MS);
    let execution = stage.begin(schedule);
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

/// The execution that was begun in this transaction.
fun begun(): address { bcs::new(told<execution::ExecutionBegun>()).peel_address() }

/// The bytes of where an event stands.
fun cursor(checkpoint: u64, transaction: u64, event: u64): vector<u8> {
    vector[field(true), field(checkpoint), field(transaction), field(event)].flatten()
}

/// An execution of three vertices, of which the first and the last have values: 6 bytes and a text.
fun assert_pays_with_three_vertices(length: u64, fee_mist: u64, stored_mist: u64) {
    let mut stage = schedule_runner::start();
    let three = schedule_runner::publish(stage.runner(), b"xyz.example.three@1", 3);
    stage.with_dag(three);
    let schedule = stage.create(hourly());
    give_text(&mut stage, schedule, length);
    stage.wait_until(FIRST_MS);
    assert!(stage.trigger(schedule));
    let paid_mist = fee_mist + stored_mist;
    assert_eq!(stage.funds_mist(schedule), FUNDS_MIST - EACH_MIST - paid_mist);
    // The 115 bytes that it does not store have to be there, too.
    let needed_mist = EACH_MIST + paid_mist + 874_000;
    let schedule = stage.create(hourly().funded(needed_mist - 1));
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
        schedule.give(2, port(b"a", text(length, 49)), ctx);
    });
}
