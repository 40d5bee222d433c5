/// A schedule, which starts and pays for executions of a workflow at planned times or on events.
///
/// The owner agrees once to a standing order. The order contains the entry values, the terms and
/// the funds of each execution, the due times, and the fee of a keeper. A *keeper* is the account
/// that calls `trigger`. During the leaders' windows, only workers of the schedule's leaders may
/// call `trigger`. After these windows, anyone may call it.
///
/// *Money.* A keeper is paid only for an execution that it starts. The keeper receives the exact
/// storage cost of its writes, its gas at the current price, and the fee that the owner chose. The
/// minimum gas of a transaction is paid once per transaction. The schedule whose execution is the
/// first object that the transaction creates pays this minimum. So no occurrence is paid twice. An
/// occurrence costs nothing if it is missed or skipped, or if the funds do not cover it. The event
/// of the next execution reports such an occurrence. `collect` returns the remaining funds of an
/// execution to the schedule.
///
/// *Events.* The chain cannot verify that an event was emitted. The chain relies on the report of a
/// worker of a leader that the schedule lists. A dishonest leader can start one execution per
/// pause, up to the daily limit. The owner can then choose other leaders and reset the cursor.
///
/// `cancel`, `collect`, `pause` and `delete` are exit paths, which work with every version of the
/// package and under all settings. So an upgrade or a setting can never lock the funds.
module nexus_workflows::schedule;

use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::payment;
use nexus_tools::value::Ports;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::terms::Terms;
use nexus_workflows::timing::{Self, Occurrence, Timing};
use nexus_workflows::progress;
use std::ascii::String;
use sui::balance::Balance;
use sui::bcs;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::dynamic_field as field;
use sui::event;
use sui::hash;
use sui::sui::SUI;

// === Errors ===

/// The sender does not own the schedule.
const ENotOwner: u64 = 0;
/// The funds per execution exceed 1 000 000 SUI, or the keeper fee exceeds 1 SUI.
const EAmountTooLarge: u64 = 1;
/// The entry values are larger than the registry's `max_ports_bytes`: use remote values.
const EValuesTooLarge: u64 = 2;
/// The entry group, or the entry values, have more than 32 vertices.
const ETooManyEntries: u64 = 3;
/// The backup is the same as the first leader.
const ESameLeader: u64 = 4;
/// The leader does not accept invocations: choose another leader.
const ELeaderNotActive: u64 = 5;
/// The workflow is not the workflow of this schedule.
const EWrongDag: u64 = 6;
/// The schedule does not list this leader.
const ELeaderNotListed: u64 = 7;
/// The sender is not a worker of the leader.
const ENotWorker: u64 = 8;
/// The schedule is triggered by events, not by planned times.
const EEventSchedule: u64 = 9;
/// The schedule is triggered by planned times, not by events.
const ENotEventSchedule: u64 = 10;
/// The schedule is already paused.
const EAlreadyPaused: u64 = 11;
/// The schedule is not paused.
const ENotPaused: u64 = 12;
/// The schedule is cancelled.
const EScheduleCancelled: u64 = 13;
/// The schedule is not cancelled: call `cancel` first.
const EScheduleNotCancelled: u64 = 14;
/// Some executions of the schedule are not collected: wait until these end, then call `collect`.
const EExecutionsNotCollected: u64 = 15;

// === Constants ===

/// The time for which a leader may trigger before the next leader may also trigger.
const WINDOW_MS: u64 = 10_000;
const MAX_FUNDS_PER_EXECUTION_MIST: u64 = 1_000_000_000_000_000;
const MAX_KEEPER_FEE_MIST: u64 = 1_000_000_000;
/// The bytes that Sui counts for the terms of an execution, and for entry values, excluding their
/// fields.
const TERMS_BYTES: u64 = 275;
const ENTRY_BYTES: u64 = 276;
/// The bytes that the first event adds to a schedule.
const CURSOR_BYTES: u64 = 24;
/// An upper bound of the bytes of a new execution, excluding its records, terms and entry values.
const EXECUTION_BYTES: u64 = 500;
/// The maximum number of first runs, and of vertices with entry values. With more vertices, the gas
/// would grow steeply.
const MAX_ENTRIES: u64 = 32;
/// `GAS_UNITS` are the gas units of a transaction that collects one execution and starts another.
/// Each further execution in the transaction costs `FURTHER_GAS_UNITS`. Each first run and each
/// vertex with entry values costs `ENTRY_GAS_UNITS`. Each `BYTES_PER_GAS_UNIT` bytes of entry
/// values cost one unit.
const GAS_UNITS: u64 = 1_200;
const FURTHER_GAS_UNITS: u64 = 150;
const ENTRY_GAS_UNITS: u64 = 10;
const BYTES_PER_GAS_UNIT: u64 = 200;
/// The storage cost of such a transaction that Sui does not rebate.
const STORAGE_MIST: u64 = 300_000;
/// The byte with which Sui prefixes the digest when it derives the ID of an object.
const OBJECT_ID_SCOPE: u8 = 0xf1;

