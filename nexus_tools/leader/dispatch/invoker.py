"""Calls tools: within the tool's timeout and the Leader's window, and again where that may help."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import aiohttp

from nexus_tools.http.fair_share import FairShare
from nexus_tools.http.guarded_client import (
    NoResponseError,
    Response,
    ResponseMalformedError,
    ResponseTooLargeError,
    exchange,
)
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.backoff import Backoff
from nexus_tools.leader.dispatch.file_descriptors import allowed_calls
from nexus_tools.leader.dispatch.request_signing import SignedTraffic, with_signature
from nexus_tools.leader.dispatch.response_classifier import Again, Declined, failure, judge_response
from nexus_tools.leader.dispatch.tool_call import ToolCall
from nexus_tools.leader.dispatch.tool_health import Lane, ToolLanes
from nexus_tools.leader.dispatch.validation_turns import CheckTurns
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Outcome,
    RefusedSignatureError,
    protocol,
)

_log = get_logger("nexus_tools.leader")

# A JSON text is at most six times as long as its shortest form, by escapes; the rest is spaces.
_LONGEST_SPELLING = 8
_SPACES = 64 * 1024

_Sent = Outcome | Again | Declined


class Invoker:
    """Sends tool calls, several at once; `size` gives the bytes that an answer has on chain."""

    def __init__(
        self,
        config: LeaderConfig,
        client: aiohttp.ClientSession,
        size: Callable[[Answer], int],
        metrics: LeaderMetrics,
        *,
        traffic: SignedTraffic | None = None,
        turns: CheckTurns | None = None,
    ) -> None:
        self._turns = turns or CheckTurns()
        self._config = config
        self._client = client
        self._traffic = traffic or SignedTraffic()
        self._size = size
        self._metrics = metrics
        self._backoff = Backoff(config.first_pause_ms, config.longest_pause_ms)
        self._chance = random.Random()  # noqa: S311 - spreads retries, keeps no secret
        self._share = _share(config)
        self.lanes = ToolLanes(config, _now)
        metrics.tools_down.set_function(self.lanes.down)

    async def invoke(self, call: ToolCall) -> Outcome | Declined | None:
        """The tool's answer, or why there is none; None if the Leader itself was too late.

        A tool that was out of reach, or busy with the same invocation (409), for less than its
        timeout is left to the next leader, which may get the answer.
        """
        began = _now()
        last = await self._last_word(call)
        if not isinstance(last, Again):
            return last
        if last.is_of_leader:
            return Declined(last.failure)
        if _now() - began >= call.timeout_ms / 1000:
            return last.failure
        if last.failure.reason is FailureReason.UNREACHABLE:
            return Declined(last.failure)
        return None if last.is_running else last.failure

    async def _last_word(self, call: ToolCall) -> Outcome | Again | Declined | None:
        """What the tool came to, or what kept it from that until the window ended."""
        last: Again | None = None
        attempt = 1
        while _now() < call.deadline:
            result = await self._send_in_window(call)
            if isinstance(result, _LeftAlone):
                unasked = failure(FailureReason.UNREACHABLE, _LEFT_ALONE)
                last = last or Again(unasked)
                await self._wait_for_breaker(call, result.seconds)
                continue
            if not isinstance(result, Again):
                return result or last
            last = result
            pause = self._pause_seconds(result, attempt)
            if _now() + pause >= call.deadline:
                break
            await asyncio.sleep(pause)
            attempt += 1
        return last

    def _pause_seconds(self, again: Again, attempt: int) -> float:
        wanted = retry_after_ms(again.retry_after, datetime.now(UTC))
        pause = self._backoff.pause_ms(attempt, self._chance)
        return max(pause, wanted or 0.0) / 1000

    async def _wait_for_breaker(self, call: ToolCall, seconds: float) -> None:
        left = call.deadline - _now()
        await self._lane(call).breaker.wait(min(seconds, left))

    def _lane(self, call: ToolCall) -> Lane:
        return self.lanes.of(call.tool, call.fqn)

    async def _send_in_window(self, call: ToolCall) -> "_Sent | _LeftAlone | None":
        """Send it once; None if the window ended before the tool had its time."""
        try:
            async with asyncio.timeout_at(call.deadline):
                return await self._send(call)
        except TimeoutError:
            return None

    async def _send(self, call: ToolCall) -> "_Sent | _LeftAlone":
        async with self._share.slot(call.tool):
            lane = self._lane(call)
            seconds = lane.breaker.admit()
            if seconds:
                return _LeftAlone(seconds)
            try:
                return await self._exchange(call, lane)
            finally:
                # Of a call that was reported nothing is left to give up.
                lane.breaker.gave_up()

    async def _exchange(self, call: ToolCall, lane: Lane) -> _Sent:
        seconds = call.timeout_ms / 1000
        limit = asyncio.timeout(seconds)
        try:
            with self._metrics.tool_call(call.fqn):
                async with limit:
                    request, response = await self._post(call, seconds)
        except NoResponseError as error:
            lane.missed(str(error), error.refusal)
            # Whether the guard refused what a name resolves to, is nobody's business on chain.
            return Again(failure(FailureReason.UNREACHABLE, str(error)))
        except ResponseTooLargeError:
            lane.reached()
            return self._too_large(call)
        except ResponseMalformedError as error:
            lane.reached()
            return failure(FailureReason.HTTP_ERROR, str(error))
        except TimeoutError:
            detail = f"the tool did not respond within {call.timeout_ms} ms"
            lane.missed(detail)
            return failure(FailureReason.TIMED_OUT, detail)
        lane.reached()
        async with self._turns.of(call.tool):
            return self._judge(call, request, response)

    def _judge(self, call: ToolCall, request: Mapping[str, str], response: Response) -> _Sent:
        """What a response means, if it is the tool's."""
        limit, signers = call.max_outcome_bytes, call.signers
        try:
            self._traffic.check(request, response, call.keys)
            judged = judge_response(response, call.validator, self._size, limit)
            if isinstance(judged, Answer):
                judged = with_signature(judged, request, response, signers, call.body)
        except RefusedSignatureError as error:
            detail = f"the response is not signed by the tool: {error.detail}"
            return failure(FailureReason.OUTPUT_INVALID, detail)
        return judged

    def _too_large(self, call: ToolCall) -> Failure | Declined:
        """Whose limit a response broke: what its requester pays for, or the leader's own."""
        own = self._config.max_response_bytes
        if own < _paid_bytes(call):
            detail = f"this leader reads no more than {own} bytes"
            return Declined(failure(FailureReason.REFUSED, detail))
        detail = "the response is larger than any answer that is paid for"
        return failure(FailureReason.OUTPUT_TOO_LARGE, detail)

    async def _post(self, call: ToolCall, seconds: float) -> tuple[dict[str, str], Response]:
        """The headers that were sent, and the response.

        Each attempt is signed anew: no server takes the same request twice.
        """
        left = min(seconds, call.deadline - _now())
        url = protocol.endpoint(call.url, protocol.INVOKE)
        deadline = datetime.now(UTC) + timedelta(seconds=left)
        headers = self._traffic.sign(url, _headers(call, deadline), call.body)
        response = await exchange(
            self._client,
            protocol.INVOKE_METHOD,
            url,
            headers=headers,
            body=call.body,
            max_response_bytes=min(self._config.max_response_bytes, _paid_bytes(call)),
        )
        return headers, response


