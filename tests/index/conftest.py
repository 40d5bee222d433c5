"""Fixtures of the index: a chain with a history, and indices of it."""

from contextlib import AsyncExitStack, aclosing, closing

import pytest

from nexus_tools.contracts import event_filter
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.index import IndexIdentity, IndexPipeline, IndexWriter, open_reader, open_writer
from nexus_tools.registry import (
    Executions,
    Invocations,
    LeaderRegistry,
    Registration,
    Schedules,
    ToolRegistry,
    Workflows,
)
from nexus_tools.sui.client import Cursor, follow_events
from nexus_tools.tool import Answer, Failure, FailureReason
from tests.conftest import PEOPLE
from tests.registry.sums import TWICE, sums

ADD = "xyz.example.math.add@1"
PRICED = "xyz.example.priced@1"
SUM = "xyz.example.sum@1"
ANSWER = Answer("ok", {"result": 3})
WINDOW_MS = 5_000 + 15_000
HOUR_MS = 3_600_000
SUI = 10**9


class History:
    """A chain with tools, a leader, and invocations with all kinds of outcomes."""

    def __init__(self, chain, define, clients, leader):
        self.chain = chain
        self.net = chain.net
        self.deployment = chain.deployment
        self.define = define
        self.leader = leader
        self.clients = clients
        self.tools = ToolRegistry(clients["owner"], chain.deployment)
        self.invocations = Invocations(clients["user"], chain.deployment)
        self.closings = Invocations(clients["leader"], chain.deployment)

    async def request(self, fqn, requester="user", leaders=None):
        invocations = Invocations(self.clients[requester], self.deployment)
        tool = await self.tools.get(fqn)
        _, invocation = await invocations.request(
            tool, {"a": 1, "b": 2}, leaders=leaders or [self.leader]
        )
        return invocation

    async def close(self, fqn, outcome=ANSWER, requester="user"):
        invocation = await self.request(fqn, requester)
        await self.closings.close(self.leader, {invocation: outcome})
        return invocation

    async def items(self, start=None):
        """Return all events up to the newest checkpoint, as the pipeline receives them."""
        client = self.clients["user"]
        newest = Cursor.after_checkpoint(await client.latest_checkpoint()).position
        items = []
        events = follow_events(client, event_filter(self.deployment), start or Cursor.beginning())
        async with aclosing(events):
            async for item in events:
                items.append(item)
                if item.cursor.position >= newest:
                    break
        return items


@pytest.fixture
def clients(admin, owner, leader, user):
    return dict(zip(PEOPLE, (admin, owner, leader, user), strict=True))


@pytest.fixture
async def history(chain, define, clients, active_leader):
    """Return a chain with the package and an active leader."""
    return History(chain, define, clients, active_leader)


@pytest.fixture(scope="module")
def eventful_leader(started, session_localnet, define):
    """Add events of all kinds once for the tests of a module, and return their leader."""

    async def add():
        async with AsyncExitStack() as stack:
            clients = {
                name: await stack.enter_async_context(started.client(name)) for name in PEOPLE
            }
            leaders = LeaderRegistry(clients["leader"], started.deployment)
            _, leader = await leaders.register("first", activate=True)
            await add_events(History(started, define, clients, leader))
            return leader

    snapshot = session_localnet.snapshot()
    yield session_localnet.run(add())
    session_localnet.revert(snapshot)


@pytest.fixture
def eventful(eventful_leader, chain, define, clients):
    """Return a history with events of all kinds that the index stores.

    Other tests of the module also find these events, even if they do not use this fixture.
    """
    return History(chain, define, clients, eventful_leader)


