"""The source tree: sizes, packages, layers, and names that are not used."""

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "nexus_tools"
SOURCES = sorted(PACKAGE.rglob("*.py"))
MOVE_SOURCES = sorted((ROOT / "move/nexus_tools/sources").glob("*.move"))
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
CONTRACTS = PACKAGE / "contracts"
GENERATED = (CONTRACTS / "move_bindings", CONTRACTS / "upgrade_lock" / "move_bindings")
# Programs of their own, which run in the interpreters of bridged tools.
CHILDREN = (PACKAGE / "bridges" / "hyperpocket" / "child", PACKAGE / "bridges" / "sos" / "child")
VAGUE_NAMES = {"utils", "common", "helpers", "manager", "misc"}


def shown(path):
    return str(path.relative_to(ROOT))


def is_in(path, folders):
    return any(map(path.is_relative_to, folders))


def test_python_files_have_at_most_400_lines():
    written = [path for path in SOURCES if not is_in(path, GENERATED)]
    assert {shown(path) for path in written if len(path.read_text().splitlines()) > 400} == set()


def test_move_modules_have_at_most_700_lines():
    long = {path.stem for path in MOVE_SOURCES if len(path.read_text().splitlines()) > 700}
    assert long == set()


def test_functions_have_at_most_60_lines():
    long = [
        f"{shown(path)}:{node.lineno} {node.name}"
        for path in SOURCES
        if len(path.read_text().splitlines()) > 60
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno >= 60
    ]
    assert long == []


def test_modules_have_no_vague_names():
    assert not [shown(path) for path in SOURCES if path.stem in VAGUE_NAMES]


def test_packages_have_docstrings_and_list_their_public_names():
    packages = [
        path.parent
        for path in SOURCES
        if path.name == "__init__.py" and not is_in(path, (*GENERATED, *CHILDREN))
    ]
    assert len(packages) > 100
    for folder in packages:
        module = importlib.import_module(".".join(folder.relative_to(ROOT).parts))
        assert module.__doc__, shown(folder)
        for name in re.findall(r"`([\w/]+\.py)`", module.__doc__):
            assert (folder / name).is_file(), f"{shown(folder)}: {name}"
        public = getattr(module, "__all__", [])
        assert all(hasattr(module, name) for name in public), shown(folder)
        assert len(public) == len(set(public)), shown(folder)


def test_submodules_hide_no_public_name():
    """Importing a submodule sets an attribute of its package."""
    for stub in PACKAGE.rglob("__init__.pyi"):
        modules = {path.stem for path in stub.parent.iterdir()}
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                assert modules.isdisjoint(alias.name for alias in node.names), shown(stub)


def test_imports_have_no_cycle():
    """Imports for types only and inside functions count, too."""
    graph = grimp.build_graph("nexus_tools", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_sui_library_starts_a_node_without_the_rest(tmp_path):
    shutil.copytree(
        PACKAGE / "sui",
        tmp_path / "nexus_tools" / "sui",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "nexus_tools" / "__init__.py").touch()
    program = """
import asyncio, nexus_tools
from nexus_tools.sui import Localnet, Network, SuiClient

async def main():
    async with Localnet() as localnet:
        async with SuiClient(Network("localnet", localnet.url)) as client:
            print(nexus_tools.__file__, await client.chain_id())

asyncio.run(main())
"""
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]!r}\n{program}",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


def test_architecture_lists_the_layers_that_the_linter_checks():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [set(layer.split(" | ")) for layer in contracts["contracts"][0]["layers"]]
    drawing = ARCHITECTURE.split("```text")[1].split("```")[0]
    drawn = [set(re.findall(r"\w+", line.split("  ")[0])) for line in drawing.splitlines() if line]
    assert drawn == layers


def test_files_that_the_architecture_names_exist():
    named = re.findall(r"`([\w/]+\.py)`", ARCHITECTURE)
    assert named
    for name in named:
        assert [path for path in SOURCES if path.as_posix().endswith(f"/{name}")], name


def test_source_distribution_contains_every_folder():
    """`MANIFEST.in` names the folders beside the package, which setuptools includes by itself."""
    grafted = set(re.findall(r"^graft (\w+)$", (ROOT / "MANIFEST.in").read_text(), re.MULTILINE))
    made = {"build", "dist", "node_modules", "nexus_tools.egg-info"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}
    assert grafted == folders - made - {"nexus_tools"}


def test_environment_is_read_by_settings_and_commands_only():
    reading = re.compile(r"os\.environ|os\.getenv|Path\.home|expanduser")
    # Colors are a setting of the terminal, see https://no-color.org.
    edges = ("cli/", "settings/", "sui/support/logs.py")
    # The watch is a program of its own, which passes its environment on.
    allowed = (*edges, "bridges/sandbox/watch/")
    found = {
        path.relative_to(ROOT / "nexus_tools").as_posix()
        for path in SOURCES
        if reading.search(path.read_text())
    }
    assert {path for path in found if not path.startswith(allowed)} == set()


def test_sources_have_no_unfinished_parts():
    mark = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    unfinished = [
        shown(path) for path in (*SOURCES, *MOVE_SOURCES) if mark.search(path.read_text())
    ]
    assert unfinished == []


# The cost of these calls grows with the history. Delete an entry with its call.
READERS_OF_THE_HISTORY = {
    "leader/executions/execution_reader.py": "a new journal reads the executions of 120 days once",
    "leader/schedules/schedule_search.py": "a new journal reads the events of schedules once",
    "mcp_server/catalogue/workflow_catalogue.py": "the first list reads all publications",
}


def test_only_listed_modules_read_the_whole_history():
    """`past_events` reads from the first event unless a position is passed, so lists use pages."""
    callers = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if "past_events" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _called_name(node.func) == "past_events"
    }
    assert callers == set(READERS_OF_THE_HISTORY)


def _called_name(function):
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
