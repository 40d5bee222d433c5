#[test_only]
module upgrade_lock::upgrade_lock_tests;

use std::bcs;
use std::unit_test::assert_eq;
use sui::clock::{Self, Clock};
use sui::event;
use sui::package::{Self, UpgradeCap};
use sui::test_scenario::{Self, Scenario};
use upgrade_lock::upgrade_lock::{Self, LockRegistry, UpgradeLock};

const OWNER: address = @0xA;
const BUYER: address = @0xB;
const STRANGER: address = @0xC;

const PACKAGE: address = @0xCAFE;
const SOURCES: vector<u8> = b"https://code.example.com/v2";
const DAY_MS: u64 = 86_400_000;
const START_MS: u64 = 1_000_000;

// === A locked package, and its transactions ===

public struct Runner {
    scenario: Scenario,
    clock: Clock,
}

/// Lock the package, as `OWNER`.
fun locked_package(): Runner {
    let mut runner = start();
    let cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    runner.lock(cap);
    runner
}

/// Lock the package, and propose an upgrade.
fun proposed_upgrade(): Runner {
    let mut runner = locked_package();
    runner.propose(OWNER);
    runner
}

fun start(): Runner {
    let mut scenario = test_scenario::begin(OWNER);
    upgrade_lock::init_for_testing(scenario.ctx());
    let mut clock = clock::create_for_testing(scenario.ctx());
    clock.set_for_testing(START_MS);
    scenario.next_tx(OWNER);
    Runner { scenario, clock }
}

fun end(self: Runner) {
    let Runner { scenario, clock } = self;
    clock.destroy_for_testing();
    scenario.end();
}

fun lock(self: &mut Runner, cap: UpgradeCap) {
    let mut locks = self.scenario.take_shared<LockRegistry>();
    locks.lock(cap, self.scenario.ctx());
    test_scenario::return_shared(locks);
}

/// Run a transaction of `$sender` on the lock.
macro fun tx(
    $runner: &mut Runner,
    $sender: address,
    $do: |&mut UpgradeLock, &Clock, &mut TxContext|,
) {
    let runner = $runner;
    runner.scenario.next_tx($sender);
    let mut lock = runner.scenario.take_shared<UpgradeLock>();
    $do(&mut lock, &runner.clock, runner.scenario.ctx());
    test_scenario::return_shared(lock);
}

fun propose(self: &mut Runner, sender: address) {
    self.propose_with(sender, digest(2), SOURCES);
}

fun propose_with(self: &mut Runner, sender: address, digest: vector<u8>, sources: vector<u8>) {
    self.tx!(sender, |lock, clock, ctx| lock.propose(digest, sources.to_string(), clock, ctx));
}

fun execute(self: &mut Runner, sender: address) {
    self.tx!(sender, |lock, clock, _| {
        let ticket = lock.authorize(clock);
        lock.commit(package::test_upgrade(ticket));
    });
}

fun digest(byte: u8): vector<u8> { vector::tabulate!(32, |_| byte) }

fun event_bytes<Event: copy + drop>(): vector<u8> { bcs::to_bytes(&event::events_by_type<Event>()[0]) }

fun field<T: drop>(value: T): vector<u8> { bcs::to_bytes(&value) }

/// Return the first two fields of every event, as BCS bytes.
fun event_prefix(lock: ID): vector<u8> { vector[field(lock), field(PACKAGE)].flatten() }

fun lock_id(self: &mut Runner): ID {
    self.scenario.next_tx(OWNER);
    let locks = self.scenario.take_shared<LockRegistry>();
    assert!(locks.is_locked(PACKAGE.to_id()));
    let id = locks.lock_id(PACKAGE.to_id());
    test_scenario::return_shared(locks);
    id
}

// === Allowed operations ===

#[test]
fun lock_id_is_derived_from_the_package() {
    let mut runner = locked_package();
    let told = event_bytes<upgrade_lock::PackageLocked>();
    let id = runner.lock_id();
    assert_eq!(told, vector[event_prefix(id), field(OWNER)].flatten());
    runner.tx!(STRANGER, |lock, _, _| {
        assert_eq!(object::id(lock), id);
        assert_eq!(lock.package(), PACKAGE.to_id());
        assert_eq!(lock.owner(), OWNER);
        assert!(lock.pending_owner().is_none());
        assert!(lock.proposal().is_none());
        assert!(!lock.is_immutable());
    });
    runner.end();
}

