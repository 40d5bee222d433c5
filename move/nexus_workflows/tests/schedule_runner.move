/// Transactions on schedules: Bob's, of Alice's workflow of one tool, with the leaders of Lee and Max.
#[test_only]
module nexus_workflows::schedule_runner;

use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::test_runner::{Self, Runner, mint, port};
use nexus_tools::tool::Tool;
use nexus_tools::value::Ports;
use nexus_workflows::cleaning;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::dag_runner::{create_registry, dag_tx};
use nexus_workflows::execution::Execution;
use nexus_workflows::schedule::{Self, Schedule};
use nexus_workflows::timing::{Self, Timing};
use sui::clock::Clock;
use sui::test_scenario;

// === Constants ===

const ALICE: address = @0xA;
const BOB: address = @0xB;
const LEE: address = @0x1;
const MAX: address = @0x2;

const ADD: vector<u8> = b"xyz.example.add@1";
const FLOW: vector<u8> = b"xyz.example.flow@1";

const HOUR_MS: u64 = 3_600_000;
/// When the first execution is planned: 1 000 s after the beginning.
const FIRST_MS: u64 = 2_000_000;
const EACH_MIST: u64 = 50_000_000;
const KEEPER_FEE_MIST: u64 = 300_000;

// === Structs ===

/// A ledger with what a schedule needs.
public struct Stage {
    runner: Runner,
    lee: ID,
    max: ID,
    dag: ID,
}

/// What a schedule is created with.
public struct Wish has copy, drop {
    timing: Timing,
    overlaps: bool,
    max_failures: u64,
    max_executions: Option<u64>,
    lasts_ms: u64,
    funds_mist: u64,
}

// === Life ===

/// Two leaders, a tool for 5 000 000 MIST, and a workflow whose one vertex has an entry port `a`.
public fun start(): Stage {
    let mut runner = test_runner::start();
    let (lee, max) = (runner.register_leader(LEE), runner.register_leader(MAX));
    create_registry(&mut runner);
    runner.register(ALICE, ADD, 5_000_000, vector[lee, max]);
    let dag = publish(&mut runner, FLOW, 1);
    Stage { runner, lee, max, dag }
}

public fun end(self: Stage) {
    let Stage { runner, .. } = self;
    runner.end();
}

public fun runner(self: &mut Stage): &mut Runner { &mut self.runner }

public fun lee(self: &Stage): ID { self.lee }

public fun max(self: &Stage): ID { self.max }

public fun dag(self: &Stage): ID { self.dag }

/// Takes another workflow from now on.
public fun with_dag(self: &mut Stage, dag: ID) { self.dag = dag }

/// Another workflow, with so many vertices of the same tool.
public fun publish(runner: &mut Runner, fqn: vector<u8>, vertices: u64): ID {
    let mut id = @0x0.to_id();
    dag_tx!(runner, ALICE, |dags, tools, ctx| {
        let (mut dag, name) = dag::draft(
            dags,
            tools,
            fqn.to_ascii_string(),
            b"Adds.".to_string(),
            vector::tabulate!(32, |_| 7),
            vector[ADD.to_ascii_string()],
            ctx,
        );
        let numbers = vector::tabulate!(vertices, |i| i as u16);
        dag.add_group(b"all".to_ascii_string(), numbers);
        dag.add_vertices(
            numbers.map!(|_| 0),
            numbers.map!(|_| vector[]),
            numbers.map!(|_| vector[0]),
            numbers.map!(|_| 1),
            numbers.map!(|_| 0),
            numbers.map!(|_| 1),
            numbers.map!(|_| true),
        );
        let (places, names) = (numbers.map!(|i| i as u8), numbers.map!(|_| b"a".to_ascii_string()));
        dag.add_ports(0, places, names, numbers.map!(|_| 1));
        id = object::id(&dag);
        name.share();
        dag.check(0);
        dag.publish(ctx);
    });
    id
}

// === Wishes ===

/// Every hour from 2 000 s on, one after the other, for 1 SUI.
public fun hourly(): Wish { wish(every_hour(option::none())) }

/// The same, but what is later than this is missed.
public fun hourly_unless_late(max_late_ms: u64): Wish { wish(every_hour(option::some(max_late_ms))) }

/// At other times, one after the other, for 1 SUI.
public fun wish(timing: Timing): Wish {
    Wish {
        timing,
        overlaps: false,
        max_failures: 0,
        max_executions: option::none(),
        lasts_ms: 600_000,
        funds_mist: 1_000_000_000,
    }
}

/// Whenever something is minted, but once in 10 s and 100 times a day.
public fun on_event(): Wish { on_event_daily(100) }

/// The same, but so many times a day.
public fun on_event_daily(max_per_day: u64): Wish {
    wish(timing::on_event(b"0x2::coin::Minted".to_ascii_string(), 10_000, max_per_day))
}

public fun overlapping(mut self: Wish): Wish {
    self.overlaps = true;
    self
}

