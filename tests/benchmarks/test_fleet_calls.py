"""The numbers that the benchmark of a fleet derives from tool calls."""

import pytest

from benchmarks.fleet_calls import (
    Call,
    calls_per_invocation,
    longest_stall,
    longest_wait,
    most_at_once,
    read_calls,
    write_calls,
)


def call(invocation, started_at, ended_at=None, tool="quick", status=200):
    return Call(tool, invocation, started_at, ended_at, status)


def test_calls_survive_a_file(tmp_path):
    calls = [call("a", 1.5), call("b", 2.0, 3.0, status=409)]
    write_calls(tmp_path / "calls", calls)
    assert read_calls(tmp_path / "calls") == calls


def test_calls_per_invocation_counts_repeated_calls():
    calls = [call("a", 0), call("a", 1), call("b", 2), call("c", 3), call("d", 4)]
    assert calls_per_invocation(calls) == 1.25


def test_calls_per_invocation_ignores_refused_repetitions():
    assert calls_per_invocation([call("a", 0), call("a", 1, status=409)]) == 1


def test_most_at_once_counts_the_overlap_of_each_tool():
    calls = [
        call("a", 0, 4),
        call("b", 1, 3),
        call("c", 3, 5),  # begins when `b` ends
        call("d", 2, 9, tool="other"),
    ]
    assert most_at_once(calls) == {"quick": 2, "other": 1}


def test_most_at_once_counts_calls_without_an_end():
    assert most_at_once([call("a", 0), call("b", 100)]) == {"quick": 2}


def test_longest_wait_lasts_from_the_request_to_the_first_call():
    requested = {"a": 0, "b": 10}
    assert longest_wait(requested, [call("a", 3), call("a", 50), call("b", 11)], 60) == 3


def test_longest_wait_includes_requests_without_a_call():
    assert longest_wait({"a": 0, "b": 10}, [call("a", 1)], 60) == 50


@pytest.mark.parametrize(
    ("requested", "calls", "expected"),
    [
        ({}, [], 0),
        ({"a": 0}, [("a", 2)], 2),
        # From 4 to 9, no request waits.
        ({"a": 0, "b": 0, "c": 9}, [("a", 1), ("b", 4), ("c", 11)], 3),
        # Each call ends a stall, even if it is not the first call of its invocation.
        ({"a": 0, "b": 0}, [("a", 1), ("a", 5), ("b", 8)], 4),
        # The observer may see a request after its call.
        ({"a": 5, "b": 5}, [("a", 4), ("b", 7)], 2),
        # A request that is never called waits until the end.
        ({"a": 0, "b": 1}, [("a", 2)], 18),
    ],
)
def test_longest_stall(requested, calls, expected):
    assert longest_stall(requested, [call(*made) for made in calls], until=20) == expected
