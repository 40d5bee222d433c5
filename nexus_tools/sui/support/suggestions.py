"""What somebody may have meant by a word that nobody knows."""

from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str], *, otherwise: str = "", cutoff: float = 0.6) -> str:
    """`did you mean network?` with the known word that is closest, or `otherwise` if none is.

    The `cutoff` is what `difflib` calls a ratio: 1 for the same word, 0 for one without a letter in
    common.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - 5 ms, and hardly ever needed

    likely = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean {likely[0]}?" if likely else otherwise


def with_suggestion(message: str, word: str, known: Iterable[str]) -> str:
    """A message, and behind it the sentence `Did you mean network?` if one is close."""
    likely = suggestion(word, known)
    return f"{message} D{likely[1:]}" if likely else message
