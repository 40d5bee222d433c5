/// To what owners of executions consent: which runs are refused and why, and what requests cost.
#[test_only]
module nexus_workflows::terms_tests;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::leader_registry::{LeaderRegistry, LeaderSettings};
use nexus_tools::run;
use nexus_tools::settling;
use nexus_tools::test_runner::{field, key};
use nexus_tools::tool::Tool;
use nexus_workflows::dag::Dag;
use nexus_workflows::execution_runner::{with_fan, with_spread};
use nexus_workflows::schedule_runner::{Self, Stage};
use nexus_workflows::terms::{Self, Terms};
use std::unit_test::assert_eq;
use sui::test_scenario;

const ALICE: address = @0xA;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";

const PRICE_MIST: u64 = 5_000_000;
const TIMEOUT_MS: u64 = 10_000;
const MAX_OUTCOME_BYTES: u64 = 100;
const MAX_STEPS: u64 = 10;
const DEADLINE_MS: u64 = 2_000_000;

/// The price, 2 520 000 MIST for settling (1 000 gas units at 1 000 MIST, 520 000 of storage, and a
/// margin of 1 000 000), 1 200 000 for advancing (1 050 gas units, 1 500 bytes for 100 MIST each),
/// and 100 bytes for 7 600 MIST each.
const COST_MIST: u64 = 9_480_000;
/// 1 000 gas units, 520 000 of storage, and 1 500 bytes.
const REFUSAL_FEE_MIST: u64 = 1_670_000;
/// The cost, 7 600 MIST for each of 316 bytes of a record and 1 600 of an invocation, and 0.35 gas
/// units for each of 150 of effort.
const REQUEST_MIST: u64 = 24_094_100;
/// For a refusal: its fee, those bytes, 357 for each of four edges that take the reason, and 95 of
/// effort for each.
const REFUSED_MIST: u64 = 27_217_400;

// === What they are ===

#[test]
fun terms_are_those_to_which_the_owner_consented() {
    let mut stage = schedule_runner::start();
    let (lee, max) = (stage.lee(), stage.max());
    stage.look!(|settings, _, _, _| {
        let mut terms = terms(vector[lee], settings);
        assert_eq!(*terms.leaders(), vector[lee]);
        assert_eq!(*terms.settings(), *settings);
        assert_eq!(terms.max_outcome_bytes(), MAX_OUTCOME_BYTES);
        assert_eq!(terms.max_steps(), MAX_STEPS);
        assert_eq!(terms.deadline_ms(), DEADLINE_MS);
        // Leaders 33 bytes, settings 81, prices 9, and six numbers of 8.
        assert_eq!(terms.size(), 171);
        terms.set_leaders(vector[max, lee]);
        assert_eq!(*terms.leaders(), vector[max, lee]);
        assert_eq!(terms.size(), 203);
    });
    stage.end();
}

#[test]
fun deadline_counts_from_the_beginning_and_the_rest_stays_the_same() {
    let mut stage = schedule_runner::start();
    let (lee, max) = (stage.lee(), stage.max());
    stage.look!(|settings, _, _, _| {
        let terms = terms::new(vector[lee, max], *settings, vector[7, 8], 5, 9, 11, 600_000);
        let begun = terms.begun_at(1_500_000);
        assert_eq!(begun.deadline_ms(), 2_100_000);
        let expected = terms::new(vector[lee, max], *settings, vector[7, 8], 5, 9, 11, 2_100_000);
        assert_eq!(field(begun), field(expected));
        // As of a schedule, which begins none itself.
        assert_eq!(terms.deadline_ms(), 600_000);
    });
    stage.end();
}

#[test]
fun version_that_began_it_carries_it_and_so_do_later_ones() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.look!(|settings, _, _, _| {
        let mut terms = terms(vector[lee], settings);
        assert!(terms.is_carried());
        terms.set_version_for_testing(0);
        assert!(terms.is_carried());
        terms.set_version_for_testing(2);
        assert!(!terms.is_carried());
    });
    stage.end();
}

// === Refusals ===

#[test]
fun last_step_is_requested_and_the_one_after_it_is_not() {
    let mut stage = schedule_runner::start();
    stage.assert_requested();
    let lee = stage.lee();
    stage.look!(|settings, _, tool, _| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.refusal(tool, 0, MAX_STEPS), option::none());
        let refusal = terms.refusal(tool, 0, MAX_STEPS + 1);
        assert_eq!(refusal, option::some(b"too_many_steps".to_ascii_string()));
    });
    stage.end();
}

#[test]
fun tool_that_is_not_active_is_not_requested() {
    let mut stage = schedule_runner::start();
    stage.runner().unregister(ALICE, ADD);
    stage.assert_refused(b"tool_not_active");
    stage.end();
}

