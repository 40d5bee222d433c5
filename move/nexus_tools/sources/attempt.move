/// An attempt to carry a run of an execution: what an invocation is that belongs to one.
///
/// Fees are paid once for all attempts of a run: from the second one on, failing pays nothing,
/// and settling pays what it is worth beyond failing. So no leader is paid more for failing a
/// run first.
module nexus_tools::attempt;

use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::run::Run;

// === Constants ===

/// The bytes of execution, run and region that are rewritten when an attempt is closed.
const RECORD_BYTES: u64 = 1_200;

// === Structs ===

/// An attempt, counted from 1.
public struct Attempt has copy, drop, store {
    execution: ID,
    run: Run,
    number: u8,
}

// === Public functions ===

/// An attempt of a run. To request it takes a `Permit`.
public fun new(execution: ID, run: Run, number: u8): Attempt {
    Attempt { execution, run, number }
}

// === Views ===

/// The execution that it belongs to.
public fun execution(self: &Attempt): ID { self.execution }

/// The run that is carried.
public fun run(self: &Attempt): Run { self.run }

/// Which attempt of the run it is.
public fun number(self: &Attempt): u8 { self.number }

/// What settling an invocation and failing it pays, but for the bytes of the answer. An
/// attempt's inputs are in records, which its closing rewrites.
public fun fees_mist(
    self: &Option<Attempt>,
    settings: &LeaderSettings,
    input_bytes: u64,
    ctx: &TxContext,
): (u64, u64) {
    let bytes = if (self.is_some()) RECORD_BYTES else input_bytes;
    let settle_fee_mist = settings.settle_fee_mist(bytes, ctx);
    let fail_fee_mist = settings.fail_fee_mist(bytes, ctx);
    if (self.is_none() || self.borrow().number == 1) (settle_fee_mist, fail_fee_mist)
    else (settle_fee_mist - fail_fee_mist, 0)
}

/// The bytes that the closing of an attempt rewrites besides its invocation.
public fun record_bytes(): u64 { RECORD_BYTES }
