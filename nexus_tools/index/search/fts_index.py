"""Text search with FTS5, the full-text search of SQLite, which needs no extra.

FTS5 finds stems of words and prefixes of the last word. It finds a misspelled word only if no tool
contains the word, and if one letter is wrong, missing, additional or swapped with its neighbour.

The time of a query is bounded. FTS5 ranks at most `_MAX_RANKED` tools, and reads all tools of each
word by which it ranks. Therefore, a word counts by the number of its tools:

* Rare words, at most `_MAX_RANKED` tools together, select tools.
* Frequent words, at most about `_MAX_READ` tools each, change the order of the selected tools.
* Other words do not count beside rarer words.

Without a rare word, tools with all of the frequent words come first. Then come tools whose name
contains the rarest word, and then other tools with this word.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import ascii_lowercase
from typing import ClassVar

import msgspec

from nexus_tools.index.search.errors import text_index_locked, text_index_unusable
from nexus_tools.index.search.text_index import EXACT_SCORE, MAX_RESULTS, Match
from nexus_tools.index.search.words import exact_key, query_words, split_fqn, text_columns
from nexus_tools.index.tool_text import ToolText

_FORMAT = 1
_SCHEMA = """
CREATE TABLE state (source TEXT NOT NULL, latest_change INTEGER NOT NULL);
CREATE TABLE key (key TEXT NOT NULL, tool INTEGER NOT NULL, PRIMARY KEY (key, tool)) WITHOUT ROWID;
CREATE TABLE vocabulary (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX key_of_tool ON key (tool);
CREATE VIRTUAL TABLE tool USING fts5(
    name, domain, description, words,
    tokenize = 'porter unicode61 remove_diacritics 0', prefix = '2 3'
);
"""
_INSERT = "INSERT INTO tool (rowid, name, domain, description, words) VALUES (?, ?, ?, ?, ?)"
_COUNT = (
    "SELECT count(*), coalesce(max(row), 0)"
    " FROM (SELECT rowid AS row FROM tool WHERE tool MATCH ? LIMIT ?)"
)
_ENDS = (
    "SELECT (SELECT rowid FROM tool ORDER BY rowid LIMIT 1),"
    " (SELECT rowid FROM tool ORDER BY rowid DESC LIMIT 1)"
)
# The inner limit bounds the number of tools that FTS5 ranks.
_RANKED = (
    "SELECT rowid, rank FROM ("
    "SELECT rowid, bm25(tool, 8.0, 2.0, 3.0, 1.0) AS rank FROM tool WHERE tool MATCH ? LIMIT ?"
    ") ORDER BY rank, rowid LIMIT ?"
)
_UNRANKED = "SELECT rowid FROM tool WHERE tool MATCH ? LIMIT ?"
_LONGER = "SELECT word FROM vocabulary WHERE word >= ? AND word < ? ORDER BY word LIMIT ?"
_EXACT = "SELECT tool FROM key WHERE key = ? ORDER BY tool LIMIT ?"
_MAX_RANKED = 2_000
_MAX_READ = 50_000
_MAX_JOINED = 3
_MAX_EXPANSIONS = 30
_INDEXED_PREFIX = 3
_LAST_LETTER = "\U0010ffff"
_MIN_PREFIX = 2
_MIN_MISSPELLED = 4
_MAX_MISSPELLED = 16
_BUSY_MS = 5_000


class FtsIndex:
    """A `TextIndex` in an SQLite file."""

    engine: ClassVar[str] = "fts5"

    def __init__(self, path: Path, source: str, *, is_writer: bool) -> None:
        """Open a file. The writer creates the index if it is missing, damaged or obsolete.

        Raises:
            WrongStateError: `text_index_unusable` if a reader finds no usable index.
            UsageError: `text_index_locked` if another process writes the index.
        """
        self._path = path
        if not _is_usable(path, source):
            if not is_writer:
                raise text_index_unusable(path)
            _create(path, source)
        self._reader = _connect(path)
        self._writer = _connect(path) if is_writer else None
        if self._writer is not None:
            # A power failure may lose the latest updates, which are then read again.
            self._writer.execute("PRAGMA synchronous = NORMAL")

    @property
    def latest_change(self) -> int:
        """The change number of the latest text in the index, or 0 if the index is empty."""
        with _report_damage(self._path):
            ((change,),) = self._reader.execute("SELECT latest_change FROM state")
            return int(change)

    def count(self) -> int:
        """Return the number of tools in the index."""
        with _report_damage(self._path):
            ((count,),) = self._reader.execute("SELECT count(*) FROM tool")
            return int(count)

    def update(self, texts: Sequence[ToolText]) -> None:
        """Add or replace the texts of tools, and remove tools that are not listed."""
        assert self._writer is not None
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise text_index_locked(self._path) from error
        with self._writer:
            vocabulary: set[str] = set()
            for text in texts:
                self._writer.execute("DELETE FROM tool WHERE rowid = ?", (text.tool,))
                self._writer.execute("DELETE FROM key WHERE tool = ?", (text.tool,))
                if text.is_listed:
                    columns = text_columns(text)
                    vocabulary.update(*(column.split() for column in columns))
                    self._writer.execute(_INSERT, (text.tool, *columns))
                    keys = [(key, text.tool) for key in split_fqn(text.fqn)]
                    self._writer.executemany("INSERT OR IGNORE INTO key VALUES (?, ?)", keys)
            words = [(word,) for word in vocabulary]
            self._writer.executemany("INSERT OR IGNORE INTO vocabulary VALUES (?)", words)
            change = max((text.change for text in texts), default=0)
            statement = "UPDATE state SET latest_change = max(latest_change, ?)"
            self._writer.execute(statement, (change,))

    def search(self, query: str, limit: int) -> list[Match]:
        """Return the best matches, the best first, at most `limit` and at most `MAX_RESULTS`.

        Raises:
            WrongStateError: `text_index_unusable` if the file is missing or damaged.
        """
        limit = max(0, min(limit, MAX_RESULTS))
        with _report_damage(self._path):
            scores = self._scores(self._counted(query_words(query)), limit)
            for (tool,) in self._reader.execute(_EXACT, (exact_key(query), limit)):
                scores[tool] = EXACT_SCORE + scores.get(tool, 0.0)
        matches = [Match(tool, score) for tool, score in scores.items()]
        return sorted(matches, key=lambda match: (-match.score, match.tool))[:limit]

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    # --- Ranking

    def _scores(self, words: Sequence["_Word"], limit: int) -> dict[int, float]:
        """Return the scores of the best tools by words, the rarest word first."""
        rare = [
            word
            for position, word in enumerate(words)
            if sum(other.count for other in words[: position + 1]) <= _MAX_RANKED
        ]
        frequent = [word for word in words[len(rare) :] if word.count <= _MAX_READ]
        if rare:
            scores = self._ranked(_any(rare), limit)
            if frequent:
                others = _any(frequent[:_MAX_JOINED])
                scores |= self._ranked(f"({_any(rare)}) AND ({others})", limit)
            return scores
        return self._common_scores(words, frequent[:_MAX_JOINED], limit) if words else {}

    def _common_scores(
        self, words: Sequence["_Word"], frequent: Sequence["_Word"], limit: int
    ) -> dict[int, float]:
        """Return scores up to 4 by words of which each occurs in many tools."""
        rarest = words[0].expression
        scores = dict.fromkeys(self._unranked(rarest, limit), 1.0)
        if frequent:
            scores |= _scaled(self._ranked(f"{{name}} : ({rarest})", limit), 2.0)
        if len(frequent) > 1:
            joined = " AND ".join(f"({word.expression})" for word in frequent)
            scores |= _scaled(self._ranked(joined, limit), 3.0)
        return scores

    def _ranked(self, expression: str, limit: int) -> dict[int, float]:
        rows = self._reader.execute(_RANKED, (expression, _MAX_RANKED, limit))
        return {tool: -rank for tool, rank in rows}

    def _unranked(self, expression: str, limit: int) -> list[int]:
        """Return the oldest tools that match an expression."""
        return [tool for (tool,) in self._reader.execute(_UNRANKED, (expression, limit))]

    # --- Words

    def _counted(self, words: Sequence[str]) -> list["_Word"]:
        """Return the words that occur in tools, the rarest first."""
        first, last = self._reader.execute(_ENDS).fetchone()
        counted = []
        for position, word in enumerate(words):
            expression, count, row = self._expression(word, is_last=position == len(words) - 1)
            if count > _MAX_RANKED:
                # The tools with a word are about evenly distributed among all tools.
                share = (row - first + 1) / (last - first + 1)
                counted.append(_Word(expression, count / share))
            elif count:
                counted.append(_Word(expression, count))
        return sorted(counted, key=lambda word: word.count)

    def _expression(self, word: str, *, is_last: bool) -> tuple[str, int, int]:
        """Return the expression for a word, the number of its tools, and the last one's row.

        The number is at most `_MAX_RANKED + 1`. A complete word precedes too many longer words.
        """
        exact = f'"{word}"'
        longer = exact, 0, 0
        if is_last and len(word) >= _MIN_PREFIX:
            expression = self._longer(word)
            count, row = self._count(expression)
            if 0 < count <= _MAX_RANKED:
                return f"{exact} OR {exact} *", count, row
            longer = expression, count, row
        count, row = self._count(exact)
        if not count:
            exact, count, row = longer
        if not count and _MIN_MISSPELLED <= len(word) <= _MAX_MISSPELLED:
            exact = " OR ".join(f'"{other}"' for other in self._known(_similar(word))) or exact
            count, row = self._count(exact)
        return exact, count, row

    def _longer(self, word: str) -> str:
        """Return an expression for a word and longer words that start with it.

        FTS5 has an index of short prefixes. For another prefix, FTS5 reads all of its tools before
        it returns the first one, which takes long if one of the longer words is frequent.
        """
        exact = f'"{word}"'
        if len(word) > _INDEXED_PREFIX:
            bounds = word, word + _LAST_LETTER, _MAX_EXPANSIONS + 1
            words = [f'"{longer}"' for (longer,) in self._reader.execute(_LONGER, bounds)]
            if len(words) <= _MAX_EXPANSIONS:
                return " OR ".join([exact, *words])
        return f"{exact} OR {exact} *"

    def _known(self, words: Collection[str]) -> Iterator[str]:
        """Return those of the words that occur in texts."""
        marks = ", ".join("?" * len(words))
        statement = f"SELECT word FROM vocabulary WHERE word IN ({marks})"  # noqa: S608 - only marks
        return (word for (word,) in self._reader.execute(statement, tuple(words)))

    def _count(self, expression: str) -> tuple[int, int]:
        """Return the number of tools, at most `_MAX_RANKED + 1`, and the row of the last one."""
        count, row = self._reader.execute(_COUNT, (expression, _MAX_RANKED + 1)).fetchone()
        return int(count), int(row)


class _Word(msgspec.Struct, frozen=True):
    """The expression for a word of a query, and the number of tools with the word.

    A number above `_MAX_RANKED` is an estimate.
    """

    expression: str
    count: float


def _scaled(scores: Mapping[int, float], least: float) -> dict[int, float]:
    """Return scores between a number and the next larger integer."""
    best = max(scores.values(), default=0.0) or 1.0
    return {tool: least + score / best for tool, score in scores.items()}


def _any(words: Sequence[_Word]) -> str:
    return " OR ".join(word.expression for word in words)


@contextmanager
def _report_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise text_index_unusable(path) from error


def _similar(word: str) -> set[str]:
    """Return the words that differ by one letter, or by the order of two neighbouring letters."""
    splits = [(word[:index], word[index:]) for index in range(len(word) + 1)]
    deletions = {left + right[1:] for left, right in splits if right}
    swaps = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    replacements = {
        left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase
    }
    insertions = {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return deletions | swaps | replacements | insertions


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    return connection


def _is_usable(path: Path, source: str) -> bool:
    if not path.exists():
        return False
    connection = _connect(path)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version == _FORMAT and connection.execute("SELECT source FROM state").fetchall() == [
            (source,)
        ]
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()


def _create(path: Path, source: str) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = _connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_FORMAT};")
    connection.execute("INSERT INTO state VALUES (?, 0)", (source,))
    connection.execute("COMMIT")
    connection.close()
