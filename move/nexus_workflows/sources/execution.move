/// An execution of a workflow: its funds, its runs, and who carries them.
///
/// Its owner begins it with an entry group, the values of its entry ports, funds, the highest
/// price of each tool, and one or two leaders, in order. A step is one transaction of a worker:
/// it closes an invocation, `advance`s the execution by it, and `request`s what is ready since.
/// Values stay in the closed invocations; what travels is where they are.
///
/// Money. A run's invocation is paid from the funds, at today's price, and what is left of its
/// payment comes back with `advance`. Whoever writes records for the execution is paid what Sui
/// takes for storing them, to the byte; who removes them gets that from Sui. Where funds do not
/// cover what a step would need, nothing happens until somebody `refill`s them.
///
/// A step is paid what it computes, too, beyond what the fees of invocations cover. An execution
/// that is cancelled, terminated or too late pays its funds back at once, but for what
/// invocations hold that are under way: that is for as long as the longest timeout, at most, to
/// which the owner consented.
///
/// `advance`, `gather`, `cancel` and `expire` depend on no version of the package and on no
/// setting: funds are never locked in. What is left in the end is removed by `cleaning`.
///
/// A schedule may have begun it: that collects its funds as soon as it goes on no more.
module nexus_workflows::execution;

use nexus_tools::attempt;
use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::payment;
use nexus_tools::run::{Self, Run};
use nexus_tools::settling;
use nexus_tools::tool::Tool;
use nexus_tools::value::{Ports, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::records::{Self, Instance, Records};
use nexus_workflows::terms::{Self, Terms};
use nexus_workflows::walks::{Self, Change, Walks};
use std::ascii::String;
use std::bcs;
use sui::balance::Balance;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::dynamic_field as field;
use sui::event;
use sui::sui::SUI;

// === Errors ===

/// The settings were changed since: look at them again.
const ESettingsChanged: u64 = 0;
/// The workflow has no entry group of this number.
const ENoGroup: u64 = 1;
/// There is not one highest price for each tool of the workflow.
const ELengthMismatch: u64 = 2;
/// An execution lasts 90 days at most.
const ETooLong: u64 = 3;
/// `max_outcome_bytes` is larger than the registry's `max_ports_bytes`.
const EOutcomeLimitTooLarge: u64 = 4;
/// The leader takes no invocations: name another one.
const ELeaderNotActive: u64 = 5;
/// The same leader is named twice.
const ESameLeader: u64 = 6;
/// The vertex has its entry values already.
const EValuesGiven: u64 = 7;
/// This is another workflow than that of the execution.
const EWrongDag: u64 = 8;
/// The execution does not name this leader.
const ENotNamed: u64 = 9;
/// The sender is neither a worker of the leader nor the owner of the execution.
const ENotWorker: u64 = 10;
/// The vertex has another tool.
const EWrongTool: u64 = 11;
/// The execution was begun with a newer version of the package: go on with that one.
const EWrongVersion: u64 = 12;
/// The invocation does not belong to this execution.
const EWrongExecution: u64 = 13;
/// The sender does not own the execution.
const ENotOwner: u64 = 14;
/// The execution has ended.
const EEnded: u64 = 15;
/// The time of the execution is not over.
const ENotOver: u64 = 16;
/// The entry values are larger than the registry's `max_ports_bytes`: use remote values.
const EValuesTooLarge: u64 = 17;
/// The funds do not cover what this step computes: `refill` them.
const EFundsShort: u64 = 18;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MAX_DAYS: u64 = 90;
/// One command requests so many iterations at most: beyond, gas grows steeply.
const MAX_ITERATIONS: u64 = 32;
/// What Sui counts for an execution beyond its fields.
const OBJECT_BYTES: u64 = 143;

const TERMINATED: vector<u8> = b"terminated";
const CANCELLED: vector<u8> = b"cancelled";
const TIMED_OUT: vector<u8> = b"timed_out";

// === Events ===

/// An execution was begun.
public struct ExecutionBegun has copy, drop {
    execution: ID,
    dag: ID,
    fqn: String,
    owner: address,
    schedule: Option<ID>,
    leaders: vector<ID>,
    group: u8,
    funds_mist: u64,
    deadline_ms: u64,
    change: Change,
}

/// An execution went on with the outcome of a run.
public struct ExecutionAdvanced has copy, drop {
    execution: ID,
    invocation: ID,
    run: Run,
    change: Change,
}

/// A run was not requested, which is a failure of it.
public struct RunRefused has copy, drop {
    execution: ID,
    run: Run,
    reason: String,
    change: Change,
}

/// What a region gathered was brought out of it.
public struct RegionGathered has copy, drop {
    execution: ID,
    region: Instance,
    change: Change,
}

/// The funds of an execution do not cover what it would need to go on.
public struct ExecutionShort has copy, drop {
    execution: ID,
    owner: address,
    needed_mist: u64,
    funds_mist: u64,
}

/// The funds of an execution were filled up.
public struct ExecutionRefilled has copy, drop {
    execution: ID,
    amount_mist: u64,
    funds_mist: u64,
}

/// Other leaders carry an execution from now on.
public struct ExecutionLeadersChanged has copy, drop {
    execution: ID,
    leaders: vector<ID>,
}

/// An execution was cancelled or has timed out while something is under way. That is still closed.
public struct ExecutionStopped has copy, drop {
    execution: ID,
    status: String,
}

/// Funds of an execution that goes on no more went back to its owner, or its schedule, before it has
/// ended.
public struct ExecutionRefunded has copy, drop {
    execution: ID,
    owner: address,
    amount_mist: u64,
}

/// An execution has ended, and what was left of its funds is its owner's, or its schedule's.
public struct ExecutionEnded has copy, drop {
    execution: ID,
    dag: ID,
    owner: address,
    status: String,
    steps: u64,
    refund_mist: u64,
    ended_at_ms: u64,
}

// === Structs ===

/// An execution, shared. All that happens in it writes this object: it is small.
public struct Execution has key {
    id: UID,
    dag: ID,
    owner: address,
    /// The schedule that began it, until it has collected what is left of the funds.
    schedule: Option<ID>,
    funds: Balance<SUI>,
    walks: Walks,
    /// How many runs were requested, retries and refusals included.
    steps: u64,
    /// How many invocations there are, and how many vertices have entry values.
    invocations: u64,
    entries: u64,
    ended_at_ms: Option<u64>,
}

/// The key of the terms.
public struct TermsKey() has copy, drop, store;
/// The key of the entry values of a vertex.
public struct EntryKey(u16) has copy, drop, store;

// === Public functions: beginning ===

/// Begins an execution of `dag` with one of its entry groups. The owner consents to the
/// settings of this revision; to `max_prices_mist`, for each tool; to timeouts of
/// `max_timeout_ms`; to `max_outcome_bytes` of each outcome; and to `max_steps`. Give its entry values and share it in the same
/// transaction. Aborts with `ESettingsChanged`, `ENoGroup`, `ELengthMismatch`, `ETooLong`,
/// `EOutcomeLimitTooLarge`, `ELeaderNotActive` or `leader_registry::ENotAccepting`.
public fun begin(
    registry: &LeaderRegistry,
    settings_revision: u64,
    dag: &Dag,
    group: u8,
    leader: &Leader,
    max_prices_mist: vector<u64>,
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    lasts_ms: u64,
    funds: Coin<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): Execution {
    let terms = consent(
        registry,
        settings_revision,
        dag,
        group,
        leader,
        max_prices_mist,
        max_timeout_ms,
        max_outcome_bytes,
        max_steps,
        lasts_ms,
        clock.timestamp_ms(),
    );
    let owner = ctx.sender();
    let mut self = new(dag, group, owner, option::none(), terms, funds.into_balance(), ctx);
    // The owner stored what there is.
    self.walks.records_mut().take_bytes();
    self.walks.records_mut().take_effort();
    self.walks.records_mut().take_pages();
    self.finish(clock);
    self
}

/// Gives the values of the entry ports of a vertex. Aborts with `EValuesGiven`, `EValuesTooLarge`
/// or `ENotOwner`.
public fun give(self: &mut Execution, vertex: u16, values: Ports, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(!field::exists_(&self.id, EntryKey(vertex)), EValuesGiven);
    assert!(self.terms_mut().add_entry(values.size()), EValuesTooLarge);
    self.add_entry(vertex, values);
}

/// Makes a new execution available to everyone.
public fun share(self: Execution) { transfer::share_object(self) }

/// Names the leaders that carry the execution from now on: what is under way stays with those
/// that it names. Aborts with `ENotOwner`, `EEnded` or `ELeaderNotActive`.
public fun name_leader(self: &mut Execution, leader: &Leader, ctx: &TxContext) {
    assert!(leader.is_active(), ELeaderNotActive);
    self.set_leaders(vector[object::id(leader)], ctx);
}

/// Names a second leader besides, which may close what the first one did not in its window.
/// Aborts with `ESameLeader`, and as `name_leader` does.
public fun name_backup(self: &mut Execution, leader: &Leader, ctx: &TxContext) {
    assert!(leader.is_active(), ELeaderNotActive);
    let first = self.terms().leaders()[0];
    assert!(first != object::id(leader), ESameLeader);
    self.set_leaders(vector[first, object::id(leader)], ctx);
}

// === Public functions: steps ===

/// Requests a run that is ready; false if it is not, or if funds are short. The sender is a
/// worker of a leader that the execution names, or its owner. Aborts with `EWrongDag`,
/// `EWrongTool`, `ENotNamed`, `ENotWorker` or `EWrongVersion`.
public fun request(
    self: &mut Execution,
    dag: &Dag,
    tool: &Tool,
    leader: &Leader,
    vertex: u16,
    path: vector<u32>,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    self.authorize(dag, tool, leader, vertex, ctx);
    let (run, now_ms) = (run::new(vertex, path), clock.timestamp_ms());
    if (self.is_late(clock) || !self.walks.can_take(run, now_ms)) return false;
    let read_mist = terms::request_read_mist(dag, tool, vertex, ctx);
    let needed_mist = self.terms().requests_mist(dag, tool, vertex, self.steps, 1, ctx);
    if (self.is_short(needed_mist + read_mist, 0)) return false;
    self.walks.take(run);
    self.invoke(dag, tool, run, clock, ctx);
    self.pay_worker(dag, terms::tool_mist(tool, ctx), ctx);
    self.finish(clock);
    true
}

/// Requests up to `limit` iterations that begin with a vertex, in the instance of its region
/// that has this path around it, and gives how many. The sender is as for `request`, and it
/// aborts as that does.
public fun request_iterations(
    self: &mut Execution,
    dag: &Dag,
    tool: &Tool,
    leader: &Leader,
    vertex: u16,
    path: vector<u32>,
    limit: u64,
    clock: &Clock,
    ctx: &mut TxContext,
): u64 {
    self.authorize(dag, tool, leader, vertex, ctx);
    if (self.is_late(clock)) return 0;
    // The step beyond the last one ends the execution, and is refused alone.
    let steps = (self.terms().max_steps().max(self.steps) - self.steps).max(1);
    let ready = self.walks.iterations(dag, vertex, &path);
    let mut count = ready.min(limit).min(MAX_ITERATIONS).min(steps);
    if (count == 0) return 0;
    let read_mist = terms::request_read_mist(dag, tool, vertex, ctx);
    let needed_mist = self.terms().requests_mist(dag, tool, vertex, self.steps, 1, ctx);
    if (self.is_short(needed_mist + read_mist, 0)) return 0;
    let funds_mist = self.funds.value() - read_mist;
    while (self.terms().requests_mist(dag, tool, vertex, self.steps, count, ctx) > funds_mist) {
        count = count / 2;
    };
    let runs = self.walks.take_iterations(dag, vertex, path, count);
    runs.do_ref!(|run| self.invoke(dag, tool, *run, clock, ctx));
    self.pay_worker(dag, terms::tool_mist(tool, ctx), ctx);
    self.finish(clock);
    runs.length()
}

/// Goes on with a closed invocation: takes what is left of its payment, and brings its outcome
/// to where it leads. One that nobody closed in time expires by this. Does nothing and returns
/// false if it is not closed, or did that before, or if funds do not cover what has to be
/// written. Aborts with `EWrongDag`, `EWrongExecution` or `EFundsShort`.
public fun advance(
    self: &mut Execution,
    dag: &Dag,
    invocation: &mut Invocation,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(object::id(dag) == self.dag, EWrongDag);
    let attempt = invocation.attempt();
    assert!(attempt.is_some_and!(|each| each.execution() == object::id(self)), EWrongExecution);
    let (run, id) = (attempt.destroy_some().run(), object::id(invocation));
    if (!self.walks.records().awaits(run, id)) return false;
    if (!invocation.is_closed()) {
        if (clock.timestamp_ms() < invocation.expires_at_ms()) return false;
        invocation.expire(clock);
    };
    let is_settled = invocation.state().is_settled();
    let variant = if (is_settled) option::some(invocation.state().variant()) else option::none();
    self.walks.read_edges(dag, &run, &variant);
    let rewritten_mist = self.terms().rewritten_mist(invocation.state().bytes(), ctx);
    let needed_mist = self.terms().stored_mist(walks::most_bytes(dag, &run, &variant))
        + rewritten_mist + terms::worked_mist(walks::least_effort(dag, &run, &variant), ctx);
    if (!self.walks.is_ending() && self.is_short(needed_mist, invocation.payment_mist())) return false;
    self.funds.join(invocation.take_rest(&self.id));
    let mut change = walks::no_change();
    let now_ms = clock.timestamp_ms();
    if (is_settled) {
        let ports = invocation.state().ports();
        self.walks.settle(dag, run, variant.borrow(), ports, now_ms, &mut change);
    } else {
        self.walks.fail(dag, run, invocation.state().reason(), true, now_ms, &mut change);
    };
    self.pay_worker(dag, rewritten_mist, ctx);
    let execution = object::id(self);
    event::emit(ExecutionAdvanced { execution, invocation: id, run, change });
    self.finish(clock);
    true
}

/// Brings what a region gathered out of it. Does nothing and returns false if something in it
/// is left to do, or if funds do not cover what has to be written. Aborts with `EWrongDag` or
/// `EFundsShort`.
public fun gather(
    self: &mut Execution,
    dag: &Dag,
    region: u16,
    path: vector<u32>,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(object::id(dag) == self.dag, EWrongDag);
    let instance = records::instance(region, path);
    let is_left = self.walks.records().knows(instance)
        && self.walks.records().at(instance).is_left();
    if (!is_left || self.walks.is_ending()) return false;
    self.walks.read_collects(dag, region);
    let needed_mist = self.terms().stored_mist(walks::most_gathered_bytes(dag, region))
        + terms::worked_mist(walks::least_gathered_effort(dag, region), ctx);
    if (self.is_short(needed_mist, 0)) return false;
    let mut change = walks::no_change();
    self.walks.gather(dag, instance, &mut change);
    self.pay_worker(dag, 0, ctx);
    event::emit(RegionGathered { execution: object::id(self), region: instance, change });
    self.finish(clock);
    true
}

/// Adds to the funds; anyone may. Aborts with `EEnded`.
public fun refill(self: &mut Execution, funds: Coin<SUI>) {
    assert!(self.ended_at_ms.is_none(), EEnded);
    let (execution, amount_mist) = (object::id(self), funds.value());
    let funds_mist = self.funds.join(funds.into_balance());
    event::emit(ExecutionRefilled { execution, amount_mist, funds_mist });
}

/// Ends the execution: nothing more is requested, what is under way is still closed and paid,
/// and all other funds go back at once. Aborts with `ENotOwner` or `EEnded`.
public fun cancel(self: &mut Execution, clock: &Clock, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.ended_at_ms.is_none(), EEnded);
    self.stop(CANCELLED, clock);
}

