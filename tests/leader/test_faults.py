"""A node that is half-open, black-holed, reset, hanging, killed, replaced or rolled back."""

import asyncio
import re
import shutil
import signal
from itertools import pairwise

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from benchmarks.proxy import Proxy
from nexus_tools.leader import Leader
from nexus_tools.sui.client import CHAIN_ROLLED_BACK
from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool_server import Variant, tool

pytestmark = pytest.mark.anyio

TIMEOUT_S = 20

# Long for a local node, but short enough for a test that waits for the timeout.
QUICK = {"heartbeat_interval_ms": 50, "heartbeat_timeout_ms": 2_000}
PATIENT = {"heartbeat_interval_ms": 50, "heartbeat_timeout_ms": 30_000}


class Number(Variant, name="ok"):
    result: int


@pytest.fixture
async def proxy(world):
    async with Proxy(int(world.localnet.url.rpartition(":")[2])).running() as proxy:
        yield proxy


@pytest.fixture
async def add(world, serve_tools, add_tool):
    return await world.register_tool(add_tool.definition(await serve_tools(add_tool)))


async def results(world, ids):
    """Return the results of `add` after all invocations settled, each exactly once."""
    closed = await world.closed(*ids)
    return [invocation.state.ports.as_json()["result"] for invocation in closed]


def assert_outages_ended(log):
    """Assert that each outage was logged once and ended.

    A busy machine may cause outages after the one of the test.
    """
    assert log.readiness[:2] == ["not_ready", "ready"]
    assert all(before != after for before, after in pairwise(log.readiness))


def node_up(leader):
    return leader.metrics.registry.get_sample_value("nexus_leader_node_up")


# --- Connections


@pytest.mark.parametrize("fault", ["swallow", "drop"])
async def test_unreachable_node_is_logged_once_and_nothing_is_lost(world, add, proxy, log, fault):
    identity = await world.new_leader()
    async with world.running(identity, url=proxy.url, **QUICK) as leader:
        assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
        lost = getattr(proxy, fault)()
        if lost is not None:
            await lost
        warning = await log.wait_for("not_ready")
        assert "does not respond" in warning["node"]
        assert "does not respond" in leader.problems()["node"]
        assert node_up(leader) == 0
        ids = await world.request(add, {"a": 20, "b": 22}, {"a": 3, "b": 4})
        await proxy.mend()
        await log.wait_for("ready")
        assert node_up(leader) == 1
        assert await results(world, ids) == [42, 7]
    assert_outages_ended(log)
    assert set(log.warnings) == {"not_ready"}


async def test_dead_connection_is_replaced(world, add, proxy, log):
    identity = await world.new_leader()
    async with world.running(identity, url=proxy.url, **QUICK):
        assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
        proxy.half_open()
        ids = await world.request(add, {"a": 20, "b": 22})
        assert await results(world, ids) == [42]
        await log.wait_for("ready")
    assert_outages_ended(log)


async def test_connection_resets_cost_only_time(world, add, proxy, log):
    identity = await world.new_leader()
    async with world.running(identity, url=proxy.url, **QUICK):
        for number in range(5):
            ids = await world.request(add, {"a": number, "b": 1})
            proxy.reset()
            assert await results(world, ids) == [number + 1]
    assert set(log.warnings) <= {"not_ready"}


async def test_slow_node_is_ready(world, add, proxy, log):
    proxy.delay_s = 0.02
    identity = await world.new_leader()
    async with world.running(identity, url=proxy.url, **PATIENT):
        assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
    assert log.warnings == []


# --- Other nodes at the same address


async def test_node_of_another_chain_is_rejected_until_the_right_one_is_back(
    world, add, proxy, log
):
    right = proxy.target
    identity = await world.new_leader()
    with ThreadedLocalnet() as other:
        async with world.running(identity, url=proxy.url, **QUICK) as leader:
            assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
            proxy.target = int(other.url.rpartition(":")[2])
            proxy.reset()
            while world.deployment.chain_id not in leader.problems().get("node", ""):
                await log.wait_for("not_ready", len(log.named("not_ready")) + 1)
            # The other chain does not have the invocation or the Leader's coins.
            ids = await world.request(add, {"a": 20, "b": 22})
            assert "expected " + world.deployment.chain_id in leader.problems()["node"]
            assert "start the Leader again" in leader.problems()["node"]
            proxy.target = right
            proxy.reset()
            assert await results(world, ids) == [42]
            await log.wait_for("ready")
    assert set(log.warnings) == {"not_ready"}


async def test_other_chain_behind_a_gateway_without_headers_is_rejected(world, add, log):
    identity = await world.new_leader()
    with ThreadedLocalnet() as other:
        async with (
            Gateway(world.localnet.url).running() as gateway,
            world.running(identity, url=gateway.network.url, **QUICK) as leader,
        ):
            assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
            gateway.forward_to(other.url)
            await log.wait_for("not_ready")
            assert "expected " + world.deployment.chain_id in leader.problems()["node"]
            ids = await world.request(add, {"a": 20, "b": 22})
            gateway.forward_to(world.localnet.url)
            assert await results(world, ids) == [42]
            await log.wait_for("ready")
    assert_outages_ended(log)


