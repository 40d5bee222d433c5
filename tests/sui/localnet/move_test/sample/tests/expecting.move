/// Every test here fails as it expects to.
#[test_only]
module sample::expecting;

use sample::vault::{Self, EEmpty};
use sui::test_scenario;

const EOwn: u64 = 3;

#[test, expected_failure]
fun anything() { abort 1 }

#[test, expected_failure(abort_code = 3)]
fun number() { abort EOwn }

#[test]
#[expected_failure(abort_code = EOwn)]
fun own_constant() { abort EOwn }

#[test, expected_failure(abort_code = vault::EEmpty)]
fun constant_of_a_module() { take(0, 1) }

#[test, expected_failure(abort_code = EEmpty)]
fun imported_constant() { take(0, 1) }

#[test, expected_failure(abort_code = sample::vault::EEmpty, location = sample::vault)]
fun whole_path() { take(0, 1) }

#[test, expected_failure(abort_code = vault::ETooMuch)]
fun constant_with_a_message() { take(1, 2) }

#[test, expected_failure(abort_code = 7, location = vault)]
fun number_and_location() { take(0, 1) }

#[test, expected_failure(arithmetic_error, location = vault)]
fun arithmetic() {
    let mut vault = vault::new(0, &mut tx_context::dummy());
    vault.take_unchecked(1);
    vault.destroy();
}

#[test, expected_failure(vector_error, minor_status = 1, location = Self)]
fun index() {
    let empty = vector<u64>[];
    assert!(empty[0] == 0);
}

#[test, expected_failure(out_of_gas, location = Self)]
fun gas() { loop {} }

#[test, expected_failure(abort_code = test_scenario::EEmptyInventory)]
fun nothing_to_take() {
    let scenario = test_scenario::begin(@0xA);
    let vault = scenario.take_shared<vault::Vault>();
    test_scenario::return_shared(vault);
    scenario.end();
}

#[test, expected_failure(abort_code = 1, location = sui::test_scenario)]
fun shared_objects_stay_shared() {
    let mut scenario = test_scenario::begin(@0xA);
    vault::init_for_testing(scenario.ctx());
    scenario.next_tx(@0xA);
    let vault = scenario.take_shared<vault::Vault>();
    transfer::public_transfer(vault, @0xA);
    scenario.end();
}

#[test, expected_failure(abort_code = 2, location = sui::test_scenario)]
fun only_what_was_taken_is_returned() {
    let mut scenario = test_scenario::begin(@0xA);
    let vault = vault::new(1, scenario.ctx());
    scenario.return_to_sender(vault);
    scenario.end();
}

fun take(amount: u64, taken: u64) {
    let mut vault = vault::new(amount, &mut tx_context::dummy());
    vault.take(taken);
    vault.destroy();
}
