"""Which steps of an execution may follow from what happened, and their commands.

A step that has nothing to do does nothing, and costs little: so whoever closes a run adds all that
may follow from it to the same transaction, which the workflow alone tells, without reading records.
What did not fit, or came differently, is in the events' `Change`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from nexus_tools.contracts import Deployment, tool_id
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.contracts.move_bindings.workflows.walks import Change
from nexus_tools.sui.bindings.runtime import ObjectInput
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Outcome, ToolFqn
from nexus_tools.workflow import (
    ERR_EVAL,
    BlockKind,
    EdgeKind,
    Failed,
    Plan,
    PlannedEdge,
    PlannedVertex,
    Run,
    Settled,
)

MAX_STEPS = 16
"""So many steps follow in one transaction at most: its gas stays low, and anyone can pay it."""
MAX_ITERATIONS = 32
"""So many iterations one command requests at most, as `execution.move` says."""

Path = tuple[int, ...]
_ERROR_PORTS = {"reason": None, "detail": None}


@dataclass(frozen=True, slots=True)
class RequestRun:
    """Requests a run, if it is ready."""

    run: Run


@dataclass(frozen=True, slots=True)
class RequestIterations:
    """Requests iterations that begin with `vertex` in the region around which `path` is."""

    vertex: str
    path: Path
    limit: int


@dataclass(frozen=True, slots=True)
class Gather:
    """Brings what a region gathered out of it, if nothing is left to do in it."""

    region: int
    path: Path


ExecutionStep = RequestRun | RequestIterations | Gather


class Foresight:
    """Collects what may follow from several things that happened to one execution."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._names = tuple(plan.vertices)
        self._runs: dict[Run, None] = {}
        self._iterations: dict[tuple[str, Path], int] = {}
        self._emptied: dict[tuple[int, Path], None] = {}

    # --- What happened

    def begun(self, group: str) -> None:
        """The execution begins with an entry group: what waits for no other vertex, is ready."""
        for name, vertex in self._plan.vertices.items():
            if name in self._plan.groups[group] and vertex.region is None and _waits_not(vertex):
                self._runs[Run(name, (0,) * len(vertex.blocks))] = None

    def closed(self, run: Run, attempt: int, outcome: Settled | Failed) -> None:
        """A run was closed, in an attempt counted from 1."""
        vertex = self._plan.vertices[run.vertex]
        settled = outcome if isinstance(outcome, Settled) else None
        edges = vertex.variants.get(settled.variant, ()) if settled else ()
        if settled is None or any(edge.source.port not in settled.lengths for edge in edges):
            if attempt < vertex.vertex.attempts:
                if not vertex.vertex.retry_after_ms:
                    self._runs[run] = None
                return
            settled, edges = Settled(ERR_EVAL, _ERROR_PORTS), vertex.variants.get(ERR_EVAL, ())
            if not edges and vertex.terminates:
                return
        for edge in edges:
            if edge.left is None:
                self._brought(edge, run.path, settled.lengths[edge.source.port])
        self._left(run)

    def changed(self, change: Change) -> None:
        """The chain told of a change."""
        for ready in change.ready:
            self._runs[Run(self._names[ready.vertex], tuple(ready.path))] = None
        for each in change.iterations:
            self._more_iterations(self._names[each.vertex], tuple(each.path), MAX_ITERATIONS)
        for instance in change.emptied:
            self._emptied[instance.block, tuple(instance.path)] = None

    # --- What follows

    def steps(self, limit: int = MAX_STEPS) -> tuple[ExecutionStep, ...]:
        """The first ones of the steps, in an order in which later ones profit from earlier ones."""
        return tuple(islice(self._steps(), limit))

    def _steps(self) -> Iterator[ExecutionStep]:
        """Requests, and then region by region, inner ones first, with what that leads to."""
        told: set[Run | tuple[str, Path] | tuple[int, Path]] = set()
        while True:
            for run in [run for run in self._runs if run not in told]:
                told.add(run)
                yield RequestRun(run)
            for key, count in [each for each in self._iterations.items() if each[0] not in told]:
                told.add(key)
                yield RequestIterations(*key, count)
            left = [each for each in self._emptied if each not in told]
            if not left:
                return
            region, path = max(left, key=lambda each: self._plan.blocks[each[0]].depth)
            told.add((region, path))
            yield Gather(region, path)
            self._gathered(region, path)

    def _gathered(self, region: int, path: Path) -> None:
        block = self._plan.blocks[region]
        for edge in block.collects.values():
            self._brought(edge, path, None)
        if block.region is not None:
            self._empty(block.region, path)

    def _brought(self, edge: PlannedEdge, path: Path, length: int | None) -> None:
        """A value, of this length if it is a list, goes along an edge."""
        place = edge.place(path)
        if edge.scope is None:
            self._runs[Run(edge.target.vertex, place)] = None
        elif edge.kind is not EdgeKind.FOR_EACH:
            self._opened(edge.scope, place, {})
        elif length is not None:
            self._opened(edge.scope, place, {edge.target.vertex: length})

    def _opened(self, number: int, path: Path, lengths: Mapping[str, int]) -> None:
        """An instance of a block may have opened, with lists of these lengths for its heads."""
        block = self._plan.blocks[number]
        for name in block.cursors:
            self._more_iterations(name, path, lengths.get(name, MAX_ITERATIONS))
        for start in block.starts:
            if isinstance(start, int):
                self._opened(start, _extended(path, self._plan.blocks[start].depth), {})
            else:
                depth = len(self._plan.vertices[start].blocks)
                self._runs[Run(start, _extended(path, depth))] = None
        if block.kind is BlockKind.REGION:
            self._emptied[number, path] = None

    def _left(self, run: Run) -> None:
        """A run counts off the region around it."""
        region = self._plan.vertices[run.vertex].region
        if region is None:
            return
        block = self._plan.blocks[region]
        if run.vertex in block.cursors and not any(run.path[block.depth + 1 :]):
            self._more_iterations(run.vertex, run.path[: block.depth], 1)
        self._empty(region, run.path)

    def _more_iterations(self, name: str, path: Path, count: int) -> None:
        if count:
            parallel = self._plan.vertices[name].vertex.parallel
            known = self._iterations.get((name, path), 0)
            self._iterations[name, path] = min(known + count, parallel, MAX_ITERATIONS)

    def _empty(self, region: int, path: Path) -> None:
        self._emptied[region, path[: self._plan.blocks[region].depth]] = None


