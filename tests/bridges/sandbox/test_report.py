"""The report of the watch program, line by line."""

import pytest

from nexus_tools.bridges.sandbox import Limit
from nexus_tools.bridges.sandbox.watch_handle import Report


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", (None, None, None, None, False)),
        (b"started 12\n", (12, None, None, None, False)),
        (b"started 12\nended 0\n", (12, 0, None, None, True)),
        (b"started 12\nended -9\n", (12, -9, None, None, True)),
        (b"started 12\nlimit memory\n", (12, None, Limit.MEMORY, None, True)),
        (b"started 12\nstopped\n", (12, None, None, None, True)),
        (b"failed 2 command\n", (None, None, None, (2, "command"), True)),
    ],
)
def test_partial_report_is_parsed(text, expected):
    report = Report(bytearray(text))

    fields = (report.group, report.exit_code, report.limit, report.failure, report.is_complete)
    assert fields == expected
