"""How packaged tools are declared, in `pocket.json` and in the older files."""

import json

import pytest

from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth
from nexus_tools.errors import ValidationError

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
POCKET = {
    "tool": {"name": "echo", "description": "Echoes.", "inputSchema": SCHEMA},
    "language": "Python",
    "auth": {"auth_provider": "github", "auth_handler": "github-oauth2", "scopes": ["repo"]},
    "variables": {"REGION": "eu", "LIMIT": 3},
    "entrypoint": {"build": "pip install .", "run": "python -m echo"},
}
CONFIG = """
name = "echo"
description = "Echoes."
language = "python"
[auth]
auth_provider = "slack"
scopes = ["chat:write"]
[tool_vars]
REGION = "eu"
"""


@pytest.fixture
def legacy(tmp_path):
    """Writes a tool of the older form, with these files, and reads it."""

    def legacy(*files, config=CONFIG):
        (tmp_path / "config.toml").write_text(config)
        (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
        for name in files:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("{}" if name.endswith(".json") else "")
        return Manifest.read(tmp_path)

    return legacy


def test_every_field_of_pocket_json_is_read():
    manifest = Manifest.parse(POCKET)
    declared = manifest.declaration
    assert (declared.name, declared.description, declared.schema) == ("echo", "Echoes.", SCHEMA)
    assert declared.auth == ToolAuth("github", "github-oauth2", frozenset({"repo"}))
    assert declared.variables == {"REGION": "eu", "LIMIT": "3"}
    assert (manifest.language, manifest.base_image) == ("python", "")
    assert (manifest.build, manifest.run) == ("pip install .", "python -m echo")


def test_the_older_files_declare_the_same_fields(legacy):
    declared = legacy("pyproject.toml", "echo/__main__.py").declaration
    assert (declared.name, declared.description, declared.schema) == ("echo", "Echoes.", SCHEMA)
    assert declared.auth == ToolAuth("slack", "", frozenset({"chat:write"}))
    assert declared.variables == {"REGION": "eu"}


def test_pocket_json_counts_more_than_the_older_files(legacy, tmp_path):
    (tmp_path / "pocket.json").write_text(json.dumps(POCKET))
    assert legacy("echo/__main__.py").declaration.auth.provider == "github"


@pytest.mark.parametrize(
    ("files", "build", "run"),
    [
        (["pyproject.toml", "echo/__main__.py"], "pip install .", "python -m echo"),
        (["setup.py", "other/__main__.py"], "pip install .", "python -m other"),
        (["echo/__main__.py", "other/__main__.py"], "", "python -m echo"),
        (["requirements.txt", "main.py"], "pip install -r requirements.txt", "python main.py"),
    ],
)
def test_an_older_tool_in_python_is_installed_and_its_module_run(legacy, files, build, run):
    manifest = legacy(*files)
    assert (manifest.build, manifest.run) == (build, run)


def test_an_older_tool_in_javascript_runs_its_main_file(legacy):
    manifest = legacy("package.json", "index.js", config=CONFIG.replace("python", "node"))
    assert (manifest.build, manifest.run) == ("npm install", "node index.js")


def test_an_older_tool_that_nobody_knows_how_to_run_is_refused(legacy):
    with pytest.raises(ValidationError, match="run is missing"):
        legacy("main.rs", config=CONFIG.replace("python", "rust"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tool": None}, "tool is no object"),
        ({"tool": {"description": "x"}}, "name is missing"),
        ({"tool": {"name": "x", "inputSchema": []}}, "tool.inputSchema is no object"),
        ({"entrypoint": {}}, "run is missing"),
        ({"entrypoint": {"run": "  "}}, "run is missing"),
        ({"entrypoint": {"run": "a\0b"}}, "run is missing, or no text"),
        ({"variables": {"A B": "x"}}, "no name of a variable"),
        ({"variables": {"A": ["x"]}}, "neither a text nor a number"),
        ({"auth": {"auth_provider": "git hub"}}, "auth_provider is no plain name"),
        ({"auth": {"auth_provider": "github", "scopes": "repo"}}, "scopes is no list"),
        ({"auth": []}, "it is an object of"),
    ],
    ids=str,
)
def test_a_wrong_pocket_json_is_refused_with_its_place(change, problem):
    with pytest.raises(ValidationError, match=problem):
        Manifest.parse(POCKET | change)


@pytest.mark.parametrize(
    "content", ["{", "[]", "\xff", "[" * 100_000], ids=["open", "list", "bytes", "deep"]
)
def test_a_file_that_is_no_json_object_is_refused(tmp_path, content):
    (tmp_path / "pocket.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValidationError) as caught:
        Manifest.read(tmp_path)
    assert caught.value.code == "manifest_invalid"


def test_auth_without_a_provider_is_no_auth():
    assert ToolAuth.parse({"auth_handler": "x", "scopes": ["repo"]}) is None
    assert ToolAuth.parse(None) is None


@pytest.mark.parametrize(
    ("auth", "names"),
    [
        (ToolAuth("github"), ("GITHUB_TOKEN",)),
        (ToolAuth("semantic_scholar"), ("SEMANTIC_SCHOLAR_TOKEN",)),
        (ToolAuth("slack"), ("SLACK_BOT_TOKEN",)),
        (ToolAuth("reddit"), ("REDDIT_BOT_TOKEN",)),
        (ToolAuth("x"), ("X_AUTH_TOKEN",)),
        (ToolAuth("valyu"), ("VALYU_API_KEY",)),
        (ToolAuth("apitoken"), ("API_TOKEN",)),
        (ToolAuth("basicauth"), ("BASIC_AUTH",)),
        (ToolAuth("linkedin"), ("LINKEDIN_TOKEN",)),
        (ToolAuth("linkedin", "linkedin-basicauth"), ("LINKEDIN_BASIC_AUTH",)),
        (ToolAuth("kraken"), ("KRAKEN_API_KEY", "KRAKEN_API_SECRET")),
    ],
    ids=str,
)
def test_a_provider_has_its_names_for_credentials(auth, names):
    assert auth.names == names