/// Ends an execution whose time is over, as `cancel` does; anyone may. Aborts with `ENotOver`
/// or `EEnded`.
public fun expire(self: &mut Execution, clock: &Clock) {
    assert!(self.ended_at_ms.is_none(), EEnded);
    assert!(clock.timestamp_ms() >= self.terms().deadline_ms(), ENotOver);
    self.stop(TIMED_OUT, clock);
}

// === Views ===

/// The workflow.
public fun dag(self: &Execution): ID { self.dag }

/// Who began it.
public fun owner(self: &Execution): address { self.owner }

/// What is left of the funds.
public fun funds_mist(self: &Execution): u64 { self.funds.value() }

/// Whether it has ended.
public fun is_ended(self: &Execution): bool { self.ended_at_ms.is_some() }

// === Package functions ===

/// With which it shows that an invocation is its own.
public(package) fun uid(self: &Execution): &UID { &self.id }

public(package) fun walks(self: &Execution): &Walks { &self.walks }

/// The value that was given for an entry port, if one was.
public(package) fun entry(self: &Execution, vertex: u16, port: &String): Option<Value> {
    if (!field::exists_(&self.id, EntryKey(vertex))) return option::none();
    let values: &Ports = field::borrow(&self.id, EntryKey(vertex));
    if (values.has(port)) option::some(values.port(port)) else option::none()
}

