"""HTTP/2 on the same port: native gRPC, and all else that HTTP/1.1 carries too.

Source: RFC 9113; its frames, windows, settings and states are h2's affair.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, ClassVar

from h2.config import H2Configuration
from h2.connection import H2Connection
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
from h2.settings import SettingCodes
from h2.utilities import HeaderValidationFlags, validate_headers

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.grpc_protocol import begin_serving
from nexus_tools.localnet.rpc.http2_stream import WINDOW, Http2Stream
from nexus_tools.localnet.rpc.request_decoder import RequestDecoder
from nexus_tools.localnet.rpc.response_encoder import ResponseEncoder

_LOG = logging.getLogger(__name__)

_TURN_BYTES = 4096
_HEADS = 64

# What comes in is checked, but here, since most heads are like others; what goes out is right.
_CONFIGURATION = H2Configuration(
    client_side=False,
    header_encoding=None,
    validate_inbound_headers=False,
    normalize_inbound_headers=False,
    validate_outbound_headers=False,
    normalize_outbound_headers=False,
)

_HEAD = HeaderValidationFlags(
    is_client=False, is_trailer=False, is_response_header=False, is_push_promise=False
)
_TRAILERS = _HEAD._replace(is_trailer=True)

Fields = tuple[tuple[bytes, bytes], ...]


class Http2Connection(asyncio.Protocol):
    """One HTTP/2 connection with at most 100 exchanges at once, as h2 has it.

    Whatever bytes it is sent, it ends only itself.
    """

    def __init__(self, backend: Backend) -> None:
        self.http = H2Connection(_CONFIGURATION)
        self.http.decoder = RequestDecoder()
        self.http.encoder = ResponseEncoder()
        self.is_writable = True
        self._backend = backend
        self._streams: dict[int, Http2Stream] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._begun: list[Http2Stream] = []  # their heads have just come
        self._heard = bytearray()  # what has come and is not read yet
        self._reads_soon = False
        self._flushes_soon = False
        self._given_back = 0  # bytes, since the client was last told so
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport

    # --- What happens to the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.http.initiate_connection()
        self.http.increment_flow_control_window(WINDOW - self.http.inbound_flow_control_window)
        self.http.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: WINDOW})
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's word
        """End, and with it all that is being served."""
        for task in tuple(self._tasks.values()):
            task.cancel()

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered: it is not heard until it has read."""
        self.is_writable = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.is_writable = True
        self._wake_all()
        self._read_soon()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if len(data) <= _TURN_BYTES and not self._heard:
            self._take(data)
            return
        self._heard += data
        if not self._reads_soon:
            self._transport.pause_reading()
            self._read_some()

    def _read_soon(self) -> None:
        if not self._reads_soon:
            self._reads_soon = True
            self._loop.call_soon(self._read_some)

    def _read_some(self) -> None:
        """Read for a while, then let the other clients have their turn: small frames take long."""
        self._reads_soon = False
        if self._transport.is_closing():
            self._heard.clear()
            return
        if not self.is_writable:  # reading goes on when the client has caught up
            return
        data = bytes(self._heard[:_TURN_BYTES])
        del self._heard[:_TURN_BYTES]
        self._take(data)
        if self._heard:
            self._read_soon()
        elif self.is_writable:
            self._transport.resume_reading()

    # --- What comes

    def _take(self, data: bytes) -> None:
        self._flushes_soon = True  # namely below
        try:
            for event in self.http.receive_data(data):
                if handle := self._handlers.get(type(event)):
                    handle(self, event)
            self._serve_begun()
        except Exception:  # noqa: BLE001 - the edge of the server
            _LOG.debug("closing a connection that sent nonsense", exc_info=True)
            self._flush()
            self._transport.close()
        else:
            self._flush()

    def _begin(self, event: RequestReceived) -> None:
        stream = Http2Stream(self, event.stream_id, _checked_head(tuple(event.headers)))
        self._streams[stream.number] = stream
        self._begun.append(stream)

    def _take_data(self, event: DataReceived) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is None:
            self.give_back(event.flow_controlled_length)
        else:
            stream.take(event.data, event.flow_controlled_length - len(event.data))

    def _end(self, event: StreamEnded) -> None:
        if stream := self._streams.get(event.stream_id):
            stream.end()

    def _reset(self, event: StreamReset) -> None:
        if task := self._tasks.get(event.stream_id):
            task.cancel()
        elif stream := self._streams.get(event.stream_id):
            self._release(stream)

    def _widen(self, event: WindowUpdated) -> None:
        if not event.stream_id:
            self._wake_all()
        elif stream := self._streams.get(event.stream_id):
            stream.wake()

    def _check_trailers(self, event: TrailersReceived) -> None:
        for _ in validate_headers(event.headers, _TRAILERS):
            pass  # it checks while it is read

    def _go(self, _: ConnectionTerminated) -> None:
        self._transport.close()

    def _wake_all(self, _: RemoteSettingsChanged | None = None) -> None:
        for stream in self._streams.values():
            stream.wake()

    _handlers: ClassVar[Mapping[type[Event], Callable[[Any, Any], None]]] = {
        RequestReceived: _begin,
        DataReceived: _take_data,
        StreamEnded: _end,
        StreamReset: _reset,
        TrailersReceived: _check_trailers,
        WindowUpdated: _widen,
        RemoteSettingsChanged: _wake_all,
        ConnectionTerminated: _go,
    }

    # --- Serving

    def _serve_begun(self) -> None:
        """Serve the exchanges that have begun, of which the whole request may be there by now."""
        begun, self._begun = self._begun, []
        for stream in begun:
            if stream.number not in self._streams or self._transport.is_closing():
                continue  # the client has given it up
            rest = begin_serving(self._backend, stream)
            if rest is None:
                self._release(stream)
            else:
                task = self._loop.create_task(rest)
                self._tasks[stream.number] = task
                task.add_done_callback(partial(self._finish, stream))

    def _finish(self, stream: Http2Stream, task: asyncio.Task[None]) -> None:
        del self._tasks[stream.number]
        self._release(stream)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("an HTTP response failed", exc_info=task.exception())
            stream.close()

    def _release(self, stream: Http2Stream) -> None:
        del self._streams[stream.number]
        stream.drop()

    # --- Sending

    def give_back(self, size: int) -> None:
        """Bytes that had come are not kept any more: as many others may come."""
        self._given_back += size
        if self._given_back < WINDOW // 2:
            return
        with suppress(ProtocolError):  # it is closed
            self.http.increment_flow_control_window(self._given_back)
        self._given_back = 0
        self.flush()

    def flush(self) -> None:
        """Send what h2 has for the client, at the end of this turn: a system call costs most."""
        if not self._flushes_soon:
            self._flushes_soon = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushes_soon = False
        data = self.http.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)


@lru_cache(maxsize=_HEADS)
def _checked_head(fields: Fields) -> Mapping[str, str]:
    """The head of a request as text. Raises `ProtocolError` or `UnicodeDecodeError`."""
    return {name.decode(): value.decode() for name, value in validate_headers(fields, _HEAD)}
