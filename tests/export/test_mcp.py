import pytest
from mcp_types import Tool

from nexus_tools.export import export_tools
from nexus_tools.mcp_server.presentation import Presentation


@pytest.fixture
def definition(define):
    schema = {"properties": {"a": {"type": "integer"}}}
    return define("xyz.example.text.count_words@2", input_schema=schema, timeout=2_000)


def test_tools_are_entries_of_tools_list(define):
    definition = define(input_schema={"properties": {"a": {"type": "integer"}}})
    assert export_tools([definition], "mcp").document == {
        "tools": [
            {
                "name": "xyz_example_math_add_v1",
                "title": "xyz.example.math.add@1",
                "description": "Adds two integers.",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
                "outputSchema": definition.output_schema,
                "_meta": {
                    "nexus/fqn": "xyz.example.math.add@1",
                    "nexus/type": "offchain",
                    "nexus/timeout_ms": 10_000,
                },
            }
        ]
    }


def test_entry_is_valid_for_the_sdk_and_equals_the_servers(definition):
    [entry] = export_tools([definition], "mcp").document["tools"]
    assert Tool.model_validate(entry) == Presentation().document(definition)


def test_both_schemas_have_the_type_object_at_their_root(define):
    branch = {"type": "object", "properties": {"ok": {"type": "object"}}, "required": ["ok"]}
    definition = define(
        input_schema={"$ref": "#/$defs/input", "$defs": {"input": {"type": "object"}}},
        output_schema={"oneOf": [branch]},
    )
    [entry] = export_tools([definition], "mcp").document["tools"]
    inner = {"type": "object", "properties": {}}
    assert entry["inputSchema"] == definition.input_schema | {
        "properties": {},
        "$defs": {"input": inner},
    }
    assert entry["outputSchema"] == {"type": "object", "oneOf": [branch]}
