"""An exported tool that the bridge to Unstract serves again."""

import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from nexus_tools.bridges import BridgeHost, Confinement, Naming
from nexus_tools.bridges.unstract import UnstractBridge


@pytest.fixture
def host(tmp_path, definition):
    """Return a host on which tools may connect to the server of the exported tool."""
    for name in ("scratch", "cache"):
        (tmp_path / name).mkdir()
    return BridgeHost(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={"PATH": "/usr/bin:/bin"},
        confinement=Confinement().connecting(urlsplit(definition.url).port),
    )


async def borrowed(exported_tool, host, storage="auto"):
    bridge = UnstractBridge(storage=storage)
    assert bridge.recognises(exported_tool.folder)
    discovery = await bridge.discover(exported_tool.folder, host, Naming("xyz.example"))
    assert discovery.rejected == ()
    [tool] = discovery.tools
    return tool


def ports(**settings):
    return {"settings": settings}


async def test_bridge_finds_the_tool_with_its_settings(exported_tool, host, definition):
    tool = await borrowed(exported_tool, host)
    assert str(tool.fqn) == "xyz.example.xyz_example_math_add_v2@1"
    settings = tool.input_schema["properties"]["settings"]
    assert settings["properties"] == definition.input_schema["properties"]
    assert settings["required"] == definition.input_schema["required"]
    assert "file" not in tool.input_schema["properties"]


@pytest.mark.parametrize("storage", ["auto", "local", "s3"])
async def test_result_and_file_are_returned(exported_tool, host, storage):
    tool = await borrowed(exported_tool, host, storage)
    outcome = await tool.invoke(ports(a=1, b=2))
    assert (outcome.variant, outcome.ports["output"]) == ("ok", {"ok": {"result": 3}})
    [file] = outcome.ports["files"]
    assert file["path"] == "none.json"
    assert json.loads(file["text"]) == {"ok": {"result": 3}}


async def test_error_variant_is_an_error_in_the_bridge(exported_tool, host):
    tool = await borrowed(exported_tool, host)
    outcome = await tool.invoke(ports(a=900, b=200))
    assert outcome.is_error
    assert "err_overflow" in json.dumps(outcome.ports)
