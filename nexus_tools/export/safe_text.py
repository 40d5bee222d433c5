"""The removal of unsafe characters from the texts of a definition before they are shown.

An author can put any characters into a description or a schema, including characters that users do
not see but models read.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from nexus_tools.errors import ValidationError
from nexus_tools.export.exported import Exportable
from nexus_tools.sui.support.untrusted_text import is_displayable, many_lines
from nexus_tools.tool import ToolDefinition

MAX_DESCRIPTION = 4_096
MAX_SCHEMA_TEXT = 1_024

_TEXTS = frozenset(("title", "description", "$comment"))
_VALUES = frozenset(("const", "enum", "default", "examples"))
"""Keywords whose values are data, which may have members with the names of texts."""
_NAMED = frozenset(("properties", "patternProperties", "$defs", "dependentSchemas"))
"""Keywords with a schema for each name. A name may be the same as a keyword."""
_LAYOUT = str.maketrans("", "", "\n\r\t")

T = TypeVar("T", bound=Exportable)


def sanitize_definition(definition: T) -> T:
    """Return the definition with texts that are safe to show.

    Descriptions and titles lose control and invisible characters, and are shortened. Names and
    values in a schema must not change.

    Raises:
        ValidationError: with code `invisible_characters` if a name or value contains a control or
            invisible character.
    """
    any_definition: Any = definition
    return replace(  # type: ignore[no-any-return]
        any_definition,
        description=many_lines(definition.description, MAX_DESCRIPTION),
        input_schema=_schema(definition.input_schema),
        output_schema=_schema(definition.output_schema),
    )


def sanitize_definitions(
    definitions: Sequence[ToolDefinition],
) -> tuple[list[ToolDefinition], tuple[str, ...]]:
    """Return the definitions that are safe to show, and sentences about omitted definitions."""
    shown, skipped = [], []
    for definition in definitions:
        try:
            shown.append(sanitize_definition(definition))
        except ValidationError as error:
            skipped.append(f"{definition.fqn} is omitted: {error.message}")
    return shown, tuple(skipped)


def _schema(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {_exact(key): _member(key, value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_schema(member) for member in schema]
    return _exact(schema) if isinstance(schema, str) else schema


def _member(key: str, value: Any) -> Any:
    if key in _TEXTS and isinstance(value, str):
        return many_lines(value, MAX_SCHEMA_TEXT)
    if key in _VALUES:
        return _data(value)
    if key in _NAMED and isinstance(value, dict):
        return {_exact(name): _schema(schema) for name, schema in value.items()}
    return _schema(value)


def _data(value: Any) -> Any:
    """Return a JSON value unchanged. Raises `invisible_characters`."""
    if isinstance(value, dict):
        return {_exact(key): _data(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_data(member) for member in value]
    return _exact(value) if isinstance(value, str) else value


def _exact(text: str) -> str:
    if not is_displayable(text.translate(_LAYOUT)):
        message = f"{text[:40]!a} in its schemas contains invisible characters"
        raise ValidationError("invisible_characters", message)
    return text
