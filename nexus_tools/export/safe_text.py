"""The texts of a definition as other systems may show them to people and models.

An author can put any characters into a description or a schema, also those that a person does not
see and a model reads.
"""

from dataclasses import replace
from typing import Any, TypeVar

from nexus_tools.errors import ValidationError
from nexus_tools.export.exported import Lendable
from nexus_tools.sui.support.untrusted_text import is_displayable, many_lines
from nexus_tools.tool import ToolDefinition

MAX_DESCRIPTION = 4_096
MAX_SCHEMA_TEXT = 1_024

_TEXTS = frozenset(("title", "description", "$comment"))
_LAYOUT = str.maketrans("", "", "\n\r\t")

T = TypeVar("T", bound=Lendable)


def displayable(definition: T) -> T:
    """Return the definition with texts that are safe to show.

    Descriptions and titles lose characters that control output or are invisible, and are shortened.
    Names and values of a schema have to stay as they are: with such a character in one of them,
    `text_invisible` is raised.
    """
    changed: Any = definition
    return replace(  # type: ignore[no-any-return]
        changed,
        description=many_lines(definition.description, MAX_DESCRIPTION),
        input_schema=_schema(definition.input_schema),
        output_schema=_schema(definition.output_schema),
    )


def split_displayable(
    definitions: list[ToolDefinition],
) -> tuple[list[ToolDefinition], tuple[str, ...]]:
    """Return the definitions that can be shown, and a sentence for each other one."""
    shown, skipped = [], []
    for definition in definitions:
        try:
            shown.append(displayable(definition))
        except ValidationError as error:
            skipped.append(f"{definition.fqn} is left out: {error.message}")
    return shown, tuple(skipped)


def _schema(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {_exact(key): _member(key, value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_schema(each) for each in schema]
    return _exact(schema) if isinstance(schema, str) else schema


def _member(key: str, value: Any) -> Any:
    if key in _TEXTS and isinstance(value, str):
        return many_lines(value, MAX_SCHEMA_TEXT)
    return _schema(value)


def _exact(text: str) -> str:
    if not is_displayable(text.translate(_LAYOUT)):
        message = f"its schemas have {text[:40]!a} as a name or a value, with invisible characters"
        raise ValidationError("text_invisible", message)
    return text
