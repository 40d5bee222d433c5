"""The record of checked schemas, with the real checks counted."""

import pytest

from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.errors import ValidationError
from nexus_tools.mcp_server.catalogue.checked_schemas import CheckedSchemas
from nexus_tools.tool import ToolDefinition, canonical_json
from nexus_tools.tool.schemas import schema as schemas

INPUT = {"type": "object", "properties": {"city": {"type": "string"}}}
ENDLESS = {"type": "object", "allOf": [{"$ref": "#"}]}


def definition(name, input_schema=INPUT, url="https://tools.example.com"):
    branch = {"type": "object", "properties": {"ok": {"type": "object"}}, "required": ["ok"]}
    fields = dict.fromkeys(Definition.__struct_fields__) | {
        "fqn": f"xyz.test.tools.{name}@1",
        "tool_type": "offchain",
        "url": url,
        "description": f"The tool {name}",
        "input_schema": canonical_json(input_schema),
        "output_schema": canonical_json({"oneOf": [branch]}),
        "timeout_ms": 5_000,
    }
    return Definition(**fields)


@pytest.fixture
def checked(monkeypatch):
    """Return a list that receives each input schema that is checked."""
    checked = []

    def check(schema):
        checked.append(schema)
        return schemas.check_input_schema(schema)

    monkeypatch.setattr("nexus_tools.tool.definition.check_input_schema", check)
    return checked


def test_equal_schemas_are_checked_once(checked):
    record = CheckedSchemas()
    first, again = definition("first"), definition("again")
    assert record.parse(first) == ToolDefinition.parse(first.document())
    checked.clear()
    assert record.parse(first) == first.parse(check_schemas=False)
    assert record.parse(again).description == "The tool again"
    assert checked == []
    record.parse(definition("other", {"type": "object"}))
    assert checked == [{"type": "object"}]


def test_invalid_schemas_are_checked_once_and_refused_each_time(checked):
    record = CheckedSchemas()
    for _ in range(3):
        with pytest.raises(ValidationError, match="refers to itself") as refused:
            record.parse(definition("endless", ENDLESS))
        assert refused.value.code == "definition_invalid"
    assert checked == [ENDLESS]


def test_other_rules_are_checked_although_the_schemas_are_known(checked):
    record = CheckedSchemas()
    record.parse(definition("tool"))
    with pytest.raises(ValidationError, match="must be an absolute http") as refused:
        record.parse(definition("tool", url="tools.example.com"))
    assert refused.value.code == "definition_invalid"
    assert len(checked) == 1


def test_oldest_schemas_are_forgotten_beyond_the_capacity(checked):
    record = CheckedSchemas(capacity=2)
    kinds = [{"type": "object", "title": title} for title in "abc"]
    for kind in kinds:
        record.parse(definition("tool", kind))
    checked.clear()
    record.parse(definition("tool", kinds[1]))
    record.parse(definition("tool", kinds[2]))
    assert checked == []
    record.parse(definition("tool", kinds[0]))
    assert checked == [kinds[0]]
