"""Times of cron expressions; the expected ones are read off calendars."""

from datetime import datetime

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.registry import cron_times


def ms(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_times_of_weekdays_leave_out_the_weekend():
    times = cron_times("0 9 * * mon-fri", ms("2026-11-26T10:00+00:00"))
    days = ("2026-11-27", "2026-11-30", "2026-12-01")
    assert times[:3] == tuple(ms(f"{day}T09:00+00:00") for day in days)
    assert len(times) == 256


def test_times_end_with_the_last_one():
    times = cron_times(
        "*/20 * * * *", ms("2026-11-26T10:00+00:00"), until_ms=ms("2026-11-26T10:40Z")
    )
    assert times == (ms("2026-11-26T10:20Z"), ms("2026-11-26T10:40Z"))


def test_a_zone_has_clocks_of_its_own():
    # Clocks of Berlin go from 02:00 to 03:00 on 2026-03-29, and back on 2026-10-25.
    spring = cron_times("30 2 * * *", ms("2026-03-28T00:00+01:00"), zone="Europe/Berlin")
    expected = ("2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00")
    assert spring[:3] == tuple(map(ms, expected))
    autumn = cron_times("30 2 * * *", ms("2026-10-25T00:00+02:00"), zone="Europe/Berlin")
    assert autumn[:2] == (ms("2026-10-25T02:30+02:00"), ms("2026-10-26T02:30+01:00"))


@pytest.mark.parametrize(
    "expression",
    ["", "often", "* * * *", "0 0 * * * *", "60 * * * *", "0 0 30 2 *", "* * * * 5L/2"],
)
def test_what_is_no_expression_is_refused(expression):
    with pytest.raises(UsageError) as caught:
        cron_times(expression, 0)
    assert caught.value.code == "cron_invalid"


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "", "../etc/passwd", "Europe"])
def test_what_is_no_zone_is_refused(zone):
    with pytest.raises(UsageError) as caught:
        cron_times("* * * * *", 0, zone=zone)
    assert caught.value.code == "time_zone_unknown"


def test_an_end_in_the_past_is_refused():
    with pytest.raises(UsageError) as caught:
        cron_times("* * * * *", ms("2026-11-26T10:00Z"), until_ms=ms("2026-11-26T09:00Z"))
    assert caught.value.code == "times_over"
