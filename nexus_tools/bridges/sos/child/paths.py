"""Dotted paths such as `service.address[0].port` into trees of dictionaries and lists."""

from __future__ import annotations

import re
from typing import Any

MISSING: Any = object()
"""The marker for a missing default, because None is a value."""


class PathError(KeyError):
    """The error of a path that has no value, or that leads through a value without members."""

    def __str__(self) -> str:
        return str(self.args[0])


_STEP = re.compile(r"(?:^|(?<=[^.])\.)([^.\[\]]+)|\[(\d+)\]")


def steps(path: str) -> list[str | int]:
    """Return the names and indices of a path.

    For example, `a.b[0]` becomes `["a", "b", 0]`.

    Raises:
        ValueError: if `path` is not a valid path.
    """
    result: list[str | int] = []
    end = 0
    for match in _STEP.finditer(path):
        if match.start() != end:
            break
        end = match.end()
        result.append(match[1] if match[1] is not None else int(match[2]))
    if not result or end != len(path):
        raise ValueError(f"{path!r} is not a valid path such as a.b[0]")
    return result


def find(tree: Any, path: str, default: Any = MISSING) -> Any:
    """Return the value at a path, or the default.

    Raises:
        PathError: if the path has no value and there is no default.
    """
    value = tree
    for step in steps(path):
        value = _child(value, step)
        if value is MISSING and default is MISSING:
            raise PathError(f"{path!r} has no value")
        if value is MISSING:
            return default
    return value


def put(tree: Any, path: str, value: Any, *, overwrite: bool) -> None:
    """Write a value, and create the missing dictionaries on its path.

    Raises:
        PathError: if the path has a value and `overwrite` is false, or if it leads through a value
            that is neither a dictionary nor a list.
    """
    *parents, last = steps(path)
    holder = tree
    for step in parents:
        child = _child(holder, step)
        if child is MISSING:
            child = type(holder)() if isinstance(holder, dict) else {}
            _store(holder, step, child, path)
        holder = child
    if not overwrite and _child(holder, last) is not MISSING:
        raise PathError(f"{path!r} already has a value")
    _store(holder, last, value, path)


def remove(tree: Any, path: str) -> None:
    """Remove the value at a path.

    Raises:
        PathError: if the path has no value.
    """
    *parents, last = steps(path)
    holder = tree
    for step in parents:
        holder = _child(holder, step)
    if _child(holder, last) is MISSING:
        raise PathError(f"{path!r} has no value")
    del holder[_index(last) if isinstance(holder, list) else last]


def copied(tree: Any) -> Any:
    """Return a copy of a tree with new dictionaries and lists, but the same leaf values."""
    if isinstance(tree, dict):
        return {name: copied(member) for name, member in tree.items()}
    return [copied(member) for member in tree] if isinstance(tree, list) else tree


def flatten(tree: Any, *names: str) -> dict[str, Any]:
    """Return a mapping from names such as `NAMESPACE_A_B` or `namespace_l_0` to the tree's strings.

    List members keep lower-case names. As in SOS-Toolkit, values other than strings are omitted
    unless they are in lists.
    """
    leaves: dict[str, Any] = {}
    if isinstance(tree, dict):
        for name, member in tree.items():
            leaves.update(flatten(member, *names, str(name)))
    elif isinstance(tree, list):
        leaves = {"_".join([*names, str(index)]): member for index, member in enumerate(tree)}
    elif isinstance(tree, str):
        leaves = {"_".join(names).upper(): tree}
    return leaves


def _child(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict):
        return holder.get(step, MISSING)
    if isinstance(holder, list):
        index = _index(step)
        return holder[index] if 0 <= index < len(holder) else MISSING
    return holder.step(step) if hasattr(holder, "step") else MISSING


def _index(step: str | int) -> int:
    """Return a step of a path as a list index. The path `a.0` has the same index as `a[0]`."""
    return int(step) if str(step).isdecimal() else -1


def _store(holder: Any, step: str | int, value: Any, path: str) -> None:
    if isinstance(holder, dict):
        holder[step] = value
    elif isinstance(holder, list) and 0 <= _index(step) < len(holder):
        holder[_index(step)] = value
    else:
        raise PathError(f"{path!r} leads through a value that is neither a dictionary nor a list")
