"""Parts of JSON Schemas that are generated from the rules of a parser.

The schemas use draft 2020-12. Editors show the descriptions, which come from docstrings where
possible.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from re import Pattern
from typing import Any

Schema = dict[str, Any]

SCHEMA_KEY = "$schema"
"""The key with which a document names its schema. Parsers ignore its value."""


def schema_key() -> Schema:
    """Return the schema of `SCHEMA_KEY` in a document."""
    return text("The path or URL of the JSON Schema of this file, for editors.")


def text(description: str = "", **rules: Any) -> Schema:
    """Return the schema of a string. `rules` are further keywords."""
    return {"type": "string", **rules} | ({"description": description} if description else {})


def records(
    properties: Mapping[str, Any], required: Iterable[str] = (), *, is_closed: bool = True
) -> Schema:
    """Return the schema of an object. A closed object has no other properties."""
    names = [*required]
    return (
        {"type": "object", "properties": dict(properties)}
        | ({"required": names} if names else {})
        | ({"additionalProperties": False} if is_closed else {})
    )


def items(schema: Schema, description: str = "", **rules: Any) -> Schema:
    """Return the schema of a list. `rules` are further keywords."""
    described = {"description": description} if description else {}
    return {"type": "array", "items": schema, **rules} | described


def whole(least: int, most: int, default: int, description: str) -> Schema:
    """Return the schema of an integer in a range."""
    limits = {"minimum": least, "maximum": most, "default": default}
    return {"type": "integer", **limits, "description": description}


def nullable(schema: Schema) -> Schema:
    """Return the schema of an optional value. A parser treats `null` like a missing value."""
    return {"anyOf": [schema, {"type": "null"}]} | (
        {"description": schema["description"]} if "description" in schema else {}
    )


def reference(name: str) -> Schema:
    """Return a reference to a definition of the same document."""
    return {"$ref": f"#/$defs/{name}"}


def whole_match(*patterns: Pattern[str] | str) -> str:
    r"""Return a `pattern` that matches a whole string, from alternative Python patterns.

    Python's `\d` with the flag `re.ASCII` is `[0-9]`. Some validators match other digits, too.
    """
    sources = [one if isinstance(one, str) else one.pattern for one in patterns]
    return rf"^(?:{'|'.join(sources)})$".replace(r"\d", "[0-9]")


def description_of(documented: object) -> str:
    """Return the first paragraph of a docstring, on one line."""
    import inspect  # noqa: PLC0415 - only needed to generate schemas

    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


def choices(members: type[Enum], description: str = "") -> Schema:
    """Return the schema of the values of an enumeration, with the docstring of each member."""
    documented = _member_docstrings(members)
    options = [
        {"const": member.value} | ({"description": docs} if docs else {})
        for member in members
        for docs in [documented.get(member.name)]
    ]
    return {"oneOf": options, "description": description or description_of(members)}


def _member_docstrings(members: type[Enum]) -> dict[str, str]:
    """Return the strings below the members, which Python itself does not keep."""
    import ast  # noqa: PLC0415 - only needed to generate schemas
    import inspect  # noqa: PLC0415
    from textwrap import dedent  # noqa: PLC0415

    try:
        [definition] = ast.parse(dedent(inspect.getsource(members))).body
    except OSError:  # installed without sources
        return {}
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    name = ""
    for statement in definition.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case ast.Expr(value=ast.Constant(value=str() as docs)) if name:
                found[name] = " ".join(docs.split())
    return found
