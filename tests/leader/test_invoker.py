import asyncio
import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.http.address_guard import AddressGuard
from nexus_tools.http.guarded_client import SystemResolver, guarded_client
from nexus_tools.leader.dispatch import invoker as invoker_module
from nexus_tools.leader.dispatch.file_descriptors import raise_file_limit
from nexus_tools.leader.dispatch.invoker import Invoker, retry_after_ms
from nexus_tools.leader.dispatch.response_classifier import Declined
from nexus_tools.leader.dispatch.tool_health import BreakerState
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.tool_server import Variant, tool

pytestmark = pytest.mark.anyio

OK = b'{"ok": {"result": 3}}'
TIMEOUT_S = 20
UNCONNECTED = Failure(FailureReason.UNREACHABLE, "cannot connect to the tool")
BROKEN = Failure(FailureReason.UNREACHABLE, "the connection to the tool was interrupted")
ONCE = {"retry_delay_ms": 60_000, "max_retry_delay_ms": 60_000}
"""Half of such a pause is longer than what is left of a window: each call sends one request."""


async def test_invoker_calls_a_toolkit_tool(make_invoker, make_call, serve_tools, add_tool):
    url = await serve_tools(add_tool)
    assert await make_invoker().invoke(make_call(url)) == Answer("ok", {"result": 3})


async def test_base_url_may_end_in_a_slash(make_invoker, make_call, serve_tools, add_tool):
    url = await serve_tools(add_tool)
    assert await make_invoker().invoke(make_call(url + "/")) == Answer("ok", {"result": 3})


async def test_request_has_the_protocol_headers(make_invoker, make_call, serve_bytes, respond):
    server = await serve_bytes(respond(body=OK))
    before = datetime.now(UTC)
    await make_invoker().invoke(make_call(server.url, timeout_ms=5_000))
    head, body = server.requests[0]
    line, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    invocation = "0x" + "a1".rjust(64, "0")
    assert line == "POST /invoke HTTP/1.1"
    assert json.loads(body) == {"a": 1, "b": 2}
    assert headers["content-type"] == "application/json"
    assert headers["accept-encoding"] == "identity"
    assert headers["nexus-invocation"] == headers["idempotency-key"] == invocation
    assert headers["nexus-tool"] == "xyz.example.math.add@1"
    assert headers["nexus-max-outcome-bytes"] == "1000"
    assert headers["nexus-deadline"].endswith("Z")
    deadline = datetime.fromisoformat(headers["nexus-deadline"])
    assert before + timedelta(seconds=4) < deadline < datetime.now(UTC) + timedelta(seconds=6)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (422, FailureReason.INPUT_INVALID),
        (201, FailureReason.HTTP_ERROR),
        (204, FailureReason.HTTP_ERROR),
        (302, FailureReason.HTTP_ERROR),
        (400, FailureReason.HTTP_ERROR),
        (404, FailureReason.HTTP_ERROR),
        (413, FailureReason.HTTP_ERROR),
        (500, FailureReason.HTTP_ERROR),
    ],
)
async def test_status_maps_to_a_reason_without_retry(
    make_invoker, make_call, serve_bytes, *, respond, status, reason
):
    server = await serve_bytes(respond(status, headers=["Location: http://127.0.0.1:1/"]))
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is reason
    assert str(status) in result.detail
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (b'{"code": "number_too_large"}', FailureReason.INPUT_INVALID),
        (b'{"detail": [{"loc": ["body", "a"]}]}', FailureReason.INPUT_INVALID),
        (b'["key_reused"]', FailureReason.INPUT_INVALID),
        (b'{"code": "key_reused", "detail": "%b"}' % (b"x" * 8_192), FailureReason.INPUT_INVALID),
    ],
    ids=["own word", "other framework", "no object", "too long"],
)
async def test_422_is_input_invalid_unless_it_concerns_the_key(
    make_invoker, make_call, serve_bytes, *, respond, problem, reason
):
    server = await serve_bytes(respond(422, problem))
    result = await make_invoker().invoke(make_call(server.url))
    assert result.reason is reason


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, b"", FailureReason.UNAUTHORIZED),
        (403, b'{"code": "answers_unpaid"}', FailureReason.UNAUTHORIZED),
        (422, b'{"code": "key_reused"}', FailureReason.HTTP_ERROR),
    ],
)
async def test_refusal_of_this_leader_is_declined_without_retry(
    make_invoker, make_call, serve_bytes, *, respond, status, body, reason
):
    server = await serve_bytes(respond(status, body))
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Declined)
    assert result.failure.reason is reason
    assert str(status) in result.failure.detail
    assert len(server.requests) == 1


