#[test_only]
module nexus_tools::owner_tests;

use nexus_tools::owner::{Self, Owner};
use std::unit_test::{assert_eq, destroy};

const ALICE: address = @0xA;
const BOB: address = @0xB;
const CARL: address = @0xC;

#[test]
fun new_makes_the_sender_the_owner() {
    let owner = owner::new(&by(ALICE));
    assert_eq!(owner.owner(), ALICE);
    assert_eq!(owner.pending_owner(), option::none());
    assert!(owner.is_sender(&by(ALICE)));
    assert!(!owner.is_sender(&by(BOB)));
    owner.check(&by(ALICE));
    destroy(owner);
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun check_aborts_for_another_sender() {
    owner::new(&by(ALICE)).check(&by(BOB));
    abort
}

#[test]
fun offer_and_accept_transfer_the_ownership() {
    let mut owner = owner::new(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    assert_eq!(owner.owner(), ALICE);
    assert_eq!(owner.pending_owner(), option::some(BOB));
    accept(&mut owner, BOB);
    assert_eq!(owner.owner(), BOB);
    assert_eq!(owner.pending_owner(), option::none());
    destroy(owner);
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun offer_aborts_for_another_sender() {
    offer(&mut owner::new(&by(ALICE)), BOB, option::some(BOB));
    abort
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun check_aborts_for_the_previous_owner() {
    let mut owner = owner::new(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    accept(&mut owner, BOB);
    owner.check(&by(ALICE));
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_without_an_offer() {
    accept(&mut owner::new(&by(ALICE)), BOB);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_for_another_address() {
    let mut owner = owner::new(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    accept(&mut owner, CARL);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_after_the_offer_was_withdrawn() {
    let mut owner = owner::new(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    offer(&mut owner, ALICE, option::none());
    accept(&mut owner, BOB);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_after_another_offer() {
    let mut owner = owner::new(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    offer(&mut owner, ALICE, option::some(CARL));
    accept(&mut owner, BOB);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_the_second_time() {
    let mut owner = owner::new(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    accept(&mut owner, BOB);
    accept(&mut owner, BOB);
    abort
}

// === Helpers ===

fun offer(owner: &mut Owner, sender: address, pending_owner: Option<address>) {
    owner.offer(@0x5.to_id(), pending_owner, &by(sender));
}

fun accept(owner: &mut Owner, sender: address) { owner.accept(@0x5.to_id(), &by(sender)); }

fun by(sender: address): TxContext { tx_context::new_from_hint(sender, 0, 0, 0, 0) }
