"""The semantics of a workflow: which runs exist, and which values each of them takes.

A run is a vertex and a path (`runs.py`). It starts once, when each port that the document names has
a value, and ends in one variant, whose ports flow along their edges at once. The runs and their
values therefore do not depend on the order of events, except for races and early ends.

**Records.** The state is a flat map. It has a record for each run that waits or has started, and
for each instance of a block (the block and the path around it) that waits or is open. An event
changes the targets of the edges of one variant, and the blocks around them. Values are references.

**An edge** brings a value to a *place* (`plan.py`): to one run, or to an instance of a block, its
scope, where it serves the runs inside. It serves all iterations, and all rounds if the edge is
`static`, else round 0. A `static` edge that enters no block is a normal one. Static, entry and
default values are used only if no other edge can bring a value any more. Then each source of an
edge to the port has brought another value to this run. Only edges that reach its path count:
`do_while` from round 1 on, and edges into a loop in round 0.

**A second value** for one port and place is a race, in either order. It is dropped, and its target
has the failure `input_conflict`.

**An instance opens** when its needs are available: all ports with edges from outside for a region,
or those with `static` edges for a loop. Nothing inside starts before. A head whose values all come
from outside is a *cursor*. It counts up to the length of its shortest list, and an iteration is
only a number until it is requested. At most `parallel` of them are ready or in flight at once.

**A run starts** when its ports have values, all blocks around it are open, and it was triggered. It
is triggered by the entry group, or by a value that did not come for the whole region around it.

**A region closes** when nothing in it is `live`: ready, in flight, still to come from a cursor, or
an open region directly inside. A run is subtracted after everything that it triggers was added.
Each `collect` port gets the values that arrived, by iteration. Iterations without a value (a dead
end, starved, failed, a shorter list) are omitted. Runs that still wait inside never run.

**A failure** (`RunFailed`, or a variant that lacks the port of an edge) is retried while `attempts`
remain, except for a refusal with a `retry_after_ms` of 0. Then it is the variant `_err_eval`, or it
has the effect that the vertex defines: `continue` ends the walk, `terminate` ends the execution.

**The end** is reached when nothing is ready or in flight. After `terminate`, a cancellation or the
deadline, nothing becomes ready. Runs in flight are still closed, but bring no values.

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
    """The fold of its events; each `apply` changes a bounded number of records.

    Only events change it. It uses no clock, no randomness, and no order of sets.
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
        """Apply an event; one that does not match the state changes nothing.

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
        """The status, which is running until no run is ready or in flight."""
        if self._under_way or self._ready or self._unfinished:
            return Status.RUNNING
        if self._ending is not None:
            return self._ending
        if self._records.group is None:
            return Status.RUNNING
        return Status.COMPLETED_WITH_FAILURES if self.failures else Status.COMPLETED

    def ready(self) -> Iterator[Run]:
        """Yield the runs that may be requested; of the iterations of a head, `parallel` at once.

        Events may be applied in between.
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
        """Return the outcome of the run if it is closed, or None."""
        record = self._records.runs.get(run)
        return record.outcome if record else None

    def inputs(self, run: Run) -> dict[str, Value]:
        """Return the inputs of the tool by port, for a run that is or was ready.

        Order-only ports are omitted.
        """
        return self._records.inputs(run)

    def collected(self, value: CollectedList) -> tuple[Reference, ...]:
        """Return the elements of a collected list, in the order of the iterations."""
        return self._records.collected(value)

    def results(self) -> tuple[Result, ...]:
        """Return the outputs of each run, or else all ports of the runs where walks ended."""
        return self._records.results()

    def waiting(self) -> Iterator[Waiting]:
        """Return runs and blocks that wait for values; at the end, those that starved."""
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
        is_final = refused and not vertex.vertex.retry_after_ms  # at once: refused again
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
        """Stop requesting runs; runs in flight can still be closed."""
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
        """Bring all ports of a variant along their edges, and only then check what is ready."""
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
        for each in touched:
            if isinstance(each, Run):
                self._check_run(each)
            else:
                self._check_instance(*each)

    def _race(self, target: InputPort, path: Path) -> None:
        self._fail(Run(target.vertex, path), "input_conflict", f"A second value for '{target}'")

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
        """Open a block instance if it has everything that it needs."""
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
                self._records.iteration(head, path, each) for each in range(cursor.end)
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
        """Change the live count of the region around this path, if there is one."""
        if region is not None:
            instance = (region, path[: self.plan.blocks[region].depth])
            record = self._records.instances[instance]
            record.live += change
            if not record.live:
                self._emptied.append(instance)

    def _close_region(self, instance: Instance) -> None:
        """Bring the collected lists out of the region, and decrement the count of its parent."""
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
