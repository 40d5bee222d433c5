"""A grid of characters on which lines and boxes are drawn."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from rich.text import Text

from nexus_tools.workflow.drawing.text import cells

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
CORNERS = {DOWN | RIGHT: 0, DOWN | LEFT: 1, UP | RIGHT: 2, UP | LEFT: 3}

LINES = {
    "light": "─│╭╮╰╯",
    "heavy": "━┃┏┓┗┛",
    "dashed": "╌╎╭╮╰╯",
    "dotted": "┈┊╭╮╰╯",
}
"""The horizontal, vertical and corner characters of a line, by line style."""

BORDERS = {
    "round": "─│╭╮╰╯",
    "heavy": "━┃┏┓┗┛",
    "dashed": "╌╎┌┐└┘",
    "double": "═║╔╗╚╝",
}
"""The horizontal, vertical and corner characters of a box, by box style."""

CROSSING = "┼"
HEADS = {True: "▼", False: "▲"}
"""The arrowhead characters. The key is whether the line leads downwards."""

_UPRIGHT = {character: "│" for characters in LINES.values() for character in characters[1]}
_UPRIGHT |= dict.fromkeys(HEADS.values(), "│") | {" ": " ", "": ""}


class Rectangle(NamedTuple):
    """A rectangular area of cells."""

    column: int
    row: int
    width: int
    height: int


class Grid:
    """A grid that grows if necessary. A wide character takes two columns."""

    def __init__(self) -> None:
        self._rows: list[list[tuple[str, str]]] = []
        self._sides: dict[tuple[int, int], int] = {}
        """For each cell, the sides (`UP`, …) to which lines lead."""
        self.has_overlaps = False
        """Whether two lines share cells, so that a reader cannot distinguish the lines."""

    def text(self, column: int, row: int, text: str, style: str) -> None:
        """Write a string into one row."""
        if text:
            width = cells(text)
            self._put(column, row, text, style)
            for behind in range(column + 1, column + width):
                self._put(behind, row, "", style)

    def blank(self, room: Rectangle) -> None:
        """Clear an area."""
        for row in range(room.row, room.row + room.height):
            for column in range(room.column, room.column + room.width):
                self._put(column, row, " ", "")

    def border(self, room: Rectangle, characters: str, style: str) -> None:
        """Draw a box along the inner edge of an area."""
        right, bottom = room.column + room.width - 1, room.row + room.height - 1
        for column in range(room.column + 1, right):
            self._put(column, room.row, characters[0], style)
            self._put(column, bottom, characters[0], style)
        for row in range(room.row + 1, bottom):
            self._put(room.column, row, characters[1], style)
            self._put(right, row, characters[1], style)
        corners = [(column, row) for row in (room.row, bottom) for column in (room.column, right)]
        for (column, row), corner in zip(corners, characters[2:], strict=True):
            self._put(column, row, corner, style)

    def line(
        self, places: Sequence[tuple[int, int]], characters: str, style: str, *, is_down: bool
    ) -> None:
        """Draw a line through corner points.

        `is_down` is whether the first and last cells continue downwards or upwards.
        """
        way = [places[0], *(place for ends in pairwise(places) for place in _between(*ends))]
        ahead = 1 if is_down else -1
        whole = [(way[0][0], way[0][1] - ahead), *way, (way[-1][0], way[-1][1] + ahead)]
        for before, place, after in zip(whole, way, whole[2:], strict=False):
            sides = _side(place, before) | _side(place, after)
            known = self._sides.get(place, 0)
            self._sides[place] = known | sides
            if known:
                self.has_overlaps |= {known, sides} != {UP | DOWN, LEFT | RIGHT}
                self._put(*place, CROSSING, style)
            elif sides in CORNERS:
                self._put(*place, characters[2 + CORNERS[sides]], style)
            else:
                self._put(*place, characters[sides in {UP | DOWN, UP, DOWN}], style)

    def rendered(self) -> Text:
        """Return the text. Omit repeated rows of vertical lines, and trailing spaces."""
        text = Text(no_wrap=True, overflow="ignore")
        shapes = [*map(_shape, self._rows), None]
        last: str | None = None
        for row, shape, following in zip(self._rows, shapes, shapes[1:], strict=False):
            if shape is not None and shape in {last, following} and not _has_head(row):
                continue
            last = shape
            while row and row[-1][0].isspace():
                row.pop()
            for style, group in groupby(row, key=lambda cell: cell[1]):
                text.append("".join(character for character, _ in group), style or None)
            text.append("\n")
        text.right_crop(1)
        return text

    def _put(self, column: int, row: int, character: str, style: str) -> None:
        while len(self._rows) <= row:
            self._rows.append([])
        cells_of_row = self._rows[row]
        while len(cells_of_row) <= column:
            cells_of_row.append((" ", ""))
        cells_of_row[column] = (character, style)


def _between(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the cells from a start to an end in one row or column, excluding the start."""
    (x, y), (end_x, end_y) = start, end
    length = max(abs(end_x - x), abs(end_y - y))
    for step in range(1, length + 1):
        yield x + (end_x - x) * step // length, y + (end_y - y) * step // length


def _side(place: tuple[int, int], other: tuple[int, int]) -> int:
    (x, y), (other_x, other_y) = place, other
    if x == other_x:
        return UP if other_y < y else DOWN
    return LEFT if other_x < x else RIGHT


def _shape(row: list[tuple[str, str]]) -> str | None:
    """Return the vertical lines of a row, or None if the row has other characters."""
    if all(character in _UPRIGHT for character, _ in row):
        return "".join(_UPRIGHT[character] for character, _ in row).rstrip()
    return None


def _has_head(row: list[tuple[str, str]]) -> bool:
    return any(character in HEADS.values() for character, _ in row)
