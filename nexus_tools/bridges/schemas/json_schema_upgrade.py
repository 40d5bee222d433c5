"""Conversion of JSON Schemas from older drafts and from OpenAPI to draft 2020-12.

A converted schema accepts the same values. Keywords that are unknown to the schema's draft are
removed, because that draft ignores them. If a schema does not declare a draft, each keyword is
interpreted according to the draft that defines it. Three differences remain. Draft 4 distinguishes
1.0 from an integer. In 2019-09 `contains` does not evaluate items. A `pattern` that no linear-time
engine supports, such as the look-ahead of zod's `email()`, becomes a comment, because the tool
itself checks the pattern.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Mismatch, json_pointer, measure, pattern_mismatches, schema_error

UNDECLARED_DRAFT = 0
"""The draft of a schema without `$schema`, whose keywords may come from any draft."""

SchemaMembers = dict[str, Any]
Origin = dict[str, str]

# The draft that introduced a keyword. Earlier drafts ignore the keyword.
_FIRST_DRAFT = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "$anchor"), 2019),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), 2019),
    **dict.fromkeys(("minContains", "maxContains"), 2019),
    **dict.fromkeys(("$recursiveRef", "$recursiveAnchor"), 2019),
    **dict.fromkeys(("prefixItems", "$dynamicRef", "$dynamicAnchor"), 2020),
}
# The last draft that defines a keyword.
_LAST_DRAFT = {"dependencies": 7}

# Keywords that do not constrain values. Only these keywords remain beside a `$ref`, because older
# drafts ignore all siblings of a `$ref` (draft 7, section 8.3).
_ALLOWED_BESIDE_REFERENCE = frozenset(
    (
        *("$ref", "$defs", "definitions", "title", "description", "default", "examples"),
        *("$comment", "readOnly", "writeOnly", "deprecated"),
    )
)


def upgrade_keywords(members: SchemaMembers, draft: int, pointer: str) -> Origin:
    """Convert the keywords of a subschema at `pointer` in place, and return their origins."""
    origin: Origin = {}
    for step in _STEPS:
        origin |= step(members, draft, pointer)
    return origin


def _remove_unknown_keywords(members: SchemaMembers, draft: int, _pointer: str) -> Origin:
    if draft == UNDECLARED_DRAFT:
        return {}
    hidden = draft <= 7 and isinstance(members.get("$ref"), str)
    for keyword in list(members):
        is_known = _FIRST_DRAFT.get(keyword, 0) <= draft <= _LAST_DRAFT.get(keyword, draft)
        if not is_known or (hidden and keyword not in _ALLOWED_BESIDE_REFERENCE):
            del members[keyword]
    return {}


def _identifiers(members: SchemaMembers, draft: int, _pointer: str) -> Origin:
    """Convert `id` and `$id` of the form `#name` to `$anchor`."""
    if draft == 4 and isinstance(members.get("id"), str):
        members["$id"] = members.pop("id")
    name = members.get("$id")
    if draft <= 7 and isinstance(name, str) and name.startswith("#"):
        del members["$id"]
        members |= {"$anchor": name[1:]} if name[1:] else {}
    return {}


def _required_of_properties(members: SchemaMembers, _draft: int, _pointer: str) -> Origin:
    """Move `required: true` of a property (draft 3, section 5.7) to its object's `required`."""
    if isinstance(members.get("required"), bool):
        del members["required"]
    properties = members.get("properties")
    if not isinstance(properties, dict):
        return {}
    required_names = [
        name
        for name, schema in properties.items()
        if isinstance(schema, dict) and schema.get("required") is True
    ]
    listed_names = members.get("required", [])
    if required_names and isinstance(listed_names, list):
        members["required"] = listed_names + [
            name for name in required_names if name not in listed_names
        ]
    return {}


def _exclusive_bounds(members: SchemaMembers, _draft: int, _pointer: str) -> Origin:
    """Convert the boolean `exclusiveMinimum` of draft 4, which qualifies `minimum`, to a bound."""
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if isinstance(members.get(exclusive), bool):
            is_exclusive = members.pop(exclusive)
            if is_exclusive and bound in members:
                members[exclusive] = members.pop(bound)
    return {}


