"""The events of one execution, and the failures of its runs.

The events are in the transactions that changed the execution, and in those that closed its
invocations. The transactions are read from the execution object, newest first, so the history of
other executions does not matter.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, RegistryEvent, event_filter, parse_event
from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationFailed,
    InvocationRequested,
)
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.contracts.move_bindings.workflows.cleaning import ExecutionDeleted
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.registry.invocations.history import CLOSINGS, Step
from nexus_tools.registry.pages import read_page
from nexus_tools.sui.client import EventRecord, Executed, ObjectTransaction, object_history
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
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
RUN_EVENTS = (InvocationRequested, *CLOSINGS)

MAX_TRANSACTIONS = 1_000
"""The default number of an execution's transactions after which reading stops."""


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


async def read_execution_history(
    package: PackageClient, execution: Address, limit: int | None = MAX_TRANSACTIONS
) -> tuple[Step, ...]:
    """Return the events of an execution that the node has not pruned, in order.

    Read the newest `limit` transactions that changed the execution. The execution may be deleted if
    at most 1 000 executions were deleted after it.
    """
    last = await _last_transaction(package, execution)
    if last is None:
        return ()
    transactions: list[Executed] = []
    walk = object_history(package.client, execution, last)
    async with aclosing(_with_closings(package, execution, walk)) as found:
        async for number, executed in found:
            if limit is not None and number > limit:
                break
            transactions.append(executed)
    transactions = [*await _pending_closings(package, execution, transactions), *transactions]
    following, steps = ExecutionEventFilter(execution), list[Step]()
    for executed in _in_order(transactions):
        for event in _events(package, executed):
            if following.is_wanted(event):
                steps.append(await _step(package, executed, event))
    return tuple(steps)


async def read_failures(
    package: PackageClient,
    execution: Address,
    count: int,
    plan: Plan,
    refusals: Mapping[str, Mapping[str, str]],
) -> tuple[RunFailure, ...]:
    """Return the last `count` failures of runs in order, with the Leader's detail.

    Reading stops at the first of these failures, or after `MAX_TRANSACTIONS`. `refusals` maps an
    FQN and a reason to a sentence about the limit that the owner set.
    """
    last = await _last_transaction(package, execution)
    if last is None:
        return ()
    failures: list[RunFailure] = []
    details: dict[Address, str] = {}
    walk = object_history(package.client, execution, last)
    async with aclosing(walk) as found:
        number = 0
        async for transaction in found:
            for executed in (transaction.executed, *transaction.dependencies):
                details |= _failure_details(_events(package, executed))
            for event in reversed(_events(package, transaction.executed)):
                if getattr(event, "execution", None) == execution:
                    failures += reversed(_failures_in(event, plan, details, refusals))
            number += 1
            if len(failures) >= count or number == MAX_TRANSACTIONS:
                break
    return tuple(failures[:count][::-1])


def _failure_details(events: Iterable[RegistryEvent]) -> dict[Address, str]:
    """Return the Leader's details of failed invocations."""
    failed = (event for event in events if isinstance(event, InvocationFailed))
    return {event.invocation: event.detail for event in failed}


def _failures_in(
    event: RegistryEvent,
    plan: Plan,
    details: Mapping[Address, str],
    refusals: Mapping[str, Mapping[str, str]],
) -> list[RunFailure]:
    """Return the failures that an event of an execution reports."""
    change: Change | None = getattr(event, "change", None)
    names, results = tuple(plan.vertices), list[RunFailure]()
    for failure in change.failures if change else ():
        run = Run(names[failure.run.vertex], tuple(failure.run.path))
        fqn = plan.vertices[run.vertex].vertex.fqn
        detail, invocation = "", None
        if isinstance(event, moves.RunRefused):
            detail = refusals.get(fqn, {}).get(failure.reason, "")
        elif isinstance(event, moves.ExecutionAdvanced) and event.run == failure.run:
            invocation, detail = event.invocation, details.get(event.invocation, "")
        results.append(RunFailure(run, failure.reason, detail, fqn, invocation))
    return results


# --- Transactions of an execution


async def _last_transaction(package: PackageClient, execution: Address) -> Digest | None:
    """Return the last transaction that changed an execution, which may have deleted it.

    Return None if the execution does not exist, unless it is one of the last that were deleted.
    """
    value = await package.client.object(execution)
    if value is not None:
        return value.previous_transaction

    async def read(records: Sequence[EventRecord]) -> list[Digest | None]:
        events = [parse_event(package.deployment, record.event) for record in records]
        return [
            record.transaction_digest if getattr(event, "execution", None) == execution else None
            for record, event in zip(records, events, strict=True)
        ]

    kinds = event_filter(package.deployment, ExecutionDeleted)
    page = await read_page(package, kinds, read, limit=1)
    return next(iter(page.items), None)


async def _with_closings(
    package: PackageClient, execution: Address, walk: AsyncGenerator[ObjectTransaction, None]
) -> AsyncGenerator[tuple[int, Executed], None]:
    """Yield the transactions of an execution, and those that closed its invocations before.

    Each transaction has the number of the execution's transactions that were read.
    """
    number = 0
    async with aclosing(walk) as found:
        async for transaction in found:
            number += 1
            yield number, transaction.executed
            advanced = {
                event.invocation
                for event in _events(package, transaction.executed)
                if isinstance(event, moves.ExecutionAdvanced) and event.execution == execution
            }
            for executed in transaction.dependencies if advanced else ():
                if _closes(_events(package, executed), advanced):
                    yield number, executed


def _closes(events: Iterable[RegistryEvent], invocations: set[Address]) -> bool:
    return any(isinstance(event, CLOSINGS) and event.invocation in invocations for event in events)


async def _pending_closings(
    package: PackageClient, execution: Address, transactions: Iterable[Executed]
) -> list[Executed]:
    """Return the transactions that closed invocations for which the execution did not advance."""
    events = [event for executed in transactions for event in _events(package, executed)]
    advanced = {event.invocation for event in events if isinstance(event, moves.ExecutionAdvanced)}
    following = ExecutionEventFilter(execution)
    pending = [
        event.invocation
        for event in events
        if isinstance(event, InvocationRequested)
        and following.is_wanted(event)
        and event.invocation not in advanced
    ]
    values = await package.client.objects(pending)
    closings = {
        value.previous_transaction
        for value in values
        if value is not None and package.deployment.decode(value, Invocation).is_closed
    }
    found = [await package.client.transaction(digest) for digest in closings]
    return [executed for executed in found if executed is not None]


def _in_order(transactions: Sequence[Executed]) -> list[Executed]:
    """Return each of the transactions once, the oldest first."""
    oldest_first = {executed.digest: executed for executed in reversed(transactions)}
    return [*oldest_first.values()]


def _events(package: PackageClient, executed: Executed) -> list[RegistryEvent]:
    parsed = (parse_event(package.deployment, event) for event in executed.events)
    return [event for event in parsed if isinstance(event, (*OF_EXECUTIONS, *RUN_EVENTS))]


async def _step(package: PackageClient, executed: Executed, event: RegistryEvent) -> Step:
    """Return an event and its time, which is now if no checkpoint contains the transaction."""
    at_ms = executed.timestamp_ms
    if at_ms is None:
        at_ms = await package.client.now_ms()
    return Step(event, executed.digest, executed.events[0].sender, at_ms)


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
