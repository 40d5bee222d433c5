"""HTTP/1.1 connections. h11 parses and formats the messages. Source: RFC 9112."""

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
    Headers,
    RequestHead,
)
from nexus_tools.sui.localnet.http.memory_budget import Budget

_HEADER_BYTES = 16 * 1024
_PART_BYTES = 64 * 1024
_WHOLE_BYTES = 64 * 1024  # the largest body that is received before the request is served
_FAREWELL_SECONDS = 1.0
_NO_REQUEST = RequestHead("GET", "/", {})
_REFUSAL = b'{"error": "malformed request"}'
_REFUSAL_HEADERS = (
    ("content-type", "application/json"),
    ("content-length", str(len(_REFUSAL))),
)


class Http1Connection(Connection):
    """One HTTP/1.1 connection. Requests are served in order.

    A request is served when its body is complete. If the body is too large to wait for, or if the
    application does not need the body, the request is served earlier. Until the request is served,
    the client may be idle for `idle_seconds`.
    """

    def __init__(self, application: Application, idle_seconds: float, budget: Budget) -> None:
        super().__init__(application, idle_seconds, budget)
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADER_BYTES)
        self._exchange: Http1Exchange | None = None
        self._discards_input = False  # the client may still read its response

    # --- Connection events

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the idle deadline."""
        super().connection_made(transport)
        self._expect(self._idle_seconds)

    def data_received(self, data: bytes) -> None:
        """Process bytes from the client."""
        if not self._discards_input:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        """Keep the connection open for a short time, until the current request has ended."""
        if self._discards_input:
            return super().eof_received()
        if not self._has_left:
            self._has_left = True
            self._expect(_FAREWELL_SECONDS)
            self._read_soon()
        return True

    # --- Requests

    def _is_ready(self) -> bool:
        """Return whether received data may be processed.

        Data after a body is processed only after the application has read the body.
        """
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
        """Parse received data until no data is left, or until a request must be served."""
        while self._is_ready() and self._is_listening():
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._open(event)
            elif self._exchange is not None and isinstance(event, h11.Data):
                self._exchange.body.take(bytes(event.data))
            elif self._exchange is not None and isinstance(event, h11.EndOfMessage):
                self._exchange.body.end()
                self._serve_once(self._exchange)
            else:  # h11 needs more data
                if self._has_left and not self._heard:
                    self._close()
                break
        if self._exchange is not None and self._is_listening() and self._is_awaited(self._exchange):
            self._serve_once(self._exchange)

    def _is_listening(self) -> bool:
        return not (self._discards_input or self.is_closing)

    def _is_awaited(self, exchange: "Http1Exchange") -> bool:
        """Return whether the application must receive the request before its body is complete."""
        size = max(exchange.body.announced, len(exchange.body.arrived))
        return (
            size > _WHOLE_BYTES
            or self._http.they_are_waiting_for_100_continue
            or not exchange.needs_body
        )

    def _open(self, event: h11.Request) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        head = RequestHead(event.method.decode("latin-1"), event.target.decode("latin-1"), headers)
        self._exchange = Http1Exchange(self, head)
        self._exchange.needs_body = self._application.needs_body(self._exchange)

    def _serve_once(self, exchange: "Http1Exchange") -> None:
        if exchange.is_served:
            return
        exchange.is_served = True
        self._expect(_FAREWELL_SECONDS if self._has_left else None)
        self._serve(exchange)
        if self._http.they_are_waiting_for_100_continue and not self._discards_input:
            self.put(h11.InformationalResponse(status_code=100, headers=[]))

    def _finish(self, exchange: Exchange, task: asyncio.Task[None]) -> None:
        super()._finish(exchange, task)
        if not self.is_closing:
            self._hear(b"")  # h11 may already have received a part of the next request
            self._read_soon()

    def _release(self, exchange: Exchange) -> None:
        exchange.body.drop()
        if not self._is_listening():
            return
        if self._http.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY):
            self._transport.abort()
        elif not exchange.body.has_ended:
            self._stop_sending()
        elif self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._exchange = None
            self._expect(self._idle_seconds)
        else:
            self._close()

    def _refuse(self, status: int) -> None:
        """Respond to a malformed request with an error, and stop reading."""
        self._cancel_all()
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self.is_closing:
            exchange = self._exchange or Http1Exchange(self, _NO_REQUEST)
            exchange.respond(status, _REFUSAL_HEADERS, _REFUSAL)
            self._stop_sending()
        else:
            self._close()

    def _stop_sending(self) -> None:
        """Stop sending, and discard further input for a short time.

        If the connection were closed immediately, a client that is still sending might not read the
        response.
        """
        if self._has_left:
            self._close()
            return
        self._discards_input = True
        self._heard.clear()
        self._listen()
        self._flush()
        with suppress(OSError):  # the client has disconnected in the meantime
            self._transport.write_eof()
        self._expect(_FAREWELL_SECONDS)

    # --- Responses

    def put(self, event: h11.Event) -> None:
        """Send a part of a response."""
        self.write(self._http.send(event) or b"")

    def go_on(self, _: int) -> None:
        """Read more data, because the application has read a part of the body."""
        self._read_soon()


class Http1Exchange(Exchange):
    """The current request and its response."""

    carries_trailers: ClassVar[bool] = False

    def __init__(self, connection: Http1Connection, head: RequestHead) -> None:
        body = Body(connection.go_on, connection.budget.add)
        super().__init__(head, body, connection.backlog)
        self.is_served = False  # True after the application has received the request.
        self.needs_body = True  # False if the application does not need the complete body.
        self._connection = connection

    def is_clear(self) -> bool:
        """Return whether the connection can send more.

        Raises:
            ClientGoneError: The client has disconnected.
        """
        if self._connection.is_closing:
            raise ClientGoneError
        return self._connection.is_clear

    def room(self) -> int:
        """Return how many bytes of a body can be sent immediately.

        Raises:
            ClientGoneError: The client has disconnected.
        """
        return _PART_BYTES if self.is_clear() else 0

    def put_head(self, status: int, headers: Headers, *, end: bool) -> None:
        """Send the headers. Add `connection: close` if the request body is incomplete."""
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
