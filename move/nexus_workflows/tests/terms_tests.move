/// Tests of the terms of executions, with the reasons of refusals and the cost of requests.
#[test_only]
module nexus_workflows::terms_tests;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::leader_registry::{LeaderRegistry, LeaderSettings};
use nexus_tools::run;
use nexus_tools::settlement;
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

/// The payment for `advance`, which is 1 060 gas units at 1 000 MIST, and 1 500 bytes of records at
/// 100 MIST each.
const STEP_MIST: u64 = 1_060_000 + 150_000;
/// The maximum cost of an attempt. The cost is the sum of the price, the fee for settling, the
/// payment for `advance`, and 100 bytes at 7 600 MIST each. The fee for settling is 2 520 000 MIST.
/// The fee covers 1 000 gas units at 1 000 MIST, 520 000 MIST of storage, and a margin of
/// 1 000 000 MIST.
const COST_MIST: u64 = PRICE_MIST + 2_520_000 + STEP_MIST + 760_000;
/// The fee for a refusal, which covers 1 000 gas units, 520 000 MIST of storage, and 1 500 bytes.
const REFUSAL_FEE_MIST: u64 = 1_670_000;
/// The maximum cost of a request. The cost is the sum of `COST_MIST`, the storage of 316 bytes of a
/// record and 1 600 bytes of an invocation, and 150 units of effort. Storage costs 7 600 MIST per
/// byte, and a unit of effort costs 0.35 gas units.
const REQUEST_MIST: u64 = COST_MIST + 1_916 * 7_600 + 150 * 350;
/// The maximum cost of a refused request. The cost is the sum of the fee, the same bytes, and
/// 357 bytes and 95 units of effort for each of four edges that carry the reason.
const REFUSED_MIST: u64 = REFUSAL_FEE_MIST + (1_916 + 4 * 357) * 7_600 + 4 * 95 * 350;

// === Fields ===

#[test]
fun new_stores_the_terms() {
    let mut stage = schedule_runner::start();
    let (lee, max) = (stage.lee(), stage.max());
    stage.inspect!(|settings, _, _, _| {
        let mut terms = terms(vector[lee], settings);
        assert_eq!(*terms.leaders(), vector[lee]);
        assert_eq!(*terms.settings(), *settings);
        assert_eq!(terms.max_outcome_bytes(), MAX_OUTCOME_BYTES);
        assert_eq!(terms.max_steps(), MAX_STEPS);
        assert_eq!(terms.deadline_ms(), DEADLINE_MS);
        // The leaders have 33 bytes, the settings 81 bytes, the prices 9 bytes, and each of six
        // numbers 8 bytes.
        assert_eq!(terms.size(), 171);
        terms.set_leaders(vector[max, lee]);
        assert_eq!(*terms.leaders(), vector[max, lee]);
        assert_eq!(terms.size(), 203);
    });
    stage.end();
}

#[test]
fun with_start_changes_only_the_deadline() {
    let mut stage = schedule_runner::start();
    let (lee, max) = (stage.lee(), stage.max());
    stage.inspect!(|settings, _, _, _| {
        let terms = terms::new(vector[lee, max], *settings, vector[7, 8], 5, 9, 11, 600_000);
        let started = terms.with_start(1_500_000);
        assert_eq!(started.deadline_ms(), 2_100_000);
        let expected = terms::new(vector[lee, max], *settings, vector[7, 8], 5, 9, 11, 2_100_000);
        assert_eq!(field(started), field(expected));
        // In the terms of a schedule, the deadline is a duration.
        assert_eq!(terms.deadline_ms(), 600_000);
    });
    stage.end();
}

#[test]
fun is_supported_for_the_same_or_a_later_version() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.inspect!(|settings, _, _, _| {
        let mut terms = terms(vector[lee], settings);
        assert!(terms.is_supported());
        terms.set_version_for_testing(0);
        assert!(terms.is_supported());
        terms.set_version_for_testing(2);
        assert!(!terms.is_supported());
    });
    stage.end();
}

// === Refusals ===

#[test]
fun refusal_above_the_step_limit() {
    let mut stage = schedule_runner::start();
    stage.assert_requested();
    let lee = stage.lee();
    stage.inspect!(|settings, _, tool, _| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.refusal(tool, 0, MAX_STEPS), option::none());
        let refusal = terms.refusal(tool, 0, MAX_STEPS + 1);
        assert_eq!(refusal, option::some(b"too_many_steps".to_ascii_string()));
    });
    stage.end();
}

