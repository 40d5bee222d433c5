"""A parsed JSON Schema document, with its subschemas by JSON pointer and with all references.

A reference is `#`, `#/json/pointer` or `#anchor` (JSON Schema 2020-12, core, sections 8.2 and 9.2).
The target of a reference must be a subschema of the document. Other documents are never read.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.tool.schemas.mismatch import MAX_MISMATCHES, Mismatch, mismatch_error
from nexus_tools.tool.strict_json import canonical_json, json_pointer, measure

Schema = dict[str, Any] | bool

MAX_BYTES = 49_152
MAX_SUBSCHEMAS = 2_000
_VOCABULARIES = 8
_MAX_DESCRIBED = 250
_MAX_MESSAGE = 300

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Keywords of older drafts, with their replacements. Under draft 2020-12, some validators still
# apply these keywords, and other validators do not.
_OLD_KEYWORDS = {
    "dependencies": "dependentRequired or dependentSchemas",
    "additionalItems": "items",
    "$recursiveRef": "$dynamicRef",
    "$recursiveAnchor": "$dynamicAnchor",
}

# The keywords whose value is a subschema, a list of subschemas, or an object of subschemas by name.
_SINGLE = (
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
_LISTED = ["allOf", "anyOf", "oneOf", "prefixItems"]
_NAMED = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]

# The characters that RFC 3986 allows unescaped in a fragment.
_FRAGMENT = "/?~!$&'()*+,;=:@-._"
_REFERENCES = ("$ref", "$dynamicRef")
ANCHOR_KEYWORDS = ("$anchor", "$dynamicAnchor")


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """A schema whose references all resolve, with its subschemas by pointer and its anchors."""

    root: dict[str, Any]
    subschemas: dict[str, Schema]
    anchors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, schema: object) -> "SchemaDocument":
        """Parse `schema`, or raise `ValidationError` with code `schema_invalid`."""
        if not isinstance(schema, dict):
            raise schema_error([Mismatch("", "expected a JSON object")])
        _check_size(schema)
        mismatches = _metaschema_mismatches(schema)
        if mismatches:
            raise schema_error(mismatches)
        subschemas = dict(_walk(schema))
        document = cls(schema, subschemas, _anchors(subschemas))
        mismatches = [m for p, s in subschemas.items() for m in document._broken_rules(p, s)]
        if mismatches:
            raise schema_error(mismatches)
        return document

    def resolve(self, reference: str) -> str:
        """Return the pointer of the subschema that `reference` names, or raise `KeyError`."""
        if not reference.startswith("#"):
            raise KeyError(reference)
        fragment = unquote(reference[1:])
        pointer = fragment if fragment[:1] in ("", "/") else self.anchors[fragment]
        if pointer not in self.subschemas:
            raise KeyError(reference)
        return pointer

    def references(self, schema: Schema) -> list[str]:
        """Return the pointers of the subschemas to which one subschema refers.

        A document without embedded resources has at most one `$dynamicAnchor` per name. A
        `$dynamicRef` therefore has the same target as a `$ref`.
        """
        if isinstance(schema, bool):
            return []
        return [self.resolve(schema[key]) for key in ("$ref", "$dynamicRef") if key in schema]

    def target(self, pointer: str) -> tuple[str, Schema]:
        """Return the target of the `$ref`s that start at `pointer`, and the target's pointer."""
        schema = self.subschemas[pointer]
        for _ in range(MAX_SUBSCHEMAS):
            if isinstance(schema, bool) or "$ref" not in schema:
                break
            pointer = self.resolve(schema["$ref"])
            schema = self.subschemas[pointer]
        return pointer, schema

    def _broken_rules(self, pointer: str, schema: Schema) -> Iterator[Mismatch]:
        if isinstance(schema, bool):
            return
        for keyword in _REFERENCES:
            if keyword in schema:
                yield from self._broken_reference(pointer, keyword, schema[keyword])
        if schema.get("$schema", DIALECT).rstrip("#") != DIALECT:
            message = f"the dialect is not draft 2020-12. Write {DIALECT} or omit $schema"
            yield Mismatch(f"{pointer}/$schema", message)
        for keyword in _OLD_KEYWORDS.keys() & schema.keys():
            message = f"{keyword} belongs to an older draft. Write {_OLD_KEYWORDS[keyword]}"
            yield Mismatch(pointer + json_pointer((keyword,)), message)
        if pointer and "$id" in schema:
            message = "an embedded $id starts another document. Refer to #/$defs/… instead"
            yield Mismatch(f"{pointer}/$id", message)

    def _broken_reference(self, pointer: str, keyword: str, reference: str) -> Iterator[Mismatch]:
        place = f"{pointer}/{keyword}"
        if not reference.startswith("#"):
            message = "a reference must not name another document. Copy its target into #/$defs"
            yield Mismatch(place, message)
            return
        try:
            self.resolve(reference)
        except KeyError:
            yield Mismatch(place, f"the subschema {reference[:200]!r} does not exist")


def schema_error(mismatches: Sequence[Mismatch]) -> ValidationError:
    """Return the error for an invalid schema, which lists each problem with its location."""
    return mismatch_error("schema_invalid", "the schema is invalid", mismatches)


