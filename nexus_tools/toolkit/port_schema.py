"""JSON Schema of an author's types, as the registry stores it: terse, with plain patterns."""

import json
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

REFERENCE = "#/$defs/{model}"


class PortSchema(GenerateJsonSchema):
    """pydantic's draft 2020-12 schemas without what costs storage or needs backtracking."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """A title that only repeats the name says nothing."""
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """As pydantic's, without the name of the class as a title."""
        described = super().model_schema(schema)
        if described.get("title") == schema["cls"].__name__:
            del described["title"]
        return described

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """As pydantic's, without the name of the class as a title."""
        described = super().enum_schema(schema)
        described.pop("title", None)
        return described

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """As pydantic's, without its pattern for decimals in text, which looks ahead."""
        described = super().decimal_schema(schema)
        for part in (described, *described.get("anyOf", ())):
            part.pop("pattern", None)
        return described


def input_schema(ports: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model whose fields are the ports of an input."""
    return TypeAdapter(ports).json_schema(
        ref_template=REFERENCE, schema_generator=PortSchema, mode="validation"
    )


def output_schema(variants: dict[str, type[BaseModel]]) -> dict[str, Any]:
    """The schema of an output: one branch for each variant, by name."""
    inputs: list[tuple[str, Literal["serialization"], TypeAdapter[Any]]] = [
        (name, "serialization", TypeAdapter(model)) for name, model in variants.items()
    ]
    described, rest = TypeAdapter.json_schemas(
        inputs, ref_template=REFERENCE, schema_generator=PortSchema
    )
    shared = rest.get("$defs", {})
    branches = [
        _branch(name, _inlined(described[name, "serialization"], shared)) for name in variants
    ]
    return {"type": "object", "oneOf": branches} | ({"$defs": shared} if shared else {})


def _branch(name: str, ports: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: ports},
        "required": [name],
        "additionalProperties": False,
    }


def _inlined(ports: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """The ports in place of a reference to them, where nothing else refers to them."""
    reference = ports.get("$ref", "")
    if not reference or json.dumps(reference) in json.dumps(shared):
        return ports
    inlined: dict[str, Any] = shared.pop(reference.rpartition("/")[2])
    return inlined
