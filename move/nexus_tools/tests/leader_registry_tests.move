#[test_only]
module nexus_tools::leader_registry_tests;

use nexus_tools::leader_registry;
use nexus_tools::owner;
use nexus_tools::test_runner::{Self, Runner};
use nexus_tools::version;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const LEE: address = @0x1;
const MAX: address = @0x2;

const SUI: u64 = 1_000_000_000;
const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

// === Leaders ===

#[test]
fun leader_id_is_the_id_of_the_registered_leader() {
    let mut runner = test_runner::start();
    runner.tx!(LEE, |_, leaders, _, _| assert_eq!(leaders.length(), 0));
    let (lee, max) = (runner.register_leader(LEE), runner.register_leader(MAX));
    runner.tx!(LEE, |_, leaders, _, _| {
        assert_eq!(leaders.length(), 2);
        assert_eq!(leaders.leader_id(0), lee);
        assert_eq!(leaders.leader_id(1), max);
    });
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ENotAccepting)]
fun register_aborts_while_the_registry_accepts_nothing() {
    let mut runner = test_runner::start();
    set(&mut runner, ADMIN, false, lowest());
    runner.register_leader(LEE);
    runner.end();
}

#[test]
fun check_length_accepts_the_number_of_leaders() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    runner.tx!(MAX, |_, leaders, _, _| leaders.check_length(1));
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::ELeadersChanged)]
fun check_length_aborts_after_another_registration() {
    let mut runner = test_runner::start();
    runner.register_leader(LEE);
    runner.tx!(LEE, |_, leaders, _, _| leaders.check_length(0));
    runner.end();
}

// === Fees ===

#[test]
fun fees_depend_on_the_gas_price_and_the_input_bytes() {
    let mut runner = test_runner::start();
    runner.tx!(LEE, |_, leaders, _, ctx| {
        // The fee for failing is 1 000 gas units at 1 000 MIST, 450 000 MIST for storage, and
        // 100 MIST for each byte.
        assert_eq!(leaders.settings().fail_fee_mist(0, ctx), 1_520_000);
        assert_eq!(leaders.settings().fail_fee_mist(13, ctx), 1_521_300);
        // The fee for settling is 2 000 000 MIST higher.
        assert_eq!(leaders.settings().settle_fee_mist(0, ctx), 3_520_000);
        assert_eq!(leaders.settings().settle_fee_mist(13, ctx), 3_521_300);
    });
    runner.next_epoch(730);
    runner.tx!(LEE, |_, leaders, _, ctx| {
        assert_eq!(leaders.settings().fail_fee_mist(13, ctx), 1_251_300);
        assert_eq!(leaders.settings().settle_fee_mist(13, ctx), 3_251_300);
    });
    runner.end();
}

// === Settings ===

#[test]
fun init_sets_the_default_settings() {
    let mut runner = test_runner::start();
    runner.tx!(LEE, |_, leaders, _, _| {
        let settings = leaders.settings();
        assert!(settings.is_accepting());
        assert_eq!(settings.collateral_mist(), 10 * SUI);
        assert_eq!(settings.unregister_delay_ms(), 7 * DAY_MS);
        assert_eq!(settings.fee_per_outcome_byte_mist(), 7_600);
        assert_eq!(settings.grace_ms(), 15_000);
        assert_eq!(settings.max_ports_bytes(), 65_536);
        assert_eq!(settings.revision(), 0);
    });
    runner.end();
}

#[test]
fun configure_affects_only_new_leaders() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    set(&mut runner, ADMIN, true, vector[2 * SUI, DAY_MS, 3, 4, 5, 6, 7, 8_000, 9]);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        let settings = leaders.settings();
        assert_eq!(settings.collateral_mist(), 2 * SUI);
        assert_eq!(settings.unregister_delay_ms(), DAY_MS);
        // The fee for failing is 3 gas units at 1 000 MIST, 4 MIST for storage, and 6 MIST for each
        // byte. The fee for settling is 5 MIST higher.
        assert_eq!(settings.fail_fee_mist(10, ctx), 3_064);
        assert_eq!(settings.settle_fee_mist(10, ctx), 3_069);
        assert_eq!(settings.fee_per_outcome_byte_mist(), 7);
        assert_eq!(settings.grace_ms(), 8_000);
        assert_eq!(settings.max_ports_bytes(), 9);
        assert_eq!(leader.collateral().required_mist(), 10 * SUI);
        assert_eq!(leader.collateral().delay_ms(), 7 * DAY_MS);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun configure_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    set(&mut runner, LEE, true, lowest());
    runner.end();
}

