/// Once the registries have a newer version, no function of this version changes anything, but for
/// those that lead out or take a right away.
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
fun register() {
    let mut runner = test_runner::start();
    upgrade(&mut runner);
    runner.register(ALICE, ADD, 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_version() {
    let (mut runner, _, _) = upgraded();
    runner.register_version(ALICE, b"xyz.example.add@2");
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun owner_of_a_tool() {
    let (mut runner, _, _) = upgraded();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, BOB, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun operator() {
    let (mut runner, _, _) = upgraded();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun propose_to_slash_a_tool() {
    let (mut runner, _, _) = upgraded();
    runner.propose_slash(ADD, 1);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun slash_a_tool() {
    let (mut runner, _, _) = upgraded();
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, tools, clock, ctx| {
        slashing::execute_for_tool(tool, admin, tools, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun configure_tools() {
    let (mut runner, _, _) = upgraded();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.configure(admin, true, 1, 1, 1, 1, 1, ctx);
    });
    runner.end();
}

// === Leaders ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_leader() {
    let mut runner = test_runner::start();
    upgrade(&mut runner);
    runner.tx!(LEE, |_, leaders, clock, ctx| {
        let (collateral, name) = (mint(10_000_000_000, ctx), b"".to_string());
        leader::register(leaders, collateral, WEEK_MS, name, vector[], clock, ctx).share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun owner_of_a_leader() {
    let (mut runner, _, lee) = upgraded();
    runner.leader_tx!(LEE, lee, |leader, leaders, _, ctx| leader.add_worker(leaders, BOB, ctx));
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun configure_leaders() {
    let (mut runner, _, _) = upgraded();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.configure(admin, true, 1, 1, 1, 1, 1, 1, 1, 1, 1, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun propose_to_slash_a_leader() {
    let (mut runner, _, lee) = upgraded();
    runner.propose_leader_slash(lee, 1);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun slash_a_leader() {
    let (mut runner, _, lee) = upgraded();
    runner.leader_admin_tx!(ADMIN, lee, |leader, admin, leaders, clock, ctx| {
        slashing::execute_for_leader(leader, admin, leaders, clock, ctx);
    });
    runner.end();
}

// === Invocations ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun request() {
    let (mut runner, _, lee) = upgraded();
    runner.request(BOB, ADD, vector[lee]);
    runner.end();
}

/// A registry says nothing of the version that an invocation was requested from.
#[test]
fun invocation_of_this_version_is_settled() {
    let (mut runner, id, lee) = upgraded();
    assert!(settle(&mut runner, id, lee));
    runner.end();
}

#[test]
fun invocation_of_this_version_fails() {
    let (mut runner, id, lee) = upgraded();
    assert!(fail(&mut runner, id, lee));
    runner.end();
}

#[test]
fun invocation_of_an_older_version_is_settled() {
    let (mut runner, id, lee) = requested_from(0);
    assert!(settle(&mut runner, id, lee));
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongVersion)]
fun invocation_of_a_newer_version_is_not_settled() {
    let (mut runner, id, lee) = requested_from(2);
    settle(&mut runner, id, lee);
    runner.end();
}

#[test, expected_failure(abort_code = invocation::EWrongVersion)]
fun invocation_of_a_newer_version_does_not_fail() {
    let (mut runner, id, lee) = requested_from(2);
    fail(&mut runner, id, lee);
    runner.end();
}

#[test]
fun invocation_of_a_newer_version_expires_and_is_deleted() {
    let (mut runner, id, _) = requested_from(2);
    runner.advance(25_000);
    runner.expire(id, BOB, 9_281_300);
    runner.delete(BOB, id);
    runner.end();
}

// === Migration ===

#[test, expected_failure(abort_code = version::EAlreadyMigrated)]
fun registry_of_a_newer_version_is_not_taken_back() {
    let (mut runner, _, _) = upgraded();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| tools.migrate(admin, ctx));
    runner.end();
}

// === Ways out ===

#[test]
fun tool_leaves() {
    let (mut runner, _, _) = upgraded();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), 1_000_000_000);
    runner.end();
}

#[test]
fun owner_of_a_tool_takes_rights_away() {
    let (mut runner, _, lee) = upgraded();
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
fun operator_takes_a_leader_off_the_list() {
    let (mut runner, _, lee) = upgraded();
    runner.tool_tx!(BOB, ADD, |tool, name, _, _, ctx| {
        tool.remove_leader(name, lee, ctx);
        assert!(!tool.accepts(lee));
    });
    runner.end();
}

#[test]
fun name_changes_hands() {
    let (mut runner, _, _) = upgraded();
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| {
        name.accept(ctx);
        assert_eq!(name.owner().owner(), BOB);
    });
    runner.end();
}

#[test]
fun leader_leaves() {
    let (mut runner, _, lee) = upgraded();
    runner.leader_tx!(LEE, lee, |leader, _, clock, ctx| {
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
    });
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim_leader(LEE, lee), 10_000_000_000);
    runner.end();
}

#[test]
fun owner_of_a_leader_takes_rights_away() {
    let (mut runner, _, lee) = upgraded();
    runner.leader_tx!(LEE, lee, |leader, _, _, ctx| {
        leader.remove_worker(LEE, ctx);
        leader.remove_key(key(2), ctx);
        assert!(!leader.is_worker(LEE));
        assert!(leader.keys().is_empty());
    });
    runner.end();
}

#[test]
fun leader_changes_hands() {
    let (mut runner, _, lee) = upgraded();
    runner.leader_tx!(LEE, lee, |leader, _, _, ctx| leader.offer(option::some(MAX), ctx));
    runner.leader_tx!(MAX, lee, |leader, _, _, ctx| {
        leader.accept(vector[MAX], ctx);
        assert_eq!(leader.owner().owner(), MAX);
    });
    runner.end();
}

#[test]
fun requester_gets_the_refund() {
    let (mut runner, id, _) = upgraded();
    runner.advance(25_000);
    runner.expire(id, BOB, 9_281_300);
    runner.delete(BOB, id);
    runner.end();
}

#[test]
fun proposed_slash_is_taken_back() {
    let (mut runner, _, lee) = everybody();
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

/// No setting locks anybody in either, however strict it is.
#[test]
fun everybody_leaves_while_nothing_is_accepted() {
    let (mut runner, id, lee) = everybody();
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

/// `everybody`, where the invocation was requested from another version of the package.
fun requested_from(version: u64): (Runner, ID, ID) {
    let (mut runner, id, lee) = everybody();
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

/// `everybody`, and then an upgrade.
fun upgraded(): (Runner, ID, ID) {
    let (mut runner, id, lee) = everybody();
    upgrade(&mut runner);
    (runner, id, lee)
}

/// Bob's invocation of Alice's tool by Lee's leader. Bob is an operator of the tool, which lists
/// two leaders; tool and leader have a key each.
fun everybody(): (Runner, ID, ID) {
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