const COMPLETED: vector<u8> = b"completed";
const CANCELLED: vector<u8> = b"cancelled";

// === Events ===

/// A schedule was created.
public struct ScheduleCreated has copy, drop {
    schedule: ID,
    dag: ID,
    fqn: String,
    owner: address,
    leaders: vector<ID>,
    timing: Timing,
    next_at_ms: Option<u64>,
    funds_per_execution_mist: u64,
    keeper_fee_mist: u64,
    funds_mist: u64,
}

/// A keeper started an execution.
public struct ScheduleTriggered has copy, drop {
    schedule: ID,
    execution: ID,
    keeper: address,
    planned_at_ms: u64,
    /// The number of earlier planned times that passed without an execution.
    missed: u64,
    /// The event that made the execution due, or none.
    cursor: Option<Cursor>,
    next_at_ms: Option<u64>,
    fee_mist: u64,
    storage_mist: u64,
    funds_mist: u64,
}

/// The remaining funds of an execution returned to the schedule.
public struct ScheduleCollected has copy, drop {
    schedule: ID,
    execution: ID,
    status: String,
    amount_mist: u64,
    /// The number of planned times that passed while the execution was active.
    skipped: u64,
    /// The number of consecutive failed executions.
    failures: u64,
    is_paused: bool,
}

/// The owner paused or resumed a schedule. `next_at_ms` is the earliest time of the next execution.
public struct ScheduleActivityChanged has copy, drop {
    schedule: ID,
    active: bool,
    next_at_ms: Option<u64>,
}

/// The owner removed the cursor. Only events that are emitted later count.
public struct ScheduleCursorReset has copy, drop {
    schedule: ID,
    next_at_ms: Option<u64>,
}

/// The owner added planned times or executions.
public struct ScheduleExtended has copy, drop {
    schedule: ID,
    next_at_ms: Option<u64>,
    max_executions: Option<u64>,
}

/// The leaders of a schedule changed.
public struct ScheduleLeadersChanged has copy, drop {
    schedule: ID,
    leaders: vector<ID>,
}

/// Funds were added to a schedule.
public struct ScheduleRefilled has copy, drop {
    schedule: ID,
    amount_mist: u64,
    funds_mist: u64,
}

/// A schedule was cancelled, and its funds returned to its owner.
public struct ScheduleCancelled has copy, drop {
    schedule: ID,
    refund_mist: u64,
}

/// A schedule was deleted.
public struct ScheduleDeleted has copy, drop {
    schedule: ID,
    owner: address,
}

// === Structs ===

/// A shared schedule. The object contains only the fields that change with each execution.
public struct Schedule has key {
    id: UID,
    dag: ID,
    owner: address,
    funds: Balance<SUI>,
    /// The next planned time. For an event schedule, the time from which events count.
    next_at_ms: Option<u64>,
    /// The position of the last event that triggered the schedule.
    cursor: Option<Cursor>,
    /// The number of executions that the schedule started, and the number of uncollected
    /// executions.
    started: u64,
    running: u64,
    /// The UTC day of the last start, in days since 1970, and the number of starts on that day.
    day: u64,
    started_today: u64,
    /// The number of consecutive failures.
    failures: u64,
    is_paused: bool,
    is_cancelled: bool,
}

/// The key of the dynamic field with the standing order.
public struct StandingOrderKey() has copy, drop, store;

