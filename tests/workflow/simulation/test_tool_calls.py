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


async def ended(calls):
    """What ends until nothing is under way: keys and times."""
    found = []
    while (each := await calls.next()) is not None:
        found.append((each[0], calls.now_ms))
    return found


@pytest.mark.anyio
async def test_stubs_end_in_the_order_of_their_times_and_nobody_waits_for_them():
    calls = ToolCalls(1_000)
    for key, duration_ms in (("slow", 86_400_000), ("quick", 5), ("as quick", 5), ("at once", 0)):
        calls.call(key, stub(duration_ms), {})
    assert await ended(calls) == [
        ("at once", 0),
        ("quick", 5),
        ("as quick", 5),
        ("slow", 86_400_000),
    ]


@pytest.mark.anyio
async def test_what_is_called_later_ends_later():
    calls = ToolCalls(1_000)
    calls.call("first", stub(70), {})
    assert await calls.next() == ("first", OK)
    calls.call("second", stub(10), {})
    calls.wait("again", 5)
    assert await ended(calls) == [("again", 75), ("second", 80)]


@pytest.mark.anyio
async def test_a_stub_that_has_nothing_for_the_inputs_is_said_so():
    nothing = Stub((StubbedOutcome(OK, when={"a": 1}),))
    with pytest.raises(ValidationError, match='"a":2') as refused:
        ToolCalls(1_000).call("a", nothing, {"a": 2})
    assert refused.value.code == "stub_exhausted"


@pytest.mark.anyio
async def test_a_stub_in_python_follows_from_the_inputs():
    calls = ToolCalls(1_000)
    calls.call("a", StubFunction(lambda ports: Answer("ok", dict(ports)), 3), {"b": 2})
    assert await calls.next() == ("a", Answer("ok", {"b": 2}))
    assert calls.now_ms == 3


@pytest.mark.anyio
async def test_real_tools_run_beside_each_other():
    meeting = asyncio.Barrier(3)

    async def meet(_):
        await meeting.wait()
        return OK

    calls = ToolCalls(60_000)
    for key in "abc":
        calls.call(key, meet, {})
    assert sorted(key for key, _ in await ended(calls)) == ["a", "b", "c"]


@pytest.mark.anyio
async def test_a_tool_that_is_not_async_blocks_nobody():
    meeting = threading.Barrier(2)

    def meet(_):
        meeting.wait()
        return OK

    calls = ToolCalls(60_000)
    calls.call("a", meet, {})
    calls.call("b", meet, {})
    assert len(await ended(calls)) == 2


@pytest.mark.anyio
async def test_a_tool_may_give_something_to_wait_for():
    async def later(ports):
        return Answer("ok", dict(ports))

    def tool(ports):
        return later(ports)

    calls = ToolCalls(60_000)
    calls.call("a", tool, {"n": 1})
    assert await calls.next() == ("a", OK)


@pytest.mark.anyio
async def test_a_tool_that_never_responds_is_given_up():
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


def broken(error):
    def tool(_):
        raise error

    return tool


async def cancels(_):
    raise asyncio.CancelledError


async def leaves(_):
    sys.exit(3)


@pytest.mark.parametrize(
    ("tool", "reason", "words"),
    [
        (broken(ZeroDivisionError("no")), FailureReason.HTTP_ERROR, "ZeroDivisionError: no"),
        (broken(SystemExit(3)), FailureReason.HTTP_ERROR, "SystemExit"),
        (broken(ValidationError("input_invalid", "a")), FailureReason.INPUT_INVALID, "a"),
        (broken(ValueError("x" * 9_999)), FailureReason.HTTP_ERROR, "…"),
        (cancels, FailureReason.HTTP_ERROR, "cancelled"),
        (leaves, FailureReason.HTTP_ERROR, "SystemExit"),
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
async def test_whatever_a_tool_does_is_an_outcome(tool, reason, words):
    calls = ToolCalls(60_000)
    calls.call("a", tool, {})
    _, outcome = await calls.next()
    assert isinstance(outcome, Failure)
    assert outcome.reason == reason
    assert words in outcome.detail
    assert len(outcome.detail) <= 500


@pytest.mark.anyio
async def test_a_tool_cannot_change_what_others_get():
    shared = {"items": [1]}
    calls = ToolCalls(60_000)
    calls.call("a", lambda ports: ports["items"].append(2) or OK, shared)
    await calls.next()
    assert shared == {"items": [1]}


@pytest.mark.anyio
async def test_while_a_real_tool_runs_stubs_take_their_time():
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
async def test_a_limit_that_was_kept_ends_nothing_and_costs_no_time():
    calls = ToolCalls(60_000)
    calls.call("real", lambda _: OK, {})
    assert await calls.next() == ("real", OK)
    calls.call("stub", stub(100_000), {})
    assert await calls.next() == ("stub", OK)
    assert 100_000 <= calls.now_ms < 160_000
    assert await calls.next() is None


@pytest.mark.anyio
async def test_a_real_tool_begins_when_the_clock_says_so():
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
async def test_a_tool_that_is_given_up_is_cancelled():
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
async def test_what_is_left_alone_does_not_end():
    calls = ToolCalls(60_000)
    calls.call("a", stub(1), {})
    calls.call("b", cancels, {})
    calls.give_up()
    assert await calls.next() is None
