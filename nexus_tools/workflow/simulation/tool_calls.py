"""The tool calls of a simulation. Stubs take virtual time, and real tools take real time.

While only calls of stubs are in flight, the clock jumps from the end of one call to the end of the
next. So equal calls always end in the same order. While a real tool is called, real time passes.
"""

import asyncio
import copy
import inspect
import threading
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Outcome,
    canonical_json,
    measure,
    outcome_bytes,
)
from nexus_tools.workflow.simulation.stubs import Stub, StubCalls, StubFunction

ToolFunction = Callable[[Mapping[str, Any]], Outcome | Awaitable[Outcome]]
"""A real tool, which receives the inputs by port. A synchronous function runs in its own thread."""

SimulatedTool = Stub | StubFunction | ToolFunction

Key = TypeVar("Key", bound=Hashable)

MAX_OUTCOME_BYTES = 100 * 1024
"""The maximum size of an answer that a Leader accepts."""

_MAX_DETAIL = 500


@dataclass(order=True)
class _Due(Generic[Key]):
    """A scheduled event.

    Events at equal times are ordered by the times at which they were scheduled.
    """

    at_ms: int
    order: int
    key: Key = field(compare=False)
    outcome: Outcome | None = field(compare=False)
    call: "asyncio.Task[Outcome] | None" = field(compare=False, default=None)


