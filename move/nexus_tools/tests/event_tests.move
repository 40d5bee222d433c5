/// Tests that compare the BCS bytes of events with the expected fields in order. Many fields have
/// the same type, so only this comparison detects swapped fields.
#[test_only]
module nexus_tools::event_tests;

use nexus_tools::admin::Admin;
use nexus_tools::collateral;
use nexus_tools::invocation;
use nexus_tools::leader;
use nexus_tools::leader_registry;
use nexus_tools::owner;
use nexus_tools::slashing;
use nexus_tools::test_runner::{Self, Runner, field, key, mint, port, event_bytes};
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
fun register_emits_the_tool_and_its_collateral() {
    let mut runner = test_runner::start();
    let leaders = vector[@0x1EAD.to_id(), @0x2EAD.to_id()];
    runner.register(ALICE, b"xyz.example.mul@1", 0, vector[]);
    runner.register(ALICE, ADD, 5_000_000, leaders);
    let (told_registered, told_locked) = (
        event_bytes<tool::ToolRegistered>(),
        event_bytes<collateral::CollateralLocked>(),
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
        // The option is empty, because the tool has no function.
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
fun updates_of_a_tool_emit_all_its_values() {
    let mut runner = alice_with_add();
    let mut told_updates = vector[];
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, BOB, ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_min_outcome_bytes(name, tools, 7, ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_url(name, tools, b"https://a.example".to_ascii_string(), ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_description(name, tools, b"Adds.".to_string(), ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 20_000, ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_price(name, tools, 6_000_000, ctx);
    });
    told_updates.push_back(event_bytes<tool::ToolUpdated>());

    let (url, text) = (b"https://tools.example.com/add", b"Adds two integers.");
    let (new_url, new_text) = (b"https://a.example", b"Adds.");
    let expected = vector[
        update_event(&runner, url, text, vector[10_000, 5_000_000], 0, false, 1),
        update_event(&runner, url, text, vector[10_000, 5_000_000], 7, false, 2),
        update_event(&runner, url, text, vector[10_000, 5_000_000], 7, true, 3),
        update_event(&runner, new_url, text, vector[10_000, 5_000_000], 7, true, 4),
        update_event(&runner, new_url, new_text, vector[10_000, 5_000_000], 7, true, 5),
        update_event(&runner, new_url, new_text, vector[20_000, 5_000_000], 7, true, 6),
        update_event(&runner, new_url, new_text, vector[20_000, 6_000_000], 7, true, 7),
    ];
    assert_eq!(told_updates, expected);
    runner.end();
}

#[test]
fun changes_of_operators_leaders_and_keys_emit_events() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, BOB, ctx);
        tool.add_leader(name, tools, @0x2EAD.to_id(), ctx);
        tool.add_key(name, tools, key(1), ctx);
    });
    let told_added = vector[
        event_bytes<tool::ToolOperatorChanged>(),
        event_bytes<tool::ToolLeaderChanged>(),
        event_bytes<tool::ToolKeyChanged>(),
    ];
    runner.tool_tx!(ALICE, ADD, |tool, name, _, _, ctx| {
        tool.remove_operator(name, BOB, ctx);
        tool.remove_leader(name, @0x2EAD.to_id(), ctx);
        tool.remove_key(name, key(1), ctx);
    });
    let told_removed = vector[
        event_bytes<tool::ToolOperatorChanged>(),
        event_bytes<tool::ToolLeaderChanged>(),
        event_bytes<tool::ToolKeyChanged>(),
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
fun accept_any_leader_emits_an_event() {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[@0x1EAD.to_id()]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| tool.accept_any_leader(name, tools, ctx));
    assert_eq!(event_bytes<tool::ToolAcceptsAnyLeader>(), tool_fields(&runner));
    runner.end();
}

#[test]
fun take_over_emits_an_event() {
    let mut runner = alice_with_add();
    let leaders = vector[@0x3EAD.to_id(), @0x2EAD.to_id()];
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        name.accept(ctx);
        tool.take_over(name, tools, leaders, ctx);
    });
    let (url, text) = (b"https://tools.example.com/add", b"Adds two integers.");
    let fields = vector[tool_fields(&runner), field(BOB), field(leaders)].flatten();
    assert_eq!(event_bytes<tool::ToolTakenOver>(), fields);
    let fields = update_event(&runner, url, text, vector[10_000, 5_000_000], 0, false, 1);
    assert_eq!(event_bytes<tool::ToolUpdated>(), fields);
    runner.end();
}

#[test]
fun configure_emits_the_settings_of_tools() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.configure(admin, false, 200_000_000, 3_600_000, 1_001, 1_002, 5, ctx);
    });
    let numbers = vector[200_000_000u64, 3_600_000, 1_001, 1_002, 5];
    let fields = vector[field(false), numbers.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(event_bytes<tool_registry::ToolSettingsChanged>(), fields);
    runner.end();
}

