"""Closings, which send outcomes to the chain, and batches of closings with their cost."""

import asyncio
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nexus_tools.contracts import Deployment
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import InvocationObject
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.continuation import Continuation, arguments, following
from nexus_tools.leader.closing.step_costs import cost_mist
from nexus_tools.leader.journal.lease import RowLostError
from nexus_tools.registry import MAX_STEPS, RunAttempt, add_advance, add_outcome
from nexus_tools.sui.transaction_builder import MAX_PURE_BYTES, TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ExecutionFailure, ExecutionStatus, MoveAbort
from nexus_tools.sui.types.transaction import ObjectArgument, ProgrammableTransaction, SharedObject
from nexus_tools.tool import Answer, Failure, Outcome, outcome_bytes

# Maximum transaction bytes of one closing or one port (IDs, versions and indices), of a signature
# with its public key, of a continuation, and of an object argument.
_BYTES_PER_CLOSING = 400
_BYTES_PER_PORT = 100
_BYTES_PER_SIGNATURE = 110
_BYTES_PER_CONTINUATION = 400
_BYTES_PER_OBJECT = 120
_COMMANDS_PER_CLOSING = 5
_COMMANDS_PER_PORT = 2
_EFFORT_PER_PORT = 8

# Upper bounds of the computation in gas units, and of the storage in MIST. The chain does not
# charge the unused part of a budget. The bounds are at least twice the measured cost of the most
# expensive batches that the queue creates. Each change of an invocation pays for its whole storage
# again, and the chain rebates 99 % of the earlier payment.
_UNITS = 3_000
_UNITS_PER_CLOSING = 100
_UNITS_PER_SIGNATURE = 150
_UNITS_PER_OBJECT = 500
_UNITS_PER_OUTCOME_KILOBYTE = 100
_UNITS_PER_INPUT_KILOBYTE = 40
_STORAGE_PER_CLOSING_MIST = 700_000
_STORAGE_PER_OUTCOME_BYTE_MIST = 8_000
_STORAGE_PER_INPUT_BYTE_MIST = 80


# If an attempt exceeds one of these limits, its closing may cost more than it earns. The closing is
# then sent in a separate transaction, so that other closings do not pay for it.
_LARGE_BYTES = 4_096
_MANY_OBJECTS = 10
_MANY_EDGES = 8
_LARGE_EFFORT = 1_000


@dataclass(frozen=True, slots=True)
class SignedInputs:
    """The arguments with which the chain assembles the inputs that a tool's signature covers.

    The answer belongs to an attempt of a run. `source_bytes` is the size of the closed invocations
    that supply some of the inputs.
    """

    attempt: RunAttempt
    object_arguments: Mapping[Address, ObjectArgument]
    source_bytes: int


