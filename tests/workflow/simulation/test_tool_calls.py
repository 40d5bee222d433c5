import asyncio
import sys
import threading

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow.simulation.stubs import Stub, StubbedOutcome, StubFunction
from nexus_tools.workflow.simulation.tool_calls import ToolCalls

OK = Answer("ok", {"n": 1})


def stub(duration_ms):
    return Stub((StubbedOutcome(OK, duration_ms),))


async def call_ends(calls):
    """Wait for all pending calls, and return their keys and end times."""
    found = []
    while (each := await calls.next()) is not None:
        found.append((each[0], calls.now_ms))
    return found


@pytest.mark.anyio
async def test_stub_calls_end_by_simulated_time_without_waiting():
    calls = ToolCalls(1_000)
    for key, duration_ms in (("slow", 86_400_000), ("quick", 5), ("as quick", 5), ("at once", 0)):
        calls.call(key, stub(duration_ms), {})
    assert await call_ends(calls) == [
        ("at once", 0),
        ("quick", 5),
        ("as quick", 5),
        ("slow", 86_400_000),
    ]


@pytest.mark.anyio
async def test_later_call_starts_at_the_current_time():
    calls = ToolCalls(1_000)
    calls.call("first", stub(70), {})
    assert await calls.next() == ("first", OK)
    calls.call("second", stub(10), {})
    calls.wait("again", 5)
    assert await call_ends(calls) == [("again", 75), ("second", 80)]


@pytest.mark.anyio
async def test_exhausted_stub_is_an_error():
    nothing = Stub((StubbedOutcome(OK, when={"a": 1}),))
    with pytest.raises(ValidationError, match='"a":2') as refused:
        ToolCalls(1_000).call("a", nothing, {"a": 2})
    assert refused.value.code == "stub_exhausted"


@pytest.mark.anyio
async def test_stub_function_computes_the_answer_from_the_inputs():
    calls = ToolCalls(1_000)
    calls.call("a", StubFunction(lambda ports: Answer("ok", dict(ports)), 3), {"b": 2})
    assert await calls.next() == ("a", Answer("ok", {"b": 2}))
    assert calls.now_ms == 3


@pytest.mark.anyio
async def test_real_tools_run_concurrently():
    meeting = asyncio.Barrier(3)

    async def meet(_):
        await meeting.wait()
        return OK

    calls = ToolCalls(60_000)
    for key in "abc":
        calls.call(key, meet, {})
    assert sorted(key for key, _ in await call_ends(calls)) == ["a", "b", "c"]


@pytest.mark.anyio
async def test_sync_tool_does_not_block_others():
    meeting = threading.Barrier(2)

    def meet(_):
        meeting.wait()
        return OK

    calls = ToolCalls(60_000)
    calls.call("a", meet, {})
    calls.call("b", meet, {})
    assert len(await call_ends(calls)) == 2


@pytest.mark.anyio
async def test_tool_may_return_an_awaitable():
    async def later(ports):
        return Answer("ok", dict(ports))

    def tool(ports):
        return later(ports)

    calls = ToolCalls(60_000)
    calls.call("a", tool, {"n": 1})
    assert await calls.next() == ("a", OK)


@pytest.mark.anyio
async def test_unresponsive_tool_times_out():
    hangs = threading.Event()

    async def deaf(_):
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if hangs.is_set():
                    raise

    calls = ToolCalls(20)
    calls.call("thread", lambda _: hangs.wait(), {})
    calls.call("deaf", deaf, {})
    outcomes = [await calls.next() for _ in range(2)]
    assert await calls.next() is None
    assert [key for key, _ in outcomes] == ["thread", "deaf"]
    assert {outcome.reason for _, outcome in outcomes} == {FailureReason.TIMED_OUT}
    assert "20 ms" in outcomes[0][1].detail
    hangs.set()


def raising_tool(error):
    def tool(_):
        raise error

    return tool


async def cancelling_tool(_):
    raise asyncio.CancelledError


async def exiting_tool(_):
    sys.exit(3)


