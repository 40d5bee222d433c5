"""The programs of docs/python.md run as they stand, and print what stands behind them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(
    r"(?:^|\n)#+ ([^\n]+)\n(?:(?!\n```|\n#).)*\n```python\n(.*?)```\n\n```text\n(.*?)```",
    PAGE,
    re.DOTALL,
)


def test_the_page_has_a_program_for_each_of_its_subjects():
    assert [title for title, _, _ in PROGRAMS] == [
        "Tools from Python",
        "Publish definitions",
        "Query with pages and filters",
        "Follow events",
        "Invoke, and take the refund",
        "Act as the Leader",
    ]


@pytest.mark.parametrize(
    ("program", "shown"), [each[1:] for each in PROGRAMS], ids=[each[0] for each in PROGRAMS]
)
def test_a_program_prints_what_the_page_shows(program, shown, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(program)
    homes = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = subprocess.run(
        [sys.executable, "-W", "error", file],
        cwd=tmp_path,
        env=os.environ | homes,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.stderr, done.stdout) == ("", shown)
