/// Once the registries have a newer version, no function of this version changes anything, but for
/// those that lead out.
#[test_only]
module nexus_tools::version_tests;

use nexus_tools::admin::AdminCap;
use nexus_tools::leader_registry::LeaderCap;
use nexus_tools::test_runner::{Self, Runner};
use nexus_tools::tool::OwnerCap;
use nexus_tools::value;
use nexus_tools::version;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";

const WEEK_MS: u64 = 604_800_000;

// === Tools ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register() {
    let mut runner = test_runner::start();
    upgrade(&mut runner);
    runner.register(ALICE, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_version() {
    let mut runner = upgraded();
    runner.register_version(ALICE, b"xyz.example.add@2");
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun owner() {
    let mut runner = upgraded();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_payout(cap, tools, BOB);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun operator() {
    let mut runner = upgraded();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_price(cap, tools, 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun propose_to_slash_a_tool() {
    let mut runner = upgraded();
    runner.propose_slash(ADD, 1);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun slash_a_tool() {
    let mut runner = upgraded();
    runner.tool_tx!<AdminCap>(ADMIN, ADD, |tool, cap, tools, clock, ctx| {
        tool.execute_slash(cap, tools, clock, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun configure_tools() {
    let mut runner = upgraded();
    let cap = runner.next_tx(ADMIN).take_from_sender<AdminCap>();
    runner.tx!(ADMIN, |tools, _, _, _| tools.configure(&cap, true, 1, 1, 1, 1, 1));
    transfer::public_transfer(cap, ADMIN);
    runner.end();
}

// === Leaders ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun register_leader() {
    let mut runner = test_runner::start();
    upgrade(&mut runner);
    runner.tx!(LEE, |_, leaders, _, ctx| {
        let collateral = test_runner::mint(10_000_000_000, ctx);
        transfer::public_transfer(leaders.register(collateral, 0, b"".to_string(), ctx), LEE);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun activate() {
    let mut runner = upgraded();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| leaders.activate(cap));
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun cancel_unregister_leader() {
    let mut runner = upgraded();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, _| leaders.cancel_unregister(cap));
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun top_up_leader() {
    let mut runner = upgraded();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, ctx| {
        leaders.top_up(cap, test_runner::mint(1, ctx));
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun configure_leaders() {
    let mut runner = upgraded();
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| {
        leaders.configure(cap, true, 1, 1, 1, 1, 1, 1, 1, 1);
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun admit() {
    let mut runner = upgraded();
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| leaders.admit(cap, option::none()));
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun propose_to_slash_a_leader() {
    let mut runner = upgraded();
    runner.propose_leader_slash(object::id_from_address(LEE), 1);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun slash_a_leader() {
    let mut runner = upgraded();
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, ctx| {
        leaders.execute_slash(cap, object::id_from_address(LEE), clock, ctx);
    });
    runner.end();
}

// === Invocations ===

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun request() {
    let mut runner = upgraded();
    runner.request(BOB, ADD);
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun settle() {
    let (mut runner, id) = upgraded_with_an_invocation();
    runner.invocation_tx!(LEE, id, |invocation, cap, leaders, clock, ctx| {
        let (variant, ports) = (b"ok".to_ascii_string(), value::ports(vector[], vector[]));
        invocation.settle(cap, leaders, variant, ports, clock, ctx).burn_for_testing();
    });
    runner.end();
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun fail() {
    let (mut runner, id) = upgraded_with_an_invocation();
    runner.invocation_tx!(LEE, id, |invocation, cap, leaders, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"".to_string());
        invocation.fail(cap, leaders, reason, detail, clock, ctx).burn_for_testing();
    });
    runner.end();
}

// === Ways out ===

#[test]
fun tool_leaves() {
    let (mut runner, _) = alice_lee_and_bobs_invocation();
    let operator_cap;
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, ctx| {
        let issued = tool.issue_operator_cap(cap, tools, ctx);
        operator_cap = object::id(&issued);
        transfer::public_transfer(issued, BOB);
    });
    upgrade(&mut runner);
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, _, _, _| {
        tool.revoke_operator_cap(cap, operator_cap);
    });
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS);
    assert_eq!(runner.claim(ALICE, ADD), 1_000_000_000);
    runner.end();
}

#[test]
fun leader_leaves() {
    let mut runner = upgraded();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, _| {
        leaders.deactivate(cap);
        leaders.unregister(cap, clock);
    });
    runner.advance(WEEK_MS);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, ctx| {
        assert_eq!(leaders.claim(cap, clock, ctx).burn_for_testing(), 10_000_000_000);
    });
    runner.end();
}

#[test]
fun requester_gets_the_refund() {
    let (mut runner, id) = upgraded_with_an_invocation();
    runner.advance(25_000);
    runner.expire(id);
    assert_eq!(runner.delete(BOB, id), 9_801_300);
    runner.end();
}

#[test]
fun proposed_slash_is_taken_back() {
    let (mut runner, _) = alice_lee_and_bobs_invocation();
    let leader;
    runner.leader_tx!<LeaderCap>(LEE, |_, cap, _, _| leader = object::id(cap));
    runner.propose_slash(ADD, 1);
    runner.propose_leader_slash(leader, 1);
    upgrade(&mut runner);
    runner.tool_tx!<AdminCap>(ADMIN, ADD, |tool, cap, _, clock, _| tool.cancel_slash(cap, clock));
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, _| {
        leaders.cancel_slash(cap, leader, clock);
    });
    runner.end();
}

// === Helpers ===

fun upgrade(runner: &mut Runner) {
    runner.tx!(ADMIN, |tools, leaders, _, _| {
        tools.set_version_for_testing(2);
        leaders.set_version_for_testing(2);
    });
}

/// Alice's tool and Lee's leader, and then an upgrade.
fun upgraded(): Runner {
    let (runner, _) = upgraded_with_an_invocation();
    runner
}

/// Alice's tool, Lee's leader and Bob's invocation, and then an upgrade.
fun upgraded_with_an_invocation(): (Runner, ID) {
    let (mut runner, id) = alice_lee_and_bobs_invocation();
    upgrade(&mut runner);
    (runner, id)
}

fun alice_lee_and_bobs_invocation(): (Runner, ID) {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD);
    runner.register_leader(LEE);
    let id = runner.request(BOB, ADD);
    (runner, id)
}
