/// Two on-chain tools that wait. `ask` waits for the decision of a person, and `wait` waits until a
/// time.
///
/// A leader has minutes to close an invocation, but people need days to answer. So anyone can close
/// invocations of these tools, within 90 days. The address in `answerer` can close an invocation of
/// `ask` with `approve` or `reject`. Anyone can close an invocation of `ask` after its deadline,
/// and an invocation of `wait` after its end time. The sender receives the leader's fee, which the
/// requester prepaid. So the person who answers does not pay any cost.
module nexus_tools::waiting;

use nexus_tools::json;
use nexus_tools::on_chain_call::Call;
use nexus_tools::value;
use std::string::String;
use sui::clock::Clock;
use sui::package;

// === Errors ===

/// The sender is not the `answerer` of the question.
const ENotAnswerer: u64 = 0;
/// The deadline of the question, or the end of the wait, has not been reached.
const ETooEarly: u64 = 1;
/// A wait needs exactly one of `until_ms` and `duration_ms`.
const EInvalidWaitTime: u64 = 2;

// === Constants ===

/// The time between the end of the longest wait and the expiry of the invocation, in which anyone
/// can close the invocation.
const MARGIN_MS: u64 = 24 * 60 * 60 * 1000;

// === Structs ===

/// The one-time witness of this module.
public struct WAITING has drop {}

/// The witness of `ask`.
///
/// The tool has the ports `answerer`, `question` and optionally `timeout_ms`. By default, the tool
/// waits as long as possible.
public struct Ask has drop {}

/// The witness of `wait`, which has the port `until_ms` or `duration_ms`.
public struct Wait has drop {}

// === Init ===

/// Transfer the module's `Publisher` to the publisher of the package, who registers the tools with
/// it.
fun init(witness: WAITING, ctx: &mut TxContext) { package::claim_and_keep(witness, ctx) }

// === Public functions ===

/// Approve a question. Aborts with `ENotAnswerer`, and as `on_chain_call::finish` does.
public fun approve(call: &mut Call, note: String, ctx: &TxContext) {
    call.answer(b"approved", note, ctx)
}

/// Reject a question. Aborts with `ENotAnswerer`, and as `on_chain_call::finish` does.
public fun reject(call: &mut Call, note: String, ctx: &TxContext) {
    call.answer(b"rejected", note, ctx)
}

/// End a question that was not answered before its deadline. Aborts with `ETooEarly`, and as
/// `on_chain_call::finish` does.
public fun expire(call: &mut Call, clock: &Clock) {
    let timeout_ms = if (call.has(b"timeout_ms")) call.get_u64(b"timeout_ms")
    else call.max_wait_ms();
    let now_ms = call.check_time(timeout_ms, clock);
    call.finish(Ask {}, b"expired", value::empty_ports().with(b"at_ms", json::from_u64(now_ms)));
}

/// End a wait after its end time. Aborts with `EInvalidWaitTime`, `ETooEarly`, and as
/// `on_chain_call::finish` does.
public fun finish_wait(call: &mut Call, clock: &Clock) {
    assert!(call.has(b"until_ms") != call.has(b"duration_ms"), EInvalidWaitTime);
    let duration_ms = if (call.has(b"duration_ms")) call.get_u64(b"duration_ms")
    else {
        let until_ms = call.get_u64(b"until_ms");
        until_ms - until_ms.min(call.requested_at_ms())
    };
    let now_ms = call.check_time(duration_ms, clock);
    call.finish(Wait {}, b"over", value::empty_ports().with(b"at_ms", json::from_u64(now_ms)));
}

// === Private functions ===

use fun answer as Call.answer;

fun answer(call: &mut Call, variant: vector<u8>, note: String, ctx: &TxContext) {
    assert!(call.get_address(b"answerer") == ctx.sender(), ENotAnswerer);
    let ports = value::empty_ports()
        .with(b"answerer", json::from_address(ctx.sender()))
        .with(b"note", json::from_string(note));
    call.finish(Ask {}, variant, ports);
}

use fun max_wait_ms as Call.max_wait_ms;

/// Return the longest wait that leaves enough time to close the invocation, in ms.
fun max_wait_ms(call: &Call): u64 {
    let total_ms = call.expires_at_ms() - call.requested_at_ms();
    total_ms - total_ms.min(MARGIN_MS)
}

use fun check_time as Call.check_time;

/// Return the current time in ms. Aborts with `ETooEarly` unless `wait_ms`, or the longest possible
/// wait, has passed since the request.
fun check_time(call: &Call, wait_ms: u64, clock: &Clock): u64 {
    let now_ms = clock.timestamp_ms();
    let elapsed_ms = now_ms - call.requested_at_ms();
    assert!(elapsed_ms >= wait_ms.min(call.max_wait_ms()), ETooEarly);
    now_ms
}

// === Test-only functions ===

#[test_only]
public fun publisher_for_testing(ctx: &mut TxContext): package::Publisher {
    package::test_claim(WAITING {}, ctx)
}
