"""The bundle for Claude Desktop, and the entry of the MCP registry."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest
from mcp import Client, StdioServerParameters

from mcp_packages import bundle, registry, server_json
from mcp_packages.bundled_server import serve_arguments
from mcp_packages.registry import MissingMarkerError
from nexus_tools import __version__
from nexus_tools.cli.mcp.serve import command as serve

ROOT = Path(__file__).parents[3]
OWNER = "io.github.owner/nexus-tools"
BUNDLE_URL = "https://github.com/owner/nexus-tools/releases/download/v1/nexus-tools.mcpb"
PROGRAMS = Path(sys.executable).parent
# The members of mcpb-manifest-v0.4.schema.json that need no reading of our code.
REQUIRED = {"manifest_version", "name", "version", "description", "author", "server"}
OPTIONAL = {
    *("display_name", "long_description", "repository", "homepage", "documentation", "support"),
    *("icon", "icons", "screenshots", "localization", "tools", "tools_generated", "prompts"),
    *("prompts_generated", "keywords", "license", "privacy_policies", "compatibility"),
    *("user_config", "_meta"),
}
OPTION_TYPES = {"string": str, "number": (int, float), "boolean": bool}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The folder of the unpacked bundle."""
    folder = tmp_path_factory.mktemp("bundle")
    with ZipFile(io.BytesIO(bundle())) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def manifest(unpacked):
    return json.loads((unpacked / "manifest.json").read_text())


# --- The bundle


def test_bundle_has_the_files_of_a_uv_bundle_and_fixed_bytes(unpacked):
    with ZipFile(io.BytesIO(bundle())) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == [
        *("manifest.json", "pyproject.toml", "src/server.py")
    ]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.compress_type for entry in entries} == {ZIP_STORED}
    project = tomllib.loads((unpacked / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [f"nexus-tools[mcp]=={__version__}"]


@pytest.mark.long
def test_two_builds_in_two_places_have_the_same_bytes(tmp_path):
    digests = set()
    for name, zone in (("a", "UTC"), ("b", "Asia/Tokyo")):
        output = tmp_path / name / "x.mcpb"
        environment = os.environ | {"TZ": zone, "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"}
        command = (sys.executable, "-m", "mcp_packages", "bundle", "--output", str(output))
        printed = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        )
        digests.add(hashlib.sha256(output.read_bytes()).hexdigest())
        assert printed.stdout.split()[0] in digests
    assert digests == {hashlib.sha256(bundle()).hexdigest()}


@pytest.mark.parametrize("name", ["mcpb", "server_json"])
def test_help_of_a_script_installs_nothing(tmp_path, name):
    """The copy of the script has no installer next to it, so it would fail."""
    script = shutil.copy(ROOT / "scripts" / name, tmp_path)
    shown = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert f"\nUsage: scripts/{name} " in shown.stdout
    assert "#!" not in shown.stdout
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_manifest_follows_the_schema(manifest, unpacked):
    assert manifest.keys() >= REQUIRED
    assert manifest.keys() <= REQUIRED | OPTIONAL
    assert manifest["manifest_version"] == "0.4"
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", manifest["version"])
    assert manifest["author"].keys() == {"name"}
    server = manifest["server"]
    assert server.keys() == {"type", "entry_point", "mcp_config"}
    assert server["type"] == "uv"
    assert (unpacked / server["entry_point"]).is_file()
    assert server["mcp_config"].keys() <= {"command", "args", "env", "platform_overrides"}
    assert {*manifest["compatibility"]["platforms"]} <= {"darwin", "win32", "linux"}
    for option in manifest["user_config"].values():
        assert option.keys() <= {"type", "title", "description", "required", "default", "sensitive"}
        assert isinstance(option["default"], OPTION_TYPES[option["type"]])
        assert option["title"]
        assert option["description"]


def test_placeholders_of_the_command_are_options_of_the_bundle(manifest):
    arguments = " ".join(manifest["server"]["mcp_config"]["args"])
    named = re.findall(r"\$\{user_config\.(\w+)\}", arguments)
    assert sorted(named) == sorted(manifest["user_config"])
    assert set(re.findall(r"\$\{(.*?)\}", arguments)) == {
        "__dirname",
        *(f"user_config.{name}" for name in named),
    }


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["--domain=", "--mode=search"], ["--mode=search"]),
        (["--domain=${user_config.domain}", "--on-chain=${user_config.on_chain}"], []),
        (["--on-chain=false", "--budget=1", "--wallet=agent"], []),
        (["--on-chain=true", "--budget=1", "--wallet="], ["--on-chain", "--budget=1"]),
        (["--domain=--http=0.0.0.0:80"], ["--domain=--http=0.0.0.0:80"]),
    ],
)
def test_options_of_the_user_become_arguments_of_serve(words, arguments):
    assert serve_arguments(words) == arguments
    parsed = serve.make_context("serve", [*arguments], resilient_parsing=False).params
    assert parsed["http"] is None


