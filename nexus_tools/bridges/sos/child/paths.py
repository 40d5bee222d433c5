"""Dotted paths such as `service.address[0].port` into trees of dictionaries and lists."""

from __future__ import annotations

import re
from typing import Any

MISSING: Any = object()
"""Says that a default was not given, where None is a value."""


class PathError(KeyError):
    """Nothing stands at a path, or something stands in its way."""

    def __str__(self) -> str:
        return str(self.args[0])


_STEP = re.compile(r"(?:^|(?<=[^.])\.)([^.\[\]]+)|\[(\d+)\]")


def steps(path: str) -> list[str | int]:
    """The names and the indices of a path; raises `ValueError` if it is none."""
    found: list[str | int] = []
    end = 0
    for match in _STEP.finditer(path):
        if match.start() != end:
            break
        end = match.end()
        found.append(match[1] if match[1] is not None else int(match[2]))
    if not found or end != len(path):
        raise ValueError(f"{path!r} is no path such as a.b[0]")
    return found


def find(tree: Any, path: str, default: Any = MISSING) -> Any:
    """What stands at a path, or else the default; raises `PathError` if there is none."""
    value = tree
    for step in steps(path):
        value = _child(value, step)
        if value is MISSING and default is MISSING:
            raise PathError(f"there is nothing at {path!r}")
        if value is MISSING:
            return default
    return value


def put(tree: Any, path: str, value: Any, *, overwrite: bool) -> None:
    """Write a value, and the dictionaries on the way to it that are missing.

    Raises `PathError` where something stands already and must not be overwritten, or where a path
    leads through what is no dictionary or list.
    """
    *way, last = steps(path)
    holder = tree
    for step in way:
        following = _child(holder, step)
        if following is MISSING:
            following = type(holder)() if isinstance(holder, dict) else {}
            _store(holder, step, following, path)
        holder = following
    if not overwrite and _child(holder, last) is not MISSING:
        raise PathError(f"{path!r} has a value already, and is not to be overwritten")
    _store(holder, last, value, path)


def remove(tree: Any, path: str) -> None:
    """Take away what stands at a path; raises `PathError` if nothing does."""
    *way, last = steps(path)
    holder = tree
    for step in way:
        holder = _child(holder, step)
    if _child(holder, last) is MISSING:
        raise PathError(f"there is nothing at {path!r}")
    del holder[_index(last) if isinstance(holder, list) else last]


def copied(tree: Any) -> Any:
    """New dictionaries and lists with the same leaves."""
    if isinstance(tree, dict):
        return {name: copied(member) for name, member in tree.items()}
    return [copied(member) for member in tree] if isinstance(tree, list) else tree


def flatten(tree: Any, *names: str) -> dict[str, Any]:
    """The texts of a tree by names such as `NAMESPACE_A_B`, members of lists as `namespace_l_0`.

    Other values are not in it, unless they are in lists: so SOS-Toolkit has it.
    """
    found: dict[str, Any] = {}
    if isinstance(tree, dict):
        for name, member in tree.items():
            found.update(flatten(member, *names, str(name)))
    elif isinstance(tree, list):
        found = {"_".join([*names, str(index)]): member for index, member in enumerate(tree)}
    elif isinstance(tree, str):
        found = {"_".join(names).upper(): tree}
    return found


def _child(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict):
        return holder.get(step, MISSING)
    if isinstance(holder, list):
        index = _index(step)
        return holder[index] if 0 <= index < len(holder) else MISSING
    return holder.step(step) if hasattr(holder, "step") else MISSING


def _index(step: str | int) -> int:
    """The place in a list; a digit between dots is one too, as in `a.0`."""
    return int(step) if str(step).isdecimal() else -1


def _store(holder: Any, step: str | int, value: Any, path: str) -> None:
    if isinstance(holder, dict):
        holder[step] = value
    elif isinstance(holder, list) and 0 <= _index(step) < len(holder):
        holder[_index(step)] = value
    else:
        raise PathError(f"{path!r} leads through what is no dictionary or list")
