import pytest

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.tool_server import load

pytestmark = pytest.mark.usefixtures("imports")

MODULE = """
from nexus_tools.tool_server import ToolServer, Variant, tool

class Done(Variant, name="ok"):
    pass

@tool("xyz.example.test.first@1")
async def first() -> Done:
    return Done()

@tool("xyz.example.test.second@1")
async def second() -> Done:
    return Done()

both = [second, first]
server = ToolServer([first], public_url="https://tools.example.com")
nothing = 3
"""
FIRST, SECOND = "/xyz.example.test.first@1", "/xyz.example.test.second@1"


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "authored_tools.py").write_text(MODULE)
    (tmp_path / "empty_tools.py").write_text("")
    (tmp_path / "workflow.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _paths(server):
    return {path: tool.fqn.name for path, tool in server.tools.items()}


@pytest.mark.parametrize("place", ["authored_tools", "authored_tools.py", "./authored_tools.py"])
@pytest.mark.parametrize(
    ("attribute", "paths"),
    [
        ("", {FIRST: "first", SECOND: "second"}),
        (":first", {FIRST: "first"}),
        (":both", {SECOND: "second", FIRST: "first"}),
        (":server", {FIRST: "first"}),
    ],
)
@pytest.mark.usefixtures("module")
def test_tools_are_found_by_name(place, attribute, paths):
    assert _paths(load(place + attribute)) == paths


def test_tool_file_is_found_by_its_path(module, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert list(load(f"{module}/authored_tools.py").tools) == [FIRST, SECOND]


@pytest.mark.parametrize(
    "target",
    [
        "no_such_module",
        "no_such_file.py",
        "authored_tools:missing",
        "authored_tools:nothing",
        "authored_tools:",
        "empty_tools",
        "../authored_tools",
        "workflow.json",
        "",
    ],
)
@pytest.mark.usefixtures("module")
def test_load_rejects_other_objects(target):
    with pytest.raises(UsageError) as caught:
        load(target)
    assert caught.value.code == "target_unknown"
    assert caught.value.hint


@pytest.mark.usefixtures("module")
def test_load_reports_non_python_file():
    with pytest.raises(UsageError, match=r"workflow\.json is not a Python file"):
        load("workflow.json")


def test_sample_tools_are_loaded(examples_path):
    assert list(load(str(examples_path)).tools) == [
        "/xyz.example.math.divide@1",
        "/xyz.example.text.count_words@1",
        "/xyz.example.time.nap@1",
    ]


def test_decorator_without_an_fqn_is_reported_with_its_line(tmp_path):
    file = tmp_path / "without_fqn.py"
    file.write_text("from nexus_tools.tool_server import tool\n\n\n@tool\ndef add(a: int): ...\n")
    with pytest.raises(ValidationError) as caught:
        load(str(file))
    assert caught.value.code == "tool_invalid"
    assert '@tool("xyz.example.math.add@1")' in caught.value.message
    assert f"{file}, line 4" in caught.value.hint