async def test_tool_past_its_own_time_limit_is_called_once(
    make_invoker, make_call, serve_bytes, respond
):
    server = await serve_bytes(respond(504, b'{"code": "timed_out"}'))
    result = await make_invoker().invoke(make_call(server.url))
    assert result == Failure(FailureReason.TIMED_OUT, "the tool reached its own time limit: 504")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [409, 429, 502, 503, 504])
async def test_busy_tool_is_retried_with_the_same_key(
    make_invoker, make_call, serve_bytes, respond, status
):
    async def reply(writer, number):
        await respond(status if number < 3 else 200, OK if number == 3 else b"")(writer, number)

    server = await serve_bytes(reply)
    assert await make_invoker().invoke(make_call(server.url)) == Answer("ok", {"result": 3})
    keys = [
        line
        for head, _ in server.requests
        for line in head.split("\r\n")
        if line.lower().startswith("idempotency-key")
    ]
    assert len(keys) == 3
    assert len(set(keys)) == 1


async def test_running_call_is_awaited_and_runs_once(make_invoker, make_call, serve_tools):
    started, go_on = asyncio.Event(), asyncio.Event()
    runs = 0

    @tool("xyz.example.math.add@1")
    async def slow(a: int, b: int) -> Sum:
        """Add when `go_on` is set."""
        nonlocal runs
        runs += 1
        started.set()
        await go_on.wait()
        return Sum(result=a + b)

    url = await serve_tools(slow)
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        killed = group.create_task(make_invoker().invoke(make_call(url)))
        await started.wait()
        killed.cancel()
        # More 409 responses than any limit of attempts would allow.
        restarted = group.create_task(make_invoker().invoke(make_call(url)))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(restarted), 0.5)
        go_on.set()
    assert restarted.result() == Answer("ok", {"result": 3})
    assert runs == 1


@pytest.fixture
def serve_until_the_window_ends(serve_bytes, monkeypatch):
    """Serve a response several times, and then advance the clock by a minute, twice the window."""

    async def serve(response, count):
        async def reply(writer, number):
            if number == count:
                start = invoker_module._now()
                monkeypatch.setattr(invoker_module, "_now", lambda: start + 60)
            await response(writer, number)

        return await serve_bytes(reply)

    return serve


@pytest.mark.parametrize(
    ("timeout_ms", "outcome"),
    [
        (20_000, Failure(FailureReason.TIMED_OUT, "the tool is still running the call: 409")),
        (120_000, None),
    ],
)
async def test_running_call_fails_at_the_window_end_only_after_its_timeout(
    make_invoker, make_call, serve_until_the_window_ends, *, respond, timeout_ms, outcome
):
    response = respond(409, headers=["Retry-After: 3600"])
    server = await serve_until_the_window_ends(response, 2)
    assert await make_invoker().invoke(make_call(server.url, timeout_ms=timeout_ms)) == outcome
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("timeout_ms", "outcome"),
    [(20_000, BROKEN), (120_000, Declined(BROKEN))],
)
async def test_unreachable_tool_is_left_to_the_next_leader_before_its_timeout(
    make_invoker, make_call, serve_until_the_window_ends, timeout_ms, outcome
):
    """A leader that restarts late in its window may meet a tool that is restarting too."""

    async def resets(writer, _number):
        writer.transport.abort()

    server = await serve_until_the_window_ends(resets, 2)
    assert await make_invoker().invoke(make_call(server.url, timeout_ms=timeout_ms)) == outcome
    assert len(server.requests) == 2


async def test_busy_tool_is_abandoned_at_the_window_end(
    make_invoker, make_call, serve_until_the_window_ends, respond
):
    server = await serve_until_the_window_ends(respond(503), 7)
    result = await make_invoker().invoke(make_call(server.url))
    assert result == Failure(FailureReason.HTTP_ERROR, "the tool responded with 503")
    assert len(server.requests) == 7


