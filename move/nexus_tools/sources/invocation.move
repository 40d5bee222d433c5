/// One invocation of one tool, prepaid by its requester, and what it came to.
///
/// `request` makes up to two leaders responsible for the invocation. Leader number i, counted from
/// 0, may close it once i windows have passed since the request: by `settle` with the tool's answer
/// or by `fail` with the reason why there is none. When as many windows have passed as there are
/// leaders, nobody may, and anyone may close it by `expire`. A closed invocation never changes
/// again.
///
/// `settle` pays the tool and the leader, `fail` the leader alone. What is prepaid and not spent is
/// the refund: it stays inside until the requester deletes the invocation. Terms are fixed by the
/// request: a tool that is changed, unregistered or suspended afterwards changes nothing. `expire`
/// and `delete` depend on no version of the package and on no setting: a refund is never locked in.
module nexus_tools::invocation;

use nexus_tools::leader_registry::{LeaderCap, LeaderRegistry};
use nexus_tools::tool::Tool;
use nexus_tools::value::Ports;
use std::ascii;
use std::string::String;
use sui::balance::Balance;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::event;
use sui::sui::SUI;

// === Errors ===

/// The tool is suspended, unregistered or claimed: it takes no invocation.
const EToolNotActive: u64 = 0;
/// No leader is active: try again later.
const ENoLeader: u64 = 1;
/// The inputs are larger than the registry's `max_ports_bytes`: use remote values.
const EInputsTooLarge: u64 = 2;
/// `max_outcome_bytes` is larger than the registry's `max_ports_bytes`.
const EOutcomeLimitTooLarge: u64 = 3;
/// The coin is not exactly what the invocation costs: see `quote`.
const EWrongPayment: u64 = 4;
/// The invocation is closed already: settled, failed or expired.
const EClosed: u64 = 5;
/// The leader is not responsible for this invocation.
const ENotResponsible: u64 = 6;
/// The leader is suspended: top up its collateral.
const ELeaderSuspended: u64 = 7;
/// The leader's window has not begun: a leader before it may still close the invocation.
const ETooEarly: u64 = 8;
/// All windows are over: the invocation can only expire.
const ETooLate: u64 = 9;
/// The windows are not over: a leader may still close the invocation.
const ENotExpired: u64 = 10;
/// The outcome is larger than `max_outcome_bytes`: fail with the reason `output_too_large`.
const EOutcomeTooLarge: u64 = 11;
/// The reason is none of the reasons for which an invocation fails.
const EUnknownReason: u64 = 12;
/// Only the requester deletes the invocation.
const ENotRequester: u64 = 13;
/// The invocation is not closed: it can be deleted once it is settled, failed or expired.
const ENotClosed: u64 = 14;
/// The invocation is not settled: it has no answer.
const ENotSettled: u64 = 15;

// === Constants ===

/// Why an invocation fails. Trouble of the leader's own is no reason: then another takes over.
const REASONS: vector<vector<u8>> = vector[
    b"tool_not_registered",
    b"definition_mismatch",
    b"input_invalid",
    b"unreachable",
    b"timed_out",
    b"http_error",
    b"output_invalid",
    b"output_too_large",
    b"unauthorized",
];

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

/// A closed invocation was deleted, and the refund returned to its requester.
public struct InvocationDeleted has copy, drop {
    invocation: ID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
    refund_mist: u64,
}

// === Structs ===

/// An invocation under the terms of its request, and what became of it. It is shared.
public struct Invocation has key {
    id: UID,
    tool: ID,
    fqn: ascii::String,
    requester: address,
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
    /// What is prepaid and not spent.
    refund: Balance<SUI>,
    state: State,
}

/// What became of an invocation.
public enum State has copy, drop, store {
    Requested,
    Settled { variant: ascii::String, ports: Ports, leader: ID, settled_at_ms: u64 },
    Failed { reason: ascii::String, detail: String, leader: ID, failed_at_ms: u64 },
    Expired,
}

// === Public functions ===

