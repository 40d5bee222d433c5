/// Helpers for transactions on schedules of Bob. The workflow belongs to Alice and has one tool.
/// The leaders belong to Lee and Max.
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
/// The first planned time, which is 1 000 s after the start.
const FIRST_MS: u64 = 2_000_000;
const EACH_MIST: u64 = 50_000_000;
const KEEPER_FEE_MIST: u64 = 300_000;

// === Structs ===

/// A test ledger with the objects that a schedule needs.
public struct Stage {
    runner: Runner,
    lee: ID,
    max: ID,
    dag: ID,
}

/// The arguments for creating a schedule.
public struct Config has copy, drop {
    timing: Timing,
    overlaps: bool,
    max_failures: u64,
    max_executions: Option<u64>,
    duration_ms: u64,
    funds_mist: u64,
}

// === Setup ===

/// Create two leaders, a tool with a price of 5 000 000 MIST, and a workflow whose only vertex has
/// an entry port `a`.
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

/// Use another workflow from now on.
public fun with_dag(self: &mut Stage, dag: ID) { self.dag = dag }

/// Publish another workflow with `vertices` vertices, which all use the same tool.
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
        dag.check_page(0);
        dag.publish(ctx);
    });
    id
}

// === Configurations ===

/// Return the arguments for an hourly schedule from 2 000 s on, without overlap, with 1 SUI.
public fun hourly(): Config { config(every_hour(option::none())) }

/// Return the arguments for an hourly schedule with a maximum lateness.
public fun hourly_with_lateness(max_late_ms: u64): Config {
    config(every_hour(option::some(max_late_ms)))
}

/// Return the arguments for a schedule with this timing, without overlap, with 1 SUI.
public fun config(timing: Timing): Config {
    Config {
        timing,
        overlaps: false,
        max_failures: 0,
        max_executions: option::none(),
        duration_ms: 600_000,
        funds_mist: 1_000_000_000,
    }
}

/// Return the arguments for an event schedule with a pause of 10 s and a daily limit of 100.
public fun on_event(): Config { on_event_daily(100) }

/// Return the arguments for an event schedule with a pause of 10 s and this daily limit.
public fun on_event_daily(max_per_day: u64): Config {
    config(timing::on_event(b"0x2::coin::Minted".to_ascii_string(), 10_000, max_per_day))
}

public fun with_overlap(mut self: Config): Config {
    self.overlaps = true;
    self
}

public fun with_max_failures(mut self: Config, max_failures: u64): Config {
    self.max_failures = max_failures;
    self
}

public fun with_max_executions(mut self: Config, max: u64): Config {
    self.max_executions = option::some(max);
    self
}

public fun with_duration(mut self: Config, duration_ms: u64): Config {
    self.duration_ms = duration_ms;
    self
}

public fun with_funds(mut self: Config, funds_mist: u64): Config {
    self.funds_mist = funds_mist;
    self
}

public fun timing(self: &Config): Timing { self.timing }

// === Transactions ===

/// Let Bob create a schedule with Lee's leader, and with Max's leader as the backup. Executions
/// have a duration of 10 minutes.
public fun create(self: &mut Stage, config: Config): ID {
    self.create_with(config, EACH_MIST, KEEPER_FEE_MIST, port(b"a", b"1"))
}

public fun create_with(
    self: &mut Stage,
    config: Config,
    funds_per_execution_mist: u64,
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
    let funds = mint(config.funds_mist, scenario.ctx());
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
        config.duration_ms,
        config.timing,
        funds_per_execution_mist,
        keeper_fee_mist,
        config.overlaps,
        config.max_failures,
        config.max_executions,
        funds,
        scenario.ctx(),
    );
    schedule.set_entry_values(0, values, scenario.ctx());
    schedule.set_backup(&backup, scenario.ctx());
    let id = object::id(&schedule);
    schedule.share();
    test_scenario::return_immutable(dag);
    test_scenario::return_shared(backup);
    test_scenario::return_shared(first);
    test_scenario::return_shared(registry);
    id
}

/// Run a transaction of `$sender` on a schedule, the registry of leaders, the workflow and a
/// leader.
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

/// Run a transaction of `$sender` on a schedule.
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

/// Run a transaction of `$sender` on an execution, its workflow, tool and leader.
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

/// Let Lee trigger, and return whether an execution started.
public fun trigger(self: &mut Stage, schedule: ID): bool {
    let (lee, mut started) = (self.lee, false);
    self.keeper_tx!(LEE, schedule, lee, |schedule, registry, dag, leader, clock, ctx| {
        started = schedule.trigger(registry, dag, leader, clock, ctx);
    });
    started
}

/// Let the worker of a leader report an event of a checkpoint, and return whether an execution
/// started.
public fun report_event(self: &mut Stage, sender: address, schedule: ID, checkpoint: u64): bool {
    let (leader, mut started) = (if (sender == LEE) self.lee else self.max, false);
    self.keeper_tx!(sender, schedule, leader, |schedule, registry, dag, leader, clock, ctx| {
        started = schedule.trigger_by_event(registry, dag, leader, checkpoint, 0, 0, clock, ctx);
    });
    started
}

/// Let Lee trigger, and return the started execution.
public fun start_execution(self: &mut Stage, schedule: ID): ID {
    assert!(self.trigger(schedule));
    self.last_execution()
}

/// Return the execution that the last transaction shared.
public fun last_execution(self: &mut Stage): ID {
    self.runner.next_tx(LEE);
    test_scenario::most_recent_id_shared<Execution>().destroy_some()
}

/// Let an account without rights collect, and return whether the call had an effect.
public fun collect(self: &mut Stage, schedule: ID, execution: ID): bool {
    let mut collected = false;
    self.collect_tx!(ALICE, schedule, execution, |schedule, execution| {
        collected = schedule.collect(execution);
    });
    collected
}

/// Run a transaction of `$sender` on a schedule and an execution.
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

/// Let Lee run an execution to its end, with success or failure, and return the invocation.
public fun run_to_end(self: &mut Stage, execution: ID, succeeds: bool): ID {
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

/// Delete a schedule.
public fun delete(self: &mut Stage, sender: address, schedule: ID) {
    let scenario = self.runner.next_tx(sender);
    let schedule = scenario.take_shared_by_id<Schedule>(schedule);
    schedule.delete(scenario.ctx());
}

/// Delete an execution.
public fun delete_execution(self: &mut Stage, sender: address, execution: ID) {
    let scenario = self.runner.next_tx(sender);
    let clock = scenario.take_shared<Clock>();
    let execution = scenario.take_shared_by_id<Execution>(execution);
    cleaning::delete(execution, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
}

/// Expire an execution after its deadline.
public fun expire(self: &mut Stage, execution: ID) {
    self.runner.advance(600_000);
    self.execution_tx!(ALICE, execution, |execution, _, _, _, clock, _| execution.expire(clock));
}

/// Advance the clock to a time.
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
