// Functions of the test modules next to the framework's sources.
module functions::utilities;

use std::unit_test::assert_eq;
use sui::kiosk_test_utils as kiosk;
use sui::test_scenario::{Self, Scenario};
use sui::token_test_utils as token;
use sui::transfer_policy;
use sui::transfer_policy_tests as policy;
use sui_system::governance_test_utils as governance;
use sui_system::sui_system::SuiSystemState;

const STAKER: address = @0x42;
const SUI: u64 = 1_000_000_000;

#[test]
fun a_kiosk_is_made_used_and_closed() {
    let ctx = &mut kiosk::ctx();
    let (mut kiosk, cap) = kiosk::get_kiosk(ctx);
    let (policy, policy_cap) = kiosk::get_policy(ctx);
    let (asset, id) = kiosk::get_asset(ctx);
    kiosk.place(&cap, asset);
    kiosk.list<kiosk::Asset>(&cap, id, 1_000);
    let (asset, request) = kiosk.purchase<kiosk::Asset>(id, kiosk::get_sui(1_000, ctx));
    policy.confirm_request(request);
    kiosk::return_assets(vector[asset]);
    assert_eq!(kiosk::return_policy(policy, policy_cap, ctx), 0);
    assert_eq!(kiosk::return_kiosk(kiosk, cap, ctx), 1_000);
    let (alice, bob, carl) = kiosk::folks();
    assert!(alice != bob && bob != carl && alice != carl);
}

#[test]
fun a_transfer_policy_is_prepared_and_wrapped_up() {
    let ctx = &mut tx_context::dummy();
    let (policy, cap) = policy::prepare(ctx);
    let (item, from) = (policy::fresh_id(ctx), policy::fresh_id(ctx));
    let request = transfer_policy::new_request<policy::Asset>(item, 10_000, from);
    let (_, paid, _) = policy.confirm_request(request);
    assert_eq!(paid, 10_000);
    assert_eq!(policy::wrapup(policy, cap, ctx), 0);
}

#[test]
fun tokens_are_made_and_burned() {
    let ctx = &mut token::ctx(@0xA);
    assert_eq!(ctx.sender(), @0xA);
    let (policy, cap) = token::get_policy(ctx);
    let held = token::mint(1_000, ctx);
    assert_eq!(held.value(), 1_000);
    token::burn(held);
    token::return_policy(policy, cap);
    token::return_treasury_cap(token::get_treasury_cap(ctx));
}

fun network(): Scenario {
    governance::set_up_sui_system_state(vector[@0x1, @0x2, @0x3, @0x4, @0x5]);
    test_scenario::begin(@0x0)
}

#[test]
fun rewards_go_to_those_who_have_staked() {
    let mut scenario = network();
    governance::stake_with(STAKER, @0x2, 480, &mut scenario);
    governance::advance_epoch(&mut scenario);
    let validators = vector[@0x1, @0x2, @0x3, @0x4, @0x5];
    let stakes = vector[100, 580, 100, 100, 100].map!(|stake| stake * SUI);
    governance::assert_validator_total_stake_amounts(validators, stakes, &mut scenario);
    governance::advance_epoch_with_reward_amounts(0, 100, &mut scenario);
    // Each validator gets a fifth: its own stake was all of its pool, or 100 of 580.
    let (all, part) = (120 * SUI, 103_448_275_862);
    validators.zip_do!(vector[all, part, all, all, all], |validator, expected| {
        scenario.next_tx(@0x0);
        let mut state = scenario.take_shared<SuiSystemState>();
        let held = governance::stake_plus_current_rewards_for_validator(
            validator,
            &mut state,
            &mut scenario,
        );
        assert_eq!(held, expected);
        test_scenario::return_shared(state);
    });
    governance::unstake(STAKER, 0, &mut scenario);
    assert_eq!(governance::total_sui_balance(STAKER, &mut scenario), 496_551_724_137);
    scenario.end();
}

#[test]
fun epochs_cost_and_give_back() {
    let mut scenario = network();
    let rebate = governance::advance_epoch_with_reward_amounts_return_rebate(
        5 * SUI,
        7 * SUI,
        3 * SUI,
        1 * SUI,
        &mut scenario,
    );
    assert_eq!(rebate.destroy_for_testing(), 3 * SUI);
    scenario.next_tx(@0x0);
    let mut state = scenario.take_shared<SuiSystemState>();
    assert_eq!(state.epoch(), 1);
    assert_eq!(state.epoch_start_timestamp_ms(), 0);
    assert_eq!(state.get_storage_fund_total_balance(), 2 * SUI);
    assert_eq!(state.get_storage_fund_object_rebates(), 1 * SUI);
    assert_eq!(state.validator_stake_amount(@0x1), 101_400_000_000);
    assert_eq!(state.validators().active_validators().length(), 5);
    assert!(state.get_reporters_of(@0x1).is_empty());
    let pool = state.validator_staking_pool_id(@0x3);
    assert_eq!(state.validator_address_by_pool_id(&pool), @0x3);
    test_scenario::return_shared(state);
    scenario.end();
}

#[test]
fun a_validator_leaves_at_the_end_of_an_epoch() {
    let mut scenario = network();
    governance::remove_validator(@0x4, &mut scenario);
    governance::advance_epoch(&mut scenario);
    scenario.next_tx(@0x0);
    let mut state = scenario.take_shared<SuiSystemState>();
    assert_eq!(state.validators().active_validators().length(), 4);
    test_scenario::return_shared(state);
    scenario.end();
}
