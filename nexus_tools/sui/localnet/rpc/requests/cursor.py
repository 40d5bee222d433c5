"""Cursors for paginated lists. A cursor is a position on the chain and is opaque to clients.

The order of positions is the order on the chain. A transaction has the position of its first event.
A checkpoint has the position of its first transaction.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.localnet.ledger import EventPosition
from nexus_tools.sui.localnet.rpc.interface import invalid

_NUMBER_BYTES = 8
_LARGEST = 2**62  # longer than any chain, and the next number fits in 64 bits


class Cursor(Struct, frozen=True):
    """A cursor at the item at `position` or, if it is a boundary, before that item.

    `stream` is the kind of items: `events`, `transactions` or `checkpoints`.
    """

    stream: str
    position: EventPosition
    is_boundary: bool

    def encode(self) -> bytes:
        """Encode the cursor for the client.

        The first byte is `e`, `t` or `c` for a cursor at an item, and `E`, `T` or `C` for a
        boundary. The three numbers of the position follow, with eight bytes each.
        """
        kind = self.stream[0].upper() if self.is_boundary else self.stream[0]
        return kind.encode() + b"".join(_numbers(self.position))

    @classmethod
    def decode(cls, stream: str, data: bytes, name: str) -> "Cursor":
        """Decode a cursor of a stream. `name` is the field's name in error messages.

        Raises:
            RpcError: The cursor is invalid, or belongs to another stream.
        """
        kind = data[:1].decode("latin-1")
        if kind.lower() != stream[0] or len(data) != 1 + 3 * _NUMBER_BYTES:
            raise invalid(f"invalid {name}: the value is not a cursor of {stream}")
        numbers = [
            int.from_bytes(data[start : start + _NUMBER_BYTES], "big")
            for start in range(1, len(data), _NUMBER_BYTES)
        ]
        if max(numbers) > _LARGEST:
            raise invalid(f"invalid {name}: the value is not a cursor of {stream}")
        return cls(stream, EventPosition(*numbers), kind.isupper())

    def first_after(self) -> EventPosition:
        """Return the position of the first item after the cursor."""
        return self.position if self.is_boundary else successor(self.stream, self.position)


def successor(stream: str, position: EventPosition) -> EventPosition:
    """Return the position after an item of a stream."""
    checkpoint, transaction, event = position
    if stream == "events":
        return EventPosition(checkpoint, transaction, event + 1)
    if stream == "transactions":
        return EventPosition(checkpoint, transaction + 1)
    return EventPosition(checkpoint + 1)


def _numbers(position: EventPosition) -> Iterable[bytes]:
    return (number.to_bytes(_NUMBER_BYTES, "big") for number in position)