@dataclass(slots=True, eq=False)
class Closing:
    """An outcome to send to the chain. The future `closed` resolves when the invocation is closed.

    The future raises `RowLostError` if this process leaves the invocation to other processes.
    `outcome_bytes` is the size of the outcome on chain, which is 0 for a failure.
    """

    assignment: Assignment
    outcome: Outcome
    outcome_bytes: int
    input_bytes: int
    invocation: SharedObject
    closed: asyncio.Future[ClosureKind] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    continuation: Continuation | None = None
    inputs: SignedInputs | None = None
    execution: Address | None = None
    """The execution to which the invocation belongs, if the invocation is an attempt of a run."""
    fail_fee_mist: int = 0
    failed_attempts: int = 0
    fee_mist: int | None = None

    @property
    def closes_as(self) -> ClosureKind:
        """The kind of closure that this outcome causes."""
        return ClosureKind.SETTLED if isinstance(self.outcome, Answer) else ClosureKind.FAILED

    @property
    def is_signed(self) -> bool:
        """Whether the chain verifies a signature of the answer."""
        return isinstance(self.outcome, Answer) and self.outcome.signature is not None

    @property
    def is_costly(self) -> bool:
        """Whether this closing is so large that it may cost more than it earns."""
        if self.execution is None:
            return False
        pays_nothing = isinstance(self.outcome, Failure) and not self.fail_fee_mist
        source_bytes = self.inputs.source_bytes if self.inputs else 0
        is_large = max(self.outcome_bytes, source_bytes) > _LARGE_BYTES
        fans_out = self.continuation is not None and (
            self.continuation.edges > _MANY_EDGES
            or self.continuation.fans_out
            or self.following_effort > _LARGE_EFFORT
        )
        return pays_nothing or is_large or self._object_count > _MANY_OBJECTS or fans_out

    @property
    def size(self) -> int:
        """The estimated maximum number of bytes that the closing needs in a transaction."""
        signature = _BYTES_PER_SIGNATURE if self.is_signed else 0
        detail = len(self.outcome.detail.encode()) if isinstance(self.outcome, Failure) else 0
        more = _BYTES_PER_CONTINUATION if self.continuation else 0
        more += self._object_count * _BYTES_PER_OBJECT
        return (
            _BYTES_PER_CLOSING
            + self._port_count * _BYTES_PER_PORT
            + signature
            + detail
            + self.outcome_bytes
            + more
        )

    @property
    def commands(self) -> int:
        """The estimated maximum number of commands that the closing needs in a transaction."""
        chunks = self.outcome_bytes // MAX_PURE_BYTES
        return (
            _COMMANDS_PER_CLOSING
            + self._port_count * _COMMANDS_PER_PORT
            + chunks
            + self._object_count
        )

    @property
    def effort(self) -> int:
        """The estimated work of the Move VM, in units of about one comparison of port names."""
        return self._port_count * (self._port_count + _EFFORT_PER_PORT)

    @property
    def following_effort(self) -> int:
        """The estimated work of the Move VM when the execution accepts the outcome."""
        return self._active_continuation.effort if self._active_continuation else 0

    @property
    def following_edges(self) -> int:
        """The number of edges that the execution may follow when it accepts the outcome."""
        return self._active_continuation.edges if self._active_continuation else 0

    @property
    def gas_units(self) -> int:
        """The maximum number of gas units that this closing uses in addition to a small closing."""
        outcome = self.outcome_bytes * _UNITS_PER_OUTCOME_KILOBYTE // 1024
        inputs = self.input_bytes * _UNITS_PER_INPUT_KILOBYTE // 1024
        more = self.continuation.gas_units if self.continuation else 0
        more += self._object_count * _UNITS_PER_OBJECT
        return outcome + inputs + self.is_signed * _UNITS_PER_SIGNATURE + more

    @property
    def storage_mist(self) -> int:
        """The maximum storage cost in addition to a small closing, in MIST before rebates."""
        return (
            self.outcome_bytes * _STORAGE_PER_OUTCOME_BYTE_MIST
            + self.input_bytes * _STORAGE_PER_INPUT_BYTE_MIST
            + (self.continuation.storage_mist if self.continuation else 0)
        )

    @property
    def _active_continuation(self) -> Continuation | None:
        """The continuation if the transaction contains some of its steps, else None."""
        return self.continuation if self.continuation and self.continuation.extent else None

    @property
    def _object_count(self) -> int:
        """The number of object arguments for the inputs of a signed answer."""
        return len(self.inputs.object_arguments) if self.inputs else 0

    @property
    def _port_count(self) -> int:
        return len(self.outcome.ports) if isinstance(self.outcome, Answer) else 0

    def is_missed_at(self, now_ms: int) -> bool:
        """Return whether the chain no longer accepts this outcome."""
        is_left = isinstance(self.outcome, Failure) and self.assignment.is_left_at(now_ms)
        return is_left or now_ms >= self.assignment.expires_at_ms

    def fail_with(self, failure: Failure) -> None:
        """Close the invocation with a failure instead of the answer."""
        self.outcome, self.outcome_bytes, self.inputs = failure, 0, None
        self.continuation = None

    def close(self, closed: ClosureKind) -> None:
        """Resolve the future `closed`, which the task of the invocation awaits."""
        if not self.closed.done():
            self.closed.set_result(closed)

    def leave(self) -> None:
        """End the task of the invocation, because another process is responsible for it."""
        if not self.closed.done():
            self.closed.set_exception(RowLostError())


def closing_of(assignment: Assignment, outcome: Outcome, found: InvocationObject) -> Closing:
    """Return the closing of an invocation with this outcome."""
    invocation = found.invocation
    attempt = invocation.attempt
    return Closing(
        assignment,
        outcome,
        outcome_bytes(outcome) if isinstance(outcome, Answer) else 0,
        invocation.inputs.size(),
        found.argument,
        execution=None if attempt is None else attempt.execution,
        fail_fee_mist=invocation.fail_fee_mist,
    )


def full_batch_mist(closings: int, price: int) -> int:
    """Return the maximum cost of a transaction with this number of small closings, in MIST."""
    units = _UNITS + closings * _UNITS_PER_CLOSING
    return units * price + closings * _STORAGE_PER_CLOSING_MIST


