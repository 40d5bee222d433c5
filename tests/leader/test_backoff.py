import random

import pytest

from nexus_tools.leader.dispatch.backoff import Backoff


@pytest.mark.parametrize(
    ("attempt", "whole"), [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (500, 1_000)]
)
def test_pause_is_between_half_and_all_of_its_length(attempt, whole):
    pauses = {Backoff(100, 1_000).pause_ms(attempt, random.Random(seed)) for seed in range(50)}
    assert whole / 2 <= min(pauses) < max(pauses) <= whole