async def test_recovered_tool_responds_to_all_waiting_calls(
    make_invoker, make_call, serve_bytes, respond
):
    async def reply(writer, number):
        if number <= 60:
            writer.transport.abort()
        else:
            await respond(200, OK)(writer, number)

    server = await serve_bytes(reply)
    invoker = make_invoker(breaker_failures=2, breaker_open_ms=10)
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        tasks = [group.create_task(invoker.invoke(make_call(server.url))) for _ in range(20)]
    assert [task.result() for task in tasks] == [Answer("ok", {"result": 3})] * 20


@pytest.mark.parametrize("status", [None, 503])
async def test_waiting_call_holds_no_slot(
    make_invoker, make_call, serve_bytes, respond, unused_tcp_port, status
):
    good = await serve_bytes(respond(body=OK))
    busy = await serve_bytes(respond(status or 200))
    away = busy.url if status else f"http://127.0.0.1:{unused_tcp_port}"
    invoker = make_invoker(
        max_concurrent=1,
        max_concurrent_per_tool=1,
        retry_delay_ms=60_000,
        max_retry_delay_ms=60_000,
        breaker_failures=1,
        breaker_open_ms=60_000,
    )
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        waiting = group.create_task(invoker.invoke(make_call(away, window_s=600)))
        other = make_call(good.url, tool=Address.of(0x7002))
        assert await invoker.invoke(other) == Answer("ok", {"result": 3})
        assert not waiting.done()
        waiting.cancel()


async def test_tool_busy_beyond_the_window_is_not_retried(
    make_invoker, make_call, serve_bytes, respond
):
    server = await serve_bytes(respond(429, headers=["Retry-After: 60"]))
    async with asyncio.timeout(TIMEOUT_S):
        result = await make_invoker().invoke(make_call(server.url, window_s=30))
    limited = Failure(FailureReason.HTTP_ERROR, "the tool responded with 429")
    assert result == Declined(limited)
    assert len(server.requests) == 1


async def test_reset_connection_is_retried(make_invoker, make_call, serve_bytes, respond):
    async def reply(writer, number):
        if number == 1:
            writer.transport.abort()
        else:
            await respond(200, OK)(writer, number)

    server = await serve_bytes(reply)
    assert await make_invoker().invoke(make_call(server.url)) == Answer("ok", {"result": 3})
    assert len(server.requests) == 2


async def test_truncated_body_is_retried(make_invoker, make_call, serve_bytes, respond):
    async def reply(writer, number):
        if number == 1:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        else:
            await respond(200, OK)(writer, number)

    server = await serve_bytes(reply)
    assert await make_invoker().invoke(make_call(server.url)) == Answer("ok", {"result": 3})


async def test_closed_port_is_unreachable(make_invoker, make_call, unused_tcp_port):
    call = make_call(f"http://127.0.0.1:{unused_tcp_port}")
    result = await make_invoker(**ONCE).invoke(call)
    assert result == Declined(UNCONNECTED)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"{}",
        b'{"ok": {"result": 3}, "err": {}}',
        b'{"ok": {"result": 3}, "ok": {"result": 4}}',
        b'{"ok": {"result": 3, "result": 4}}',
        b'{"unknown": {"result": 3}}',
        b'{"ok": {"result": "3"}}',
        b'{"ok": {}}',
        b'{"ok": {"result": NaN}}',
        b'{"ok": {"result": 3}} trailing',
        b'\xff\xfe{"ok": {"result": 3}}',
        b'{"ok": ' + b"[" * 200 + b"]" * 200 + b"}",
    ],
)
async def test_response_without_an_answer_is_output_invalid(
    make_invoker, make_call, serve_bytes, respond, body
):
    server = await serve_bytes(respond(body=body))
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.OUTPUT_INVALID
    assert 0 < len(result.detail.encode()) <= 200


async def test_compressed_response_is_refused_without_decompression(
    make_invoker, make_call, serve_bytes, respond
):
    bomb = gzip.compress(b" " * 50_000_000)
    server = await serve_bytes(respond(body=bomb, headers=["Content-Encoding: gzip"]))
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.HTTP_ERROR
    assert "compressed" in result.detail


async def test_response_with_excessive_declared_length_is_not_read(
    make_invoker, make_call, serve_bytes
):
    async def reply(writer, _number):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        await asyncio.Event().wait()

    server = await serve_bytes(reply)
    async with asyncio.timeout(TIMEOUT_S):
        result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.OUTPUT_TOO_LARGE


