/// Tests after the registries were migrated to a newer version. Then only exit paths and functions
/// that remove a right still have an effect in this version.
#[test_only]
module nexus_tools::version_tests;

use nexus_tools::invocation;
use nexus_tools::leader;
use nexus_tools::slashing;
use nexus_tools::test_runner::{Self, Runner, key, mint};
use nexus_tools::tool::Tool;
use nexus_tools::value;
use nexus_tools::version;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";

const WEEK_MS: u64 = 604_800_000;

// === Tools ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_aborts_for_a_newer_registry() {
    let mut runner = test_runner::start();
    upgrade(&mut runner);
    runner.register(ALICE, ADD, 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_version_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.register_version(ALICE, b"xyz.example.add@2");
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun update_of_a_tool_by_its_owner_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, BOB, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun update_of_a_tool_by_an_operator_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun propose_for_tool_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.propose_slash(ADD, 1);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun execute_for_tool_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, tools, clock, ctx| {
        slashing::execute_for_tool(tool, admin, tools, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun configure_of_tools_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.configure(admin, true, 1, 1, 1, 1, 1, ctx);
    });
    runner.end();
}

// === Leaders ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_of_a_leader_aborts_for_a_newer_registry() {
    let mut runner = test_runner::start();
    upgrade(&mut runner);
    runner.tx!(LEE, |_, leaders, clock, ctx| {
        let (collateral, name) = (mint(10_000_000_000, ctx), b"".to_string());
        leader::register(leaders, collateral, WEEK_MS, name, vector[], clock, ctx).share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun update_of_a_leader_aborts_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.leader_tx!(LEE, lee, |leader, leaders, _, ctx| leader.add_worker(leaders, BOB, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun configure_of_leaders_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.configure(admin, true, 1, 1, 1, 1, 1, 1, 1, 1, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun propose_for_leader_aborts_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.propose_leader_slash(lee, 1);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun execute_for_leader_aborts_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.leader_admin_tx!(ADMIN, lee, |leader, admin, leaders, clock, ctx| {
        slashing::execute_for_leader(leader, admin, leaders, clock, ctx);
    });
    runner.end();
}

// === Invocations ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun request_aborts_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

/// The version of a registry does not affect existing invocations.
#[test]
fun settle_works_for_a_request_of_this_version() {
    let (mut runner, id, lee) = register_all_and_upgrade();
    assert!(settle(&mut runner, id, lee));
    runner.end();
}

#[test]
fun fail_works_for_a_request_of_this_version() {
    let (mut runner, id, lee) = register_all_and_upgrade();
    assert!(fail(&mut runner, id, lee));
    runner.end();
}

#[test]
fun settle_works_for_a_request_of_an_older_version() {
    let (mut runner, id, lee) = register_all_with_request_from(0);
    assert!(settle(&mut runner, id, lee));
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongVersion)]
fun settle_aborts_for_a_request_of_a_newer_version() {
    let (mut runner, id, lee) = register_all_with_request_from(2);
    settle(&mut runner, id, lee);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongVersion)]
fun fail_aborts_for_a_request_of_a_newer_version() {
    let (mut runner, id, lee) = register_all_with_request_from(2);
    fail(&mut runner, id, lee);
    runner.end();
}

#[test]
fun expire_and_delete_work_for_a_request_of_a_newer_version() {
    let (mut runner, id, _) = register_all_with_request_from(2);
    runner.advance(25_000);
    runner.expire(id, BOB, 9_281_300);
    runner.delete(BOB, id);
    runner.end();
}

// === Migration ===

#[test, expected_failure(abort_code = version::EAlreadyMigrated)]
fun migrate_aborts_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| tools.migrate(admin, ctx));
    runner.end();
}

// === Exit paths ===

#[test]
fun exit_paths_of_a_tool_work_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), 1_000_000_000);
    runner.end();
}

#[test]
fun removals_from_a_tool_work_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_operator(name, BOB, ctx);
        tool.remove_key(name, key(1), ctx);
        tool.remove_leader(name, lee, ctx);
        assert!(tool.keys().is_empty());
        assert!(!tool.accepts(lee));
    });
    runner.end();
}

#[test]
fun remove_leader_by_an_operator_works_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.tool_tx!(BOB, ADD, |tool, name, _, _, ctx| {
        tool.remove_leader(name, lee, ctx);
        assert!(!tool.accepts(lee));
    });
    runner.end();
}

#[test]
fun offer_and_accept_of_a_name_work_for_a_newer_registry() {
    let (mut runner, _, _) = register_all_and_upgrade();
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| {
        name.accept(ctx);
        assert_eq!(name.owner().owner(), BOB);
    });
    runner.end();
}

#[test]
fun exit_paths_of_a_leader_work_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.leader_tx!(LEE, lee, |leader, _, clock, ctx| {
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
    });
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim_leader(LEE, lee), 10_000_000_000);
    runner.end();
}

