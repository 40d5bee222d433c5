"""The keywords that older drafts had, or understood otherwise, in the words of draft 2020-12.

Each step changes the members of one subschema, and answers which keyword's subschemas now stand
under which other one. What is malformed stays as it is: the check of the result tells of it.
"""

from collections.abc import Callable
from typing import Any

from nexus_tools.tool import Mismatch
from nexus_tools.tool.schema_document import schema_error

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

    Answers, for a keyword that is new, the one under which its subschemas stood.
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
