"""Times of cron expressions; the expected times were read from calendars."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.registry import cron_times


def ms(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_weekday_times_skip_the_weekend():
    times = cron_times("0 9 * * mon-fri", ms("2026-11-26T10:00+00:00"))
    days = ("2026-11-27", "2026-11-30", "2026-12-01")
    assert times[:3] == tuple(ms(f"{day}T09:00+00:00") for day in days)
    assert len(times) == 256


def test_times_end_at_until_ms():
    times = cron_times(
        "*/20 * * * *", ms("2026-11-26T10:00+00:00"), until_ms=ms("2026-11-26T10:40Z")
    )
    assert times == (ms("2026-11-26T10:20Z"), ms("2026-11-26T10:40Z"))


def test_times_follow_the_given_time_zone():
    # The clocks of Berlin go from 02:00 to 03:00 on 2026-03-29, and back on 2026-10-25.
    spring = cron_times("30 2 * * *", ms("2026-03-28T00:00+01:00"), zone="Europe/Berlin")
    expected = ("2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00")
    assert spring[:3] == tuple(map(ms, expected))
    autumn = cron_times("30 2 * * *", ms("2026-10-25T00:00+02:00"), zone="Europe/Berlin")
    assert autumn[:2] == (ms("2026-10-25T02:30+02:00"), ms("2026-10-26T02:30+01:00"))


def due_on(day, expression, zone):
    """Return the times of a day, on its clock."""
    clock = ZoneInfo(zone)
    start_ms = round(datetime.fromisoformat(day).replace(tzinfo=clock).timestamp() * 1000)
    times = cron_times(expression, start_ms - 1, zone=zone)
    local = [datetime.fromtimestamp(time_ms / 1000, clock) for time_ms in times]
    return [local_time.isoformat() for local_time in local if local_time.date().isoformat() == day]


@pytest.mark.parametrize(
    ("expression", "day", "zone", "times"),
    [
        # The clocks go from 02:00 to 03:00, from 00:00 to 01:00, and from 02:00 to 02:30.
        ("30 2 * * *", "2026-03-29", "Europe/Berlin", ["2026-03-29T03:00:00+02:00"]),
        ("0 0 * * *", "2025-09-07", "America/Santiago", ["2025-09-07T01:00:00-03:00"]),
        ("15 2 * * *", "2026-10-04", "Australia/Lord_Howe", ["2026-10-04T02:30:00+11:00"]),
        # The clocks go back from 03:00 to 02:00.
        ("30 2 * * *", "2026-10-25", "Europe/Berlin", ["2026-10-25T02:30:00+02:00"]),
    ],
)
def test_fixed_time_is_due_once_at_clock_change(expression, day, zone, times):
    assert due_on(day, expression, zone) == times


def test_minute_wildcard_follows_the_clock():
    # One hour, and with it each quarter, occurs twice in London.
    autumn = due_on("2025-10-26", "*/15 1 * * *", "Europe/London")
    assert autumn == [
        f"2025-10-26T01:{minute}:00+0{offset}:00"
        for offset in (1, 0)
        for minute in ("00", "15", "30", "45")
    ]
    assert len(due_on("2025-10-26", "*/15 * * * *", "Europe/London")) == 100


def test_hour_wildcard_skips_missing_hour():
    spring = due_on("2026-03-29", "0 */2 * * *", "Europe/Berlin")
    assert [local_time[11:16] for local_time in spring[:3]] == ["00:00", "04:00", "06:00"]


@pytest.mark.parametrize(
    ("nickname", "fields"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("@Daily ", "0 0 * * *"),
    ],
)
def test_nickname_has_crontab_meaning(nickname, fields):
    after_ms = ms("2026-11-26T10:07+01:00")
    times = cron_times(nickname, after_ms, zone="Europe/Berlin")
    assert times == cron_times(fields, after_ms, zone="Europe/Berlin")


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "often",
        "* * * *",
        "0 0 * * * *",
        "60 * * * *",
        "0 0 30 2 *",
        "* * * * 5L/2",
        "@reboot",
        "@fortnightly",
    ],
)
def test_cron_times_rejects_invalid_expression(expression):
    with pytest.raises(UsageError) as caught:
        cron_times(expression, 0)
    assert caught.value.code == "cron_invalid"


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "", "../etc/passwd", "Europe"])
def test_cron_times_rejects_unknown_time_zone(zone):
    with pytest.raises(UsageError) as caught:
        cron_times("* * * * *", 0, zone=zone)
    assert caught.value.code == "time_zone_unknown"


def test_cron_times_rejects_end_in_the_past():
    with pytest.raises(UsageError) as caught:
        cron_times("* * * * *", ms("2026-11-26T10:00Z"), until_ms=ms("2026-11-26T09:00Z"))
    assert caught.value.code == "no_future_time"