def _check_size(schema: dict[str, Any]) -> None:
    try:
        measure(schema)
        size = len(canonical_json(schema))
    except ValidationError as error:
        raise schema_error([Mismatch("", error.message)]) from error
    if size > MAX_BYTES:
        message = f"expected at most {MAX_BYTES} bytes, got {size}. Shorten the descriptions"
        raise schema_error([Mismatch("", message)])


def direct_subschemas(pointer: str, schema: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the keyword, the pointer and the schema of each direct subschema."""
    for keyword in _SINGLE:
        if keyword in schema:
            yield keyword, f"{pointer}/{keyword}", schema[keyword]
    for keyword in _LISTED:
        for index, member in enumerate(schema.get(keyword, ())):
            yield keyword, f"{pointer}/{keyword}/{index}", member
    for keyword in _NAMED:
        for name, member in schema.get(keyword, {}).items():
            yield keyword, f"{pointer}/{keyword}{json_pointer((name,))}", member


def _walk(root: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    """Yield every subschema with its pointer. The schema must be valid under the metaschema."""
    pending: list[tuple[str, Any]] = [("", root)]
    for count in range(MAX_SUBSCHEMAS + 1):
        if not pending:
            return
        if count == MAX_SUBSCHEMAS:
            message = (
                f"it has more than {MAX_SUBSCHEMAS} subschemas. Describe less, or share subschemas"
                " with $ref"
            )
            raise schema_error([Mismatch("", message)])
        pointer, schema = pending.pop()
        yield pointer, schema
        if isinstance(schema, dict):
            pending.extend(
                (place, member) for _, place, member in direct_subschemas(pointer, schema)
            )


def _anchors(subschemas: dict[str, Schema]) -> dict[str, str]:
    """Return the pointer of the subschema of each anchor. Reject duplicate anchors."""
    anchors: dict[str, str] = {}
    locations = [
        (schema[keyword], pointer, f"{pointer}/{keyword}")
        for pointer, schema in subschemas.items()
        if isinstance(schema, dict)
        for keyword in ANCHOR_KEYWORDS
        if keyword in schema
    ]
    for name, pointer, location in locations:
        if anchors.setdefault(name, pointer) != pointer:
            message = f"the anchor {name[:80]!r} occurs twice"
            raise schema_error([Mismatch(location, message)])
    return anchors


def relocated(document: SchemaDocument, place: Callable[[str], str]) -> dict[str, Any]:
    """Return a copy of a schema whose references point to the relocated subschemas.

    `place` maps the JSON pointer of a subschema to its new pointer. The caller moves the
    subschemas. References by anchor become references by pointer, so that two schemas can be parts
    of one document even if they use the same anchor.
    """
    copy = SchemaDocument.parse(deepcopy(document.root))
    for subschema in copy.subschemas.values():
        if isinstance(subschema, dict):
            _relocate(copy, subschema, place)
    return copy.root


def _relocate(
    document: SchemaDocument, subschema: dict[str, Any], place: Callable[[str], str]
) -> None:
    for keyword in _REFERENCES:
        if keyword in subschema:
            pointer = place(document.resolve(subschema[keyword]))
            subschema[keyword] = "#" + quote(pointer, safe=_FRAGMENT)
    for keyword in ANCHOR_KEYWORDS:
        subschema.pop(keyword, None)


# --- Validation against the metaschema


def _metaschema_mismatches(schema: dict[str, Any]) -> list[Mismatch]:
    """Return the violations of the metaschema, or an empty list if `schema` is valid.

    The library jsonschema-rs decides in microseconds whether the schema is valid. If the schema is
    invalid, jsonschema describes the violations, which takes half a millisecond per subschema.
    Therefore only the first violation is returned for a large document. A schema that names another
    dialect is still checked as draft 2020-12.
    """
    import jsonschema_rs  # noqa: PLC0415 - native code, needed only where a schema is checked

    if not isinstance(schema.get("$schema", ""), str):
        return [Mismatch("/$schema", "the name of a dialect must be a string")]
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        jsonschema_rs.meta.validate(plain)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        described = _described(plain) if _is_small(plain) else []
        return described or [_first_mismatch(error)]
    return []


def _is_small(schema: dict[str, Any]) -> bool:
    """Return whether a document is so small that its violations can be described quickly."""
    pending: list[Any] = [schema]
    for _ in range(_MAX_DESCRIBED):
        if not pending:
            return True
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return False


def _first_mismatch(error: Exception) -> Mismatch:
    """Return the first violation that jsonschema-rs reports, with its location if it has one."""
    path = getattr(error, "instance_path", [])
    message = getattr(error, "message", str(error)).partition("\n")[0]
    return Mismatch(json_pointer(path), one_line(message, _MAX_MESSAGE))


def _described(schema: dict[str, Any]) -> list[Mismatch]:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 0.1 s, needed on errors

    errors = Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)
    # If a subschema is neither an object nor a boolean, each of the eight vocabularies reports it.
    mismatches = dict.fromkeys(
        Mismatch(json_pointer(list(error.absolute_path)), error.message)
        for error in islice(errors, _VOCABULARIES * MAX_MISMATCHES)
    )
    return sorted(mismatches, key=lambda mismatch: mismatch.pointer)[:MAX_MISMATCHES]
