"""Outcomes on their way to the chain: each one, and those of one transaction."""

import asyncio
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nexus_tools.contracts import Deployment
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import FoundInvocation
from nexus_tools.leader.chain.closure import Closed
from nexus_tools.leader.closing.continuation import Continuation, arguments, following
from nexus_tools.leader.closing.step_costs import cost_mist
from nexus_tools.registry import MAX_STEPS, AttemptOfRun, add_advance, add_outcome
from nexus_tools.sui.transaction_builder import MAX_PURE_BYTES, TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ExecutionFailure, ExecutionStatus, MoveAbort
from nexus_tools.sui.types.transaction import ObjectArgument, ProgrammableTransaction, SharedObject
from nexus_tools.tool import Answer, Failure, Outcome, outcome_bytes

# Ids, versions and indices of one closing in the bytes of a transaction, of one port, and of a
# signature with its key.
_BYTES = 400
_BYTES_PER_PORT = 100
_BYTES_PER_SIGNATURE = 110
_BYTES_PER_CONTINUATION = 400
_BYTES_PER_NAMED = 120
_COMMANDS = 5
_COMMANDS_PER_PORT = 2
_EFFORT_PER_PORT = 8

# Bounds in gas units, and in MIST of storage per byte: what is not used is not paid. They are at
# least twice what was measured of the dearest batches that the queue makes. The storage of an
# invocation is paid anew with each change; of what was paid before, a hundredth is not rebated.
_UNITS = 3_000
_UNITS_PER_CLOSING = 100
_UNITS_PER_SIGNATURE = 150
_UNITS_PER_NAMED = 500
_UNITS_PER_OUTCOME_KILOBYTE = 100
_UNITS_PER_INPUT_KILOBYTE = 40
_STORAGE_PER_CLOSING_MIST = 700_000
_STORAGE_PER_OUTCOME_BYTE_MIST = 8_000
_STORAGE_PER_INPUT_BYTE_MIST = 80


# The closing of an attempt that is larger, or follows more edges, may cost more than it pays. It
# has a transaction of its own, so that no other one pays for it.
_LARGE_BYTES = 4_096
_MANY_NAMED = 10
_MANY_EDGES = 8
_MUCH_EFFORT = 1_000


@dataclass(frozen=True, slots=True)
class SignedInputs:
    """What a signed answer to an attempt needs: its inputs are put together on chain.

    `source_bytes` is the size of the closed invocations that have some of them.
    """

    attempt: AttemptOfRun
    named: Mapping[Address, ObjectArgument]
    source_bytes: int


