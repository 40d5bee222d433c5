"""`nexus-tools package bindings`: from folders of all kinds, and from a network."""

import importlib
import shutil
import sys
from itertools import dropwhile
from pathlib import Path

import pytest

from nexus_tools.contracts.views import BASES

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "move" / "nexus_tools" / "sources"
BYTECODE = ROOT / "nexus_tools" / "contracts" / "bytecode"
OURS = ROOT / "nexus_tools" / "contracts" / "move_bindings"
SHAPES = ROOT / "tests" / "sui" / "bindings" / "packages" / "shapes"


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}


# Those of workflows are generated along.
OUR_BASES = [
    word
    for name in BASES
    if not name.startswith("workflows::")
    for word in ("--base", f"{name}={BASES[name]}")
]


def body(path):
    """Return the lines after the comment and the docstring's first line, which name the source."""
    lines = path.read_text().splitlines()
    return list(dropwhile(lambda line: line.startswith("# "), lines))[1:]


def same_but_for_headers(one, other):
    """Whether two folders have the same files; only their first lines tell where from."""
    return bodies(one) == bodies(other)


def same_modules(one, other):
    """Return whether the modules of one package are equal, ignoring other generated modules."""
    first, second = (
        {name: lines for name, lines in bodies(folder).items() if name in modules(folder)}
        for folder in (one, other)
    )
    return first == second != {}


def bodies(folder):
    return {name: body(path) for name, path in files_in(folder).items()}


def modules(folder):
    return {path.name for path in folder.glob("*.py")} - {"__init__.py"}


@pytest.mark.usefixtures("compiler")
def test_bindings_of_our_package_match_its_sources(home, tmp_path):
    told = home.json(
        *("package", "bindings", ROOT / "move" / "nexus_tools", "-o", tmp_path / "out"),
        *OUR_BASES,
    )
    assert (told["modules"], told["events"], told["nested"]) == (28, 32, [])
    assert same_modules(tmp_path / "out", OURS)


def test_bindings_of_a_published_package_match_those_of_its_modules(author, tmp_path):
    package_id = author.json("package", "show")["package_id"]
    author.json("package", "bindings", package_id, "-o", tmp_path / "chain")
    author.json("package", "bindings", BYTECODE, "-o", tmp_path / "files")
    assert same_but_for_headers(tmp_path / "chain", tmp_path / "files")
    package = (tmp_path / "chain" / "__init__.py").read_text()
    assert package_id in package
    assert max(map(len, package.splitlines())) <= 100
    author.json(
        "package",
        "bindings",
        package_id,
        "-o",
        tmp_path / "words",
        "--sources",
        SOURCES,
        *OUR_BASES,
    )
    assert same_modules(tmp_path / "words", OURS)


@pytest.mark.parametrize("base", ["tool::Nothing=a.b:C", "tool::Tool", "tool::Tool=a.b"])
def test_base_option_needs_a_struct_and_a_class(home, tmp_path, base):
    command = ("package", "bindings", BYTECODE, "-o", tmp_path / "out", "--base", base)
    assert home.fails(*command) == (2, "base_unknown")


def test_bindings_of_the_framework_are_generated(author, tmp_path):
    told = author.json("package", "bindings", "0x2", "-o", tmp_path / "framework")
    assert told["modules"] > 50
    assert told["nested"] == []
    sys.path.insert(0, str(tmp_path))
    try:
        types = importlib.import_module("framework").TYPES
        assert all(types.class_of(name).bcs for name in types.names)
    finally:
        sys.path.remove(str(tmp_path))


@pytest.mark.usefixtures("compiler")
def test_include_option_generates_a_dependency_by_name(home, tmp_path):
    out = tmp_path / "shapes"
    assert home.fails("package", "bindings", SHAPES, "-o", out) == (7, "types_not_generated")
    assert not out.exists()
    told = home.json("package", "bindings", SHAPES, "-o", out, "--include", "tokens")
    assert told["nested"] == ["tokens", "sui"]
    assert (out / "tokens" / "token.py").is_file()
    code = home.fails("package", "bindings", SHAPES, "-o", out, "--include", "coins")
    assert code == (3, "dependency_unknown")


@pytest.mark.usefixtures("compiler")
def test_missing_dependency_error_names_the_include_option(home, tmp_path):
    out = tmp_path / "shapes"
    told = home.run("package", "bindings", SHAPES, "-o", out).stderr
    assert "tokens::token::Amount" in told
    assert "--include tokens" in told
    assert "0x1000" not in told
    home.json("package", "bindings", SHAPES, "-o", out, "--include", "other=tokens")
    assert (out / "other" / "token.py").is_file()


@pytest.fixture
def built_package(tmp_path, move_builder):
    """A package as Sui's compiler leaves it, with the one that it depends on."""
    from nexus_tools.sui.bytecode import deserialize
    from nexus_tools.sui.localnet.compiler import build_package

    package = build_package(move_builder, SHAPES)
    folder = tmp_path / "project" / "build" / "shapes"
    modules = folder / "bytecode_modules"
    places = {modules: package, modules / "dependencies" / "tokens": package.dependencies["tokens"]}
    for place, each in places.items():
        place.mkdir(parents=True)
        for module in each.built.modules:
            (place / f"{deserialize(module).name}.mv").write_bytes(module)
    shutil.copytree(SHAPES / "sources", folder / "sources")
    return folder


def test_bindings_use_modules_built_by_another_compiler(home, built_package, tmp_path):
    told = home.json(
        "package", "bindings", built_package, "-o", tmp_path / "out", "--include", "tokens"
    )
    assert told["types"] == 13
    assert '"""Packs an item.' in (tmp_path / "out" / "boxes.py").read_text()


@pytest.mark.usefixtures("compiler")
def test_bindings_use_built_modules_when_compilation_fails(home, built_package, tmp_path):
    project = built_package.parents[1]
    (project / "Move.toml").write_text(
        '[package]\nname = "shapes"\n\n[dependencies]\ntokens = { git = "https://example.com/a" }\n'
    )
    arguments = ("package", "bindings", project, "-o", tmp_path / "out", "--include", "tokens")
    result = home.run(*arguments)
    assert result.code == 0, result.stderr
    assert "compilation failed, so the modules in" in result.stderr
    shutil.rmtree(project / "build")
    assert home.fails(*arguments)[0] != 0


def test_bindings_reject_invalid_packages(home, author, tmp_path):
    out = ("-o", tmp_path / "out")
    assert home.fails("package", "bindings", "nowhere", *out) == (2, "package_not_found")
    (tmp_path / "empty").mkdir()
    assert home.fails("package", "bindings", tmp_path / "empty", *out) == (3, "package_not_found")
    assert author.fails("package", "bindings", "0x1234", *out) == (3, "package_unknown")
    assert author.fails("package", "bindings", "0x6", *out) == (3, "package_unknown")


def test_bindings_do_not_overwrite_a_foreign_folder(home, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    code = home.fails("package", "bindings", BYTECODE, "-o", tmp_path)
    assert code == (2, "folder_not_generated")
