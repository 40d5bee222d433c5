import pytest

from nexus_tools.registry import duration, utc
from nexus_tools.registry.aborts import moment

DAY, HOUR, MINUTE, SECOND = 86_400_000, 3_600_000, 60_000, 1_000


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (6 * DAY + 23 * HOUR + 59 * MINUTE, "6 d 23 h"),
        (2 * HOUR + 5 * MINUTE, "2 h 5 min"),
        (DAY + 5 * MINUTE, "1 d"),
        (90 * SECOND, "1 min 30 s"),
        (SECOND, "1 s"),
        (1, "1 s"),
    ],
)
def test_a_span_has_its_two_largest_units(span, words):
    assert duration(span) == words


def test_a_time_is_in_utc():
    # `date -u -d @1795857240`: 2026-11-28 09:14:00.
    assert utc(1_795_857_240_000) == "2026-11-28 09:14 UTC"


def test_a_time_beyond_the_calendar_is_still_a_time():
    assert utc(2**63) == f"{2**63} ms after 1970"


def test_a_moment_says_how_long_it_is_until_then():
    at = 1_795_857_240_000
    assert moment(at, at - 6 * DAY - 23 * HOUR) == "2026-11-28 09:14 UTC (in 6 d 23 h)"
    assert moment(at, at) == "2026-11-28 09:14 UTC"
