"""Attacks on leaders and owners of executions, with their gain and their cost.

An attacker may publish any workflow of its own tools, and name any leader. The leader dispatches it
honestly, with one closing per transaction, which is the most expensive way.
"""

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.registry import Executions
from nexus_tools.tool import (
    ASK,
    Answer,
    Failure,
    FailureReason,
    ToolDefinition,
    ask_definition,
)
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Vertex,
    VertexKind,
)
from tests.economics.carried import MIST, Stage

SOURCE, WIDE, THIN = (f"xyz.example.economy.{name}@1" for name in ("source", "wide", "thin"))
PORTS = [f"i{number:02}" for number in range(32)]
DAY_MS = 86_400_000
REQUEST_MIST = 2_000_000
"""More than the gas of a first request, which no fee pays because its owner may send it."""


def definition(fqn, inputs):
    """Return a tool with these inputs, whose answer has a value and a list of any type."""
    answer = {"type": "object", "properties": {"value": {}, "list": {"type": "array"}}}
    variants = {"type": "object", "properties": {"ok": answer}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com/any",
            "description": "Gives anything.",
            "timeout": 5_000,
            "input_schema": {"type": "object", "properties": {name: {} for name in inputs}},
            "output_schema": {"type": "object", "oneOf": [variants]},
        }
    )


def edge(source, target, kind=EdgeKind.NORMAL):
    return Edge(OutputPort(*source.split(".")), InputPort(*target.split(".")), kind)


def document(vertices, edges, defaults=()):
    begin = Vertex("begin", SOURCE, entry_ports=("e",))
    return Document((begin, *vertices), tuple(edges), defaults=tuple(defaults), dialect=DIALECT)


def values_for(vertex, ports):
    return [Default(InputPort(vertex, port), 1) for port in ports]


def answer(value=1, length=0):
    return Answer("ok", {"value": value, "list": [1] * length})


@pytest.fixture
async def stage(chain, stranger, leader, active_leader):
    """Return a stage with three signing tools of the attacker and a leader for its executions."""
    stage = Stage(chain.deployment, stranger, leader, active_leader)
    await stage.register_tool(definition(SOURCE, ["e"]), signs=True)
    await stage.register_tool(definition(WIDE, PORTS), signs=True)
    await stage.register_tool(definition(THIN, ["i"]), signs=True)
    return stage


@pytest.fixture
def weigh(stage, attack):
    """Return a function that plays an execution to its cleanup and returns each party's gain.

    The workflow is published before, because an attacker does that only once.
    """

    async def weigh(flow, play, **terms):
        workflow = await stage.publish(flow)
        async with attack("stranger") as played:
            execution = await stage.begin(workflow, {"begin": {"e": 1}}, **terms)
            await play(execution)
            await execution.clean()
        return execution, played

    return weigh


def costs_more_than_it_harms(played, requests=1):
    """Check law 2: an attacker spends more than the leader loses, except for the first request."""
    lost_mist = -played["leader"] - requests * REQUEST_MIST
    return lost_mist <= 0 or lost_mist <= -played["stranger"]


# --- Inputs


@pytest.mark.parametrize("ports", [8, 16, 31])
async def test_leader_fails_inputs_above_its_read_limit(stage, weigh, ports):
    flow = document(
        [Vertex("wide", WIDE)],
        [edge("begin.ok.value", f"wide.{port}") for port in PORTS[:ports]],
        values_for("wide", PORTS[ports:]),
    )

    async def play(execution):
        await execution.take()
        await execution.close("begin", answer("x" * 60_000), signed=True)
        outcome = await execution.close("wide", answer(), signed=True)
        assert outcome.reason is FailureReason.INPUT_INVALID

    execution, played = await weigh(flow, play)
    assert sum(execution.gained_mist[1:]) > 0
    assert costs_more_than_it_harms(played)


async def test_chain_refuses_inputs_above_the_leaders_read_limit(stage):
    flow = document(
        [Vertex("wide", WIDE)],
        [edge("begin.ok.value", f"wide.{port}") for port in PORTS[:8]],
        values_for("wide", PORTS[8:]),
    )
    execution = await stage.begin(await stage.publish(flow), {"begin": {"e": 1}})
    await execution.take()
    await execution.close("begin", answer("x" * 60_000), signed=True)
    stage.is_reckless = True
    with pytest.raises(NexusError) as caught:
        await execution.close("wide", answer(), signed=True)
    assert caught.value.code == "inputs_too_large"