@dataclass(slots=True, eq=False)
class Closing:
    """An outcome on its way to the chain; `closed` is resolved when the invocation is closed.

    `outcome_bytes` is what of it is stored: an answer, nothing of a failure.
    """

    assignment: Assignment
    outcome: Outcome
    outcome_bytes: int
    input_bytes: int
    invocation: SharedObject
    closed: asyncio.Future[Closed] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    continuation: Continuation | None = None
    inputs: SignedInputs | None = None
    execution: Address | None = None
    """The execution whose attempt the invocation is."""
    fail_fee_mist: int = 0
    setbacks: int = 0
    fee_mist: int | None = None

    @property
    def closes_as(self) -> Closed:
        """How the invocation is closed if this reaches the chain."""
        return Closed.SETTLED if isinstance(self.outcome, Answer) else Closed.FAILED

    @property
    def is_signed(self) -> bool:
        """Whether the chain verifies a signature of the answer."""
        return isinstance(self.outcome, Answer) and self.outcome.signature is not None

    @property
    def is_costly(self) -> bool:
        """Whether it may cost more than it pays: an attempt whose closing is not a usual one."""
        if self.execution is None:
            return False
        pays_nothing = isinstance(self.outcome, Failure) and not self.fail_fee_mist
        source_bytes = self.inputs.source_bytes if self.inputs else 0
        is_large = max(self.outcome_bytes, source_bytes) > _LARGE_BYTES
        fans_out = self.continuation is not None and (
            self.continuation.edges > _MANY_EDGES
            or self.continuation.fans_out
            or self.following_effort > _MUCH_EFFORT
        )
        return pays_nothing or is_large or self._named > _MANY_NAMED or fans_out

    @property
    def size(self) -> int:
        """About how many bytes of a transaction it takes; rather more."""
        signature = _BYTES_PER_SIGNATURE if self.is_signed else 0
        detail = len(self.outcome.detail.encode()) if isinstance(self.outcome, Failure) else 0
        more = _BYTES_PER_CONTINUATION if self.continuation else 0
        more += self._named * _BYTES_PER_NAMED
        return (
            _BYTES + self._ports * _BYTES_PER_PORT + signature + detail + self.outcome_bytes + more
        )

    @property
    def commands(self) -> int:
        """About how many commands it takes; rather more."""
        chunks = self.outcome_bytes // MAX_PURE_BYTES
        return _COMMANDS + self._ports * _COMMANDS_PER_PORT + chunks + self._named

    @property
    def effort(self) -> int:
        """How much the Move machine has to do, in comparisons of port names and the like."""
        return self._ports * (self._ports + _EFFORT_PER_PORT)

    @property
    def following_effort(self) -> int:
        """How much the chain computes when the execution takes the outcome."""
        return self._following.effort if self._following else 0

    @property
    def following_edges(self) -> int:
        """How many edges the execution may follow when it takes the outcome."""
        return self._following.edges if self._following else 0

    @property
    def units(self) -> int:
        """The gas units that it may take beyond those of a small one."""
        outcome = self.outcome_bytes * _UNITS_PER_OUTCOME_KILOBYTE // 1024
        inputs = self.input_bytes * _UNITS_PER_INPUT_KILOBYTE // 1024
        more = self.continuation.units if self.continuation else 0
        more += self._named * _UNITS_PER_NAMED
        return outcome + inputs + self.is_signed * _UNITS_PER_SIGNATURE + more

    @property
    def storage_mist(self) -> int:
        """What it may take of storage beyond that of a small one, without what is rebated."""
        return (
            self.outcome_bytes * _STORAGE_PER_OUTCOME_BYTE_MIST
            + self.input_bytes * _STORAGE_PER_INPUT_BYTE_MIST
            + (self.continuation.storage_mist if self.continuation else 0)
        )

    @property
    def _following(self) -> Continuation | None:
        """The continuation, if a part of it goes into the transaction."""
        return self.continuation if self.continuation and self.continuation.extent else None

    @property
    def _named(self) -> int:
        """How many objects the inputs of a signed answer name."""
        return len(self.inputs.named) if self.inputs else 0

    @property
    def _ports(self) -> int:
        return len(self.outcome.ports) if isinstance(self.outcome, Answer) else 0

    def is_missed_at(self, now_ms: int) -> bool:
        """Whether the chain takes this outcome no more."""
        is_left = isinstance(self.outcome, Failure) and self.assignment.is_left_at(now_ms)
        return is_left or now_ms >= self.assignment.expires_at_ms

    def fail_with(self, failure: Failure) -> None:
        """Close the invocation with a failure instead of the answer."""
        self.outcome, self.outcome_bytes, self.inputs = failure, 0, None
        self.continuation = None

    def close(self, closed: Closed) -> None:
        """Tell who waits."""
        if not self.closed.done():
            self.closed.set_result(closed)


def closing_of(assignment: Assignment, outcome: Outcome, found: FoundInvocation) -> Closing:
    """Return an outcome as it goes to the chain."""
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


def floor_mist(closings: int, price: int) -> int:
    """What a transaction with so many small closings may cost at this gas price."""
    units = _UNITS + closings * _UNITS_PER_CLOSING
    return units * price + closings * _STORAGE_PER_CLOSING_MIST


