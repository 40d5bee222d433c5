"""Requirements for any transport, over real sockets. A replacement of ours must pass these tests.

The application is minimal and has no node. Clients control their frames.
"""

import asyncio
import socket
import struct
from collections import Counter
from contextlib import ExitStack, suppress

import pytest
from hpack import Decoder, Encoder

from nexus_tools.sui.localnet.http import Budget, HttpServer
from nexus_tools.sui.localnet.http.http2 import Http2Connection

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS = 1, 4
# RFC 9113, section 7.
PROTOCOL_ERROR, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, REFUSED_STREAM, COMPRESSION_ERROR = (
    1,
    3,
    6,
    7,
    9,
)
LARGEST_WINDOW = 2**31 - 1
MAX_CONCURRENT_STREAMS = 3  # RFC 9113, section 6.5.2
MEGABYTE = 1_000_000


class App:
    """An application that answers immediately, echoes its input, or sends messages forever."""

    def __init__(self):
        self.message = b"m"
        self.messages = 1
        self.sent = Counter()  # messages that the transport has accepted, by exchange
        self.received = 0
        self.begun = []  # paths
        self.ended = 0
        self.has_ended = asyncio.Event()
        self.reads = asyncio.Event()

    def needs_body(self, exchange):
        return exchange.head.path != "/once"

    def begin(self, exchange):
        path = exchange.head.path
        self.begun.append(path)
        if path == "/once":
            assert exchange.respond(200, (("content-length", "2"),), b"ok")
            return None
        return {"/echo": self._echo, "/feed": self._feed, "/upload": self._upload}[path](exchange)

    async def _echo(self, exchange):
        body = await exchange.body.read_all(1 << 30)
        await exchange.start(200, ())
        await exchange.end(body)

    async def _feed(self, exchange):
        try:
            await exchange.start(200, ())
            for _ in range(self.messages):
                await exchange.send(self.message)
                self.sent[exchange] += 1
            await asyncio.Event().wait()
        finally:
            self.ended += 1
            self.has_ended.set()

    async def _upload(self, exchange):
        """Read only on request, and report the number of bytes."""
        await self.reads.wait()
        while part := await exchange.body.read(10_000):
            self.received += len(part)
        await exchange.start(200, ())
        await exchange.end(str(self.received).encode())


def frame(kind, flags, stream, payload=b""):
    return (
        struct.pack(">HBBBL", len(payload) >> 8, len(payload) & 255, kind, flags, stream) + payload
    )


class Http2:
    """One connection with the largest windows, which reads only on request."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.encoder, self.decoder = Encoder(), Decoder()
        self.stream = -1
        self.bodies = {}
        self.heads = {}
        self.ended = set()
        self.resets = {}
        self.goaway = None
        self.settings = {}
        largest = struct.pack(">HL", 4, LARGEST_WINDOW)
        self.send(PREFACE, frame(SETTINGS, 0, 0, largest))
        self.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">L", LARGEST_WINDOW - 65_535)))

    def send(self, *parts):
        self.writer.write(b"".join(parts))

    def head(self, path, *, method="POST", end=True):
        """Send the headers of a request, which end it unless `end` is false."""
        fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a")]
        return self.fields(fields, end=end)

    def fields(self, fields, *, end=True):
        """Send a request with only these fields."""
        self.stream += 2
        flags = END_HEADERS | (END_STREAM if end else 0)
        self.send(frame(HEADERS, flags, self.stream, self.encoder.encode(fields)))
        return self.stream

    async def take(self):
        """Read a frame."""
        high, low, kind, flags, stream = struct.unpack(">HBBBL", await self.reader.readexactly(9))
        payload = await self.reader.readexactly(high << 8 | low)
        if kind == DATA:
            self.bodies[stream] = self.bodies.get(stream, b"") + payload
        elif kind == HEADERS:
            self.heads.setdefault(stream, {}).update(self.decoder.decode(payload))
        elif kind == SETTINGS and not flags:
            self.settings.update(struct.iter_unpack(">HL", payload))
        elif kind == PING and not flags:
            self.send(frame(PING, 1, 0, payload))
        elif kind == RESET:
            self.resets[stream] = int.from_bytes(payload, "big")
        elif kind == GOAWAY:
            self.goaway = int.from_bytes(payload[4:8], "big")
        if kind == RESET or (kind in {DATA, HEADERS} and flags & END_STREAM):
            self.ended.add(stream)
        return kind, stream

    async def until(self, condition):
        while not condition():
            await self.take()

    async def body(self, stream):
        """Return the whole body of a response."""
        await self.until(lambda: stream in self.ended)
        return self.bodies.get(stream, b"")


class Http1:
    """One connection of HTTP/1.1."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    def head(self, path, *headers, method="POST"):
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", *headers]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")


