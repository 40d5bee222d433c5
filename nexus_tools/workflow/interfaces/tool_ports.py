"""The ports of a tool, as described by its schemas."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool import (
    HasSchemas,
    InterfaceValidator,
    SchemaDocument,
    check_output_schema,
    json_pointer,
)
from nexus_tools.workflow.document.document import ERR_EVAL
from nexus_tools.workflow.interfaces.json_types import ANY, TEXT, JsonTypes

# The schema keywords that describe single ports, and the keywords that contain definitions.
_ABOUT_PORTS = ("$schema", "$defs", "definitions", "type", "properties")


@dataclass(frozen=True, slots=True)
class Port:
    """A port, with the types of its value, and whether the value is always present."""

    types: JsonTypes = ANY
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of an input or a variant. `is_open` is whether the schema allows other ports."""

    named: Mapping[str, Port]
    is_open: bool = False

    @classmethod
    def of(cls, document: SchemaDocument, pointer: str = "") -> "Ports":
        """Return the ports that an object schema describes."""
        pointer, schema = document.target(pointer)
        assert isinstance(schema, dict)
        required = schema.get("required", ())
        named = {
            name: Port(
                JsonTypes.of(document, f"{pointer}/properties{json_pointer((name,))}"),
                name in required,
            )
            for name in schema.get("properties", ())
        }
        return cls(named, bool(schema.get("additionalProperties", False)))

    def get(self, name: str) -> Port | None:
        """Return the port called `name`, or None if the schema does not allow such a port."""
        return self.named.get(name) or (Port(is_required=False) if self.is_open else None)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the ports that are always present."""
        return tuple(name for name, port in self.named.items() if port.is_required)


FAILED = Ports({"reason": Port(TEXT), "detail": Port(TEXT)})
"""The ports of the variant `_err_eval`."""


class ToolPorts:
    """The input ports of a tool, and the ports of its variants, including `_err_eval`.

    Raises `ValidationError` with code `schema_invalid` if the schemas violate the rules of tools.
    """

    def __init__(self, tool: HasSchemas) -> None:
        self._tool = tool
        output = check_output_schema(tool.output_schema)
        self.inputs = Ports.of(SchemaDocument.parse(tool.input_schema))
        self.variants = {
            name: Ports.of(output.document, pointer) for name, pointer in output.variants.items()
        }

    def variant(self, name: str) -> Ports | None:
        """Return the ports of a variant, or None if it does not exist."""
        return FAILED if name == ERR_EVAL else self.variants.get(name)

    def mismatch(self, port: str, value: Any) -> str:
        """Return the reason why an input port rejects a value, or an empty string."""
        if self._validator is None:
            return ""
        try:
            self._validator.check_input({port: value})
        except ValidationError as error:
            first = error.details["failures"][0]
            inside = first["pointer"].removeprefix(json_pointer((port,)))
            return f"{first['message']} (at {inside})" if inside else str(first["message"])
        return ""

    @cached_property
    def _validator(self) -> InterfaceValidator | None:
        """The validator of single ports, or None if the schema of a port refers to other parts."""
        alone = {
            key: self._tool.input_schema[key]
            for key in _ABOUT_PORTS
            if key in self._tool.input_schema
        }
        try:
            return InterfaceValidator(_Schemas(alone, self._tool.output_schema))
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class _Schemas:
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
