"""Untrusted queries and texts. No query is syntax, and each query is bounded."""

import pytest

from nexus_tools.index.search.words import MAX_QUERY_WORDS, query_words, split_words
from tests.index.search.conftest import tool_text

HOSTILE = [
    "",
    " ",
    "\0",
    "a\0b",
    '"',
    "'",
    '" OR "',
    '"convert',
    "*",
    "NOT convert",
    "convert NEAR image",
    "convert AND (",
    "-convert",
    "+convert -image",
    "name:convert",
    "{name}: convert",
    "^convert",
    "convert^99999",
    "convert~2",
    "/(a+)+$/",
    "[a TO z]",
    "tool:1",
    "state:source",
    "'); DROP TABLE tool; --",
    "\\",
    "%_%",
    "\u202egnp",
    "\ud800",
    "\udfff convert",
    "\u3164",
    "ﷺ" * 3_000,
    "🙂" * 100,
    "é" * 10_000,
    "a" * 10_000,
    "a " * 5_000,
    "\u0301" * 10_000,
    " ".join(f"word{number}" for number in range(1_000)),
    " ".join(f"{number:x}convrt" for number in range(1_000)),
    "x@" * 4_000,
    "A" * 5_000 + "a" * 5_000,
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_search_accepts_any_text(index, query):
    index.update([tool_text(1, "xyz.aa.convert-image@1", "Convert.", "file")])
    assert {match.tool for match in index.search(query, 10)} <= {1}


@pytest.mark.parametrize("query", ["NOT convert", "-convert", "rotate AND convert", "name:convert"])
def test_operators_are_ordinary_words(index, query):
    index.update([tool_text(1, "xyz.aa.convert@1"), tool_text(2, "xyz.aa.zzz@1")])
    assert [match.tool for match in index.search(query, 10)] == [1]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_update_accepts_any_text(index, text):
    index.update([tool_text(1, "xyz.aa.convert@1", text, text), tool_text(2, "xyz.aa.zzz@1")])
    assert next(match.tool for match in index.search("convert", 10)) == 1
    assert index.latest_change == 2


def test_bookkeeping_of_the_index_cannot_be_searched(index):
    index.update([tool_text(1, "xyz.aa.convert@1")])
    for query in ("source", "1 source", "state", "1"):
        assert {match.tool for match in index.search(query, 10)} <= {1}


def test_query_words_are_bounded():
    words = query_words(" ".join(f"word{number}" for number in range(5_000)))
    assert words == [f"word{number}" for number in range(MAX_QUERY_WORDS)]
    assert query_words("a" * 9_999) == ["a" * 64]


def test_words_contain_no_syntax():
    for query in HOSTILE:
        assert all(word.isalnum() for word in query_words(query))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("readFile", ["read", "file"]),
        ("HTTPServer2go", ["http", "server2go"]),
        ("csv-to_json.now", ["csv", "to", "json", "now"]),
        ("Crème BRÛLÉE", ["creme", "brulee"]),
        ("\uff46\uff55ll", ["full"]),
        ("翻译text", ["翻", "译", "text"]),
        ("Straße", ["straße"]),
    ],
)
def test_split_words_separates_words(text, words):
    assert split_words(text) == words
