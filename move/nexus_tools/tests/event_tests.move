/// Events are compared byte by byte with their fields in order: many of these have equal types, so
/// that a mix-up would not be noticed otherwise.
#[test_only]
module nexus_tools::event_tests;

use nexus_tools::admin::Admin;
use nexus_tools::collateral;
use nexus_tools::invocation;
use nexus_tools::leader;
use nexus_tools::leader_registry;
use nexus_tools::owner;
use nexus_tools::slashing;
use nexus_tools::test_runner::{Self, Runner, field, key, mint, port, told};
use nexus_tools::tool;
use nexus_tools::tool_registry;
use nexus_tools::version;
use std::unit_test::assert_eq;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";
const ADD_NAME: vector<u8> = b"xyz.example.add";

const START_MS: u64 = 1_000_000;
const WEEK_MS: u64 = 604_800_000;
const NOTICE_MS: u64 = 259_200_000;
const DAY_MS: u64 = 86_400_000;

// === Tools ===

#[test]
fun registration_of_a_tool() {
    let mut runner = test_runner::start();
    let leaders = vector[@0x1EAD.to_id(), @0x2EAD.to_id()];
    runner.register(ALICE, b"xyz.example.mul@1", 0, vector[]);
    runner.register(ALICE, ADD, 5_000_000, leaders);
    let (told_registered, told_locked) = (
        told<tool::ToolRegistered>(),
        told<collateral::CollateralLocked>(),
    );

    let fields = vector[
        tool_fields(&runner),
        field(b"offchain"),
        field(runner.id_of(ADD_NAME)),
        field(ALICE),
        field(b"https://tools.example.com/add"),
        field(b"Adds two integers."),
        field(10_000u64),
        field(5_000_000u64),
        field(ALICE),
        field(leaders),
        field(1u64),
        field(START_MS),
        // It is not on chain.
        x"00",
    ].flatten();
    assert_eq!(told_registered, fields);

    let fields = vector[
        field(runner.id_of(ADD)),
        field(1_000_000_000u64),
        field(WEEK_MS),
        field(START_MS),
    ].flatten();
    assert_eq!(told_locked, fields);
    runner.end();
}

#[test]
fun updates_of_a_tool() {
    let mut runner = alice_with_add();
    let mut told_updates = vector[];
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, BOB, ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, b"https://a.example".to_ascii_string(), ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_description(name, tools, b"Adds.".to_string(), ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 20_000, ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 6_000_000, ctx);
    });
    told_updates.push_back(told<tool::ToolUpdated>());

    let (url, text) = (b"https://tools.example.com/add", b"Adds two integers.");
    let (new_url, new_text) = (b"https://a.example", b"Adds.");
    let expected = vector[
        updated(&runner, url, text, vector[10_000, 5_000_000], 0, false, 1),
        updated(&runner, url, text, vector[10_000, 5_000_000], 7, false, 2),
        updated(&runner, url, text, vector[10_000, 5_000_000], 7, true, 3),
        updated(&runner, new_url, text, vector[10_000, 5_000_000], 7, true, 4),
        updated(&runner, new_url, new_text, vector[10_000, 5_000_000], 7, true, 5),
        updated(&runner, new_url, new_text, vector[20_000, 5_000_000], 7, true, 6),
        updated(&runner, new_url, new_text, vector[20_000, 6_000_000], 7, true, 7),
    ];
    assert_eq!(told_updates, expected);
    runner.end();
}

