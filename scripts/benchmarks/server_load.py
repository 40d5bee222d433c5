"""The load generator of `server` and `signing`: raw sockets, one pending request on each.

The load generator reads jobs as lines of JSON, `{port, seconds, connections, nexus_headers}`, and
answers each job with `[responses, seconds]`. If a job has `requests`, the load generator prepares
that number of requests before it sends them. If a job has `signed_by`, the file of a key, the load
generator signs the requests.
"""

import asyncio
import itertools
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from time import perf_counter, time
from typing import Any, cast

import uvloop

from benchmarks.server_app import LEADER
from nexus_tools.tool import Identity, SigningKey, protocol, sign_request

BODY = b'{"a": 20, "b": 22}'
EXPECTED = b'{"ok":{"result":42}}'


class Connection(asyncio.Protocol):
    """A keep-alive connection that sends the next request after each answer."""

    def __init__(self, requests: "Requests") -> None:
        self._requests = requests
        self._buffer = b""
        self.responses = 0
        self.failure: str | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        # uvloop's transports have the methods but not the base class.
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        """Send the next request when the answer is complete and correct."""
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
        self._send()

    def _send(self) -> None:
        """Send the next request, if there is one."""
        assert self._transport is not None
        request = self._requests.next()
        if request:
            self._transport.write(request)

    def connection_lost(self, _: Exception | None) -> None:
        """Record that the server closed the connection."""
        self.failure = self.failure or "the server closed the connection"

    def stop(self) -> None:
        """Close the connection immediately."""
        assert self._transport is not None
        self._transport.abort()


class Requests:
    """The bytes of requests. With Nexus headers, each request has its own invocation ID."""

    def __init__(
        self,
        port: int,
        *,
        nexus_headers: bool,
        count: int | None = None,
        signed_by: str | None = None,
    ) -> None:
        self._url = f"http://127.0.0.1:{port}{protocol.endpoint('', protocol.INVOKE)}"
        self._prefix = (
            f"POST /invoke HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n"
        ).encode()
        self._nexus_headers = nexus_headers
        self._run = token_hex(20)
        self._numbers = itertools.count()
        deadline = datetime.now(UTC) + timedelta(minutes=5)
        self._suffix = (
            "Nexus-Tool: xyz.example.math.add@1\r\n"
            f"Nexus-Deadline: {deadline:%Y-%m-%dT%H:%M:%S.000Z}\r\n"
            "Nexus-Max-Outcome-Bytes: 4096\r\n"
        ).encode()
        key = SigningKey.load(Path(signed_by)) if signed_by else None
        self._identity = Identity(LEADER, key) if key else None
        self._prepared: Iterator[bytes] | None = None
        if count is not None:
            self._prepared = iter([self._signed(self._made()) for _ in range(count)])

    def next(self) -> bytes:
        """Return the next request, or empty bytes if none is left."""
        return self._made() if self._prepared is None else next(self._prepared, b"")

    def _signed(self, request: bytes) -> bytes:
        """Return a request with the headers that sign it."""
        if self._identity is None:
            return request
        head, _, body = request.partition(b"\r\n\r\n")
        lines = (line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        headers = {name.lower(): value for name, value in lines}
        signed = sign_request(self._identity, self._url, headers, body, time())
        added = "".join(f"\r\n{name}: {value}" for name, value in signed.items())
        return b"%s%s\r\n\r\n%s" % (head, added.encode(), body)

    def _made(self) -> bytes:
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
    port: int,
    seconds: float,
    connections: int,
    *,
    nexus_headers: bool,
    count: int | None = None,
    signed_by: str | None = None,
) -> tuple[int, float]:
    """Return the number of responses in about `seconds`, and the exact duration.

    With `count`, run until `count` responses have arrived. `seconds` is then the polling interval.
    """
    requests = Requests(port, nexus_headers=nexus_headers, count=count, signed_by=signed_by)
    loop = asyncio.get_running_loop()
    begin = perf_counter()
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(lambda: Connection(requests), "127.0.0.1", port)
        clients.append(client)
    responses = 0
    # On a busy machine, no response may arrive within this time.
    while responses < (count or 1) and not any(client.failure for client in clients):
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
        load(
            job["port"],
            job["seconds"],
            job["connections"],
            nexus_headers=job["nexus_headers"],
            count=job.get("requests"),
            signed_by=job.get("signed_by"),
        )
    )


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(_job(json.loads(line))), flush=True)