class ClosingBatch:
    """The closings of one transaction, in order, and the execution steps that follow them.

    Each closing reads the object `leader`. After a call of `build`, `closing_of` and `execution_of`
    return the closing or the execution of a command.
    """

    def __init__(
        self,
        deployment: Deployment,
        leader: SharedObject,
        closings: Sequence[Closing],
        *,
        purse_mist: int = 0,
        price: int = 0,
    ) -> None:
        """Create a batch with as many steps as `purse_mist` can pay for at this gas price."""
        self.closings = tuple(closings)
        self._deployment = deployment
        self._leader = leader
        self._command_ends: list[int] = []
        self._executions: list[Address] = []
        self._continuations = [
            closing.continuation
            for closing in closings
            if closing.continuation and closing.continuation.extent
        ]
        left_mist = purse_mist - self._closings_mist(price)
        self._active_continuation = following(self._continuations, MAX_STEPS, left_mist, price)

    @property
    def advances_executions(self) -> bool:
        """Whether the batch advances executions, whose workflows are untrusted input."""
        return bool(self._continuations)

    @property
    def is_uncertain(self) -> bool:
        """Whether untrusted input can make the batch fail or cost more than it earns."""
        return self.advances_executions or self.is_unusual

    @property
    def is_unusual(self) -> bool:
        """Whether a closing is costly, or has a signature that the chain verifies with inputs."""
        return any(
            closing.is_costly or (closing.execution is not None and closing.is_signed)
            for closing in self.closings
        )

    def budget_mist(self, price: int) -> int:
        """Return the maximum cost of the transaction at this gas price, in MIST."""
        steps = sum(cost_mist(group.steps, price) for group in self._active_continuation)
        return self._closings_mist(price) + steps

    def _closings_mist(self, price: int) -> int:
        """Return the maximum cost of the closings without execution steps, in MIST."""
        more = sum(closing.gas_units for closing in self.closings) * price
        stored = sum(closing.storage_mist for closing in self.closings)
        return full_batch_mist(len(self.closings), price) + more + stored

    def build(self) -> ProgrammableTransaction:
        """Settle or fail each invocation in turn, then advance the executions."""
        builder = TransactionBuilder()
        self._command_ends, self._executions = [], []
        builder.resolved(self._leader)
        for closing in self.closings:
            builder.resolved(closing.invocation)
            invocation, leader = closing.assignment.invocation, self._leader.object_id
            attempt = closing.inputs.attempt if closing.inputs else None
            add_outcome(
                builder, self._deployment, invocation, leader, closing.outcome, attempt=attempt
            )
            self._command_ends.append(len(builder.commands))
        for closing in self.closings:
            if closing.continuation and closing.continuation.extent:
                self._advance(builder, closing.assignment.invocation, closing.continuation)
        for group in self._active_continuation:
            for step in group.steps:
                group.workflow.commands.add(builder, group.execution, self._leader.object_id, step)
                self._executions.append(group.execution)
        arguments_by_id = dict(arguments(self._continuations, self._active_continuation))
        for closing in self.closings:
            arguments_by_id |= closing.inputs.object_arguments if closing.inputs else {}
        return builder.finish(arguments_by_id)

    def _advance(
        self, builder: TransactionBuilder, invocation: Address, continuation: Continuation
    ) -> None:
        execution = continuation.execution.object_id
        dag = continuation.workflow.argument.reference.object_id
        add_advance(builder, self._deployment, execution, dag, invocation)
        self._executions.append(execution)

    def debtors_of(self, status: ExecutionStatus) -> list[Address | None]:
        """Return the executions whose accounts are charged for the gas of the transaction.

        If a command aborted, only the execution of that command is charged. None represents an
        invocation that does not belong to an execution.
        """
        command = None
        if isinstance(status, ExecutionFailure) and isinstance(status.error.data, MoveAbort):
            command = status.command
        closing = self.closing_of(command)
        execution = closing.execution if closing else self.execution_of(command)
        return [execution] if execution else [member.execution for member in self.closings]

    def execution_of(self, command: int | None) -> Address | None:
        """Return the execution that a command advances, or None if it does not advance one."""
        place = -1 if command is None else command - self._command_ends[-1]
        return self._executions[place] if 0 <= place < len(self._executions) else None

    def closing_of(self, command: int | None) -> Closing | None:
        """Return the closing to which a command belongs, or None for other commands."""
        if command is None:
            return None
        # If two closings have 4 and 5 commands, `_command_ends` is [4, 9].
        place = bisect_right(self._command_ends, command)
        return self.closings[place] if place < len(self.closings) else None


def reduce_steps(closings: Sequence[Closing], execution: Address | None = None) -> bool:
    """Reduce the steps that follow closings, and return whether there were any steps.

    With `execution`, reduce only the steps of that execution.
    """
    continuations = [
        closing.continuation
        for closing in closings
        if closing.continuation
        and closing.continuation.extent
        and execution in (None, closing.continuation.execution.object_id)
    ]
    for continuation in continuations:
        continuation.reduce()
    return bool(continuations)
