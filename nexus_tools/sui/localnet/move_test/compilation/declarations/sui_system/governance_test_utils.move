module sui_system::governance_test_utils;

use sui::balance::Balance;
use sui::coin::Coin;
use sui::sui::SUI;
use sui::test_scenario::{Self, Scenario};
use sui_system::staking_pool::{StakedSui, StakingPool};
use sui_system::sui_system::SuiSystemState;
use sui_system::validator::Validator;

const MIST: u64 = 1_000_000_000;

native fun new_validator(account: address, stake: Balance<SUI>, ctx: &mut TxContext): Validator;
native fun share_state(
    validators: vector<Validator>,
    subsidy: Balance<SUI>,
    storage_fund: Balance<SUI>,
    ctx: &mut TxContext,
);
native fun end_epoch(
    state: &mut SuiSystemState,
    storage: Balance<SUI>,
    computation: Balance<SUI>,
    storage_rebate: u64,
    non_refundable: u64,
    slashing_rate: u64,
    ctx: &mut TxContext,
): Balance<SUI>;
native fun pool_of(state: &mut SuiSystemState, validator: address): &StakingPool;
native fun rewards(pool: &StakingPool, stake: &StakedSui, epoch: u64): u64;

fun sui(amount: u64): Balance<SUI> { sui::balance::create_for_testing(amount * MIST) }

public fun create_validator_for_testing(
    account: address,
    stake_in_sui: u64,
    ctx: &mut TxContext,
): Validator { new_validator(account, sui(stake_in_sui), ctx) }

public fun create_sui_system_state_for_testing(
    validators: vector<Validator>,
    subsidy_in_sui: u64,
    storage_fund_in_sui: u64,
    ctx: &mut TxContext,
) { share_state(validators, sui(subsidy_in_sui), sui(storage_fund_in_sui), ctx) }

public fun set_up_sui_system_state(accounts: vector<address>) {
    let mut scenario = test_scenario::begin(@0x0);
    let mut validators = vector[];
    accounts.destroy!(|account| validators.push_back(
        create_validator_for_testing(account, 100, scenario.ctx()),
    ));
    create_sui_system_state_for_testing(validators, 1_000, 0, scenario.ctx());
    scenario.end();
}

fun next_epoch(
    storage: u64,
    computation: u64,
    storage_rebate: u64,
    non_refundable: u64,
    slashing_rate: u64,
    scenario: &mut Scenario,
): Balance<SUI> {
    scenario.next_tx(@0x0);
    let mut state = scenario.take_shared<SuiSystemState>();
    let rebate = end_epoch(
        &mut state,
        sui::balance::create_for_testing(storage),
        sui::balance::create_for_testing(computation),
        storage_rebate,
        non_refundable,
        slashing_rate,
        scenario.ctx(),
    );
    test_scenario::return_shared(state);
    scenario.next_epoch(@0x0);
    rebate
}

public fun advance_epoch(scenario: &mut Scenario) {
    advance_epoch_with_reward_amounts(0, 0, scenario)
}

public fun advance_epoch_with_reward_amounts_return_rebate(
    storage: u64,
    computation: u64,
    storage_rebate: u64,
    non_refundable: u64,
    scenario: &mut Scenario,
): Balance<SUI> {
    next_epoch(storage, computation, storage_rebate, non_refundable, 0, scenario)
}

public fun advance_epoch_with_reward_amounts(
    storage_in_sui: u64,
    computation_in_sui: u64,
    scenario: &mut Scenario,
) {
    advance_epoch_with_reward_amounts_and_slashing_rates(
        storage_in_sui,
        computation_in_sui,
        0,
        scenario,
    )
}

public fun advance_epoch_with_reward_amounts_and_slashing_rates(
    storage_in_sui: u64,
    computation_in_sui: u64,
    slashing_rate: u64,
    scenario: &mut Scenario,
) {
    let (storage, computation) = (storage_in_sui * MIST, computation_in_sui * MIST);
    let rebate = next_epoch(storage, computation, 0, 0, slashing_rate, scenario);
    sui::balance::destroy_for_testing(rebate);
}

macro fun with_state(
    $sender: address,
    $scenario: &mut Scenario,
    $act: |&mut SuiSystemState, &mut Scenario|,
) {
    let scenario = $scenario;
    scenario.next_tx($sender);
    let mut state = scenario.take_shared<SuiSystemState>();
    $act(&mut state, scenario);
    test_scenario::return_shared(state);
}

