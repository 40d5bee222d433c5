"""The current state of an execution: its runs, their outcomes, and its results."""

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
from nexus_tools.registry.executions.history import RunFailure, read_failures
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.executions.step_commands import (
    ExecutionStep,
    GatherRegion,
    RequestIterations,
)
from nexus_tools.registry.invocations.answer_validation import OutputInvalidError, validate_answers
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.support.units import count, duration, sui
from nexus_tools.workflow import (
    OutputPort,
    Records,
    Run,
    RunFailed,
    RunPhase,
    RunSettled,
    Status,
    VertexState,
    Waiting,
    require_all_ports,
)

_EARLY_ENDS = {
    Status.TERMINATED: "was terminated",
    Status.CANCELLED: "was cancelled",
    Status.TIMED_OUT: "timed out",
}


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """A result value of an execution. `name` is the name of the workflow's output, or empty."""

    name: str
    source: OutputPort
    run: Run
    value: Any

    @property
    def label(self) -> str:
        """A label for users: the name or the port, and the path of the run."""
        path = f"[{','.join(map(str, self.run.path))}]" if self.run.path else ""
        return f"{self.name or self.source}{path}"


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run.

    `outcome` is None unless the run is closed. `invocation` is its last invocation, or None. A
    ready run can be requested from the time `not_before_ms` on, in ms since 1970.
    """

    run: Run
    phase: RunPhase
    attempt: int
    outcome: RunSettled | RunFailed | None
    invocation: Invocation | None
    not_before_ms: int = 0


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """The state of an execution at the time of reading.

    `waiting` lists the runs that lack input values, each with the missing values.
    `remaining_iterations` maps a head vertex to the number of its unrequested iterations.
    `remaining_steps` lists the steps that can be sent now, except requests of runs.
    """

    execution: Execution
    workflow: PublishedWorkflow
    terms: Terms
    runs: Mapping[Run, RunState]
    remaining_iterations: Mapping[str, int]
    remaining_steps: tuple[ExecutionStep, ...]
    waiting: tuple[Waiting, ...]
    results: tuple[ExecutionResult, ...]
    failures: tuple[RunFailure, ...]
    invalid: tuple[OutputInvalidError, ...]
    """The errors of answers that violate the output schemas of their tools."""

    @property
    def is_ended(self) -> bool:
        """Whether the execution has ended. An ended execution never changes again."""
        return self.execution.ended_at_ms is not None

    @property
    def status(self) -> Status:
        """The status of the execution, which is running or a final status."""
        return status_of(self.execution)

    @property
    def early_end_reason(self) -> str:
        """A message for users that explains an early end, or an empty string."""
        ending = _EARLY_ENDS.get(self.status)
        if ending is None:
            return ""
        reason = f": {self.terminating_failure.message}" if self.terminating_failure else ""
        return f"the execution {self.execution.id} {ending}{reason}"

    @property
    def terminating_failure(self) -> RunFailure | None:
        """The failure that terminated the execution, which is the first of a terminating vertex."""
        if self.status is not Status.TERMINATED:
            return None
        vertices = self.workflow.plan.vertices
        return next(
            (failure for failure in self.failures if vertices[failure.run.vertex].terminates), None
        )

    def outputs(self, *, checked: bool = True) -> dict[str, Any]:
        """Return the results by output name, or by `vertex.variant.port` for unnamed outputs.

        If several runs have a result for the same output, the value is a list. Raises
        `output_invalid` if the answer of a run violates its tool's output schema. Pass
        `checked=False` to skip this check if you only display the results.
        """
        if checked:
            self.require_valid()
        values_by_name: dict[str, list[Any]] = {}
        for result in self.results:
            values_by_name.setdefault(result.name or str(result.source), []).append(result.value)
        return {
            name: values[0] if len(values) == 1 else values
            for name, values in values_by_name.items()
        }

    def require_valid(self) -> None:
        """Raise `output_invalid` if the answer of a run violates its tool's output schema."""
        for error in self.invalid:
            raise error

    def vertex_states(self) -> dict[str, VertexState]:
        """Return the number of runs of each vertex in each phase, for a diagram."""
        counts = {name: Counter[str]() for name in self.workflow.plan.vertices}
        for run in self.runs.values():
            counts[run.run.vertex][_phase(run)] += 1
        for name, remaining in self.remaining_iterations.items():
            counts[name]["waiting"] += remaining
        return {name: VertexState(**count) for name, count in counts.items()}


