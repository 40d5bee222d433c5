"""The earnings of a leader at low and high gas prices, by the older and the newer gas rules."""

import pytest

from nexus_tools.registry import Executions
from nexus_tools.tool import Failure, FailureReason, ToolDefinition, outcome_bytes
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    DIALECT,
    Default,
    Document,
    EdgeKind,
    EntryGroup,
    InputPort,
    Vertex,
)
from tests.economics.gas_bounds import PROTOCOLS
from tests.economics.priced_network import PricedNetworks
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

FAILURE = Failure(FailureReason.UNREACHABLE, "x" * 200)
LARGE, FAT, BRANCHING = (
    f"xyz.example.economy.{name}@1" for name in ("large", "elaborate", "branching")
)
LONG_PORTS = [f"i{number:02}".ljust(32, "x") for number in range(32)]


@pytest.fixture(params=PROTOCOLS)
def protocol(request):
    return request.param


@pytest.fixture(scope="session")
def networks():
    with PricedNetworks() as networks:
        yield networks


@pytest.fixture
async def begun(networks, protocol, request):
    """Return a function that starts a document and requests its first run; the tools sign."""
    async with networks.of(protocol, request.param).stage() as stage:
        await stage.register_tool(definition(SOURCE, ["e"]), signs=True)
        await stage.register_tool(definition(WIDE, PORTS), signs=True)
        await stage.register_tool(definition(THIN, ["i"]), signs=True)

        async def begun(flow, **terms):
            execution = await stage.begin(await stage.publish(flow), {"begin": {"e": 1}}, **terms)
            await execution.take()
            return execution

        begun.stage = stage
        yield begun


def priced(*prices):
    return pytest.mark.parametrize("begun", prices, indirect=True)


def wired_value(ports, *more):
    """Return a value that goes to ports of another vertex, whose other ports have defaults."""
    edges = [edge("begin.ok.value", f"wide.{port}") for port in PORTS[:ports]]
    vertices = [Vertex("wide", WIDE), *(Vertex("thin", THIN) for _ in more)]
    return document(vertices, [*edges, *more], values_for("wide", PORTS[ports:]))


# --- Failing


@pytest.mark.long
@priced(500, 1_000, 5_000)
async def test_leader_does_not_lose_by_failing_attempts(begun):
    for attempts in (1, 2):
        vertex = Vertex("begin", SOURCE, entry_ports=("e",), attempts=attempts)
        execution = await begun(Document((vertex,), (), dialect=DIALECT))
        for _ in range(attempts):
            await execution.close("begin", FAILURE)
            assert execution.gained_mist[-1] > 0


@pytest.mark.long
@priced(500, 1_000, 5_000)
async def test_leader_does_not_lose_by_failing_vertices_with_many_ports(begun):
    kept = edge("wide._err_eval.detail", "thin.i")
    for ports, more in ((31, ()), (32, ()), (1, (kept,)), (32, (kept,))):
        execution = await begun(wired_value(ports, *more))
        await execution.close("begin", answer(), signed=True)
        await execution.close("wide", FAILURE)
        assert execution.gained_mist[-1] > 0


@pytest.mark.long
@priced(500, 1_000, 5_000)
async def test_leader_does_not_lose_by_failing_a_vertex_with_many_lists(begun):
    lists = [edge("each.ok.value", f"wide.{port}", EdgeKind.COLLECT) for port in PORTS[:20]]
    execution = await begun(
        document(
            [Vertex("each", THIN), Vertex("wide", WIDE)],
            [edge("begin.ok.list", "each.i", EdgeKind.FOR_EACH), *lists],
            values_for("wide", PORTS[20:]),
        )
    )
    await execution.close("begin", answer(length=1), signed=True)
    [run] = execution.requests
    await execution.close("each", answer(), path=run.path, signed=True)
    await execution.close("wide", FAILURE)
    assert execution.gained_mist[-1] > 0


# --- Cancelling


@priced(1_000, 5_000)
async def test_leader_earns_by_the_largest_answer_after_a_cancellation(begun):
    """The invocation holds the cost of rewriting its largest answer."""
    stage, largest = begun.stage, answer("x" * 65_000)
    plain = await stage.register_tool(definition("xyz.example.economy.plain@1", ["e"]))
    for fqn in (plain.fqn, SOURCE):
        flow = Document((Vertex("begin", fqn, entry_ports=("e",)),), (), dialect=DIALECT)
        execution = await begun(flow, max_outcome_bytes=outcome_bytes(largest))
        await Executions(stage.owner, stage.deployment).cancel(execution.id)
        await execution.close("begin", largest, signed=fqn == SOURCE)
        assert execution.ended.status == "cancelled"
        assert execution.gained_mist[-1] > 1_000_000


# --- Reading the workflow and its tools


