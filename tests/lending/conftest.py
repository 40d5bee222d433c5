"""Definitions to export."""

import pytest

from nexus_tools.tool import ToolDefinition

OK = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}


@pytest.fixture
def define():
    """Makes a definition; the input schema describes an object unless it says otherwise."""

    def make(fqn="xyz.example.math.add@1", **changes):
        schema = changes.pop("input_schema", {})
        branch = {"type": "object", "properties": {"ok": OK}, "required": ["ok"]}
        document = {
            "fqn": fqn,
            "url": "https://tools.example.com/add",
            "description": "Adds two integers.",
            "input_schema": {"type": "object", **schema},
            "output_schema": {"type": "object", "oneOf": [branch]},
        }
        return ToolDefinition.parse(document | changes)

    return make