#[test]
fun operators_leaders_and_keys_of_a_tool() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, BOB, ctx);
        tool.add_leader(name, tools, @0x2EAD.to_id(), ctx);
        tool.add_key(name, tools, key(1), ctx);
    });
    let told_added = vector[
        told<tool::ToolOperatorChanged>(),
        told<tool::ToolLeaderChanged>(),
        told<tool::ToolKeyChanged>(),
    ];
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_operator(name, BOB, ctx);
        tool.remove_leader(name, @0x2EAD.to_id(), ctx);
        tool.remove_key(name, key(1), ctx);
    });
    let told_removed = vector[
        told<tool::ToolOperatorChanged>(),
        told<tool::ToolLeaderChanged>(),
        told<tool::ToolKeyChanged>(),
    ];

    let tool_fields = tool_fields(&runner);
    let changed = vector[field(BOB), field(@0x2EAD), field(key(1))];
    let added = changed.map_ref!(|each| vector[tool_fields, *each, field(true)].flatten());
    assert_eq!(told_added, added);
    let removed = changed.map_ref!(|each| vector[tool_fields, *each, field(false)].flatten());
    assert_eq!(told_removed, removed);
    runner.end();
}

#[test]
fun tool_opened() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[@0x1EAD.to_id()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| tool.open_to_all(name, tools, ctx));
    assert_eq!(told<tool::ToolOpened>(), tool_fields(&runner));
    runner.end();
}

#[test]
fun tool_taken_over() {
    let mut runner = alice_with_add();
    let leaders = vector[@0x3EAD.to_id(), @0x2EAD.to_id()];
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        name.accept(ctx);
        tool.take_over(name, tools, leaders, ctx);
    });
    let (url, text) = (b"https://tools.example.com/add", b"Adds two integers.");
    let fields = vector[tool_fields(&runner), field(BOB), field(leaders)].flatten();
    assert_eq!(told<tool::ToolTakenOver>(), fields);
    let fields = updated(&runner, url, text, vector[10_000, 5_000_000], 0, false, 1);
    assert_eq!(told<tool::ToolUpdated>(), fields);
    runner.end();
}

#[test]
fun tool_settings() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.configure(admin, false, 200_000_000, 3_600_000, 1_001, 1_002, 5, ctx);
    });
    let numbers = vector[200_000_000u64, 3_600_000, 1_001, 1_002, 5];
    let fields = vector[field(false), numbers.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(told<tool_registry::ToolSettingsChanged>(), fields);
    runner.end();
}

// === Collateral ===

#[test]
fun unregistration_claim_and_return() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    let told_unregistered = told<collateral::Unregistered>();
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    let told_claimed = told<collateral::CollateralClaimed>();
    runner.re_register(ALICE, ADD);
    let told_locked = told<collateral::CollateralLocked>();

    let tool = field(runner.id_of(ADD));
    let fields = vector[tool, field(START_MS), field(START_MS + WEEK_MS)].flatten();
    assert_eq!(told_unregistered, fields);
    assert_eq!(told_claimed, vector[tool, field(1_000_000_000u64), field(0u64)].flatten());
    let terms = vector[1_000_000_000u64, WEEK_MS, START_MS + WEEK_MS];
    let fields = vector[tool, terms.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(told_locked, fields);
    runner.end();
}

#[test]
fun part_that_is_claimed() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.propose_slash(ADD, 200);
    runner.advance(1);
    runner.claim(ALICE, ADD);
    let told_claimed = told<collateral::CollateralClaimed>();
    let fields = vector[field(runner.id_of(ADD)), field(999_999_800u64), field(200u64)].flatten();
    assert_eq!(told_claimed, fields);
    runner.end();
}

#[test]
fun cancelled_unregistration() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, clock, ctx| {
        tool.unregister(name, clock, ctx);
        tool.cancel_unregister(name, tools, ctx);
    });
    assert_eq!(told<collateral::UnregisterCancelled>(), field(runner.id_of(ADD)));
    runner.end();
}

#[test]
fun slash_and_top_up_of_a_tool() {
    let mut runner = alice_with_add();
    let mut told_of_slashes = vector[];
    runner.propose_slash(ADD, 200);
    told_of_slashes.push_back(told<collateral::SlashProposed>());
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, _, clock, ctx| {
        slashing::cancel_for_tool(tool, admin, clock, ctx);
    });
    told_of_slashes.push_back(told<collateral::SlashCancelled>());
    runner.slash(ADD, 300);
    told_of_slashes.push_back(told<collateral::Slashed>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.top_up(name, tools, mint(300, ctx), ctx);
    });
    told_of_slashes.push_back(told<collateral::CollateralToppedUp>());
    let expected = slash_fields(runner.id_of(ADD), 999_999_700);
    assert_eq!(told_of_slashes, expected);
    runner.end();
}