/// The bytes of the entry values of a vertex, which are read together.
public(package) fun entry_bytes(self: &Execution, vertex: u16): u64 {
    if (!field::exists_(&self.id, EntryKey(vertex))) return 0;
    let values: &Ports = field::borrow(&self.id, EntryKey(vertex));
    values.size()
}

// === Package functions: schedules ===

/// To what an owner consents, of an execution that begins then. Aborts as `begin` does.
public(package) fun consent(
    registry: &LeaderRegistry,
    settings_revision: u64,
    dag: &Dag,
    group: u8,
    leader: &Leader,
    max_prices_mist: vector<u64>,
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    lasts_ms: u64,
    begins_at_ms: u64,
): Terms {
    registry.check_version();
    registry.check_accepting();
    let settings = *registry.settings();
    assert!(settings.revision() == settings_revision, ESettingsChanged);
    assert!((group as u64) < dag.groups(), ENoGroup);
    assert!(max_prices_mist.length() == dag.tools().length(), ELengthMismatch);
    assert!(lasts_ms <= MAX_DAYS * DAY_MS, ETooLong);
    assert!(max_outcome_bytes <= settings.max_ports_bytes(), EOutcomeLimitTooLarge);
    assert!(leader.is_active(), ELeaderNotActive);
    let (leaders, deadline_ms) = (vector[object::id(leader)], begins_at_ms + lasts_ms);
    terms::new(
        leaders,
        settings,
        max_prices_mist,
        max_timeout_ms,
        max_outcome_bytes,
        max_steps,
        deadline_ms,
    )
}

