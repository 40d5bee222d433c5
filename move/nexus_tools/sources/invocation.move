/// One invocation of one tool, prepaid by its requester, and what it came to.
///
/// Its requester names a leader for it, or two, of those that the tool accepts. Leader number
/// i, counted from 0, may close it once i windows have passed since the request: by `settle` with
/// the tool's answer or, until the next window, by `fail` with the reason why there is none. When all
/// windows have passed, nobody may, and anyone may close it by `expire`. A closed one never changes.
///
/// `settle` pays the tool and the leader, `fail` the leader alone, and both refund the rest to
/// the requester at once: a closed invocation holds no money. A fee goes to the worker that
/// sent the transaction. Terms are fixed by the request: a tool that is changed, unregistered
/// or suspended afterwards changes nothing, not even the keys of which one has to sign its
/// answer. `expire` and `delete` depend on no version of the package and on no setting: what
/// was prepaid is never locked in.
///
/// An invocation can be an attempt of a run of an execution: see `execution`. Its inputs are
/// then values by reference, it keeps what is left of its payment until the execution takes it,
/// and the execution alone deletes it.
module nexus_tools::invocation;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::failure;
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::{LeaderRegistry, LeaderSettings};
use nexus_tools::payment;
use nexus_tools::permit::Permit;
use nexus_tools::settling::{Self, Settling};
use nexus_tools::state::{Self, State};
use nexus_tools::tool::Tool;
use nexus_tools::value::{Self, Ports};
use nexus_tools::version;
use std::ascii;
use std::bcs;
use std::string::String;
use sui::balance::Balance;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::event;
use sui::sui::SUI;

// === Errors ===

/// The tool is suspended, unregistered or claimed: it takes no invocation.
const EToolNotActive: u64 = 0;
/// The tool was changed since: look at it again.
const EToolChanged: u64 = 1;
/// The settings were changed since: look at them again.
const ESettingsChanged: u64 = 2;
/// The tool does not list this leader: name one that it lists.
const ELeaderNotAccepted: u64 = 3;
/// The leader takes no invocations: name another one.
const ELeaderNotActive: u64 = 4;
/// The same leader is named twice.
const ESameLeader: u64 = 5;
/// The inputs are larger than the registry's `max_ports_bytes`: use remote values.
const EInputsTooLarge: u64 = 6;
/// `max_outcome_bytes` is larger than the registry's `max_ports_bytes`.
const EOutcomeLimitTooLarge: u64 = 7;
/// `max_outcome_bytes` is smaller than the tool's `min_outcome_bytes`.
const EOutcomeLimitTooSmall: u64 = 8;
/// The tool's answers have to be signed, and it has no key.
const EToolWithoutKey: u64 = 9;
/// The coin is not exactly what the invocation costs: see `quote`.
const EWrongPayment: u64 = 10;
/// The invocation is closed already: settled, failed or expired.
const EClosed: u64 = 11;
/// The leader is not responsible for this invocation.
const ENotResponsible: u64 = 12;
/// The sender is no worker of the leader.
const ENotWorker: u64 = 13;
/// The leader is suspended: top up its collateral.
const ELeaderSuspended: u64 = 14;
/// The leader's window has not begun: a leader before it may still close the invocation.
const ETooEarly: u64 = 15;
/// The windows are not over: a leader may still close the invocation.
const ENotExpired: u64 = 16;
/// The outcome is larger than `max_outcome_bytes`: fail with the reason `output_too_large`.
const EOutcomeTooLarge: u64 = 17;
/// A leader's word is not enough: use `signed_outcome::settle`, or `on_chain_call`.
const ENotSigned: u64 = 18;
/// The invocation was requested from a newer version of the package: close it with that one.
const EWrongVersion: u64 = 19;
/// Only the requester deletes the invocation.
const ENotRequester: u64 = 20;
/// The invocation is not closed: it can be deleted once it is settled, failed or expired.
const ENotClosed: u64 = 21;
/// The invocation belongs to an execution: that one deletes it.
const EOfExecution: u64 = 22;
/// The invocation is no attempt of this execution.
const EWrongExecution: u64 = 23;
/// The tool is for leaders: one of them closes the invocation.
const ENotForAnyone: u64 = 24;

