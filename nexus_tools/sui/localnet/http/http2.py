"""HTTP/2 connections. h2 handles frames, windows, settings and states. Source: RFC 9113."""

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
    Headers,
    RequestHead,
)
from nexus_tools.sui.localnet.http.hpack import RequestDecoder, block
from nexus_tools.sui.localnet.http.memory_budget import Budget

_LOG = logging.getLogger(__name__)

# The maximum number of streams. A client queues excess requests without reporting them. If an
# application wants to refuse excess requests, it must use a lower limit.
MAX_CONCURRENT_STREAMS = 1024

# This module validates received headers and caches the result, because most requests have equal
# headers. Sent headers are always valid.
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

# A frame header has 24 bits of length, the type, the flags and 32 bits of stream ID (RFC 9113,
# sections 4.1, 6.1 and 6.2).
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
        self._new_exchanges: list[Http2Exchange] = []  # Exchanges in the current data.
        self._whole = 0  # The value of `_frames.whole` when the deadline was set.

    # --- Connection events

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the settings and the flow-control window."""
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
        except ProtocolError:  # h2 has already reported the error to the client
            _LOG.debug("closing a connection after a protocol error", exc_info=True)
            self._close()
            return
        except Exception:  # noqa: BLE001 - h2 raises more than its own errors
            _LOG.debug("closing a connection that sent malformed data", exc_info=True)
            self._end_connection(ErrorCodes.PROTOCOL_ERROR)
            return
        exchanges, self._new_exchanges = self._new_exchanges, []
        for exchange in exchanges:  # the data may include the bodies
            if exchange.number in self._exchanges and not self.is_closing:
                self._serve(exchange)

    def _watch(self) -> None:
        """Set a deadline while a frame, or a sequence of header frames, is incomplete."""
        if self._frames.next_is_too_large():
            self._end_connection(ErrorCodes.FRAME_SIZE_ERROR)
        elif self._frames.are_in_the_middle():
            if self._deadline is None or self._whole != self._frames.whole:
                self._whole = self._frames.whole
                self._expect(self._idle_seconds)
        elif self._deadline is not None:
            self._expect(None)

    # --- Received frames

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
        self._new_exchanges.append(exchange)

    def _take_data(self, event: DataReceived) -> None:
        exchange, size = self._exchanges.get(event.stream_id), event.flow_controlled_length
        if exchange is not None:
            exchange.body.take(event.data)
            size -= len(event.data)  # only the padding is released immediately
        if size:
            self.give_back(event.stream_id, size)

    def _end(self, event: StreamEnded) -> None:
        if exchange := self._exchanges.get(event.stream_id):
            exchange.body.end()

    def _reset(self, event: StreamReset) -> None:
        self._drop(event.stream_id)

    def _refuse(self, number: int, code: ErrorCodes) -> None:
        """Reset a stream whose request is malformed or exceeds the limit (section 8.1.1)."""
        with suppress(ProtocolError):  # the stream is already closed
            self.http.reset_stream(number, code)
        self._drop(number)

    def _drop(self, number: int) -> None:
        """Cancel the request on a stream that was reset."""
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
                pass  # iterating over the generator validates the headers
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

    # --- Sent frames

    def _end_connection(self, code: ErrorCodes) -> None:
        with suppress(ProtocolError):  # the connection has already ended
            self.http.close_connection(code)
        self._close()

    def _release(self, exchange: Exchange) -> None:
        assert isinstance(exchange, Http2Exchange)
        del self._exchanges[exchange.number]
        exchange.close()

    def give_back(self, number: int, size: int) -> None:
        """Extend the client's flow-control window by a number of released bytes."""
        with suppress(ProtocolError):  # the stream is already closed
            self.http.acknowledge_received_data(size, number)
        self.flush()

    def write(self, data: bytes) -> None:
        """Send data at the end of this turn, after the frames that h2 has pending."""
        super().write(self.http.data_to_send() + data)

    def _flush(self) -> None:
        self._unsent += self.http.data_to_send()
        super()._flush()


