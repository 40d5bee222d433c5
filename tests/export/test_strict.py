"""The expected schemas follow OpenAI's guide to structured outputs, "Supported schemas"."""

import pytest
from jsonschema import Draft202012Validator

from nexus_tools.export import Arguments, export_tools
from nexus_tools.export.strict import NotStrictError, strict_arguments


def strict(properties, required=None, **more):
    """Return the strict copy of the properties, all of which are required by default."""
    names = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, "required": names, **more}
    copy = strict_arguments(Arguments(schema)).schema
    Draft202012Validator.check_schema(copy)
    return copy


def strict_property(schema, *, required=True):
    return strict({"p": schema}, ["p"] if required else [])["properties"]["p"]


def refusal(schema, **more):
    with pytest.raises(NotStrictError) as refused:
        strict({"p": schema}, **more)
    return str(refused.value)


def test_objects_are_closed_and_require_all_properties_at_every_depth():
    inner = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "boolean"}}}
    assert strict({"o": inner, "l": {"type": "array", "items": inner}}) == {
        "type": "object",
        "properties": {
            "o": (
                closed := {
                    "type": "object",
                    "properties": {
                        "x": {"type": ["string", "null"]},
                        "y": {"type": ["boolean", "null"]},
                    },
                    "required": ["x", "y"],
                    "additionalProperties": False,
                }
            ),
            "l": {"type": "array", "items": closed},
        },
        "required": ["o", "l"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "copy"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"enum": ["a", "b"], "description": "One of two."},
            {
                "description": "One of two.",
                "anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}],
            },
        ),
        ({"const": 1}, {"anyOf": [{"type": "integer", "const": 1}, {"type": "null"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
    ],
)
def test_optional_property_may_be_null(schema, copy):
    assert strict_property(schema, required=False) == copy


@pytest.mark.parametrize(
    ("schema", "copy"),
    [
        (
            {"type": "string", "pattern": "^a", "minLength": 1, "maxLength": 9, "default": "a"},
            {"type": "string", "pattern": "^a"},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "uri"}, {"type": "string"}),
        (
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.5},
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.5},
        ),
        (
            {"type": "array", "items": {"type": "null"}, "maxItems": 2, "uniqueItems": True},
            {"type": "array", "items": {"type": "null"}, "maxItems": 2},
        ),
        ({"type": "string", "not": {"const": "b"}, "examples": ["a"]}, {"type": "string"}),
        ({"enum": [1, "a"]}, {"type": ["integer", "string"], "enum": [1, "a"]}),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}], "title": "T"},
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "title": "T"},
        ),
        ({"allOf": [{"type": "string"}]}, {"type": "string"}),
    ],
)
def test_supported_keywords_are_kept_and_others_omitted(schema, copy):
    assert strict_property(schema) == copy


def test_references_stay_and_definitions_are_strict():
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/node", "description": "If any."}},
    }
    copy = strict({"head": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    assert copy["properties"] == {"head": {"$ref": "#/$defs/node"}}
    assert copy["$defs"] == {
        "node": {
            "type": "object",
            "properties": {
                "next": {
                    "description": "If any.",
                    "anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}],
                }
            },
            "required": ["next"],
            "additionalProperties": False,
        }
    }


@pytest.mark.parametrize("root", [{}, {"properties": {}}, {"additionalProperties": True}])
def test_tool_without_ports_takes_no_arguments(root):
    assert strict_arguments(Arguments({"type": "object", **root})).schema == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (True, "/properties/p: it allows any value"),
        (False, "/properties/p: it allows no value"),
        ({"description": "Anything."}, "/properties/p: it has no type"),
        ({"type": "object"}, "/properties/p: it allows properties with arbitrary names"),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            "/properties/p: it allows properties with arbitrary names",
        ),
        (
            {"type": "object", "properties": {}, "patternProperties": {"^x": True}},
            "/properties/p: it allows properties with arbitrary names",
        ),
        (
            {"type": "object", "properties": {}, "required": ["x"]},
            "/properties/p: it requires 'x' without describing it",
        ),
        ({"type": "array"}, "/properties/p: it does not describe all items by one schema"),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
            "/properties/p: it does not describe all items by one schema",
        ),
        (
            {"allOf": [{"type": "string"}, {"pattern": "a"}]},
            "/properties/p: it has allOf",
        ),
        (
            {"type": "object", "properties": {"x": {"type": "string"}}, "anyOf": [True]},
            "/properties/p: it has anyOf and properties together",
        ),
    ],
)
def test_inexpressible_schema_is_refused_with_its_location(schema, reason):
    assert refusal(schema).startswith(reason)


