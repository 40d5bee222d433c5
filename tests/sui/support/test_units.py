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
def test_amounts_are_exact(mist, text):
    assert units.sui(mist) == text


@pytest.mark.parametrize(
    ("text", "mist"),
    [("1", 10**9), ("0.25", 250_000_000), ("2 SUI", 2 * 10**9), ("12 345 SUI", 12_345 * 10**9)],
)
def test_amounts_are_read(text, mist):
    assert units.parse_sui(text) == mist


@given(st.integers(0, 10**19))
def test_an_amount_is_read_as_it_was_printed(mist):
    assert units.parse_sui(units.sui(mist)) == mist


@pytest.mark.parametrize("text", ["", "-1", "1e3", "0.0000000001", "one", "1,5", "٣", "1 2"])
def test_other_amounts_are_refused(text):
    with pytest.raises(UsageError) as caught:
        units.parse_sui(text)
    assert caught.value.code == "amount_invalid"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1000000000000000", "too large"),
        ("18446744073.709551616", "too large"),  # one MIST above the largest u64
        ("0.0000000001", "finer than a MIST"),
    ],
)
def test_an_amount_that_the_chain_cannot_have_is_an_amount_all_the_same(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        units.parse_sui(text)
    assert caught.value.code == "amount_invalid"


def test_the_largest_amount_and_the_longest_duration_are_those_of_the_chain():
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
def test_durations_are_read(text, milliseconds):
    assert units.parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "7", "d7", "1.5h", "7  d", "-1s", "1w", "1 s, 2 ms", "٣s"])
def test_other_durations_are_refused(text):
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
def test_durations_are_written_in_their_two_largest_units(milliseconds, words):
    assert units.duration(milliseconds) == words


@given(st.integers(0, 100 * DAY))
def test_a_duration_is_read_as_it_was_printed_but_for_what_is_small(milliseconds):
    read = units.parse_duration(units.duration(milliseconds))
    assert read <= milliseconds <= read + read // 24 + SECOND


# --- Times


def test_times_are_utc():
    # date -u -d @1764321240
    assert units.utc(1_764_321_240_000) == "2025-11-28 09:14 UTC"
    assert units.utc_second(1_764_321_245_900) == "2025-11-28 09:14:05 UTC"


def test_a_time_says_how_long_it_is_until_then():
    at = 1_764_321_240_000
    assert units.utc(at, at - 6 * DAY - 23 * HOUR) == "2025-11-28 09:14 UTC (in 6 d 23 h)"
    assert units.utc(at, at - 23_909) == "2025-11-28 09:14 UTC (in 24 s)"
    assert units.utc(at, at - 909) == "2025-11-28 09:14 UTC (in 909 ms)"
    assert units.utc(at, at) == "2025-11-28 09:14 UTC"


def test_a_time_beyond_the_calendar_is_still_a_time():
    assert units.utc(2**63) == f"{2**63} ms after 1970"


# --- Records and options


def test_a_record_is_put_in_words():
    record = {"price_mist": 5 * 10**8, "at_ms": 1_000, "claimable_at_ms": 0, "time_ms": 0, "a": 1}
    assert units.in_words(record) == {
        "price": "0.5 SUI",
        "at": "1 s",
        "claimable": "1970-01-01 00:00 UTC",
        "time": "1970-01-01 00:00 UTC",
        "a": 1,
    }


@pytest.mark.parametrize(("option", "text"), [(AMOUNT, "one"), (DURATION, "soon")])
def test_an_option_says_what_to_write(option, text):
    with pytest.raises(click.BadParameter, match="write"):
        option.convert(text, None, None)


def test_an_option_takes_the_number_of_its_default():
    assert AMOUNT.convert(5, None, None) == 5


def test_what_was_a_while_ago_is_told_in_seconds():
    said = [units.ago(each) for each in (0, 21, 1_000, 9_021, 61_500)]
    assert said == ["0 ms ago", "21 ms ago", "1 s ago", "9 s ago", "1 min 1 s ago"]


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
def test_a_span_to_type_is_no_shorter(milliseconds, text):
    assert units.span_to_type(milliseconds) == text
    assert units.parse_duration(text) >= milliseconds