// === Constants ===

/// What Sui counts for an object of this type beyond its fields.
const OBJECT_BYTES: u64 = 145;

// === Events ===

/// An invocation was requested.
public struct InvocationRequested has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    leaders: vector<ID>,
    requested_at_ms: u64,
    timeout_ms: u64,
    expires_at_ms: u64,
    price_mist: u64,
    payment_mist: u64,
    max_outcome_bytes: u64,
    settling: Settling,
    tool_revision: u64,
    attempt: Option<Attempt>,
}

/// A leader closed an invocation with the tool's answer.
public struct InvocationSettled has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    leader: ID,
    variant: ascii::String,
    settled_at_ms: u64,
    payout: address,
    price_mist: u64,
    fee_mist: u64,
    refund_mist: u64,
}

/// A leader closed an invocation without an answer, for a reason.
public struct InvocationFailed has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    leader: ID,
    reason: ascii::String,
    detail: String,
    failed_at_ms: u64,
    fee_mist: u64,
    refund_mist: u64,
}

/// No leader closed an invocation in time.
public struct InvocationExpired has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    leaders: vector<ID>,
    refund_mist: u64,
}

/// A closed invocation was deleted.
public struct InvocationDeleted has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
}

// === Structs ===

/// An invocation under the terms of its request, and what became of it. It is shared.
public struct Invocation has key {
    id: UID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    /// The attempt that it is, if it belongs to an execution.
    attempt: Option<Attempt>,
    inputs: Ports,
    /// The leaders responsible, in the order of their windows.
    leaders: vector<ID>,
    requested_at_ms: u64,
    /// How long the tool may take.
    timeout_ms: u64,
    /// How long one leader's window is.
    window_ms: u64,
    price_mist: u64,
    /// Who gets the price.
    payout: address,
    /// What the leader gets for settling the invocation.
    settle_fee_mist: u64,
    /// What the leader gets for failing the invocation.
    fail_fee_mist: u64,
    /// What the leader gets besides for each byte of the outcome.
    fee_per_outcome_byte_mist: u64,
    max_outcome_bytes: u64,
    /// Whether the detail of a failure is kept with its reason.
    keeps_detail: bool,
    settling: Settling,
    /// The revision of the tool that the requester looked at.
    tool_revision: u64,
    /// The version of the package that it was requested from: that one closes it, or a later one.
    version: u64,
    /// What is prepaid, until the invocation is closed; of an attempt, until it is taken.
    payment: Balance<SUI>,
    state: State,
}

// === Public functions ===

/// Requests an invocation of `tool` by one leader and returns its id; the invocation is shared.
/// The revisions are those of settings and tool as the requester looked at them, and the
/// `payment` is exactly the `quote`: so nothing is paid or kept to which the requester did not
/// consent. Aborts with `ESettingsChanged`, `EToolNotActive`, `EToolChanged`,
/// `ELeaderNotAccepted`, `ELeaderNotActive`, `EInputsTooLarge`, `EOutcomeLimitTooLarge`,
/// `EOutcomeLimitTooSmall`, `EToolWithoutKey`, `EWrongPayment` or
/// `leader_registry::ENotAccepting`.
public fun request(
    registry: &LeaderRegistry,
    settings_revision: u64,
    tool: &Tool,
    tool_revision: u64,
    leader: &Leader,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment: Coin<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): ID {
    let leaders = vector[accepted(tool, leader)];
    share(
        registry,
        settings_revision,
        tool,
        tool_revision,
        leaders,
        inputs,
        max_outcome_bytes,
        payment,
        clock,
        ctx,
    )
}

