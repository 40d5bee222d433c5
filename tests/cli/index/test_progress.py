"""The messages of `index run` about its position and about vectors."""

from types import SimpleNamespace

import pytest

from nexus_tools.cli.index.opening import ProgressNotes, VectorNotes
from nexus_tools.sui.client import Cursor


class Clock:
    """A clock that a test moves, and the messages up to now."""

    def __init__(self):
        self.now_s = 0.0
        self.messages = []

    def __call__(self):
        return self.now_s

    def note(self, text):
        self.messages.append(text)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def notes(clock):
    """Return the messages of a command that started when the chain was at checkpoint 2 000."""
    return ProgressNotes(SimpleNamespace(output=clock), 2_000, clock)


def test_reading_is_reported_every_five_seconds(clock, notes):
    for now_s, checkpoint in ((4, 10), (5, 20), (9, 30), (10, 1_999)):
        clock.now_s = now_s
        notes(Cursor.after_checkpoint(checkpoint))
    assert clock.messages == [
        "at checkpoint 20 of 2 000 (1 %)",
        "at checkpoint 1 999 of 2 000 (99 %)",
    ]


def test_following_is_reported_once_a_minute_without_a_share(clock, notes):
    for now_s in range(0, 130, 5):
        clock.now_s = now_s
        notes(Cursor.after_checkpoint(2_000 + now_s))
    assert clock.messages == [
        "following, at checkpoint 2 060",
        "following, at checkpoint 2 120",
    ]


def test_computed_vectors_are_reported_every_five_seconds(clock):
    notes = VectorNotes(SimpleNamespace(output=clock), 2_000, clock)
    for now_s, missing in ((4, 1_900), (5, 1_500), (9, 1_000), (10, 1)):
        clock.now_s = now_s
        notes(missing)
    assert clock.messages == [
        "computed the vectors of 500 of 2 000 tools (25 %)",
        "computed the vectors of 1 999 of 2 000 tools (99 %)",
    ]