/// Begins an execution for a schedule, shares it, and gives its id, the bytes that this stored, but
/// for the terms and the entry values, and the gas units of reading the workflow.
public(package) fun begin_scheduled(
    dag: &Dag,
    group: u8,
    owner: address,
    schedule: ID,
    terms: Terms,
    funds: Balance<SUI>,
    vertices: &vector<u16>,
    values: &vector<Ports>,
    clock: &Clock,
    ctx: &mut TxContext,
): (ID, u64, u64) {
    let mut self = new(dag, group, owner, option::some(schedule), terms, funds, ctx);
    vertices.zip_do_ref!(values, |vertex, ports| self.add_entry(*vertex, *ports));
    let records_bytes = self.walks.records_mut().take_bytes();
    self.walks.records_mut().take_effort();
    let read_units = dag.read_units(self.walks.records_mut().take_pages());
    self.finish(clock);
    let (id, bytes) = (object::id(&self), OBJECT_BYTES + bcs::to_bytes(&self).length());
    self.share();
    (id, bytes + records_bytes, read_units)
}

/// Whether it goes on no more, and what is left of it is the schedule's and was not collected.
public(package) fun is_left_to(self: &Execution, schedule: ID): bool {
    (self.is_ended() || self.walks.is_ending()) && self.schedule == option::some(schedule)
}