// === Collateral ===

#[test]
fun unregister_claim_and_re_register_emit_events() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    let told_unregistered = event_bytes<collateral::Unregistered>();
    runner.advance(WEEK_MS);
    runner.claim(ALICE, ADD);
    let told_claimed = event_bytes<collateral::CollateralClaimed>();
    runner.re_register(ALICE, ADD);
    let told_locked = event_bytes<collateral::CollateralLocked>();

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
fun claim_emits_the_amount_locked_for_a_slash() {
    let mut runner = alice_with_add();
    runner.unregister(ALICE, ADD);
    runner.advance(WEEK_MS - 1);
    runner.propose_slash(ADD, 200);
    runner.advance(1);
    runner.claim(ALICE, ADD);
    let told_claimed = event_bytes<collateral::CollateralClaimed>();
    let fields = vector[field(runner.id_of(ADD)), field(999_999_800u64), field(200u64)].flatten();
    assert_eq!(told_claimed, fields);
    runner.end();
}

#[test]
fun cancel_unregister_emits_an_event() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, clock, ctx| {
        tool.unregister(name, clock, ctx);
        tool.cancel_unregister(name, tools, ctx);
    });
    assert_eq!(event_bytes<collateral::UnregistrationCancelled>(), field(runner.id_of(ADD)));
    runner.end();
}

#[test]
fun slash_and_top_up_of_a_tool_emit_events() {
    let mut runner = alice_with_add();
    let mut told_of_slashes = vector[];
    runner.propose_slash(ADD, 200);
    told_of_slashes.push_back(event_bytes<collateral::SlashProposed>());
    runner.tool_admin_tx!(ADMIN, ADD, |tool, admin, _, clock, ctx| {
        slashing::cancel_for_tool(tool, admin, clock, ctx);
    });
    told_of_slashes.push_back(event_bytes<collateral::SlashCancelled>());
    runner.slash(ADD, 300);
    told_of_slashes.push_back(event_bytes<collateral::Slashed>());
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.top_up(name, tools, mint(300, ctx), ctx);
    });
    told_of_slashes.push_back(event_bytes<collateral::CollateralToppedUp>());
    let expected = slash_fields(runner.id_of(ADD), 999_999_700);
    assert_eq!(told_of_slashes, expected);
    runner.end();
}

#[test]
fun slash_and_top_up_of_a_leader_emit_events() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    let mut told_of_slashes = vector[];
    runner.propose_leader_slash(leader, 200);
    told_of_slashes.push_back(event_bytes<collateral::SlashProposed>());
    runner.leader_admin_tx!(ADMIN, leader, |leader, admin, _, clock, ctx| {
        slashing::cancel_for_leader(leader, admin, clock, ctx);
    });
    told_of_slashes.push_back(event_bytes<collateral::SlashCancelled>());
    runner.slash_leader(leader, 300);
    told_of_slashes.push_back(event_bytes<collateral::Slashed>());
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.top_up(leaders, mint(300, ctx), ctx);
    });
    told_of_slashes.push_back(event_bytes<collateral::CollateralToppedUp>());
    assert_eq!(told_of_slashes, slash_fields(leader, 9_999_999_700));
    runner.end();
}

// === Leaders ===

#[test]
fun operations_of_a_leader_emit_events() {
    let mut runner = test_runner::start();
    runner.register_leader(MAX);
    let leader = runner.register_leader(LEE);
    let told_registered = event_bytes<leader::LeaderRegistered>();
    let told_locked = event_bytes<collateral::CollateralLocked>();
    let told_active = event_bytes<leader::LeaderActivityChanged>();
    runner.leader_tx!(LEE, leader, |leader, leaders, clock, ctx| {
        leader.deactivate(ctx);
        leader.unregister(clock, ctx);
        leader.cancel_unregister(leaders, ctx);
    });
    let told_inactive = event_bytes<leader::LeaderActivityChanged>();
    let told_unregistered = event_bytes<collateral::Unregistered>();
    let told_cancelled = event_bytes<collateral::UnregistrationCancelled>();
    runner.unregister_leader(LEE, leader);
    runner.advance(WEEK_MS);
    runner.claim_leader(LEE, leader);
    let told_claimed = event_bytes<collateral::CollateralClaimed>();

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
fun changes_of_workers_and_keys_emit_events() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.leader_tx!(LEE, leader, |leader, leaders, _, ctx| {
        leader.add_worker(leaders, MAX, ctx);
        leader.add_key(leaders, key(1), ctx);
    });
    let told_added = vector[event_bytes<leader::LeaderWorkerChanged>(), event_bytes<leader::LeaderKeyChanged>()];
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| {
        leader.remove_worker(MAX, ctx);
        leader.remove_key(key(1), ctx);
    });
    let told_removed = vector[
        event_bytes<leader::LeaderWorkerChanged>(),
        event_bytes<leader::LeaderKeyChanged>(),
    ];

    let changed = vector[field(MAX), field(key(1))];
    let added = changed.map_ref!(|each| vector[field(leader), *each, field(true)].flatten());
    assert_eq!(told_added, added);
    let removed = changed.map_ref!(|each| vector[field(leader), *each, field(false)].flatten());
    assert_eq!(told_removed, removed);
    runner.end();
}

