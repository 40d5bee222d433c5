/// Tests of the registry of workflows and of its permit.
#[test_only]
module nexus_workflows::dag_registry_tests;

use nexus_tools::admin::Admin;
use nexus_tools::owner;
use nexus_tools::permit;
use nexus_tools::test_runner::{Self, Runner, field, event_bytes};
use nexus_workflows::dag_registry::{Self, DagRegistry};
use nexus_workflows::dag_runner::{create_registry, dag_tx, draft, draft_version, start};
use std::unit_test::assert_eq;
use sui::test_scenario;

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;

const FLOW_2: vector<u8> = b"xyz.example.flow@2";
const ADD: vector<u8> = b"xyz.example.add@1";

#[test]
fun create_emits_an_event() {
    let mut runner = test_runner::start();
    create_registry(&mut runner);
    let created_event = event_bytes<dag_registry::DagRegistryCreated>();
    dag_tx!(&mut runner, ALICE, |dags, _, _| assert_eq!(created_event, field(object::id(dags))));
    runner.end();
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun grant_rejects_another_sender() {
    let mut runner = start();
    runner.admin_tx!(ALICE, |admin, _, _, _, ctx| {
        dag_registry::create(permit::grant(admin, ctx), ctx);
    });
    abort
}

#[test]
fun migrate_updates_an_older_version() {
    let mut runner = start();
    dag_tx!(&mut runner, ADMIN, |dags, _, _| dags.set_version_for_testing(0));
    migrate!(&mut runner, ADMIN);
    let migrated_event = event_bytes<dag_registry::DagRegistryMigrated>();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let mut fields = field(object::id(dags));
        fields.append(field(1u64));
        assert_eq!(migrated_event, fields);
        let (dag, name) = draft(dags, tools, ctx);
        dag.save_draft(ctx);
        name.share();
    });
    runner.end();
}

#[test, expected_failure(abort_code = dag_registry::EWrongVersion)]
fun draft_rejects_a_registry_of_another_version() {
    let mut runner = start();
    dag_tx!(&mut runner, ALICE, |dags, tools, ctx| {
        let (dag, name) = draft(dags, tools, ctx);
        dags.set_version_for_testing(2);
        draft_version(dags, tools, &name, FLOW_2, vector[ADD], ctx).save_draft(ctx);
        dag.save_draft(ctx);
        name.share();
    });
    abort
}

#[test, expected_failure(abort_code = dag_registry::EAlreadyMigrated)]
fun migrate_rejects_the_same_version() {
    let mut runner = start();
    migrate!(&mut runner, ADMIN);
    abort
}

#[test, expected_failure(abort_code = owner::ENotOwner)]
fun migrate_rejects_another_sender() {
    let mut runner = start();
    dag_tx!(&mut runner, ADMIN, |dags, _, _| dags.set_version_for_testing(0));
    migrate!(&mut runner, ALICE);
    abort
}

macro fun migrate($runner: &mut Runner, $sender: address) {
    let runner = $runner;
    let scenario = runner.next_tx($sender);
    let admin = scenario.take_shared<Admin>();
    let mut dags = scenario.take_shared<DagRegistry>();
    dags.migrate(&admin, scenario.ctx());
    test_scenario::return_shared(dags);
    test_scenario::return_shared(admin);
}