/// Takes all funds that no invocation under way holds.
public(package) fun take_left(self: &mut Execution): Balance<SUI> {
    let (execution, owner, amount_mist) = (object::id(self), self.owner, self.funds.value());
    if (!self.is_ended() && amount_mist > 0) {
        event::emit(ExecutionRefunded { execution, owner, amount_mist });
    };
    self.funds.withdraw_all()
}

/// Leaves the schedule that it has ended for, once; how it ended, and when it did so at the latest,
/// whoever said so when.
public(package) fun collect(self: &mut Execution): (String, u64) {
    self.schedule = option::none();
    let ended_at_ms = (*self.ended_at_ms.borrow()).min(self.terms().deadline_ms());
    (self.walks.status(), ended_at_ms)
}

// === Package functions: cleaning up ===

public(package) fun ended_at_ms(self: &Execution): Option<u64> { self.ended_at_ms }

public(package) fun records_mut(self: &mut Execution): &mut Records { self.walks.records_mut() }

/// Removes the entry values of a vertex, if it has some.
public(package) fun remove_entry(self: &mut Execution, vertex: u16) {
    if (!field::exists_(&self.id, EntryKey(vertex))) return;
    let _: Ports = field::remove(&mut self.id, EntryKey(vertex));
    self.entries = self.entries - 1;
}

