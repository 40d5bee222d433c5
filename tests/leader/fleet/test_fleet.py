"""Several processes of one leader on one chain, which stop, are killed, or are cut off."""

import asyncio
from types import SimpleNamespace

import pytest

from benchmarks.proxy import Proxy
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.leader.assembly import journal_identity
from nexus_tools.leader.chain import chain as chain_module
from nexus_tools.leader.chain.assignment import assignment
from nexus_tools.leader.fleet.claim_loop import ClaimLoop
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
HOUR_MS = 3_600_000


async def assert_settled_once(world, ids):
    closed = await world.closed(*ids)
    assert all(isinstance(invocation.state, State.Settled) for invocation in closed)
    assert await world.closings(len(ids)) == dict.fromkeys(ids, 1)


def inputs(*numbers):
    return [{"a": number, "b": 1} for number in numbers]


async def test_processes_share_the_work(world, processes, registered, calls):
    started = [await processes.start(max_concurrent_per_tool=2) for _ in range(3)]
    calls.gate.clear()
    ids = await world.request(registered, *inputs(*range(20)))
    await calls.wait_for(6)  # two calls of each process
    assert [process.metric("tool_calls_running") for process in started] == [2, 2, 2]
    calls.gate.set()
    await assert_settled_once(world, ids)
    assert calls.counts == dict.fromkeys(range(20), 1)
    assert all(process.metric("closing_size_sum") > 0 for process in started)
    assert sum(process.metric("fleet_holder") for process in started) == 1
    assert all(0 < process.metric("fleet_beat_age_seconds") < TIMEOUT_S for process in started)


async def test_notification_wakes_the_claims(world, processes, registered, log, monkeypatch):
    monkeypatch.setitem(ClaimLoop.__init__.__kwdefaults__, "interval_s", 10 * TIMEOUT_S)
    one, two = await processes.start(), await processes.start()
    ids = await world.request(registered, *inputs(1))
    await assert_settled_once(world, ids)
    holder = await processes.wait_for_holder(log)
    await (two if holder is one else one).stop()
    await assert_settled_once(world, [*ids, *await world.request(registered, *inputs(2))])


async def test_stopping_process_leaves_the_rest_to_others(world, processes, registered, calls, log):
    one = await processes.start()
    await processes.wait_for_holder(log)
    first = await world.request(registered, *inputs(*range(10)))
    two = await processes.start()
    await one.stop()
    more = await world.request(registered, *inputs(*range(10, 20)))
    await assert_settled_once(world, [*first, *more])
    three = await processes.start()
    await two.stop()
    last = await world.request(registered, *inputs(*range(20, 30)))
    await assert_settled_once(world, [*first, *more, *last])
    assert calls.counts == dict.fromkeys(range(30), 1)
    assert await processes.wait_for_holder(log) is three
    assert three.metric("fleet_holder") == 1
    assert log.named("lease_lost") == []


async def test_other_process_continues_with_the_invocations_of_a_killed_one(
    world, processes, registered, calls, log
):
    one = await processes.start()
    await processes.wait_for_holder(log)
    calls.gate.clear()
    ids = await world.request(registered, *inputs(*range(5)))
    await calls.wait_for(5)
    two = await processes.start()
    processes.declare_dead(await one.kill())
    await calls.wait_for(10)
    calls.gate.set()
    await assert_settled_once(world, ids)
    assert calls.counts == dict.fromkeys(range(5), 2)
    assert await processes.wait_for_holder(log) is two
    await assert_settled_once(world, [*ids, *await world.request(registered, *inputs(5))])


async def test_recorded_answer_of_a_killed_process_is_closed_without_a_call(
    world, processes, registered, calls, fleet
):
    [invocation] = await world.request(registered, *inputs(1))
    chain = SimpleNamespace(deployment=world.deployment, leader=processes.identity.id)
    killed = await fleet.join(identity=journal_identity(chain))
    await killed.recover()
    await killed.record_events([await assigned(world, chain, invocation)], {}, START, 0)
    await killed.claim(2**60, 9, {}, 9)
    await killed.record_outcome(invocation, Answer("ok", {"result": 2}))
    await processes.start()
    processes.declare_dead(killed.worker)
    await assert_settled_once(world, [invocation])
    assert calls.counts == {}


START = str(Cursor.beginning())


async def assigned(world, chain, invocation):
    value = await world.invocations.get(invocation)
    names = InvocationRequested.__struct_fields__
    values = {name: getattr(value, name) for name in names if name != "invocation"}
    return assignment(InvocationRequested(invocation=invocation, **values), chain.leader)


async def test_process_whose_lease_ended_starts_again(world, processes, registered, calls, log):
    one = await processes.start()
    await processes.wait_for_holder(log)
    calls.gate.clear()
    ids = await world.request(registered, *inputs(*range(3)))
    await calls.wait_for(3)
    two = await processes.start()
    former = one.worker
    processes.fleet.execute("DELETE FROM workers WHERE worker = %s", (former,))
    await calls.wait_for(6)
    await log.wait_for("lease_lost")
    calls.gate.set()
    await assert_settled_once(world, ids)
    async with asyncio.timeout(TIMEOUT_S):
        await one.leader.ready.wait()
    assert one.worker != former
    await two.stop()
    more = await world.request(registered, *inputs(3))
    await assert_settled_once(world, [*ids, *more])
    assert one.leader.problems() == {}