/// The standing order: the terms to which the owner agreed. The order is a dynamic field, so that a
/// transaction of a keeper can read the order without rewriting it.
public struct StandingOrder has drop, store {
    timing: Timing,
    group: u8,
    /// The vertices with entry values, the values, and the size of the values in bytes.
    vertices: vector<u16>,
    values: vector<Ports>,
    values_bytes: u64,
    /// The terms of each execution. The deadline in the terms is relative to the start of the
    /// execution.
    terms: Terms,
    /// The funds of each execution.
    funds_per_execution_mist: u64,
    /// The fee that a keeper receives in addition to its costs.
    keeper_fee_mist: u64,
    /// Whether an execution may start while another execution is active.
    overlaps: bool,
    /// The number of consecutive failures that pauses the schedule. The value 0 means no limit.
    max_failures: u64,
    /// The maximum number of executions, or none.
    max_executions: Option<u64>,
}

/// The position of an event.
///
/// `transaction` is the number of the transaction in the checkpoint, and `event` is the number of
/// the event in the transaction.
public struct Cursor has copy, drop, store {
    checkpoint: u64,
    transaction: u64,
    event: u64,
}

// === Public functions: creation ===

/// Create a schedule of executions of `dag`, with the same terms as `execution::start`.
///
/// Each execution receives `funds_per_execution_mist`, and its keeper earns `keeper_fee_mist`. If
/// `overlaps` is false, the schedule skips planned times while an execution is active.
/// `max_failures` consecutive failures pause the schedule. The value 0 means no limit. Set the
/// entry values and share the schedule in the same transaction. Aborts with `EAmountTooLarge`,
/// `ETooManyEntries`, and as `execution::start` does.
public fun create(
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
    timing: Timing,
    funds_per_execution_mist: u64,
    keeper_fee_mist: u64,
    overlaps: bool,
    max_failures: u64,
    max_executions: Option<u64>,
    funds: Coin<SUI>,
    ctx: &mut TxContext,
): Schedule {
    assert!(funds_per_execution_mist <= MAX_FUNDS_PER_EXECUTION_MIST, EAmountTooLarge);
    assert!(keeper_fee_mist <= MAX_KEEPER_FEE_MIST, EAmountTooLarge);
    let terms = execution::create_terms(
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
        0,
    );
    assert!(dag.group(group).length() <= MAX_ENTRIES, ETooManyEntries);
    let mut self = Schedule {
        id: object::new(ctx),
        dag: object::id(dag),
        owner: ctx.sender(),
        funds: funds.into_balance(),
        next_at_ms: timing.first(),
        cursor: option::none(),
        started: 0,
        running: 0,
        day: 0,
        started_today: 0,
        failures: 0,
        is_paused: false,
        is_cancelled: false,
    };
    event::emit(ScheduleCreated {
        schedule: object::id(&self),
        dag: self.dag,
        fqn: dag.fqn(),
        owner: self.owner,
        leaders: *terms.leaders(),
        timing,
        next_at_ms: self.next_at_ms,
        funds_per_execution_mist,
        keeper_fee_mist,
        funds_mist: self.funds.value(),
    });
    let order = StandingOrder {
        timing,
        group,
        vertices: vector[],
        values: vector[],
        values_bytes: 0,
        terms,
        funds_per_execution_mist,
        keeper_fee_mist,
        overlaps,
        max_failures,
        max_executions,
    };
    field::add(&mut self.id, StandingOrderKey(), order);
    self
}

/// Set the values of the entry ports of a vertex for future executions.
///
/// The values replace earlier values of the vertex. Aborts with `ENotOwner`, `ETooManyEntries` or
/// `EValuesTooLarge`.
public fun set_entry_values(self: &mut Schedule, vertex: u16, values: Ports, ctx: &TxContext) {
    let order = self.order_mut(ctx);
    let (has, i) = order.vertices.index_of(&vertex);
    if (has) {
        order.vertices.swap_remove(i);
        order.values_bytes = order.values_bytes - order.values.swap_remove(i).size();
    };
    order.vertices.push_back(vertex);
    order.values_bytes = order.values_bytes + values.size();
    order.values.push_back(values);
    assert!(order.vertices.length() <= MAX_ENTRIES, ETooManyEntries);
    assert!(order.values_bytes <= order.terms.settings().max_ports_bytes(), EValuesTooLarge);
}

/// Share a new schedule.
public fun share(self: Schedule) { transfer::share_object(self) }

/// Set the only leader that triggers the schedule and dispatches its future executions.
///
/// Aborts with `ENotOwner` or `ELeaderNotActive`.
public fun set_leader(self: &mut Schedule, leader: &Leader, ctx: &TxContext) {
    self.set_leaders(vector[], leader, ctx);
}

