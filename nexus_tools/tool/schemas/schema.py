"""The rules that a tool's schemas must follow in addition to JSON Schema draft 2020-12.

An input schema describes an object, and each property is a port. An output schema has a top-level
`oneOf` with a branch for each variant. A branch describes an object with exactly one property,
which is required. The name of the property is the variant, and its value is an object of ports.
Names of ports and variants match `[a-z][a-z0-9_]*`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool.schemas.mismatch import Mismatch
from nexus_tools.tool.schemas.schema_document import SchemaDocument, schema_error
from nexus_tools.tool.schemas.validation_cost import (
    ValidationCost,
    linear_time_options,
    pattern_mismatches,
)
from nexus_tools.tool.strict_json import json_pointer

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MAX_PATTERNS = 100

MAX_PORTS = 32
"""The maximum number of ports of an input or a variant that the registry accepts."""

NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_NAME_RULE = "expected a letter a-z, followed by a-z, 0-9 or '_'"


@dataclass(frozen=True, slots=True)
class CheckedSchema:
    """A valid schema, with its validator and the cost of validating a value.

    `variants` maps the name of a variant to the pointer of the schema of its ports. `variants` is
    empty for an input schema.
    """

    document: SchemaDocument
    validator: "Draft202012Validator"
    cost: ValidationCost
    variants: dict[str, str]


def check_input_schema(schema: object) -> CheckedSchema:
    """Check an input schema, or raise `ValidationError` (`schema_invalid`) with the locations."""
    with schema_name_in_errors("input"):
        document = _bounded_document(schema)
        _raise_if_any([*_port_rules(document, "", "the input")])
        return _checked(document, {})


def check_output_schema(schema: object) -> CheckedSchema:
    """Check an output schema, or raise `ValidationError` (`schema_invalid`) with the locations."""
    with schema_name_in_errors("output"):
        return _checked(*_output_document(schema))


@contextmanager
def schema_name_in_errors(schema: str) -> Iterator[None]:
    """Add the name of the invalid schema to errors. `schema` is `input` or `output`."""
    try:
        yield
    except ValidationError as error:
        message = error.message.replace(
            "the schema is invalid", f"the {schema} schema is invalid", 1
        )
        details = {"schema": schema} | error.details
        raise ValidationError(error.code, message, hint=error.hint, details=details) from error


def variants(output_schema: object) -> dict[str, dict[str, Any]]:
    """Return the schema of the ports of each variant, without compiling the output schema.

    References in a returned schema still refer to locations in the whole output schema.

    Raises:
        ValidationError: With code `schema_invalid`. In contrast to `check_output_schema`, a schema
            whose validation takes too long is accepted.
    """
    with schema_name_in_errors("output"):
        document, pointers_by_variant = _output_document(output_schema)
    return {
        name: schema
        for name, pointer in pointers_by_variant.items()
        if isinstance(schema := document.subschemas[pointer], dict)
    }


def _output_document(schema: object) -> tuple[SchemaDocument, dict[str, str]]:
    """Return an output schema and the pointers of the ports of each variant."""
    document = _bounded_document(schema)
    branches = document.root.get("oneOf", [])
    if not branches:
        message = "the top-level oneOf is missing. Describe each variant in a branch of a oneOf"
        _raise_if_any([Mismatch("", message)])
    if document.root.get("type", "object") != "object":
        message = "the type of an output must be 'object'. Write it, or omit the type"
        _raise_if_any([Mismatch("/type", message)])
    pointers_by_variant: dict[str, str] = {}
    _raise_if_any(
        [
            mismatch
            for index in range(len(branches))
            for mismatch in _branch_rules(document, index, pointers_by_variant)
        ]
    )
    return document, pointers_by_variant


def _checked(document: SchemaDocument, pointers_by_variant: dict[str, str]) -> CheckedSchema:
    import jsonschema_rs  # noqa: PLC0415 - native code, needed only where a schema is checked

    cost = ValidationCost(document)
    try:
        # Messages contain the words "the value" instead of the value, which may be secret or huge.
        validator = jsonschema_rs.Draft202012Validator(
            document.root, pattern_options=linear_time_options(), offline=True, mask="the value"
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise schema_error([Mismatch("", str(error).partition("\n")[0])]) from error
    return CheckedSchema(document, validator, cost, pointers_by_variant)


def _bounded_document(schema: object) -> SchemaDocument:
    document = SchemaDocument.parse(schema)
    patterns = list(_patterns(document))
    if len(patterns) > MAX_PATTERNS:
        message = f"it has {len(patterns)} patterns, {MAX_PATTERNS} are allowed"
        _raise_if_any([Mismatch("", message)])
    _raise_if_any([m for place, pattern in patterns for m in pattern_mismatches(place, pattern)])
    return document


def _patterns(document: SchemaDocument) -> Iterator[tuple[str, str]]:
    for pointer, schema in document.subschemas.items():
        if isinstance(schema, bool):
            continue
        if "pattern" in schema:
            yield f"{pointer}/pattern", schema["pattern"]
        for pattern in schema.get("patternProperties", ()):
            yield f"{pointer}/patternProperties{json_pointer((pattern,))}", pattern


def _branch_rules(
    document: SchemaDocument, index: int, pointers_by_variant: dict[str, str]
) -> Iterator[Mismatch]:
    place = f"/oneOf/{index}"
    pointer, branch = document.target(place)
    if not isinstance(branch, dict) or branch.get("type") != "object":
        yield Mismatch(place, 'a branch must describe an object. Write "type": "object"')
        return
    required = branch.get("required", [])
    if len(required) != 1 or list(branch.get("properties", {})) != required:
        yield Mismatch(place, "a branch must have one property, the variant, and require it")
        return
    [name] = required
    if not NAME.fullmatch(name):
        yield Mismatch(place, f"{name[:80]!r} is not a valid variant name: {_NAME_RULE}")
    if name in pointers_by_variant:
        yield Mismatch(place, f"another branch describes the variant {name[:80]!r} already")
    ports = f"{pointer}/properties{json_pointer((name,))}"
    yield from _port_rules(document, ports, f"the variant {name[:80]!r}")
    pointers_by_variant[name], _ = document.target(ports)


def _port_rules(document: SchemaDocument, place: str, what: str) -> Iterator[Mismatch]:
    pointer, schema = document.target(place)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield Mismatch(place, f'{what} must be an object of ports. Write "type": "object"')
        return
    names = dict.fromkeys([*schema.get("properties", {}), *schema.get("required", [])])
    if len(names) > MAX_PORTS:
        yield Mismatch(place, f"{what} has {len(names)} ports, {MAX_PORTS} are allowed")
    for name in names:
        if not NAME.fullmatch(name):
            place = f"{pointer}/properties{json_pointer((name,))}"
            yield Mismatch(place, f"{name[:80]!r} is not a valid port name: {_NAME_RULE}")


def _raise_if_any(mismatches: list[Mismatch]) -> None:
    if mismatches:
        raise schema_error(mismatches)
