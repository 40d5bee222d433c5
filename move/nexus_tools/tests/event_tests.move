/// Events are compared byte by byte with their fields in order: many of these have equal types, so
/// that a mix-up would not be noticed otherwise.
#[test_only]
module nexus_tools::event_tests;

use nexus_tools::admin::AdminCap;
use nexus_tools::invocation;
use nexus_tools::leader_registry::{Self, LeaderCap};
use nexus_tools::test_runner::{Self, Runner};
use nexus_tools::tool::{Self, OwnerCap};
use nexus_tools::tool_registry::{Self, ToolRegistry};
use nexus_tools::value;
use nexus_tools::version;
use std::bcs;
use std::unit_test::assert_eq;
use sui::event;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;

const ADD: vector<u8> = b"xyz.example.add@1";

const START_MS: u64 = 1_000_000;
const WEEK_MS: u64 = 604_800_000;
const NOTICE_MS: u64 = 259_200_000;

// === Tools ===

#[test]
fun registration() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD);
    let told = told<tool::ToolRegistered>();
    let (tool, owner_cap) = (runner.id_of(ADD), runner.id_of(b"xyz.example.add"));
    let fields = vector[
        field(tool),
        field(ADD),
        field(b"offchain"),
        field(owner_cap),
        field(b"https://tools.example.com/add"),
        field(b"Adds two integers."),
        field(10_000u64),
        field(5_000_000u64),
        field(ALICE),
        field(1_000_000_000u64),
        field(WEEK_MS),
        field(0u64),
        field(START_MS),
    ].flatten();
    assert_eq!(told, fields);
    runner.end();
}

#[test]
fun update() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.update_payout(cap, tools, BOB);
    });
    let told = told<tool::ToolUpdated>();
    let fields = vector[
        tool_fields(&runner),
        field(b"https://tools.example.com/add"),
        field(b"Adds two integers."),
        field(10_000u64),
        field(5_000_000u64),
        field(BOB),
    ].flatten();
    assert_eq!(told, fields);
    runner.end();
}

#[test]
fun unregistration_claim_and_return() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    let told_unregistered = told<tool::ToolUnregistered>();
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    let told_claimed = told<tool::ToolCollateralClaimed>();
    runner.re_register(ALICE, ADD);
    let told_re_registered = told<tool::ToolReRegistered>();

    let fields = vector[
        tool_fields(&runner),
        field(START_MS),
        field(START_MS + WEEK_MS),
    ].flatten();
    assert_eq!(told_unregistered, fields);

    let fields = vector[tool_fields(&runner), field(1_000_000_000u64), field(0u64)].flatten();
    assert_eq!(told_claimed, fields);

    let fields = vector[
        tool_fields(&runner),
        field(1_000_000_000u64),
        field(WEEK_MS),
        field(START_MS + WEEK_MS),
    ].flatten();
    assert_eq!(told_re_registered, fields);
    runner.end();
}

#[test]
fun cancelled_unregistration() {
    let mut runner = alice_with_add();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, clock, _| {
        tool.unregister(cap, clock);
        tool.cancel_unregister(cap, tools);
    });
    assert_eq!(told<tool::ToolUnregisterCancelled>(), tool_fields(&runner));
    runner.end();
}

#[test]
fun slash_and_top_up() {
    let mut runner = alice_with_add();
    runner.propose_slash(ADD, 200);
    let told_proposed = told<tool::ToolSlashProposed>();
    runner.tool_tx!<AdminCap>(ADMIN, ADD, |tool, cap, _, clock, _| tool.cancel_slash(cap, clock));
    let told_cancelled = told<tool::ToolSlashCancelled>();
    runner.propose_slash(ADD, 300);
    runner.advance(NOTICE_MS);
    runner.tool_tx!<AdminCap>(ADMIN, ADD, |tool, cap, tools, clock, ctx| {
        tool.execute_slash(cap, tools, clock, ctx);
    });
    let told_slashed = told<tool::ToolSlashed>();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, ctx| {
        tool.top_up(cap, tools, test_runner::mint(300, ctx));
    });
    let told_topped_up = told<tool::ToolToppedUp>();

    let fields = vector[
        tool_fields(&runner),
        field(200u64),
        field(b"It lied."),
        field(test_runner::evidence()),
        field(START_MS + NOTICE_MS),
        field(START_MS + NOTICE_MS + WEEK_MS),
    ].flatten();
    assert_eq!(told_proposed, fields);

    let fields = vector[tool_fields(&runner), field(200u64)].flatten();
    assert_eq!(told_cancelled, fields);

    let fields = vector[
        tool_fields(&runner),
        field(300u64),
        field(999_999_700u64),
        field(b"It lied."),
        field(test_runner::evidence()),
    ].flatten();
    assert_eq!(told_slashed, fields);

    let fields = vector[tool_fields(&runner), field(300u64)].flatten();
    assert_eq!(told_topped_up, fields);
    runner.end();
}

