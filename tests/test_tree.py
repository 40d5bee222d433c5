"""The house itself: sizes, captions, and names that are kept out of it."""

import ast
import importlib
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "nexus_tools").rglob("*.py"))
MOVE_SOURCES = sorted((ROOT / "move/nexus_tools/sources").glob("*.move"))
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGE = ROOT / "nexus_tools" / "package"
GENERATED = (PACKAGE / "move", PACKAGE / "upgrade_lock" / "move")
ROOMS = (
    "tool",
    "toolkit",
    "workflow.authoring",
    "bridges",
    "lending",
    "sui",
    "bytecode",
    "move_source",
    "bindings.generator",
    "bindings.runtime",
    "client",
    "localnet",
    "localnet.framework",
    "localnet.http",
    "localnet.move_test",
    "localnet.natives",
    "localnet.rpc",
    "localnet.rpc.controls",
    "localnet.rpc.interface",
    "localnet.rpc.rendering",
    "localnet.rpc.requests",
    "localnet.rpc.resolution",
    "localnet.rpc.server",
    "localnet.rpc.services",
    "localnet.rpc.values",
    "localnet.verifier",
    "localnet.vm",
    "package",
    "registry",
    "leader",
    "cli",
    "cli.framework",
)
DRAWERS = {"utils", "common", "helpers", "manager", "misc"}


def shown(path):
    return str(path.relative_to(ROOT))


def test_a_python_file_has_at_most_400_lines():
    written = [path for path in SOURCES if not any(map(path.is_relative_to, GENERATED))]
    assert {shown(path) for path in written if len(path.read_text().splitlines()) > 400} == set()


def test_a_move_module_has_at_most_700_lines():
    long = {path.stem for path in MOVE_SOURCES if len(path.read_text().splitlines()) > 700}
    assert long == set()


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


def test_no_modules_import_each_other_in_a_circle():
    """Imports for types alone and inside functions count, too."""
    graph = grimp.build_graph("nexus_tools", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_house_is_drawn_as_the_linter_checks_it():
    """Each layer of the ladder stands in the drawing, below those that stand on it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    drawing = ARCHITECTURE.split("```")[1].split("└")[0].splitlines()
    last = 0
    for layer in layers:
        rooms = re.findall(r"nexus_tools\.(\w+)", layer)
        lines = [
            number
            for number, line in enumerate(drawing)
            if any(re.search(rf"\b{room}\b", line) for room in rooms)
        ]
        drawn = " ".join(drawing[number] for number in lines)
        assert all(re.search(rf"\b{room}\b", drawn) for room in rooms), layer
        assert min(lines) >= last, layer
        last = max(lines)


@pytest.mark.parametrize("path", re.findall(r"`([\w/]+\.py)`", ARCHITECTURE))
def test_a_file_that_the_architecture_names_is_there(path):
    assert [found for found in SOURCES if found.as_posix().endswith(f"/{path}")]


def test_a_source_distribution_has_all_that_the_tree_has():
    """`MANIFEST.in` names the folders beside the package, which setuptools takes by itself."""
    grafted = set(re.findall(r"^graft (\w+)$", (ROOT / "MANIFEST.in").read_text(), re.MULTILINE))
    made = {"build", "dist", "node_modules", "nexus_tools.egg-info"}
    folders = {each.name for each in ROOT.iterdir() if each.is_dir() and each.name[0] != "."}
    assert grafted == folders - made - {"nexus_tools"}


def test_only_the_edges_read_the_environment_or_the_home_directory():
    reading = re.compile(r"os\.environ|os\.getenv|Path\.home|expanduser")
    edges = ("cli/", "directories.py", "environment.py", "settings.py")
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
