/// Tests of drafts, with the accounts that may start a draft, the valid FQNs, and the stored data.
#[test_only]
module nexus_workflows::dag_draft_tests;

use nexus_tools::name::Name;
use nexus_tools::owner;
use nexus_tools::test_runner::{name_of, Runner};
use nexus_tools::tool_registry::{Self, ToolRegistry};
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_registry::DagRegistry;
use nexus_workflows::dag_runner::{dag_tx, draft, draft_version, start};
use std::unit_test::assert_eq;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const BOB: address = @0xB;
const ADD: vector<u8> = b"xyz.example.add@1";
const SUB: vector<u8> = b"xyz.example.sub@1";
const FLOW: vector<u8> = b"xyz.example.flow@1";
const FLOW_2: vector<u8> = b"xyz.example.flow@2";

#[test]
fun draft_stores_its_tools_in_order() {
    let mut runner = start();
    runner.register(BOB, SUB, 0, vector[]);
    let (add, sub) = (runner.id_of(ADD), runner.id_of(SUB));
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        assert_eq!(*dag.tools(), vector[add]);
        assert_eq!(name.owner().owner(), ALICE);
        assert_eq!(object::id(&dag), dags.dag_id(FLOW.to_ascii_string()));
        assert_eq!(dag.groups(), 0);
        let second = draft_version(dags, tools, &name, FLOW_2, vector[SUB, ADD, SUB], ctx);
        assert_eq!(*second.tools(), vector[sub, add, sub]);
        assert_eq!(second.digest(), b"");
        assert_eq!(object::id(&second), dags.dag_id(FLOW_2.to_ascii_string()));
        dag.save_draft(ctx);
        second.save_draft(ctx);
        name.share();
    });
    runner.next_tx(ALICE);
    assert_eq!(test_scenario::ids_for_address<Dag>(ALICE).length(), 2);
    runner.end();
}

#[test]
fun draft_accepts_a_description_of_4096_bytes() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let fqn = FLOW.to_ascii_string();
        let text = vector::tabulate!(4_096, |_| 32u8).to_string();
        let (dag, name) = dag::draft(dags, tools, fqn, text, b"digest", vector[], ctx);
        assert!(dags.contains(fqn));
        assert!(dag.tools().is_empty());
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun draft_version_rejects_another_sender() {
    let mut runner = start();
    write_and_keep(&mut runner);
    name_tx!(&mut runner, BOB, FLOW, |name, dags, tools, ctx| {
        draft_version(dags, tools, name, FLOW_2, vector[ADD], ctx).save_draft(ctx);
    });
    abort
}

#[test]
fun owner_of_the_name_drafts_a_further_version() {
    let mut runner = start();
    write_and_keep(&mut runner);
    name_tx!(&mut runner, ALICE, FLOW, |name, dags, tools, ctx| {
        let second = draft_version(dags, tools, name, FLOW_2, vector[ADD], ctx);
        assert_eq!(second.fqn(), FLOW_2.to_ascii_string());
        second.save_draft(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag::EFqnTaken)]
fun draft_version_rejects_the_fqn_of_a_tool() {
    let mut runner = start();
    name_tx!(&mut runner, ALICE, ADD, |name, dags, tools, ctx| {
        draft_version(dags, tools, name, ADD, vector[ADD], ctx).save_draft(ctx);
    });
    abort
}

#[test]
fun workflow_and_tool_may_share_a_name() {
    let mut runner = start();
    name_tx!(&mut runner, ALICE, ADD, |name, dags, tools, ctx| {
        let fqn = b"xyz.example.add@2";
        let dag = draft_version(dags, tools, name, fqn, vector[ADD], ctx);
        assert!(dags.contains(fqn.to_ascii_string()) && !tools.contains(fqn.to_ascii_string()));
        dag.save_draft(ctx);
    });
    runner.end();
}

#[test, expected_failure(abort_code = tool_registry::ENotAccepting)]
fun draft_version_fails_while_the_registry_does_not_accept() {
    let mut runner = start();
    write_and_keep(&mut runner);
    accept_nothing(&mut runner);
    name_tx!(&mut runner, ALICE, FLOW, |name, dags, tools, ctx| {
        draft_version(dags, tools, name, FLOW_2, vector[ADD], ctx).save_draft(ctx);
    });
    abort
}

#[test, expected_failure(abort_code = tool_registry::ENotAccepting)]
fun draft_fails_while_the_registry_does_not_accept() {
    let mut runner = start();
    accept_nothing(&mut runner);
    write_and_keep(&mut runner);
    abort
}

#[test, expected_failure(abort_code = dag::EInvalidFqn)]
fun draft_checks_the_fqn_before_the_name() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        // A tool already has this name, but the function checks the FQN first.
        let fqn = b"xyz.example.add@02".to_ascii_string();
        let (dag, name) = dag::draft(dags, tools, fqn, b"".to_string(), b"", vector[], ctx);
        dag.save_draft(ctx);
        name.share();
    });
    abort
}

// === Setup ===

/// Run a transaction of `$sender` on the name of `$fqn` and the registries.
macro fun name_tx(
    $runner: &mut Runner,
    $sender: address,
    $fqn: vector<u8>,
    $f: |&Name, &mut DagRegistry, &ToolRegistry, &mut TxContext|,
) {
    let runner = $runner;
    let id = runner.id_of(name_of($fqn));
    let scenario = runner.next_tx($sender);
    let name = scenario.take_shared_by_id<Name>(id);
    let mut dags = scenario.take_shared<DagRegistry>();
    let tools = scenario.take_shared<ToolRegistry>();
    $f(&name, &mut dags, &tools, scenario.ctx());
    test_scenario::return_shared(tools);
    test_scenario::return_shared(dags);
    test_scenario::return_shared(name);
}

fun write_and_keep(runner: &mut Runner) {
    dag_tx!(runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        dag.save_draft(ctx);
        name.share();
    });
}

fun accept_nothing(runner: &mut Runner) {
    runner.admin_tx!(ADMIN, |admin, tools, _, _, ctx| {
        tools.configure(admin, false, 1_000_000_000, 604_800_000, 1_000, 120_000, 100, ctx);
    });
}
