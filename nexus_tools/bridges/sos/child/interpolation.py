"""`${a.b.c}` in the text of a system: the value that stands there, or its text within a text."""

from __future__ import annotations

from typing import Any

from nexus_tools.bridges.sos.child.paths import find, steps

UNSETTLED = ("action", "hook")
"""The sections that are filled in when they run; all others when the system is loaded."""

_MAX_DEPTH = 50


class GivenText(str):
    """Text from a caller: `${…}` in it means nothing."""

    __slots__ = ()


class InterpolationError(Exception):
    """A `${…}` that leads nowhere, or to itself."""


class Interpolation:
    """Fills values in from `root`.

    With `is_settled`, what stands outside of the sections `action` and `hook` is taken as it is,
    because it was filled in before, and tools may have changed it since.
    """

    def __init__(self, root: dict[str, Any], *, is_settled: bool) -> None:
        self._root = root
        self._is_settled = is_settled
        self._depth = 0

    def filled(self, node: Any) -> Any:
        """A copy of `node` in which every `${…}` is replaced; raises `InterpolationError`."""
        if isinstance(node, dict):
            return {key: self.filled(member) for key, member in node.items()}
        if isinstance(node, list):
            return [self.filled(member) for member in node]
        if isinstance(node, str) and not isinstance(node, GivenText) and "${" in node:
            return self._text(node)
        return node

    def _text(self, text: str) -> Any:
        start = text.find("${")
        value, after = self._reference(text, start)
        if start == 0 and after == len(text):
            return value
        rest = text[after:]
        return f"{text[:start]}{value}{self._text(rest) if '${' in rest else rest}"

    def _reference(self, text: str, start: int) -> tuple[Any, int]:
        """The value of the `${…}` at `start`, and where it ends; others may stand in it."""
        path, position = "", start + 2
        while True:
            nested, end = text.find("${", position), text.find("}", position)
            if end < 0:
                raise InterpolationError(f"a '${{' in {text!r} has no end")
            if not 0 <= nested < end:
                return self._looked_up(path + text[position:end]), end + 1
            value, after = self._reference(text, nested)
            path, position = f"{path}{text[position:nested]}{value}", after

    def _looked_up(self, path: str) -> Any:
        try:
            value, first = find(self._root, path), steps(path)[0]
        except (KeyError, ValueError) as error:
            raise InterpolationError(f"${{{path}}} leads nowhere: {error.args[0]}") from None
        if self._is_settled and first not in UNSETTLED:
            return value
        if self._depth >= _MAX_DEPTH:
            raise InterpolationError(f"${{{path}}} leads to itself")
        self._depth += 1
        try:
            return self.filled(value)
        finally:
            self._depth -= 1