#[test]
fun configure_emits_the_settings_of_leaders() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.configure(admin, false, 200_000_000, 3_600_000, 1, 2, 3, 4, 5, 5_006, 7, ctx);
    });
    let numbers = vector[200_000_000u64, 3_600_000, 1, 2, 3, 4, 5, 5_006, 7, 1];
    let fields = vector[field(false), numbers.map!(|number| field(number)).flatten()].flatten();
    assert_eq!(event_bytes<leader_registry::LeaderSettingsChanged>(), fields);
    runner.end();
}

// === Ownership ===

#[test]
fun offer_and_accept_of_the_administration_emit_events() {
    let mut runner = test_runner::start();
    let admin = test_scenario::most_recent_id_shared<Admin>().destroy_some();
    runner.admin_tx!(ADMIN, |admin, _, _, _, ctx| admin.offer(option::some(ALICE), ctx));
    assert_eq!(event_bytes<owner::OwnershipOffered>(), offer_event(admin, ADMIN, option::some(ALICE)));
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| admin.accept(ctx));
    assert_eq!(event_bytes<owner::OwnershipAccepted>(), acceptance_event(admin, ADMIN, ALICE));
    runner.end();
}

#[test]
fun offer_and_accept_of_a_name_emit_events() {
    let mut runner = alice_with_add();
    let name = runner.id_of(ADD_NAME);
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    assert_eq!(event_bytes<owner::OwnershipOffered>(), offer_event(name, ALICE, option::some(BOB)));
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    assert_eq!(event_bytes<owner::OwnershipAccepted>(), acceptance_event(name, ALICE, BOB));
    runner.end();
}

#[test]
fun offer_withdrawal_and_accept_of_a_leader_emit_events() {
    let mut runner = test_runner::start();
    let leader = runner.register_leader(LEE);
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.offer(option::none(), ctx));
    assert_eq!(event_bytes<owner::OwnershipOffered>(), offer_event(leader, LEE, option::none()));
    runner.leader_tx!(LEE, leader, |leader, _, _, ctx| leader.offer(option::some(MAX), ctx));
    assert_eq!(event_bytes<owner::OwnershipOffered>(), offer_event(leader, LEE, option::some(MAX)));
    runner.leader_tx!(MAX, leader, |leader, _, _, ctx| leader.accept(vector[BOB, MAX], ctx));
    assert_eq!(event_bytes<owner::OwnershipAccepted>(), acceptance_event(leader, LEE, MAX));
    let fields = vector[field(leader), field(vector[BOB, MAX])].flatten();
    assert_eq!(event_bytes<leader::LeaderTakenOver>(), fields);
    runner.end();
}

// === Invocations ===

#[test]
fun request_and_settle_emit_events() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.update_payout(name, tools, MAX, ctx);
    });
    let invocation = runner.request(BOB, ADD, vector[leader]);
    let told_requested = event_bytes<invocation::InvocationRequested>();
    runner.advance(1);
    runner.invocation_tx!(LEE, invocation, leader, |invocation, leader, clock, ctx| {
        let (variant, ports) = (b"ok".to_ascii_string(), port(b"result", b"3"));
        invocation.settle(leader, variant, ports, clock, ctx);
    });
    let told_settled = event_bytes<invocation::InvocationSettled>();

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
        // The option is empty, because the invocation is not an attempt.
        x"00",
    ].flatten();
    assert_eq!(told_requested, fields);

    // The answer has 2 bytes for the variant and 11 bytes for the ports, which cost 7 600 MIST
    // each.
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(leader),
        field(b"ok"),
        field(START_MS),
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
fun request_with_backup_emits_both_leaders_and_the_keys() {
    let mut runner = test_runner::start();
    let (lee, max) = (runner.register_leader(LEE), runner.register_leader(MAX));
    runner.register(ALICE, ADD, 0, vector[]);
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
    });
    let invocation = runner.request(BOB, ADD, vector[max, lee]);
    let told_requested = event_bytes<invocation::InvocationRequested>();
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
        // The invocation is settled by a signature.
        x"01",
        field(vector[key(1)]),
        field(1u64),
        x"00",
    ].flatten();
    assert_eq!(told_requested, fields);
    runner.end();
}

