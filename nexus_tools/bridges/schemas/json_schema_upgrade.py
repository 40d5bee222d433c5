"""Schemas of older drafts, and of OpenAPI, as draft 2020-12: they accept the same values.

What a draft does not know it ignores, and so that is left out. A schema that names no draft is read
generously, each keyword as in the draft that has it. Three differences stay: draft 4 tells 1.0 from
an integer, in 2019-09 `contains` evaluates no items, and a `pattern` that no engine in linear time
takes, such as the look-ahead of zod's `email()`, is a comment: the tool checks that by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Mismatch, measure, pattern_mismatches, pointer_of, schema_error

UNSAID = 0
"""The draft of a schema that names none: each keyword is read as in the draft that has it."""

Members = dict[str, Any]
Origin = dict[str, str]

# The draft that brought a keyword: those before ignore it.
_SINCE = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "$anchor"), 2019),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), 2019),
    **dict.fromkeys(("minContains", "maxContains"), 2019),
    **dict.fromkeys(("$recursiveRef", "$recursiveAnchor"), 2019),
    **dict.fromkeys(("prefixItems", "$dynamicRef", "$dynamicAnchor"), 2020),
}
# The last draft that has a keyword.
_UNTIL = {"dependencies": 7}

# What says nothing of values, and so may stand beside a `$ref` that hides the rest (draft 7, 8.3).
_BESIDE_REFERENCE = frozenset(
    (
        *("$ref", "$defs", "definitions", "title", "description", "default", "examples"),
        *("$comment", "readOnly", "writeOnly", "deprecated"),
    )
)


def modernise(members: Members, draft: int, pointer: str) -> Origin:
    """Change the members of a subschema of `draft`, which stands at `pointer`.

    Says, for a keyword that is new, the one under which its subschemas stood.
    """
    origin: Origin = {}
    for step in _STEPS:
        origin |= step(members, draft, pointer)
    return origin


def _leave_out_unknown(members: Members, draft: int, _pointer: str) -> Origin:
    if draft == UNSAID:
        return {}
    hidden = draft <= 7 and isinstance(members.get("$ref"), str)
    for keyword in list(members):
        known = _SINCE.get(keyword, 0) <= draft <= _UNTIL.get(keyword, draft)
        if not known or (hidden and keyword not in _BESIDE_REFERENCE):
            del members[keyword]
    return {}


def _identifiers(members: Members, draft: int, _pointer: str) -> Origin:
    """`id` and `$id` of the form `#name` were what `$anchor` is."""
    if draft == 4 and isinstance(members.get("id"), str):
        members["$id"] = members.pop("id")
    name = members.get("$id")
    if draft <= 7 and isinstance(name, str) and name.startswith("#"):
        del members["$id"]
        members |= {"$anchor": name[1:]} if name[1:] else {}
    return {}


def _required_of_properties(members: Members, _draft: int, _pointer: str) -> Origin:
    """`required: true` on a property (draft 3, section 5.7) is its name in the object's list."""
    if isinstance(members.get("required"), bool):
        del members["required"]
    properties = members.get("properties")
    if not isinstance(properties, dict):
        return {}
    lifted = [
        name
        for name, schema in properties.items()
        if isinstance(schema, dict) and schema.get("required") is True
    ]
    listed = members.get("required", [])
    if lifted and isinstance(listed, list):
        members["required"] = listed + [name for name in lifted if name not in listed]
    return {}


def _exclusive_bounds(members: Members, _draft: int, _pointer: str) -> Origin:
    """In draft 4 `exclusiveMinimum` is a truth about `minimum`, and no bound of its own."""
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if isinstance(members.get(exclusive), bool):
            is_exclusive = members.pop(exclusive)
            if is_exclusive and bound in members:
                members[exclusive] = members.pop(bound)
    return {}


def _nullable(members: Members, draft: int, _pointer: str) -> Origin:
    """`nullable: true` adds null to a `type` beside it (OpenAPI 3.0.3, Schema Object)."""
    types = members.get("type")
    if draft != UNSAID or not isinstance(members.get("nullable"), bool):
        return {}
    listed = [types] if isinstance(types, str) else types
    if members.pop("nullable") and isinstance(listed, list) and "null" not in listed:
        members["type"] = [*listed, "null"]
    return {}


def _tuples(members: Members, _draft: int, _pointer: str) -> Origin:
    """A list under `items` is `prefixItems`; `additionalItems`, of use only then, is `items`."""
    rest = members.pop("additionalItems", None)
    if not isinstance(members.get("items"), list) or "prefixItems" in members:
        return {}
    prefix = members.pop("items")
    if prefix:
        members["prefixItems"] = prefix
    if rest is not None:
        members["items"] = rest
    return {"prefixItems": "items", "items": "additionalItems"}


def _dependencies(members: Members, _draft: int, pointer: str) -> Origin:
    """`dependencies` on names are `dependentRequired`, those on schemas `dependentSchemas`."""
    both = members.get("dependencies")
    if not isinstance(both, dict):
        return {}
    if not members.keys().isdisjoint(("dependentRequired", "dependentSchemas")):
        message = "dependencies stands beside what has replaced it: keep one of them"
        raise schema_error([Mismatch(f"{pointer}/dependencies", message)])
    del members["dependencies"]
    names = {key: value for key, value in both.items() if isinstance(value, list)}
    schemas = {key: value for key, value in both.items() if not isinstance(value, list)}
    members |= {"dependentRequired": names} if names else {}
    members |= {"dependentSchemas": schemas} if schemas else {}
    return {"dependentSchemas": "dependencies"}


