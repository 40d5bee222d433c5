#[test_only]
module nexus_tools::name_tests;

use nexus_tools::name;
use nexus_tools::owner;
use nexus_tools::permit;
use nexus_tools::roster;
use nexus_tools::test_runner::{Self, Runner, key};
use nexus_tools::tool;
use nexus_tools::tool_registry;
use nexus_tools::version;
use std::unit_test::assert_eq;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const OPAL: address = @0xC;

const ADD: vector<u8> = b"xyz.example.add@1";
const ADD_2: vector<u8> = b"xyz.example.add@2";
const ADD_3: vector<u8> = b"xyz.example.add@3";

#[test]
fun register_makes_the_sender_the_owner_of_the_name() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |_, name, tools, _, _| {
        assert_eq!(name.name(), b"xyz.example.add".to_ascii_string());
        assert_eq!(object::id(name), tools.tool_id(b"xyz.example.add".to_ascii_string()));
        assert_eq!(name.owner().owner(), ALICE);
        assert_eq!(name.owner().pending_owner(), option::none());
    });
    runner.end();
}

#[test]
fun is_name_of_accepts_all_versions() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, _| {
        assert!(name.is_name_of(&ADD.to_ascii_string()));
        assert!(name.is_name_of(&ADD_2.to_ascii_string()));
        assert!(!name.is_name_of(&b"xyz.example.mul@1".to_ascii_string()));
        assert!(!name.is_name_of(&b"xyz.example.ad@1".to_ascii_string()));
        assert!(!name.is_name_of(&b"xyz.example.adder@1".to_ascii_string()));
    });
    runner.end();
}

#[test]
fun register_version_works_for_the_owner() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD_2);
    runner.tool_tx!(ALICE, ADD_2, |tool, name, _, clock, ctx| {
        assert!(tool.is_active());
        tool.unregister(name, clock, ctx);
    });
    runner.end();
}

#[test]
fun claim_returns_a_name_that_the_sender_owns() {
    let mut runner = test_runner::start();
    claim_add(&mut runner);
    runner.register_version_of(OPAL, ADD, b"xyz.example.add");
    runner.tool_tx!(OPAL, ADD, |_, name, _, _, _| assert_eq!(name.owner().owner(), OPAL));
    runner.end();
}

#[test, expected_failure(abort_code = tool_registry::ENotAccepting)]
fun claim_aborts_when_the_registry_accepts_no_tools() {
    let mut runner = test_runner::start();
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.configure(admin, false, 1_000_000_000, 604_800_000, 1_000, 1_000, 0, ctx);
    });
    claim_add(&mut runner);
    abort
}

#[test, expected_failure(abort_code = version::EWrongVersion)]
fun claim_aborts_when_the_registry_has_a_newer_version() {
    let mut runner = test_runner::start();
    runner.tx!(ADMIN, |tools, _, _, _| tools.set_version_for_testing(2));
    claim_add(&mut runner);
    abort
}

#[test, expected_failure(abort_code = name::ENameTaken)]
fun claim_aborts_when_the_name_has_a_version() {
    let mut runner = alice_with_add();
    claim_add(&mut runner);
    runner.end();
}

#[test, expected_failure(abort_code = name::ENameTaken)]
fun register_aborts_when_the_name_is_taken() {
    let mut runner = alice_with_add();
    runner.register(BOB, ADD_2, 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun register_version_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.register_version(BOB, ADD_2);
    runner.end();
}

#[test]
fun accept_transfers_all_versions() {
    let mut runner = alice_with_add();
    runner.register_version(ALICE, ADD_2);
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        name.accept(ctx);
        assert_eq!(name.owner().owner(), BOB);
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.unregister(BOB, ADD_2);
    runner.register_version(BOB, ADD_3);
    runner.end();
}

#[test]
fun take_over_removes_operators_and_keys() {
    let mut runner = test_runner::start();
    let (one, other) = (@0x1EAD.to_id(), @0x2EAD.to_id());
    runner.register(ALICE, ADD, 1, vector[one]);
    offer_to_bob(&mut runner);
    // Operators and keys that are added after the offer are also removed.
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_key(name, tools, key(1), ctx);
        tool.update_requires_signed_outcome(name, tools, true, ctx);
        tool.add_operator(name, tools, OPAL, ctx);
    });
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        name.accept(ctx);
        tool.take_over(name, tools, vector[other], ctx);
        assert_eq!(tool.payout(), BOB);
        assert!(tool.keys().is_empty());
        assert!(!tool.requires_signed_outcome());
        assert!(!tool.accepts(one));
        assert!(tool.accepts(other));
        // The first change required signatures, and the second change is `take_over`.
        assert_eq!(tool.revision(), 2);
        // Opal is no longer an operator, so Opal can be added again.
        tool.add_operator(name, tools, OPAL, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun update_url_aborts_for_an_operator_after_take_over() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.add_operator(name, tools, OPAL, ctx);
    });
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        name.accept(ctx);
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.tool_tx!(OPAL, ADD, |tool, name, tools, _, ctx| {
        tool.update_timeout(name, tools, 2_000, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun take_over_aborts_for_the_previous_owner() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun take_over_aborts_before_the_name_is_accepted() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun take_over_aborts_for_duplicate_leaders() {
    let mut runner = alice_with_add();
    let one = @0x1EAD.to_id();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[one, one], ctx);
    });
    runner.end();
}

#[test]
fun take_over_keeps_any_leader_unless_leaders_are_listed() {
    let mut runner = alice_with_add();
    let (one, other) = (@0x1.to_id(), @0x2.to_id());
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        name.accept(ctx);
        tool.take_over(name, tools, vector[], ctx);
        assert!(tool.accepts(one));
        tool.take_over(name, tools, vector[one], ctx);
        assert!(tool.accepts(one) && !tool.accepts(other));
        tool.take_over(name, tools, vector[], ctx);
        assert!(!tool.accepts(one));
    });
    runner.end();
}

#[test]
fun offer_keeps_the_owner_until_accept() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.register_version(ALICE, ADD_2);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun register_version_aborts_for_the_previous_owner() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    runner.register_version(ALICE, ADD_2);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun offer_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun accept_aborts_for_another_sender() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    runner.end();
}

// === Helpers ===

fun alice_with_add(): Runner {
    let mut runner = test_runner::start();
    runner.register(ALICE, ADD, 0, vector[]);
    runner
}

/// Claim the name of `ADD`, as Opal.
fun claim_add(runner: &mut Runner) {
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        let permit = permit::grant(admin, ctx);
        let mut opal = tx_context::new_from_hint(OPAL, 0xff, 0, 0, 0);
        name::claim(permit, tools, &ADD.to_ascii_string(), &mut opal).share();
    });
}

fun offer_to_bob(runner: &mut Runner) {
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
}