@pytest.fixture
def app():
    return App()


@pytest.fixture
async def serve():
    """Return a function that starts a server of an application and returns the port."""
    servers = []

    async def start(application, **options):
        servers.append(HttpServer(application, **options))
        return await servers[-1].start()

    yield start
    for server in servers:
        await server.stop()


@pytest.fixture
async def connect():
    """Return a function that connects; `window` is the receive buffer of the client."""
    writers = []

    async def make(kind, port, window=None):
        client = socket.socket()
        if window:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=client, limit=window or 2**16)
        writers.append(writer)
        return kind(reader, writer)

    yield make
    for writer in writers:
        writer.transport.abort()


async def is_dropped(client):
    """Wait until the other side has ended the connection, and ignore its last data."""
    with suppress(ConnectionError):
        while await client.reader.read(65_536):
            pass
    return True


async def wait_until_stable(count):
    """Wait until a count has stopped growing."""
    last, still = -1, 0
    while still < 200:
        await asyncio.sleep(0)
        still = still + 1 if count() == last else 0
        last = count()
    return last


# --- Many


async def test_one_connection_serves_20_000_calls(app, serve, connect):
    client = await connect(Http2, await serve(app))
    for first in range(0, 20_000, 100):
        for _ in range(100):
            client.head("/once")
        await client.until(lambda first=first: len(client.ended) == first + 100)
    assert set(client.bodies.values()) == {b"ok"}
    assert len(client.bodies) == 20_000


async def test_cancelled_calls_do_not_end_the_connection(app, serve, connect):
    client = await connect(Http2, await serve(app))
    for _ in range(2_000):
        given_up = client.head("/feed")
        client.send(frame(RESET, 0, given_up, struct.pack(">L", 8)))
    assert await client.body(client.head("/once")) == b"ok"
    assert app.ended == sum(app.sent.values())


async def test_one_connection_serves_200_subscriptions_and_other_calls(app, serve, connect):
    client = await connect(Http2, await serve(app))
    streams = [client.head("/feed") for _ in range(200)]
    await client.until(lambda: len(client.bodies) == 200)
    assert {client.bodies[stream] for stream in streams} == {b"m"}
    assert await client.body(client.head("/once")) == b"ok"
    assert not client.ended.intersection(streams)


async def test_application_refuses_calls_because_clients_may_start_1024_streams(
    app, serve, connect
):
    client = await connect(Http2, await serve(app))
    for _ in range(1_024):
        client.head("/feed")
    await client.until(lambda: len(client.bodies) == 1_024)
    assert client.settings[MAX_CONCURRENT_STREAMS] == 1_024


async def test_stream_above_the_limit_is_refused_separately(app, serve, connect):
    client = await connect(Http2, await serve(app))
    streams = [client.head("/feed") for _ in range(1_030)]
    await client.until(lambda: len(client.bodies) == 1_024 and len(client.resets) == 6)
    assert client.resets == dict.fromkeys(streams[1_024:], REFUSED_STREAM)
    client.send(frame(RESET, 0, streams[0], struct.pack(">L", 8)))
    await app.has_ended.wait()
    assert await client.body(client.head("/once")) == b"ok"


# --- Slow subscribers


@pytest.mark.parametrize("kind", [Http1, Http2])
async def test_little_is_buffered_for_a_subscriber_that_does_not_read(app, serve, connect, kind):
    app.message, app.messages = bytes(40_000), 1_300
    client = await connect(kind, await serve(app), window=4_096)
    client.head("/feed")
    await wait_until_stable(app.sent.total)
    assert app.sent.total() * len(app.message) < 10 * MEGABYTE