#[test]
fun propose_stores_and_emits_the_times() {
    let mut runner = proposed_upgrade();
    let told = event_bytes<upgrade_lock::UpgradeProposed>();
    let id = runner.lock_id();
    let fields = vector[
        event_prefix(id),
        field(digest(2)),
        field(SOURCES),
        field(START_MS + 14 * DAY_MS),
        field(START_MS + 21 * DAY_MS),
    ].flatten();
    assert_eq!(told, fields);
    runner.tx!(STRANGER, |lock, _, _| {
        let proposal = lock.proposal().destroy_some();
        assert_eq!(proposal.digest(), digest(2));
        assert_eq!(proposal.sources(), SOURCES.to_string());
        assert_eq!(proposal.proposed_at_ms(), START_MS);
        assert_eq!(proposal.executable_at_ms(), START_MS + 14 * DAY_MS);
        assert_eq!(proposal.expires_at_ms(), START_MS + 21 * DAY_MS);
    });
    runner.end();
}

#[test]
fun authorize_works_for_anyone_from_day_14() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(14 * DAY_MS);
    let upgraded;
    runner.tx!(STRANGER, |lock, clock, _| {
        let receipt = package::test_upgrade(lock.authorize(clock));
        upgraded = receipt.package();
        lock.commit(receipt);
    });
    let told = event_bytes<upgrade_lock::UpgradeExecuted>();
    let id = runner.lock_id();
    assert_eq!(told, vector[event_prefix(id), field(upgraded), field(2u64)].flatten());
    runner.tx!(STRANGER, |lock, _, _| assert!(lock.proposal().is_none()));
    runner.end();
}

#[test]
fun authorize_works_until_day_21() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(21 * DAY_MS - 1);
    runner.execute(STRANGER);
    runner.end();
}

#[test]
fun commit_allows_a_second_upgrade() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.execute(OWNER);
    runner.propose(OWNER);
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.execute(OWNER);
    let mut told = event_bytes<upgrade_lock::UpgradeExecuted>();
    let version = vector::tabulate!(8, |_| told.pop_back());
    // The bytes of the last field are in reverse order.
    assert_eq!(version, vector[0, 0, 0, 0, 0, 0, 0, 3]);
    runner.end();
}

#[test]
fun propose_replaces_an_expired_proposal() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(21 * DAY_MS);
    runner.propose_with(OWNER, digest(3), SOURCES);
    runner.tx!(STRANGER, |lock, _, _| {
        assert_eq!(lock.proposal().destroy_some().digest(), digest(3));
    });
    runner.end();
}

#[test]
fun propose_after_cancel_starts_a_new_notice() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(13 * DAY_MS);
    runner.tx!(OWNER, |lock, _, ctx| lock.cancel(ctx));
    let told = event_bytes<upgrade_lock::UpgradeCancelled>();
    let id = runner.lock_id();
    assert_eq!(told, vector[event_prefix(id), field(digest(2))].flatten());
    runner.propose(OWNER);
    runner.tx!(STRANGER, |lock, _, _| {
        let proposal = lock.proposal().destroy_some();
        assert_eq!(proposal.executable_at_ms(), START_MS + 27 * DAY_MS);
    });
    runner.end();
}

#[test]
fun make_immutable_keeps_the_lock() {
    let mut runner = proposed_upgrade();
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    let told = event_bytes<upgrade_lock::PackageMadeImmutable>();
    let id = runner.lock_id();
    assert_eq!(told, event_prefix(id));
    runner.tx!(STRANGER, |lock, _, _| {
        assert!(lock.is_immutable());
        assert!(lock.proposal().is_none());
    });
    runner.end();
}

#[test]
fun accept_makes_the_sender_the_owner() {
    let mut runner = proposed_upgrade();
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(BUYER, ctx));
    let pending_owner = event_bytes<upgrade_lock::OwnershipOffered>();
    runner.tx!(BUYER, |lock, _, ctx| lock.accept(ctx));
    let changed = event_bytes<upgrade_lock::OwnershipAccepted>();
    let id = runner.lock_id();
    assert_eq!(pending_owner, vector[event_prefix(id), field(BUYER)].flatten());
    assert_eq!(changed, vector[event_prefix(id), field(OWNER), field(BUYER)].flatten());
    runner.tx!(BUYER, |lock, _, ctx| {
        assert_eq!(lock.owner(), BUYER);
        assert!(lock.pending_owner().is_none());
        assert!(lock.proposal().is_some());
        lock.cancel(ctx);
    });
    runner.end();
}

#[test]
fun authorize_keeps_the_policy_of_the_cap() {
    let mut runner = start();
    let mut cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    cap.only_dep_upgrades();
    runner.lock(cap);
    runner.propose(OWNER);
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.tx!(STRANGER, |lock, clock, _| {
        let ticket = lock.authorize(clock);
        assert_eq!(ticket.policy(), package::dep_only_policy());
        assert_eq!(*ticket.digest(), digest(2));
        assert_eq!(ticket.package(), PACKAGE.to_id());
        lock.commit(package::test_upgrade(ticket));
    });
    runner.end();
}

