"""NORA tools written by tests, and a host that runs them in a directory of the test."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from nexus_tools.bridges import BridgeHost, Naming
from nexus_tools.bridges.nora import NoraBridge
from nexus_tools.bridges.sandbox import ProcessLimits


def a_parameter(kind="string", *, required=True, **more):
    return {"type": kind, "description": "a parameter", "required": required, **more}


@pytest.fixture
def parameter():
    return a_parameter


@pytest.fixture
def host(tmp_path):
    return BridgeHost(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={"PATH": "/usr/bin:/bin", "SECRET": "hidden"},
        limits=ProcessLimits(memory_bytes=512 * 2**20),
    )


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a tool's folder; `manifest` replaces or removes fields."""

    def write(script="def run(params):\n    return 'done'\n", folder="tools/one", **manifest):
        place = tmp_path / folder
        place.mkdir(parents=True)
        fields = {
            "name": "file_reader",
            "description": "Reads the content of a file.",
            "entrypoint": "main.py",
            "parameters": {"type": "object", "properties": {"path": a_parameter()}},
            **manifest,
        }
        document = {name: value for name, value in fields.items() if value is not None}
        (place / "tool.json").write_text(json.dumps(document))
        (place / "main.py").write_text(script)
        return place

    return write


@pytest.fixture
def discover(host):
    """Return a function that discovers the tools at a path, with options for the bridge."""

    def discover(place, naming=None, **options):
        bridge = NoraBridge(**options)
        return anyio.run(bridge.discover, place, host, naming or Naming())

    return discover


@pytest.fixture
def tool(write, discover):
    """Return a function that creates the tool with a script and fields of a manifest."""

    def tool(script, options=None, **manifest):
        discovery = discover(write(script, **manifest), **(options or {}))
        assert discovery.rejected == ()
        return discovery.tools[0]

    return tool


@pytest.fixture
def call(tool):
    """Return a function that calls the tool with a script."""

    def call(script, ports=None, **fields):
        arguments = {"path": "x"} if ports is None else ports
        outcome = anyio.run(tool(script, **fields).invoke, arguments)
        return {outcome.variant: outcome.ports}

    return call