public fun failing(mut self: Wish, max_failures: u64): Wish {
    self.max_failures = max_failures;
    self
}

public fun times(mut self: Wish, max: u64): Wish {
    self.max_executions = option::some(max);
    self
}

public fun lasting(mut self: Wish, lasts_ms: u64): Wish {
    self.lasts_ms = lasts_ms;
    self
}

public fun funded(mut self: Wish, funds_mist: u64): Wish {
    self.funds_mist = funds_mist;
    self
}

public fun timing(self: &Wish): Timing { self.timing }

// === Acts ===

/// Bob creates a schedule, whose executions last 10 minutes at most, and names Lee's leader and then Max's.
public fun create(self: &mut Stage, wish: Wish): ID {
    self.create_with(wish, EACH_MIST, KEEPER_FEE_MIST, port(b"a", b"1"))
}

public fun create_with(
    self: &mut Stage,
    wish: Wish,
    each_mist: u64,
    keeper_fee_mist: u64,
    values: Ports,
): ID {
    let (lee, max, dag) = (self.lee, self.max, self.dag);
    let scenario = self.runner.next_tx(BOB);
    let registry = scenario.take_shared<LeaderRegistry>();
    let (first, backup) = (
        scenario.take_shared_by_id<Leader>(lee),
        scenario.take_shared_by_id<Leader>(max),
    );
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let funds = mint(wish.funds_mist, scenario.ctx());
    let mut schedule = schedule::create(
        &registry,
        registry.settings().revision(),
        &dag,
        0,
        &first,
        vector[5_000_000],
        3_600_000,
        100,
        10,
        wish.lasts_ms,
        wish.timing,
        each_mist,
        keeper_fee_mist,
        wish.overlaps,
        wish.max_failures,
        wish.max_executions,
        funds,
        scenario.ctx(),
    );
    schedule.give(0, values, scenario.ctx());
    schedule.name_backup(&backup, scenario.ctx());
    let id = object::id(&schedule);
    schedule.share();
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(backup);
    test_scenario::return_shared(first);
    test_scenario::return_shared(registry);
    id
}

/// A transaction of `$sender` on a schedule, the registry of leaders, the workflow and a leader.
public macro fun keeper_tx(
    $self: &mut Stage,
    $sender: address,
    $schedule: ID,
    $leader: ID,
    $f: |&mut Schedule, &LeaderRegistry, &Dag, &Leader, &Clock, &mut TxContext|,
) {
    let self = $self;
    let (dag, leader) = (self.dag(), $leader);
    let scenario = self.runner().next_tx($sender);
    let registry = scenario.take_shared<LeaderRegistry>();
    let leader = scenario.take_shared_by_id<Leader>(leader);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let clock = scenario.take_shared<Clock>();
    let mut schedule = scenario.take_shared_by_id<Schedule>($schedule);
    $f(&mut schedule, &registry, &dag, &leader, &clock, scenario.ctx());
    test_scenario::return_shared(schedule);
    test_scenario::return_shared(clock);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(registry);
}

/// A transaction of `$sender` on a schedule.
public macro fun schedule_tx(
    $self: &mut Stage,
    $sender: address,
    $schedule: ID,
    $f: |&mut Schedule, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.runner().next_tx($sender);
    let clock = scenario.take_shared<Clock>();
    let mut schedule = scenario.take_shared_by_id<Schedule>($schedule);
    $f(&mut schedule, &clock, scenario.ctx());
    test_scenario::return_shared(schedule);
    test_scenario::return_shared(clock);
}

/// A transaction of `$sender` on an execution, its workflow, tool and leader.
public macro fun execution_tx(
    $self: &mut Stage,
    $sender: address,
    $execution: ID,
    $f: |&mut Execution, &Dag, &Tool, &Leader, &Clock, &mut TxContext|,
) {
    let self = $self;
    let (dag, leader, tool) = (self.dag(), self.lee(), self.tool());
    let scenario = self.runner().next_tx($sender);
    let leader = scenario.take_shared_by_id<Leader>(leader);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let dag = scenario.take_immutable_by_id<Dag>(dag);
    let clock = scenario.take_shared<Clock>();
    let mut execution = scenario.take_shared_by_id<Execution>($execution);
    $f(&mut execution, &dag, &tool, &leader, &clock, scenario.ctx());
    test_scenario::return_shared(execution);
    test_scenario::return_shared(clock);
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(tool);
    test_scenario::return_shared(leader);
}

public fun tool(self: &Stage): ID { self.runner.id_of(ADD) }

/// Lets Lee trigger, and gives whether that began something.
public fun trigger(self: &mut Stage, schedule: ID): bool {
    let (lee, mut begun) = (self.lee, false);
    self.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        begun = schedule.trigger(registry, dag, leader, clock, ctx);
    });
    begun
}