async def test_buffer_does_not_grow_with_200_unread_subscriptions(app, serve, connect):
    app.message, app.messages = bytes(40_000), 1_300
    client = await connect(Http2, await serve(app), window=4_096)
    for _ in range(200):
        client.head("/feed")
    await wait_until_stable(app.sent.total)
    assert app.sent.total() * len(app.message) < 10 * MEGABYTE


@pytest.mark.parametrize("kind", [Http1, Http2])
async def test_slow_reader_receives_everything(app, serve, connect, kind):
    app.message, app.messages = bytes(40_000), 300
    client = await connect(kind, await serve(app), window=4_096)
    client.head("/feed")
    assert await wait_until_stable(app.sent.total) < 300
    read = 0
    while app.sent.total() < 300:
        read += len(await client.reader.read(2**20))
    assert read > 200 * 40_000


async def test_response_waits_only_for_the_window_of_its_stream(app, serve, connect):
    app.message = bytes(100_000)
    client = await connect(Http2, await serve(app))
    client.send(frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 1_000)))
    narrow = client.head("/feed")
    await client.until(lambda: len(client.bodies.get(narrow, b"")) == 1_000)
    assert await client.body(client.head("/once")) == b"ok"
    client.send(frame(WINDOW_UPDATE, 0, narrow, struct.pack(">L", 99_000)))
    await client.until(lambda: len(client.bodies[narrow]) == 100_000)


async def test_request_body_stops_at_the_window_until_it_is_read(app, serve, connect):
    client = await connect(Http1, await serve(app), window=4_096)
    client.head("/upload", f"content-length: {24 * MEGABYTE}")
    client.writer.write(bytes(24 * MEGABYTE))
    await wait_until_stable(client.writer.transport.get_write_buffer_size)
    assert client.writer.transport.get_write_buffer_size() > 5 * MEGABYTE
    app.reads.set()
    assert b"24000000" in await client.reader.readuntil(b"0\r\n\r\n")


async def test_large_request_arrives_as_windows_are_released(app, serve, connect):
    app.reads.set()
    client = await connect(Http2, await serve(app))
    stream, room, left = client.head("/upload", end=False), 65_535, 20 * MEGABYTE
    received = await asyncio.wait_for(upload(client, stream, room, left), 30)
    assert received == b"20000000"


async def upload(client, stream, connection_room, left):
    """Send a body as far as both windows allow, and return the response."""
    rooms = {0: connection_room, stream: 65_535}
    initial = client.settings
    while left:
        while min(rooms.values()) <= 0:
            high, low, kind, flags, number = struct.unpack(
                ">HBBBL", await client.reader.readexactly(9)
            )
            payload = await client.reader.readexactly(high << 8 | low)
            if kind == WINDOW_UPDATE:
                rooms[number] += int.from_bytes(payload, "big")
            elif kind == SETTINGS and not flags:
                initial.update(struct.iter_unpack(">HL", payload))
                rooms[stream] += initial.get(4, 65_535) - 65_535
        size = min(left, 16_384, *rooms.values())
        left -= size
        client.send(frame(DATA, 0 if left else END_STREAM, stream, bytes(size)))
        rooms = {number: room - size for number, room in rooms.items()}
    return await client.body(stream)


# --- Silent clients and incomplete requests


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"P",
        b"GET /once HTTP/1.1\r\nhost: localhost\r\nx-long: ",
        b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nabc",
        PREFACE[:20],
        PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_STREAM, 1, b"\x82"),
        PREFACE + frame(SETTINGS, 0, 0) + frame(DATA, 0, 1, b"abc")[:-1],
    ],
)
async def test_client_with_an_incomplete_request_is_dropped(app, serve, connect, begun):
    client = await connect(Http1, await serve(app, idle_seconds=0.1))
    client.writer.write(begun)
    assert await is_dropped(client)


@pytest.mark.parametrize(
    ("begun", "byte"),
    [
        (b"GET /once HTTP/1.1\r\nhost: localhost\r\nx-long: ", b"x"),
        (PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 0, 1, b"\x82" * 9)[:-8], b"\x82"),
    ],
)
async def test_head_received_byte_by_byte_does_not_extend_the_deadline(
    app, serve, connect, begun, byte
):
    client = await connect(Http1, await serve(app, idle_seconds=0.1))
    client.writer.write(begun)
    dropped = asyncio.create_task(is_dropped(client))
    while not dropped.done():
        client.writer.write(byte)
        await asyncio.wait([dropped], timeout=0.03)
    assert dropped.result()


