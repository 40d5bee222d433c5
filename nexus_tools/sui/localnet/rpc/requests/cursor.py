"""Cursors: places in the history of the chain, opaque to clients.

Places of events, transactions and checkpoints compare in the order of the chain; a transaction's is
that of its first event, a checkpoint's that of its first transaction.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.localnet.ledger import EventPosition
from nexus_tools.sui.localnet.rpc.interface import invalid

_NUMBER_BYTES = 8
_LARGEST = 2**62  # no chain gets there, and what comes behind it still fits


class Cursor(Struct, frozen=True):
    """An item, or, if it is a boundary, the gap before the item at `position`.

    `stream` says what kind of items: `events`, `transactions` or `checkpoints`.
    """

    stream: str
    position: EventPosition
    is_boundary: bool

    def encode(self) -> bytes:
        """The bytes that a client keeps.

        That is `e`, `t` or `c` for the item itself, `E`, `T` or `C` for the gap before it, and the
        three numbers in eight bytes each.
        """
        kind = self.stream[0].upper() if self.is_boundary else self.stream[0]
        return kind.encode() + b"".join(_numbers(self.position))

    @classmethod
    def decode(cls, stream: str, data: bytes, name: str) -> "Cursor":
        """Read a cursor of a stream. Raises `RpcError`, which calls it `name`."""
        kind = data[:1].decode("latin-1")
        if kind.lower() != stream[0] or len(data) != 1 + 3 * _NUMBER_BYTES:
            raise invalid(f"invalid {name}: it is no cursor of {stream}")
        numbers = [
            int.from_bytes(data[start : start + _NUMBER_BYTES], "big")
            for start in range(1, len(data), _NUMBER_BYTES)
        ]
        if max(numbers) > _LARGEST:
            raise invalid(f"invalid {name}: it is no cursor of {stream}")
        return cls(stream, EventPosition(*numbers), kind.isupper())

    def first_after(self) -> EventPosition:
        """The first place behind this cursor."""
        return self.position if self.is_boundary else successor(self.stream, self.position)


def successor(stream: str, position: EventPosition) -> EventPosition:
    """The place behind an item."""
    checkpoint, transaction, event = position
    if stream == "events":
        return EventPosition(checkpoint, transaction, event + 1)
    if stream == "transactions":
        return EventPosition(checkpoint, transaction + 1)
    return EventPosition(checkpoint + 1)


def _numbers(position: EventPosition) -> Iterable[bytes]:
    return (number.to_bytes(_NUMBER_BYTES, "big") for number in position)