def _waits_not(vertex: PlannedVertex) -> bool:
    """Whether entry values are all that a vertex takes in its first round."""
    return all(
        edge.kind is EdgeKind.DO_WHILE
        for port, edges in vertex.into.items()
        if port not in vertex.entries
        for edge in edges
    )


def _extended(path: Path, length: int) -> Path:
    return path + (0,) * (length - len(path))


def closed_with(outcome: Outcome) -> Settled | Failed:
    """What an outcome of a tool is to an execution."""
    if isinstance(outcome, Answer):
        lengths = {
            port: len(value) if isinstance(value, list) else None
            for port, value in outcome.ports.items()
        }
        return Settled(outcome.variant, lengths)
    return Failed(outcome.reason.value, outcome.detail)


def add_advance(
    builder: TransactionBuilder,
    deployment: Deployment,
    execution: Address,
    dag: Address,
    invocation: Address,
) -> None:
    """The command that goes on with a closed invocation."""
    calls.advance(builder, deployment.workflows, execution, dag, invocation)


class StepCommands:
    """Adds steps of executions of one workflow to transactions; `dag` is its id."""

    def __init__(self, deployment: Deployment, dag: Address, plan: Plan) -> None:
        self._deployment = deployment
        self._dag = dag
        self._numbers: Mapping[str, int] = {name: i for i, name in enumerate(plan.vertices)}
        self._tools: Mapping[str, Address] = {
            name: tool_id(deployment.tool_registry, ToolFqn.parse(vertex.vertex.fqn))
            for name, vertex in plan.vertices.items()
        }

    def tool(self, vertex: str) -> Address:
        """The id of the tool of a vertex."""
        return self._tools[vertex]

    def add(
        self,
        builder: TransactionBuilder,
        execution: ObjectInput,
        leader: Address,
        step: ExecutionStep,
    ) -> None:
        """The command of a step. Its sender is a worker of the leader, or owns the execution."""
        package, dag = self._deployment.workflows, self._dag
        match step:
            case RequestRun(run):
                named = execution, dag, self._tools[run.vertex], leader
                calls.request(builder, package, *named, self._numbers[run.vertex], run.path)
            case RequestIterations(vertex, path, limit):
                named = execution, dag, self._tools[vertex], leader
                number = self._numbers[vertex]
                calls.request_iterations(builder, package, *named, number, path, limit)
            case Gather(region, path):
                calls.gather(builder, package, execution, dag, region, path)
