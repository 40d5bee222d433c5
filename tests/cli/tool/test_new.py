import os
import subprocess
import sys
from pathlib import Path

import pytest

import nexus_tools
from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.compiler import build_to_publish
from nexus_tools.sui.types.address import Address
from nexus_tools.tool_server import load


def run_tests(home, folder):
    """Run the tests of a new project, which have to pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = os.environ | home.environment
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_new_project_has_a_tool_with_the_given_name(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = home.json("tool", "new", "greeter")
    assert document["fqn"] == "xyz.example.greeter@1"
    assert {Path(name).name for name in document["files"]} == {
        ".gitignore",
        "README.md",
        "pyproject.toml",
        "tools.py",
        "test_tools.py",
        "test_localnet.py",
        "test.yml",
    }
    assert all(Path(name).is_file() for name in document["files"])


def test_new_project_describes_its_ports_and_ignores_generated_files(home, tmp_path):
    folder = tmp_path / "project"
    home.json("tool", "new", "greeter", "--directory", folder)
    checks = home.json("tool", "validate", folder / "tools.py")["checks"]
    assert [check["hint"] for check in checks if check["name"] == "ports and variants"] == [""]
    assert "__pycache__/" in (folder / ".gitignore").read_text().splitlines()


def test_new_project_passes_its_own_tests(home, tmp_path):
    folder = tmp_path / "project"
    home.json("tool", "new", "word-count", "--directory", folder, "--fqn", "org.acme.text.greet@3")
    assert "org.acme.text.greet@3" in (folder / "tools.py").read_text()
    run_tests(home, folder)


@pytest.mark.long
@pytest.mark.usefixtures("compiler")
def test_new_move_package_passes_its_tests_and_checks(home, tmp_path):
    folder = tmp_path / "project"
    new = ("tool", "new", "word-count", "--template", "move", "--directory", folder)
    document = home.json(*new, "--fqn", "org.acme.text.words@3")
    assert document["fqn"] == "org.acme.text.words@3"
    run_tests(home, folder)
    checks = home.json("tool", "validate", folder)["checks"]
    assert [(each["file"], each["name"], each["status"]) for each in checks] == [
        ("", "package", "passed"),
        ("words.json", "definition", "passed"),
        ("words.json", "function", "passed"),
        ("words.json", "invoke with a valid input", "passed"),
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", ["move", "json", "std", "class"])
def test_new_accepts_names_reserved_in_move(home, tmp_path, name, move_builder):
    folder = tmp_path / "project"
    home.json("tool", "new", name, "--template", "move", "--directory", folder)
    published = {"nexus_tools": bytes(Address.of(0x70015))}
    [module] = build_to_publish(move_builder, folder, published=published).modules
    assert deserialize(module).name == f"run_{name}"


@pytest.mark.long
@pytest.mark.parametrize("name", ["tool", "client", "class", "test-it", "lambda"])
def test_new_accepts_names_reserved_in_python(home, tmp_path, name, monkeypatch):
    folder = tmp_path / "project"
    document = home.json("tool", "new", name, "--directory", folder)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "tools", raising=False)
    [tool] = load(str(folder / "tools.py")).tools.values()
    monkeypatch.delitem(sys.modules, "tools", raising=False)
    assert str(tool.fqn) == document["fqn"]
    assert not tool.function.__name__.startswith("test")


def test_new_rejects_non_empty_folder(home, tmp_path):
    (tmp_path / "greeter").mkdir()
    (tmp_path / "greeter" / "mine.txt").write_text("mine")
    result = home.run("tool", "new", "greeter", "--directory", tmp_path / "greeter", "--json")
    assert (result.code, result.error["code"]) == (2, "folder_not_empty")
    assert "If you created this project before, continue with it" in result.error["hint"]
    assert "--directory" in result.error["hint"]
    assert [path.name for path in (tmp_path / "greeter").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["Greeter", "g", "../greeter", "a b"])
def test_new_rejects_name_that_is_invalid_in_an_fqn(home, tmp_path, name):
    folder = tmp_path / "project"
    result = home.run("tool", "new", name, "--directory", folder, "--json")
    assert (result.code, result.error["code"]) == (7, "fqn_invalid")
    assert (
        "expected a letter a-z, and at least one more character of a-z, 0-9"
        in result.error["message"]
    )
    assert not folder.exists()


def test_new_tool_has_the_given_name_and_an_example(home, tmp_path):
    folder = tmp_path / "weather"
    home.json("tool", "new", "weather", "--directory", folder)
    written = "\n".join(path.read_text() for path in folder.rglob("*.*") if path.is_file())
    assert "greet" not in written.lower()
    [tool] = load(str(folder / "tools.py")).tools.values()
    assert tool.definition("https://tools.example.com").input_schema["properties"]["text"][
        "examples"
    ] == ["hello"]


def test_new_hints_at_fqn_option_when_the_name_is_an_fqn(home):
    result = home.run("tool", "new", "dev.stranger.roman@1")
    assert (result.code, result.stderr.count("@1@1")) == (7, 0)
    assert "'dev.stranger.roman@1' is not a valid tool name" in result.stderr
    assert "--fqn" in result.stderr


def test_templates_are_not_hidden_because_wheels_omit_hidden_folders():
    package = Path(nexus_tools.__file__).parent
    templates = [path.relative_to(package) for path in package.rglob("*.template")]
    assert len(templates) > 20
    assert [path for path in templates if any(part.startswith(".") for part in path.parts)] == []
