"""Does what is left to do in one execution, with a transaction of its own.

It is simulated first: what would do nothing is not sent, what cannot be done is left out, and what
others did meanwhile is passed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nexus_tools.contracts import RegistryEvent, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import Chain, FoundExecution
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.workflow_cache import CarriedWorkflows
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts, margin_mist
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Worker, Workers
from nexus_tools.leader.executions.execution_reader import ExecutionReader
from nexus_tools.leader.executions.pending_steps import (
    CallDue,
    DeadlinePassed,
    InvocationClosed,
    IterationsReady,
    RunReady,
    Todo,
    Unknown,
)
from nexus_tools.leader.executions.step_plan import StepPlan, change_of, foresee, step_of
from nexus_tools.leader.executions.timed_calls import WaitingCalls
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import (
    MAX_STEPS,
    Foresight,
)
from nexus_tools.sui.client import Simulated, simulate_transaction
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ExecutionFailure
from nexus_tools.sui.types.transaction import (
    OwnedObject,
)

_log = get_logger("nexus_tools.leader")

_READY = 1
_ENDS = (moves.ExecutionStopped, moves.ExecutionEnded)
_PROGRESS = (
    InvocationRequested,
    moves.ExecutionAdvanced,
    moves.RunRefused,
    moves.RegionGathered,
    *_ENDS,
)
_TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of an attempt: what is `left` to do, and from when on.

    `is_refused` says that the chain does not let this leader do what is left.
    """

    left: dict[Todo, int] = field(default_factory=dict)
    place: int | None = None
    is_refused: bool = False
    is_short: bool = False


