/// What is left of an execution that has ended, and who removes it.
///
/// Whoever removes it gets what Sui took for storing it. That is the owner's, who paid for it;
/// what the owner leaves for 7 days is anyone's. This depends on no version of the package and
/// on no setting.
module nexus_workflows::cleaning;

use nexus_tools::invocation::Invocation;
use nexus_tools::run;
use nexus_workflows::execution::Execution;
use nexus_workflows::records;
use sui::clock::Clock;
use sui::event;

// === Errors ===

/// The execution has not ended: `cancel` it, or wait.
const ENotEnded: u64 = 0;
/// For 7 days after the end, the owner alone removes what is left.
const ETooEarly: u64 = 1;
/// Records, invocations or funds are left: remove them first, and let its schedule `collect`.
const ENotClean: u64 = 2;

// === Constants ===

const OWNER_MS: u64 = 7 * 24 * 60 * 60 * 1000;

// === Events ===

/// An execution was deleted.
public struct ExecutionDeleted has copy, drop {
    execution: ID,
    owner: address,
}

// === Public functions ===

/// Removes what is known of runs. Aborts with `ENotEnded` or `ETooEarly`.
public fun clean_runs(
    execution: &mut Execution,
    vertices: vector<u16>,
    paths: vector<vector<u32>>,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    let records = execution.records_mut();
    vertices.zip_do!(paths, |vertex, path| { records.remove_run(run::new(vertex, path)); });
}

/// Removes what is known of instances of blocks, as `clean_runs` does.
public fun clean_instances(
    execution: &mut Execution,
    blocks: vector<u16>,
    paths: vector<vector<u32>>,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    let records = execution.records_mut();
    blocks.zip_do!(paths, |block, path| { records.remove_instance(records::instance(block, path)); });
}

/// Removes the marks of iterations, as `clean_runs` does.
public fun clean_marks(
    execution: &mut Execution,
    region: u16,
    path: vector<u32>,
    vertex: u16,
    port: u8,
    iterations: vector<u32>,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    let records = execution.records_mut();
    iterations.do!(|iteration| {
        records.remove_mark(records::mark(region, path, vertex, port, iteration));
    });
}

/// Removes the entry values of vertices, as `clean_runs` does.
public fun clean_entries(
    execution: &mut Execution,
    vertices: vector<u16>,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    vertices.do!(|vertex| execution.remove_entry(vertex));
}

/// Deletes an invocation of the execution, as `clean_runs` does. Aborts with
/// `invocation::EWrongExecution`, too.
public fun clean_invocation(
    execution: &mut Execution,
    invocation: Invocation,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    execution.delete_invocation(invocation);
}

/// Deletes an execution of which nothing is left, as `clean_runs` does. Aborts with
/// `ENotClean`, too.
public fun delete(execution: Execution, clock: &Clock, ctx: &TxContext) {
    authorize(&execution, clock, ctx);
    assert!(execution.is_clean(), ENotClean);
    event::emit(ExecutionDeleted { execution: object::id(&execution), owner: execution.owner() });
    execution.destroy();
}

// === Private functions ===

fun authorize(execution: &Execution, clock: &Clock, ctx: &TxContext) {
    let ended_at_ms = execution.ended_at_ms();
    assert!(ended_at_ms.is_some(), ENotEnded);
    let is_free = clock.timestamp_ms() >= ended_at_ms.destroy_some() + OWNER_MS;
    assert!(ctx.sender() == execution.owner() || is_free, ETooEarly);
}