def _nullable(members: SchemaMembers, draft: int, _pointer: str) -> Origin:
    """Convert `nullable: true` beside a `type` to the type null (OpenAPI 3.0.3, Schema Object)."""
    types = members.get("type")
    if draft != UNDECLARED_DRAFT or not isinstance(members.get("nullable"), bool):
        return {}
    type_list = [types] if isinstance(types, str) else types
    if members.pop("nullable") and isinstance(type_list, list) and "null" not in type_list:
        members["type"] = [*type_list, "null"]
    return {}


def _tuples(members: SchemaMembers, _draft: int, _pointer: str) -> Origin:
    """Convert an array in `items` to `prefixItems`, and `additionalItems` to `items`."""
    rest = members.pop("additionalItems", None)
    if not isinstance(members.get("items"), list) or "prefixItems" in members:
        return {}
    prefix = members.pop("items")
    if prefix:
        members["prefixItems"] = prefix
    if rest is not None:
        members["items"] = rest
    return {"prefixItems": "items", "items": "additionalItems"}


def _dependencies(members: SchemaMembers, _draft: int, pointer: str) -> Origin:
    """Split `dependencies` into `dependentRequired` (names) and `dependentSchemas` (schemas)."""
    dependencies = members.get("dependencies")
    if not isinstance(dependencies, dict):
        return {}
    if not members.keys().isdisjoint(("dependentRequired", "dependentSchemas")):
        message = (
            "dependencies cannot be combined with dependentRequired or dependentSchemas. Keep"
            " only one"
        )
        raise schema_error([Mismatch(f"{pointer}/dependencies", message)])
    del members["dependencies"]
    names = {key: value for key, value in dependencies.items() if isinstance(value, list)}
    schemas = {key: value for key, value in dependencies.items() if not isinstance(value, list)}
    members |= {"dependentRequired": names} if names else {}
    members |= {"dependentSchemas": schemas} if schemas else {}
    return {"dependentSchemas": "dependencies"}


def _recursive_reference(members: SchemaMembers, _draft: int, _pointer: str) -> Origin:
    """Convert `$recursiveRef`, whose value is always `#`, to the equivalent `$ref`."""
    members.pop("$recursiveAnchor", None)
    target = members.pop("$recursiveRef", None)
    if isinstance(target, str):
        # Append to a copy of the list, so that existing pointers into `allOf` remain valid.
        alternatives = members.get("allOf", [])
        if "$ref" not in members:
            members["$ref"] = target
        elif isinstance(alternatives, list):
            members["allOf"] = [*alternatives, {"$ref": target}]
    return {}


_STEPS: tuple[Callable[[SchemaMembers, int, str], Origin], ...] = (
    _remove_unknown_keywords,
    _identifiers,
    _required_of_properties,
    _exclusive_bounds,
    _nullable,
    _tuples,
    _dependencies,
    _recursive_reference,
)


# --- Whole documents: convert every subschema, then update references to the moved subschemas


_NEWEST = 2020
_DRAFTS = {
    "json-schema.org/schema": UNDECLARED_DRAFT,
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": _NEWEST,
}

_SINGLE = frozenset(
    (
        *("not", "if", "then", "else", "items", "contains", "propertyNames", "contentSchema"),
        *("additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
    )
)
_LISTED = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_NAMED = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))


