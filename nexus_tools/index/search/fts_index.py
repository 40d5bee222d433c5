"""Text search with FTS5, the full-text search of SQLite, which needs no extra.

FTS5 finds stems of words and prefixes of the last word. It finds a misspelled word only if no tool
contains the word, and if one letter is wrong, missing, additional or swapped with its neighbour.

The time of a query is bounded: FTS5 ranks at most `_MAX_RANKED` tools. Words that occur in more
tools select tools only if no rarer word does.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import ascii_lowercase
from typing import ClassVar

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
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM tool WHERE tool MATCH ? LIMIT ?)"
# The inner limit bounds the number of tools that FTS5 ranks.
_RANKED = (
    "SELECT rowid, rank FROM ("
    "SELECT rowid, bm25(tool, 8.0, 2.0, 3.0, 1.0) AS rank FROM tool WHERE tool MATCH ? LIMIT ?"
    ") ORDER BY rank, rowid LIMIT ?"
)
_EXACT = "SELECT tool FROM key WHERE key = ? ORDER BY tool LIMIT ?"
_MAX_RANKED = 2_000
_MAX_JOINED = 3
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
            scores = {
                tool: -rank
                for expression in self._expressions(query_words(query))
                for tool, rank in self._reader.execute(_RANKED, (expression, _MAX_RANKED, limit))
            }
            for (tool,) in self._reader.execute(_EXACT, (exact_key(query), limit)):
                scores[tool] = EXACT_SCORE + scores.get(tool, 0.0)
        matches = [Match(tool, score) for tool, score in scores.items()]
        return sorted(matches, key=lambda match: (-match.score, match.tool))[:limit]

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    def _expressions(self, words: Sequence[str]) -> Iterator[str]:
        """Return an expression for any of the rarer words, and one for all of the words."""
        counted: list[tuple[int, str]] = []
        for position, word in enumerate(words):
            is_last = position == len(words) - 1
            expression, count = self._expression(word, is_last=is_last)
            if count:
                counted.append((count, expression))
        counted.sort()
        rarer = [
            expression
            for position, (_, expression) in enumerate(counted)
            if not position or sum(count for count, _ in counted[: position + 1]) <= _MAX_RANKED
        ]
        if rarer:
            yield " OR ".join(rarer)
        if len(rarer) < len(counted):
            yield " AND ".join(f"({expression})" for _, expression in counted[:_MAX_JOINED])

    def _expression(self, word: str, *, is_last: bool) -> tuple[str, int]:
        """Return the expression for a word, and the number of tools, at most one too many."""
        exact = f'"{word}"'
        if is_last and len(word) >= _MIN_PREFIX:
            longer = f"{exact} OR {exact} *"
            count = self._count(longer)
            if 0 < count <= _MAX_RANKED:
                return longer, count
        count = self._count(exact)
        if not count and _MIN_MISSPELLED <= len(word) <= _MAX_MISSPELLED:
            exact = " OR ".join(f'"{other}"' for other in self._known(_similar(word))) or exact
            count = self._count(exact)
        return exact, count

    def _known(self, words: Collection[str]) -> Iterator[str]:
        """Return those of the words that occur in texts."""
        marks = ", ".join("?" * len(words))
        statement = f"SELECT word FROM vocabulary WHERE word IN ({marks})"  # noqa: S608 - only marks
        return (word for (word,) in self._reader.execute(statement, tuple(words)))

    def _count(self, expression: str) -> int:
        ((count,),) = self._reader.execute(_COUNT, (expression, _MAX_RANKED + 1))
        return int(count)


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
