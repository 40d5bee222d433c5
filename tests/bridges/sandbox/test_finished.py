"""How the end of a run is told to people."""

import pytest

from nexus_tools.bridges.sandbox import Finished, Limit


@pytest.fixture
def finished():
    def finished(stdout=b"", stderr=b"", exit_code=0, limit=None):
        return Finished(exit_code, stdout, stderr, None, limit, 1)

    return finished


def test_the_log_has_standard_output_and_then_errors(finished):
    assert finished(b"out\n", b"err\n").log() == "out\nerr"


def test_the_log_is_empty_for_a_silent_run(finished):
    assert finished().log() == ""


def test_the_log_keeps_the_end(finished):
    assert finished(b"abc", b"defg").log(6) == "c\ndefg"


def test_the_log_keeps_within_its_bytes_whatever_was_printed(finished):
    assert finished(b"\xff" * 100).log(10) == "\ufffd" * 3
    assert finished("a€€".encode()).log(4) == "€"


def test_the_log_has_no_zero_characters(finished):
    assert finished(b"a\0b").log() == "a\ufffdb"


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit.TIME, "took longer"),
        (Limit.MEMORY, "more memory"),
        (Limit.OUTPUT, "more output"),
        (Limit.DISK, "into its directory"),
        (Limit.PROCESSES, "more processes"),
    ],
)
def test_a_limit_is_named_in_the_reason(finished, limit, words):
    assert words in finished(exit_code=None, limit=limit).reason()


def test_a_signal_is_named_in_the_reason(finished):
    assert finished(exit_code=-9).reason() == "the tool was killed by SIGKILL"


def test_a_signal_without_a_name_is_told_by_its_number(finished):
    assert finished(exit_code=-40).reason() == "the tool was killed by signal 40"


def test_an_exit_code_is_told_in_the_reason(finished):
    assert finished(exit_code=3).reason() == "the tool ended with exit code 3"