async def test_endless_response_is_cut_off(make_invoker, make_call, serve_bytes):
    sent = 0

    async def reply(writer, _number):
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
            await writer.drain()
            sent += 65_536

    server = await serve_bytes(reply)
    async with asyncio.timeout(TIMEOUT_S):
        result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.OUTPUT_TOO_LARGE
    assert sent < 20_000_000


async def test_slow_response_ends_with_the_tool_timeout(make_invoker, make_call, serve_bytes):
    async def reply(writer, _number):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    server = await serve_bytes(reply)
    async with asyncio.timeout(TIMEOUT_S):
        result = await make_invoker().invoke(make_call(server.url, timeout_ms=1_000))
    assert result == Failure(FailureReason.TIMED_OUT, "the tool did not respond within 1000 ms")
    assert len(server.requests) == 1


async def test_window_end_before_the_timeout_is_no_tool_failure(
    make_invoker, make_call, serve_bytes
):
    async def reply(_writer, _number):
        await asyncio.Event().wait()

    server = await serve_bytes(reply)
    async with asyncio.timeout(TIMEOUT_S):
        assert await make_invoker().invoke(make_call(server.url, window_s=0.1)) is None


async def test_oversized_headers_are_an_http_error(make_invoker, make_call, serve_bytes, respond):
    server = await serve_bytes(respond(body=OK, headers=[f"X-Large: {'x' * 20_000}"]))
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.HTTP_ERROR


async def test_too_many_headers_are_an_http_error(make_invoker, make_call, serve_bytes, respond):
    server = await serve_bytes(respond(body=OK, headers=[f"X-{n}: y" for n in range(500)]))
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.HTTP_ERROR


async def test_invalid_http_is_an_http_error(make_invoker, make_call, serve_bytes):
    async def reply(writer, _number):
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")

    server = await serve_bytes(reply)
    result = await make_invoker().invoke(make_call(server.url))
    assert isinstance(result, Failure)
    assert result.reason is FailureReason.HTTP_ERROR


class Text(Variant, name="ok"):
    text: str


class Sum(Variant, name="ok"):
    result: int


@tool("xyz.example.text.long@1")
async def long_text(length: int) -> Text:
    """As many letters as are asked for."""
    return Text(text="x" * length)


@pytest.mark.parametrize(
    ("length", "fits"),
    [(100 - len('ok{"text":""}'), True), (101 - len('ok{"text":""}'), False)],
)
async def test_outcome_has_at_most_the_paid_bytes(
    make_invoker, make_call, serve_tools, length, fits
):
    from nexus_tools.tool import InterfaceValidator

    url = await serve_tools(long_text)
    call = make_call(
        url,
        inputs={"length": length},
        fqn="xyz.example.text.long@1",
        max_outcome_bytes=100,
        validator=InterfaceValidator(long_text.definition(url)),
    )
    result = await make_invoker().invoke(call)
    if fits:
        assert result == Answer("ok", {"text": "x" * length})
    else:
        assert isinstance(result, Failure)
        assert result.reason is FailureReason.OUTPUT_TOO_LARGE


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (
            b'{"code": "output_too_large", "detail": "it has 512 bytes,\\n40 are paid for"}',
            "it has 512 bytes, 40 are paid for",
        ),
        (b'{"code": "output_too_large"}', "status 422"),
    ],
)
async def test_oversized_answer_reports_its_size(
    make_invoker, make_call, serve_bytes, respond, problem, why
):
    server = await serve_bytes(respond(422, problem))
    result = await make_invoker().invoke(make_call(server.url))
    detail = f"the tool's answer is too large: {why}"
    assert result == Failure(FailureReason.OUTPUT_TOO_LARGE, detail)


async def test_invoker_limits_concurrent_requests(make_invoker, make_call, serve_app):
    running, most = 0, 0
    full = asyncio.Event()
    go_on = asyncio.Event()

    async def app(scope, _receive, send):
        nonlocal running, most
        if scope["type"] != "http":
            return
        running += 1
        most = max(most, running)
        if running == 2:
            full.set()
        await go_on.wait()
        running -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": OK})

    url = await serve_app(app)
    invoker = make_invoker(max_concurrent_per_tool=2)
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        tasks = [group.create_task(invoker.invoke(make_call(url))) for _ in range(6)]
        await full.wait()
        go_on.set()
    assert [task.result() for task in tasks] == [Answer("ok", {"result": 3})] * 6
    assert most == 2


