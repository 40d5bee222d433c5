import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.cli.framework import AMOUNT, DURATION
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

DAY, HOUR, MINUTE, SECOND = 86_400_000, 3_600_000, 60_000, 1_000


# --- Amounts


@pytest.mark.parametrize(
    ("mist", "text"),
    [
        (0, "0 SUI"),
        (1, "0.000000001 SUI"),
        (100_000_000, "0.1 SUI"),
        (1_250_000_000, "1.25 SUI"),
        (10_000_000_000, "10 SUI"),
        (12_345_000_000_000, "12 345 SUI"),
        (-2_000_000, "-0.002 SUI"),
    ],
)
def test_sui_is_exact(mist, text):
    assert units.sui(mist) == text


@pytest.mark.parametrize(
    ("text", "mist"),
    [("1", 10**9), ("0.25", 250_000_000), ("2 SUI", 2 * 10**9), ("12 345 SUI", 12_345 * 10**9)],
)
def test_parse_sui_accepts_amounts(text, mist):
    assert units.parse_sui(text) == mist


@given(st.integers(0, 10**19))
def test_printed_amount_is_parsed_back(mist):
    assert units.parse_sui(units.sui(mist)) == mist


@pytest.mark.parametrize("text", ["", "-1", "1e3", "0.0000000001", "one", "1,5", "٣", "1 2"])
def test_parse_sui_rejects_invalid_amounts(text):
    with pytest.raises(UsageError) as caught:
        units.parse_sui(text)
    assert caught.value.code == "amount_invalid"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1000000000000000", "too large"),
        ("18446744073.709551616", "too large"),  # one MIST above the largest u64
        ("0.0000000001", "more than nine decimals"),
    ],
)
def test_sui_formats_amounts_beyond_u64(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        units.parse_sui(text)
    assert caught.value.code == "amount_invalid"


def test_limits_are_those_of_u64():
    assert units.parse_sui("18446744073.709551615") == 2**64 - 1
    assert units.parse_duration("18446744073709551615ms") == 2**64 - 1
    with pytest.raises(UsageError, match="too long") as caught:
        units.parse_duration("18446744073709551616ms")
    assert caught.value.code == "duration_invalid"


# --- Durations


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("7d", 604_800_000),
        ("1h30m", 5_400_000),
        ("10s", 10_000),
        ("500ms", 500),
        ("1m1ms", 60_001),
        ("6 d 23 h", 6 * DAY + 23 * HOUR),
        ("2 min 5 s", 125_000),
    ],
)
def test_parse_duration_accepts_durations(text, milliseconds):
    assert units.parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "7", "d7", "1.5h", "7  d", "-1s", "1w", "1 s, 2 ms", "٣s"])
def test_parse_duration_rejects_invalid_durations(text):
    with pytest.raises(UsageError) as caught:
        units.parse_duration(text)
    assert caught.value.code == "duration_invalid"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (604_799_000, "6 d 23 h"),
        (2 * HOUR + 5 * MINUTE, "2 h 5 min"),
        (DAY + 5 * MINUTE, "1 d"),
        (90 * SECOND, "1 min 30 s"),
        (1_500, "1 s 500 ms"),
        (12, "12 ms"),
        (0, "0 ms"),
    ],
)
def test_duration_uses_two_largest_units(milliseconds, words):
    assert units.duration(milliseconds) == words


@given(st.integers(0, 100 * DAY))
def test_printed_duration_is_parsed_back_rounded(milliseconds):
    read = units.parse_duration(units.duration(milliseconds))
    assert read <= milliseconds <= read + read // 24 + SECOND


# --- Times


def test_utc_formats_time():
    # date -u -d @1764321240
    assert units.utc(1_764_321_240_000) == "2025-11-28 09:14 UTC"
    assert units.format_utc_seconds(1_764_321_245_900) == "2025-11-28 09:14:05 UTC"


def test_utc_adds_remaining_time():
    at = 1_764_321_240_000
    assert units.utc(at, at - 6 * DAY - 23 * HOUR) == "2025-11-28 09:14 UTC (in 6 d 23 h)"
    assert units.utc(at, at - 23_909) == "2025-11-28 09:14 UTC (in 24 s)"
    assert units.utc(at, at - 909) == "2025-11-28 09:14 UTC (in 909 ms)"
    assert units.utc(at, at) == "2025-11-28 09:14 UTC"


def test_utc_formats_time_beyond_the_calendar():
    assert units.utc(2**63) == f"{2**63} ms after 1970"


# --- Records and options


def test_in_words_formats_record():
    record = {"price_mist": 5 * 10**8, "at_ms": 1_000, "claimable_at_ms": 0, "time_ms": 0, "a": 1}
    assert units.in_words(record) == {
        "price": "0.5 SUI",
        "at": "1 s",
        "claimable": "1970-01-01 00:00 UTC",
        "time": "1970-01-01 00:00 UTC",
        "a": 1,
    }


@pytest.mark.parametrize(("option", "text"), [(AMOUNT, "one"), (DURATION, "soon")])
def test_option_error_has_an_example(option, text):
    with pytest.raises(click.BadParameter, match="Write"):
        option.convert(text, None, None)


def test_option_accepts_numeric_default():
    assert AMOUNT.convert(5, None, None) == 5


def test_ago_uses_whole_seconds():
    texts = [units.ago(age) for age in (0, 21, 1_000, 9_021, 61_500)]
    assert texts == ["0 ms ago", "21 ms ago", "1 s ago", "9 s ago", "1 min 1 s ago"]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (604_800_000, "7d"),
        (604_799_000, "7d"),
        (601_200_000, "6d23h"),
        (601_200_001, "7d"),
        (65_001, "1min6s"),
        (999, "999ms"),
        (0, "0ms"),
    ],
)
def test_span_to_type_rounds_up(milliseconds, text):
    assert units.format_duration_argument(milliseconds) == text
    assert units.parse_duration(text) >= milliseconds
