"""Executions of workflows on the localnet that a Leader runs from start to end."""

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


class Note(Variant, name="ok"):
    said: str


tool_calls = []


@tool("xyz.example.flow.add@1")
async def add(a: int, b: int = 1) -> Number | Enough:
    """Adds two integers; 10 is enough."""
    tool_calls.append(("add", a, b))
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
    tool_calls.append(("total", *numbers))
    return Sum(result=sum(numbers))


@tool("xyz.example.flow.note@1")
async def note(reason: str) -> Note:
    """Takes note of something."""
    tool_calls.append(("note", reason))
    return Note(said=reason)


@pytest.fixture
async def leader(world, serve_tools):
    """Return a leader after serving the tools of the workflows."""
    tool_calls.clear()
    url = await serve_tools(add, count, total, note)
    for function in (add, count, total, note):
        await world.register_tool(function.definition(f"{url}/{function.fqn}"))
    return await world.new_leader()


def vertex(name, kind="add", **fields):
    return Vertex(name, f"xyz.example.flow.{kind}@1", **fields)


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


def document(vertices, edges, *defaults, **fields):
    default_values = tuple(Default(InputPort(*port.split(".")), value) for port, value in defaults)
    return Document(tuple(vertices), tuple(edges), default_values, dialect=DIALECT, **fields)


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


async def run_to_end(world, leader, workflow_document, inputs, **terms):
    """Return the status of an execution that a running leader has finished."""
    workflow = await world.publish(workflow_document)
    async with world.running(leader):
        return await world.ended(await world.begin(workflow, inputs, **terms))


# --- Edges


async def test_sequence_needs_one_transaction_per_closing(world, leader):
    workflow = await world.publish(CHAIN)
    async with world.running(leader) as running:
        ended = await world.ended(await world.begin(workflow, {"one": {"a": 1}}))
        sample = running.metrics.registry.get_sample_value
        # The first runs have their own transaction; the next ones follow in those of closings.
        assert sample("nexus_leader_step_transactions_total") == 1
        assert sample("nexus_leader_closing_size_count") == 3
    assert (ended.status, ended.steps) == ("completed", 3)
    assert tool_calls == [("add", 1, 1), ("add", 2, 1), ("add", 3, 1)]


async def test_executions_and_steps_are_counted_and_logged(world, leader, logged):
    workflow = await world.publish(CHAIN)
    async with world.running(leader) as running:
        first, second = [await world.begin(workflow, {"one": {"a": 1}}) for _ in range(2)]
        await asyncio.gather(world.ended(first), world.ended(second))
        # When a third execution has ended, it has seen the events of these.
        await world.ended(await world.begin(workflow, {"one": {"a": 1}}))
        sample = running.metrics.registry.get_sample_value
        assert sample("nexus_leader_executions_ended_total", {"status": "completed"}) >= 2
        assert sample("nexus_leader_steps_total", {"step": "advanced"}) >= 6
        assert sample("nexus_leader_executions") <= 1
    ended_executions = [line["execution"] for line in logged if line["event"] == "execution_ended"]
    assert {str(first), str(second)} <= set(ended_executions)


async def test_branch_follows_the_variant(world, leader):
    workflow_document = document(
        (vertex("one", entry_ports=("a",)), vertex("less"), vertex("more")),
        (edge("one.ok.result", "less.a"), edge("one.enough.result", "more.a")),
        ("more.b", 100),
    )
    ended = await run_to_end(world, leader, workflow_document, {"one": {"a": 9}})
    assert (ended.status, ended.steps) == ("completed", 2)
    assert tool_calls == [("add", 9, 1), ("add", 10, 100)]


async def test_join_waits_for_both_inputs(world, leader):
    workflow_document = document(
        (vertex("one", entry_ports=("a",)), vertex("two", entry_ports=("a",)), vertex("both")),
        (edge("one.ok.result", "both.a"), edge("two.ok.result", "both.b")),
    )
    ended = await run_to_end(world, leader, workflow_document, {"one": {"a": 1}, "two": {"a": 3}})
    assert (ended.status, ended.steps) == ("completed", 3)
    assert tool_calls[2] == ("add", 2, 4)


