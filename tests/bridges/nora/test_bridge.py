import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.nora import NoraBridge
from nexus_tools.errors import UsageError


def test_folder_with_a_manifest_is_one_tool(write, discover):
    place = write()
    assert NoraBridge().recognises(place)
    [tool] = discover(place).tools
    assert (tool.system, tool.source) == ("nora", str(place))


def test_folder_of_tool_folders_has_several_tools(write, discover):
    write(folder="tools/one", name="one")
    write(folder="tools/two", name="two")
    place = write(folder="elsewhere").parent / "tools"
    (place / "empty").mkdir()
    assert NoraBridge().recognises(place)
    assert [tool.fqn.name for tool in discover(place).tools] == ["one", "two"]


def test_other_files_and_folders_are_not_recognised(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    assert not NoraBridge().recognises(tmp_path)
    assert not NoraBridge().recognises(tmp_path / "a.json")
    assert not NoraBridge().recognises(tmp_path / "missing")


def test_tool_has_the_name_in_the_manifest(write, discover):
    place = write(name="Read File")
    [tool] = discover(place, Naming("io.nora", 2)).tools
    assert str(tool.fqn) == "io.nora.read-file@2"


def test_description_is_the_manifests_and_truncated(tool):
    described = tool("", description="x" * 5_000).description
    assert len(described.encode()) == 4_096
    assert described.endswith("x…")


def test_two_tools_with_one_name_are_both_refused(write, discover):
    places = [str(write(folder=f"tools/{one}", name="same")) for one in ("first", "second")]
    discovery = discover(write(folder="other").parent / "tools")
    assert discovery.tools == ()
    assert [refusal.source for refusal in discovery.rejected] == places
    assert places[1] in discovery.rejected[0].reason


def test_invalid_manifest_is_refused_with_pointers_and_others_are_found(write, discover):
    write(folder="tools/good", name="good")
    bad = write(folder="tools/bad", parameters={"properties": {"path": {"type": "string"}}})
    discovery = discover(bad.parent)
    assert [tool.fqn.name for tool in discovery.tools] == ["good"]
    [refusal] = discovery.rejected
    assert refusal.source == str(bad)
    assert "/parameters/properties/path: 'required' is a required property" in refusal.reason
    assert (
        "Each property of the parameters requires type, description, and the boolean"
        in refusal.hint
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text", "description": "", "required": True},
        {
            "$ref": "https://example.com/x.json",
            "type": "string",
            "description": "",
            "required": True,
        },
        {
            "not": {"pattern": "(?=a)b"},
            "type": "string",
            "description": "",
            "required": False,
        },
    ],
)
def test_unsupported_parameter_schema_is_refused(write, discover, schema):
    [refusal] = discover(write(parameters={"properties": {"a": schema}})).rejected
    assert "the schema is invalid" in refusal.reason or "schema" in refusal.reason
    assert "/properties/a" in refusal.reason


@pytest.mark.parametrize(
    "name",
    [
        "shell",
        "Shell",
        "run-shell",
        "runShell",
        "execute_command",
        "bash",
        "PowerShell",
        "SHELLTool",
        "sh2",
    ],
)
def test_tool_named_like_a_shell_is_refused(write, discover, name):
    [refusal] = discover(write(name=name)).rejected
    assert refusal.reason.startswith(
        "the tool may run arbitrary commands: the name contains the word"
    )
    assert "--allow-dangerous" in refusal.hint


@pytest.mark.parametrize("name", ["command", "cmd", "Script", "shell"])
def test_tool_with_a_command_parameter_is_refused(write, discover, parameter, name):
    place = write(parameters={"properties": {name: parameter()}})
    [refusal] = discover(place).rejected
    assert refusal.reason == f"the tool may run arbitrary commands: it has the parameter {name!r}"


@pytest.mark.parametrize("name", ["seashell", "commander", "delete_file"])
def test_tool_with_another_name_is_not_a_shell(write, discover, name):
    assert discover(write(name=name)).rejected == ()


def test_allowed_dangerous_tool_is_served(write, discover):
    assert discover(write(name="shell"), allow_dangerous=True).rejected == ()


def test_discovery_does_not_run_scripts(write, discover, tmp_path):
    place = write(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert len(discover(place).tools) == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)"])
def test_unsupported_error_pattern_is_refused(pattern):
    with pytest.raises(UsageError) as caught:
        NoraBridge(error_pattern=pattern)
    assert caught.value.code == "pattern_invalid"