#[test]
fun refusal_of_an_inactive_tool() {
    let mut stage = schedule_runner::start();
    stage.runner().unregister(ALICE, ADD);
    stage.assert_refused(b"tool_not_active");
    stage.end();
}

#[test]
fun refusal_above_the_maximum_price() {
    let mut stage = schedule_runner::start();
    stage.assert_requested();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, PRICE_MIST + 1, ctx);
    });
    stage.assert_refused(b"price_too_high");
    stage.end();
}

#[test]
fun refusal_above_the_maximum_timeout() {
    let mut stage = schedule_runner::start();
    stage.assert_requested();
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, TIMEOUT_MS + 1, ctx);
    });
    stage.assert_refused(b"timeout_too_long");
    stage.end();
}

#[test]
fun add_entry_limits_the_total_size() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.inspect!(|settings, _, _, _| {
        let mut terms = terms(vector[lee], settings);
        assert!(terms.add_entry(65_535));
        assert!(terms.add_entry(1));
        assert!(!terms.add_entry(1));
    });
    stage.end();
}

#[test]
fun maximum_prices_are_per_tool() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.inspect!(|settings, _, tool, _| {
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
fun one_accepted_leader_is_enough() {
    let mut stage = schedule_runner::start();
    let (lee, max) = (stage.lee(), stage.max());
    stage.runner().tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_leader(name, lee, ctx);
    });
    stage.assert_refused(b"leader_not_accepted");
    stage.inspect!(|settings, _, tool, _| {
        let terms = terms(vector[lee, max], settings);
        assert_eq!(terms.refusal(tool, 0, 1), option::none());
    });
    stage.end();
}

#[test]
fun refusal_above_the_outcome_limit() {
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
fun refusal_of_a_signing_tool_without_a_key() {
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
fun price_of_effort_increases_with_effort() {
    let mut stage = schedule_runner::start();
    stage.inspect!(|_, _, _, ctx| {
        assert_eq!(terms::effort_mist(0, ctx), 0);
        assert_eq!(terms::effort_mist(2_000, ctx), 700_000);
        assert_eq!(terms::effort_mist(2_001, ctx), 700_620);
        assert_eq!(terms::effort_mist(3_200, ctx), 1_444_000);
        assert_eq!(terms::effort_mist(5_000, ctx), 4_810_000);
        assert_eq!(terms::effort_mist(8_000, ctx), 17_020_000);
        // The payment is limited by the maximum effort of a step.
        assert_eq!(terms::effort_mist(8_001, ctx), 17_020_000);
    });
    stage.end();
}

#[test]
fun cost_includes_price_fee_outcome_and_reading() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.inspect!(|settings, _, tool, ctx| {
        let terms = terms(vector[lee], settings);
        let (first, later) = (
            attempt_of(tool, settings, 1, ctx),
            attempt_of(tool, settings, 9, ctx),
        );
        assert_eq!(terms.cost_mist(&first, tool, ctx), COST_MIST);
        assert_eq!(terms.cost_mist(&later, tool, ctx), COST_MIST);
        let (id, run, signed) =
            (@0x5.to_id(), run::new(0, vector[]), settlement::signed_for_testing());
        let signed = attempt::new(id, run, 1, &signed, settings, ctx);
        assert_eq!(terms.cost_mist(&signed, tool, ctx), COST_MIST + 7_864_320);
        assert_eq!(terms.refusal_fee_mist(ctx), REFUSAL_FEE_MIST);
    });
    stage.end();
}

#[test]
fun advance_pays_the_step_and_the_rewriting() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.inspect!(|settings, _, _, ctx| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.advance_mist(0, ctx), STEP_MIST);
        assert_eq!(terms.advance_mist(1_000, ctx), STEP_MIST);
        // Each additional byte costs 100 MIST, and 1 000 additional bytes cost 25 gas units at
        // 1 000 MIST.
        assert_eq!(terms.advance_mist(1_001, ctx), STEP_MIST + 125);
        assert_eq!(terms.advance_mist(61_000, ctx), STEP_MIST + 60_000 * 125);
    });
    stage.end();
}