/// Requests an invocation of `tool` and returns its id; the invocation is shared. The `payment` is
/// exactly the `quote`, so that a price raised in the meantime is not paid. Aborts with
/// `EToolNotActive`, `EInputsTooLarge`, `EOutcomeLimitTooLarge`, `EWrongPayment`, `ENoLeader` or
/// `leader_registry::ENotAccepting`.
public fun request(
    leaders: &LeaderRegistry,
    tool: &Tool,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment: Coin<SUI>,
    clock: &Clock,
    ctx: &mut TxContext,
): ID {
    leaders.check_version();
    leaders.check_accepting();
    let settings = leaders.settings();
    let input_bytes = inputs.size();
    assert!(tool.is_active(), EToolNotActive);
    assert!(input_bytes <= settings.max_ports_bytes(), EInputsTooLarge);
    assert!(max_outcome_bytes <= settings.max_ports_bytes(), EOutcomeLimitTooLarge);
    let cost = quote(leaders, tool, input_bytes, max_outcome_bytes);
    assert!(payment.value() == cost, EWrongPayment);
    let input_fee_mist = settings.fee_per_input_byte_mist() * input_bytes;
    let uid = object::new(ctx);
    let id = uid.to_inner();
    let invocation = Invocation {
        id: uid,
        tool: object::id(tool),
        fqn: tool.fqn(),
        requester: ctx.sender(),
        inputs,
        leaders: leaders.responsible(&id.to_bytes()),
        requested_at_ms: clock.timestamp_ms(),
        timeout_ms: tool.timeout_ms(),
        window_ms: tool.timeout_ms() + settings.grace_ms(),
        price_mist: tool.price_mist(),
        payout: tool.payout(),
        settle_fee_mist: settings.settle_fee_mist() + input_fee_mist,
        fail_fee_mist: settings.fail_fee_mist() + input_fee_mist,
        fee_per_outcome_byte_mist: settings.fee_per_outcome_byte_mist(),
        max_outcome_bytes,
        refund: payment.into_balance(),
        state: State::Requested,
    };
    assert!(!invocation.leaders.is_empty(), ENoLeader);
    event::emit(InvocationRequested {
        invocation: id,
        tool: invocation.tool,
        fqn: invocation.fqn,
        requester: invocation.requester,
        leaders: invocation.leaders,
        requested_at_ms: invocation.requested_at_ms,
        timeout_ms: invocation.timeout_ms,
        expires_at_ms: invocation.expires_at_ms(),
        price_mist: invocation.price_mist,
        payment_mist: cost,
        max_outcome_bytes,
    });
    transfer::share_object(invocation);
    id
}

/// Records the tool's answer, pays the tool and returns the leader's fee. Aborts with `EClosed`,
/// `ENotResponsible`, `ELeaderSuspended`, `ETooEarly`, `ETooLate` or `EOutcomeTooLarge`.
public fun settle(
    self: &mut Invocation,
    cap: &LeaderCap,
    leaders: &LeaderRegistry,
    variant: ascii::String,
    ports: Ports,
    clock: &Clock,
    ctx: &mut TxContext,
): Coin<SUI> {
    self.authorize(cap, leaders, clock);
    let fee_mist = self.settle_fee_mist + self.outcome_fee_mist(variant.length() + ports.size());
    let fee = self.refund.split(fee_mist);
    let price = self.refund.split(self.price_mist);
    let (leader, settled_at_ms) = (object::id(cap), clock.timestamp_ms());
    self.state = State::Settled { variant, ports, leader, settled_at_ms };
    event::emit(InvocationSettled {
        invocation: object::id(self),
        tool: self.tool,
        fqn: self.fqn,
        requester: self.requester,
        leader,
        variant,
        settled_at_ms,
        payout: self.payout,
        price_mist: self.price_mist,
        fee_mist,
        refund_mist: self.refund.value(),
    });
    if (price.value() == 0) price.destroy_zero()
    else transfer::public_transfer(price.into_coin(ctx), self.payout);
    fee.into_coin(ctx)
}

/// Records why there is no answer and returns the leader's fee. Aborts with `EUnknownReason`, and
/// as `settle` does.
public fun fail(
    self: &mut Invocation,
    cap: &LeaderCap,
    leaders: &LeaderRegistry,
    reason: ascii::String,
    detail: String,
    clock: &Clock,
    ctx: &mut TxContext,
): Coin<SUI> {
    self.authorize(cap, leaders, clock);
    let reasons = REASONS;
    assert!(reasons.contains(reason.as_bytes()), EUnknownReason);
    let fee_mist = self.fail_fee_mist + self.outcome_fee_mist(detail.length());
    let fee = self.refund.split(fee_mist);
    let (leader, failed_at_ms) = (object::id(cap), clock.timestamp_ms());
    self.state = State::Failed { reason, detail, leader, failed_at_ms };
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
        refund_mist: self.refund.value(),
    });
    fee.into_coin(ctx)
}

