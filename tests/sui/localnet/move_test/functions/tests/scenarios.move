// Transactions on terms of their own.
module functions::scenarios;

use std::unit_test::assert_eq;
use sui::test_scenario as ts;

#[test]
fun a_scenario_begins_as_its_builder_says() {
    let builder = ts::ctx_builder_from_sender(@0xA)
        .set_epoch(2)
        .set_epoch_timestamp(300)
        .set_gas_price(4)
        .set_gas_budget(5)
        .set_reference_gas_price(6)
        .set_sponsor(@0xB)
        .set_ids_created(7);
    let mut scenario = ts::begin_with_context(builder);
    let ctx = scenario.ctx();
    assert_eq!(ctx.sender(), @0xA);
    assert_eq!(ctx.epoch(), 2);
    assert_eq!(ctx.epoch_timestamp_ms(), 300);
    assert_eq!(ctx.gas_price(), 4);
    assert_eq!(ctx.gas_budget(), 5);
    assert_eq!(ctx.reference_gas_price(), 6);
    assert_eq!(ctx.sponsor(), option::some(@0xB));
    assert_eq!(ctx.ids_created(), 7);
    scenario.end();
}

#[test]
fun each_epoch_has_a_transaction() {
    let mut scenario = ts::begin_with_context(ts::ctx_builder_from_sender(@0xA));
    let builder = scenario.ctx_builder().set_epoch(3).unset_sponsor();
    scenario.next_with_context(builder);
    assert_eq!(scenario.num_concluded_txes(), 3);
    assert_eq!(scenario.ctx().epoch(), 3);
    let builder = ts::ctx_builder_from_context(scenario.ctx()).set_gas_price(9);
    scenario.next_with_context(builder);
    assert_eq!(scenario.num_concluded_txes(), 4);
    assert_eq!(scenario.ctx().gas_price(), 9);
    scenario.end();
}

#[test, expected_failure]
fun a_price_stays_for_an_epoch() {
    let mut scenario = ts::begin_with_context(ts::ctx_builder_from_sender(@0xA));
    scenario.next_with_context(ts::ctx_builder_from_sender(@0xA).set_reference_gas_price(1));
    scenario.end();
}

#[test, expected_failure(abort_code = std::option::EOPTION_NOT_SET)]
fun a_context_needs_a_price() {
    let mut scenario = ts::begin_with_context(ts::ctx_builder_from_sender(@0xA));
    let builder = scenario.ctx_builder().unset_reference_gas_price();
    scenario.next_with_context(builder);
    scenario.end();
}

#[test, expected_failure(abort_code = ts::EObjectNotFound)]
fun what_is_shared_is_not_received() {
    let mut scenario = ts::begin(@0xA);
    let coin = sui::coin::mint_for_testing<sui::sui::SUI>(1, scenario.ctx());
    let id = object::id(&coin);
    transfer::public_share_object(coin);
    scenario.next_tx(@0xA);
    let _ticket = ts::receiving_ticket_by_id<sui::coin::Coin<sui::sui::SUI>>(id);
    abort 99
}
