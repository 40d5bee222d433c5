"""Header compression (RFC 7541) for a local server, where time matters and bytes do not."""

from collections.abc import Iterable
from functools import lru_cache

from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hpack import Decoder, Encoder, HeaderTuple, HPACKError, OversizedHeaderListError

from nexus_tools.sui.localnet.http.exchange import Headers

_INDEXED = 0x80
_CAPACITY = 64


class CompressionError(ProtocolError):
    """A header block cannot be decoded, so the tables of both sides differ permanently.

    h2 would report any other protocol error to the client (RFC 9113, section 4.3).
    """

    error_code = ErrorCodes.COMPRESSION_ERROR


class RequestDecoder(Decoder):
    """A decoder that caches header blocks.

    A client that repeats a request sends little more than indexes into the table of recent fields.
    Blocks that contain only indexes are cached until the table changes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._cache: dict[bytes, Iterable[HeaderTuple]] = {}

    def decode(self, data: bytes, raw: bool = False) -> Iterable[HeaderTuple]:
        """Return the fields of a block.

        Raises:
            CompressionError: the block cannot be decoded.
            OversizedHeaderListError: the fields are too large.
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
        # RFC 7541, section 6.1: the first bit of an index is set, and no other form starts with it.
        # If all bytes have it, the block does not change the table.
        if not data or min(data) < _INDEXED:
            self._cache.clear()
        elif raw and len(self._cache) < _CAPACITY:
            self._cache[data] = fields
        return fields


# "Never indexed" fields (section 6.2.3) do not enter the table of recent fields, so that a block is
# the same on each connection.
_ENCODER = Encoder()


@lru_cache(maxsize=64)
def block(headers: Headers) -> bytes:
    """Encode the fields of a response. The cache helps, because most responses repeat them."""
    return b"".join(map(_field, headers))


@lru_cache(maxsize=256)
def _field(field: tuple[str, str]) -> bytes:
    return _ENCODER.encode([(*field, True)], huffman=False)
