"""The words of a query that occur in the text of a tool, which explain the rank of the tool."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

import msgspec

from nexus_tools.index.search.words import query_words, text_columns
from nexus_tools.index.tool_text import ToolText
from nexus_tools.sui.support.untrusted_text import one_line

_COLUMNS = ("name", "domain", "description", "inputs or outputs")
_MIN_STEM = 4
_MIN_SIMILARITY = 0.7
# Texts and queries are untrusted. Comparing two words of 16 letters takes up to 0.1 ms.
_MAX_SIMILAR_LENGTH = 16
_MAX_SIMILAR = 200
"""The maximum number of pairs of words that are compared letter by letter for each tool."""
_MAX_WORDS = 300
"""The number of words of a column in which other forms and similar words are found."""
_MAX_LENGTH_DIFFERENCE = 2
_MAX_SHOWN = 5
_CACHED_TEXTS = 500

Kind = Literal["same", "form", "start", "similar"]


class WordMatch(msgspec.Struct, frozen=True):
    """A word of a query, and the word of a tool that it matches.

    `kind` is "same" for equal words, "form" for another form of the word ("convert",
    "converting"), "start" if the tool's word starts with the word, and "similar" for a misspelled
    word.
    """

    word: str
    found: str
    column: str
    kind: Kind

    def describe(self) -> str:
        """Return a phrase such as `'hmidity' is similar to 'humidity' in the description`."""
        word, found = one_line(self.word), one_line(self.found)
        match self.kind:
            case "same":
                return f"{word!r} is in the {self.column}"
            case "form":
                return f"{word!r} matches {found!r} in the {self.column}"
            case "start":
                return f"{found!r} in the {self.column} starts with {word!r}"
            case "similar":
                return f"{word!r} is similar to {found!r} in the {self.column}"


def match_words(query: str, text: ToolText) -> list[WordMatch]:
    """Return the best match of each word of a query that occurs in a tool, in the query's order.

    The duration is bounded. In a long text, only the first words have other forms.
    """
    matcher = _Matcher(_words(text))
    words = query_words(query)
    matches = [matcher.match(word, is_last=word == words[-1]) for word in words]
    return [match for match in matches if match is not None]


@lru_cache(_CACHED_TEXTS)
def _words(text: ToolText) -> Sequence[Sequence[str]]:
    """Return the words of a tool by column. The same tools match the queries of many users."""
    return [column.split() for column in text_columns(text)]


def describe_matches(matches: Sequence[WordMatch]) -> str:
    """Return the phrases of at most five matches, joined to a clause."""
    phrases = [match.describe() for match in matches[:_MAX_SHOWN]]
    hidden = len(matches) - len(phrases)
    return "; ".join([*phrases, f"{hidden} more words match"] if hidden else phrases)


class _Matcher:
    """The words of a tool by column, and the number of comparisons that are left."""

    def __init__(self, columns: Sequence[Sequence[str]]) -> None:
        self._columns = columns
        self._first_words = [column[:_MAX_WORDS] for column in columns]
        self._comparisons = _MAX_SIMILAR

    def match(self, word: str, *, is_last: bool) -> WordMatch | None:
        for kind in ("same", "form", "start", "similar"):
            if kind == "start" and not is_last:
                continue
            columns = self._columns if kind == "same" else self._first_words
            for column, others in zip(_COLUMNS, columns, strict=True):
                found = self._first(word, others, kind)
                if found is not None:
                    return WordMatch(word, found, column, kind)
        return None

    def _first(self, word: str, others: Sequence[str], kind: Kind) -> str | None:
        # The first conditions are quick, and false for most pairs of words.
        match kind:
            case "same":
                return word if word in others else None
            case "form":
                start = word[: _MIN_STEM - 1]
                matching = (
                    other for other in others if other.startswith(start) and _is_form(word, other)
                )
            case "start":
                matching = (other for other in others if other.startswith(word))
            case "similar":
                letter, ending = word[0], word[-2:]
                matching = (
                    other
                    for other in others
                    if (other[0] == letter or other[-2:] == ending)
                    and self._is_similar(word, other)
                )
        return next(matching, None)

    def _is_similar(self, word: str, other: str) -> bool:
        if not self._comparisons or not _has_similar_length(word, other):
            return False
        self._comparisons -= 1
        matcher = SequenceMatcher(None, other, word, autojunk=False)
        return matcher.quick_ratio() >= _MIN_SIMILARITY and matcher.ratio() >= _MIN_SIMILARITY


def _is_form(word: str, other: str) -> bool:
    """Return whether the words differ only in a short ending, such as `policy` and `policies`."""
    if word[: _MIN_STEM - 1] != other[: _MIN_STEM - 1]:
        return False
    stem = min(len(word), len(other)) - 1
    is_short = abs(len(word) - len(other)) <= _MIN_STEM
    return stem >= _MIN_STEM - 1 and is_short and word[:stem] == other[:stem]


def _has_similar_length(word: str, other: str) -> bool:
    """Return whether the lengths of the words do not rule out that they are similar."""
    shorter, longer = sorted((len(word), len(other)))
    has_length = shorter >= _MIN_STEM and longer <= _MAX_SIMILAR_LENGTH
    return has_length and longer - shorter <= _MAX_LENGTH_DIFFERENCE