async def add_events(history):
    tools = history.tools
    await tools.register(Registration(history.define(ADD)))
    await tools.register(
        Registration(history.define(PRICED), price_mist=500, leaders=(history.leader,))
    )
    await history.close(ADD)
    await history.close(PRICED, requester="admin")
    await history.close(ADD, Failure(FailureReason.UNREACHABLE, "no route"), "admin")
    await history.close(PRICED, Failure(FailureReason.OVERLOADED, ""))
    deleted = await history.close(PRICED)
    await history.invocations.delete(deleted)
    expired = await history.request(ADD)
    history.net.advance_clock(WINDOW_MS)
    await history.invocations.expire(expired)
    history.net.advance_clock(50 * HOUR_MS)
    await history.close(ADD, requester="owner")
    await history.request(PRICED)  # it stays open
    await run_workflows(history)
    await change_owners(history)


async def run_workflows(history):
    owned = Workflows(history.clients["owner"], history.deployment)
    await owned.publish(sums(*TWICE), SUM, "Adds three numbers.")
    workflow = await owned.get(SUM)
    schedules = Schedules(history.clients["user"], history.deployment)
    executions = Executions(history.clients["user"], history.deployment)
    started = await executions.start(workflow, {"a": 1, "b": 2}, leaders=[history.leader])
    await executions.cancel(started.execution)
    now_ms = await history.clients["user"].now_ms()
    timing = Timing(Plan.Every(HOUR_MS, now_ms + HOUR_MS, None), None)
    created = await schedules.create(
        workflow,
        {"a": 1, "b": 2},
        timing,
        funds_mist=SUI,
        funds_per_execution_mist=SUI // 10,
        duration_ms=HOUR_MS // 2,
        leaders=[history.leader],
    )
    history.net.advance_clock(HOUR_MS + 1)
    keeper = Schedules(history.clients["leader"], history.deployment)
    await keeper.trigger(created.schedule, history.leader)
    await schedules.pause(created.schedule)


async def change_owners(history):
    await history.tools.offer("xyz.example.math.add", history.clients["user"].address)
    await ToolRegistry(history.clients["user"], history.deployment).accept("xyz.example.math.add")
    leaders = LeaderRegistry(history.clients["leader"], history.deployment)
    await leaders.deactivate(history.leader)
    await history.tools.unregister(PRICED)


# --- Indices


@pytest.fixture
def new_index(tmp_path, chain):
    """Return a function that opens an index of the chain for writing."""
    opened = []

    def new_index(name="index.sqlite", **options):
        identity = IndexIdentity.of(chain.deployment)
        index = open_writer(tmp_path / name, identity, **options)
        opened.append(index)
        return index

    yield new_index
    for index in opened:
        index.connection.close()


@pytest.fixture
def write(chain):
    """Return a function that writes items into an index, in batches of a size."""

    def write(index, items, size=100):
        writer = IndexWriter(index, chain.deployment)
        for start in range(0, len(items), size):
            writer.apply(items[start : start + size])
        return writer

    return write


@pytest.fixture
def pipeline(chain, user):
    """Return a function that returns the pipeline of an index."""

    def pipeline(index, **options):
        writer = IndexWriter(index, chain.deployment)
        return IndexPipeline(user, chain.deployment, writer, **options)

    return pipeline


_LOCAL_COLUMNS = {"change", "last_change", "vector_change", "generation", "value"}
"""Columns that depend on how an index was built."""
_LOCAL_TABLES = {"removed_tools", "marks"}


def rows_of(connection):
    """Return all rows by table, as dictionaries without columns that depend on the building."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    contents = {}
    for (table,) in tables:
        # The localnet also makes empty checkpoints, so the position depends on the time of reading.
        local = _LOCAL_COLUMNS | ({"checkpoint"} if table == "cursor" else set())
        cursor = connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        rows = [
            {name: value for name, value in zip(names, row, strict=True) if name not in local}
            for row in cursor
        ]
        if table not in _LOCAL_TABLES:
            contents[table] = sorted(rows, key=repr)
    return contents


def read_rows(index):
    """Return the rows of an index that may still be open for writing."""
    with closing(open_reader(index.path, index.identity)) as connection:
        return rows_of(connection)
