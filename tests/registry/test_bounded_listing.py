"""Bounds of tool lists: requests do not depend on the number of registrations."""

import pytest

from nexus_tools.registry import Registration, ToolFilter
from nexus_tools.registry.tools import listing, owned_tools

NAME = "xyz.example.math.add"


def fqns(tools):
    return [tool.fqn for tool in tools]


async def counted(requests, coroutine):
    requests.clear()
    value = await coroutine
    return value, dict(requests)


async def test_list_sends_as_many_requests_for_300_tools_as_for_5(
    registry, register_many, requests
):
    await register_many(registry, 5)
    few, requests_of_few = await counted(requests, registry.list(limit=5))
    await register_many(registry, 300)
    many, requests_of_many = await counted(requests, registry.list(limit=5))
    assert requests_of_few == requests_of_many == {"GetObject": 1, "BatchGetObjects": 2}
    assert fqns(few.items) == [f"xyz.example.many.t{number:03}@1" for number in range(4, -1, -1)]
    assert fqns(many.items) == [f"xyz.example.many.t{number}@1" for number in range(299, 294, -1)]
    assert (few.next, many.next, many.scanned, many.total) == (None, 295, 5, 300)


async def test_list_pages_together_equal_the_iterated_tools(registry, register_many):
    await register_many(registry, 7)
    pages = [await registry.list(limit=3)]
    while pages[-1].next is not None:
        pages.append(await registry.list(limit=3, before=pages[-1].next))
    assert [len(page.items) for page in pages] == [3, 3, 1]
    listed = [tool.fqn for page in pages for tool in page.items]
    assert listed[::-1] == [tool.fqn async for tool in registry.iterate()]


async def test_list_with_filter_ends_after_its_bound(registry, register_many, monkeypatch):
    monkeypatch.setattr(listing, "MAX_SCANNED", 4)
    await register_many(registry, 7)
    wanted = ToolFilter(search="t001")
    first = await registry.list(wanted, limit=3)
    assert (first.items, first.next, first.scanned, first.total) == ((), 3, 4, 7)
    second = await registry.list(wanted, limit=3, before=first.next)
    assert (fqns(second.items), second.next) == (["xyz.example.many.t001@1"], None)


# --- Owners


async def test_owned_by_returns_all_versions_of_accepted_names(
    registry, strangers, define, owner, user
):
    other = "org.example.maths.sub@1"
    await strangers.register(Registration(define(other)), Registration(define(f"{NAME}@1")))
    await strangers.offer(NAME, owner.address)
    await registry.accept(NAME)
    await registry.register(Registration(define(f"{NAME}@2")))
    owned = await registry.owned_by(owner.address)
    assert (fqns(owned.tools), owned.is_complete) == ([f"{NAME}@2", f"{NAME}@1"], True)
    assert fqns((await registry.owned_by(user.address)).tools) == [other]
    assert fqns(await registry.versions(NAME)) == [f"{NAME}@1", f"{NAME}@2"]

    await registry.offer(NAME, user.address)
    await strangers.accept(NAME)
    assert (await registry.owned_by(owner.address)).tools == ()
    owned = await registry.owned_by(user.address)
    assert fqns(owned.tools) == [f"{NAME}@2", f"{NAME}@1", other]
    assert fqns(await registry.versions(NAME)) == [f"{NAME}@1", f"{NAME}@2"]


async def test_owned_by_is_not_affected_by_tools_of_other_owners(
    registry, strangers, register_many, requests, owner
):
    await register_many(registry, 2)
    before, requests_before = await counted(requests, registry.owned_by(owner.address))
    await register_many(strangers, 300, prefix="org.example.flood.t")
    after, requests_after = await counted(requests, registry.owned_by(owner.address))
    expected = ["xyz.example.many.t001@1", "xyz.example.many.t000@1"]
    assert fqns(after.tools) == fqns(before.tools) == expected
    assert after.is_complete
    assert requests_after == requests_before


async def test_owned_by_returns_accepted_names_despite_a_flood_of_the_seller(
    registry, strangers, register_many, define, owner, monkeypatch
):
    await strangers.register(Registration(define(f"{NAME}@1")))
    await strangers.offer(NAME, owner.address)
    await registry.accept(NAME)
    await register_many(strangers, 30, prefix="org.example.flood.t")
    monkeypatch.setattr(owned_tools, "MAX_SCANNED", 10)
    monkeypatch.setattr(listing, "MAX_SCANNED", 10)
    owned = await registry.owned_by(owner.address)
    assert (fqns(owned.tools), owned.is_complete) == ([f"{NAME}@1"], False)


@pytest.mark.parametrize(("bound", "expected"), [(10, range(4)), (2, [2, 3])])
async def test_owned_by_scans_registrations_if_events_are_missing(
    registry, register_many, owner, monkeypatch, bound, expected
):
    """The node has pruned the events, so the newest registrations are read instead."""
    await register_many(registry, 4)
    monkeypatch.setattr(listing, "find_owned", no_events)
    monkeypatch.setattr(listing, "MAX_SCANNED", bound)
    owned = await registry.owned_by(owner.address)
    assert fqns(owned.tools) == [f"xyz.example.many.t00{number}@1" for number in expected][::-1]
    assert owned.is_complete == (bound >= 4)
    mine = ToolFilter(owner=owner.address)
    assert (await registry.list(mine, limit=1)).is_complete == owned.is_complete
    assert len([tool async for tool in registry.iterate(mine)]) == 4


async def no_events(*_):
    return owned_tools.FoundFqns(frozenset(), is_complete=False)


async def test_list_of_owner_continues_at_the_position(registry, register_many, owner):
    await register_many(registry, 5)
    mine = ToolFilter(owner=owner.address)
    first = await registry.list(mine, limit=3)
    second = await registry.list(mine, limit=3, before=first.next)
    assert (first.scanned, first.total, second.next) == (3, 5, None)
    newest_first = fqns([*first.items, *second.items])
    assert newest_first[::-1] == [tool.fqn async for tool in registry.iterate(mine)]


# --- Versions


async def test_versions_does_not_read_other_names(
    registry, strangers, register_many, requests, define
):
    await registry.register(Registration(define(f"{NAME}@1")), Registration(define(f"{NAME}@7")))
    few, requests_of_few = await counted(requests, registry.versions(NAME))
    await register_many(strangers, 300, prefix="org.example.flood.t")
    many, requests_of_many = await counted(requests, registry.versions(NAME))
    assert fqns(few) == fqns(many) == [f"{NAME}@1", f"{NAME}@7"]
    assert requests_of_few == requests_of_many


async def test_versions_reads_all_registrations_if_events_are_missing(
    registry, register_many, define, monkeypatch
):
    await registry.register(Registration(define(f"{NAME}@1")))
    await register_many(registry, 3)
    monkeypatch.setattr(listing, "find_versions", no_events)
    assert fqns(await registry.versions(NAME)) == [f"{NAME}@1"]


async def test_versions_returns_nothing_for_unknown_name(registry):
    assert await registry.versions("xyz.example.math.none") == ()


async def test_find_owned_is_incomplete_if_the_node_pruned_events(
    registry, register_many, owner, monkeypatch
):
    async def pruned(_):
        return False

    await register_many(registry, 2)
    assert (await owned_tools.find_owned(registry, owner.address)).is_complete
    monkeypatch.setattr(owned_tools, "has_all_events", pruned)
    assert not (await owned_tools.find_owned(registry, owner.address)).is_complete
