"""The library that decides and the one that describes mean the same by draft 2020-12."""

import jsonschema
import jsonschema_rs
import pytest

# Schema, values that it allows, values that it refuses: by the text of the specification.
CASES = {
    "no schema": ({}, [None, 1, "x", [], {}], []),
    "never": (False, [], [None, 1, {}]),
    "integer": ({"type": "integer"}, [0, -3, 1.0, 10**30], [1.5, "1", True, None]),
    "number": ({"type": "number"}, [0, 1.5, 10**30], ["1", True, None]),
    "boolean": ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    "null": ({"type": "null"}, [None], [0, "", False, []]),
    "several types": ({"type": ["string", "null"]}, ["", None], [0, []]),
    "enum": ({"enum": [1, "a", None, [1]]}, [1, 1.0, "a", None, [1]], [2, True, [True], "1"]),
    "const": ({"const": {"a": [0]}}, [{"a": [0]}, {"a": [0.0]}], [{"a": [False]}, {}]),
    "const zero": ({"const": 0}, [0, 0.0], [False, "0"]),
    "minimum": ({"minimum": 3}, [3, 3.0, 4, "x"], [2.9, -10]),
    "exclusive bounds": (
        {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
        [0.5, None],
        [0, 1, -1],
    ),
    "multiple of": ({"multipleOf": 3}, [0, 9, -3, "x"], [1, 10]),
    "multiple of a fraction": ({"multipleOf": 0.5}, [1, 1.5], [0.7]),
    "length in characters": ({"minLength": 2, "maxLength": 2}, ["ab", "😀é", 5], ["a", "abc"]),
    "pattern is a search": ({"pattern": "b+"}, ["abbc", "b", 1], ["ac", ""]),
    "anchored pattern": ({"pattern": "^a$"}, ["a"], ["ab"]),
    "items": ({"items": {"type": "integer"}}, [[], [1, 2], "x"], [[1, "x"]]),
    "prefix": (
        {"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        [[], [1], [1, "x"]],
        [["x"], [1, "x", 2]],
    ),
    "contains": (
        {"contains": {"const": 1}, "minContains": 2, "maxContains": 3},
        [[1, 1], [1, 0, 1, 1]],
        [[1], [], [1, 1, 1, 1]],
    ),
    "unique": (
        {"uniqueItems": True},
        [[1, True], ["a", "b"], []],
        [[1, 1.0], [{"a": 1}, {"a": 1}]],
    ),
    "counts of items": ({"minItems": 1, "maxItems": 2}, [[0], [0, 0], {}], [[], [0, 0, 0]]),
    "required": ({"required": ["a"]}, [{"a": None}, []], [{}, {"b": 1}]),
    "counts of properties": (
        {"minProperties": 1, "maxProperties": 1},
        [{"a": 1}],
        [{}, {"a": 1, "b": 2}],
    ),
    "additional properties": (
        {"properties": {"a": {}}, "patternProperties": {"^x": {}}, "additionalProperties": False},
        [{"a": 1}, {"x1": 1}, {}],
        [{"b": 1}],
    ),
    "property names": ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}, {}], [{"abc": 1}]),
    "dependent required": (
        {"dependentRequired": {"a": ["b"]}},
        [{"a": 1, "b": 2}, {"b": 1}],
        [{"a": 1}],
    ),
    "dependent schemas": (
        {"dependentSchemas": {"a": {"maxProperties": 1}}},
        [{"a": 1}, {"b": 1, "c": 2}],
        [{"a": 1, "b": 2}],
    ),
    "all of": ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    "any of": ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, ["x", 2], [1]),
    "one of": ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, [2, 3], [6, 5]),
    "not": ({"not": {"type": "string"}}, [1, None], ["x"]),
    "if then else": (
        {"if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"maximum": 5}},
        [10, 20, 5],
        [11, 6],
    ),
    "then without if": ({"then": False}, [1, {}], []),
    "reference beside keywords": (
        {"$ref": "#/$defs/a", "maximum": 5, "$defs": {"a": {"type": "integer"}}},
        [5],
        [6, "x"],
    ),
    "anchor": ({"$ref": "#n", "$defs": {"a": {"$anchor": "n", "type": "null"}}}, [None], [1]),
    "escaped pointer": (
        {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "null"}}},
        [None],
        [1],
    ),
    "recursion": (
        {"type": "object", "additionalProperties": {"$ref": "#"}},
        [{}, {"a": {"b": {}}}],
        [{"a": 1}, {"a": {"b": []}}],
    ),
    "dynamic reference": (
        {"$dynamicAnchor": "n", "type": "object", "properties": {"c": {"$dynamicRef": "#n"}}},
        [{"c": {"c": {}}}],
        [{"c": {"c": 1}}],
    ),
    "unevaluated properties": (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        [{"a": 1}, {}],
        [{"b": 1}],
    ),
    "unevaluated items": (
        {"anyOf": [{"prefixItems": [{"const": 1}]}, True], "unevaluatedItems": False},
        [[1], []],
        [[2], [1, 1]],
    ),
    "format annotates": ({"format": "date"}, ["tomorrow", "2026-01-31"], []),
    "content annotates": ({"contentMediaType": "application/json"}, ["{", "{}"], []),
}
VALUES = [
    (name, value, expected)
    for name, (_, allowed, refused) in CASES.items()
    for values, expected in ((allowed, True), (refused, False))
    for value in values
]


@pytest.mark.parametrize(("name", "value", "expected"), VALUES)
def test_both_validators_follow_the_specification(name, value, expected):
    schema = CASES[name][0]
    decides = jsonschema_rs.Draft202012Validator(
        schema, pattern_options=jsonschema_rs.RegexOptions(), offline=True
    )
    describes = jsonschema.Draft202012Validator(schema)
    assert (decides.is_valid(value), describes.is_valid(value)) == (expected, expected)