#[test]
fun configure_accepts_values_up_to_the_bounds() {
    let mut runner = test_runner::start();
    set(&mut runner, ADMIN, true, lowest());
    set(&mut runner, ADMIN, true, highest());
    runner.end();
}

#[test]
fun configure_increments_the_revision() {
    let mut runner = test_runner::start();
    set(&mut runner, ADMIN, true, lowest());
    runner.tx!(LEE, |_, leaders, _, _| assert_eq!(leaders.settings().revision(), 1));
    // The revision increases even if the settings do not change.
    set(&mut runner, ADMIN, true, lowest());
    runner.tx!(LEE, |_, leaders, _, _| assert_eq!(leaders.settings().revision(), 2));
    runner.end();
}

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_collateral_below_100_000_000() { set_one(lowest(), 0, SUI / 10 - 1); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_a_delay_above_a_week() { set_one(lowest(), 1, 7 * DAY_MS + 1); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_above_5_000_gas_units() { set_one(lowest(), 2, 5_001); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_a_storage_fee_above_10_000_000() { set_one(lowest(), 3, 10_000_001); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_a_margin_above_10_000_000() { set_one(lowest(), 4, 10_000_001); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_an_input_fee_above_100_000() { set_one(lowest(), 5, 100_001); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_an_outcome_fee_above_100_000() { set_one(lowest(), 6, 100_001); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_a_grace_below_five_seconds() { set_one(lowest(), 7, 4_999); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_a_grace_above_a_minute() { set_one(lowest(), 7, 60_001); }

#[test, expected_failure(abort_code = leader_registry::EInvalidSettings)]
fun configure_aborts_for_ports_above_114_688_bytes() { set_one(lowest(), 8, 114_689); }

// === Upgrades ===

#[test]
fun migrate_makes_the_registry_usable() {
    let mut runner = test_runner::start();
    runner.tx!(ADMIN, |_, leaders, _, _| leaders.set_version_for_testing(0));
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| leaders.migrate(admin, ctx));
    runner.register_leader(LEE);
    runner.end();
}

#[test, expected_failure(abort_code = version::EAlreadyMigrated)]
fun migrate_aborts_the_second_time() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| leaders.migrate(admin, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun migrate_aborts_for_another_sender() {
    let mut runner = test_runner::start();
    runner.tx!(ADMIN, |_, leaders, _, _| leaders.set_version_for_testing(0));
    runner.admin_tx!(LEE, |admin, _, leaders, _, ctx| leaders.migrate(admin, ctx));
    runner.end();
}

// === Helpers ===

/// The lower bounds of the settings, in the order of the parameters of `configure`.
fun lowest(): vector<u64> { vector[SUI / 10, HOUR_MS, 0, 0, 0, 0, 0, 5_000, 0] }

/// The upper bounds of the settings.
fun highest(): vector<u64> {
    vector[
        1_000 * SUI,
        7 * DAY_MS,
        5_000,
        10_000_000,
        10_000_000,
        100_000,
        100_000,
        60_000,
        114_688,
    ]
}

/// Configure the settings, with `value` at `index`.
fun set_one(mut settings: vector<u64>, index: u64, value: u64) {
    *&mut settings[index] = value;
    let mut runner = test_runner::start();
    set(&mut runner, ADMIN, true, settings);
    runner.end();
}

fun set(runner: &mut Runner, sender: address, accepting: bool, settings: vector<u64>) {
    runner.admin_tx!(sender, |admin, _, leaders, _, ctx| {
        leaders.configure(
            admin,
            accepting,
            settings[0],
            settings[1],
            settings[2],
            settings[3],
            settings[4],
            settings[5],
            settings[6],
            settings[7],
            settings[8],
            ctx,
        );
        assert_eq!(leaders.settings().is_accepting(), accepting);
    });
}
