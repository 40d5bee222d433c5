"""gRPC-web: the messages of a call as the body of a plain HTTP exchange, trailers and all.

Source: github.com/grpc/grpc, PROTOCOL-WEB.md. A frame is a byte of flags, four bytes of size and
as many of content; the last frame of a response has the trailers. In the text form, base64 of it.
"""

import binascii
import re
from collections.abc import Mapping
from enum import Enum

from nexus_tools.localnet.rpc.status import Code, RpcError, invalid
from nexus_tools.localnet.rpc.trailers import Trailers

PREFIX_BYTES = 5
_COMPRESSED, _TRAILERS = 0x01, 0x80
_SEGMENT = re.compile(rb"[^=]+={0,2}|=+")


class WebFormat(Enum):
    """The two forms of a body; the value is the content type of a response."""

    BINARY = "application/grpc-web+proto"
    TEXT = "application/grpc-web-text+proto"

    def encode(self, frame: bytes) -> bytes:
        """A frame as it is sent; frames in the text form are padded each by itself."""
        return binascii.b2a_base64(frame, newline=False) if self is WebFormat.TEXT else frame

    def decode(self, body: bytes) -> bytes:
        """The frames of a body. Raises `RpcError`."""
        if self is WebFormat.BINARY:
            return body
        try:
            return b"".join(
                binascii.a2b_base64(segment, strict_mode=True) for segment in _SEGMENT.findall(body)
            )
        except binascii.Error as error:
            raise invalid(f"the request is not base64: {error}") from None

    def largest_body(self, message_bytes: int) -> int:
        """The size of the largest body whose message has at most so many bytes."""
        size = PREFIX_BYTES + message_bytes
        return -(-size // 3) * 4 if self is WebFormat.TEXT else size


_FORMATS = {
    "application/grpc-web": WebFormat.BINARY,
    "application/grpc-web+proto": WebFormat.BINARY,
    "application/grpc-web-text": WebFormat.TEXT,
    "application/grpc-web-text+proto": WebFormat.TEXT,
}


def request_format(headers: Mapping[str, str]) -> WebFormat | None:
    """The form of a request by its headers; None if it is not gRPC-web."""
    return _FORMATS.get(_media_type(headers.get("content-type", "")))


def response_format(headers: Mapping[str, str]) -> WebFormat:
    """The form that the client accepts: binary unless it says text."""
    return _FORMATS.get(_media_type(headers.get("accept", "")), WebFormat.BINARY)


def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()


class WebRequest:
    """The messages of a request whose body has come whole."""

    def __init__(self, form: WebFormat, body: bytes, message_bytes: int) -> None:
        self._form = form
        self._body = body
        self._limit = message_bytes
        self._frames: bytes | None = None
        self._place = 0

    async def receive(self) -> bytes | None:
        """The next message; None behind the last. Raises `RpcError`."""
        if self._frames is None:
            self._frames = self._form.decode(self._body)
        start = self._place + PREFIX_BYTES
        if self._place == len(self._frames):
            return None
        prefix = self._frames[self._place : start]
        size = int.from_bytes(prefix[1:], "big")
        self._check(prefix, size)
        if start + size > len(self._frames):
            raise invalid("the request ends early")
        self._place = start + size
        return self._frames[start : self._place]

    def _check(self, prefix: bytes, size: int) -> None:
        if len(prefix) < PREFIX_BYTES:
            raise invalid("the request ends early")
        if prefix[0] == _COMPRESSED:
            raise RpcError(Code.UNIMPLEMENTED, "compressed messages are not read")
        if prefix[0]:
            raise invalid(f"the request has a frame with the flags {prefix[0]:#04x}")
        if size > self._limit:
            raise too_large(self._limit)


def too_large(limit: int) -> RpcError:
    """A request with a message that is larger than the limit."""
    return RpcError(
        Code.RESOURCE_EXHAUSTED, f"the request has too many bytes; at most {limit} are read"
    )


def message_frame(message: bytes) -> bytes:
    """A message as a frame."""
    return b"\0" + len(message).to_bytes(4, "big") + message


def trailers_frame(trailers: Trailers) -> bytes:
    """Trailers as a frame: a block of headers as in HTTP/1.1, without an empty line behind it."""
    block = "".join(f"{name}:{value}\r\n" for name, value in trailers).encode("latin-1")
    return bytes([_TRAILERS]) + len(block).to_bytes(4, "big") + block
