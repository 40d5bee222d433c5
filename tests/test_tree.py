"""The house itself: sizes, captions, and names that are kept out of it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "nexus_tools").rglob("*.py"))
MOVE_SOURCES = sorted((ROOT / "move/nexus_tools/sources").glob("*.move"))
ROOMS = ("tool", "toolkit", "bridges", "sui", "client", "localnet", "registry", "leader", "cli")
DRAWERS = {"utils", "common", "helpers", "manager", "misc"}


def shown(path):
    return str(path.relative_to(ROOT))


def test_a_python_file_has_at_most_400_lines():
    long = {shown(path) for path in SOURCES if len(path.read_text().splitlines()) > 400}
    assert long == set()


def test_a_move_module_has_at_most_500_lines_but_for_the_events():
    long = {path.stem for path in MOVE_SOURCES if len(path.read_text().splitlines()) > 500}
    assert long <= {"events"}


@pytest.mark.parametrize("path", SOURCES, ids=shown)
def test_a_function_has_at_most_60_lines(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 60, f"{node.name} at line {node.lineno}"


def test_no_file_is_a_drawer():
    assert not [shown(path) for path in SOURCES if path.stem in DRAWERS]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_a_caption_and_says_what_is_public(room):
    module = importlib.import_module(f"nexus_tools.{room}")
    assert module.__doc__
    assert all(hasattr(module, name) for name in module.__all__)
    assert sorted(module.__all__) == sorted(set(module.__all__))


def test_only_the_edges_read_the_environment_or_the_home_directory():
    reading = re.compile(r"os\.environ|os\.getenv|Path\.home|expanduser")
    edges = ("cli/", "leader/settings.py", "pytest_plugin.py", "directories.py")
    # The watch is a program of its own, which hands its environment on.
    allowed = (*edges, "bridges/sandbox/watch/")
    found = {
        path.relative_to(ROOT / "nexus_tools").as_posix()
        for path in SOURCES
        if reading.search(path.read_text())
    }
    assert {path for path in found if not path.startswith(allowed)} == set()


def test_nothing_is_left_unfinished():
    mark = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    unfinished = [
        shown(path) for path in (*SOURCES, *MOVE_SOURCES) if mark.search(path.read_text())
    ]
    assert unfinished == []
