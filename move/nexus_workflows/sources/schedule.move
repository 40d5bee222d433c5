/// A schedule: begins executions of a workflow, at planned times or by events, from funds of
/// its own.
///
/// It has a standing order, to which its owner consents once: the entry values and the terms
/// that each execution gets, its funds, when it is due, and what a keeper is paid. A *keeper*
/// is whoever `trigger`s it: first the workers of the leaders that it names, then anyone.
///
/// Money. A keeper is paid what Sui takes for storing what it wrote, to the byte, for its gas
/// at the price of the day, and the fee that the owner chose; and that only for an execution
/// that it began. The gas that each transaction takes at least is paid once in a transaction, by
/// the schedule whose execution is the first object that it creates. So nothing is paid twice for one occurrence, and what is missed, is skipped
/// or lacks funds costs nothing: it is told with the next execution. What an execution leaves
/// flows back by `collect`.
///
/// Events. The chain cannot see that one happened: a worker of a leader that the schedule names
/// says so. A leader that lies can start one execution per pause, and as many in a day as the owner
/// allowed; the owner names other leaders and resets the cursor.
///
/// `cancel`, `collect`, `pause` and `delete` depend on no version of the package and on no
/// setting: funds are never locked in.
module nexus_workflows::schedule;

use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::payment;
use nexus_tools::value::Ports;
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::execution::{Self, Execution};
use nexus_workflows::terms::Terms;
use nexus_workflows::timing::{Self, Due, Timing};
use nexus_workflows::walks;
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
/// An execution gets 1 000 000 SUI at most, and a keeper 1 SUI.
const ETooDear: u64 = 1;
/// The entry values are larger than the registry's `max_ports_bytes`: use remote values.
const EValuesTooLarge: u64 = 2;
/// A schedule begins with 32 vertices at most, and has entry values for as many.
const ETooManyEntries: u64 = 3;
/// The same leader is named twice.
const ESameLeader: u64 = 4;
/// The leader takes no invocations: name another one.
const ELeaderNotActive: u64 = 5;
/// This is another workflow than that of the schedule.
const EWrongDag: u64 = 6;
/// The schedule does not name this leader.
const ENotNamed: u64 = 7;
/// The sender is no worker of the leader.
const ENotWorker: u64 = 8;
/// The schedule waits for events: they trigger it, and planned times do not.
const EByEvent: u64 = 9;
/// The schedule has planned times: no event triggers it.
const ENotByEvent: u64 = 10;
/// The schedule is paused already.
const EPaused: u64 = 11;
/// The schedule is not paused.
const ENotPaused: u64 = 12;
/// The schedule is cancelled.
const ECancelled: u64 = 13;
/// The schedule is not cancelled: `cancel` it first.
const ENotCancelled: u64 = 14;
/// Executions that it began are not collected: wait until they have ended, and `collect` them.
const ENotCollected: u64 = 15;

// === Constants ===

/// How long each leader has before the next one.
const WINDOW_MS: u64 = 10_000;
const MAX_EACH_MIST: u64 = 1_000_000_000_000_000;
const MAX_KEEPER_FEE_MIST: u64 = 1_000_000_000;
/// What Sui counts for the terms of an execution beyond their fields, and for entry values.
const TERMS_BYTES: u64 = 275;
const ENTRY_BYTES: u64 = 276;
/// What a schedule grows by with its first event.
const CURSOR_BYTES: u64 = 24;
/// More than an execution takes that begins, but for its records, terms and entry values.
const EXECUTION_BYTES: u64 = 500;
/// Beyond so many runs and entry values, gas grows steeply.
const MAX_ENTRIES: u64 = 32;
/// The gas units of computation of a transaction that collects an execution and begins one, those
/// of another one in the same transaction, those for each run and each entry value, and in how
/// many bytes of these there is one more.
const GAS_UNITS: u64 = 1_200;
const FURTHER_GAS_UNITS: u64 = 150;
const ENTRY_GAS_UNITS: u64 = 10;
const BYTES_PER_GAS_UNIT: u64 = 200;
/// What it takes of storage that no rebate brings back.
const STORAGE_MIST: u64 = 300_000;
/// What Sui puts before the digest when it derives the id of an object.
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
    each_mist: u64,
    keeper_fee_mist: u64,
    funds_mist: u64,
}

