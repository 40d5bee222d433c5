"""Calls of on-chain tools, whose Move function runs in the transaction that closes the invocation.

The transaction is simulated first. If the function aborts in the simulation, the invocation fails,
and the call costs the leader no gas. A function can still behave differently in the transaction.
The accounts of authors limit the gas that the leader can lose in this case.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nexus_tools.contracts import explain_abort, parse_event
from nexus_tools.contracts.move_bindings.invocation import InvocationSettled
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionAdvanced
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError
from nexus_tools.leader.chain.chain import Chain, FoundTool, InvocationObject
from nexus_tools.leader.closing.closing_batch import full_batch_mist
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts, margin_mist
from nexus_tools.leader.closing.step_costs import affordable_steps, cost_mist
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Worker, Workers
from nexus_tools.leader.dispatch.response_classifier import Declined, failure
from nexus_tools.leader.executions.attempts import AttemptArguments, Attempts
from nexus_tools.leader.executions.author_accounts import Author, AuthorAccounts, author_of
from nexus_tools.leader.executions.call_failures import FailureCause, abort_reason_of, failure_cause
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import (
    ExecutionStep,
    FunctionReader,
    MoveFunctionCall,
    RunAttempt,
    StepPredictor,
    add_advance,
    add_function_call,
    add_outcome,
    close_call,
    open_call,
)
from nexus_tools.sui.client import Executed, SimulatedTransaction, simulate_transaction
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import InputState
from nexus_tools.sui.types.execution_status import ExecutionFailure
from nexus_tools.sui.types.object import Immutable, Object, Shared
from nexus_tools.sui.types.transaction import (
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)
from nexus_tools.tool import Failure, FailureReason, ToolDefinition

_log = get_logger("nexus_tools.leader")

# Upper bounds in gas units, and in MIST for storage. The chain does not charge the unused part.
_UNITS = 4_000
_UNITS_PER_SOURCE = 500
_STORAGE_MIST = 40_000_000
_STORAGE_PER_OUTCOME_BYTE_MIST = 8_000
# The budget of a transaction, in percent of its simulated cost.
_BUDGET_PERCENT = 110


@dataclass(slots=True)
class _Call:
    """One transaction: the call of a function, and the execution steps that follow it."""

    invocation: InvocationObject
    tool: FoundTool
    author: Author
    function: MoveFunctionCall
    gas_mist: int
    leader: SharedObject | None
    attempt: AttemptArguments | None
    known: dict[Address, ObjectArgument]
    steps: tuple[ExecutionStep, ...] = ()
    place: int = field(default=0, init=False)
    """The index of the command that calls the function."""

    @property
    def execution(self) -> Address | None:
        """The execution that the transaction advances."""
        return None if self.attempt is None else self.attempt.execution.object_id

    def own_mist(self, price: int) -> int:
        """Return the maximum cost of the transaction without the steps, in MIST."""
        sources = len(self.attempt.sources) if self.attempt else 0
        units = _UNITS + _UNITS_PER_SOURCE * sources
        outcome = self.invocation.invocation.max_outcome_bytes * _STORAGE_PER_OUTCOME_BYTE_MIST
        return units * price + _STORAGE_MIST + outcome + self.gas_mist

    def build(self, chain: Chain, leader: SharedObject) -> ProgrammableTransaction:
        """Open the call, call the function, close the invocation, then advance the execution."""
        builder, deployment = TransactionBuilder(), chain.deployment
        invocation, attempt = self.invocation.invocation.id, self.attempt
        run = None
        if attempt is not None:
            run = RunAttempt(attempt.execution.object_id, attempt.dag, attempt.sources)
        call = open_call(builder, deployment, invocation, self.tool.tool.id, run)
        self.place = len(builder.commands)
        add_function_call(builder, call, self.function)
        closer = None if self.leader is None else self.leader.object_id
        close_call(builder, deployment, call, invocation, closer)
        if attempt is not None:
            execution = attempt.execution.object_id
            add_advance(builder, deployment, execution, attempt.dag, invocation)
            for step in self.steps:
                attempt.workflow.commands.add(builder, execution, leader.object_id, step)
        return builder.finish(self.known)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The last simulation of a call. `steps_mist` is the part of the cost for execution steps."""

    simulated: SimulatedTransaction
    steps_mist: int

    @property
    def budget_mist(self) -> int:
        """The gas budget of the transaction, in MIST."""
        cost_mist = self.simulated.cost.computation_cost + self.simulated.cost.storage_cost
        return cost_mist * _BUDGET_PERCENT // 100


