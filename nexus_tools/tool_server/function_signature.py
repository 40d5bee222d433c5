"""The interface of a tool from its function: parameters are ports, and the result is a variant.

The JSON Schemas are short, and they contain no patterns that the registry rejects.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import pydantic
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaError, core_schema

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Mismatch, json_pointer, mismatch_error
from nexus_tools.tool_server.base import Call
from nexus_tools.tool_server.user_traceback import message_of
from nexus_tools.tool_server.variant import Variant

REFERENCE = "#/$defs/{model}"


class PortSchema(GenerateJsonSchema):
    """A generator of pydantic's schemas without redundant titles and backtracking patterns."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """Omit titles that only repeat the name."""
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return pydantic's schema without the name of the class as a title."""
        described = super().model_schema(schema)
        if described.get("title") == schema["cls"].__name__:
            del described["title"]
        return described

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Return pydantic's schema without the name of the class as a title."""
        described = super().enum_schema(schema)
        described.pop("title", None)
        return described

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Return pydantic's schema without the pattern of decimals, which uses look-ahead."""
        described = super().decimal_schema(schema)
        for part in (described, *described.get("anyOf", ())):
            part.pop("pattern", None)
        return described

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """Return pydantic's schema, without the format if an output may lack a UTC offset.

        The format `date-time` (RFC 3339) requires an offset. A `datetime` may lack an offset, but
        an `AwareDatetime` always has an offset.
        """
        described = super().datetime_schema(schema)
        if self.mode == "serialization" and schema.get("tz_constraint") != "aware":
            del described["format"]
        return described

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        """Return pydantic's schema, without the format for outputs, which may lack a UTC offset."""
        described = super().time_schema(schema)
        if self.mode == "serialization":
            del described["format"]
        return described


def input_schema(ports: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model whose fields are the ports of an input."""
    return TypeAdapter(ports).json_schema(
        ref_template=REFERENCE, schema_generator=PortSchema, mode="validation"
    )


def output_schema(variants: dict[str, type[BaseModel]]) -> dict[str, Any]:
    """Return the schema of an output, with one branch for each variant by name."""
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
    """Return the target of a reference, unless other schemas refer to the same target."""
    reference = ports.get("$ref", "")
    if not reference or json.dumps(reference) in json.dumps(shared):
        return ports
    inlined: dict[str, Any] = shared.pop(reference.rpartition("/")[2])
    return inlined


# --- The signature


_NAMED_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters and the variants of a tool's function.

    `ports` is a model with the fields `port_0`, `port_1`, … in the order of `names`. With these
    field names, a port named `json` or `copy` does not hide a method of the model.
    """

    ports: type[BaseModel]
    names: tuple[str, ...]
    call_name: str | None
    variants: dict[str, type[Variant]]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Signature":
        """Read `function`, or raise `ValidationError` (`tool_invalid`) for a wrong annotation."""
        hints = _hints(function)
        variants = _variants(hints.pop("return", None))
        parameters = inspect.signature(function).parameters
        for parameter in parameters.values():
            _check_parameter(parameter, hints)
        calls = [name for name in parameters if hints[name] is Call]
        if len(calls) > 1:
            raise _invalid(f"the parameters {', '.join(calls)} are all annotated with Call")
        names = tuple(name for name in parameters if name not in calls)
        ports = _ports_model([parameters[name] for name in names], hints)
        return cls(ports, names, calls[0] if calls else None, variants)

    def input_schema(self) -> dict[str, Any]:
        """Return the schema of the input ports."""
        return input_schema(self.ports)

    def output_schema(self) -> dict[str, Any]:
        """Return the schema of the output variants."""
        return output_schema(dict(self.variants))

    def gives(self, kind: type[Variant]) -> bool:
        """Return whether `kind` is one of the variants."""
        return self.variants.get(kind.variant_name) is kind

    def arguments(self, ports: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Return the function's arguments, or raise `ValidationError` (`input_invalid`)."""
        try:
            # The call is equivalent to `model_validate`, but does not look up unused options.
            model = self.ports.__pydantic_validator__.validate_python(ports)
        except pydantic.ValidationError as error:
            raise _input_error(error) from error
        # The fields of a model are ordered, and have the order of `names`.
        arguments: dict[str, Any] = dict(zip(self.names, model.__dict__.values()))  # noqa: B905
        if self.call_name is not None:
            arguments[self.call_name] = call
        return arguments


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise _invalid(f"an annotation cannot be resolved: {error}") from error


def _variants(annotation: Any) -> dict[str, type[Variant]]:
    variants: dict[str, type[Variant]] = {}
    for member in _union_members(annotation):
        if not (isinstance(member, type) and issubclass(member, Variant)):
            raise _invalid(
                f"the return annotation has {_name_of(member)}, which is not a Variant",
                hint="Annotate it with subclasses of Variant, for example -> Sum | Overflow.",
            )
        name = member.named()
        if variants.get(name, member) is not member:
            raise _invalid(f"two classes of the return annotation are named {name!r}")
        variants[name] = member
    return variants


def _union_members(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _union_members(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [inner for member in get_args(annotation) for inner in _union_members(member)]
    return [annotation]


def _name_of(annotation: Any) -> str:
    if annotation in (None, NoneType):
        return "nothing (None)"
    return getattr(annotation, "__name__", None) or str(annotation)


def _check_parameter(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> None:
    if parameter.kind not in _NAMED_KINDS:
        raise _invalid(f"the parameter {parameter} cannot be passed by name, which ports require")
    if parameter.name not in hints:
        raise _invalid(f"the parameter {parameter.name} has no annotation")


def _ports_model(parameters: list[inspect.Parameter], hints: Mapping[str, Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for index, parameter in enumerate(parameters):
        # Type checkers do not understand this subscript, so the cast hides it from them.
        annotation = cast("Any", Annotated)[hints[parameter.name], Field(alias=parameter.name)]
        required = parameter.default is inspect.Parameter.empty
        fields[f"port_{index}"] = (annotation, ... if required else parameter.default)
    try:
        return create_model("Ports", __config__=ConfigDict(extra="forbid"), **fields)
    except PydanticUserError as error:
        raise _invalid(f"an annotation has no schema: {error.message}") from error
    except SchemaError as error:
        [number] = re.findall(r'Field "port_(\d+)"', str(error))[:1] or ["0"]
        name = parameters[int(number)].name
        raise _invalid(f"the annotation of {name} is not valid: {message_of(error)}") from error


def _input_error(error: pydantic.ValidationError) -> ValidationError:
    mismatches = [
        Mismatch(json_pointer(failure["loc"]), failure["msg"])
        for failure in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return mismatch_error("input_invalid", "the input does not match", mismatches)


def _invalid(problem: str, *, hint: str = "") -> ValidationError:
    return ValidationError("tool_invalid", problem, hint=hint)
