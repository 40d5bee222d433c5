"""The names in one generated module: its own definitions, and the names that it imports."""

from collections.abc import Iterable

from nexus_tools.sui.bindings.generator.parameter_names import unused

_RUNTIME = "nexus_tools.sui.bindings.runtime"
_STANDARD = {
    "Any": "typing",
    "ClassVar": "typing",
    "Generic": "typing",
    "Sequence": "collections.abc",
    "TypeAlias": "typing",
    "TypeVar": "typing",
}


class Scope:
    """An allocator of import names, which records the imports of a module.

    If the module itself defines a name, the import of that name gets a leading underscore. Imported
    modules also get a leading underscore. The only Move names that start with an underscore are
    names of type parameters.
    """

    def __init__(self, defined: Iterable[str]) -> None:
        self._defined = frozenset(defined)
        self._locals: dict[tuple[str, str], str] = {}

    def use(self, name: str) -> str:
        """Import a class or a type, and return its local name."""
        local = f"_{name}" if name in self._defined else name
        return self._imported(_STANDARD.get(name, _RUNTIME), name, local)

    def codecs(self) -> str:
        """Import the runtime's module of codecs, and return its local name."""
        return self._imported(_RUNTIME, "codecs", "_bcs")

    def inputs(self) -> str:
        """Import the runtime's module of inputs, and return its local name."""
        return self._imported(_RUNTIME, "inputs", "_inputs")

    def base(self, path: str) -> str:
        """Import a user's base class from the path `package.module:Class`."""
        module, _, name = path.partition(":")
        return self._imported(module, name, f"_{name}")

    def sibling(self, parent: str, name: str, local: str) -> str:
        """Import another generated module from `parent`: `.`, `.token`, `..` or `..token`."""
        return self._imported(parent, name, local)

    def _imported(self, origin: str, name: str, local: str) -> str:
        """Record an import, and return its local name, which is unique in the module."""
        key = origin, name
        if key not in self._locals:
            self._locals[key] = unused(local, {*self._defined, *self._locals.values()})
        return self._locals[key]

    def import_lines(self) -> list[str]:
        """Return the lines of the import statements, in ruff's order."""
        relative = {origin for origin in self._origins() if origin.startswith(".")}
        sections = [
            sorted(origin for origin in self._origins() if origin in _STANDARD.values()),
            sorted(self._origins() - relative - {*_STANDARD.values()}),
            sorted(relative, key=lambda origin: (-_dots(origin), origin)),
        ]
        lines = ["from __future__ import annotations"]
        for section in filter(None, sections):
            lines += ["", *(line for origin in section for line in self._of(origin))]
        return lines

    def _origins(self) -> set[str]:
        return {origin for origin, _ in self._locals}

    def _of(self, origin: str) -> list[str]:
        """Return one import statement for all unchanged names, and one for each renamed import."""
        from_here = sorted(
            (name, local) for (where, name), local in self._locals.items() if where == origin
        )
        statements = {
            name: [f"from {origin} import {name} as {local}"]
            for name, local in from_here
            if name != local
        }
        plain = [name for name, local in from_here if name == local]
        if plain:
            statements[plain[0]] = _import(origin, plain)
        names = sorted(statements, key=lambda name: (name.islower(), name))
        return [line for name in names for line in statements[name]]


def _dots(origin: str) -> int:
    return len(origin) - len(origin.lstrip("."))


def _import(origin: str, names: list[str]) -> list[str]:
    single_line = f"from {origin} import {', '.join(names)}"
    if len(single_line) <= 100:
        return [single_line]
    return [f"from {origin} import (", *(f"    {name}," for name in names), ")"]
