/// An attempt to carry a run of an execution: what an invocation is that belongs to one.
///
/// Closing an attempt pays what closing costs, in each attempt, and settling pays more than failing.
/// What follows, `advance` and the next request, is prepaid, and goes to the sender of `advance`.
///
/// Where the chain has to know the inputs, a leader reads them in the transaction that settles the
/// attempt. What it reads is counted in bytes, is bounded, and is paid by the byte.
module nexus_tools::attempt;

use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::run::Run;
use nexus_tools::settling::Settling;

// === Constants ===

/// The bytes of execution, run, with up to 32 values, and region that `advance` rewrites.
const RECORD_BYTES: u64 = 1_500;
/// The gas units that `advance` and the next request take beside the closing.
const STEP_GAS_UNITS: u64 = 1_050;
/// A leader reads so many times `max_ports_bytes` at most: where the values are, where they are put
/// together, and for the work that this is.
const READ_FACTOR: u64 = 3;
/// The gas units that reading 1 000 bytes takes.
const READ_GAS_UNITS: u64 = 40;

// === Structs ===

/// An attempt, counted from 1.
public struct Attempt has copy, drop, store {
    execution: ID,
    run: Run,
    number: u8,
    /// The most bytes of inputs that its leader reads on chain, and the fee for 1 000 of them: none
    /// where a leader's word is enough.
    max_read_bytes: u64,
    read_fee_mist: u64,
}

// === Public functions ===

/// An attempt of a run whose tool is settled like this. To request it takes a `Permit`.
public fun new(
    execution: ID,
    run: Run,
    number: u8,
    settling: &Settling,
    settings: &LeaderSettings,
    ctx: &TxContext,
): Attempt {
    let max_read_bytes = READ_FACTOR * settings.max_ports_bytes();
    let read_fee_mist = if (settling.is_by_leader()) 0
    else READ_GAS_UNITS * ctx.reference_gas_price();
    Attempt { execution, run, number, max_read_bytes, read_fee_mist }
}

// === Views ===

/// The execution that it belongs to.
public fun execution(self: &Attempt): ID { self.execution }

/// The run that is carried.
public fun run(self: &Attempt): Run { self.run }

/// Which attempt of the run it is.
public fun number(self: &Attempt): u8 { self.number }

/// The most bytes of inputs that its leader reads on chain.
public fun max_read_bytes(self: &Attempt): u64 { self.max_read_bytes }

/// What reading so many bytes pays.
public fun read_mist(self: &Attempt, read_bytes: u64): u64 {
    read_bytes * self.read_fee_mist / 1_000
}

/// What reading pays at most.
public fun max_read_mist(self: &Attempt): u64 { self.read_mist(self.max_read_bytes) }

/// The bytes that the closing of an attempt rewrites besides its invocation.
public fun record_bytes(): u64 { RECORD_BYTES }

/// What settling an attempt and failing it pays, but for what is read and for the bytes of the
/// answer. Half of what settling pays beyond failing an invocation goes to the execution.
public fun fees_mist(settings: &LeaderSettings, ctx: &TxContext): (u64, u64) {
    let fail_fee_mist = settings.fail_fee_mist(0, ctx);
    (fail_fee_mist + settings.settle_margin_mist() / 2, fail_fee_mist)
}

/// What advancing an execution by a closed attempt pays, but for what its edges and its outcome
/// take.
public fun step_fee_mist(settings: &LeaderSettings, ctx: &TxContext): u64 {
    STEP_GAS_UNITS * ctx.reference_gas_price() + RECORD_BYTES * settings.fee_per_input_byte_mist()
}
