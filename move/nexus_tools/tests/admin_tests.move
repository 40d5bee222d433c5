#[test_only]
module nexus_tools::admin_tests;

use nexus_tools::owner;
use nexus_tools::test_runner;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;

#[test]
fun publisher_is_the_admin() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| {
        assert_eq!(admin.owner().owner(), ADMIN);
        admin.check(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_is_not_the_admin() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.check(ctx));
    runner.end();
}

#[test]
fun administration_is_passed_on() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| admin.offer(option::some(ALICE), ctx));
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| {
        assert_eq!(admin.owner().offered(), option::some(ALICE));
        admin.accept(ctx);
        assert_eq!(admin.owner().owner(), ALICE);
        admin.check(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_offer_the_administration() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.offer(option::some(ALICE), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun stranger_does_not_accept_the_administration() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.accept(ctx));
    runner.end();
}
