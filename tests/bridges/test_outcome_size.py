"""Tools that declare large outcomes, and tools that do not."""

import pytest

from nexus_tools.bridges import declared_outcome_bytes
from nexus_tools.bridges.mcp.interface import Interface
from nexus_tools.bridges.mcp.listing import ListedTool
from nexus_tools.tool import ToolDefinition

OK = {"type": "object", "properties": {"text": {"type": "string"}}}


def room(name="tool", description="Does it.", **entry):
    tool = ListedTool.parse({"name": name, "inputSchema": {"type": "object"}} | entry)
    interface = Interface.of(tool)
    return declared_outcome_bytes(
        ToolDefinition.parse(
            {
                "fqn": f"local.mcp.server.{name}@1",
                "url": "http://127.0.0.1:1",
                "description": description,
                "input_schema": interface.inputs.schema,
                "output_schema": interface.output_schema,
            }
        )
    )


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get-chart", "Draws numbers."),
        ("take_screenshot", "Of a page."),
        ("get-tiny-image", "Returns a tiny image."),
        ("render", "Returns a PNG of the page."),
    ],
)
def test_outcome_room_is_large_when_a_block_tool_mentions_media(name, description):
    assert room(name, description) == 65_536


@pytest.mark.parametrize(
    "port",
    [
        {"type": "string", "contentEncoding": "base64"},
        {"type": "string", "contentMediaType": "image/png"},
        {"type": "string", "format": "byte"},
        {"type": "string", "minLength": 10_000},
    ],
)
def test_outcome_room_is_large_when_the_output_schema_declares_it(port):
    schema = {"type": "object", "properties": {"data": port}}
    assert room(outputSchema=schema) == 65_536


def test_outcome_room_is_zero_for_other_tools():
    assert room() == 0
    assert room("describe_image", "Says in words what an image shows.", outputSchema=OK) == 0
    typed = {"type": "object", "properties": {"t": {"contentMediaType": "text/plain"}}}
    assert room(outputSchema=typed) == 0