async def test_fast_tool_is_not_delayed_by_ten_slow_ones(
    make_invoker, make_call, serve_app, serve_bytes, respond
):
    """Ten tools do not respond to seventy calls each, all of which are in flight."""
    waiting = 0
    all_wait = asyncio.Event()

    async def hangs(scope, receive, _send):
        nonlocal waiting
        if scope["type"] == "http":
            waiting += 1
            if waiting == 700:
                all_wait.set()
            while (await receive())["type"] != "http.disconnect":
                pass

    raise_file_limit(700)
    slow, fast = await serve_app(hangs), await serve_bytes(respond(body=OK))
    invoker = make_invoker()
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        calls = [make_call(slow, tool=Address.of(number % 10)) for number in range(700)]
        tasks = [group.create_task(invoker.invoke(call)) for call in calls]
        await all_wait.wait()
        for _ in range(3):
            assert await invoker.invoke(make_call(fast.url)) == Answer("ok", {"result": 3})
        assert not any(task.done() for task in tasks)
        for task in tasks:
            task.cancel()


async def test_unreachable_tool_is_paused_after_several_failures(
    make_invoker, make_call, serve_bytes
):
    async def reply(writer, _number):
        writer.transport.abort()

    server = await serve_bytes(reply)
    invoker = make_invoker(breaker_failures=2, breaker_open_ms=60_000, **ONCE)
    results = [await invoker.invoke(make_call(server.url)) for _ in range(2)]
    late = [make_call(server.url, window_s=1) for _ in range(2)]
    results += await asyncio.gather(*map(invoker.invoke, late))
    assert all(result.failure.reason is FailureReason.UNREACHABLE for result in results)
    assert len(server.requests) == 2
    health = invoker.tool_health.of(late[0].tool, late[0].fqn)
    assert health.breaker.state is BreakerState.OPEN
    assert invoker.tool_health.tools_down() == 1


async def test_refused_address_is_reported_only_to_the_operator(
    config, make_call, answer_size, logged
):
    guard = AddressGuard(http=True)
    async with guarded_client(guard, SystemResolver(), max_connections=4) as client:
        once = config.model_copy(update=ONCE)
        invoker = Invoker(once, client, answer_size, LeaderMetrics())
        result = await invoker.invoke(make_call("http://localhost:1"))
        await invoker.invoke(make_call("http://localhost:1"))
    assert result == Declined(UNCONNECTED)
    assert [(line["event"], line["why"]) for line in logged] == [
        (
            "address_refused",
            "the address is not public: loopback (Pass --allow-loopback to allow it.)",
        )
    ]


async def test_other_tools_are_not_paused(
    make_invoker, make_call, serve_bytes, respond, unused_tcp_port
):
    server = await serve_bytes(respond(body=OK))
    invoker = make_invoker(breaker_failures=1, breaker_open_ms=60_000, **ONCE)
    await invoker.invoke(make_call(f"http://127.0.0.1:{unused_tcp_port}"))
    other = make_call(server.url, tool=Address.of(0x7002))
    assert await invoker.invoke(other) == Answer("ok", {"result": 3})


# --- Retries

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "milliseconds"),
    [
        ("0", 0),
        ("2", 2_000),
        (" 120 ", 120_000),
        ("Sat, 21 Nov 2026 12:00:05 GMT", 5_000),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("99999999999999999999", None),
        ("²", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2026 00:00:00 +99999999999999999999", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0),
        ("9" * 5_000, None),
    ],
)
def test_retry_after_parses_seconds_and_dates(header, milliseconds):
    assert retry_after_ms(header, NOW) == milliseconds


NUMBERS = st.integers(0, 10**25).map(str)
DATES = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    *(st.sampled_from(("Mon", "Tue", "")), NUMBERS, st.sampled_from(("Jan", "Feb", "x"))),
    *(NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.sampled_from(("GMT", "", "+2359", "-2359", "+9999", "+99999999999999999999")),
)


@given(st.text() | DATES | st.from_regex(r"\w{3}, 0?1 Jan [0-9]{1,5} 0:0:0 [+-][0-9]{1,5}"))
def test_retry_after_ignores_invalid_values(header):
    pause_ms = retry_after_ms(header, NOW)
    assert pause_ms is None or pause_ms >= 0
