"""HPACK for requests: the same head in the same bytes is decoded once.

A client that calls again sends little more than the places of its fields in the table of recent
ones.
"""

from collections.abc import Iterable

from hpack import Decoder, HeaderTuple

_INDEXED = 0x80
_CAPACITY = 64


class RequestDecoder(Decoder):
    """Remembers blocks that hold nothing but places in the table, until the table changes."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[bytes, Iterable[HeaderTuple]] = {}

    def decode(self, data: bytes, raw: bool = False) -> Iterable[HeaderTuple]:
        """The fields of a block. Raises `HPACKError`."""
        known = self._known.get(data) if raw else None
        if known is not None:
            return known
        fields = super().decode(data, raw)
        # RFC 7541, section 6.1: a place begins with a bit that no other form begins with. Where
        # each byte has it, there is nothing that changes the table.
        if not data or min(data) < _INDEXED:
            self._known.clear()
        elif raw and len(self._known) < _CAPACITY:
            self._known[data] = fields
        return fields
