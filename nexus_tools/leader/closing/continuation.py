"""How an execution goes on in the transaction that closes one of its invocations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.leader.chain.workflow_cache import CarriedWorkflow
from nexus_tools.leader.closing.step_costs import MAX_RUNS, affordable, cost_mist, run_count
from nexus_tools.registry import ExecutionStep, Foresight
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import ObjectArgument, SharedObject
from nexus_tools.workflow import (
    EDGE_EFFORT,
    LOOK_EFFORT,
    OPEN_EFFORT,
    PORT_EFFORT,
    SOURCE_EFFORT,
    EdgeKind,
    Failed,
    Plan,
    PlannedEdge,
    Run,
    Settled,
)

# What it may take: bounds in gas units, and in MIST of storage, most of which the execution
# pays back in the same transaction.
_UNITS_PER_ADVANCE = 1_000
_STORAGE_PER_ADVANCE_MIST = 20_000_000
_STORAGE_PER_EDGE_MIST = 4_000_000


class Extent(IntEnum):
    """How much of what follows from a closing goes into its transaction."""

    NOTHING = 0
    """The closing alone: it must never wait for what follows from it."""
    ADVANCE = 1
    """The execution takes the outcome."""
    STEPS = 2
    """And requests what is ready since."""


@dataclass(slots=True, eq=False)
class Continuation:
    """What follows from the closing of an attempt, with this outcome."""

    workflow: CarriedWorkflow
    execution: SharedObject
    attempt: Attempt
    outcome: Settled | Failed
    extent: Extent = Extent.STEPS

    @property
    def run(self) -> Run:
        """The run that the attempt carries."""
        return run_of(self.workflow, self.attempt.run.vertex, self.attempt.run.path)

    @property
    def edges(self) -> int:
        """How many edges the outcome may follow."""
        variants = self.workflow.plan.vertices[self.run.vertex].variants.values()
        return max(map(len, variants), default=0)

    @property
    def effort(self) -> int:
        """An estimate of what taking the outcome computes, for the dearest variant."""
        plan = self.workflow.plan
        variants = plan.vertices[self.run.vertex].variants.values()
        return max((following_effort(plan, edges) for edges in variants), default=0)

    @property
    def fans_out(self) -> bool:
        """Whether the outcome may begin iterations, one for each element of a list."""
        variants = self.workflow.plan.vertices[self.run.vertex].variants.values()
        return any(edge.kind is EdgeKind.FOR_EACH for edges in variants for edge in edges)

    @property
    def units(self) -> int:
        """The gas units that taking the outcome may take."""
        return _UNITS_PER_ADVANCE if self.extent else 0

    @property
    def storage_mist(self) -> int:
        """What it may take of storage."""
        per_edge = self.edges * _STORAGE_PER_EDGE_MIST
        return _STORAGE_PER_ADVANCE_MIST + per_edge if self.extent else 0

    def foresee(self, foresight: Foresight) -> None:
        """Add what may follow."""
        foresight.closed(self.run, self.attempt.number, self.outcome)

    def reduce(self) -> None:
        """Put less into the next transaction."""
        self.extent = Extent(max(0, self.extent - 1))


def following_effort(plan: Plan, edges: Iterable[PlannedEdge]) -> int:
    """Estimate what following edges computes on chain, with the blocks that they can open.

    A block opens once, with the first edge into it, and may open the blocks that start with it.
    """
    effort = 0
    starts: list[str | int] = []
    opened: set[int] = set()
    for edge in edges:
        effort += EDGE_EFFORT
        starts.append(edge.target.vertex if edge.scope is None else edge.scope)
    while starts:
        start = starts.pop()
        if isinstance(start, str):
            ports = len(plan.vertices[start].into)
            effort += LOOK_EFFORT + (PORT_EFFORT + SOURCE_EFFORT) * ports
        elif start not in opened:
            opened.add(start)
            block = plan.blocks[start]
            begun = (*block.cursors, *block.starts)
            effort += OPEN_EFFORT * len(begun)
            starts += begun
    return effort


@dataclass(frozen=True, slots=True)
class FollowingSteps:
    """The steps of one execution that follow in a transaction."""

    workflow: CarriedWorkflow
    execution: Address
    steps: tuple[ExecutionStep, ...]


def following(
    continuations: Iterable[Continuation], limit: int, purse_mist: int, price: int
) -> tuple[FollowingSteps, ...]:
    """What follows from closings of one transaction, `limit` steps at most in all.

    It may cost so much at this gas price.
    """
    by_execution: dict[Address, list[Continuation]] = {}
    for each in continuations:
        if each.extent is Extent.STEPS:
            by_execution.setdefault(each.execution.object_id, []).append(each)
    found = []
    runs = MAX_RUNS - sum(each.edges for each in continuations)
    for execution, group in by_execution.items():
        workflow = group[0].workflow
        foresight = Foresight(workflow.plan)
        for each in group:
            each.foresee(foresight)
        steps = tuple(step for step in foresight.steps(limit) if workflow.can_add(step))
        steps = affordable(steps, purse_mist, price, runs)
        limit -= len(steps)
        runs -= run_count(steps)
        purse_mist -= cost_mist(steps, price)
        if steps:
            found.append(FollowingSteps(workflow, execution, steps))
    return tuple(found)


def run_of(workflow: CarriedWorkflow, vertex: int, path: Iterable[int]) -> Run:
    """A run of the chain, which knows vertices by number. Raises `IndexError`."""
    return Run(tuple(workflow.plan.vertices)[vertex], tuple(path))


def arguments(
    continuations: Iterable[Continuation], steps: Iterable[FollowingSteps]
) -> Mapping[Address, ObjectArgument]:
    """How a transaction names all that these need besides invocations and the leader."""
    known: dict[Address, ObjectArgument] = {}
    for each in continuations:
        known[each.execution.object_id] = each.execution
        known[each.workflow.argument.reference.object_id] = each.workflow.argument
    for group in steps:
        known |= group.workflow.tools
    return known