async def test_two_executions_run_concurrently(world, leader):
    workflow = await world.publish(CHAIN)
    async with world.running(leader):
        begun = [await world.begin(workflow, {"one": {"a": n}}) for n in range(4)]
        ended = [await world.ended(execution) for execution in begun]
    assert [execution.status for execution in ended] == ["completed"] * 4
    assert Counter(a for _, a, _ in tool_calls) == {0: 1, 1: 2, 2: 3, 3: 3, 4: 2, 5: 1}


async def test_tool_receives_the_name_of_its_run(world, serve_app):
    run_names = []

    async def app(scope, _receive, send):
        if scope["type"] == "http":
            run_names.append(dict(scope["headers"])[protocol.RUN_HEADER.lower().encode()].decode())
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b'{"ok": {"results": [5]}}'})

    url = await serve_app(app)
    await world.register_tool(count.definition(url))
    workflow_document = document(
        (vertex("start", "count", entry_ports=("to",)), vertex("each", "count")),
        (edge("start.ok.results", "each.to", EdgeKind.FOR_EACH),),
    )
    leader, workflow = await world.new_leader(), await world.publish(workflow_document)
    async with world.running(leader, check_meta=False):
        execution = await world.begin(workflow, {"start": {"to": 1}})
        await world.ended(execution)
    assert run_names == [f"{execution}/start//1", f"{execution}/each/0/1"]


# --- Failures


FAILING = (vertex("one", entry_ports=("a",)), vertex("other", entry_ports=("a",)), vertex("then"))
FAILED_INPUTS = {"one": {"a": "no number"}, "other": {"a": 1}}


async def test_unhandled_failure_terminates_the_execution(world, leader):
    workflow_document = document(FAILING, (edge("one.ok.result", "then.a"),))
    ended = await run_to_end(world, leader, workflow_document, FAILED_INPUTS)
    assert ended.status == "terminated"


async def test_failure_with_continue_ends_only_its_path(world, leader):
    edges = (edge("other.ok.result", "then.a"),)
    workflow_document = document(FAILING, edges, post_failure_action=PostFailureAction.CONTINUE)
    ended = await run_to_end(world, leader, workflow_document, FAILED_INPUTS)
    assert (ended.status, ended.steps) == ("completed_with_failures", 3)


async def test_edge_receives_the_failure_reason(world, leader):
    workflow_document = document(
        (vertex("one", entry_ports=("a",)), vertex("told", "note")),
        (edge("one._err_eval.reason", "told.reason"),),
    )
    ended = await run_to_end(world, leader, workflow_document, {"one": {"a": "no number"}})
    assert (ended.status, ended.steps) == ("completed", 2)
    assert tool_calls == [("note", "input_invalid")]


async def test_failed_run_is_retried_after_a_delay(world, leader):
    retried = vertex("one", entry_ports=("a",), attempts=3, retry_after_ms=1_000)
    workflow = await world.publish(document((retried,), ()))
    async with world.running(leader):
        ended = await world.ended(await world.begin(workflow, {"one": {"a": "no number"}}))
    assert (ended.status, ended.steps) == ("terminated", 3)


# --- Lists and loops


@pytest.mark.parametrize("length", [0, 1, 8])
async def test_list_is_split_and_gathered_in_order(world, leader, length):
    ended = await run_to_end(world, leader, LISTS, {"start": {"to": length}})
    assert (ended.status, ended.steps) == ("completed", length + 2)
    assert tool_calls[-1] == ("total", *range(1, length + 1))


async def test_nested_lists_are_gathered_from_the_inside(world, leader):
    workflow_document = document(
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
    ended = await run_to_end(world, leader, workflow_document, {"start": {"to": 4}})
    # Rows of 0, 1, 2 and 3 cells.
    assert (ended.status, ended.steps) == ("completed", 1 + 4 + 6 + 4 + 1)
    assert tool_calls[-1] == ("total", 0, 1, 3, 6)


async def test_loop_continues_until_it_breaks(world, leader):
    workflow_document = document(
        (vertex("start", entry_ports=("a",)), vertex("again"), vertex("after")),
        (
            edge("start.ok.result", "again.a"),
            edge("again.ok.result", "again.a", EdgeKind.DO_WHILE),
            edge("again.enough.result", "after.a", EdgeKind.BREAK),
        ),
        ("again.b", 3),
    )
    ended = await run_to_end(world, leader, workflow_document, {"start": {"a": 0}})
    assert (ended.status, ended.steps) == ("completed", 5)
    assert [a for _, a, _ in tool_calls] == [0, 1, 4, 7, 10]