/// Set the second leader, which acts if the first leader does not act.
///
/// Aborts with `ESameLeader`, and as `set_leader` does.
public fun set_backup(self: &mut Schedule, leader: &Leader, ctx: &TxContext) {
    let first = self.order().terms.leaders()[0];
    assert!(first != object::id(leader), ESameLeader);
    self.set_leaders(vector[first], leader, ctx);
}

// === Public functions: keepers ===

/// Start the due execution and pay the sender, who must be a worker of the leader.
///
/// The workers of the leader with index k may call this function from k times 10 s after the
/// planned time. Returns false without an effect if no execution is due, if another execution is
/// active, or if the funds are insufficient. Aborts with `EWrongDag`, `ELeaderNotListed`,
/// `ENotWorker`, `EEventSchedule`, `version::EWrongVersion` or `leader_registry::ENotAccepting`.
public fun trigger(
    self: &mut Schedule,
    registry: &LeaderRegistry,
    dag: &Dag,
    leader: &Leader,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let window = self.authorize(leader, ctx);
    assert!(!self.order().timing.is_on_event(), EEventSchedule);
    self.trigger_in(registry, dag, window, option::none(), clock, ctx)
}

/// Start the due execution and pay the sender, who may be anyone.
///
/// The call is possible from 10 s after the start of the last leader's window. `leader` must be a
/// leader of the schedule. Returns false if `leader` is not active, because it would not dispatch
/// the execution. The function also returns false if `trigger` would return false. Aborts with
/// `ELeaderNotListed`, and as `trigger` does.
public fun trigger_by_anyone(
    self: &mut Schedule,
    registry: &LeaderRegistry,
    dag: &Dag,
    leader: &Leader,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let leaders = self.order().terms.leaders();
    let window = leaders.length();
    assert!(leaders.contains(&object::id(leader)), ELeaderNotListed);
    assert!(!self.order().timing.is_on_event(), EEventSchedule);
    if (!leader.is_active()) return false;
    self.trigger_in(registry, dag, window, option::none(), clock, ctx)
}

/// Start an execution on an event, and pay the sender, who must be a listed leader's worker.
///
/// Each event counts once, and events count in chain order. `checkpoint`, `transaction` and `event`
/// are the numbers of the checkpoint, of the transaction in the checkpoint, and of the event in the
/// transaction. The workers of the leader with index k may call this function from k times 10 s
/// after the end of the pause. Returns false without an effect if this event or a later event was
/// already reported. The function also returns false during the pause, while another execution is
/// active, or if the funds are insufficient. Aborts with `EWrongDag`, `ELeaderNotListed`,
/// `ENotWorker`, `ENotEventSchedule`, `version::EWrongVersion` or `leader_registry::ENotAccepting`.
public fun trigger_by_event(
    self: &mut Schedule,
    registry: &LeaderRegistry,
    dag: &Dag,
    leader: &Leader,
    checkpoint: u64,
    transaction: u64,
    event: u64,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let window = self.authorize(leader, ctx);
    assert!(self.order().timing.is_on_event(), ENotEventSchedule);
    let cursor = Cursor { checkpoint, transaction, event };
    if (self.cursor.is_some_and!(|last| !cursor.is_after(last))) return false;
    self.trigger_in(registry, dag, window, option::some(cursor), clock, ctx)
}

/// Collect an ended execution and its remaining funds. Return whether the call had an effect.
///
/// Anyone may call this function. If executions may not overlap, the function skips times that were
/// planned while the execution was active. If the execution has stopped but not ended, the function
/// takes the funds that no invocation in flight holds. Call the function again after the end to
/// collect the rest. Returns false without an effect if the execution is active, was already
/// collected, or does not belong to this schedule. If the schedule is cancelled, the owner receives
/// the funds.
public fun collect(self: &mut Schedule, execution: &mut Execution): bool {
    let schedule = object::id(self);
    if (!execution.is_collectable_by(schedule)) return false;
    let funds = execution.take_free_funds();
    let amount_mist = funds.value();
    if (self.is_cancelled) payment::pay(funds, self.owner) else { self.funds.join(funds); };
    if (!execution.is_ended()) return amount_mist > 0;
    let (status, ended_at_ms) = execution.collect();
    self.running = self.running - 1;
    let skipped = self.skip(ended_at_ms);
    self.count_status(&status);
    event::emit(ScheduleCollected {
        schedule,
        execution: object::id(execution),
        status,
        amount_mist,
        skipped,
        failures: self.failures,
        is_paused: self.is_paused,
    });
    true
}

