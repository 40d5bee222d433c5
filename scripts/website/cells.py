"""Text in table cells, which is escaped as Markdown and checked for completeness."""

import re

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([\\*_{}\[\]|])")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def cell(text: str) -> str:
    """Return a text as Markdown for a cell, with all markup except backticks escaped.

    For example, Markdown would read `{error}` at the end of a cell as an attribute of the cell.
    """
    parts = _CODE.split(" ".join(text.split()))
    return "".join(
        part if place % 2 else _MARKUP.sub(r"\\\1", part).replace("<", "&lt;")
        for place, part in enumerate(parts)
    )


def flaw(text: str) -> str:
    """Return the flaw in the text of a cell, or an empty string."""
    words = _PLACEHOLDER.sub("", text)
    if not re.search(r"\w", words):
        return "the text has no literal words"
    if text.rstrip().endswith((":", ",", ";")):
        return "its end is missing"
    if re.search(r"\{(hint)?\}", text):
        return "the text has a placeholder without a meaning"
    return ""
