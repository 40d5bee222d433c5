import json
from pathlib import Path

import pytest

from nexus_tools.workflow import lint, read_document


def test_new_project_has_workflow_tools_and_stubs(home, tmp_path):
    folder = tmp_path / "greetings"
    document = home.json("workflow", "new", folder)
    assert document["workflow"] == str(folder / "workflow.json")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == [
        ".gitignore",
        "README.md",
        "stubs.json",
        "test.yml",
        "tools.py",
        "workflow.json",
        "workflow.schema.json",
    ]
    assert sorted(document["files"]) == sorted(map(str, files))


@pytest.mark.parametrize("name", ["report", "report/flow.json"])
def test_new_document_names_the_schema_beside_it(home, tmp_path, name):
    path = Path(home.json("workflow", "new", tmp_path / name)["workflow"])
    schema = json.loads((path.parent / json.loads(path.read_text())["$schema"]).read_text())
    assert schema == home.json("schema", "workflow")


def test_new_file_keeps_an_existing_schema(home, tmp_path):
    (tmp_path / "workflow.schema.json").write_text("mine")
    assert home.json("workflow", "new", tmp_path / "flow.json")["files"] == [
        str(tmp_path / "flow.json")
    ]
    assert (tmp_path / "workflow.schema.json").read_text() == "mine"


def test_new_json_file_is_valid(home, tmp_path):
    path = tmp_path / "there" / "flow.json"
    home.json("workflow", "new", path)
    document, warnings = read_document(path.read_bytes())
    assert [*warnings, *lint(document, strict=True)] == []


def test_new_python_file_builds_same_workflow(home, tmp_path):
    path = tmp_path / "greetings.py"
    home.json("workflow", "new", path)
    assert home.run("workflow", "validate", path, "--strict").code == 0
    folder = tmp_path / "greetings"
    home.json("workflow", "new", folder)
    given = ("--input", "text=one, ,two", "--tools", folder / "tools.py")
    for workflow in (path, folder / "workflow.json"):
        document = home.json("workflow", "simulate", workflow, *given)
        assert [each["value"] for each in document["results"]] == ["ONE TWO"]


def test_project_stubs_match_workflow(home, tmp_path):
    folder = tmp_path / "greetings"
    home.json("workflow", "new", folder)
    given = ("--input", "text=x", "--stubs", folder / "stubs.json")
    document = home.json("workflow", "simulate", folder / "workflow.json", *given)
    assert [each["value"] for each in document["results"]] == ["ONE TWO"]
    assert document["generated"] == []


def test_new_prints_next_command(home, tmp_path):
    result = home.run("workflow", "new", tmp_path / "flow.json")
    expected = f"nexus-tools workflow simulate {tmp_path / 'flow.json'} --input text=one,two"
    assert result.stderr.splitlines()[-1] == f"next: {expected}"


@pytest.mark.parametrize(
    ("name", "code"), [("flow.json", "file_exists"), ("f", "folder_not_empty")]
)
def test_new_keeps_existing_files(home, tmp_path, name, code):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "mine.txt").write_text("mine")
    (tmp_path / "flow.json").write_text("mine")
    assert home.fails("workflow", "new", tmp_path / name) == (2, code)
    assert (tmp_path / "flow.json").read_text() == "mine"
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("place", "label"),
    [
        ("weather", "weather"),
        ("weather.json", "weather"),
        ("weather.py", "weather"),
        ('My "Weather"', "my-weather"),
        ("1st", "example"),
        ("w", "example"),
    ],
)
def test_new_workflow_has_given_name(home, tmp_path, place, label):
    document = home.json("workflow", "new", tmp_path / place)
    written = [Path(each).read_text() for each in document["files"]]
    assert not [text for text in written if "greet" in text.lower()]
    assert [text for text in written if f"xyz.example.{label}.change@1" in text]
    assert home.run("workflow", "validate", document["workflow"], "--strict").code == 0