/// Add a coin to the funds. Anyone may call this function. Aborts with `EScheduleCancelled`.
public fun refill(self: &mut Schedule, funds: Coin<SUI>) {
    assert!(!self.is_cancelled, EScheduleCancelled);
    let amount_mist = funds.value();
    self.funds.join(funds.into_balance());
    let (schedule, funds_mist) = (object::id(self), self.funds.value());
    event::emit(ScheduleRefilled { schedule, amount_mist, funds_mist });
}

// === Public functions: owner ===

/// Stop starting executions. Aborts with `ENotOwner` or `EAlreadyPaused`.
public fun pause(self: &mut Schedule, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(!self.is_paused, EAlreadyPaused);
    self.is_paused = true;
    self.emit_activity();
}

/// Resume with the times that are planned from now on.
///
/// Aborts with `ENotOwner`, `ENotPaused` or `EScheduleCancelled`.
public fun resume(self: &mut Schedule, clock: &Clock, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.is_paused, ENotPaused);
    assert!(!self.is_cancelled, EScheduleCancelled);
    self.is_paused = false;
    self.failures = 0;
    self.skip_to(clock.timestamp_ms());
    self.emit_activity();
}

/// Remove the cursor, so that events that precede the last reported event count, too.
///
/// Aborts with `ENotOwner`, `ENotEventSchedule` or `EScheduleCancelled`.
public fun reset_cursor(self: &mut Schedule, clock: &Clock, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.order().timing.is_on_event(), ENotEventSchedule);
    assert!(!self.is_cancelled, EScheduleCancelled);
    self.cursor = option::none();
    self.skip_to(clock.timestamp_ms());
    event::emit(ScheduleCursorReset { schedule: object::id(self), next_at_ms: self.next_at_ms });
}

/// Append planned times to a list of times, and drop past times.
///
/// Aborts with `ENotOwner`, `EScheduleCancelled`, `timing::ENoTimeList` or `timing::EInvalidTimes`.
public fun add_times(self: &mut Schedule, times: vector<u64>, clock: &Clock, ctx: &TxContext) {
    let next_at_ms = self.next_at_ms;
    self.order_mut(ctx).timing.add_times(next_at_ms, times);
    self.plan_next(clock);
}

/// Set a later end of an interval.
///
/// Aborts with `ENotOwner`, `EScheduleCancelled` or `timing::EInvalidEnd`.
public fun extend_until(self: &mut Schedule, until_ms: u64, clock: &Clock, ctx: &TxContext) {
    self.order_mut(ctx).timing.extend_until(until_ms);
    self.plan_next(clock);
}

/// Set the maximum number of executions, including executions already started. If the number is
/// none, remove the limit.
///
/// Aborts with `ENotOwner` or `EScheduleCancelled`.
public fun set_max_executions(
    self: &mut Schedule,
    max_executions: Option<u64>,
    clock: &Clock,
    ctx: &TxContext,
) {
    self.order_mut(ctx).max_executions = max_executions;
    self.plan_next(clock);
}

/// Cancel the schedule and pay its funds to the owner. Active executions continue.
///
/// Aborts with `ENotOwner` or `EScheduleCancelled`.
public fun cancel(self: &mut Schedule, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(!self.is_cancelled, EScheduleCancelled);
    self.is_cancelled = true;
    event::emit(ScheduleCancelled {
        schedule: object::id(self),
        refund_mist: self.funds.value(),
    });
    payment::pay(self.funds.withdraw_all(), self.owner);
}

/// Delete a cancelled schedule.
///
/// Aborts with `ENotOwner`, `EScheduleNotCancelled` or `EExecutionsNotCollected`.
public fun delete(self: Schedule, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.is_cancelled, EScheduleNotCancelled);
    assert!(self.running == 0, EExecutionsNotCollected);
    let Schedule { mut id, owner, funds, .. } = self;
    let _: StandingOrder = field::remove(&mut id, StandingOrderKey());
    funds.destroy_zero();
    event::emit(ScheduleDeleted { schedule: id.to_inner(), owner });
    id.delete();
}

// === Views ===

/// Return the ID of the workflow.
public fun dag(self: &Schedule): ID { self.dag }

/// Return the address that created the schedule.
public fun owner(self: &Schedule): address { self.owner }

/// Return the remaining funds in MIST.
public fun funds_mist(self: &Schedule): u64 { self.funds.value() }

