import pytest

from nexus_tools.export import export_tools
from nexus_tools.tool import InterfaceValidator

PORTS = {
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "minimum": 0}},
    "required": ["a"],
}
PARAMETERS = {"type": "object", **PORTS}
STRICT = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"], "minimum": 0}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def test_chat_completions_tool_is_nested(define):
    done = export_tools([define(input_schema=PORTS)], "openai")
    assert done.document == [
        {
            "type": "function",
            "function": {
                "name": "xyz_example_math_add_v1",
                "description": "Adds two integers.",
                "parameters": PARAMETERS,
            },
        }
    ]


def test_responses_api_tool_is_flat_and_declares_non_strict(define):
    done = export_tools([define(input_schema=PORTS)], "openai-responses")
    assert done.document == [
        {
            "type": "function",
            "name": "xyz_example_math_add_v1",
            "description": "Adds two integers.",
            "parameters": PARAMETERS,
            "strict": False,
        }
    ]


def test_strict_tools_require_every_port_and_allow_null_for_optional_ports(define):
    [chat] = export_tools([define(input_schema=PORTS)], "openai", strict=True).document
    [response] = export_tools(
        [define(input_schema=PORTS)], "openai-responses", strict=True
    ).document
    assert (chat["function"]["parameters"], chat["function"]["strict"]) == (STRICT, True)
    assert (response["parameters"], response["strict"]) == (STRICT, True)


def test_tool_that_cannot_be_strict_is_exported_with_a_warning(define):
    anything = {"properties": {"value": {}}}
    done = export_tools([define(input_schema=anything)], "openai-responses", strict=True)
    [tool] = done.document
    assert (tool["parameters"], tool["strict"]) == ({"type": "object", **anything}, False)
    [warning] = done.warnings
    assert warning == "xyz.example.math.add@1 cannot be strict: /properties/value: it has no type"


def test_long_description_is_truncated_to_1024_characters(define):
    [fits] = export_tools([define(description="é" * 1_024)], "openai").document
    [cut] = export_tools([define(description="é" * 1_025)], "openai").document
    assert fits["function"]["description"] == "é" * 1_024
    assert cut["function"]["description"] == "é" * 1_023 + "…"


def test_tool_without_description_is_described_by_its_fqn(define):
    [tool] = export_tools([define(description="")], "openai").document
    assert tool["function"]["description"] == "xyz.example.math.add@1"


@pytest.mark.parametrize(
    "union",
    [
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"required": ["a"]}]},
        {"not": {"required": ["c"]}},
        {"enum": [{"a": 1}]},
    ],
)
def test_rejected_top_level_keywords_are_wrapped_in_one_argument(define, union):
    definition = define(input_schema={"properties": {"a": {"type": "integer"}}} | union)
    done = export_tools([definition], "openai")
    parameters = done.document[0]["function"]["parameters"]
    assert parameters == {
        "type": "object",
        "properties": {"ports": definition.input_schema},
        "required": ["ports"],
        "additionalProperties": False,
    }
    ports = done.tools[0].to_ports({"ports": {"a": 1}})
    InterfaceValidator(definition).check_input(ports)
