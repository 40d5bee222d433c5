/// An invocation of a tool, which its requester prepays, and its outcome.
///
/// The requester names one or two leaders that the tool accepts. Leader number i, counted from 0,
/// may close the invocation after i windows, by `settle` with the tool's answer. Until the next
/// window starts, it may also call `fail` with a reason. After all windows, anyone may `expire` it.
///
/// `settle` pays the tool and the leader, `fail` pays only the leader, and both refund the rest.
/// The request sets all terms, so later changes of the tool have no effect. `expire` and `delete`
/// work with every version of the package, so payments cannot be locked forever.
///
/// An invocation can be an attempt of a run of an execution: see `attempt`. Its inputs are then
/// references to other outcomes. Its execution withdraws the rest of the payment and deletes it.
module nexus_tools::invocation;

use nexus_tools::attempt::{Self, Attempt};
use nexus_tools::failure;
use nexus_tools::leader::Leader;
use nexus_tools::leader_registry::{LeaderRegistry, LeaderSettings};
use nexus_tools::payment;
use nexus_tools::permit::Permit;
use nexus_tools::settlement::{Self, Settlement};
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

/// The tool is suspended, unregistered or claimed: it does not accept invocations.
const EToolNotActive: u64 = 0;
/// The tool changed after you read it: read it again.
const EToolChanged: u64 = 1;
/// The settings changed after you read them: read them again.
const ESettingsChanged: u64 = 2;
/// The tool does not list this leader: name a listed leader.
const ELeaderNotAccepted: u64 = 3;
/// The leader does not accept new invocations: name another leader.
const ELeaderNotActive: u64 = 4;
/// The request names the same leader twice.
const ESameLeader: u64 = 5;
/// The inputs are larger than `max_ports_bytes`: use remote values.
const EInputsTooLarge: u64 = 6;
/// `max_outcome_bytes` is larger than the registry's `max_ports_bytes`.
const EOutcomeLimitTooLarge: u64 = 7;
/// `max_outcome_bytes` is smaller than the tool's `min_outcome_bytes`.
const EOutcomeLimitTooSmall: u64 = 8;
/// The tool requires signed answers but has no key.
const EToolWithoutKey: u64 = 9;
/// The coin is not exactly the cost of the invocation: see `quote`.
const EWrongPayment: u64 = 10;
/// The invocation is already closed: settled, failed or expired.
const EAlreadyClosed: u64 = 11;
/// The leader is not responsible for this invocation.
const ENotResponsible: u64 = 12;
/// The sender is not a worker of the leader.
const ENotWorker: u64 = 13;
/// The leader is suspended: top up its collateral.
const ELeaderSuspended: u64 = 14;
/// The leader's window has not started: an earlier leader may still close it.
const ETooEarly: u64 = 15;
/// The windows are not over: a leader may still close the invocation.
const ENotExpired: u64 = 16;
/// The outcome is larger than `max_outcome_bytes`: fail with the reason `output_too_large`.
const EOutcomeTooLarge: u64 = 17;
/// The answer needs a signature or a call of the tool: use `signed_outcome` or `on_chain_call`.
const ESignatureOrCallRequired: u64 = 18;
/// A newer version of the package created the invocation: use that version.
const EWrongVersion: u64 = 19;
/// Only the requester can delete the invocation.
const ENotRequester: u64 = 20;
/// The invocation is not closed: delete it after it is closed.
const ENotClosed: u64 = 21;
/// The invocation belongs to an execution, and only the execution can delete it.
const EIsAttempt: u64 = 22;
/// The invocation is not an attempt of this execution.
const EWrongExecution: u64 = 23;
/// Only a leader can close invocations of this tool.
const ELeadersOnly: u64 = 24;

// === Constants ===

/// Bytes that Sui counts for an invocation object in addition to its fields.
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
    settlement: Settlement,
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
    requested_at_ms: u64,
    settled_at_ms: u64,
    payout: address,
    price_mist: u64,
    fee_mist: u64,
    refund_mist: u64,
}

/// A leader closed an invocation with the reason why the tool did not give an answer.
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

/// An invocation expired because no leader closed it in time.
public struct InvocationExpired has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    leaders: vector<ID>,
    refund_mist: u64,
}

/// A closed invocation was deleted. `leader` settled or failed it, or it expired.
public struct InvocationDeleted has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    leader: Option<ID>,
    is_settled: bool,
}

// === Structs ===

