"""Credentials in the output of a tool."""

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import ProcessResult

REDACTION = Redaction.of(["secret-1", "secret-12", "ab"])


def test_secret_is_removed_everywhere():
    value = {"secret-1": ["x secret-1 y", 5, None, True, {"a": "secret-1secret-1"}]}
    mark = "[redacted]"
    expected = {mark: [f"x {mark} y", 5, None, True, {"a": mark + mark}]}
    assert REDACTION.value(value) == expected


def test_secret_with_the_start_of_another_is_removed_completely():
    assert REDACTION.text("secret-12") == "[redacted]"


def test_short_value_is_not_redacted():
    assert REDACTION.text("ab") == "ab"


def test_run_output_is_redacted_in_both_streams():
    finished = ProcessResult(1, b"out secret-1", b"\xff secret-1", None, None, 5)
    redacted = REDACTION.finished(finished)
    assert (redacted.stdout, redacted.stderr) == (b"out [redacted]", b"\xff [redacted]")


def test_redaction_repr_shows_no_secret():
    assert "secret" not in repr(REDACTION).replace("secrets", "")
