"""Lists and lookups of leaders, whose requests do not depend on the number of leaders."""

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.registry import LeaderRegistry
from nexus_tools.registry.leaders import listing
from nexus_tools.sui.client.events.events import EventPage
from nexus_tools.tool import Answer, ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})


def ids(leaders):
    return [leader.id for leader in leaders]


async def counted(requests, coroutine):
    requests.clear()
    value = await coroutine
    return value, dict(requests)


async def test_pages_have_each_leader_once_newest_first(leaders, register_leaders, leader):
    registered = await register_leaders(leader, 7)
    pages = [await leaders.list(limit=3)]
    while pages[-1].next is not None:
        pages.append(await leaders.list(limit=3, before=pages[-1].next))
    assert [len(page.items) for page in pages] == [3, 3, 1]
    assert [(page.scanned, page.total) for page in pages] == [(3, 7), (3, 7), (1, 7)]
    assert [item for page in pages for item in ids(page.items)] == registered[::-1]
    assert [item.id async for item in leaders.iterate()] == registered[::-1]


async def test_page_of_active_leaders_omits_the_others(leaders, register_leaders, leader):
    active = await register_leaders(leader, 3)
    await register_leaders(leader, 4, active=False)
    page = await leaders.list(active=True, limit=2)
    assert (ids(page.items), page.next, page.scanned) == ([active[2], active[1]], 1, 6)
    page = await leaders.list(active=True, limit=2, before=page.next)
    assert (ids(page.items), page.next, page.scanned) == ([active[0]], None, 1)


async def test_page_of_active_leaders_ends_at_its_bound(
    leaders, register_leaders, leader, monkeypatch
):
    monkeypatch.setattr(listing, "MAX_SCANNED", 4)
    [active] = await register_leaders(leader, 1)
    await register_leaders(leader, 5, active=False)
    page = await leaders.list(active=True, limit=2)
    assert (page.items, page.next, page.scanned) == ((), 2, 4)
    page = await leaders.list(active=True, limit=2, before=page.next)
    assert (ids(page.items), page.next) == ([active], None)


async def test_lookups_send_as_many_requests_for_120_leaders_as_for_20(
    leaders, register_leaders, leader, user, chain, requests
):
    users = LeaderRegistry(user, chain.deployment)
    await register_leaders(leader, 2)
    await register_leaders(user, 18)

    async def measure():
        page, requests_of_page = await counted(requests, leaders.list(limit=5))
        owned, requests_of_owned = await counted(requests, leaders.owned_by(leader.address))
        assert (len(page.items), len(owned)) == (5, 2)
        return requests_of_page, requests_of_owned

    few = await measure()
    await register_leaders(user, 100)
    assert await measure() == few
    assert few == (
        {"GetObject": 1, "BatchGetObjects": 1},
        {"ListEvents": 1, "GetServiceInfo": 1, "BatchGetObjects": 1},
    )
    assert len(await users.owned_by()) == 118


# --- Owners and workers


async def test_owned_by_follows_transfers(leaders, register_leaders, leader, user, chain):
    first, second = await register_leaders(leader, 2)
    users = LeaderRegistry(user, chain.deployment)
    await leaders.offer(first, user.address)
    await users.accept(first)
    assert ids(await leaders.owned_by()) == [second]
    assert ids(await users.owned_by()) == [first]


async def test_owned_by_scans_registrations_if_events_are_missing(
    leaders, register_leaders, leader, monkeypatch
):
    async def pruned(_):
        return False

    async def no_events(*_):
        return EventPage((), None)

    registered = await register_leaders(leader, 3)
    monkeypatch.setattr(listing, "has_all_events", pruned)
    monkeypatch.setattr(listing, "newest_events", no_events)
    assert ids(await leaders.owned_by()) == registered


async def test_worked_by_finds_old_leaders_of_the_owner(
    leaders, register_leaders, leader, user, monkeypatch
):
    [mine] = await register_leaders(leader, 1)
    await register_leaders(user, 3)
    monkeypatch.setattr(listing, "MAX_SCANNED", 2)
    assert ids(await leaders.worked_by()) == [mine]


async def test_worked_by_finds_old_leaders_by_their_closings(
    leaders, register_leaders, leader, user, chain, monkeypatch, registry, added, invocations
):
    users = LeaderRegistry(user, chain.deployment)
    [foreign] = await register_leaders(leader, 1, worker=user.address)
    [idle] = await register_leaders(leader, 1, worker=user.address)
    _, invocation = await invocations.request(
        await registry.get(ADD), {"a": 1, "b": 2}, leaders=[foreign]
    )
    await invocations.close(foreign, {invocation: ANSWER})
    assert ids(await users.worked_by()) == [foreign, idle]
    await register_leaders(leader, 3)
    monkeypatch.setattr(listing, "MAX_SCANNED", 2)
    assert ids(await users.worked_by()) == [foreign]


# --- Names


async def test_name_is_not_resolved_if_an_older_leader_may_have_it(
    leaders, register_leaders, leader, monkeypatch
):
    """An attacker could otherwise register a leader with the name of an old leader."""
    first, second, _ = await register_leaders(leader, 3)
    assert (await leaders.find("many1")).id == second
    owned = await leaders.owned_by()
    monkeypatch.setattr(listing, "MAX_SCANNED", 2)
    for lookup in (leaders.find("many1"), leaders.ids(["many1"])):
        with pytest.raises(UsageError) as caught:
            await lookup
        assert caught.value.code == "leader_id_required"
        assert "the registry has 3 leaders" in caught.value.message
    assert (await leaders.find(first)).id == first
    assert await leaders.ids([first]) == (first,)
    assert (await leaders.find("many0", owned)).id == first