/// Requests an invocation by a leader and a second one, which may close it when the first one's
/// window is over. Aborts with `ESameLeader`, and as `request` does.
public fun request_with_backup(
    registry: &LeaderRegistry,
    settings_revision: u64,
    tool: &Tool,
    tool_revision: u64,
    leader: &Leader,
    backup: &Leader,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment: Coin<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): ID {
    let leaders = vector[accepted(tool, leader), accepted(tool, backup)];
    assert!(leaders[0] != leaders[1], ESameLeader);
    share(
        registry,
        settings_revision,
        tool,
        tool_revision,
        leaders,
        inputs,
        max_outcome_bytes,
        payment,
        clock,
        ctx,
    )
}

/// Records the tool's answer, pays the tool and the sender, who is a worker of the leader, and
/// refunds the rest. Does nothing and returns false if the invocation is closed already or all
/// windows are over, so that one race that is lost costs a batch nothing else. Aborts with
/// `ENotSigned`, `ENotResponsible`, `ENotWorker`, `ELeaderSuspended`, `ETooEarly` or
/// `EOutcomeTooLarge`.
public fun settle(
    self: &mut Invocation,
    leader: &Leader,
    variant: ascii::String,
    ports: Ports,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(self.settling.is_by_leader(), ENotSigned);
    self.settle_answer(leader, variant, ports, 0, clock, ctx)
}

/// Records why there is no answer, pays the sender, who is a worker of the leader, and refunds the
/// rest. The `detail` is in the event, and is kept where something may read it. Returns false when
/// `settle` does, and once the next window has begun: that leader may be about to settle. Aborts with `ENotResponsible`, `ENotWorker`,
/// `ELeaderSuspended`, `ETooEarly`, and as `failure::check` does.
public fun fail(
    self: &mut Invocation,
    leader: &Leader,
    reason: ascii::String,
    detail: String,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    failure::check(&reason, &detail);
    if (!self.authorize(leader, clock, ctx)) return false;
    let (leader, failed_at_ms) = (object::id(leader), clock.timestamp_ms());
    let next = self.leaders.find_index!(|each| each == leader).destroy_some() + 1;
    let next_at_ms = self.requested_at_ms + next * self.window_ms;
    if (next < self.leaders.length() && failed_at_ms >= next_at_ms) return false;
    let is_kept = self.keeps_detail && detail.length() <= self.max_outcome_bytes;
    let kept = if (is_kept) detail else b"".to_string();
    self.state = state::failed(reason, kept, leader, failed_at_ms);
    let fee_mist = self.fail_fee_mist + kept.length() * self.fee_per_outcome_byte_mist;
    payment::pay(self.payment.split(fee_mist), ctx.sender());
    event::emit(InvocationFailed {
        invocation: object::id(self),
        tool: self.tool,
        fqn: self.fqn,
        requester: self.requester,
        leader,
        reason,
        detail,
        failed_at_ms,
        fee_mist,
        refund_mist: self.payment.value(),
    });
    self.refund();
    true
}

/// Records that no leader closed the invocation in time, and refunds all of it. Aborts with
/// `EClosed` or `ENotExpired`.
public fun expire(self: &mut Invocation, clock: &Clock) {
    assert!(!self.is_closed(), EClosed);
    assert!(clock.timestamp_ms() >= self.expires_at_ms(), ENotExpired);
    self.state = state::expired();
    event::emit(InvocationExpired {
        invocation: object::id(self),
        tool: self.tool,
        fqn: self.fqn,
        requester: self.requester,
        leaders: self.leaders,
        refund_mist: self.payment.value(),
    });
    self.refund();
}

/// Deletes a closed invocation. The storage rebate is the sender's. Aborts with `EOfExecution`,
/// `ENotRequester` or `ENotClosed`.
public fun delete(self: Invocation, ctx: &TxContext) {
    assert!(self.attempt.is_none(), EOfExecution);
    assert!(self.requester == ctx.sender(), ENotRequester);
    assert!(self.is_closed(), ENotClosed);
    self.destroy();
}