async def test_silent_connection_is_kept_between_requests(app, serve, connect):
    port = await serve(app, idle_seconds=0.1)
    silent = await connect(Http2, port)
    assert await silent.body(silent.head("/once")) == b"ok"
    assert await is_dropped(await connect(Http1, port))
    assert await silent.body(silent.head("/once")) == b"ok"


async def test_request_in_progress_has_no_idle_limit(app, serve, connect):
    app.messages = 0
    port = await serve(app, idle_seconds=0.1)
    first, second = await connect(Http1, port), await connect(Http2, port)
    first.head("/feed", "content-length: 0")
    second.head("/feed")
    await first.reader.readuntil(b"\r\n\r\n")
    assert await is_dropped(await connect(Http1, port))
    assert app.ended == 0


async def test_connection_with_a_series_of_partial_frames_is_not_idle(wire):
    connection = opened(App(), wire, idle_seconds=60)
    whole = frame(PING, 0, 0, bytes(8))
    connection.data_received(whole + whole[:5])
    before = connection._deadline
    connection.data_received(whole[5:10])
    assert connection._deadline is before
    connection.data_received(whole[10:] + whole[:5])
    assert before.cancelled()
    assert connection._deadline is not before
    connection.connection_lost(None)


async def test_client_that_does_not_read_the_last_data_is_dropped(wire):
    app, aborted = App(), asyncio.Event()
    wire.abort = aborted.set
    connection = opened(app, wire, idle_seconds=0.01)
    fields = [(":method", "POST"), (":scheme", "http"), (":path", "/feed"), (":authority", "a")]
    connection.data_received(frame(HEADERS, END_STREAM | END_HEADERS, 1, Encoder().encode(fields)))
    await wait_until_stable(app.sent.total)
    connection.data_received(b"\xff" * 9)
    assert wire.closing
    await app.has_ended.wait()
    await aborted.wait()


def opened(app, wire, **options):
    """Return an HTTP/2 connection that waits for frames."""
    connection = Http2Connection(app, budget=Budget(2**20, "a connection"), **options)
    connection.connection_made(wire)
    connection.data_received(PREFACE + frame(SETTINGS, 0, 0))
    return connection


async def test_half_closed_connection_is_served_only_briefly(app, serve, connect):
    client = await connect(Http1, await serve(app))
    client.head("/echo", "content-length: 5000")
    client.writer.write(bytes(5_000))
    client.head("/feed", "content-length: 0")
    client.writer.write_eof()
    await app.has_ended.wait()
    assert await is_dropped(client)


# --- Requests and responses


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST"])
async def test_request_without_a_body_is_served(app, serve, connect, method):
    port = await serve(app)
    client = await connect(Http2, port)
    assert await client.body(client.head("/echo", method=method)) == b""
    assert await client.body(client.head("/once", method=method)) == b"ok"
    older = await connect(Http1, port)
    older.head("/once", method=method)
    assert (await older.reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("announced", ["transfer-encoding: chunked", "content-length: 5"])
async def test_response_that_needs_no_body_does_not_wait_for_it(app, serve, connect, announced):
    port = await serve(app)
    client = await connect(Http2, port)
    assert await client.body(client.head("/once", end=False)) == b"ok"
    older = await connect(Http1, port)
    older.head("/once", announced)
    response = await older.reader.read()
    assert b"connection: close" in response.lower()
    assert response.endswith(b"ok")


async def test_response_to_head_has_no_body(app, serve, connect):
    port = await serve(app)
    client = await connect(Http2, port)
    stream = client.head("/once", method="HEAD")
    assert await client.body(stream) == b""
    assert client.heads[stream] == {":status": "200", "content-length": "2"}
    older = await connect(Http1, port)
    older.head("/once", "connection: close", method="HEAD")
    assert (await older.reader.read()).endswith(b"\r\n\r\n")


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 3 * MEGABYTE])
async def test_echo_returns_the_request_body(app, serve, connect, size):
    sent = bytes(range(256)) * (size // 256 + 1)
    sent = sent[:size]
    client = await connect(Http1, await serve(app))
    client.head("/echo", f"content-length: {size}", "connection: close")
    client.writer.write(sent)
    response = await client.reader.read()
    _, _, body = response.partition(b"\r\n\r\n")
    assert b"".join(chunks(body)) == sent


def chunks(body):
    while body:
        size, _, rest = body.partition(b"\r\n")
        yield rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]