# --- Processes


@pytest.fixture
async def add_apart(apart, serve_tools, add_tool):
    return await apart[2].register_tool(add_tool.definition(await serve_tools(add_tool)))


async def test_hanging_node_is_reported_and_awaited(apart, add_apart, log):
    own, _, world = apart
    identity = await world.new_leader()
    async with world.running(identity, **QUICK):
        assert await results(world, await world.request(add_apart, {"a": 1, "b": 2})) == [3]
        own.send(signal.SIGSTOP)
        assert "no response within 2 s" in (await log.wait_for("not_ready"))["node"]
        own.send(signal.SIGCONT)
        await log.wait_for("ready")
        assert await results(world, await world.request(add_apart, {"a": 3, "b": 4})) == [7]
    assert_outages_ended(log)


async def test_events_before_a_node_crash_are_settled_after_its_restart(apart, add_apart, log):
    own, state, world = apart
    identity = await world.new_leader()
    async with world.running(identity, **QUICK):
        ids = await world.request(add_apart, *[{"a": n, "b": 1} for n in range(20)])
        own.kill()
        await log.wait_for("not_ready")
        own.start(state)
        assert await results(world, ids) == list(range(1, 21))
        await log.wait_for("ready")


async def test_invocations_reopened_by_a_rollback_are_settled_again(
    apart, add_apart, log, tmp_path
):
    own, state, world = apart
    identity = await world.new_leader()
    ids = await world.request(add_apart, {"a": 1, "b": 2})
    own.end()
    shutil.copytree(state, tmp_path / "earlier")
    own.start(state)
    async with world.running(identity, **QUICK):
        assert await results(world, ids) == [3]
        for number in range(5):
            await results(world, await world.request(add_apart, {"a": number, "b": 1}))
        own.kill()
        own.start(tmp_path / "earlier")
        assert await results(world, ids) == [3]
        again = await world.request(add_apart, {"a": 40, "b": 2})
        assert await results(world, again) == [42]
        await log.wait_for("ready")
    assert [e for e in log.named("not_ready") if "rolled back" in e.get("node", "")]


async def test_rollback_is_detected_when_the_chain_grows_before_the_next_beat(world, add, log):
    identity = await world.new_leader()
    before = await world.request(add, {"a": 1, "b": 2})
    snapshot = world.localnet.snapshot()
    async with world.running(identity, heartbeat_interval_ms=60_000):
        assert await results(world, before) == [3]
        assert await results(world, await world.request(add, {"a": 5, "b": 5})) == [10]
        assert await world.client.latest_checkpoint() >= snapshot.checkpoint + 3
        world.localnet.revert(snapshot)
        async with world.again() as after:
            ids = [*before]
            for number in range(8):
                ids += await after.request(add, {"a": number, "b": 1})
            assert await results(after, ids) == [3, *range(1, 9)]
            assert await after.closings(len(ids)) == dict.fromkeys(ids, 1)
    (noticed,) = log.named("event_stream_interrupted")
    assert noticed["code"] == CHAIN_ROLLED_BACK


@pytest.fixture
async def waiting(world, serve_tools):
    """Return a tool that waits, an event set by its call, and the event that it waits for."""
    called, goes_on = asyncio.Event(), asyncio.Event()

    @tool("xyz.example.math.wait@1")
    async def wait(a: int) -> Number:
        """Gives a number when it is time."""
        called.set()
        await goes_on.wait()
        return Number(result=a)

    return await world.register_tool(wait.definition(await serve_tools(wait))), called, goes_on


async def test_rollback_while_the_leader_is_off_is_detected_after_growth(world, waiting, log):
    waiting, called, goes_on = waiting
    identity = await world.new_leader()
    snapshot = world.localnet.snapshot()
    async with world.running(identity, stop_timeout_ms=0):
        for number in range(8):
            await world.request(waiting, {"a": number})
        await called.wait()
        reached = await world.client.latest_checkpoint()
    goes_on.set()
    world.localnet.revert(snapshot)
    async with world.again() as after:
        ids = []
        while await after.client.latest_checkpoint() <= reached:
            ids += await after.request(waiting, {"a": 10 + len(ids)})
        async with after.running(identity, heartbeat_interval_ms=60_000):
            assert await results(after, ids) == list(range(10, 10 + len(ids)))
    (noticed,) = log.named("event_stream_interrupted")
    assert noticed["code"] == CHAIN_ROLLED_BACK


async def test_rolled_back_closing_is_detected_without_its_event(world, waiting, log):
    waiting, called, goes_on = waiting
    identity = await world.new_leader()
    async with world.running(identity) as leader:
        ids = await world.request(waiting, {"a": 42})
        await called.wait()
        snapshot = world.localnet.snapshot()
        leader.stop()  # it stops reading events and finishes its work
        goes_on.set()
    assert await results(world, ids) == [42]
    world.localnet.revert(snapshot)
    async with world.again() as after:
        ids += await after.request(waiting, {"a": 7})
        async with after.running(identity, heartbeat_interval_ms=60_000):
            assert await results(after, ids) == [42, 7]
    (noticed,) = log.named("event_stream_interrupted")
    assert noticed["code"] == CHAIN_ROLLED_BACK