/// A shared invocation with the terms of its request and its state.
public struct Invocation has key {
    id: UID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    /// The attempt, if the invocation belongs to an execution.
    attempt: Option<Attempt>,
    inputs: Ports,
    /// The responsible leaders, in the order of their windows.
    leaders: vector<ID>,
    requested_at_ms: u64,
    /// The maximum duration of the tool call, in ms.
    timeout_ms: u64,
    /// The length of each leader's window, in ms.
    window_ms: u64,
    price_mist: u64,
    /// The address that receives the price.
    payout: address,
    /// The leader's fee for settling the invocation, in MIST.
    settle_fee_mist: u64,
    /// The leader's fee for failing the invocation, in MIST.
    fail_fee_mist: u64,
    /// The leader's additional fee for each byte of the outcome, in MIST.
    fee_per_outcome_byte_mist: u64,
    max_outcome_bytes: u64,
    /// Whether the detail of a failure is stored with its reason.
    stores_failure_detail: bool,
    settlement: Settlement,
    /// The revision of the tool at the time of the request.
    tool_revision: u64,
    /// The package version of the request. Only this or a later version can close the invocation.
    version: u64,
    /// The payment until the closing. An attempt holds the rest until its execution withdraws it.
    payment: Balance<SUI>,
    state: State,
}

// === Public functions ===

/// Request an invocation of `tool` by one leader, share it, and return its ID. Pass the revisions
/// of the settings and of the tool that the requester read. `payment` must be exactly the `quote`.
/// So the requester pays only under the terms that it has read. Aborts with `ESettingsChanged`,
/// `EToolNotActive`, `EToolChanged`, `ELeaderNotAccepted`, `ELeaderNotActive`, `EInputsTooLarge`,
/// `EOutcomeLimitTooLarge`, `EOutcomeLimitTooSmall`, `EToolWithoutKey`, `EWrongPayment` or
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
    request_from(
        registry,
        settings_revision,
        tool,
        tool_revision,
        vector[accepted_leader(tool, leader)],
        inputs,
        max_outcome_bytes,
        payment,
        clock,
        ctx,
    )
}

