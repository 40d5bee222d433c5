/// An execution of a workflow, with its funds, runs and leaders.
///
/// The owner starts an execution with an entry group, the values of its entry ports, funds, a
/// maximum price for each tool, and a leader with an optional backup. A step is one transaction of
/// a worker. The transaction closes an invocation, calls `advance` with the invocation, and calls
/// `request` for the runs that became ready. Values stay in the closed invocations, and records
/// refer to them.
///
/// *Money.* The funds pay for the invocation of each run at the current price, and `advance`
/// returns the unspent part of the payment. The sender that writes records is repaid their exact
/// storage cost. The account that deletes the records receives Sui's storage rebate. If the funds
/// do not cover a step, the step has no effect until someone calls `refill`.
///
/// The funds also pay for the computation of a step that the fees of invocations do not cover. An
/// execution that is cancelled, terminated or overdue returns its funds immediately, except for the
/// payments of invocations in flight. These payments are returned after the longest timeout to
/// which the owner agreed, or earlier.
///
/// `advance`, `gather`, `cancel` and `expire` are exit paths, which work with every version of the
/// package and under all settings. So an upgrade or a setting can never lock the funds. The module
/// `cleaning` deletes an ended execution.
///
/// If a schedule started the execution, the schedule collects the remaining funds as soon as the
/// execution stops.
module nexus_workflows::execution;

