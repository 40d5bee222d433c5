"""The reader of `sos-system.yaml`, which rejects alias bombs and duplicate keys."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.text_file import without_byte_order_mark

MAX_BYTES = 256 * 2**10
MAX_NODES = 20_000
"""The limit for the number of values in a system, after its aliases are expanded."""


@dataclass(frozen=True, slots=True)
class System:
    """A system: its file, its name, and the sections of its document, including `action`."""

    file: Path
    name: str
    document: dict[str, Any]

    @classmethod
    def read(cls, file: Path) -> "System":
        """Read the file.

        Raises:
            ValidationError: with code `system_invalid`.
        """
        text = _text(file)
        try:
            document = _document(text)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            reason = " ".join(str(error).split())[:300] or "the document is nested too deeply"
            raise _invalid(file, reason) from error
        sections = ("meta", "namespace", "service", "action", "hook")
        for name in sections:
            if not isinstance(document.get(name) or {}, dict):
                raise _invalid(file, f"the section {name} must be a mapping")
        sections_by_name = {
            name: section for name, section in document.items() if section is not None
        }
        meta = sections_by_name.get("meta", {})
        name = str(meta.get("system_name") or file.parent.name)
        meta_section = {"system_name": name, **meta, "system_path": str(file.parent)}
        return cls(file, name, sections_by_name | {"meta": meta_section})

    @property
    def actions(self) -> dict[str, Any]:
        """The actions and lists of actions of the system, by name."""
        return dict(self.document.get("action", {}))

    @property
    def on_load(self) -> Any:
        """The actions that run whenever the context is loaded, or None."""
        return self.document.get("hook", {}).get("on_context_load")


def tool_names_in(node: Any) -> Iterator[str]:
    """Yield the names of all tools that are called in an action or a list of actions."""
    if isinstance(node, dict):
        if isinstance(node.get("tool"), str):
            yield node["tool"]
        for member in node.values():
            yield from tool_names_in(member)
    elif isinstance(node, list):
        for member in node:
            yield from tool_names_in(member)


def may_call_tools(node: Any) -> bool:
    """Return whether a node names a tool, or contains a `${…}` that may become an action."""
    if isinstance(node, dict):
        return isinstance(node.get("tool"), str) or any(map(may_call_tools, node.values()))
    if isinstance(node, list):
        return any(map(may_call_tools, node))
    return isinstance(node, str) and "${" in node


class _Loader(yaml.SafeLoader):
    """A YAML loader that keeps dates as text, as SOS-Toolkit does, and rejects duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        self.flatten_mapping(node)
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a string", key_node.start_mark
                )
            if str(key) in mapping:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {str(key)[:80]!r}", key_node.start_mark
                )
            mapping[str(key)] = self.construct_object(value_node, deep=deep)
        return mapping


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _invalid(file, f"cannot read the file: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise _invalid(file, f"the file is larger than {MAX_BYTES} bytes")
    try:
        return without_byte_order_mark(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(file, f"the file is not UTF-8: {error}") from error


def _document(text: str) -> dict[str, Any]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None or _size(node, {}, []) > MAX_NODES:
            raise ValueError(
                "the file is empty" if node is None else f"the file exceeds {MAX_NODES} values"
            )
        document = loader.construct_document(node)
    finally:
        loader.dispose()
    if isinstance(document, dict):
        return document
    raise ValueError("expected a mapping of sections")


def _size(node: yaml.Node, sizes: dict[int, int], ancestors: list[int]) -> int:
    """Return the number of values in a node after its aliases are expanded."""
    if id(node) in ancestors:
        raise ValueError("an alias in the document refers to itself")
    if id(node) not in sizes:
        ancestors.append(id(node))
        sizes[id(node)] = 1 + sum(_size(member, sizes, ancestors) for member in _members(node))
        ancestors.pop()
    return sizes[id(node)]


def _members(node: yaml.Node) -> Iterator[yaml.Node]:
    for member in node.value if isinstance(node, yaml.CollectionNode) else ():
        if isinstance(member, tuple):
            yield from member
        else:
            yield member


def _invalid(file: Path, problem: str) -> ValidationError:
    hint = "See docs/reference/bridges/sos.md for the sections meta, namespace, action, and hook."
    return ValidationError("system_invalid", f"{file} is not a valid system: {problem}", hint=hint)
