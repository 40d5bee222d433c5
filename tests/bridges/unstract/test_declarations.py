import json

from hypothesis import given, settings
from hypothesis import strategies as st

from nexus_tools.bridges.unstract.input import ToolInput
from nexus_tools.bridges.unstract.output import tool_output_schema
from nexus_tools.bridges.unstract.properties import ToolProperties
from nexus_tools.bridges.unstract.settings import Settings
from nexus_tools.bridges.unstract.variables import RuntimeVariables
from nexus_tools.errors import ValidationError
from nexus_tools.tool import check_input_schema, check_output_schema

PROPERTIES = {
    "functionName": "sort_file",
    "function_name": "sort_file",
    "toolVersion": "1",
    "versions": ["1"],
    "parameters": [{"name": "a", "type": "string"}],
    "input_type": "file",
    "requires": {"files": {"input": True}, "databases": {"input": False}},
    "input": {"description": "d"},
    "result": {"type": "JSON", "schema": {"type": "object", "properties": {"a": {}}}},
    "adapter": {"ocrs": [{"isEnabled": True, "isRequired": True, "adapterId": "x"}]},
    "restrictions": {"maxFileSize": "1MB", "allowedFileTypes": ["pdf"]},
}
SCHEMA = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": "object", "properties": {"b": {"default": 1}}}},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["*", "#/a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def places(document, path=()):
    """Return the paths to every value in a document."""
    yield path
    members = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in members if isinstance(document, dict | list) else ():
        yield from places(value, (*path, key)) if isinstance(value, dict | list) else [(*path, key)]


def changed(document):
    """Return the document with another value at one location."""

    def put(path, value):
        copy = json.loads(json.dumps(document))
        inner = copy
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return copy

    return st.builds(put, st.sampled_from([path for path in places(document) if path]), JSON)


@settings(max_examples=150)
@given(changed(PROPERTIES), changed(SCHEMA))
def test_tool_has_valid_schemas_or_is_refused(properties, spec):
    try:
        tool = ToolProperties.parse(properties)
        described = ToolInput.of(tool, Settings.parse(spec, tool.adapters)).schema
        output = tool_output_schema(tool)
    except ValidationError:
        return
    check_input_schema(described)
    check_output_schema(output)


@settings(max_examples=150)
@given(changed(SCHEMA), st.dictionaries(st.sampled_from(["a", "b"]), st.text()))
def test_runtime_variables_are_validated_or_refused(document, environment):
    try:
        variables = RuntimeVariables.parse(document)
    except ValidationError:
        return
    assert set(variables.checks(environment)) == set(variables.names)
    assert set(variables.values(environment)) <= set(variables.names)
