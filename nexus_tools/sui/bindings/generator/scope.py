"""The names of one generated module: what it defines, and what it imports for that."""

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
    """Gives the names that a module may use for what it imports, and remembers that it does.

    A name that the module defines itself is imported with an underscore in front. So are modules:
    no Move name begins with one, but for type parameters.
    """

    def __init__(self, defined: Iterable[str]) -> None:
        self._defined = frozenset(defined)
        self._locals: dict[tuple[str, str], str] = {}

    def use(self, name: str) -> str:
        """A class or a type of the standard library or of what bindings are made of."""
        local = f"_{name}" if name in self._defined else name
        return self._imported(_STANDARD.get(name, _RUNTIME), name, local)

    def codecs(self) -> str:
        """The module of codecs."""
        return self._imported(_RUNTIME, "codecs", "_bcs")

    def inputs(self) -> str:
        """The module of inputs."""
        return self._imported(_RUNTIME, "inputs", "_inputs")

    def base(self, path: str) -> str:
        """A class of a user, `package.module:Class`, from which a generated one inherits."""
        module, _, name = path.partition(":")
        return self._imported(module, name, f"_{name}")

    def sibling(self, parent: str, name: str, local: str) -> str:
        """Another generated module, from `parent`: `.`, `.token`, `..` or `..token`."""
        return self._imported(parent, name, local)

    def _imported(self, origin: str, name: str, local: str) -> str:
        """What is imported is called the same wherever it is used."""
        key = origin, name
        if key not in self._locals:
            self._locals[key] = unused(local, {*self._defined, *self._locals.values()})
        return self._locals[key]

    def import_lines(self) -> list[str]:
        """The import statements, as formatters sort them."""
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
        """One statement for all names that stay, and one for each that does not."""
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
    whole = f"from {origin} import {', '.join(names)}"
    if len(whole) <= 100:
        return [whole]
    return [f"from {origin} import (", *(f"    {name}," for name in names), ")"]
