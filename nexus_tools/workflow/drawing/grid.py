"""Characters in rows and columns, and lines and boxes that are drawn with them."""

from collections.abc import Sequence
from itertools import groupby, pairwise

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
"""Sideways, upright, and the corners of a line."""

BORDERS = {
    "round": "─│╭╮╰╯",
    "heavy": "━┃┏┓┗┛",
    "dashed": "╌╎┌┐└┘",
    "double": "═║╔╗╚╝",
}
"""The same of a box."""

CROSSING = "┼"
HEADS = {True: "▼", False: "▲"}
"""By whether a line goes down."""

_UPRIGHT = {character: "│" for characters in LINES.values() for character in characters[1]}
_UPRIGHT |= dict.fromkeys(HEADS.values(), "│") | {" ": " ", "": ""}


class Grid:
    """Grows with what is drawn; a wide character takes its column and the one behind it."""

    def __init__(self) -> None:
        self._rows: list[list[tuple[str, str]]] = []
        self._sides: dict[tuple[int, int], int] = {}
        """Which sides of a place lines lead to."""

    def text(self, column: int, row: int, text: str, style: str) -> None:
        """A text, which is kept together."""
        if text:
            width = cells(text)
            self._put(column, row, text, style)
            for behind in range(column + 1, column + width):
                self._put(behind, row, "", style)

    def blank(self, column: int, row: int, width: int, height: int) -> None:
        """Room for something."""
        for each in range(row, row + height):
            for place in range(column, column + width):
                self._put(place, each, " ", "")

    def border(
        self, column: int, row: int, width: int, height: int, kind: str, style: str
    ) -> None:
        """A box around that room, within it."""
        sideways, upright, *corners = BORDERS[kind]
        right, bottom = column + width - 1, row + height - 1
        for each in range(column + 1, right):
            self._put(each, row, sideways, style)
            self._put(each, bottom, sideways, style)
        for each in range(row + 1, bottom):
            self._put(column, each, upright, style)
            self._put(right, each, upright, style)
        for corner, place in zip(
            corners, ((column, row), (right, row), (column, bottom), (right, bottom)), strict=True
        ):
            self._put(*place, corner, style)

    def line(
        self, places: Sequence[tuple[int, int]], characters: str, style: str, *, is_down: bool
    ) -> None:
        """A line along corners. At both ends it goes on, downwards or upwards."""
        way = [places[0]]
        for (x, y), (to_x, to_y) in pairwise(places):
            step_x, step_y = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
            while (x, y) != (to_x, to_y):
                x, y = x + step_x, y + step_y
                way.append((x, y))
        ahead = 1 if is_down else -1
        whole = [(way[0][0], way[0][1] - ahead), *way, (way[-1][0], way[-1][1] + ahead)]
        for before, place, after in zip(whole, way, whole[2:], strict=False):
            sides = _side(place, before) | _side(place, after)
            known = self._sides.get(place, 0)
            self._sides[place] = known | sides
            if known:
                self._put(*place, CROSSING, style)
            elif sides in CORNERS:
                self._put(*place, characters[2 + CORNERS[sides]], style)
            else:
                self._put(*place, characters[sides in {UP | DOWN, UP, DOWN}], style)

    def rendered(self) -> Text:
        """All of it, without rows in which lines only go on, and without spaces at the ends."""
        text = Text(no_wrap=True, overflow="ignore", end="")
        shapes = [*map(_shape, self._rows), None]
        last: str | None = None
        for row, shape, following in zip(self._rows, shapes, shapes[1:], strict=False):
            if shape is not None and shape in {last, following} and not _has_head(row):
                continue
            last = shape
            while row and row[-1][0].isspace():
                row.pop()
            for style, group in groupby(row, key=lambda each: each[1]):
                text.append("".join(character for character, _ in group), style or None)
            text.append("\n")
        return text

    def _put(self, column: int, row: int, character: str, style: str) -> None:
        while len(self._rows) <= row:
            self._rows.append([])
        cells_of_row = self._rows[row]
        while len(cells_of_row) <= column:
            cells_of_row.append((" ", ""))
        cells_of_row[column] = (character, style)


def _side(place: tuple[int, int], other: tuple[int, int]) -> int:
    (x, y), (other_x, other_y) = place, other
    if x == other_x:
        return UP if other_y < y else DOWN
    return LEFT if other_x < x else RIGHT


def _shape(row: list[tuple[str, str]]) -> str | None:
    """Where a row has lines that go up and down; None if it has anything else."""
    if all(character in _UPRIGHT for character, _ in row):
        return "".join(_UPRIGHT[character] for character, _ in row).rstrip()
    return None


def _has_head(row: list[tuple[str, str]]) -> bool:
    return any(character in HEADS.values() for character, _ in row)
