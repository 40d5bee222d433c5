"""HTTP/1.1 for embedded servers: uvicorn's protocol with limits for slow clients.

uvicorn waits forever for the end of the request headers, and for a client that does not read its
response. uvicorn also accepts headers of any length. With a few bytes a minute, an untrusted client
could therefore occupy a connection and its memory. The time for a request body is not limited here
but by the application.
"""

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection, which is closed with status 408 or 431 (RFC 9110, RFC 6585) beyond a limit.

    The time for headers starts with the connection or with the end of the previous response, so it
    also limits silent connections. A client that does not read its response is disconnected.
    """

    head_timeout_s: ClassVar[float] = 10.0
    max_head_bytes: ClassVar[int] = 64 * 1024
    stall_timeout_s: ClassVar[float] = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        # The time when the wait for request headers started, or None during a request.
        self._idle_since: float | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._stall_alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for request headers."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._look_again(self.head_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        if self._watch is not None:
            self._watch.cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of the request headers until they are complete."""
        previous_cycle = self.cycle
        is_head = previous_cycle is None or not previous_cycle.more_body
        super().data_received(data)
        if self.cycle is not previous_cycle:
            self._idle_since = None
            self._head_bytes = 0
        elif is_head:
            self._head_bytes += len(data)
            if self._head_bytes > self.max_head_bytes:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it has already arrived (pipelining)."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._idle_since = self.loop.time()

    def pause_writing(self) -> None:
        """Start a timer for a client that does not read fast enough."""
        super().pause_writing()
        self._stall_alarm = self.loop.call_later(self.stall_timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer, because the client has read."""
        if self._stall_alarm is not None:
            self._stall_alarm.cancel()
            self._stall_alarm = None
        super().resume_writing()

    # A timer for each request would cost as much as the parser. So each connection has one timer.
    # When it fires before the time for headers is over, it starts again for the remaining time.

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
