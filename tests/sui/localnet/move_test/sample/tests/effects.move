/// Effects of transactions. Each test aborts with the counts that it has found.
#[test_only]
module sample::effects;

use sample::vault::{Self, Vault};
use sui::dynamic_field as df;
use sui::dynamic_object_field as dof;
use sui::test_scenario;

public struct Box has key, store { id: UID, vault: Vault }

/// Millions are what was created, ten thousands written, hundreds deleted, ones transferred.
fun code(e: test_scenario::TransactionEffects) {
    abort e.created().length() * 1000000 + e.written().length() * 10000
        + e.deleted().length() * 100 + e.transferred_to_object().length() * 10
        + e.transferred_to_account().length()
}

#[test, expected_failure(abort_code = 1000000)]
fun a_shared_object_with_a_field() {
    let mut s = test_scenario::begin(@1);
    let mut v = vault::new(0, s.ctx());
    v.note(1, 2);
    transfer::public_share_object(v);
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 10001)]
fun a_field_of_an_owned_object() {
    let mut s = test_scenario::begin(@1);
    let mut v = vault::new(0, s.ctx());
    v.note(1, 2); v.note(2, 2);
    transfer::public_transfer(v, @1);
    s.next_tx(@1);
    let mut v = s.take_from_sender<Vault>(); v.note(3, 4);
    s.return_to_sender(v);
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 0)]
fun an_object_as_a_field() {
    let mut s = test_scenario::begin(@1);
    let mut id = object::new(s.ctx());
    dof::add(&mut id, 1u8, vault::new(4, s.ctx()));
    std::unit_test::destroy(id);
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 100)]
fun a_field_that_is_removed() {
    let mut s = test_scenario::begin(@1);
    let mut id = object::new(s.ctx());
    df::add(&mut id, 1u8, 1u8);
    df::add(&mut id, 2u8, 1u8);
    s.next_tx(@1);
    let x: u8 = df::remove(&mut id, 1u8);
    *df::borrow_mut(&mut id, 2u8) = x + 1;
    std::unit_test::destroy(id);
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 1000101)]
fun an_object_that_is_wrapped() {
    let mut s = test_scenario::begin(@1);
    transfer::public_transfer(vault::new(3, s.ctx()), @1);
    s.next_tx(@1);
    let v = s.take_from_sender<Vault>();
    let id = object::new(s.ctx());
    transfer::public_transfer(Box { id, vault: v }, @1);
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 1000101)]
fun an_object_that_is_made_inside_of_another() {
    let mut s = test_scenario::begin(@1);
    let id = object::new(s.ctx());
    transfer::public_transfer(Box { id, vault: vault::new(3, s.ctx()) }, @1);
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 100)]
fun an_object_that_is_deleted() {
    let mut s = test_scenario::begin(@1);
    vault::new(3, s.ctx()).destroy();
    transfer::public_transfer(vault::new(3, s.ctx()), @1);
    s.next_tx(@1);
    s.take_from_sender<Vault>().destroy();
    code(s.next_tx(@1));
    s.end();
}

#[test, expected_failure(abort_code = 1, location = sui::test_scenario)]
fun a_shared_object_that_is_wrapped() {
    let mut s = test_scenario::begin(@1);
    transfer::public_share_object(vault::new(0, s.ctx()));
    s.next_tx(@1);
    let vault = s.take_shared<Vault>();
    transfer::public_transfer(Box { id: object::new(s.ctx()), vault }, @1);
    s.end();
}

#[test, expected_failure(abort_code = 1, location = sui::test_scenario)]
fun a_shared_object_as_a_field() {
    let mut s = test_scenario::begin(@1);
    transfer::public_share_object(vault::new(0, s.ctx()));
    let mut id = object::new(s.ctx());
    s.next_tx(@1);
    dof::add(&mut id, 1u8, s.take_shared<Vault>());
    std::unit_test::destroy(id);
    s.end();
}

#[test, expected_failure(abort_code = 1, location = sui::test_scenario)]
fun a_frozen_object_that_is_changed_hands() {
    let mut s = test_scenario::begin(@1);
    transfer::public_freeze_object(vault::new(0, s.ctx()));
    s.next_tx(@1);
    transfer::public_transfer(s.take_immutable<Vault>(), @1);
    s.end();
}

#[test]
fun a_shared_object_may_be_deleted() {
    let mut s = test_scenario::begin(@1);
    transfer::public_share_object(vault::new(0, s.ctx()));
    s.next_tx(@1);
    s.take_shared<Vault>().destroy();
    s.end();
}
