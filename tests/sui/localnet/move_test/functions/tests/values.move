// Test-only functions of the framework, except for coins and clocks.
module functions::values;

use std::unit_test::assert_eq;
use sui::authenticator_state::{Self, AuthenticatorState};
use sui::deny_list;
use sui::package;
use sui::random::{Self, Random};
use sui::test_scenario;
use sui::token;
use sui::transfer_policy;

public struct Token has drop {}

#[test]
fun random_numbers_come_from_the_bytes_that_were_set() {
    let mut scenario = test_scenario::begin(@0x0);
    random::create_for_testing(scenario.ctx());
    scenario.next_tx(@0x0);
    let mut random: Random = scenario.take_shared();
    random.update_randomness_state_for_testing(
        0,
        x"1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F",
        scenario.ctx(),
    );
    let mut generator = random.new_generator(scenario.ctx());
    assert_eq!(generator.generator_counter(), 0);
    assert_eq!(generator.generator_seed().length(), 32);
    assert!(generator.generator_buffer().is_empty());
    generator.generate_u8();
    assert_eq!(generator.generator_counter(), 1);
    assert_eq!(generator.generator_buffer().length(), 31);
    test_scenario::return_shared(random);
    scenario.end();
}

#[test, expected_failure(abort_code = random::ENotSystemAddress)]
fun only_the_system_creates_random_numbers() {
    let mut scenario = test_scenario::begin(@0x1);
    random::create_for_testing(scenario.ctx());
    scenario.end();
}

#[test, expected_failure(abort_code = random::EInvalidRandomnessUpdate)]
fun rounds_of_random_numbers_begin_at_zero() {
    let mut scenario = test_scenario::begin(@0x0);
    random::create_for_testing(scenario.ctx());
    scenario.next_tx(@0x0);
    let mut random: Random = scenario.take_shared();
    random.update_randomness_state_for_testing(1, b"x", scenario.ctx());
    abort 0
}

#[test]
fun a_deny_list_of_ones_own_has_no_addresses() {
    let ctx = &mut sui::tx_context::dummy();
    let list = deny_list::new_for_testing(ctx);
    assert_eq!(deny_list::reserved_addresses()[6], @0x6);
    std::unit_test::destroy(list);
    assert_eq!(ctx.ids_created(), 5);
}

#[test]
fun tokens_and_their_policies_are_made_of_nothing() {
    let ctx = &mut sui::tx_context::dummy();
    let (policy, cap) = token::new_policy_for_testing<Token>(ctx);
    let coin = token::mint_for_testing<Token>(7, ctx);
    assert_eq!(coin.value(), 7);
    assert_eq!(token::spent_balance(&policy), 0);
    coin.burn_for_testing();
    policy.burn_policy_for_testing(cap);
}

#[test]
fun a_transfer_policy_belongs_to_its_cap() {
    let ctx = &mut sui::tx_context::dummy();
    let (mut policy, cap) = transfer_policy::new_for_testing<Token>(ctx);
    assert!(policy.rules().is_empty());
    policy.withdraw(&cap, option::none(), ctx).burn_for_testing();
    policy.destroy_and_withdraw(cap, ctx).destroy_zero();
}

#[test]
fun an_upgrade_gives_another_package() {
    let ctx = &mut sui::tx_context::dummy();
    let before = object::id_from_address(@0x42);
    let mut cap = package::test_publish(before, ctx);
    let ticket = cap.authorize(package::compatible_policy(), x"ABCD");
    let receipt = package::test_upgrade(ticket);
    let after = receipt.package();
    let mut parts = object::id(&cap).to_bytes();
    parts.append(before.to_bytes());
    assert_eq!(after.to_bytes(), sui::hash::blake2b256(&parts));
    cap.commit(receipt);
    assert_eq!(cap.version(), 2);
    std::unit_test::destroy(cap);
}

#[test]
fun keys_of_providers_expire() {
    let mut scenario = test_scenario::begin(@0x0);
    authenticator_state::create_for_testing(scenario.ctx());
    scenario.next_tx(@0x0);
    let mut state: AuthenticatorState = scenario.take_shared();
    let old = authenticator_state::create_active_jwk(
        b"iss1".to_string(),
        b"key1".to_string(),
        b"kty1".to_string(),
        1,
    );
    let new = authenticator_state::create_active_jwk(
        b"iss1".to_string(),
        b"key2".to_string(),
        b"kty1".to_string(),
        2,
    );
    state.update_authenticator_state_for_testing(vector[old, new], scenario.ctx());
    assert_eq!(state.get_active_jwks_for_testing(scenario.ctx()).length(), 2);
    state.expire_jwks_for_testing(2, scenario.ctx());
    assert_eq!(state.get_active_jwks_for_testing(scenario.ctx()), vector[new]);
    test_scenario::return_shared(state);
    scenario.end();
}

#[test]
fun a_context_has_what_it_was_made_of() {
    let hash = tx_context::dummy_tx_hash_with_hint(3);
    let ctx = tx_context::create(@0xA, hash, 1, 2, 3, 4, 5, 6, option::some(@0xB));
    assert_eq!(ctx.sender(), @0xA);
    assert_eq!(*ctx.digest(), hash);
    assert_eq!(ctx.epoch(), 1);
    assert_eq!(ctx.epoch_timestamp_ms(), 2);
    assert_eq!(ctx.ids_created(), 3);
    assert_eq!(ctx.reference_gas_price(), 4);
    assert_eq!(ctx.gas_price(), 5);
    assert_eq!(ctx.gas_budget(), 6);
    assert_eq!(ctx.sponsor(), option::some(@0xB));
}

#[test]
fun gas_costs_nothing_unless_a_context_says_so() {
    let ctx = tx_context::dummy();
    assert_eq!(ctx.gas_price() + ctx.reference_gas_price() + ctx.gas_budget(), 0);
    assert!(ctx.sponsor().is_none());
}

#[test]
fun entry_functions_can_be_called() {
    functions::entries::of_nobody_else();
}