use nexus_tools::attempt;
use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::payment;
use nexus_tools::run::{Self, Run};
use nexus_tools::settlement;
use nexus_tools::tool::Tool;
use nexus_tools::value::{Ports, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::effort;
use nexus_workflows::records::{Self, Instance, Records};
use nexus_workflows::terms::{Self, Terms};
use nexus_workflows::progress::{Self, Change, Progress};
use std::ascii::String;
use std::bcs;
use sui::balance::Balance;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::dynamic_field as field;
use sui::event;
use sui::sui::SUI;

// === Errors ===

/// The registry settings changed: read them again.
const ESettingsChanged: u64 = 0;
/// The workflow does not have an entry group with this number.
const EUnknownGroup: u64 = 1;
/// The number of maximum prices differs from the number of tools of the workflow.
const ELengthMismatch: u64 = 2;
/// The duration is longer than 90 days.
const EDurationTooLong: u64 = 3;
/// `max_outcome_bytes` is larger than the registry's `max_ports_bytes`.
const EOutcomeLimitTooLarge: u64 = 4;
/// The leader does not accept invocations: choose another leader.
const ELeaderNotActive: u64 = 5;
/// The backup is the same as the first leader.
const ESameLeader: u64 = 6;
/// The vertex already has entry values.
const EValuesAlreadySet: u64 = 7;
/// The workflow is not the workflow of this execution.
const EWrongDag: u64 = 8;
/// The sender is neither a worker of the leader nor the owner of the execution.
const ENotWorker: u64 = 9;
/// The tool is not the tool of this vertex.
const EWrongTool: u64 = 10;
/// A newer version of the package started the execution: use that version.
const EWrongVersion: u64 = 11;
/// The invocation does not belong to this execution.
const EWrongExecution: u64 = 12;
/// The sender does not own the execution.
const ENotOwner: u64 = 13;
/// The execution has ended.
const EExecutionEnded: u64 = 14;
/// The deadline of the execution has not passed.
const EDeadlineNotReached: u64 = 15;
/// The entry values are larger than the registry's `max_ports_bytes`: use remote values.
const EValuesTooLarge: u64 = 16;
/// The funds do not cover the computation of this step: call `refill`.
const EInsufficientFunds: u64 = 17;
/// The execution is shared: add entry values in the transaction that starts it.
const EAlreadyShared: u64 = 18;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MAX_DAYS: u64 = 90;
/// The maximum number of iterations that one command requests. With more iterations, the gas would
/// grow steeply.
const MAX_ITERATIONS: u64 = 32;
/// The bytes that Sui counts for an execution in addition to its fields.
const OBJECT_BYTES: u64 = 143;

const TERMINATED: vector<u8> = b"terminated";
const CANCELLED: vector<u8> = b"cancelled";
const TIMED_OUT: vector<u8> = b"timed_out";

// === Events ===

/// An execution was started.
public struct ExecutionStarted has copy, drop {
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

/// An execution processed the outcome of a run.
public struct ExecutionAdvanced has copy, drop {
    execution: ID,
    invocation: ID,
    run: Run,
    change: Change,
}

/// A run was refused, so its tool was not invoked and the run failed.
public struct RunRefused has copy, drop {
    execution: ID,
    run: Run,
    reason: String,
    change: Change,
}

/// The lists that a region gathered were delivered to their targets.
public struct RegionGathered has copy, drop {
    execution: ID,
    region: Instance,
    change: Change,
}

/// The funds of an execution do not cover its next step.
public struct ExecutionUnderfunded has copy, drop {
    execution: ID,
    owner: address,
    needed_mist: u64,
    funds_mist: u64,
}

/// Funds were added to an execution.
public struct ExecutionRefilled has copy, drop {
    execution: ID,
    amount_mist: u64,
    funds_mist: u64,
}

/// The leaders of an execution changed.
public struct ExecutionLeadersChanged has copy, drop {
    execution: ID,
    leaders: vector<ID>,
}

/// An execution was cancelled or timed out while invocations were in flight. Leaders can still
/// close these invocations.
public struct ExecutionStopped has copy, drop {
    execution: ID,
    status: String,
}

/// An execution that had stopped but not ended returned funds to its owner or its schedule.
public struct ExecutionRefunded has copy, drop {
    execution: ID,
    owner: address,
    amount_mist: u64,
}

/// An execution ended. The remaining funds belong to its owner or its schedule.
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

/// A shared execution. The object is kept small, because each step rewrites it.
public struct Execution has key {
    id: UID,
    dag: ID,
    owner: address,
    /// The schedule that started the execution, and whether the schedule has collected the
    /// remaining funds.
    schedule: Option<ID>,
    is_collected: bool,
    funds: Balance<SUI>,
    progress: Progress,
    /// The number of requested runs, including retries and refusals.
    steps: u64,
    /// The number of invocations, and the number of vertices with entry values.
    invocations: u64,
    entries: u64,
    /// Whether the execution is shared. After that, entry values cannot be added.
    is_shared: bool,
    ended_at_ms: Option<u64>,
}

/// The key of the dynamic field with the terms.
public struct TermsKey() has copy, drop, store;
/// The key of the dynamic field with the entry values of a vertex.
public struct EntryKey(u16) has copy, drop, store;

// === Public functions: start ===

/// Start an execution of `dag` with one of its entry groups.
///
/// The owner agrees to the settings with revision `settings_revision`. The owner also agrees to the
/// maximum prices of the tools, and to the maximum timeout, outcome size and number of steps. The
/// deadline is `duration_ms` from now. Add the entry values and share the execution in the same
/// transaction. Aborts with `ESettingsChanged`, `EUnknownGroup`, `ELengthMismatch`,
/// `EDurationTooLong`, `EOutcomeLimitTooLarge`, `ELeaderNotActive` or
/// `leader_registry::ENotAccepting`.
public fun start(
    registry: &LeaderRegistry,
    settings_revision: u64,
    dag: &Dag,
    group: u8,
    leader: &Leader,
    max_prices_mist: vector<u64>,
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    duration_ms: u64,
    funds: Coin<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): Execution {
    let terms = create_terms(
        registry,
        settings_revision,
        dag,
        group,
        leader,
        max_prices_mist,
        max_timeout_ms,
        max_outcome_bytes,
        max_steps,
        duration_ms,
        clock.timestamp_ms(),
    );
    let owner = ctx.sender();
    let mut self = new(dag, group, owner, option::none(), terms, funds.into_balance(), ctx);
    // The owner pays for the bytes, pages and effort of the start in its own transaction.
    self.progress.records_mut().take_bytes();
    self.progress.records_mut().take_effort();
    self.progress.records_mut().take_pages();
    self.end_if_over(clock);
    self
}

/// Add the values of the entry ports of a vertex before the execution is shared.
///
/// Entry values never change after the execution is shared. Aborts with `EAlreadyShared`,
/// `EValuesAlreadySet` or `EValuesTooLarge`.
public fun add_entry_values(self: &mut Execution, vertex: u16, values: Ports) {
    assert!(!self.is_shared, EAlreadyShared);
    assert!(!field::exists_(&self.id, EntryKey(vertex)), EValuesAlreadySet);
    assert!(self.terms_mut().add_entry(values.size()), EValuesTooLarge);
    self.add_entry(vertex, values);
}

/// Share a new execution.
public fun share(mut self: Execution) {
    self.is_shared = true;
    transfer::share_object(self)
}

/// Set the only leader of the execution.
///
/// The leaders of invocations in flight do not change. Aborts with `ENotOwner`, `EExecutionEnded`
/// or `ELeaderNotActive`.
public fun set_leader(self: &mut Execution, leader: &Leader, ctx: &TxContext) {
    assert!(leader.is_active(), ELeaderNotActive);
    self.set_leaders(vector[object::id(leader)], ctx);
}

/// Set the second leader, which may close an invocation after the window of the first leader.
///
/// Aborts with `ESameLeader`, and as `set_leader` does.
public fun set_backup(self: &mut Execution, leader: &Leader, ctx: &TxContext) {
    assert!(leader.is_active(), ELeaderNotActive);
    let first = self.terms().leaders()[0];
    assert!(first != object::id(leader), ESameLeader);
    self.set_leaders(vector[first, object::id(leader)], ctx);
}

// === Public functions: steps ===

/// Request a run that is ready, and return whether it was requested.
///
/// The sender must be a worker of the leader, or the owner. Returns false if the run is not ready,
/// if the funds are insufficient, or if the execution does not list the leader. Aborts with
/// `EWrongDag`, `EWrongTool`, `ENotWorker` or `EWrongVersion`.
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
    if (!self.authorize(dag, tool, leader, vertex, ctx)) return false;
    let (run, now_ms) = (run::new(vertex, path), clock.timestamp_ms());
    if (self.expire_if_late(clock) || !self.progress.is_due(run, now_ms)) return false;
    let read_mist = terms::request_read_mist(dag, tool, vertex, ctx);
    let needed_mist = self.terms().max_requests_mist(dag, tool, vertex, self.steps, 1, ctx);
    if (self.is_underfunded(needed_mist + read_mist, 0)) return false;
    self.progress.mark_in_flight(run);
    self.invoke(dag, tool, run, clock, ctx);
    self.pay_worker(dag, terms::tool_read_mist(tool, ctx), ctx);
    self.end_if_over(clock);
    true
}

/// Request up to `limit` iterations that start with a vertex, and return their number.
///
/// `path` is the path around the region. The allowed senders and the aborts are as in `request`.
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
    if (!self.authorize(dag, tool, leader, vertex, ctx) || self.expire_if_late(clock)) return 0;
    // The first step beyond `max_steps` is refused, which may end the execution. So the function
    // requests this step alone.
    let steps = (self.terms().max_steps().max(self.steps) - self.steps).max(1);
    let ready = self.progress.ready_iterations(dag, vertex, &path);
    let mut count = ready.min(limit).min(MAX_ITERATIONS).min(steps);
    if (count == 0) return 0;
    let read_mist = terms::request_read_mist(dag, tool, vertex, ctx);
    let needed_mist = self.terms().max_requests_mist(dag, tool, vertex, self.steps, 1, ctx);
    if (self.is_underfunded(needed_mist + read_mist, 0)) return 0;
    let funds_mist = self.funds.value() - read_mist;
    while (self.terms().max_requests_mist(dag, tool, vertex, self.steps, count, ctx) > funds_mist) {
        count = count / 2;
    };
    let runs = self.progress.claim_iterations(dag, vertex, path, count);
    runs.do_ref!(|run| self.invoke(dag, tool, *run, clock, ctx));
    self.pay_worker(dag, terms::tool_read_mist(tool, ctx), ctx);
    self.end_if_over(clock);
    runs.length()
}

