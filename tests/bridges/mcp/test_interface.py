"""The conversion of `tools/call` results to outputs, without a server."""

import pytest

from nexus_tools.bridges.mcp.interface import Interface
from nexus_tools.bridges.mcp.listing import ListedTool
from nexus_tools.errors import ValidationError
from nexus_tools.tool import InterfaceValidator, check_output_schema

OBJECT = {"type": "object"}
TEXT = [{"type": "text", "text": "hello"}]


def interface(output=None, **more):
    entry = {"name": "tool", "inputSchema": OBJECT} | more
    return Interface.of(ListedTool.parse(entry | ({"outputSchema": output} if output else {})))


class Schemas:
    """The schemas for a validator."""

    def __init__(self, converter):
        self.input_schema = converter.inputs.schema
        self.output_schema = converter.output_schema


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        ({"type": "integer"}, 3),
        (
            {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "null"}}},
            [None],
        ),
        ({"anyOf": [{"type": "string"}, OBJECT]}, "text"),
        ({"anyOf": [{"type": "string"}, OBJECT]}, {"a": 1}),
        ({"type": ["object", "null"]}, None),
    ],
)
def test_non_object_structured_content_is_one_port(schema, content):
    converter = interface(schema)
    output = converter.output({"content": [], "structuredContent": content})
    assert output == {"ok": {"result": content}}
    assert InterfaceValidator(Schemas(converter)).check_output(output).variant == "ok"


def test_references_in_one_port_still_resolve():
    converter = interface({"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": OBJECT}})
    output = converter.output({"content": [], "structuredContent": [1]})
    with pytest.raises(ValidationError):
        InterfaceValidator(Schemas(converter)).check_output(output)


def test_object_with_unusable_names_is_one_port():
    converter = interface({"type": "object", "properties": {"a b": {}, "a_b": {}}})
    output = converter.output({"content": [], "structuredContent": {"a b": 1}})
    assert output == {"ok": {"result": {"a b": 1}}}


def test_non_object_structured_content_is_err_when_an_object_is_declared():
    output = interface(OBJECT).output({"content": TEXT, "structuredContent": [1]})
    assert output["err"]["reason"] == "the structured content must be an object, as declared"


def test_content_of_several_texts_is_joined_by_lines():
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert interface().output({"content": blocks})["ok"]["text"] == "one\ntwo"


def test_empty_content_has_no_text():
    assert interface().output({"content": []}) == {"ok": {"content": []}}


@pytest.mark.parametrize("output", [None, OBJECT, {"type": "integer"}])
def test_every_tool_has_the_variants_ok_and_err(output):
    assert [*check_output_schema(interface(output).output_schema).variants] == ["ok", "err"]


def test_unknown_result_type_is_err():
    output = interface().output({"resultType": "task", "task": {}})
    assert output["err"]["type"] == "task"
    assert "'task'" in output["err"]["reason"]


def test_error_omits_content_that_outputs_cannot_have():
    blocks = [{"type": "text", "text": "no", "_meta": {"n": float("nan")}}]
    output = interface().output({"content": blocks, "isError": True})
    assert output == {"err": {"reason": "no"}}


def test_long_error_is_truncated():
    blocks = [{"type": "text", "text": "x" * 100_000}]
    output = interface().output({"content": blocks, "isError": True})
    assert len(output["err"]["reason"].encode()) <= 4_096
