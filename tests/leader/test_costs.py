"""Executions that try to cost their leader more than they pay do not benefit their owner."""

import asyncio
from functools import partial

import pytest

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationFailed,
    InvocationRequested,
)
from nexus_tools.registry import Executions
from nexus_tools.sui.client import Cursor, EventRecord, follow_events
from nexus_tools.tool_server import ToolServer, Variant, serving, tool
from nexus_tools.workflow import (
    DIALECT,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Vertex,
)

pytestmark = pytest.mark.anyio

SOURCE, WRITER, READER, SMALL = (
    f"xyz.example.costs.{name}@1" for name in ("source", "writer", "reader", "small")
)
# The executions of an owner may owe 2 000 gas units of 1 000 MIST on a localnet.
MOST_MIST = 2_000_000
TIMEOUT_S = 60

read = []


class Text(Variant, name="ok"):
    text: str


class Source(Variant, name="ok"):
    text: str
    numbers: list[int]


@tool(SOURCE)
async def source(size: int, count: int) -> Source:
    """Writes a text and a list."""
    return Source(text="a" * size, numbers=list(range(count)))


@tool(WRITER)
async def writer(number: int) -> Text:
    """Writes a text."""
    return Text(text=str(number) * 8_000)


@tool(READER)
async def reader(
    a: str = "",
    b: str = "",
    c: str = "",
    d: str = "",
    e: str = "",
    f: str = "",
    g: str = "",
    h: str = "",
    i: list[str] = [],  # noqa: B006 - never changed
    j: list[str] = [],  # noqa: B006 - as above
    k: list[str] = [],  # noqa: B006 - as above
    l: list[str] = [],  # noqa: B006, E741 - as above
) -> Text:
    """Reads texts."""
    read.append(len(a))
    return Text(text="")


@tool(SMALL)
async def small(number: int) -> Text:
    """Writes next to nothing."""
    return Text(text=str(number))


def edge(origin, target, kind=EdgeKind.NORMAL):
    name, variant, port = origin.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


FIRST = Vertex("source", SOURCE, entry_ports=("size", "count"))


def one_to_many(ports):
    """Return edges from one output to many ports of another tool."""
    edges = tuple(edge("source.ok.text", f"reader.{port}") for port in ports)
    return Document((FIRST, Vertex("reader", READER)), edges, dialect=DIALECT)


def lists_to_many(ports):
    """Return edges from the outputs of iterations to many ports, as lists."""
    edges = (
        edge("source.ok.numbers", "writer.number", EdgeKind.FOR_EACH),
        *(edge("writer.ok.text", f"reader.{port}", EdgeKind.COLLECT) for port in ports),
    )
    vertices = (FIRST, Vertex("writer", WRITER), Vertex("reader", READER))
    return Document(vertices, edges, dialect=DIALECT)


def many_regions(regions):
    """Return edges from one list that start many regions."""
    vertices = tuple(Vertex(f"small{number}", SMALL) for number in range(regions))
    edges = tuple(
        edge("source.ok.numbers", f"{vertex.name}.number", EdgeKind.FOR_EACH) for vertex in vertices
    )
    return Document((FIRST, *vertices), edges, dialect=DIALECT)


@pytest.fixture
async def signing_leader(signing):
    """Return a leader that signs its calls, its key file, and tools that sign their answers."""
    read.clear()
    async with signing.serving(source, writer, reader):
        yield signing.leader, signing.key_file


async def money(world, key):
    return await world.client.balance(key.address)


async def leader_gain_mist(world, leader, document, values, *, until, signing_key=None, **terms):
    """Run an execution as far as possible, and return the leader's gain in MIST."""
    workflow = await world.publish(document)
    terms = {"funds_mist": 10**10, "max_outcome_bytes": 65_000, **terms}
    async with world.running(leader, signing_key=signing_key):
        before = await money(world, leader.key)
        execution = await world.begin(workflow, {"source": values}, **terms)
        await until(execution)
    return await money(world, leader.key) - before


async def first_closing(world, execution, kind):
    """Return the first event of a kind about an invocation of an execution."""
    mine = set()
    kinds = event_filter(world.deployment, InvocationRequested, kind)
    async with asyncio.timeout(TIMEOUT_S):
        async for item in follow_events(world.client, kinds, Cursor.beginning()):
            if not isinstance(item, EventRecord):
                continue
            event = parse_event(world.deployment, item.event)
            if isinstance(event, kind) and event.invocation in mine:
                return event
            attempt = getattr(event, "attempt", None)
            if attempt is not None and attempt.execution == execution:
                mine.add(event.invocation)
    raise AssertionError("events end")


async def wait_for_failure(world, execution):
    """Wait for the first failure of an execution, whose inputs exceed a leader's limit."""
    assert (await first_closing(world, execution, InvocationFailed)).reason == "input_invalid"


@pytest.mark.parametrize(
    ("document", "values"),
    [
        (one_to_many("abcdefgh"), {"size": 60_000, "count": 0}),
        (one_to_many("abcd"), {"size": 60_000, "count": 0}),
        (lists_to_many("ijkl"), {"size": 0, "count": 8}),
    ],
    ids=["eight ports", "four ports", "lists"],
)
async def test_leader_declines_costly_inputs_before_the_call(
    world, signing_leader, document, values
):
    leader, key = signing_leader
    gain_mist = await leader_gain_mist(
        *(world, leader, document, values),
        until=partial(wait_for_failure, world),
        signing_key=key,
    )
    assert gain_mist >= -MOST_MIST
    assert read == []


async def test_usual_inputs_are_read_and_paid(world, signing_leader):
    leader, key = signing_leader
    gain_mist = await leader_gain_mist(
        *(world, leader, one_to_many("abcdefgh"), {"size": 100, "count": 0}),
        until=world.ended,
        signing_key=key,
    )
    assert gain_mist > 0
    assert read == [100]


async def test_leader_earns_by_opening_many_regions(world):
    leader = await world.new_leader()
    async with serving(ToolServer([source, small])) as url:
        for definition in (source, small):
            await world.register_tool(definition.definition(f"{url}/{definition.fqn}"))
        gain_mist = await leader_gain_mist(
            *(world, leader, many_regions(16), {"size": 0, "count": 2}),
            until=world.ended,
            max_steps=1,
        )
    assert gain_mist > 0


async def test_large_last_answer_costs_at_most_the_credit(world):
    leader = await world.new_leader()
    async with serving(ToolServer([source])) as url:
        await world.register_tool(source.definition(f"{url}/{SOURCE}"))
        alone = Document((FIRST,), (), dialect=DIALECT)
        gain_mist = await leader_gain_mist(
            *(world, leader, alone, {"size": 60_000, "count": 0}), until=world.ended
        )
    assert gain_mist >= -MOST_MIST


async def test_untrusted_party_spends_more_than_the_leader_loses(world, signing_leader):
    """Three executions of the worst kind; deleting them refunds their storage deposits."""
    leader, key = signing_leader
    workflow = await world.publish(one_to_many("abcdefgh"))
    terms = {"funds_mist": 10**10, "max_outcome_bytes": 65_000, "duration_ms": 600_000}
    values = {"source": {"size": 60_000, "count": 0}}
    executions = Executions(world.client, world.deployment)
    async with world.running(leader, signing_key=key):
        mine, theirs = await money(world, world.key), await money(world, leader.key)
        for _ in range(3):
            execution = await world.begin(workflow, values, **terms)
            await wait_for_failure(world, execution)
            await world.ended(execution)
            await executions.clean(execution)
    spent, lost = mine - await money(world, world.key), theirs - await money(world, leader.key)
    assert lost < spent
    assert read == []