/// Deletes an invocation. Aborts with `invocation::EWrongExecution`.
public(package) fun delete_invocation(self: &mut Execution, invocation: Invocation) {
    invocation.delete_attempt(&self.id);
    self.invocations = self.invocations - 1;
}

/// Whether nothing is left of it.
public(package) fun is_clean(self: &Execution): bool {
    let left = self.walks.records().length() + self.invocations + self.entries;
    left == 0 && self.schedule.is_none()
}

/// Deletes an execution of which nothing is left.
public(package) fun destroy(self: Execution) {
    let Execution { mut id, funds, walks, .. } = self;
    let _: Terms = field::remove(&mut id, TermsKey());
    funds.destroy_zero();
    walks.delete();
    id.delete();
}

// === Private functions: beginning ===

fun new(
    dag: &Dag,
    group: u8,
    owner: address,
    schedule: Option<ID>,
    terms: Terms,
    funds: Balance<SUI>,
    ctx: &mut TxContext,
): Execution {
    let mut change = walks::no_change();
    let mut self = Execution {
        id: object::new(ctx),
        dag: object::id(dag),
        owner,
        schedule,
        funds,
        walks: walks::begin(dag, group, &mut change, ctx),
        steps: 0,
        invocations: 0,
        entries: 0,
        ended_at_ms: option::none(),
    };
    event::emit(ExecutionBegun {
        execution: object::id(&self),
        dag: self.dag,
        fqn: dag.fqn(),
        owner,
        schedule,
        leaders: *terms.leaders(),
        group,
        funds_mist: self.funds.value(),
        deadline_ms: terms.deadline_ms(),
        change,
    });
    field::add(&mut self.id, TermsKey(), terms);
    self
}

fun add_entry(self: &mut Execution, vertex: u16, values: Ports) {
    field::add(&mut self.id, EntryKey(vertex), values);
    self.entries = self.entries + 1;
}

// === Private functions: consent ===

fun terms(self: &Execution): &Terms { field::borrow(&self.id, TermsKey()) }

fun terms_mut(self: &mut Execution): &mut Terms { field::borrow_mut(&mut self.id, TermsKey()) }

fun set_leaders(self: &mut Execution, leaders: vector<ID>, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.ended_at_ms.is_none(), EEnded);
    self.terms_mut().set_leaders(leaders);
    event::emit(ExecutionLeadersChanged { execution: object::id(self), leaders });
}

/// Others than those whom the owner chose could request at a moment that harms it.
fun authorize(
    self: &Execution,
    dag: &Dag,
    tool: &Tool,
    leader: &Leader,
    vertex: u16,
    ctx: &TxContext,
) {
    let terms = self.terms();
    assert!(object::id(dag) == self.dag, EWrongDag);
    assert!(dag.tools()[dag.vertex(vertex).tool() as u64] == object::id(tool), EWrongTool);
    assert!(terms.leaders().contains(&object::id(leader)), ENotNamed);
    assert!(leader.is_worker(ctx.sender()) || ctx.sender() == self.owner, ENotWorker);
    assert!(terms.is_carried(), EWrongVersion);
}

// === Private functions: steps ===

/// Ends an execution whose time is over; whether it was.
fun is_late(self: &mut Execution, clock: &Clock): bool {
    let is_late = clock.timestamp_ms() >= self.terms().deadline_ms();
    if (is_late && self.ended_at_ms.is_none()) self.expire(clock);
    is_late
}

/// Invokes the tool for a run that is under way, or refuses to.
fun invoke(
    self: &mut Execution,
    dag: &Dag,
    tool: &Tool,
    run: Run,
    clock: &Clock,
    ctx: &mut TxContext,
) {
    self.steps = self.steps + 1;
    self.walks.records_mut().read_vertex(run.vertex());
    self.walks.records_mut().work(records::request_effort());
    let number = dag.vertex(run.vertex()).tool();
    let refusal = self.terms().refusal(tool, number, self.steps);
    if (refusal.is_some()) {
        self.refuse(dag, run, refusal.destroy_some(), clock, ctx);
        return
    };
    let terms = self.terms();
    let attempt = attempt::new(
        object::id(self),
        run,
        self.walks.records().of(run).attempt(),
        &settling::of(tool),
        terms.settings(),
        ctx,
    );
    let keeps_detail = walks::handles_failure(dag, &run);
    let cost_mist = terms.cost_mist(&attempt, tool, ctx);
    let payment = self.funds.split(cost_mist);
    let terms = self.terms();
    let leaders = (*terms.leaders()).filter!(|leader| tool.accepts(*leader));
    let (id, bytes) = invocation::request_attempt(
        dag.permit(),
        attempt,
        tool,
        self.owner,
        leaders,
        terms.settings(),
        terms.max_outcome_bytes(),
        keeps_detail,
        payment,
        clock,
        ctx,
    );
    self.walks.records_mut().invoke(run, id);
    self.walks.records_mut().write(bytes);
    self.invocations = self.invocations + 1;
}

