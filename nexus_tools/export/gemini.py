"""Function declarations for Gemini, whose `parameters` are a subset of OpenAPI 3.0 schemas.

Sources: the API references of `FunctionDeclaration` and `Schema` (Gemini API and Vertex AI). The
service rejects:

* An object without properties, an array without items, and a schema without a type.
* An enum of values that are not strings, and a string format other than `enum` and `date-time`.
* An `anyOf` beside other fields, and keywords that `Schema` does not have.
"""

import json
import re
from typing import Any

from nexus_tools.export.exported import ExportedTool, to_arguments_schema
from nexus_tools.export.requirements import unmet_requirement
from nexus_tools.tool import SchemaDocument, ToolDefinition, json_pointer

Schema = dict[str, Any]

_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_ANNOTATIONS = ("title", "description")
_LIMITS = {
    "string": ("minLength", "maxLength", "pattern"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "object": (),
    "boolean": (),
}
_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_UNIONS = ("$ref", "$dynamicRef", "anyOf", "oneOf", "allOf")
_DEMANDS = (
    "properties",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "minProperties",
    "if",
)
_MAX_VALUES = 100
_MAX_SUBSCHEMAS = 2_000


class NotExpressibleError(Exception):
    """The error of a tool's schema that `Schema` cannot express, with the location and reason."""


def gemini_tool(definition: ToolDefinition, name: str) -> ExportedTool:
    """Return the function declaration of a tool.

    If the subset cannot express the input schema, the declaration has `parametersJsonSchema`, and a
    warning gives the reason. A tool without input has neither of the two fields.
    """
    arguments = to_arguments_schema(definition.input_schema, refused=frozenset(_UNIONS))
    document: dict[str, Any] = {
        "name": name,
        "description": definition.description or str(definition.fqn),
    }
    warning = ""
    try:
        parameters = _Subset(arguments.schema).parameters()
        if parameters["properties"]:
            document["parameters"] = parameters
    except NotExpressibleError as error:
        document["parametersJsonSchema"] = arguments.schema
        warning = (
            f"{definition.fqn} uses parametersJsonSchema, which older models and clients do not"
            f" support: {error}"
        )
    return ExportedTool(definition, name, document, arguments, warning)


class _Subset:
    """The conversion of a schema to the subset, which may omit constraints but does not add any.

    A reference is replaced by a copy of its target, so the result can be far larger than the
    schema. Therefore the number of subschemas in the result is limited.
    """

    def __init__(self, schema: Schema) -> None:
        self._document = SchemaDocument.parse(schema)
        self._count = 0

    def parameters(self) -> Schema:
        """Return the schema of all arguments. Without arguments, the `properties` are empty."""
        root = self._document.root
        return self._object({"properties": {}, **root}, "") | {"type": "object"}

    def _converted(self, schema: Schema | bool, place: str, within: frozenset[str]) -> Schema:
        self._count += 1
        if self._count > _MAX_SUBSCHEMAS:
            raise _not_expressible(
                place,
                f"it has more than {_MAX_SUBSCHEMAS} subschemas after references are replaced",
            )
        if isinstance(schema, bool):
            raise _not_expressible(place, "it allows any value" if schema else "it allows no value")
        unions = [key for key in _UNIONS if key in schema]
        conflicts = [key for key in _DEMANDS if unions and key in schema]
        if len(unions) > 1 or conflicts:
            raise _not_expressible(
                place, f"it has {' and '.join([*unions, *conflicts][:2])} together"
            )
        copy = {key: schema[key] for key in _ANNOTATIONS if key in schema}
        if unions:
            return self._union(schema, unions[0], copy, place, within)
        types = _types(schema, place)
        branches = [
            copy | self._typed(schema, kind, place, within) for kind in types if kind != "null"
        ]
        return _joined(branches, nullable="null" in types, place=place)

    def _union(
        self, schema: Schema, keyword: str, copy: Schema, place: str, within: frozenset[str]
    ) -> Schema:
        if keyword in ("$ref", "$dynamicRef"):
            [target] = self._document.references(schema)
            if target in within:
                raise _not_expressible(place, "it contains itself")
            target_schema = self._document.subschemas[target]
            return self._converted(target_schema, target, within | {target}) | copy
        members = schema[keyword]
        if keyword == "allOf" and len(members) > 1:
            raise _not_expressible(place, "it has allOf")
        branches, nullable = [], False
        for index, member in enumerate(members):
            if isinstance(member, dict) and _is_null(member):
                nullable = True
            else:
                at = f"{place}/{keyword}/{index}"
                branches.append(copy | self._converted(member, at, within))
        flat = [inner for branch in branches for inner in branch.get("anyOf", (branch,))]
        return _joined(flat, nullable=nullable, place=place)

    def _typed(self, schema: Schema, kind: str, place: str, within: frozenset[str]) -> Schema:
        copy: Schema = {"type": kind}
        copy |= {key: schema[key] for key in _LIMITS[kind] if key in schema}
        if kind == "object":
            copy |= self._object(schema, place, within)
            if not copy["properties"]:
                raise _not_expressible(place, "it is an object without properties")
        if kind == "array":
            if "items" not in schema or "prefixItems" in schema:
                raise _not_expressible(place, "it does not describe all items by one schema")
            copy["items"] = self._converted(schema["items"], f"{place}/items", within)
        return copy | _values(schema, kind)

    def _object(self, schema: Schema, place: str, within: frozenset[str] = frozenset()) -> Schema:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties")
        if isinstance(others, dict) or "patternProperties" in schema:
            raise _not_expressible(place, "it allows properties with arbitrary names")
        invalid = [name for name in properties if not _PROPERTY.fullmatch(name)]
        if invalid:
            raise _not_expressible(place, f"{invalid[0][:80]!r} is not a name that Gemini accepts")
        unmet = unmet_requirement(schema, set(properties))
        if unmet:
            raise _not_expressible(place, unmet)
        copies = {
            name: self._converted(inner, f"{place}/properties{json_pointer((name,))}", within)
            for name, inner in properties.items()
        }
        required = [name for name in schema.get("required", ()) if name in copies]
        return {"properties": copies} | ({"required": required} if required else {})


def _types(schema: Schema, place: str) -> list[str]:
    declared = schema.get("type", [])
    if declared:
        return [declared] if isinstance(declared, str) else list(declared)
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    kinds = ["null" if value is None else _TYPES[type(value)] for value in values]
    if not kinds and "properties" in schema:
        kinds = ["object"]
    if not kinds:
        raise _not_expressible(place, "it has no type")
    return list(dict.fromkeys(kinds))


def _is_null(schema: Schema) -> bool:
    return schema.get("type") == "null" or schema.get("const", "") is None


def _values(schema: Schema, kind: str) -> Schema:
    """Return the `enum` of strings, or a description that lists the values of other types."""
    all_values = (
        schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    )
    kinds = ("integer", "number") if kind == "number" else (kind,)
    values = [value for value in all_values if value is not None and _TYPES[type(value)] in kinds]
    if not values:
        has_format = kind == "string" and schema.get("format") == "date-time"
        return {"format": "date-time"} if has_format else {}
    if kind == "string" and all(values):
        return {"format": "enum", "enum": values}
    description = f"One of: {', '.join(map(json.dumps, values[:_MAX_VALUES]))}."
    return {"description": " ".join(filter(None, [schema.get("description", ""), description]))}


def _joined(branches: list[Schema], *, nullable: bool, place: str) -> Schema:
    if not branches:
        raise _not_expressible(place, "it allows only null")
    if nullable:
        branches = [branch | {"nullable": True} for branch in branches]
    # `anyOf` excludes other fields, so each branch contains title and description.
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def _not_expressible(place: str, problem: str) -> NotExpressibleError:
    return NotExpressibleError(f"{place or 'at its root'}: {problem}")
