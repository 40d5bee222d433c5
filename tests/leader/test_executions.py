"""Executions of workflows, carried by a Leader on the localnet from beginning to end."""

import asyncio
from collections import Counter

import pytest

from nexus_tools.tool import protocol
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    PostFailureAction,
    Vertex,
)

pytestmark = pytest.mark.anyio

NUMBERS, TEXTS = "xyz.example.flow.numbers@1", "xyz.example.flow.texts@1"


class Number(Variant, name="ok"):
    result: int


class Enough(Variant, name="enough"):
    result: int


class Many(Variant, name="ok"):
    results: list[int]


class Sum(Variant, name="ok"):
    result: int


class Told(Variant, name="ok"):
    said: str


asked = []


@tool("xyz.example.flow.add@1")
async def add(a: int, b: int = 1) -> Number | Enough:
    """Adds two integers; 10 is enough."""
    asked.append(("add", a, b))
    if a < 0:
        raise RuntimeError("negative")
    return Number(result=a + b) if a + b < 10 else Enough(result=a + b)


@tool("xyz.example.flow.count@1")
async def count(to: int) -> Many:
    """Counts from 0 to a number, which is left out."""
    return Many(results=list(range(to)))


@tool("xyz.example.flow.total@1")
async def total(numbers: list[int]) -> Sum:
    """Adds a list of integers."""
    asked.append(("total", *numbers))
    return Sum(result=sum(numbers))


@tool("xyz.example.flow.note@1")
async def note(reason: str) -> Told:
    """Takes note of something."""
    asked.append(("note", reason))
    return Told(said=reason)


@pytest.fixture
async def leader(world, serve_tools):
    """A leader, and the tools of the workflows."""
    asked.clear()
    url = await serve_tools(add, count, total, note)
    for each in (add, count, total, note):
        await world.register_tool(each.definition(f"{url}/{each.fqn}"))
    return await world.new_leader()


def vertex(name, kind="add", **fields):
    return Vertex(name, f"xyz.example.flow.{kind}@1", **fields)


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


def document(vertices, edges, *defaults, **fields):
    made = tuple(Default(InputPort(*port.split(".")), value) for port, value in defaults)
    return Document(tuple(vertices), tuple(edges), made, dialect=DIALECT, **fields)


CHAIN = document(
    (vertex("one", entry_ports=("a",)), vertex("two"), vertex("three")),
    (edge("one.ok.result", "two.a"), edge("two.ok.result", "three.a")),
)
LISTS = document(
    (
        vertex("start", "count", entry_ports=("to",)),
        vertex("each", parallel=3),
        vertex("sum", "total"),
    ),
    (
        edge("start.ok.results", "each.a", EdgeKind.FOR_EACH),
        edge("each.ok.result", "sum.numbers", EdgeKind.COLLECT),
    ),
)


async def carried(world, leader, wanted, inputs, **terms):
    """How an execution ended that a running leader carries."""
    workflow = await world.publish(wanted)
    async with world.running(leader):
        return await world.ended(await world.begin(workflow, inputs, **terms))


# --- Normal edges


async def test_a_chain_is_carried_with_one_transaction_for_each_closing(world, leader):
    workflow = await world.publish(CHAIN)
    async with world.running(leader) as running:
        ended = await world.ended(await world.begin(workflow, {"one": {"a": 1}}))
        sample = running.metrics.registry.get_sample_value
        # What begins is requested by a transaction of its own; what follows, with the closings.
        assert sample("nexus_leader_step_transactions_total") == 1
        assert sample("nexus_leader_closing_size_count") == 3
    assert (ended.status, ended.steps) == ("completed", 3)
    assert asked == [("add", 1, 1), ("add", 2, 1), ("add", 3, 1)]


async def test_executions_and_their_steps_are_counted_and_told(world, leader, logged):
    workflow = await world.publish(CHAIN)
    async with world.running(leader) as running:
        first, second = [await world.begin(workflow, {"one": {"a": 1}}) for _ in range(2)]
        await asyncio.gather(world.ended(first), world.ended(second))
        # Of these it has heard when a third one has been carried.
        await world.ended(await world.begin(workflow, {"one": {"a": 1}}))
        sample = running.metrics.registry.get_sample_value
        assert sample("nexus_leader_executions_ended_total", {"status": "completed"}) >= 2
        assert sample("nexus_leader_steps_total", {"step": "advanced"}) >= 6
        assert sample("nexus_leader_executions") <= 1
    told = [line["execution"] for line in logged if line["event"] == "execution_ended"]
    assert {str(first), str(second)} <= set(told)


async def test_a_branch_is_followed_where_the_variant_leads(world, leader):
    wanted = document(
        (vertex("one", entry_ports=("a",)), vertex("less"), vertex("more")),
        (edge("one.ok.result", "less.a"), edge("one.enough.result", "more.a")),
        ("more.b", 100),
    )
    ended = await carried(world, leader, wanted, {"one": {"a": 9}})
    assert (ended.status, ended.steps) == ("completed", 2)
    assert asked == [("add", 9, 1), ("add", 10, 100)]


