"""The `aws-chunked` encoding: a body in chunks, each signed or not, then perhaps trailing headers.

From "Signature calculations for the Authorization header: transferring payload in multiple
chunks" and "Including trailing headers" of the S3 API reference.
"""

import hashlib
import hmac
import re
from collections.abc import AsyncIterator

from nexus_tools.bridges.unstract.object_store.authentication import Authenticated
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.signature import (
    chunk_string_to_sign,
    signature,
    trailer_string_to_sign,
)

SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
SIGNED_WITH_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_WITH_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
MODES = frozenset((SIGNED, SIGNED_WITH_TRAILER, UNSIGNED_WITH_TRAILER))

_MAX_LINE_BYTES = 2_048
_MAX_TRAILERS = 16
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?")
_SIGNATURE_TRAILER = "x-amz-trailer-signature"


class ChunkedBody:
    """Decodes one body; `trailer` has the trailing headers once all data was read."""

    def __init__(self, raw: AsyncIterator[bytes], request: Authenticated) -> None:
        self._source = _Source(raw)
        self._request = request
        self._is_signed = request.payload != UNSIGNED_WITH_TRAILER
        self._has_trailer = request.payload != SIGNED
        self._previous = request.signature
        self.trailer: dict[str, str] = {}

    async def data(self) -> AsyncIterator[bytes]:
        """The data as it comes; a chunk's signature is checked when the chunk ends."""
        size = 1
        while size:
            size, declared = self._parse(await self._source.line())
            digest = hashlib.sha256()
            async for part in self._source.take(size):
                if self._is_signed:
                    digest.update(part)
                yield part
            if self._is_signed:
                self._check_chunk(digest.hexdigest(), declared)
            if size or not self._has_trailer:
                await self._end_of_chunk()
        if self._has_trailer:
            await self._read_trailer()

    def _parse(self, line: bytes) -> tuple[int, str]:
        match = _CHUNK.fullmatch(line)
        if match is None or (match[2] is None) == self._is_signed:
            raise FaultError("IncompleteBody", "a chunk does not begin as aws-chunked has it")
        return int(match[1], 16), (match[2] or b"").decode()

    def _check_chunk(self, digest: str, declared: str) -> None:
        request = self._request
        text = chunk_string_to_sign(request.timestamp, request.scope, self._previous, digest)
        self._check(text, declared)

    def _check(self, text: str, declared: str) -> None:
        expected = signature(self._request.key, text)
        if not hmac.compare_digest(expected.encode(), declared.encode()):
            message = "the signature of a chunk is not the one made with the secret key"
            raise FaultError("SignatureDoesNotMatch", message)
        self._previous = expected

    async def _end_of_chunk(self) -> None:
        if await self._source.line():
            raise FaultError("IncompleteBody", "a chunk is longer than it says")

    async def _read_trailer(self) -> None:
        signed = b""
        for _ in range(_MAX_TRAILERS):
            line = await self._source.line()
            if not line:
                break
            name, _, value = line.decode("latin-1").partition(":")
            self.trailer[name.strip().lower()] = value.strip()
            if name.strip().lower() != _SIGNATURE_TRAILER:
                signed += f"{name.strip().lower()}:{value.strip()}\n".encode()
        if self._is_signed:
            request = self._request
            text = trailer_string_to_sign(request.timestamp, request.scope, self._previous, signed)
            self._check(text, self.trailer.get(_SIGNATURE_TRAILER, ""))


class _Source:
    """Bytes as they arrive, read by lines and by counts."""

    def __init__(self, raw: AsyncIterator[bytes]) -> None:
        self._raw = raw
        self._buffer = bytearray()

    async def line(self) -> bytes:
        """The bytes up to CRLF, which is dropped."""
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > _MAX_LINE_BYTES:
                raise FaultError("IncompleteBody", "a line of the aws-chunked body is too long")
            self._buffer += await self._more()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    async def take(self, count: int) -> AsyncIterator[bytes]:
        """So many bytes, in parts."""
        while count:
            part = bytes(self._buffer[:count]) or await self._more()
            taken, rest = part[:count], part[count:]
            self._buffer[: len(taken)] = rest
            count -= len(taken)
            yield taken

    async def _more(self) -> bytes:
        async for part in self._raw:
            if part:
                return part
        raise FaultError("IncompleteBody", "the aws-chunked body ends too early")
