import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from nexus_tools.export import FORMATS, MAX_NAME_LENGTHS, export_tools
from nexus_tools.export.safe_text import MAX_SCHEMA_TEXT
from nexus_tools.sui.support.untrusted_text import is_displayable
from nexus_tools.tool_server import load

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def definitions():
    """Return the tools of the examples."""
    return load(str(EXAMPLES / "tools.py")).definitions("https://tools.example.com")


def schemas(system, tool):
    """Return the schemas in the document of a tool."""
    where = {
        "openai": lambda: [tool["function"]["parameters"]],
        "openai-responses": lambda: [tool["parameters"]],
        "anthropic": lambda: [tool["input_schema"]],
        "mcp": lambda: [tool["inputSchema"], tool["outputSchema"]],
        "gemini": lambda: [tool["parameters"]],
        "openapi": list,
    }
    return where[system]()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("system", FORMATS)
def test_every_schema_is_draft_2020_12_and_describes_an_object(definitions, system, strict):
    done = export_tools(definitions, system, strict=strict)
    assert (len(done.tools), done.warnings) == (3, ())
    for tool in done.tools:
        for schema in schemas(system, tool.document):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"


@pytest.mark.parametrize("system", FORMATS)
def test_order_of_the_tools_does_not_matter(definitions, system):
    there, back = export_tools(definitions, system), export_tools(definitions[::-1], system)
    assert there.document == back.document


@pytest.mark.parametrize("system", FORMATS)
def test_name_table_has_every_tool(definitions, system):
    names = export_tools(definitions, system).names()
    assert sorted(entry["fqn"] for entry in names.values()) == [
        "xyz.example.math.divide@1",
        "xyz.example.text.count_words@1",
        "xyz.example.time.nap@1",
    ]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert names["xyz_example_math_divide_v1"] == {
        "fqn": "xyz.example.math.divide@1",
        "type": "offchain",
        "url": "https://tools.example.com/xyz.example.math.divide@1",
        "wrapped": None,
        "nulls_filled_in": False,
    }


@pytest.mark.parametrize("system", FORMATS)
def test_duplicate_tool_is_exported_once(definitions, system):
    assert len(export_tools([*definitions, *definitions], system).tools) == 3


def test_each_system_except_unstract_has_a_format():
    assert {*FORMATS, "unstract"} == {*MAX_NAME_LENGTHS}


@pytest.mark.parametrize("system", sorted(FORMATS))
def test_exports_contain_only_displayable_texts(define, system):
    hidden = "\u202e\x1b[2J\U000e0041\u200b"
    ports = {"a": {"type": "string", "description": f"First{hidden}", "title": hidden * 2_000}}
    plain = define(
        "xyz.example.plain@1", description=f"Adds{hidden}", input_schema={"properties": ports}
    )
    bad = define("xyz.example.bad@1", input_schema={"properties": {"a": {"const": hidden}}})
    export = export_tools([plain, bad], system)
    text = json.dumps(export.document, ensure_ascii=False)
    assert is_displayable(text)
    assert "First�" in text
    assert len(text) < 10_000
    assert "xyz.example.bad@1 is omitted" in export.skipped[0]
    assert is_displayable(export.skipped[0])
    assert [str(tool.definition.fqn) for tool in export.tools] == ["xyz.example.plain@1"]


def test_values_in_a_schema_are_exact_and_names_may_be_keywords(define):
    value = {"title": "T" * 2_000, "description": "two\nlines\tand a tab"}
    ports = {
        "a": {"const": value, "default": value, "examples": [value], "enum": [value]},
        "default": {"type": "string", "title": "T" * 2_000},
    }
    [tool] = export_tools([define(input_schema={"properties": ports})], "mcp").tools
    exported = tool.document["inputSchema"]["properties"]
    assert exported["a"] == ports["a"]
    assert len(exported["default"]["title"]) == MAX_SCHEMA_TEXT


@pytest.mark.parametrize("keyword", ["const", "default"])
def test_tool_with_hidden_text_in_a_value_is_omitted(define, keyword):
    value = {"title": "a\u200b"}
    tool = define(input_schema={"properties": {"a": {keyword: value}}})
    assert export_tools([tool], "mcp").document == {"tools": []}
