"""The npm package `nexus-localnet`: its own tests, which start real localnets, and its files."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from nexus_tools import __version__

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "npm" / "nexus-localnet"
MANIFEST = json.loads((PACKAGE / "package.json").read_text())
LOCK = json.loads((PACKAGE / "package-lock.json").read_text())
COMMAND = f"{sys.executable} -P -m nexus_tools"


@pytest.mark.long
def test_package_passes_its_own_tests_and_the_type_checker(npm, tmp_path):
    folder = tmp_path / "package"
    ignored = shutil.ignore_patterns("node_modules")
    shutil.copytree(PACKAGE, folder, ignore=ignored)
    npm(folder, "ci")
    npm(folder, "run", "types")
    environment = {"NEXUS_LOCALNET_COMMAND": COMMAND, "PYTHONPATH": str(ROOT), "CI": "1"}
    assert "15 passed" in npm(folder, "test", NO_COLOR="1", **environment)
    packed = json.loads(npm(folder, "pack", "--dry-run", "--json"))[0]["files"]
    assert {file["path"] for file in packed} == {
        "README.md",
        "index.d.ts",
        "index.js",
        "package.json",
    }


def test_package_has_the_version_of_nexus_tools_and_no_dependency():
    assert MANIFEST["version"] == LOCK["version"] == __version__
    assert "dependencies" not in MANIFEST


def test_lock_file_pins_every_package_and_names_no_registry():
    packages = {name: entry for name, entry in LOCK["packages"].items() if name}
    assert len(packages) > 10
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
