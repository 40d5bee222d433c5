"""HPACK for responses: each field as it is, so that encoding costs next to nothing.

On the loopback the time of both sides counts, not the bytes. Searching the table of recent fields,
Huffman codes and debug messages take a fifth of what it costs to answer a call.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from hpack import Encoder
from hpack.hpack import encode_integer

_LITERAL_WITHOUT_INDEXING = b"\x00"
_LENGTH_BITS = 7  # the eighth says whether a string is in Huffman code
_LONG = 2**_LENGTH_BITS - 1  # and what is shorter says so in one byte


class ResponseEncoder(Encoder):
    """Puts nothing into the dynamic table (RFC 7541, section 6.2.2); changes of its size are told.

    It takes fields that are pairs of bytes, as h2 gives them.
    """

    def encode(self, headers: Iterable[Any], huffman: bool = False) -> bytes:  # noqa: ARG002 - hpack's signature
        """The header block of some fields."""
        return b"".join((super().encode(()), *(_field(name, value) for name, value in headers)))


@lru_cache(maxsize=64)
def _field(name: bytes, value: bytes) -> bytes:
    return _LITERAL_WITHOUT_INDEXING + _string(name) + _string(value)


def _string(data: bytes) -> bytes:
    if len(data) < _LONG:
        return bytes((len(data),)) + data
    return bytes(encode_integer(len(data), _LENGTH_BITS)) + data
