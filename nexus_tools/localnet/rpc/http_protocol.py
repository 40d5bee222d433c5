"""HTTP/1.1 on the same port: calls in gRPC-web, and plain requests.

Source: RFC 9112; reading and writing its messages is h11's affair.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

import h11

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.call import ClientGoneError
from nexus_tools.localnet.rpc.coalescing_transport import CoalescingTransport
from nexus_tools.localnet.rpc.cors import Headers
from nexus_tools.localnet.rpc.grpc_web import WebRequest, too_large
from nexus_tools.localnet.rpc.http_request import HttpRequest
from nexus_tools.localnet.rpc.routes import Answer, answer_route, json_answer
from nexus_tools.localnet.rpc.web_call import refuse_web_call, serve_web_call

_LOG = logging.getLogger(__name__)
_HEADER_BYTES = 16 * 1024
_AHEAD_BYTES = 64 * 1024  # of requests behind the one that is being served
_TURN_EVENTS = 128
_FAREWELL_SECONDS = 1.0
_NO_REQUEST = HttpRequest("GET", "/", {})


class HttpConnection(asyncio.Protocol):
    """One HTTP/1.1 connection; requests are served in order.

    Whatever bytes it is sent, it ends only itself.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADER_BYTES)
        self._request = _NO_REQUEST
        self._body = bytearray()
        self._call: asyncio.Task[None] | None = None
        self._has_left = False  # the client sends no more
        self._is_deaf = False  # we read no more, but let the client read its answer
        self._gives_way = False  # what has come is read in the next turn
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: CoalescingTransport
        self._timer: asyncio.TimerHandle | None = None

    # --- What happens to the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = CoalescingTransport(transport)
        self._wait(self._backend.limits.idle_seconds)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's word
        """End, and with it the call that is being served."""
        self._stop_waiting()
        if self._call is not None:
            self._call.cancel()

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered: it is not heard until it has read."""
        self._writable.clear()
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._writable.set()
        self._transport.resume_reading()
        if self._call is None and not self._is_deaf:
            self._take(b"")

    def eof_received(self) -> bool:
        """Stay only for what is being served, and only if that ends soon."""
        self._has_left = True
        if self._call is None:
            return False
        self._wait(_FAREWELL_SECONDS)
        return True

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if self._is_deaf:
            return
        if self._call is None:
            self._wait(self._backend.limits.idle_seconds)
        self._take(data)

    def _wait(self, seconds: float) -> None:
        """Drop the connection if nothing more comes of it for a while."""
        self._stop_waiting()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    # --- Requests

    def _take(self, data: bytes) -> None:
        try:
            if data:
                self._http.receive_data(data)
            self._read()
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint)
        except Exception:  # noqa: BLE001 - the edge of the server
            _LOG.exception("an HTTP request failed")
            self._refuse(500)

    def _read(self) -> None:
        """Take what has come, until it is used up, or a call or others are to be served first."""
        events = 0
        while self._call is None and self._may_read():
            if (events := events + 1) > _TURN_EVENTS:
                self._give_way()
                return
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._begin(event)
            elif isinstance(event, h11.Data):
                self._body += event.data
                self._check_size(len(self._body))
            elif isinstance(event, h11.EndOfMessage):
                self._serve()
            elif isinstance(event, h11.ConnectionClosed) or self._has_left:
                self._transport.close()
            else:  # more has to come
                return
        if self._call is not None and len(self._http.trailing_data[0]) > _AHEAD_BYTES:
            self._transport.pause_reading()

    def _may_read(self) -> bool:
        is_kept = self._is_deaf or self._gives_way or self._transport.is_closing()
        return not is_kept and self._writable.is_set()

    def _give_way(self) -> None:
        """Let the other clients have their turn before more of this one is read."""
        self._gives_way = True
        self._transport.pause_reading()
        asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._gives_way = False
        if self._writable.is_set():  # else reading goes on when the client has caught up
            self._transport.resume_reading()
            self._take(b"")

    def _begin(self, event: h11.Request) -> None:
        self._request = HttpRequest.of(event.method, event.target, event.headers)
        self._body = bytearray()
        self._check_size(int(self._request.headers.get("content-length", "0")))
        if self._http.they_are_waiting_for_100_continue and not self._is_deaf:
            self.write(h11.InformationalResponse(status_code=100, headers=[]))

    def _check_size(self, size: int) -> None:
        limits = self._backend.limits
        if size <= self._request.largest_body(limits):
            return
        if self._request.web_format is None:
            self._refuse(413)
            return
        self._is_deaf = True
        error, response = too_large(limits.request_bytes), _Response(self, is_last=True)
        self._start(refuse_web_call(self._backend, self._request.headers, error, response))

    def _serve(self) -> None:
        request, body = self._request, bytes(self._body)
        form = request.web_format
        if form is None:
            self._respond(answer_route(self._backend, request.method, request.path, body))
            self._go_on()
        else:
            limit = self._backend.limits.request_bytes
            messages, response = WebRequest(form, body, limit), _Response(self)
            headers = request.headers
            self._start(serve_web_call(self._backend, request.path, headers, messages, response))

    def _start(self, call: Coroutine[Any, Any, None]) -> None:
        self._stop_waiting()
        self._call = asyncio.get_running_loop().create_task(call)
        self._call.add_done_callback(self._end)

    def _end(self, call: asyncio.Task[None]) -> None:
        """Go on behind a call."""
        self._call = None
        if call.cancelled() or self._transport.is_closing():
            return
        if call.exception() is not None:
            _LOG.error("an HTTP response failed", exc_info=call.exception())
            self._transport.abort()
        elif not self._writable.is_set():  # its time is up, and the client has not read it
            self._transport.abort()
        elif self._is_deaf:
            self._hang_up()
        else:
            self._wait(self._backend.limits.idle_seconds)
            self._transport.resume_reading()
            self._go_on()
            self._take(b"")

    def _go_on(self) -> None:
        """Be ready for the next request, if there may be one."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._request = _NO_REQUEST  # what is refused next is no answer to it
        elif self._http.our_state is h11.SEND_BODY:  # the client did not take the response
            self._transport.abort()
        else:
            self._transport.close()

    # --- Responses

    async def drain(self) -> None:
        """Wait until the client has room for more. Raises `ClientGoneError`."""
        await self._writable.wait()
        if self._transport.is_closing():
            raise ClientGoneError

    def write(self, event: h11.Event) -> None:
        """Send a part of a response."""
        if data := self._http.send(event):
            self._transport.write(data)

    def _refuse(self, status: int) -> None:
        """Answer a request that is not read to its end."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            failure = {"error": "the request is not understood"}
            answer = json_answer(self._backend, status, failure)
            answer.headers.append(("connection", "close"))
            self._respond(answer)
            self._hang_up()
        else:
            self._transport.close()

    def _respond(self, answer: Answer) -> None:
        self.write(h11.Response(status_code=answer.status, headers=answer.headers))
        if self._request.method != "HEAD":
            self.write(h11.Data(data=answer.body))
        self.write(h11.EndOfMessage())

    def _hang_up(self) -> None:
        """Send no more; a client that is still sending is heard out, so that it reads us."""
        self._is_deaf = True
        self._transport.write_eof()
        self._wait(_FAREWELL_SECONDS)


class _Response:
    """A response in parts; after the last on a connection it is closed."""

    def __init__(self, connection: HttpConnection, *, is_last: bool = False) -> None:
        self._connection = connection
        self._is_last = is_last

    async def begin(self, status: int, headers: Headers) -> None:
        """Send the head."""
        more = [("connection", "close")] if self._is_last else []
        self._connection.write(h11.Response(status_code=status, headers=[*headers, *more]))

    async def send(self, data: bytes) -> None:
        """Send a part of the body, and wait until the client has room for more."""
        self._connection.write(h11.Data(data=data))
        await self._connection.drain()

    async def end(self, data: bytes) -> None:
        """Send the last part of the body."""
        self._connection.write(h11.Data(data=data))
        self._connection.write(h11.EndOfMessage())