class OnChainCalls:
    """A caller of Move functions, on behalf of the leader unless anyone may call them."""

    def __init__(
        self,
        chain: Chain,
        attempts: Attempts,
        reader: FunctionReader,
        *,
        workers: Workers,
        sender: TransactionSender,
        metrics: LeaderMetrics,
        accounts: ExecutionAccounts,
        authors: AuthorAccounts,
    ) -> None:
        self._chain = chain
        self._attempts = attempts
        self._reader = reader
        self._workers = workers
        self._sender = sender
        self._metrics = metrics
        self._accounts = accounts
        self._authors = authors

    async def call(
        self, invocation: InvocationObject, tool: FoundTool, definition: ToolDefinition
    ) -> int | Failure | Declined:
        """Close an invocation by a call. Return the fee in MIST, or the failure of the call.

        Raises:
            UnreachableError: The node does not respond.
            NexusError: The workers cannot send.
        """
        assert definition.function is not None
        if refusal := self._authors.refusal(author_of(tool, definition.function)):
            return Declined(failure(FailureReason.REFUSED, refusal))
        call = await self._prepare(invocation, tool, definition)
        return call if isinstance(call, Failure) else await self._simulate_and_send(call)

    async def fail(self, invocation: InvocationObject, outcome: Failure) -> None:
        """Fail an invocation without a call, if the chain allows it and the cost is covered."""
        leader, invocation_id = self._workers.leader.argument, invocation.invocation.id
        builder = TransactionBuilder()
        builder.resolved(leader)
        builder.resolved(invocation.argument)
        add_outcome(builder, self._chain.deployment, invocation_id, leader.object_id, outcome)
        kind, budget_mist = builder.finish(), full_batch_mist(1, self._workers.epoch.gas_price)
        async with self._workers.select(budget_mist) as worker:
            draft = self._workers.draft(worker, kind, budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
            attempt = invocation.invocation.attempt
            execution = None if attempt is None else attempt.execution
            if isinstance(simulated.effects.status, ExecutionFailure):
                return
            if execution is None or self._accounts.covers(execution, worker, simulated):
                transaction = await self._workers.sign(worker, kind, budget_mist)
                executed = await self._sender.send(transaction)
                worker.apply_effects(executed)
                self._accounts.record([execution], worker, executed)

    async def _simulate_and_send(self, call: _Call) -> int | Failure:
        """Simulate a call, without and with the steps that follow it, and send it.

        If the call has to wait for other calls of the same author, it is simulated again, because
        the other calls may have changed its result.
        """
        price = self._workers.epoch.gas_price
        most_mist = call.own_mist(price)
        async with self._authors.reservation(call.author) as reservation:
            while True:
                paying = self._workers.select(min(most_mist, self._workers.richest_mist))
                async with paying as worker:
                    plan = await self._make_plan(worker, call, most_mist)
                    if isinstance(plan, Failure):
                        return plan
                    if reservation.covers(plan.budget_mist):
                        return await self._send(worker, call, plan)
                refusal = await reservation.wait(plan.budget_mist)
                if refusal is not None:
                    return failure(FailureReason.REFUSED, refusal)

    async def _make_plan(self, worker: Worker, call: _Call, most_mist: int) -> _Plan | Failure:
        """Simulate a call, and return its plan or why its function fails."""
        call.steps = ()
        without_steps = await self._simulate(worker, call, most_mist)
        if isinstance(without_steps, Failure):
            return without_steps
        fee_mist = self._fee_mist(without_steps)
        gain_mist = fee_mist + worker.repaid_mist(without_steps, fee_mist) - without_steps.cost.net
        if gain_mist < 0:
            detail = f"a call costs {-gain_mist} MIST more than the declared {call.gas_mist} MIST"
            return failure(FailureReason.ABORTED, detail)
        simulated = await self._with_steps(worker, call, without_steps)
        return _Plan(simulated, gain_mist - margin_mist(worker, simulated))

    async def _send(self, worker: Worker, call: _Call, plan: _Plan) -> int | Failure:
        """Send a call. Return its fee, or a failure that the tool caused. Raise other errors."""
        kind = call.build(self._chain, self._workers.leader.argument)
        transaction = await self._workers.sign(worker, kind, plan.budget_mist)
        executed = await self._sender.send(transaction)
        worker.apply_effects(executed)
        earned_mist = self._fee_mist(executed)
        self._metrics.gas_mist.inc(executed.cost.net - worker.repaid_mist(executed, earned_mist))
        margin, status = margin_mist(worker, executed), executed.effects.status
        if not isinstance(status, ExecutionFailure):
            self._accounts.record([call.execution], worker, executed)
            await self._authors.record(call.author, margin + plan.steps_mist)
            return earned_mist
        is_changed = call.execution is not None and (
            _version_of(call.execution, plan.simulated) != _version_of(call.execution, executed)
        )
        cause = failure_cause(status, call.place, execution_changed=is_changed)
        if cause is FailureCause.OTHERS or self._authors.trusts(call.author):
            self._accounts.record([call.execution], worker, executed)
        else:
            is_turned = cause is FailureCause.TOOL
            await self._authors.record(call.author, margin, is_failure=is_turned)
            if is_turned:
                _log.warning(
                    "tool_failed_after_simulation", fqn=call.tool.tool.fqn, error=str(status.error)
                )
                detail = "the function succeeded in the simulation and failed in the transaction"
                return failure(FailureReason.REFUSED, detail)
        executed.raise_for_status()
        raise AssertionError("a failed transaction must raise an error")

    async def _simulate(
        self, worker: Worker, call: _Call, budget_mist: int
    ) -> SimulatedTransaction | Failure:
        """Simulate a call. Return a failure of the tool or its inputs, and raise other errors."""
        kind = call.build(self._chain, self._workers.leader.argument)
        draft = self._workers.draft(worker, kind, budget_mist)
        simulated = await simulate_transaction(self._chain.client.connection, draft)
        status = simulated.effects.status
        if isinstance(status, ExecutionFailure):
            try:
                simulated.raise_for_status()
            except RefusedOnChainError as error:
                reason = abort_reason_of(status, call.place)
                if reason is None:
                    raise
                return failure(reason, explain_abort(error, self._chain.deployment).message)
        return simulated

    async def _with_steps(
        self, worker: Worker, call: _Call, without_steps: SimulatedTransaction
    ) -> SimulatedTransaction:
        """Simulate a call with the steps that follow it.

        If the steps fail or do not pay for their gas, drop the steps and return `without_steps`.
        """
        attempt = call.attempt
        if attempt is None:
            return without_steps
        predictor = StepPredictor(attempt.workflow.plan)
        for event in self._events(without_steps):
            if isinstance(event, ExecutionAdvanced):
                predictor.add_change(event.change)
        price = self._workers.epoch.gas_price
        steps = await self._attempts.possible(attempt.workflow, predictor.steps())
        own_mist = call.own_mist(price)
        call.steps = affordable_steps(steps, worker.free_mist - own_mist, price)
        if not call.steps:
            return without_steps
        call.known |= attempt.workflow.tools
        call.known[self._workers.leader.argument.object_id] = self._workers.leader.argument
        try:
            simulated = await self._simulate(worker, call, own_mist + cost_mist(call.steps, price))
        except RefusedOnChainError as error:
            _log.warning("step_refused", error=error.message)
        else:
            if isinstance(simulated, SimulatedTransaction) and self._accounts.covers(
                attempt.execution.object_id, worker, simulated
            ):
                return simulated
        call.steps = ()
        return without_steps

    # --- Arguments

    async def _prepare(
        self, invocation: InvocationObject, tool: FoundTool, definition: ToolDefinition
    ) -> _Call | Failure:
        assert definition.function is not None
        try:
            function = await self._reader.call_of(definition)
        except UnreachableError:
            raise
        except NexusError as error:
            return failure(FailureReason.ABORTED, error.message)
        leader = None if definition.function.closable_by_anyone else self._workers.leader.argument
        attempt = None
        sources: Sequence[Address] = ()
        arguments_by_id: dict[Address, ObjectArgument] = {
            invocation.invocation.id: invocation.argument
        }
        if leader is not None:
            arguments_by_id[leader.object_id] = leader
        if invocation.invocation.attempt is not None:
            arguments = await self._attempts.on_chain(invocation.invocation.attempt)
            if isinstance(arguments, Failure):
                return arguments
            attempt, sources = arguments, arguments.sources
            arguments_by_id[arguments.execution.object_id] = arguments.execution
            arguments_by_id[arguments.dag] = arguments.workflow.argument
        ids = [tool.tool.id, *sources, *(object_id for object_id, _ in function.objects)]
        mutable_ids = {object_id for object_id, mutable in function.objects if mutable}
        for object_id, value in zip(ids, await self._chain.objects(ids), strict=True):
            argument = _object_argument(value, mutable=object_id in mutable_ids)
            if argument is None:
                detail = (
                    f"the tool's function takes {object_id}, which is neither shared nor immutable"
                )
                return failure(FailureReason.ABORTED, detail)
            arguments_by_id[object_id] = argument
        gas_mist = definition.function.gas_mist
        author = author_of(tool, definition.function)
        return _Call(invocation, tool, author, function, gas_mist, leader, attempt, arguments_by_id)

    def _events(self, result: SimulatedTransaction | Executed) -> list[object]:
        return [parse_event(self._chain.deployment, event) for event in result.events]

    def _fee_mist(self, result: SimulatedTransaction | Executed) -> int:
        settlements = (
            event for event in self._events(result) if isinstance(event, InvocationSettled)
        )
        return sum(event.fee_mist for event in settlements)


def _version_of(execution: Address, result: SimulatedTransaction | Executed) -> int | None:
    """Return the version of an execution that a transaction read, or None."""
    change = dict(result.effects.changed_objects).get(execution)
    return change.input.version if change and isinstance(change.input, InputState) else None


def _object_argument(value: Object | None, *, mutable: bool) -> ObjectArgument | None:
    """Return the argument of a shared or immutable object, or None for another object."""
    if value is None:
        return None
    if isinstance(value.owner, Shared):
        return SharedObject(value.id, value.owner.initial_version, mutable=mutable)
    return OwnedObject(value.reference()) if isinstance(value.owner, Immutable) else None