async def test_process_with_the_same_key_waits(world, processes, registered, log):
    one = await processes.start(processes.identity.key)
    other = await processes.begin(processes.identity.key)
    warning = await log.wait_for("not_ready")
    assert warning["code"] == "worker_key_in_use"
    assert "uses the same worker key" in warning["journal"]
    assert "`nexus-tools leader worker add`" in warning["journal"]
    assert other.leader.problems()["journal"] == warning["journal"]
    assert not other.leader.ready.is_set()
    await one.stop()
    async with asyncio.timeout(TIMEOUT_S):
        await other.leader.ready.wait()
    ids = await world.request(registered, *inputs(1))
    await assert_settled_once(world, ids)


async def test_processes_continue_after_their_connections_were_cut(
    world, processes, registered, calls, fleet
):
    started = [await processes.start(max_concurrent_per_tool=1) for _ in range(2)]
    ids = []
    for number in range(5):
        ids += await world.request(registered, *inputs(*range(10 * number, 10 * number + 10)))
        await asyncio.to_thread(fleet.server.cut_sessions)
    await assert_settled_once(world, ids)
    assert calls.counts == dict.fromkeys(range(50), 1)
    assert fleet.leases() == {process.worker for process in started}


async def test_leaders_in_two_schemas_of_a_database_do_not_meet(
    world, processes, registered, postgres
):
    await processes.start()
    other = await world.new_leader("other")
    async with world.running(other, journal=postgres.new_location()) as leader:
        named = [identity.id for identity in world.known]
        ids = await world.request(registered, *inputs(1), leaders=named[:1])
        ids += await world.request(registered, *inputs(2), leaders=named[1:])
        await assert_settled_once(world, ids)
        gauge = leader.metrics.registry.get_sample_value("nexus_leader_fleet_processes")
        assert gauge == 1


async def test_backup_counts_an_invocation_that_the_first_leader_closed(
    world, processes, registered, log
):
    """No process has claimed the invocation, because its window has not opened."""
    backup = await processes.start()
    first = await world.new_leader("first")
    async with world.running(first):
        leaders = [first.id, processes.identity.id]
        await assert_settled_once(
            world, await world.request(registered, *inputs(1), leaders=leaders)
        )
        await log.wait_for_each("closed", "how", ["settled", "elsewhere"])
    assert backup.metric("invocations_closed_total", {"how": "elsewhere"}) == 1


async def test_settled_invocation_is_not_missed_when_claimed_before_its_closing_event(
    world, processes, registered, fleet, log
):
    """A new journal contains the request, but the holder has not read the closing event yet."""
    async with world.running(processes.identity):
        [invocation] = await world.request(registered, *inputs(1))
        await assert_settled_once(world, [invocation])
    world.localnet.advance_clock(HOUR_MS)
    chain = SimpleNamespace(deployment=world.deployment, leader=processes.identity.id)
    holder = await fleet.join(identity=journal_identity(chain))
    await holder.recover()
    assert await holder.hold(TIMEOUT_S)
    await holder.record_events([await assigned(world, chain, invocation)], {}, START, 0)
    process = await processes.start()
    assert (await log.wait_for("closed", 2))["how"] == "settled"
    assert process.metric("invocations_closed_total", {"how": "settled"}) == 1


async def test_process_without_funds_leaves_all_work_to_a_funded_process(
    world, processes, registered, calls, log
):
    poor = await processes.start(await world.new_worker(processes.identity, sui=0))
    await processes.wait_for_holder(log)
    ids = await world.request(registered, *inputs(1))
    assert "has 0 SUI for gas" in poor.leader.problems()["workers"]
    rich = await processes.start()
    await log.wait_for("holding_ended")
    assert await processes.wait_for_holder(log) is rich
    await assert_settled_once(world, [*ids, *await world.request(registered, *inputs(2, 3))])
    assert calls.counts == {1: 1, 2: 1, 3: 1}
    assert poor.metric("closing_size_sum") == 0
    assert log.named("closing_postponed") == []


async def test_answer_of_a_process_that_lost_its_funds_is_closed_without_a_call(
    world, processes, registered, calls, log
):
    key = await world.new_worker(processes.identity)
    await processes.start(key)
    calls.gate.clear()
    ids = await world.request(registered, *inputs(1))
    await calls.wait_for(1)
    async with world.client_of(key) as client:
        builder = TransactionBuilder()
        money = builder.withdrawal((await client.balance_parts(key.address)).in_address, SUI)
        coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [money], (SUI,))
        builder.transfer_objects([coin, builder.gas], world.key.address)
        await client.execute(builder)
    two = await processes.start()
    calls.gate.set()
    await assert_settled_once(world, ids)
    assert calls.counts == {1: 1}
    assert two.metric("closing_size_sum") == 1
    assert (await log.wait_for("closings_returned"))["code"] == "not_enough_sui"


async def test_other_process_continues_when_a_process_loses_its_node(
    world, processes, registered, calls, log, monkeypatch
):
    monkeypatch.setattr(chain_module, "_CUT_OFF_S", 0.1)
    port = int(world.localnet.url.rpartition(":")[2])
    async with Proxy(port).running() as proxy:
        one = await processes.start(url=proxy.url)
        await processes.wait_for_holder(log)
        calls.gate.clear()
        ids = await world.request(registered, *inputs(1, 2))
        await calls.wait_for(2)
        two = await processes.start()
        lost = proxy.drop()
        if lost is not None:
            await lost
        await calls.wait_for(4)
        calls.gate.set()
        await assert_settled_once(world, ids)
        await log.wait_for("holding_ended")
        assert await processes.wait_for_holder(log) is two
        await assert_settled_once(world, [*ids, *await world.request(registered, *inputs(3))])
        assert "node" in one.leader.problems()
        await proxy.mend()