#[test]
fun price_is_the_highest_one_at_most() {
    let mut stage = schedule_runner::start();
    stage.assert_requested();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, PRICE_MIST + 1, ctx);
    });
    stage.assert_refused(b"price_too_high");
    stage.end();
}

#[test]
fun timeout_is_the_longest_one_at_most() {
    let mut stage = schedule_runner::start();
    stage.assert_requested();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, TIMEOUT_MS + 1, ctx);
    });
    stage.assert_refused(b"timeout_too_long");
    stage.end();
}

#[test]
fun entry_values_are_counted_together() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.look!(|settings, _, _, _| {
        let mut terms = terms(vector[lee], settings);
        assert!(terms.add_entry(65_535));
        assert!(terms.add_entry(1));
        assert!(!terms.add_entry(1));
    });
    stage.end();
}

#[test]
fun each_tool_has_a_highest_price_of_its_own() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.look!(|settings, _, tool, _| {
        let prices = vector[PRICE_MIST - 1, PRICE_MIST, 0];
        let terms = terms::new(vector[lee], *settings, prices, 10_000, 100, 10, 0);
        let refusal = option::some(b"price_too_high".to_ascii_string());
        assert_eq!(terms.refusal(tool, 0, 1), refusal);
        assert_eq!(terms.refusal(tool, 1, 1), option::none());
        assert_eq!(terms.refusal(tool, 2, 1), refusal);
    });
    stage.end();
}

#[test]
fun one_leader_that_the_tool_accepts_is_enough() {
    let mut stage = schedule_runner::start();
    let (lee, max) = (stage.lee(), stage.max());
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_leader(name, lee, ctx);
    });
    stage.assert_refused(b"leader_not_accepted");
    stage.look!(|settings, _, tool, _| {
        let terms = terms(vector[lee, max], settings);
        assert_eq!(terms.refusal(tool, 0, 1), option::none());
    });
    stage.end();
}

#[test]
fun outcome_may_be_as_large_as_the_tool_asks_for() {
    let mut stage = schedule_runner::start();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, MAX_OUTCOME_BYTES, ctx);
    });
    stage.assert_requested();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, MAX_OUTCOME_BYTES + 1, ctx);
    });
    stage.assert_refused(b"outcome_limit_too_small");
    stage.end();
}

#[test]
fun tool_whose_answers_have_to_be_signed_has_a_key() {
    let mut stage = schedule_runner::start();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    stage.assert_requested();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_key(name, key(1), ctx);
    });
    stage.assert_refused(b"tool_without_key");
    stage.end();
}

// === Costs ===

#[test]
fun effort_costs_the_more_the_more_there_is_of_it() {
    let mut stage = schedule_runner::start();
    stage.look!(|_, _, _, ctx| {
        assert_eq!(terms::worked_mist(0, ctx), 0);
        assert_eq!(terms::worked_mist(2_000, ctx), 700_000);
        assert_eq!(terms::worked_mist(2_001, ctx), 700_620);
        assert_eq!(terms::worked_mist(3_200, ctx), 1_444_000);
        assert_eq!(terms::worked_mist(5_000, ctx), 4_810_000);
        assert_eq!(terms::worked_mist(8_000, ctx), 17_020_000);
        // No more is paid than a step may take.
        assert_eq!(terms::worked_mist(8_001, ctx), 17_020_000);
    });
    stage.end();
}

#[test]
fun attempt_costs_price_fee_outcome_and_the_most_that_is_read() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.look!(|settings, _, tool, ctx| {
        let terms = terms(vector[lee], settings);
        let (first, later) = (attempt_of(tool, settings, 1, ctx), attempt_of(tool, settings, 9, ctx));
        assert_eq!(terms.cost_mist(&first, tool, ctx), COST_MIST);
        assert_eq!(terms.cost_mist(&later, tool, ctx), COST_MIST);
        let (id, run, signed) =
            (@0x5.to_id(), run::new(0, vector[]), settling::signed_for_testing());
        let signed = attempt::new(id, run, 1, &signed, settings, ctx);
        assert_eq!(terms.cost_mist(&signed, tool, ctx), COST_MIST + 7_864_320);
        assert_eq!(terms.refusal_fee_mist(ctx), REFUSAL_FEE_MIST);
    });
    stage.end();
}

