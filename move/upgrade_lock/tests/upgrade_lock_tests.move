#[test_only]
module upgrade_lock::upgrade_lock_tests;

use std::bcs;
use std::unit_test::assert_eq;
use sui::clock::{Self, Clock};
use sui::event;
use sui::package::{Self, UpgradeCap};
use sui::test_scenario::{Self, Scenario};
use upgrade_lock::upgrade_lock::{Self, Locks, UpgradeLock};

const OWNER: address = @0xA;
const BUYER: address = @0xB;
const STRANGER: address = @0xC;

const PACKAGE: address = @0xCAFE;
const SOURCES: vector<u8> = b"https://code.example.com/v2";
const DAY_MS: u64 = 86_400_000;
const START_MS: u64 = 1_000_000;

// === A locked package, and who does what ===

public struct Runner {
    scenario: Scenario,
    clock: Clock,
}

/// The package is locked by `OWNER`.
fun locked(): Runner {
    let mut runner = start();
    let cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    runner.lock(cap);
    runner
}

/// ... and an upgrade is proposed.
fun proposed(): Runner {
    let mut runner = locked();
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
    let mut locks = self.scenario.take_shared<Locks>();
    locks.lock(cap, self.scenario.ctx());
    test_scenario::return_shared(locks);
}

/// What `$sender` does with the lock.
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

fun told<Event: copy + drop>(): vector<u8> { bcs::to_bytes(&event::events_by_type<Event>()[0]) }

fun field<T: drop>(value: T): vector<u8> { bcs::to_bytes(&value) }

/// The first two fields of every event.
fun about(lock: ID): vector<u8> { vector[field(lock), field(PACKAGE)].flatten() }

fun lock_id(self: &mut Runner): ID {
    self.scenario.next_tx(OWNER);
    let locks = self.scenario.take_shared<Locks>();
    assert!(locks.is_locked(PACKAGE.to_id()));
    let id = locks.lock_id(PACKAGE.to_id());
    test_scenario::return_shared(locks);
    id
}

// === What an owner does ===

#[test]
fun a_lock_has_the_id_that_follows_from_the_package() {
    let mut runner = locked();
    let told = told<upgrade_lock::PackageLocked>();
    let id = runner.lock_id();
    assert_eq!(told, vector[about(id), field(OWNER)].flatten());
    runner.tx!(STRANGER, |lock, _, _| {
        assert_eq!(object::id(lock), id);
        assert_eq!(lock.package(), PACKAGE.to_id());
        assert_eq!(lock.owner(), OWNER);
        assert!(lock.offered().is_none());
        assert!(lock.proposal().is_none());
        assert!(!lock.is_immutable());
    });
    runner.end();
}

#[test]
fun a_proposal_says_when_it_can_be_executed() {
    let mut runner = proposed();
    let told = told<upgrade_lock::UpgradeProposed>();
    let id = runner.lock_id();
    let fields = vector[
        about(id),
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
        assert_eq!(proposal.void_at_ms(), START_MS + 21 * DAY_MS);
    });
    runner.end();
}

#[test]
fun anybody_executes_a_proposal_from_the_fourteenth_day_on() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(14 * DAY_MS);
    let upgraded;
    runner.tx!(STRANGER, |lock, clock, _| {
        let receipt = package::test_upgrade(lock.authorize(clock));
        upgraded = receipt.package();
        lock.commit(receipt);
    });
    let told = told<upgrade_lock::UpgradeExecuted>();
    let id = runner.lock_id();
    assert_eq!(told, vector[about(id), field(upgraded), field(2u64)].flatten());
    runner.tx!(STRANGER, |lock, _, _| assert!(lock.proposal().is_none()));
    runner.end();
}

#[test]
fun a_proposal_can_be_executed_until_the_twenty_first_day() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(21 * DAY_MS - 1);
    runner.execute(STRANGER);
    runner.end();
}

