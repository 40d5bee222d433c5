"""A limit for the texts of one definition, so that no definition makes a page large."""

_MAX_TEXT = 400
_MAX_ALL_TEXTS = 8_000


class TextBudget:
    """The number of characters that the texts of a definition may still have."""

    def __init__(self, characters: int = _MAX_ALL_TEXTS) -> None:
        self._left = characters

    def take(self, text: object, limit: int = _MAX_TEXT) -> str:
        """Return an untrusted text, cut at the limit and the budget.

        Return an empty text for other values, or if the budget is spent.
        """
        if not isinstance(text, str) or self._left <= 0:
            return ""
        cut = text[: min(limit, self._left)]
        self._left -= len(cut)
        return cut if len(cut) == len(text) else f"{cut}…"