/// Process a closed invocation. Withdraw the unspent payment, and deliver the outcome.
///
/// If no leader closed the invocation in time, it expires first. Returns false without an effect if
/// the invocation is not closed, if it was already processed, or if the funds do not cover the
/// bytes to write. Aborts with `EWrongDag`, `EWrongExecution` or `EInsufficientFunds`.
public fun advance(
    self: &mut Execution,
    dag: &Dag,
    invocation: &mut Invocation,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(object::id(dag) == self.dag, EWrongDag);
    let attempt = invocation.attempt();
    assert!(
        attempt.is_some_and!(|attempt| attempt.execution() == object::id(self)),
        EWrongExecution,
    );
    let (run, id) = (attempt.destroy_some().run(), object::id(invocation));
    if (!self.progress.records().awaits(run, id)) return false;
    if (!invocation.is_closed()) {
        if (clock.timestamp_ms() < invocation.expires_at_ms()) return false;
        invocation.expire(clock);
    };
    let is_settled = invocation.state().is_settled();
    let variant = if (is_settled) option::some(invocation.state().variant()) else option::none();
    self.progress.note_edge_pages(dag, &run, &variant);
    let advance_mist = self.terms().advance_mist(invocation.state().size(), ctx);
    let needed_mist = self.terms().storage_mist(progress::max_closing_bytes(dag, &run, &variant))
        + advance_mist + terms::effort_mist(progress::min_closing_effort(dag, &run, &variant), ctx);
    if (!self.progress.is_ending() && self.is_underfunded(needed_mist, invocation.payment_mist())) {
        return false
    };
    self.funds.join(invocation.withdraw_remainder(&self.id));
    let mut change = progress::empty_change();
    let now_ms = clock.timestamp_ms();
    if (is_settled) {
        let ports = invocation.state().ports();
        self.progress.settle(dag, run, variant.borrow(), ports, now_ms, &mut change);
    } else {
        self.progress.fail(dag, run, invocation.state().reason(), true, now_ms, &mut change);
    };
    self.pay_worker(dag, advance_mist, ctx);
    let execution = object::id(self);
    event::emit(ExecutionAdvanced { execution, invocation: id, run, change });
    self.end_if_over(clock);
    true
}

