"""Prediction of the next steps of an execution, and the commands of these steps.

A step that is not possible has no effect and costs little. The transaction that closes a run
therefore also contains all steps that may be possible next. These steps are predicted from the
workflow alone, without reading records. If a step did not fit into the transaction or was not
predicted, the emitted events contain the step in their `Change`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from nexus_tools.contracts import Deployment, tool_id
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.sui.bindings.runtime import ObjectInput
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Outcome, ToolFqn
from nexus_tools.workflow import (
    ERR_EVAL,
    BlockKind,
    EdgeKind,
    Plan,
    PlannedEdge,
    PlannedVertex,
    Run,
    RunFailed,
    RunSettled,
)

MAX_STEPS = 16
"""The maximum number of steps in one transaction, which limits the gas that a sender pays."""
MAX_ITERATIONS = 32
"""The maximum number of iterations that one command requests. Source: `execution.move`."""

Path = tuple[int, ...]
_ERROR_PORTS = {"reason": None, "detail": None}


@dataclass(frozen=True, slots=True)
class RequestRun:
    """A step that requests a run if the run is ready."""

    run: Run


@dataclass(frozen=True, slots=True)
class RequestIterations:
    """A step that requests up to `limit` iterations of a region.

    `vertex` is the head vertex of the iterations, and `path` is the path of the region.
    """

    vertex: str
    path: Path
    limit: int


@dataclass(frozen=True, slots=True)
class GatherRegion:
    """A step that delivers the collected values of a region if the region has finished."""

    region: int
    path: Path


ExecutionStep = RequestRun | RequestIterations | GatherRegion


class StepPredictor:
    """A predictor of an execution's next steps after one or more changes.

    Call `add_start`, `add_closing` or `add_change` for each change, and then call `steps`.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._names = tuple(plan.vertices)
        self._runs: dict[Run, None] = {}
        self._iterations: dict[tuple[str, Path], int] = {}
        self._emptied: dict[tuple[int, Path], None] = {}

    # --- Changes

    def add_start(self, group: str) -> None:
        """Add the start with an entry group. Vertices without dependencies become ready."""
        for name, vertex in self._plan.vertices.items():
            if (
                name in self._plan.groups[group]
                and vertex.region is None
                and _needs_only_entries(vertex)
            ):
                self._runs[Run(name, (0,) * len(vertex.blocks))] = None

    def add_closing(self, run: Run, attempt: int, outcome: RunSettled | RunFailed) -> None:
        """Add the closing of a run. `attempt` is the number of the closed attempt, from 1."""
        vertex = self._plan.vertices[run.vertex]
        settled = outcome if isinstance(outcome, RunSettled) else None
        edges = vertex.variants.get(settled.variant, ()) if settled else ()
        if settled is None or any(edge.source.port not in settled.lengths for edge in edges):
            if attempt < vertex.vertex.attempts:
                if not vertex.vertex.retry_after_ms:
                    self._runs[run] = None
                return
            settled, edges = RunSettled(ERR_EVAL, _ERROR_PORTS), vertex.variants.get(ERR_EVAL, ())
            if not edges and vertex.terminates:
                return
        for edge in edges:
            if edge.collected_region is None:
                self._add_delivery(edge, run.path, settled.lengths[edge.source.port])
        self._add_run_end(run)

    def add_change(self, change: Change) -> None:
        """Add a change that the chain reported in an event."""
        for ready in change.ready:
            self._runs[Run(self._names[ready.vertex], tuple(ready.path))] = None
        for entry in change.iterations:
            self._add_iterations(self._names[entry.vertex], tuple(entry.path), MAX_ITERATIONS)
        for instance in change.finished_regions:
            self._emptied[instance.block, tuple(instance.path)] = None

    # --- Steps

    def steps(self, limit: int = MAX_STEPS) -> tuple[ExecutionStep, ...]:
        """Return up to `limit` next steps. A step precedes the steps that it enables."""
        return tuple(islice(self._steps(), limit))

    def _steps(self) -> Iterator[ExecutionStep]:
        """Yield all requests, and then the following steps of each region, innermost first."""
        yielded: set[Run | tuple[str, Path] | tuple[int, Path]] = set()
        while True:
            for run in [run for run in self._runs if run not in yielded]:
                yielded.add(run)
                yield RequestRun(run)
            for key, count in [
                entry for entry in self._iterations.items() if entry[0] not in yielded
            ]:
                yielded.add(key)
                yield RequestIterations(*key, count)
            regions = [region_key for region_key in self._emptied if region_key not in yielded]
            if not regions:
                return
            region, path = max(
                regions, key=lambda region_key: self._plan.blocks[region_key[0]].depth
            )
            yielded.add((region, path))
            yield GatherRegion(region, path)
            self._add_gathering(region, path)

    def _add_gathering(self, region: int, path: Path) -> None:
        block = self._plan.blocks[region]
        for edge in block.collects.values():
            self._add_delivery(edge, path, None)
        if block.region is not None:
            self._add_emptied(block.region, path)

    def _add_delivery(self, edge: PlannedEdge, path: Path, length: int | None) -> None:
        """Add the steps that may follow after an edge delivers a value.

        `length` is the length of a list value, or None for other values.
        """
        target_path = edge.target_path(path)
        if edge.scope is None:
            self._runs[Run(edge.target.vertex, target_path)] = None
        elif edge.kind is not EdgeKind.FOR_EACH:
            self._add_opening(edge.scope, target_path, {})
        elif length is not None:
            self._add_opening(edge.scope, target_path, {edge.target.vertex: length})

    def _add_opening(self, number: int, path: Path, lengths: Mapping[str, int]) -> None:
        """Add the steps that follow the opening of a block instance.

        `lengths` maps the head vertices of the block to the lengths of their lists.
        """
        block = self._plan.blocks[number]
        for name in block.cursors:
            self._add_iterations(name, path, lengths.get(name, MAX_ITERATIONS))
        for start in block.starts:
            if isinstance(start, int):
                self._add_opening(start, _extended(path, self._plan.blocks[start].depth), {})
            else:
                depth = len(self._plan.vertices[start].blocks)
                self._runs[Run(start, _extended(path, depth))] = None
        if block.kind is BlockKind.REGION:
            self._emptied[number, path] = None

    def _add_run_end(self, run: Run) -> None:
        """Add the steps of the enclosing region that follow the end of a run."""
        region = self._plan.vertices[run.vertex].region
        if region is None:
            return
        block = self._plan.blocks[region]
        if run.vertex in block.cursors and not any(run.path[block.depth + 1 :]):
            self._add_iterations(run.vertex, run.path[: block.depth], 1)
        self._add_emptied(region, run.path)

    def _add_iterations(self, name: str, path: Path, count: int) -> None:
        if count:
            parallel = self._plan.vertices[name].vertex.parallel
            previous = self._iterations.get((name, path), 0)
            self._iterations[name, path] = min(previous + count, parallel, MAX_ITERATIONS)

    def _add_emptied(self, region: int, path: Path) -> None:
        self._emptied[region, path[: self._plan.blocks[region].depth]] = None