def status_of(execution: Execution) -> Status:
    """Return the status of an execution, which is running or a final status."""
    if execution.ended_at_ms is None:
        return Status.RUNNING
    if execution.progress.ending is not None:
        return Status(execution.progress.ending)
    return Status.COMPLETED_WITH_FAILURES if execution.progress.failures else Status.COMPLETED


async def read_state(
    package: PackageClient, execution: Execution, workflow: PublishedWorkflow
) -> ExecutionState:
    """Return the state of an execution whose object was already read."""
    reader = ExecutionRecords(package, execution, workflow)
    await reader.read_all()
    terms = await reader.terms()
    ids = reader.invocations
    objects = await package.find_all([*ids.values()], Invocation)
    invocations = dict(zip(ids, objects, strict=True))
    runs: dict[Run, RunState] = {}
    for run, record in reader.records.runs.items():
        invocation = invocations.get(run)
        if record.phase is RunPhase.CLOSED:
            outcome = _outcome(reader.refusals.get(run), invocation)
            if outcome is not None:
                record.outcome = require_all_ports(workflow.plan.vertices[run.vertex], outcome)
        runs[run] = RunState(
            run,
            record.phase,
            record.attempt,
            record.outcome,
            invocation,
            reader.not_before_ms[run],
        )
    remaining: Counter[str] = Counter()
    for instance in reader.records.instances.values():
        for head, cursor in instance.cursors.items():
            remaining[head] += cursor.count - cursor.next
    return ExecutionState(
        execution,
        workflow,
        terms,
        runs,
        {head: count for head, count in remaining.items() if count},
        tuple(_left_in_regions(reader.records)),
        tuple(reader.records.waiting()),
        tuple(
            ExecutionResult(result.name, result.source, run, _value(runs[run], result.value.port))
            for result in reader.records.results()
            for run in (result.value.run,)
        ),
        await _failures(package, execution, workflow, terms),
        tuple((await validate_answers(package, filter(None, objects))).values()),
    )


def _left_in_regions(records: Records) -> Iterator[ExecutionStep]:
    """Yield requests of the remaining iterations, and the gathering of finished regions."""
    for (block, path), instance in records.instances.items():
        if not instance.is_open:
            continue
        for head, cursor in instance.cursors.items():
            if cursor.next < cursor.count and cursor.outstanding < cursor.parallel:
                yield RequestIterations(head, path, 1)
        if not instance.live:
            yield GatherRegion(block, path)


async def _failures(
    package: PackageClient, execution: Execution, workflow: PublishedWorkflow, terms: Terms
) -> tuple[RunFailure, ...]:
    """Return the failures of runs from events, because the object contains only their number."""
    failure_count = execution.progress.failures
    if not failure_count:
        return ()
    allowed = {
        fqn: {
            "price_too_high": f"its limit is {sui(mist)}",
            "timeout_too_long": f"its limit is {duration(terms.max_timeout_ms)}",
            "too_many_steps": f"its limit is {count(terms.max_steps, 'run')}",
            "outcome_limit_too_small": f"its limit is {count(terms.max_outcome_bytes, 'byte')}",
        }
        for fqn, mist in zip(workflow.fqns, terms.max_prices_mist, strict=True)
    }
    return await read_failures(package, execution.id, failure_count, workflow.plan, allowed)


def _outcome(refusal: str | None, invocation: Invocation | None) -> RunSettled | RunFailed | None:
    """Return the outcome of a closed run, or None if its invocation is deleted."""
    if refusal not in {None, "port_missing"}:  # the answer shows which port is missing
        return RunFailed(refusal)
    match invocation.state if invocation else None:
        case State.Settled(variant, ports):
            return RunSettled(variant, _lengths(ports))
        case State.Failed(reason, detail):
            return RunFailed(reason, detail)
        case State.Expired():
            return RunFailed("expired")
    return None


def _value(run: RunState, port: str) -> Any:
    """Return the JSON value of a port of a settled run, or the location of an off-chain value."""
    assert run.invocation is not None
    assert isinstance(run.invocation.state, State.Settled)
    values = run.invocation.state.ports.values
    return Ports(tuple(entry for entry in values if entry[0] == port)).with_locations()[port]


def _lengths(ports: Ports) -> dict[str, int | None]:
    """Return the length of each port's list, or None if the chain does not store it as a list."""
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
    return "failed" if isinstance(run.outcome, RunFailed) else "settled"
