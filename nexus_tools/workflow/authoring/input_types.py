"""Types of inputs, as authors write them."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.tool import SchemaDocument
from nexus_tools.workflow.shape import TEXT, Shape

InputType = Any
"""A type (`str`, `list[int]`, a pydantic model), a JSON schema, or a class with `parse`.

Values of a class that pydantic does not know and that has `parse`, such as `Address`, are text.
"""


def shape_of_type(kind: InputType) -> Shape:
    """What is known of values of that type.

    Raises `UsageError` (`input_type_unknown`), or `ValidationError` (`schema_invalid`).
    """
    if isinstance(kind, Mapping):
        return Shape.of(SchemaDocument.parse(dict(kind)))
    from pydantic import TypeAdapter  # noqa: PLC0415 - slow, and needed for types alone
    from pydantic.errors import PydanticUserError  # noqa: PLC0415 - as above

    try:
        return Shape.of(SchemaDocument.parse(TypeAdapter(kind).json_schema()))
    except PydanticUserError as error:
        if isinstance(kind, type) and callable(getattr(kind, "parse", None)):
            return TEXT
        raise UsageError(
            "input_type_unknown",
            f"{kind!r} is no type that JSON has",
            hint="give a type such as str or list[int], or a JSON schema",
        ) from error
