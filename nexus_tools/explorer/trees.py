"""JSON values as trees of bounded size, which templates draw as nested lists."""

import json
from collections.abc import Iterator
from typing import Any

from markupsafe import escape
from msgspec import Struct

from nexus_tools.explorer.formatting import clean, clean_lines

_MAX_NODES = 120
_MAX_TEXT = 1_500
_SHORT = 120
_MAX_CHARACTERS = 12_000
"""The limit of all escaped texts of a tree together, so that a page stays below 100 KB."""
_OPEN_DEPTH = 2
_WORST = 5
"""The number of characters in the longest escape of a character, such as `&#34;`."""


class TreeNode(Struct, frozen=True):
    """A value with its name. `text` is the value of a leaf, or a summary of a container.

    `whole` is the longer text of a leaf, or None if `text` is complete. `kind` is a class of the
    stylesheet: `string`, `number`, `literal`, `object`, `array` or `more`.
    """

    name: str
    kind: str
    text: str
    whole: str | None = None
    children: tuple["TreeNode", ...] = ()
    is_open: bool = False


def json_tree(
    name: str, value: Any, *, nodes: int = _MAX_NODES, characters: int = _MAX_CHARACTERS
) -> TreeNode:
    """Return the tree of an untrusted JSON value, with limits for its nodes and escaped texts."""
    return _Builder(nodes, TextBudget(characters)).node(name, value, 0)


class TextBudget:
    """The remaining size of the escaped texts on a part of a page."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    @property
    def is_spent(self) -> bool:
        """Whether no text fits any more."""
        return self._left <= 0

    def take(self, text: str) -> str:
        """Return a text, or its beginning if it does not fit."""
        size = len(escape(text))
        shown = text if size <= self._left else f"{text[: max(self._left, 0) // _WORST]}…"
        self._left -= size
        return shown


class _Builder:
    """The remaining size of a tree."""

    def __init__(self, nodes: int, texts: TextBudget) -> None:
        self._nodes = nodes
        self._texts = texts

    def node(self, name: str, value: Any, depth: int) -> TreeNode:
        """Return the node of a value."""
        self._nodes -= 1
        label = self._texts.take(clean(name, _SHORT))
        if isinstance(value, dict):
            children = tuple(self._children(list(value.items()), depth))
            return TreeNode(
                label, "object", f"{{{len(value)}}}", None, children, depth < _OPEN_DEPTH
            )
        if isinstance(value, list):
            items = [(str(number), item) for number, item in enumerate(value)]
            children = tuple(self._children(items, depth))
            return TreeNode(label, "array", f"[{len(value)}]", None, children, depth < _OPEN_DEPTH)
        if isinstance(value, str):
            return self._string(label, value)
        kind = "number" if isinstance(value, int | float) and not isinstance(value, bool) else ""
        return TreeNode(
            label, kind or "literal", self._texts.take(clean(json.dumps(value), _SHORT))
        )

    def _string(self, label: str, value: str) -> TreeNode:
        text = self._texts.take(clean(value, _SHORT))
        whole = None
        if len(value) > _SHORT or "\n" in value:
            whole = self._texts.take(clean_lines(value, _MAX_TEXT))
        return TreeNode(label, "string", f"“{text}”", whole)

    def _children(self, items: list[tuple[str, Any]], depth: int) -> Iterator[TreeNode]:
        for number, (name, value) in enumerate(items):
            if self._nodes <= 0 or self._texts.is_spent:
                yield TreeNode("", "more", f"and {len(items) - number} more")
                return
            yield self.node(name, value, depth + 1)