/// Return the next planned time in ms, or none.
public fun next_at_ms(self: &Schedule): Option<u64> { self.next_at_ms }

/// Return whether the schedule is paused.
public fun is_paused(self: &Schedule): bool { self.is_paused }

/// Return whether the schedule is cancelled.
public fun is_cancelled(self: &Schedule): bool { self.is_cancelled }

// === Private functions: standing order ===

fun order(self: &Schedule): &StandingOrder { field::borrow(&self.id, StandingOrderKey()) }

fun order_mut(self: &mut Schedule, ctx: &TxContext): &mut StandingOrder {
    assert!(self.owner == ctx.sender(), ENotOwner);
    field::borrow_mut(&mut self.id, StandingOrderKey())
}

fun set_leaders(self: &mut Schedule, before: vector<ID>, leader: &Leader, ctx: &TxContext) {
    assert!(leader.is_active(), ELeaderNotActive);
    let mut leaders = before;
    leaders.push_back(object::id(leader));
    self.order_mut(ctx).terms.set_leaders(leaders);
    event::emit(ScheduleLeadersChanged { schedule: object::id(self), leaders });
}

/// Check that the sender is a worker of a listed leader, and return the index of the leader.
fun authorize(self: &Schedule, leader: &Leader, ctx: &TxContext): u64 {
    let (is_named, place) = self.order().terms.leaders().index_of(&object::id(leader));
    assert!(is_named, ELeaderNotListed);
    assert!(leader.is_worker(ctx.sender()), ENotWorker);
    place
}

// === Private functions: triggering ===

fun trigger_in(
    self: &mut Schedule,
    registry: &LeaderRegistry,
    dag: &Dag,
    window: u64,
    cursor: Option<Cursor>,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let due = self.due(registry, dag, clock);
    if (due.is_none()) return false;
    let due = due.destroy_some();
    if (clock.timestamp_ms() - due.planned_at_ms() < window * WINDOW_MS) return false;
    self.start(dag, due, cursor, clock, ctx)
}

/// Return the occurrence that is due and may start, or none.
fun due(self: &Schedule, registry: &LeaderRegistry, dag: &Dag, clock: &Clock): Option<Occurrence> {
    registry.check_version();
    registry.check_accepting();
    assert!(object::id(dag) == self.dag, EWrongDag);
    let order = self.order();
    let is_over = order.max_executions.is_some_and!(|max| self.started >= *max);
    let is_taken = self.running > 0 && !order.overlaps;
    if (self.is_paused || self.is_cancelled || is_over || is_taken) return option::none();
    self.next_at_ms.and!(|next_at_ms| order.timing.due(next_at_ms, clock.timestamp_ms()))
}

/// Start an execution and pay the sender. Return false if the funds are insufficient.
fun start(
    self: &mut Schedule,
    dag: &Dag,
    due: Occurrence,
    cursor: Option<Cursor>,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let (now_ms, schedule) = (clock.timestamp_ms(), object::id(self));
    let order: &StandingOrder = field::borrow(&self.id, StandingOrderKey());
    let most_stored_mist = order.terms.storage_mist(order.max_bytes(dag));
    let most_fee_mist = order.fee_mist(dag, GAS_UNITS + dag.read_units(dag::all_page_bits()), ctx);
    let needed_mist = order.funds_per_execution_mist + most_fee_mist + most_stored_mist;
    if (self.funds.value() < needed_mist) return false;
    let (execution, bytes, read_units) = execution::start_scheduled(
        dag,
        order.group,
        self.owner,
        schedule,
        order.terms.with_start(now_ms),
        self.funds.split(order.funds_per_execution_mist),
        &order.vertices,
        &order.values,
        clock,
        ctx,
    );
    let base_units = if (is_first_created(execution, ctx)) GAS_UNITS else FURTHER_GAS_UNITS;
    let fee_mist = order.fee_mist(dag, base_units + read_units, ctx);
    let cursor_bytes = if (cursor.is_some() && self.cursor.is_none()) CURSOR_BYTES else 0;
    let storage_mist = order.terms.storage_mist(bytes + order.bytes() + cursor_bytes);
    let today = timing::day(now_ms);
    let started_today = if (self.day == today) self.started_today + 1 else 1;
    let next_at_ms = order.timing.next_after(now_ms, started_today);
    payment::pay(self.funds.split(fee_mist + storage_mist), ctx.sender());
    self.next_at_ms = next_at_ms;
    if (cursor.is_some()) self.cursor = cursor;
    self.started = self.started + 1;
    self.running = self.running + 1;
    self.day = today;
    self.started_today = started_today;
    event::emit(ScheduleTriggered {
        schedule,
        execution,
        keeper: ctx.sender(),
        planned_at_ms: due.planned_at_ms(),
        missed: due.missed(),
        cursor,
        next_at_ms,
        fee_mist,
        storage_mist,
        funds_mist: self.funds.value(),
    });
    true
}

