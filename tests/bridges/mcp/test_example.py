"""The example of `examples/bridges/mcp`, in the way its reader uses it."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nexus_tools.bridges.mcp import McpBridge

EXAMPLE = Path(__file__).parents[3] / "examples" / "bridges" / "mcp"


@pytest.fixture
async def tools(host, serve_tools):
    path = str(Path(sys.executable).parent)
    return await serve_tools(EXAMPLE, host=replace(host, environment={"PATH": path}))


@pytest.mark.long
async def test_example_converts_and_counts(tools):
    ports = {"degrees": 100, "from_unit": "celsius", "to_unit": "fahrenheit"}
    converted = await tools["convert"].invoke(ports)
    assert converted.as_json() == {"ok": {"degrees": 212.0, "unit": "fahrenheit"}}
    counted = await tools["words"].invoke({"text": "two words"})
    assert counted.ports["text"] == "2 words"
    cold = {"degrees": -300, "from_unit": "celsius", "to_unit": "kelvin"}
    assert (await tools["convert"].invoke(cold)).variant == "err"


def test_example_is_recognised():
    assert McpBridge().recognises(EXAMPLE)