/// A keeper began an execution.
public struct ScheduleTriggered has copy, drop {
    schedule: ID,
    execution: ID,
    keeper: address,
    planned_at_ms: u64,
    /// Planned times before it that passed without one.
    missed: u64,
    /// The event that made it due.
    cursor: Option<Cursor>,
    next_at_ms: Option<u64>,
    fee_mist: u64,
    stored_mist: u64,
    funds_mist: u64,
}

/// What was left of an execution flowed back.
public struct ScheduleCollected has copy, drop {
    schedule: ID,
    execution: ID,
    status: String,
    amount_mist: u64,
    /// Planned times that passed while it ran.
    skipped: u64,
    /// How many executions failed in a row.
    failures: u64,
    is_paused: bool,
}

/// The owner paused or resumed a schedule, which is due then at the earliest.
public struct ScheduleActivityChanged has copy, drop {
    schedule: ID,
    active: bool,
    next_at_ms: Option<u64>,
}

/// The owner let events count from now on, wherever the last one stood.
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

/// Other leaders trigger a schedule and carry its executions from now on.
public struct ScheduleLeadersChanged has copy, drop {
    schedule: ID,
    leaders: vector<ID>,
}

/// The funds of a schedule were filled up.
public struct ScheduleRefilled has copy, drop {
    schedule: ID,
    amount_mist: u64,
    funds_mist: u64,
}

/// A schedule begins nothing more, and its funds are its owner's.
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

/// A schedule, shared: what changes with each execution.
public struct Schedule has key {
    id: UID,
    dag: ID,
    owner: address,
    funds: Balance<SUI>,
    /// The first planned time that is not done with; for events, from when on they count.
    next_at_ms: Option<u64>,
    /// The last event by which it was triggered.
    cursor: Option<Cursor>,
    /// How many executions it began, and how many of them it has not collected.
    begun: u64,
    running: u64,
    /// The day of UTC of the last one, and how many began in it.
    day: u64,
    begun_today: u64,
    /// How many failed in a row.
    failures: u64,
    is_paused: bool,
    is_cancelled: bool,
}

/// The key of the order.
public struct OrderKey() has copy, drop, store;

/// To what the owner consented. It is a dynamic field, which a keeper reads and does not
/// rewrite.
public struct Order has drop, store {
    timing: Timing,
    group: u8,
    /// The vertices that have entry values, those, and the bytes that they take.
    vertices: vector<u16>,
    values: vector<Ports>,
    values_bytes: u64,
    /// Of each execution; the deadline counts from its beginning.
    terms: Terms,
    /// The funds of each execution.
    each_mist: u64,
    /// What a keeper gets beyond what it spends.
    keeper_fee_mist: u64,
    /// Whether one begins while another one runs.
    overlaps: bool,
    /// After so many failures in a row, it is paused; with 0, never.
    max_failures: u64,
    /// So many executions begin at most, if it says so.
    max_executions: Option<u64>,
}

/// Where an event stands: the number of the checkpoint, that of the transaction in it, and that
/// of the event in this.
public struct Cursor has copy, drop, store {
    checkpoint: u64,
    transaction: u64,
    event: u64,
}

// === Public functions: creation ===

/// Creates a schedule of executions of `dag`, whose terms are those of `execution::begin`. Each
/// gets `each_mist`, and `keeper_fee_mist` is what a keeper earns. If they do not overlap, what
/// is planned while one runs is skipped. `max_failures` in a row pause it (0: never). Give its
/// entry values and share it in the same transaction. Aborts with `ETooDear`,
/// `ETooManyEntries`, and as `execution::begin` does.
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
    lasts_ms: u64,
    timing: Timing,
    each_mist: u64,
    keeper_fee_mist: u64,
    overlaps: bool,
    max_failures: u64,
    max_executions: Option<u64>,
    funds: Coin<SUI>,
    ctx: &mut TxContext,
): Schedule {
    assert!(each_mist <= MAX_EACH_MIST && keeper_fee_mist <= MAX_KEEPER_FEE_MIST, ETooDear);
    let terms = execution::consent(
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
        begun: 0,
        running: 0,
        day: 0,
        begun_today: 0,
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
        each_mist,
        keeper_fee_mist,
        funds_mist: self.funds.value(),
    });
    let order = Order {
        timing,
        group,
        vertices: vector[],
        values: vector[],
        values_bytes: 0,
        terms,
        each_mist,
        keeper_fee_mist,
        overlaps,
        max_failures,
        max_executions,
    };
    field::add(&mut self.id, OrderKey(), order);
    self
}

