"""What a running execution waits for: a person, a time, a leader, or funds.

What would happen with the next steps, the chain itself says: they are run without being sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nexus_tools.contracts import PackageClient, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.registry.executions.run_inputs import RunResolver
from nexus_tools.registry.executions.state import ExecutionState, RunState
from nexus_tools.registry.executions.step_commands import (
    MAX_STEPS,
    RequestRun,
    StepCommands,
    add_advance,
)
from nexus_tools.sui.support.units import ago, duration, rounded_up, sui, utc
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ASK, WAIT, asks_until_ms, waits_until_ms
from nexus_tools.workflow import Run, RunPhase, Status


class WaitsFor(StrEnum):
    """What has to happen before an execution, or a run of it, goes on."""

    ANSWER = "answer"
    """Who is asked says so."""
    TIME = "time"
    """A time comes: a `wait` is over, or a run is tried again."""
    OUTCOME = "outcome"
    """A leader closes an invocation."""
    FUNDS = "funds"
    """Somebody refills it."""
    LEADER = "leader"
    """A leader takes a step that can be taken."""
    CLOSING = "closing"
    """It ends early, once what is under way is closed."""


@dataclass(frozen=True, slots=True)
class Wait:
    """What an execution waits for, and the run that does; `sentence` says it for people.

    Times are in ms since 1970: since when it waits, and until when at most.
    """

    what: WaitsFor
    sentence: str
    run: Run | None = None
    invocation: Address | None = None
    leaders: tuple[Address, ...] = ()
    who: Address | None = None
    question: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    needed_mist: int | None = None
    funds_mist: int | None = None


async def read_waits(package: PackageClient, state: ExecutionState) -> tuple[Wait, ...]:
    """What an execution waits for; nothing, if it has ended. Raises as `SuiClient` does."""
    if state.is_ended:
        return ()
    reader = _Reader(package, state, await package.client.now_ms())
    return (*reader.ending(), *await reader.of_runs(), *await reader.of_steps())


class _Reader:
    """Reads what one execution waits for, at one time."""

    def __init__(self, package: PackageClient, state: ExecutionState, now_ms: int) -> None:
        self._package = package
        self._state = state
        self._now_ms = now_ms
        self._id = state.execution.id
        self._leaders = state.terms.leaders
        self._resolver = RunResolver(package.client, package.deployment)

    def ending(self) -> Iterator[Wait]:
        """That it ends early, or could."""
        deadline_ms, how = self._state.terms.deadline_ms, self._state.execution.walks.ending
        if how is not None:
            words = Status(how).replace("_", " ")
            yield Wait(
                WaitsFor.CLOSING, f"{words}, it ends once what is under way is closed or expires"
            )
        elif self._now_ms >= deadline_ms:
            yield Wait(
                WaitsFor.LEADER,
                f"its time was over at {utc(deadline_ms)}, and nobody has ended it:"
                f" `nexus-tools workflow cancel {self._id} --expired` does",
                leaders=self._leaders,
                since_ms=deadline_ms,
            )

    async def of_runs(self) -> list[Wait]:
        """What runs wait for that are under way, or will be tried again."""
        return [
            await self._under_way(each.run, each.invocation)
            if each.invocation is not None and each.phase is RunPhase.UNDER_WAY
            else self._pause(each)
            for each in self._state.runs.values()
            if self._is_open(each) or self._pauses(each)
        ]

    async def of_steps(self) -> list[Wait]:
        """What keeps from being done what can be done: that nobody did it, or that funds lack."""
        happens = await self._rehearsed()
        short = [each for each in happens if isinstance(each, moves.ExecutionShort)]
        undone = [wait for each in happens if (wait := self._undone(each)) is not None]
        return undone + [self._short(each) for each in short[:1]]

    # --- Runs

    def _is_open(self, run: RunState) -> bool:
        return (
            run.phase is RunPhase.UNDER_WAY
            and run.invocation is not None
            and not run.invocation.is_closed
            and not run.invocation.is_expired_at(self._now_ms)
        )

    def _pauses(self, run: RunState) -> bool:
        ends = self._state.execution.walks.ending is not None
        return not ends and run.phase is RunPhase.READY and run.not_before_ms > self._now_ms

    def _pause(self, run: RunState) -> Wait:
        again_ms = run.not_before_ms
        return Wait(
            WaitsFor.TIME,
            f"{run.run} is tried again in {duration(again_ms - self._now_ms)}",
            run.run,
            leaders=self._leaders,
            until_ms=again_ms,
        )

    async def _under_way(self, run: Run, invocation: Invocation) -> Wait:
        if invocation.fqn in (ASK, WAIT):
            try:
                inputs = await self._resolver.inputs(
                    self._state.execution, self._state.workflow, run
                )
                return self._waiting(run, invocation, inputs.as_json())
            except UnreachableError:
                raise
            except (NexusError, LookupError, TypeError, ValueError):
                pass  # anybody asks anything: what makes no sense, a leader fails
        by = ", or else ".join(map(str, invocation.leaders))
        return Wait(
            WaitsFor.OUTCOME,
            f"{run} was requested {ago(self._now_ms - invocation.requested_at_ms)}, and the leader"
            f" {by} has not closed it: it expires at {utc(invocation.expires_at_ms)}",
            run,
            invocation.id,
            invocation.leaders,
            since_ms=invocation.requested_at_ms,
            until_ms=invocation.expires_at_ms,
        )

    def _waiting(self, run: Run, invocation: Invocation, inputs: Mapping[str, Any]) -> Wait:
        """Of a run of `ask` or `wait`."""
        times = invocation.requested_at_ms, invocation.expires_at_ms
        since_ms, leaders = invocation.requested_at_ms, invocation.leaders
        if invocation.fqn == WAIT:
            until_ms = waits_until_ms(inputs, *times)
            sentence = f"{run} waits until {utc(until_ms, self._now_ms)}"
            named = run, invocation.id, leaders
            return Wait(WaitsFor.TIME, sentence, *named, since_ms=since_ms, until_ms=until_ms)
        until_ms, who = asks_until_ms(inputs, *times), Address.parse(inputs["who"])
        return Wait(
            WaitsFor.ANSWER,
            f"{run} waits for the answer of {who} until {utc(until_ms, self._now_ms)}:"
            " `nexus-tools ask list` shows the question to that wallet",
            run,
            invocation.id,
            leaders,
            who,
            str(inputs["question"]),
            since_ms,
            until_ms,
        )

    # --- Steps

    async def _rehearsed(self) -> list[Any]:
        """The events of the next steps, if they were taken now; nothing where that fails."""
        deployment, execution = self._package.deployment, self._state.execution
        commands = StepCommands(deployment, execution.dag, self._state.workflow.plan)
        builder = TransactionBuilder()
        for invocation in self._ended():
            add_advance(builder, deployment, self._id, execution.dag, invocation)
        if execution.walks.ending is None and self._now_ms < self._state.terms.deadline_ms:
            ready = [
                RequestRun(each.run)
                for each in self._state.runs.values()
                if each.phase is RunPhase.READY and each.not_before_ms <= self._now_ms
            ]
            for step in [*ready, *self._state.left][:MAX_STEPS]:
                commands.add(builder, self._id, self._leaders[0], step)
        if not builder.commands:
            return []
        try:
            inspected = await self._package.client.inspect(builder, execution.owner)
            inspected.raise_for_status()
        except UnreachableError:
            raise
        except NexusError:
            return []  # a step was taken meanwhile, or a tool is no more
        return [parse_event(deployment, each) for each in inspected.events]

    def _ended(self) -> list[Address]:
        """Invocations that are closed, or have expired, and were not gone on with."""
        return [
            each.invocation.id
            for each in self._state.runs.values()
            if each.phase is RunPhase.UNDER_WAY
            and each.invocation is not None
            and not self._is_open(each)
        ][:MAX_STEPS]

    def _undone(self, event: Any) -> Wait | None:
        """That a step can be taken, which would give this event."""
        run, by = self._run_of(event), ", or else ".join(map(str, self._leaders))
        match event:
            case InvocationRequested() | moves.RunRefused():
                sentence = f"{run} is ready, and the leader {by} has not requested it"
            case moves.ExecutionAdvanced():
                over = self._over(run)
                sentence = f"{run} {over}, and the leader {by} has not gone on with it"
            case moves.RegionGathered():
                sentence = f"what a region came to is not gathered by the leader {by}"
            case _:
                return None
        sentence += f": does it run? `nexus-tools workflow cancel {self._id}` ends the execution"
        return Wait(WaitsFor.LEADER, sentence, run, leaders=self._leaders)

    def _over(self, run: Run | None) -> str:
        """How it came that nothing of a run is under way any more."""
        found = self._state.runs.get(run) if run else None
        invocation = found.invocation if found else None
        if invocation is None or invocation.is_closed:
            return "is closed"
        return f"expired at {utc(invocation.expires_at_ms)}"

    def _run_of(self, event: Any) -> Run | None:
        of = event.attempt if isinstance(event, InvocationRequested) else event
        run = getattr(of, "run", None)
        return run and Run([*self._state.workflow.plan.vertices][run.vertex], tuple(run.path))

    def _short(self, event: moves.ExecutionShort) -> Wait:
        needed, funds = event.needed_mist, event.funds_mist
        least = rounded_up(needed - funds)
        later = (
            ", or what is under way may leave some" if self._state.execution.walks.under_way else ""
        )
        return Wait(
            WaitsFor.FUNDS,
            f"short of funds: its next step needs {sui(needed)}, and {sui(funds)} is there:"
            f" `nexus-tools workflow refill {self._id} {least}`{later}",
            needed_mist=needed,
            funds_mist=funds,
        )
