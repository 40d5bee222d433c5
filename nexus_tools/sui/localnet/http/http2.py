"""HTTP/2. Source: RFC 9113; its frames, windows, settings and states are h2's affair."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from struct import Struct
from typing import Any, ClassVar

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
    WindowUpdated,
)
from h2.exceptions import ProtocolError
from h2.frame_buffer import FrameBuffer
from h2.settings import SettingCodes, Settings
from h2.stream import StreamInputs
from h2.utilities import HeaderValidationFlags, validate_headers
from hyperframe.frame import Frame, SettingsFrame

from nexus_tools.sui.localnet.http.connection import Connection
from nexus_tools.sui.localnet.http.exchange import (
    WINDOW,
    Application,
    Body,
    ClientGoneError,
    Exchange,
    Head,
    Headers,
)
from nexus_tools.sui.localnet.http.hpack import RequestDecoder, block
from nexus_tools.sui.localnet.http.memory_budget import Budget

_LOG = logging.getLogger(__name__)

# Clients queue silently for what is beyond: an application that would rather refuse has to know.
MAX_CONCURRENT_STREAMS = 1024

# What comes in is checked, but here, since most heads are like others; what goes out is right.
_CONFIGURATION = H2Configuration(
    client_side=False,
    header_encoding=None,
    validate_inbound_headers=False,
    normalize_inbound_headers=False,
    validate_outbound_headers=False,
    normalize_outbound_headers=False,
)
_SETTINGS = {
    SettingCodes.MAX_CONCURRENT_STREAMS: MAX_CONCURRENT_STREAMS,
    SettingCodes.MAX_HEADER_LIST_SIZE: H2Connection.DEFAULT_MAX_HEADER_LIST_SIZE,
    SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
}
_HEAD = HeaderValidationFlags(
    is_client=False, is_trailer=False, is_response_header=False, is_push_promise=False
)
_TRAILERS = _HEAD._replace(is_trailer=True)
_HEADS = 64
_UNCOUNTED = 64

# RFC 9113, sections 4.1, 6.1 and 6.2: 24 bits of length, type, flags, 32 bits of the stream.
_FRAME = Struct(">HBBBL")
_DATA, _HEADERS = 0, 1
_END_STREAM, _END_HEADERS = 0x01, 0x04

Fields = tuple[tuple[bytes, bytes], ...]


class Http2Connection(Connection):
    """One HTTP/2 connection."""

    def __init__(self, application: Application, idle_seconds: float, budget: Budget) -> None:
        super().__init__(application, idle_seconds, budget)
        self.http = _Streams(_CONFIGURATION)
        self.http.local_settings = Settings(client=False, initial_values=_SETTINGS)
        self.http.incoming_buffer = self._frames = _Frames(server=True)
        self.http.decoder = RequestDecoder()
        self._exchanges: dict[int, Http2Exchange] = {}
        self._begun: list[Http2Exchange] = []  # their heads have just come
        self._whole = 0  # frames that had come when the deadline was set

    # --- What happens to the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        self.http.initiate_connection()
        self.http.increment_flow_control_window(WINDOW - self.http.inbound_flow_control_window)
        self._flush()

    def _take(self, data: bytes) -> None:
        try:
            for event in self.http.receive_data(data):
                if handle := self._handlers.get(type(event)):
                    handle(self, event)
            self._watch()
        except ProtocolError:  # of which h2 has told the client
            _LOG.debug("closing a connection that broke the protocol", exc_info=True)
            self._close()
            return
        except Exception:  # noqa: BLE001 - h2 raises more than its own errors
            _LOG.debug("closing a connection that sent nonsense", exc_info=True)
            self._end_connection(ErrorCodes.PROTOCOL_ERROR)
            return
        begun, self._begun = self._begun, []
        for exchange in begun:  # of which the whole request may be there by now
            if exchange.number in self._exchanges and not self.is_closing:
                self._serve(exchange)

    def _watch(self) -> None:
        """What is begun of a frame, or of a head in several, has to come to its end."""
        if self._frames.next_is_too_large():
            self._end_connection(ErrorCodes.FRAME_SIZE_ERROR)
        elif self._frames.are_in_the_middle():
            if self._deadline is None or self._whole != self._frames.whole:
                self._whole = self._frames.whole
                self._expect(self._idle_seconds)
        elif self._deadline is not None:
            self._expect(None)

    # --- What comes

    def _open(self, event: RequestReceived) -> None:
        if len(self._exchanges) >= MAX_CONCURRENT_STREAMS:
            self._refuse(event.stream_id, ErrorCodes.REFUSED_STREAM)
            return
        try:
            head = _checked_head(tuple(event.headers))
        except ProtocolError:
            self._refuse(event.stream_id, ErrorCodes.PROTOCOL_ERROR)
            return
        exchange = Http2Exchange(self, event.stream_id, head)
        self._exchanges[exchange.number] = exchange
        self._begun.append(exchange)

    def _take_data(self, event: DataReceived) -> None:
        exchange, size = self._exchanges.get(event.stream_id), event.flow_controlled_length
        if exchange is not None:
            exchange.body.take(event.data)
            size -= len(event.data)  # but the padding, nobody keeps
        if size:
            self.give_back(event.stream_id, size)

    def _end(self, event: StreamEnded) -> None:
        if exchange := self._exchanges.get(event.stream_id):
            exchange.body.end()

    def _reset(self, event: StreamReset) -> None:
        self._drop(event.stream_id)

    def _refuse(self, number: int, code: ErrorCodes) -> None:
        """End a stream alone: what is malformed says nothing against the others (section 8.1.1)."""
        with suppress(ProtocolError):  # it is closed
            self.http.reset_stream(number, code)
        self._drop(number)

    def _drop(self, number: int) -> None:
        """Nobody waits for what is served on a stream."""
        if exchange := self._exchanges.get(number):
            if task := self._tasks.get(exchange):
                task.cancel()
            else:
                self._release(exchange)

    def _widen(self, event: WindowUpdated) -> None:
        if not event.stream_id:
            self._wake_all()
        elif exchange := self._exchanges.get(event.stream_id):
            exchange.wake()

    def _check_trailers(self, event: TrailersReceived) -> None:
        try:
            for _ in validate_headers(event.headers, _TRAILERS):
                pass  # it checks while it is read
        except ProtocolError:
            self._refuse(event.stream_id, ErrorCodes.PROTOCOL_ERROR)

    def _go(self, _: ConnectionTerminated) -> None:
        self._close()

    def _change_settings(self, _: RemoteSettingsChanged) -> None:
        self._wake_all()

    _handlers: ClassVar[Mapping[type[Event], Callable[[Any, Any], None]]] = {
        RequestReceived: _open,
        DataReceived: _take_data,
        StreamEnded: _end,
        StreamReset: _reset,
        TrailersReceived: _check_trailers,
        WindowUpdated: _widen,
        RemoteSettingsChanged: _change_settings,
        ConnectionTerminated: _go,
    }

    # --- What goes

    def _end_connection(self, code: ErrorCodes) -> None:
        with suppress(ProtocolError):  # it has ended
            self.http.close_connection(code)
        self._close()

    def _release(self, exchange: Exchange) -> None:
        assert isinstance(exchange, Http2Exchange)
        del self._exchanges[exchange.number]
        exchange.close()

    def give_back(self, number: int, size: int) -> None:
        """Bytes that had come are not kept any more: as many others may come."""
        with suppress(ProtocolError):  # it is closed
            self.http.acknowledge_received_data(size, number)
        self.flush()

    def write(self, data: bytes) -> None:
        """Send at the end of this turn, behind what h2 has said by now."""
        super().write(self.http.data_to_send() + data)

    def _flush(self) -> None:
        self._unsent += self.http.data_to_send()
        super()._flush()


class Http2Exchange(Exchange):
    """One stream."""

    carries_trailers: ClassVar[bool] = True

    def __init__(self, connection: Http2Connection, number: int, head: Head) -> None:
        body = Body(partial(connection.give_back, number), connection.budget.add)
        super().__init__(head, body, connection.backlog)
        self.number = number
        self._connection = connection
        self._http = connection.http

    def is_clear(self) -> bool:
        """Whether the connection takes more. Raises `ClientGoneError`."""
        return self._connection.is_clear

    def room(self) -> int:
        """How many bytes of a body can be sent at once. Raises `ClientGoneError`."""
        if not self._connection.is_clear:
            return 0
        try:
            window = self._http.local_flow_control_window(self.number)
        except ProtocolError:
            raise ClientGoneError from None
        return min(window, self._http.max_outbound_frame_size)

    def put_head(self, status: int, headers: Headers, *, end: bool) -> None:
        """Send the head, and end the response if that is all of it."""
        self._put_headers(((":status", str(status)), *headers), end=end)

    def put_data(self, data: bytes) -> None:
        """Send a part of the body, for which there is room."""
        self._put(_DATA, data, StreamInputs.SEND_DATA, end=False)
        self._http.outbound_flow_control_window -= len(data)
        self._http.streams[self.number].outbound_flow_control_window -= len(data)

    def put_end(self, trailers: Headers) -> None:
        """End the response, with trailers or without."""
        if trailers:
            self._put_headers(trailers, end=True)
        else:
            self._put(_DATA, b"", StreamInputs.SEND_DATA, end=True)

    def _put_headers(self, headers: Headers, *, end: bool) -> None:
        encoder = self._http.encoder
        changes = encoder.encode(()) if encoder.table_size_changes else b""
        self._put(_HEADERS, changes + block(headers), StreamInputs.SEND_HEADERS, end=end)

    def _put(self, kind: int, payload: bytes, step: StreamInputs, *, end: bool) -> None:
        """Send a frame. h2 keeps the state, but its way to make one takes three times as long."""
        stream = self._http.streams.get(self.number)
        if stream is None:
            raise ClientGoneError
        try:
            stream.state_machine.process_input(step)
            if end:
                stream.state_machine.process_input(StreamInputs.SEND_END_STREAM)
        except ProtocolError:
            raise ClientGoneError from None
        flags = (_END_HEADERS if kind == _HEADERS else 0) | (_END_STREAM if end else 0)
        self._connection.write(
            _FRAME.pack(len(payload) >> 8, len(payload) & 0xFF, kind, flags, self.number) + payload
        )

    def close(self) -> None:
        """End what is left of it: one of both sides has not ended its half, and will not."""
        self.body.drop()
        stream = self._http.streams.get(self.number)
        if stream is None or stream.closed:
            return
        with suppress(ProtocolError):
            self._http.reset_stream(self.number)
            self._connection.flush()


class _Streams(H2Connection):
    """h2, but that it does not count its streams for each request: 200 take as long as the call.

    One more than there may be would end the connection; so h2 is never told that there are too
    many, and each that is too much is refused by itself (RFC 9113, section 5.1.2).
    """

    _counted = 0

    @property
    def open_inbound_streams(self) -> int:
        """Room for one more, always; h2 forgets those that have ended when it counts."""
        if len(self.streams) >= self._counted + _UNCOUNTED:
            self._counted = super().open_inbound_streams
        return 0


class _Frames(FrameBuffer):
    """What has come, as frames; `whole` counts them, and a head in several as one."""

    whole = 0

    def __next__(self) -> Frame:
        found = super().__next__()
        # RFC 9113, section 3.4: the preface of a client goes on with its settings.
        if not self.whole and (not isinstance(found, SettingsFrame) or "ACK" in found.flags):
            raise ProtocolError("the first frame has to have settings")
        self.whole += 1
        return found

    def next_is_too_large(self) -> bool:
        """Whether a frame has begun that h2 would refuse when all of it has come."""
        return len(self._data) > 2 and int.from_bytes(self._data[:3], "big") > self.max_frame_size

    def are_in_the_middle(self) -> bool:
        """Whether the preface, a frame, or a head in several frames has begun and not ended."""
        return bool(self._data or self._headers_buffer or self._preamble_len)


@lru_cache(maxsize=_HEADS)
def _checked_head(fields: Fields) -> Head:
    """The head of a request as text. Raises `ProtocolError`."""
    checked = validate_headers(fields, _HEAD)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in checked}
    return Head(headers[":method"], headers[":path"], headers)
