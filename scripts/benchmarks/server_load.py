"""The load of the figure `server`: raw sockets, one request at a time on each.

Reads jobs as lines of JSON, `{port, seconds, connections, nexus_headers}`, and answers each with
`[responses, seconds]`.
"""

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from secrets import token_hex
from time import perf_counter
from typing import Any, cast

import uvloop

BODY = b'{"a": 20, "b": 22}'
EXPECTED = b'{"ok":{"result":42}}'


class Connection(asyncio.Protocol):
    """One keep-alive connection that sends the next request when it has the answer."""

    def __init__(self, requests: "Requests") -> None:
        self._requests = requests
        self._buffer = b""
        self.responses = 0
        self.failure: str | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        # uvloop's transports have the methods and not the base class.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._requests.next())

    def data_received(self, data: bytes) -> None:
        """Send the next request once the answer is complete and right."""
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end or len(body) < _content_length(head):
            return
        assert self._transport is not None
        if not head.startswith(b"HTTP/1.1 200 ") or body != EXPECTED:
            self.failure = self._buffer[:300].decode("latin-1")
            self._transport.close()
            return
        self._buffer = b""
        self.responses += 1
        self._transport.write(self._requests.next())

    def connection_lost(self, _: Exception | None) -> None:
        """The server should never hang up."""
        self.failure = self.failure or "the server closed the connection"

    def stop(self) -> None:
        """Drop the connection, whatever is in flight."""
        assert self._transport is not None
        self._transport.abort()


class Requests:
    """The bytes of requests; with Nexus headers each has an invocation id of its own."""

    def __init__(self, port: int, *, nexus_headers: bool) -> None:
        self._prefix = (
            f"POST /invoke HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n"
        ).encode()
        self._nexus_headers = nexus_headers
        self._run = token_hex(20)
        self._numbers = count()
        deadline = datetime.now(UTC) + timedelta(minutes=5)
        self._suffix = (
            "Nexus-Tool: xyz.example.math.add@1\r\n"
            f"Nexus-Deadline: {deadline:%Y-%m-%dT%H:%M:%S.000Z}\r\n"
            "Nexus-Max-Outcome-Bytes: 4096\r\n"
        ).encode()

    def next(self) -> bytes:
        """The next request."""
        if not self._nexus_headers:
            return self._prefix + b"\r\n" + BODY
        invocation = b"0x%s%024x" % (self._run.encode(), next(self._numbers))
        return b'%sNexus-Invocation: %s\r\nIdempotency-Key: "%s"\r\n%s\r\n%s' % (
            self._prefix,
            invocation,
            invocation,
            self._suffix,
            BODY,
        )


async def load(
    port: int, seconds: float, connections: int, *, nexus_headers: bool
) -> tuple[int, float]:
    """How many responses come in about `seconds` on so many connections, and in how many."""
    requests = Requests(port, nexus_headers=nexus_headers)
    loop = asyncio.get_running_loop()
    begin = perf_counter()
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(lambda: Connection(requests), "127.0.0.1", port)
        clients.append(client)
    responses = 0
    # A machine that is busy with something else may answer nothing in so short a time.
    while not responses and not any(client.failure for client in clients):
        await asyncio.sleep(seconds)
        responses = sum(client.responses for client in clients)
    elapsed = perf_counter() - begin
    failure = next((client.failure for client in clients if client.failure), None)
    for client in clients:
        client.stop()
    if failure is not None:
        raise RuntimeError(f"the server responded {failure}")
    return responses, elapsed


def _content_length(head: bytes) -> int:
    start = head.index(b"content-length: ") + 16
    end = head.find(b"\r", start)
    return int(head[start:] if end < 0 else head[start:end])


def _job(job: dict[str, Any]) -> tuple[int, float]:
    return uvloop.run(
        load(job["port"], job["seconds"], job["connections"], nexus_headers=job["nexus_headers"])
    )


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(_job(json.loads(line))), flush=True)