/// Request an invocation by a leader and a backup, which may close it after the first window.
/// Aborts with `ESameLeader`, and as `request` does.
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
    let leaders = vector[accepted_leader(tool, leader), accepted_leader(tool, backup)];
    assert!(leaders[0] != leaders[1], ESameLeader);
    request_from(
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

/// Store the tool's answer, pay the tool and the sender, and refund the rest. The sender must be a
/// worker of the leader. Returns false without an effect if the invocation is closed or all windows
/// are over. So a batch of settlements does not abort if another leader closes one of the
/// invocations first. Aborts with `ESignatureOrCallRequired`, `ENotResponsible`, `ENotWorker`,
/// `ELeaderSuspended`, `ETooEarly` or `EOutcomeTooLarge`.
public fun settle(
    self: &mut Invocation,
    leader: &Leader,
    variant: ascii::String,
    ports: Ports,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(self.settlement.is_by_leader(), ESignatureOrCallRequired);
    self.settle_answer(leader, variant, ports, 0, clock, ctx)
}

/// Store the reason why the invocation has no answer, pay the sender, and refund the rest. The
/// sender must be a worker of the leader. The event contains `detail`. The invocation stores
/// `detail` only if another run may read it. Returns false as `settle` does. Also returns false
/// after the next window has started, because the next leader may be about to settle. Aborts with
/// `ENotResponsible`, `ENotWorker`, `ELeaderSuspended`, `ETooEarly`, and as `failure::check` does.
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
    let next = self.leaders.find_index!(|id| id == leader).destroy_some() + 1;
    let next_at_ms = self.requested_at_ms + next * self.window_ms;
    if (next < self.leaders.length() && failed_at_ms >= next_at_ms) return false;
    let is_stored = self.stores_failure_detail && detail.length() <= self.max_outcome_bytes;
    let stored = if (is_stored) detail else b"".to_string();
    self.state = state::failed(reason, stored, leader, failed_at_ms);
    let fee_mist = self.fail_fee_mist + stored.length() * self.fee_per_outcome_byte_mist;
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

/// Mark the invocation as expired, and refund the whole payment. Anyone may call this function
/// after the last window. Aborts with `EAlreadyClosed` or `ENotExpired`.
public fun expire(self: &mut Invocation, clock: &Clock) {
    assert!(!self.is_closed(), EAlreadyClosed);
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

/// Delete a closed invocation. Aborts with `EIsAttempt`, `ENotRequester` or `ENotClosed`.
public fun delete(self: Invocation, ctx: &TxContext) {
    assert!(self.attempt.is_none(), EIsAttempt);
    assert!(self.requester == ctx.sender(), ENotRequester);
    assert!(self.is_closed(), ENotClosed);
    self.destroy();
}

// === Public functions: attempts ===

/// Request an attempt, share it, and return its ID and its size in bytes. Only a package with a
/// `Permit` can call this function. The package must check the terms that `request` checks.
public fun request_attempt(
    _: Permit,
    attempt: Attempt,
    tool: &Tool,
    requester: address,
    leaders: vector<ID>,
    settings: &LeaderSettings,
    max_outcome_bytes: u64,
    stores_failure_detail: bool,
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
        stores_failure_detail,
        payment,
        clock,
        ctx,
    );
    let (id, bytes) = (object::id(&invocation), bcs::to_bytes(&invocation).length() + OBJECT_BYTES);
    transfer::share_object(invocation);
    (id, bytes)
}

/// Withdraw the rest of an attempt's payment. Aborts with `EWrongExecution` or `ENotClosed`.
public fun withdraw_remainder(self: &mut Invocation, execution: &UID): Balance<SUI> {
    self.check_execution(execution);
    assert!(self.is_closed(), ENotClosed);
    self.payment.withdraw_all()
}

/// Delete an attempt of the execution. Aborts with `EWrongExecution`.
public fun delete_attempt(self: Invocation, execution: &UID) {
    self.check_execution(execution);
    self.destroy();
}

// === Views ===

/// Return the maximum cost of an invocation in MIST, at the gas price of the epoch. The cost is the
/// price plus the leader's fees for `max_outcome_bytes`. `input_bytes` is the `size` of the inputs.
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

/// Return the end of the last window, in ms.
public fun expires_at_ms(self: &Invocation): u64 {
    self.requested_at_ms + self.leaders.length() * self.window_ms
}

/// Return whether the invocation is settled, failed or expired.
public fun is_closed(self: &Invocation): bool { self.state.is_closed() }

/// Return the ID of the tool.
public fun tool(self: &Invocation): ID { self.tool }

/// Return the inputs of the tool.
public fun inputs(self: &Invocation): &Ports { &self.inputs }

/// Return whether settling needs the tool's signature of the answer.
public fun requires_signed_outcome(self: &Invocation): bool { !self.signing_keys().is_empty() }

/// Return the keys of which one must sign the answer, or an empty list if none is required.
public fun signing_keys(self: &Invocation): vector<vector<u8>> { self.settlement.keys() }

/// Return the time of the request, in ms.
public fun requested_at_ms(self: &Invocation): u64 { self.requested_at_ms }

/// Return the account that requested the invocation.
public fun requester(self: &Invocation): address { self.requester }

/// Return the responsible leaders, in the order of their windows.
public fun leaders(self: &Invocation): vector<ID> { self.leaders }

/// Return the payment that the invocation holds, in MIST.
public fun payment_mist(self: &Invocation): u64 { self.payment.value() }

/// Return the attempt, if the invocation belongs to an execution.
public fun attempt(self: &Invocation): Option<Attempt> { self.attempt }

/// Return the state.
public fun state(self: &Invocation): &State { &self.state }

// === Package functions ===

/// Abort with `EWrongExecution` unless the invocation is an attempt of the execution.
public(package) fun check_execution(self: &Invocation, execution: &UID) {
    let execution = execution.to_inner();
    assert!(self.attempt.is_some_and!(|attempt| attempt.execution() == execution), EWrongExecution);
}

/// Settle with an answer whose inputs required `read_bytes` of reading on chain. Aborts and returns
/// as `settle` does, but never aborts with `ESignatureOrCallRequired`.
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
    self.record_answer(object::id(leader), variant, ports, read_bytes, clock, ctx);
    true
}

/// Settle with the answer of the tool's function, which this transaction has already called. Aborts
/// with `EAlreadyClosed` if `settle` would return false, and as `settle_answer` does.
public(package) fun settle_call(
    self: &mut Invocation,
    leader: &Leader,
    variant: ascii::String,
    ports: Ports,
    read_bytes: u64,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert!(self.settle_answer(leader, variant, ports, read_bytes, clock, ctx), EAlreadyClosed);
}