#[test]
fun operator_issued_and_revoked() {
    let mut runner = alice_with_add();
    let operator_cap;
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, ctx| {
        let issued = tool.issue_operator_cap(cap, tools, ctx);
        operator_cap = object::id(&issued);
        transfer::public_transfer(issued, BOB);
    });
    let told_issued = told<tool::ToolOperatorChanged>();
    runner.tool_tx!<OwnerCap>(ALICE, ADD, |tool, cap, tools, _, _| {
        tool.revoke_operator_cap(cap, operator_cap);
    });
    let told_revoked = told<tool::ToolOperatorChanged>();

    let fields = vector[tool_fields(&runner), field(operator_cap), field(true)].flatten();
    assert_eq!(told_issued, fields);
    let fields = vector[tool_fields(&runner), field(operator_cap), field(false)].flatten();
    assert_eq!(told_revoked, fields);
    runner.end();
}

#[test]
fun tool_settings() {
    let mut runner = test_runner::start();
    let scenario = runner.next_tx(ADMIN);
    let cap = scenario.take_from_sender<AdminCap>();
    let mut tools = scenario.take_shared<ToolRegistry>();
    tools.configure(&cap, false, 200_000_000, 3_600_000, 1_001, 1_002, 5);
    let numbers = vector[200_000_000u64, 3_600_000, 1_001, 1_002, 5];
    let fields = vector[field(false), numbers.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(told<tool_registry::ToolSettingsChanged>(), fields);
    test_scenario::return_shared(tools);
    scenario.return_to_sender(cap);
    runner.end();
}

// === Leaders ===

#[test]
fun leader_from_registration_to_claim() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    let told_registered = told<leader_registry::LeaderRegistered>();
    let told_active = told<leader_registry::LeaderActivityChanged>();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, _| {
        leaders.unregister(cap, clock);
        leaders.cancel_unregister(cap);
    });
    let told_inactive = told<leader_registry::LeaderActivityChanged>();
    let told_unregistered = told<leader_registry::LeaderUnregistered>();
    let told_cancelled = told<leader_registry::LeaderUnregisterCancelled>();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, _| leaders.unregister(cap, clock));
    runner.advance(WEEK_MS);
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, clock, ctx| {
        leaders.claim(cap, clock, ctx).burn_for_testing();
    });
    let told_claimed = told<leader_registry::LeaderCollateralClaimed>();

    let fields = vector[
        field(leader),
        field(b"leader"),
        field(10_000_000_000u64),
        field(WEEK_MS),
    ].flatten();
    assert_eq!(told_registered, fields);

    let fields = vector[field(leader), field(true)].flatten();
    assert_eq!(told_active, fields);

    let fields = vector[field(leader), field(false)].flatten();
    assert_eq!(told_inactive, fields);

    let fields = vector[field(leader), field(START_MS + WEEK_MS)].flatten();
    assert_eq!(told_unregistered, fields);

    assert_eq!(told_cancelled, field(leader));

    let fields = vector[field(leader), field(10_000_000_000u64), field(0u64)].flatten();
    assert_eq!(told_claimed, fields);
    runner.end();
}

#[test]
fun leader_slashed_and_topped_up() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.propose_leader_slash(leader, 200);
    let told_proposed = told<leader_registry::LeaderSlashProposed>();
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, _| {
        leaders.cancel_slash(cap, leader, clock);
    });
    let told_cancelled = told<leader_registry::LeaderSlashCancelled>();
    runner.propose_leader_slash(leader, 300);
    runner.advance(NOTICE_MS);
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, ctx| {
        leaders.execute_slash(cap, leader, clock, ctx);
    });
    let told_slashed = told<leader_registry::LeaderSlashed>();
    runner.leader_tx!<LeaderCap>(LEE, |leaders, cap, _, ctx| {
        leaders.top_up(cap, test_runner::mint(300, ctx));
    });
    let told_topped_up = told<leader_registry::LeaderToppedUp>();

    let fields = vector[
        field(leader),
        field(200u64),
        field(b"It lied."),
        field(test_runner::evidence()),
        field(START_MS + NOTICE_MS),
        field(START_MS + NOTICE_MS + WEEK_MS),
    ].flatten();
    assert_eq!(told_proposed, fields);

    let fields = vector[field(leader), field(200u64)].flatten();
    assert_eq!(told_cancelled, fields);

    let fields = vector[
        field(leader),
        field(300u64),
        field(9_999_999_700u64),
        field(b"It lied."),
        field(test_runner::evidence()),
    ].flatten();
    assert_eq!(told_slashed, fields);

    let fields = vector[field(leader), field(300u64)].flatten();
    assert_eq!(told_topped_up, fields);
    runner.end();
}

