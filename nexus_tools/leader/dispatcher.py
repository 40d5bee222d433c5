"""Carries one invocation: waits for the window, calls the tool, has the invocation closed."""

import asyncio

from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import Chain, FoundInvocation, FoundTool, closed_of
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.closure import Closed, End
from nexus_tools.leader.closing.closing_batch import closing_of
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.dispatch.response_classifier import Declined, failure
from nexus_tools.leader.dispatch.tool_call import RunInputs, ToolCalls
from nexus_tools.leader.executions.attempts import Attempts
from nexus_tools.leader.executions.on_chain_calls import OnChainCalls
from nexus_tools.leader.journal.journal import Entry, Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.tool import Failure, FailureReason, Outcome

_log = get_logger("nexus_tools.leader")

# A node behind the one that told of the invocation may not have it yet.
_READS_BEFORE_GONE = 3


class Carrier:
    """Takes an entry of the journal from its stage on until it is closed."""

    def __init__(
        self,
        config: LeaderConfig,
        chain: Chain,
        *,
        journal: Journal,
        clock: ChainClock,
        workers: Workers,
        attempts: Attempts,
        tool_calls: ToolCalls,
        on_chain_calls: OnChainCalls,
        invoker: Invoker,
        queue: ClosingQueue,
        metrics: LeaderMetrics,
        accounts: ExecutionAccounts,
    ) -> None:
        self._config = config
        self._chain = chain
        self._journal = journal
        self._clock = clock
        self._workers = workers
        self._attempts = attempts
        self._tool_calls = tool_calls
        self._on_chain_calls = on_chain_calls
        self._invoker = invoker
        self._queue = queue
        self._metrics = metrics
        self._accounts = accounts

    async def carry(self, entry: Entry) -> End:
        """How the invocation was closed for this leader; the journal knows it, too.

        What nobody foresaw fails no invocation: it is carried again, until it expires.
        """
        assignment = entry.assignment
        while True:
            try:
                end = await self._carry(entry)
            except NexusError as error:
                if error.code == "journal_failed":
                    raise
                self._note_trouble(assignment, error)
            except Exception as error:  # noqa: BLE001 - one invocation must not end the daemon
                self._note_trouble(assignment, error)
            else:
                self._accounts.closed(assignment.invocation)
                return end
            await self._pause()

    def _note_trouble(self, assignment: Assignment, error: Exception) -> None:
        self._metrics.trouble.labels("carrier").inc()
        _log.error("carried_again", invocation=str(assignment.invocation), error=in_short(error))

    async def _carry(self, entry: Entry) -> End:
        assignment = entry.assignment
        await self._clock.wait_until(assignment.opens_at_ms)
        if self._left_ms(assignment) <= 0:
            await self._clock.refresh()  # it may have been set back
        found = await self._read(assignment)
        if isinstance(found, Closed):
            return await self._close(assignment, found)
        invocation, tool = found
        attempt = invocation.invocation.attempt
        if attempt is not None:
            self._accounts.learn_owner(attempt.execution, invocation.invocation.requester)
        outcome = entry.outcome
        if outcome is None and not self._accounts.allows_failure(invocation.invocation):
            _log.warning("unprofitable", invocation=str(assignment.invocation))
            return await self._close(assignment, Closed.MISSED)
        if outcome is None and tool is not None and tool.tool.definition.function is not None:
            called = await self._call_on_chain(assignment, invocation, tool)
            if isinstance(called, End):
                return called
            outcome = await self._decided(assignment, called)
        elif outcome is None:
            outcome = await self._outcome(assignment, invocation, tool)
        if outcome is None:
            return await self._close(assignment, Closed.MISSED)
        closing = closing_of(assignment, outcome, invocation)
        if attempt is not None:
            closing.continuation = await self._attempts.continuation(attempt, outcome)
            if closing.is_signed:
                closing.inputs = await self._attempts.signed_inputs(attempt)
        self._queue.put(closing)
        return End(await closing.closed, closing.outcome, closing.fee_mist)

    async def _close(self, assignment: Assignment, closed: Closed) -> End:
        await self._journal.closed({assignment.invocation: closed}, self._clock.now_ms())
        return End(closed)

    # --- Reading

    async def _read(
        self, assignment: Assignment
    ) -> tuple[FoundInvocation, FoundTool | None] | Closed:
        """Invocation and tool as they are now, or how the invocation was closed."""
        missing = 0
        while self._clock.now_ms() < assignment.expires_at_ms:
            try:
                found, tool = await self._chain.invocation_and_tool(
                    assignment.invocation, assignment.tool
                )
            except NexusError as error:
                self._metrics.trouble.labels("reader").inc()
                if not isinstance(error, UnreachableError):  # of which the heartbeat tells
                    place = str(assignment.invocation)
                    _log.warning("unread", invocation=place, error=error.message)
                await self._pause()
                continue
            if found is not None:
                closed = closed_of(found.invocation.state, self._chain.leader)
                return closed or (found, tool)
            missing += 1
            if missing == _READS_BEFORE_GONE:
                return Closed.ELSEWHERE
            await self._pause()
        return Closed.MISSED

    async def _pause(self) -> None:
        await asyncio.sleep(self._config.trouble_pause_ms / 1000)

    # --- Calling the tool

    async def _outcome(
        self, assignment: Assignment, invocation: FoundInvocation, tool: FoundTool | None
    ) -> Outcome | None:
        """What the invocation came to; None if it is left to the next leader."""
        # Nobody pays a tool whose answer cannot be closed.
        while self._workers.trouble and self._left_ms(assignment) > 0:
            await self._pause()
        left_ms = self._left_ms(assignment)
        result = await self._call(assignment, invocation, tool, left_ms / 1000)
        if result is None:
            result = Declined(failure(FailureReason.OVERLOADED, _NO_TIME))
        return await self._decided(assignment, result)

    async def _decided(self, assignment: Assignment, result: Outcome | Declined) -> Outcome | None:
        """What is written on chain; None if the next leader may still get an answer."""
        if not isinstance(result, Declined):
            return await self._known(assignment, result)
        if assignment.is_last:
            # To say so ends the requester's wait.
            return await self._known(assignment, result.failure)
        reason, detail = result.failure.reason.value, result.failure.detail
        place = str(assignment.invocation)
        _log.warning("left_to_backup", invocation=place, reason=reason, detail=detail)
        return None

    def _left_ms(self, assignment: Assignment) -> int:
        """How long the tool may take from now on."""
        now_ms = self._clock.now_ms()
        return assignment.outcome_by_ms(now_ms, self._config.closing_margin_ms) - now_ms

    async def _known(self, assignment: Assignment, outcome: Outcome) -> Outcome:
        """Write an outcome down before it goes to the chain."""
        if isinstance(outcome, Failure):
            self._metrics.failed.labels(outcome.reason.value).inc()
        await self._journal.known(assignment.invocation, outcome)
        return outcome

    async def _call_on_chain(
        self, assignment: Assignment, found: FoundInvocation, tool: FoundTool
    ) -> End | Failure | Declined:
        """Call the tool's function, which closes the invocation; or why it does not work."""
        run = await self._run(found.invocation)
        if isinstance(run, Failure):
            return run
        interface = await self._tool_calls.interface(found.invocation, tool, run)
        if isinstance(interface, Failure):
            return interface
        fee = await self._on_chain_calls.call(found, tool, interface.definition)
        if isinstance(fee, Failure | Declined):
            return fee
        await self._close(assignment, Closed.SETTLED)
        return End(Closed.SETTLED, fee_mist=fee)

    async def _run(self, invocation: Invocation) -> RunInputs | Failure | None:
        """The inputs of an attempt of a run; None for what is none."""
        attempt = invocation.attempt
        return None if attempt is None else await self._attempts.inputs(attempt)

    async def _call(
        self,
        assignment: Assignment,
        found: FoundInvocation,
        tool: FoundTool | None,
        seconds: float,
    ) -> Outcome | Declined | None:
        run = await self._run(found.invocation)
        if isinstance(run, Failure):
            return run
        making = self._tool_calls.making(assignment, found.invocation, tool, seconds, run)
        async with making as call:
            if isinstance(call, Failure | Declined):
                return call
            await self._journal.called(assignment.invocation)
            return await self._invoker.invoke(call)


_NO_TIME = "the leader found no time to call the tool in its window"
