"""Carries one invocation: waits for the window, asks the tool, has the answer written on chain."""

import asyncio

import structlog

from nexus_tools.errors import NexusError
from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.chain import Chain, FoundInvocation, FoundTool, ending_of
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.closing import Closing
from nexus_tools.leader.closing_queue import ClosingQueue
from nexus_tools.leader.invoker import Invoker
from nexus_tools.leader.journal import Journal
from nexus_tools.leader.journal_entry import Ending, Entry
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.preparation import Preparation
from nexus_tools.leader.settings import LeaderSettings
from nexus_tools.registry import Invocation, outcome_bytes
from nexus_tools.tool import Failure, Outcome

_log = structlog.get_logger("nexus_tools.leader")

# A node behind the one that told of the invocation may not have it yet.
_READS_BEFORE_GONE = 3


class Carrier:
    """Takes an entry of the journal from its stage to its end."""

    def __init__(
        self,
        settings: LeaderSettings,
        chain: Chain,
        *,
        journal: Journal,
        clock: ChainClock,
        preparation: Preparation,
        invoker: Invoker,
        queue: ClosingQueue,
        metrics: LeaderMetrics,
    ) -> None:
        self._settings = settings
        self._chain = chain
        self._journal = journal
        self._clock = clock
        self._preparation = preparation
        self._invoker = invoker
        self._queue = queue
        self._metrics = metrics

    async def carry(self, entry: Entry) -> Ending:
        """How the invocation has ended for this leader; the journal knows it, too."""
        assignment = entry.assignment
        await self._clock.wait_until(assignment.opens_at_ms)
        found = await self._read(assignment)
        if isinstance(found, Ending):
            return await self._end(assignment, found)
        invocation, tool = found
        answer = entry.answer
        if answer is None:
            answer = await self._answer(assignment, invocation.invocation, tool)
        if answer is None:
            return await self._end(assignment, Ending.MISSED)
        closing = Closing(assignment, answer, outcome_bytes(answer), invocation.initial_version)
        self._queue.put(closing)
        return await closing.ended

    async def _end(self, assignment: Assignment, ending: Ending) -> Ending:
        endings = {assignment.invocation: ending}
        await self._journal.settled(None, endings, self._clock.now_ms())
        return ending

    # --- Reading

    async def _read(
        self, assignment: Assignment
    ) -> tuple[FoundInvocation, FoundTool | None] | Ending:
        """Invocation and tool as they are now, or how the invocation has ended."""
        missing = 0
        while self._clock.now_ms() < assignment.expires_at_ms:
            try:
                found, tool = await asyncio.gather(
                    self._chain.invocation(assignment.invocation), self._chain.tool(assignment.tool)
                )
            except NexusError as error:
                self._metrics.trouble.labels("reader").inc()
                _log.warning("unread", invocation=str(assignment.invocation), error=error.message)
                await self._pause()
                continue
            if found is not None:
                ending = ending_of(found.invocation.state, self._chain.leader)
                return ending or (found, tool)
            missing += 1
            if missing == _READS_BEFORE_GONE:
                return Ending.ELSEWHERE
            await self._pause()
        return Ending.MISSED

    async def _pause(self) -> None:
        await asyncio.sleep(self._settings.trouble_pause_ms / 1000)

    # --- Answering

    async def _answer(
        self, assignment: Assignment, invocation: Invocation, tool: FoundTool | None
    ) -> Outcome | Failure | None:
        """What is to be written on chain; None if this leader was too late to know."""
        now_ms = self._clock.now_ms()
        left_ms = assignment.answer_by_ms(now_ms, self._settings.settle_margin_ms) - now_ms
        answer = await self._ask(assignment, invocation, tool, left_ms / 1000)
        if answer is None:
            _log.warning("too_late", invocation=str(assignment.invocation))
            return None
        if isinstance(answer, Failure):
            self._metrics.failed.labels(answer.reason.value).inc()
        await self._journal.answered(assignment.invocation, answer)
        return answer

    async def _ask(
        self,
        assignment: Assignment,
        invocation: Invocation,
        tool: FoundTool | None,
        seconds: float,
    ) -> Outcome | Failure | None:
        call = await self._preparation.prepare(assignment, invocation, tool, seconds)
        if isinstance(call, Failure):
            return call
        await self._journal.invoking(assignment.invocation)
        return await self._invoker.invoke(call)
