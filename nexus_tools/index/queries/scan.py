"""Bounded scans: pages by key, whose cost does not depend on the number of rows.

A scan follows one SQL index and stops after `MAX_SCANNED` rows. Conditions that this index does not
contain are checked for each row.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.errors import ValidationError

MAX_SCANNED = 2_000
"""The number of rows after which a page ends, even if it is not full."""


class Scan(Struct, frozen=True):
    """A scan of a table in the order of `keys`, which are columns of one SQL index.

    `within` are conditions that the index contains, and `matching` are other conditions. Each
    condition is SQL with `?` and its values.
    """

    table: str
    keys: tuple[str, ...]
    descending: bool
    within: Sequence[tuple[str, tuple[Any, ...]]] = ()
    matching: Sequence[tuple[str, tuple[Any, ...]]] = ()

    def also(self, condition: tuple[str, tuple[Any, ...]]) -> "Scan":
        """Return the scan with another condition that its SQL index does not contain."""
        return replace(self, matching=(*self.matching, condition))

    def read(
        self, connection: sqlite3.Connection, limit: int, after: str | None
    ) -> tuple[list[int], str | None]:
        """Return the row IDs of a page, and the text for the next page or None.

        Raises `cursor_invalid`.
        """
        keys = ", ".join(self.keys)
        matches = " AND ".join(condition for condition, _ in self.matching) or "1"
        part, values = self._part(after)
        # SQLite does not move a condition into a query with a limit, and reads its rows one by one.
        found = connection.execute(
            f"SELECT row, {keys} FROM"  # noqa: S608 - constant names
            f" (SELECT rowid AS row, {matches} AS matches, {keys} {part} LIMIT {MAX_SCANNED})"
            " WHERE matches LIMIT ?",
            [*(value for _, part in self.matching for value in part), *values, limit + 1],
        ).fetchall()
        rows = [row for row, *_ in found]
        if len(rows) > limit:
            _, *last = found[limit - 1]
            return rows[:limit], json.dumps(last)
        scanned = connection.execute(
            f"SELECT {keys} {part} LIMIT 1 OFFSET {MAX_SCANNED - 1}", values
        ).fetchone()
        return rows, None if scanned is None else json.dumps(scanned)

    def _part(self, after: str | None) -> tuple[str, list[Any]]:
        """Return SQL for the rows after a position, without columns and limit, and its values."""
        keys = ", ".join(self.keys)
        direction = " DESC" if self.descending else ""
        order = ", ".join(f"{key}{direction}" for key in self.keys)
        within = list(self.within)
        if after is not None:
            marks = ", ".join("?" * len(self.keys))
            sign = "<" if self.descending else ">"
            within.append((f"({keys}) {sign} ({marks})", self._position(after)))
        where = " AND ".join(condition for condition, _ in within) or "1"
        part = f"FROM {self.table} WHERE {where} ORDER BY {order}"
        return part, [value for _, values in within for value in values]

    def _position(self, after: str) -> tuple[Any, ...]:
        try:
            keys = json.loads(after)
        except ValueError:
            keys = None
        if (
            not isinstance(keys, list)
            or len(keys) != len(self.keys)
            or not all(isinstance(key, int | float | str) for key in keys)
            or any(isinstance(key, int) and abs(key) >= 2**63 for key in keys)
        ):
            raise ValidationError(
                "cursor_invalid",
                f"{after[:80]!r} is not the position of a page with this sort order",
                hint="Pass the `next` of a page that was read with the same filter and order.",
            )
        return tuple(keys)
