"""Pages that say by which test something is shown: each of them is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEFINED = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
}


def test_each_test_by_which_something_is_shown_is_there():
    text = (ROOT / "docs" / "concepts" / "trust.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", text))
    assert named
    assert named <= DEFINED


def test_each_file_of_tests_that_auditors_are_shown_is_there():
    text = (ROOT / "docs" / "audit.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert named
    assert all((ROOT / name).is_file() for name in named)