class Steps:
    """Takes steps in the name of the leader."""

    def __init__(
        self,
        chain: Chain,
        workflows: CarriedWorkflows,
        reader: ExecutionReader,
        waiting: WaitingCalls,
        *,
        workers: Workers,
        sender: TransactionSender,
        clock: ChainClock,
        metrics: LeaderMetrics,
        accounts: ExecutionAccounts,
    ) -> None:
        self._chain = chain
        self._workflows = workflows
        self._reader = reader
        self._waiting = waiting
        self._workers = workers
        self._sender = sender
        self._clock = clock
        self._metrics = metrics
        self._accounts = accounts

    async def take(self, execution: Address, todos: Sequence[Todo]) -> Taken | None:
        """Do what is to be done; None if the execution has ended, or names other leaders.

        Raises `UnreachableError`, or what keeps the workers from sending.
        """
        found = await self._chain.execution(execution)
        if found is None or found.execution.ended_at_ms is not None:
            return None
        self._accounts.learn_owner(execution, found.execution.owner)
        if Unknown() in todos:
            look = await self._reader.look(found)
            if look.place is None:
                return None
            now_ms = self._clock.now_ms()
            left = {todo: max(now_ms, at_ms) for todo, at_ms in look.todos.items()}
            return Taken(left, look.place)
        others: list[Todo] = [todo for todo in todos if not isinstance(todo, CallDue)]
        taken = await self._take(found, others) if others else Taken()
        calls = [todo for todo in todos if isinstance(todo, CallDue)]
        if found.execution.walks.ending is None:
            return await self._call(calls, taken)
        for each in calls:
            await self._waiting.give_up(each.invocation, each.tool)
        return taken

    async def _call(self, todos: Sequence[CallDue], taken: Taken) -> Taken:
        """Call the functions whose time has come, too; the others later."""
        left, is_refused = dict(taken.left), taken.is_refused
        for todo in todos:
            due_ms = await self._waiting.call(todo.invocation, todo.tool)
            if due_ms is not None:
                left[todo] = due_ms
                is_refused = is_refused or due_ms <= self._clock.now_ms()
        return replace(taken, left=left, is_refused=is_refused)

    # --- One transaction

    async def _take(self, found: FoundExecution, todos: list[Todo]) -> Taken:
        """Do what can be done of it; what the chain refuses is left out, one by one."""
        refused: dict[Todo, int] = {}
        later: list[Todo] = []
        now_ms = self._clock.now_ms()
        while todos:
            plan = await self._planned(found, todos)
            if plan.is_empty:
                left = plan.left | refused | dict.fromkeys(later, now_ms)
                return Taken(left, is_refused=bool(refused))
            await self._fit(plan)
            events = await self._send(found, plan)
            if events is None:
                # Gas rises faster than the number of steps: fewer may pay.
                middle = len(todos) // 2
                later = todos[middle:] + later
                todos = todos[:middle]
                if not todos:
                    _log.warning("unprofitable", execution=str(found.execution.id))
                    unpaid, *todos = later
                    later = []
                    terms = await self._reader.terms(found.execution.id)
                    if now_ms < terms.deadline_ms:  # else it is left to the owner
                        refused[unpaid] = now_ms
                continue
            if isinstance(events, ExecutionFailure):
                guilty = plan.todos_of(events.command) or todos
                told = {"execution": str(found.execution.id), "error": str(events.error)}
                _log.warning("step_refused", **told)
                refused |= dict.fromkeys(guilty, now_ms)
                todos = [todo for todo in todos if todo not in guilty]
                continue
            is_short = any(isinstance(event, moves.ExecutionShort) for event in events)
            # Short of funds nothing is left to do, until some come.
            left = {} if is_short else await self._left(found, plan, events)
            done = plan.left | left | refused | dict.fromkeys(later, now_ms)
            return Taken(done, is_refused=bool(refused), is_short=is_short)
        return Taken(refused | dict.fromkeys(later, now_ms), is_refused=bool(refused))

    async def _fit(self, plan: StepPlan) -> None:
        """Leave as much for later as no worker can pay, its coins included."""
        price = self._workers.epoch.gas_price
        if plan.budget_mist(price) > self._workers.richest_mist:
            await self._workers.refresh()
            plan.fit(self._workers.richest_mist, price, self._clock.now_ms())

    async def _send(
        self, found: FoundExecution, plan: StepPlan
    ) -> list[RegistryEvent | None] | ExecutionFailure | None:
        """What happened, or would if nothing is worth being sent; or why the chain refuses it.

        None if it costs more than the execution pays, or may owe.
        """
        budget_mist = plan.budget_mist(self._workers.epoch.gas_price)
        async with self._workers.paying(budget_mist) as worker:
            kind = plan.build(self._chain, self._workers.leader.argument, found)
            draft = self._workers.draft(worker, kind, budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
            if isinstance(simulated.effects.status, ExecutionFailure):
                return simulated.effects.status
            events = [parse_event(self._chain.deployment, each) for each in simulated.events]
            if not any(isinstance(each, _PROGRESS) for each in events):
                return events
            execution = found.execution.id
            if not self._is_paid(execution, worker, simulated, events):
                return None
            with self._accounts.reserve(execution, worker, simulated):
                executed = await self._sender.send(self._workers.sign(worker, kind, budget_mist))
            worker.learn(executed)
            self._accounts.note([execution], worker, executed)
        self._metrics.gas_mist.inc(executed.cost.net - worker.repaid_mist(executed, 0))
        self._metrics.step_transactions.inc()
        if isinstance(executed.effects.status, ExecutionFailure):
            return executed.effects.status  # something changed in between
        return [parse_event(self._chain.deployment, each) for each in executed.events]

    def _is_paid(
        self,
        execution: Address,
        worker: Worker,
        simulated: Simulated,
        events: Sequence[RegistryEvent | None],
    ) -> bool:
        """Return whether the execution pays for a step, or may owe its cost.

        No fee is ever paid for ending an execution at its deadline, so it cannot owe that.
        """
        ends = (each for each in events if isinstance(each, _ENDS))
        if any(each.status == _TIMED_OUT for each in ends):
            return self._accounts.has_earned(execution, margin_mist(worker, simulated))
        return self._accounts.covers(execution, worker, simulated)

    async def _planned(self, found: FoundExecution, todos: Sequence[Todo]) -> StepPlan:
        now_ms = self._clock.now_ms()
        ended = [each.invocation for each in todos if isinstance(each, InvocationClosed)]
        argument: OwnedObject | None = None
        try:
            workflow = await self._workflows.of(found.execution.dag)
            argument = workflow.argument
        except UnreachableError:
            raise
        except NexusError:
            workflow = None
            argument = await self._workflows.argument(found.execution.dag)
        plan = StepPlan(argument, workflow, DeadlinePassed() in todos)
        foresight = None if workflow is None else Foresight(workflow.plan)
        for value in await self._chain.objects(ended):
            if value is not None:
                plan.add_ended(self._chain.deployment.decode(value, Invocation), value, now_ms)
        if workflow is None or foresight is None:
            return plan
        for invocation in plan.ended.values():
            foresee(foresight, workflow, invocation)
        foresight.changed(change_of(todos))
        steps = foresight.steps(limit=1_000)
        await self._workflows.learn_tools(workflow, steps[:MAX_STEPS])
        plan.steps = tuple(step for step in steps[:MAX_STEPS] if workflow.can_add(step))
        plan.by_step = {
            step: todo for todo in todos if (step := step_of(workflow, todo)) is not None
        }
        plan.left |= {plan.by_step[s]: now_ms for s in steps[MAX_STEPS:] if s in plan.by_step}
        return plan

    # --- What is left afterwards

    async def _left(
        self, found: FoundExecution, plan: StepPlan, events: Sequence[RegistryEvent | None]
    ) -> dict[Todo, int]:
        """Runs that are ready, and wait for their time; iterations that may be ready, too."""
        now_ms = self._clock.now_ms()
        taken = {
            event.attempt.run
            for event in events
            if isinstance(event, InvocationRequested) and event.attempt is not None
        } | {event.run for event in events if isinstance(event, moves.RunRefused)}
        todos = [plan.by_step[step] for step in plan.steps if step in plan.by_step]
        runs = [each.run for each in todos if isinstance(each, RunReady) and each.run not in taken]
        left: dict[Todo, int] = {}
        records = await self._reader.run_records(found, runs)
        for run, record in zip(runs, records, strict=True):
            if record is not None and record.phase == _READY:
                left[RunReady(run)] = max(now_ms + 1_000, record.not_before_ms)
        for todo in todos:
            if isinstance(todo, IterationsReady) and any(
                run.vertex == todo.head.vertex for run in taken
            ):
                left[todo] = now_ms + 1_000
        return left
