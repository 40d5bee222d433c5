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
fun who_registers_the_first_version_owns_the_name() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |_, name, tools, _, _| {
        assert_eq!(name.name(), b"xyz.example.add".to_ascii_string());
        assert_eq!(object::id(name), tools.tool_id(b"xyz.example.add".to_ascii_string()));
        assert_eq!(name.owner().owner(), ALICE);
        assert_eq!(name.owner().offered(), option::none());
    });
    runner.end();
}

#[test]
fun name_is_that_of_all_its_versions() {
    let mut runner = alice_with_add();
    runner.tool_tx!(ALICE, ADD, |_, name, _, _, _| {
        assert!(name.is_of(&ADD.to_ascii_string()));
        assert!(name.is_of(&ADD_2.to_ascii_string()));
        assert!(!name.is_of(&b"xyz.example.mul@1".to_ascii_string()));
        assert!(!name.is_of(&b"xyz.example.ad@1".to_ascii_string()));
        assert!(!name.is_of(&b"xyz.example.adder@1".to_ascii_string()));
    });
    runner.end();
}

#[test]
fun owner_registers_further_versions() {
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
fun nobody_registers_a_first_version_of_a_name_that_is_taken() {
    let mut runner = alice_with_add();
    runner.register(BOB, ADD_2, 0, vector[]);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_register_a_further_version() {
    let mut runner = alice_with_add();
    runner.register_version(BOB, ADD_2);
    runner.end();
}

#[test]
fun name_is_passed_on_with_all_its_versions() {
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
fun tool_is_taken_over_without_what_the_former_owner_added() {
    let mut runner = test_runner::start();
    let (one, other) = (@0x1EAD.to_id(), @0x2EAD.to_id());
    runner.register(ALICE, ADD, 1, vector[one]);
    offer_to_bob(&mut runner);
    // What is added after the offer is gone, too.
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
        // Signing was one change, and this is another.
        assert_eq!(tool.revision(), 2);
        // Opal is no operator any more, and may become one again.
        tool.add_operator(name, tools, OPAL, ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool::ENotOperator)]
fun operator_of_the_former_owner_does_not_run_the_tool() {
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
fun former_owner_does_not_take_the_tool_over() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun tool_is_not_taken_over_before_its_name_is_accepted() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[], ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun who_takes_a_tool_over_names_each_leader_once() {
    let mut runner = alice_with_add();
    let one = @0x1EAD.to_id();
    runner.tool_tx!(ALICE, ADD, |tool, name, tools, _, ctx| {
        tool.take_over(name, tools, vector[one, one], ctx);
    });
    runner.end();
}

#[test]
fun tool_that_was_open_is_taken_over_open_or_for_leaders_alone() {
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
fun name_stays_with_its_owner_until_it_is_accepted() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.register_version(ALICE, ADD_2);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun former_owner_does_not_register_a_further_version() {
    let mut runner = alice_with_add();
    offer_to_bob(&mut runner);
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.accept(ctx));
    runner.register_version(ALICE, ADD_2);
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun stranger_does_not_offer_the_name() {
    let mut runner = alice_with_add();
    runner.tool_tx!(BOB, ADD, |_, name, _, _, ctx| name.offer(option::some(BOB), ctx));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOffered)]
fun stranger_does_not_accept_the_name() {
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

/// Claims the name of `ADD` for Opal.
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
