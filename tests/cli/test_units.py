import click
import pytest

from nexus_tools.cli import units


@pytest.mark.parametrize(
    ("mist", "text"),
    [
        (0, "0 SUI"),
        (1, "0.000000001 SUI"),
        (1_250_000_000, "1.25 SUI"),
        (10_000_000_000, "10 SUI"),
        (12_345_000_000_000, "12 345 SUI"),
        (-2_000_000, "-0.002 SUI"),
    ],
)
def test_amounts_are_exact(mist, text):
    assert units.sui(mist) == text


@pytest.mark.parametrize(
    ("text", "mist"), [("1", 10**9), ("0.25", 250_000_000), ("2 SUI", 2 * 10**9)]
)
def test_amounts_are_read(text, mist):
    assert units.AMOUNT.convert(text, None, None) == mist


@pytest.mark.parametrize("text", ["", "-1", "1e3", "0.0000000001", "one", "1,5", "٣"])
def test_other_amounts_are_refused(text):
    with pytest.raises(click.BadParameter):
        units.AMOUNT.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("7d", 604_800_000), ("1h30m", 5_400_000), ("10s", 10_000), ("500ms", 500), ("1m1ms", 60_001)],
)
def test_durations_are_read(text, milliseconds):
    assert units.DURATION.convert(text, None, None) == milliseconds


@pytest.mark.parametrize("text", ["", "7", "d7", "1.5h", "7 d", "-1s", "1w"])
def test_other_durations_are_refused(text):
    with pytest.raises(click.BadParameter):
        units.DURATION.convert(text, None, None)


def test_durations_are_written_in_their_two_largest_units():
    assert units.duration(604_799_000) == "6 d 23 h"
    assert units.duration(90_000) == "1 min 30 s"
    assert units.duration(12) == "12 ms"


def test_times_are_utc():
    # date -u -d @1764321240
    assert units.moment(1_764_321_240_000) == "2025-11-28 09:14 UTC"
    assert units.moment_from(1_764_321_240_000, 1_764_321_180_000).endswith("UTC (in 1 min)")
    assert units.moment_from(1_764_321_240_000, 1_764_321_240_000).endswith("UTC")


def test_a_record_is_put_in_words():
    record = {"price_mist": 5 * 10**8, "at_ms": 1_000, "claimable_at_ms": 0, "time_ms": 0, "a": 1}
    assert units.in_words(record) == {
        "price": "0.5 SUI",
        "at": "1 s",
        "claimable": "1970-01-01 00:00 UTC",
        "time": "1970-01-01 00:00 UTC",
        "a": 1,
    }