def _recursive_reference(members: Members, _draft: int, _pointer: str) -> Origin:
    """`$recursiveRef` is always `#`: within one document it leads where `$ref` would."""
    members.pop("$recursiveAnchor", None)
    target = members.pop("$recursiveRef", None)
    if isinstance(target, str):
        # A list of its own, so that no pointer into `allOf` changes.
        alternatives = members.get("allOf", [])
        if "$ref" not in members:
            members["$ref"] = target
        elif isinstance(alternatives, list):
            members["allOf"] = [*alternatives, {"$ref": target}]
    return {}


_STEPS: tuple[Callable[[Members, int, str], Origin], ...] = (
    _leave_out_unknown,
    _identifiers,
    _required_of_properties,
    _exclusive_bounds,
    _nullable,
    _tuples,
    _dependencies,
    _recursive_reference,
)


# --- Whole documents


_NEWEST = 2020
_DRAFTS = {
    "json-schema.org/schema": UNSAID,
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


def as_2020_12(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that draft 2020-12 reads as its own draft reads `schema`.

    `$schema` and `$id` are dropped; references follow what moves. Raises `ValidationError` with
    code `schema_invalid` for a draft that is none of 4 to 2020-12, and for what is no JSON or too
    deep; other mistakes stay for the check of the result.
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
        return UNSAID
    name = str(dialect).removeprefix("http://").removeprefix("https://").rstrip("#")
    if name not in _DRAFTS:
        message = f"{str(dialect)[:200]!r} is no draft from 4 to 2020-12"
        raise schema_error([Mismatch("/$schema", message)])
    return _DRAFTS[name]


def _base(root: Members, draft: int) -> str:
    """The address that the schema gives itself, which is taken from it; empty if it has none."""
    keyword = "id" if draft == 4 or (draft == UNSAID and "$id" not in root) else "$id"
    name = root.get(keyword)
    if not isinstance(name, str) or name.startswith("#"):
        return ""
    del root[keyword]
    return urldefrag(name).url


@dataclass(slots=True)
class _Conversion:
    """One schema on its way: what stands elsewhere now, and the subschemas that refer."""

    draft: int
    base: str
    places: dict[str, str] = field(default_factory=dict)
    referring: list[Members] = field(default_factory=list)

    def of(self, root: Members) -> Members:
        """The root, converted, and its references led to where their targets stand now."""
        converted: Members = self._converted(root, "", "")
        for members in self.referring:
            for keyword in ("$ref", "$dynamicRef"):
                if isinstance(members.get(keyword), str):
                    members[keyword] = self._reference(members[keyword])
        return converted

    def _converted(self, schema: Any, old: str, new: str) -> Any:
        """A subschema that stood at the pointer `old` and stands at `new`."""
        self.places[old] = new
        if not isinstance(schema, dict):
            return schema
        members = dict(schema)
        _leave_pattern_to_the_tool(members, old)
        origin = {} if self.draft == _NEWEST else modernise(members, self.draft, old)

        for keyword, value in members.items():
            was, is_ = f"{old}/{origin.get(keyword, keyword)}", f"{new}/{keyword}"

            def inner(part: Any, step: str, was: str = was, is_: str = is_) -> Any:
                return self._converted(part, was + step, is_ + step)

            members[keyword] = _with_subschemas(keyword, value, inner)
        if "$ref" in members or "$dynamicRef" in members:
            self.referring.append(members)
        return members

    def _reference(self, reference: str) -> str:
        fragment = _local(reference, self.base)
        if fragment is None:
            return reference
        pointer = unquote(fragment)
        place = self.places.get(pointer, pointer)
        return f"#{fragment}" if place == pointer else f"#{quote(place, safe='/~$')}"


# Where a subschema that accepts more makes the whole accept less.
_COUNTING = frozenset(("not", "if", "oneOf", "contains"))


def _leave_pattern_to_the_tool(members: Members, pointer: str) -> None:
    pattern = members.get("pattern")
    if not isinstance(pattern, str) or not _COUNTING.isdisjoint(pointer.split("/")):
        return
    if pattern_mismatches("", pattern):
        del members["pattern"]
        members.setdefault("$comment", f"the tool checks the pattern {pattern[:200]}")


def _with_subschemas(keyword: str, value: Any, convert: Callable[[Any, str], Any]) -> Any:
    """The value of a keyword, its subschemas converted: each with its pointer from the keyword."""
    if keyword in _SINGLE:
        return convert(value, "")
    if keyword in _LISTED and isinstance(value, list):
        return [convert(part, f"/{index}") for index, part in enumerate(value)]
    if keyword in _NAMED and isinstance(value, dict):
        return {name: convert(part, pointer_of((name,))) for name, part in value.items()}
    return value


def _local(reference: str, base: str) -> str | None:
    """The fragment of a reference into the schema itself; None if it leads elsewhere."""
    if reference.startswith("#"):
        return reference[1:]
    try:
        target = urldefrag(urljoin(base, reference))
    except ValueError:
        return None
    return target.fragment if base and target.url == base else None
