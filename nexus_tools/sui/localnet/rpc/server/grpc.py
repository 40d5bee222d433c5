"""The three forms of gRPC: native gRPC over HTTP/2, binary gRPC-web, and gRPC-web as text.

gRPC-web works over both HTTP versions. A frame consists of one byte of flags, four bytes of size,
and a message. In gRPC-web, the last frame contains the trailers. In the text form, each frame is
encoded as base64. An error contains a `google.rpc.Status`, which names the invalid field. Sources:
github.com/grpc/grpc, PROTOCOL-HTTP2.md and PROTOCOL-WEB.md; `sui-rpc-api/src/error.rs`.

For example, the message `abc` is the frame `00 00000003 616263`. In gRPC-web, the trailers of a
successful call are a frame with the flags 80. The frame contains `grpc-status:0` and a line break.
"""

import asyncio
import binascii
import re
from base64 import b64encode
from collections.abc import Callable
from enum import Enum
from itertools import accumulate
from typing import Self
from urllib.parse import quote

from nexus_tools.sui.localnet.http import Body, Exchange, Headers, RequestHead
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import (
    CORS,
    Code,
    Limits,
    RpcError,
    info_headers,
    invalid,
    render_status,
)
from nexus_tools.sui.rpc import Messages

_PREFIX_BYTES = 5
_MESSAGE, _COMPRESSED, _TRAILERS = 0x00, 0x01, 0x80
# Each frame may end with padding. For example, `YWJjZA==eA==` decodes to `abcd` and then `x`.
_SEGMENT = re.compile(rb"[^=]+={0,2}|=+")
_NO_BODY = (("content-length", "0"),)
_SUCCESS: Headers = (("grpc-status", "0"),)
_PRINTABLE = " !#$&'()*+,/:;=?@[]^`{|}~\"<>"
_LONGEST = 3000  # clients accept at most 8 KiB of headers


