"""The steps of executions, whose senders are paid approximately their cost."""

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.registry import add_advance, add_outcome
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason, ToolDefinition
from nexus_tools.workflow import DIALECT, Document, EdgeKind, Run, Vertex
from tests.economics.carried import Stage
from tests.economics.test_executions import (
    PORTS,
    SOURCE,
    THIN,
    WIDE,
    answer,
    definition,
    document,
    edge,
    values_for,
)

MANY, JOIN = "xyz.example.economy.many@1", "xyz.example.economy.join@1"
NAMES = [f"p{number:02}".ljust(32, "x") for number in range(32)]


@pytest.fixture
async def stage(chain, stranger, leader, active_leader):
    stage = Stage(chain.deployment, stranger, leader, active_leader)
    for fqn, ports in ((SOURCE, ["e"]), (THIN, ["i"]), (WIDE, PORTS)):
        await stage.register_tool(definition(fqn, ports))
    await stage.register_tool(with_variants(MANY, ["e"], ["ok"], NAMES))
    await stage.register_tool(with_variants(JOIN, PORTS, ["ok", "done"], ["value"]))
    return stage


def with_variants(fqn, inputs, variants, outputs):
    """Return a tool whose variants all have the same ports."""
    ports = {"type": "object", "properties": {name: {} for name in outputs}}
    given = [{"type": "object", "properties": {n: ports}, "required": [n]} for n in variants]
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com/any",
            "description": "Gives.",
            "timeout": 5_000,
            "input_schema": {"type": "object", "properties": {name: {} for name in inputs}},
            "output_schema": {"type": "object", "oneOf": given},
        }
    )


def wide_regions(count):
    """Return a list of three whose elements go to `count` regions of vertices with 32 ports."""
    names = [f"w{number}" for number in range(count)]
    edges = [edge("begin.ok.list", f"{name}.i00", EdgeKind.FOR_EACH) for name in names]
    defaults = [value for name in names for value in values_for(name, PORTS[1:])]
    return document([Vertex(name, WIDE) for name in names], edges, defaults), answer(length=3)


def thin_regions(count):
    """Return the same with vertices of one port."""
    names = [f"w{number}" for number in range(count)]
    edges = [edge("begin.ok.list", f"{name}.i", EdgeKind.FOR_EACH) for name in names]
    return document([Vertex(name, THIN) for name in names], edges, []), answer(length=3)


def fan(count):
    """Return a value that goes to `count` vertices with 32 ports."""
    names = [f"w{number}" for number in range(count)]
    edges = [edge("begin.ok.value", f"{name}.i00") for name in names]
    defaults = [value for name in names for value in values_for(name, PORTS[1:])]
    return document([Vertex(name, WIDE) for name in names], edges, defaults), answer()


def ports(count):
    """Return an answer of `count` ports, each of which goes to a vertex."""
    names = NAMES[:count]
    vertices = [Vertex(f"v{number}", THIN) for number in range(count)]
    edges = [edge(f"begin.ok.{name}", f"v{number}.i") for number, name in enumerate(names)]
    begin = Vertex("begin", MANY, entry_ports=("e",))
    flow = Document((begin, *vertices), tuple(edges), dialect=DIALECT)
    return flow, Answer("ok", dict.fromkeys(names, 1))


def loops(count, starts):
    """Return a value that opens `count` loops, in each of which `starts` vertices may start."""
    vertices, edges, defaults = [Vertex("begin", SOURCE, entry_ports=("e",))], [], []
    for k in range(count):
        vertices += [Vertex(f"j{k}", JOIN), Vertex(f"after{k}", THIN)]
        edges.append(edge(f"j{k}.done.value", f"after{k}.i", EdgeKind.BREAK))
        defaults += values_for(f"j{k}", PORTS[starts:])
        for s in range(starts):
            name = f"s{k}x{s}"
            vertices.append(Vertex(name, WIDE))
            edges.append(edge(f"j{k}.ok.value", f"{name}.i01", EdgeKind.DO_WHILE))
            edges.append(edge(f"{name}.ok.value", f"j{k}.{PORTS[s]}"))
            defaults += values_for(name, PORTS[1:] if s == 0 else PORTS)
        edges.append(edge("begin.ok.value", f"s{k}x0.i00", EdgeKind.STATIC))
    flow = Document(tuple(vertices), tuple(edges), defaults=tuple(defaults), dialect=DIALECT)
    return flow, answer()


async def gain_of_close_and_advance(stage, flow, given):
    """Return the gain in MIST from closing and advancing the first run."""
    execution = await stage.begin(await stage.publish(flow), {"begin": {"e": 1}})
    await execution.take()
    event = execution.requests[Run("begin", ())]
    builder, workflow = TransactionBuilder(), execution.workflow
    add_outcome(builder, stage.deployment, event.invocation, stage.leader, given)
    add_advance(builder, stage.deployment, execution.id, workflow.id, event.invocation)
    await execution.send(builder)
    return execution.gained_mist[-1]


@pytest.mark.parametrize(
    "story",
    [
        *(wide_regions(count) for count in (1, 8, 16)),
        *(thin_regions(count) for count in (1, 8, 24)),
        *(fan(count) for count in (1, 8, 24)),
        *(ports(count) for count in (2, 16, 32)),
        *(loops(*item) for item in ((1, 5), (1, 20), (2, 10), (1, 24))),
    ],
)
async def test_leader_is_paid_approximately_the_cost_of_a_step(stage, story):
    gained_mist = await gain_of_close_and_advance(stage, *story)
    assert 0 < gained_mist < 10_000_000


@pytest.mark.parametrize("story", [wide_regions(30), fan(32), loops(1, 32), loops(4, 30)])
async def test_publisher_cannot_publish_a_step_above_the_gas_limit(stage, story):
    flow, _ = story
    with pytest.raises(ValidationError, match=r"has an effort of \d+, but the limit is 8000"):
        await stage.publish(flow)


@pytest.mark.long
@pytest.mark.parametrize("outcome", [answer(), Failure(FailureReason.UNREACHABLE, "")])
@pytest.mark.parametrize("count", [1, 4, 16, 32])
async def test_leader_that_does_not_advance_earns_less(stage, count, outcome):
    """With this many closings per transaction, the account that advances instead is paid for it."""
    flow = Document((Vertex("begin", SOURCE, entry_ports=("e",)),), (), dialect=DIALECT)
    workflow = await stage.publish(flow)
    gained_mist = {}
    for advances in (True, False):
        executions = [await stage.begin(workflow, {"begin": {"e": 1}}) for _ in range(count)]
        builder = TransactionBuilder()
        for entry in executions:
            await entry.take()
        invocations = [
            event.invocation for execution in executions for event in execution.requests.values()
        ]
        for invocation in invocations:
            add_outcome(builder, stage.deployment, invocation, stage.leader, outcome)
        if advances:
            for item, invocation in zip(executions, invocations, strict=True):
                add_advance(builder, stage.deployment, item.id, workflow.id, invocation)
        await executions[0].send(builder)
        gained_mist[advances] = executions[0].gained_mist[-1] / count
    assert gained_mist[True] > gained_mist[False]