def _needs_only_entries(vertex: PlannedVertex) -> bool:
    """Return whether the first run of a vertex needs only entry values."""
    return all(
        edge.kind is EdgeKind.DO_WHILE
        for port, edges in vertex.incoming.items()
        if port not in vertex.entries
        for edge in edges
    )


def _extended(path: Path, length: int) -> Path:
    return path + (0,) * (length - len(path))


def execution_outcome(outcome: Outcome) -> RunSettled | RunFailed:
    """Convert the outcome of a tool to the outcome of a run."""
    if isinstance(outcome, Answer):
        lengths = {
            port: len(value) if isinstance(value, list) else None
            for port, value in outcome.ports.items()
        }
        return RunSettled(outcome.variant, lengths)
    return RunFailed(outcome.reason.value, outcome.detail)


def add_advance(
    builder: TransactionBuilder,
    deployment: Deployment,
    execution: Address,
    dag: Address,
    invocation: Address,
) -> None:
    """Add the command that advances the execution after an invocation was closed."""
    calls.advance(builder, deployment.workflows, execution, dag, invocation)


class StepCommands:
    """A builder of the steps of a workflow's executions. `dag` is the ID of the workflow."""

    def __init__(self, deployment: Deployment, dag: Address, plan: Plan) -> None:
        self._deployment = deployment
        self._dag = dag
        self._numbers: Mapping[str, int] = {name: i for i, name in enumerate(plan.vertices)}
        self._tools: Mapping[str, Address] = {
            name: tool_id(deployment.tool_registry, ToolFqn.parse(vertex.vertex.fqn))
            for name, vertex in plan.vertices.items()
        }

    def tool(self, vertex: str) -> Address:
        """Return the ID of the tool of a vertex."""
        return self._tools[vertex]

    def add(
        self,
        builder: TransactionBuilder,
        execution: ObjectInput,
        leader: Address,
        step: ExecutionStep,
    ) -> None:
        """Add the command of a step. The sender must be the owner or a worker of the leader."""
        package, dag = self._deployment.workflows, self._dag
        match step:
            case RequestRun(run):
                target = execution, dag, self._tools[run.vertex], leader
                calls.request(builder, package, *target, self._numbers[run.vertex], run.path)
            case RequestIterations(vertex, path, limit):
                target = execution, dag, self._tools[vertex], leader
                number = self._numbers[vertex]
                calls.request_iterations(builder, package, *target, number, path, limit)
            case GatherRegion(region, path):
                calls.gather(builder, package, execution, dag, region, path)
