"""The positions of a JSON document's parts in its text, by JSON pointer."""

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Any, NamedTuple

from nexus_tools.tool import json_pointer, parse_json

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


class Place(NamedTuple):
    """A line and a column, both counted from 1. Columns count characters."""

    line: int
    column: int


def json_positions(text: str) -> Mapping[str, Place]:
    """Return the start of each value of a JSON text, by its pointer. Raises `json_invalid`.

    The position of an object member is the position of the member's name.
    """
    parse_json(text)  # the scanner requires valid JSON of limited depth
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    places: dict[str, Place] = {}
    line = 0
    for path, position in _Scanner(text).value((), 0):
        # Values are yielded in the order of the text, so the search starts at the previous line.
        while line + 1 < len(starts) and starts[line + 1] <= position:
            line += 1
        places[json_pointer(path)] = Place(line + 1, position - starts[line] + 1)
    return places


def place_of(places: Mapping[str, Place], pointer: str) -> Place | None:
    """Return the position of a pointer, or of the smallest existing part that contains it.

    The pointer of a violation may name a missing member.
    """
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return places.get(pointer)


_Path = tuple[str | int, ...]


class _Scanner:
    """A scanner of the values of a JSON text. `end` is the end position of the last value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.end = 0

    def value(self, path: _Path, named_at: int | None = None) -> Iterator[tuple[_Path, int]]:
        """Yield the path and the start position of a value and of all values in it."""
        begin = self._skip_space()
        yield path, begin if not path or named_at is None else named_at
        first = self._text[begin]
        if first == "{":
            yield from self._members(path)
        elif first == "[":
            yield from self._items(path)
        else:
            self._leaf()

    def _members(self, path: _Path) -> Iterator[tuple[_Path, int]]:
        while self._opens_or_goes_on("}"):
            begin = self.end
            name = self._leaf()
            self._skip_space()
            self.end += 1  # skip the colon
            yield from self.value((*path, name), begin)

    def _items(self, path: _Path) -> Iterator[tuple[_Path, int]]:
        index = 0
        while self._opens_or_goes_on("]"):
            yield from self.value((*path, index))
            index += 1

    def _opens_or_goes_on(self, closing: str) -> bool:
        """Skip a bracket or a comma before the next value, or the closing bracket."""
        if self._text[self._skip_space()] != closing:
            self.end += 1
            if self._text[self._skip_space()] != closing:
                return True
        self.end += 1
        return False

    def _leaf(self) -> Any:
        """Read a string, a number or a literal at the current position."""
        value, self.end = _DECODER.raw_decode(self._text, self.end)
        return value

    def _skip_space(self) -> int:
        space = _SPACE.match(self._text, self.end)
        assert space is not None
        self.end = space.end()
        return self.end
