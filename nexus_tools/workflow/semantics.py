"""What a workflow means: which runs there are, and what each of them takes."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from nexus_tools.errors import NotFoundError
from nexus_tools.spelling import with_suggestion
from nexus_tools.workflow.document import ERR_EVAL, EdgeKind, InputPort, OutputPort
from nexus_tools.workflow.plan import Plan, PlannedEdge, PlannedVertex
from nexus_tools.workflow.runs import (
    Begun,
    Cancelled,
    Closed,
    Collected,
    Event,
    Failed,
    Given,
    Reference,
    Requested,
    Result,
    Run,
    Settled,
    Status,
    Step,
    TimedOut,
    Value,
    Waiting,
    WalkFailure,
)
from nexus_tools.workflow.structure import BlockKind

Path = tuple[int, ...]
_Instance = tuple[int, Path]
"""An instance of a block: its number, and the path around it."""


class _Phase(IntEnum):
    WAITING = 0
    READY = 1
    UNDER_WAY = 2
    CLOSED = 3


@dataclass(slots=True)
class _Brought:
    """A value with the edge that brought it; `length` is that of the list for `for_each`."""

    edge: PlannedEdge
    value: Value
    length: int = 0


@dataclass(slots=True)
class _RunRecord:
    """What is known of one run: what edges brought to it alone, and how far it is."""

    brought: dict[str, _Brought] = field(default_factory=dict)
    phase: _Phase = _Phase.WAITING
    attempt: int = 1
    outcome: Settled | Failed | None = None


@dataclass(slots=True)
class _Cursor:
    """The iterations of a head: those from `next` to `count` have not been requested."""

    count: int
    parallel: int
    next: int = 0
    outstanding: int = 0

    @property
    def end(self) -> int:
        """The first iteration that is not ready."""
        return min(self.count, self.next + self.parallel - self.outstanding)


@dataclass(slots=True)
class _InstanceRecord:
    """What is known of an instance of a block; of a loop, `brought` alone.

    `brought` has values that serve all that is inside, apart for `static` edges. `live` counts runs
    that are ready or under way, iterations to come, and open regions directly inside.
    """

    brought: dict[tuple[InputPort, bool], _Brought] = field(default_factory=dict)
    is_open: bool = False
    live: int = 0
    cursors: dict[str, _Cursor] = field(default_factory=dict)
    collected: dict[InputPort, dict[int, Reference]] = field(default_factory=dict)


class Execution:
    """The fold of its events: each `apply` changes a bounded number of records.

    Nothing but events changes it, and it asks nothing else: no clock, no chance, no order of sets.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.failures: list[WalkFailure] = []
        self._group: frozenset[str] | None = None
        self._runs: dict[Run, _RunRecord] = {}
        self._instances: dict[_Instance, _InstanceRecord] = {}
        self._ready: dict[Run, None] = {}
        self._under_way: dict[Run, None] = {}
        self._unfinished: dict[_Instance, None] = {}
        self._emptied: deque[_Instance] = deque()
        self._ending: Status | None = None
        self._step: list[Run] = []

    def apply(self, event: Event) -> Step:
        """Let something happen; an event that does not fit the state changes nothing.

        So nothing comes of a request for a run that is not ready, of a closing of a run that is not
        under way, of a second `Begun`, of anything after the end. Raises `NotFoundError`
        (`entry_group_not_found`).
        """
        self._step, failures = [], len(self.failures)
        match event:
            case Begun(group):
                self._begin(group)
            case Requested(run):
                self._request(run)
            case Closed(run, outcome):
                self._close(run, outcome)
            case Cancelled() | TimedOut() if self.status is Status.RUNNING:
                timed_out = isinstance(event, TimedOut)
                self._end(Status.TIMED_OUT if timed_out else Status.CANCELLED)
        while self._emptied:
            self._close_region(self._emptied.popleft())
        ready = () if self._ending else tuple(self._step)
        return Step(ready, tuple(self.failures[failures:]), self.status)

    # --- What is to be seen

    @property
    def status(self) -> Status:
        """Running until nothing is ready and nothing is under way."""
        if self._under_way or self._ready or self._unfinished:
            return Status.RUNNING
        if self._ending is not None:
            return self._ending
        if self._group is None:
            return Status.RUNNING
        return Status.COMPLETED_WITH_FAILURES if self.failures else Status.COMPLETED

    def ready(self) -> Iterator[Run]:
        """The runs that may be requested; of the iterations of a head, `parallel` at once."""
        yield from self._ready
        for block, path in self._unfinished:
            for head, cursor in self._instances[block, path].cursors.items():
                for iteration in range(cursor.next, cursor.end):
                    yield self._iteration(head, path, iteration)

    def under_way(self) -> Iterator[Run]:
        """The runs that were requested and have no outcome."""
        yield from self._under_way

    def attempt(self, run: Run) -> int:
        """Which attempt of the run is ready, under way, or was the last one; from 1."""
        record = self._runs.get(run)
        return record.attempt if record else 1

    def outcome(self, run: Run) -> Settled | Failed | None:
        """What the run came to, if it is closed."""
        record = self._runs.get(run)
        return record.outcome if record else None

    def inputs(self, run: Run) -> dict[str, Value]:
        """What the tool of a run that is ready, or was, gets for each port.

        Ports that are there for order alone are left out.
        """
        vertex = self.plan.vertices[run.vertex]
        values = {
            port: self._served(vertex, run, port)
            for port in vertex.into
            if not InputPort(run.vertex, port).is_order_only
        }
        return {port: value for port, value in values.items() if value is not None}

    def collected(self, value: Collected) -> tuple[Reference, ...]:
        """The elements of a collected list, in the order of the iterations."""
        elements = self._instances[value.block, value.path].collected.get(value.target, {})
        return tuple(elements[iteration] for iteration in sorted(elements))

    def results(self) -> tuple[Result, ...]:
        """What the outputs name, in each run, or else all ports of the runs in which walks ended."""
        names: dict[OutputPort, str] = {each.source: each.name for each in self.plan.outputs}
        found: list[Result] = []
        for run in sorted(self._runs):
            outcome = self._runs[run].outcome
            if isinstance(outcome, Settled):
                ends = outcome.variant not in self.plan.vertices[run.vertex].variants
                for port in outcome.lengths:
                    source = OutputPort(run.vertex, outcome.variant, port)
                    if source in names or (ends and not names):
                        found.append(Result(source, Reference(run, port), names.get(source, "")))
        return tuple(found)

    def waiting(self) -> Iterator[Waiting]:
        """What waits for values; at the end, what starved, and of what."""
        for (block, path), instance in self._instances.items():
            if not instance.is_open:
                missing: dict[str, list[str]] = {}
                for need in self.plan.blocks[block].needs:
                    if not self._has(block, path, need):
                        missing.setdefault(need.vertex, []).append(need.port)
                for name, ports in missing.items():
                    yield Waiting(Run(name, path), tuple(ports))
        for run, record in self._runs.items():
            if record.phase is _Phase.WAITING:
                vertex = self.plan.vertices[run.vertex]
                lacking = (port for port in vertex.into if not self._served(vertex, run, port))
                yield Waiting(run, tuple(lacking))

    # --- Events

    def _begin(self, name: str) -> None:
        if self._group is not None or self._ending is not None:
            return
        if name not in self.plan.groups:
            message = with_suggestion(f"There is no entry group '{name}'.", name, self.plan.groups)
            raise NotFoundError("entry_group_not_found", message)
        self._group = self.plan.groups[name]
        for vertex in self.plan.vertices.values():
            if vertex.vertex.name in self._group:
                self._check_run(Run(vertex.vertex.name, (0,) * len(vertex.blocks)))

    def _request(self, run: Run) -> None:
        found = self._cursor(run)
        if found is not None:
            instance, iteration = found
            cursor = self._instances[instance].cursors[run.vertex]
            if not cursor.next <= iteration < cursor.end or self._ending is not None:
                pass  # It is not to be had, or was taken from the cursor before.
            else:
                self._take(instance, run.vertex, iteration)
        if run in self._ready:
            del self._ready[run]
            self._runs[run].phase = _Phase.UNDER_WAY
            self._under_way[run] = None

    def _take(self, instance: _Instance, head: str, iteration: int) -> None:
        """Give runs of their own to the iterations up to this one."""
        record = self._instances[instance]
        cursor = record.cursors[head]
        for each in range(cursor.next, iteration + 1):
            run = self._iteration(head, instance[1], each)
            self._runs[run] = _RunRecord(phase=_Phase.READY)
            self._ready[run] = None
            cursor.outstanding += 1
        cursor.next = iteration + 1
        if all(each.next == each.count for each in record.cursors.values()):
            self._unfinished.pop(instance, None)

    def _close(self, run: Run, outcome: Settled | Failed) -> None:
        if run not in self._under_way:
            return
        del self._under_way[run]
        record, vertex = self._runs[run], self.plan.vertices[run.vertex]
        outcome = _with_all_ports(vertex, outcome)
        if self._ending is None and isinstance(outcome, Failed):
            if record.attempt < vertex.vertex.attempts:
                record.attempt += 1
                record.phase = _Phase.READY
                self._ready[run] = None
                self._step.append(run)
                return
        record.phase, record.outcome = _Phase.CLOSED, outcome
        if self._ending is not None:
            return
        if isinstance(outcome, Settled):
            self._flow(run, outcome.variant, outcome.lengths)
        elif ERR_EVAL in vertex.variants:
            self._flow(run, ERR_EVAL, {"reason": None, "detail": None})
        else:
            self._fail(run, outcome.reason, outcome.detail)
        self._leave(run)

    def _end(self, status: Status) -> None:
        """Request nothing more; what is under way is still closed."""
        if self._ending is None:
            self._ending = status
            self._ready.clear()
            self._unfinished.clear()
            self._emptied.clear()

    def _fail(self, run: Run, reason: str, detail: str) -> None:
        self.failures.append(WalkFailure(run, reason, detail))
        if self.plan.vertices[run.vertex].terminates:
            self._end(Status.TERMINATED)

    # --- Values

    def _flow(self, run: Run, variant: str, lengths: Mapping[str, int | None]) -> None:
        """Bring all ports of a variant along their edges, and only then look what is ready."""
        brought: list[tuple[PlannedEdge, _Brought]] = []
        for edge in self.plan.vertices[run.vertex].variants.get(variant, ()):
            value, length = Reference(run, edge.source.port), lengths.get(edge.source.port)
            if edge.source.port not in lengths:
                continue
            if edge.kind is EdgeKind.FOR_EACH and length is None:
                self._fail(run, "not_a_list", f"'{edge.source}' is not a list")
            elif edge.left is not None:
                self._gather(edge, value)
            else:
                brought.append((edge, _Brought(edge, value, length or 0)))
        self._bring(run.path, brought)

    def _gather(self, edge: PlannedEdge, value: Reference) -> None:
        """Keep what an iteration has for a list until the region closes."""
        assert edge.left is not None
        depth = self.plan.blocks[edge.left].depth
        path = value.run.path
        elements = self._instances[edge.left, path[:depth]].collected.setdefault(edge.target, {})
        if path[depth] in elements:
            self._race(edge.target, path[:depth])
        else:
            elements[path[depth]] = value

    def _bring(self, path: Path, brought: Sequence[tuple[PlannedEdge, _Brought]]) -> None:
        touched: dict[Run | _Instance, None] = {}
        for edge, value in brought:
            place = edge.place(path)
            if edge.scope is not None:
                if self._put_in_scope((edge.scope, place), value):
                    touched[edge.scope, place] = None
            elif self._put(Run(edge.target.vertex, place), value):
                touched[Run(edge.target.vertex, place)] = None
        for each in touched:
            if isinstance(each, Run):
                self._check_run(each)
            else:
                self._check_instance(*each)

    def _put(self, run: Run, value: _Brought) -> bool:
        record = self._runs.get(run)
        port = value.edge.target.port
        taken = record and (port in record.brought or record.phase is not _Phase.WAITING)
        if taken or self._scoped(value.edge.target, run.path, static=False):
            self._race(value.edge.target, run.path)
            return False
        if record is None:
            record = self._runs[run] = _RunRecord()
        record.brought[port] = value
        return True

    def _put_in_scope(self, instance: _Instance, value: _Brought) -> bool:
        target, static = value.edge.target, value.edge.kind is EdgeKind.STATIC
        if self._scoped(target, instance[1], static=static):
            self._race(target, instance[1])
            return False
        record = self._instances.setdefault(instance, _InstanceRecord())
        record.brought[target, static] = value
        return True

    def _race(self, target: InputPort, path: Path) -> None:
        self._fail(Run(target.vertex, path), "raced", f"A second value for '{target}'")

    def _scoped(self, target: InputPort, path: Path, *, static: bool) -> _Brought | None:
        """What was brought to blocks around this path, or to those whose instance it is."""
        for depth, block in enumerate(self.plan.vertices[target.vertex].blocks[: len(path) + 1]):
            instance = self._instances.get((block, path[:depth]))
            value = instance and instance.brought.get((target, static))
            if value and value.edge.reaches(path):
                return value
        return None

    def _served(self, vertex: PlannedVertex, run: Run, port: str) -> Value | None:
        """The value of a port, or None while it has none."""
        record = self._runs.get(run)
        if record and port in record.brought:
            return record.brought[port].value
        target = InputPort(run.vertex, port)
        scoped = self._scoped(target, run.path, static=False)
        if scoped:
            return _element(scoped, run.path)
        fallback = self._fallback(vertex, run, port)
        origins = {each.edge.origin for each in record.brought.values()} if record else set()
        for edge in vertex.into[port] if fallback else ():
            moves = edge.scope is None and edge.reaches(run.path)
            if moves and edge.origin not in origins:
                return None
        return fallback

    def _fallback(self, vertex: PlannedVertex, run: Run, port: str) -> Value | None:
        """What serves a port to which no edge brings anything: static, entry and default values."""
        if any(edge.kind is EdgeKind.STATIC for edge in vertex.into[port]):
            static = self._scoped(InputPort(run.vertex, port), run.path, static=True)
            return static.value if static else None
        is_entry = port in vertex.entries and self._group and run.vertex in self._group
        if port in vertex.constants or is_entry:
            return Given(InputPort(run.vertex, port))
        return None

    # --- Starts

    def _check_run(self, run: Run) -> None:
        """Start a run if all its values are there."""
        record, vertex = self._runs.get(run), self.plan.vertices[run.vertex]
        if self._ending is not None or (record and record.phase is not _Phase.WAITING):
            return
        if self._cursor(run) is not None or not self._is_inside_open(vertex.blocks, run.path):
            return
        if any(self._served(vertex, run, port) is None for port in vertex.into):
            return
        if record is None:
            if not self._begins(vertex, run):
                return
            record = self._runs[run] = _RunRecord()
        record.phase = _Phase.READY
        self._ready[run] = None
        self._step.append(run)
        if vertex.region is not None:
            self._around(run)[1].live += 1

    def _begins(self, vertex: PlannedVertex, run: Run) -> bool:
        """Whether a run to which no edge brought anything is one: entry vertices, and below scopes."""
        assert self._group is not None
        return run.vertex in self._group or any(
            self._scoped(InputPort(run.vertex, port), run.path, static=static)
            for port in vertex.into
            for static in (False, True)
        )

    def _is_inside_open(self, blocks: Iterable[int], path: Path) -> bool:
        return all(self._is_open(block, path[:depth]) for depth, block in enumerate(blocks))

    def _is_open(self, block: int, path: Path) -> bool:
        if self.plan.blocks[block].kind is BlockKind.REGION:
            instance = self._instances.get((block, path))
            return instance is not None and instance.is_open
        return all(self._has(block, path, need) for need in self.plan.blocks[block].needs)

    def _has(self, block: int, path: Path, need: InputPort) -> bool:
        """Whether an instance of a block has what it needs for a port.

        A `static` value is enough where no other edge can bring one into the block.
        """
        loop = self.plan.blocks[block].kind is BlockKind.LOOP
        if not loop and self._scoped(need, path, static=False):
            return True
        moving = (
            edge
            for edge in self.plan.vertices[need.vertex].into[need.port]
            if edge.kind is not EdgeKind.STATIC and edge.scope is not None
            if edge.keeps <= self.plan.blocks[block].depth and edge.reaches(path)
        )
        if not loop and any(moving):
            return False
        return self._scoped(need, path, static=True) is not None

    def _check_instance(self, number: int, path: Path) -> None:
        """Open an instance of a block if all that it needs is there."""
        block = self.plan.blocks[number]
        if self._ending is not None or not all(
            self._has(number, path, need) for need in block.needs
        ):
            return
        if block.kind is BlockKind.REGION:
            record = self._instances.get((number, path))
            around = self._around_block(number)
            if record and not record.is_open and self._is_inside_open(around, path):
                self._open_region((number, path), record)
            return
        for start in block.starts:
            if isinstance(start, int):
                inside = self.plan.blocks[start].depth
                self._check_instance(start, path + (0,) * (inside - len(path)))
            else:
                inside = len(self.plan.vertices[start].blocks)
                self._check_run(Run(start, path + (0,) * (inside - len(path))))

    # --- Regions

    def _open_region(self, instance: _Instance, record: _InstanceRecord) -> None:
        number, path = instance
        block = self.plan.blocks[number]
        record.is_open = True
        if block.region is not None:
            self._parent(instance)[1].live += 1
        for head in block.cursors:
            vertex = self.plan.vertices[head]
            cursor = _Cursor(self._iterations(vertex, path), vertex.vertex.parallel)
            record.cursors[head] = cursor
            record.live += cursor.count
            self._step += (self._iteration(head, path, each) for each in range(cursor.end))
        if record.live:
            self._unfinished[instance] = None
        else:
            self._emptied.append(instance)

    def _iterations(self, vertex: PlannedVertex, path: Path) -> int:
        """How many iterations of a head start: as many as the shortest of its lists has elements."""
        count: int | None = None
        first = self._iteration(vertex.vertex.name, path, 0)
        for port in vertex.into:
            scoped = self._scoped(InputPort(first.vertex, port), first.path, static=False)
            if scoped and scoped.edge.kind is EdgeKind.FOR_EACH:
                count = scoped.length if count is None else min(count, scoped.length)
            elif self._served(vertex, first, port) is None:
                return 0
        return count or 0

    def _iteration(self, head: str, path: Path, iteration: int) -> Run:
        loops = len(self.plan.vertices[head].blocks) - len(path) - 1
        return Run(head, (*path, iteration, *((0,) * loops)))

    def _cursor(self, run: Run) -> tuple[_Instance, int] | None:
        """The region instance whose cursor makes this run, and the iteration."""
        vertex = self.plan.vertices[run.vertex]
        if vertex.region is None or run.vertex not in self.plan.blocks[vertex.region].cursors:
            return None
        depth = self.plan.blocks[vertex.region].depth
        instance = (vertex.region, run.path[:depth])
        if any(run.path[depth + 1 :]) or not self._is_open(*instance):
            return None
        return instance, run.path[depth]

    def _leave(self, run: Run) -> None:
        """Count a closed run off the region around it."""
        if self._ending is not None or self.plan.vertices[run.vertex].region is None:
            return
        found = self._cursor(run)
        if found is not None:
            instance, _ = found
            cursor = self._instances[instance].cursors[run.vertex]
            end = cursor.end
            cursor.outstanding -= 1
            self._step += (
                self._iteration(run.vertex, instance[1], each) for each in range(end, cursor.end)
            )
        self._count_off(*self._around(run))

    def _count_off(self, instance: _Instance, record: _InstanceRecord) -> None:
        record.live -= 1
        if not record.live:
            self._emptied.append(instance)

    def _close_region(self, instance: _Instance) -> None:
        """Bring what was gathered out of the region, and count it off the one around it."""
        number, path = instance
        block = self.plan.blocks[number]
        self._bring(
            path,
            [
                (edge, _Brought(edge, Collected(number, path, target)))
                for target, edge in block.collects.items()
            ],
        )
        if block.region is not None and self._ending is None:
            self._count_off(*self._parent(instance))

    # --- Around

    def _around(self, run: Run) -> tuple[_Instance, _InstanceRecord]:
        """The region instance around a run."""
        region = self.plan.vertices[run.vertex].region
        assert region is not None
        instance = (region, run.path[: self.plan.blocks[region].depth])
        return instance, self._instances[instance]

    def _parent(self, instance: _Instance) -> tuple[_Instance, _InstanceRecord]:
        """The region instance around that of another block."""
        region = self.plan.blocks[instance[0]].region
        assert region is not None
        parent = (region, instance[1][: self.plan.blocks[region].depth])
        return parent, self._instances[parent]

    def _around_block(self, number: int) -> tuple[int, ...]:
        parent = self.plan.blocks[number].parent
        return () if parent is None else (*self._around_block(parent), parent)


def _element(brought: _Brought, path: Path) -> Value | None:
    """The value that this path takes of what was brought to a block around it."""
    at = brought.edge.element
    if at is None:
        return brought.value
    assert isinstance(brought.value, Reference)
    if path[at] >= brought.length:
        return None
    return Reference(brought.value.run, brought.value.port, path[at])


def _with_all_ports(vertex: PlannedVertex, outcome: Settled | Failed) -> Settled | Failed:
    """The outcome, which is a failure if an edge carries a port that the variant lacks."""
    if isinstance(outcome, Settled):
        for edge in vertex.variants.get(outcome.variant, ()):
            if edge.source.port not in outcome.lengths:
                return Failed("port_missing", f"There is no '{edge.source}'")
    return outcome