def _share(config: LeaderConfig) -> FairShare[Address]:
    """The slots for calls, as many as are configured and this process can have."""
    calls = allowed_calls(config.max_concurrent)
    if calls < config.max_concurrent:
        _log.warning("fewer_calls", calls=calls, wanted=config.max_concurrent, why=_TOO_FEW_FILES)
    return FairShare(calls, min(calls, config.max_concurrent_per_tool))


_TOO_FEW_FILES = "of the limit of open files: raise `ulimit -n`, LimitNOFILE= or --ulimit nofile="


def _paid_bytes(call: ToolCall) -> int:
    """The longest body that may hold an answer that is paid for."""
    return call.max_outcome_bytes * _LONGEST_SPELLING + _SPACES


def _headers(call: ToolCall, deadline: datetime) -> dict[str, str]:
    invocation = str(call.invocation)
    at = deadline.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    headers = {
        "Content-Type": protocol.JSON,
        protocol.INVOCATION_HEADER: invocation,
        protocol.IDEMPOTENCY_KEY_HEADER: invocation,
        protocol.TOOL_HEADER: call.fqn,
        protocol.DEADLINE_HEADER: at,
        protocol.MAX_OUTCOME_BYTES_HEADER: str(call.max_outcome_bytes),
    }
    return headers | {protocol.RUN_HEADER: call.run} if call.run else headers


def _now() -> float:
    return asyncio.get_running_loop().time()


# --- Trying again

_LEFT_ALONE = "the tool did not respond several times in a row"


@dataclass(frozen=True, slots=True)
class _LeftAlone:
    """The breaker let nothing through, and is to be asked again after so many seconds."""

    seconds: float


def retry_after_ms(header: str, now: datetime) -> float | None:
    """What `Retry-After` says (RFC 9110, section 10.2.3): seconds, or a date; None for nonsense."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text) * 1000 if len(text) < 10 else None
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds() * 1000)
    except (ValueError, OverflowError):
        return None
