"""Schemas of older drafts, and of OpenAPI, as draft 2020-12: they accept the same values.

What a draft does not know it ignores, and so that is left out. A schema that names no draft is read
generously, each keyword as in the draft that has it. Two differences stay: draft 4 tells 1.0 from
an integer, and in 2019-09 `contains` evaluates no items.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

from nexus_tools.bridges.older_keywords import UNSAID, Members, modernise
from nexus_tools.errors import ValidationError
from nexus_tools.tool import Mismatch, measure, pointer_of
from nexus_tools.tool.schema_document import schema_error

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