// === Public functions: attempts ===

/// Requests an attempt by leaders that the tool accepts, for a package that may; shares it, and
/// gives its id and the bytes that it takes.
public fun request_attempt(
    _: Permit,
    attempt: Attempt,
    tool: &Tool,
    requester: address,
    leaders: vector<ID>,
    settings: &LeaderSettings,
    max_outcome_bytes: u64,
    keeps_detail: bool,
    payment: Balance<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): (ID, u64) {
    let invocation = create(
        tool,
        option::some(attempt),
        requester,
        value::ports(vector[], vector[]),
        leaders,
        settings,
        max_outcome_bytes,
        keeps_detail,
        payment,
        clock,
        ctx,
    );
    let (id, bytes) = (object::id(&invocation), bcs::to_bytes(&invocation).length() + OBJECT_BYTES);
    transfer::share_object(invocation);
    (id, bytes)
}

/// Takes what is left of the payment of an attempt, which its execution shows to be its own.
/// Aborts with `EWrongExecution` or `ENotClosed`.
public fun take_rest(self: &mut Invocation, execution: &UID): Balance<SUI> {
    self.check_execution(execution);
    assert!(self.is_closed(), ENotClosed);
    self.payment.withdraw_all()
}

/// Deletes an attempt whose payment was taken, which its execution shows to be its own. Aborts
/// with `EWrongExecution`.
public fun delete_attempt(self: Invocation, execution: &UID) {
    self.check_execution(execution);
    self.destroy();
}

// === Views ===

/// What an invocation costs at most, at the epoch's gas price: the price and the leader's fees, with
/// an outcome of `max_outcome_bytes`. `input_bytes` are the `size` of the inputs.
public fun quote(
    registry: &LeaderRegistry,
    tool: &Tool,
    input_bytes: u64,
    max_outcome_bytes: u64,
    ctx: &TxContext,
): u64 {
    let settings = registry.settings();
    tool.charge_mist()
        + settings.settle_fee_mist(input_bytes, ctx)
        + settings.fee_per_outcome_byte_mist() * max_outcome_bytes
}

/// When the last window ends.
public fun expires_at_ms(self: &Invocation): u64 {
    self.requested_at_ms + self.leaders.length() * self.window_ms
}

/// Whether the invocation is settled, failed or expired.
public fun is_closed(self: &Invocation): bool { self.state.is_closed() }

/// The tool that is invoked.
public fun tool(self: &Invocation): ID { self.tool }

/// What the tool is given.
public fun inputs(self: &Invocation): &Ports { &self.inputs }

/// Whether it is settled only with the tool's signature of the answer.
public fun requires_signed_outcome(self: &Invocation): bool { !self.signers().is_empty() }

/// The keys of the tool of which one has to sign the answer.
public fun signers(self: &Invocation): vector<vector<u8>> { self.settling.keys() }

/// When it was requested.
public fun requested_at_ms(self: &Invocation): u64 { self.requested_at_ms }

/// Who requested the invocation.
public fun requester(self: &Invocation): address { self.requester }

/// The leaders responsible, in the order of their windows.
public fun leaders(self: &Invocation): vector<ID> { self.leaders }

/// What is prepaid, until the invocation is closed.
public fun payment_mist(self: &Invocation): u64 { self.payment.value() }

/// The attempt that it is, if it belongs to an execution.
public fun attempt(self: &Invocation): Option<Attempt> { self.attempt }

/// What became of it.
public fun state(self: &Invocation): &State { &self.state }

// === Package functions ===

/// Aborts with `EWrongExecution` unless it is an attempt of the execution.
public(package) fun check_execution(self: &Invocation, execution: &UID) {
    let execution = execution.to_inner();
    assert!(self.attempt.is_some_and!(|each| each.execution() == execution), EWrongExecution);
}

