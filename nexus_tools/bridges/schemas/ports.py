"""The arguments of a foreign tool as ports: verbatim, renamed, or wrapped into one port."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.tool import (
    ANCHORS,
    MAX_PORTS,
    Mismatch,
    SchemaDocument,
    direct_subschemas,
    pointer_of,
    relocated,
    schema_error,
)

_PORT = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^a-z0-9]+")

_DEFINITIONS = ("$defs", "definitions")
_HEAD = ("$schema", "$id", "$vocabulary")
_ANNOTATIONS = ("title", "description", "$comment", "deprecated", "readOnly", "writeOnly")
# Subschemas of the same object: what they say of properties stands in foreign names.
_IN_PLACE = frozenset(
    (
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        "dependentSchemas",
    )
)
# With these, the names of properties are more than a list.
_OPEN_NAMES = frozenset(("patternProperties", "propertyNames", "const", "enum"))


@dataclass(frozen=True, slots=True)
class PortMapping:
    """A schema whose properties are ports, and how its values become foreign ones and back.

    `schema` accepts ports if and only if the foreign schema accepts `to_arguments` of them. The
    names that are exchanged are exchanged both ways: nothing is lost where undeclared names pass.
    """

    schema: dict[str, Any]
    wrapped: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def to_arguments(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        """What the foreign tool is called with, for ports that the schema accepts."""
        if self.wrapped is not None:
            return dict(ports[self.wrapped])
        return {self.names.get(name, name): value for name, value in ports.items()}

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The ports for what a foreign tool takes or gives."""
        if self.wrapped is not None:
            return {self.wrapped: dict(arguments)}
        return {self.names.get(name, name): value for name, value in arguments.items()}


def map_ports(schema: Mapping[str, Any], *, wrapped: str = "arguments") -> PortMapping:
    """The ports for a schema of draft 2020-12 that describes an object.

    Names that are ports already stay. Others are renamed in snake case; where that cannot be, the
    whole goes into the one port `wrapped`: two names would be one, or there are more than 32, or
    the schema is no plain object of properties. Raises `ValidationError` with code
    `schema_invalid` if it is no schema that the house takes, or describes no object.
    """
    document = _of_objects(_inlined(SchemaDocument.parse(dict(schema))))
    root = document.root
    names = dict.fromkeys([*root.get("properties", {}), *root.get("required", ())])
    is_plain = root.get("type") == "object" and _names_in_place(document) <= names.keys()
    if len(names) > MAX_PORTS or not is_plain:
        return _wrapped(document, wrapped)
    if all(map(_PORT.fullmatch, names)):
        return PortMapping(relocated(document, lambda pointer: pointer))
    exchanged = _exchanged(names)
    if not exchanged or not _IN_PLACE.isdisjoint(root) or _refers_to_itself(document):
        return _wrapped(document, wrapped)
    return PortMapping(_renamed(document, exchanged), names=exchanged)


def snake_case(name: str) -> str:
    """The name of a port for a foreign name; empty if nothing of it can stand in one.

    `perPage` is `per_page`, `X-Api` is `x_api`, `2fa` is `p_2fa`.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    letters = "".join(each for each in decomposed if not unicodedata.combining(each))
    words = _OTHER.sub("_", _WORD_STARTS.sub("_", letters).lower()).strip("_")
    return f"p_{words}" if words[:1].isdigit() else words


def _inlined(document: SchemaDocument) -> dict[str, Any]:
    """The root; where it does nothing but refer to a definition, that one in its place."""
    root = document.root
    beside = {*_HEAD, *_DEFINITIONS, *_ANNOTATIONS, "$ref"}
    if "$ref" not in root or not root.keys() <= beside:
        return root
    _, target = document.target("")
    if not isinstance(target, dict) or not target.keys().isdisjoint((*_DEFINITIONS, "$ref")):
        return root
    copied = {key: value for key, value in target.items() if key not in ANCHORS}
    return copied | {key: value for key, value in root.items() if key != "$ref"}


def _of_objects(root: dict[str, Any]) -> SchemaDocument:
    """The schema without its head; it says of itself that it is of objects, as arguments are.

    One that may stand inside of itself says so only if it did: in there it is of other values too.
    """
    types = root.get("type", "object")
    if types != "object" and (isinstance(types, str) or "object" not in types):
        message = "it describes no object: arguments have names"
        raise schema_error([Mismatch("/type", message)])
    document = SchemaDocument.parse({key: root[key] for key in root if key not in _HEAD})
    if root.get("type") == "object" or _refers_to_itself(document):
        return document
    return SchemaDocument.parse({"type": "object"} | document.root | {"type": "object"})


def _names_in_place(document: SchemaDocument) -> set[str]:
    """What subschemas of the object itself call properties; `*` if that is no list of names."""
    found: set[str] = set()
    seen: set[str] = set()
    pending = [""]
    while pending:
        pointer = pending.pop()
        schema = document.subschemas[pointer]
        if pointer in seen or isinstance(schema, bool):
            continue
        seen.add(pointer)
        if not _OPEN_NAMES.isdisjoint(schema):
            return {"*"}
        for keyword in ("properties", "required", "dependentRequired"):
            found.update(schema.get(keyword, ()))
        found.update(*schema.get("dependentRequired", {}).values())
        pending += document.references(schema)
        pending += [at for word, at, _ in direct_subschemas(pointer, schema) if word in _IN_PLACE]
    return found


def _exchanged(names: Mapping[str, None]) -> dict[str, str]:
    """Which names take each other's places; empty if they cannot be told apart then."""
    renamed = {name: snake_case(name) for name in names if not _PORT.fullmatch(name)}
    ports = {*renamed.values()}
    if len(ports) < len(renamed) or "" in ports or not ports.isdisjoint(names):
        return {}
    return renamed | {port: name for name, port in renamed.items()}


def _refers_to_itself(document: SchemaDocument) -> bool:
    """Whether the foreign object, names and all, may stand inside of itself."""
    return any(
        pointer == ""
        for subschema in document.subschemas.values()
        for pointer in document.references(subschema)
    )


def _renamed(document: SchemaDocument, exchanged: Mapping[str, str]) -> dict[str, Any]:
    def name(foreign: str) -> str:
        return exchanged.get(foreign, foreign)

    places = {
        f"/properties{pointer_of((foreign,))}": f"/properties{pointer_of((name(foreign),))}"
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
