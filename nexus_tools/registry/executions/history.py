"""What happened in one execution, as events tell it, and why walks in it failed."""

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
from nexus_tools.contracts.move_bindings.workflows.walks import Change
from nexus_tools.registry.creation_checkpoint import beginning_of
from nexus_tools.registry.invocations.history import Step, read_steps
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Plan, Run

OF_EXECUTIONS = (
    moves.ExecutionBegun,
    moves.ExecutionAdvanced,
    moves.RunRefused,
    moves.RegionGathered,
    moves.ExecutionShort,
    moves.ExecutionRefilled,
    moves.ExecutionLeadersChanged,
    moves.ExecutionStopped,
    moves.ExecutionRefunded,
    moves.ExecutionEnded,
)
OF_RUNS = (InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired)


_REMEDIES = {
    "too_many_steps": "begun with a higher --max-steps it may take more",
    "price_too_high": "begun with --max-price {fqn}=… it may cost more",
    "timeout_too_long": "begun again, it has the timeout that the tool has now",
    "outcome_limit_too_small": "begun with a higher --max-outcome-bytes it has more room",
    "leader_not_accepted": "`nexus-tools leader list --for {fqn}` shows whom it accepts",
    "tool_not_active": "`nexus-tools tool show {fqn}` shows why",
    "tool_without_key": "its owner has to add one: `nexus-tools tool key add`",
}
"""What helps where the chain refused to invoke a tool, as `terms.move` says."""


@dataclass(frozen=True, slots=True)
class RunFailure:
    """A failure that no edge handled: the run, why, what the Leader said of it, and the tool.

    `invocation` is that of the last attempt; None for a run that was refused.
    """

    run: Run
    reason: str
    detail: str
    fqn: str
    invocation: Address | None = None

    @property
    def sentence(self) -> str:
        """In words for people."""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.run} failed, {self.reason}{detail} ({self.fqn})"

    @property
    def next_step(self) -> str:
        """What somebody can do who wants to know more, or to do it better; empty if nothing."""
        if self.invocation is not None:
            return f"`nexus-tools tool outcome {self.invocation} --why` tells what happened to it"
        return _REMEDIES.get(self.reason, "").format(fqn=self.fqn)


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
    following, kinds = Following(execution), (*OF_EXECUTIONS, *OF_RUNS)
    after = await beginning_of(package, execution)
    return await read_steps(package, kinds, following.is_wanted, after)


def failures_of(
    steps: tuple[Step, ...], plan: Plan, refusals: Mapping[str, Mapping[str, str]]
) -> tuple[RunFailure, ...]:
    """Why walks failed, in order, with what the Leader said of the last attempt.

    `refusals` say what the owner allowed, by FQN and reason.
    """
    names = tuple(plan.vertices)
    last: dict[Run, Address] = {}
    details: dict[Run, str] = {}
    runs: dict[Address, Run] = {}
    found: list[RunFailure] = []
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
                found.append(RunFailure(run, failure.reason, detail, fqn))
            else:
                detail = details.get(run, "")
                found.append(RunFailure(run, failure.reason, detail, fqn, last.get(run)))
    return tuple(found)


def spent_mist(steps: tuple[Step, ...]) -> int | None:
    """What an execution took of the funds that it got; None unless its begin and end are known."""
    given_mist, back_mist, known = 0, 0, set[type[object]]()
    for step in steps:
        known.add(type(step.event))
        match step.event:
            case moves.ExecutionBegun(funds_mist=amount_mist):
                given_mist += amount_mist
            case moves.ExecutionRefilled(amount_mist=amount_mist):
                given_mist += amount_mist
            case moves.ExecutionRefunded(amount_mist=amount_mist):
                back_mist += amount_mist
            case moves.ExecutionEnded(refund_mist=amount_mist):
                back_mist += amount_mist
    return given_mist - back_mist if {moves.ExecutionBegun, moves.ExecutionEnded} <= known else None
