"""Remote values of on-chain tools: they pass through, and are fetched for off-chain tools."""

import pytest

from nexus_tools.registry import Executions
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Storage,
    Vertex,
    VertexKind,
)

pytestmark = pytest.mark.anyio


NUMBERS = {"type": "array", "items": {"type": "integer"}}


class Answer(Variant, name="ok"):
    result: int


class Listed(Variant, name="ok"):
    results: list[int]


@tool("xyz.example.kept.double@1")
async def double(a: int) -> Answer:
    """Doubles an integer."""
    return Answer(result=2 * a)


@tool("xyz.example.kept.total@1")
async def total(numbers: list[int]) -> Answer:
    """Adds a list of integers."""
    return Answer(result=sum(numbers))


@tool("xyz.example.kept.count@1")
async def count(to: int, first: int = 0) -> Listed:
    """Counts from a number to another one, which is left out."""
    return Listed(results=list(range(first, to)))


@pytest.fixture
async def leader(world, serve_tools, counter):
    url = await serve_tools(double, total, count)
    for function in (double, total, count):
        await world.register_tool(function.definition(f"{url}/{function.fqn}"))
    await world.register_tool(counter.definition("list_kept", total=NUMBERS))
    for function in ("one_kept", "add"):
        await world.register_tool(counter.definition(function))
    return await world.new_leader()


def on_chain(name, function, **fields):
    return Vertex(name, f"xyz.example.{function}@1", VertexKind.ON_CHAIN, **fields)


def off_chain(name, function, **fields):
    return Vertex(name, f"xyz.example.kept.{function}@1", **fields)


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


LIST = on_chain("list", "listkept", entry_ports=("n",))


def document(vertices, edges, defaults=()):
    return Document(tuple(vertices), tuple(edges), tuple(defaults), dialect=DIALECT)


async def run_to_end(world, leader, workflow_document, inputs, **config):
    """Return the status of an ended execution, its results and its failure reasons."""
    workflow = await world.publish(workflow_document)
    async with world.running(leader, **config):
        execution = await world.begin(workflow, inputs, max_price_mist=20_000_000)
        ended = await world.ended(execution)
    state = await Executions(world.client, world.deployment).state(execution)
    results = {str(result.source): result.value for result in state.results}
    return ended.status, results, [(failure.reason, failure.detail) for failure in state.failures]


async def test_list_of_keys_is_split_and_each_value_is_fetched(world, leader, blobs):
    blobs.values = {"0": b"5", "1": b" 6\n", "2": b"7"}
    workflow_document = document(
        [LIST, off_chain("each", "double"), off_chain("sum", "total")],
        [
            edge("list.ok.total", "each.a", EdgeKind.FOR_EACH),
            edge("each.ok.result", "sum.numbers", EdgeKind.COLLECT),
        ],
    )
    storages = {"walrus": blobs.url}
    actual = await run_to_end(
        world, leader, workflow_document, {"list": {"n": 3}}, storages=storages
    )
    assert actual == ("completed", {"sum.ok.result": 36}, [])


async def test_list_of_keys_is_one_value_for_a_tool_that_takes_a_list(world, leader, blobs):
    blobs.values = {"0": b"5", "1": b"6"}
    workflow_document = document(
        [LIST, off_chain("sum", "total")], [edge("list.ok.total", "sum.numbers")]
    )
    storages = {"walrus": blobs.url}
    actual = await run_to_end(
        world, leader, workflow_document, {"list": {"n": 2}}, storages=storages
    )
    assert actual == ("completed", {"sum.ok.result": 11}, [])


GATHERED = document(
    [
        off_chain("start", "count", entry_ports=("first", "to")),
        on_chain("each", "onekept"),
        off_chain("sum", "total"),
    ],
    [
        edge("start.ok.results", "each.n", EdgeKind.FOR_EACH),
        edge("each.ok.total", "sum.numbers", EdgeKind.COLLECT),
    ],
)


@pytest.mark.parametrize(("first", "to", "result"), [(7, 10, 33), (10, 12, 21)])
async def test_keys_from_iterations_are_gathered_as_a_list(world, leader, blobs, first, to, result):
    blobs.values = {"7": b"10", "8": b"11", "9": b"12"}
    inputs, storages = {"start": {"first": first, "to": to}}, {"walrus": blobs.url}
    actual = await run_to_end(world, leader, GATHERED, inputs, storages=storages)
    assert actual == ("completed", {"sum.ok.result": result}, [])


async def test_list_cannot_mix_keys_and_values(world, leader, blobs):
    inputs, storages = {"start": {"first": 9, "to": 11}}, {"walrus": blobs.url}
    status, _, failures = await run_to_end(world, leader, GATHERED, inputs, storages=storages)
    detail = (
        "the workflow cannot be executed: the elements of the list for sum.numbers must all be in"
        " one storage"
    )
    assert (status, failures) == ("terminated", [("input_invalid", detail)])


async def test_on_chain_tool_rejects_remote_values(world, leader, blobs):
    """A contract cannot rely on a value that only the leader has seen."""
    blobs.values = {"4": b"4"}
    workflow_document = document(
        [on_chain("one", "onekept", entry_ports=("n",)), on_chain("count", "add")],
        [edge("one.ok.total", "count.n")],
    )
    storages = {"walrus": blobs.url}
    status, _, failures = await run_to_end(
        world, leader, workflow_document, {"one": {"n": 4}}, storages=storages
    )
    detail = "the value of port n is in the storage walrus, not on chain"
    assert (status, failures) == ("terminated", [("input_invalid", detail)])


async def test_remote_result_shows_its_location(world, leader):
    workflow_document = document([LIST], [])
    assert await run_to_end(world, leader, workflow_document, {"list": {"n": 2}}) == (
        "completed",
        {"list.ok.total": [{"storage": "walrus", "key": key} for key in "01"]},
        [],
    )


async def test_remote_outcome_shows_its_location(world, leader, counter):
    kept = await world.tools.get("xyz.example.onekept@1")
    async with world.running(leader):
        [place] = await world.request(kept, {"n": 7})
        await world.closed(place)
        outcome = await world.invocations.outcome(place)
    assert outcome.ports == {"total": {"storage": "walrus", "key": "7"}}


@pytest.mark.parametrize(("data", "result"), [("all", 6), (["four", "five"], 9)])
async def test_default_value_may_be_remote(world, leader, blobs, data, result):
    blobs.values = {"all": b"[1, 2, 3]", "four": b"4", "five": b"5"}
    workflow_document = document(
        [off_chain("start", "count", entry_ports=("to",)), off_chain("sum", "total")],
        [edge("start.ok.results", "sum._after")],
        [Default(InputPort("sum", "numbers"), data, Storage.WALRUS)],
    )
    storages = {"walrus": blobs.url}
    actual = await run_to_end(
        world, leader, workflow_document, {"start": {"to": 1}}, storages=storages
    )
    assert actual == ("completed", {"sum.ok.result": result}, [])
    status, _, [(reason, detail)] = await run_to_end(
        world, leader, workflow_document, {"start": {"to": 1}}
    )
    assert (status, reason) == ("terminated", "input_invalid")
    assert detail.endswith(": this leader has no storage with this name")
