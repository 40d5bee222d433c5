"""The words that explain a result, and the work that a hostile text or query can cause."""

import random

import pytest

from nexus_tools.index.search import word_matches
from nexus_tools.index.search.word_matches import match_words
from tests.index.search.conftest import tool_text


@pytest.fixture
def comparisons(monkeypatch):
    """Return a list of the pairs of words that are compared letter by letter."""
    compared = []
    matcher = word_matches.SequenceMatcher

    def counting(_, other, word, **options):
        compared.append((other, word))
        return matcher(None, other, word, **options)

    monkeypatch.setattr(word_matches, "SequenceMatcher", counting)
    return compared


def test_misspelled_word_is_explained(comparisons):
    text = tool_text(1, "xyz.meteo.forecast@1", "Humidity of a city.")
    [match] = match_words("hmidity", text)
    assert (match.found, match.kind) == ("humidity", "similar")
    assert comparisons


def hostile_words(length, count, first="c"):
    letters = random.Random(length)
    return [first + "".join(letters.choices("onvert", k=length - 1)) for _ in range(count)]


@pytest.mark.parametrize("length", [8, 16, 64])
def test_number_of_comparisons_is_bounded(comparisons, length):
    """The author and the query have words with the same first letter and the same letters.

    A tool with words of 64 letters took 5 s for one query.
    """
    words = " ".join(hostile_words(length, 10_000 // length))
    text = tool_text(1, "xyz.evil.convert@1", words, words)
    match_words(" ".join(hostile_words(length, 32, first="cc")), text)
    assert len(comparisons) <= 200
    assert all(len(word) <= 16 for pair in comparisons for word in pair)