public fun stake_with(staker: address, validator: address, in_sui: u64, scenario: &mut Scenario) {
    with_state!(staker, scenario, |state, scenario| {
        let coin = sui::coin::mint_for_testing<SUI>(in_sui * MIST, scenario.ctx());
        state.request_add_stake(coin, validator, scenario.ctx())
    })
}

public fun unstake(staker: address, index: u64, scenario: &mut Scenario) {
    with_state!(staker, scenario, |state, scenario| {
        let ids = scenario.ids_for_sender<StakedSui>();
        let stake = scenario.take_from_sender_by_id<StakedSui>(ids[index]);
        state.request_withdraw_stake(stake, scenario.ctx())
    })
}

public fun add_validator_candidate(
    validator: address,
    name: vector<u8>,
    place: vector<u8>,
    key: vector<u8>,
    proof: vector<u8>,
    scenario: &mut Scenario,
) {
    with_state!(validator, scenario, |state, scenario| state.request_add_validator_candidate(
        key,
        // Public keys of test vectors of RFC 8032.
        x"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        x"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        proof,
        name,
        b"description",
        b"image_url",
        b"project_url",
        place,
        place,
        place,
        place,
        1,
        0,
        scenario.ctx(),
    ))
}

public fun add_validator_full_flow(
    validator: address,
    name: vector<u8>,
    place: vector<u8>,
    stake_in_sui: u64,
    key: vector<u8>,
    proof: vector<u8>,
    scenario: &mut Scenario,
) {
    add_validator_candidate(validator, name, place, key, proof, scenario);
    stake_with(validator, validator, stake_in_sui, scenario);
    add_validator(validator, scenario)
}

public fun add_validator(validator: address, scenario: &mut Scenario) {
    with_state!(validator, scenario, |state, scenario| {
        state.request_add_validator_for_testing(scenario.ctx())
    })
}

public fun remove_validator(validator: address, scenario: &mut Scenario) {
    with_state!(validator, scenario, |state, scenario| {
        state.request_remove_validator(scenario.ctx())
    })
}

public fun remove_validator_candidate(validator: address, scenario: &mut Scenario) {
    with_state!(validator, scenario, |state, scenario| {
        state.request_remove_validator_candidate(scenario.ctx())
    })
}

public fun assert_validator_self_stake_amounts(
    validators: vector<address>,
    amounts: vector<u64>,
    scenario: &mut Scenario,
) {
    validators.zip_do!(amounts, |validator, amount| {
        with_state!(validator, scenario, |state, scenario| {
            let own = stake_plus_current_rewards_for_validator(validator, state, scenario);
            sui::test_utils::assert_eq(own, amount)
        })
    })
}

public fun assert_validator_total_stake_amounts(
    validators: vector<address>,
    amounts: vector<u64>,
    scenario: &mut Scenario,
) {
    validators.zip_do!(amounts, |validator, amount| {
        with_state!(validator, scenario, |state, _scenario| {
            let total = state.validator_stake_amount(validator);
            assert!(total == amount, total)
        })
    })
}

public fun assert_validator_non_self_stake_amounts(
    validators: vector<address>,
    amounts: vector<u64>,
    scenario: &mut Scenario,
) {
    validators.zip_do!(amounts, |validator, amount| {
        with_state!(validator, scenario, |state, scenario| {
            let total = state.validator_stake_amount(validator);
            let own = stake_plus_current_rewards_for_validator(validator, state, scenario);
            sui::test_utils::assert_eq(total - own, amount)
        })
    })
}

public fun stake_plus_current_rewards_for_validator(
    validator: address,
    state: &mut SuiSystemState,
    scenario: &mut Scenario,
): u64 { stake_plus_current_rewards(validator, pool_of(state, validator), scenario) }

public fun stake_plus_current_rewards(
    owner: address,
    pool: &StakingPool,
    scenario: &mut Scenario,
): u64 {
    scenario.next_tx(owner);
    let epoch = scenario.ctx().epoch();
    let mut sum = 0;
    scenario.ids_for_sender<StakedSui>().destroy!(|id| {
        let stake = scenario.take_from_sender_by_id<StakedSui>(id);
        sum = sum + stake.staked_sui_amount() + rewards(pool, &stake, epoch);
        scenario.return_to_sender(stake)
    });
    sum
}

public fun total_sui_balance(owner: address, scenario: &mut Scenario): u64 {
    scenario.next_tx(owner);
    let mut sum = 0;
    scenario.ids_for_sender<Coin<SUI>>().do!(|id| {
        let coin = scenario.take_from_sender_by_id<Coin<SUI>>(id);
        sum = sum + coin.value();
        scenario.return_to_sender(coin)
    });
    sum
}
