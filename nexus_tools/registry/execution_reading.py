"""An execution as it is read whole: how far it is, what failed and why, and what it came to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.client import SuiClient, past_events
from nexus_tools.package import Deployment, PackageClient, event_filter, parse_event
from nexus_tools.package.move.execution import (
    Execution,
    ExecutionAdvanced,
    RegionGathered,
    RunRefused,
)
from nexus_tools.package.move.invocation import Invocation, InvocationFailed, State
from nexus_tools.package.move.terms import Terms
from nexus_tools.registry.execution_records import ExecutionRecords
from nexus_tools.registry.run_inputs import RunResolver
from nexus_tools.registry.workflow_reading import PublishedWorkflow
from nexus_tools.sui.address import Address
from nexus_tools.workflow import (
    Failed,
    Result,
    Run,
    RunPhase,
    Settled,
    Status,
    Waiting,
    WalkFailure,
)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run, how far it is, and what it came to."""

    run: Run
    phase: RunPhase
    attempt: int
    invocation: Address | None
    outcome: Settled | Failed | None

    @property
    def variant(self) -> str:
        """The variant that it was settled with, or an empty text."""
        return self.outcome.variant if isinstance(self.outcome, Settled) else ""


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """An execution with its records; `failures` are those that no edge handled.

    `runs` are those that wait, are ready, under way or closed, in the order of the document.
    """

    execution: Execution
    terms: Terms
    workflow: PublishedWorkflow
    status: Status
    runs: tuple[RunView, ...]
    waiting: tuple[Waiting, ...]
    results: tuple[Result, ...]
    failures: tuple[WalkFailure, ...] = ()
    values: Mapping[Result, Any] = field(default_factory=dict)

    @property
    def is_ended(self) -> bool:
        """Whether nothing happens in it any more."""
        return self.execution.ended_at_ms is not None

    def outputs(self) -> dict[str, Any]:
        """The values that it came to by name, or `vertex.variant.port`; a list for several runs."""
        several: dict[str, list[Any]] = {}
        for result in self.results:
            several.setdefault(result.name or str(result.source), []).append(self.values[result])
        return {name: found[0] if len(found) == 1 else found for name, found in several.items()}


async def read_state(
    client: SuiClient,
    deployment: Deployment,
    execution: Execution,
    workflow: PublishedWorkflow,
) -> ExecutionState:
    """The state of an execution as it was read. Raises as `SuiClient` does."""
    package = PackageClient(client, deployment)
    reading = ExecutionRecords(package, execution, workflow)
    await reading.read_all()
    outcomes = await _outcomes(package, reading)
    for run, outcome in outcomes.items():
        reading.records.runs[run].outcome = outcome
    order = {name: number for number, name in enumerate(workflow.plan.vertices)}
    runs = sorted(reading.records.runs, key=lambda run: (order[run.vertex], run.path))
    results = reading.records.results()
    found = await RunResolver(client, deployment).resolved(
        reading, workflow, (result.value for result in results)
    )
    return ExecutionState(
        execution,
        await reading.terms(),
        workflow,
        _status(execution),
        tuple(
            RunView(
                run,
                record.phase,
                record.attempt,
                reading.invocations.get(run),
                record.outcome,
            )
            for run in runs
            for record in [reading.records.runs[run]]
        ),
        tuple(reading.records.waiting()),
        results,
        await _failures(package, reading, execution),
        {result: found[result.value] for result in results},
    )


def _status(execution: Execution) -> Status:
    """What an execution is, or came to, as `walks::status` says."""
    if execution.ended_at_ms is None:
        return Status.RUNNING
    if execution.walks.ending is not None:
        return Status(execution.walks.ending)
    failed = execution.walks.failures > 0
    return Status.COMPLETED_WITH_FAILURES if failed else Status.COMPLETED


async def _outcomes(
    package: PackageClient, reading: ExecutionRecords
) -> dict[Run, Settled | Failed]:
    """What the runs came to that are closed; of a deleted invocation, nothing."""
    closed = [
        run for run, record in reading.records.runs.items() if record.phase is RunPhase.CLOSED
    ]
    outcomes: dict[Run, Settled | Failed] = {
        run: Failed(reading.refusals[run]) for run in closed if run in reading.refusals
    }
    asked = [run for run in closed if run not in outcomes and run in reading.invocations]
    found = await package.find_all([reading.invocations[run] for run in asked], Invocation)
    for run, invocation in zip(asked, found, strict=True):
        if invocation is not None:
            outcomes[run] = _outcome(invocation)
    return outcomes


def _outcome(invocation: Invocation) -> Settled | Failed:
    match invocation.state:
        case State.Settled(variant, ports):
            return Settled(variant, {name: _length(value) for name, value in ports.values})
        case State.Failed(reason, detail):
            return Failed(reason, detail)
    return Failed("expired", "no leader closed the invocation in time")


def _length(value: Any) -> int | None:
    match type(value).__name__:
        case "InlineList":
            return sum(map(len, value.pos0))
        case "RemoteList":
            return len(value.keys)
    return None


async def _failures(
    package: PackageClient, reading: ExecutionRecords, execution: Execution
) -> tuple[WalkFailure, ...]:
    """The failures that events tell, each with the detail that its leader gave."""
    if not execution.walks.failures:
        return ()
    kinds = event_filter(
        package.deployment, ExecutionAdvanced, RunRefused, RegionGathered, InvocationFailed
    )
    details: dict[Address, str] = {}
    found: list[WalkFailure] = []
    async for record in past_events(package.client, kinds):
        event = parse_event(package.deployment, record.event)
        if isinstance(event, InvocationFailed):
            details[event.invocation] = event.detail
        elif (
            isinstance(event, ExecutionAdvanced | RunRefused | RegionGathered)
            and event.execution == execution.id
        ):
            detail = (
                details.get(event.invocation, "") if isinstance(event, ExecutionAdvanced) else ""
            )
            found += _told(reading, event.change.failures, detail)
    return tuple(found)


def _told(reading: ExecutionRecords, failures: Iterable[Any], detail: str) -> list[WalkFailure]:
    return [
        WalkFailure(reading.run_of(each.run), each.reason, "" if each.reason == "raced" else detail)
        for each in failures
    ]