# --- Starting


async def test_leader_reports_that_it_waits_for_its_node(world, add, proxy, log):
    identity = await world.new_leader()
    await proxy.drop()
    async with world.client_at(proxy.url) as client:
        config = world.config(identity, **QUICK)
        leader = Leader(config, client, [identity.key], world.deployment, identity.id)
        running = asyncio.create_task(leader.run())
        await log.wait_for("not_ready")
        assert leader.problems().keys() == {"leader", "node"}
        await proxy.mend()
        await log.wait_for("ready")
        assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
        leader.stop()
        await running
    assert_outages_ended(log)


@pytest.mark.parametrize("fault", ["swallow", "drop"])
async def test_leader_can_be_stopped_while_it_waits_for_its_node(world, proxy, log, fault):
    identity = await world.new_leader()
    lost = getattr(proxy, fault)()
    if lost is not None:
        await lost
    async with world.client_at(proxy.url) as client:
        config = world.config(identity, **QUICK)
        leader = Leader(config, client, [identity.key], world.deployment, identity.id)
        running = asyncio.create_task(leader.run())
        if fault == "drop":
            await log.wait_for("not_ready")
        else:
            await proxy.connected()
        leader.stop()
        async with asyncio.timeout(TIMEOUT_S):
            await running
    assert log.named("started") == []


async def test_leader_follows_a_rollback_across_an_advance(world, add):
    identity = await world.new_leader()
    async with world.running(identity, **QUICK):
        assert await results(world, await world.request(add, {"a": 1, "b": 2})) == [3]
        snapshot = world.localnet.snapshot()
        world.localnet.advance_clock(86_400_000)
        assert await results(world, await world.request(add, {"a": 20, "b": 22})) == [42]
        world.localnet.revert(snapshot)
        async with world.again() as after:
            # The repeated request has the ID of the settled one.
            assert await results(after, await after.request(add, {"a": 20, "b": 22})) == [42]
            assert await results(after, await after.request(add, {"a": 3, "b": 4})) == [7]


async def test_leader_calls_no_tool_while_no_worker_can_pay(world, serve_tools, log):
    identity, balances = await world.new_leader(sui=11), []

    @tool("xyz.example.math.wait@1")
    async def wait(a: int) -> Number:
        """Notes what the worker can pay with when it is called."""
        balances.append((await world.client.balance_parts(identity.key.address)).in_address)
        return Number(result=a)

    registered = await world.register_tool(wait.definition(await serve_tools(wait)))
    async with world.client_of(identity.key) as client:
        builder = TransactionBuilder()
        amount = (await client.balance(identity.key.address)) - 9_000_000
        builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], identity.id)
        await client.execute(builder)
    [request] = await world.request(registered, {"a": 7})
    async with (
        asyncio.timeout(TIMEOUT_S),
        world.running(identity, heartbeat_interval_ms=10) as leader,
    ):
        problem = (await log.wait_for("not_ready"))["workers"]
        amount, receiver = re.search(r"Send ([\d.]+) SUI or more to (0x\w+)", problem).groups()
        assert receiver == str(identity.key.address)
        world.localnet.fund(identity.key.address, round(float(amount) * 10**9))
        assert await results(world, [request]) == [7]
        assert leader.problems() == {}
    [balance] = balances
    # A closing costs at least 1 000 gas units of 1 000 MIST.
    assert balance >= 1_000_000


async def test_leader_without_time_leaves_the_invocation_to_its_backup(world, waiting, log):
    waiting, _, goes_on = waiting
    busy, backup = await world.new_leader("busy"), await world.new_leader("backup")
    # Two windows of 25 s: with this margin no time is left from the start.
    async with world.running(busy, closing_margin_ms=50_000):
        ids = await world.request(waiting, {"a": 7}, leaders=[busy.id, backup.id])
        assert (await log.wait_for("left_to_backup"))["invocation"] == str(ids[0])
    assert not (await world.invocations.get(ids[0])).is_closed
    goes_on.set()
    world.localnet.advance_clock((await world.invocations.get(ids[0])).window_ms)
    async with world.running(backup):
        assert await results(world, ids) == [7]


async def test_closed_invocation_is_not_sent_again_when_its_event_was_missed(world, add, log):
    identity = await world.new_leader()
    async with Gateway(world.localnet.url).running() as gateway:
        url = gateway.network.url
        async with world.running(identity, url=url, stop_timeout_ms=0, **QUICK):
            gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, late=True)
            ids = await world.request(add, {"a": 20, "b": 22})
            assert await results(world, ids) == [42]
        gateway.mend("ExecuteTransaction")
        async with world.running(identity, url=url, **QUICK) as leader:
            again = await world.request(add, {"a": 3, "b": 4})
            assert await results(world, again) == [7]
        sent = leader.metrics.registry.get_sample_value("nexus_leader_closing_size_sum")
    assert sent == 1
    assert await world.closings(2) == dict.fromkeys([*ids, *again], 1)
    assert len(log.named("started")) == 2
