// What is newer than the sources of the framework that verdicts were compared with.
module functions::release;

use std::unit_test::assert_eq;
use sui::clock::Clock;
use sui::coin::CoinMetadata;
use sui::coin_registry::{Self, Currency, CurrencyInitializer};
use sui::deny_list::DenyList;
use sui::random::Random;
use sui::test_scenario as ts;

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