/// Records that no leader closed the invocation in time. Aborts with `EClosed` or `ENotExpired`.
public fun expire(self: &mut Invocation, clock: &Clock) {
    assert!(!self.is_closed(), EClosed);
    assert!(clock.timestamp_ms() >= self.expires_at_ms(), ENotExpired);
    self.state = State::Expired;
    event::emit(InvocationExpired {
        invocation: object::id(self),
        tool: self.tool,
        fqn: self.fqn,
        requester: self.requester,
        leaders: self.leaders,
        refund_mist: self.refund.value(),
    });
}

/// Deletes a closed invocation and returns the refund. The storage rebate is the sender's. Aborts
/// with `ENotRequester` or `ENotClosed`.
public fun delete(self: Invocation, ctx: &mut TxContext): Coin<SUI> {
    assert!(self.requester == ctx.sender(), ENotRequester);
    assert!(self.is_closed(), ENotClosed);
    let Invocation { id, tool, fqn, requester, refund, .. } = self;
    let refund_mist = refund.value();
    event::emit(InvocationDeleted { invocation: id.to_inner(), tool, fqn, requester, refund_mist });
    id.delete();
    refund.into_coin(ctx)
}

// === Views ===

/// What an invocation costs at most: the price and the leader's fees, with an outcome of
/// `max_outcome_bytes`. `input_bytes` are the `size` of the inputs.
public fun quote(
    leaders: &LeaderRegistry,
    tool: &Tool,
    input_bytes: u64,
    max_outcome_bytes: u64,
): u64 {
    let settings = leaders.settings();
    tool.price_mist()
        + settings.settle_fee_mist()
        + settings.fee_per_input_byte_mist() * input_bytes
        + settings.fee_per_outcome_byte_mist() * max_outcome_bytes
}

/// When the last window ends.
public fun expires_at_ms(self: &Invocation): u64 {
    self.requested_at_ms + self.leaders.length() * self.window_ms
}

/// Whether the invocation is settled, failed or expired.
public fun is_closed(self: &Invocation): bool { &self.state != &State::Requested }

/// The tool that is invoked.
public fun tool(self: &Invocation): ID { self.tool }

/// Who requested the invocation.
public fun requester(self: &Invocation): address { self.requester }

/// The leaders responsible, in the order of their windows.
public fun leaders(self: &Invocation): vector<ID> { self.leaders }

/// What is prepaid and not spent.
public fun refund_mist(self: &Invocation): u64 { self.refund.value() }

/// The variant of the answer. Aborts with `ENotSettled`.
public fun variant(self: &Invocation): ascii::String {
    match (&self.state) {
        State::Settled { variant, .. } => *variant,
        _ => abort ENotSettled,
    }
}

/// The ports of the answer. Aborts with `ENotSettled`.
public fun ports(self: &Invocation): &Ports {
    match (&self.state) {
        State::Settled { ports, .. } => ports,
        _ => abort ENotSettled,
    }
}

// === Private functions ===

/// Aborts unless the holder of `cap` may close the invocation now.
fun authorize(self: &Invocation, cap: &LeaderCap, leaders: &LeaderRegistry, clock: &Clock) {
    leaders.check_version();
    assert!(!self.is_closed(), EClosed);
    let leader = object::id(cap);
    let (responsible, i) = self.leaders.index_of(&leader);
    assert!(responsible, ENotResponsible);
    assert!(leaders.collateral(leader).is_whole(), ELeaderSuspended);
    let now_ms = clock.timestamp_ms();
    assert!(now_ms >= self.requested_at_ms + i * self.window_ms, ETooEarly);
    assert!(now_ms < self.expires_at_ms(), ETooLate);
}

/// What the leader gets for storing an outcome of this size. Aborts with `EOutcomeTooLarge`.
fun outcome_fee_mist(self: &Invocation, outcome_bytes: u64): u64 {
    assert!(outcome_bytes <= self.max_outcome_bytes, EOutcomeTooLarge);
    outcome_bytes * self.fee_per_outcome_byte_mist
}
