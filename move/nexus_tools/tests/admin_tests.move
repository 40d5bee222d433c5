#[test_only]
module nexus_tools::admin_tests;

use nexus_tools::owner;
use nexus_tools::test_runner;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;

#[test]
fun init_makes_the_publisher_the_admin() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| {
        assert_eq!(admin.owner().owner(), ADMIN);
        admin.check(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun check_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.check(ctx));
    runner.end();
}

#[test]
fun accept_makes_the_sender_the_admin() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| admin.offer(option::some(ALICE), ctx));
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| {
        assert_eq!(admin.owner().pending_owner(), option::some(ALICE));
        admin.accept(ctx);
        assert_eq!(admin.owner().owner(), ALICE);
        admin.check(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun offer_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.offer(option::some(ALICE), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.accept(ctx));
    runner.end();
}
