"""The text format of the metrics, read by the parsers of Prometheus's own library."""

import re

import pytest
from prometheus_client import openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.metrics import LeaderMetrics, ToolCounts

OPEN_METRICS = openmetrics.exposition.CONTENT_TYPE_LATEST


@pytest.fixture
def metrics():
    result = LeaderMetrics()
    result.closed.labels("settled").inc()
    with result.tool_call("a.b.c@1"):
        pass
    result.by_tool.closed("a.b.c@1", "timed_out")
    return result


@pytest.mark.parametrize(("accept", "parse"), [("", prometheus), (OPEN_METRICS, open_metrics)])
def test_render_returns_the_requested_format(metrics, accept, parse):
    text, media_type = metrics.render(accept)
    assert media_type.split(";")[0] == (accept or "text/plain").split(";")[0]
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parse(text.decode())
        for sample in family.samples
    }
    labels = (("outcome", "timed_out"), ("tool", "a.b.c@1"))
    assert samples[("nexus_leader_tool_invocations_closed_total", *labels)] == 1
    assert samples[("nexus_leader_tool_calls_total", ("tool", "a.b.c@1"))] == 1


def test_closed_invocations_are_exported_as_0_before_the_first_one():
    """An alert on the rate of a counter ignores the first value of a new series."""
    sample = LeaderMetrics().registry.get_sample_value
    for kind in ClosureKind:
        assert sample("nexus_leader_invocations_closed_total", {"how": kind.value}) == 0


HOSTILE = (
    'a"} 1\nnexus_leader_active 99\nx{y="',
    "a\\",
    'a\\"',
    "a\r\nb",
    "a\x00\x1b[31m",
    "a\u2028\u2029\u0085b",
    "{}",
    "é🙂\u202e",
    "",
)


@pytest.mark.parametrize(("accept", "parse"), [("", prometheus), (OPEN_METRICS, open_metrics)])
@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_render_escapes_tool_names(accept, parse, name):
    metrics = LeaderMetrics()
    with metrics.tool_call(name):
        pass
    metrics.by_tool.closed(name, name)
    metrics.fetched.labels(name, "fetched").inc()
    metrics.executions_ended.labels(name).inc()
    text, _ = metrics.render(accept)
    samples = [sample for family in parse(text.decode()) for sample in family.samples]
    assert [sample.value for sample in samples if sample.name == "nexus_leader_active"] == [0]
    for label, sample in (
        ("tool", "nexus_leader_tool_calls_total"),
        ("outcome", "nexus_leader_tool_invocations_closed_total"),
        ("storage", "nexus_leader_values_fetched_total"),
        ("status", "nexus_leader_executions_ended_total"),
    ):
        assert name in [
            candidate.labels[label] for candidate in samples if candidate.name == sample
        ]


def test_metric_names_follow_prometheus_conventions(metrics):
    """prometheus.io/docs/practices/naming: one prefix, base units, totals for counters, help."""
    for family in prometheus(metrics.render()[0].decode()):
        assert re.fullmatch(r"nexus_leader_[a-z0-9_]+", family.name)
        assert not re.search(r"_(ms|milliseconds|minutes|kilobytes)(_|$)", family.name)
        assert family.documentation.endswith(".")
        if family.type == "counter":
            assert all(sample.name.endswith("_total") for sample in family.samples)


def test_tools_are_labeled_up_to_a_limit_and_sums_never_fall():
    counts, sums = ToolCounts(most=3), []
    for number in range(50):
        counts.called(f"a.b.c{number}@1", 0.5)
        counts.closed(f"a.b.c{number}@1", "settled")
        closed, calls, seconds = counts.collect()
        assert len(calls.samples) <= 4
        sums.append(
            [sum(sample.value for sample in one.samples) for one in (closed, calls, seconds)]
        )
    assert sums[-1] == [50, 50, 25.0]
    assert sums == sorted(sums)
    assert {sample.labels["tool"] for sample in calls.samples} == {
        "a.b.c47@1",
        "a.b.c48@1",
        "a.b.c49@1",
        "other",
    }


def test_active_tool_keeps_its_label():
    counts = ToolCounts(most=2)
    for number in range(10):
        counts.called("busy.b.c@1", 1.0)
        counts.called(f"a.b.c{number}@1", 1.0)
    samples = next(one for one in counts.collect() if one.name.endswith("calls")).samples
    assert {sample.labels["tool"]: sample.value for sample in samples}["busy.b.c@1"] == 10
