/// An attempt, which is an invocation that executes a run of an execution.
///
/// The fee for closing an attempt covers the cost of closing, and is higher for settling than for
/// failing. The following steps, which are `advance` and the next request, are prepaid. The sender
/// of `advance` receives the fee for these steps.
///
/// If the chain must know the inputs, the transaction that settles the attempt reads them. The
/// number of bytes that the transaction reads is limited, and the leader is paid for each byte.
module nexus_tools::attempt;

use nexus_tools::leader_registry::LeaderSettings;
use nexus_tools::run::Run;
use nexus_tools::settlement::Settlement;

// === Constants ===

/// The bytes that `advance` rewrites, which are the execution, a run with up to 32 values, and a
/// region.
const RECORD_BYTES: u64 = 1_500;
/// The gas units of `advance` and of the next request, excluding the gas units of the closing.
const STEP_GAS_UNITS: u64 = 1_060;
/// The maximum bytes that a leader reads, as a multiple of `max_ports_bytes`. Each value is read
/// twice: where it is stored, and where the inputs are assembled. The assembly of the inputs counts
/// as a third reading.
const READ_FACTOR: u64 = 3;
/// The gas units for reading 1 000 bytes.
const READ_GAS_UNITS: u64 = 40;

// === Structs ===

/// An attempt to execute a run.
public struct Attempt has copy, drop, store {
    execution: ID,
    run: Run,
    number: u8,
    /// The maximum bytes of inputs that the attempt's leader reads on chain.
    max_read_bytes: u64,
    /// The fee for reading 1 000 bytes of inputs, in MIST. The fee is 0 if a leader settles without
    /// proof.
    read_fee_mist: u64,
}

// === Public functions ===

/// Return an attempt of a run whose tool has this settlement. The request of an attempt needs a
/// `Permit`.
public fun new(
    execution: ID,
    run: Run,
    number: u8,
    settlement: &Settlement,
    settings: &LeaderSettings,
    ctx: &TxContext,
): Attempt {
    let max_read_bytes = READ_FACTOR * settings.max_ports_bytes();
    let read_fee_mist = if (settlement.is_by_leader()) 0
    else READ_GAS_UNITS * ctx.reference_gas_price();
    Attempt { execution, run, number, max_read_bytes, read_fee_mist }
}

// === Views ===

/// Return the execution of the attempt.
public fun execution(self: &Attempt): ID { self.execution }

/// Return the run that the attempt executes.
public fun run(self: &Attempt): Run { self.run }

/// Return the number of the attempt within its run, counted from 1.
public fun number(self: &Attempt): u8 { self.number }

/// Return the maximum bytes of inputs that the attempt's leader reads on chain.
public fun max_read_bytes(self: &Attempt): u64 { self.max_read_bytes }

/// Return the fee for reading `read_bytes`, in MIST.
public fun read_mist(self: &Attempt, read_bytes: u64): u64 {
    read_bytes * self.read_fee_mist / 1_000
}

/// Return the maximum fee for reading, in MIST.
public fun max_read_mist(self: &Attempt): u64 { self.read_mist(self.max_read_bytes) }

/// Return the number of bytes that a closing rewrites in addition to the invocation.
public fun record_bytes(): u64 { RECORD_BYTES }

/// Return the fees for settling and for failing an attempt, in MIST.
///
/// The fees exclude the fees for reading and for the bytes of the answer. A leader receives half of
/// the settle margin. The execution keeps the other half.
public fun fees_mist(settings: &LeaderSettings, ctx: &TxContext): (u64, u64) {
    let fail_fee_mist = settings.fail_fee_mist(0, ctx);
    (fail_fee_mist + settings.settle_margin_mist() / 2, fail_fee_mist)
}

/// Return the fee for advancing an execution, in MIST.
///
/// The fee does not include the fees for edges and for the outcome.
public fun step_fee_mist(settings: &LeaderSettings, ctx: &TxContext): u64 {
    STEP_GAS_UNITS * ctx.reference_gas_price() + RECORD_BYTES * settings.fee_per_input_byte_mist()
}
