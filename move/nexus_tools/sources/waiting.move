/// Two tools that wait: `ask` for a person's word, `wait` for a time.
///
/// A leader has minutes to close an invocation, people take days. So these are closed by anyone,
/// within 90 days: an `ask` by the address that is asked, with `approve` or `reject`, and by anyone
/// when its time is over; a `wait` by anyone when its time has come. Whoever closes one gets the
/// leader's fee, which its requester has prepaid: so an answer costs a person nothing.
module nexus_tools::waiting;

use nexus_tools::json;
use nexus_tools::on_chain_call::Call;
use nexus_tools::value;
use std::string::String;
use sui::clock::Clock;
use sui::package;

// === Errors ===

/// Another address was asked.
const ENotAsked: u64 = 0;
/// It is not time yet.
const ETooEarly: u64 = 1;
/// A time to wait is given either as `until_ms` or as `for_ms`.
const ENoTime: u64 = 2;

// === Constants ===

/// What is left of the time of an invocation when its waiting is over at the latest: to close it.
const MARGIN_MS: u64 = 24 * 60 * 60 * 1000;

// === Structs ===

/// The one-time witness of this module.
public struct WAITING has drop {}

/// The witness of `ask`, with the ports `who`, `question` and, if it is not to wait as long as it
/// can, `within_ms`.
public struct Ask has drop {}

/// The witness of `wait`, with the port `until_ms` or `for_ms`.
public struct Wait has drop {}

// === Init ===

/// The publisher object, by which the tools are registered, goes to whoever publishes the package.
fun init(witness: WAITING, ctx: &mut TxContext) { package::claim_and_keep(witness, ctx) }

// === Public functions ===

/// Answers yes. Aborts with `ENotAsked`, and as `on_chain_call::finish` does.
public fun approve(call: &mut Call, note: String, ctx: &TxContext) {
    call.answer(b"approved", note, ctx)
}

/// Answers no. Aborts with `ENotAsked`, and as `on_chain_call::finish` does.
public fun reject(call: &mut Call, note: String, ctx: &TxContext) {
    call.answer(b"rejected", note, ctx)
}

/// Ends a question whose time is over without an answer. Aborts with `ETooEarly`, and as
/// `on_chain_call::finish` does.
public fun expire(call: &mut Call, clock: &Clock) {
    let within_ms = if (call.has(b"within_ms")) call.get_u64(b"within_ms") else call.longest_ms();
    let now_ms = call.check_time(within_ms, clock);
    call.finish(Ask {}, b"expired", value::none().with(b"at_ms", json::from_u64(now_ms)));
}

/// Ends a wait whose time has come. Aborts with `ENoTime`, `ETooEarly`, and as
/// `on_chain_call::finish` does.
public fun go_on(call: &mut Call, clock: &Clock) {
    assert!(call.has(b"until_ms") != call.has(b"for_ms"), ENoTime);
    let for_ms = if (call.has(b"for_ms")) call.get_u64(b"for_ms")
    else {
        let until_ms = call.get_u64(b"until_ms");
        until_ms - until_ms.min(call.requested_at_ms())
    };
    let now_ms = call.check_time(for_ms, clock);
    call.finish(Wait {}, b"over", value::none().with(b"at_ms", json::from_u64(now_ms)));
}

// === Private functions ===

use fun answer as Call.answer;

fun answer(call: &mut Call, variant: vector<u8>, note: String, ctx: &TxContext) {
    assert!(call.get_address(b"who") == ctx.sender(), ENotAsked);
    let ports = value::none()
        .with(b"who", json::from_address(ctx.sender()))
        .with(b"note", json::from_string(note));
    call.finish(Ask {}, variant, ports);
}

use fun longest_ms as Call.longest_ms;

/// As long as there is time to close it afterwards.
fun longest_ms(call: &Call): u64 {
    let whole_ms = call.expires_at_ms() - call.requested_at_ms();
    whole_ms - whole_ms.min(MARGIN_MS)
}

use fun check_time as Call.check_time;

/// The time; so long has passed since the request, or as long as can be waited. Aborts with
/// `ETooEarly`.
fun check_time(call: &Call, wait_ms: u64, clock: &Clock): u64 {
    let now_ms = clock.timestamp_ms();
    let passed_ms = now_ms - call.requested_at_ms();
    assert!(passed_ms >= wait_ms.min(call.longest_ms()), ETooEarly);
    now_ms
}

// === Test-only functions ===

#[test_only]
public fun publisher_for_testing(ctx: &mut TxContext): package::Publisher {
    package::test_claim(WAITING {}, ctx)
}
