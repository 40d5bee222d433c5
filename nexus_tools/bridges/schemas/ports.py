"""The arguments of a foreign tool as ports: unchanged, renamed, or wrapped in one port."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.tool import (
    ANCHOR_KEYWORDS,
    MAX_PORTS,
    Mismatch,
    SchemaDocument,
    direct_subschemas,
    json_pointer,
    relocated,
    schema_error,
)

_PORT = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^a-z0-9]+")

_DEFINITIONS = ("$defs", "definitions")
_HEADER_KEYWORDS = ("$schema", "$id", "$vocabulary")
_ANNOTATIONS = ("title", "description", "$comment", "deprecated", "readOnly", "writeOnly")
# Keywords whose subschemas apply to the same object, so that their property names are foreign
# names.
_IN_PLACE = frozenset(
    (
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        "dependentSchemas",
    )
)
# Keywords that allow or constrain property names that are not listed in `properties`.
_OPEN_NAMES = frozenset(("patternProperties", "propertyNames", "const", "enum"))


@dataclass(frozen=True, slots=True)
class PortMapping:
    """A schema whose properties are ports, and the conversion of values in both directions.

    `schema` accepts ports if and only if the foreign schema accepts their `to_arguments`. `names`
    maps names in both directions, so undeclared names pass without loss.
    """

    schema: dict[str, Any]
    wrapped: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def to_arguments(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the foreign tool for ports that the schema accepts."""
        if self.wrapped is not None:
            return dict(ports[self.wrapped])
        return {self.names.get(name, name): value for name, value in ports.items()}

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ports for the arguments or the result of a foreign tool."""
        if self.wrapped is not None:
            return {self.wrapped: dict(arguments)}
        return {self.names.get(name, name): value for name, value in arguments.items()}


def map_ports(schema: Mapping[str, Any], *, wrapped: str = "arguments") -> PortMapping:
    """Return the ports for a schema of draft 2020-12 that describes an object.

    Valid port names are not changed. Other names are converted to snake case. If two names would
    be equal, or the object has more than 32 names, the whole object goes into the single port
    `wrapped`. A schema that is not a plain object of properties also becomes the port `wrapped`.

    Raises:
        ValidationError: with code `schema_invalid` if the schema is not supported or does not
            describe an object.
    """
    document = _as_object_schema(_resolve_root_reference(SchemaDocument.parse(dict(schema))))
    root = document.root
    names = dict.fromkeys([*root.get("properties", {}), *root.get("required", ())])
    is_plain = root.get("type") == "object" and _names_in_place(document) <= names.keys()
    if len(names) > MAX_PORTS or not is_plain:
        return _wrapped(document, wrapped)
    if all(map(_PORT.fullmatch, names)):
        return PortMapping(relocated(document, lambda pointer: pointer))
    new_names = _name_exchange(names)
    if not new_names or not _IN_PLACE.isdisjoint(root) or _refers_to_itself(document):
        return _wrapped(document, wrapped)
    return PortMapping(_renamed(document, new_names), names=new_names)


def snake_case(name: str) -> str:
    """Return the port name for a foreign name, or an empty string if no character is usable.

    `perPage` becomes `per_page`, `X-Api` becomes `x_api`, and `2fa` becomes `p_2fa`.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    words = _OTHER.sub("_", _WORD_STARTS.sub("_", letters).lower()).strip("_")
    return f"p_{words}" if words[:1].isdigit() else words


def _resolve_root_reference(document: SchemaDocument) -> dict[str, Any]:
    """Return the root, or the definition that it refers to if it contains only a reference."""
    root = document.root
    allowed_keywords = {*_HEADER_KEYWORDS, *_DEFINITIONS, *_ANNOTATIONS, "$ref"}
    if "$ref" not in root or not root.keys() <= allowed_keywords:
        return root
    _, target = document.target("")
    if not isinstance(target, dict) or not target.keys().isdisjoint((*_DEFINITIONS, "$ref")):
        return root
    definition = {key: value for key, value in target.items() if key not in ANCHOR_KEYWORDS}
    return definition | {key: value for key, value in root.items() if key != "$ref"}


