"""The body of a request: read once, in parts, and checked against all that was said of it."""

import hashlib
import hmac
import re
from collections.abc import AsyncIterator

from nexus_tools.bridges.unstract.object_store.authentication import (
    UNSIGNED_PAYLOAD,
    Authenticated,
)
from nexus_tools.bridges.unstract.object_store.checksums import DeclaredChecksums
from nexus_tools.bridges.unstract.object_store.chunked import MODES, ChunkedBody
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.head import Head

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Body:
    """What a client sends, decoded; whoever reads it to the end knows that it is what was signed.

    `declared_size` is in bytes of the decoded body, None if the client does not say.
    """

    def __init__(self, raw: AsyncIterator[bytes], head: Head, request: Authenticated) -> None:
        self._checksums = DeclaredChecksums(head.headers)
        self._sha256: str | None = None
        self._chunked: ChunkedBody | None = None
        self._parts = raw
        self.declared_size = head.number("content-length")
        if request.payload in MODES:
            self._chunked = ChunkedBody(raw, request)
            self._parts = self._chunked.data()
            self.declared_size = head.number("x-amz-decoded-content-length")
        elif _SHA256.fullmatch(request.payload):
            self._sha256 = request.payload
        elif request.payload != UNSIGNED_PAYLOAD:
            raise FaultError("NotImplemented", f"x-amz-content-sha256: {request.payload[:80]}")

    async def parts(self) -> AsyncIterator[bytes]:
        """The decoded body; raises `FaultError` at the end if it is another than declared."""
        sha256, size = hashlib.sha256(), 0
        async for part in self._parts:
            size += len(part)
            if self._sha256 is not None:
                sha256.update(part)
            self._checksums.update(part)
            yield part
        if self._sha256 and not hmac.compare_digest(sha256.hexdigest(), self._sha256):
            message = "the body does not have the SHA-256 of x-amz-content-sha256"
            raise FaultError("XAmzContentSHA256Mismatch", message)
        if self.declared_size is not None and size != self.declared_size:
            raise FaultError("IncompleteBody", "the body does not have the declared size")
        self._checksums.check(self._chunked.trailer if self._chunked else {})

    async def whole(self, limit: int) -> bytes:
        """All of a small body, of at most `limit` bytes."""
        content = bytearray()
        async for part in self.parts():
            content += part
            if len(content) > limit:
                raise FaultError("EntityTooLarge", f"this body has at most {limit} bytes")
        return bytes(content)
