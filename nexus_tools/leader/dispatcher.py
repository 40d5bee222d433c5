"""The dispatch of one invocation: wait for the window, call the tool, queue the outcome."""

import asyncio
from collections.abc import Callable

from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import Chain, FoundTool, InvocationObject, closure_kind_of
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.closure import Closure, ClosureKind
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
from nexus_tools.leader.journal.invocation_rows import Entry
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.lease import RowLostError
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.tool import Failure, FailureReason, Outcome

_log = get_logger("nexus_tools.leader")

# If the node lags behind the node that reported the invocation, it may not have the object yet.
_READS_BEFORE_MISSING = 3


class Dispatcher:
    """A handler of journal entries from their current stage until the invocation is closed.

    `on_outcome` is called after the journal has recorded the outcome of an invocation.
    """

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
        self.on_outcome: Callable[[Assignment], None] = lambda _: None

    async def dispatch(self, entry: Entry) -> Closure | None:
        """Dispatch an invocation, and return its closure after the journal has recorded it.

        An unexpected error never fails an invocation. The invocation is dispatched again until it
        expires. Return None if another process is responsible for the invocation.
        """
        assignment = entry.assignment
        self._chain.expect(entry.checkpoint)
        while True:
            try:
                end = await self._dispatch(entry)
            except RowLostError:
                return None
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
        self._metrics.trouble.labels("dispatcher").inc()
        _log.error(
            "dispatch_retried", invocation=str(assignment.invocation), error=error_summary(error)
        )

    async def _dispatch(self, entry: Entry) -> Closure:
        assignment = entry.assignment
        await self._clock.wait_until(assignment.opens_at_ms)
        if self._remaining_ms(assignment) <= 0:
            await self._clock.refresh()  # the chain may have been rolled back
        read_result = await self._read(assignment, entry.checkpoint)
        if isinstance(read_result, ClosureKind):
            return await self._close(assignment, read_result)
        invocation, tool = read_result
        attempt = invocation.invocation.attempt
        if attempt is not None:
            self._accounts.set_owner(attempt.execution, invocation.invocation.requester)
        outcome = entry.outcome
        if outcome is None and not self._accounts.allows_failure(invocation.invocation):
            _log.warning("unprofitable", invocation=str(assignment.invocation))
            return await self._close(assignment, ClosureKind.MISSED)
        if outcome is None and tool is not None and tool.tool.definition.function is not None:
            if not self._journal.is_holder:  # which knows the accounts of authors
                await self._leave_to_others(assignment, holder_only=True)
            result = await self._call_on_chain(assignment, invocation, tool)
            if isinstance(result, Closure):
                return result
            outcome = await self._outcome_to_record(assignment, result)
        elif outcome is None:
            outcome = await self._call_and_decide(assignment, invocation, tool)
        if outcome is None:
            return await self._close(assignment, ClosureKind.MISSED)
        closing = closing_of(assignment, outcome, invocation)
        if attempt is not None:
            closing.continuation = await self._attempts.continuation(attempt, outcome)
            if closing.is_signed:
                closing.inputs = await self._attempts.signed_inputs(attempt)
        self._queue.put(closing)
        return Closure(await closing.closed, closing.outcome, closing.fee_mist)

    async def _close(self, assignment: Assignment, closed: ClosureKind) -> Closure:
        await self._journal.record_closed({assignment.invocation: closed}, self._clock.now_ms())
        return Closure(closed)

    async def _leave_to_others(self, assignment: Assignment, *, holder_only: bool = False) -> None:
        """Leave an invocation to other processes if they exist, which raises `RowLostError`."""
        if await self._journal.give_back(assignment.invocation, holder_only=holder_only):
            raise RowLostError

    # --- Reading

    async def _is_ahead_of_node(self, checkpoint: int) -> bool:
        """Return whether the node lags behind the checkpoint in which an invocation exists."""
        try:
            return await self._chain.height() < checkpoint
        except NexusError:
            return False  # the heartbeat reports the node

    async def _read(
        self, assignment: Assignment, checkpoint: int
    ) -> tuple[InvocationObject, FoundTool | None] | ClosureKind:
        """Return the current invocation and tool, or the closure kind of a closed invocation.

        After the invocation expires, the chain still decides. It may have been closed before the
        holder reads its closing event.
        """
        missing = 0
        while True:
            is_expired = self._clock.now_ms() >= assignment.expires_at_ms
            try:
                invocation, tool = await self._chain.invocation_and_tool(
                    assignment.invocation, assignment.tool
                )
            except NexusError as error:
                await self._note_unread(assignment, checkpoint, error)
                if is_expired and _has_answered(error):
                    return ClosureKind.MISSED
                await self._pause()
                continue
            if invocation is not None:
                closed = closure_kind_of(invocation.invocation.state, self._chain.leader)
                return closed or (ClosureKind.MISSED if is_expired else (invocation, tool))
            missing += 1
            if missing == _READS_BEFORE_MISSING:
                return ClosureKind.ELSEWHERE
            await self._pause()

    async def _note_unread(
        self, assignment: Assignment, checkpoint: int, error: NexusError
    ) -> None:
        """Count a failed read. Leave the invocation to other processes if only this node lags."""
        self._metrics.trouble.labels("reader").inc()
        if not isinstance(error, UnreachableError):  # the heartbeat reports the error
            place = str(assignment.invocation)
            _log.warning("unread", invocation=place, error=error.message)
        if error.code == "node_behind" and await self._is_ahead_of_node(checkpoint):
            await self._leave_to_others(assignment)

    async def _pause(self) -> None:
        await asyncio.sleep(self._config.error_retry_delay_ms / 1000)

    # --- Calling the tool

    async def _call_and_decide(
        self, assignment: Assignment, invocation: InvocationObject, tool: FoundTool | None
    ) -> Outcome | None:
        """Return the outcome of the invocation, or None to leave it to the next leader."""
        # Do not call a tool while no worker can close invocations, because the tool must be paid.
        while self._workers.trouble and self._remaining_ms(assignment) > 0:
            if self._journal.leaves_work:
                await self._leave_to_others(assignment)
            await self._pause()
        left_ms = self._remaining_ms(assignment)
        result = await self._call(assignment, invocation, tool, left_ms / 1000)
        if result is None:
            result = Declined(failure(FailureReason.OVERLOADED, _NO_TIME_DETAIL))
        return await self._outcome_to_record(assignment, result)

    async def _outcome_to_record(
        self, assignment: Assignment, result: Outcome | Declined
    ) -> Outcome | None:
        """Return the outcome to write on chain, or None if the next leader may get an answer."""
        if not isinstance(result, Declined):
            return await self._record_outcome(assignment, result)
        if assignment.is_last:
            # No other leader can get an answer, so a failure is better than an expired invocation.
            return await self._record_outcome(assignment, result.failure)
        reason, detail = result.failure.reason.value, result.failure.detail
        place = str(assignment.invocation)
        _log.warning("left_to_backup", invocation=place, reason=reason, detail=detail)
        return None

    def _remaining_ms(self, assignment: Assignment) -> int:
        """Return the time that remains to get an outcome, in ms."""
        now_ms = self._clock.now_ms()
        return assignment.outcome_by_ms(now_ms, self._config.closing_margin_ms) - now_ms

    async def _record_outcome(self, assignment: Assignment, outcome: Outcome) -> Outcome:
        """Record an outcome in the journal before it is sent to the chain."""
        if isinstance(outcome, Failure):
            self._metrics.failed.labels(outcome.reason.value).inc()
        await self._journal.record_outcome(assignment.invocation, outcome)
        self.on_outcome(assignment)
        return outcome

    async def _call_on_chain(
        self, assignment: Assignment, target: InvocationObject, tool: FoundTool
    ) -> Closure | Failure | Declined:
        """Call the tool's Move function, which closes the invocation, or return the failure."""
        run = await self._run_inputs(target.invocation)
        if isinstance(run, Failure):
            return run
        interface = await self._tool_calls.interface(target.invocation, tool, run)
        if isinstance(interface, Failure):
            return interface
        fee = await self._on_chain_calls.call(target, tool, interface.definition)
        if isinstance(fee, Failure | Declined):
            return fee
        await self._close(assignment, ClosureKind.SETTLED)
        return Closure(ClosureKind.SETTLED, fee_mist=fee)

    async def _run_inputs(self, invocation: Invocation) -> RunInputs | Failure | None:
        """Return the inputs of an attempt of a run, or None if the invocation is not an attempt."""
        attempt = invocation.attempt
        return None if attempt is None else await self._attempts.inputs(attempt)

    async def _call(
        self,
        assignment: Assignment,
        target: InvocationObject,
        tool: FoundTool | None,
        seconds: float,
    ) -> Outcome | Declined | None:
        run = await self._run_inputs(target.invocation)
        if isinstance(run, Failure):
            return run
        making = self._tool_calls.open_call(assignment, target.invocation, tool, seconds, run)
        async with making as call:
            if isinstance(call, Failure | Declined):
                return call
            await self._journal.record_call(assignment.invocation)
            return await self._invoker.invoke(call)


def _has_answered(error: NexusError) -> bool:
    """Return whether the node has answered, so that another try would probably fail as well."""
    return not isinstance(error, UnreachableError) or error.code == "node_behind"


_NO_TIME_DETAIL = "the leader did not have time to call the tool in its window"