/// Settles with an answer to inputs of which `read_bytes` were read on chain.
public(package) fun settle_answer(
    self: &mut Invocation,
    leader: &Leader,
    variant: ascii::String,
    ports: Ports,
    read_bytes: u64,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    if (!self.authorize(leader, clock, ctx)) return false;
    self.record(object::id(leader), variant, ports, read_bytes, clock, ctx);
    true
}

/// Settles with what the tool's function came to, as it has done something. Aborts with `EClosed`
/// where `settle` does nothing, and as `settle` does.
public(package) fun settle_call(
    self: &mut Invocation,
    leader: &Leader,
    variant: ascii::String,
    ports: Ports,
    read_bytes: u64,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert!(self.settle_answer(leader, variant, ports, read_bytes, clock, ctx), EClosed);
}

/// Does the same for anyone. Aborts with `ENotForAnyone`, `EClosed` or `EOutcomeTooLarge`.
public(package) fun settle_call_by_anyone(
    self: &mut Invocation,
    variant: ascii::String,
    ports: Ports,
    read_bytes: u64,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert!(self.version <= version::number(), EWrongVersion);
    assert!(self.settling.is_for_anyone(), ENotForAnyone);
    assert!(!self.is_closed(), EClosed);
    assert!(clock.timestamp_ms() < self.expires_at_ms(), EClosed);
    self.record(ctx.sender().to_id(), variant, ports, read_bytes, clock, ctx);
}

// === Private functions ===

/// Deletes a closed invocation of whose payment nothing is left.
fun destroy(self: Invocation) {
    let Invocation { id, tool, fqn, requester, payment, .. } = self;
    payment.destroy_zero();
    event::emit(InvocationDeleted { invocation: id.to_inner(), tool, fqn, requester });
    id.delete();
}

/// The id of a leader that can be named in an invocation of the tool.
fun accepted(tool: &Tool, leader: &Leader): ID {
    let id = object::id(leader);
    assert!(tool.accepts(id), ELeaderNotAccepted);
    assert!(leader.is_active(), ELeaderNotActive);
    id
}

fun share(
    registry: &LeaderRegistry,
    settings_revision: u64,
    tool: &Tool,
    tool_revision: u64,
    leaders: vector<ID>,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment: Coin<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): ID {
    registry.check_version();
    registry.check_accepting();
    let settings = registry.settings();
    let input_bytes = inputs.size();
    assert!(settings.revision() == settings_revision, ESettingsChanged);
    assert!(tool.is_active(), EToolNotActive);
    assert!(tool.revision() == tool_revision, EToolChanged);
    assert!(input_bytes <= settings.max_ports_bytes(), EInputsTooLarge);
    assert!(max_outcome_bytes <= settings.max_ports_bytes(), EOutcomeLimitTooLarge);
    assert!(max_outcome_bytes >= tool.min_outcome_bytes(), EOutcomeLimitTooSmall);
    assert!(!tool.requires_signed_outcome() || !tool.keys().is_empty(), EToolWithoutKey);
    let payment_mist = quote(registry, tool, input_bytes, max_outcome_bytes, ctx);
    assert!(payment.value() == payment_mist, EWrongPayment);
    let invocation = create(
        tool,
        option::none(),
        ctx.sender(),
        inputs,
        leaders,
        settings,
        max_outcome_bytes,
        false,
        payment.into_balance(),
        clock,
        ctx,
    );
    let id = object::id(&invocation);
    transfer::share_object(invocation);
    id
}

