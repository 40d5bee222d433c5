"""The recognition of paths, without running any code in them."""

import pytest

from nexus_tools.bridges.discovery import discover
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge
from nexus_tools.bridges.naming import Naming


@pytest.mark.parametrize(
    ("files", "recognised"),
    [
        ({"pocket.json": "{}"}, True),
        ({"config.toml": "", "schema.json": "{}"}, True),
        ({"config.toml": ""}, False),
        ({"tools.py": "from hyperpocket.tool import function_tool\n"}, True),
        ({"tools.py": "import os, sys\nimport hyperpocket as hp\n"}, True),
        ({"__init__.py": "def initialize_dock(*_, **__): ...\n"}, True),
        ({"__init__.py": "", "dock.py": "f.__auth__ = {}\n"}, True),
        ({"agent.py": "from hyperpocket_langchain import PocketLangchain\n"}, False),
        ({"tools.py": "# from hyperpocket.tool import x\n"}, False),
        ({"readme.md": "import hyperpocket\n"}, False),
    ],
    ids=str,
)
def test_folder_is_recognised_by_its_files(tmp_path, files, recognised):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert HyperpocketBridge().recognises(tmp_path) is recognised


def test_module_is_recognised_and_other_files_are_not(tmp_path):
    for name in ("tools.py", "tools.txt"):
        (tmp_path / name).write_text("import hyperpocket\n")
    assert HyperpocketBridge().recognises(tmp_path / "tools.py")
    assert not HyperpocketBridge().recognises(tmp_path / "tools.txt")


def test_recognition_runs_nothing(tmp_path):
    (tmp_path / "tools.py").write_text(f"import hyperpocket\nopen({str(tmp_path / 'ran')!r}, 'w')")
    HyperpocketBridge().recognises(tmp_path)
    assert not (tmp_path / "ran").exists()


async def test_discovery_finds_a_tree_of_packaged_tools_with_refusals(write_packaged, host):
    first = write_packaged(name="slack/post")
    write_packaged(name="slack/get")
    (write_packaged(name="none/broken") / "pocket.json").write_text("{")
    place = first.parents[1]
    discovery = await discover([place], [HyperpocketBridge()], host, Naming("xyz.example"))
    assert sorted(tool.fqn.name for tool in discovery.tools) == ["slack-get", "slack-post"]
    assert [refusal.source for refusal in discovery.rejected] == [str(place / "none" / "broken")]
