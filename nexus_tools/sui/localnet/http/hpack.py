"""Header compression (RFC 7541) for a local server. The encoder favors speed over size."""

from collections.abc import Iterable
from functools import lru_cache

from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hpack import Decoder, Encoder, HeaderTuple, HPACKError, OversizedHeaderListError

from nexus_tools.sui.localnet.http.exchange import Headers

_INDEXED = 0x80
_CAPACITY = 64


class CompressionError(ProtocolError):
    """An error for a header block that cannot be decoded.

    After this error, the client and the server have different dynamic tables.

    Without this class, h2 would report another error code to the client (RFC 9113, section 4.3).
    """

    error_code = ErrorCodes.COMPRESSION_ERROR


class RequestDecoder(Decoder):
    """A decoder of request headers that caches header blocks.

    When a client repeats a request, most of the sent fields are indexes into the dynamic table. If
    a block contains only indexes, its result is cached until the table changes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._cache: dict[bytes, Iterable[HeaderTuple]] = {}

    def decode(self, data: bytes, raw: bool = False) -> Iterable[HeaderTuple]:
        """Return the fields of a header block.

        Raises:
            CompressionError: The block cannot be decoded.
            OversizedHeaderListError: The fields are too large.
        """
        cached = self._cache.get(data) if raw else None
        if cached is not None:
            return cached
        try:
            fields = super().decode(data, raw)
        except OversizedHeaderListError:
            raise
        except HPACKError as error:
            raise CompressionError(str(error)) from error
        # The highest bit is set in an index, and in no other kind of field (RFC 7541, section 6.1).
        # If all bytes have this bit, the block does not change the table.
        if not data or min(data) < _INDEXED:
            self._cache.clear()
        elif raw and len(self._cache) < _CAPACITY:
            self._cache[data] = fields
        return fields


# The encoder sends "never indexed" fields (section 6.2.3), which do not enter the dynamic table. So
# the bytes of a header block are the same on each connection.
_ENCODER = Encoder()


@lru_cache(maxsize=64)
def block(headers: Headers) -> bytes:
    """Encode the fields of a response.

    Most responses have equal fields, so the result is cached.
    """
    return b"".join(map(_field, headers))


@lru_cache(maxsize=256)
def _field(field: tuple[str, str]) -> bytes:
    return _ENCODER.encode([(*field, True)], huffman=False)
