"""Calls of tools within their timeout and the Leader's window, with retries that may succeed."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
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
from nexus_tools.leader.dispatch.file_descriptors import max_concurrent_calls
from nexus_tools.leader.dispatch.request_signing import RequestSigning, attach_signature
from nexus_tools.leader.dispatch.response_classifier import (
    Declined,
    Retryable,
    classify_response,
    failure,
)
from nexus_tools.leader.dispatch.tool_call import ToolCall
from nexus_tools.leader.dispatch.tool_health import ToolHealth, ToolHealthRegistry
from nexus_tools.leader.dispatch.validation_turns import ValidationTurns
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Outcome,
    SignatureRejectedError,
    protocol,
)

_log = get_logger("nexus_tools.leader")

# Escapes make JSON text at most six times as long as its shortest form. The rest of the factor
# allows whitespace.
_MAX_ESCAPE_FACTOR = 8
_MAX_WHITESPACE_BYTES = 64 * 1024

_Result = Outcome | Retryable | Declined


class Invoker:
    """A sender of concurrent tool calls. `size` returns the on-chain size of an answer in bytes.

    `confirm` returns when no other process may make the same call.
    """

    def __init__(
        self,
        config: LeaderConfig,
        client: aiohttp.ClientSession,
        size: Callable[[Answer], int],
        metrics: LeaderMetrics,
        *,
        request_signing: RequestSigning | None = None,
        turns: ValidationTurns | None = None,
        confirm: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._turns = turns or ValidationTurns()
        self._config = config
        self._client = client
        self._request_signing = request_signing or RequestSigning()
        self._confirm = confirm
        self._size = size
        self._metrics = metrics
        self._backoff = Backoff(config.retry_delay_ms, config.max_retry_delay_ms)
        self._chance = random.Random()  # noqa: S311 - spreads retries, keeps no secret
        self._call_slots = _call_slots(config)
        self.tool_health = ToolHealthRegistry(config, _now)
        metrics.tools_down.set_function(self.tool_health.tools_down)

    async def invoke(self, call: ToolCall) -> Outcome | Declined | None:
        """Return the answer or the failure, or None to leave the invocation to the next leader.

        The next leader may get an answer if the tool was unreachable, or still ran the invocation
        (status 409), for less than its timeout. The result is also None if the window ended before
        any response.
        """
        start = _now()
        result = await self._last_result(call)
        if not isinstance(result, Retryable):
            return result
        if result.is_leader_specific:
            return Declined(result.failure)
        if _now() - start >= call.timeout_ms / 1000:
            return result.failure
        if result.failure.reason is FailureReason.UNREACHABLE:
            return Declined(result.failure)
        return None if result.is_running else result.failure

    async def _last_result(self, call: ToolCall) -> Outcome | Retryable | Declined | None:
        """Return the last result that arrived before the window ended, or None."""
        last: Retryable | None = None
        attempt = 1
        while _now() < call.deadline:
            result = await self._send(call)
            if isinstance(result, _Paused):
                not_sent = failure(FailureReason.UNREACHABLE, _PAUSED_DETAIL)
                last = last or Retryable(not_sent)
                await self._wait_for_breaker(call, result.seconds)
                continue
            if not isinstance(result, Retryable):
                return result or last
            last = result
            pause = self._pause_seconds(result, attempt)
            if _now() + pause >= call.deadline:
                break
            await asyncio.sleep(pause)
            attempt += 1
        return last

    def _pause_seconds(self, again: Retryable, attempt: int) -> float:
        requested_ms = retry_after_ms(again.retry_after, datetime.now(UTC))
        pause = self._backoff.pause_ms(attempt, self._chance)
        return max(pause, requested_ms or 0.0) / 1000

    async def _wait_for_breaker(self, call: ToolCall, seconds: float) -> None:
        left = call.deadline - _now()
        await self._health_of(call).breaker.wait(min(seconds, left))

    def _health_of(self, call: ToolCall) -> ToolHealth:
        return self.tool_health.of(call.tool, call.fqn)

    async def _send(self, call: ToolCall) -> "_Result | _Paused | None":
        """Send a call once, when a slot is free. Return None if the window ends first."""
        try:
            async with asyncio.timeout_at(call.deadline), self._call_slots.slot(call.tool):
                health = self._health_of(call)
                seconds = health.breaker.admit()
                if seconds:
                    return _Paused(seconds)
                try:
                    if self._confirm is not None:
                        await self._confirm()
                    return await self._exchange(call, health)
                finally:
                    # This call has no effect if the result of the tool call was recorded.
                    health.breaker.release_probe()
        except TimeoutError:
            return None

    async def _exchange(self, call: ToolCall, health: ToolHealth) -> _Result:
        seconds = call.timeout_ms / 1000
        limit = asyncio.timeout(seconds)
        try:
            with self._metrics.tool_call(call.fqn):
                async with limit:
                    request, response = await self._post(call, seconds)
        except NoResponseError as error:
            health.record_unreachable(str(error), error.refusal)
            # The failure is public, so it must not reveal that the guard refused the address.
            return Retryable(failure(FailureReason.UNREACHABLE, str(error)))
        except ResponseTooLargeError:
            health.record_success()
            return self._too_large(call)
        except ResponseMalformedError as error:
            health.record_success()
            return failure(FailureReason.HTTP_ERROR, str(error))
        except TimeoutError:
            detail = f"the tool did not respond within {call.timeout_ms} ms"
            health.record_unreachable(detail)
            return failure(FailureReason.TIMED_OUT, detail)
        health.record_success()
        async with self._turns.of(call.tool):
            return self._classify(call, request, response)

    def _classify(self, call: ToolCall, request: Mapping[str, str], response: Response) -> _Result:
        """Classify a response after verifying its signature."""
        limit, signers = call.max_outcome_bytes, call.signers
        try:
            self._request_signing.check(request, response, call.keys)
            outcome = classify_response(response, call.validator, self._size, limit)
            if isinstance(outcome, Answer):
                outcome = attach_signature(outcome, request, response, signers, call.body)
        except SignatureRejectedError as error:
            detail = f"the response does not have a valid signature of the tool: {error.detail}"
            return failure(FailureReason.OUTPUT_INVALID, detail)
        return outcome

    def _too_large(self, call: ToolCall) -> Failure | Declined:
        """Return the failure for an oversized response, or decline if this leader's limit is lower.

        The requester's limit follows from the outcome size that the requester paid for.
        """
        own = self._config.max_response_bytes
        if own < _paid_bytes(call):
            detail = f"this leader reads at most {own} bytes"
            return Declined(failure(FailureReason.REFUSED, detail))
        detail = "the response is too large for the outcome size that the requester paid for"
        return failure(FailureReason.OUTPUT_TOO_LARGE, detail)

    async def _post(self, call: ToolCall, seconds: float) -> tuple[dict[str, str], Response]:
        """Send a call, and return the request headers and the response.

        Each attempt has a new signature, because servers reject replayed requests.
        """
        left = min(seconds, call.deadline - _now())
        url = protocol.endpoint(call.url, protocol.INVOKE)
        deadline = datetime.now(UTC) + timedelta(seconds=left)
        headers = self._request_signing.sign(url, _headers(call, deadline), call.body)
        response = await exchange(
            self._client,
            protocol.INVOKE_METHOD,
            url,
            headers=headers,
            body=call.body,
            max_response_bytes=min(self._config.max_response_bytes, _paid_bytes(call)),
        )
        return headers, response


def _call_slots(config: LeaderConfig) -> FairShare[Address]:
    """Return the slots for calls. The limit of open files may reduce their configured number."""
    calls = max_concurrent_calls(config.max_concurrent)
    if calls < config.max_concurrent:
        _log.warning(
            "concurrency_reduced", calls=calls, wanted=config.max_concurrent, why=_TOO_FEW_FILES
        )
    return FairShare(calls, min(calls, config.max_concurrent_per_tool))


_TOO_FEW_FILES = (
    "the limit of open files is too low. Raise it with `ulimit -n`, LimitNOFILE= or"
    " --ulimit nofile="
)


def _paid_bytes(call: ToolCall) -> int:
    """Return the maximum response length for an answer of the outcome size that was paid for."""
    return call.max_outcome_bytes * _MAX_ESCAPE_FACTOR + _MAX_WHITESPACE_BYTES


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


# --- Retries

_PAUSED_DETAIL = "the tool failed to respond several times in a row"


@dataclass(frozen=True, slots=True)
class _Paused:
    """A call that the circuit breaker rejected, with the time in seconds until the next trial."""

    seconds: float


def retry_after_ms(header: str, now: datetime) -> float | None:
    """Return the delay of a `Retry-After` header in ms, or None if the header is invalid.

    The header contains seconds or a date (RFC 9110, section 10.2.3).
    """
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
