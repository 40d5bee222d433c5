import asyncio

import pytest

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closure, ClosureKind
from nexus_tools.leader.intake.closure_log import ClosureLog
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason

pytestmark = pytest.mark.anyio


ASSIGNMENT = Assignment(Address.of(7), Address.of(1), "a.b.c@1", 0, 1_000, 2_000, 2_000, 500, 9)


@pytest.fixture
def metrics():
    return LeaderMetrics()


def count(metrics, **labels):
    name = "nexus_leader_tool_invocations_closed_total"
    return metrics.registry.get_sample_value(name, {"tool": "a.b.c@1", **labels})


async def test_log_line_shows_variant_duration_and_fee(metrics, logged):
    closed = ClosureLog(metrics, lambda: 1_250, lines=10)
    closed.add(ASSIGNMENT, Closure(ClosureKind.SETTLED, Answer("ok", {"secret": "x"}), 2_063_608))
    closed.end_period()
    assert logged == [
        {
            "event": "closed",
            "log_level": "info",
            "fqn": "a.b.c@1",
            "invocation": "0x" + "7".rjust(64, "0"),
            "how": "settled",
            "variant": "ok",
            "fee": "0.002063608 SUI",
            "ms": 250,
        }
    ]
    assert count(metrics, outcome="settled") == 1


async def test_log_line_shows_the_failure_reason(metrics, logged):
    closed = ClosureLog(metrics, lambda: 1_000, lines=10)
    detail = "the tool rejected this leader: 401 key_unknown"
    closed.add(
        ASSIGNMENT, Closure(ClosureKind.FAILED, Failure(FailureReason.UNAUTHORIZED, detail), 5)
    )
    closed.end_period()
    assert (logged[0]["how"], logged[0]["reason"]) == ("failed", "unauthorized")
    assert logged[0]["detail"] == detail
    assert count(metrics, outcome="unauthorized") == 1


async def test_log_line_omits_outcome_and_fee_when_another_leader_closed(metrics, logged):
    closed = ClosureLog(metrics, lambda: 1_000, lines=10)
    closed.add(ASSIGNMENT, Closure(ClosureKind.ELSEWHERE, Answer("ok", {})))
    closed.end_period()
    assert set(logged[0]) == {"event", "log_level", "fqn", "invocation", "how", "ms"}
    assert count(metrics, outcome="elsewhere") == 1


async def test_lines_above_the_limit_are_omitted_and_counted(metrics, logged):
    closed = ClosureLog(metrics, lambda: 1_000, lines=3, seconds=3_600)
    for _ in range(10):
        closed.add(ASSIGNMENT, Closure(ClosureKind.SETTLED))
    assert len(logged) == 3
    closed.end_period()
    assert logged[3]["event"] == "closed_lines_omitted"
    assert logged[3]["invocations"] == 7
    assert count(metrics, outcome="settled") == 10


async def test_each_period_has_its_own_lines(metrics, logged):
    closed = ClosureLog(metrics, lambda: 1_000, lines=1, seconds=0)
    for _ in range(2):
        closed.add(ASSIGNMENT, Closure(ClosureKind.SETTLED))
        closed.add(ASSIGNMENT, Closure(ClosureKind.SETTLED))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    events = [line["event"] for line in logged]
    assert events == ["closed", "closed_lines_omitted"] * 2