/// Deliver the lists that a region gathered, and return whether the lists were delivered.
///
/// Returns false without an effect if the region has unfinished runs, or if the funds do not cover
/// the bytes to write. Aborts with `EWrongDag` or `EInsufficientFunds`.
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
    let is_finished = self.progress.records().has_instance(instance)
        && self.progress.records().instance_record(instance).is_finished();
    if (!is_finished || self.progress.is_ending()) return false;
    self.progress.note_collect_pages(dag, region);
    let needed_mist = self.terms().storage_mist(progress::max_gather_bytes(dag, region))
        + terms::effort_mist(progress::min_gather_effort(dag, region), ctx);
    if (self.is_underfunded(needed_mist, 0)) return false;
    let mut change = progress::empty_change();
    self.progress.gather(dag, instance, &mut change);
    self.pay_worker(dag, 0, ctx);
    event::emit(RegionGathered { execution: object::id(self), region: instance, change });
    self.end_if_over(clock);
    true
}

/// Add a coin to the funds. Anyone may call this function. Aborts with `EExecutionEnded`.
public fun refill(self: &mut Execution, funds: Coin<SUI>) {
    assert!(self.ended_at_ms.is_none(), EExecutionEnded);
    let (execution, amount_mist) = (object::id(self), funds.value());
    let funds_mist = self.funds.join(funds.into_balance());
    event::emit(ExecutionRefilled { execution, amount_mist, funds_mist });
}

/// Cancel the execution, and return its funds, except the payments of invocations in flight.
///
/// No more runs are requested. Leaders can still close invocations in flight, and are still paid
/// for closing. Aborts with `ENotOwner` or `EExecutionEnded`.
public fun cancel(self: &mut Execution, clock: &Clock, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.ended_at_ms.is_none(), EExecutionEnded);
    self.stop(CANCELLED, clock);
}

/// End an overdue execution as `cancel` does. Anyone may call this function.
///
/// Aborts with `EDeadlineNotReached` or `EExecutionEnded`.
public fun expire(self: &mut Execution, clock: &Clock) {
    assert!(self.ended_at_ms.is_none(), EExecutionEnded);
    assert!(clock.timestamp_ms() >= self.terms().deadline_ms(), EDeadlineNotReached);
    self.stop(TIMED_OUT, clock);
}