#[test]
fun leader_settings_and_admission() {
    let mut runner = test_runner::start();
    let admitted = option::some(vector[LEE]);
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| {
        leaders.configure(cap, false, 200_000_000, 3_600_000, 7, 6, 5, 4, 5_003, 2);
        leaders.admit(cap, admitted);
    });
    let numbers = vector[200_000_000u64, 3_600_000, 7, 6, 5, 4, 5_003, 2];
    let fields = vector[field(false), numbers.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(told<leader_registry::LeaderSettingsChanged>(), fields);
    assert_eq!(told<leader_registry::LeaderAdmissionChanged>(), field(admitted));
    runner.end();
}

// === Invocations ===

#[test]
fun request_and_settlement() {
    let mut runner = alice_with_add();
    let leader = runner.register_leader(LEE);
    let invocation = runner.request(BOB, ADD);
    let told_requested = told<invocation::InvocationRequested>();
    runner.invocation_tx!(LEE, invocation, |invocation, cap, leaders, clock, ctx| {
        let (variant, ports) = (b"ok".to_ascii_string(), value::ports(vector[], vector[]));
        invocation.settle(cap, leaders, variant, ports, clock, ctx).burn_for_testing();
    });
    let told_settled = told<invocation::InvocationSettled>();

    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(vector[leader]),
        field(START_MS),
        field(10_000u64),
        field(START_MS + 25_000),
        field(5_000_000u64),
        field(9_801_300u64),
        field(100u64),
    ].flatten();
    assert_eq!(told_requested, fields);

    // The answer has 3 bytes: 2 for the variant and 1 for the count of its ports.
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(leader),
        field(b"ok"),
        field(START_MS),
        field(ALICE),
        field(5_000_000u64),
        field(4_025_300u64),
        field(776_000u64),
    ].flatten();
    assert_eq!(told_settled, fields);
    runner.end();
}

#[test]
fun failure() {
    let mut runner = alice_with_add();
    let leader = runner.register_leader(LEE);
    let invocation = runner.request(BOB, ADD);
    runner.invocation_tx!(LEE, invocation, |invocation, cap, leaders, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"5 s".to_string());
        invocation.fail(cap, leaders, reason, detail, clock, ctx).burn_for_testing();
    });
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(leader),
        field(b"timed_out"),
        field(b"5 s"),
        field(START_MS),
        field(2_025_300u64),
        field(7_776_000u64),
    ].flatten();
    assert_eq!(told<invocation::InvocationFailed>(), fields);
    runner.end();
}

#[test]
fun expiry() {
    let mut runner = alice_with_add();
    let leader = runner.register_leader(LEE);
    let invocation = runner.request(BOB, ADD);
    runner.advance(25_000);
    runner.expire(invocation);
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(vector[leader]),
        field(9_801_300u64),
    ].flatten();
    assert_eq!(told<invocation::InvocationExpired>(), fields);
    runner.end();
}

#[test]
fun deletion() {
    let mut runner = alice_with_add();
    runner.register_leader(LEE);
    let invocation = runner.request(BOB, ADD);
    runner.advance(25_000);
    runner.expire(invocation);
    runner.delete(BOB, invocation);
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(9_801_300u64),
    ].flatten();
    assert_eq!(told<invocation::InvocationDeleted>(), fields);
    runner.end();
}

// === Upgrades ===

#[test]
fun migration_of_tools() {
    let mut runner = test_runner::start();
    let cap = runner.next_tx(ADMIN).take_from_sender<AdminCap>();
    let registry;
    runner.tx!(ADMIN, |tools, _, _, _| {
        registry = object::id(tools);
        tools.set_version_for_testing(0);
        tools.migrate(&cap);
    });
    transfer::public_transfer(cap, ADMIN);
    assert_eq!(told<version::RegistryMigrated>(), vector[field(registry), field(1u64)].flatten());
    runner.end();
}

#[test]
fun migration_of_leaders() {
    let mut runner = test_runner::start();
    let registry;
    runner.leader_tx!<AdminCap>(ADMIN, |leaders, cap, _, _| {
        registry = object::id(leaders);
        leaders.set_version_for_testing(0);
        leaders.migrate(cap);
    });
    assert_eq!(told<version::RegistryMigrated>(), vector[field(registry), field(1u64)].flatten());
    runner.end();
}

// === Helpers ===

fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD);
    runner
}

/// The bytes of the one event of type `E` in this transaction.
fun told<E: copy + drop>(): vector<u8> {
    let events = event::events_by_type<E>();
    assert_eq!(events.length(), 1);
    bcs::to_bytes(&events[0])
}

fun field<T: drop>(value: T): vector<u8> { bcs::to_bytes(&value) }

/// The id and the FQN of `ADD`.
fun tool_fields(runner: &Runner): vector<u8> {
    vector[field(runner.id_of(ADD)), field(ADD)].flatten()
}