def _as_object_schema(root: dict[str, Any]) -> SchemaDocument:
    """Return the schema without its header keywords, and with the type `object` of arguments.

    A schema that contains itself receives no type, because the inner values may be of other types.
    """
    types = root.get("type", "object")
    if types != "object" and (isinstance(types, str) or "object" not in types):
        message = "the schema must describe an object, because arguments have names"
        raise schema_error([Mismatch("/type", message)])
    document = SchemaDocument.parse({key: root[key] for key in root if key not in _HEADER_KEYWORDS})
    if root.get("type") == "object" or _refers_to_itself(document):
        return document
    return SchemaDocument.parse({"type": "object"} | document.root | {"type": "object"})


def _names_in_place(document: SchemaDocument) -> set[str]:
    """Return the property names of the object itself, or `*` if arbitrary names are allowed."""
    names: set[str] = set()
    visited: set[str] = set()
    pending = [""]
    while pending:
        pointer = pending.pop()
        schema = document.subschemas[pointer]
        if pointer in visited or isinstance(schema, bool):
            continue
        visited.add(pointer)
        if not _OPEN_NAMES.isdisjoint(schema):
            return {"*"}
        for keyword in ("properties", "required", "dependentRequired"):
            names.update(schema.get(keyword, ()))
        names.update(*schema.get("dependentRequired", {}).values())
        pending += document.references(schema)
        pending += [
            inner for key, inner, _ in direct_subschemas(pointer, schema) if key in _IN_PLACE
        ]
    return names


def _name_exchange(names: Mapping[str, None]) -> dict[str, str]:
    """Return a two-way mapping of foreign and port names, or `{}` if it would be ambiguous."""
    renamed = {name: snake_case(name) for name in names if not _PORT.fullmatch(name)}
    ports = {*renamed.values()}
    if len(ports) < len(renamed) or "" in ports or not ports.isdisjoint(names):
        return {}
    return renamed | {port: name for name, port in renamed.items()}


def _refers_to_itself(document: SchemaDocument) -> bool:
    """Return whether the schema is recursive, so that nested objects have the same names."""
    return any(
        pointer == ""
        for subschema in document.subschemas.values()
        for pointer in document.references(subschema)
    )


def _renamed(document: SchemaDocument, exchanged: Mapping[str, str]) -> dict[str, Any]:
    def name(foreign: str) -> str:
        return exchanged.get(foreign, foreign)

    places = {
        f"/properties{json_pointer((foreign,))}": f"/properties{json_pointer((name(foreign),))}"
        for foreign in document.root.get("properties", {})
    }

    def place(pointer: str) -> str:
        steps = pointer.split("/")
        head, tail = "/".join(steps[:3]), steps[3:]
        return "/".join([places.get(head, head), *tail])

    schema = relocated(document, place)
    for keyword in ("properties", "dependentRequired"):
        if keyword in schema:
            schema[keyword] = {name(key): value for key, value in schema[keyword].items()}
    if "required" in schema:
        schema["required"] = [name(foreign) for foreign in schema["required"]]
    for key, names in schema.get("dependentRequired", {}).items():
        schema["dependentRequired"][key] = [name(foreign) for foreign in names]
    for keyword in ("default", "examples"):
        schema.pop(keyword, None)
    return schema


def _wrapped(document: SchemaDocument, port: str) -> PortMapping:
    is_of_objects = document.root.get("type") == "object"
    inner = f"/properties/{port}" if is_of_objects else f"/properties/{port}/allOf/0"
    top = tuple(f"/{keyword}/" for keyword in _DEFINITIONS)

    def place(pointer: str) -> str:
        return pointer if pointer.startswith(top) else inner + pointer

    schema = relocated(document, place)
    definitions = {key: schema.pop(key) for key in _DEFINITIONS if key in schema}
    wrapping: dict[str, Any] = {
        "type": "object",
        "properties": {port: schema if is_of_objects else {"type": "object", "allOf": [schema]}},
        "required": [port],
        "additionalProperties": False,
    }
    return PortMapping(wrapping | definitions, wrapped=port)
