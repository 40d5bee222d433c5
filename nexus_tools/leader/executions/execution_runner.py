"""The executions that name this leader, and what may be left to do in each.

Most of what follows from a closing is in its transaction. What is not, events tell: what did not
fit, came differently, waits for its time, or was somebody else's to do. After a start, and whenever
it is not known, the records are read. The leader named second does what the first one did not do
for a minute.
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
from nexus_tools.contracts.move_bindings.workflows.walks import Change
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.executions.execution_reader import ExecutionReader
from nexus_tools.leader.executions.pending_steps import (
    CallDue,
    DeadlinePassed,
    InvocationClosed,
    IterationsReady,
    RegionEmptied,
    RunReady,
    Todo,
    Unknown,
)
from nexus_tools.leader.executions.step_executor import Steps
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

# The events of one transaction come one after the other: the next ones may say that it is done.
_GRACE_MS = 200
# Requests of iterations do not say whether more of them are ready: nobody hurries to ask.
_LATER_MS = 2_000
_SECOND_LEADER_MS = 60_000
_FIRST_SETBACK_MS = 2_000
_LONGEST_SETBACK_MS = 600_000
_SIDE_BY_SIDE = 8


@dataclass(slots=True, eq=False)
class CarriedExecution:
    """An execution that names this leader; `due` says from when on something is to be done."""

    id: Address
    place: int = 0
    due: dict[Todo, int] = field(default_factory=dict)
    is_short: bool = False
    setbacks: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def delay_ms(self) -> int:
        """How long the leaders before this one have."""
        return self.place * _SECOND_LEADER_MS

    def plan(self, todo: Todo, at_ms: int) -> None:
        """Do something from then on, or earlier if that is planned already."""
        if not isinstance(todo, Unknown):  # to look costs nothing
            at_ms += self.delay_ms
        self.due[todo] = min(at_ms, self.due.get(todo, at_ms))
        self.changed.set()

    def drop(self, todo: Todo) -> None:
        """It is done."""
        self.due.pop(todo, None)


class Executions:
    """One task for each execution with something to do; some of them act side by side."""

    def __init__(
        self,
        config: LeaderConfig,
        group: asyncio.TaskGroup,
        reader: ExecutionReader,
        steps: Steps,
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
        self._known: dict[Address, CarriedExecution] = {}
        self._tasks: dict[Address, asyncio.Task[None]] = {}
        self._awaited: dict[Address, Address] = {}
        self._slots = asyncio.Semaphore(_SIDE_BY_SIDE)

    def resume(self, executions: Iterable[Address]) -> None:
        """Look what is to be done in executions that are known from before."""
        for execution in executions:
            self._find(execution).plan(Unknown(), self._clock.now_ms())

    async def search(self) -> None:
        """Find what began before the place where a new journal begins to read."""
        while True:
            try:
                found = await self._reader.named()
            except UnreachableError:
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
            else:
                await self._journal.keep(dict.fromkeys(found, True))
                self.resume(found)
                return

    def observe(self, page: EventPage) -> None:
        """Take in what events tell."""
        for execution, is_named in page.executions.items():
            if is_named and execution not in self._known:
                self._find(execution)
        for event in page.steps:
            self._MEANINGS[type(event)](self, event)

    def stop(self) -> None:
        """Leave everything to the next start."""
        for task in self._tasks.values():
            task.cancel()

    # --- What events mean

    def _begun(self, event: moves.ExecutionBegun) -> None:
        execution = self._find(event.execution)
        execution.place = event.leaders.index(self._leader)
        execution.plan(DeadlinePassed(), event.deadline_ms)
        self._changed(execution, event.change)

    def _leaders_changed(self, event: moves.ExecutionLeadersChanged) -> None:
        if self._leader not in event.leaders:
            self._forget(event.execution)
            return
        execution = self._find(event.execution)
        execution.place = event.leaders.index(self._leader)
        execution.due.clear()
        self._look(execution)

    def _requested(self, event: InvocationRequested) -> None:
        assert event.attempt is not None
        execution = self._known.get(event.attempt.execution)
        if execution is None:
            return
        if not execution.due:
            self._look(execution)  # its beginning was not seen
        self._taken(execution, event.attempt.run)
        self._awaited[event.invocation] = execution.id
        execution.plan(InvocationClosed(event.invocation), event.expires_at_ms)
        if event.is_for_anyone:
            execution.plan(CallDue(event.invocation, event.tool), self._clock.now_ms())
        self._metrics.steps.labels("requested").inc()

    def _closed(self, event: InvocationSettled | InvocationFailed | InvocationExpired) -> None:
        of_execution = self._awaited.get(event.invocation)
        if of_execution is None:
            return
        execution = self._known.get(of_execution)
        if execution is not None:
            execution.drop(InvocationClosed(event.invocation))
            execution.drop(CallDue(event.invocation, event.tool))
            execution.plan(InvocationClosed(event.invocation), self._clock.now_ms() + _GRACE_MS)

    def _advanced(self, event: moves.ExecutionAdvanced) -> None:
        self._awaited.pop(event.invocation, None)
        execution = self._known.get(event.execution)
        if execution is None:
            return
        self._metrics.steps.labels("advanced").inc()
        execution.drop(InvocationClosed(event.invocation))
        self._changed(execution, event.change)
        if execution.is_short:
            self._look(execution)  # what was left of a payment has come back

    def _refused(self, event: moves.RunRefused) -> None:
        execution = self._known.get(event.execution)
        if execution is not None:
            self._metrics.steps.labels("refused").inc()
            self._taken(execution, event.run)
            self._changed(execution, event.change)

    def _gathered(self, event: moves.RegionGathered) -> None:
        execution = self._known.get(event.execution)
        if execution is not None:
            self._metrics.steps.labels("gathered").inc()
            execution.drop(RegionEmptied(event.region))
            self._changed(execution, event.change)

    def _short(self, event: moves.ExecutionShort) -> None:
        execution = self._known.get(event.execution)
        if execution is not None and not execution.is_short:
            execution.is_short = True
            amounts = {"funds": sui(event.funds_mist), "needed": sui(event.needed_mist)}
            _log.info("execution_short", execution=str(event.execution), **amounts)

    def _refilled(self, event: moves.ExecutionRefilled) -> None:
        execution = self._known.get(event.execution)
        if execution is not None:
            self._look(execution)

    def _stopped(self, event: moves.ExecutionStopped) -> None:
        execution = self._known.get(event.execution)
        if execution is not None:
            self._call_all(execution)

    def _ended(self, event: moves.ExecutionEnded) -> None:
        if event.execution in self._known:
            self._forget(event.execution)
            told = {"status": event.status, "steps": event.steps}
            _log.info("execution_ended", execution=str(event.execution), **told)
            self._metrics.executions_ended.labels(event.status).inc()

    _MEANINGS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        InvocationRequested: _requested,
        InvocationSettled: _closed,
        InvocationFailed: _closed,
        InvocationExpired: _closed,
        moves.ExecutionBegun: _begun,
        moves.ExecutionAdvanced: _advanced,
        moves.RunRefused: _refused,
        moves.RegionGathered: _gathered,
        moves.ExecutionShort: _short,
        moves.ExecutionRefilled: _refilled,
        moves.ExecutionLeadersChanged: _leaders_changed,
        moves.ExecutionStopped: _stopped,
        moves.ExecutionEnded: _ended,
    }

    # --- What is left to do

    def _changed(self, execution: CarriedExecution, change: Change) -> None:
        at_ms = self._clock.now_ms() + _GRACE_MS
        for run in change.ready:
            execution.plan(RunReady(run), at_ms)
        for head in change.iterations:
            execution.plan(IterationsReady(head), at_ms)
        for region in change.emptied:
            execution.plan(RegionEmptied(region), at_ms)
        if change.failures:
            self._call_all(execution)  # one of them may have terminated it

    def _call_all(self, execution: CarriedExecution) -> None:
        """Look at what waits for somebody: in an execution that stops, nothing does."""
        for todo in [*execution.due]:
            if isinstance(todo, CallDue):
                execution.plan(todo, self._clock.now_ms())

    def _taken(self, execution: CarriedExecution, run: Run) -> None:
        """A run is under way, or refused."""
        execution.drop(RunReady(run))
        for todo in execution.due:
            if isinstance(todo, IterationsReady) and todo.head.vertex == run.vertex:
                execution.due[todo] = self._clock.now_ms() + _LATER_MS + execution.delay_ms

    def _look(self, execution: CarriedExecution) -> None:
        execution.is_short = False
        execution.plan(Unknown(), self._clock.now_ms() + _GRACE_MS)

    # --- Who is known

    def _find(self, execution: Address) -> CarriedExecution:
        known = self._known.get(execution)
        if known is None:
            known = self._known[execution] = CarriedExecution(execution)
            self._tasks[execution] = self._group.create_task(self._carry(known))
            self._metrics.executions.set(len(self._known))
        return known

    def _forget(self, execution: Address) -> None:
        known = self._known.pop(execution, None)
        for todo in known.due if known else ():
            if isinstance(todo, InvocationClosed):
                self._awaited.pop(todo.invocation, None)
        task = self._tasks.pop(execution, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        self._metrics.executions.set(len(self._known))

    # --- Doing it

    async def _carry(self, execution: CarriedExecution) -> None:
        while True:
            await self._until_due(execution)
            async with self._slots:
                now_ms = self._clock.now_ms()
                due = {todo: at for todo, at in execution.due.items() if at <= now_ms}
                if due and not await self._act(execution, due):
                    await self._journal.keep({execution.id: False})
                    self._forget(execution.id)
                    return

    async def _until_due(self, execution: CarriedExecution) -> None:
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
                for each in waits:
                    each.cancel()

    async def _act(self, execution: CarriedExecution, due: Mapping[Todo, int]) -> bool:
        """Do what is due; False if the execution has ended or does not name this leader."""
        try:
            taken = await self._steps.take(execution.id, list(due))
        except UnreachableError:
            await asyncio.sleep(self._config.trouble_pause_ms / 1000)
            return True
        except Exception as error:
            if isinstance(error, NexusError) and error.code == "journal_failed":
                raise
            self._metrics.trouble.labels("steps").inc()
            _log.warning("steps_postponed", execution=str(execution.id), error=in_short(error))
            self._set_back(execution, due)
            return True
        if taken is None:
            return False
        if taken.place is not None:
            execution.place = taken.place
        execution.is_short = execution.is_short or taken.is_short
        self._note(execution, due, taken.left)
        if taken.is_refused:
            self._set_back(execution, taken.left)
        else:
            execution.setbacks = 0
        return True

    def _note(
        self, execution: CarriedExecution, due: Mapping[Todo, int], left: Mapping[Todo, int]
    ) -> None:
        for todo, at_ms in due.items():
            if execution.due.get(todo) == at_ms:  # else events told something new meanwhile
                execution.drop(todo)
        for todo, at_ms in left.items():
            execution.plan(todo, at_ms)

    def _set_back(self, execution: CarriedExecution, todos: Iterable[Todo]) -> None:
        """Try it again later, and ever later: nobody pays for what a stranger made impossible."""
        pause_ms = min(_FIRST_SETBACK_MS << min(execution.setbacks, 16), _LONGEST_SETBACK_MS)
        execution.setbacks += 1
        at_ms = self._clock.now_ms() + pause_ms
        for todo in todos:
            execution.due[todo] = max(at_ms, execution.due.get(todo, at_ms))
