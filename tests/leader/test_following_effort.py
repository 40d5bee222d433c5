"""Outcomes whose next steps are expensive: other executions do not pay for their gas."""

import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.attempt import Attempt
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.workflow_cache import CachedWorkflow
from nexus_tools.leader.closing.closing_batch import Closing
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.closing.continuation import Continuation, Extent, following_effort
from nexus_tools.registry import PublishedWorkflow, StepCommands
from nexus_tools.registry.workflows.plan_gas import PlanSizes
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import OwnedObject, SharedObject
from nexus_tools.tool import Answer, ToolFqn
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    RunSettled,
    Vertex,
    create_plan,
)

pytestmark = pytest.mark.anyio

SOURCE, JOIN, WIDE = (f"xyz.example.effort.{name}@1" for name in ("source", "join", "wide"))
PORTS = [f"i{number:02}" for number in range(32)]
DAG, PACKAGE = Address.of(8), Address.of(0x10)
NO_SIZES = PlanSizes(0, (), ())
DEPLOYMENT = Deployment(PACKAGE, PACKAGE, *map(Address.of, (0x13, 0x14, 0x15)), "chain")


def edge(origin, target, kind=EdgeKind.NORMAL):
    name, variant, port = origin.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


SINGLE = Document((Vertex("one", SOURCE, entry_ports=("n",)),), (), dialect=DIALECT)


def loop_document(starts):
    """Return a document in which one edge opens a loop with many start vertices and many ports."""
    vertices = [Vertex("begin", SOURCE, entry_ports=("n",)), Vertex("join", JOIN)]
    vertices += [Vertex(f"s{number}", WIDE) for number in range(starts)]
    edges = [edge("begin.ok.value", f"s0.{PORTS[0]}", EdgeKind.STATIC)]
    defaults = [Default(InputPort("join", port), 1) for port in PORTS[starts:]]
    for number, start in enumerate(vertices[2:]):
        edges.append(edge("join.ok.value", f"{start.name}.{PORTS[1]}", EdgeKind.DO_WHILE))
        edges.append(edge(f"{start.name}.ok.value", f"join.{PORTS[number]}"))
        ports = PORTS[1:] if number == 0 else PORTS
        defaults += [Default(InputPort(start.name, port), 1) for port in ports]
    vertices.append(Vertex("after", WIDE))
    edges.append(edge("join.done.value", f"after.{PORTS[0]}", EdgeKind.BREAK))
    defaults += [Default(InputPort("after", port), 1) for port in PORTS[1:]]
    return Document(tuple(vertices), tuple(edges), defaults=tuple(defaults), dialect=DIALECT)


def closing_of(number, document):
    """Return a closing with an answer to the first run of a separate execution."""
    plan, fqn = create_plan(document), ToolFqn.parse("xyz.example.effort@1")
    published = PublishedWorkflow(DAG, fqn, Address.of(9), "", document, plan, (), NO_SIZES)
    reference = ObjectReference(DAG, 1, Digest(bytes(32)))
    commands = StepCommands(DEPLOYMENT, DAG, plan)
    workflow = CachedWorkflow(published, OwnedObject(reference), commands)
    execution = Address.of(1_000 + number)
    continuation = Continuation(
        workflow,
        SharedObject(execution, 1, mutable=True),
        Attempt(execution, Run(0, ()), 1, 0, 0),
        RunSettled("ok", {"value": None}),
    )
    assignment = Assignment(
        Address.of(number), Address.of(1), SOURCE, 0, 0, 1_000, 2_000, 500, 1_000
    )
    answer, invocation = (
        Answer("ok", {"value": 1}),
        SharedObject(Address.of(number), 1, mutable=True),
    )
    return Closing(
        assignment, answer, 10, 10, invocation, continuation=continuation, execution=execution
    )


async def batches(config, closings):
    """Return the sizes of the batches in which closings are sent."""
    queue, sizes = ClosingQueue(config), []
    for closing in closings:
        queue.put(closing)
    while len(queue):
        batch = await queue.take(32)
        sizes.append([int.from_bytes(one.assignment.invocation, "big") for one in batch])
    return sizes


async def test_outcome_that_opens_a_large_loop_gets_its_own_transaction(config):
    documents = [SINGLE, SINGLE, loop_document(16), SINGLE, SINGLE]
    closings = [closing_of(number, document) for number, document in enumerate(documents)]
    assert await batches(config, closings) == [[0, 1], [2], [3, 4]]


async def test_outcome_without_advance_shares_a_transaction(config):
    closings = [
        closing_of(number, document) for number, document in enumerate([SINGLE, loop_document(16)])
    ]
    closings[1].continuation.extent = Extent.NOTHING
    assert await batches(config, closings) == [[0, 1]]


async def test_outcomes_that_open_small_loops_share_transactions_up_to_a_limit(config):
    # Each has an effort of 75 + 2 * (62 + 20 + 7 * 32) = 687; the limit is 4 096, so 5 fit.
    closings = [closing_of(number, loop_document(2)) for number in range(7)]
    assert await batches(config, closings) == [[0, 1, 2, 3, 4], [5, 6]]


def test_effort_grows_with_the_start_vertices_of_a_block():
    few, many = create_plan(loop_document(2)), create_plan(loop_document(16))
    edges = few.vertices["begin"].variants["ok"]
    # An edge costs 75, each start of the loop 62 + 20, and each of its 32 ports 7.
    assert following_effort(few, edges) == 75 + 2 * (62 + 20 + 7 * 32)
    edges = many.vertices["begin"].variants["ok"]
    assert following_effort(many, edges) == 75 + 16 * (62 + 20 + 7 * 32)


PAIR = Document(
    (Vertex("begin", SOURCE, entry_ports=("n",)), Vertex("two", SOURCE)),
    (edge("begin.ok.value", "two.n"),),
    dialect=DIALECT,
)


async def test_transaction_leaves_capacity_for_the_following_runs(config):
    """A transaction follows 20 edges and requests 20 runs at most: two for each of ten outcomes."""
    closings = [closing_of(number, PAIR) for number in range(12)]
    assert await batches(config, closings) == [[*range(10)], [10, 11]]


def test_effort_of_edges_without_blocks_is_small():
    plan = create_plan(PAIR)
    assert following_effort(plan, plan.vertices["begin"].variants["ok"]) == 75 + 20 + 7