/// Gives the values of the entry ports of a vertex in executions that begin from now on,
/// instead of those that it had. Aborts with `ENotOwner`, `ETooManyEntries` or
/// `EValuesTooLarge`.
public fun give(self: &mut Schedule, vertex: u16, values: Ports, ctx: &TxContext) {
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

/// Makes a new schedule available to everyone.
public fun share(self: Schedule) { transfer::share_object(self) }

/// Names the leader that triggers the schedule and carries its executions from now on. Aborts
/// with `ENotOwner` or `ELeaderNotActive`.
public fun name_leader(self: &mut Schedule, leader: &Leader, ctx: &TxContext) {
    self.set_leaders(vector[], leader, ctx);
}

/// Names a second leader besides, for when the first one does not. Aborts with `ESameLeader`,
/// and as `name_leader` does.
public fun name_backup(self: &mut Schedule, leader: &Leader, ctx: &TxContext) {
    let first = self.order().terms.leaders()[0];
    assert!(first != object::id(leader), ESameLeader);
    self.set_leaders(vector[first], leader, ctx);
}

// === Public functions: keepers ===

/// Begins the execution that is due and pays the sender, who is a worker of the leader. The
/// k-th leader that the schedule names, counted from 0, may do so from k times 10 s after the
/// planned time on. Does nothing and returns false if nothing is due, or another one runs, or
/// funds are short. Aborts with `EWrongDag`, `ENotNamed`, `ENotWorker`, `EByEvent`,
/// `version::EWrongVersion` or `leader_registry::ENotAccepting`.
public fun trigger(
    self: &mut Schedule,
    registry: &LeaderRegistry,
    dag: &Dag,
    leader: &Leader,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let window = self.authorize(leader, ctx);
    assert!(!self.order().timing.is_on_event(), EByEvent);
    self.trigger_in(registry, dag, window, option::none(), clock, ctx)
}

/// Begins the execution that is due and pays the sender, who may be anyone, when the windows of
/// all leaders have begun and 10 s more have passed. One of the leaders that the schedule names has
/// to be active, or nobody would carry the execution: false otherwise. Returns false and aborts as
/// `trigger` does, and with `ENotNamed`.
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
    assert!(leaders.contains(&object::id(leader)), ENotNamed);
    assert!(!self.order().timing.is_on_event(), EByEvent);
    if (!leader.is_active()) return false;
    self.trigger_in(registry, dag, window, option::none(), clock, ctx)
}

/// Begins an execution because of an event, and pays the sender, who is a worker of a leader
/// that the schedule names. Events count in their order, each once: the event is told by the
/// number of its checkpoint, of the transaction in it, and of the event in this. The k-th leader,
/// counted from 0, may do so from k times 10 s after the end of the pause on. Does nothing
/// and returns false if this event or a later one was told before, or another execution runs,
/// or the pause is not over, or funds are short. Aborts with `EWrongDag`, `ENotNamed`,
/// `ENotWorker`, `ENotByEvent`, `version::EWrongVersion` or `leader_registry::ENotAccepting`.
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
    assert!(self.order().timing.is_on_event(), ENotByEvent);
    let cursor = Cursor { checkpoint, transaction, event };
    if (self.cursor.is_some_and!(|last| !cursor.is_after(last))) return false;
    self.trigger_in(registry, dag, window, option::some(cursor), clock, ctx)
}

