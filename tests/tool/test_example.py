import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Answer, check_input_schema, example_answer, example_input

PORTS = {
    "anything": {},
    "integer": {"type": "integer"},
    "bounded integer": {"type": "integer", "minimum": 10, "maximum": 12},
    "exclusive integer": {"type": "integer", "exclusiveMinimum": 10, "exclusiveMaximum": 12},
    "negative integer": {"type": "integer", "maximum": -5},
    "stepped integer": {"type": "integer", "minimum": 10, "multipleOf": 7},
    "number": {"type": "number"},
    "narrow number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1},
    "stepped number": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5, "multipleOf": 0.25},
    "text": {"type": "string"},
    "long text": {"type": "string", "minLength": 50},
    "short text": {"type": "string", "maxLength": 2},
    "empty text": {"type": "string", "maxLength": 0},
    "pattern": {"type": "string", "pattern": r"^[A-Z]{3}-\d{4}(?:-x|-y)?$"},
    "hex pattern": {"type": "string", "pattern": "^0x[0-9a-f]{64}$"},
    "long pattern": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$", "minLength": 12},
    "negated pattern": {"type": "string", "pattern": r"^[^a\s]+\.(png|jpe?g)$"},
    "letters": {"type": "string", "pattern": r"^\p{Lu}\p{L}+\s\w+$"},
    "enum": {"enum": ["red", "green"]},
    "const": {"const": {"a": [1]}},
    "default": {"type": "integer", "minimum": 3, "default": 5},
    "useless default": {"type": "integer", "default": "none"},
    "examples": {"type": "string", "pattern": "^(ab){2}c$", "examples": ["ababc"]},
    "nothing or text": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "one of": {"oneOf": [{"multipleOf": 2, "type": "integer"}, {"type": "string"}]},
    "all of": {"allOf": [{"type": "integer"}, {"minimum": 5}, {"maximum": 5}]},
    "several types": {"type": ["null", "integer"]},
    "list": {"type": "array", "items": {"type": "integer"}},
    "list with items": {"type": "array", "items": {"type": "integer"}, "minItems": 3},
    "set": {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
    "set of choices": {
        "type": "array",
        "items": {"enum": [1, 2, 3]},
        "minItems": 3,
        "uniqueItems": True,
    },
    "pair": {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    },
    "contains": {"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 9}},
    "object": {"type": "object", "required": ["x"], "properties": {"x": {"type": "boolean"}}},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "many properties": {"type": "object", "minProperties": 1, "properties": {"x": {}, "y": {}}},
    "dependent": {"type": "object", "required": ["x"], "dependentRequired": {"x": ["y"]}},
    "closed": {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    },
    "recursive": {
        "$ref": "#/$defs/Tree",
    },
    "conditional": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["x"]},
    },
    "not": {"type": "integer", "not": {"const": 1}},
    "discriminated": {
        "oneOf": [
            {"type": "object", "properties": {"t": {"const": t}}, "required": ["t"]}
            for t in ("circle", "square")
        ]
    },
}
SHARED = {
    "Tree": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/Tree"}},
        "required": ["value"],
    }
}


def _schema(port):
    return {
        "type": "object",
        "properties": {"a": port},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": SHARED,
    }


@pytest.mark.parametrize("name", PORTS)
def test_example_is_valid_for_an_independent_validator(name):
    schema = _schema(PORTS[name])
    example = example_input(schema)
    if name != "letters":  # Python's own regular expressions know no \p
        jsonschema.Draft202012Validator(schema).validate(example)
    assert "a" in example


@pytest.mark.parametrize(
    "kind", ["date", "date-time", "email", "ipv4", "ipv6", "uuid", "duration", "regex"]
)
def test_formats_are_honoured(kind):
    schema = _schema({"type": "string", "format": kind})
    checker = jsonschema.FormatChecker()
    jsonschema.Draft202012Validator(schema, format_checker=checker).validate(example_input(schema))


def test_optional_ports_are_left_out():
    assert example_input({"type": "object", "properties": {"a": {"type": "integer"}}}) == {}


def test_example_is_deterministic():
    schema = _schema(PORTS["set"])
    assert example_input(schema) == example_input(schema)


def test_examples_of_the_author_come_first():
    assert example_input({"type": "object", "examples": [{"a": 7}]}) == {"a": 7}


@pytest.mark.parametrize(
    "port", [False, {"type": "integer", "minimum": 2, "maximum": 1}, {"not": {}}]
)
def test_port_without_valid_values_has_no_example(port):
    with pytest.raises(ValidationError) as caught:
        example_input(_schema(port))
    assert caught.value.code == "example_not_found"


_ENDLESS = {f"p{i}": {"$ref": "#/$defs/Endless"} for i in range(10)}


def test_guessed_texts_have_a_largest_size_together():
    names = [f"p{number}" for number in range(120)]
    text = {"type": "string", "minLength": 100_000}
    port = {"type": "object", "properties": dict.fromkeys(names, text), "required": names}
    with pytest.raises(ValidationError) as caught:
        example_input(_schema(port))
    assert caught.value.code == "example_not_found"


@pytest.mark.parametrize(
    "port",
    [
        {"$ref": "#/$defs/Endless"},
        {"type": "string", "pattern": "^(((a+)+)+)+!$", "minLength": 100_000},
        {
            "type": "string",
            "pattern": "^" + "(" * 200 + "a" + ")" * 200 + "$",
            "minLength": 100_000,
        },
        {"type": "array", "minItems": 1_000_000_000},
        {"type": "string", "minLength": 1_000_000_000},
    ],
)
def test_hostile_schema_has_no_example(port):
    endless = {"type": "object", "properties": _ENDLESS, "required": sorted(_ENDLESS)}
    schema = _schema(port)
    schema["$defs"] = {"Endless": endless}
    with pytest.raises(ValidationError) as caught:
        example_input(schema)
    assert caught.value.code == "example_not_found"


_LEAVES = st.sampled_from(
    [PORTS[name] for name in PORTS if name not in ("anything", "not", "letters", "recursive")]
)
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda i, n: {"type": "array", "items": i, "minItems": n}, inner, st.integers(0, 3)
        ),
        st.builds(
            lambda ports, needed: {
                "type": "object",
                "properties": ports,
                "required": sorted(ports)[:needed],
            },
            st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
            st.integers(0, 4),
        ),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(_SCHEMAS)
def test_examples_of_nested_schemas_are_valid(port):
    schema = _schema(port)
    check_input_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(example_input(schema))


def branch(name, ports, **more):
    schema = {"type": "object", "properties": ports, "required": list(ports), **more}
    return {"type": "object", "properties": {name: schema}, "required": [name]}


OUTPUT = {
    "$defs": {"price": {"type": "integer", "minimum": 7}},
    "oneOf": [
        branch("found", {"price": {"$ref": "#/$defs/price"}, "names": {"type": "array"}}),
        branch("err_closed", {"reason": {"type": "string"}}),
    ],
}


def test_example_answer_has_the_ports_of_the_variant():
    assert example_answer(OUTPUT, "found") == Answer("found", {"price": 7, "names": []})
    assert example_answer(OUTPUT, "err_closed") == Answer("err_closed", {"reason": "example"})


@pytest.mark.parametrize(
    ("schema", "variant"),
    [
        (OUTPUT, "elsewhere"),
        ({"oneOf": [branch("ok", {"n": {"type": "integer", "minimum": 2, "maximum": 1}})]}, "ok"),
    ],
)
def test_missing_answer_example_is_reported(schema, variant):
    with pytest.raises(ValidationError) as refused:
        example_answer(schema, variant)
    assert refused.value.code == "example_not_found"