async def test_client_that_disconnects_during_a_body_is_not_awaited(app, serve, connect):
    app.reads.set()
    client = await connect(Http1, await serve(app))
    client.head("/upload", f"content-length: {MEGABYTE}")
    client.writer.write(b"abc")
    client.writer.write_eof()
    assert await client.reader.read() == b""


async def test_garbage_after_a_request_ends_the_connection(app, serve, connect):
    client = await connect(Http1, await serve(app))
    client.head("/once")
    client.writer.write(b"[" * 5_000)
    client.writer.write_eof()
    assert (await client.reader.read()).endswith(b"ok")


@pytest.mark.parametrize("kind", [Http1, Http2])
async def test_requests_of_a_disconnected_client_are_cancelled(app, serve, connect, kind):
    client = await connect(kind, await serve(app))
    client.head("/feed")
    await client.reader.readuntil(b"m")
    client.writer.transport.abort()
    await app.has_ended.wait()


async def test_smaller_header_table_is_respected(app, serve, connect):
    client = await connect(Http2, await serve(app))
    client.send(frame(SETTINGS, 0, 0, struct.pack(">HL", 1, 0)))
    client.decoder.max_allowed_table_size = 0  # it raises without a size update (RFC 7541, 4.2)
    assert await client.body(client.head("/once")) == b"ok"


# --- Nonsense

METHOD, SCHEME, PATH = (":method", "POST"), (":scheme", "http"), (":path", "/once")
HOST = (":authority", "a")


# RFC 9113, sections 8.2 and 8.3; the answer is that of section 8.1.1.
@pytest.mark.parametrize(
    "fields",
    [
        [METHOD, SCHEME, HOST],
        [METHOD, PATH, HOST],
        [SCHEME, PATH, HOST],
        [METHOD, SCHEME, (":path", ""), HOST],
        [METHOD, SCHEME, PATH, PATH, HOST],
        [METHOD, SCHEME, PATH, HOST, (":status", "200")],
        [METHOD, SCHEME, PATH, HOST, (":unheard", "of")],
        [METHOD, SCHEME, HOST, ("accept", "*/*"), PATH],
        [METHOD, SCHEME, PATH, HOST, ("Accept", "*/*")],
        [METHOD, SCHEME, PATH, HOST, ("", "nameless")],
        [METHOD, SCHEME, PATH, HOST, ("two words", "x")],
        [METHOD, SCHEME, PATH, HOST, (b"n\xc3\xa4me", "x")],
        [METHOD, SCHEME, PATH, HOST, ("x-two", "a\r\nb: c")],
        [METHOD, SCHEME, PATH, HOST, ("x-zero", "a\0b")],
        [METHOD, SCHEME, PATH, HOST, ("x-wide", " a")],
        [METHOD, SCHEME, PATH, HOST, ("connection", "keep-alive")],
        [METHOD, SCHEME, PATH, HOST, ("keep-alive", "5")],
        [METHOD, SCHEME, PATH, HOST, ("proxy-connection", "close")],
        [METHOD, SCHEME, PATH, HOST, ("transfer-encoding", "chunked")],
        [METHOD, SCHEME, PATH, HOST, ("upgrade", "h2c")],
        [METHOD, SCHEME, PATH, HOST, ("te", "gzip")],
    ],
)
async def test_malformed_request_resets_only_its_stream(app, serve, connect, fields):
    client = await connect(Http2, await serve(app))
    fed = client.head("/feed")
    malformed = client.fields(fields)
    await client.until(lambda: malformed in client.ended)
    assert client.resets == {malformed: PROTOCOL_ERROR}
    assert await client.body(client.head("/once")) == b"ok"
    assert client.bodies[fed] == b"m"
    assert app.begun == ["/feed", "/once"]


