"""An execution with all that the chain knows of it: its runs, what they came to, its results."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.registry.executions.history import (
    RunFailure,
    failures_of,
    read_execution_steps,
)
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.executions.step_commands import (
    ExecutionStep,
    Gather,
    RequestIterations,
)
from nexus_tools.registry.invocations.answer_validation import OutputInvalidError, invalid_answers
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.support.units import count, duration, sui
from nexus_tools.workflow import (
    Failed,
    OutputPort,
    Records,
    Run,
    RunPhase,
    Settled,
    Status,
    VertexState,
    Waiting,
    with_all_ports,
)

_EARLY_ENDS = {
    Status.TERMINATED: "was terminated",
    Status.CANCELLED: "was cancelled",
    Status.TIMED_OUT: "timed out",
}


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """A value that an execution came to; `name` is that of its output, or empty."""

    name: str
    source: OutputPort
    run: Run
    value: Any

    @property
    def label(self) -> str:
        """What people call it: the name or the port, with the path of its run."""
        path = f"[{','.join(map(str, self.run.path))}]" if self.run.path else ""
        return f"{self.name or self.source}{path}"


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a run is; `outcome` if it is closed, the id of its last invocation if it has one.

    One that is ready is requested from `not_before_ms` on, in ms since 1970.
    """

    run: Run
    phase: RunPhase
    attempt: int
    outcome: Settled | Failed | None
    invocation: Invocation | None
    not_before_ms: int = 0


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """An execution as it is now; `waiting` says what has not all its values, and which it lacks.

    `iterations_left` has how many iterations of a head are still to be requested, and `left` the
    steps besides the runs that may follow at once.
    """

    execution: Execution
    workflow: PublishedWorkflow
    terms: Terms
    runs: Mapping[Run, RunState]
    iterations_left: Mapping[str, int]
    left: tuple[ExecutionStep, ...]
    waiting: tuple[Waiting, ...]
    results: tuple[ExecutionResult, ...]
    failures: tuple[RunFailure, ...]
    invalid: tuple[OutputInvalidError, ...]
    """The answers of runs that break the output schemas of their tools."""

    @property
    def is_ended(self) -> bool:
        """Whether nothing happens in it any more."""
        return self.execution.ended_at_ms is not None

    @property
    def status(self) -> Status:
        """Running, or what it came to."""
        return status_of(self.execution)

    @property
    def early_end(self) -> str:
        """That it ended before it was done, and why, for people; empty if it did not."""
        how = _EARLY_ENDS.get(self.status)
        if how is None:
            return ""
        why = f": {self.fatal.sentence}" if self.fatal else ""
        return f"the execution {self.execution.id} {how}{why}"

    @property
    def fatal(self) -> RunFailure | None:
        """The failure that terminated it: the first one of a vertex that does not let it go on."""
        if self.status is not Status.TERMINATED:
            return None
        vertices = self.workflow.plan.vertices
        return next((each for each in self.failures if vertices[each.run.vertex].terminates), None)

    def outputs(self, *, checked: bool = True) -> dict[str, Any]:
        """Return the results by name, or `vertex.variant.port`; a list for several runs.

        Raises `output_invalid` if the answer of any run breaks its tool's output schema, unless the
        results are only inspected, with `checked=False`.
        """
        if checked:
            self.require_valid()
        several: dict[str, list[Any]] = {}
        for result in self.results:
            several.setdefault(result.name or str(result.source), []).append(result.value)
        return {name: found[0] if len(found) == 1 else found for name, found in several.items()}

    def require_valid(self) -> None:
        """Raise `output_invalid` if the answer of a run breaks its tool's output schema."""
        for error in self.invalid:
            raise error

    def vertex_states(self) -> dict[str, VertexState]:
        """How many runs of each vertex are in which phase, for a picture."""
        counts = {name: Counter[str]() for name in self.workflow.plan.vertices}
        for each in self.runs.values():
            counts[each.run.vertex][_phase(each)] += 1
        for name, left in self.iterations_left.items():
            counts[name]["waiting"] += left
        return {name: VertexState(**count) for name, count in counts.items()}


def status_of(execution: Execution) -> Status:
    """What an execution is, or came to."""
    if execution.ended_at_ms is None:
        return Status.RUNNING
    if execution.walks.ending is not None:
        return Status(execution.walks.ending)
    return Status.COMPLETED_WITH_FAILURES if execution.walks.failures else Status.COMPLETED


