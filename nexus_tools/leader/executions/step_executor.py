"""Runs the pending steps of one execution in a transaction without closings.

The transaction is simulated first, and it is not sent if it would not change anything. Failing
steps are omitted. The chain skips steps that another account has already run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nexus_tools.contracts import RegistryEvent, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import Chain, ExecutionObject
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.workflow_cache import WorkflowCache
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts, margin_mist
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Worker, Workers
from nexus_tools.leader.executions.execution_reader import ExecutionReader
from nexus_tools.leader.executions.pending_steps import (
    CallDue,
    DeadlinePassed,
    FullRescan,
    InvocationClosed,
    IterationsReady,
    PendingStep,
    RunReady,
)
from nexus_tools.leader.executions.step_plan import StepPlan, change_of, predict_steps, step_for
from nexus_tools.leader.executions.timed_calls import TimedCalls
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import (
    MAX_STEPS,
    StepPredictor,
)
from nexus_tools.sui.client import SimulatedTransaction, simulate_transaction
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ExecutionFailure
from nexus_tools.sui.types.transaction import (
    OwnedObject,
)

_log = get_logger("nexus_tools.leader")

_READY = 1
_END_EVENTS = (moves.ExecutionStopped, moves.ExecutionEnded)
_PROGRESS_EVENTS = (
    InvocationRequested,
    moves.ExecutionAdvanced,
    moves.RunRefused,
    moves.RegionGathered,
    *_END_EVENTS,
)
_TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of running steps. `remaining` maps the remaining steps to their due times.

    `is_refused` is whether the chain refused remaining steps, or the execution does not pay for
    them. `is_short` is whether the execution lacks funds. `place` is set only after a full read.
    """

    remaining: dict[PendingStep, int] = field(default_factory=dict)
    place: int | None = None
    is_refused: bool = False
    is_short: bool = False


