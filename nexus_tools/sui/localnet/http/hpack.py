"""Header compression (RFC 7541) as cheap as it can be on one machine: time counts, not bytes."""

from collections.abc import Iterable
from functools import lru_cache

from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hpack import Decoder, Encoder, HeaderTuple, HPACKError, OversizedHeaderListError

from nexus_tools.sui.localnet.http.exchange import Headers

_INDEXED = 0x80
_CAPACITY = 64


class CompressionError(ProtocolError):
    """A block that cannot be decoded leaves both sides with different tables for good.

    h2 would tell the client of any other breach of the protocol (RFC 9113, section 4.3).
    """

    error_code = ErrorCodes.COMPRESSION_ERROR


class RequestDecoder(Decoder):
    """Decodes the same head in the same bytes once.

    A client that calls again sends little more than the places of its fields in the table of recent
    ones. Blocks that hold nothing but places are remembered, until the table changes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[bytes, Iterable[HeaderTuple]] = {}

    def decode(self, data: bytes, raw: bool = False) -> Iterable[HeaderTuple]:
        """The fields of a block. Raises `CompressionError`, and `OversizedHeaderListError`."""
        known = self._known.get(data) if raw else None
        if known is not None:
            return known
        try:
            fields = super().decode(data, raw)
        except OversizedHeaderListError:
            raise
        except HPACKError as error:
            raise CompressionError(str(error)) from error
        # RFC 7541, section 6.1: a place begins with a bit that no other form begins with. Where
        # each byte has it, there is nothing that changes the table.
        if not data or min(data) < _INDEXED:
            self._known.clear()
        elif raw and len(self._known) < _CAPACITY:
            self._known[data] = fields
        return fields


# Fields that are "never indexed" (section 6.2.3) put nothing into its table of recent ones, so that
# a block is the same on each connection.
_ENCODER = Encoder()


@lru_cache(maxsize=64)
def block(headers: Headers) -> bytes:
    """The fields of a response, made once: in the next response all but a few are the same."""
    return b"".join(map(_field, headers))


@lru_cache(maxsize=256)
def _field(field: tuple[str, str]) -> bytes:
    return _ENCODER.encode([(*field, True)], huffman=False)
