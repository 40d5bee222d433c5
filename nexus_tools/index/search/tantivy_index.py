"""Text search with Tantivy, which the extra `index` installs.

Tantivy finds stems of words, prefixes of the last word, and misspelled words: one wrong letter in
words of 4 to 7 letters, and two in longer words.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import tantivy

from nexus_tools.errors import WrongStateError
from nexus_tools.index.search.errors import text_index_locked, text_index_unusable
from nexus_tools.index.search.text_index import EXACT_SCORE, MAX_RESULTS, Match
from nexus_tools.index.search.words import exact_key, query_words, split_fqn, text_columns
from nexus_tools.index.tool_text import ToolText

_FORMAT = 1
_WEIGHTS = {"name": 8.0, "domain": 2.0, "description": 3.0, "words": 1.0}
# Words without stemming, in which misspelled words are found: "hmidity" is similar to
# "humidity", but not to its stem "humid".
_SPELLING_WEIGHTS = {"name_spelling": 3.0, "spelling": 1.0}
_WRITER_BYTES = 30_000_000
_TOKENIZER = "words"
_SHOULD = tantivy.Occur.Should
_MIN_PREFIX = 2
_MAX_EXPANSIONS = 30
# A misspelled word may occur in the texts of other authors who misspelled it.
_RARE = 20
_MAX_FUZZY_WORDS = 8
_ONE_TYPO, _TWO_TYPOS = 4, 8
_PREFIX_WEIGHT = 0.5


class TantivyIndex:
    """A `TextIndex` in a folder of Tantivy."""

    engine: ClassVar[str] = "tantivy"

    def __init__(self, folder: Path, source: str, *, is_writer: bool) -> None:
        """Open a folder. The writer creates the index if it is missing, damaged or obsolete.

        Raises:
            WrongStateError: `text_index_unusable` if a reader finds no usable index.
            UsageError: `text_index_locked` if another process writes the index.
        """
        self._folder = folder
        self._source = f"{_FORMAT} {source}"
        index = _open(folder, self._source)
        if index is None and not is_writer:
            raise text_index_unusable(folder)
        self._index = index or _create(folder)
        self._analyzer = _analyzer()
        self._index.register_tokenizer(_TOKENIZER, self._analyzer)
        self._writer = _lock(self._index, folder) if is_writer else None
        if index is None:
            self.update([])

    @property
    def latest_change(self) -> int:
        """The change number of the latest text in the index, or 0 if the index is empty."""
        with _report_damage(self._folder):
            self._index.reload()
            return _latest_change(self._index, self._source) or 0

    def count(self) -> int:
        """Return the number of tools in the index."""
        with _report_damage(self._folder):
            self._index.reload()
            return self._index.searcher().num_docs - 1  # one document is the state

    def update(self, texts: Sequence[ToolText]) -> None:
        """Add or replace the texts of tools, and remove tools that are not listed."""
        assert self._writer is not None
        change = max((text.change for text in texts), default=0)
        state = tantivy.Document()
        state.add_text("state", self._source)
        state.add_unsigned("change", max(change, self.latest_change))
        try:
            for text in texts:
                self._writer.delete_documents_by_term("id", str(text.tool))
                if text.is_listed:
                    self._writer.add_document(_document(text))
            self._writer.delete_documents_by_term("state", self._source)
            self._writer.add_document(state)
            self._writer.commit()
        except BaseException:
            self._writer.rollback()
            raise
        self._index.reload()

    def search(self, query: str, limit: int) -> list[Match]:
        """Return the best matches, the best first, at most `limit` and at most `MAX_RESULTS`.

        Raises:
            WrongStateError: `text_index_unusable` if files of the index are missing or damaged.
        """
        limit = max(0, min(limit, MAX_RESULTS))
        with _report_damage(self._folder):
            searcher = self._index.searcher()
            scores = self._scores(searcher, self._clauses(searcher, query_words(query)), limit)
            # Apart from the other clauses, because Tantivy is fast if it only has to add up words.
            for tool in self._scores(searcher, self._exact(query), limit):
                scores[tool] = EXACT_SCORE + scores.get(tool, 0.0)
        matches = [Match(tool, score) for tool, score in scores.items()]
        return sorted(matches, key=lambda match: (-match.score, match.tool))[:limit]

    def close(self) -> None:
        """Finish the merges of segments, and unlock the folder."""
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def _scores(
        self, searcher: tantivy.Searcher, clauses: Iterable[tantivy.Query], limit: int
    ) -> dict[int, float]:
        query = tantivy.Query.boolean_query([(_SHOULD, clause) for clause in clauses])
        hits = searcher.search(query, max(1, limit), count=False).hits
        tools = searcher.fast_field_values("tool", [address for _, address in hits])
        return {
            int(tool): score
            for tool, (score, _) in zip(tools, hits, strict=True)
            if tool is not None
        }

    def _exact(self, query: str) -> Iterator[tantivy.Query]:
        key = exact_key(query)
        if key:
            yield self._term("key", key, index_option="basic")

    def _clauses(self, searcher: tantivy.Searcher, words: Sequence[str]) -> Iterator[tantivy.Query]:
        """Return clauses for words, for prefixes of the last word, and for misspelled words."""
        misspelled = 0
        for position, word in enumerate(words):
            is_last = position == len(words) - 1
            stem = next(iter(self._analyzer.analyze(word)), word)
            count = 0
            for field, weight in _WEIGHTS.items():
                count += searcher.doc_freq(field, stem)
                yield _boosted(self._term(field, stem), weight)
                if is_last and len(word) >= _MIN_PREFIX:
                    yield from self._longer(searcher, field, word, stem, weight)
            if count < _RARE and len(word) >= _ONE_TYPO and misspelled < _MAX_FUZZY_WORDS:
                misspelled += 1
                yield from self._similar(word)

    def _longer(
        self, searcher: tantivy.Searcher, field: str, word: str, stem: str, weight: float
    ) -> Iterator[tantivy.Query]:
        for term, _ in searcher.terms_with_prefix(field, word, limit=_MAX_EXPANSIONS):
            if term != stem:
                yield _boosted(self._term(field, term), weight * _PREFIX_WEIGHT)

    def _similar(self, word: str) -> Iterator[tantivy.Query]:
        for field, weight in _SPELLING_WEIGHTS.items():
            for distance in range(1, 2 if len(word) < _TWO_TYPOS else 3):
                similar = tantivy.Query.fuzzy_term_query(self._index.schema, field, word, distance)
                yield _boosted(similar, weight)

    def _term(self, field: str, term: str, index_option: str = "freq") -> tantivy.Query:
        return tantivy.Query.term_query(self._index.schema, field, term, index_option=index_option)


@contextmanager
def _report_damage(folder: Path) -> Iterator[None]:
    """Raise `text_index_unusable` for an error of Tantivy."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise text_index_unusable(folder) from error
    except BaseException as error:
        # Tantivy does not check the contents of its files, so damaged bytes can cause a panic.
        if type(error).__name__ == "PanicException":
            raise text_index_unusable(folder) from error
        raise


