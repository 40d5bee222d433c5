"""Full-text search for tools: an index of a catalogue, ranked by the rarity of matching words."""

import asyncio
import re
import sqlite3
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from nexus_tools.export import Exportable
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import ToolFqn, read_annotations, variants

_log = get_logger("nexus_tools.mcp_server.search_index")

_PAGE_SIZE = 200
_MAX_WORDS = 32
_WORD = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# The weights of words in the four columns: name, domain, description (with title), and ports.
_WEIGHTS = "8.0, 2.0, 3.0, 1.0"
_TABLE = (
    "CREATE VIRTUAL TABLE tool USING fts5(name, domain, description, ports,"
    " tokenize = 'porter unicode61 remove_diacritics 2', prefix = '2 3')"
)
_RANKED = (
    "SELECT rowid FROM tool WHERE tool MATCH ?"  # noqa: S608 - composed of constants
    f" ORDER BY bm25(tool, {_WEIGHTS}), rowid LIMIT ? OFFSET ?"
)
_COUNT = "SELECT count(*) FROM tool WHERE tool MATCH ?"


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of search results, the best first, and the total number of results."""

    tools: tuple[Exportable, ...]
    total: int


class ToolIndex:
    """A full-text index of tools in SQLite (BM25 over stems). Equal ranks are ordered by FQN.

    The same tools and the same query always give the same order.
    """

    def __init__(
        self,
        definitions: Iterable[Exportable],
        prices_mist: Mapping[ToolFqn, int] | None = None,
    ) -> None:
        self.prices_mist = dict(prices_mist or {})
        self.tools = sorted(definitions, key=lambda tool: tool.fqn)
        self._words = sqlite3.connect(":memory:", check_same_thread=False)
        self._words.execute(_TABLE)
        self._words.executemany(
            "INSERT INTO tool (rowid, name, domain, description, ports) VALUES (?, ?, ?, ?, ?)",
            [(row, *_texts(tool)) for row, tool in enumerate(self.tools)],
        )

    def find(self, query: str, limit: int, offset: int = 0) -> SearchResults:
        """Return the tools with any word or word prefix of a query. No words select all tools."""
        words = _WORD.findall(_spaced(query))[:_MAX_WORDS]
        if not words:
            return SearchResults(tuple(self.tools[offset : offset + limit]), len(self.tools))
        match = " OR ".join(f'"{word}" OR "{word}"*' for word in words)
        with closing(self._words.cursor()) as cursor:
            [(total,)] = cursor.execute(_COUNT, (match,))
            rows = cursor.execute(_RANKED, (match, limit, offset)).fetchall()
        return SearchResults(tuple(self.tools[row] for (row,) in rows), total)


def _texts(definition: Exportable) -> Sequence[str]:
    title = read_annotations(definition.input_schema).get("title", "")
    outputs = variants(definition.output_schema)
    names = [
        name
        for schema in (definition.input_schema, *outputs.values())
        for name in schema.get("properties", {})
    ]
    texts = (
        definition.fqn.name,
        definition.fqn.domain,
        f"{title} {definition.description}",
        " ".join((*names, *outputs)),
    )
    return [_spaced(text) for text in texts]


def _spaced(text: str) -> str:
    """Return the text with spaces between `camelCase` words, which the index does not split."""
    return _CAPITAL.sub(" ", text)


class CatalogueIndex:
    """The index of a catalogue, which is refreshed in the background after `lifetime_s`.

    Only the first caller waits until the catalogue has been read.
    """

    def __init__(self, catalogue: Catalogue, *, lifetime_s: float = 30.0) -> None:
        self._catalogue = catalogue
        self._lifetime_s = lifetime_s
        self._index: ToolIndex | None = None
        self._read_at = 0.0
        self._reading: asyncio.Task[ToolIndex] | None = None

    async def get(self) -> ToolIndex:
        """Return the index. If the catalogue was never read, raise the catalogue's error."""
        is_old = time.monotonic() - self._read_at > self._lifetime_s
        if (self._index is None or is_old) and self._reading is None:
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._keep)
        if self._index is not None:
            return self._index
        assert self._reading is not None
        return await asyncio.shield(self._reading)

    def _keep(self, task: asyncio.Task[ToolIndex]) -> None:
        self._reading = None
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._index, self._read_at = task.result(), time.monotonic()
        else:
            cause = "".join(traceback.format_exception(error))
            _log.warning("catalogue_read_failed", cause=cause)

    async def _read(self) -> ToolIndex:
        definitions: dict[ToolFqn, Exportable] = {}
        prices_mist: dict[ToolFqn, int] = {}
        cursor: str | None = None
        while True:
            page = await self._catalogue.page(cursor, _PAGE_SIZE)
            definitions |= {definition.fqn: definition for definition in page.definitions}
            prices_mist |= page.prices_mist
            cursor = page.next_cursor
            if cursor is None:
                # Indexing a thousand schemas takes seconds, so it runs in a thread.
                return await asyncio.to_thread(ToolIndex, definitions.values(), prices_mist)
