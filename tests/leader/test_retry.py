import random
from datetime import UTC, datetime

import pytest

from nexus_tools.leader.retry import Backoff, retry_after_ms

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("attempt", "whole"), [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (500, 1_000)]
)
def test_a_pause_is_between_half_of_its_length_and_all_of_it(attempt, whole):
    pauses = {Backoff(100, 1_000).pause_ms(attempt, random.Random(seed)) for seed in range(50)}
    assert whole / 2 <= min(pauses) < max(pauses) <= whole


@pytest.mark.parametrize(
    ("header", "milliseconds"),
    [
        ("0", 0),
        ("2", 2_000),
        (" 120 ", 120_000),
        ("Sat, 21 Nov 2026 12:00:05 GMT", 5_000),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("99999999999999999999", None),
        ("²", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, milliseconds):
    assert retry_after_ms(header, NOW) == milliseconds