@pytest.mark.parametrize(
    ("ports", "size"), [(1, 100), (1, 62_000), (8, 7_000), (16, 3_500), (31, 100), (31, 1_800)]
)
async def test_leader_earns_by_settling_the_largest_inputs(stage, weigh, ports, size):
    flow = document(
        [Vertex("wide", WIDE)],
        [edge("begin.ok.value", f"wide.{port}") for port in PORTS[:ports]],
        values_for("wide", PORTS[ports:]),
    )

    async def play(execution):
        await execution.take()
        await execution.close("begin", answer("x" * size), signed=True)
        await execution.close("wide", answer(), signed=True)

    execution, _ = await weigh(flow, play)
    assert execution.ended.status == "completed"
    assert min(execution.gained_mist[1:]) > 0
    # At a gas price of 1 000, each byte that is counted off chain costs 40 MIST. The fee for
    # settling without a signature is 2 000 gas units, 520 000, and 7 600 for each of 19 bytes.
    read_mist = execution.read_bytes[-1] * 40
    assert execution.fees_mist[-1] == 2_520_000 + 19 * 7_600 + read_mist


@pytest.mark.parametrize("iterations", [4, 15, 32])
async def test_leader_earns_by_settling_lists_gathered_from_regions(stage, weigh, iterations):
    flow = document(
        [Vertex("each", THIN, parallel=32), Vertex("wide", WIDE)],
        [
            edge("begin.ok.list", "each.i", EdgeKind.FOR_EACH),
            edge("each.ok.value", "wide.i00", EdgeKind.COLLECT),
        ],
        values_for("wide", PORTS[1:]),
    )

    async def play(execution):
        await execution.take()
        await execution.close("begin", answer(length=iterations), signed=True)
        while not any(run.vertex == "wide" for run in execution.requests):
            if not execution.requests:
                await execution.take()
            run = next(iter(execution.requests))
            await execution.close("each", answer(), path=run.path, signed=True)
        await execution.close("wide", answer(), signed=True)

    execution, _ = await weigh(flow, play)
    assert execution.ended.status == "completed"
    assert execution.gained_mist[-1] > 0
    read_mist = execution.read_bytes[-1] * 40
    assert execution.fees_mist[-1] == 2_520_000 + 19 * 7_600 + read_mist


async def test_leader_fails_large_lists_of_large_values(stage, weigh):
    """15 ports receive a list of 8 values of 60 KB each, which are 7 MB."""
    flow = document(
        [Vertex("each", THIN, parallel=8), Vertex("wide", WIDE)],
        [
            edge("begin.ok.list", "each.i", EdgeKind.FOR_EACH),
            *(edge("each.ok.value", f"wide.{port}", EdgeKind.COLLECT) for port in PORTS[:15]),
        ],
        values_for("wide", PORTS[15:]),
    )

    async def play(execution):
        await execution.take()
        await execution.close("begin", answer(length=8), signed=True)
        while not any(run.vertex == "wide" for run in execution.requests):
            run = next(iter(execution.requests))
            await execution.close("each", answer("x" * 60_000), path=run.path, signed=True)
        outcome = await execution.close("wide", answer(), signed=True)
        assert outcome.reason is FailureReason.INPUT_INVALID

    _, played = await weigh(flow, play)
    assert costs_more_than_it_harms(played)


def gathering_region():
    """Return a region of one iteration, and a vertex that takes a list of its values.

    The vertex has defaults for all its inputs.
    """
    return document(
        [Vertex("each", THIN), Vertex("wide", WIDE)],
        [
            edge("begin.ok.list", "each.i", EdgeKind.FOR_EACH),
            edge("each.ok.value", "wide.i00", EdgeKind.COLLECT),
        ],
        values_for("wide", PORTS[1:]),
    )


async def settle_gathered(execution, value):
    """Let the iteration return a value, and settle the vertex that takes its list."""
    await execution.take()
    await execution.close("begin", answer(length=1), signed=True)
    [run] = execution.requests
    await execution.close("each", answer(value), path=run.path, signed=True)
    return await execution.close("wide", answer(), signed=True)


TEXT_IN_CHUNKS = "x" * 60_000
LONG_LIST = ["x" * 100] * 50


@pytest.mark.parametrize("value", [TEXT_IN_CHUNKS, LONG_LIST])
async def test_leader_fails_lists_of_strings_that_move_would_join_byte_by_byte(stage, weigh, value):
    """Settling the case with the long string would cost it 670 million MIST."""

    async def play(execution):
        outcome = await settle_gathered(execution, value)
        assert outcome.reason is FailureReason.INPUT_INVALID

    _, played = await weigh(gathering_region(), play)
    assert costs_more_than_it_harms(played)


@pytest.mark.parametrize("value", ["x" * 16_000, ["x" * 100] * 25, ["x"] * 250, [[1] * 20] * 20])
async def test_leader_earns_by_settling_lists_of_strings_that_move_joins(stage, weigh, value):
    async def play(execution):
        await settle_gathered(execution, value)

    execution, _ = await weigh(gathering_region(), play)
    assert execution.ended.status == "completed"
    assert execution.gained_mist[-1] > 0