class ToolCalls(Generic[Key]):
    """The tool calls in flight, identified by keys of the caller, and a clock that starts at 0.

    A call of a real tool that does not return within `timeout_ms` is abandoned.
    """

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._now_ms = 0
        self._clock_offset_ms = 0.0
        self._planned = 0
        self._due: list[_Due[Key]] = []
        self._running: dict[asyncio.Task[Outcome], Key] = {}
        self._stub_calls: dict[int, StubCalls] = {}

    @property
    def now_ms(self) -> int:
        """The time at which the last call ended."""
        return self._now_ms

    def call(self, key: Key, tool: SimulatedTool, ports: Mapping[str, Any]) -> None:
        """Call a tool. Raises `stub_exhausted` if a stub has no outcome for these inputs."""
        if isinstance(tool, Stub):
            taken = self._calls_of(tool).take(ports)
            if taken is None:
                raise _exhausted(ports)
            self._plan(taken.duration_ms, key, check_outcome(taken.outcome))
        elif isinstance(tool, StubFunction):
            self._plan(tool.duration_ms, key, check_outcome(tool.function(ports)))
        else:
            self._start(key, tool, copy.deepcopy(dict(ports)))

    def wait(self, key: Key, delay_ms: int) -> None:
        """Schedule an event for `key` after a delay. The outcome of the event is None."""
        self._plan(delay_ms, key, None)

    async def next(self) -> tuple[Key, Outcome | None] | None:
        """Wait for the next call to end, and return its key and outcome.

        Return None if no call is in flight.
        """
        self._drop_kept_limits()
        if not self._due:
            return None
        if not self._running:
            # Stub calls never suspend, so a cancellation (Ctrl-C) can only take effect here.
            await asyncio.sleep(0)
        else:
            due_ms = self._due[0].at_ms  # the end of a stub call, or a time limit
            seconds = max(0.0, due_ms - self._passed_ms()) / 1_000
            done, _ = await asyncio.wait(
                self._running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            self._now_ms = max(self._now_ms, min(due_ms, int(self._passed_ms())))
            for call in [call for call in self._running if call in done]:
                return self._running.pop(call), _CANCELLED if call.cancelled() else call.result()
        return self._pop()

    def give_up(self) -> None:
        """Abandon all calls in flight."""
        for call in self._running:
            call.cancel()
        self._running.clear()
        self._due.clear()

    def _drop_kept_limits(self) -> None:
        """Remove the time limits of calls that ended before their limit."""
        while self._due and self._due[0].call and self._due[0].call not in self._running:
            heappop(self._due)

    def _pop(self) -> tuple[Key, Outcome | None]:
        """Return the first scheduled event: the end of a stub call, or the limit of a real call."""
        due = heappop(self._due)
        if due.call is not None:
            # The tool may continue in spite of the cancellation, but its outcome is ignored.
            del self._running[due.call]
            due.call.cancel()
        self._now_ms = max(self._now_ms, due.at_ms)
        return due.key, due.outcome

    def _calls_of(self, stub: Stub) -> StubCalls:
        if id(stub) not in self._stub_calls:
            self._stub_calls[id(stub)] = StubCalls(stub)
        return self._stub_calls[id(stub)]

    def _plan(
        self,
        after_ms: int,
        key: Key,
        outcome: Outcome | None,
        call: "asyncio.Task[Outcome] | None" = None,
    ) -> None:
        self._planned += 1
        heappush(self._due, _Due(self._now_ms + after_ms, self._planned, key, outcome, call))

    def _start(self, key: Key, tool: ToolFunction, ports: dict[str, Any]) -> None:
        if not self._running:
            self._clock_offset_ms = self._now_ms - _real_ms()
        call = asyncio.ensure_future(_outcome_of(tool, ports))
        self._running[call] = key
        detail = f"the tool did not respond within {self._timeout_ms} ms"
        self._plan(self._timeout_ms, key, Failure(FailureReason.TIMED_OUT, detail), call)

    def _passed_ms(self) -> float:
        return _real_ms() + self._clock_offset_ms


def check_outcome(value: object) -> Outcome:
    """Return the return value of a tool if it is a valid outcome, and otherwise a failure."""
    try:
        if isinstance(value, Failure):
            return Failure(FailureReason(value.reason), _short(str(value.detail)))
        if isinstance(value, Answer):
            return _checked_answer(value)
    except (ValidationError, ValueError) as error:
        return _wrong(str(error))
    return _wrong(f"a {type(value).__name__} is neither an Answer nor a Failure")


def _checked_answer(answer: Answer) -> Outcome:
    """Return the answer, or a failure if a Leader would reject it.

    Raises `ValidationError` for ports that are not valid JSON.
    """
    if not isinstance(answer.variant, str) or not isinstance(answer.ports, dict):
        return _wrong("an answer must have the name of a variant and a dict of ports")
    measure(answer.ports)
    size = outcome_bytes(answer)
    if size <= MAX_OUTCOME_BYTES:
        return answer
    detail = f"the answer has {size} bytes, but the limit is {MAX_OUTCOME_BYTES}"
    return Failure(FailureReason.OUTPUT_TOO_LARGE, detail)


async def _outcome_of(tool: ToolFunction, ports: dict[str, Any]) -> Outcome:
    """Call a tool, and convert its exceptions to failures."""
    try:
        if inspect.iscoroutinefunction(tool):
            return check_outcome(await tool(ports))
        value = await _in_thread(tool, ports)
        return check_outcome(await value if inspect.isawaitable(value) else value)
    except NexusError as error:
        return Failure(_REASONS.get(error.code, FailureReason.HTTP_ERROR), _short(error.message))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything
        detail = f"{type(error).__name__}: {error}"
        return Failure(FailureReason.HTTP_ERROR, _short(detail))


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a daemon thread, which does not delay the end of the program."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def end(value: Any, error: BaseException | None) -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(value)
        else:
            ended.set_exception(error)

    def run() -> None:
        value, failed = None, None
        try:
            value = function(*arguments)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            failed = error if isinstance(error, Exception) else RuntimeError(repr(error))
        with suppress(RuntimeError):  # the simulation has stopped waiting and closed the loop
            loop.call_soon_threadsafe(end, value, failed)

    threading.Thread(target=run, daemon=True).start()
    return await ended


_CANCELLED = Failure(FailureReason.HTTP_ERROR, "the tool cancelled its own task")
_REASONS = {
    "input_invalid": FailureReason.INPUT_INVALID,
    "output_invalid": FailureReason.OUTPUT_INVALID,
    "tool_unreachable": FailureReason.UNREACHABLE,
}


def _wrong(detail: str) -> Failure:
    return Failure(FailureReason.OUTPUT_INVALID, _short(detail))


def _short(detail: str) -> str:
    return detail if len(detail) <= _MAX_DETAIL else f"{detail[: _MAX_DETAIL - 1]}…"


def _real_ms() -> float:
    return asyncio.get_running_loop().time() * 1_000


def _exhausted(ports: Mapping[str, Any]) -> ValidationError:
    text = _short(canonical_json(dict(ports)).decode())
    return ValidationError(
        "stub_exhausted",
        f"the stub has no outcome for the inputs {text}",
        hint="End the list of the stub with an outcome without `when` and `times`.",
    )
