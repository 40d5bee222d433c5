"""Updates of a text index from the table of tools."""

import time
from collections.abc import Callable, Sequence

from nexus_tools.index.search.text_index import TextIndex
from nexus_tools.index.tool_text import ToolText

ReadChanges = Callable[[int, int], Sequence[ToolText]]
"""A function that returns texts with a larger change number, in the order of these numbers.

Its arguments are the change number and the maximum number of texts. Each tool occurs once, with its
latest change. Tools that are removed occur too, and are not listed.
"""

BATCH_SIZE = 5_000
_MIN_INTERVAL_S = 1.0


class CatchUp:
    """The task that brings a text index up to date. Each update writes files, so updates are rare.

    Not thread-safe: only one thread at a time may call `run`.
    """

    def __init__(
        self,
        read_changes: ReadChanges,
        index: TextIndex,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read_changes = read_changes
        self._index = index
        self._clock_s = clock_s
        self._updated_s: float | None = None

    def run(self, max_batches: int | None = None) -> int:
        """Apply all changes, and return their number. `max_batches` limits the work of one call.

        After a small update, the function does nothing until one second has passed.
        """
        started_s = self._clock_s()
        if self._updated_s is not None and started_s - self._updated_s < _MIN_INTERVAL_S:
            return 0
        count = batches = 0
        while max_batches is None or batches < max_batches:
            texts = self._read_changes(self._index.latest_change, BATCH_SIZE)
            if texts:
                self._index.update(texts)
            count, batches = count + len(texts), batches + 1
            if len(texts) < BATCH_SIZE:
                self._updated_s = self._clock_s() if count else self._updated_s
                break
        return count