@pytest.mark.parametrize("field", [("Upper", "case"), (":path", "/once")])
async def test_malformed_trailers_reset_only_their_stream(app, serve, connect, field):
    client = await connect(Http2, await serve(app))
    malformed = client.head("/upload", end=False)
    block = client.encoder.encode([field])
    client.send(frame(HEADERS, END_HEADERS | END_STREAM, malformed, block))
    await client.until(lambda: malformed in client.ended)
    assert client.resets == {malformed: PROTOCOL_ERROR}
    assert await client.body(client.head("/once")) == b"ok"


async def test_header_values_may_contain_any_bytes_except_control_characters(app, serve, connect):
    client = await connect(Http2, await serve(app))
    assert await client.body(client.fields([METHOD, SCHEME, PATH, HOST, ("x", b"\xff")])) == b"ok"


# RFC 9113, each with its section.
@pytest.mark.parametrize(
    ("nonsense", "code"),
    [
        (frame(HEADERS, END_HEADERS, 1, b"\xff" * 5), COMPRESSION_ERROR),  # 4.3
        (frame(HEADERS, END_HEADERS, 1, b"\x80"), COMPRESSION_ERROR),  # RFC 7541, 6.1
        (frame(DATA, 0, 1, bytes(70_000))[:9], FRAME_SIZE_ERROR),  # 4.2
        (frame(SETTINGS, 0, 0, b"abc"), FRAME_SIZE_ERROR),  # 6.5
        (frame(SETTINGS, 0, 1), PROTOCOL_ERROR),  # 6.5
        (frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 2**31)), FLOW_CONTROL_ERROR),  # 6.5.2
        (frame(SETTINGS, 0, 0, struct.pack(">HL", 5, 0)), PROTOCOL_ERROR),  # 6.5.2
        (frame(PING, 0, 0, b"abc"), FRAME_SIZE_ERROR),  # 6.7
        (frame(PING, 0, 1, bytes(8)), PROTOCOL_ERROR),  # 6.7
        (frame(WINDOW_UPDATE, 0, 0, b"abc"), FRAME_SIZE_ERROR),  # 6.9
        (frame(WINDOW_UPDATE, 0, 0, bytes(4)), PROTOCOL_ERROR),  # 6.9
        (frame(WINDOW_UPDATE, 0, 0, struct.pack(">L", 2**31 - 1)), FLOW_CONTROL_ERROR),  # 6.9.1
        (frame(DATA, 0, 0, b"abc"), PROTOCOL_ERROR),  # 6.1
        (frame(DATA, 0, 1, b"abc"), PROTOCOL_ERROR),  # 5.1
        (frame(HEADERS, END_HEADERS, 0, b"\x82"), PROTOCOL_ERROR),  # 6.2
        (frame(HEADERS, END_HEADERS, 2, b"\x82"), PROTOCOL_ERROR),  # 5.1.1
        (frame(HEADERS, 0, 1, b"\x82") + frame(PING, 0, 0, bytes(8)), PROTOCOL_ERROR),  # 6.2
        (frame(9, END_HEADERS, 1, b"\x82"), PROTOCOL_ERROR),  # 6.10
        (frame(RESET, 0, 1, b"abc"), FRAME_SIZE_ERROR),  # 6.4
        (frame(RESET, 0, 1, bytes(4)), PROTOCOL_ERROR),  # 6.4
    ],
)
async def test_protocol_error_is_reported_to_the_client(app, serve, connect, nonsense, code):
    client = await connect(Http2, await serve(app))
    client.send(nonsense)
    await client.until(lambda: client.goaway is not None)
    assert client.goaway == code
    assert await is_dropped(client)