#[test]
fun slash_and_top_up_of_a_leader() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    let mut told_of_slashes = vector[];
    runner.propose_leader_slash(leader, 200);
    told_of_slashes.push_back(told<collateral::SlashProposed>());
    runner.leader_admin_tx!(ADMIN, leader, |leader, admin, _, clock, ctx| {
        slashing::cancel_for_leader(leader, admin, clock, ctx);
    });
    told_of_slashes.push_back(told<collateral::SlashCancelled>());
    runner.slash_leader(leader, 300);
    told_of_slashes.push_back(told<collateral::Slashed>());
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.top_up(leaders, mint(300, ctx), ctx);
    });
    told_of_slashes.push_back(told<collateral::CollateralToppedUp>());
    assert_eq!(told_of_slashes, slash_fields(leader, 9_999_999_700));
    runner.end();
}

// === Leaders ===

#[test]
fun leader_from_registration_to_claim() {
    let mut runner = test_runner::start();
    runner.register_leader(MAX);
    let leader = runner.register_leader(LEE);
    let told_registered = told<leader::LeaderRegistered>();
    let told_locked = told<collateral::CollateralLocked>();
    let told_active = told<leader::LeaderActivityChanged>();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
        leader.cancel_unregister(leaders, ctx);
    });
    let told_inactive = told<leader::LeaderActivityChanged>();
    let told_unregistered = told<collateral::Unregistered>();
    let told_cancelled = told<collateral::UnregisterCancelled>();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(LEE, leader);
    let told_claimed = told<collateral::CollateralClaimed>();

    let fields = vector[
        field(leader),
        field(b"leader"),
        field(LEE),
        field(vector[LEE]),
        field(1u64),
        field(START_MS),
    ].flatten();
    assert_eq!(told_registered, fields);

    let terms = vector[10_000_000_000u64, WEEK_MS, START_MS];
    let fields = vector[field(leader), terms.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(told_locked, fields);

    assert_eq!(told_active, vector[field(leader), field(true)].flatten());
    assert_eq!(told_inactive, vector[field(leader), field(false)].flatten());

    let fields = vector[field(leader), field(START_MS), field(START_MS + WEEK_MS)].flatten();
    assert_eq!(told_unregistered, fields);
    assert_eq!(told_cancelled, field(leader));

    let fields = vector[field(leader), field(10_000_000_000u64), field(0u64)].flatten();
    assert_eq!(told_claimed, fields);
    runner.end();
}

#[test]
fun workers_and_keys_of_a_leader() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.add_worker(leaders, MAX, ctx);
        leader.add_key(leaders, key(1), ctx);
    });
    let told_added = vector[told<leader::LeaderWorkerChanged>(), told<leader::LeaderKeyChanged>()];
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| {
        leader.remove_worker(MAX, ctx);
        leader.remove_key(key(1), ctx);
    });
    let told_removed = vector[
        told<leader::LeaderWorkerChanged>(),
        told<leader::LeaderKeyChanged>(),
    ];

    let changed = vector[field(MAX), field(key(1))];
    let added = changed.map_ref!(|each| vector[field(leader), *each, field(true)].flatten());
    assert_eq!(told_added, added);
    let removed = changed.map_ref!(|each| vector[field(leader), *each, field(false)].flatten());
    assert_eq!(told_removed, removed);
    runner.end();
}

#[test]
fun leader_settings() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.configure(admin, false, 200_000_000, 3_600_000, 1, 2, 3, 4, 5, 5_006, 7, ctx);
    });
    let numbers = vector[200_000_000u64, 3_600_000, 1, 2, 3, 4, 5, 5_006, 7, 1];
    let fields = vector[field(false), numbers.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(told<leader_registry::LeaderSettingsChanged>(), fields);
    runner.end();
}

