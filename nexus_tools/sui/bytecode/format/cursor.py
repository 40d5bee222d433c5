"""Reading a part of a file without ever leaving it, and the one way in which that fails."""

from collections.abc import Callable
from typing import TypeVar

from nexus_tools.sui.bytecode.format.file_format import TABLE_INDEX_MAX

_Item = TypeVar("_Item")
_ULEB_BITS_MAX = 64


class MalformedModule(Exception):  # noqa: N818 - it says what the bytes are
    """Bytes that are no Move module; `offset` is where in the file that was noticed."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at byte {offset}")
        self.message = message
        self.offset = offset


class Cursor:
    """A position in `data[position:end]`; every read moves it or raises `MalformedModule`."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes, position: int, end: int) -> None:
        self.data = data
        self.position = position
        self.end = end

    def malformed(self, message: str) -> MalformedModule:
        """The error to raise at this position."""
        return MalformedModule(message, self.position)

    def byte(self) -> int:
        """The next byte."""
        position = self.position
        if position >= self.end:
            raise self.malformed("the table ends too early")
        self.position = position + 1
        return self.data[position]

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        position = self.position
        if size > self.end - position:
            raise self.malformed("the table ends too early")
        self.position = position + size
        return self.data[position : self.position]

    def little_endian(self, size: int) -> int:
        """The next `size` bytes as an unsigned integer."""
        return int.from_bytes(self.take(size), "little")

    def uleb(self, maximum: int) -> int:
        """The next ULEB128 integer, in its shortest form and not above `maximum`.

        Seven bits to a byte, the lowest first; the highest bit says that another byte follows:
        ac 02 is 0x2c + (2 << 7) = 300. 80 00 would be 0 in two bytes, and is refused.
        """
        value = self.byte()
        if value >= 0x80:
            value = self._longer_uleb(value & 0x7F)
        if value > maximum:
            raise self.malformed(f"{value} is above the limit of {maximum}")
        return value

    def _longer_uleb(self, value: int) -> int:
        for shift in range(7, _ULEB_BITS_MAX, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte == 0:
                raise self.malformed("an integer has leading zeros")
            if byte < 0x80:
                return value
        raise self.malformed("an integer is longer than 64 bits")

    def index(self, count: int, table: str, maximum: int = TABLE_INDEX_MAX) -> int:
        """The next integer as an index of a table with `count` rows."""
        value = self.uleb(maximum)
        if value >= count:
            raise self.malformed(f"{table} has no row {value}: there are {count}")
        return value

    def repeat(self, maximum: int, read: Callable[["Cursor"], _Item]) -> tuple[_Item, ...]:
        """A counted sequence of at most `maximum` items."""
        return tuple([read(self) for _ in range(self.uleb(maximum))])

    def blob(self, maximum: int) -> bytes:
        """A counted sequence of at most `maximum` bytes."""
        return self.take(self.uleb(maximum))
