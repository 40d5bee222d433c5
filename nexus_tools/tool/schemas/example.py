"""The generator of a small valid input or answer for a schema, to try an unfamiliar tool.

The generator is deterministic, so the same schema always yields the same example. The generator
first tries values of the author (`examples`, `default`, `const`, `enum`), then the smallest plain
values within the bounds. Every candidate is validated, so the result is valid.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from math import ceil, floor
from typing import Any
from urllib.parse import quote

from nexus_tools.errors import ValidationError
from nexus_tools.tool.outcome import Answer
from nexus_tools.tool.schemas.example_pattern import matching_texts
from nexus_tools.tool.schemas.schema import check_input_schema, check_output_schema
from nexus_tools.tool.schemas.schema_document import Schema, SchemaDocument
from nexus_tools.tool.schemas.validation_cost import linear_time_options
from nexus_tools.tool.strict_json import canonical_json

_MAX_TRIES = 400
# The number of inspected subschemas over all tries, because an untrusted schema may branch
# endlessly.
_MAX_LOOKS = 20_000
_MAX_DEPTH = 12
# The number of characters in guessed strings over all tries, because many ports may require long
# strings.
_MAX_TEXT = 10_000_000
_FEW = 8
_ALL_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def example_input(input_schema: object) -> dict[str, Any]:
    """Return the first valid input that the generator finds for an input schema.

    Raises `ValidationError` with code `example_not_found` if guessing fails.
    """
    schema = check_input_schema(input_schema)
    candidates = _Candidates(schema.document).of(schema.document.root, 0)
    for candidate in islice(candidates, _MAX_TRIES):
        if isinstance(candidate, dict) and schema.validator.is_valid(candidate):
            return candidate
    raise _not_found("cannot derive a valid input from the input schema")


def example_answer(output_schema: object, variant: str) -> Answer:
    """Return the first valid answer of a variant that the generator finds for an output schema.

    Raises `ValidationError` with code `example_not_found` if guessing fails or the variant is
    unknown.
    """
    schema = check_output_schema(output_schema)
    if variant in schema.variants:
        ports = schema.document.subschemas[schema.variants[variant]]
        for candidate in islice(_Candidates(schema.document).of(ports, 0), _MAX_TRIES):
            if schema.validator.is_valid({variant: candidate}):
                return Answer(variant, candidate)
    raise _not_found(f"cannot derive the variant {variant[:80]!r} from the output schema")


def _not_found(problem: str) -> ValidationError:
    return ValidationError(
        "example_not_found",
        f"cannot generate an example: {problem}",
        hint='Add one to the schema: "examples": [{…}].',
    )


class _Candidates:
    """A generator of values that may be valid. The most likely values come first."""

    def __init__(self, document: SchemaDocument) -> None:
        from jsonschema_rs import validator_map_for  # noqa: PLC0415 - native code, needed late

        self._document = document
        self._looks_left = _MAX_LOOKS
        self._text_left = _MAX_TEXT
        self._validators = validator_map_for(
            document.root, pattern_options=linear_time_options(), offline=True
        )
        self._pointers = {id(schema): pointer for pointer, schema in document.subschemas.items()}
        self._by_type = {
            "string": self._texts,
            "integer": lambda schema, _: _integer_candidates(schema),
            "number": lambda schema, _: _number_candidates(schema),
            "boolean": lambda *_: iter((False, True)),
            "null": lambda *_: iter((None,)),
            "object": self._objects,
            "array": self._arrays,
        }

    def of(self, schema: Schema, depth: int) -> Iterator[Any]:
        """Yield candidates for a subschema, validated if the subschema is in the document."""
        candidates = self._guesses(schema, depth)
        pointer = None if isinstance(schema, bool) else self._pointers.get(id(schema))
        validator = None if pointer is None else self._validators.get("#" + quote(pointer))
        if validator is not None:
            candidates = filter(validator.is_valid, islice(candidates, _MAX_TRIES))
        yield from candidates

    def _guesses(self, schema: Schema, depth: int) -> Iterator[Any]:
        if schema is False or depth > _MAX_DEPTH or self._looks_left <= 0:
            return
        merged = self._merged({} if schema is True else schema, depth)
        yield from merged.get("examples", ())
        yield from (merged[key] for key in ("default", "const") if key in merged)
        if "enum" in merged:
            yield from merged["enum"]
            return
        for keyword in ("oneOf", "anyOf"):
            if keyword in merged:
                rest = {key: value for key, value in merged.items() if key != keyword}
                for branch in merged[keyword]:
                    yield from self.of({"allOf": [rest, branch]}, depth + 1)
                return
        yield from self._conditional(merged, depth)

    def _conditional(self, schema: dict[str, Any], depth: int) -> Iterator[Any]:
        if "if" in schema:
            rest = {k: v for k, v in schema.items() if k not in ("if", "then", "else")}
            for parts in (["if", "then"], ["else"]):
                met = [schema[part] for part in parts if part in schema]
                yield from self.of({"allOf": [rest, *met]}, depth + 1)
            return
        types = schema.get("type", _implied_types(schema))
        for name in [types] if isinstance(types, str) else types:
            yield from self._by_type[name](schema, depth)

    def _merged(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """Return a copy of a schema with the targets of its `$ref` and `allOf` merged into it."""
        self._looks_left -= 1
        merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts: list[Schema] = list(schema.get("allOf", ()))
        if "$ref" in schema:
            parts.append(self._document.subschemas[self._document.resolve(schema["$ref"])])
        for part in parts if depth <= _MAX_DEPTH and self._looks_left > 0 else ():
            if isinstance(part, dict):
                _merge_into(merged, self._merged(part, depth + 1))
        return merged

    def _texts(self, schema: dict[str, Any], _: int) -> Iterator[str]:
        for text in _text_candidates(schema):
            self._text_left -= len(text)
            if self._text_left < 0:
                return
            yield text

    def _objects(self, schema: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
        names = _wanted_names(schema)
        choices = {
            name: list(islice(self.of(_member_schema(schema, name), depth + 1), _FEW))
            for name in names
        }
        if not all(choices.values()):
            return
        first = {name: options[0] for name, options in choices.items()}
        yield first
        for name, options in choices.items():
            yield from (first | {name: option} for option in options[1:])

    def _arrays(self, schema: dict[str, Any], depth: int) -> Iterator[list[Any]]:
        count = schema.get("minItems", 0)
        if count > _MAX_TRIES:
            return
        parts: list[Schema] = list(schema.get("prefixItems", ()))[: max(count, 1)]
        rest = schema.get("items", True)
        if "contains" in schema:
            needed = schema.get("minContains", 1)
            parts += [{"allOf": [rest, schema["contains"]]}] * min(needed, _MAX_TRIES)
        parts += [rest] * (count - len(parts))
        if not count and "contains" not in schema:
            yield []
            return
        distinct_parts = {id(part): part for part in parts}
        options = {
            key: list(islice(self.of(part, depth + 1), count + _FEW))
            for key, part in distinct_parts.items()
        }
        choices = [options[id(part)] for part in parts]
        for skipped in range(_FEW):
            array = _chosen(choices, skipped, distinct=schema.get("uniqueItems", False))
            if array is not None:
                yield array


def _wanted_names(schema: dict[str, Any]) -> list[str]:
    """Return the required names of an object, and optional names up to `minProperties`."""
    names = list(schema.get("required", ()))
    for name in names:
        entailed = schema.get("dependentRequired", {}).get(name, ())
        names.extend(other for other in entailed if other not in names)
    optional = [name for name in schema.get("properties", {}) if name not in names]
    return names + optional[: max(0, schema.get("minProperties", 0) - len(names))]


def _member_schema(schema: dict[str, Any], name: str) -> Schema:
    members: dict[str, Schema] = schema.get("properties", {})
    fallback: Schema = schema.get("additionalProperties", True)
    return members.get(name, fallback)


def _implied_types(schema: dict[str, Any]) -> tuple[str, ...]:
    """Return the types that the keywords imply if `type` is missing."""
    if {"properties", "required", "minProperties"} & schema.keys():
        return ("object", *_ALL_TYPES)
    if {"items", "prefixItems", "minItems", "contains"} & schema.keys():
        return ("array", *_ALL_TYPES)
    if {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} & schema.keys():
        return ("number", *_ALL_TYPES)
    return _ALL_TYPES


def _chosen(choices: list[list[Any]], skipped: int, *, distinct: bool) -> list[Any] | None:
    """Return one choice per item, skipping the first `skipped` choices of each item.

    Return None if an item does not have enough choices.
    """
    array: list[Any] = []
    taken: set[bytes] = set()
    for options in choices:
        left = [option for option in options[skipped:] if canonical_json(option) not in taken]
        if not left:
            return None
        array.append(left[0])
        if distinct:
            taken.add(canonical_json(left[0]))
    return array


def _merge_into(merged: dict[str, Any], other: dict[str, Any]) -> None:
    """Merge the schema `other` into `merged` approximately.

    Wrong candidates fail validation later.
    """
    for keyword, value in other.items():
        if keyword not in merged:
            merged[keyword] = value
        elif keyword == "required":
            merged[keyword] = list(dict.fromkeys([*merged[keyword], *value]))
        elif keyword == "properties":
            merged[keyword] = _merged_properties(merged[keyword], value)
        elif keyword == "type":
            merged[keyword] = _common_types(merged[keyword], value)
        elif keyword in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
            merged[keyword] = max(merged[keyword], value)
        elif keyword in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
            merged[keyword] = min(merged[keyword], value)


def _merged_properties(mine: dict[str, Schema], theirs: dict[str, Schema]) -> dict[str, Schema]:
    both = {name: {"allOf": [theirs[name], mine[name]]} for name in mine if name in theirs}
    return {**theirs, **mine, **both}


def _common_types(mine: str | list[str], theirs: str | list[str]) -> list[str]:
    listed = [mine] if isinstance(mine, str) else mine
    allowed = [theirs] if isinstance(theirs, str) else theirs
    common = [name for name in listed if name in allowed]
    return common or (["integer"] if "integer" in (*listed, *allowed) else listed)


# --- Strings that satisfy `format`, `pattern` and the bounds on length

_VARIATIONS = 12
_MAX_LENGTH = 100_000

_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "iri": "https://example.com/",
    "iri-reference": "https://example.com/",
    "uri-template": "https://example.com/{name}",
    "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "json-pointer": "/name",
    "relative-json-pointer": "0/name",
    "regex": "a+",
    "byte": "YWJj",
    "base64": "YWJj",
    "base64url": "YWJj",
    "json-string": "{}",
    "ipv4network": "192.0.2.0/24",
    "ipv6network": "2001:db8::/32",
    "ipvanyaddress": "192.0.2.1",
    "file-path": "example.txt",
    "directory-path": ".",
}


def _text_candidates(schema: dict[str, Any]) -> Iterator[str]:
    """Yield strings for `format` and `pattern`, then plain words of an allowed length."""
    if schema.get("format") in _FORMATS:
        yield _FORMATS[schema["format"]]
    shortest = min(schema.get("minLength", 0), _MAX_LENGTH)
    longest = schema.get("maxLength", _MAX_LENGTH)
    if "pattern" in schema:
        yield from matching_texts(schema["pattern"], shortest)
    for number in range(_VARIATIONS):
        suffix = str(number) if number else ""
        word = "example"[: max(0, longest - len(suffix))] + suffix
        yield word.ljust(shortest, "x")


# --- Numbers within the bounds of a schema, near 1 where the bounds allow it

_NEIGHBOURS = 12


def _integer_candidates(schema: dict[str, Any]) -> Iterator[int]:
    """Return the integers that are multiples of `multipleOf`, starting near 1."""
    step = _exact(schema.get("multipleOf", 1))
    whole = step * step.denominator
    return (int(value) for value in _multiples(whole, schema) if _is_allowed(value, schema))


def _number_candidates(schema: dict[str, Any]) -> Iterator[int | float]:
    """Return integers, followed by multiples of `multipleOf` or fractions within the bounds."""
    if "multipleOf" in schema:
        others = _multiples(_exact(schema["multipleOf"]), schema)
    else:
        others = _between(schema)
    fractions = (float(value) for value in others if _is_allowed(value, schema))
    return chain(_integer_candidates(schema), fractions)


def _multiples(step: Fraction, schema: dict[str, Any]) -> Iterator[Fraction]:
    low, high = _bounds(schema)
    start = ceil(1 / step)
    start = start if high is None else min(start, floor(high / step))
    start = start if low is None else max(start, ceil(low / step))
    for offset in range(_NEIGHBOURS):
        yield (start + offset) * step
        yield (start - offset) * step


def _between(schema: dict[str, Any]) -> Iterator[Fraction]:
    low, high = _bounds(schema)
    if low is not None and high is not None:
        yield from (low + (high - low) * part / 8 for part in (4, 2, 6, 0, 8))
    elif low is not None or high is not None:
        yield low if low is not None else high or Fraction(0)


def _bounds(schema: dict[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """Return the tightest lower and upper bound, inclusive or exclusive, or None for no bound."""
    lows = [_exact(schema[key]) for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [_exact(schema[key]) for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lows, default=None), min(highs, default=None)


def _is_allowed(value: Fraction, schema: dict[str, Any]) -> bool:
    low, high = _bounds(schema)
    return (
        (low is None or low <= value)
        and (high is None or value <= high)
        and value not in [_exact(schema[k]) for k in _EXCLUSIVE if k in schema]
    )


def _exact(number: float) -> Fraction:
    """Return a number exactly as it is written in decimal. For example, 0.1 is one tenth."""
    return Fraction(str(number))


_EXCLUSIVE = ("exclusiveMinimum", "exclusiveMaximum")