class Form(Enum):
    """A form of gRPC. The value is the content type of responses in this form."""

    NATIVE = "application/grpc+proto"
    WEB = "application/grpc-web+proto"
    WEB_TEXT = "application/grpc-web-text+proto"

    def encode(self, frame: bytes) -> bytes:
        """Encode a frame. In the text form, each frame is padded separately."""
        return binascii.b2a_base64(frame, newline=False) if self is Form.WEB_TEXT else frame

    def decode(self, body: bytes) -> bytes:
        """Return the bytes of the frames in a body.

        Raises:
            RpcError: The body is not valid base64.
        """
        if self is not Form.WEB_TEXT:
            return body
        try:
            return b"".join(
                binascii.a2b_base64(segment, strict_mode=True) for segment in _SEGMENT.findall(body)
            )
        except binascii.Error as error:
            raise invalid(f"the request is not base64: {error}") from None

    def largest_body(self, message_bytes: int) -> int:
        """Return the maximum size of a body with one message of at most `message_bytes`."""
        size = _PREFIX_BYTES + message_bytes
        return -(-size // 3) * 4 if self is Form.WEB_TEXT else size


_FORMS = {
    "application/grpc": Form.NATIVE,
    "application/grpc-web": Form.WEB,
    "application/grpc-web-text": Form.WEB_TEXT,
    **{form.value: form for form in Form},
}


def _form(head: RequestHead, name: str) -> Form | None:
    return _FORMS.get(head.headers.get(name, "").partition(";")[0].strip().lower())


def _accepted(head: RequestHead) -> Form:
    """Return the form of gRPC-web that a client accepts.

    The form is binary unless the client requests text.
    """
    return Form.WEB_TEXT if _form(head, "accept") is Form.WEB_TEXT else Form.WEB


class GrpcRequest:
    """The request of a gRPC call: its form and its messages."""

    def __init__(self, form: Form, body: Body, limits: Limits) -> None:
        self.form = form
        self._body = body
        self._limit = limits.request_bytes
        self._seconds = limits.request_seconds
        self._frames = body if form is Form.NATIVE else None

    @classmethod
    def of(cls, exchange: Exchange, limits: Limits) -> Self | None:
        """Return the gRPC call of an HTTP request, or None if the request is not a gRPC call.

        A request in native gRPC is not a call if the connection cannot send trailers.
        """
        form = _form(exchange.head, "content-type") if exchange.head.method == "POST" else None
        if form is None or (form is Form.NATIVE and not exchange.carries_trailers):
            return None
        return cls(form, exchange.body, limits)

    def only_message(self) -> bytes | None:
        """Return the message of a complete call that has exactly one message, or None."""
        frame = self._body.arrived
        size = len(frame) - _PREFIX_BYTES
        if not self._body.has_ended or self.form is Form.WEB_TEXT:
            return None
        if (
            not 0 <= size <= self._limit
            or frame[0]
            or int.from_bytes(frame[1:_PREFIX_BYTES], "big") != size
        ):
            return None
        return bytes(frame[_PREFIX_BYTES:])

    def read_as_it_comes(self) -> None:
        """Read each message when it arrives, for a bidirectional call.

        However, a body in the text form is read completely before its first message is returned.
        """
        if self.form is not Form.WEB_TEXT:
            self._frames = self._body

    async def receive(self) -> bytes | None:
        """Return the next message, or None after the last message.

        After its first bytes, a message must be complete within the time limit.

        Raises:
            RpcError: The message is malformed or too large.
            OverloadedError: Incomplete requests use too much memory.
            TimeoutError: The message is not complete in time.
        """
        frames = self._frames = self._frames or await self._read_frames()
        prefix = await frames.read(_PREFIX_BYTES)
        if not prefix:
            return None
        size = int.from_bytes(prefix[1:], "big")
        self._check(prefix, size)
        async with asyncio.timeout(self._seconds):
            message = await frames.read(size)
        if len(message) < size:
            raise invalid("the request ends early")
        return message

    async def _read_frames(self) -> Body:
        """Read the complete body of a gRPC-web request, and return its decoded frames."""
        data = await self._body.read_all(self.form.largest_body(self._limit))
        if data is None:
            raise self._too_large()
        frames = Body()
        frames.take(self.form.decode(data))
        frames.end()
        return frames

    def _check(self, prefix: bytes, size: int) -> None:
        if len(prefix) < _PREFIX_BYTES:
            raise invalid("the request ends early")
        if prefix[0] == _COMPRESSED:
            raise RpcError(Code.UNIMPLEMENTED, "compressed messages are not supported")
        if prefix[0]:
            raise invalid(f"the request has a frame with the flags {prefix[0]:#04x}")
        if size > self._limit:
            raise self._too_large()

    def _too_large(self) -> RpcError:
        return RpcError(
            Code.RESOURCE_EXHAUSTED,
            f"the request is too large: at most {self._limit} bytes are allowed",
        )


def _frame(flags: int, content: bytes) -> bytes:
    return bytes((flags,)) + len(content).to_bytes(4, "big") + content


class GrpcReply:
    """The response of one call: headers, messages and trailers.

    An error response may have only headers. `form` is the form of the request.
    """

    def __init__(self, backend: Backend, form: Form, exchange: Exchange) -> None:
        self._backend = backend
        self._form = form if form is Form.NATIVE else _accepted(exchange.head)
        self._exchange = exchange
        self._has_started = False
        self._is_mid_message = False  # only a part of a message has been sent

    def respond(self, response: bytes | RpcError) -> bool:
        """Send a whole response if possible immediately, and return whether it was sent."""
        if isinstance(response, RpcError):
            return self._exchange.respond(200, self._headers(response), b"")
        data, trailers = self._ending(None)
        frame = self._form.encode(_frame(_MESSAGE, response))
        return self._exchange.respond(200, self._headers(), frame + data, trailers)

    async def send(self, message: bytes) -> None:
        """Send a message, and wait until the client can receive more."""
        await self._start()
        self._is_mid_message = True
        await self._exchange.send(self._form.encode(_frame(_MESSAGE, message)))
        self._is_mid_message = False

    async def send_made(self, make: Callable[[], bytes]) -> None:
        """Wait until the backlog is not full, and then create and send a message."""
        await self._exchange.backlog.until_room()
        message = make()
        self._exchange.keep(len(message))
        await self.send(message)
        self._exchange.keep(0)

    async def finish(self, error: RpcError | None) -> None:
        """Send the status of the call."""
        if not self._has_started and error is not None:
            await self._exchange.start(200, self._headers(error), end=True)
            return
        await self._start()
        data, trailers = self._ending(error)
        if data and self._is_mid_message:  # the client would parse `data` as part of the message
            return
        await self._exchange.end(data, trailers)

    async def _start(self) -> None:
        if not self._has_started:
            self._has_started = True
            await self._exchange.start(200, self._headers())

    def _headers(self, error: RpcError | None = None) -> Headers:
        """Return the headers of a response. The headers of an error contain its status."""
        is_native = self._form is Form.NATIVE
        more = () if is_native else CORS
        headers = (("content-type", self._form.value), *more, *info_headers(self._backend.node))
        if error is None:
            return headers
        trailers = status_trailers(self._backend.messages, error)
        return (*headers, *trailers, *(() if is_native else _NO_BODY))

    def _ending(self, error: RpcError | None) -> tuple[bytes, Headers]:
        """Return the end of a response: the last part of the body, and the trailers.

        The status is in the body for gRPC-web, and in the trailers for native gRPC.
        """
        trailers = status_trailers(self._backend.messages, error)
        if self._form is Form.NATIVE:
            return b"", trailers
        return self._form.encode(_frame(_TRAILERS, _lines(trailers))), ()


def _lines(trailers: Headers) -> bytes:
    """Format headers like those of HTTP/1.1, without the empty line at the end."""
    return "".join(f"{name}:{value}\r\n" for name, value in trailers).encode("latin-1")


# --- Trailers


def status_trailers(messages: Messages, error: RpcError | None) -> Headers:
    """Return the trailers of a call that failed with `error`, or succeeded if `error` is None."""
    if error is None:
        return _SUCCESS
    trailers = [("grpc-status", str(int(error.code)))]
    if error.message:
        trailers.append(("grpc-message", _quoted(error.message)))
    status = messages.message("google.rpc.Status")()
    render_status(status, error, messages)
    details = b64encode(status.SerializeToString()).rstrip(b"=").decode("ascii")
    if len(details) <= _LONGEST:
        trailers.append(("grpc-status-details-bin", details))
    return tuple(trailers)


def _quoted(message: str) -> str:
    """Quote and truncate a message for a header. Encode spaces at its start and end."""
    quoted = [quote(character, safe=_PRINTABLE) for character in message[:_LONGEST]]
    ends = accumulate(map(len, quoted))
    text = "".join(part for part, end in zip(quoted, ends, strict=True) if end <= _LONGEST)
    start, end = len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))
    return "%20" * start + text[start:end] + "%20" * (len(text) - max(start, end))
