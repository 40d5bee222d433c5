"""The executions that name this leader, and their pending steps.

Most steps run in the transaction that closes an invocation. Events report the remaining steps. A
step remains if it did not fit into the transaction, was not predicted, waits for a time, or was
left to another leader. The on-chain records are read after a start, and whenever the pending steps
are unknown. If the first leader has not run a step within a minute, the backup leader runs it.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from nexus_tools.contracts import RegistryEvent
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.executions.execution_reader import ExecutionReader
from nexus_tools.leader.executions.pending_steps import (
    CallDue,
    DeadlinePassed,
    FullRescan,
    InvocationClosed,
    IterationsReady,
    PendingStep,
    RegionEmptied,
    RunReady,
)
from nexus_tools.leader.executions.step_executor import StepExecutor
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

# The events of one transaction arrive one by one. A later event may report that a step was run.
_GRACE_MS = 200
# The event of requested iterations does not show whether more iterations are ready. The check is
# not urgent.
_ITERATION_CHECK_MS = 2_000
_BACKUP_DELAY_MS = 60_000
_FIRST_RETRY_MS = 2_000
_MAX_RETRY_MS = 600_000
_MAX_CONCURRENT = 8


@dataclass(slots=True, eq=False)
class ActiveExecution:
    """An execution that names this leader. `due` maps each pending step to its due time.

    `replanned` contains the steps that were planned since the last run of due steps began.
    """

    id: Address
    place: int = 0
    due: dict[PendingStep, int] = field(default_factory=dict)
    replanned: set[PendingStep] = field(default_factory=set)
    is_short: bool = False
    setbacks: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def delay_ms(self) -> int:
        """The delay in ms after which this leader runs the steps of the leaders before it."""
        return self.place * _BACKUP_DELAY_MS

    def plan(self, step: PendingStep, at_ms: int) -> None:
        """Plan a step for a time, unless it is already planned for an earlier time."""
        if not isinstance(step, FullRescan):  # a read costs no gas, so it needs no delay
            at_ms += self.delay_ms
        self.due[step] = min(at_ms, self.due.get(step, at_ms))
        self.replanned.add(step)
        self.changed.set()

    def drop(self, step: PendingStep) -> None:
        """Remove a step that is done."""
        self.due.pop(step, None)


class ExecutionRunner:
    """A runner with one task for each execution. The number of concurrent steps is limited."""

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        reader: ExecutionReader,
        steps: StepExecutor,
        *,
        journal: Journal,
        clock: ChainClock,
        metrics: LeaderMetrics,
        leader: Address,
    ) -> None:
        self._config = config
        self._group = group
        self._reader = reader
        self._steps = steps
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._leader = leader
        self._tracked: dict[Address, ActiveExecution] = {}
        self._tasks: dict[Address, asyncio.Task[None]] = {}
        self._execution_of_invocation: dict[Address, Address] = {}
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)

    def resume(self, executions: Iterable[Address]) -> None:
        """Check for pending steps in executions that the journal contains or `search` found."""
        for execution in executions:
            self._track(execution).plan(FullRescan(), self._clock.now_ms())

    async def search(self) -> None:
        """Find the executions that are older than the first event of a new journal, once."""
        while True:
            try:
                executions = await self._reader.assigned_executions()
            except UnreachableError:
                await asyncio.sleep(self._config.error_retry_delay_ms / 1000)
            else:
                await self._journal.finish_execution_search(executions)
                # Events that arrived during the search have already planned the steps of the rest.
                self.resume(found for found in executions if found not in self._tracked)
                return

    def has_executions(self) -> bool:
        """Return whether any execution names this leader."""
        return bool(self._tracked)

    def is_tracked(self, subject: bytes) -> bool:
        """Return whether an ID is a tracked execution, or an invocation of an execution."""
        return subject in self._tracked or subject in self._execution_of_invocation

    def observe(self, page: EventPage) -> None:
        """Apply a page of events."""
        for execution, is_named in page.executions.items():
            if is_named and execution not in self._tracked:
                self._track(execution)
        for event in page.steps:
            self._HANDLERS[type(event)](self, event)

    def stop(self) -> None:
        """Cancel all tasks. The next holder resumes the executions."""
        for task in self._tasks.values():
            task.cancel()
        self._metrics.executions.set(0)

    # --- Event handlers

    def _started(self, event: moves.ExecutionStarted) -> None:
        execution = self._track(event.execution)
        execution.place = event.leaders.index(self._leader)
        execution.plan(DeadlinePassed(), event.deadline_ms)
        self._plan_change(execution, event.change)

    def _leaders_changed(self, event: moves.ExecutionLeadersChanged) -> None:
        if self._leader not in event.leaders:
            self._forget(event.execution)
            return
        execution = self._track(event.execution)
        execution.place = event.leaders.index(self._leader)
        execution.due.clear()
        self._plan_rescan(execution)

    def _requested(self, event: InvocationRequested) -> None:
        assert event.attempt is not None
        execution = self._tracked.get(event.attempt.execution)
        if execution is None:
            return
        if not execution.due:
            self._plan_rescan(execution)  # the start event of the execution was missed
        self._on_run_requested(execution, event.attempt.run)
        self._execution_of_invocation[event.invocation] = execution.id
        execution.plan(InvocationClosed(event.invocation), event.expires_at_ms)
        if event.is_closable_by_anyone:
            execution.plan(CallDue(event.invocation, event.tool), self._clock.now_ms())
        self._metrics.steps.labels("requested").inc()

    def _closed(self, event: InvocationSettled | InvocationFailed | InvocationExpired) -> None:
        of_execution = self._execution_of_invocation.get(event.invocation)
        if of_execution is None:
            return
        execution = self._tracked.get(of_execution)
        if execution is not None:
            execution.drop(InvocationClosed(event.invocation))
            execution.drop(CallDue(event.invocation, event.tool))
            execution.plan(InvocationClosed(event.invocation), self._clock.now_ms() + _GRACE_MS)

    def _advanced(self, event: moves.ExecutionAdvanced) -> None:
        self._execution_of_invocation.pop(event.invocation, None)
        execution = self._tracked.get(event.execution)
        if execution is None:
            return
        self._metrics.steps.labels("advanced").inc()
        execution.drop(InvocationClosed(event.invocation))
        self._plan_change(execution, event.change)
        if execution.is_short:
            self._plan_rescan(execution)  # a refund may have provided the missing funds

    def _refused(self, event: moves.RunRefused) -> None:
        execution = self._tracked.get(event.execution)
        if execution is not None:
            self._metrics.steps.labels("refused").inc()
            self._on_run_requested(execution, event.run)
            self._plan_change(execution, event.change)

    def _gathered(self, event: moves.RegionGathered) -> None:
        execution = self._tracked.get(event.execution)
        if execution is not None:
            self._metrics.steps.labels("gathered").inc()
            execution.drop(RegionEmptied(event.region))
            self._plan_change(execution, event.change)

    def _short(self, event: moves.ExecutionUnderfunded) -> None:
        execution = self._tracked.get(event.execution)
        if execution is not None and not execution.is_short:
            execution.is_short = True
            amounts = {"funds": sui(event.funds_mist), "needed": sui(event.needed_mist)}
            _log.info("execution_out_of_funds", execution=str(event.execution), **amounts)

    def _refilled(self, event: moves.ExecutionRefilled) -> None:
        execution = self._tracked.get(event.execution)
        if execution is not None:
            self._plan_rescan(execution)

    def _stopped(self, event: moves.ExecutionStopped) -> None:
        execution = self._tracked.get(event.execution)
        if execution is not None:
            self._plan_calls(execution)

    def _ended(self, event: moves.ExecutionEnded) -> None:
        if event.execution in self._tracked:
            self._forget(event.execution)
            details = {"status": event.status, "steps": event.steps}
            _log.info("execution_ended", execution=str(event.execution), **details)
            self._metrics.executions_ended.labels(event.status).inc()

    _HANDLERS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        InvocationRequested: _requested,
        InvocationSettled: _closed,
        InvocationFailed: _closed,
        InvocationExpired: _closed,
        moves.ExecutionStarted: _started,
        moves.ExecutionAdvanced: _advanced,
        moves.RunRefused: _refused,
        moves.RegionGathered: _gathered,
        moves.ExecutionUnderfunded: _short,
        moves.ExecutionRefilled: _refilled,
        moves.ExecutionLeadersChanged: _leaders_changed,
        moves.ExecutionStopped: _stopped,
        moves.ExecutionEnded: _ended,
    }

    # --- Pending steps

    def _plan_change(self, execution: ActiveExecution, change: Change) -> None:
        at_ms = self._clock.now_ms() + _GRACE_MS
        for run in change.ready:
            execution.plan(RunReady(run), at_ms)
        for head in change.iterations:
            execution.plan(IterationsReady(head), at_ms)
        for region in change.finished_regions:
            execution.plan(RegionEmptied(region), at_ms)
        if change.failures:
            self._plan_calls(execution)  # a failure may have terminated the execution

    def _plan_calls(self, execution: ActiveExecution) -> None:
        """Plan an immediate check of all timed calls, because a stopping execution cancels them."""
        for step in [*execution.due]:
            if isinstance(step, CallDue):
                execution.plan(step, self._clock.now_ms())

    def _on_run_requested(self, execution: ActiveExecution, run: Run) -> None:
        """Drop the step of a requested or refused run, and postpone the checks of iterations."""
        execution.drop(RunReady(run))
        for step in execution.due:
            if isinstance(step, IterationsReady) and step.head.vertex == run.vertex:
                execution.due[step] = (
                    self._clock.now_ms() + _ITERATION_CHECK_MS + execution.delay_ms
                )

    def _plan_rescan(self, execution: ActiveExecution) -> None:
        execution.is_short = False
        execution.plan(FullRescan(), self._clock.now_ms() + _GRACE_MS)

    # --- Tracked executions

    def _track(self, execution: Address) -> ActiveExecution:
        tracked = self._tracked.get(execution)
        if tracked is None:
            tracked = self._tracked[execution] = ActiveExecution(execution)
            self._tasks[execution] = self._group.create_task(self._run_execution(tracked))
            self._metrics.executions.set(len(self._tracked))
        return tracked

    def _forget(self, execution: Address) -> None:
        tracked = self._tracked.pop(execution, None)
        for step in tracked.due if tracked else ():
            if isinstance(step, InvocationClosed):
                self._execution_of_invocation.pop(step.invocation, None)
        task = self._tasks.pop(execution, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        self._metrics.executions.set(len(self._tracked))

    # --- Running steps

    async def _run_execution(self, execution: ActiveExecution) -> None:
        while True:
            await self._wait_until_due(execution)
            async with self._slots:
                now_ms = self._clock.now_ms()
                due = {step: at for step, at in execution.due.items() if at <= now_ms}
                if FullRescan() in due:  # a backup would run the other due steps later otherwise
                    due = {FullRescan(): due[FullRescan()]}
                if due and not await self._run_due_steps(execution, due):
                    await self._journal.save_executions({execution.id: False})
                    self._forget(execution.id)
                    return

    async def _wait_until_due(self, execution: ActiveExecution) -> None:
        while True:
            execution.changed.clear()
            first_ms = min(execution.due.values(), default=None)
            if first_ms is not None and first_ms <= self._clock.now_ms():
                return
            waits: set[asyncio.Task[object]] = {asyncio.create_task(execution.changed.wait())}
            if first_ms is not None:
                waits.add(asyncio.create_task(self._clock.wait_until(first_ms)))
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()

    async def _run_due_steps(
        self, execution: ActiveExecution, due: Mapping[PendingStep, int]
    ) -> bool:
        """Run the due steps. Return False if the execution has ended or names other leaders."""
        execution.replanned.clear()
        try:
            result = await self._steps.run_due(execution.id, list(due))
        except UnreachableError:
            await asyncio.sleep(self._config.error_retry_delay_ms / 1000)
            return True
        except Exception as error:
            if isinstance(error, NexusError) and error.code == "journal_failed":
                raise
            self._metrics.trouble.labels("steps").inc()
            _log.warning("steps_postponed", execution=str(execution.id), error=error_summary(error))
            self._retry_later(execution, due)
            return True
        if result is None:
            return False
        if result.place is not None:
            execution.place = result.place
        execution.is_short = execution.is_short or result.is_short
        for step in due.keys() - execution.replanned:  # an event may have planned a step again
            execution.drop(step)
        for step, at_ms in result.remaining.items():
            execution.plan(step, at_ms)
        if result.is_refused:
            self._retry_later(execution, result.remaining)
        else:
            execution.setbacks = 0
        return True

    def _retry_later(self, execution: ActiveExecution, steps: Iterable[PendingStep]) -> None:
        """Plan steps again with back-off, because untrusted input may make the steps fail."""
        pause_ms = min(_FIRST_RETRY_MS << min(execution.setbacks, 16), _MAX_RETRY_MS)
        execution.setbacks += 1
        at_ms = self._clock.now_ms() + pause_ms
        for step in steps:
            execution.due[step] = max(at_ms, execution.due.get(step, at_ms))