// === Ownership ===

#[test]
fun administration_offered_and_accepted() {
    let mut runner = test_runner::start();
    let admin = test_scenario::most_recent_id_shared<Admin>().destroy_some();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| admin.offer(option::some(ALICE), ctx));
    assert_eq!(told<owner::OwnershipOffered>(), offered(admin, ADMIN, option::some(ALICE)));
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.accept(ctx));
    assert_eq!(told<owner::OwnershipAccepted>(), accepted(admin, ADMIN, ALICE));
    runner.end();
}

#[test]
fun name_offered_and_accepted() {
    let mut runner = alice_with_add();
    let name = runner.id_of(ADD_NAME);
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    assert_eq!(told<owner::OwnershipOffered>(), offered(name, ALICE, option::some(BOB)));
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    assert_eq!(told<owner::OwnershipAccepted>(), accepted(name, ALICE, BOB));
    runner.end();
}

#[test]
fun leader_offered_taken_back_and_accepted() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.offer(option::none(), ctx));
    assert_eq!(told<owner::OwnershipOffered>(), offered(leader, LEE, option::none()));
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.offer(option::some(MAX), ctx));
    assert_eq!(told<owner::OwnershipOffered>(), offered(leader, LEE, option::some(MAX)));
    runner.leader_tx!(MAX, leader, |leader, _, _, ctx| leader.accept(vector[BOB, MAX], ctx));
    assert_eq!(told<owner::OwnershipAccepted>(), accepted(leader, LEE, MAX));
    let fields = vector[field(leader), field(vector[BOB, MAX])].flatten();
    assert_eq!(told<leader::LeaderHandedOver>(), fields);
    runner.end();
}

// === Invocations ===

#[test]
fun request_and_settlement() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, MAX, ctx);
    });
    let invocation = runner.request(BOB, ADD, vector[leader]);
    let told_requested = told<invocation::InvocationRequested>();
    runner.advance(1);
    runner.invocation_tx!(LEE, invocation, leader, |invocation, leader, clock, ctx| {
        let (variant, ports) = (b"ok".to_ascii_string(), port(b"result", b"3"));
        invocation.settle(leader, variant, ports, clock, ctx);
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
        field(9_281_300u64),
        field(100u64),
        field(false),
        field(1u64),
        // It is no attempt.
        x"00",
    ].flatten();
    assert_eq!(told_requested, fields);

    // The answer has 13 bytes: 2 for the variant and 11 for the ports, at 7 600 MIST.
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(leader),
        field(b"ok"),
        field(START_MS + 1),
        field(MAX),
        field(5_000_000u64),
        field(3_620_100u64),
        field(661_200u64),
    ].flatten();
    assert_eq!(told_settled, fields);
    runner.end();
}

#[test]
fun request_of_two_leaders_for_a_signed_answer() {
    let mut runner = test_runner::start();
    let (lee, max) = (runner.register_leader(LEE), runner.register_leader(MAX));
    runner.register(ALICE, ADD, 0, vector[]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let invocation = runner.request(BOB, ADD, vector[max, lee]);
    let told_requested = told<invocation::InvocationRequested>();
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(vector[max, lee]),
        field(START_MS),
        field(10_000u64),
        field(START_MS + 50_000),
        field(0u64),
        field(4_281_300u64),
        field(100u64),
        // By a signature.
        x"01",
        field(vector[key(1)]),
        field(1u64),
        x"00",
    ].flatten();
    assert_eq!(told_requested, fields);
    runner.end();
}

#[test]
fun failure() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    let invocation = runner.request(BOB, ADD, vector[leader]);
    runner.advance(1);
    runner.invocation_tx!(LEE, invocation, leader, |invocation, leader, clock, ctx| {
        let (reason, detail) = (b"timed_out".to_ascii_string(), b"5 s".to_string());
        invocation.fail(leader, reason, detail, clock, ctx);
    });
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(leader),
        field(b"timed_out"),
        field(b"5 s"),
        field(START_MS + 1),
        field(1_521_300u64),
        field(7_760_000u64),
    ].flatten();
    assert_eq!(told<invocation::InvocationFailed>(), fields);
    runner.end();
}

