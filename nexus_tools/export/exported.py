"""A tool as another system reads it: its document, and how arguments become its ports again."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from nexus_tools.errors import ValidationError
from nexus_tools.tool import (
    ANNOTATIONS,
    HasSchemas,
    SchemaDocument,
    ToolDefinition,
    ToolFqn,
    relocated,
)

WRAPPED = "ports"
"""The one argument that holds all ports, where they cannot be arguments themselves."""

_REFERENCES = frozenset(("$ref", "$dynamicRef"))
# They say something of a whole document; each of these systems takes 2020-12 for granted, and
# those that know annotations have a place of their own for them.
_OF_DOCUMENTS = ("$schema", "$id", ANNOTATIONS)


class Lendable(HasSchemas, Protocol):
    """What others can be lent: the definition of a tool, or of a workflow as if it were one."""

    @property
    def fqn(self) -> ToolFqn:
        """Its name."""

    @property
    def type(self) -> str:
        """How it is reached."""

    @property
    def description(self) -> str:
        """What it does, for people and models."""

    @property
    def timeout_ms(self) -> int:
        """How long a call may take."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The schema of the arguments.

    `wrapped` is the name of the one argument that holds the ports, or None if they are the
    arguments. `unfilled` takes away what a system made callers fill in for absent ports.
    """

    schema: dict[str, Any]
    wrapped: str | None = None
    unfilled: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The ports, unchecked. Raises `ValidationError` (`input_invalid`) if there are none."""
        given = dict(arguments)
        if self.unfilled is not None:
            given = self.unfilled(given)
        ports = given if self.wrapped is None else given.get(self.wrapped)
        if not isinstance(ports, dict):
            message = f"the argument {self.wrapped!r} is missing, or no object of ports"
            raise ValidationError("input_invalid", message)
        return ports


def as_arguments(
    input_schema: dict[str, Any], *, refused: frozenset[str], longest_name: int | None = None
) -> Arguments:
    """The ports as arguments for a system that refuses some keywords at the top of a schema.

    Where it would refuse the schema, or the name of a port is longer than `longest_name`, the ports
    are wrapped into one argument.
    """
    names = input_schema.get("properties", {})
    is_plain = (
        input_schema.get("type") == "object"
        and not (refused | _REFERENCES) & input_schema.keys()
        and (longest_name is None or all(len(name) <= longest_name for name in names))
    )
    if is_plain:
        return Arguments(moved(input_schema, lambda pointer: pointer))
    return Arguments(_wrapped(input_schema), WRAPPED)


def completed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy in which objects have `properties` and arrays `items`, if only empty ones.

    Some receivers refuse a request for one schema without them, although JSON Schema does not.
    """
    document = SchemaDocument.parse(deepcopy(schema))
    for subschema in document.subschemas.values():
        types = subschema.get("type", ()) if isinstance(subschema, dict) else ()
        for kind, keyword in (("object", "properties"), ("array", "items")):
            if isinstance(subschema, dict) and (types == kind or kind in [*types]):
                subschema.setdefault(keyword, {})
    return document.root


def moved(schema: dict[str, Any], place: Callable[[str], str]) -> dict[str, Any]:
    """A copy of a schema for a larger document, where `place` says what stands where."""
    copy = relocated(SchemaDocument.parse(schema), place)
    return {key: value for key, value in copy.items() if key not in _OF_DOCUMENTS}


def _wrapped(input_schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as that of one property; definitions stay at the top, where all look for them."""

    def place(pointer: str) -> str:
        return pointer if pointer.startswith("/$defs/") else f"/properties/{WRAPPED}{pointer}"

    inner = moved(input_schema, place)
    definitions = inner.pop("$defs", None)
    outer = {
        "type": "object",
        "properties": {WRAPPED: inner},
        "required": [WRAPPED],
        "additionalProperties": False,
    }
    return outer if definitions is None else outer | {"$defs": definitions}


@dataclass(frozen=True, slots=True)
class ExportedTool:
    """A tool by its name in the other system.

    `document` is the tool in that system's form. `warning` says what was lost, in one sentence.
    """

    definition: ToolDefinition
    name: str
    document: dict[str, Any]
    arguments: Arguments
    warning: str = ""

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The ports in the arguments of a call. Raises `input_invalid` if there are none."""
        return self.arguments.to_ports(arguments)

    def as_entry(self) -> dict[str, Any]:
        """What somebody who answers calls has to know of the tool, besides its name."""
        return {
            "fqn": str(self.definition.fqn),
            "type": self.definition.type.value,
            "url": self.definition.url,
            "wrapped": self.arguments.wrapped,
            "nulls_filled_in": self.arguments.unfilled is not None,
        }


@dataclass(frozen=True, slots=True)
class Export:
    """Tools for one system: the document that it reads, and what it does not say.

    `skipped` says which tools are not in the document, and why.
    """

    document: Any
    tools: tuple[ExportedTool, ...]
    skipped: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Everything that a reader would not expect, in sentences."""
        return (*self.skipped, *(tool.warning for tool in self.tools if tool.warning))

    def names(self) -> dict[str, dict[str, Any]]:
        """The table that leads from a name to its tool."""
        return {tool.name: tool.as_entry() for tool in self.tools}