#[test]
fun a_second_upgrade_follows_the_first() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.execute(OWNER);
    runner.propose(OWNER);
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.execute(OWNER);
    let mut told = told<upgrade_lock::UpgradeExecuted>();
    let version = vector::tabulate!(8, |_| told.pop_back());
    // The last field, from its end.
    assert_eq!(version, vector[0, 0, 0, 0, 0, 0, 0, 3]);
    runner.end();
}

#[test]
fun a_void_proposal_gives_way_to_another() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(21 * DAY_MS);
    runner.propose_with(OWNER, digest(3), SOURCES);
    runner.tx!(STRANGER, |lock, _, _| {
        assert_eq!(lock.proposal().destroy_some().digest(), digest(3));
    });
    runner.end();
}

#[test]
fun a_cancelled_proposal_gives_way_to_another_with_a_notice_of_its_own() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(13 * DAY_MS);
    runner.tx!(OWNER, |lock, _, ctx| lock.cancel(ctx));
    let told = told<upgrade_lock::UpgradeCancelled>();
    let id = runner.lock_id();
    assert_eq!(told, vector[about(id), field(digest(2))].flatten());
    runner.propose(OWNER);
    runner.tx!(STRANGER, |lock, _, _| {
        let proposal = lock.proposal().destroy_some();
        assert_eq!(proposal.executable_at_ms(), START_MS + 27 * DAY_MS);
    });
    runner.end();
}

#[test]
fun an_immutable_package_keeps_its_lock_as_a_proof() {
    let mut runner = proposed();
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    let told = told<upgrade_lock::PackageMadeImmutable>();
    let id = runner.lock_id();
    assert_eq!(told, about(id));
    runner.tx!(STRANGER, |lock, _, _| {
        assert!(lock.is_immutable());
        assert!(lock.proposal().is_none());
    });
    runner.end();
}

#[test]
fun an_owner_hands_over_what_another_accepts() {
    let mut runner = proposed();
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(BUYER, ctx));
    let offered = told<upgrade_lock::OwnerOffered>();
    runner.tx!(BUYER, |lock, _, ctx| lock.accept(ctx));
    let changed = told<upgrade_lock::OwnerChanged>();
    let id = runner.lock_id();
    assert_eq!(offered, vector[about(id), field(BUYER)].flatten());
    assert_eq!(changed, vector[about(id), field(OWNER), field(BUYER)].flatten());
    runner.tx!(BUYER, |lock, _, ctx| {
        assert_eq!(lock.owner(), BUYER);
        assert!(lock.offered().is_none());
        assert!(lock.proposal().is_some());
        lock.cancel(ctx);
    });
    runner.end();
}

#[test]
fun a_restricted_cap_stays_restricted() {
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

// === What is refused ===

#[test, expected_failure(abort_code = upgrade_lock::EAlreadyUpgraded)]
fun a_package_that_was_upgraded_is_not_locked() {
    let mut runner = start();
    let mut cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    let ticket = cap.authorize(package::compatible_policy(), digest(2));
    cap.commit(package::test_upgrade(ticket));
    runner.lock(cap);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EUpgrading)]