class StepExecutor:
    """An executor of steps on behalf of the leader."""

    def __init__(
        self,
        chain: Chain,
        workflows: WorkflowCache,
        reader: ExecutionReader,
        waiting: TimedCalls,
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

    async def run_due(
        self, execution: Address, pending: Sequence[PendingStep]
    ) -> StepResult | None:
        """Run the due steps. Return None if the execution has ended or names other leaders.

        Raises:
            UnreachableError: The node does not respond.
            NexusError: The workers cannot send.
        """
        target = await self._chain.execution(execution)
        if target is None or target.execution.ended_at_ms is not None:
            return None
        self._accounts.set_owner(execution, target.execution.owner)
        if FullRescan() in pending:
            look = await self._reader.read_pending(target)
            if look.place is None:
                return None
            now_ms = self._clock.now_ms()
            remaining = {step: max(now_ms, at_ms) for step, at_ms in look.pending_steps.items()}
            return StepResult(remaining, look.place)
        others: list[PendingStep] = [step for step in pending if not isinstance(step, CallDue)]
        result = await self._run_steps(target, others) if others else StepResult()
        calls = [step for step in pending if isinstance(step, CallDue)]
        if target.execution.progress.ending is None:
            return await self._run_calls(calls, result)
        for call in calls:
            await self._waiting.cancel(call.invocation, call.tool)
        return result

    async def _run_calls(self, calls: Sequence[CallDue], result: StepResult) -> StepResult:
        """Call the functions that are due, and postpone the other calls."""
        remaining, is_refused = dict(result.remaining), result.is_refused
        for call in calls:
            due_ms = await self._waiting.call(call.invocation, call.tool)
            if due_ms is not None:
                remaining[call] = due_ms
                is_refused = is_refused or due_ms <= self._clock.now_ms()
        return replace(result, remaining=remaining, is_refused=is_refused)

    # --- One transaction

    async def _run_steps(
        self, target: ExecutionObject, pending_steps: list[PendingStep]
    ) -> StepResult:
        """Run the steps that are possible. Omit each step that the chain refuses."""
        refused_steps: dict[PendingStep, int] = {}
        postponed: list[PendingStep] = []
        now_ms = self._clock.now_ms()
        while pending_steps:
            plan = await self._make_plan(target, pending_steps)
            if plan.is_empty:
                remaining = plan.remaining | refused_steps | dict.fromkeys(postponed, now_ms)
                return StepResult(remaining, is_refused=bool(refused_steps))
            await self._limit_cost(plan)
            events = await self._send(target, plan)
            if events is None:
                # Gas rises faster than the number of steps, so fewer steps may be profitable.
                middle = len(pending_steps) // 2
                postponed = pending_steps[middle:] + postponed
                pending_steps = pending_steps[:middle]
                if not pending_steps:
                    _log.warning("unprofitable", execution=str(target.execution.id))
                    unpaid, *pending_steps = postponed
                    postponed = []
                    terms = await self._reader.terms(target.execution.id)
                    if now_ms < terms.deadline_ms:  # after the deadline, the owner must run it
                        refused_steps[unpaid] = now_ms
                continue
            if isinstance(events, ExecutionFailure):
                failed = plan.pending_of(events.command) or pending_steps
                details = {"execution": str(target.execution.id), "error": str(events.error)}
                _log.warning("step_refused", **details)
                refused_steps |= dict.fromkeys(failed, now_ms)
                pending_steps = [step for step in pending_steps if step not in failed]
                continue
            is_short = any(isinstance(event, moves.ExecutionUnderfunded) for event in events)
            # Without funds, no step can run until the execution is refilled.
            remaining = {} if is_short else await self._remaining(target, plan, events)
            done = plan.remaining | remaining | refused_steps | dict.fromkeys(postponed, now_ms)
            return StepResult(done, is_refused=bool(refused_steps), is_short=is_short)
        return StepResult(
            refused_steps | dict.fromkeys(postponed, now_ms), is_refused=bool(refused_steps)
        )

    async def _limit_cost(self, plan: StepPlan) -> None:
        """Postpone the steps that no worker can pay, even after depositing its coins."""
        price = self._workers.epoch.gas_price
        budget_mist = plan.budget_mist(price)
        if budget_mist > self._workers.richest_mist:
            await self._workers.refresh(budget_mist)
            plan.fit(self._workers.richest_mist, price, self._clock.now_ms())

    async def _send(
        self, target: ExecutionObject, plan: StepPlan
    ) -> list[RegistryEvent | None] | ExecutionFailure | None:
        """Send the transaction and return its events, or return why the chain refuses it.

        If the transaction would not change anything, return the events of the simulation. If the
        transaction costs more than the execution pays or may owe, return None.
        """
        budget_mist = plan.budget_mist(self._workers.epoch.gas_price)
        async with self._workers.select(budget_mist) as worker:
            kind = plan.build(self._chain, self._workers.leader.argument, target)
            draft = self._workers.draft(worker, kind, budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
            if isinstance(simulated.effects.status, ExecutionFailure):
                return simulated.effects.status
            events = [parse_event(self._chain.deployment, event) for event in simulated.events]
            if not any(isinstance(event, _PROGRESS_EVENTS) for event in events):
                return events
            execution = target.execution.id
            if not self._is_paid(execution, worker, simulated, events):
                return None
            with self._accounts.reserve(execution, worker, simulated):
                transaction = await self._workers.sign(worker, kind, budget_mist)
                executed = await self._sender.send(transaction)
            worker.apply_effects(executed)
            self._accounts.record([execution], worker, executed)
        self._metrics.gas_mist.inc(executed.cost.net - worker.repaid_mist(executed, 0))
        self._metrics.step_transactions.inc()
        if isinstance(executed.effects.status, ExecutionFailure):
            return executed.effects.status  # the state changed after the simulation
        return [parse_event(self._chain.deployment, event) for event in executed.events]

    def _is_paid(
        self,
        execution: Address,
        worker: Worker,
        simulated: SimulatedTransaction,
        events: Sequence[RegistryEvent | None],
    ) -> bool:
        """Return whether the execution pays for the steps, or may owe their cost.

        The step that ends an execution at its deadline earns no fee, so only the owner's earlier
        fees may pay for that step.
        """
        end_events = (event for event in events if isinstance(event, _END_EVENTS))
        if any(event.status == _TIMED_OUT for event in end_events):
            return self._accounts.has_earned(execution, margin_mist(worker, simulated))
        return self._accounts.covers(execution, worker, simulated)

    async def _make_plan(
        self, target: ExecutionObject, pending_steps: Sequence[PendingStep]
    ) -> StepPlan:
        now_ms = self._clock.now_ms()
        invocations = [
            pending.invocation for pending in pending_steps if isinstance(pending, InvocationClosed)
        ]
        argument: OwnedObject | None = None
        try:
            workflow = await self._workflows.of(target.execution.dag)
            argument = workflow.argument
        except UnreachableError:
            raise
        except NexusError:
            workflow = None
            argument = await self._workflows.argument(target.execution.dag)
        plan = StepPlan(argument, workflow, DeadlinePassed() in pending_steps)
        predictor = None if workflow is None else StepPredictor(workflow.plan)
        for value in await self._chain.objects(invocations):
            if value is not None:
                plan.add_ended(self._chain.deployment.decode(value, Invocation), value, now_ms)
        if workflow is None or predictor is None:
            return plan
        for invocation in plan.ended.values():
            predict_steps(predictor, workflow, invocation)
        predictor.add_change(change_of(pending_steps))
        steps = predictor.steps(limit=1_000)
        await self._workflows.cache_tools(workflow, steps[:MAX_STEPS])
        plan.steps = tuple(step for step in steps[:MAX_STEPS] if workflow.can_add(step))
        plan.by_step = {
            step: pending_step
            for pending_step in pending_steps
            if (step := step_for(workflow, pending_step)) is not None
        }
        plan.remaining |= {plan.by_step[s]: now_ms for s in steps[MAX_STEPS:] if s in plan.by_step}
        return plan

    # --- Remaining steps

    async def _remaining(
        self, target: ExecutionObject, plan: StepPlan, events: Sequence[RegistryEvent | None]
    ) -> dict[PendingStep, int]:
        """Return unrequested runs and iterations that may be ready, with their due times."""
        now_ms = self._clock.now_ms()
        requested_runs = {
            event.attempt.run
            for event in events
            if isinstance(event, InvocationRequested) and event.attempt is not None
        } | {event.run for event in events if isinstance(event, moves.RunRefused)}
        pending_steps = [plan.by_step[step] for step in plan.steps if step in plan.by_step]
        runs = [
            pending.run
            for pending in pending_steps
            if isinstance(pending, RunReady) and pending.run not in requested_runs
        ]
        remaining: dict[PendingStep, int] = {}
        records = await self._reader.run_records(target, runs)
        for run, record in zip(runs, records, strict=True):
            if record is not None and record.phase == _READY:
                remaining[RunReady(run)] = max(now_ms + 1_000, record.not_before_ms)
        for pending_step in pending_steps:
            if isinstance(pending_step, IterationsReady) and any(
                run.vertex == pending_step.head.vertex for run in requested_runs
            ):
                remaining[pending_step] = now_ms + 1_000
        return remaining