fun is_after(self: &Cursor, other: &Cursor): bool {
    if (self.checkpoint != other.checkpoint) self.checkpoint > other.checkpoint
    else if (self.transaction != other.transaction) self.transaction > other.transaction
    else self.event > other.event
}

// === Private functions: money ===

/// Return the payment of a keeper for its gas, plus the keeper's fee.
fun fee_mist(self: &StandingOrder, dag: &Dag, base_units: u64, ctx: &TxContext): u64 {
    let entries = self.vertices.length() + dag.group(self.group).length();
    let bytes_units = self.values_bytes / BYTES_PER_GAS_UNIT;
    let units = base_units + ENTRY_GAS_UNITS * entries + bytes_units;
    units * ctx.reference_gas_price() + STORAGE_MIST + self.keeper_fee_mist
}

/// Return whether an object is the first object that this transaction creates.
///
/// Sui derives the ID of an object from the transaction digest and the number of objects created
/// before.
fun is_first_created(object: ID, ctx: &TxContext): bool {
    let mut bytes = vector[OBJECT_ID_SCOPE];
    bytes.append(*ctx.digest());
    bytes.append(bcs::to_bytes(&0u64));
    hash::blake2b256(&bytes) == object.to_bytes()
}

/// Return the size in bytes of the terms and the entry values of an execution.
fun bytes(self: &StandingOrder): u64 {
    TERMS_BYTES + self.terms.size() + ENTRY_BYTES * self.values.length() + self.values_bytes
}

/// Return the maximum number of bytes that a new execution stores.
fun max_bytes(self: &StandingOrder, dag: &Dag): u64 {
    EXECUTION_BYTES + self.bytes() + progress::max_start_bytes(dag, self.group)
}

// === Private functions: time ===

/// Skip times until the end of an execution, and return the number of skipped times.
///
/// For an event schedule, events until the end of the execution do not count.
fun skip(self: &mut Schedule, ended_at_ms: u64): u64 {
    let order: &StandingOrder = field::borrow(&self.id, StandingOrderKey());
    if (order.overlaps || self.next_at_ms.is_none()) return 0;
    let skipped = if (order.timing.is_on_event()) 0
    else order.timing.count(*self.next_at_ms.borrow(), ended_at_ms);
    self.skip_to(ended_at_ms + 1);
    skipped
}

/// Set the next planned time to the first time from `from_ms` on, unless the next time is later.
fun skip_to(self: &mut Schedule, from_ms: u64) {
    if (self.next_at_ms.is_none()) return;
    if (*self.next_at_ms.borrow() >= from_ms) return;
    self.next_at_ms = self.order().timing.next(from_ms);
}

/// Plan the next time if no time is planned, and emit an event.
fun plan_next(self: &mut Schedule, clock: &Clock) {
    assert!(!self.is_cancelled, EScheduleCancelled);
    let (timing, max_executions) = (self.order().timing, self.order().max_executions);
    if (self.next_at_ms.is_none()) self.next_at_ms = timing.next(clock.timestamp_ms() + 1);
    let (schedule, next_at_ms) = (object::id(self), self.next_at_ms);
    event::emit(ScheduleExtended { schedule, next_at_ms, max_executions });
}

/// Update the number of consecutive failures. A cancelled execution does not affect this number.
fun count_status(self: &mut Schedule, status: &String) {
    let max_failures = self.order().max_failures;
    if (*status == COMPLETED.to_ascii_string()) self.failures = 0
    else if (*status != CANCELLED.to_ascii_string()) {
        self.failures = self.failures + 1;
        if (self.failures == max_failures) self.is_paused = true;
    };
}

fun emit_activity(self: &Schedule) {
    event::emit(ScheduleActivityChanged {
        schedule: object::id(self),
        active: !self.is_paused,
        next_at_ms: self.next_at_ms,
    });
}
