"""Credentials in what a tool gives."""

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Finished

REDACTION = Redaction.of(["secret-1", "secret-12", "ab"])


def test_a_secret_is_taken_out_wherever_it_stands():
    value = {"secret-1": ["x secret-1 y", 5, None, True, {"a": "secret-1secret-1"}]}
    mark = "[redacted]"
    expected = {mark: [f"x {mark} y", 5, None, True, {"a": mark + mark}]}
    assert REDACTION.value(value) == expected


def test_a_secret_that_begins_like_another_is_taken_out_whole():
    assert REDACTION.text("secret-12") == "[redacted]"


def test_what_is_too_short_for_a_secret_is_left_alone():
    assert REDACTION.text("ab") == "ab"


def test_the_output_of_a_run_is_redacted_in_both_streams():
    finished = Finished(1, b"out secret-1", b"\xff secret-1", None, None, 5)
    redacted = REDACTION.finished(finished)
    assert (redacted.stdout, redacted.stderr) == (b"out [redacted]", b"\xff [redacted]")


def test_a_redaction_shows_no_secret_of_its_own():
    assert "secret" not in repr(REDACTION).replace("secrets", "")
