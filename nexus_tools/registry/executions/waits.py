"""The reasons why a running execution waits, for example for an answer, a leader, or funds.

The node simulates the next steps to predict their effects.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nexus_tools.contracts import PackageClient, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.registry.executions.run_inputs import RunInputResolver
from nexus_tools.registry.executions.state import ExecutionState, RunState
from nexus_tools.registry.executions.step_commands import (
    MAX_STEPS,
    RequestRun,
    StepCommands,
    add_advance,
)
from nexus_tools.sui.support.units import ago, duration, format_sui_argument, sui, utc
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ASK, WAIT, ask_deadline_ms, wait_deadline_ms
from nexus_tools.workflow import Run, RunPhase, Status


class WaitReason(StrEnum):
    """The event that lets an execution, or one of its runs, continue."""

    ANSWER = "answer"
    """The addressee of a question answers the question."""
    TIME = "time"
    """The time of a `wait` ends, or a run is retried."""
    OUTCOME = "outcome"
    """A leader closes an invocation."""
    FUNDS = "funds"
    """Someone refills the execution."""
    LEADER = "leader"
    """A leader sends a step that is possible now."""
    CLOSING = "closing"
    """The execution ends early, after its pending invocations are closed."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A reason why an execution waits, and the waiting run.

    `message` is a text for users. `since_ms` and `until_ms` are the start and the end of the wait,
    in ms since 1970.
    """

    reason: WaitReason
    message: str
    run: Run | None = None
    invocation: Address | None = None
    leaders: tuple[Address, ...] = ()
    answerer: Address | None = None
    question: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    needed_mist: int | None = None
    funds_mist: int | None = None


async def read_waits(package: PackageClient, state: ExecutionState) -> tuple[Wait, ...]:
    """Return the reasons why an execution waits, or nothing if it has ended.

    Raises the errors of `SuiClient`.
    """
    if state.is_ended:
        return ()
    reader = _Reader(package, state, await package.client.now_ms())
    return (*reader.ending(), *await reader.of_runs(), *await reader.of_steps())


class _Reader:
    """A reader of the waits of one execution at one point in time."""

    def __init__(self, package: PackageClient, state: ExecutionState, now_ms: int) -> None:
        self._package = package
        self._state = state
        self._now_ms = now_ms
        self._id = state.execution.id
        self._leaders = state.terms.leaders
        self._resolver = RunInputResolver(package.client, package.deployment)

    def ending(self) -> Iterator[Wait]:
        """Yield the wait for the end of an execution that is stopping or past its deadline."""
        deadline_ms, ending = self._state.terms.deadline_ms, self._state.execution.progress.ending
        if ending is not None:
            status = Status(ending).replace("_", " ")
            yield Wait(
                WaitReason.CLOSING,
                f"{status}. The execution ends when its pending invocations are closed or expired",
            )
        elif self._now_ms >= deadline_ms:
            yield Wait(
                WaitReason.LEADER,
                f"the deadline {utc(deadline_ms)} passed, but the execution has not ended. Run"
                f" `nexus-tools workflow cancel {self._id} --expired`",
                leaders=self._leaders,
                since_ms=deadline_ms,
            )

    async def of_runs(self) -> list[Wait]:
        """Return the waits of runs that have a pending invocation or that will be retried."""
        return [
            await self._pending_wait(run.run, run.invocation)
            if run.invocation is not None and run.phase is RunPhase.UNDER_WAY
            else self._retry_wait(run)
            for run in self._state.runs.values()
            if self._is_open(run) or self._is_waiting_for_retry(run)
        ]

    async def of_steps(self) -> list[Wait]:
        """Return the waits for steps that a leader can send now, and the wait for missing funds."""
        events = await self._predicted_events()
        shortages = [event for event in events if isinstance(event, moves.ExecutionUnderfunded)]
        waits = [wait for event in events if (wait := self._step_wait(event)) is not None]
        return waits + [self._funds_wait(event) for event in shortages[:1]]

    # --- Runs

    def _is_open(self, run: RunState) -> bool:
        return (
            run.phase is RunPhase.UNDER_WAY
            and run.invocation is not None
            and not run.invocation.is_closed
            and not run.invocation.is_expired_at(self._now_ms)
        )

    def _is_waiting_for_retry(self, run: RunState) -> bool:
        is_ending = self._state.execution.progress.ending is not None
        return not is_ending and run.phase is RunPhase.READY and run.not_before_ms > self._now_ms

    def _retry_wait(self, run: RunState) -> Wait:
        again_ms = run.not_before_ms
        return Wait(
            WaitReason.TIME,
            f"{run.run} is retried in {duration(again_ms - self._now_ms)}",
            run.run,
            leaders=self._leaders,
            until_ms=again_ms,
        )

    async def _pending_wait(self, run: Run, invocation: Invocation) -> Wait:
        if invocation.fqn in (ASK, WAIT):
            try:
                inputs = await self._resolver.inputs(
                    self._state.execution, self._state.workflow, run
                )
                return self._question_or_timer_wait(run, invocation, inputs.as_json())
            except UnreachableError:
                raise
            except (NexusError, LookupError, TypeError, ValueError):
                pass  # inputs are untrusted, and a leader fails invalid inputs
        leaders = " or the backup leader ".join(map(str, invocation.leaders))
        return Wait(
            WaitReason.OUTCOME,
            f"{run} was requested {ago(self._now_ms - invocation.requested_at_ms)}, but the leader"
            f" {leaders} has not closed it. It expires at {utc(invocation.expires_at_ms)}",
            run,
            invocation.id,
            invocation.leaders,
            since_ms=invocation.requested_at_ms,
            until_ms=invocation.expires_at_ms,
        )

    def _question_or_timer_wait(
        self, run: Run, invocation: Invocation, inputs: Mapping[str, Any]
    ) -> Wait:
        """Return the wait of a run of the tool `ask` or `wait`."""
        times = invocation.requested_at_ms, invocation.expires_at_ms
        since_ms, leaders = invocation.requested_at_ms, invocation.leaders
        if invocation.fqn == WAIT:
            until_ms = wait_deadline_ms(inputs, *times)
            sentence = f"{run} waits until {utc(until_ms, self._now_ms)}"
            parties = run, invocation.id, leaders
            return Wait(WaitReason.TIME, sentence, *parties, since_ms=since_ms, until_ms=until_ms)
        until_ms, who = ask_deadline_ms(inputs, *times), Address.parse(inputs["answerer"])
        return Wait(
            WaitReason.ANSWER,
            f"{run} waits for the answer of {who} until {utc(until_ms, self._now_ms)}."
            " That wallet sees the question with `nexus-tools question list`",
            run,
            invocation.id,
            leaders,
            who,
            str(inputs["question"]),
            since_ms,
            until_ms,
        )

    # --- Steps

    async def _predicted_events(self) -> list[Any]:
        """Return the events that the next steps would emit, or nothing if the simulation fails."""
        deployment, execution = self._package.deployment, self._state.execution
        commands = StepCommands(deployment, execution.dag, self._state.workflow.plan)
        builder = TransactionBuilder()
        for invocation in self._closed_or_expired():
            add_advance(builder, deployment, self._id, execution.dag, invocation)
        if execution.progress.ending is None and self._now_ms < self._state.terms.deadline_ms:
            ready = [
                RequestRun(run.run)
                for run in self._state.runs.values()
                if run.phase is RunPhase.READY and run.not_before_ms <= self._now_ms
            ]
            for step in [*ready, *self._state.remaining_steps][:MAX_STEPS]:
                commands.add(builder, self._id, self._leaders[0], step)
        if not builder.commands:
            return []
        try:
            simulation = await self._package.client.inspect(builder, execution.owner)
            simulation.raise_for_status()
        except UnreachableError:
            raise
        except NexusError:
            return []  # a step has been sent since the read, or a tool no longer exists
        return [parse_event(deployment, event) for event in simulation.events]

    def _closed_or_expired(self) -> list[Address]:
        """Return the closed or expired invocations after which the execution has not advanced."""
        return [
            run.invocation.id
            for run in self._state.runs.values()
            if run.phase is RunPhase.UNDER_WAY
            and run.invocation is not None
            and not self._is_open(run)
        ][:MAX_STEPS]

    def _step_wait(self, event: Any) -> Wait | None:
        """Return the wait for the step that emits this event, or None for other events."""
        run, leaders = self._run_of(event), " or the backup leader ".join(map(str, self._leaders))
        match event:
            case InvocationRequested() | moves.RunRefused():
                sentence = f"{run} is ready, but the leader {leaders} has not requested it"
            case moves.ExecutionAdvanced():
                ending = self._end_of_run(run)
                sentence = (
                    f"the invocation of {run} {ending}, but the leader {leaders} has not advanced"
                    " the execution"
                )
            case moves.RegionGathered():
                sentence = (
                    f"a region is complete, but the leader {leaders} has not gathered its results"
                )
            case _:
                return None
        sentence += (
            ". Check that the leader runs, or run"
            f" `nexus-tools workflow cancel {self._id}` to end the execution"
        )
        return Wait(WaitReason.LEADER, sentence, run, leaders=self._leaders)

    def _end_of_run(self, run: Run | None) -> str:
        """Return how a run's last invocation ended, as the predicate of a sentence."""
        state = self._state.runs.get(run) if run else None
        invocation = state.invocation if state else None
        if invocation is None or invocation.is_closed:
            return "is closed"
        return f"expired at {utc(invocation.expires_at_ms)}"

    def _run_of(self, event: Any) -> Run | None:
        subject = event.attempt if isinstance(event, InvocationRequested) else event
        run = getattr(subject, "run", None)
        return run and Run([*self._state.workflow.plan.vertices][run.vertex], tuple(run.path))

    def _funds_wait(self, event: moves.ExecutionUnderfunded) -> Wait:
        needed, funds = event.needed_mist, event.funds_mist
        least = format_sui_argument(needed - funds)
        note = (
            ", or wait for refunds of pending invocations"
            if self._state.execution.progress.in_flight
            else ""
        )
        return Wait(
            WaitReason.FUNDS,
            f"insufficient funds: the next step needs {sui(needed)}, but {sui(funds)} are left. Run"
            f" `nexus-tools workflow refill {self._id} {least}`{note}",
            needed_mist=needed,
            funds_mist=funds,
        )
