"""Calls of tools that cannot start now: 503 `not_ready` in every system."""

import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nexus_tools.bridges import (
    BridgeHost,
    HyperpocketBridge,
    Naming,
    NoraBridge,
    SosBridge,
    UnstractBridge,
)
from nexus_tools.tool_server import ToolServer
from nexus_tools.tool_server.testing import client


def _nora(folder):
    manifest = {
        "name": "one",
        "description": "One.",
        "entrypoint": "main.py",
        "parameters": {"type": "object", "properties": {}},
    }
    (folder / "tool.json").write_text(json.dumps(manifest))
    (folder / "main.py").write_text("def run(params):\n    return 1\n")


def _sos(folder):
    folder.joinpath("files").mkdir()
    (folder / "files" / "main.py").write_text(
        "from sos_toolkit.meta import sos_tool\n\n\n"
        "@sos_tool\ndef one():\n    '''One.'''\n    return 1\n"
    )


def _python(folder):
    (folder / "main.py").write_text(
        "from hyperpocket.tool import function_tool\n\n\n"
        "@function_tool\ndef one() -> int:\n    '''One.'''\n    return 1\n"
    )


def _packaged(folder, build="exit 9"):
    tool = {"name": "one", "description": "One.", "inputSchema": {"type": "object"}}
    document = {"tool": tool, "language": "node", "entrypoint": {"run": "true", "build": build}}
    (folder / "pocket.json").write_text(json.dumps(document))


def _unstract(folder):
    config = folder / "config"
    config.mkdir()
    properties = {
        "display_name": "One",
        "function_name": "one",
        "description": "One.",
        "input_type": "file",
        "output_type": "file",
    }
    variables = {"required": ["SERVICE_URL"], "properties": {"SERVICE_URL": {"type": "string"}}}
    (config / "properties.json").write_text(json.dumps(properties))
    (config / "spec.json").write_text("{}")
    (config / "runtime_variables.json").write_text(json.dumps(variables))
    (folder / "main.sh").write_text("#!/bin/sh\nexit 1\n")
    (folder / "main.sh").chmod(0o755)


@dataclass
class Case:
    """A tool, the change to its folder after discovery, and the expected message."""

    bridge: type
    write: Any
    word: str
    spoil: Any = None
    ports: Any = field(default_factory=dict)


def _without_script(folder):
    next(folder.rglob("main.py")).unlink()


def _with_import(folder):
    script = next(folder.rglob("main.py"))
    script.write_text(f"import no_such_package\n{script.read_text()}")


FILE = {"file": {"name": "a.txt", "text": "hello"}}
CASES = {
    "nora_without_its_script": Case(NoraBridge, _nora, "entrypoint", _without_script),
    "nora_without_a_module": Case(NoraBridge, _nora, "no_such_package", _with_import),
    "sos_without_its_file": Case(SosBridge, _sos, "present", _without_script),
    "sos_without_a_module": Case(SosBridge, _sos, "no_such_package", _with_import),
    "hyperpocket_without_its_file": Case(HyperpocketBridge, _python, "present", _without_script),
    "hyperpocket_without_a_module": Case(
        HyperpocketBridge, _python, "no_such_package", _with_import
    ),
    "hyperpocket_not_built": Case(HyperpocketBridge, _packaged, "build failed"),
    "unstract_without_a_variable": Case(UnstractBridge, _unstract, "SERVICE_URL", ports=FILE),
}


@pytest.fixture
def host(tmp_path):
    """Return a host whose interpreter is a link that a test may remove."""
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    return BridgeHost(python, tmp_path / "scratch", tmp_path / "cache", {"PATH": "/usr/bin:/bin"})


async def _found(case, folder, host):
    folder.mkdir()
    case.write(folder)
    discovery = await case.bridge().discover(folder, host, Naming())
    assert discovery.rejected == ()
    if case.spoil:
        case.spoil(folder)
    return discovery


async def _invoked(discovery, ports):
    server = ToolServer(discovery.tools, lifespan=lambda _: discovery.running())
    async with client(server) as http:
        return await http.post("/invoke", json=ports)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_call_gets_503_when_the_tool_cannot_start(case, host, tmp_path):
    response = await _invoked(await _found(case, tmp_path / "tool", host), case.ports)
    assert (response.status_code, response.json()["code"]) == (503, "not_ready"), response.text
    assert case.word in response.json()["detail"]
    assert response.headers["retry-after"]


@pytest.mark.parametrize(("bridge", "write"), [(NoraBridge, _nora), (SosBridge, _sos)])
async def test_call_gets_503_when_the_interpreter_is_gone(bridge, write, host, tmp_path):
    discovery = await _found(Case(bridge, write, ""), tmp_path / "tool", host)
    host.python.unlink()
    response = await _invoked(discovery, {})
    assert (response.status_code, response.json()["code"]) == (503, "not_ready"), response.text
    assert "cannot run the program" in response.json()["detail"]


async def test_call_gets_503_when_the_folder_of_the_program_is_gone(host, tmp_path):
    case = Case(UnstractBridge, _unstract, "")
    environment = {**host.environment, "SERVICE_URL": "http://127.0.0.1:1"}
    host = BridgeHost(Path(sys.executable), host.scratch, host.cache, environment)
    discovery = await _found(case, tmp_path / "tool", host)
    shutil.rmtree(tmp_path / "tool")
    response = await _invoked(discovery, FILE)
    assert (response.status_code, response.json()["code"]) == (503, "not_ready"), response.text
