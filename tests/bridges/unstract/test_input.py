import base64

import pytest

from nexus_tools.bridges.unstract.input import MAX_SETTINGS_BYTES, ToolInput
from nexus_tools.bridges.unstract.properties import ToolProperties
from nexus_tools.bridges.unstract.settings import Settings
from nexus_tools.errors import ValidationError
from nexus_tools.tool import check_input_schema, example_input

HELLO = {"name": "in.txt", "text": "hello"}


def input_of(properties, spec=None):
    tool = ToolProperties.parse(properties)
    return ToolInput.of(tool, Settings.parse(spec or {}, tool.adapters))


def accepts(tool_input, ports):
    return check_input_schema(tool_input.schema).validator.is_valid(ports)


def wrong(tool_input, ports):
    assert accepts(tool_input, ports)
    with pytest.raises(ValidationError) as caught:
        tool_input.read(ports)
    assert caught.value.code == "input_invalid"
    [failure] = caught.value.details["failures"]
    return failure


def test_file_has_a_name_and_text(properties):
    file = input_of(properties).read({"file": {"name": "ä.txt", "text": "grüß"}}).file
    assert (file.name, file.content) == ("ä.txt", "grüß".encode())


def test_file_has_a_name_and_base64(properties):
    port = {"name": "a.bin", "content_base64": base64.b64encode(b"\0\xff").decode()}
    assert input_of(properties).read({"file": port}).file.content == b"\0\xff"


@pytest.mark.parametrize(
    "file",
    [
        None,
        {"name": "a"},
        {"text": "a"},
        {"name": "a", "text": "a", "content_base64": ""},
        {"name": "", "text": "a"},
        {"name": "../a", "text": "a"},
        {"name": "a\\b", "text": "a"},
        {"name": "a\0b", "text": "a"},
        {"name": "a" * 201, "text": "a"},
        {"name": "a", "text": "a", "mode": 1},
    ],
)
def test_other_files_do_not_match_the_schema(properties, file):
    assert accepts(input_of(properties), {"file": HELLO})
    assert not accepts(input_of(properties), {"file": file})


@pytest.mark.parametrize("name", [".", ".."])
def test_folder_name_is_not_a_file_name(properties, name):
    failure = wrong(input_of(properties), {"file": {"name": name, "text": ""}})
    assert failure["pointer"] == "/file/name"


@pytest.mark.parametrize("text", ["a", "====", "aGk=\n", "aGk?"])
def test_invalid_base64_is_refused(properties, text):
    failure = wrong(input_of(properties), {"file": {"name": "a", "content_base64": text}})
    assert failure["pointer"] == "/file/content_base64"


def test_unaccepted_file_is_refused(properties):
    properties["restrictions"] = {"maxFileSize": "1KB", "allowedFileTypes": ["txt"]}
    tool_input = input_of(properties)
    assert "1024" in wrong(tool_input, {"file": {"name": "a.txt", "text": "x" * 1_025}})["message"]
    assert "txt" in wrong(tool_input, {"file": {"name": "a.pdf", "text": ""}})["message"]


def test_tool_without_a_file_has_no_file_port(properties):
    properties["requires"]["files"]["input"] = False
    tool_input = input_of(properties)
    assert "file" not in tool_input.schema["properties"]
    assert tool_input.read({}).file is None


def test_settings_port_has_the_schema_of_the_spec(properties):
    spec = {"required": ["bins"], "properties": {"bins": {"type": "array", "minItems": 2}}}
    tool_input = input_of(properties, spec)
    assert accepts(tool_input, {"file": HELLO, "settings": {"bins": [1, 2]}})
    assert not accepts(tool_input, {"file": HELLO, "settings": {"bins": [1]}})
    assert not accepts(tool_input, {"file": HELLO})


def test_spec_references_still_resolve(properties):
    spec = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"bin": {"type": "string"}},
        "properties": {"bin": {"$ref": "#/definitions/bin"}},
    }
    tool_input = input_of(properties, spec)
    assert accepts(tool_input, {"file": HELLO, "settings": {"bin": "a"}})
    assert not accepts(tool_input, {"file": HELLO, "settings": {"bin": 1}})


def test_too_long_settings_are_refused(properties):
    tool_input = input_of(properties)
    frame = len('{"a":""}')
    fits = {"file": HELLO, "settings": {"a": "x" * (MAX_SETTINGS_BYTES - frame)}}
    assert len(tool_input.read(fits).settings_argument) == MAX_SETTINGS_BYTES
    longer = {"file": HELLO, "settings": {"a": "x" * (MAX_SETTINGS_BYTES - frame + 1)}}
    assert wrong(tool_input, longer)["pointer"] == "/settings"


def test_declared_parameters_are_ports(properties):
    properties["parameters"] = [
        {"name": "targetLanguage", "type": "string", "description": "To translate into"},
        {"name": "pages", "type": "number", "description": "How many"},
    ]
    tool_input = input_of(properties)
    assert tool_input.schema["required"] == ["file", "target_language", "pages"]
    ports = {"file": HELLO, "target_language": "fr", "pages": 2}
    assert accepts(tool_input, ports)
    assert not accepts(tool_input, {**ports, "pages": "2"})
    assert tool_input.read(ports).parameters == {"targetLanguage": "fr", "pages": 2}


def test_conflicting_parameters_are_in_one_port(properties):
    properties["parameters"] = [{"name": "settings", "type": "string"}]
    tool_input = input_of(properties)
    ports = {"file": HELLO, "settings": {}, "parameters": {"settings": "a"}}
    assert accepts(tool_input, ports)
    assert tool_input.read(ports).parameters == {"settings": "a"}


def test_too_many_parameters_are_in_one_port(properties):
    names = [f"p{number}" for number in range(30)]
    properties["parameters"] = [{"name": name, "type": "number"} for name in names]
    tool_input = input_of(properties)
    values = dict.fromkeys(names, 1)
    assert accepts(tool_input, {"file": HELLO, "parameters": values})
    assert tool_input.read({"file": HELLO, "parameters": values}).parameters == values


def test_path_of_the_input_file_is_not_a_port(properties):
    properties["parameters"] = [
        {"name": "input_file", "type": "string", "description": "File path of the input file"}
    ]
    tool_input = input_of(properties)
    assert tool_input.takes_path
    assert "input_file" not in tool_input.schema["properties"]


def test_metadata_describes_the_context_of_the_run(properties):
    tool_input = input_of(properties)
    metadata = {"workflow_id": "w-1", "tags": ["a"], "custom_data": {"b": 1}}
    assert tool_input.read({"file": HELLO, "metadata": metadata}).metadata == metadata
    for wrong_metadata in ({"workflow_id": "../up"}, {"source_name": "x"}):
        assert not accepts(tool_input, {"file": HELLO, "metadata": wrong_metadata})


def test_input_example_is_an_accepted_file(properties):
    properties["restrictions"] = {"allowedFileTypes": ["pdf"]}
    tool_input = input_of(properties)
    assert tool_input.read(example_input(tool_input.schema)).file.name == "document.pdf"
