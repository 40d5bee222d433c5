"""HTTP/1.1 of embedded servers: uvicorn's, with bounds for those who send and take slowly.

uvicorn waits for ever for the end of a request's head and for a client that does not read its
response, and takes a head of any length: each costs a stranger a few bytes a minute, and us a
connection or its memory. How long a body may take is the application's matter.
"""

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection: 408 and 431 (RFC 9110, RFC 6585) end those that overdo it.

    The time for a head begins with the connection or the end of the response before, and so bounds
    a connection that says nothing at all, too. A client that does not read is cut off.
    """

    head_timeout_s: ClassVar[float] = 10.0
    max_head_bytes: ClassVar[int] = 64 * 1024
    stall_timeout_s: ClassVar[float] = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        # Since when a head is awaited; none while a request is under way.
        self._idle_since: float | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._stall_alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._look_again(self.head_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        if self._watch is not None:
            self._watch.cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head until it is complete."""
        before = self.cycle
        is_head = before is None or not before.more_body
        super().data_received(data)
        if self.cycle is not before:
            self._idle_since = None
            self._head_bytes = 0
        elif is_head:
            self._head_bytes += len(data)
            if self._head_bytes > self.max_head_bytes:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_response_complete(self) -> None:
        """Wait for the next head, unless it is here already (pipelining)."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._idle_since = self.loop.time()

    def pause_writing(self) -> None:
        """The client does not read as fast as is written: it has some time for that."""
        super().pause_writing()
        self._stall_alarm = self.loop.call_later(self.stall_timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        if self._stall_alarm is not None:
            self._stall_alarm.cancel()
            self._stall_alarm = None
        super().resume_writing()

    # A timer for each head would cost as much as the parser: one looks whether it is time yet, and
    # otherwise again when it will be.

    def _look_again(self, seconds: float) -> None:
        self._watch = self.loop.call_later(seconds, self._look)

    def _look(self) -> None:
        waited = 0.0 if self._idle_since is None else self.loop.time() - self._idle_since
        if waited >= self.head_timeout_s:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self._look_again(self.head_timeout_s - waited)

    def _refuse(self, status: HTTPStatus) -> None:
        if not self.transport.is_closing():
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
            self.transport.write(f"{head}content-length: 0\r\nconnection: close\r\n\r\n".encode())
            self.transport.close()