def _boosted(query: tantivy.Query, weight: float) -> tantivy.Query:
    return tantivy.Query.boost_query(query, weight)


def _document(text: ToolText) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("tool", text.tool)
    document.add_text("id", str(text.tool))
    for key in split_fqn(text.fqn):
        document.add_text("key", key)
    columns = text_columns(text)
    for field, words in zip(_WEIGHTS, columns, strict=True):
        document.add_text(field, words)
    name, domain, description, ports = columns
    document.add_text("name_spelling", f"{name} {domain}")
    document.add_text("spelling", f"{description} {ports}")
    return document


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("tool", fast=True)
    # Deletions by term find the text of a number, but not the number.
    builder.add_text_field("id", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    for field in _WEIGHTS:
        builder.add_text_field(field, tokenizer_name=_TOKENIZER, index_option="freq")
    for field in _SPELLING_WEIGHTS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="basic")
    builder.add_text_field("state", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("change", fast=True)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build()


def _open(folder: Path, source: str) -> tantivy.Index | None:
    """Return the index of a folder, or None if it is missing, damaged, or of another source."""
    try:
        with _report_damage(folder):
            index = tantivy.Index.open(str(folder))
            return None if _latest_change(index, source) is None else index
    except WrongStateError:
        return None


def _create(folder: Path) -> tantivy.Index:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return tantivy.Index(_schema(), path=str(folder))


def _lock(index: tantivy.Index, folder: Path) -> tantivy.IndexWriter:
    try:
        return index.writer(_WRITER_BYTES, num_threads=1)
    except ValueError as error:
        raise text_index_locked(folder) from error


def _latest_change(index: tantivy.Index, source: str) -> int | None:
    searcher = index.searcher()
    query = tantivy.Query.term_query(index.schema, "state", source, index_option="basic")
    for _, address in searcher.search(query, 1, count=False).hits:
        (change,) = searcher.fast_field_values("change", [address])
        return None if change is None else int(change)
    return None
