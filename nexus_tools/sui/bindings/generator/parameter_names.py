"""The names of a function's parameters."""

import re
from collections.abc import Collection, Sequence
from itertools import chain, count

from nexus_tools.sui.bindings.generator.move_types import (
    MoveType,
    NamedType,
    Parameter,
    Reference,
    Vector,
)
from nexus_tools.sui.bindings.runtime.names import parameter_name

_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OF_PRIMITIVES = {"bool": "flag", "address": "address"}


def parameter_names(types: Sequence[MoveType], written: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each parameter.

    The name is from the source, or is derived from the parameter's type.
    """
    names: list[str] = []
    for move_type, word in zip(types, written, strict=True):
        is_named = word.lstrip("_")[:1].isalpha() and word != "self"
        names.append(unused(parameter_name(word) if is_named else _after(move_type), names))
    return tuple(names)


def unused(name: str, names: Collection[str]) -> str:
    """Return the name, with the first number that makes it unique if it is in `names`."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(candidate for candidate in chain([name], numbered) if candidate not in names)


def snake(name: str) -> str:
    """Return a name in snake case. `TLPCoin` becomes `tlp_coin`."""
    return _WORD_BEGINS.sub("_", name).lower()


def _after(move_type: MoveType) -> str:
    if isinstance(move_type, Reference):
        return _after(move_type.target)
    if isinstance(move_type, Vector):
        return "data" if move_type.element == "u8" else f"{_after(move_type.element)}s"
    if isinstance(move_type, Parameter):
        return "value"
    if isinstance(move_type, NamedType):
        return parameter_name("text" if move_type.name == "String" else snake(move_type.name))
    return _OF_PRIMITIVES.get(move_type, "number")
