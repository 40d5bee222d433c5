"""Leases of processes that share a journal: joining, renewal, expiry and return."""

import asyncio

import pytest

from nexus_tools.errors import UnreachableError, UsageError
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.journal import lease
from nexus_tools.leader.journal.lease import LeaseLostError
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
KEY, OTHER_KEY = map(Address.of, (0xA, 0xB))


async def test_lease_exists_until_the_journal_is_closed(fleet):
    one, two = await fleet.join(KEY), await fleet.join(OTHER_KEY)
    assert fleet.leases() == {one.worker, two.worker}
    await one.close()
    assert fleet.leases() == {two.worker}


async def test_processes_that_start_together_create_the_tables_once(fleet):
    keys = [Address.of(number) for number in range(100, 106)]
    await asyncio.gather(*map(fleet.join, keys))
    assert len(fleet.leases()) == len(keys)
    assert fleet.execute("SELECT value FROM identity") == [("chain package leader",)]


async def test_another_identity_does_not_join(fleet):
    one = await fleet.join()
    with pytest.raises(UsageError) as caught:
        await fleet.join(identity="chain package other")
    assert caught.value.code == "journal_identity_mismatch"
    assert fleet.leases() == {one.worker}


async def test_key_of_another_process_is_refused_until_its_lease_is_old(fleet):
    one = await fleet.join(KEY)
    with pytest.raises(UnreachableError) as caught:
        await fleet.join(OTHER_KEY, KEY)
    assert caught.value.code == "worker_key_in_use"
    await fleet.join(OTHER_KEY)
    fleet.age(one.worker, 2)
    with pytest.raises(UnreachableError):
        await fleet.join(KEY)
    fleet.age(one.worker, 5)
    three = await fleet.join(KEY)
    assert one.worker not in fleet.leases()
    assert three.worker in fleet.leases()


async def test_transaction_renews_the_lease(fleet):
    one, two = await fleet.join(), await fleet.join()
    for journal in (one, two):
        fleet.age(journal.worker, 9)
    await one.record_events([], {}, "c", 0)
    fleet.age(two.worker, 100, "steady_since")
    await two.beat(0)
    assert fleet.leases() == {one.worker, two.worker}


async def test_old_lease_is_ended_only_by_a_steady_process(fleet):
    one, two = await fleet.join(), await fleet.join()
    fleet.age(one.worker, 11)
    fleet.age(two.worker, 8, "steady_since")
    await two.beat(0)
    assert one.worker in fleet.leases()
    fleet.age(two.worker, 11, "steady_since")
    fleet.age(two.worker, 5)
    await two.beat(0)  # this beat is late
    assert one.worker in fleet.leases()
    fleet.age(two.worker, 11, "steady_since")
    await two.beat(0)
    assert fleet.leases() == {two.worker}


async def test_process_with_an_ended_lease_writes_nothing(fleet, assignment_of):
    one = await fleet.join()
    fleet.execute("DELETE FROM workers")
    with pytest.raises(LeaseLostError):
        await one.record_events([assignment_of(1)], {}, "c", 0)
    with pytest.raises(LeaseLostError):
        await one.beat(0)
    assert fleet.execute("SELECT count(*) FROM invocations") == [(0,)]


async def test_process_notices_after_reconnecting_that_its_lease_has_ended(fleet):
    one = await fleet.join()
    fleet.server.cut_sessions()
    fleet.execute("DELETE FROM workers")
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(LeaseLostError):
            await one.beat(0)


async def test_lease_in_a_transaction_is_not_ended(fleet):
    one, two = await fleet.join(), await fleet.join()
    fleet.age(one.worker, 11)
    fleet.age(two.worker, 11, "steady_since")
    beat = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()

    def let_other_beat(_):
        other = asyncio.run_coroutine_threadsafe(two.beat(0), loop)
        loop.call_soon_threadsafe(beat.set_result, other.result(TIMEOUT_S))

    await one._commits.run(let_other_beat)
    assert (await beat).processes == 2
    assert fleet.leases() == {one.worker, two.worker}


async def test_confirm_waits_for_a_renewal_only_if_the_last_one_is_old(fleet, monkeypatch):
    one = await fleet.join()
    [(before,)] = fleet.execute("SELECT batch FROM workers")
    await one.confirm()
    assert fleet.execute("SELECT batch FROM workers") == [(before,)]
    uptime_s = lease.uptime_s
    monkeypatch.setattr(one._store, "renewed_at_s", uptime_s() - 5)
    await one.confirm()
    assert fleet.execute("SELECT batch FROM workers") == [(before + 1,)]
    fleet.execute("DELETE FROM workers")
    await one.confirm()
    monkeypatch.setattr(one._store, "renewed_at_s", uptime_s() - 10)
    with pytest.raises(LeaseLostError):
        await one.confirm()


async def test_lease_ends_at_close_although_the_connection_was_cut(fleet):
    one = await fleet.join()
    fleet.server.cut_sessions()
    await one.close()
    assert fleet.leases() == set()


async def test_process_without_a_lease_starts_no_call(
    fleet, config, http_client, answer_size, make_call, serve_bytes, respond
):
    """A process may have been suspended while another process took its invocations."""
    server = await serve_bytes(respond(body=b'{"ok": {"result": 3}}'))
    one = await fleet.join()
    invoker = Invoker(config, http_client, answer_size, LeaderMetrics(), confirm=one.confirm)
    assert isinstance(await invoker.invoke(make_call(server.url)), Answer)
    fleet.execute("DELETE FROM workers")
    one._store.renewed_at_s = lease.uptime_s() - 10
    with pytest.raises(LeaseLostError):
        await invoker.invoke(make_call(server.url))
    assert len(server.requests) == 1
