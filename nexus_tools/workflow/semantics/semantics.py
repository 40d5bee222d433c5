"""The semantics of a workflow, which define the runs that exist and the values that each run takes.

A run is a vertex and a path (`runs.py`). A run starts once, when each port that the document names
has a value. A run ends in one variant, and all its values flow along the variant's edges at once.
So runs and values do not depend on the order of events, except for races and early ends.

**Records.** The state is a flat map of records. Each run that waits or has started, and each
instance of a block that waits or is open, has a record. An event changes the records of the targets
of one variant's edges, and of the blocks around these targets. Values are references.

**An edge** brings a value to a *place* (`plan.py`). The place is one run, or an instance of a
block, which is the scope of the edge. In a scope, the value serves all iterations of regions inside
and round 0 of loops inside. The value of a `static` edge serves all rounds. A `static` edge that
does not enter a block is a normal edge. The static, entry or default value of a port is its
fallback, which a run uses only when no other edge to its path can bring a value. `do_while`
edges reach rounds from 1 on, and edges into a loop reach round 0.

**A second value** for one port and place is a race, in any order of arrival. The execution drops
the second value, and the target of the value fails with `input_conflict`.

**An instance opens** when its required ports have values: in a region all ports with edges from
outside, and in a loop the ports with `static` edges. No run inside starts earlier. A head of a
region whose values all come from outside has a *cursor*, which counts the iterations, up to the
length of the head's shortest list. At most `parallel` iterations are ready or in flight at once.

**A run starts** when its ports have values, all blocks around it are open, and it was triggered.
The entry group triggers a run. A value also triggers a run, unless it is for the whole region.

**A region closes** when its `live` count is 0. The count includes runs that are ready or in flight,
iterations that a cursor has not started, and open regions directly inside. A run is subtracted only
after all runs that it triggers are added. Then each `collect` port gets the list of the values, in
the order of the iterations. Runs inside the region that still wait never start.

**A failure** is `RunFailed`, or a variant that lacks the port of an edge. The run is retried while
`attempts` remain. A refusal is not retried if `retry_after_ms` is 0. If the last attempt has failed
and the vertex has edges from the variant `_err_eval`, the run ends in this variant. Otherwise the
vertex defines the effect: `continue` skips the dependent runs, and `terminate` ends the execution.

**The end** is reached when no run is ready or in flight. After `terminate`, a cancellation or the
deadline, no run becomes ready. Runs in flight can still be closed, but do not bring values.

    start.ok.papers ─for_each─▶ sum.paper    sum.ok.text ─collect─▶ write.notes       block 0: sum
    write.ok.text ─▶ fix.text    fix.ok.text ─▶ judge.text                            block 1: fix,
    judge.poor.text ─do_while─▶ fix.text    judge.good.text ─break─▶ post.text             judge

    RunClosed(start, ok, papers: 3)   (0, ()) opens: cursor 0 of 3, 3 live; sum[0…2] ready
    RunRequested(sum[2])              cursor at 3; records of sum[0] and sum[1]: ready
    RunClosed(sum[0], error)          a dead end, omitted; 2 live, and 1 after sum[2]
    RunClosed(sum[1], ok)             0 live: closes; write is ready with [sum[1].text, sum[2].text]
    RunClosed(judge[0], poor)         fix[1] is ready; then judge[1], and post after good
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from nexus_tools.errors import NotFoundError
from nexus_tools.sui.support.suggestions import with_suggestion
from nexus_tools.workflow.document.document import ERR_EVAL, EdgeKind, InputPort
from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.semantics.plan import Plan, PlannedEdge, PlannedVertex
from nexus_tools.workflow.semantics.records import (
    Cursor,
    DeliveredValue,
    Instance,
    InstanceRecord,
    Path,
    Records,
    RunPhase,
    RunRecord,
)
from nexus_tools.workflow.semantics.runs import (
    Change,
    CollectedList,
    Event,
    ExecutionCancelled,
    ExecutionTimedOut,
    GroupStarted,
    Reference,
    Result,
    Run,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Status,
    Value,
    Waiting,
    WalkFailure,
)


class Execution:
    """The state of an execution, which depends only on the events of the execution.

    Each `apply` changes a bounded number of records. The class does not use a clock or randomness,
    and does not depend on the order of sets.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.failures: list[WalkFailure] = []
        self._records = Records(plan)
        self._ready: dict[Run, None] = {}
        self._under_way: dict[Run, None] = {}
        self._unfinished: dict[Instance, None] = {}
        self._emptied: deque[Instance] = deque()
        self._ending: Status | None = None
        self._newly_ready: list[Run] = []

    def apply(self, event: Event) -> Change:
        """Apply an event. An event that does not match the state changes nothing.

        Examples are a request for a run that is not ready, an outcome of a run that is not in
        flight, a second `GroupStarted`, and any event after the end. Raises `NotFoundError`
        (`entry_group_not_found`).
        """
        self._newly_ready, failures = [], len(self.failures)
        match event:
            case GroupStarted(group):
                self._begin(group)
            case RunRequested(run):
                self._request(run)
            case RunClosed(run, outcome):
                self._close(run, outcome)
            case ExecutionCancelled() | ExecutionTimedOut() if self.status is Status.RUNNING:
                timed_out = isinstance(event, ExecutionTimedOut)
                self._end(Status.TIMED_OUT if timed_out else Status.CANCELLED)
        while self._emptied:
            self._close_region(self._emptied.popleft())
        ready = () if self._ending else tuple(self._newly_ready)
        return Change(ready, tuple(self.failures[failures:]), self.status)

    # --- State

    @property
    def status(self) -> Status:
        """The status, which is `running` until no run is ready or in flight."""
        if self._under_way or self._ready or self._unfinished:
            return Status.RUNNING
        if self._ending is not None:
            return self._ending
        if self._records.group is None:
            return Status.RUNNING
        return Status.COMPLETED_WITH_FAILURES if self.failures else Status.COMPLETED

    def ready(self) -> Iterator[Run]:
        """Yield the runs that may be requested, at most `parallel` iterations of each head.

        You may apply events while you iterate.
        """
        yield from tuple(self._ready)
        for block, path in tuple(self._unfinished):
            for head, cursor in self._records.instances[block, path].cursors.items():
                for iteration in range(cursor.next, cursor.end):
                    yield self._records.iteration(head, path, iteration)

    def under_way(self) -> Iterator[Run]:
        """Yield the runs that were requested and are not closed."""
        yield from tuple(self._under_way)

    def attempt(self, run: Run) -> int:
        """Return the number of the run's current or last attempt, from 1."""
        record = self._records.runs.get(run)
        return record.attempt if record else 1

    def outcome(self, run: Run) -> RunSettled | RunFailed | None:
        """Return the outcome of a closed run, or None if the run is not closed."""
        record = self._records.runs.get(run)
        return record.outcome if record else None

    def inputs(self, run: Run) -> dict[str, Value]:
        """Return the inputs of a run's tool by port.

        The run must be ready, or must have been requested. Order-only ports are omitted.
        """
        return self._records.inputs(run)

    def collected(self, value: CollectedList) -> tuple[Reference, ...]:
        """Return the elements of a collected list, in the order of the iterations."""
        return self._records.collected(value)

    def results(self) -> tuple[Result, ...]:
        """Return the results of the execution, as `Records.results` does."""
        return self._records.results()

    def waiting(self) -> Iterator[Waiting]:
        """Return the runs and blocks that wait for values, or that have starved after the end."""
        return self._records.waiting()

    # --- Events

    def _begin(self, name: str) -> None:
        if self._records.group is not None or self._ending is not None:
            return
        if name not in self.plan.groups:
            message = with_suggestion(f"Unknown entry group '{name}'.", name, self.plan.groups)
            raise NotFoundError("entry_group_not_found", message)
        self._records.group = self.plan.groups[name]
        for vertex in self.plan.vertices.values():
            if vertex.vertex.name in self._records.group:
                self._check_run(Run(vertex.vertex.name, (0,) * len(vertex.blocks)))

    def _request(self, run: Run) -> None:
        found = self._records.cursor_of(run) if self._ending is None else None
        if found is not None:
            self._ready |= dict.fromkeys(self._records.take(*found, run.vertex))
            if self._records.instances[found[0]].is_exhausted:
                self._unfinished.pop(found[0], None)
        if run in self._ready:
            del self._ready[run]
            self._records.runs[run].phase = RunPhase.UNDER_WAY
            self._under_way[run] = None

    def _close(self, run: Run, outcome: RunSettled | RunFailed) -> None:
        if run not in self._under_way:
            return
        del self._under_way[run]
        record, vertex = self._records.runs[run], self.plan.vertices[run.vertex]
        outcome = require_all_ports(vertex, outcome)
        refused = isinstance(outcome, RunFailed) and outcome.is_refusal
        failed = isinstance(outcome, RunFailed) and self._ending is None
        is_final = refused and not vertex.vertex.retry_after_ms  # it would be refused again
        if failed and not is_final and record.attempt < vertex.vertex.attempts:
            record.attempt += 1
            self._start(run, record)
            return
        record.phase, record.outcome = RunPhase.CLOSED, outcome
        if self._ending is not None:
            return
        if isinstance(outcome, RunSettled):
            self._flow(run, outcome.variant, outcome.lengths)
        elif ERR_EVAL in vertex.variants:
            self._flow(run, ERR_EVAL, {"reason": None, "detail": None})
        else:
            self._fail(run, outcome.reason, outcome.detail)
        self._leave(run)

    def _end(self, status: Status) -> None:
        """Stop requesting runs. Runs in flight can still be closed."""
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
        """Bring the values of a variant's ports to their targets, and then check the targets."""
        brought: list[tuple[PlannedEdge, DeliveredValue]] = []
        for edge in self.plan.vertices[run.vertex].variants.get(variant, ()):
            value, length = Reference(run, edge.source.port), lengths.get(edge.source.port)
            if edge.source.port not in lengths:
                continue
            if edge.kind is EdgeKind.FOR_EACH and length is None:
                self._fail(run, "not_a_list", f"'{edge.source}' is not a list")
            elif edge.collected_region is None:
                brought.append((edge, DeliveredValue(edge, value, length or 0)))
            elif not self._records.gather(edge, value):
                self._race(edge.target, run.path[: edge.keeps])
        self._bring(run.path, brought)

    def _bring(self, path: Path, brought: Sequence[tuple[PlannedEdge, DeliveredValue]]) -> None:
        touched: dict[Run | Instance, None] = {}
        for edge, value in brought:
            place = edge.target_path(path)
            run = Run(edge.target.vertex, place)
            if edge.scope is None and self._records.deliver(run, value):
                touched[run] = None
            elif edge.scope is not None and self._records.deliver_to_scope(
                (edge.scope, place), value
            ):
                touched[edge.scope, place] = None
            else:
                self._race(edge.target, place)
        for target in touched:
            if isinstance(target, Run):
                self._check_run(target)
            else:
                self._check_instance(*target)

    def _race(self, target: InputPort, path: Path) -> None:
        self._fail(Run(target.vertex, path), "input_conflict", f"'{target}' received two values")

    # --- Starts

    def _check_run(self, run: Run) -> None:
        """Start a run if it has all its values."""
        record, vertex = self._records.runs.get(run), self.plan.vertices[run.vertex]
        if self._ending is not None or (record and record.phase is not RunPhase.WAITING):
            return
        if not self._records.is_inside_open(vertex.blocks, run.path):
            return
        if any(self._records.value_of_port(vertex, run, port) is None for port in vertex.incoming):
            return
        if record is None:
            if not self._records.starts(vertex, run):
                return
            record = self._records.runs[run] = RunRecord()
        self._start(run, record)
        self._count(vertex.region, run.path, 1)

    def _start(self, run: Run, record: RunRecord) -> None:
        record.phase = RunPhase.READY
        self._ready[run] = None
        self._newly_ready.append(run)

    def _check_instance(self, number: int, path: Path) -> None:
        """Open a block instance if all its required ports have values."""
        block = self.plan.blocks[number]
        if self._ending is not None or not all(
            self._records.has(number, path, need) for need in block.required_ports
        ):
            return
        if block.kind is BlockKind.REGION:
            record = self._records.instances.get((number, path))
            inside = self._records.is_inside_open(block.around, path)
            if record and not record.is_open and inside:
                self._open_region((number, path), record)
            return
        for start in block.starts:
            if isinstance(start, int):
                depth = self.plan.blocks[start].depth
                self._check_instance(start, path + (0,) * (depth - len(path)))
            else:
                depth = len(self.plan.vertices[start].blocks)
                self._check_run(Run(start, path + (0,) * (depth - len(path))))

    # --- Regions

    def _open_region(self, instance: Instance, record: InstanceRecord) -> None:
        number, path = instance
        block = self.plan.blocks[number]
        record.is_open = True
        self._count(block.region, path, 1)
        for head in block.cursors:
            vertex = self.plan.vertices[head]
            cursor = Cursor(self._records.iterations(vertex, path), vertex.vertex.parallel)
            record.cursors[head] = cursor
            record.live += cursor.count
            self._newly_ready += (
                self._records.iteration(head, path, number) for number in range(cursor.end)
            )
        if record.live:
            self._unfinished[instance] = None
        else:
            self._emptied.append(instance)

    def _leave(self, run: Run) -> None:
        """Decrement the live count of the region around a closed run."""
        if self._ending is not None:
            return
        found = self._records.cursor_of(run)
        if found is not None:
            instance, _ = found
            cursor = self._records.instances[instance].cursors[run.vertex]
            end = cursor.end
            cursor.outstanding -= 1
            for iteration in range(end, cursor.end):
                self._newly_ready.append(
                    self._records.iteration(run.vertex, instance[1], iteration)
                )
        self._count(self.plan.vertices[run.vertex].region, run.path, -1)

    def _count(self, region: int | None, path: Path, change: int) -> None:
        """Change the live count of the region around this path, if any."""
        if region is not None:
            instance = (region, path[: self.plan.blocks[region].depth])
            record = self._records.instances[instance]
            record.live += change
            if not record.live:
                self._emptied.append(instance)

    def _close_region(self, instance: Instance) -> None:
        """Bring the collected lists out of a region, and decrement the live count of its parent."""
        number, path = instance
        block = self.plan.blocks[number]
        lists = [
            (edge, DeliveredValue(edge, CollectedList(number, path, target)))
            for target, edge in block.collects.items()
        ]
        self._bring(path, lists)
        if self._ending is None:
            self._count(block.region, path, -1)


def require_all_ports(
    vertex: PlannedVertex, outcome: RunSettled | RunFailed
) -> RunSettled | RunFailed:
    """Return the outcome, or a failure if the variant lacks the port of an edge."""
    if isinstance(outcome, RunSettled):
        for edge in vertex.variants.get(outcome.variant, ()):
            if edge.source.port not in outcome.lengths:
                return RunFailed("port_missing", f"'{edge.source}' is missing")
    return outcome