async def read_state(
    package: PackageClient, execution: Execution, workflow: PublishedWorkflow
) -> ExecutionState:
    """The state of an execution that is read already."""
    kept = ExecutionRecords(package, execution, workflow)
    await kept.read_all()
    terms = await kept.terms()
    ids = kept.invocations
    read = await package.find_all([*ids.values()], Invocation)
    invocations = dict(zip(ids, read, strict=True))
    runs: dict[Run, RunState] = {}
    for run, record in kept.records.runs.items():
        invocation = invocations.get(run)
        if record.phase is RunPhase.CLOSED:
            came_to = _outcome(kept.refusals.get(run), invocation)
            if came_to is not None:
                record.outcome = with_all_ports(workflow.plan.vertices[run.vertex], came_to)
        runs[run] = RunState(
            run,
            record.phase,
            record.attempt,
            record.outcome,
            invocation,
            kept.not_before_ms[run],
        )
    left: Counter[str] = Counter()
    for instance in kept.records.instances.values():
        for head, cursor in instance.cursors.items():
            left[head] += cursor.count - cursor.next
    return ExecutionState(
        execution,
        workflow,
        terms,
        runs,
        {head: count for head, count in left.items() if count},
        tuple(_left_in_regions(kept.records)),
        tuple(kept.records.waiting()),
        tuple(
            ExecutionResult(each.name, each.source, run, _value(runs[run], each.value.port))
            for each in kept.records.results()
            for run in (each.value.run,)
        ),
        await _failures(package, execution, workflow, terms),
        tuple((await invalid_answers(package, filter(None, read))).values()),
    )


def _left_in_regions(records: Records) -> Iterator[ExecutionStep]:
    """Iterations that may be requested, and regions that may be gathered, or were."""
    for (block, path), instance in records.instances.items():
        if not instance.is_open:
            continue
        for head, cursor in instance.cursors.items():
            if cursor.next < cursor.count and cursor.outstanding < cursor.parallel:
                yield RequestIterations(head, path, 1)
        if not instance.live:
            yield Gather(block, path)


async def _failures(
    package: PackageClient, execution: Execution, workflow: PublishedWorkflow, terms: Terms
) -> tuple[RunFailure, ...]:
    """Why walks failed: events tell, for the chain keeps but how many did."""
    if not execution.walks.failures:
        return ()
    steps = await read_execution_steps(package, execution.id)
    allowed = {
        fqn: {
            "price_too_high": f"it may cost {sui(mist)}",
            "timeout_too_long": f"it may take {duration(terms.max_timeout_ms)}",
            "too_many_steps": f"it may take {count(terms.max_steps, 'step')}",
            "outcome_limit_too_small": f"it may have {count(terms.max_outcome_bytes, 'byte')}",
        }
        for fqn, mist in zip(workflow.fqns, terms.max_prices_mist, strict=True)
    }
    return failures_of(steps, workflow.plan, allowed)


def _outcome(refusal: str | None, invocation: Invocation | None) -> Settled | Failed | None:
    """What a closed run came to; None if its invocation is deleted."""
    if refusal not in {None, "port_missing"}:  # which port it is, the answer shows
        return Failed(refusal)
    match invocation.state if invocation else None:
        case State.Settled(variant, ports):
            return Settled(variant, _lengths(ports))
        case State.Failed(reason, detail):
            return Failed(reason, detail)
        case State.Expired():
            return Failed("expired")
    return None


def _value(run: RunState, port: str) -> Any:
    """The JSON value of a port of a run that settled; where it is, if that is not on chain."""
    assert run.invocation is not None
    assert isinstance(run.invocation.state, State.Settled)
    values = run.invocation.state.ports.values
    return Ports(tuple(each for each in values if each[0] == port)).with_places()[port]


def _lengths(ports: Ports) -> dict[str, int | None]:
    """Each port, with its length where the chain knows that it is a list."""
    return {name: _length(value) for name, value in ports.values}


def _length(value: Value.Variant) -> int | None:
    match value:
        case Value.InlineList(parts):
            return sum(len(part) for part in parts)
        case Value.RemoteList(_, keys):
            return len(keys)
    return None


def _phase(run: RunState) -> str:
    if run.phase is RunPhase.UNDER_WAY:
        return "running"
    if run.phase is not RunPhase.CLOSED:
        return "waiting"
    return "failed" if isinstance(run.outcome, Failed) else "settled"