/// Takes back what an execution left that has ended; anyone may. What was planned while it ran
/// is skipped, unless executions overlap. Of one that goes on no more but has not ended, it takes all
/// that no invocation under way holds, and what these leave when called again. Does nothing and
/// returns false if it is none of this schedule, goes on, or was collected before. Of a schedule that
/// is cancelled, the owner gets it.
public fun collect(self: &mut Schedule, execution: &mut Execution): bool {
    let schedule = object::id(self);
    if (!execution.is_left_to(schedule)) return false;
    let funds = execution.take_left();
    let amount_mist = funds.value();
    if (self.is_cancelled) payment::pay(funds, self.owner) else { self.funds.join(funds); };
    if (!execution.is_ended()) return amount_mist > 0;
    let (status, ended_at_ms) = execution.collect();
    self.running = self.running - 1;
    let skipped = self.skip(ended_at_ms);
    self.count(&status);
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

/// Adds to the funds; anyone may. Aborts with `ECancelled`.
public fun refill(self: &mut Schedule, funds: Coin<SUI>) {
    assert!(!self.is_cancelled, ECancelled);
    let amount_mist = funds.value();
    self.funds.join(funds.into_balance());
    let (schedule, funds_mist) = (object::id(self), self.funds.value());
    event::emit(ScheduleRefilled { schedule, amount_mist, funds_mist });
}

// === Public functions: the owner ===

/// Begins nothing from now on. Aborts with `ENotOwner` or `EPaused`.
public fun pause(self: &mut Schedule, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(!self.is_paused, EPaused);
    self.is_paused = true;
    self.tell_activity();
}

/// Goes on, with what is planned from now on. Aborts with `ENotOwner`, `ENotPaused` or
/// `ECancelled`.
public fun resume(self: &mut Schedule, clock: &Clock, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.is_paused, ENotPaused);
    assert!(!self.is_cancelled, ECancelled);
    self.is_paused = false;
    self.failures = 0;
    self.go_on_from(clock.timestamp_ms());
    self.tell_activity();
}

/// Lets events count from now on, whatever place the last one had that a leader told. Aborts with
/// `ENotOwner`, `ENotByEvent` or `ECancelled`.
public fun reset_cursor(self: &mut Schedule, clock: &Clock, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.order().timing.is_on_event(), ENotByEvent);
    assert!(!self.is_cancelled, ECancelled);
    self.cursor = option::none();
    self.go_on_from(clock.timestamp_ms());
    event::emit(ScheduleCursorReset { schedule: object::id(self), next_at_ms: self.next_at_ms });
}

/// Adds planned times after the last one of a list; those that are done with make room. Aborts
/// with `ENotOwner`, `ECancelled`, `timing::ENotByTimes` or `timing::EInvalidTimes`.
public fun add_times(self: &mut Schedule, times: vector<u64>, clock: &Clock, ctx: &TxContext) {
    let next_at_ms = self.next_at_ms;
    self.order_mut(ctx).timing.add_times(next_at_ms, times);
    self.extend(clock);
}

/// Gives an interval a later end. Aborts with `ENotOwner`, `ECancelled` or `timing::EInvalidEnd`.
public fun extend_until(self: &mut Schedule, until_ms: u64, clock: &Clock, ctx: &TxContext) {
    self.order_mut(ctx).timing.extend_until(until_ms);
    self.extend(clock);
}

/// Sets how many executions begin at most, with those that began already; with none, any number.
/// Aborts with `ENotOwner` or `ECancelled`.
public fun set_max_executions(
    self: &mut Schedule,
    max_executions: Option<u64>,
    clock: &Clock,
    ctx: &TxContext,
) {
    self.order_mut(ctx).max_executions = max_executions;
    self.extend(clock);
}

/// Begins nothing more, and pays the funds to the owner. What runs goes on. Aborts with
/// `ENotOwner` or `ECancelled`.
public fun cancel(self: &mut Schedule, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(!self.is_cancelled, ECancelled);
    self.is_cancelled = true;
    event::emit(ScheduleCancelled {
        schedule: object::id(self),
        refund_mist: self.funds.value(),
    });
    payment::pay(self.funds.withdraw_all(), self.owner);
}

