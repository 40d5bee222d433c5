#[test_only]
module nexus_tools::payment_tests;

use nexus_tools::payment;
use nexus_tools::test_runner::assert_paid_at_most;
use sui::balance;

const ALICE: address = @0xA;

#[test]
fun pay_adds_to_the_address_balance() {
    payment::pay(balance::create_for_testing(100), ALICE);
    assert_paid_at_most(ALICE, 100);
}

#[test, expected_failure(arithmetic_error, location = sui::funds_accumulator)]
fun pay_sends_no_less_than_the_balance() {
    payment::pay(balance::create_for_testing(100), ALICE);
    assert_paid_at_most(ALICE, 99);
}

#[test]
fun pay_sends_a_single_mist() {
    payment::pay(balance::create_for_testing(1), ALICE);
    assert_paid_at_most(ALICE, 1);
}

#[test]
fun pay_accepts_an_empty_balance() {
    payment::pay(balance::zero(), ALICE);
    assert_paid_at_most(ALICE, 0);
}
