"""Calls the Move functions of on-chain tools, in the transaction that closes the invocation.

It is simulated first: what aborts there is a failure of the invocation, which costs the leader no
gas. A function can turn between simulation and execution: a leader that has lost gas to a tool
calls it no more for a day.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nexus_tools.client import Executed, Simulated, simulate_transaction
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError
from nexus_tools.leader.attempts import AttemptOnChain, Attempts
from nexus_tools.leader.chain import Chain, FoundInvocation, FoundTool
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.closing import floor_mist
from nexus_tools.leader.execution_accounts import ExecutionAccounts
from nexus_tools.leader.judgement import Declined, failure
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.step_costs import affordable, cost_mist
from nexus_tools.leader.transaction_sender import TransactionSender
from nexus_tools.leader.workers import Worker, Workers
from nexus_tools.logs import get_logger
from nexus_tools.package import explain_abort, parse_event
from nexus_tools.package.move import invocation as invocations
from nexus_tools.package.move import on_chain_call
from nexus_tools.package.move.invocation import InvocationSettled
from nexus_tools.package.move.workflows.execution import ExecutionAdvanced
from nexus_tools.registry import (
    AttemptOfRun,
    ExecutionStep,
    Foresight,
    FunctionReader,
    MoveFunctionCall,
    add_advance,
    add_function,
    add_outcome,
    close_call,
    open_call,
)
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.execution_status import ExecutionFailure, MoveAbort
from nexus_tools.sui.object import Immutable, Object, Shared
from nexus_tools.sui.transaction import (
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)
from nexus_tools.tool import Failure, FailureReason, ToolDefinition

_log = get_logger("nexus_tools.leader")

_DAY_MS = 24 * 60 * 60 * 1000
# Bounds in gas units, and in MIST of storage: what is not used is not paid.
_UNITS = 4_000
_UNITS_PER_SOURCE = 500
_STORAGE_MIST = 40_000_000
_STORAGE_PER_OUTCOME_BYTE_MIST = 8_000
# What is sent may take so much more than what was simulated, in percent.
_MORE = 110


@dataclass(slots=True)
class _Call:
    """One transaction: a call, and what follows from it in an execution."""

    invocation: FoundInvocation
    tool: FoundTool
    function: MoveFunctionCall
    gas_mist: int
    leader: SharedObject | None
    attempt: AttemptOnChain | None
    known: dict[Address, ObjectArgument]
    steps: tuple[ExecutionStep, ...] = ()
    place: int = field(default=0, init=False)
    """The number of the command that calls the function."""

    @property
    def execution(self) -> Address | None:
        """The execution that goes on with it."""
        return None if self.attempt is None else self.attempt.execution.object_id

    def own_mist(self, price: int) -> int:
        """What it may cost but for the steps."""
        sources = len(self.attempt.sources) if self.attempt else 0
        units = _UNITS + _UNITS_PER_SOURCE * sources
        outcome = self.invocation.invocation.max_outcome_bytes * _STORAGE_PER_OUTCOME_BYTE_MIST
        return units * price + _STORAGE_MIST + outcome + self.gas_mist

    def build(self, chain: Chain, leader: SharedObject) -> ProgrammableTransaction:
        """Open, call, close; then go on with the execution."""
        builder, deployment = TransactionBuilder(), chain.deployment
        invocation, attempt = self.invocation.invocation.id, self.attempt
        run = None
        if attempt is not None:
            run = AttemptOfRun(attempt.execution.object_id, attempt.dag, attempt.sources)
        call = open_call(builder, deployment, invocation, self.tool.tool.id, run)
        self.place = len(builder.commands)
        add_function(builder, call, self.function)
        closer = None if self.leader is None else self.leader.object_id
        close_call(builder, deployment, call, invocation, closer)
        if attempt is not None:
            execution = attempt.execution.object_id
            add_advance(builder, deployment, execution, attempt.dag, invocation)
            for step in self.steps:
                attempt.workflow.commands.add(builder, execution, leader.object_id, step)
        return builder.finish(self.known)


class OnChainCalls:
    """Calls functions in the name of the leader, or of nobody where anyone may."""

    def __init__(
        self,
        chain: Chain,
        attempts: Attempts,
        reader: FunctionReader,
        *,
        workers: Workers,
        sender: TransactionSender,
        clock: ChainClock,
        metrics: LeaderMetrics,
        accounts: ExecutionAccounts,
    ) -> None:
        self._chain = chain
        self._attempts = attempts
        self._reader = reader
        self._workers = workers
        self._sender = sender
        self._clock = clock
        self._metrics = metrics
        self._accounts = accounts
        self._shunned_until_ms: dict[Address, int] = {}

    async def call(
        self, invocation: FoundInvocation, tool: FoundTool, definition: ToolDefinition
    ) -> int | Failure | Declined:
        """Close an invocation by a call; the fee in MIST, or why its function does not work.

        Raises `UnreachableError`, or what keeps the workers from sending.
        """
        assert definition.function is not None
        if self._clock.now_ms() < self._shunned_until_ms.get(tool.tool.id, 0):
            detail = "this leader lost gas to the tool, and calls it no more for a day"
            return Declined(failure(FailureReason.REFUSED, detail))
        call = await self._prepared(invocation, tool, definition)
        return call if isinstance(call, Failure) else await self._carry_out(call)

    async def fail(self, invocation: FoundInvocation, outcome: Failure) -> None:
        """Close an invocation without a call, if this leader may."""
        leader, known = self._workers.leader.argument, invocation.invocation.id
        builder = TransactionBuilder()
        builder.resolved(leader)
        builder.resolved(invocation.argument)
        add_outcome(builder, self._chain.deployment, known, leader.object_id, outcome)
        kind, budget_mist = builder.finish(), floor_mist(1, self._workers.epoch.gas_price)
        async with self._workers.paying(budget_mist) as worker:
            draft = self._workers.draft(worker, kind, budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
            attempt = invocation.invocation.attempt
            execution = None if attempt is None else attempt.execution
            if isinstance(simulated.effects.status, ExecutionFailure):
                return
            if execution is None or self._accounts.covers(execution, worker, simulated):
                sent = self._workers.sign(worker, kind, budget_mist)
                executed = await self._sender.send(sent)
                worker.learn(executed)
                self._accounts.note([execution], worker, executed)

    async def _carry_out(self, call: _Call) -> int | Failure:
        """Simulate it, alone and with what follows, and send it."""
        price = self._workers.epoch.gas_price
        budget_mist = call.own_mist(price)
        async with self._workers.paying(min(budget_mist, self._workers.richest_mist)) as worker:
            simulated = await self._simulate(worker, call, budget_mist)
            if isinstance(simulated, Failure):
                return simulated
            fee_mist = self._fee_mist(simulated)
            lost_mist = simulated.cost.net - worker.repaid_mist(simulated, fee_mist) - fee_mist
            if lost_mist > 0:
                detail = f"a call takes {lost_mist} MIST more than the {call.gas_mist} of its gas"
                return failure(FailureReason.ABORTED, detail)
            simulated = await self._with_steps(worker, call, simulated)
            used = simulated.cost.computation_cost + simulated.cost.storage_cost
            kind = call.build(self._chain, self._workers.leader.argument)
            sent = self._workers.sign(worker, kind, used * _MORE // 100)
            executed = await self._sender.send(sent)
            worker.learn(executed)
            self._accounts.note([call.execution], worker, executed)
            earned_mist = self._fee_mist(executed)
            repaid_mist = worker.repaid_mist(executed, earned_mist)
        self._metrics.gas_mist.inc(executed.cost.net - repaid_mist)
        status = executed.effects.status
        if isinstance(status, ExecutionFailure):
            if status.command == call.place:
                self._shun(call.tool, str(status.error))
            executed.raise_for_status()
        return earned_mist

    async def _simulate(self, worker: Worker, call: _Call, budget_mist: int) -> Simulated | Failure:
        """What it would do, or why the function does not work; raises any other reason."""
        kind = call.build(self._chain, self._workers.leader.argument)
        draft = self._workers.draft(worker, kind, budget_mist)
        simulated = await simulate_transaction(self._chain.client.connection, draft)
        status = simulated.effects.status
        if isinstance(status, ExecutionFailure):
            try:
                simulated.raise_for_status()
            except RefusedOnChainError as error:
                reason = _reason_of(status, call.place)
                if reason is None:
                    raise
                return failure(reason, explain_abort(error, self._chain.deployment).message)
        return simulated

    async def _with_steps(self, worker: Worker, call: _Call, alone: Simulated) -> Simulated:
        """With the steps that follow, if they can be taken at once."""
        attempt = call.attempt
        if attempt is None:
            return alone
        foresight = Foresight(attempt.workflow.plan)
        for event in self._events(alone):
            if isinstance(event, ExecutionAdvanced):
                foresight.changed(event.change)
        price = self._workers.epoch.gas_price
        steps = await self._attempts.possible(attempt.workflow, foresight.steps())
        own_mist = call.own_mist(price)
        call.steps = affordable(steps, worker.free_mist - own_mist, price)
        if not call.steps:
            return alone
        call.known |= attempt.workflow.tools
        call.known[self._workers.leader.argument.object_id] = self._workers.leader.argument
        try:
            simulated = await self._simulate(worker, call, own_mist + cost_mist(call.steps, price))
        except RefusedOnChainError as error:
            _log.warning("step_refused", error=error.message)
        else:
            if isinstance(simulated, Simulated) and self._accounts.covers(
                attempt.execution.object_id, worker, simulated
            ):
                return simulated
        call.steps = ()
        return alone

    def _shun(self, tool: FoundTool, error: str) -> None:
        self._shunned_until_ms[tool.tool.id] = self._clock.now_ms() + _DAY_MS
        _log.warning("tool_turned", fqn=tool.tool.fqn, error=error)

    # --- What is named

    async def _prepared(
        self, invocation: FoundInvocation, tool: FoundTool, definition: ToolDefinition
    ) -> _Call | Failure:
        assert definition.function is not None
        try:
            function = await self._reader.call_of(definition)
        except UnreachableError:
            raise
        except NexusError as error:
            return failure(FailureReason.ABORTED, error.message)
        leader = None if definition.function.for_anyone else self._workers.leader.argument
        attempt = None
        sources: Sequence[Address] = ()
        known: dict[Address, ObjectArgument] = {invocation.invocation.id: invocation.argument}
        if leader is not None:
            known[leader.object_id] = leader
        if invocation.invocation.attempt is not None:
            found = await self._attempts.on_chain(invocation.invocation.attempt)
            if isinstance(found, Failure):
                return found
            attempt, sources = found, found.sources
            known[found.execution.object_id] = found.execution
            known[found.dag] = found.workflow.argument
        ids = [tool.tool.id, *sources, *(each for each, _ in function.objects)]
        changed = {each for each, mutable in function.objects if mutable}
        for place, value in zip(ids, await self._chain.objects(ids), strict=True):
            named_as = _named(value, mutable=place in changed)
            if named_as is None:
                detail = f"its function takes {place}, which is neither shared nor immutable"
                return failure(FailureReason.ABORTED, detail)
            known[place] = named_as
        gas_mist = definition.function.gas_mist
        return _Call(invocation, tool, function, gas_mist, leader, attempt, known)

    def _events(self, of: Simulated | Executed) -> list[object]:
        return [parse_event(self._chain.deployment, each) for each in of.events]

    def _fee_mist(self, of: Simulated | Executed) -> int:
        settled = (each for each in self._events(of) if isinstance(each, InvocationSettled))
        return sum(each.fee_mist for each in settled)


def _reason_of(status: ExecutionFailure, place: int) -> FailureReason | None:
    """Why it cannot be closed by a call, if that is the tool's doing or the requester's.

    `place` is the command that calls the function: its inputs are put together before. What it
    stores is reckoned after the last command.
    """
    abort, command = status.error.data, status.command
    code = abort.code if isinstance(abort, MoveAbort) else None
    if command in (place, None):
        return FailureReason.ABORTED
    if command < place:
        return None if code is None else FailureReason.INPUT_INVALID
    assert command is not None
    module = abort.location.module if isinstance(abort, MoveAbort) else ""
    return _AT_CLOSING.get((module, code)) if command == place + 1 else None


_AT_CLOSING = {
    ("on_chain_call", on_chain_call.ENotFinished.code): FailureReason.ABORTED,
    ("invocation", invocations.EOutcomeTooLarge.code): FailureReason.OUTPUT_TOO_LARGE,
}


def _named(value: Object | None, *, mutable: bool) -> ObjectArgument | None:
    """How a transaction names an object that is shared or immutable."""
    if value is None:
        return None
    if isinstance(value.owner, Shared):
        return SharedObject(value.id, value.owner.initial_version, mutable=mutable)
    return OwnedObject(value.reference()) if isinstance(value.owner, Immutable) else None