// === Views ===

/// Return the ID of the workflow.
public fun dag(self: &Execution): ID { self.dag }

/// Return the address that started the execution.
public fun owner(self: &Execution): address { self.owner }

/// Return the remaining funds in MIST.
public fun funds_mist(self: &Execution): u64 { self.funds.value() }

/// Return whether the execution has ended.
public fun is_ended(self: &Execution): bool { self.ended_at_ms.is_some() }

// === Package functions ===

/// Return the `UID` that proves that an invocation belongs to this execution.
public(package) fun uid(self: &Execution): &UID { &self.id }

public(package) fun progress(self: &Execution): &Progress { &self.progress }

/// Return the entry value of a port, or none.
public(package) fun entry(self: &Execution, vertex: u16, port: &String): Option<Value> {
    if (!field::exists_(&self.id, EntryKey(vertex))) return option::none();
    let values: &Ports = field::borrow(&self.id, EntryKey(vertex));
    if (values.has(port)) option::some(values.port(port)) else option::none()
}

/// Return the bytes of all entry values of a vertex. A transaction that reads one value reads all
/// values.
public(package) fun entry_bytes(self: &Execution, vertex: u16): u64 {
    if (!field::exists_(&self.id, EntryKey(vertex))) return 0;
    let values: &Ports = field::borrow(&self.id, EntryKey(vertex));
    values.size()
}

// === Package functions: schedules ===

