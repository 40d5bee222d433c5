// Functions that are newer than the framework sources with which verdicts were compared.
module functions::release;

use std::unit_test::assert_eq;
use sui::accumulator::{Self, AccumulatorRoot};
use sui::clock::Clock;
use sui::coin::CoinMetadata;
use sui::coin_registry::{Self, Currency, CurrencyInitializer};
use sui::deny_list::DenyList;
use sui::random::Random;
use sui::test_scenario as ts;
use sui::vec_map::EKeyDoesNotExist;
use sui_system::governance_test_utils as governance;

public struct RELEASE has drop {}

fun initializer(ctx: &mut TxContext): CurrencyInitializer<RELEASE> {
    let witness = sui::test_utils::create_one_time_witness<RELEASE>();
    let (name, none) = (b"Release".to_string(), b"".to_string());
    let (initializer, treasury) = coin_registry::new_currency_with_otw(
        witness,
        6,
        b"R".to_string(),
        name,
        none,
        none,
        ctx,
    );
    std::unit_test::destroy(treasury);
    initializer
}

#[test]
fun objects_of_the_system_are_created_at_once() {
    let mut scenario = ts::begin(@0xA);
    scenario.create_system_objects();
    assert_eq!(scenario.sender(), @0xA);
    let clock: Clock = scenario.take_shared();
    let random: Random = scenario.take_shared();
    let list: DenyList = scenario.take_shared();
    assert_eq!(clock.timestamp_ms(), 0);
    ts::return_shared(clock);
    ts::return_shared(random);
    ts::return_shared(list);
    scenario.end();
}

#[test]
fun a_currency_is_taken_out_of_its_initializer() {
    let ctx = &mut tx_context::dummy();
    let currency: Currency<RELEASE> = initializer(ctx).unwrap_for_testing();
    assert_eq!(currency.decimals(), 6);
    assert!(!currency.is_metadata_cap_claimed());
    std::unit_test::destroy(currency);
}

#[test]
fun a_currency_is_finished_with_its_cap() {
    let ctx = &mut tx_context::dummy();
    let (currency, cap) = initializer(ctx).finalize_unwrap_for_testing(ctx);
    assert_eq!(currency.metadata_cap_id(), option::some(object::id(&cap)));
    std::unit_test::destroy(currency);
    std::unit_test::destroy(cap);
}

#[test]
fun the_metadata_of_a_coin_become_a_currency() {
    let ctx = &mut tx_context::dummy();
    let mut registry = coin_registry::create_coin_data_registry_for_testing(ctx);
    let (treasury, metadata) = sui::coin::create_currency(
        sui::test_utils::create_one_time_witness<RELEASE>(),
        9,
        b"R",
        b"Release",
        b"",
        option::none(),
        ctx,
    );
    let currency = migrated(&mut registry, &metadata, ctx);
    assert_eq!(currency.decimals(), 9);
    assert!(registry.exists<RELEASE>());
    std::unit_test::destroy(currency);
    std::unit_test::destroy(metadata);
    std::unit_test::destroy(treasury);
    std::unit_test::destroy(registry);
}

fun migrated(
    registry: &mut coin_registry::CoinRegistry,
    metadata: &CoinMetadata<RELEASE>,
    ctx: &mut TxContext,
): Currency<RELEASE> {
    registry.migrate_legacy_metadata_for_testing(metadata, ctx)
}

#[test, expected_failure(abort_code = coin_registry::ENotSystemAddress)]
fun only_the_system_creates_a_registry() {
    let ctx = &mut tx_context::new_from_hint(@0xA, 0, 0, 0, 0);
    std::unit_test::destroy(coin_registry::create_coin_data_registry_for_testing(ctx));
}

#[test]
fun the_system_creates_an_accumulator_root() {
    let mut scenario = ts::begin(@0x0);
    accumulator::create_for_testing(scenario.ctx());
    scenario.next_tx(@0xA);
    ts::return_shared(scenario.take_shared<AccumulatorRoot>());
    scenario.end();
}

#[test, expected_failure(abort_code = EKeyDoesNotExist)]
fun an_error_of_the_framework_is_imported_by_its_name() {
    sui::vec_map::empty<u8, u8>().remove(&1);
}

#[test]
fun a_test_calls_what_otherwise_only_transactions_call() {
    let mut scenario = ts::begin(@0xA);
    sui::kiosk::default(scenario.ctx());
    scenario.next_tx(@0xA);
    ts::return_shared(scenario.take_shared<sui::kiosk::Kiosk>());
    scenario.end();
}

// Generators of BLS12-381: a public key, and a signature that is none of it.
const KEY: vector<u8> =
    x"93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
const SIGNATURE: vector<u8> =
    x"97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";

#[test, expected_failure(abort_code = 0, location = sui_system::validator)]
fun a_candidate_has_to_prove_that_its_key_is_its_own() {
    governance::set_up_sui_system_state(vector[@0x1]);
    let mut scenario = ts::begin(@0x0);
    let place = b"/ip4/127.0.0.1/tcp/80";
    governance::add_validator_full_flow(@0x2, b"two", place, 10, KEY, SIGNATURE, &mut scenario);
    scenario.end();
}
