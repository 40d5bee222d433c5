"""`${a.b.c}` in the text of a system: the value that stands there, or its text within a text."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from typing import Any

from nexus_tools.bridges.sos.child.paths import MISSING, find, steps

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


Find = Callable[[str, Any], Any]
"""Looks a path up; the second argument is given back where nothing stands, unless it is MISSING."""


def resolved(entry: Any, find: Find) -> Any:
    """The value of a resolvable; raises `KeyError` if a source has none and there is no default.

    A list gives a dictionary by the names of its members; one without a name has its place, `"0"`.
    """
    if isinstance(entry, str):
        return find(entry, MISSING)
    if isinstance(entry, list):
        return _members(entry, find)
    if isinstance(entry, dict) and "data" in entry:
        return _shaped(entry, find)
    if isinstance(entry, dict) and "source" in entry:
        return find(entry["source"], entry.get("default", MISSING))
    raise TypeError(f"{entry!r} is no path, no list, and has neither a source nor data")


def _shaped(entry: dict[str, Any], find: Find) -> Any:
    try:
        value = resolved(entry["data"], find)
    except KeyError:
        if entry.get("default") is None:
            raise
        return entry["default"]
    if not isinstance(entry["data"], list):
        return value
    if entry.get("format_string"):
        return str(entry["format_string"]).format(*value.values(), **value)
    if entry.get("path_join"):
        return os.path.join(*map(str, value.values()))  # noqa: PTH118 - the rule is that of os.path
    return list(value.values()) if entry.get("to_list") else value


def _members(entries: list[Any], find: Find) -> dict[str, Any]:
    return {_name(entry, place): resolved(entry, find) for place, entry in enumerate(entries)}


def _name(entry: Any, place: int) -> str:
    named = isinstance(entry, dict) and (entry.get("target") or entry.get("result"))
    return str(named or place)