// === Refused operations ===

#[test, expected_failure(abort_code = upgrade_lock::EAlreadyUpgraded)]
fun lock_aborts_for_an_upgraded_package() {
    let mut runner = start();
    let mut cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    let ticket = cap.authorize(package::compatible_policy(), digest(2));
    cap.commit(package::test_upgrade(ticket));
    runner.lock(cap);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EUpgradeInProgress)]
fun lock_aborts_during_an_upgrade() {
    let mut runner = start();
    let mut cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    let ticket = cap.authorize(package::compatible_policy(), digest(2));
    runner.lock(cap);
    runner.tx!(OWNER, |lock, _, _| lock.commit(package::test_upgrade(ticket)));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun propose_aborts_for_another_sender() {
    let mut runner = locked_package();
    runner.propose(STRANGER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun cancel_aborts_for_another_sender() {
    let mut runner = proposed_upgrade();
    runner.tx!(STRANGER, |lock, _, ctx| lock.cancel(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun make_immutable_aborts_for_another_sender() {
    let mut runner = locked_package();
    runner.tx!(STRANGER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun offer_aborts_for_another_sender() {
    let mut runner = locked_package();
    runner.tx!(STRANGER, |lock, _, ctx| lock.offer(STRANGER, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun propose_aborts_for_the_previous_owner() {
    let mut runner = locked_package();
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(BUYER, ctx));
    runner.tx!(BUYER, |lock, _, ctx| lock.accept(ctx));
    runner.propose(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOffered)]
fun accept_aborts_without_an_offer() {
    let mut runner = locked_package();
    runner.tx!(STRANGER, |lock, _, ctx| lock.accept(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOffered)]
fun accept_aborts_after_another_offer() {
    let mut runner = locked_package();
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(BUYER, ctx));
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(OWNER, ctx));
    runner.tx!(BUYER, |lock, _, ctx| lock.accept(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EInvalidDigest)]
fun propose_aborts_for_a_short_digest() {
    let mut runner = locked_package();
    runner.propose_with(OWNER, b"short", SOURCES);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EInvalidSources)]
fun propose_aborts_for_empty_sources() {
    let mut runner = locked_package();
    runner.propose_with(OWNER, digest(2), b"");
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EInvalidSources)]
fun propose_aborts_for_sources_of_501_bytes() {
    let mut runner = locked_package();
    runner.propose_with(OWNER, digest(2), vector::tabulate!(501, |_| 97));
    runner.end();
}

#[test]
fun propose_accepts_sources_of_500_bytes() {
    let mut runner = locked_package();
    runner.propose_with(OWNER, digest(2), vector::tabulate!(500, |_| 97));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EProposalPending)]
fun propose_aborts_while_another_is_pending() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(21 * DAY_MS - 1);
    runner.propose_with(OWNER, digest(3), SOURCES);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENoProposal)]
fun cancel_aborts_without_a_proposal() {
    let mut runner = locked_package();
    runner.tx!(OWNER, |lock, _, ctx| lock.cancel(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENoProposal)]
fun authorize_aborts_without_a_proposal() {
    let mut runner = locked_package();
    runner.execute(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENoProposal)]
fun authorize_aborts_the_second_time() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.execute(STRANGER);
    runner.execute(STRANGER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ETooEarly)]
fun authorize_aborts_before_day_14() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(14 * DAY_MS - 1);
    runner.execute(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EProposalExpired)]
fun authorize_aborts_after_day_21() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(21 * DAY_MS);
    runner.execute(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EImmutable)]
fun propose_aborts_for_an_immutable_package() {
    let mut runner = locked_package();
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.propose(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EImmutable)]
fun make_immutable_aborts_the_second_time() {
    let mut runner = locked_package();
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EImmutable)]
fun commit_aborts_when_the_package_became_immutable() {
    let mut runner = proposed_upgrade();
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.tx!(OWNER, |lock, clock, ctx| {
        let ticket = lock.authorize(clock);
        lock.make_immutable(ctx);
        lock.commit(package::test_upgrade(ticket));
    });
    runner.end();
}

#[test, expected_failure(abort_code = package::EWrongUpgradeCap)]
fun commit_aborts_for_the_receipt_of_another_package() {
    let mut runner = proposed_upgrade();
    let mut other = package::test_publish(@0xD00D.to_id(), runner.scenario.ctx());
    let ticket = other.authorize(package::compatible_policy(), digest(2));
    runner.tx!(STRANGER, |lock, _, _| lock.commit(package::test_upgrade(ticket)));
    other.make_immutable();
    runner.end();
}