/// Fails a run that is not requested. The sender is paid as for failing an invocation: its
/// owner alone could know before. What is refused now is refused again at once: so it is tried
/// again only if that is to be later.
fun refuse(
    self: &mut Execution,
    dag: &Dag,
    run: Run,
    reason: String,
    clock: &Clock,
    ctx: &TxContext,
) {
    let fee_mist = self.terms().refusal_fee_mist(ctx);
    payment::pay(self.funds.split(fee_mist), ctx.sender());
    let mut change = walks::no_change();
    self.walks.records_mut().refuse(run, reason);
    let may_retry = dag.vertex(run.vertex()).retry_after_ms() > 0;
    self.walks.fail(dag, run, reason, may_retry, clock.timestamp_ms(), &mut change);
    if (self.steps > self.terms().max_steps()) self.walks.end(TERMINATED.to_ascii_string());
    event::emit(RunRefused { execution: object::id(self), run, reason, change });
}

// === Private functions: money ===

/// Whether the funds, with what comes back, do not cover so much.
fun is_short(self: &Execution, needed_mist: u64, back_mist: u64): bool {
    let funds_mist = self.funds.value() + back_mist;
    if (funds_mist >= needed_mist) return false;
    let execution = object::id(self);
    event::emit(ExecutionShort { execution, owner: self.owner, needed_mist, funds_mist });
    true
}

/// Pays the sender what it stored, computed and read of the workflow, and more for what it read or
/// rewrote besides; at an early end, what is there of it.
fun pay_worker(self: &mut Execution, dag: &Dag, more_mist: u64, ctx: &TxContext) {
    let records = self.walks.records_mut();
    let (bytes, effort, pages) = (records.take_bytes(), records.take_effort(), records.take_pages());
    let stored_mist = self.terms().stored_mist(bytes);
    let due_mist = stored_mist + terms::worked_mist(effort, ctx) + terms::read_mist(dag, pages, ctx)
        + more_mist;
    let funds_mist = self.funds.value();
    let paid_mist = if (self.walks.is_ending()) due_mist.min(funds_mist) else due_mist;
    assert!(paid_mist <= funds_mist, EFundsShort);
    payment::pay(self.funds.split(paid_mist), ctx.sender());
}

/// Requests nothing more, and ends the execution if nothing is under way.
fun stop(self: &mut Execution, status: vector<u8>, clock: &Clock) {
    self.walks.end(status.to_ascii_string());
    if (!self.walks.is_over()) {
        event::emit(ExecutionStopped { execution: object::id(self), status: self.walks.status() });
    };
    self.finish(clock);
}

/// Ends the execution if nothing happens any more, and pays its funds back: those that nothing
/// needs any more as soon as it goes on no more, but what a schedule gave, which collects it.
fun finish(self: &mut Execution, clock: &Clock) {
    if (self.ended_at_ms.is_some()) return;
    if (!self.walks.is_over()) {
        if (self.walks.is_ending()) self.refund();
        return
    };
    let ended_at_ms = clock.timestamp_ms();
    self.ended_at_ms = option::some(ended_at_ms);
    event::emit(ExecutionEnded {
        execution: object::id(self),
        dag: self.dag,
        owner: self.owner,
        status: self.walks.status(),
        steps: self.steps,
        refund_mist: self.funds.value(),
        ended_at_ms,
    });
    if (self.schedule.is_none()) payment::pay(self.funds.withdraw_all(), self.owner);
}

/// Pays the owner back what an execution does not need any more that has not ended.
fun refund(self: &mut Execution) {
    if (self.schedule.is_none()) payment::pay(self.take_left(), self.owner);
}

#[test_only]
public fun set_version_for_testing(self: &mut Execution, version: u64) {
    self.terms_mut().set_version_for_testing(version);
}