/// Deletes a schedule that is cancelled. Aborts with `ENotOwner`, `ENotCancelled` or
/// `ENotCollected`.
public fun delete(self: Schedule, ctx: &TxContext) {
    assert!(self.owner == ctx.sender(), ENotOwner);
    assert!(self.is_cancelled, ENotCancelled);
    assert!(self.running == 0, ENotCollected);
    let Schedule { mut id, owner, funds, .. } = self;
    let _: Order = field::remove(&mut id, OrderKey());
    funds.destroy_zero();
    event::emit(ScheduleDeleted { schedule: id.to_inner(), owner });
    id.delete();
}

// === Views ===

/// The workflow.
public fun dag(self: &Schedule): ID { self.dag }

/// Who created it.
public fun owner(self: &Schedule): address { self.owner }

/// What is left of the funds.
public fun funds_mist(self: &Schedule): u64 { self.funds.value() }

/// The first planned time that is not done with, if there is one.
public fun next_at_ms(self: &Schedule): Option<u64> { self.next_at_ms }

/// Whether it is paused.
public fun is_paused(self: &Schedule): bool { self.is_paused }

/// Whether it is cancelled.
public fun is_cancelled(self: &Schedule): bool { self.is_cancelled }

// === Private functions: the order ===

fun order(self: &Schedule): &Order { field::borrow(&self.id, OrderKey()) }

fun order_mut(self: &mut Schedule, ctx: &TxContext): &mut Order {
    assert!(self.owner == ctx.sender(), ENotOwner);
    field::borrow_mut(&mut self.id, OrderKey())
}

fun set_leaders(self: &mut Schedule, before: vector<ID>, leader: &Leader, ctx: &TxContext) {
    assert!(leader.is_active(), ELeaderNotActive);
    let mut leaders = before;
    leaders.push_back(object::id(leader));
    self.order_mut(ctx).terms.set_leaders(leaders);
    event::emit(ScheduleLeadersChanged { schedule: object::id(self), leaders });
}

/// How many leaders come before one that the schedule names.
fun authorize(self: &Schedule, leader: &Leader, ctx: &TxContext): u64 {
    let (is_named, place) = self.order().terms.leaders().index_of(&object::id(leader));
    assert!(is_named, ENotNamed);
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
    self.begin(dag, due, cursor, clock, ctx)
}

/// What is due, and may begin.
fun due(self: &Schedule, registry: &LeaderRegistry, dag: &Dag, clock: &Clock): Option<Due> {
    registry.check_version();
    registry.check_accepting();
    assert!(object::id(dag) == self.dag, EWrongDag);
    let order = self.order();
    let is_over = order.max_executions.is_some_and!(|max| self.begun >= *max);
    let is_taken = self.running > 0 && !order.overlaps;
    if (self.is_paused || self.is_cancelled || is_over || is_taken) return option::none();
    self.next_at_ms.and!(|next_at_ms| order.timing.due(next_at_ms, clock.timestamp_ms()))
}

