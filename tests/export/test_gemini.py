"""The expected declarations follow the references of `FunctionDeclaration` and `Schema`."""

import pytest

from nexus_tools.export import export_tools


@pytest.fixture
def declare(define):
    """Return a function that exports the function declaration of a tool with given ports."""

    def declare(properties, **more):
        definition = define(input_schema={"properties": properties, **more})
        [declaration] = export_tools([definition], "gemini").document["functionDeclarations"]
        return declaration

    return declare


def test_declaration_has_name_description_and_parameters(declare):
    assert declare({"a": {"type": "integer", "minimum": 0}}, required=["a"]) == {
        "name": "xyz_example_math_add_v1",
        "description": "Adds two integers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 0}},
            "required": ["a"],
        },
    }


def test_declaration_has_no_parameters_when_the_tool_takes_none(declare):
    assert declare({}).keys() == {"name", "description"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A name."},
            {"type": "string", "nullable": True, "description": "A name."},
        ),
        (
            {"type": ["integer", "string"], "title": "Id"},
            {"anyOf": [{"title": "Id", "type": "integer"}, {"title": "Id", "type": "string"}]},
        ),
        ({"enum": ["a", "b"]}, {"type": "string", "format": "enum", "enum": ["a", "b"]}),
        ({"const": "a"}, {"type": "string", "format": "enum", "enum": ["a"]}),
        ({"enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2."}),
        (
            {"type": "boolean", "const": True, "description": "Consent."},
            {"type": "boolean", "description": "Consent. One of: true."},
        ),
        ({"type": "string", "format": "uuid"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        (
            {"type": "array", "items": {"type": "number", "multipleOf": 2}, "uniqueItems": True},
            {"type": "array", "items": {"type": "number"}},
        ),
    ],
)
def test_schema_is_converted_to_the_subset(declare, schema, expected):
    assert declare({"p": schema})["parameters"]["properties"] == {"p": expected}


def test_references_are_replaced_by_their_targets(declare):
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    ports = {"p": {"$ref": "#/$defs/inner", "description": "A point."}}
    declaration = declare(ports, **{"$defs": {"inner": inner}})
    assert declaration["parameters"] == {
        "type": "object",
        "properties": {"p": {**inner, "description": "A point."}},
    }


def test_warning_explains_a_declaration_with_json_schema(define):
    definition = define(input_schema={"properties": {"p": {"type": "object"}}})
    done = export_tools([definition], "gemini")
    [declaration] = done.document["functionDeclarations"]
    assert declaration["parametersJsonSchema"]["properties"] == {"p": {"type": "object"}}
    [warning] = done.warnings
    assert "/properties/p: it is an object without properties" in warning


def test_declaration_has_the_json_schema_when_references_multiply(declare):
    levels = {
        f"t{level}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/t{level + 1}"} for name in "ab"},
        }
        for level in range(12)
    }
    definitions = levels | {"t12": {"type": "string"}}
    document = declare({"p": {"$ref": "#/$defs/t0"}}, **{"$defs": definitions})
    assert "parameters" not in document
    assert "$defs" in document["parametersJsonSchema"]
