"""The state of an execution, as a flat map of small records, and queries on this map."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from nexus_tools.workflow.document.document import EdgeKind, InputPort, OutputPort
from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.semantics.plan import Plan, PlannedEdge, PlannedVertex
from nexus_tools.workflow.semantics.runs import (
    CollectedList,
    GivenValue,
    Reference,
    Result,
    Run,
    RunFailed,
    RunSettled,
    Value,
    Waiting,
)

Path = tuple[int, ...]
Instance = tuple[int, Path]
"""An instance of a block, identified by the number of the block and the path around it."""


class RunPhase(IntEnum):
    """The phase of a run."""

    WAITING = 0
    READY = 1
    UNDER_WAY = 2
    CLOSED = 3


@dataclass(slots=True)
class DeliveredValue:
    """A value with the edge that brought it. For `for_each`, `length` is the length of the list."""

    edge: PlannedEdge
    value: Value
    length: int = 0


@dataclass(slots=True)
class RunRecord:
    """The record of one run, with the phase of the run and the values that edges brought to it."""

    brought: dict[str, DeliveredValue] = field(default_factory=dict)
    phase: RunPhase = RunPhase.WAITING
    attempt: int = 1
    outcome: RunSettled | RunFailed | None = None


@dataclass(slots=True)
class Cursor:
    """The iterations that start at one head of a region.

    The iterations from `next` to `count` are not requested yet.
    """

    count: int
    parallel: int
    next: int = 0
    outstanding: int = 0

    @property
    def end(self) -> int:
        """The number of the first iteration that is not ready."""
        return min(self.count, self.next + self.parallel - self.outstanding)


@dataclass(slots=True)
class InstanceRecord:
    """The record of a block instance. A loop uses only `brought`.

    `brought` has the values that serve all runs inside, by port and by whether the edge is
    `static`. `live` counts runs that are ready or in flight, iterations not yet started, and open
    regions directly inside.
    """

    brought: dict[tuple[InputPort, bool], DeliveredValue] = field(default_factory=dict)
    is_open: bool = False
    live: int = 0
    cursors: dict[str, Cursor] = field(default_factory=dict)
    collected: dict[InputPort, dict[int, Reference]] = field(default_factory=dict)

    @property
    def is_exhausted(self) -> bool:
        """Whether the cursors of all heads have started all iterations."""
        return all(cursor.next == cursor.count for cursor in self.cursors.values())


class Records:
    """The records of one execution, and queries on them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.group: frozenset[str] | None = None
        self.runs: dict[Run, RunRecord] = {}
        self.instances: dict[Instance, InstanceRecord] = {}

    # --- Values

    def scope_value(self, target: InputPort, path: Path, *, static: bool) -> DeliveredValue | None:
        """Return the value that an edge brought to a block instance around this path, or None."""
        for depth, block in enumerate(self.plan.vertices[target.vertex].blocks[: len(path) + 1]):
            instance = self.instances.get((block, path[:depth]))
            value = instance and instance.brought.get((target, static))
            if value and value.edge.reaches(path):
                return value
        return None

    def value_of_port(self, vertex: PlannedVertex, run: Run, port: str) -> Value | None:
        """Return the value of a port, or None while the port has no value."""
        record = self.runs.get(run)
        if record and port in record.brought:
            return record.brought[port].value
        target = InputPort(run.vertex, port)
        scoped = self.scope_value(target, run.path, static=False)
        if scoped:
            return _element(scoped, run.path)
        fallback = self._fallback(vertex, run, port)
        origins = (
            {delivered.edge.origin for delivered in record.brought.values()} if record else set()
        )
        for edge in vertex.incoming[port] if fallback else ():
            moves = edge.scope is None and edge.reaches(run.path)
            if moves and edge.origin not in origins:
                return None
        return fallback

    def _fallback(self, vertex: PlannedVertex, run: Run, port: str) -> Value | None:
        """Return the port's fallback: its static, entry or default value, or None."""
        if any(edge.kind is EdgeKind.STATIC for edge in vertex.incoming[port]):
            static = self.scope_value(InputPort(run.vertex, port), run.path, static=True)
            return static.value if static else None
        is_entry = port in vertex.entries and self.group and run.vertex in self.group
        if port in vertex.constants or is_entry:
            return GivenValue(InputPort(run.vertex, port))
        return None

    def deliver(self, run: Run, value: DeliveredValue) -> bool:
        """Bring a value to one run. Return False if the port already has a value."""
        record = self.runs.get(run)
        port = value.edge.target.port
        taken = record and (port in record.brought or record.phase is not RunPhase.WAITING)
        if taken or self.scope_value(value.edge.target, run.path, static=False):
            return False
        if record is None:
            record = self.runs[run] = RunRecord()
        record.brought[port] = value
        return True

    def deliver_to_scope(self, instance: Instance, value: DeliveredValue) -> bool:
        """Bring a value to all runs inside an instance.

        Return False if the runs already have a value for the port.
        """
        target, static = value.edge.target, value.edge.kind is EdgeKind.STATIC
        if self.scope_value(target, instance[1], static=static):
            return False
        record = self.instances.setdefault(instance, InstanceRecord())
        record.brought[target, static] = value
        return True

    def gather(self, edge: PlannedEdge, value: Reference) -> bool:
        """Store an iteration's value for a list.

        Return False if the iteration already has a value.
        """
        assert edge.collected_region is not None
        depth, path = self.plan.blocks[edge.collected_region].depth, value.run.path
        elements = self.instances[edge.collected_region, path[:depth]].collected.setdefault(
            edge.target, {}
        )
        return elements.setdefault(path[depth], value) is value

    # --- Open blocks

    def is_inside_open(self, blocks: Iterable[int], path: Path) -> bool:
        """Return whether all these blocks are open around a path."""
        return all(self.is_open(block, path[:depth]) for depth, block in enumerate(blocks))

    def is_open(self, block: int, path: Path) -> bool:
        """Return whether the instance is open, so that runs inside it may start."""
        if self.plan.blocks[block].kind is BlockKind.REGION:
            instance = self.instances.get((block, path))
            return instance is not None and instance.is_open
        return all(self.has(block, path, need) for need in self.plan.blocks[block].required_ports)

    def has(self, block: int, path: Path, need: InputPort) -> bool:
        """Return whether a block instance has the value that it needs for a port."""
        if self.scope_value(need, path, static=True):
            return True
        is_region = self.plan.blocks[block].kind is BlockKind.REGION
        return is_region and self.scope_value(need, path, static=False) is not None

    def starts(self, vertex: PlannedVertex, run: Run) -> bool:
        """Return whether a run can start without a value that an edge brought to this run alone.

        The entry group can start the run. A value for all iterations or rounds can also start it,
        if the value's block is inside the region around the run. A value that belongs to the whole
        region does not start iterations.
        """
        if vertex.region is None and self.group is not None and run.vertex in self.group:
            return True
        outside = -1 if vertex.region is None else self.plan.blocks[vertex.region].depth
        brought = (
            self.scope_value(InputPort(run.vertex, port), run.path, static=static)
            for port in vertex.incoming
            for static in (False, True)
        )
        return any(delivered and self._is_inside(delivered.edge, outside) for delivered in brought)

    def _is_inside(self, edge: PlannedEdge, outside: int) -> bool:
        assert edge.scope is not None
        return edge.element is not None or self.plan.blocks[edge.scope].depth > outside

    # --- Iterations

    def iteration(self, head: str, path: Path, iteration: int) -> Run:
        """Return the run with which an iteration of a region instance starts at a head."""
        loops = len(self.plan.vertices[head].blocks) - len(path) - 1
        return Run(head, (*path, iteration, *((0,) * loops)))

    def iterations(self, vertex: PlannedVertex, path: Path) -> int:
        """Return the number of iterations of a head, which is the length of its shortest list."""
        count: int | None = None
        first = self.iteration(vertex.vertex.name, path, 0)
        for port in vertex.incoming:
            scoped = self.scope_value(InputPort(first.vertex, port), first.path, static=False)
            if scoped and scoped.edge.kind is EdgeKind.FOR_EACH:
                count = scoped.length if count is None else min(count, scoped.length)
            elif self.value_of_port(vertex, first, port) is None:
                return 0
        return count or 0

    def cursor_of(self, run: Run) -> tuple[Instance, int] | None:
        """Return the region instance whose cursor starts this run, and the iteration."""
        vertex = self.plan.vertices[run.vertex]
        if vertex.region is None or run.vertex not in self.plan.blocks[vertex.region].cursors:
            return None
        depth = self.plan.blocks[vertex.region].depth
        instance = (vertex.region, run.path[:depth])
        if any(run.path[depth + 1 :]) or not self.is_open(*instance):
            return None
        return instance, run.path[depth]

    def take(self, instance: Instance, iteration: int, head: str) -> list[Run]:
        """If this iteration is ready, create records for all iterations up to this iteration."""
        cursor = self.instances[instance].cursors[head]
        if not cursor.next <= iteration < cursor.end:
            return []
        taken = range(cursor.next, iteration + 1)
        runs = [self.iteration(head, instance[1], number) for number in taken]
        self.runs |= {run: RunRecord(phase=RunPhase.READY) for run in runs}
        cursor.next = iteration + 1
        cursor.outstanding += len(runs)
        return runs

    # --- Queries for users

    def inputs(self, run: Run) -> dict[str, Value]:
        """Return the inputs of a run's tool that have a value."""
        vertex = self.plan.vertices[run.vertex]
        values = {
            port: self.value_of_port(vertex, run, port)
            for port in vertex.incoming
            if not InputPort(run.vertex, port).is_order_only
        }
        return {port: value for port, value in values.items() if value is not None}

    def collected(self, value: CollectedList) -> tuple[Reference, ...]:
        """Return the elements of a collected list, in the order of the iterations."""
        elements = self.instances[value.block, value.path].collected.get(value.target, {})
        return tuple(elements[iteration] for iteration in sorted(elements))

    def results(self) -> tuple[Result, ...]:
        """Return the values of the workflow's outputs, ordered by output and then by run.

        If the document has no outputs, return all ports of the runs that ended in a variant without
        edges.
        """
        names: dict[OutputPort, str] = {output.source: output.name for output in self.plan.outputs}
        places = {source: place for place, source in enumerate(names)}
        found: list[Result] = []
        for run in sorted(self.runs):
            outcome = self.runs[run].outcome
            if isinstance(outcome, RunSettled):
                ends = outcome.variant not in self.plan.vertices[run.vertex].variants
                for port in outcome.lengths:
                    source = OutputPort(run.vertex, outcome.variant, port)
                    if source in names or (ends and not names):
                        found.append(Result(source, Reference(run, port), names.get(source, "")))
        return tuple(sorted(found, key=lambda result: places.get(result.source, 0)))

    def waiting(self) -> Iterator[Waiting]:
        """Yield the runs and blocks that wait for values.

        When the execution has ended, they have starved.
        """
        for block, path in self._closed_blocks():
            missing: dict[str, list[str]] = {}
            for need in self.plan.blocks[block].required_ports:
                if not self.has(block, path, need):
                    missing.setdefault(need.vertex, []).append(need.port)
            for name, ports in missing.items():
                yield Waiting(Run(name, path), tuple(ports))
        for run, vertex in self._waiting_runs():
            lacking = (
                port for port in vertex.incoming if self.value_of_port(vertex, run, port) is None
            )
            yield Waiting(run, tuple(lacking))

    def _waiting_runs(self) -> Iterator[tuple[Run, PlannedVertex]]:
        for run, record in self.runs.items():
            if record.phase is RunPhase.WAITING:
                yield run, self.plan.vertices[run.vertex]

    def _closed_blocks(self) -> Iterator[Instance]:
        """Yield the closed block instances that have values or contain runs with values."""
        places = [
            ((*self.plan.blocks[block].around, block), path) for block, path in self.instances
        ]
        places += [(vertex.blocks, run.path) for run, vertex in self._waiting_runs()]
        around = (
            (block, path[:depth]) for blocks, path in places for depth, block in enumerate(blocks)
        )
        yield from (instance for instance in dict.fromkeys(around) if not self.is_open(*instance))


def _element(brought: DeliveredValue, path: Path) -> Value | None:
    """Return the value for the run at this path, given the value of a block around the run."""
    at = brought.edge.element
    if at is None:
        return brought.value
    assert isinstance(brought.value, Reference)
    if path[at] >= brought.length:
        return None
    return Reference(brought.value.run, brought.value.port, path[at])
