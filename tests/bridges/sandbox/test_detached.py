"""Modules of the package that run without the package."""

import subprocess
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges.sandbox import standalone

PACKAGE = {
    "nexus_tools/__init__.py": "raise RuntimeError('executed')",
    "nexus_tools/bridges/__init__.py": "raise RuntimeError('executed')",
    "nexus_tools/bridges/other/__init__.py": "raise RuntimeError('executed')",
    "nexus_tools/bridges/other/child.py": """
import sys
from nexus_tools.bridges.other.child_part import WORD

def main(arguments):
    print(WORD, arguments, [place for place in sys.path if "nexus_tools" in place])
""",
    "nexus_tools/bridges/other/child_part.py": "WORD = 'found'",
}


@pytest.fixture
def package(tmp_path):
    """Return a tree like ours, in which executing an `__init__` fails."""
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "nexus_tools/bridges/sandbox/standalone.py"
    script.parent.mkdir()
    script.write_text(Path(standalone.__file__).read_text())
    return script


def test_module_runs_without_its_parent_packages(package):
    make_result = subprocess.run(
        [sys.executable, "-I", "-S", "-B", package, "nexus_tools.bridges.other.child", "a", "b"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert make_result.stderr == ""
    assert make_result.stdout == "found ['a', 'b'] []\n"
