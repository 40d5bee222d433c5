"""What happened in one execution, as events tell it, and why walks in it failed."""

from dataclasses import dataclass

from nexus_tools.package import PackageClient, RegistryEvent
from nexus_tools.package.move.attempt import Attempt
from nexus_tools.package.move.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.package.move.workflows import execution as moves
from nexus_tools.package.move.workflows.walks import Change
from nexus_tools.registry.invocation_history import Step, read_steps
from nexus_tools.sui.address import Address
from nexus_tools.workflow import Plan, Run

OF_EXECUTIONS = (
    moves.ExecutionBegun,
    moves.ExecutionAdvanced,
    moves.RunRefused,
    moves.RegionGathered,
    moves.ExecutionShort,
    moves.ExecutionRefilled,
    moves.ExecutionLeadersChanged,
    moves.ExecutionEnded,
)
OF_RUNS = (InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired)


@dataclass(frozen=True, slots=True)
class RunFailure:
    """A failure that no edge handled: the run, why, what the Leader said of it, and the tool."""

    run: Run
    reason: str
    detail: str
    fqn: str

    @property
    def sentence(self) -> str:
        """In words for people."""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.run} failed, {self.reason}{detail} ({self.fqn})"


class Following:
    """Which events are about one execution: those of its runs follow from their requests.

    `attempts` are those that are known, by the ids of their invocations.
    """

    def __init__(self, execution: Address) -> None:
        self._execution = execution
        self.attempts: dict[Address, Attempt] = {}

    def is_wanted(self, event: RegistryEvent) -> bool:
        """Whether the event is about it; events come in order."""
        if isinstance(event, InvocationRequested):
            attempt = event.attempt
            if attempt is None or attempt.execution != self._execution:
                return False
            self.attempts[event.invocation] = attempt
            return True
        if isinstance(event, OF_EXECUTIONS):
            return event.execution == self._execution
        return getattr(event, "invocation", None) in self.attempts


async def read_execution_steps(package: PackageClient, execution: Address) -> tuple[Step, ...]:
    """What the node has of an execution, in order."""
    following = Following(execution)
    return await read_steps(package, (*OF_EXECUTIONS, *OF_RUNS), following.is_wanted)


def failures_of(steps: tuple[Step, ...], plan: Plan) -> tuple[RunFailure, ...]:
    """Why walks failed, in order, with what the Leader said of the last attempt."""
    names = tuple(plan.vertices)
    details: dict[Run, str] = {}
    runs: dict[Address, Run] = {}
    found: list[RunFailure] = []
    for step in steps:
        event = step.event
        if isinstance(event, InvocationRequested) and event.attempt is not None:
            key = event.attempt.run
            runs[event.invocation] = Run(names[key.vertex], tuple(key.path))
        elif isinstance(event, InvocationFailed) and event.invocation in runs:
            details[runs[event.invocation]] = event.detail
        change: Change | None = getattr(event, "change", None)
        for failure in change.failures if change else ():
            run = Run(names[failure.run.vertex], tuple(failure.run.path))
            fqn = plan.vertices[run.vertex].vertex.fqn
            detail = details.get(run, "") if not isinstance(event, moves.RunRefused) else ""
            found.append(RunFailure(run, failure.reason, detail, fqn))
    return tuple(found)
