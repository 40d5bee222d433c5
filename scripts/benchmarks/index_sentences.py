"""Judges the search of an index in a new process: `index_sentences FOLDER ENGINE MODEL`.

The process searches for sentences with known right tools, and for misspelled names of tools. It
prints the place of the best right tool among the results for each of them, as JSON.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from benchmarks.index_market import misspelled, realistic_tools
from benchmarks.index_read import opened
from nexus_tools.index import Index
from nexus_tools.index.search.words import split_fqn, split_words

FIRST = 10
"""The number of results that count."""
TYPOS = 50

_SENTENCES = Path(__file__).with_name("sentences") / "sentences.json"
_MIN_LETTERS = 5


class Sentence(msgspec.Struct, frozen=True):
    """A sentence with the FQNs of the right tools, which are none if no tool serves it."""

    text: str
    right: Sequence[str]
    language: str


class Verdict(msgspec.Struct, frozen=True):
    """The place of the best right tool, from 1 to `FIRST`, or None, and whether a tool fits."""

    text: str
    place: int | None
    fits: bool


def sentences(name: str) -> list[Sentence]:
    """Return the sentences of a set."""
    document = msgspec.json.decode(_SENTENCES.read_bytes())
    return msgspec.convert(document[name], list[Sentence])


def is_for_tuning(sentence: Sentence) -> bool:
    """Return whether the ranking may be adjusted to a sentence. A half of them stays unseen."""
    return hashlib.sha256(sentence.text.encode()).digest()[0] % 2 == 0


def typos() -> list[Sentence]:
    """Return names of tools in which the longest word is misspelled."""
    found = []
    for tool in realistic_tools():
        words = split_words(split_fqn(tool.fqn)[2])
        longest = max(words, key=len)
        if len(longest) >= _MIN_LETTERS:
            words[words.index(longest)] = misspelled(longest, Random(tool.fqn))
            found.append(Sentence(" ".join(words), [tool.fqn], "en"))
    return Random(1).sample(found, TYPOS)


def verdict(index: Index, sentence: Sentence) -> Verdict:
    """Search for a sentence."""
    page = index.search(sentence.text, limit=FIRST)
    names = [item.tool.fqn for item in page.items]
    place = next((place for place, name in enumerate(names, 1) if name in sentence.right), None)
    return Verdict(sentence.text, place, page.fits)


def counts(verdicts: Sequence[Verdict], judged: Sequence[Sentence]) -> dict[str, int]:
    """Return how more sentences with and without a right tool have the right result."""
    pairs = [*zip(verdicts, judged, strict=True)]
    served = [verdict for verdict, sentence in pairs if sentence.right]
    others = [verdict for verdict, sentence in pairs if not sentence.right]
    return {
        "with": len(served),
        "found": sum(verdict.place is not None for verdict in served),
        "first": sum(verdict.place == 1 for verdict in served),
        "rejected": sum(not verdict.fits for verdict in served),
        "without": len(others),
        "recognized": sum(not verdict.fits for verdict in others),
    }


def main(folder: Path, engine: str, intent_model: str) -> None:
    """Print the counts of each set of sentences as JSON."""
    more = sentences("more")
    sets = {
        "plain": sentences("plain"),
        "tuning": [sentence for sentence in more if is_for_tuning(sentence)],
        "unseen": [sentence for sentence in more if not is_for_tuning(sentence)],
        "typos": typos(),
    }
    with opened(folder, engine, intent_model) as index:
        results: dict[str, Any] = {
            name: counts([verdict(index, sentence) for sentence in judged], judged)
            for name, judged in sets.items()
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:4])