def branching_tool(fqn, inputs, text=""):
    """Return a tool with these inputs and several variants, whose schemas contain a long string."""
    value = {"type": "object", "properties": {"value": {}}}
    variants = [
        {"type": "object", "properties": {name: value}, "required": [name]}
        for name in ("ok", "no0", "no1")
    ]
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com/any",
            "description": "Gives anything.",
            "timeout": 5_000,
            "input_schema": {
                "type": "object",
                "description": text,
                "properties": {name: {} for name in inputs},
            },
            "output_schema": {"type": "object", "description": text, "oneOf": variants},
        }
    )


def in_a_large_page(vertices):
    """Return two vertices in a page with many others of 1 200 bytes, which never run."""
    others = [Vertex(f"other{number}", LARGE) for number in range(vertices)]
    edges = [
        edge(f"begin.no{number // 26}.value", f"other{number}.{LONG_PORTS[0]}")
        for number in range(vertices)
    ]
    defaults = [
        Default(InputPort(item.name, port), 1) for item in others for port in LONG_PORTS[1:]
    ]
    return Document(
        (Vertex("begin", BRANCHING, entry_ports=("e",)), Vertex("next", SOURCE), *others),
        (edge("begin.ok.value", "next.e"), *edges),
        defaults=tuple(defaults),
        dialect=DIALECT,
    )


def with_many_groups(groups):
    """Return two vertices, and groups that start with a hundred others."""
    others = [Vertex(f"other{number}", THIN, entry_ports=("i",)) for number in range(100)]
    names = tuple(item.name for item in others)
    return Document(
        (Vertex("begin", SOURCE, entry_ports=("e",)), Vertex("next", SOURCE), *others),
        (edge("begin.ok.value", "next.e"),),
        entry_groups=(
            EntryGroup(DEFAULT_GROUP, ("begin",)),
            *(EntryGroup(f"group{number}", names) for number in range(groups)),
        ),
        dialect=DIALECT,
    )


def with_tools(first, second):
    """Return two vertices with these tools."""
    vertices = Vertex("begin", first, entry_ports=("e",)), Vertex("next", second)
    return Document(vertices, (edge("begin.ok.value", "next.e"),), dialect=DIALECT)


async def run_two_closings(begun, flow, last):
    """Run an execution of two runs, one closing per transaction, and return the payments."""
    execution = await begun(flow)
    await execution.close("begin", answer("x" * 98), signed=True)
    await execution.close("next", last, signed=True)
    assert execution.ended is not None
    paid = zip(execution.gained_mist, execution.costs, strict=True)
    return execution, [gained_mist + cost.net for gained_mist, cost in paid]


async def assert_reading_is_paid(begun, flow, small, units):
    """Check that all but the first request earn, and each transaction is paid `units` more."""
    price = await begun.stage.worker.gas_price()
    for last, last_reads in ((answer("x" * 98), 2), (FAILURE, 1)):
        execution, paid = await run_two_closings(begun, flow, last)
        _, least = await run_two_closings(begun, small, last)
        assert min(execution.gained_mist[1:]) > 0
        more = [(mist - least_mist) // price for mist, least_mist in zip(paid, least, strict=True)]
        assert more == units(execution.workflow.sizes, last_reads)


@pytest.mark.long
@priced(500, 1_000, 5_000)
async def test_leader_earns_on_the_largest_page(begun):
    """Signed inputs count the page again; each request and `advance` is paid for it."""
    await begun.stage.register_tool(definition(LARGE, LONG_PORTS))
    await begun.stage.register_tool(branching_tool(BRANCHING, ["e"]), signs=True)

    def units(sizes, last_reads):
        assert 60_000 < sizes.vertex_pages[0] <= 65_536
        read = sizes.read_units([0])
        return [read, 3 * read, last_reads * read]

    await assert_reading_is_paid(begun, in_a_large_page(51), in_a_large_page(0), units)


@pytest.mark.long
@priced(1_000, 5_000)
async def test_leader_earns_on_workflows_with_many_groups(begun):
    def units(sizes, last_reads):
        assert sizes.head > 4_000
        read = sizes.read_units([0])
        return [read, 3 * read, last_reads * read]

    await assert_reading_is_paid(begun, with_many_groups(30), with_many_groups(1), units)


@pytest.mark.long
@priced(500, 1_000, 5_000)
async def test_leader_earns_on_tools_with_the_largest_schemas(begun):
    await begun.stage.register_tool(branching_tool(BRANCHING, ["e"]), signs=True)
    largest = branching_tool(FAT, ["e"], "x" * 48_000)
    await begun.stage.register_tool(largest, signs=True)
    flow = with_tools(FAT, FAT)

    def units(_sizes, _last_reads):
        # 96 000 bytes, and a little less because fees cover 1 000.
        return [1_432, 1_432, 0]

    await assert_reading_is_paid(begun, flow, with_tools(BRANCHING, BRANCHING), units)