#[test]
fun advancing_pays_its_step_and_rewriting_a_large_outcome() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.look!(|settings, _, _, ctx| {
        let terms = terms(vector[lee], settings);
        // 1 050 gas units, and 1 500 bytes of records for 100 MIST each.
        assert_eq!(terms.advancing_mist(0, ctx), 1_200_000);
        assert_eq!(terms.advancing_mist(1_000, ctx), 1_200_000);
        // 100 MIST for a byte, and 25 gas units at 1 000 MIST for 1 000 of them.
        assert_eq!(terms.advancing_mist(1_001, ctx), 1_200_125);
        assert_eq!(terms.advancing_mist(61_000, ctx), 8_700_000);
    });
    stage.end();
}

#[test]
fun fees_follow_the_price_of_gas_and_stored_bytes_do_not() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.runner().next_epoch(3_000);
    stage.look!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        let cost_mist = terms.cost_mist(&attempt_of(tool, settings, 1, ctx), tool, ctx);
        assert_eq!(cost_mist, COST_MIST + 4_100_000);
        assert_eq!(terms.refusal_fee_mist(ctx), REFUSAL_FEE_MIST + 2_000_000);
        assert_eq!(terms.requests_mist(dag, tool, 0, 0, 1, ctx), REQUEST_MIST + 4_205_000);
        assert_eq!(terms.stored_mist(0), 0);
        assert_eq!(terms.stored_mist(3), 22_800);
    });
    stage.end();
}

#[test]
fun each_request_takes_what_it_costs_and_what_it_stores() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.look!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.requests_mist(dag, tool, 0, 0, 1, ctx), REQUEST_MIST);
        assert_eq!(terms.requests_mist(dag, tool, 0, 0, 3, ctx), 72_282_300);
        // No edge takes the reason: refused requests take no more than others.
        assert_eq!(terms.requests_mist(dag, tool, 0, MAX_STEPS, 3, ctx), 72_282_300);
    });
    stage.end();
}

#[test]
fun records_of_iterations_have_their_numbers_besides() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let lee = stage.lee();
    stage.look!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        // 4 bytes for 7 600 MIST each.
        assert_eq!(terms.requests_mist(dag, tool, 1, 0, 1, ctx), REQUEST_MIST + 30_400);
        assert_eq!(terms.requests_mist(dag, tool, 0, 0, 1, ctx), REQUEST_MIST);
    });
    stage.end();
}

#[test]
fun requests_that_are_refused_take_what_their_failures_bring() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let lee = stage.lee();
    stage.look!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.requests_mist(dag, tool, 0, MAX_STEPS - 1, 1, ctx), REQUEST_MIST);
        assert_eq!(terms.requests_mist(dag, tool, 0, MAX_STEPS - 2, 2, ctx), 2 * REQUEST_MIST);
        assert_eq!(terms.requests_mist(dag, tool, 0, MAX_STEPS, 1, ctx), REFUSED_MIST);
        // The second one would be a step too many, and each takes what that one does.
        assert_eq!(terms.requests_mist(dag, tool, 0, MAX_STEPS - 1, 2, ctx), 54_434_800);
    });
    stage.end();
}

// === Helpers ===

use fun with_fan as Stage.with_fan;
use fun with_spread as Stage.with_spread;
use fun look as Stage.look;
use fun assert_requested as Stage.assert_requested;
use fun assert_refused as Stage.assert_refused;

fun terms(leaders: vector<ID>, settings: &LeaderSettings): Terms {
    let prices = vector[PRICE_MIST];
    terms::new(leaders, *settings, prices, TIMEOUT_MS, MAX_OUTCOME_BYTES, MAX_STEPS, DEADLINE_MS)
}

fun attempt_of(tool: &Tool, settings: &LeaderSettings, number: u8, ctx: &TxContext): Attempt {
    let run = run::new(0, vector[]);
    attempt::new(@0x5.to_id(), run, number, &settling::of(tool), settings, ctx)
}

/// A look at the settings, the workflow and the tool.
macro fun look($stage: &mut Stage, $f: |&LeaderSettings, &Dag, &Tool, &TxContext|) {
    let stage = $stage;
    let (dag, tool) = (stage.dag(), stage.tool());
    let scenario = stage.runner().next_tx(LEE);
    let registry = scenario.take_shared<LeaderRegistry>();
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    $f(registry.settings(), &dag, &tool, scenario.ctx());
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(tool);
    test_scenario::return_shared(registry);
}

fun assert_requested(stage: &mut Stage) {
    let lee = stage.lee();
    stage.look!(|settings, _, tool, _| {
        assert_eq!(terms(vector[lee], settings).refusal(tool, 0, 1), option::none());
    });
}

fun assert_refused(stage: &mut Stage, reason: vector<u8>) {
    let lee = stage.lee();
    stage.look!(|settings, _, tool, _| {
        let refusal = terms(vector[lee], settings).refusal(tool, 0, 1);
        assert_eq!(refusal, option::some(reason.to_ascii_string()));
    });
}