/// Return the terms of an execution that starts at `starts_at_ms`. Aborts as `start` does.
public(package) fun create_terms(
    registry: &LeaderRegistry,
    settings_revision: u64,
    dag: &Dag,
    group: u8,
    leader: &Leader,
    max_prices_mist: vector<u64>,
    max_timeout_ms: u64,
    max_outcome_bytes: u64,
    max_steps: u64,
    duration_ms: u64,
    starts_at_ms: u64,
): Terms {
    registry.check_version();
    registry.check_accepting();
    let settings = *registry.settings();
    assert!(settings.revision() == settings_revision, ESettingsChanged);
    assert!((group as u64) < dag.groups(), EUnknownGroup);
    assert!(max_prices_mist.length() == dag.tools().length(), ELengthMismatch);
    assert!(duration_ms <= MAX_DAYS * DAY_MS, EDurationTooLong);
    assert!(max_outcome_bytes <= settings.max_ports_bytes(), EOutcomeLimitTooLarge);
    assert!(leader.is_active(), ELeaderNotActive);
    let (leaders, deadline_ms) = (vector[object::id(leader)], starts_at_ms + duration_ms);
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

/// Start an execution for a schedule, and share it.
///
/// Returns the execution's ID, the stored bytes excluding the terms and the entry values, and the
/// gas units for reading the workflow.
public(package) fun start_scheduled(
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
    let records_bytes = self.progress.records_mut().take_bytes();
    self.progress.records_mut().take_effort();
    let read_units = dag.read_units(self.progress.records_mut().take_pages());
    self.end_if_over(clock);
    let (id, bytes) = (object::id(&self), OBJECT_BYTES + bcs::to_bytes(&self).length());
    self.share();
    (id, bytes + records_bytes, read_units)
}

/// Return whether the execution has stopped and the schedule has not collected its remaining funds.
public(package) fun is_collectable_by(self: &Execution, schedule: ID): bool {
    let is_over = self.is_ended() || self.progress.is_ending();
    is_over && !self.is_collected && self.schedule == option::some(schedule)
}

/// Withdraw all funds, except the payments of invocations in flight.
public(package) fun take_free_funds(self: &mut Execution): Balance<SUI> {
    let (execution, owner, amount_mist) = (object::id(self), self.owner, self.funds.value());
    if (!self.is_ended() && amount_mist > 0) {
        event::emit(ExecutionRefunded { execution, owner, amount_mist });
    };
    self.funds.withdraw_all()
}

/// Mark the funds of an ended execution as collected. Call this function only once.
///
/// Returns the status, and the time of the end in ms. The time is at most the deadline, even if
/// someone called `expire` later.
public(package) fun collect(self: &mut Execution): (String, u64) {
    self.is_collected = true;
    let ended_at_ms = (*self.ended_at_ms.borrow()).min(self.terms().deadline_ms());
    (self.progress.status(), ended_at_ms)
}

// === Package functions: deletion ===

public(package) fun ended_at_ms(self: &Execution): Option<u64> { self.ended_at_ms }

public(package) fun records_mut(self: &mut Execution): &mut Records { self.progress.records_mut() }

/// Remove the entry values of a vertex, if any.
public(package) fun remove_entry(self: &mut Execution, vertex: u16) {
    if (!field::exists_(&self.id, EntryKey(vertex))) return;
    let _: Ports = field::remove(&mut self.id, EntryKey(vertex));
    self.entries = self.entries - 1;
}

/// Delete an invocation. Aborts with `invocation::EWrongExecution`.
public(package) fun delete_invocation(self: &mut Execution, invocation: Invocation) {
    invocation.delete_attempt(&self.id);
    self.invocations = self.invocations - 1;
}

/// Return whether the execution has no records, invocations, entry values or uncollected funds.
public(package) fun is_empty(self: &Execution): bool {
    let left = self.progress.records().length() + self.invocations + self.entries;
    left == 0 && (self.schedule.is_none() || self.is_collected)
}

/// Delete an empty execution.
public(package) fun destroy(self: Execution) {
    let Execution { mut id, funds, progress, .. } = self;
    let _: Terms = field::remove(&mut id, TermsKey());
    funds.destroy_zero();
    progress.delete();
    id.delete();
}

// === Private functions: start ===

fun new(
    dag: &Dag,
    group: u8,
    owner: address,
    schedule: Option<ID>,
    terms: Terms,
    funds: Balance<SUI>,
    ctx: &mut TxContext,
): Execution {
    let mut change = progress::empty_change();
    let mut self = Execution {
        id: object::new(ctx),
        dag: object::id(dag),
        owner,
        schedule,
        is_collected: false,
        funds,
        progress: progress::start(dag, group, &mut change, ctx),
        steps: 0,
        invocations: 0,
        entries: 0,
        is_shared: false,
        ended_at_ms: option::none(),
    };
    event::emit(ExecutionStarted {
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

// === Private functions: terms ===

fun terms(self: &Execution): &Terms { field::borrow(&self.id, TermsKey()) }

fun terms_mut(self: &mut Execution): &mut Terms { field::borrow_mut(&mut self.id, TermsKey()) }

fun set_leaders(self: &mut Execution, leaders: vector<ID>, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.ended_at_ms.is_none(), EExecutionEnded);
    self.terms_mut().set_leaders(leaders);
    event::emit(ExecutionLeadersChanged { execution: object::id(self), leaders });
}

/// Return whether the execution lists the leader.
///
/// A leader that the owner did not choose could send a request at a time that harms the execution.
/// The result is false for an unlisted leader, because the owner may change the leaders at any
/// time, and an abort would make a whole batch fail.
fun authorize(
    self: &Execution,
    dag: &Dag,
    tool: &Tool,
    leader: &Leader,
    vertex: u16,
    ctx: &TxContext,
): bool {
    let terms = self.terms();
    assert!(object::id(dag) == self.dag, EWrongDag);
    assert!(dag.tools()[dag.vertex(vertex).tool() as u64] == object::id(tool), EWrongTool);
    assert!(leader.is_worker(ctx.sender()) || ctx.sender() == self.owner, ENotWorker);
    assert!(terms.is_supported(), EWrongVersion);
    terms.leaders().contains(&object::id(leader))
}

// === Private functions: steps ===

/// End the execution if it is overdue, and return whether it is overdue.
fun expire_if_late(self: &mut Execution, clock: &Clock): bool {
    let is_late = clock.timestamp_ms() >= self.terms().deadline_ms();
    if (is_late && self.ended_at_ms.is_none()) self.expire(clock);
    is_late
}

/// Invoke the tool for a run in flight, or refuse the run.
fun invoke(
    self: &mut Execution,
    dag: &Dag,
    tool: &Tool,
    run: Run,
    clock: &Clock,
    ctx: &mut TxContext,
) {
    self.steps = self.steps + 1;
    self.progress.records_mut().note_vertex_page(run.vertex());
    self.progress.records_mut().add_effort(effort::request());
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
        self.progress.records().run_record(run).attempt(),
        &settlement::for_tool(tool),
        terms.settings(),
        ctx,
    );
    let stores_failure_detail = progress::handles_failure(dag, &run);
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
        stores_failure_detail,
        payment,
        clock,
        ctx,
    );
    self.progress.records_mut().set_invocation(run, id);
    self.progress.records_mut().add_bytes(bytes);
    self.invocations = self.invocations + 1;
}

/// Fail a run without invoking its tool.
///
/// The sender receives the fee for failing an invocation, because only the owner could have known
/// the reason beforehand. An immediate retry would be refused again, so the run is retried only if
/// its vertex has a retry delay.
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
    let mut change = progress::empty_change();
    self.progress.records_mut().set_refusal(run, reason);
    let may_retry = dag.vertex(run.vertex()).retry_after_ms() > 0;
    self.progress.fail(dag, run, reason, may_retry, clock.timestamp_ms(), &mut change);
    if (self.steps > self.terms().max_steps()) self.progress.end(TERMINATED.to_ascii_string());
    event::emit(RunRefused { execution: object::id(self), run, reason, change });
}

