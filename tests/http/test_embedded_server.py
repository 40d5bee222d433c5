import asyncio
import signal
import socket
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from nexus_tools.errors import UsageError
from nexus_tools.http.bounded_http import BoundedHttpProtocol
from nexus_tools.http.embedded_server import (
    listening_socket,
    parse_host_and_port,
    serve_embedded,
    url_of,
)

pytestmark = pytest.mark.anyio


async def _hello(_):
    return PlainTextResponse("hello")


HELLO = Starlette(routes=[Route("/", _hello)])


async def _ask(url):
    async with httpx.AsyncClient() as http:
        return await http.get(url)


async def test_application_answers_within_the_context():
    listener = listening_socket("127.0.0.1", 0)
    url = url_of(listener)
    async with serve_embedded(HELLO, listener):
        response = await _ask(url)
    assert (response.text, "date" in response.headers) == ("hello", True)
    with pytest.raises(httpx.ConnectError):
        await _ask(url)


async def test_signal_handlers_are_not_changed():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    async with serve_embedded(HELLO, listening_socket("127.0.0.1", 0)):
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


async def test_pending_request_gets_its_response_when_the_context_ends():
    entered, opened = asyncio.Event(), asyncio.Event()

    async def slow(_):
        entered.set()
        await opened.wait()
        return PlainTextResponse("late")

    listener = listening_socket("127.0.0.1", 0)
    async with serve_embedded(Starlette(routes=[Route("/", slow)]), listener):
        asking = asyncio.create_task(_ask(url_of(listener)))
        await entered.wait()
        asyncio.get_running_loop().call_later(0, opened.set)
    assert (await asking).text == "late"


async def test_failing_lifespan_is_raised_and_closes_the_port():
    @asynccontextmanager
    async def failing(_):
        raise RuntimeError("no database")
        yield

    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    with pytest.raises(UsageError) as caught:
        async with serve_embedded(Starlette(lifespan=failing), listener, lifespan="on"):
            pass
    assert caught.value.code == "start_failed"
    listening_socket("127.0.0.1", port).close()


async def test_cancelled_start_ends_the_lifespan_without_a_traceback(caplog):
    starting, may_start, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def lifespan(_):
        starting.set()
        await may_start.wait()
        yield
        ended.set()

    async def serve(listener):
        async with serve_embedded(Starlette(lifespan=lifespan), listener, lifespan="on"):
            pytest.fail("the server was cancelled")

    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    serving = asyncio.create_task(serve(listener))
    await starting.wait()
    serving.cancel()
    asyncio.get_running_loop().call_later(0, may_start.set)
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert ended.is_set()
    assert caplog.messages == []
    listening_socket("127.0.0.1", port).close()


async def test_connections_send_small_responses_at_once():
    """asyncio sets TCP_NODELAY only if the listening socket names its protocol."""
    listener = listening_socket("127.0.0.1", 0)
    assert listener.proto == socket.IPPROTO_TCP
    async with serve_embedded(HELLO, listener) as serving:
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        await reader.readuntil(b"hello")
        [connection] = serving.server_state.connections
        peer = connection.transport.get_extra_info("socket")
        assert peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
        writer.close()


async def test_port_in_use_is_refused():
    with listening_socket("127.0.0.1", 0) as taken, pytest.raises(UsageError) as caught:
        listening_socket("127.0.0.1", taken.getsockname()[1])
    assert caught.value.code == "address_unavailable"


# --- Slow clients


class Impatient(BoundedHttpProtocol):
    head_timeout_s = 0.05
    max_head_bytes = 1_000
    stall_timeout_s = 0.05


