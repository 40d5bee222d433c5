"""The recognition of the system of a path, with the examples of the project."""

from pathlib import Path

import pytest

from nexus_tools.bridges.base import BridgeHost
from nexus_tools.bridges.discovery import discover, recognised
from nexus_tools.bridges.hyperpocket import HyperpocketBridge
from nexus_tools.bridges.mcp import McpBridge
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.nora import NoraBridge
from nexus_tools.bridges.sos import SosBridge
from nexus_tools.bridges.unstract import UnstractBridge
from nexus_tools.errors import NotFoundError

EXAMPLES = Path(__file__).parents[2] / "examples" / "bridges"
BRIDGES = (UnstractBridge(), SosBridge(), NoraBridge(), HyperpocketBridge(), McpBridge())
SYSTEMS = [bridge.system for bridge in BRIDGES]


@pytest.fixture
def host(tmp_path):
    import sys

    return BridgeHost(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={"PATH": "/usr/bin:/bin"},
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_example_is_recognised_only_by_its_own_system(system):
    assert {bridge.system for bridge, _ in recognised(EXAMPLES / system, BRIDGES)} == {system}


def test_folder_of_several_systems_is_searched_for_each_of_them():
    assert {bridge.system for bridge, _ in recognised(EXAMPLES, BRIDGES)} == set(SYSTEMS)


def test_missing_path_is_reported(tmp_path):
    with pytest.raises(NotFoundError) as caught:
        recognised(tmp_path / "nothing", BRIDGES)
    assert caught.value.code == "path_not_found"


def test_folder_without_tools_is_reported(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing to run")
    with pytest.raises(NotFoundError) as caught:
        recognised(tmp_path, BRIDGES)
    assert caught.value.code == "tool_not_recognised"


def test_hidden_folders_and_links_are_not_searched(tmp_path):
    (tmp_path / ".hidden").symlink_to(EXAMPLES / "nora")
    (tmp_path / "link").symlink_to(EXAMPLES / "nora")
    with pytest.raises(NotFoundError):
        recognised(tmp_path, BRIDGES)


async def test_unreadable_path_does_not_hide_the_others(tmp_path, host):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "tool.json").write_text("{")
    discovery = await discover([tmp_path / "broken", EXAMPLES / "nora"], BRIDGES, host, Naming())
    assert [tool.system for tool in discovery.tools] == ["nora"]
    assert [refusal.system for refusal in discovery.rejected] == ["nora"]


async def test_duplicate_path_is_a_collision(host):
    place = EXAMPLES / "nora"
    discovery = await discover([place, place], BRIDGES, host, Naming())
    assert discovery.tools == ()
    assert len(discovery.rejected) == 2