#[test]
fun only_fees_depend_on_the_gas_price() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.runner().next_epoch(3_000);
    stage.inspect!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        let cost_mist = terms.cost_mist(&attempt_of(tool, settings, 1, ctx), tool, ctx);
        // A gas unit costs 2 000 MIST more. The cost covers 1 000 gas units for settling and 1 060
        // for `advance`, and a request has an effort of 52.5 gas units.
        assert_eq!(cost_mist, COST_MIST + 2_060 * 2_000);
        assert_eq!(terms.refusal_fee_mist(ctx), REFUSAL_FEE_MIST + 2_000_000);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, 0, 1, ctx), REQUEST_MIST + 4_225_000);
        assert_eq!(terms.storage_mist(0), 0);
        assert_eq!(terms.storage_mist(3), 22_800);
    });
    stage.end();
}

#[test]
fun requests_cost_their_fees_and_storage() {
    let mut stage = schedule_runner::start();
    let lee = stage.lee();
    stage.inspect!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, 0, 1, ctx), REQUEST_MIST);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, 0, 3, ctx), 3 * REQUEST_MIST);
        // No edge carries the reason, so a refused request does not cost more than another request.
        assert_eq!(terms.max_requests_mist(dag, tool, 0, MAX_STEPS, 3, ctx), 3 * REQUEST_MIST);
    });
    stage.end();
}

#[test]
fun requests_of_iterations_include_their_path() {
    let mut stage = schedule_runner::start();
    stage.with_spread(1, false);
    let lee = stage.lee();
    stage.inspect!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        // The additional cost is the storage of 4 bytes at 7 600 MIST each.
        assert_eq!(terms.max_requests_mist(dag, tool, 1, 0, 1, ctx), REQUEST_MIST + 30_400);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, 0, 1, ctx), REQUEST_MIST);
    });
    stage.end();
}

#[test]
fun refused_requests_include_the_effects_of_their_failure() {
    let mut stage = schedule_runner::start();
    stage.with_fan();
    let lee = stage.lee();
    stage.inspect!(|settings, dag, tool, ctx| {
        let terms = terms(vector[lee], settings);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, MAX_STEPS - 1, 1, ctx), REQUEST_MIST);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, MAX_STEPS - 2, 2, ctx), 2 * REQUEST_MIST);
        assert_eq!(terms.max_requests_mist(dag, tool, 0, MAX_STEPS, 1, ctx), REFUSED_MIST);
        // The second request exceeds the step limit. So both requests are counted at the cost of a
        // refused request.
        assert_eq!(terms.max_requests_mist(dag, tool, 0, MAX_STEPS - 1, 2, ctx), 2 * REFUSED_MIST);
    });
    stage.end();
}

// === Helpers ===

use fun with_fan as Stage.with_fan;
use fun with_spread as Stage.with_spread;
use fun inspect as Stage.inspect;
use fun assert_requested as Stage.assert_requested;
use fun assert_refused as Stage.assert_refused;

fun terms(leaders: vector<ID>, settings: &LeaderSettings): Terms {
    let prices = vector[PRICE_MIST];
    terms::new(leaders, *settings, prices, TIMEOUT_MS, MAX_OUTCOME_BYTES, MAX_STEPS, DEADLINE_MS)
}

fun attempt_of(tool: &Tool, settings: &LeaderSettings, number: u8, ctx: &TxContext): Attempt {
    let run = run::new(0, vector[]);
    attempt::new(@0x5.to_id(), run, number, &settlement::for_tool(tool), settings, ctx)
}

/// Run `$f` on the settings, the workflow and the tool.
macro fun inspect($stage: &mut Stage, $f: |&LeaderSettings, &Dag, &Tool, &TxContext|) {
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
    stage.inspect!(|settings, _, tool, _| {
        assert_eq!(terms(vector[lee], settings).refusal(tool, 0, 1), option::none());
    });
}

fun assert_refused(stage: &mut Stage, reason: vector<u8>) {
    let lee = stage.lee();
    stage.inspect!(|settings, _, tool, _| {
        let refusal = terms(vector[lee], settings).refusal(tool, 0, 1);
        assert_eq!(refusal, option::some(reason.to_ascii_string()));
    });
}