class ClosingBatch:
    """Closings of one transaction, in its order, and what follows from them in executions.

    `leader` is read by each of them. A command is traced back to its closing, or its execution.
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
        """What follows is as much as `purse_mist` can pay besides, at this gas price."""
        self.closings = tuple(closings)
        self._deployment = deployment
        self._leader = leader
        self._ends: list[int] = []
        self._executions: list[Address] = []
        self._continuations = [
            one.continuation for one in closings if one.continuation and one.continuation.extent
        ]
        left_mist = purse_mist - self._own_mist(price)
        self._following = following(self._continuations, MAX_STEPS, left_mist, price)

    @property
    def goes_on(self) -> bool:
        """Whether something follows in executions: other people's, who may have made a mess."""
        return bool(self._continuations)

    @property
    def is_uncertain(self) -> bool:
        """Whether it may fail, or cost more than it pays, by what strangers have made."""
        return self.goes_on or any(
            one.is_costly or (one.execution is not None and one.is_signed) for one in self.closings
        )

    def budget_mist(self, price: int) -> int:
        """What the transaction may cost at this gas price."""
        steps = sum(cost_mist(group.steps, price) for group in self._following)
        return self._own_mist(price) + steps

    def _own_mist(self, price: int) -> int:
        """What the closings alone may cost."""
        more = sum(closing.units for closing in self.closings) * price
        stored = sum(closing.storage_mist for closing in self.closings)
        return floor_mist(len(self.closings), price) + more + stored

    def build(self) -> ProgrammableTransaction:
        """Settle or fail one after the other; then have the executions go on."""
        builder = TransactionBuilder()
        self._ends, self._executions = [], []
        builder.resolved(self._leader)
        for closing in self.closings:
            builder.resolved(closing.invocation)
            invocation, leader = closing.assignment.invocation, self._leader.object_id
            attempt = closing.inputs.attempt if closing.inputs else None
            add_outcome(
                builder, self._deployment, invocation, leader, closing.outcome, attempt=attempt
            )
            self._ends.append(len(builder.commands))
        for closing in self.closings:
            if closing.continuation and closing.continuation.extent:
                self._advance(builder, closing.assignment.invocation, closing.continuation)
        for group in self._following:
            for step in group.steps:
                group.workflow.commands.add(builder, group.execution, self._leader.object_id, step)
                self._executions.append(group.execution)
        known = dict(arguments(self._continuations, self._following))
        for closing in self.closings:
            known |= closing.inputs.named if closing.inputs else {}
        return builder.finish(known)

    def _advance(
        self, builder: TransactionBuilder, invocation: Address, continuation: Continuation
    ) -> None:
        execution = continuation.execution.object_id
        dag = continuation.workflow.argument.reference.object_id
        add_advance(builder, self._deployment, execution, dag, invocation)
        self._executions.append(execution)

    def debtors_of(self, status: ExecutionStatus) -> list[Address | None]:
        """Return the executions that owe the gas: all of them, or the one whose command aborted."""
        command = None
        if isinstance(status, ExecutionFailure) and isinstance(status.error.data, MoveAbort):
            command = status.command
        closing = self.closing_of(command)
        guilty = closing.execution if closing else self.execution_of(command)
        return [guilty] if guilty else [one.execution for one in self.closings]

    def execution_of(self, command: int | None) -> Address | None:
        """The execution whose step a command is, if it is one."""
        place = -1 if command is None else command - self._ends[-1]
        return self._executions[place] if 0 <= place < len(self._executions) else None

    def closing_of(self, command: int | None) -> Closing | None:
        """The closing that a command belongs to; None if it is not known which one failed."""
        if command is None:
            return None
        # If the closings have 4 commands and 5, they end before the commands 4 and 9.
        place = bisect_right(self._ends, command)
        return self.closings[place] if place < len(self.closings) else None
