"""How long a workflow waits for people and times, as far as its document and inputs say."""

import pytest

from nexus_tools.workflow import (
    Default,
    Document,
    Edge,
    InputPort,
    OutputPort,
    Vertex,
    max_waiting_ms,
)

ASK, WAIT = "nexus_tools.waiting.ask@1", "nexus_tools.waiting.wait@1"
DAY_MS = 86_400_000
WITHIN, FOR = InputPort("asked", "timeout_ms"), InputPort("later", "duration_ms")


def document(*, defaults=(), edges=()):
    others = (Vertex("later", WAIT), Vertex("first", "xyz.example.first@1"))
    return Document((Vertex("asked", ASK), *others), edges, defaults=defaults)


@pytest.mark.parametrize(
    ("defaults", "values", "expected"),
    [
        ((), {}, {"asked": 89 * DAY_MS}),
        ((Default(WITHIN, 5_000),), {}, {"asked": 5_000}),
        ((), {WITHIN: 100 * DAY_MS}, {"asked": 89 * DAY_MS}),
        ((Default(FOR, 7_000),), {WITHIN: 1}, {"asked": 1, "later": 7_000}),
        ((), {WITHIN: "soon"}, {}),
    ],
)
def test_waiting_time_follows_from_known_values(defaults, values, expected):
    assert max_waiting_ms(document(defaults=defaults), values) == expected


def test_waiting_time_from_another_tool_is_unknown():
    edge = Edge(OutputPort("first", "ok", "time"), WITHIN)
    assert max_waiting_ms(document(edges=(edge,)), {}) == {}
