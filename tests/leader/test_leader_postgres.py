"""A Leader whose journal is in PostgreSQL, while the server is away."""

import asyncio
from collections import Counter

import pytest

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import NexusError
from nexus_tools.leader import Leader
from nexus_tools.tool_server import Variant, tool

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
QUICK = {"heartbeat_interval_ms": 20}


class Sum(Variant, name="ok"):
    result: int


@pytest.fixture
def calls():
    return Counter()


@pytest.fixture
async def registered(world, serve_tools, calls):
    """Register a tool that counts its calls by the first input."""

    @tool("xyz.example.math.add@1")
    async def add(a: int, b: int) -> Sum:
        """Adds two integers."""
        calls[a] += 1
        return Sum(result=a + b)

    return await world.register_tool(add.definition(await serve_tools(add)))


async def journal_problem(leader):
    """Return the problem of the journal as soon as there is one."""
    async with asyncio.timeout(TIMEOUT_S):
        while "journal" not in leader.problems():  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.01)
    return leader.problems()["journal"]


async def assert_settled_once(world, calls, ids):
    closed = await world.closed(*ids)
    assert all(isinstance(invocation.state, State.Settled) for invocation in closed)
    assert await world.closings(len(ids)) == dict.fromkeys(ids, 1)
    assert set(calls.values()) == {1}


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_leader_continues_after_the_server_was_away(
    world, postgres, registered, calls, log, mode
):
    identity = await world.new_leader()
    async with world.running(identity, journal=postgres.new_location(), **QUICK) as leader:
        first = await world.request(registered, *[{"a": n, "b": 1} for n in range(10)])
        await world.closings(1)
        await asyncio.to_thread(postgres.stop, mode)
        try:
            more = await world.request(registered, *[{"a": n, "b": 1} for n in range(10, 20)])
            assert "PostgreSQL does not accept writes" in await journal_problem(leader)
            await log.wait_for("not_ready")
            # The Leader does not call tools for invocations that it cannot record.
            assert calls.keys() <= set(range(10))
        finally:
            await asyncio.to_thread(postgres.start)
        await assert_settled_once(world, calls, [*first, *more])
        await log.wait_for("ready")
        assert leader.problems() == {}


async def test_leader_starts_when_the_server_responds(world, postgres, registered, calls):
    identity, location = await world.new_leader(), postgres.new_location()
    ids = await world.request(registered, {"a": 1, "b": 2})
    await asyncio.to_thread(postgres.stop)
    try:
        leader = leader_of(world, identity, location)
        running = asyncio.create_task(leader.run())
        assert "cannot open the journal in PostgreSQL" in await journal_problem(leader)
        assert not leader.ready.is_set()
    finally:
        await asyncio.to_thread(postgres.start)
    await assert_settled_once(world, calls, ids)
    leader.stop()
    await running


async def test_leader_stops_while_the_server_is_away(world, postgres, log):
    identity = await world.new_leader()
    running = world.running(identity, journal=postgres.new_location(), **QUICK)
    leader = await running.__aenter__()
    await asyncio.to_thread(postgres.stop)
    try:
        await journal_problem(leader)
    finally:
        async with asyncio.timeout(TIMEOUT_S):
            await running.__aexit__(None, None, None)
        await asyncio.to_thread(postgres.start)
    assert not leader.ready.is_set()


async def test_leader_ends_when_its_tables_are_deleted(world, postgres, registered):
    identity, location = await world.new_leader(), postgres.new_location()
    leader = leader_of(world, identity, location)
    running = asyncio.create_task(leader.run())
    await leader.ready.wait()
    postgres.execute(f"DROP SCHEMA {location.schema} CASCADE")
    await world.request(registered, {"a": 1, "b": 2})
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(NexusError) as caught:
            await running
    assert caught.value.code == "journal_failed"
    assert "PostgreSQL" in caught.value.hint


def leader_of(world, identity, location):
    config = world.config(identity, journal=location)
    return Leader(config, world.client, [identity.key], world.deployment, identity.id)
