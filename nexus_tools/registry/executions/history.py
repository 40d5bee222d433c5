"""The events of one execution, and the failures of its runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, RegistryEvent
from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.registry.creation_checkpoint import cursor_before_creation
from nexus_tools.registry.invocations.history import Step, read_history_events
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Plan, Run

OF_EXECUTIONS = (
    moves.ExecutionStarted,
    moves.ExecutionAdvanced,
    moves.RunRefused,
    moves.RegionGathered,
    moves.ExecutionUnderfunded,
    moves.ExecutionRefilled,
    moves.ExecutionLeadersChanged,
    moves.ExecutionStopped,
    moves.ExecutionRefunded,
    moves.ExecutionEnded,
)
RUN_EVENTS = (InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired)


_REMEDIES = {
    "too_many_steps": "Start the execution again with a higher --max-steps.",
    "price_too_high": "Start the execution again with a higher --max-price {fqn}=….",
    "timeout_too_long": "Start the execution again to accept the tool's current timeout.",
    "outcome_limit_too_small": "Start the execution again with a higher --max-outcome-bytes.",
    "leader_not_accepted": (
        "Run `nexus-tools leader list --tool {fqn}` to see the accepted leaders."
    ),
    "tool_not_active": "Run `nexus-tools tool show {fqn}` to see the reason.",
    "tool_without_key": "Ask the tool's owner to add a key with `nexus-tools tool key add`.",
}
"""Hints, by the reason why the chain refuses to invoke a tool. Source: `terms.move`."""


@dataclass(frozen=True, slots=True)
class RunFailure:
    """A failure that no edge handles, with the run, the reason, the Leader's detail, and the tool.

    `invocation` is the invocation of the last attempt, or None if the chain refused the request.
    """

    run: Run
    reason: str
    detail: str
    fqn: str
    invocation: Address | None = None

    @property
    def message(self) -> str:
        """The failure as a message for users."""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.run} failed, {self.reason}{detail} ({self.fqn})"

    @property
    def hint(self) -> str:
        """A hint for users on how to investigate or fix the failure, or an empty string."""
        if self.invocation is not None:
            return (
                f"Run `nexus-tools tool outcome {self.invocation} --explain` to see what happened."
            )
        return _REMEDIES.get(self.reason, "").format(fqn=self.fqn)


class ExecutionEventFilter:
    """A filter for the events of one execution, including the events of its invocations.

    `attempts` maps invocation IDs to the known attempts.
    """

    def __init__(self, execution: Address) -> None:
        self._execution = execution
        self.attempts: dict[Address, Attempt] = {}

    def is_wanted(self, event: RegistryEvent) -> bool:
        """Return whether an event belongs to the execution. Pass events in their chain order."""
        if isinstance(event, InvocationRequested):
            attempt = event.attempt
            if attempt is None or attempt.execution != self._execution:
                return False
            self.attempts[event.invocation] = attempt
            return True
        if isinstance(event, OF_EXECUTIONS):
            return event.execution == self._execution
        return getattr(event, "invocation", None) in self.attempts


async def read_execution_history(package: PackageClient, execution: Address) -> tuple[Step, ...]:
    """Return the events of an execution that the node has not pruned, in order."""
    following, kinds = ExecutionEventFilter(execution), (*OF_EXECUTIONS, *RUN_EVENTS)
    after = await cursor_before_creation(package, execution)
    return await read_history_events(package, kinds, following.is_wanted, after)


def run_failures(
    steps: tuple[Step, ...], plan: Plan, refusals: Mapping[str, Mapping[str, str]]
) -> tuple[RunFailure, ...]:
    """Return the failures of runs in order, with the Leader's detail of the last attempt.

    `refusals` maps an FQN and a reason to a sentence about the limit that the owner set.
    """
    names = tuple(plan.vertices)
    last: dict[Run, Address] = {}
    details: dict[Run, str] = {}
    runs: dict[Address, Run] = {}
    results: list[RunFailure] = []
    for step in steps:
        event = step.event
        if isinstance(event, InvocationRequested) and event.attempt is not None:
            key = event.attempt.run
            run = Run(names[key.vertex], tuple(key.path))
            runs[event.invocation], last[run] = run, event.invocation
        elif isinstance(event, InvocationFailed) and event.invocation in runs:
            details[runs[event.invocation]] = event.detail
        change: Change | None = getattr(event, "change", None)
        for failure in change.failures if change else ():
            run = Run(names[failure.run.vertex], tuple(failure.run.path))
            fqn = plan.vertices[run.vertex].vertex.fqn
            if isinstance(event, moves.RunRefused):
                detail = refusals.get(fqn, {}).get(failure.reason, "")
                results.append(RunFailure(run, failure.reason, detail, fqn))
            else:
                detail = details.get(run, "")
                results.append(RunFailure(run, failure.reason, detail, fqn, last.get(run)))
    return tuple(results)


def spent_mist(steps: tuple[Step, ...]) -> int | None:
    """Return the funds that an execution spent, or None if its start or end event is missing."""
    paid_mist, refunded_mist, kinds = 0, 0, set[type[object]]()
    for step in steps:
        kinds.add(type(step.event))
        match step.event:
            case moves.ExecutionStarted(funds_mist=amount_mist):
                paid_mist += amount_mist
            case moves.ExecutionRefilled(amount_mist=amount_mist):
                paid_mist += amount_mist
            case moves.ExecutionRefunded(amount_mist=amount_mist):
                refunded_mist += amount_mist
            case moves.ExecutionEnded(refund_mist=amount_mist):
                refunded_mist += amount_mist
    return (
        paid_mist - refunded_mist
        if {moves.ExecutionStarted, moves.ExecutionEnded} <= kinds
        else None
    )
