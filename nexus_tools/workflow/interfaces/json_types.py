"""The JSON types that a schema may accept."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.tool import SchemaDocument

_ALL = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_NAMES = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class JsonTypes:
    """The JSON types that a value may have. A list also has the types of its elements.

    The types are an upper bound. A value that a schema accepts has one of the `types`, but a value
    of these types may still be invalid. So two sets of types are certainly incompatible only if
    they have no type in common. `number` means a number with a fraction. The types of a number
    schema also include `integer`.
    """

    types: frozenset[str] = _ALL
    _element: "Callable[[], JsonTypes] | None" = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, document: SchemaDocument, pointer: str = "") -> "JsonTypes":
        """Return the JSON types that a subschema accepts."""
        place, schema = document.target(pointer)
        return cls(_types(document, pointer, frozenset()), lambda: _items(document, place, schema))

    @classmethod
    def list_of(cls, element: "JsonTypes") -> "JsonTypes":
        """Return the types of a list whose elements have the types `element`."""
        return cls(frozenset(("array",)), lambda: element)

    @property
    def element(self) -> "JsonTypes":
        """The types of the elements if the value is a list."""
        return self._element() if self._element else JsonTypes()

    def may_be(self, other: "JsonTypes") -> bool:
        """Return whether a value with these types can also have one of the other types."""
        return bool(self.types & other.types)

    def __or__(self, other: "JsonTypes") -> "JsonTypes":
        return JsonTypes(self.types | other.types, lambda: self.element | other.element)

    def __str__(self) -> str:
        if self.types == _ALL:
            return "any"
        names = self.types - {"integer"} if "number" in self.types else self.types
        return " | ".join(sorted(names)) or "never"


ANY = JsonTypes()
LIST = JsonTypes.list_of(ANY)
TEXT = JsonTypes(frozenset(("string",)))


def _types(document: SchemaDocument, pointer: str, seen: frozenset[str]) -> frozenset[str]:
    pointer, schema = document.target(pointer)
    # The parser of tool definitions already rejects a schema that directly refers to itself.
    if pointer in seen or isinstance(schema, bool):
        return _ALL if schema is not False else frozenset()
    seen |= {pointer}
    found = _ALL
    if "type" in schema:
        named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        found &= frozenset((*named, "integer") if "number" in named else named)
    if "const" in schema or "enum" in schema:
        found &= frozenset(map(_type_of, schema.get("enum", [schema.get("const")])))
    for index in range(len(schema.get("allOf", ()))):
        found &= _types(document, f"{pointer}/allOf/{index}", seen)
    for places in _alternatives(pointer, schema):
        found &= frozenset().union(*(_types(document, place, seen) for place in places))
    return found


def _alternatives(pointer: str, schema: dict[str, Any]) -> Iterator[list[str]]:
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            yield [f"{pointer}/{keyword}/{index}" for index in range(len(schema[keyword]))]


def _type_of(value: Any) -> str:
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return _NAMES.get(type(value), "null")


def _items(document: SchemaDocument, pointer: str, schema: Any) -> JsonTypes:
    """Return the types of the elements of a list, or `ANY` if the schema is too complex."""
    if isinstance(schema, bool) or "prefixItems" in schema:
        return ANY
    if "items" in schema:
        return JsonTypes.of(document, f"{pointer}/items")
    for places in _alternatives(pointer, schema):
        shapes = [JsonTypes.of(document, place) for place in places]
        lists = [shape for shape in shapes if "array" in shape.types]
        if len(lists) == 1:
            return lists[0].element
    return ANY


def json_types_of(kind: Any) -> JsonTypes:
    """Return the JSON types of a Python type or of a JSON schema.

    A Python type is a type for which pydantic creates a schema, or a class with a `parse` method,
    whose JSON is a string. Raises `UsageError` (`input_type_unknown`), or `ValidationError`
    (`schema_invalid`).
    """
    if isinstance(kind, Mapping):
        return JsonTypes.of(SchemaDocument.parse(dict(kind)))
    if isinstance(kind, str):  # Given a string, pydantic would look up a type with this name.
        raise _no_type(kind)
    from pydantic import TypeAdapter  # noqa: PLC0415 - slow, and needed for types alone
    from pydantic.errors import PydanticUserError  # noqa: PLC0415 - as above

    try:
        return JsonTypes.of(SchemaDocument.parse(TypeAdapter(kind).json_schema()))
    except PydanticUserError as error:
        if isinstance(kind, type) and callable(getattr(kind, "parse", None)):
            return TEXT
        raise _no_type(kind) from error


def _no_type(kind: object) -> UsageError:
    return UsageError(
        "input_type_unknown",
        f"{kind!r} is not a JSON type",
        hint="Pass a type such as str or list[int], or a JSON schema.",
    )
