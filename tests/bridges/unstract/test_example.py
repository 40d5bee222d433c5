import shutil
from pathlib import Path

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.unstract import UnstractBridge

EXAMPLE = Path(__file__).parents[3] / "examples" / "bridges" / "unstract" / "word_count"


async def found_in(place, host):
    [tool] = (await UnstractBridge(storage="local").discover(place, host, Naming())).tools
    return tool


async def test_example_counts_words(make_host):
    tool = await found_in(EXAMPLE, make_host())
    assert str(tool.fqn) == "local.unstract.word_count@1"
    file = {"name": "a.txt", "text": "To be, or not to be"}
    ports = (await tool.invoke({"file": file, "settings": {"shortest": 2}})).ports
    assert ports["output"] == {"words": 6, "different": 4}
    assert ports["files"] == [
        {"path": "words.json", "text": '{"to": 2, "be": 2, "or": 1, "not": 1}'}
    ]
    assert [cost["cost"] for cost in ports["costs"]] == [6.0]
    assert "logs" not in ports


@pytest.mark.parametrize(
    "file", ["properties.json", "spec.json", "runtime_variables.json", "icon.svg"]
)
async def test_example_prints_its_files(make_host, tmp_path, file):
    """The file is at a path that only the program finds."""
    place = tmp_path / "tool"
    shutil.copytree(EXAMPLE, place)
    program = place / "main.py"
    (place / "config" / file).rename(place / file)
    program.write_text(program.read_text().replace('Path("config")', "Path()"))
    tool = await found_in(place, make_host())
    original = await found_in(EXAMPLE, make_host())
    assert tool.definition("http://localhost") == original.definition("http://localhost")
    assert tool.icon == original.icon
