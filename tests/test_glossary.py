"""The terms of the glossary, and the names of events on chain that follow them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_events_start_with_the_object_that_they_describe():
    sources = (ROOT / "move").glob("nexus_*/sources/*.move")
    event = re.compile(r"^public struct (\w+) has copy, drop \{", re.MULTILINE)
    events = {path.stem: event.findall(path.read_text()) for path in sources}
    assert sum(map(len, events.values())) == 56
    # An event of collateral has the ID of the tool or the leader that it concerns.
    assert len(events.pop("collateral")) == 8
    nouns = "Tool|Leader|Invocation|Registry|Ownership|Permit|Dag|Execution|Run|Region|Schedule"
    assert [
        name for names in events.values() for name in names if not re.match(f"({nouns})[A-Z]", name)
    ] == []


@pytest.mark.parametrize(
    "term",
    [
        *("outcome", "answer", "failure", "close, closed", "collateral", "suspended", "refund"),
        *("dispatch", "execution failure", "event", "settings", "assignment", "entry", "closing"),
        *("tool call", "bridge", "export", "exit path", "track record", "keeper"),
    ],
)
def test_glossary_defines_term(term):
    assert f"\n| {term} | " in (ROOT / "docs/reference/glossary.md").read_text()