fun a_package_is_not_locked_in_the_middle_of_an_upgrade() {
    let mut runner = start();
    let mut cap = package::test_publish(PACKAGE.to_id(), runner.scenario.ctx());
    let ticket = cap.authorize(package::compatible_policy(), digest(2));
    runner.lock(cap);
    runner.tx!(OWNER, |lock, _, _| lock.commit(package::test_upgrade(ticket)));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun a_stranger_proposes_nothing() {
    let mut runner = locked();
    runner.propose(STRANGER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun a_stranger_cancels_nothing() {
    let mut runner = proposed();
    runner.tx!(STRANGER, |lock, _, ctx| lock.cancel(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun a_stranger_makes_nothing_immutable() {
    let mut runner = locked();
    runner.tx!(STRANGER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun a_stranger_offers_nothing() {
    let mut runner = locked();
    runner.tx!(STRANGER, |lock, _, ctx| lock.offer(STRANGER, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOwner)]
fun a_former_owner_is_a_stranger() {
    let mut runner = locked();
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(BUYER, ctx));
    runner.tx!(BUYER, |lock, _, ctx| lock.accept(ctx));
    runner.propose(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOffered)]
fun what_was_not_offered_is_not_accepted() {
    let mut runner = locked();
    runner.tx!(STRANGER, |lock, _, ctx| lock.accept(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENotOffered)]
fun what_was_offered_to_another_since_is_not_accepted() {
    let mut runner = locked();
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(BUYER, ctx));
    runner.tx!(OWNER, |lock, _, ctx| lock.offer(OWNER, ctx));
    runner.tx!(BUYER, |lock, _, ctx| lock.accept(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EWrongDigest)]
fun a_digest_is_not_shorter() {
    let mut runner = locked();
    runner.propose_with(OWNER, b"short", SOURCES);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EWrongSources)]
fun sources_are_named() {
    let mut runner = locked();
    runner.propose_with(OWNER, digest(2), b"");
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EWrongSources)]
fun sources_are_not_named_in_more_than_500_bytes() {
    let mut runner = locked();
    runner.propose_with(OWNER, digest(2), vector::tabulate!(501, |_| 97));
    runner.end();
}

#[test]
fun sources_are_named_in_500_bytes() {
    let mut runner = locked();
    runner.propose_with(OWNER, digest(2), vector::tabulate!(500, |_| 97));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EProposed)]
fun a_proposal_is_not_exchanged_for_another_before_it_is_void() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(21 * DAY_MS - 1);
    runner.propose_with(OWNER, digest(3), SOURCES);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENothingProposed)]
fun nothing_is_cancelled_where_nothing_is_proposed() {
    let mut runner = locked();
    runner.tx!(OWNER, |lock, _, ctx| lock.cancel(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENothingProposed)]
fun nothing_is_executed_where_nothing_is_proposed() {
    let mut runner = locked();
    runner.execute(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ENothingProposed)]
fun a_proposal_is_executed_once() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.execute(STRANGER);
    runner.execute(STRANGER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::ETooEarly)]
fun a_proposal_is_not_executed_before_the_fourteenth_day() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(14 * DAY_MS - 1);
    runner.execute(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EVoid)]
fun a_proposal_is_not_executed_after_the_twenty_first_day() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(21 * DAY_MS);
    runner.execute(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EImmutable)]
fun nothing_is_proposed_for_an_immutable_package() {
    let mut runner = locked();
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.propose(OWNER);
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EImmutable)]
fun a_package_is_made_immutable_once() {
    let mut runner = locked();
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.tx!(OWNER, |lock, _, ctx| lock.make_immutable(ctx));
    runner.end();
}

#[test, expected_failure(abort_code = upgrade_lock::EImmutable)]
fun a_package_that_became_immutable_during_its_upgrade_is_not_upgraded() {
    let mut runner = proposed();
    runner.clock.increment_for_testing(14 * DAY_MS);
    runner.tx!(OWNER, |lock, clock, ctx| {
        let ticket = lock.authorize(clock);
        lock.make_immutable(ctx);
        lock.commit(package::test_upgrade(ticket));
    });
    runner.end();
}

#[test, expected_failure(abort_code = package::EWrongUpgradeCap)]
fun the_receipt_of_another_package_is_not_committed() {
    let mut runner = proposed();
    let mut other = package::test_publish(@0xD00D.to_id(), runner.scenario.ctx());
    let ticket = other.authorize(package::compatible_policy(), digest(2));
    runner.tx!(STRANGER, |lock, _, _| lock.commit(package::test_upgrade(ticket)));
    other.make_immutable();
    runner.end();
}
