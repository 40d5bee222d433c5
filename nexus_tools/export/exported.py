"""An exported tool: its document in another system, and the conversion of arguments to ports."""

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
"""The argument that holds all ports if they cannot be arguments themselves."""

_REFERENCES = frozenset(("$ref", "$dynamicRef"))
# Keywords that describe a whole document. All systems assume draft 2020-12, and systems with
# annotations have a separate field for them.
_OF_DOCUMENTS = ("$schema", "$id", ANNOTATIONS)


class Exportable(HasSchemas, Protocol):
    """The definition of a tool, or of a workflow that is exported like a tool."""

    @property
    def fqn(self) -> ToolFqn:
        """The fully qualified name."""

    @property
    def type(self) -> str:
        """The kind of the tool, which determines how the tool is called."""

    @property
    def description(self) -> str:
        """The description for users and models."""

    @property
    def timeout_ms(self) -> int:
        """The time limit of a call in ms."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The schema of the arguments.

    `wrapped` is the name of the single argument that holds the ports, or None if the ports are the
    arguments. `unfilled` removes the values that a system requires callers to send for absent
    ports.
    """

    schema: dict[str, Any]
    wrapped: str | None = None
    unfilled: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ports without checking them.

        Raises:
            ValidationError: with code `input_invalid` if the ports are missing.
        """
        values = dict(arguments)
        if self.unfilled is not None:
            values = self.unfilled(values)
        ports = values if self.wrapped is None else values.get(self.wrapped)
        if not isinstance(ports, dict):
            message = f"the argument {self.wrapped!r} must be an object with the tool's ports"
            raise ValidationError("input_invalid", message)
        return ports


def to_arguments_schema(
    input_schema: dict[str, Any], *, refused: frozenset[str], longest_name: int | None = None
) -> Arguments:
    """Return the ports as arguments for a system that rejects some keywords at the schema's root.

    If the system would reject the schema, or if the name of a port is longer than `longest_name`,
    the ports are wrapped in one argument.
    """
    names = input_schema.get("properties", {})
    is_plain = (
        input_schema.get("type") == "object"
        and not (refused | _REFERENCES) & input_schema.keys()
        and (longest_name is None or all(len(name) <= longest_name for name in names))
    )
    if is_plain:
        return Arguments(relocate_pointers(input_schema, lambda pointer: pointer))
    return Arguments(_wrapped(input_schema), WRAPPED)


def close_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with `properties` in all objects and `items` in all arrays.

    The added keywords have empty values. JSON Schema does not require these keywords, but some
    systems do.
    """
    document = SchemaDocument.parse(deepcopy(schema))
    for subschema in document.subschemas.values():
        types = subschema.get("type", ()) if isinstance(subschema, dict) else ()
        for kind, keyword in (("object", "properties"), ("array", "items")):
            if isinstance(subschema, dict) and (types == kind or kind in [*types]):
                subschema.setdefault(keyword, {})
    return document.root


def relocate_pointers(schema: dict[str, Any], place: Callable[[str], str]) -> dict[str, Any]:
    """Return a copy of a schema for a larger document. `place` maps old pointers to new ones."""
    copy = relocated(SchemaDocument.parse(schema), place)
    return {key: value for key, value in copy.items() if key not in _OF_DOCUMENTS}


def _wrapped(input_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with the ports in one property. `$defs` stay at the root."""

    def place(pointer: str) -> str:
        return pointer if pointer.startswith("/$defs/") else f"/properties/{WRAPPED}{pointer}"

    inner = relocate_pointers(input_schema, place)
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
    """A tool with its name in the other system.

    `document` is the tool in that system's format. `warning` describes information
    that the conversion lost, in one sentence.
    """

    definition: ToolDefinition
    name: str
    document: dict[str, Any]
    arguments: Arguments
    warning: str = ""

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ports in the arguments of a call.

        Raises:
            ValidationError: with code `input_invalid` if the ports are missing.
        """
        return self.arguments.to_ports(arguments)

    def as_entry(self) -> dict[str, Any]:
        """Return the data with which a program handles calls of the tool, without the name."""
        return {
            "fqn": str(self.definition.fqn),
            "type": self.definition.type.value,
            "url": self.definition.url,
            "wrapped": self.arguments.wrapped,
            "nulls_filled_in": self.arguments.unfilled is not None,
        }


@dataclass(frozen=True, slots=True)
class Export:
    """The document that a system reads, with its tools.

    `skipped` lists the tools that are not in the document, with reasons.
    """

    document: Any
    tools: tuple[ExportedTool, ...]
    skipped: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about skipped tools, and about information that the conversion lost."""
        return (*self.skipped, *(tool.warning for tool in self.tools if tool.warning))

    def names(self) -> dict[str, dict[str, Any]]:
        """Return the table of tools by name."""
        return {tool.name: tool.as_entry() for tool in self.tools}
