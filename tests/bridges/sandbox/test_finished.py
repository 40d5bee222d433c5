"""The description of a run's end for users."""

import pytest

from nexus_tools.bridges.sandbox import Limit, ProcessResult


@pytest.fixture
def make_result():
    def make_result(stdout=b"", stderr=b"", exit_code=0, limit=None):
        return ProcessResult(exit_code, stdout, stderr, None, limit, 1)

    return make_result


def test_log_has_standard_output_before_errors(make_result):
    assert make_result(b"out\n", b"err\n").log() == "out\nerr"


def test_log_is_empty_for_a_silent_run(make_result):
    assert make_result().log() == ""


def test_log_keeps_the_end(make_result):
    assert make_result(b"abc", b"defg").log(6) == "c\ndefg"


def test_log_respects_its_byte_limit(make_result):
    assert make_result(b"\xff" * 100).log(10) == "\ufffd" * 3
    assert make_result("a€€".encode()).log(4) == "€"


def test_log_has_no_nul_characters(make_result):
    assert make_result(b"a\0b").log() == "a\ufffdb"


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit.TIME, "its time limit"),
        (Limit.MEMORY, "its memory limit"),
        (Limit.OUTPUT, "its output limit"),
        (Limit.DISK, "limit of its directory"),
        (Limit.PROCESSES, "its process limit"),
    ],
)
def test_reason_names_the_limit(make_result, limit, words):
    assert words in make_result(exit_code=None, limit=limit).reason()


def test_reason_names_the_signal(make_result):
    assert make_result(exit_code=-9).reason() == "the tool was killed by SIGKILL"


def test_reason_has_the_number_of_an_unnamed_signal(make_result):
    assert make_result(exit_code=-40).reason() == "the tool was killed by signal 40"


def test_reason_has_the_exit_code(make_result):
    assert make_result(exit_code=3).reason() == "the tool exited with code 3"