def host_command(manifest, folder, **chosen):
    """Return the command line of a host that follows MANIFEST.md, with the options of the user."""
    values = {name: option["default"] for name, option in manifest["user_config"].items()} | chosen
    values = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in values.items()
    }
    known = {"__dirname": str(folder)} | {f"user_config.{key}": v for key, v in values.items()}
    config = manifest["server"]["mcp_config"]
    return [config["command"]] + [
        re.sub(r"\$\{(.*?)\}", lambda found: known[found[1]], word) for word in config["args"]
    ]


async def test_unpacked_bundle_serves_the_registry(user, manifest, unpacked):
    command, *arguments = host_command(manifest, unpacked, network="test", mode="list")
    # uv uses this environment and this checkout, instead of packages from PyPI.
    replaced = {
        "UV_NO_SYNC": "1",
        "UV_OFFLINE": "1",
        "UV_PROJECT_ENVIRONMENT": sys.prefix,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
    }
    server = StdioServerParameters(command=command, args=arguments, env=user.environment | replaced)
    async with Client(server) as client:
        listed = (await client.list_tools()).tools
    assert "xyz.example.math.divide@1" in [tool.title for tool in listed]
    assert not (unpacked / ".venv").exists()


# --- The entry of the registry


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """A package page that names the entry."""
    (tmp_path / "PACKAGE.md").write_text(f"# nexus-tools\n\n<!-- mcp-name: {OWNER} -->\n")
    monkeypatch.setattr(registry, "ROOT", tmp_path)


def check_server(document):
    """Check the rules of the schema of 2025-12-11 and of the official registry."""
    assert document.keys() <= {
        *("$schema", "name", "title", "description", "version", "packages", "remotes"),
        *("repository", "websiteUrl", "icons", "_meta"),
    }
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", document["name"])
    assert 3 <= len(document["name"]) <= 200
    assert 1 <= len(document["description"]) <= 100
    assert 1 <= len(document["title"]) <= 100
    check_version(document["version"])
    for package in document["packages"]:
        check_package(package)


def check_version(version):
    """A version is one release, not a range."""
    assert re.fullmatch(r"\d+(\.\d+)*([-.+]?[a-z0-9]+)*", version)
    assert version != "latest"


def check_package(package):
    assert package.keys() <= {
        *("registryType", "registryBaseUrl", "identifier", "version", "fileSha256"),
        *("runtimeHint", "transport", "runtimeArguments", "packageArguments"),
        "environmentVariables",
    }
    check_version(package["version"])
    assert package["transport"] == {"type": "stdio"}
    if package["registryType"] == "mcpb":
        assert package["identifier"].startswith(("https://github.com/", "https://gitlab.com/"))
        assert "mcp" in package["identifier"]
        assert re.fullmatch(r"[a-f0-9]{64}", package["fileSha256"])
        return
    assert package["registryType"] == "pypi"
    assert package["registryBaseUrl"] == "https://pypi.org"
    assert not re.search(r"\s", package["identifier"])
    assert package["runtimeHint"]
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        if argument["type"] == "positional":
            assert argument.get("value") or argument.get("valueHint")
        else:
            assert argument["type"] == "named"
            assert re.fullmatch(r"--[a-z-]+", argument["name"])


@pytest.mark.usefixtures("marked")
def test_registry_entry_follows_the_rules():
    document = server_json(OWNER, BUNDLE_URL)
    check_server(document)
    assert document["version"] == __version__
    [pypi, bundled] = document["packages"]
    assert pypi["identifier"] == "nexus-tools"
    assert bundled["fileSha256"] == hashlib.sha256(bundle()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "nexus-tools"},
        {"description": "x" * 101},
        {"version": ">=1"},
        {"version": "latest"},
        {"registry_type": "pypi"},
    ],
)
@pytest.mark.usefixtures("marked")
def test_rules_reject_an_invalid_entry(change):
    with pytest.raises(AssertionError):
        check_server(server_json(OWNER) | change)


@pytest.mark.usefixtures("marked")
def test_command_of_the_registry_entry_is_accepted_by_serve():
    """A client passes the fixed values, and the default of each other argument."""
    [package] = server_json(OWNER)["packages"]
    words = []
    for argument in package["packageArguments"]:
        value = argument.get("value", argument.get("default"))
        words += [value] if argument["type"] == "positional" else [argument["name"], value]
    assert words[:2] == ["mcp", "serve"]
    assert serve.make_context("serve", words[2:]).params["mode"] == "search"


@pytest.mark.usefixtures("marked")
def test_entry_needs_its_name_on_the_package_page():
    with pytest.raises(MissingMarkerError, match=r"mcp-name: io\.github\.other"):
        server_json("io.github.other/nexus-tools")
