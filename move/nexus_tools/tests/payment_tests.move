#[test_only]
module nexus_tools::payment_tests;

use nexus_tools::payment;
use nexus_tools::test_runner::assert_paid_at_most;
use sui::balance;

const ALICE: address = @0xA;

#[test]
fun payment_goes_into_the_address_balance() {
    payment::pay(balance::create_for_testing(100), ALICE);
    assert_paid_at_most(ALICE, 100);
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun no_less_is_paid_than_there_is() {
    payment::pay(balance::create_for_testing(100), ALICE);
    assert_paid_at_most(ALICE, 99);
}

#[test]
fun single_mist_is_paid() {
    payment::pay(balance::create_for_testing(1), ALICE);
    assert_paid_at_most(ALICE, 1);
}

#[test]
fun nothing_is_paid_if_there_is_nothing() {
    payment::pay(balance::zero(), ALICE);
    assert_paid_at_most(ALICE, 0);
}