@pytest.mark.parametrize(
    ("tool", "reason", "words"),
    [
        (raising_tool(ZeroDivisionError("no")), FailureReason.HTTP_ERROR, "ZeroDivisionError: no"),
        (raising_tool(SystemExit(3)), FailureReason.HTTP_ERROR, "SystemExit"),
        (raising_tool(ValidationError("input_invalid", "a")), FailureReason.INPUT_INVALID, "a"),
        (raising_tool(ValueError("x" * 9_999)), FailureReason.HTTP_ERROR, "…"),
        (cancelling_tool, FailureReason.HTTP_ERROR, "cancelled"),
        (exiting_tool, FailureReason.HTTP_ERROR, "SystemExit"),
        (lambda _: None, FailureReason.OUTPUT_INVALID, "NoneType"),
        (lambda _: Answer("ok", {"n": object()}), FailureReason.OUTPUT_INVALID, "object"),
        (lambda _: Answer("ok", {"n": float("nan")}), FailureReason.OUTPUT_INVALID, "NaN"),
        (lambda _: Failure("tired", ""), FailureReason.OUTPUT_INVALID, "'tired' is not a valid"),
        (lambda _: Failure("refused", 1), FailureReason.REFUSED, "1"),
        (lambda _: Failure("refused", "x" * 999), FailureReason.REFUSED, "…"),
        (lambda _: Answer("ok", {1: 2}), FailureReason.OUTPUT_INVALID, "not a string"),
        (lambda _: Answer("ok", {"Ä": 2}), FailureReason.OUTPUT_INVALID, "port name"),
        (lambda _: Answer(1, {}), FailureReason.OUTPUT_INVALID, "variant"),
        (lambda _: Answer("ok", []), FailureReason.OUTPUT_INVALID, "ports"),
    ],
)
@pytest.mark.anyio
async def test_exceptions_and_invalid_results_of_a_tool_are_failures(tool, reason, words):
    calls = ToolCalls(60_000)
    calls.call("a", tool, {})
    _, outcome = await calls.next()
    assert isinstance(outcome, Failure)
    assert outcome.reason == reason
    assert words in outcome.detail
    assert len(outcome.detail) <= 500


@pytest.mark.anyio
async def test_tool_cannot_change_shared_inputs():
    shared = {"items": [1]}
    calls = ToolCalls(60_000)
    calls.call("a", lambda ports: ports["items"].append(2) or OK, shared)
    await calls.next()
    assert shared == {"items": [1]}


@pytest.mark.anyio
async def test_stubs_end_while_a_real_tool_runs():
    begun = asyncio.Event()

    async def tool(_):
        await begun.wait()
        return OK

    calls = ToolCalls(60_000)
    calls.call("real", tool, {})
    calls.call("stub", stub(30), {})
    assert await calls.next() == ("stub", OK)
    begun.set()
    assert await calls.next() == ("real", OK)
    assert calls.now_ms >= 30


@pytest.mark.anyio
async def test_unused_timeout_takes_no_simulated_time():
    calls = ToolCalls(60_000)
    calls.call("real", lambda _: OK, {})
    assert await calls.next() == ("real", OK)
    calls.call("stub", stub(100_000), {})
    assert await calls.next() == ("stub", OK)
    assert 100_000 <= calls.now_ms < 160_000
    assert await calls.next() is None


@pytest.mark.anyio
async def test_real_tool_starts_at_the_simulated_time():
    calls = ToolCalls(60_000)
    calls.call("stub", stub(10**9), {})
    await calls.next()
    hangs = threading.Event()
    calls.call("real", lambda _: hangs.wait(), {})
    calls.call("next", stub(5), {})
    async with asyncio.timeout(50):  # and not 11 days
        assert await calls.next() == ("next", OK)
    assert calls.now_ms == 10**9 + 5
    hangs.set()


@pytest.mark.anyio
async def test_timed_out_tool_is_cancelled():
    cancelled = asyncio.Event()

    async def tool(_):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    calls = ToolCalls(20)
    calls.call("a", tool, {})
    await calls.next()
    async with asyncio.timeout(50):
        await cancelled.wait()


@pytest.mark.anyio
async def test_abandoned_calls_do_not_end():
    calls = ToolCalls(60_000)
    calls.call("a", stub(1), {})
    calls.call("b", cancelling_tool, {})
    calls.give_up()
    assert await calls.next() is None
