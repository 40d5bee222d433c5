import pytest

from nexus_tools.tool import ToolDefinition
from nexus_tools.workflow.interfaces import ToolPorts

PORTS = {
    "text": {"type": "string"},
    "words": {"type": "integer", "minimum": 1},
    "lines": {"type": "array", "items": {"type": "string"}},
}


def tool_ports(input_schema, variants=None):
    branches = [
        {"type": "object", "properties": {name: ports}, "required": [name]}
        for name, ports in (variants or {"ok": {"type": "object"}}).items()
    ]
    definition = {
        "fqn": "xyz.example.summarise@1",
        "url": "https://tools.example.com/summarise",
        "input_schema": {"type": "object", **input_schema},
        "output_schema": {"oneOf": branches},
    }
    return ToolPorts(ToolDefinition.parse(definition))


def test_ports_have_json_types_and_may_be_required():
    inputs = tool_ports({"properties": PORTS, "required": ["text"]}).inputs
    assert {name: str(port.types) for name, port in inputs.named.items()} == {
        "text": "string",
        "words": "integer",
        "lines": "array",
    }
    assert inputs.required == ("text",)


def test_unnamed_port_exists_only_if_the_schema_allows_it():
    assert tool_ports({"properties": PORTS}).inputs.get("more") is None
    assert tool_ports({"additionalProperties": False}).inputs.get("more") is None
    port = tool_ports({"additionalProperties": True}).inputs.get("more")
    assert port
    assert not port.is_required


def test_variants_and_failures_have_ports():
    ok = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    ports = tool_ports({}, {"ok": ok, "err": {"type": "object"}})
    assert list(ports.variants) == ["ok", "err"]
    assert ports.variant("ok").required == ("text",)
    assert ports.variant("_err_eval").required == ("reason", "detail")
    assert ports.variant("more") is None


@pytest.mark.parametrize(
    ("port", "value", "problem"),
    [
        ("words", 1, ""),
        ("words", 0, "the value is less than the minimum of 1"),
        ("text", 3, 'the value is not of type "string"'),
        ("lines", ["a", 1], 'the value is not of type "string" (at /1)'),
        ("unknown", 3, ""),
    ],
)
def test_value_is_compared_with_the_schema_of_its_port(port, value, problem):
    ports = tool_ports({"properties": PORTS, "required": ["text"], "minProperties": 2})
    assert ports.mismatch(port, value) == problem


def test_ports_that_refer_to_the_whole_schema_are_not_checked():
    properties = {"text": {"$ref": "#/allOf/0"}}
    ports = tool_ports({"properties": properties, "allOf": [{"type": "object"}]})
    assert ports.mismatch("text", 1) == ""
