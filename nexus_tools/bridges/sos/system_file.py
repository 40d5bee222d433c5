"""`sos-system.yaml`, read with care: it may be large on purpose, or say a thing twice."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.text_file import without_mark

MAX_BYTES = 256 * 2**10
MAX_NODES = 20_000
"""How many values a system has at most, each counted as often as aliases repeat it."""


@dataclass(frozen=True, slots=True)
class System:
    """A system: its folder, its name, and the sections of its document, `action` among them."""

    file: Path
    name: str
    document: dict[str, Any]

    @classmethod
    def read(cls, file: Path) -> "System":
        """Read the file; raises `ValidationError` with code `system_invalid`."""
        text = _text(file)
        try:
            document = _document(text)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            reason = " ".join(str(error).split())[:300] or "it nests too deep"
            raise _invalid(file, reason) from error
        sections = ("meta", "namespace", "service", "action", "hook")
        for name in sections:
            if not isinstance(document.get(name) or {}, dict):
                raise _invalid(file, f"its section {name} is no mapping")
        given = {name: section for name, section in document.items() if section is not None}
        meta = given.get("meta", {})
        name = str(meta.get("system_name") or file.parent.name)
        named = {"system_name": name, **meta, "system_path": str(file.parent)}
        return cls(file, name, given | {"meta": named})

    @property
    def actions(self) -> dict[str, Any]:
        """The actions and lists of actions that the system has, by name."""
        return dict(self.document.get("action", {}))

    @property
    def on_load(self) -> Any:
        """What runs whenever the context is loaded; None if nothing does."""
        return self.document.get("hook", {}).get("on_context_load")


def tools_in(node: Any) -> Iterator[str]:
    """The tools that an action calls, or the actions of a list, or a part of them."""
    if isinstance(node, dict):
        if isinstance(node.get("tool"), str):
            yield node["tool"]
        for member in node.values():
            yield from tools_in(member)
    elif isinstance(node, list):
        for member in node:
            yield from tools_in(member)


def may_run(node: Any) -> bool:
    """Whether a tool is named in it, or a `${…}` that may stand for an action."""
    if isinstance(node, dict):
        return isinstance(node.get("tool"), str) or any(map(may_run, node.values()))
    if isinstance(node, list):
        return any(map(may_run, node))
    return isinstance(node, str) and "${" in node


class _Loader(yaml.SafeLoader):
    """Dates stay text, as in SOS-Toolkit; every key is text, and stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        self.flatten_mapping(node)
        found: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is no text", key_node.start_mark
                )
            if str(key) in found:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {str(key)[:80]!r} stands twice", key_node.start_mark
                )
            found[str(key)] = self.construct_object(value_node, deep=deep)
        return found


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _invalid(file, f"it cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise _invalid(file, f"it is larger than {MAX_BYTES} bytes")
    try:
        return without_mark(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(file, f"it is no UTF-8: {error}") from error


def _document(text: str) -> dict[str, Any]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None or _size(node, {}, []) > MAX_NODES:
            raise ValueError("it is empty" if node is None else f"it has over {MAX_NODES} values")
        document = loader.construct_document(node)
    finally:
        loader.dispose()
    if isinstance(document, dict):
        return document
    raise ValueError("it is no mapping of sections")


def _size(node: yaml.Node, known: dict[int, int], way: list[int]) -> int:
    """How many values a node is when its aliases are written out."""
    if id(node) in way:
        raise ValueError("an alias in it leads to itself")
    if id(node) not in known:
        way.append(id(node))
        known[id(node)] = 1 + sum(_size(member, known, way) for member in _members(node))
        way.pop()
    return known[id(node)]


def _members(node: yaml.Node) -> Iterator[yaml.Node]:
    for member in node.value if isinstance(node, yaml.CollectionNode) else ():
        if isinstance(member, tuple):
            yield from member
        else:
            yield member


def _invalid(file: Path, problem: str) -> ValidationError:
    hint = "its sections are meta, namespace, action and hook: docs/reference/bridges/sos.md"
    return ValidationError("system_invalid", f"{file} is no system: {problem}", hint=hint)
