"""Documents that name tests as evidence: each named test exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEFINED = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
}


def test_trust_page_names_only_existing_tests():
    text = (ROOT / "docs" / "concepts" / "trust.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", text))
    assert named
    assert named <= DEFINED


def test_audit_page_names_only_existing_test_files():
    text = (ROOT / "docs" / "audit.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert named
    assert all((ROOT / name).is_file() for name in named)
