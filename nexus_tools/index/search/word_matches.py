"""The words of a query that occur in the text of a tool, which explain the rank of the tool."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from nexus_tools.index.search.words import query_words, text_columns
from nexus_tools.index.tool_text import ToolText
from nexus_tools.sui.support.untrusted_text import one_line

_COLUMNS = ("name", "domain", "description", "inputs or outputs")
_MIN_STEM = 4
_MIN_SIMILARITY = 0.7
_MAX_LENGTH_DIFFERENCE = 2
_MAX_SHOWN = 5

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
    """Return the best match of each word of a query that occurs in a tool, in the query's order."""
    columns = [column.split() for column in text_columns(text)]
    words = query_words(query)
    matches = [_match(word, columns, is_last=word == words[-1]) for word in words]
    return [match for match in matches if match is not None]


def describe_matches(matches: Sequence[WordMatch]) -> str:
    """Return the phrases of at most five matches, joined to a clause."""
    phrases = [match.describe() for match in matches[:_MAX_SHOWN]]
    hidden = len(matches) - len(phrases)
    return "; ".join([*phrases, f"{hidden} more words match"] if hidden else phrases)


def _match(word: str, columns: Sequence[Sequence[str]], *, is_last: bool) -> WordMatch | None:
    for kind in ("same", "form", "start", "similar"):
        if kind == "start" and not is_last:
            continue
        for column, others in zip(_COLUMNS, columns, strict=True):
            found = _first(word, others, kind)
            if found is not None:
                return WordMatch(word, found, column, kind)
    return None


def _first(word: str, others: Iterable[str], kind: Kind) -> str | None:
    match kind:
        case "same":
            matching = (other for other in others if other == word)
        case "form":
            matching = (other for other in others if _is_form(word, other))
        case "start":
            matching = (other for other in others if other.startswith(word))
        case "similar":
            matching = (other for other in others if _is_similar(word, other))
    return next(matching, None)


def _is_form(word: str, other: str) -> bool:
    """Return whether the words differ only in a short ending, such as `policy` and `policies`."""
    stem = min(len(word), len(other)) - 1
    is_short = abs(len(word) - len(other)) <= _MIN_STEM
    return stem >= _MIN_STEM - 1 and is_short and word[:stem] == other[:stem]


def _is_similar(word: str, other: str) -> bool:
    if min(len(word), len(other)) < _MIN_STEM:
        return False
    if abs(len(word) - len(other)) > _MAX_LENGTH_DIFFERENCE:
        return False
    if word[0] != other[0] and word[-2:] != other[-2:]:  # quick, for most pairs of words
        return False
    matcher = SequenceMatcher(None, other, word, autojunk=False)
    return matcher.quick_ratio() >= _MIN_SIMILARITY and matcher.ratio() >= _MIN_SIMILARITY
