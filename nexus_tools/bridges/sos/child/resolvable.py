"""Resolvables: how a map of an action says where a value is taken from, and how it is shaped.

A resolvable is a dotted path, `{source, default}`, `{data, default}` around another one, or a list
of them, whose members may have a `target`, their name. Around a list there may be besides
`format_string`, `path_join` or `to_list`.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from typing import Any

from nexus_tools.bridges.sos.child.paths import MISSING

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
