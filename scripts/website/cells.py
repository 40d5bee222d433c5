"""Texts in the cells of tables: they are shown as they are, and none is incomplete."""

import re

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([\\*_{}\[\]|])")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def cell(text: str) -> str:
    """Return a text as Markdown for a cell, with nothing in it that is markup.

    `{error}` at the end of a cell would be an attribute of it, for example. Backticks stay code.
    """
    parts = _CODE.split(" ".join(text.split()))
    return "".join(
        part if place % 2 else _MARKUP.sub(r"\\\1", part).replace("<", "&lt;")
        for place, part in enumerate(parts)
    )


def flaw(text: str) -> str:
    """Return what is wrong with the text of a cell, or nothing."""
    words = _PLACEHOLDER.sub("", text)
    if not re.search(r"\w", words):
        return "it has no words of its own"
    if text.rstrip().endswith((":", ",", ";")):
        return "its end is missing"
    if re.search(r"\{(hint)?\}", text):
        return "it has a placeholder without a meaning"
    return ""