def upgrade_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of draft 2020-12 that is equivalent to `schema` in its own draft.

    The conversion drops `$schema` and `$id` and updates references to subschemas that move.

    Raises:
        ValidationError: with code `schema_invalid` if the draft is not between 4 and 2020-12, or if
            the schema is not JSON or too deep. Other errors are found when the result is checked.
    """
    root = dict(schema)
    try:
        measure(root)
    except ValidationError as error:
        raise schema_error([Mismatch("", error.message)]) from error
    draft = _draft(root.pop("$schema", None))
    return _Conversion(draft, _base(root, draft)).of(root)


def _draft(dialect: object) -> int:
    if dialect is None:
        return UNDECLARED_DRAFT
    name = str(dialect).removeprefix("http://").removeprefix("https://").rstrip("#")
    if name not in _DRAFTS:
        message = f"{str(dialect)[:200]!r} is not a supported draft (4 to 2020-12)"
        raise schema_error([Mismatch("/$schema", message)])
    return _DRAFTS[name]


def _base(root: SchemaMembers, draft: int) -> str:
    """Remove and return the URI by which the schema identifies itself, or an empty string."""
    keyword = "id" if draft == 4 or (draft == UNDECLARED_DRAFT and "$id" not in root) else "$id"
    name = root.get(keyword)
    if not isinstance(name, str) or name.startswith("#"):
        return ""
    del root[keyword]
    return urldefrag(name).url


@dataclass(slots=True)
class _Conversion:
    """The conversion of one schema.

    The conversion maps old pointers to new pointers and records references.
    """

    draft: int
    base: str
    places: dict[str, str] = field(default_factory=dict)
    referring: list[SchemaMembers] = field(default_factory=list)

    def of(self, root: SchemaMembers) -> SchemaMembers:
        """Return the converted root, with references to the new locations of their targets."""
        converted: SchemaMembers = self._convert(root, "", "")
        for members in self.referring:
            for keyword in ("$ref", "$dynamicRef"):
                if isinstance(members.get(keyword), str):
                    members[keyword] = self._reference(members[keyword])
        return converted

    def _convert(self, schema: Any, old: str, new: str) -> Any:
        """Return the converted subschema that moves from pointer `old` to pointer `new`."""
        self.places[old] = new
        if not isinstance(schema, dict):
            return schema
        members = dict(schema)
        _remove_unsupported_pattern(members, old)
        origin = {} if self.draft == _NEWEST else upgrade_keywords(members, self.draft, old)

        for keyword, value in members.items():
            old_pointer, new_pointer = f"{old}/{origin.get(keyword, keyword)}", f"{new}/{keyword}"

            def inner(
                part: Any, step: str, old_pointer: str = old_pointer, new_pointer: str = new_pointer
            ) -> Any:
                return self._convert(part, old_pointer + step, new_pointer + step)

            members[keyword] = _with_subschemas(keyword, value, inner)
        if "$ref" in members or "$dynamicRef" in members:
            self.referring.append(members)
        return members

    def _reference(self, reference: str) -> str:
        fragment = _local_fragment(reference, self.base)
        if fragment is None:
            return reference
        pointer = unquote(fragment)
        place = self.places.get(pointer, pointer)
        return f"#{fragment}" if place == pointer else f"#{quote(place, safe='/~$')}"


# Keywords whose schema may accept fewer values if their subschema accepts more values.
_NOT_MONOTONIC = frozenset(("not", "if", "oneOf", "contains"))


def _remove_unsupported_pattern(members: SchemaMembers, pointer: str) -> None:
    pattern = members.get("pattern")
    if not isinstance(pattern, str) or not _NOT_MONOTONIC.isdisjoint(pointer.split("/")):
        return
    if pattern_mismatches("", pattern):
        del members["pattern"]
        members.setdefault("$comment", f"The tool checks the pattern {pattern[:200]}")


def _with_subschemas(keyword: str, value: Any, convert: Callable[[Any, str], Any]) -> Any:
    """Return a keyword's value with each subschema converted by `convert`."""
    if keyword in _SINGLE:
        return convert(value, "")
    if keyword in _LISTED and isinstance(value, list):
        return [convert(part, f"/{index}") for index, part in enumerate(value)]
    if keyword in _NAMED and isinstance(value, dict):
        return {name: convert(part, json_pointer((name,))) for name, part in value.items()}
    return value


def _local_fragment(reference: str, base: str) -> str | None:
    """Return the fragment of a reference into the schema itself, or None for other references."""
    if reference.startswith("#"):
        return reference[1:]
    try:
        target = urldefrag(urljoin(base, reference))
    except ValueError:
        return None
    return target.fragment if base and target.url == base else None