class Http2Exchange(Exchange):
    """The exchange on one HTTP/2 stream."""

    carries_trailers: ClassVar[bool] = True

    def __init__(self, connection: Http2Connection, number: int, head: RequestHead) -> None:
        body = Body(partial(connection.give_back, number), connection.budget.add)
        super().__init__(head, body, connection.backlog)
        self.number = number
        self._connection = connection
        self._http = connection.http

    def is_clear(self) -> bool:
        """Return whether the connection can send more."""
        return self._connection.is_clear

    def room(self) -> int:
        """Return how many bytes of a body can be sent immediately.

        Raises:
            ClientGoneError: The stream is closed.
        """
        if not self._connection.is_clear:
            return 0
        try:
            window = self._http.local_flow_control_window(self.number)
        except ProtocolError:
            raise ClientGoneError from None
        return min(window, self._http.max_outbound_frame_size)

    def put_head(self, status: int, headers: Headers, *, end: bool) -> None:
        """Send the headers, and end the response if `end` is true."""
        self._put_headers(((":status", str(status)), *headers), end=end)

    def put_data(self, data: bytes) -> None:
        """Send a part of the body that fits into `room`."""
        self._put(_DATA, data, StreamInputs.SEND_DATA, end=False)
        self._http.outbound_flow_control_window -= len(data)
        self._http.streams[self.number].outbound_flow_control_window -= len(data)

    def put_end(self, trailers: Headers) -> None:
        """End the response, with or without trailers."""
        if trailers:
            self._put_headers(trailers, end=True)
        else:
            self._put(_DATA, b"", StreamInputs.SEND_DATA, end=True)

    def _put_headers(self, headers: Headers, *, end: bool) -> None:
        encoder = self._http.encoder
        changes = encoder.encode(()) if encoder.table_size_changes else b""
        self._put(_HEADERS, changes + block(headers), StreamInputs.SEND_HEADERS, end=end)

    def _put(self, kind: int, payload: bytes, step: StreamInputs, *, end: bool) -> None:
        """Send a frame, and update the state in h2. h2's own method takes three times as long."""
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
        """Reset the stream unless both client and server have ended it."""
        self.body.drop()
        stream = self._http.streams.get(self.number)
        if stream is None or stream.closed:
            return
        with suppress(ProtocolError):
            self._http.reset_stream(self.number)
            self._connection.flush()


class _Streams(H2Connection):
    """A variant of `H2Connection` that does not count its open streams at each request.

    Counting 200 streams takes as long as the other steps of the call. h2 would also end the
    connection at the first stream above the limit. So this class reports no open streams to h2, and
    `Http2Connection` refuses each excess stream (RFC 9113, section 5.1.2).
    """

    _counted = 0

    @property
    def open_inbound_streams(self) -> int:
        """Always zero.

        This property still counts the streams sometimes, because h2 removes ended streams while
        counting.
        """
        if len(self.streams) >= self._counted + _UNCOUNTED:
            self._counted = super().open_inbound_streams
        return 0


class _Frames(FrameBuffer):
    """The buffer of received frames. `whole` is the number of complete frames.

    Headers that are split into several frames are counted as one frame.
    """

    whole = 0

    def __next__(self) -> Frame:
        frame = super().__next__()
        # The first frame of a client must be SETTINGS (RFC 9113, section 3.4).
        if not self.whole and (not isinstance(frame, SettingsFrame) or "ACK" in frame.flags):
            raise ProtocolError("expected settings in the first frame")
        self.whole += 1
        return frame

    def next_is_too_large(self) -> bool:
        """Return whether the incomplete frame is larger than h2 accepts."""
        return len(self._data) > 2 and int.from_bytes(self._data[:3], "big") > self.max_frame_size

    def are_in_the_middle(self) -> bool:
        """Return whether the preface, a frame, or headers in several frames are incomplete."""
        return bool(self._data or self._headers_buffer or self._preamble_len)


@lru_cache(maxsize=_HEADS)
def _checked_head(fields: Fields) -> RequestHead:
    """Validate and decode the headers of a request.

    Raises:
        ProtocolError: The headers are malformed.
    """
    checked = validate_headers(fields, _HEAD)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in checked}
    return RequestHead(headers[":method"], headers[":path"], headers)
