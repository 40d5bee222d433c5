"""Full-text search for tools: an index of a catalogue, ranked by the rarity of matching words."""

import asyncio
import re
import sqlite3
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from nexus_tools.export import Exportable
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage
from nexus_tools.mcp_server.catalogue.sources import Source, sources_of
from nexus_tools.mcp_server.catalogue.untrusted import skip_on_error
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import ToolFqn, read_annotations, variants

_log = get_logger("nexus_tools.mcp_server.search_index")

_PAGE_SIZE = 100
_MAX_WORDS = 32
_WORD = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# The weights of words in the four columns: name, domain, description (with title), and ports. The
# column of the FQN is not searched.
_WEIGHTS = "0.0, 8.0, 2.0, 3.0, 1.0"
_TABLE = (
    "CREATE VIRTUAL TABLE tool USING fts5(fqn UNINDEXED, name, domain, description, ports,"
    " tokenize = 'porter unicode61 remove_diacritics 2', prefix = '2 3')"
)
_INSERT = "INSERT INTO tool (fqn, name, domain, description, ports) VALUES (?, ?, ?, ?, ?)"
_RANKED = (
    "SELECT fqn FROM tool WHERE tool MATCH ?"  # noqa: S608 - composed of constants
    f" ORDER BY bm25(tool, {_WEIGHTS}), fqn LIMIT ? OFFSET ?"
)
_COUNT = "SELECT count(*) FROM tool WHERE tool MATCH ?"


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of search results, the best first, and the total number of results."""

    fqns: tuple[ToolFqn, ...]
    total: int


class ToolIndex:
    """A full-text index of tools in SQLite (BM25 over stems). Equal ranks are ordered by FQN.

    The same tools and the same query always give the same order. The index stores the words of
    definitions, but not the definitions.
    """

    def __init__(self, definitions: Iterable[Exportable] = ()) -> None:
        self._rows: dict[ToolFqn, int] = {}
        self._sorted: list[ToolFqn] | None = None
        self._words = sqlite3.connect(":memory:", check_same_thread=False)
        self._words.execute(_TABLE)
        self.put(definitions)

    @property
    def fqns(self) -> Sequence[ToolFqn]:
        """The FQNs of all tools in order."""
        if self._sorted is None:
            self._sorted = sorted(self._rows)
        return self._sorted

    def put(self, definitions: Iterable[Exportable]) -> None:
        """Add tools, or replace their words. A definition with invalid schemas is skipped."""
        for definition in definitions:
            self.remove([definition.fqn])
            with skip_on_error(definition.fqn):
                values = (str(definition.fqn), *_texts(definition))
                row = self._words.execute(_INSERT, values).lastrowid
                assert row is not None
                self._rows[definition.fqn] = row
        self._sorted = None

    def remove(self, fqns: Iterable[ToolFqn]) -> None:
        """Remove tools, if the index contains them."""
        for fqn in fqns:
            row = self._rows.pop(fqn, None)
            if row is not None:
                self._words.execute("DELETE FROM tool WHERE rowid = ?", (row,))
        self._sorted = None

    def find(self, query: str, limit: int, offset: int = 0) -> SearchResults:
        """Return the tools with any word or word prefix of a query. No words select all tools."""
        words = _WORD.findall(_spaced(query))[:_MAX_WORDS]
        if not words:
            return SearchResults(tuple(self.fqns[offset : offset + limit]), len(self._rows))
        match = " OR ".join(f'"{word}" OR "{word}"*' for word in words)
        with closing(self._words.cursor()) as cursor:
            [(total,)] = cursor.execute(_COUNT, (match,))
            rows = cursor.execute(_RANKED, (match, limit, offset)).fetchall()
        return SearchResults(tuple(ToolFqn.parse(fqn) for (fqn,) in rows), total)


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
    """The index of a catalogue. After `lifetime_s`, a request updates it in the background.

    The first reading of a large catalogue takes long. A caller waits for it at most `patience_s`,
    and then uses the tools that have been read (`is_complete` is False).
    """

    def __init__(
        self, catalogue: Catalogue, *, lifetime_s: float = 30.0, patience_s: float = 2.0
    ) -> None:
        self._catalogue = catalogue
        self._lifetime_s = lifetime_s
        self._patience_s = patience_s
        self._index = ToolIndex()
        self._sources: list[Source] = []
        self._fqns: defaultdict[Source, set[ToolFqn]] = defaultdict(set)
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the catalogue has been read to its end."""
        return self._read_at is not None

    async def get(self) -> ToolIndex:
        """Return the index. If no tool could be read yet, raise the catalogue's error."""
        is_old = self._read_at is None or time.monotonic() - self._read_at > self._lifetime_s
        if is_old and self._reading is None:
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._finish)
        reading = self._reading
        if reading is not None and not self.is_complete:
            await asyncio.wait([reading], timeout=self._patience_s)
            if reading.done() and not self._index.fqns:
                reading.result()
        return self._index

    async def find_all(self, fqns: Sequence[ToolFqn]) -> CataloguePage:
        """Return the current, checked definitions of tools that are offered, in this order."""
        definitions: dict[ToolFqn, Exportable] = {}
        prices_mist: dict[ToolFqn, int] = {}
        for source in await self._opened_sources():
            missing = [fqn for fqn in fqns if fqn not in definitions]
            if not missing:
                break
            page = await source.find_all(missing)
            definitions |= {definition.fqn: definition for definition in page.definitions}
            prices_mist |= page.prices_mist
        ordered = tuple(definitions[fqn] for fqn in fqns if fqn in definitions)
        return CataloguePage(ordered, prices_mist=prices_mist)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._read_at = time.monotonic()
        else:
            cause = "".join(traceback.format_exception(error))
            _log.warning("catalogue_read_failed", cause=cause)

    async def _read(self) -> None:
        """Read the changes of each source, or the whole source."""
        for source in await self._opened_sources():
            changes = await source.changes() if self.is_complete else None
            if changes is None:
                await self._scan(source)
            else:
                self._remove(source, changes.removed)
                self._put(source, changes.page)

    async def _opened_sources(self) -> Sequence[Source]:
        if not self._sources:
            sources = await sources_of(self._catalogue)
            self._sources = self._sources or sources  # a concurrent call may have been faster
        return self._sources

    async def _scan(self, source: Source) -> None:
        found: set[ToolFqn] = set()
        cursor: str | None = None
        while True:
            page = await source.scan(cursor, _PAGE_SIZE)
            self._put(source, page)
            found |= {definition.fqn for definition in page.definitions}
            cursor = page.next_cursor
            if cursor is None:
                self._remove(source, self._fqns[source] - found)
                return

    def _put(self, source: Source, page: CataloguePage) -> None:
        """Add the tools of a page. If sources have equal FQNs, the first source is used."""
        earlier = self._sources[: self._sources.index(source)]
        new = [
            definition
            for definition in page.definitions
            if not any(definition.fqn in self._fqns[other] for other in earlier)
        ]
        self._index.put(new)
        self._fqns[source] |= {definition.fqn for definition in new}

    def _remove(self, source: Source, fqns: Iterable[ToolFqn]) -> None:
        removed = self._fqns[source] & set(fqns)
        self._index.remove(removed)
        self._fqns[source] -= removed