/// Begins an execution, and pays the sender; false if funds are short.
fun begin(
    self: &mut Schedule,
    dag: &Dag,
    due: Due,
    cursor: Option<Cursor>,
    clock: &Clock,
    ctx: &mut TxContext,
): bool {
    let (now_ms, schedule) = (clock.timestamp_ms(), object::id(self));
    let order: &Order = field::borrow(&self.id, OrderKey());
    let most_stored_mist = order.terms.stored_mist(order.most_bytes(dag));
    let most_fee_mist = order.fee_mist(dag, GAS_UNITS + dag.read_units(dag::all_pages()), ctx);
    let needed_mist = order.each_mist + most_fee_mist + most_stored_mist;
    if (self.funds.value() < needed_mist) return false;
    let (execution, bytes, read_units) = execution::begin_scheduled(
        dag,
        order.group,
        self.owner,
        schedule,
        order.terms.begun_at(now_ms),
        self.funds.split(order.each_mist),
        &order.vertices,
        &order.values,
        clock,
        ctx,
    );
    let base_units = if (is_first_created(execution, ctx)) GAS_UNITS else FURTHER_GAS_UNITS;
    let fee_mist = order.fee_mist(dag, base_units + read_units, ctx);
    let cursor_bytes = if (cursor.is_some() && self.cursor.is_none()) CURSOR_BYTES else 0;
    let stored_mist = order.terms.stored_mist(bytes + order.bytes() + cursor_bytes);
    let today = timing::day(now_ms);
    let begun_today = if (self.day == today) self.begun_today + 1 else 1;
    let next_at_ms = order.timing.after(now_ms, begun_today);
    payment::pay(self.funds.split(fee_mist + stored_mist), ctx.sender());
    self.next_at_ms = next_at_ms;
    if (cursor.is_some()) self.cursor = cursor;
    self.begun = self.begun + 1;
    self.running = self.running + 1;
    self.day = today;
    self.begun_today = begun_today;
    event::emit(ScheduleTriggered {
        schedule,
        execution,
        keeper: ctx.sender(),
        planned_at_ms: due.planned_at_ms(),
        missed: due.missed(),
        cursor,
        next_at_ms,
        fee_mist,
        stored_mist,
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

/// What a keeper gets for its gas, and its fee.
fun fee_mist(self: &Order, dag: &Dag, base_units: u64, ctx: &TxContext): u64 {
    let entries = self.vertices.length() + dag.group(self.group).length();
    let bytes_units = self.values_bytes / BYTES_PER_GAS_UNIT;
    let units = base_units + ENTRY_GAS_UNITS * entries + bytes_units;
    units * ctx.reference_gas_price() + STORAGE_MIST + self.keeper_fee_mist
}

/// Whether an object is the first one that this transaction creates: Sui derives ids from the
/// digest of the transaction and the number of the object in it.
fun is_first_created(object: ID, ctx: &TxContext): bool {
    let mut bytes = vector[OBJECT_ID_SCOPE];
    bytes.append(*ctx.digest());
    bytes.append(bcs::to_bytes(&0u64));
    hash::blake2b256(&bytes) == object.to_bytes()
}

/// The bytes of the terms and the entry values of an execution.
fun bytes(self: &Order): u64 {
    TERMS_BYTES + self.terms.size() + ENTRY_BYTES * self.values.length() + self.values_bytes
}

/// The most bytes that an execution stores that begins.
fun most_bytes(self: &Order, dag: &Dag): u64 {
    EXECUTION_BYTES + self.bytes() + walks::most_begun_bytes(dag, self.group)
}

// === Private functions: time ===

/// Skips what was planned up to when an execution ended, and gives how many; events that were told
/// up to then do not count.
fun skip(self: &mut Schedule, ended_at_ms: u64): u64 {
    let order: &Order = field::borrow(&self.id, OrderKey());
    if (order.overlaps || self.next_at_ms.is_none()) return 0;
    let skipped = if (order.timing.is_on_event()) 0
    else order.timing.count(*self.next_at_ms.borrow(), ended_at_ms);
    self.go_on_from(ended_at_ms + 1);
    skipped
}

/// Goes on with what is planned from then on, if that is not done with.
fun go_on_from(self: &mut Schedule, from_ms: u64) {
    if (self.next_at_ms.is_none()) return;
    if (*self.next_at_ms.borrow() >= from_ms) return;
    self.next_at_ms = self.order().timing.next(from_ms);
}

/// Goes on with what is planned from now on if nothing was planned any more, and tells so.
fun extend(self: &mut Schedule, clock: &Clock) {
    assert!(!self.is_cancelled, ECancelled);
    let (timing, max_executions) = (self.order().timing, self.order().max_executions);
    if (self.next_at_ms.is_none()) self.next_at_ms = timing.next(clock.timestamp_ms() + 1);
    let (schedule, next_at_ms) = (object::id(self), self.next_at_ms);
    event::emit(ScheduleExtended { schedule, next_at_ms, max_executions });
}

/// Counts how an execution ended. Of one that its owner cancelled, nothing follows.
fun count(self: &mut Schedule, status: &String) {
    let max_failures = self.order().max_failures;
    if (*status == COMPLETED.to_ascii_string()) self.failures = 0
    else if (*status != CANCELLED.to_ascii_string()) {
        self.failures = self.failures + 1;
        if (self.failures == max_failures) self.is_paused = true;
    };
}

fun tell_activity(self: &Schedule) {
    event::emit(ScheduleActivityChanged {
        schedule: object::id(self),
        active: !self.is_paused,
        next_at_ms: self.next_at_ms,
    });
}
