"""Execution steps that follow the closing of an invocation in the same transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.leader.chain.workflow_cache import CachedWorkflow
from nexus_tools.leader.closing.step_costs import MAX_RUNS, affordable_steps, cost_mist, run_count
from nexus_tools.registry import ExecutionStep, StepPredictor
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import ObjectArgument, SharedObject
from nexus_tools.workflow import (
    EDGE_EFFORT,
    LOOKUP_EFFORT,
    OPEN_EFFORT,
    PORT_EFFORT,
    SOURCE_EFFORT,
    EdgeKind,
    Plan,
    PlannedEdge,
    Run,
    RunFailed,
    RunSettled,
)

# Upper bounds of the computation in gas units, and of the storage in MIST. The execution refunds
# most of the storage cost in the same transaction.
_UNITS_PER_ADVANCE = 1_000
_STORAGE_PER_ADVANCE_MIST = 20_000_000
_STORAGE_PER_EDGE_MIST = 4_000_000


class Extent(IntEnum):
    """The part of a continuation that the transaction of a closing contains."""

    NOTHING = 0
    """The transaction contains only the closing, because steps must never delay a closing."""
    ADVANCE = 1
    """After the closing, the execution accepts the outcome."""
    STEPS = 2
    """After the closing, the execution accepts the outcome and requests ready runs."""


@dataclass(slots=True, eq=False)
class Continuation:
    """The continuation of an execution after an attempt was closed with `outcome`."""

    workflow: CachedWorkflow
    execution: SharedObject
    attempt: Attempt
    outcome: RunSettled | RunFailed
    extent: Extent = Extent.STEPS

    @property
    def run(self) -> Run:
        """The run to which the attempt belongs."""
        return run_of(self.workflow, self.attempt.run.vertex, self.attempt.run.path)

    @property
    def edges(self) -> int:
        """The number of edges of the variant that has the most edges."""
        variants = self.workflow.plan.vertices[self.run.vertex].variants.values()
        return max(map(len, variants), default=0)

    @property
    def effort(self) -> int:
        """The estimated work of accepting the most expensive variant of the outcome."""
        plan = self.workflow.plan
        variants = plan.vertices[self.run.vertex].variants.values()
        return max((following_effort(plan, edges) for edges in variants), default=0)

    @property
    def fans_out(self) -> bool:
        """Whether the outcome may start iterations, one for each element of a list."""
        variants = self.workflow.plan.vertices[self.run.vertex].variants.values()
        return any(edge.kind is EdgeKind.FOR_EACH for edges in variants for edge in edges)

    @property
    def gas_units(self) -> int:
        """The maximum number of gas units that the execution needs to accept the outcome."""
        return _UNITS_PER_ADVANCE if self.extent else 0

    @property
    def storage_mist(self) -> int:
        """The maximum storage cost of accepting the outcome, in MIST."""
        per_edge = self.edges * _STORAGE_PER_EDGE_MIST
        return _STORAGE_PER_ADVANCE_MIST + per_edge if self.extent else 0

    def predict(self, predictor: StepPredictor) -> None:
        """Add the closing of the attempt to a predictor of steps."""
        predictor.add_closing(self.run, self.attempt.number, self.outcome)

    def reduce(self) -> None:
        """Reduce `extent` by one level, so that the next transaction is cheaper."""
        self.extent = Extent(max(0, self.extent - 1))


def following_effort(plan: Plan, edges: Iterable[PlannedEdge]) -> int:
    """Estimate the work on chain to follow edges and to open the blocks that they enter.

    A block opens once, when the execution follows the first edge into the block. If a block starts
    with inner blocks, the inner blocks also open.
    """
    effort = 0
    starts: list[str | int] = []
    open_blocks: set[int] = set()
    for edge in edges:
        effort += EDGE_EFFORT
        starts.append(edge.target.vertex if edge.scope is None else edge.scope)
    while starts:
        start = starts.pop()
        if isinstance(start, str):
            ports = len(plan.vertices[start].incoming)
            effort += LOOKUP_EFFORT + (PORT_EFFORT + SOURCE_EFFORT) * ports
        elif start not in open_blocks:
            open_blocks.add(start)
            block = plan.blocks[start]
            started = (*block.cursors, *block.starts)
            effort += OPEN_EFFORT * len(started)
            starts += started
    return effort


@dataclass(frozen=True, slots=True)
class FollowingSteps:
    """The steps of one execution that follow the closings in a transaction."""

    workflow: CachedWorkflow
    execution: Address
    steps: tuple[ExecutionStep, ...]


def following(
    continuations: Iterable[Continuation], limit: int, purse_mist: int, price: int
) -> tuple[FollowingSteps, ...]:
    """Return the execution steps that follow the closings of one transaction.

    The result contains at most `limit` steps, which cost at most `purse_mist` at the gas price
    `price`.
    """
    by_execution: dict[Address, list[Continuation]] = {}
    for continuation in continuations:
        if continuation.extent is Extent.STEPS:
            by_execution.setdefault(continuation.execution.object_id, []).append(continuation)
    groups = []
    runs = MAX_RUNS - sum(continuation.edges for continuation in continuations)
    for execution, group in by_execution.items():
        workflow = group[0].workflow
        predictor = StepPredictor(workflow.plan)
        for continuation in group:
            continuation.predict(predictor)
        steps = tuple(step for step in predictor.steps(limit) if workflow.can_add(step))
        steps = affordable_steps(steps, purse_mist, price, runs)
        limit -= len(steps)
        runs -= run_count(steps)
        purse_mist -= cost_mist(steps, price)
        if steps:
            groups.append(FollowingSteps(workflow, execution, steps))
    return tuple(groups)


def run_of(workflow: CachedWorkflow, vertex: int, path: Iterable[int]) -> Run:
    """Return the run with an on-chain vertex number and a path. Raises `IndexError`."""
    return Run(tuple(workflow.plan.vertices)[vertex], tuple(path))


def arguments(
    continuations: Iterable[Continuation], steps: Iterable[FollowingSteps]
) -> Mapping[Address, ObjectArgument]:
    """Return the transaction arguments of continuations and steps.

    The arguments of invocations and of the leader are not included.
    """
    arguments_by_id: dict[Address, ObjectArgument] = {}
    for continuation in continuations:
        arguments_by_id[continuation.execution.object_id] = continuation.execution
        arguments_by_id[continuation.workflow.argument.reference.object_id] = (
            continuation.workflow.argument
        )
    for group in steps:
        arguments_by_id |= group.workflow.tools
    return arguments_by_id