/// An invocation that nobody may have found wanting.
fun create(
    tool: &Tool,
    attempt: Option<Attempt>,
    requester: address,
    inputs: Ports,
    leaders: vector<ID>,
    settings: &LeaderSettings,
    max_outcome_bytes: u64,
    keeps_detail: bool,
    payment: Balance<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): Invocation {
    let bytes = inputs.size();
    let (settle_fee_mist, fail_fee_mist) = if (attempt.is_some()) attempt::fees_mist(settings, ctx)
    else (settings.settle_fee_mist(bytes, ctx), settings.fail_fee_mist(bytes, ctx));
    let settling = settling::of(tool);
    // The tool's own time is divided among the leaders, as the time of each is where it is theirs.
    let window_ms = if (settling.is_for_anyone()) tool.timeout_ms() / leaders.length()
    else tool.timeout_ms() + settings.grace_ms();
    let invocation = Invocation {
        id: object::new(ctx),
        tool: object::id(tool),
        fqn: tool.fqn(),
        requester,
        attempt,
        inputs,
        leaders,
        requested_at_ms: clock.timestamp_ms(),
        timeout_ms: tool.timeout_ms(),
        window_ms,
        price_mist: tool.price_mist(),
        payout: tool.payout(),
        settle_fee_mist: settle_fee_mist + tool.definition().gas_mist(),
        fail_fee_mist,
        fee_per_outcome_byte_mist: settings.fee_per_outcome_byte_mist(),
        max_outcome_bytes,
        keeps_detail,
        settling,
        tool_revision: tool.revision(),
        version: version::number(),
        payment,
        state: state::requested(),
    };
    event::emit(InvocationRequested {
        invocation: object::id(&invocation),
        tool: invocation.tool,
        fqn: invocation.fqn,
        requester,
        leaders,
        requested_at_ms: invocation.requested_at_ms,
        timeout_ms: invocation.timeout_ms,
        expires_at_ms: invocation.expires_at_ms(),
        price_mist: invocation.price_mist,
        payment_mist: invocation.payment.value(),
        max_outcome_bytes,
        settling,
        tool_revision: invocation.tool_revision,
        attempt,
    });
    invocation
}

/// Whether the sender may close the invocation in the leader's name now: false if nobody may
/// any more. Aborts unless the leader may, and the sender works for it.
fun authorize(
    self: &Invocation,
    leader: &Leader,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(self.version <= version::number(), EWrongVersion);
    let (responsible, i) = self.leaders.index_of(&object::id(leader));
    assert!(responsible, ENotResponsible);
    assert!(leader.is_worker(ctx.sender()), ENotWorker);
    assert!(leader.collateral().is_whole(), ELeaderSuspended);
    let now_ms = clock.timestamp_ms();
    assert!(now_ms >= self.requested_at_ms + i * self.window_ms, ETooEarly);
    !self.is_closed() && now_ms < self.expires_at_ms()
}

/// Settles in the name of a leader, or of the sender who is none, and pays.
fun record(
    self: &mut Invocation,
    leader: ID,
    variant: ascii::String,
    ports: Ports,
    read_bytes: u64,
    clock: &Clock,
    ctx: &TxContext,
) {
    let outcome_bytes = variant.length() + ports.size();
    assert!(outcome_bytes <= self.max_outcome_bytes, EOutcomeTooLarge);
    let settled_at_ms = clock.timestamp_ms();
    self.state = state::settled(variant, ports, leader, settled_at_ms);
    let read_mist = self.attempt.map!(|attempt| attempt.read_mist(read_bytes)).destroy_or!(0);
    let work_mist = self.settle_fee_mist + read_mist;
    let fee_mist = work_mist + outcome_bytes * self.fee_per_outcome_byte_mist;
    let price_mist = self.price_mist;
    payment::pay(self.payment.split(fee_mist), ctx.sender());
    payment::pay(self.payment.split(price_mist), self.payout);
    event::emit(InvocationSettled {
        invocation: object::id(self),
        tool: self.tool,
        fqn: self.fqn,
        requester: self.requester,
        leader,
        variant,
        settled_at_ms,
        payout: self.payout,
        price_mist,
        fee_mist,
        refund_mist: self.payment.value(),
    });
    self.refund();
}

/// Pays what is left of the payment back to the requester; an attempt keeps it for its
/// execution.
fun refund(self: &mut Invocation) {
    if (self.attempt.is_none()) payment::pay(self.payment.withdraw_all(), self.requester);
}

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut Invocation, version: u64) { self.version = version }