// === Private functions: money ===

/// Return whether the funds plus a refund are less than the needed amount. Emit an event if the
/// funds are insufficient.
fun is_underfunded(self: &Execution, needed_mist: u64, refund_mist: u64): bool {
    let funds_mist = self.funds.value() + refund_mist;
    if (funds_mist >= needed_mist) return false;
    let execution = object::id(self);
    event::emit(ExecutionUnderfunded { execution, owner: self.owner, needed_mist, funds_mist });
    true
}

/// Pay the sender for stored bytes, computation and read pages, and also pay `extra_mist`.
///
/// After an early end, the payment is at most the remaining funds.
fun pay_worker(self: &mut Execution, dag: &Dag, extra_mist: u64, ctx: &TxContext) {
    let records = self.progress.records_mut();
    let (bytes, effort, pages) = (
        records.take_bytes(),
        records.take_effort(),
        records.take_pages(),
    );
    let storage_mist = self.terms().storage_mist(bytes);
    let due_mist = storage_mist
        + terms::effort_mist(effort, ctx)
        + terms::read_mist(dag, pages, ctx)
        + extra_mist;
    let funds_mist = self.funds.value();
    let paid_mist = if (self.progress.is_ending()) due_mist.min(funds_mist) else due_mist;
    assert!(paid_mist <= funds_mist, EInsufficientFunds);
    payment::pay(self.funds.split(paid_mist), ctx.sender());
}

/// Stop requesting runs, and end the execution if no invocation is in flight.
fun stop(self: &mut Execution, status: vector<u8>, clock: &Clock) {
    self.progress.end(status.to_ascii_string());
    if (!self.progress.is_over()) {
        event::emit(ExecutionStopped {
            execution: object::id(self),
            status: self.progress.status(),
        });
    };
    self.end_if_over(clock);
}

/// End the execution if its progress is over, and return its funds.
///
/// After an early end, funds that no invocation holds are returned immediately. If a schedule
/// started the execution, the schedule collects the funds.
fun end_if_over(self: &mut Execution, clock: &Clock) {
    if (self.ended_at_ms.is_some()) return;
    if (!self.progress.is_over()) {
        if (self.progress.is_ending()) self.refund();
        return
    };
    let ended_at_ms = clock.timestamp_ms();
    self.ended_at_ms = option::some(ended_at_ms);
    event::emit(ExecutionEnded {
        execution: object::id(self),
        dag: self.dag,
        owner: self.owner,
        status: self.progress.status(),
        steps: self.steps,
        refund_mist: self.funds.value(),
        ended_at_ms,
    });
    if (self.schedule.is_none()) payment::pay(self.funds.withdraw_all(), self.owner);
}

/// Pay the owner the funds that a stopped execution no longer needs.
fun refund(self: &mut Execution) {
    if (self.schedule.is_none()) payment::pay(self.take_free_funds(), self.owner);
}

#[test_only]
public fun set_version_for_testing(self: &mut Execution, version: u64) {
    self.terms_mut().set_version_for_testing(version);
}
