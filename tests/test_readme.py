"""Claims of the README that are not in the blocks that `tests/documents` executes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import package_page
from documents import environment_of

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_demo_runs_completely(tmp_path):
    done = subprocess.run(
        ["scripts/demo"],
        cwd=ROOT,
        env=environment_of(tmp_path, Path(sys.executable).parent) | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("published", "1 SUI locked", "settled", "claimable at", "balance after"):
        assert word in done.stdout, word
    for word in ("╌ for each ╌", "3 SUI locked", '"ONE TWO THREE"'):
        assert word in done.stdout, word


def test_readme_is_short():
    assert len(README.splitlines()) < 150


@pytest.mark.parametrize("place", re.findall(r"\]\(([\w/.]+)\)", README))
def test_links_of_the_readme_exist(place):
    assert (ROOT / place).is_file()


def test_page_for_package_indexes_is_made_from_the_readme():
    assert package_page.PAGE.read_text(encoding="utf-8") == package_page.description(), (
        "run scripts/package_page.py"
    )


def test_page_for_package_indexes_has_no_relative_link():
    page = package_page.description()
    assert re.findall(r"\]\((?!https?:)", page) == []
    assert "pip install 'nexus-tools[localnet]'" in page
    assert "](" in README
