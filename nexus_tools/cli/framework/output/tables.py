"""The layout of tables: words stay whole, and columns use the available width."""

from collections.abc import Sequence
from typing import Any

Cells = Sequence[Sequence[str]]
"""Rows of strings. The first row has the headings."""

_GAP, _EDGES = 3, 2
"""The gap between two columns, and the width of both edges together, in characters."""


def table_for(cells: Cells, width: int) -> Any:
    """Return a `rich.table.Table`, or None if `width` cannot hold the longest words.

    Cells with several words are wrapped if rows are wider than `width`. For example, two columns
    need 66 and 80 characters, and `width` is 100. The gap and the edges use 5 characters, so the
    columns get 66 and 29 if all words of the second column fit.
    """
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table

    columns = list(zip(*cells, strict=True))
    natural = [max(map(cell_len, column)) for column in columns]
    least = [max(cell_len(word) for text in column for word in text.split()) for column in columns]
    gaps = _GAP * (len(columns) - 1) + _EDGES
    if sum(least) + gaps > width:
        return None
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    widths = _shared(least, natural, width - gaps)
    for heading, column_width in zip(cells[0], widths, strict=True):
        table.add_column(heading, width=column_width, overflow="fold")
    for row in cells[1:]:
        table.add_row(*row)
    return table


def _shared(least: list[int], natural: list[int], width: int) -> list[int]:
    """Return the width of each column: its minimum plus a share of the remaining `width`.

    The columns that need the least extra width get it first.
    """
    widths, rest = list(least), width - sum(least)
    wants = sorted(range(len(least)), key=lambda place: natural[place] - least[place])
    for turn, place in enumerate(wants):
        more = min(natural[place] - least[place], rest // (len(wants) - turn))
        widths[place] += more
        rest -= more
    return widths
