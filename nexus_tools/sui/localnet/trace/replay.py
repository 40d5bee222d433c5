"""The repeated execution of a transaction on its original objects, which produces a trace."""

from msgspec.structs import replace

from nexus_tools.sui.bytecode import clever_error
from nexus_tools.sui.errors import NotFoundError, WrongStateError
from nexus_tools.sui.localnet.execution import (
    COMMANDS,
    ExecutionResult,
    Executor,
    ObjectStore,
    TransactionRefused,
    packages_of,
)
from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.localnet.natives import NATIVES
from nexus_tools.sui.localnet.node import Node, environment_of
from nexus_tools.sui.localnet.trace.call_recorder import CallRecorder
from nexus_tools.sui.localnet.trace.changed_object import changed_objects
from nexus_tools.sui.localnet.trace.command_recorder import CommandRecorder, with_status
from nexus_tools.sui.localnet.trace.transaction_trace import TraceFailure, TransactionTrace
from nexus_tools.sui.localnet.trace.value_reader import ValueReader
from nexus_tools.sui.localnet.vm import ObservedMachine
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.execution_status import ExecutionFailure, MoveAbort
from nexus_tools.sui.types.transaction import ProgrammableTransaction, TransactionData


class TracingExecutor(Executor):
    """An executor for one transaction that has its own VM and records calls and commands.

    The VM reads packages from `store`. `calls` and `commands` are the recorders.
    """

    def __init__(self, store: ObjectStore) -> None:
        machine = ObservedMachine(NATIVES, packages_of(store))
        values = ValueReader(machine)
        self.calls = CallRecorder(values)
        self.commands = CommandRecorder(self.calls, values)
        machine.observer = self.calls
        super().__init__(machine, self.commands.table(COMMANDS))


# --- Traces


def trace_transaction(node: Node, digest: Digest) -> TransactionTrace:
    """Return the trace of a transaction on the chain.

    Raises:
        NotFoundError: `transaction_not_found`, for example because a revert removed the
            transaction.
        WrongStateError: `trace_failed` if the transaction can no longer be executed.
    """
    executed, objects = node.ledger.transaction(digest), node.ledger.objects_before(digest)
    if executed is None or objects is None:
        raise NotFoundError(
            "transaction_not_found",
            f"transaction {digest} does not exist on this chain",
            hint="Check the digest. A revert removes all transactions after the snapshot.",
        )
    epoch = node.epochs.get(executed.effects.epoch)
    assert epoch is not None
    executor = TracingExecutor(objects)
    try:
        result = executor.execute(executed.data, digest, objects, environment_of(epoch.state))
    except TransactionRefused as refusal:
        raise WrongStateError(
            "trace_failed",
            f"transaction {digest} cannot be executed again: {refusal}",
            hint="If another version of nexus-tools executed the transaction, use that version.",
        ) from None
    return _trace(executed, result, executor)


def trace_simulation(node: Node, data: TransactionData) -> TransactionTrace:
    """Simulate a transaction on the current state and return its trace.

    If the transaction has no payment, the simulation uses a mock coin. If it has no budget, the
    simulation uses the maximum budget.

    Raises:
        TransactionRefused: the transaction cannot be executed, or is a system transaction.
    """
    if not isinstance(data.kind, ProgrammableTransaction):
        raise TransactionRefused("unsupported", "simulate does not support system transactions")
    executor = TracingExecutor(node.ledger)
    executed, result = node.simulate(data, executor=executor)
    return replace(_trace(executed, result, executor), is_simulated=True)


def _trace(
    executed: ExecutedTransaction, result: ExecutionResult, executor: TracingExecutor
) -> TransactionTrace:
    status, kind = result.effects.status, executed.data.kind
    failure = (
        _failure(status, result.failure, executor) if isinstance(status, ExecutionFailure) else None
    )
    commands = kind.commands if isinstance(kind, ProgrammableTransaction) else ()
    failed_command = failure.command if failure else None
    return TransactionTrace(
        executed=executed,
        is_faithful=result.effects.encode() == executed.effects_bytes,
        failure=failure,
        commands=with_status(executor.commands.commands, commands, failed_command),
        objects=changed_objects(executed),
        left_out=executor.calls.left_out,
    )


def _failure(status: ExecutionFailure, message: str, executor: TracingExecutor) -> TraceFailure:
    data = status.error.data
    clever = None
    if isinstance(data, MoveAbort):
        clever = clever_error(data.code, executor.calls.failing_module)
    return TraceFailure(status.error, status.command, message, clever)
