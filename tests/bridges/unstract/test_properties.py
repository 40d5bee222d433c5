import pytest

from nexus_tools.bridges.unstract.properties import (
    Adapter,
    FileInput,
    Parameter,
    ResultType,
    ToolProperties,
)
from nexus_tools.errors import ValidationError

SDK = {
    "schemaVersion": "0.0.1",
    "displayName": "File Sorter",
    "functionName": "sort_file",
    "toolVersion": "0.0.68",
    "description": "Sorts a file into a bin",
    "input": {"description": "File to be sorted"},
    "output": {"description": "A folder for each bin"},
    "result": {"type": "JSON", "description": "The bin", "schema": {"type": "object"}},
    "adapter": {
        "languageModels": [{"isEnabled": True, "title": "Model", "isRequired": True}],
        "embeddingServices": [{"isEnabled": False}],
        "textExtractors": [{"isEnabled": True, "adapterId": "extractorId"}],
    },
    "ioCompatibility": {"api": {"sourceSupport": True}},
    "restrictions": {"maxFileSize": "2MB", "allowedFileTypes": ["PDF", ".txt"]},
}


def refused(document, match):
    with pytest.raises(ValidationError, match=match) as caught:
        ToolProperties.parse(document)
    assert caught.value.code == "properties_invalid"


def test_specification_spelling_is_read(properties):
    tool = ToolProperties.parse(properties)
    assert tool.function_name == "document_indexer"
    assert tool.display_name == "Document Indexer"
    assert tool.description.startswith("This tool creates indexes")
    assert tool.version == "1.0.0"
    assert tool.file_input is FileInput.REQUIRED
    assert tool.result_type is ResultType.ANY


def test_sdk_spelling_is_read():
    tool = ToolProperties.parse(SDK)
    assert tool.function_name == "sort_file"
    assert tool.display_name == "File Sorter"
    assert tool.version == "0.0.68"
    assert tool.input_description == "File to be sorted"
    assert tool.output_description == "A folder for each bin"
    assert tool.file_input is FileInput.REQUIRED
    assert tool.result_type is ResultType.JSON
    assert tool.result_schema == {"type": "object"}
    assert tool.restrictions.max_bytes == 2 * 1024 * 1024
    assert tool.restrictions.types == ("pdf", "txt")


def test_enabled_adapters_are_settings_by_their_own_or_default_id():
    assert ToolProperties.parse(SDK).adapters == (
        Adapter("llmAdapterId", "Model", "", is_required=True),
        Adapter("extractorId", "Text extractor", "", is_required=False),
    )


@pytest.mark.parametrize("name", ["is_cacheable", "is_cachable"])
def test_both_spellings_of_cacheable_are_read(properties, name):
    del properties["is_cacheable"]
    assert ToolProperties.parse({**properties, name: True}).is_cacheable


def test_parameters_have_a_name_a_type_and_a_description(properties):
    properties["parameters"] = [
        {"name": "language", "type": "string", "description": "To translate into"},
        {"name": "pages", "type": "number"},
    ]
    assert ToolProperties.parse(properties).parameters == (
        Parameter("language", "string", "To translate into"),
        Parameter("pages", "number", ""),
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"a": 1},
        ["a"],
        [{"type": "string"}],
        [{"name": "a", "type": "boolean"}],
        [{"name": "a"}],
        [{"name": "a", "type": "string"}] * 2,
        [{"name": f"a{n}", "type": "string"} for n in range(101)],
    ],
)
def test_invalid_parameters_are_refused(properties, parameters):
    refused({**properties, "parameters": parameters}, "parameters")


@pytest.mark.parametrize(
    ("needs", "kind", "file_input"),
    [
        ({"files": {"input": True}}, None, FileInput.REQUIRED),
        ({"files": {"input": False}}, "file", FileInput.NONE),
        ({}, "file", FileInput.REQUIRED),
        ({}, None, FileInput.OPTIONAL),
    ],
)
@pytest.mark.parametrize("word", ["requires", "required"])
def test_file_input_is_declared_in_either_of_two_fields(needs, kind, file_input, word):
    document = {"function_name": "f", word: needs, **({"input_type": kind} if kind else {})}
    assert ToolProperties.parse(document).file_input is file_input


@pytest.mark.parametrize("kind", ["db", "index"])
def test_tool_with_a_database_or_index_as_input_is_refused(properties, kind):
    refused({**properties, "input_type": kind}, "input_type is")


@pytest.mark.parametrize("name", ["databases", "db"])
@pytest.mark.parametrize("way", ["input", "output"])
def test_tool_that_requires_a_database_is_refused(properties, name, way):
    refused({**properties, "requires": {name: {way: True}}}, f"{name}.{way}")


def test_tool_that_writes_to_its_own_index_is_accepted(properties):
    assert ToolProperties.parse({**properties, "output_type": "index"}).output_type == "index"


@pytest.mark.parametrize("name", ["input_type", "output_type"])
def test_unknown_input_or_output_type_is_refused(properties, name):
    refused({**properties, name: "stream"}, name)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        (None, "function_name .* is missing"),
        ("", "function_name .* is missing"),
        (7, "function_name .* is missing"),
        ("<TODO: Add tool function name>", "placeholder"),
        ("two words", "Python function"),
        ("2fast", "Python function"),
        ("with-dash", "Python function"),
        ("import", "Python function"),
        ("größe", "Python function"),
    ],
)
def test_function_name_must_be_a_python_function_name(name, match):
    refused({"function_name": name}, match)


def test_result_is_json_or_text():
    assert ToolProperties.parse({**SDK, "result": {"type": "TXT"}}).result_type is ResultType.TEXT
    refused({**SDK, "result": {"type": "<TODO>"}}, "JSON or TXT")


@pytest.mark.parametrize("adapter", [[], {"languageModels": {}}, {"ocrs": ["x"]}])
def test_invalid_adapters_are_refused(adapter):
    refused({**SDK, "adapter": adapter}, "adapter")
