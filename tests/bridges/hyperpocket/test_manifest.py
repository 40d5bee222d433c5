"""The manifests of packaged tools, in `pocket.json` and in the older files."""

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
def read_legacy(tmp_path):
    """Return a function that writes a tool of the older format and reads its manifest."""

    def read_legacy(*files, config=CONFIG):
        (tmp_path / "config.toml").write_text(config)
        (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
        for name in files:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("{}" if name.endswith(".json") else "")
        return Manifest.read(tmp_path)

    return read_legacy


def test_pocket_json_fields_are_all_read():
    manifest = Manifest.parse(POCKET)
    declared = manifest.declaration
    assert (declared.name, declared.description, declared.schema) == ("echo", "Echoes.", SCHEMA)
    assert declared.auth == ToolAuth("github", "github-oauth2", frozenset({"repo"}))
    assert declared.variables == {"REGION": "eu", "LIMIT": "3"}
    assert (manifest.language, manifest.base_image) == ("python", "")
    assert (manifest.build, manifest.run) == ("pip install .", "python -m echo")


def test_older_files_declare_the_same_fields(read_legacy):
    declared = read_legacy("pyproject.toml", "echo/__main__.py").declaration
    assert (declared.name, declared.description, declared.schema) == ("echo", "Echoes.", SCHEMA)
    assert declared.auth == ToolAuth("slack", "", frozenset({"chat:write"}))
    assert declared.variables == {"REGION": "eu"}


def test_pocket_json_takes_precedence_over_the_older_files(read_legacy, tmp_path):
    (tmp_path / "pocket.json").write_text(json.dumps(POCKET))
    assert read_legacy("echo/__main__.py").declaration.auth.provider == "github"


@pytest.mark.parametrize(
    ("files", "build", "run"),
    [
        (["pyproject.toml", "echo/__main__.py"], "pip install .", "python -m echo"),
        (["setup.py", "other/__main__.py"], "pip install .", "python -m other"),
        (["echo/__main__.py", "other/__main__.py"], "", "python -m echo"),
        (["requirements.txt", "main.py"], "pip install -r requirements.txt", "python main.py"),
    ],
)
def test_older_python_tool_is_installed_and_its_module_run(read_legacy, files, build, run):
    manifest = read_legacy(*files)
    assert (manifest.build, manifest.run) == (build, run)


def test_older_javascript_tool_runs_its_main_file(read_legacy):
    manifest = read_legacy("package.json", "index.js", config=CONFIG.replace("python", "node"))
    assert (manifest.build, manifest.run) == ("npm install", "node index.js")


def test_older_tool_without_a_known_command_is_refused(read_legacy):
    with pytest.raises(ValidationError, match="run is missing"):
        read_legacy("main.rs", config=CONFIG.replace("python", "rust"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tool": None}, "tool must be an object"),
        ({"tool": {"description": "x"}}, "name is missing"),
        ({"tool": {"name": "x", "inputSchema": []}}, "tool.inputSchema must be an object"),
        ({"entrypoint": {}}, "run is missing"),
        ({"entrypoint": {"run": "  "}}, "run is missing"),
        ({"entrypoint": {"run": "a\0b"}}, "run is missing or not a valid string"),
        ({"variables": {"A B": "x"}}, "not a valid variable name"),
        ({"variables": {"A": ["x"]}}, "must be a string or a number"),
        ({"auth": {"auth_provider": "git hub"}}, "auth_provider is not a valid name"),
        ({"auth": {"auth_provider": "github", "scopes": "repo"}}, "scopes must be a list"),
        ({"auth": []}, "auth must be an object with"),
    ],
    ids=str,
)
def test_invalid_pocket_json_is_refused_with_its_location(change, problem):
    with pytest.raises(ValidationError, match=problem):
        Manifest.parse(POCKET | change)


@pytest.mark.parametrize(
    "content", ["{", "[]", "\xff", "[" * 100_000], ids=["open", "list", "bytes", "deep"]
)
def test_non_json_object_is_refused(tmp_path, content):
    (tmp_path / "pocket.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValidationError) as caught:
        Manifest.read(tmp_path)
    assert caught.value.code == "manifest_invalid"


def test_auth_without_a_provider_is_ignored():
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
def test_provider_has_its_credential_names(auth, names):
    assert auth.names == names
