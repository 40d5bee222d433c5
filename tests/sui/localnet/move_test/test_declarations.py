"""The Move files with the declarations that no released framework has."""

import tomllib
from pathlib import Path

import pytest

from nexus_tools.sui.localnet.move_test.compilation import declarations
from nexus_tools.sui.localnet.move_test.compilation.declarations import DECLARATIONS, TEST_MACROS

ROOT = Path(__file__).parents[4]
FOLDER = Path(declarations.__file__).parent
FILES = sorted(FOLDER.rglob("*.move"))


def test_every_file_declares_the_module_that_its_path_names():
    assert len(FILES) == len(DECLARATIONS) + len(TEST_MACROS)
    for path in FILES:
        header, _, members = path.read_text().partition("\n")
        module = f"{path.parent.name}::{path.stem}"
        known = TEST_MACROS if "macros" in path.parts else DECLARATIONS
        assert header == f"module {module};"
        assert known[module] == members
        assert members.strip()


@pytest.mark.parametrize(
    ("module", "member"),
    [
        ("sui::test_scenario", "public native fun begin(sender: address): Scenario;"),
        ("sui::clock", "public native fun set_for_testing("),
        ("sui_system::governance_test_utils", "public fun advance_epoch("),
    ],
)
def test_declarations_have_the_functions_of_the_framework(module, member):
    assert member in DECLARATIONS[module]


def test_distribution_includes_the_files():
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = configuration["tool"]["setuptools"]["package-data"]["nexus_tools"]
    package = ROOT / "nexus_tools"
    included = {path for pattern in patterns for path in package.glob(pattern)}
    assert included >= set(FILES)
