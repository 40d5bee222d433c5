"""Suggestions for misspelled words."""

from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str], *, otherwise: str = "", cutoff: float = 0.6) -> str:
    """Return `Did you mean WORD?` with the closest known word, or else `otherwise`.

    `cutoff` is the minimum similarity of the two words, computed by `difflib`. The similarity is 1
    for equal words, and 0 for words without a common letter.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - takes 5 ms and is rarely needed

    matches = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"Did you mean {matches[0]}?" if matches else otherwise


def with_suggestion(message: str, word: str, known: Iterable[str]) -> str:
    """Return a message, followed by `Did you mean WORD?` if a known word is similar."""
    question = suggestion(word, known)
    return f"{message} {question}" if question else message
