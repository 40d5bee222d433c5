#[test_only]
module nexus_tools::owner_tests;

use nexus_tools::owner::{Self, Owner};
use std::unit_test::{assert_eq, destroy};

const ALICE: address = @0xA;
const BOB: address = @0xB;
const CARL: address = @0xC;

#[test]
fun who_makes_something_owns_it() {
    let owner = owner::sender(&by(ALICE));
    assert_eq!(owner.owner(), ALICE);
    assert_eq!(owner.offered(), option::none());
    assert!(owner.is_sender(&by(ALICE)));
    assert!(!owner.is_sender(&by(BOB)));
    owner.check(&by(ALICE));
    destroy(owner);
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_is_not_the_owner() {
    owner::sender(&by(ALICE)).check(&by(BOB));
    abort
}

#[test]
fun ownership_is_passed_on_in_two_steps() {
    let mut owner = owner::sender(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    assert_eq!(owner.owner(), ALICE);
    assert_eq!(owner.offered(), option::some(BOB));
    accept(&mut owner, BOB);
    assert_eq!(owner.owner(), BOB);
    assert_eq!(owner.offered(), option::none());
    destroy(owner);
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun only_the_owner_offers() {
    offer(&mut owner::sender(&by(ALICE)), BOB, option::some(BOB));
    abort
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun former_owner_does_not_own() {
    let mut owner = owner::sender(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    accept(&mut owner, BOB);
    owner.check(&by(ALICE));
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun nobody_accepts_what_was_not_offered() {
    accept(&mut owner::sender(&by(ALICE)), BOB);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun stranger_does_not_accept_what_was_offered_to_another() {
    let mut owner = owner::sender(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    accept(&mut owner, CARL);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun offer_that_was_taken_back_is_not_accepted() {
    let mut owner = owner::sender(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    offer(&mut owner, ALICE, option::none());
    accept(&mut owner, BOB);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun ownership_is_offered_to_one_address_at_a_time() {
    let mut owner = owner::sender(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    offer(&mut owner, ALICE, option::some(CARL));
    accept(&mut owner, BOB);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun ownership_is_accepted_once() {
    let mut owner = owner::sender(&by(ALICE));
    offer(&mut owner, ALICE, option::some(BOB));
    accept(&mut owner, BOB);
    accept(&mut owner, BOB);
    abort
}

// === Helpers ===

fun offer(owner: &mut Owner, sender: address, offered: Option<address>) {
    owner.offer(@0x5.to_id(), offered, &by(sender));
}

fun accept(owner: &mut Owner, sender: address) { owner.accept(@0x5.to_id(), &by(sender)); }

fun by(sender: address): TxContext { tx_context::new_from_hint(sender, 0, 0, 0, 0) }