def test_external_target_of_a_reference_becomes_a_definition():
    point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    copy = strict(
        {
            "from": point,
            "to": {"$ref": "#/properties/from"},
            "at": {"type": "array", "items": {"$ref": "#/properties/from/properties/x"}},
        }
    )
    assert copy["properties"]["to"] == {"$ref": "#/$defs/from_0"}
    assert copy["properties"]["at"]["items"] == {"$ref": "#/$defs/x_1"}
    assert copy["$defs"] == {
        "from_0": point | {"additionalProperties": False},
        "x_1": {"type": "number"},
    }


def nested(depth):
    schema = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"p": schema}}
    return schema


def test_objects_are_nested_at_most_ten_deep():
    strict({"p": nested(9)})
    assert refusal(nested(10)) == "its objects are nested deeper than 10 levels"


def test_enums_have_at_most_a_thousand_values_in_total():
    half = {"type": "integer", "enum": list(range(500))}
    strict({"a": half, "b": half})
    with pytest.raises(NotStrictError, match="more than 1000 values"):
        strict({"a": half, "b": half, "c": {"type": "integer", "enum": [1]}})


def test_long_enum_has_at_most_15_000_characters():
    strict_property({"type": "string", "enum": [f"{n:060}" for n in range(250)]})
    assert "15000 characters" in refusal(
        {"type": "string", "enum": [f"{n:060}" for n in range(251)]}
    )


# --- The conversion back to ports


def ports_of(schema, arguments):
    return strict_arguments(Arguments(schema)).to_ports(arguments)


def test_nulls_of_absent_ports_are_removed():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "gone": {"type": "integer"},
            "null": {"type": ["integer", "null"]},
            "list": {
                "type": "array",
                "items": {"type": "object", "properties": {"x": {"const": 1}}},
            },
        },
        "required": ["a"],
    }
    arguments = {"a": 1, "gone": None, "null": None, "list": [{"x": None}, {"x": 1}]}
    assert ports_of(schema, arguments) == {"a": 1, "null": None, "list": [{}, {"x": 1}]}


def test_nulls_are_removed_behind_references_and_in_the_matching_branch():
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "required": ["tree"],
        "$defs": {
            "leaf": {
                "type": "object",
                "properties": {"leaf": {"type": "string"}, "note": {"type": "string"}},
                "required": ["leaf"],
                "additionalProperties": False,
            },
            "tree": {
                "anyOf": [
                    {"$ref": "#/$defs/leaf"},
                    {
                        "type": "object",
                        "properties": {
                            "left": {"$ref": "#/$defs/tree"},
                            "a/b %": {"type": "integer"},
                        },
                        "required": ["left"],
                        "additionalProperties": False,
                    },
                ]
            },
        },
    }
    arguments = {"tree": {"left": {"leaf": "x", "note": None}, "a/b %": None}}
    assert ports_of(schema, arguments) == {"tree": {"left": {"leaf": "x"}}}


def test_strict_arguments_become_ports_that_the_tool_accepts(define):
    definition = define(
        input_schema={
            "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
            "required": ["a"],
        }
    )
    [tool] = export_tools([definition], "openai", strict=True).tools
    arguments = {"a": 1, "b": None}
    assert Draft202012Validator(tool.arguments.schema).is_valid(arguments)
    assert tool.to_ports(arguments) == {"a": 1}
