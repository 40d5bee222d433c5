/// Deletion of ended executions.
///
/// The sender that deletes records receives Sui's storage rebate. In the first 7 days after the
/// end, only the owner, who paid for the records, may delete them. Afterwards, anyone may delete
/// them. Deletion is an exit path, which works with every version of the package and under all
/// settings.
module nexus_workflows::cleaning;

use nexus_tools::invocation::Invocation;
use nexus_tools::run;
use nexus_workflows::execution::Execution;
use nexus_workflows::records;
use sui::clock::Clock;
use sui::event;

// === Errors ===

/// The execution has not ended: call `cancel`, or wait.
const EExecutionNotEnded: u64 = 0;
/// The execution ended less than 7 days ago, so only its owner may clean it.
const ETooEarly: u64 = 1;
/// The execution still has records, invocations or funds: remove these first, and let its schedule
/// `collect`.
const EExecutionNotEmpty: u64 = 2;

// === Constants ===

const OWNER_MS: u64 = 7 * 24 * 60 * 60 * 1000;

// === Events ===

/// An execution was deleted.
public struct ExecutionDeleted has copy, drop {
    execution: ID,
    owner: address,
}

// === Public functions ===

/// Remove the records of runs. Aborts with `EExecutionNotEnded` or `ETooEarly`.
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

/// Remove the records of instances of blocks. Aborts as `clean_runs` does.
public fun clean_instances(
    execution: &mut Execution,
    blocks: vector<u16>,
    paths: vector<vector<u32>>,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    let records = execution.records_mut();
    blocks.zip_do!(paths, |block, path| {
        records.remove_instance(records::instance(block, path));
    });
}

/// Remove the marks of iterations. Aborts as `clean_runs` does.
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

/// Remove the entry values of vertices. Aborts as `clean_runs` does.
public fun clean_entries(
    execution: &mut Execution,
    vertices: vector<u16>,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    vertices.do!(|vertex| execution.remove_entry(vertex));
}

/// Delete an invocation of the execution.
///
/// Aborts with `invocation::EWrongExecution`, and as `clean_runs` does.
public fun clean_invocation(
    execution: &mut Execution,
    invocation: Invocation,
    clock: &Clock,
    ctx: &TxContext,
) {
    authorize(execution, clock, ctx);
    execution.delete_invocation(invocation);
}

/// Delete an empty execution. Aborts with `EExecutionNotEmpty`, and as `clean_runs` does.
public fun delete(execution: Execution, clock: &Clock, ctx: &TxContext) {
    authorize(&execution, clock, ctx);
    assert!(execution.is_empty(), EExecutionNotEmpty);
    event::emit(ExecutionDeleted { execution: object::id(&execution), owner: execution.owner() });
    execution.destroy();
}

// === Private functions ===

fun authorize(execution: &Execution, clock: &Clock, ctx: &TxContext) {
    let ended_at_ms = execution.ended_at_ms();
    assert!(ended_at_ms.is_some(), EExecutionNotEnded);
    let is_free = clock.timestamp_ms() >= ended_at_ms.destroy_some() + OWNER_MS;
    assert!(ctx.sender() == execution.owner() || is_free, ETooEarly);
}
