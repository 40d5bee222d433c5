"""Carries an invocation to its tool: within the tool's timeout and the Leader's window."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from nexus_tools.leader.answer import Again, Attempt, failure, judge
from nexus_tools.leader.circuit_breaker import CircuitBreaker
from nexus_tools.leader.exchange import (
    Answer,
    AnswerMalformedError,
    AnswerTooLargeError,
    NotAnsweredError,
    exchange,
)
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.retry import Backoff, retry_after_ms
from nexus_tools.leader.settings import LeaderSettings
from nexus_tools.leader.tool_lanes import ToolLanes
from nexus_tools.sui.address import Address
from nexus_tools.tool import Failure, FailureReason, InterfaceValidator, Outcome

# A JSON text is at most six times as long as its shortest form, by escapes; the rest is spaces.
_LONGEST_SPELLING = 8
_SPACES = 64 * 1024


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One invocation, ready to be sent; `answer_by` is on the clock of the event loop."""

    invocation: Address
    tool: Address
    fqn: str
    url: str
    body: bytes
    timeout_ms: int
    answer_by: float
    max_outcome_bytes: int
    validator: InterfaceValidator


class Invoker:
    """Sends calls to tools, several at once; `size` gives the bytes an outcome has on chain."""

    def __init__(
        self,
        settings: LeaderSettings,
        client: httpx.AsyncClient,
        size: Callable[[Outcome], int],
        metrics: LeaderMetrics,
    ) -> None:
        self._settings = settings
        self._client = client
        self._size = size
        self._metrics = metrics
        self._backoff = Backoff(settings.first_pause_ms, settings.longest_pause_ms)
        self._chance = random.Random()  # noqa: S311 - spreads retries, keeps no secret
        self._slots = asyncio.Semaphore(settings.max_concurrent)
        self.lanes = ToolLanes(settings, _now)

    async def invoke(self, call: ToolCall) -> Outcome | Failure | None:
        """What the tool answers, or why it does not; None if the Leader itself was too late."""
        last: Failure | None = None
        for attempt in range(1, self._settings.max_attempts + 1):
            result = await self._attempt_in_window(call)
            if not isinstance(result, Again):
                return result or last
            last = result.failure
            pause = self._pause_seconds(result, attempt)
            if _now() + pause >= call.answer_by:
                break
            await asyncio.sleep(pause)
        return last

    def _pause_seconds(self, again: Again, attempt: int) -> float:
        wanted = again.pause_ms
        if wanted is None:
            wanted = retry_after_ms(again.retry_after, datetime.now(UTC))
        pause = self._backoff.pause_ms(attempt, self._chance)
        return max(pause, wanted or 0.0) / 1000

    async def _attempt_in_window(self, call: ToolCall) -> Attempt | None:
        """One attempt; None if the window ended before the tool had its time."""
        try:
            async with asyncio.timeout_at(call.answer_by):
                return await self._attempt(call)
        except TimeoutError:
            return None

    async def _attempt(self, call: ToolCall) -> Attempt:
        lane = self.lanes.of(call.tool)
        async with lane.slots, self._slots:
            wait = lane.breaker.admit()
            if wait:
                detail = "the tool did not answer several times in a row"
                refused = failure(FailureReason.UNREACHABLE, detail, call.max_outcome_bytes)
                return Again(refused, pause_ms=wait * 1000)
            try:
                return await self._request(call, lane.breaker)
            finally:
                lane.breaker.gave_up()

    async def _request(self, call: ToolCall, breaker: CircuitBreaker) -> Attempt:
        seconds = call.timeout_ms / 1000
        limit = asyncio.timeout(seconds)
        try:
            with self._metrics.request():
                async with limit:
                    answer = await self._post(call, seconds)
        except NotAnsweredError as error:
            breaker.missed()
            return Again(failure(FailureReason.UNREACHABLE, str(error), call.max_outcome_bytes))
        except AnswerTooLargeError:
            breaker.reached()
            detail = "the answer is larger than any outcome that is paid for"
            return failure(FailureReason.OUTPUT_TOO_LARGE, detail, call.max_outcome_bytes)
        except AnswerMalformedError as error:
            breaker.reached()
            return failure(FailureReason.HTTP_ERROR, str(error), call.max_outcome_bytes)
        except TimeoutError:
            breaker.missed()
            detail = f"the tool did not answer within {call.timeout_ms} ms"
            return failure(FailureReason.TIMED_OUT, detail, call.max_outcome_bytes)
        breaker.reached()
        return judge(answer, call.validator, self._size, call.max_outcome_bytes)

    async def _post(self, call: ToolCall, seconds: float) -> Answer:
        left = min(seconds, call.answer_by - _now())
        limit = call.max_outcome_bytes * _LONGEST_SPELLING + _SPACES
        return await exchange(
            self._client,
            "POST",
            call.url.rstrip("/") + "/invoke",
            headers=_headers(call, datetime.now(UTC) + timedelta(seconds=left)),
            body=call.body,
            max_response_bytes=min(self._settings.max_response_bytes, limit),
        )


def _headers(call: ToolCall, deadline: datetime) -> dict[str, str]:
    invocation = str(call.invocation)
    return {
        "Content-Type": "application/json",
        "Nexus-Invocation": invocation,
        "Idempotency-Key": invocation,
        "Nexus-Tool": call.fqn,
        "Nexus-Deadline": deadline.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "Nexus-Max-Outcome-Bytes": str(call.max_outcome_bytes),
    }


def _now() -> float:
    return asyncio.get_running_loop().time()
