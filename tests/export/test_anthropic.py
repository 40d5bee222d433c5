import pytest
from jsonschema import Draft202012Validator

from nexus_tools.errors import ValidationError
from nexus_tools.export import export_tools
from nexus_tools.tool import InterfaceValidator


def test_tool_has_name_description_and_input_schema(define):
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert export_tools([define(input_schema=schema)], "anthropic").document == [
        {
            "name": "xyz_example_math_add_v1",
            "description": "Adds two integers.",
            "input_schema": {"type": "object", **schema},
        }
    ]


def test_dialect_and_id_of_a_schema_are_omitted(define):
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/schema",
    }
    [tool] = export_tools([define(input_schema=schema)], "anthropic").document
    assert tool["input_schema"] == {"type": "object"}


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
def test_top_level_union_is_wrapped_and_its_references_resolve(define, keyword):
    definition = define(
        input_schema={
            "properties": {"tree": {"$ref": "#/$defs/tree"}, "root": {"$ref": "#/properties/tree"}},
            "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
            keyword: [{"required": ["tree"]}],
        }
    )
    done = export_tools([definition], "anthropic")
    schema = done.document[0]["input_schema"]
    assert not {"oneOf", "anyOf", "allOf"} & schema.keys()
    assert schema["$defs"] == {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}
    inner = schema["properties"]["ports"]["properties"]
    assert inner["root"] == {"$ref": "#/properties/ports/properties/tree"}
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"ports": {"tree": [[]], "root": []}})
    assert not validator.is_valid({"ports": {"tree": [[1]]}})
    assert not validator.is_valid({"ports": {"tree": [], "root": 1}})
    ports = done.tools[0].to_ports({"ports": {"tree": [[]]}})
    InterfaceValidator(definition).check_input(ports)


def test_reference_only_input_is_wrapped(define):
    definition = define(
        input_schema={"$ref": "#/$defs/input", "$defs": {"input": {"type": "object"}}}
    )
    done = export_tools([definition], "anthropic")
    assert done.document[0]["input_schema"]["required"] == ["ports"]
    assert done.names()["xyz_example_math_add_v1"]["wrapped"] == "ports"


def test_ports_with_too_long_names_are_wrapped(define):
    fits, long = ({"properties": {"p" * count: {"type": "string"}}} for count in (64, 65))
    tools = [define("xyz.example.one@1", input_schema=fits), define(input_schema=long)]
    done = export_tools(tools, "anthropic")
    assert [tool.arguments.wrapped for tool in done.tools] == [None, "ports"]


def test_arguments_without_the_wrapped_ports_are_refused(define):
    tool = export_tools([define(input_schema={"allOf": [True]})], "anthropic").tools[0]
    with pytest.raises(ValidationError, match="'ports' must be an object"):
        tool.to_ports({"a": 1})
