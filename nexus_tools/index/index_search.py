"""The search of an index: candidates from the text index, in an order from the index file."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.index.queries import search as queries
from nexus_tools.index.queries.ranking import describe_calls, sort_key
from nexus_tools.index.queries.records import IndexedTool, SearchStatus
from nexus_tools.index.queries.search import Admits, Standing
from nexus_tools.index.queries.tools import IndexedToolFilter, ToolSort, read_tool
from nexus_tools.index.search import (
    Candidate,
    TextIndex,
    ToolSearch,
    load_intent_model,
    open_text_index,
)
from nexus_tools.index.search.engines import text_folder
from nexus_tools.index.tool_text import count_changes, read_changed_tools

if TYPE_CHECKING:
    from nexus_tools.index.search.intent import IntentIndex
    from nexus_tools.index.search.intent_model import IntentModel

_VECTORS_AT_ONCE = 10_000
_CURSOR_DIGITS = 9
_RECORD_WEIGHT = 0.05
# The relevance of a tool with half of the best score.
_MIN_RELEVANCE = 0.6


class SearchResult(Struct, frozen=True):
    """A tool that fits a query. `reason` says in one or more sentences why it has its place.

    The reason contains words that the author of the tool wrote.
    """

    tool: IndexedTool
    relevance: float
    reason: str


class SearchResults(Struct, frozen=True):
    """A page of results of an index at a checkpoint.

    `next` is None on the last page, or else the text to pass as `after`. `total` is at most 200. If
    `fits` is False, no tool seems to fit the query, and the tools are only the closest ones.
    `notes` say what the search could not use, such as the newest changes of tools.
    """

    items: tuple[SearchResult, ...]
    next: str | None
    total: int
    checkpoint: int
    fits: bool
    notes: tuple[str, ...] = ()


class SearchQuery(Struct, frozen=True):
    """A query with its filters, its order, and the numbers of the accounts that it is made for.

    `now_ms` is the time up to which records are counted.
    """

    text: str
    limit: int
    after: str | None
    sort: ToolSort | None
    tool_filter: IndexedToolFilter
    admits: Admits | None
    requesters: Sequence[int]
    now_ms: int


class IndexSearch:
    """The text index of an index file and, optionally, its vectors. They are opened when needed."""

    def __init__(self, path: Path, intent_model: str | None) -> None:
        """Take the path of the index file, and the value of the setting `intent_model`."""
        self._path = path
        self._model_name = intent_model
        self._model: IntentModel | None = None
        self._intent: _Intent | None = None
        self._text: TextIndex | None = None
        self._generation: str | None = None

    def close(self) -> None:
        """Close the text index."""
        text, self._text, self._intent = self._text, None, None
        if text is not None:
            text.close()

    def search(self, connection: sqlite3.Connection, query: SearchQuery) -> SearchResults:
        """Return a page of results. The connection must be in a transaction.

        Raises:
            WrongStateError: `text_index_unusable` if the text index is missing, damaged, or of
                another state of the index file.
            ValidationError: `cursor_invalid`.
        """
        offset = _offset(query.after)
        try:
            return self._search(connection, query, offset)
        except WrongStateError:  # the writer may have replaced the files
            self.close()
            return self._search(connection, query, offset)

    def _search(
        self, connection: sqlite3.Connection, query: SearchQuery, offset: int
    ) -> SearchResults:
        generation, checkpoint = connection.execute(
            "SELECT generation, checkpoint FROM identity, cursor"
        ).fetchone()
        text = self._opened(generation)
        notes = _lag_notes(count_changes(connection, text.latest_change))
        intent = self._intent_index(connection, notes)
        search = ToolSearch(
            text,
            lambda tools: queries.read_texts(connection, tools, query.tool_filter, query.admits),
            intent,
        )
        page = search.search(
            query.text, query.limit, offset, lambda tools: _ordered(connection, tools, query)
        )
        end = offset + len(page.tools)
        return SearchResults(
            tuple(
                _result(connection, ranked.tool, ranked.relevance, ranked.reason, query)
                for ranked in page.tools
            ),
            str(end) if end < page.total else None,
            page.total,
            checkpoint,
            page.fits,
            tuple(notes),
        )

    def status(self, connection: sqlite3.Connection) -> SearchStatus:
        """Return the state of the text index and of the vectors."""
        generation, vector_model, vector_change = connection.execute(
            "SELECT generation, vector_model, vector_change FROM identity"
        ).fetchone()
        ((vectors,),) = connection.execute("SELECT count(*) FROM vectors")
        try:
            text = self._opened(generation)
            engine, tools, change = text.engine, text.count(), text.latest_change
        except WrongStateError:
            self.close()
            engine, tools, change = None, 0, 0
        pending = count_changes(connection, change)
        pending_vectors = 0 if vector_model is None else count_changes(connection, vector_change)
        return SearchStatus(engine, tools, pending, vectors, vector_model, pending_vectors)

    def _opened(self, generation: str) -> TextIndex:
        if self._text is None or generation != self._generation:
            self.close()
            self._text = open_text_index(text_folder(self._path), generation, is_writer=False)
            self._generation = generation
        return self._text

    def _intent_index(
        self, connection: sqlite3.Connection, notes: list[str]
    ) -> "IntentIndex | None":
        if self._model_name is None:
            return None
        vector_model, change = connection.execute(
            "SELECT vector_model, vector_change FROM identity"
        ).fetchone()
        if self._model is None:
            self._model = load_intent_model(self._model_name)
        if self._model.digest != vector_model:
            notes.append(
                "the index has no vectors of the intent model: only words are searched. Run"
                " `nexus-tools index run` with the same setting intent_model"
            )
            return None
        pending = count_changes(connection, change)
        if pending:
            notes.append(
                f"at most {pending} tools are found by their words only, because their vectors are"
                " not computed yet"
            )
        if self._intent is None:
            self._intent = _Intent(self._model)
        return self._intent.current(connection, change)


class _Intent:
    """The intent index in memory, which follows the changes of tools."""

    def __init__(self, model: "IntentModel") -> None:
        from nexus_tools.index.search.intent import IntentIndex  # noqa: PLC0415 - an extra

        self._connection: sqlite3.Connection | None = None
        self._index = IntentIndex(model, self._read)
        self._change: int | None = None

    def current(self, connection: sqlite3.Connection, change: int) -> "IntentIndex":
        """Return the index with the vectors of all changes up to a change number."""
        self._connection = connection
        if self._change is None:
            self._load()
            self._change = change
        if self._change < change:
            changed = read_changed_tools(connection, self._change, change)
            for start in range(0, len(changed), _VECTORS_AT_ONCE):
                tools = changed[start : start + _VECTORS_AT_ONCE]
                vectors = queries.read_vectors(connection, tools)
                self._index.update({tool: vectors.get(tool) for tool in tools})
            self._change = change
        return self._index

    def _load(self) -> None:
        """Read all vectors in parts, because all of them together need much memory."""
        assert self._connection is not None
        last = 0
        while vectors := queries.read_vectors_after(self._connection, last, _VECTORS_AT_ONCE):
            self._index.update(vectors)
            last = max(vectors)

    def _read(self, tools: Sequence[int]) -> Any:
        assert self._connection is not None
        return queries.read_vectors(self._connection, tools)


def _lag_notes(changes: int) -> list[str]:
    if changes <= 0:
        return []
    return [f"the search does not know the newest changes of tools yet (at most {changes})"]


def _offset(after: str | None) -> int:
    if after is None:
        return 0
    if not (after.isascii() and after.isdecimal() and len(after) <= _CURSOR_DIGITS):
        raise ValidationError(
            "cursor_invalid",
            f"{after[:80]!r} is not the position of a page of search results",
            hint="Pass the `next` of a page with the same query.",
        )
    return int(after)


def _ordered(
    connection: sqlite3.Connection, candidates: Sequence[Candidate], query: SearchQuery
) -> Sequence[Candidate]:
    """Order candidates by a sort value, or else by experience, relevance, record and price.

    Tools with a good experience of the requesters come first, if they fit at least half as well as
    the best tool. Otherwise, one good call would put a tool with many keywords before all others.
    Tools with a bad experience come last. Next are tools whose name is the query.

    The record of all requesters multiplies the relevance by a factor between 1 and 1.05, because
    anyone can buy a good record, or a bad one for another tool. Among tools with about the same
    product, the cheaper tool comes first.
    """
    tools = [candidate.tool for candidate in candidates]
    standings = queries.read_standings(connection, tools, query.requesters)

    def key(candidate: Candidate) -> Any:
        standing = standings[candidate.tool]
        if query.sort is not None:
            return (
                not candidate.is_exact,
                sort_key(query.sort, standing),
                -candidate.relevance,
                standing.fqn,
            )
        weight = candidate.relevance * (1 + _RECORD_WEIGHT * standing.reputation)
        return (
            _experience(standing, candidate.relevance),
            not candidate.is_exact,
            -round(weight, 2),
            standing.price_mist,
            -weight,
            standing.fqn,
        )

    return sorted(candidates, key=key)


def _experience(standing: Standing, relevance: float) -> int:
    """Return -1 for a good experience with a tool that fits, 1 for a bad one, and else 0."""
    if standing.experience > 0 and relevance < _MIN_RELEVANCE:
        return 0
    return -standing.experience


def _result(
    connection: sqlite3.Connection, tool: int, relevance: float, reason: str, query: SearchQuery
) -> SearchResult:
    found = read_tool(connection, tool, query.requesters, query.now_ms)
    return SearchResult(found, relevance, f"{reason} {describe_calls(found)}".rstrip())