#[test]
fun fail_emits_an_event() {
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
    assert_eq!(event_bytes<invocation::InvocationFailed>(), fields);
    runner.end();
}

#[test]
fun expire_emits_an_event() {
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
    assert_eq!(event_bytes<invocation::InvocationExpired>(), fields);
    runner.end();
}

#[test]
fun delete_emits_that_the_invocation_expired() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    let invocation = runner.request(BOB, ADD, vector[leader]);
    runner.advance(25_000);
    runner.expire(invocation, BOB, 9_281_300);
    runner.delete(BOB, invocation);
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        x"00",
        field(false),
    ].flatten();
    assert_eq!(event_bytes<invocation::InvocationDeleted>(), fields);
    runner.end();
}

#[test]
fun delete_emits_the_leader_of_a_failure() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    let invocation = runner.request(BOB, ADD, vector[leader]);
    runner.invocation_tx!(LEE, invocation, leader, |invocation, leader, clock, ctx| {
        let reason = b"refused".to_ascii_string();
        invocation.fail(leader, reason, b"".to_string(), clock, ctx);
    });
    runner.delete(BOB, invocation);
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(option::some(leader)),
        field(false),
    ].flatten();
    assert_eq!(event_bytes<invocation::InvocationDeleted>(), fields);
    runner.end();
}

#[test]
fun delete_emits_the_leader_of_an_answer() {
    let (mut runner, leader) = test_runner::alice_and_lee();
    let invocation = runner.request(BOB, ADD, vector[leader]);
    runner.invocation_tx!(LEE, invocation, leader, |invocation, leader, clock, ctx| {
        invocation.settle(leader, test_runner::ok(), test_runner::sum(), clock, ctx);
    });
    runner.delete(BOB, invocation);
    let fields = vector[
        field(invocation),
        tool_fields(&runner),
        field(BOB),
        field(option::some(leader)),
        field(true),
    ].flatten();
    assert_eq!(event_bytes<invocation::InvocationDeleted>(), fields);
    runner.end();
}

// === Upgrades ===

#[test]
fun migrate_emits_an_event_for_the_registry_of_tools() {
    let mut runner = test_runner::start();
    let registry = test_scenario::most_recent_id_shared<tool_registry::ToolRegistry>();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.set_version_for_testing(0);
        tools.migrate(admin, ctx);
    });
    let fields = vector[field(registry.destroy_some()), field(1u64)].flatten();
    assert_eq!(event_bytes<version::RegistryMigrated>(), fields);
    runner.end();
}

#[test]
fun migrate_emits_an_event_for_the_registry_of_leaders() {
    let mut runner = test_runner::start();
    let registry = test_scenario::most_recent_id_shared<leader_registry::LeaderRegistry>();
    runner.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.set_version_for_testing(0);
        leaders.migrate(admin, ctx);
    });
    let fields = vector[field(registry.destroy_some()), field(1u64)].flatten();
    assert_eq!(event_bytes<version::RegistryMigrated>(), fields);
    runner.end();
}

// === Helpers ===

/// Register a tool that lists a leader and has a price of 5 000 000 MIST.
fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 5_000_000, vector[@0x1EAD.to_id()]);
    runner
}

/// Return the ID and the FQN of `ADD`.
fun tool_fields(runner: &Runner): vector<u8> {
    vector[field(runner.id_of(ADD)), field(ADD)].flatten()
}

/// Return the event of an update of `ADD`, whose price is paid to Bob. `numbers` are the timeout
/// and the price.
fun update_event(
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

/// Return the events of a cancelled slash of 200 MIST, and of an executed slash of 300 MIST with a
/// top-up.
fun slash_fields(object: ID, remaining_mist: u64): vector<vector<u8>> {
    let (reason, evidence_digest) = (field(b"It lied."), field(test_runner::evidence_digest()));
    let times = vector[field(START_MS + NOTICE_MS), field(START_MS + NOTICE_MS + DAY_MS)];
    vector[
        vector[field(object), field(200u64), reason, evidence_digest, times.flatten()].flatten(),
        vector[field(object), field(200u64)].flatten(),
        vector[
            field(object),
            field(300u64),
            field(remaining_mist),
            reason,
            evidence_digest,
        ].flatten(),
        vector[field(object), field(300u64)].flatten(),
    ]
}

fun offer_event(object: ID, owner: address, pending_owner: Option<address>): vector<u8> {
    vector[field(object), field(owner), field(pending_owner)].flatten()
}

fun acceptance_event(object: ID, previous_owner: address, owner: address): vector<u8> {
    vector[field(object), field(previous_owner), field(owner)].flatten()
}