/// Settle as `settle_call` does. The sender may be anyone. Aborts with `EWrongVersion`,
/// `ELeadersOnly`, `EAlreadyClosed` or `EOutcomeTooLarge`.
public(package) fun settle_call_by_anyone(
    self: &mut Invocation,
    variant: ascii::String,
    ports: Ports,
    read_bytes: u64,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert!(self.version <= version::number(), EWrongVersion);
    assert!(self.settlement.is_closable_by_anyone(), ELeadersOnly);
    assert!(!self.is_closed(), EAlreadyClosed);
    assert!(clock.timestamp_ms() < self.expires_at_ms(), EAlreadyClosed);
    self.record_answer(ctx.sender().to_id(), variant, ports, read_bytes, clock, ctx);
}

// === Private functions ===

/// Delete a closed invocation that holds no payment.
fun destroy(self: Invocation) {
    let Invocation { id, tool, fqn, requester, payment, state, .. } = self;
    payment.destroy_zero();
    let (invocation, leader, is_settled) = (id.to_inner(), state.leader(), state.is_settled());
    event::emit(InvocationDeleted { invocation, tool, fqn, requester, leader, is_settled });
    id.delete();
}

/// Check the leader and return its ID. Aborts with `ELeaderNotAccepted` or `ELeaderNotActive`.
fun accepted_leader(tool: &Tool, leader: &Leader): ID {
    let id = object::id(leader);
    assert!(tool.accepts(id), ELeaderNotAccepted);
    assert!(leader.is_active(), ELeaderNotActive);
    id
}

/// Check the terms of a request, share the invocation, and return its ID.
fun request_from(
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
    let (settings, input_bytes) = (registry.settings(), inputs.size());
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

/// Return a new invocation. The caller has checked its terms.
fun create(
    tool: &Tool,
    attempt: Option<Attempt>,
    requester: address,
    inputs: Ports,
    leaders: vector<ID>,
    settings: &LeaderSettings,
    max_outcome_bytes: u64,
    stores_failure_detail: bool,
    payment: Balance<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): Invocation {
    let bytes = inputs.size();
    let (settle_fee_mist, fail_fee_mist) = if (attempt.is_some()) attempt::fees_mist(settings, ctx)
    else (settings.settle_fee_mist(bytes, ctx), settings.fail_fee_mist(bytes, ctx));
    let settlement = settlement::for_tool(tool);
    // If anyone may settle, the leaders' windows divide the tool's timeout.
    let window_ms = if (settlement.is_closable_by_anyone()) tool.timeout_ms() / leaders.length()
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
        stores_failure_detail,
        settlement,
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
        settlement,
        tool_revision: invocation.tool_revision,
        attempt,
    });
    settlement.emit_opened(object::id(&invocation), invocation.tool, invocation.fqn, requester);
    invocation
}

/// Return whether the sender may now close the invocation for the leader. Returns false if the
/// invocation is closed or expired. Aborts with `EWrongVersion`, `ENotResponsible`, `ENotWorker`,
/// `ELeaderSuspended` or `ETooEarly`.
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
    assert!(leader.collateral().is_sufficient(), ELeaderSuspended);
    let now_ms = clock.timestamp_ms();
    assert!(now_ms >= self.requested_at_ms + i * self.window_ms, ETooEarly);
    !self.is_closed() && now_ms < self.expires_at_ms()
}

/// Settle and pay. `leader` is the leader's ID, or the sender's address if anyone may settle.
fun record_answer(
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
    let bytes_mist = outcome_bytes * self.fee_per_outcome_byte_mist;
    let fee_mist = self.settle_fee_mist + read_mist + bytes_mist;
    payment::pay(self.payment.split(fee_mist), ctx.sender());
    payment::pay(self.payment.split(self.price_mist), self.payout);
    event::emit(InvocationSettled {
        invocation: object::id(self),
        tool: self.tool,
        fqn: self.fqn,
        requester: self.requester,
        leader,
        variant,
        requested_at_ms: self.requested_at_ms,
        settled_at_ms,
        payout: self.payout,
        price_mist: self.price_mist,
        fee_mist,
        refund_mist: self.payment.value(),
    });
    self.refund();
}

/// Pay the rest of the payment to the requester. An attempt holds the rest for its execution.
fun refund(self: &mut Invocation) {
    if (self.attempt.is_none()) payment::pay(self.payment.withdraw_all(), self.requester);
}

// === Test-only functions ===

#[test_only]
public fun set_version_for_testing(self: &mut Invocation, version: u64) { self.version = version }