#[test]
fun removals_from_a_leader_work_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.leader_tx!(LEE, lee, |leader, _, _, ctx| {
        leader.remove_worker(LEE, ctx);
        leader.remove_key(key(2), ctx);
        assert!(!leader.is_worker(LEE));
        assert!(leader.keys().is_empty());
    });
    runner.end();
}

#[test]
fun offer_and_accept_of_a_leader_work_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all_and_upgrade();
    runner.leader_tx!(LEE, lee, |leader, _, _, ctx| leader.offer(option::some(MAX), ctx));
    runner.leader_tx!(MAX, lee, |leader, _, _, ctx| {
        leader.accept(vector[MAX], ctx);
        assert_eq!(leader.owner().owner(), MAX);
    });
    runner.end();
}

#[test]
fun expire_refunds_the_requester_for_a_newer_registry() {
    let (mut runner, id, _) = register_all_and_upgrade();
    runner.advance(25_000);
    runner.expire(id, BOB, 9_281_300);
    runner.delete(BOB, id);
    runner.end();
}

#[test]
fun cancel_slash_works_for_a_newer_registry() {
    let (mut runner, _, lee) = register_all();
    runner.propose_slash(ADD, 1);
    runner.propose_leader_slash(lee, 1);
    upgrade(&mut runner);
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, _, clock, ctx| {
        slashing::cancel_for_tool(tool, admin, clock, ctx);
        assert!(!tool.collateral().has_pending_slash(clock));
    });
    runner.leader_admin_tx!(ADMIN, lee, |leader, admin, _, clock, ctx| {
        slashing::cancel_for_leader(leader, admin, clock, ctx);
        assert!(!leader.collateral().has_pending_slash(clock));
    });
    runner.end();
}

/// Exit paths also work under the strictest settings.
#[test]
fun exit_paths_work_while_the_registries_accept_nothing() {
    let (mut runner, id, lee) = register_all();
    runner.admin_tx!(ADMIN, |admin, tools, leaders, _, ctx| {
        tools.configure(admin, false, 1_000_000_000_000, WEEK_MS, 1_000, 1_000, 0, ctx);
        let (most_mist, no_bytes) = (1_000_000_000_000, 0);
        leaders.configure(admin, false, most_mist, WEEK_MS, 0, 0, 0, 0, 0, 5_000, no_bytes, ctx);
    });
    runner.unregister(ALICE, ADD);
    runner.leader_tx!(LEE, lee, |leader, _, clock, ctx| {
        leader.remove_key(key(2), ctx);
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
    });
    runner.advance(WEEK_MS);
    runner.expire(id, BOB, 9_281_300);
    runner.delete(BOB, id);
    assert_eq!(runner.claim(ALICE, ADD), 1_000_000_000);
    assert_eq!(runner.claim_leader(LEE, lee), 10_000_000_000);
    let add = runner.id_of(ADD);
    let tool = runner.next_tx(ALICE).take_shared_by_id<Tool>(add);
    assert!(tool.collateral().is_claimed());
    test_scenario::return_shared(tool);
    runner.end();
}

// === Helpers ===

fun settle(runner: &mut Runner, id: ID, lee: ID): bool {
    let mut settled = false;
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        let (variant, ports) = (b"ok".to_ascii_string(), value::ports(vector[], vector[]));
        settled = invocation.settle(leader, variant, ports, clock, ctx);
    });
    settled
}

fun fail(runner: &mut Runner, id: ID, lee: ID): bool {
    let mut failed = false;
    runner.invocation_tx!(LEE, id, lee, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"".to_string());
        failed = invocation.fail(leader, reason, detail, clock, ctx);
    });
    failed
}

/// Register like `register_all`, with an invocation that package version `version` requested.
fun register_all_with_request_from(version: u64): (Runner, ID, ID) {
    let (mut runner, id, lee) = register_all();
    runner.invocation_tx!(LEE, id, lee, |invocation, _, _, _| {
        invocation.set_version_for_testing(version);
    });
    (runner, id, lee)
}

fun upgrade(runner: &mut Runner) {
    runner.tx!(ADMIN, |tools, leaders, _, _| {
        tools.set_version_for_testing(2);
        leaders.set_version_for_testing(2);
    });
}

/// Register like `register_all`, and then migrate the registries to a newer version.
fun register_all_and_upgrade(): (Runner, ID, ID) {
    let (mut runner, id, lee) = register_all();
    upgrade(&mut runner);
    (runner, id, lee)
}

/// Request an invocation of Alice's tool by Lee's leader, as Bob. Bob is an operator of the tool,
/// which lists two leaders. The tool and the leader each have a key.
fun register_all(): (Runner, ID, ID) {
    let mut runner = test_runner::start();
    let lee = runner.register_leader(LEE);
    runner.register(ALICE, ADD, 5_000_000, vector[lee, @0x2EAD.to_id()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, BOB, ctx);
        tool.add_key(name, tools, key(1), ctx);
    });
    runner.leader_tx!(LEE, lee, |leader, leaders, _, ctx| leader.add_key(leaders, key(2), ctx));
    let id = runner.request(BOB, ADD, vector[lee]);
    (runner, id, lee)
}