#[test]
fun expiry() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    let invocation = runner.request(BOB, ADD, vector[leader]);
    runner.advance(25_000);
    runner.expire(invocation, BOB, 9_281_300);
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(vector[leader]),
        field(9_281_300u64),
    ].flatten();
    assert_eq!(told<invocation::InvocationExpired>(), fields);
    runner.end();
}

#[test]
fun deletion() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    let invocation = runner.request(BOB, ADD, vector[leader]);
    runner.advance(25_000);
    runner.expire(invocation, BOB, 9_281_300);
    runner.delete(BOB, invocation);
    let fields = vector[field(invocation), tool_fields(&runner), field(BOB)].flatten();
    assert_eq!(told<invocation::InvocationDeleted>(), fields);
    runner.end();
}

// === Upgrades ===

#[test]
fun migration_of_tools() {
    let mut runner = test_runner::start();
    let registry = test_scenario::most_recent_id_shared<tool_registry::ToolRegistry>();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.set_version_for_testing(0);
        tools.migrate(admin, ctx);
    });
    let fields = vector[field(registry.destroy_some()), field(1u64)].flatten();
    assert_eq!(told<version::RegistryMigrated>(), fields);
    runner.end();
}

#[test]
fun migration_of_leaders() {
    let mut runner = test_runner::start();
    let registry = test_scenario::most_recent_id_shared<leader_registry::LeaderRegistry>();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.set_version_for_testing(0);
        leaders.migrate(admin, ctx);
    });
    let fields = vector[field(registry.destroy_some()), field(1u64)].flatten();
    assert_eq!(told<version::RegistryMigrated>(), fields);
    runner.end();
}

// === Helpers ===

/// A tool for 5 000 000 MIST that lists a leader.
fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 5_000_000, vector[@0x1EAD.to_id()]);
    runner
}

/// The id and the FQN of `ADD`.
fun tool_fields(runner: &Runner): vector<u8> {
    vector[field(runner.id_of(ADD)), field(ADD)].flatten()
}

/// The event of an update of `ADD`, which pays Bob; `numbers` are its timeout and its price.
fun updated(
    runner: &Runner,
    url: vector<u8>,
    description: vector<u8>,
    numbers: vector<u64>,
    min_outcome_bytes: u64,
    requires_signed_outcome: bool,
    revision: u64,
): vector<u8> {
    vector[
        tool_fields(runner),
        field(url),
        field(description),
        numbers.map!(|number| field(number)).flatten(),
        field(BOB),
        field(min_outcome_bytes),
        field(requires_signed_outcome),
        field(revision),
        x"00",
    ].flatten()
}

/// The events of a slash of 200 MIST that is proposed and cancelled, and of one of 300 MIST that is
/// executed and made good.
fun slash_fields(object: ID, remaining_mist: u64): vector<vector<u8>> {
    let (reason, evidence) = (field(b"It lied."), field(test_runner::evidence()));
    let times = vector[field(START_MS + NOTICE_MS), field(START_MS + NOTICE_MS + DAY_MS)];
    vector[
        vector[field(object), field(200u64), reason, evidence, times.flatten()].flatten(),
        vector[field(object), field(200u64)].flatten(),
        vector[
            field(object),
            field(300u64),
            field(remaining_mist),
            reason,
            evidence,
        ].flatten(),
        vector[field(object), field(300u64)].flatten(),
    ]
}

fun offered(object: ID, owner: address, offered: Option<address>): vector<u8> {
    vector[field(object), field(owner), field(offered)].flatten()
}

fun accepted(object: ID, former: address, owner: address): vector<u8> {
    vector[field(object), field(former), field(owner)].flatten()
}