@asynccontextmanager
async def _connected(app, protocol):
    """Open a connection to a server of `app`; the test sends the data."""
    listener = listening_socket("127.0.0.1", 0)
    address = listener.getsockname()
    async with serve_embedded(app, listener, http=protocol):
        reader, writer = await asyncio.open_connection(*address)
        try:
            yield reader, writer
        finally:
            writer.close()


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nhost:", b"GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HT"]
)
async def test_unfinished_headers_are_408(sent):
    async with _connected(HELLO, Impatient) as (reader, writer):
        writer.write(sent)
        received = await reader.read()
    assert b"HTTP/1.1 408 Request Timeout\r\n" in received
    assert (b"hello" in received) == (b"\r\n\r\n" in sent)


@pytest.mark.parametrize("is_first", [True, False])
async def test_headers_that_are_too_long_are_431(is_first):
    class Small(BoundedHttpProtocol):
        max_head_bytes = 1_000

    async with _connected(HELLO, Small) as (reader, writer):
        if not is_first:
            writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            await reader.readuntil(b"hello")
        writer.write(b"GET / HTTP/1.1\r\nx: " + b"y" * 1_000)
        assert (await reader.read()).startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


@pytest.fixture
async def pass_time(monkeypatch):
    """Advance the loop's clock by some seconds, and run the callbacks that are due."""
    loop, passed = asyncio.get_running_loop(), []
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + sum(passed))

    async def pass_time(seconds):
        passed.append(seconds)
        for _ in range(3):  # the loop checks its timers and runs those that are due
            await asyncio.sleep(0)

    return pass_time


async def test_body_may_be_longer_and_slower_than_headers(pass_time):
    class Short(BoundedHttpProtocol):
        head_timeout_s = 2.0  # uvicorn itself closes idle connections after 5 s

    begun, arrived, received = asyncio.Event(), asyncio.Queue(), 0

    async def length(request):
        begun.set()
        async for part in request.stream():
            arrived.put_nowait(len(part))
        return PlainTextResponse("all of it")

    app = Starlette(routes=[Route("/", length, methods=["POST"])])
    async with _connected(app, Short) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 90000\r\n\r\n")
        await begun.wait()
        for sent in (0, 30_000, 60_000):
            while received < sent:
                received += await arrived.get()
            await pass_time(2 * Short.head_timeout_s)
            writer.write(b"x" * 30_000)
        assert (await reader.readuntil(b"all of it")).startswith(b"HTTP/1.1 200")
        await pass_time(2 * Short.head_timeout_s)  # too long for the next request headers
        assert (await reader.read()).startswith(b"HTTP/1.1 408")


async def test_client_that_does_not_read_its_response_is_disconnected():
    is_gone = asyncio.Event()

    async def large(scope, receive, send):
        if scope["type"] == "http":
            await receive()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            # More than the socket buffers of both sides hold.
            await send({"type": "http.response.body", "body": bytes(2**26), "more_body": True})
            await send({"type": "http.response.body", "body": b"1", "more_body": True})
            assert await receive() == {"type": "http.disconnect"}
            is_gone.set()

    async with _connected(large, Impatient) as (_, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        await asyncio.wait_for(is_gone.wait(), 10)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("[::1]:0", ("::1", 0)),
        ("80", ("127.0.0.1", 80)),
        (":80", ("127.0.0.1", 80)),
        ("localhost:443", ("localhost", 443)),
    ],
)
async def test_address_is_a_host_and_a_port(text, place):
    assert parse_host_and_port(text) == place


@pytest.mark.parametrize("text", ["", "a:", "a:b", "a:65536", "a:-1"])
async def test_invalid_addresses_are_refused(text):
    with pytest.raises(UsageError) as caught:
        parse_host_and_port(text)
    assert caught.value.code == "address_invalid"


async def test_empty_host_listens_on_the_loopback_interface():
    with listening_socket("", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


async def test_url_of_an_ipv6_address_has_brackets():
    try:
        listener = listening_socket("::1", 0)
    except UsageError:
        pytest.skip("this machine has no IPv6 loopback")
    with listener:
        assert url_of(listener, "https") == f"https://[::1]:{listener.getsockname()[1]}"
