"""CBOR, a binary form of JSON that COSE uses.

Source: RFC 8949. As in Sui's native function, bytes after a value are ignored, and a map keeps all
its pairs. The caller decides how to treat duplicate keys.
"""

import struct
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from msgspec import Struct

# The first byte of a value has three bits for the kind and five bits for a code. A code up to 23 is
# the number itself. For a higher code, the number is in the next bytes, and the code determines how
# many bytes follow. Examples:
#
#     83 01 41ff 6161    [1, b"\xff", "a"], a list of three
#     1903e8             1000, in two bytes
#     9f 01 02 ff        [1, 2], an indefinite-length list
#
_MAX_DEPTH = 256
_INDEFINITE = 31
_BREAK = 0xFF
_SIZES = {24: 1, 25: 2, 26: 4, 27: 8}
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_SIMPLE: dict[int, bool | None] = {20: False, 21: True, 22: None, 23: None}
_BYTES, _TEXT = 2, 3
_BIGNUMS = {2: lambda number: number, 3: lambda number: -1 - number}
_MAX_BIGNUM_BYTES = 16


class MalformedCbor(ValueError):  # noqa: N818 - the name states the cause
    """Bytes that are not valid CBOR."""


class Tagged(Struct, frozen=True):
    """A value with a tag that defines its meaning."""

    tag: int
    value: Any


class Map(Struct, frozen=True):
    """A CBOR map as pairs of keys and values, in their encoded order."""

    pairs: tuple[tuple[Any, Any], ...]


def decode_cbor(data: bytes) -> Any:
    """Decode the first value as int, float, bool, bytes, str, list, `Map`, `Tagged` or None.

    Raises `MalformedCbor`.
    """
    return _Reader(data).value(0)


def encode_bytes(data: bytes) -> bytes:
    """Encode a byte string."""
    return _head(_BYTES, len(data)) + data


def encode_text(text: str) -> bytes:
    """Encode a text string."""
    data = text.encode()
    return _head(_TEXT, len(data)) + data


def _head(kind: int, number: int) -> bytes:
    if number < min(_SIZES):
        return bytes([kind << 5 | number])
    code, size = next(item for item in _SIZES.items() if number < 1 << 8 * item[1])
    return bytes([kind << 5 | code]) + number.to_bytes(size, "big")


class _Reader:
    """A reader of CBOR values, with a function for each of the eight kinds."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self._readers: tuple[Callable[[int, int], Any], ...] = (
            lambda code, _: self._number(code),
            lambda code, _: -1 - self._number(code),
            lambda code, _: self._string(_BYTES, code),
            lambda code, _: self._text(code),
            self._array,
            self._map,
            self._tagged,
            lambda code, _: self._simple(code),
        )

    def value(self, depth: int) -> Any:
        """Return the next value, which is nested at this depth."""
        if depth > _MAX_DEPTH:
            raise MalformedCbor("values are nested too deeply")
        (first,) = self._take(1)
        return self._readers[first >> 5](first & 31, depth + 1)

    def _take(self, size: int) -> bytes:
        data = self._data[self._position : self._position + size]
        if len(data) != size:
            raise MalformedCbor("the data is truncated")
        self._position += size
        return data

    def _number(self, code: int) -> int:
        if code < min(_SIZES):
            return code
        if code not in _SIZES:
            raise MalformedCbor("invalid length of a number")
        return int.from_bytes(self._take(_SIZES[code]), "big")

    def _ends(self) -> bool:
        """Return whether an item of indefinite length ends here.

        If the item ends here, skip the end marker.
        """
        if self._data[self._position : self._position + 1] != bytes([_BREAK]):
            return False
        self._position += 1
        return True

    def _string(self, kind: int, code: int) -> bytes:
        if code != _INDEFINITE:
            return self._take(self._number(code))
        parts = []
        while not self._ends():
            (first,) = self._take(1)
            if first >> 5 != kind or first & 31 == _INDEFINITE:
                raise MalformedCbor("a string contains parts of another kind")
            parts.append(self._take(self._number(first & 31)))
        return b"".join(parts)

    def _text(self, code: int) -> str:
        try:
            return self._string(_TEXT, code).decode()
        except UnicodeDecodeError:
            raise MalformedCbor("a text string is not valid UTF-8") from None

    def _items(self, code: int) -> Iterator[int]:
        """Yield the index of each item of a list or map before the item is read."""
        indices = count() if code == _INDEFINITE else range(self._number(code))
        for index in indices:
            if code == _INDEFINITE and self._ends():
                return
            yield index

    # Comprehensions would need one more Python frame for each level of nesting.

    def _array(self, code: int, depth: int) -> list[Any]:
        values = []
        for _ in self._items(code):
            values.append(self.value(depth))  # noqa: PERF401 - see above
        return values

    def _map(self, code: int, depth: int) -> Map:
        pairs = []
        for _ in self._items(code):
            pairs.append((self.value(depth), self.value(depth)))  # noqa: PERF401 - see above
        return Map(tuple(pairs))

    def _tagged(self, code: int, depth: int) -> Any:
        tag, value = self._number(code), self.value(depth)
        if tag not in _BIGNUMS or not isinstance(value, bytes):
            return Tagged(tag, value)
        if len(value.lstrip(b"\0")) > _MAX_BIGNUM_BYTES:
            raise MalformedCbor("a number is too large")
        return _BIGNUMS[tag](int.from_bytes(value, "big"))

    def _simple(self, code: int) -> float | bool | None:
        if code in _FLOATS:
            number: float = struct.unpack(_FLOATS[code], self._take(_SIZES[code]))[0]
            return number
        if code not in _SIMPLE:
            raise MalformedCbor("unknown simple value")
        return _SIMPLE[code]