@pytest.mark.parametrize(
    "first",
    [frame(PING, 0, 0, bytes(8)), frame(SETTINGS, 1, 0), frame(WINDOW_UPDATE, 0, 0, b"\0\0\0a")],
)
async def test_client_must_start_with_settings(app, serve, connect, first):  # section 3.4
    client = await connect(Http1, await serve(app))
    client.writer.write(PREFACE + first)
    told = Http2.__new__(Http2)
    told.reader, told.settings, told.goaway, told.ended = client.reader, {}, None, set()
    await told.until(lambda: told.goaway is not None)
    assert told.goaway == PROTOCOL_ERROR
    assert await is_dropped(client)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0" * 1_000,
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n" + bytes(100),
        PREFACE + b"\xff" * 1_000,
        PREFACE + frame(DATA, 0, 1, b"abc"),  # before the settings, on a stream that is not open
        PREFACE + frame(SETTINGS, 0, 0, b"abc"),  # not a multiple of 6 bytes
        PREFACE + frame(SETTINGS, 0, 1),  # on a stream
        PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 2**31)),  # a window too large
        PREFACE + frame(SETTINGS, 0, 0) + frame(PING, 0, 0, b"abc"),
        PREFACE + frame(SETTINGS, 0, 0) + frame(PING, 0, 1, bytes(8)),
        PREFACE + frame(SETTINGS, 0, 0) + frame(WINDOW_UPDATE, 0, 0, bytes(4)),
        PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 0, b"\x82"),
        PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 2, b"\x82"),
        PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, b"\xff" * 5),
        PREFACE
        + frame(SETTINGS, 0, 0)
        + frame(HEADERS, 0, 1, b"\x82")
        + frame(PING, 0, 0, b"8" * 8),
        PREFACE + frame(SETTINGS, 0, 0) + frame(9, 0, 1, b"\x82"),  # a continuation without headers
        PREFACE + frame(SETTINGS, 0, 0) + frame(DATA, 0, 0, bytes(70_000))[:9],  # too long
        PREFACE + frame(SETTINGS, 0, 0) + frame(GOAWAY, 0, 0, bytes(8)),
        b"POST / HTTP/9.9\r\n\r\n",
        b"GET /once HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 20_000,
        b"POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
    ],
)
async def test_malformed_data_ends_only_its_own_connection(app, serve, connect, nonsense):
    port = await serve(app)
    other, client = await connect(Http2, port), await connect(Http1, port)
    client.writer.write(nonsense)
    assert await is_dropped(client)
    assert await other.body(other.head("/once")) == b"ok"


async def test_refused_request_is_not_served_when_its_client_disconnects(app, serve, connect):
    port = await serve(app)
    client, other = await connect(Http1, port), await connect(Http2, port)
    client.head("/echo", "content-length: 100000", "transfer-encoding: chunked")
    client.writer.write(b"zz\r\n")
    assert (await client.reader.read()).startswith(b"HTTP/1.1 400 ")
    client.writer.write_eof()
    assert await other.body(other.head("/once")) == b"ok"
    assert app.begun == ["/once"]


async def test_client_that_disconnects_before_its_refusal_causes_no_error(
    app, serve, connect, caplog
):
    port = await serve(app)
    head = b"POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head + b"1388\r\n" + bytes(5_000) + b"\r\nzz\r\n")
    other = await connect(Http2, port)
    assert await other.body(other.head("/once")) == b"ok"
    assert not caplog.records


# --- The server


async def test_connections_above_the_limit_are_dropped(app, serve, connect):
    port = await serve(app, connections=4)
    with ExitStack() as stack:
        clients = [stack.enter_context(early_client(port)) for _ in range(6)]
        await wait_until_stable(lambda: len(app.begun))
        other = await connect(Http1, port)
        assert await is_dropped(other)
        assert len(app.begun) == 4
        for client in clients[4:]:
            with suppress(ConnectionError):
                assert client.recv(1) == b""


def early_client(port):
    """Return a client whose request arrives together with its connection."""
    client = socket.create_connection(("127.0.0.1", port), timeout=5)
    client.sendall(b"POST /feed HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n")
    return client


async def test_slot_of_a_disconnected_client_is_free(app, serve, connect):
    port = await serve(app, connections=1)
    for kind in (Http1, Http2, Http2):
        client = await connect(kind, port)
        client.head("/feed", *["content-length: 0"] * (kind is Http1))
        await client.reader.readuntil(b"m")
        app.has_ended.clear()
        client.writer.transport.abort()
        await app.has_ended.wait()


async def test_stopped_server_has_ended_all_requests(app, connect):
    server = HttpServer(app)
    client = await connect(Http2, await server.start())
    client.head("/feed")
    await client.until(lambda: client.bodies)
    await server.stop()
    assert app.ended == 1
    assert await is_dropped(client)
