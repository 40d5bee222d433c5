/// Every test here passes.
#[test_only]
module sample::passing;

use sample::vault::{Self, Vault, Filled};
use std::unit_test::assert_eq;
use sui::clock;
use sui::coin;
use sui::event;
use sui::sui::SUI;
use sui::test_scenario;

const ALICE: address = @0xA;
const BOB: address = @0xB;

#[test]
fun init_shares_a_vault() {
    let mut scenario = test_scenario::begin(ALICE);
    vault::init_for_testing(scenario.ctx());
    let effects = scenario.next_tx(BOB);
    assert_eq!(effects.shared().length(), 1);
    assert_eq!(effects.created().length(), 1);
    let vault = scenario.take_shared<Vault>();
    assert_eq!(vault.amount(), 1);
    test_scenario::return_shared(vault);
    scenario.end();
}

#[test]
fun objects_go_from_hand_to_hand() {
    let mut scenario = test_scenario::begin(ALICE);
    let vault = vault::new(5, scenario.ctx());
    transfer::public_transfer(vault, BOB);
    assert!(!scenario.has_most_recent_for_sender<Vault>());
    let effects = scenario.next_tx(BOB);
    assert_eq!(effects.num_user_events(), 1);
    assert_eq!(effects.transferred_to_account().length(), 1);
    let mut vault = scenario.take_from_sender<Vault>();
    assert!(scenario.was_taken_from_sender(object::id(&vault)));
    vault.take(2);
    scenario.return_to_sender(vault);
    scenario.next_tx(BOB);
    let vault = scenario.take_from_sender<Vault>();
    assert_eq!(vault.amount(), 3);
    vault.destroy();
    let effects = scenario.next_tx(BOB);
    assert_eq!(effects.deleted().length(), 1);
    assert!(scenario.ids_for_sender<Vault>().is_empty());
    scenario.end();
}

#[test]
fun the_most_recent_object_is_taken_first() {
    let mut scenario = test_scenario::begin(ALICE);
    let mut amount = 1;
    while (amount < 4) {
        transfer::public_transfer(vault::new(amount, scenario.ctx()), ALICE);
        amount = amount + 1;
    };
    scenario.next_tx(ALICE);
    assert_eq!(scenario.ids_for_sender<Vault>().length(), 3);
    let last = scenario.take_from_sender<Vault>();
    let other = scenario.take_from_sender<Vault>();
    assert_eq!(last.amount(), 3);
    assert_eq!(other.amount(), 2);
    scenario.return_to_sender(last);
    scenario.return_to_sender(other);
    scenario.next_tx(ALICE);
    let last = scenario.take_from_sender<Vault>();
    assert_eq!(last.amount(), 2);
    scenario.return_to_sender(last);
    scenario.end();
}

#[test]
fun frozen_objects_are_read() {
    let mut scenario = test_scenario::begin(ALICE);
    transfer::public_freeze_object(vault::new(9, scenario.ctx()));
    scenario.next_tx(BOB);
    let vault = scenario.take_immutable<Vault>();
    assert_eq!(vault.amount(), 9);
    test_scenario::return_immutable(vault);
    scenario.end();
}

#[test]
fun dynamic_fields_stay() {
    let mut scenario = test_scenario::begin(ALICE);
    let mut vault = vault::new(0, scenario.ctx());
    vault.note(1, 11);
    transfer::public_share_object(vault);
    scenario.next_tx(ALICE);
    let mut vault = scenario.take_shared<Vault>();
    assert_eq!(vault.noted(1), 11);
    vault.note(2, 22);
    test_scenario::return_shared(vault);
    scenario.next_tx(ALICE);
    let vault = scenario.take_shared<Vault>();
    assert_eq!(vault.noted(2), 22);
    test_scenario::return_shared(vault);
    scenario.end();
}

#[test]
fun objects_are_received() {
    let mut scenario = test_scenario::begin(ALICE);
    let parent = vault::new(1, scenario.ctx());
    let parent_id = object::id(&parent);
    transfer::public_transfer(vault::new(2, scenario.ctx()), parent_id.to_address());
    transfer::public_transfer(parent, ALICE);
    scenario.next_tx(ALICE);
    let mut parent = scenario.take_from_sender<Vault>();
    let ticket = test_scenario::most_recent_receiving_ticket<Vault>(&parent_id);
    let child = parent.receive(ticket);
    assert_eq!(child.amount(), 2);
    child.destroy();
    scenario.return_to_sender(parent);
    scenario.end();
}

#[test]
fun ids_and_senders_are_those_of_every_runner() {
    let mut scenario = test_scenario::begin(ALICE);
    let id = scenario.new_object();
    assert_eq!(
        id.to_address(),
        @0x34401905bebdf8c04f3cd5f04f442a39372c8dc321c29edfb4f9cb30b23ab96,
    );
    id.delete();
    scenario.next_tx(BOB);
    assert_eq!(scenario.sender(), BOB);
    assert_eq!(scenario.num_concluded_txes(), 1);
    scenario.later_epoch(5, ALICE);
    assert_eq!(scenario.ctx().epoch(), 1);
    assert_eq!(scenario.ctx().epoch_timestamp_ms(), 5);
    scenario.end();
}

#[test]
fun money_and_time_are_made() {
    let ctx = &mut tx_context::dummy();
    let coin = coin::mint_for_testing<SUI>(5, ctx);
    assert_eq!(coin.value(), 5);
    assert_eq!(coin.burn_for_testing(), 5);
    let mut clock = clock::create_for_testing(ctx);
    clock.increment_for_testing(3);
    clock.increment_for_testing(4);
    assert_eq!(clock.timestamp_ms(), 7);
    clock.destroy_for_testing();
    assert_eq!(ctx.get_ids_created(), 2);
}

#[test]
fun events_are_seen() {
    let ctx = &mut tx_context::dummy();
    let vault = vault::new(8, ctx);
    assert_eq!(event::num_events(), 1);
    assert_eq!(event::events_by_type<Filled>().length(), 1);
    std::unit_test::destroy(vault);
}

#[test(account = @0xC, package = @sample)]
fun addresses_are_passed(account: address, package: address) {
    assert_eq!(account, @0xC);
    assert_eq!(package, @0x0);
}

#[random_test]
fun sums_commute(one: u32, other: u32, flag: bool, list: vector<u8>, who: address) {
    assert!((one as u64) + (other as u64) == (other as u64) + (one as u64));
    assert!(flag || !flag);
    assert!(list == list && who == who);
}
