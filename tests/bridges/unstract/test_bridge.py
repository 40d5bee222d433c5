import json

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.unstract import UnstractBridge
from nexus_tools.errors import UsageError

# Responds to each command as in the protocol's specification, with documents as objects.
RESPONDING = """#!/bin/sh
[ "$1" = --command ] || exit 9
case "$2" in
PROPERTIES) echo '{"type": "PROPERTIES", "properties": {"function_name": "echoes"}}' ;;
SPEC) echo '{"type": "SPEC", "spec": {"properties": {"loud": {"type": "boolean"}}}}' ;;
VARIABLES) echo '{"type": "VARIABLES", "variables": {"required": ["KEY"]}}' ;;
ICON) echo '{"type": "ICON", "icon": "<svg>echo</svg>"}' ;;
*) echo unknown >&2; exit 1 ;;
esac
"""
NOTHING = dict.fromkeys(
    ["properties.json", "spec.json", "runtime_variables.json", "icon.svg"], None
)


@pytest.mark.parametrize("within", [".", "src"])
def test_folder_with_a_config_is_recognised(write_tool, within):
    assert UnstractBridge().recognises(write_tool("", within=within))


def test_folder_without_a_config_is_recognised_only_when_configured(tmp_path):
    assert not UnstractBridge().recognises(tmp_path)
    assert UnstractBridge(image="unstract/sorter").recognises(tmp_path)
    assert UnstractBridge(entrypoint=["./run"]).recognises(tmp_path)
    assert not UnstractBridge(image="unstract/sorter").recognises(tmp_path / "missing")
    (tmp_path / "tool.json").touch()
    assert not UnstractBridge(image="unstract/sorter").recognises(tmp_path)
    (tmp_path / "Dockerfile").touch()
    assert UnstractBridge(image="unstract/sorter").recognises(tmp_path)


async def test_tool_is_described_by_its_files_and_nothing_runs(serve, tmp_path):
    tool = await serve(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    assert not (tmp_path / "ran").exists()
    assert str(tool.fqn) == "com.example.document_indexer@1"
    assert tool.system == "unstract"
    assert tool.description == (
        "This tool creates indexes and embeddings for documents. "
        "Unstract tool: Document Indexer 1.0.0."
    )
    assert tool.icon == "<svg/>"


async def test_program_supplies_missing_declarations(serve):
    tool = await serve(RESPONDING, config=NOTHING, options={"entrypoint": ["./main.sh"]})
    assert str(tool.fqn) == "com.example.echoes@1"
    assert "loud" in tool.input_schema["properties"]["settings"]["properties"]
    assert tool.icon == "<svg>echo</svg>"
    assert (await tool.check_health())["KEY"] is False


async def test_documents_may_be_json_encoded_strings(serve, properties):
    answer = json.dumps({"type": "PROPERTIES", "properties": json.dumps(properties)})
    program = f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n"
    tool = await serve(program, config={"properties.json": None})
    assert tool.fqn.name == "document_indexer"


async def test_runtime_variables_and_icon_are_optional(serve):
    config = {"icon.svg": None, "runtime_variables.json": None}
    tool = await serve("#!/bin/sh\nexit 1\n", config=config)
    assert tool.icon == ""
    assert await tool.check_health() == {"program": True}


async def test_index_writing_cacheable_tool_is_described_so(serve, properties):
    properties |= {"output_type": "index", "is_cacheable": True}
    tool = await serve("", properties=properties)
    assert "The tool writes to its own index." in tool.description
    assert "The results may be cached." in tool.description


async def test_unresponsive_program_is_refused_with_its_output(refusal):
    program = "#!/bin/sh\necho 'ModuleNotFoundError: No module named sorter' >&2\nexit 1\n"
    reason = (await refusal(program, config={"properties.json": None})).reason
    assert "PROPERTIES" in reason
    assert "No module named sorter" in reason


async def test_unfilled_template_is_refused(refusal, properties):
    properties["function_name"] = "<TODO: Add tool function name>"
    assert "placeholder" in (await refusal(properties=properties)).reason


async def test_folder_without_a_program_is_refused_with_a_hint(refusal):
    refused = await refusal(None)
    assert "no program" in refused.reason
    assert "--entrypoint" in refused.hint


@pytest.mark.parametrize("file", ["properties.json", "spec.json", "runtime_variables.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 10**5])
async def test_unreadable_file_is_refused(refusal, file, text):
    assert file in (await refusal(config={file: text})).reason


async def test_huge_file_is_refused(refusal):
    assert "bytes" in (await refusal(config={"spec.json": " " * (2**20 + 1)})).reason


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "string"},
        {"properties": {"a": {"$ref": "http://example.com/a.json"}}},
        {"properties": {"a": {"type": "nothing"}}},
        {"properties": {"a": {"not": {"pattern": "(a)\\1"}}}},
    ],
)
async def test_unsupported_settings_schema_is_refused(refusal, spec):
    assert (await refusal(config={"spec.json": spec})).reason


async def test_invalid_result_schema_is_refused(refusal):
    properties = {
        "functionName": "sort_file",
        "result": {"type": "JSON", "schema": {"type": "nothing"}},
    }
    assert (await refusal(properties=properties)).reason


async def test_fqn_version_is_the_operators(serve, make_host, tmp_path):
    first = await serve("")
    naming = Naming("com.example", version=7)
    [again] = (await UnstractBridge().discover(tmp_path / "tool", make_host(), naming)).tools
    assert again.fqn.unversioned == first.fqn.unversioned
    assert again.fqn.version == 7


@pytest.mark.parametrize("options", [{"storage": "ftp"}, {"log_level": "LOUD"}])
def test_unknown_option_value_is_refused(options):
    with pytest.raises(UsageError):
        UnstractBridge(**options)
