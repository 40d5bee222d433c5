"""A cursor that reads one part of a file, and the error for malformed data."""

from collections.abc import Callable
from typing import TypeVar

from nexus_tools.sui.bytecode.format.file_format import TABLE_INDEX_MAX

_Item = TypeVar("_Item")
_ULEB_BITS_MAX = 64


class MalformedModule(Exception):  # noqa: N818 - the name states the cause
    """An error in the bytes of a Move module. `offset` is the error's position in the file."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at byte {offset}")
        self.message = message
        self.offset = offset


class Cursor:
    """A reader of `data[position:end]`. A read advances `position` or raises `MalformedModule`."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes, position: int, end: int) -> None:
        self.data = data
        self.position = position
        self.end = end

    def malformed(self, message: str) -> MalformedModule:
        """Return the error to raise at this position."""
        return MalformedModule(message, self.position)

    def byte(self) -> int:
        """Read the next byte."""
        position = self.position
        if position >= self.end:
            raise self.malformed("the table ends too early")
        self.position = position + 1
        return self.data[position]

    def take(self, size: int) -> bytes:
        """Read the next `size` bytes."""
        position = self.position
        if size > self.end - position:
            raise self.malformed("the table ends too early")
        self.position = position + size
        return self.data[position : self.position]

    def little_endian(self, size: int) -> int:
        """Read the next `size` bytes as an unsigned integer."""
        return int.from_bytes(self.take(size), "little")

    def uleb(self, maximum: int) -> int:
        """Read the next ULEB128 integer, which must be encoded in as few bytes as possible.

        The integer must be at most `maximum`. Each byte has seven bits of the integer, starting
        with the lowest. The highest bit of a byte is set if another byte follows. For example, ac
        02 is 0x2c + (2 << 7) = 300. 80 00 is rejected because the shortest form of 0 is 00.
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
        """Read the next integer as an index of a table with `count` rows."""
        value = self.uleb(maximum)
        if value >= count:
            raise self.malformed(f"{table} has no row {value}, only {count} rows")
        return value

    def repeat(self, maximum: int, read: Callable[["Cursor"], _Item]) -> tuple[_Item, ...]:
        """Read the length of a sequence, at most `maximum`, and then the items."""
        return tuple([read(self) for _ in range(self.uleb(maximum))])

    def blob(self, maximum: int) -> bytes:
        """Read a length, at most `maximum`, and then that number of bytes."""
        return self.take(self.uleb(maximum))