/// Lets the worker of a leader tell an event of a checkpoint, and gives whether that began something.
public fun tell(self: &mut Stage, sender: address, schedule: ID, checkpoint: u64): bool {
    let (leader, mut begun) = (if (sender == LEE) self.lee else self.max, false);
    self.keeper_tx!(sender, schedule, leader, |schedule, registry, dag, leader, clock, ctx| {
        begun = schedule.trigger_by_event(registry, dag, leader, checkpoint, 0, 0, clock, ctx);
    });
    begun
}

/// Lets Lee trigger, which begins an execution.
public fun begin(self: &mut Stage, schedule: ID): ID {
    assert!(self.trigger(schedule));
    self.last_execution()
}

/// The execution that the last transaction shared.
public fun last_execution(self: &mut Stage): ID {
    self.runner.next_tx(LEE);
    test_scenario::most_recent_id_shared<Execution>().destroy_some()
}

/// Lets anyone collect, and gives whether that did something.
public fun collect(self: &mut Stage, schedule: ID, execution: ID): bool {
    let mut collected = false;
    self.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        collected = schedule.collect(execution);
    });
    collected
}

/// A transaction of `$sender` on a schedule and an execution.
public macro fun collect_tx(
    $self: &mut Stage,
    $sender: address,
    $schedule: ID,
    $execution: ID,
    $f: |&mut Schedule, &mut Execution|,
) {
    let self = $self;
    let scenario = self.runner().next_tx($sender);
    let mut schedule = scenario.take_shared_by_id<Schedule>($schedule);
    let mut execution = scenario.take_shared_by_id<Execution>($execution);
    $f(&mut schedule, &mut execution);
    test_scenario::return_shared(execution);
    test_scenario::return_shared(schedule);
}

/// Lets Lee carry an execution to its end, which succeeds or fails, and gives the invocation.
public fun carry(self: &mut Stage, execution: ID, succeeds: bool): ID {
    self.execution_tx!(LEE, execution, |execution, dag, tool, leader, clock, ctx| {
        assert!(execution.request(dag, tool, leader, 0, vector[], clock, ctx));
    });
    self.runner.next_tx(LEE);
    let invocation = test_scenario::most_recent_id_shared<Invocation>().destroy_some();
    let lee = self.lee;
    self.runner.invocation_tx!(LEE, invocation, lee, |invocation, leader, clock, ctx| {
        if (succeeds) {
            assert!(invocation.settle(leader, test_runner::ok(), test_runner::sum(), clock, ctx));
        } else {
            let (reason, detail) = (b"unreachable".to_ascii_string(), b"DNS".to_string());
            assert!(invocation.fail(leader, reason, detail, clock, ctx));
        };
    });
    let mut closed = self.runner.next_tx(LEE).take_shared_by_id<Invocation>(invocation);
    self.execution_tx!(LEE, execution, |execution, dag, _, _, clock, ctx| {
        assert!(execution.advance(dag, &mut closed, clock, ctx));
        assert!(execution.is_ended());
    });
    test_scenario::return_shared(closed);
    invocation
}

/// Deletes a schedule.
public fun delete(self: &mut Stage, sender: address, schedule: ID) {
    let scenario = self.runner.next_tx(sender);
    let schedule = scenario.take_shared_by_id<Schedule>(schedule);
    schedule.delete(scenario.ctx());
}

/// Deletes an execution.
public fun delete_execution(self: &mut Stage, sender: address, execution: ID) {
    let scenario = self.runner.next_tx(sender);
    let clock = scenario.take_shared<Clock>();
    let execution = scenario.take_shared_by_id<Execution>(execution);
    cleaning::delete(execution, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
}

/// Lets an execution end by its deadline.
public fun expire(self: &mut Stage, execution: ID) {
    self.runner.advance(600_000);
    self.execution_tx!(ALICE, execution, |execution, _, _, _, clock, _| execution.expire(clock));
}

/// Lets time pass until then.
public fun wait_until(self: &mut Stage, time_ms: u64) {
    let now_ms = self.now_ms();
    self.runner.advance(time_ms - now_ms);
}

public fun now_ms(self: &mut Stage): u64 {
    let clock = self.runner.next_tx(ALICE).take_shared<Clock>();
    let now_ms = clock.timestamp_ms();
    test_scenario::return_shared(clock);
    now_ms
}

public fun funds_mist(self: &mut Stage, schedule: ID): u64 {
    let mut funds_mist = 0;
    self.schedule_tx!(BOB, schedule, |schedule, _, _| funds_mist = schedule.funds_mist());
    funds_mist
}

public fun next_at_ms(self: &mut Stage, schedule: ID): Option<u64> {
    let mut next_at_ms = option::none();
    self.schedule_tx!(BOB, schedule, |schedule, _, _| next_at_ms = schedule.next_at_ms());
    next_at_ms
}

public fun is_paused(self: &mut Stage, schedule: ID): bool {
    let mut is_paused = false;
    self.schedule_tx!(BOB, schedule, |schedule, _, _| is_paused = schedule.is_paused());
    is_paused
}

// === Helpers ===

fun every_hour(max_late_ms: Option<u64>): Timing {
    timing::every(HOUR_MS, FIRST_MS, option::none(), max_late_ms)
}