async def test_chain_refuses_lists_of_strings_that_move_would_join_byte_by_byte(stage):
    execution = await stage.begin(await stage.publish(gathering_region()), {"begin": {"e": 1}})
    stage.is_reckless = True
    with pytest.raises(NexusError) as caught:
        await settle_gathered(execution, TEXT_IN_CHUNKS)
    assert caught.value.code == "inputs_too_large"


async def test_begin_refuses_entry_values_above_the_total_limit(stage):
    flow = Document(
        (
            Vertex("begin", SOURCE, entry_ports=("e",)),
            Vertex("other", SOURCE, entry_ports=("e",)),
        ),
        (),
        dialect=DIALECT,
    )
    values = {"begin": {"e": "x" * 40_000}, "other": {"e": "x" * 40_000}}
    workflow = await stage.publish(flow)
    with pytest.raises(NexusError) as caught:
        await stage.begin(workflow, values)
    assert caught.value.code == "values_too_large"


# --- Steps


@pytest.mark.parametrize("regions", [1, 8, 16, 24])
async def test_leader_is_paid_for_opening_regions(stage, weigh, regions):
    vertices = [Vertex(f"each{number}", THIN) for number in range(regions)]
    edges = [
        edge("begin.ok.list", f"each{number}.i", EdgeKind.FOR_EACH) for number in range(regions)
    ]
    flow = document(vertices, edges)

    async def play(execution):
        await execution.take()
        await execution.close("begin", answer(length=10), signed=True)
        assert execution.ended.status == "terminated"

    execution, played = await weigh(flow, play, max_steps=1)
    assert execution.gained_mist[-1] >= 0
    assert costs_more_than_it_harms(played)


async def test_leader_earns_by_settling_a_large_answer_of_the_only_run(stage, weigh):
    async def play(execution):
        await execution.take()
        await execution.close("begin", answer("x" * 60_000), signed=True)

    execution, _ = await weigh(document([], []), play)
    assert execution.gained_mist[-1] > 0


async def test_leader_is_paid_for_one_refusal_of_a_run(stage, weigh):
    """Each further attempt would be refused immediately."""
    dear = await stage.register_tool(definition("xyz.example.economy.dear@1", ["e"]))
    flow = Document(
        (Vertex("begin", dear.fqn, entry_ports=("e",), attempts=8),), (), dialect=DIALECT
    )

    async def play(execution):
        await execution.take(execution.steps * 8)
        assert execution.ended.status == "terminated"

    _, played = await weigh(flow, play, max_timeout_ms=1)
    # The fee for a refusal is 1 670 000 MIST: seven more would be 11 million.
    assert played["leader"] < 1_670_000
    assert costs_more_than_it_harms(played, requests=0)


async def test_leader_loses_less_than_the_attacker_by_a_tool_that_always_fails(stage, weigh):
    flow = Document(
        (Vertex("begin", SOURCE, entry_ports=("e",), attempts=20),), (), dialect=DIALECT
    )

    async def play(execution):
        await execution.take()
        while execution.requests:
            await execution.close("begin", Failure(FailureReason.UNREACHABLE, ""))

    _, played = await weigh(flow, play)
    assert costs_more_than_it_harms(played)


# --- Funds


async def test_owner_gets_an_immediate_refund_despite_an_open_question(parties, stage, attack):
    """500 SUI depend on one question that stays open for 30 days. The owner cancels."""
    stage.owner = parties.clients["admin"]
    await stage.register_tool(ask_definition(str(stage.deployment.original_id)))
    stage.owner = parties.clients["user"]
    asking = Vertex("ask", ASK, VertexKind.ON_CHAIN, entry_ports=("answerer", "question"))
    workflow = await stage.publish(Document((asking,), (), dialect=DIALECT))
    async with attack("stranger") as played:
        values = {"ask": {"answerer": str(parties.address("stranger")), "question": "?"}}
        execution = await stage.begin(
            workflow, values, funds_mist=500 * MIST, max_timeout_ms=90 * DAY_MS
        )
        await execution.take()
        await Executions(stage.owner, stage.deployment).cancel(execution.id)
    found = await Executions(stage.owner, stage.deployment).get(execution.id)
    assert found.ended_at_ms is None
    # The invocation keeps its payment, and its objects stay.
    assert played["user"] > -MIST


async def test_owner_does_not_wait_longer_than_it_accepted(stage):
    """An operator raises the timeout of a tool after an execution has started."""
    slow = await stage.register_tool(definition("xyz.example.economy.slow@1", ["e"]))
    flow = Document((Vertex("begin", slow.fqn, entry_ports=("e",)),), (), dialect=DIALECT)
    execution = await stage.begin(
        await stage.publish(flow), {"begin": {"e": 1}}, max_timeout_ms=slow.definition.timeout_ms
    )
    await stage.update(slow.fqn, timeout_ms=slow.definition.timeout_ms + 1)
    await execution.take()
    assert execution.requests == {}
    assert execution.refusals == ["timeout_too_long"]
