"""One request: what is asked for, whether it names the key, and its body."""

import re
import secrets
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from nexus_tools.bridges.unstract.object_store.documents import FaultError


@dataclass(frozen=True, slots=True)
class Head:
    """What a request asks for; `path` and `query` are still percent-encoded.

    Names of `headers` are lower case, several of one name are joined with a comma.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]

    @classmethod
    def of(cls, scope: dict[str, Any]) -> "Head":
        """Read an ASGI scope."""
        path = scope["raw_path"].partition(b"?")[0].decode("ascii", "replace")
        query = scope["query_string"].decode("ascii", "replace")
        return cls(scope["method"], path, query, _joined(scope["headers"]))

    def parameters(self) -> dict[str, str]:
        """The parameters of the query, decoded; the last of a name counts."""
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair)
        return {_text(name): _text(value) for name, _, value in pairs}

    def bucket_and_key(self) -> tuple[str, str]:
        """The two halves of a path-style address, decoded; empty where absent."""
        bucket, _, key = self.path.removeprefix("/").partition("/")
        return _text(bucket), _text(key)

    def number(self, header: str) -> int | None:
        """A header that is a number of bytes."""
        value = self.headers.get(header)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise FaultError("InvalidArgument", f"{header} is no number of bytes")
        return int(value)


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name = raw_name.decode("ascii", "replace").lower()
        if not raw_value.isascii():
            raise FaultError("InvalidArgument", f"the header {name} is not ASCII")
        value = " ".join(raw_value.decode("ascii").split())
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _text(encoded: str) -> str:
    try:
        return unquote_to_bytes(encoded).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FaultError("InvalidArgument", "the address is not UTF-8") from error


_KEY = re.compile(r"Credential=([^/,\s]+)/")


def check_key(head: Head, access_key: str) -> None:
    """Raise `FaultError` unless the request names the key, in a header or a presigned address.

    The key is the capability: nobody can guess it, and it is good for one run. Clients sign
    besides, which nobody checks: who can read and change what goes over loopback, against whom a
    signature would protect, could as well read the files.
    """
    credential = head.parameters().get("X-Amz-Credential", "")
    named = _KEY.search(head.headers.get("authorization", "") or f"Credential={credential}")
    if named is None:
        raise FaultError("AccessDenied", "the request names no access key")
    if not secrets.compare_digest(named[1].encode(), access_key.encode()):
        raise FaultError("InvalidAccessKeyId", "the access key is not the one of this store")


class Body:
    """What a client sends, decoded; `declared_size` is in bytes, None if the client does not say.

    Checksums that come with it are those of a connection that never leaves the machine: they are
    passed over.
    """

    def __init__(self, raw: AsyncIterator[bytes], head: Head) -> None:
        self._parts = raw
        self.declared_size = head.number("content-length")
        if head.headers.get("x-amz-content-sha256", "").startswith("STREAMING-"):
            self._parts = _chunks(_Source(raw))
            self.declared_size = head.number("x-amz-decoded-content-length")

    async def parts(self) -> AsyncIterator[bytes]:
        """The decoded body; raises `FaultError` at the end if it is shorter than declared."""
        size = 0
        async for part in self._parts:
            size += len(part)
            yield part
        if self.declared_size is not None and size != self.declared_size:
            raise FaultError("IncompleteBody", "the body does not have the declared size")

    async def whole(self, limit: int) -> bytes:
        """All of a small body, of at most `limit` bytes."""
        content = bytearray()
        async for part in self.parts():
            content += part
            if len(content) > limit:
                raise FaultError("EntityTooLarge", f"this body has at most {limit} bytes")
        return bytes(content)


# --- aws-chunked
#
# A body in chunks, each with its size in hexadecimal and perhaps a signature, then perhaps headers:
#
#     5;chunk-signature=ad80…\r\nhello\r\n0;chunk-signature=b6c6…\r\nx-amz-checksum-crc32:…\r\n\r\n
#
# From "Signature calculations for the Authorization header: transferring payload in multiple
# chunks" and "Including trailing headers" of the S3 API reference.

_MAX_LINE_BYTES = 2_048
_MAX_TRAILERS = 16
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,12})(?:;chunk-signature=[0-9a-f]{64})?")


async def _chunks(source: "_Source") -> AsyncIterator[bytes]:
    """The data as it comes, without what is said about it."""
    while True:
        line = await source.line()
        match = _CHUNK.fullmatch(line)
        if match is None:
            raise FaultError("IncompleteBody", "a chunk does not begin as aws-chunked has it")
        size = int(match[1], 16)
        if not size:
            break
        async for part in source.take(size):
            yield part
        if await source.line():
            raise FaultError("IncompleteBody", "a chunk is longer than it says")
    for _ in range(_MAX_TRAILERS):
        if not await source.line():
            break


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
