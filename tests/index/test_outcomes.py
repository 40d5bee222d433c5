"""The outcomes that the index counts, and percentiles from buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.index.outcomes import (
    BUCKETS,
    LEADER_FAULTS,
    OUTCOMES,
    TOOL_FAULTS,
    bucket_of,
    code_of,
    percentile_ms,
    verdict,
)
from nexus_tools.tool import FailureReason


def test_all_failure_reasons_are_counted():
    assert set(FailureReason) <= set(OUTCOMES)
    assert {code_of(reason) for reason in FailureReason} == {
        OUTCOMES.index(reason) for reason in FailureReason
    }


def test_unknown_reason_is_counted_as_other():
    assert OUTCOMES[code_of("new_reason")] == "other"


def test_failure_counts_against_the_tool_or_the_leader_and_not_both():
    assert not TOOL_FAULTS & LEADER_FAULTS
    assert verdict("settled", TOOL_FAULTS) is True
    assert verdict("unreachable", TOOL_FAULTS) is False
    assert verdict("unreachable", LEADER_FAULTS) is None
    assert verdict("input_invalid", TOOL_FAULTS) is None


@given(st.integers(12, 700_000))
def test_percentile_of_one_latency_is_at_most_19_percent_off(latency_ms):
    counts = [0] * BUCKETS
    counts[bucket_of(latency_ms)] = 1
    assert percentile_ms(counts, 0.5) == pytest.approx(latency_ms, rel=0.2, abs=1)


@given(st.lists(st.integers(20, 500_000), min_size=40, max_size=80))
def test_percentiles_are_near_those_of_all_latencies(latencies):
    counts = [0] * BUCKETS
    for latency_ms in latencies:
        counts[bucket_of(latency_ms)] += 1
    exact = sorted(latencies)[-(-len(latencies) * 95 // 100) - 1]
    assert percentile_ms(counts, 0.95) == pytest.approx(exact, rel=0.2)


@pytest.mark.parametrize("latency_ms", [0, 1, 2**63])
def test_extreme_latency_has_a_bucket(latency_ms):
    assert 0 <= bucket_of(latency_ms) < BUCKETS


def test_nothing_has_no_percentile():
    assert percentile_ms([0] * BUCKETS, 0.5) is None
