import json
import subprocess
import sys

import pytest

from nexus_tools.leader.dispatch.file_descriptors import calls_for_limit

resource = pytest.importorskip("resource", reason="only POSIX limits the open files of a process")

PROGRAM = """
import json, resource, sys
from nexus_tools.leader.dispatch.file_descriptors import max_concurrent_calls, raise_file_limit
soft, hard, calls = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
before = max_concurrent_calls(calls)
raise_file_limit(calls)
print(json.dumps([before, max_concurrent_calls(calls), resource.getrlimit(resource.RLIMIT_NOFILE)]))
"""


def limits_in_process(soft, hard, calls):
    """Return the allowed calls before and after raising the limits, and the new limits."""
    command = [sys.executable, "-c", PROGRAM, *map(str, (soft, hard, calls))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


@pytest.mark.parametrize(("limit", "calls"), [(1_024, 256), (4_096, 1_280), (10, 1)])
def test_each_call_needs_three_descriptors_beside_the_reserve(limit, calls):
    assert calls_for_limit(limit) == calls


def test_soft_limit_is_raised_only_to_the_required_number():
    assert limits_in_process(512, 2_048, 400) == [85, 400, [1_456, 2_048]]


def test_hard_limit_bounds_the_calls():
    assert limits_in_process(512, 1_024, 4_096) == [85, 256, [1_024, 1_024]]


def test_sufficient_limit_is_not_changed():
    assert limits_in_process(2_000, 2_048, 100) == [100, 100, [2_000, 2_048]]