async def test_a_join_waits_for_both(world, leader):
    wanted = document(
        (vertex("one", entry_ports=("a",)), vertex("two", entry_ports=("a",)), vertex("both")),
        (edge("one.ok.result", "both.a"), edge("two.ok.result", "both.b")),
    )
    ended = await carried(world, leader, wanted, {"one": {"a": 1}, "two": {"a": 3}})
    assert (ended.status, ended.steps) == ("completed", 3)
    assert asked[2] == ("add", 2, 4)


async def test_two_executions_at_once_are_carried_side_by_side(world, leader):
    workflow = await world.publish(CHAIN)
    async with world.running(leader):
        begun = [await world.begin(workflow, {"one": {"a": n}}) for n in range(4)]
        ended = [await world.ended(each) for each in begun]
    assert [each.status for each in ended] == ["completed"] * 4
    assert Counter(a for _, a, _ in asked) == {0: 1, 1: 2, 2: 3, 3: 3, 4: 2, 5: 1}


async def test_a_tool_is_told_which_run_of_which_execution_it_serves(world, serve_app):
    found = []

    async def app(scope, _receive, send):
        if scope["type"] == "http":
            found.append(dict(scope["headers"])[protocol.RUN_HEADER.lower().encode()].decode())
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b'{"ok": {"results": [5]}}'})

    url = await serve_app(app)
    await world.register_tool(count.definition(url))
    wanted = document(
        (vertex("start", "count", entry_ports=("to",)), vertex("each", "count")),
        (edge("start.ok.results", "each.to", EdgeKind.FOR_EACH),),
    )
    leader, workflow = await world.new_leader(), await world.publish(wanted)
    async with world.running(leader, check_meta=False):
        execution = await world.begin(workflow, {"start": {"to": 1}})
        await world.ended(execution)
    assert found == [f"{execution}/start//1", f"{execution}/each/0/1"]


# --- Failures


FAILING = (vertex("one", entry_ports=("a",)), vertex("other", entry_ports=("a",)), vertex("then"))
FAILED_INPUTS = {"one": {"a": "no number"}, "other": {"a": 1}}


async def test_a_failure_that_no_edge_handles_terminates_the_execution(world, leader):
    wanted = document(FAILING, (edge("one.ok.result", "then.a"),))
    ended = await carried(world, leader, wanted, FAILED_INPUTS)
    assert ended.status == "terminated"


async def test_a_failure_with_continue_ends_its_walk_alone(world, leader):
    edges = (edge("other.ok.result", "then.a"),)
    wanted = document(FAILING, edges, post_failure_action=PostFailureAction.CONTINUE)
    ended = await carried(world, leader, wanted, FAILED_INPUTS)
    assert (ended.status, ended.steps) == ("completed_with_failures", 3)


async def test_an_edge_takes_why_a_run_failed(world, leader):
    wanted = document(
        (vertex("one", entry_ports=("a",)), vertex("told", "note")),
        (edge("one._err_eval.reason", "told.reason"),),
    )
    ended = await carried(world, leader, wanted, {"one": {"a": "no number"}})
    assert (ended.status, ended.steps) == ("completed", 2)
    assert asked == [("note", "input_invalid")]


async def test_a_run_is_tried_again_after_a_while(world, leader):
    retried = vertex("one", entry_ports=("a",), attempts=3, retry_after_ms=1_000)
    workflow = await world.publish(document((retried,), ()))
    async with world.running(leader):
        ended = await world.ended(await world.begin(workflow, {"one": {"a": "no number"}}))
    assert (ended.status, ended.steps) == ("terminated", 3)


# --- Lists and loops


@pytest.mark.parametrize("length", [0, 1, 8])
async def test_a_list_is_split_and_gathered_in_order(world, leader, length):
    ended = await carried(world, leader, LISTS, {"start": {"to": length}})
    assert (ended.status, ended.steps) == ("completed", length + 2)
    assert asked[-1] == ("total", *range(1, length + 1))


async def test_lists_in_lists_are_gathered_inside_out(world, leader):
    wanted = document(
        (
            vertex("start", "count", entry_ports=("to",)),
            vertex("row", "count"),
            vertex("cell"),
            vertex("sum", "total"),
            vertex("all", "total"),
        ),
        (
            edge("start.ok.results", "row.to", EdgeKind.FOR_EACH),
            edge("row.ok.results", "cell.a", EdgeKind.FOR_EACH),
            edge("cell.ok.result", "sum.numbers", EdgeKind.COLLECT),
            edge("sum.ok.result", "all.numbers", EdgeKind.COLLECT),
        ),
    )
    ended = await carried(world, leader, wanted, {"start": {"to": 4}})
    # Rows of 0, 1, 2 and 3 cells.
    assert (ended.status, ended.steps) == ("completed", 1 + 4 + 6 + 4 + 1)
    assert asked[-1] == ("total", 0, 1, 3, 6)


async def test_a_loop_goes_on_until_it_breaks(world, leader):
    wanted = document(
        (vertex("start", entry_ports=("a",)), vertex("again"), vertex("after")),
        (
            edge("start.ok.result", "again.a"),
            edge("again.ok.result", "again.a", EdgeKind.DO_WHILE),
            edge("again.enough.result", "after.a", EdgeKind.BREAK),
        ),
        ("again.b", 3),
    )
    ended = await carried(world, leader, wanted, {"start": {"a": 0}})
    assert (ended.status, ended.steps) == ("completed", 5)
    assert [a for _, a, _ in asked] == [0, 1, 4, 7, 10]
