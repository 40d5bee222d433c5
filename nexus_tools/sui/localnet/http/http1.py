"""HTTP/1.1. Source: RFC 9112; reading and writing its messages is h11's affair."""

import asyncio
from contextlib import suppress
from typing import ClassVar

import h11

from nexus_tools.sui.localnet.http.connection import Connection
from nexus_tools.sui.localnet.http.exchange import (
    Application,
    Body,
    ClientGoneError,
    Exchange,
    Head,
    Headers,
)
from nexus_tools.sui.localnet.http.memory_budget import Budget

_HEADER_BYTES = 16 * 1024
_PART_BYTES = 64 * 1024
_WHOLE_BYTES = 64 * 1024  # of a body that is waited for
_FAREWELL_SECONDS = 1.0
_NO_REQUEST = Head("GET", "/", {})
_REFUSAL = b'{"error": "the request is not understood"}'
_REFUSAL_HEADERS = (
    ("content-type", "application/json"),
    ("content-length", str(len(_REFUSAL))),
)


class Http1Connection(Connection):
    """One HTTP/1.1 connection; requests are served in order.

    A request is served when it is whole, or too large to wait for that, or when its response does
    not wait; until then its client may not be idle for longer than the time that it is given.
    """

    def __init__(self, application: Application, idle_seconds: float, budget: Budget) -> None:
        super().__init__(application, idle_seconds, budget)
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADER_BYTES)
        self._exchange: Http1Exchange | None = None
        self._is_deaf = False  # we read no more, but let the client read its response

    # --- What happens to the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        self._expect(self._idle_seconds)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if not self._is_deaf:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        """Stay only for what is being served, and only if that ends soon."""
        if self._is_deaf:
            return super().eof_received()
        if not self._has_left:
            self._has_left = True
            self._expect(_FAREWELL_SECONDS)
            self._read_soon()
        return True

    # --- Requests

    def _is_ready(self) -> bool:
        """A body that waits for its reader keeps what is behind it waiting, too."""
        body = None if self._exchange is None else self._exchange.body
        return self._is_writable and (body is None or not (body.has_ended or body.is_full))

    def _take(self, data: bytes) -> None:
        try:
            if data:
                self._http.receive_data(data)
            self._read()
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint)

    def _read(self) -> None:
        """Read until nothing is left, or a request is to be served first."""
        while self._is_ready() and self._is_listening():
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._open(event)
            elif self._exchange is not None and isinstance(event, h11.Data):
                self._exchange.body.take(bytes(event.data))
            elif self._exchange is not None and isinstance(event, h11.EndOfMessage):
                self._exchange.body.end()
                self._serve_once(self._exchange)
            else:  # more has to come
                if self._has_left and not self._heard:
                    self._close()
                break
        if self._exchange is not None and self._is_listening() and self._is_awaited(self._exchange):
            self._serve_once(self._exchange)

    def _is_listening(self) -> bool:
        return not (self._is_deaf or self.is_closing)

    def _is_awaited(self, exchange: "Http1Exchange") -> bool:
        """Whether the application is to decide if it takes more of a body."""
        size = max(exchange.body.announced, len(exchange.body.arrived))
        return (
            size > _WHOLE_BYTES
            or self._http.they_are_waiting_for_100_continue
            or not exchange.needs_body
        )

    def _open(self, event: h11.Request) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        head = Head(event.method.decode("latin-1"), event.target.decode("latin-1"), headers)
        self._exchange = Http1Exchange(self, head)
        self._exchange.needs_body = self._application.needs_body(self._exchange)

    def _serve_once(self, exchange: "Http1Exchange") -> None:
        if exchange.is_served:
            return
        exchange.is_served = True
        self._expect(_FAREWELL_SECONDS if self._has_left else None)
        self._serve(exchange)
        if self._http.they_are_waiting_for_100_continue and not self._is_deaf:
            self.put(h11.InformationalResponse(status_code=100, headers=[]))

    def _finish(self, exchange: Exchange, task: asyncio.Task[None]) -> None:
        super()._finish(exchange, task)
        if not self.is_closing:
            self._hear(b"")  # what h11 has read of the requests behind it
            self._read_soon()

    def _release(self, exchange: Exchange) -> None:
        exchange.body.drop()
        if not self._is_listening():
            return
        if self._http.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY):
            self._transport.abort()
        elif not exchange.body.has_ended:
            self._hang_up()
        elif self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._exchange = None
            self._expect(self._idle_seconds)
        else:
            self._close()

    def _refuse(self, status: int) -> None:
        """Answer what nobody serves, and read no more."""
        self._cancel_all()
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self.is_closing:
            exchange = self._exchange or Http1Exchange(self, _NO_REQUEST)
            exchange.respond(status, _REFUSAL_HEADERS, _REFUSAL)
            self._hang_up()
        else:
            self._close()

    def _hang_up(self) -> None:
        """Send no more; a client that is still sending is heard out, so that it reads us."""
        if self._has_left:
            self._close()
            return
        self._is_deaf = True
        self._heard.clear()
        self._listen()
        self._flush()
        with suppress(OSError):  # it has left while it was being told
            self._transport.write_eof()
        self._expect(_FAREWELL_SECONDS)

    # --- Responses

    def put(self, event: h11.Event) -> None:
        """Send a part of a response."""
        self.write(self._http.send(event) or b"")

    def go_on(self, _: int) -> None:
        """What had come is not kept any more: more may come."""
        self._read_soon()


class Http1Exchange(Exchange):
    """The request that is served, and its response."""

    carries_trailers: ClassVar[bool] = False

    def __init__(self, connection: Http1Connection, head: Head) -> None:
        body = Body(connection.go_on, connection.budget.add)
        super().__init__(head, body, connection.backlog)
        self.is_served = False  # the application knows of it
        self.needs_body = True  # before it is served
        self._connection = connection

    def is_clear(self) -> bool:
        """Whether the connection takes more. Raises `ClientGoneError`."""
        if self._connection.is_closing:
            raise ClientGoneError
        return self._connection.is_clear

    def room(self) -> int:
        """How many bytes of a body can be sent at once. Raises `ClientGoneError`."""
        return _PART_BYTES if self.is_clear() else 0

    def put_head(self, status: int, headers: Headers, *, end: bool) -> None:
        """Send the head; behind the response to a request that is not read the connection ends."""
        more = () if self.body.has_ended else (("connection", "close"),)
        self._connection.put(h11.Response(status_code=status, headers=[*headers, *more]))
        if end:
            self.put_end(())

    def put_data(self, data: bytes) -> None:
        """Send a part of the body."""
        self._connection.put(h11.Data(data=data))

    def put_end(self, trailers: Headers) -> None:
        """End the response."""
        assert not trailers
        self._connection.put(h11.EndOfMessage())
