"""Interpolation of `${a.b.c}` in strings. Inside a longer text, the value is inserted as text."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from typing import Any

from nexus_tools.bridges.sos.child.paths import MISSING, find, steps

DEFERRED_SECTIONS = ("action", "hook")
"""The sections that are interpolated when they run. Other sections are interpolated on loading."""

_MAX_DEPTH = 50


class LiteralText(str):
    """A string from a caller, in which `${…}` has no meaning."""

    __slots__ = ()


class InterpolationError(Exception):
    """The error of a `${…}` whose path does not exist or refers to itself."""


class Interpolation:
    """The interpolation of values from `root`.

    With `is_settled`, only the sections `action` and `hook` are interpolated. Other sections were
    interpolated during loading, and tools may have changed the values since then.
    """

    def __init__(self, root: dict[str, Any], *, is_settled: bool) -> None:
        self._root = root
        self._is_settled = is_settled
        self._depth = 0

    def filled(self, node: Any) -> Any:
        """Return a copy of `node` with every `${…}` replaced.

        Raises:
            InterpolationError: if a reference cannot be resolved.
        """
        if isinstance(node, dict):
            return {key: self.filled(member) for key, member in node.items()}
        if isinstance(node, list):
            return [self.filled(member) for member in node]
        if isinstance(node, str) and not isinstance(node, LiteralText) and "${" in node:
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
        """Return the value and the end position of the `${…}` at `start`. References may be nested.

        For example, `${a.${b}}` first resolves `b` and then the path `a.<value of b>`.
        """
        path, position = "", start + 2
        while True:
            nested, end = text.find("${", position), text.find("}", position)
            if end < 0:
                raise InterpolationError(f"a '${{' in {text!r} is not closed")
            if not 0 <= nested < end:
                return self._look_up(path + text[position:end]), end + 1
            value, after = self._reference(text, nested)
            path, position = f"{path}{text[position:nested]}{value}", after

    def _look_up(self, path: str) -> Any:
        try:
            value, section = find(self._root, path), steps(path)[0]
        except (KeyError, ValueError) as error:
            raise InterpolationError(f"cannot resolve ${{{path}}}: {error.args[0]}") from None
        if self._is_settled and section not in DEFERRED_SECTIONS:
            return value
        if self._depth >= _MAX_DEPTH:
            raise InterpolationError(f"${{{path}}} refers to itself")
        self._depth += 1
        try:
            return self.filled(value)
        finally:
            self._depth -= 1


Find = Callable[[str, Any], Any]
"""A function that looks up a path.

The second argument is the default, or MISSING for no default.
"""


def resolved(entry: Any, find: Find) -> Any:
    """Return the value of a resolvable.

    A list becomes a dictionary with the names of its members as keys. The key of a member without
    a name is its index, for example `"0"`.

    Raises:
        KeyError: if a source has no value and no default.
    """
    if isinstance(entry, str):
        return find(entry, MISSING)
    if isinstance(entry, list):
        return _members(entry, find)
    if isinstance(entry, dict) and "data" in entry:
        return _format_value(entry, find)
    if isinstance(entry, dict) and "source" in entry:
        return find(entry["source"], entry.get("default", MISSING))
    raise TypeError(f"{entry!r} must be a path, a list, or an object with source or data")


def _format_value(entry: dict[str, Any], find: Find) -> Any:
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
        return os.path.join(*map(str, value.values()))  # noqa: PTH118 - the semantics are those of os.path
    return list(value.values()) if entry.get("to_list") else value


def _members(entries: list[Any], find: Find) -> dict[str, Any]:
    return {_name(entry, index): resolved(entry, find) for index, entry in enumerate(entries)}


def _name(entry: Any, place: int) -> str:
    name = isinstance(entry, dict) and (entry.get("target") or entry.get("result"))
    return str(name or place)
