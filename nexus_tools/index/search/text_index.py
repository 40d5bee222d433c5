"""The interface of the text search engines."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

import msgspec

from nexus_tools.index.tool_text import ToolText

MAX_RESULTS = 1_000
EXACT_SCORE = 10_000.0
"""The minimum score of a tool whose name, or FQN with or without version, is the whole query."""


class Match(msgspec.Struct, frozen=True):
    """A tool that matches a query. Only scores of one search are comparable."""

    tool: int
    score: float


class TextIndex(Protocol):
    """Words of tools in files. The files are derived data: they can be created again at any time.

    The index remembers the source of its texts. If an index has another source, another format, or
    damaged files, the writer replaces it by an empty index when it opens it. One process at a time
    can write. Several threads can search at the same time.
    """

    engine: ClassVar[str]
    """The name of the search engine."""

    @property
    def latest_change(self) -> int:
        """The change number of the latest text in the index, or 0 if the index is empty."""
        ...

    def count(self) -> int:
        """Return the number of tools in the index."""
        ...

    def update(self, texts: Sequence[ToolText]) -> None:
        """Add or replace the texts of tools, and remove tools that are not listed.

        The texts and the change number become visible together. If the update fails, or the
        process ends, the index keeps the earlier texts and change number. Updates can be repeated.
        """
        ...

    def search(self, query: str, limit: int) -> list[Match]:
        """Return the best matches, the best first, at most `limit` and at most `MAX_RESULTS`.

        A query is plain text. It has no syntax.
        """
        ...

    def close(self) -> None:
        """Close the files."""
        ...
