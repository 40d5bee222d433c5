"""The plan of a transaction that runs pending steps of an execution."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Value
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.leader.chain.chain import Chain, ExecutionObject
from nexus_tools.leader.chain.workflow_cache import CachedWorkflow
from nexus_tools.leader.closing.continuation import run_of
from nexus_tools.leader.closing.step_costs import affordable_steps, cost_mist
from nexus_tools.leader.executions.pending_steps import (
    DeadlinePassed,
    InvocationClosed,
    IterationsReady,
    PendingStep,
    RegionEmptied,
    RunReady,
)
from nexus_tools.registry import (
    MAX_ITERATIONS,
    MAX_STEPS,
    ExecutionStep,
    GatherRegion,
    RequestIterations,
    RequestRun,
    StepPredictor,
    add_advance,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object, Shared
from nexus_tools.sui.types.transaction import (
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)
from nexus_tools.workflow import RunFailed, RunSettled

# Upper bounds in gas units and in MIST for storage. `closing_batch.py` explains the bounds.
_UNITS = 5_000
_STORAGE_MIST = 20_000_000
_UNITS_PER_ADVANCE = 1_000
_STORAGE_PER_ADVANCE_MIST = 150_000_000


@dataclass(slots=True, eq=False)
class StepPlan:
    """The content of one transaction that runs steps.

    `ended` are the closed or expired invocations. `expires` is whether the deadline may have
    passed. `by_step` maps each step to the pending step that it runs. `remaining` maps each pending
    step that is postponed to its due time.
    """

    dag: OwnedObject
    workflow: CachedWorkflow | None
    expires: bool
    ended: dict[Address, Invocation] = field(default_factory=dict)
    arguments: dict[Address, ObjectArgument] = field(default_factory=dict)
    steps: tuple[ExecutionStep, ...] = ()
    by_step: Mapping[ExecutionStep, PendingStep] = field(default_factory=dict)
    remaining: dict[PendingStep, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the transaction contains no steps."""
        return not (self.ended or self.steps or self.expires)

    def add_ended(self, invocation: Invocation, value: Object, now_ms: int) -> None:
        """Add an invocation if it is closed or expired, else add it to the remaining steps."""
        if not invocation.is_closed and now_ms < invocation.expires_at_ms:
            self.remaining[InvocationClosed(invocation.id)] = invocation.expires_at_ms
        elif len(self.ended) == MAX_STEPS:
            self.remaining[InvocationClosed(invocation.id)] = now_ms
        else:
            assert isinstance(value.owner, Shared)
            argument = SharedObject(value.id, value.owner.initial_version, mutable=True)
            self.ended[invocation.id] = invocation
            self.arguments[invocation.id] = argument

    def budget_mist(self, price: int) -> int:
        """Return the maximum cost of the transaction at this gas price, in MIST."""
        return self._own_mist(price) + cost_mist(self.steps, price)

    def fit(self, purse_mist: int, price: int, now_ms: int) -> None:
        """Postpone the steps that a worker cannot pay for, except the first step."""
        steps = self.steps
        left_mist = max(purse_mist - self._own_mist(price), cost_mist(_first_step(steps), price))
        self.steps = affordable_steps(steps, left_mist, price)
        for step, pending_step in list(self.by_step.items()):
            if step in steps and step not in self.steps:
                self.remaining[pending_step] = now_ms

    def _own_mist(self, price: int) -> int:
        units = _UNITS + _UNITS_PER_ADVANCE * len(self.ended)
        stored = _STORAGE_MIST + _STORAGE_PER_ADVANCE_MIST * len(self.ended)
        return units * price + stored

    def build(
        self, chain: Chain, leader: SharedObject, found: ExecutionObject
    ) -> ProgrammableTransaction:
        """Pass the outcomes of closed invocations to the execution, then run the other steps."""
        builder = TransactionBuilder()
        execution, dag = found.execution.id, found.execution.dag
        if self.expires:
            moves.expire(builder, chain.deployment.workflows, execution)
        for invocation in self.ended:
            add_advance(builder, chain.deployment, execution, dag, invocation)
        for step in self.steps:
            assert self.workflow is not None
            self.workflow.commands.add(builder, execution, leader.object_id, step)
        arguments_by_id: dict[Address, ObjectArgument] = (
            dict(self.workflow.tools) if self.workflow else {}
        )
        arguments_by_id |= self.arguments
        arguments_by_id |= {execution: found.argument, dag: self.dag, leader.object_id: leader}
        return builder.finish(arguments_by_id)

    def pending_of(self, command: int | None) -> list[PendingStep]:
        """Return a list with the pending step of a command, or an empty list if it is unknown."""
        if command is None:
            return []
        pending_steps: list[PendingStep | None] = [DeadlinePassed()] if self.expires else []
        pending_steps += [InvocationClosed(invocation) for invocation in self.ended]
        pending_steps += [self.by_step.get(step) for step in self.steps]
        pending_step = pending_steps[command] if command < len(pending_steps) else None
        return [] if pending_step is None else [pending_step]


def _first_step(steps: Sequence[ExecutionStep]) -> list[ExecutionStep]:
    """Return a list with the first step, limited to one iteration."""
    return [
        replace(step, limit=1) if isinstance(step, RequestIterations) else step
        for step in steps[:1]
    ]


def change_of(pending: Sequence[PendingStep]) -> Change:
    """Return the pending steps as a `Change`, the form in which events report them."""
    return Change(
        ready=tuple(step.run for step in pending if isinstance(step, RunReady)),
        iterations=tuple(step.head for step in pending if isinstance(step, IterationsReady)),
        finished_regions=tuple(step.region for step in pending if isinstance(step, RegionEmptied)),
        failures=(),
    )


def step_for(workflow: CachedWorkflow, pending: PendingStep) -> ExecutionStep | None:
    """Return the execution step of a pending step, or None if it needs another command."""
    match pending:
        case RunReady(run):
            return RequestRun(run_of(workflow, run.vertex, run.path))
        case RegionEmptied(region):
            return GatherRegion(region.block, tuple(region.path))
        case IterationsReady(head):
            first = run_of(workflow, head.vertex, head.path)
            parallel = workflow.plan.vertices[first.vertex].vertex.parallel
            return RequestIterations(first.vertex, first.path, min(parallel, MAX_ITERATIONS))
    return None


def predict_steps(
    predictor: StepPredictor, workflow: CachedWorkflow, invocation: Invocation
) -> None:
    """Add the closing of an invocation to a prediction of steps.

    An invocation that is still open counts as expired.
    """
    assert invocation.attempt is not None
    state, attempt = invocation.state, invocation.attempt
    outcome: RunSettled | RunFailed = RunFailed("expired")
    if isinstance(state, State.Settled):
        lengths = {name: _length(value) for name, value in state.ports.values}
        outcome = RunSettled(state.variant, lengths)
    run = run_of(workflow, attempt.run.vertex, attempt.run.path)
    predictor.add_closing(run, attempt.number, outcome)


def _length(value: Value.Variant) -> int | None:
    """Return the length of a list, or None for other values."""
    match value:
        case Value.InlineList(parts):
            return sum(map(len, parts))
        case Value.RemoteList(_, keys):
            return len(keys)
    return None
