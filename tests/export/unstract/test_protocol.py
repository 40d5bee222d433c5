"""Each message, field by field, according to the protocol's specification."""

from datetime import datetime

import pytest


def only(messages):
    [message] = messages
    return message


def assert_is_iso_time(text):
    assert datetime.fromisoformat(text).tzinfo is not None


@pytest.mark.parametrize(
    ("command", "field", "file"),
    [
        ("SPEC", "spec", "spec.json"),
        ("PROPERTIES", "properties", "properties.json"),
        ("VARIABLES", "variables", "runtime_variables.json"),
    ],
)
def test_document_is_printed_like_its_file(exported_tool, command, field, file):
    code, messages, _ = exported_tool(command)
    message = only(messages)
    assert set(message) == {"type", field, "emitted_at"}
    assert (code, message["type"], message[field]) == (0, command, exported_tool.config(file))
    assert_is_iso_time(message["emitted_at"])


def test_icon_is_the_text_of_the_svg(exported_tool):
    code, messages, _ = exported_tool("ICON")
    message = only(messages)
    icon = (exported_tool.folder / "src" / "config" / "icon.svg").read_text(encoding="utf-8")
    assert set(message) == {"type", "icon", "emitted_at"}
    assert (code, message["type"], message["icon"]) == (0, "ICON", icon)
    assert icon.startswith("<svg ")


def test_result_has_workflow_time_and_output(exported_tool):
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": 2})
    message = only(messages)
    assert set(message) == {"type", "result", "emitted_at"}
    assert set(message["result"]) == {"workflow_id", "elapsed_time", "output"}
    assert (code, message["type"]) == (0, "RESULT")
    assert message["result"]["output"] == {"ok": {"result": 3}}
    assert message["result"]["workflow_id"] == ""
    assert message["result"]["elapsed_time"] >= 0
    assert_is_iso_time(message["emitted_at"])


def test_log_has_level_and_text(exported_tool):
    _, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, arguments=["--log-level", "INFO"])
    message = messages[0]
    assert set(message) == {"type", "level", "log", "emitted_at"}
    assert (message["type"], message["level"]) == ("LOG", "INFO")
    assert "xyz.example.math.add@2" in message["log"]
    assert_is_iso_time(message["emitted_at"])


def test_cost_is_never_printed(exported_tool):
    _, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, arguments=["--log-level", "DEBUG"])
    assert {message["type"] for message in messages} == {"LOG", "RESULT"}


def test_properties_have_the_spelling_of_the_specification(exported_tool):
    properties = exported_tool.config("properties.json")
    assert properties["display_name"] == "Add"
    assert properties["function_name"] == "xyz_example_math_add_v2"
    assert properties["description"] == "Add two integers."
    assert (properties["parameters"], properties["versions"]) == ([], ["2.0.0"])
    assert properties["is_cacheable"] is False
    assert (properties["input_type"], properties["output_type"]) == ("file", "file")
    assert properties["requires"] == {
        "files": {"input": False, "output": True},
        "databases": {"input": False, "output": False},
    }


def test_properties_also_have_the_spelling_of_the_sdk(exported_tool):
    properties = exported_tool.config("properties.json")
    assert (properties["displayName"], properties["toolVersion"]) == ("Add", "2.0.0")
    assert properties["functionName"] == "xyz_example_math_add_v2"
    assert properties["result"]["type"] == "JSON"
    assert set(properties["adapter"]) == {
        "languageModels",
        "embeddingServices",
        "vectorStores",
        "textExtractors",
        "ocrs",
    }


def test_settings_are_the_tools_input(exported_tool, definition):
    spec = exported_tool.config("spec.json")
    assert spec["required"] == ["a", "b"]
    assert set(spec["properties"]) == {"a", "b"}
    assert (spec["type"], spec["description"]) == ("object", "Add two integers.")
    assert spec["title"]


def test_runtime_variables_are_optional(exported_tool):
    variables = exported_tool.config("runtime_variables.json")
    assert variables["required"] == []
    assert set(variables["properties"]) == {"NEXUS_TOOL_URL", "NEXUS_TOOL_AUTHORIZATION"}


def test_unknown_command_is_refused(exported_tool):
    code, messages, errors = exported_tool("DANCE")
    assert (code, messages) == (2, [])
    assert "invalid choice" in errors
