"""Lookup of leaders by ID, name, owner or worker, and lists of leaders by index, newest first."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence

from msgspec import Struct

from nexus_tools.contracts import PackageClient, event_filter, leader_id, parse_event
from nexus_tools.contracts.move_bindings import leader_registry
from nexus_tools.contracts.move_bindings.invocation import InvocationFailed, InvocationSettled
from nexus_tools.contracts.move_bindings.leader import (
    Leader,
    LeaderRegistered,
    LeaderTakenOver,
)
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.registry.pages import MAX_SCANNED, PAGE_SIZE
from nexus_tools.sui.client import has_all_events, newest_events
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.types.address import Address

LeaderRef = Address | str
"""A reference to a leader: its ID, or its name."""

_BATCH = 200  # Leaders that are read at once for a page with a filter.
_LIST_HINT = "Run `nexus-tools leader list` to see all leaders."


class LeaderPage(Struct, frozen=True):
    """Leaders, the newest registration first.

    `next` is None on the last page. Otherwise, it is the position at which the next page starts.
    The page results from `scanned` of the `total` registrations. A page that contains only active
    leaders may be short or empty and still have a next page.
    """

    items: tuple[Leader, ...]
    next: int | None
    scanned: int
    total: int


@validate_arguments
class LeaderListing(PackageClient):
    """Read access to the leaders of a deployment. Each method has a bounded cost."""

    async def state(self) -> leader_registry.LeaderRegistry:
        """Return the registry object: version, settings and number of leaders."""
        return await self.read(self._registry, leader_registry.LeaderRegistry)

    async def settings(self) -> leader_registry.LeaderSettings:
        """Return the settings for new leaders and new invocations."""
        return (await self.state()).settings

    async def get(self, leader: Address) -> Leader:
        """Return a leader. Raises `leader_unknown`."""
        return (await self.get_all([leader]))[0]

    async def get_all(self, leaders: Sequence[Address]) -> tuple[Leader, ...]:
        """Return these leaders, in this order. Raises `leader_unknown`."""
        results = []
        for address, leader in zip(leaders, await self.find_all(leaders, Leader), strict=True):
            if leader is None:
                raise NotFoundError(
                    "leader_unknown", f"the leader {address} does not exist", hint=_LIST_HINT
                )
            results.append(leader)
        return tuple(results)

    async def find(self, leader: LeaderRef, among: Sequence[Leader] | None = None) -> Leader:
        """Return the leader with an ID, or the only leader with a name.

        Names are looked up in `among`, by default in all leaders. Text that starts with 0x is
        always an ID. Raises `leader_unknown` or `leader_ambiguous`, or `leader_id_required` if more
        than `MAX_SCANNED` leaders were registered and `among` is None.
        """
        address = _id_of(leader)
        if address is not None:
            return await self.get(address)
        candidates = await self._all() if among is None else among
        matches = [candidate for candidate in candidates if candidate.name == leader]
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise NotFoundError(
                "leader_unknown", f"no leader has the name {leader[:80]!r}", hint=_LIST_HINT
            )
        raise UsageError(
            "leader_ambiguous",
            f"{len(matches)} leaders have the name {leader[:80]!r}",
            hint=f"Pass one of the IDs: {', '.join(str(candidate.id) for candidate in matches)}.",
        )

    async def ids(self, leaders: Sequence[LeaderRef]) -> tuple[Address, ...]:
        """Return the IDs of leaders that are passed by ID or name, without duplicates.

        The method does not check whether a leader with a passed ID exists. Raises the errors of
        `find`.
        """
        ids = {reference: _id_of(reference) for reference in leaders}
        names = [reference for reference, address in ids.items() if address is None]
        candidates = await self._all() if names else ()
        for name in names:
            ids[name] = (await self.find(name, candidates)).id
        return tuple(dict.fromkeys(address for address in ids.values() if address))

    async def list(
        self, *, active: bool = False, limit: int = PAGE_SIZE, before: int | None = None
    ) -> LeaderPage:
        """Return at most `limit` leaders, the newest registration first.

        With `active`, only active leaders are returned, and the page ends after `MAX_SCANNED`
        registrations. To read the next page, pass the field `next` of a page as `before`.
        """
        total = (await self.state()).length
        end = first = total if before is None else min(before, total)
        stop = max(0, end - max(limit, MAX_SCANNED)) if active else max(0, end - limit)
        items: list[Leader] = []
        while end > stop and len(items) < limit:
            start = max(stop, end - (max(limit, _BATCH) if active else limit))
            batch = await self._registered(range(end - 1, start - 1, -1))
            items += [leader for leader in batch if leader.is_active or not active]
            end = start
        if len(items) > limit:
            end = items[limit - 1].index
            items = items[:limit]
        return LeaderPage(tuple(items), end or None, first - end, total)

    async def iterate(self) -> AsyncGenerator[Leader]:
        """Yield all leaders, the newest registration first."""
        page = await self.list(limit=MAX_SCANNED)
        while True:
            for leader in page.items:
                yield leader
            if page.next is None:
                return
            page = await self.list(limit=MAX_SCANNED, before=page.next)

    async def owned_by(self, owner: Address | None = None) -> tuple[Leader, ...]:
        """Return the leaders that an address (default: the wallet) owns, oldest first.

        The leaders are found in the newest events of the owner. If the node does not have all these
        events, the newest `MAX_SCANNED` registrations of all owners are also read.
        """
        address = owner or self.client.address
        kinds = LeaderRegistered, LeaderTakenOver
        page, is_complete = await asyncio.gather(
            newest_events(
                self.client, event_filter(self.deployment, *kinds).sent_by(address), MAX_SCANNED
            ),
            has_all_events(self.client),
        )
        events = [parse_event(self.deployment, record.event) for record in page.events]
        ids = {event.leader for event in events if isinstance(event, kinds)}
        found = {leader.id: leader for leader in await self.find_all([*ids], Leader) if leader}
        if page.next is not None or not is_complete:
            newest = await self.list(limit=MAX_SCANNED)
            found |= {leader.id: leader for leader in newest.items}
        return _sorted(leader for leader in found.values() if leader.owner.owner == address)

    async def worked_by(self, worker: Address | None = None) -> tuple[Leader, ...]:
        """Return the leaders of which an address (default: the wallet) is a worker, oldest first.

        The leaders are found among the newest `MAX_SCANNED` registrations. Older leaders are found
        only if the address owns them or signed some of their newest closings.
        """
        address = worker or self.client.address
        newest = await self.list(limit=MAX_SCANNED)
        found = {leader.id: leader for leader in newest.items}
        if newest.next is not None:
            owned, closed = await asyncio.gather(self.owned_by(address), self._closed_by(address))
            found |= {leader.id: leader for leader in (*owned, *closed)}
        return _sorted(leader for leader in found.values() if address in leader.workers.entries)

    async def _closed_by(self, worker: Address) -> Sequence[Leader]:
        """Return the leaders for which an address signed the newest closings."""
        kinds = InvocationSettled, InvocationFailed
        by_worker = event_filter(self.deployment, *kinds).sent_by(worker)
        page = await newest_events(self.client, by_worker, PAGE_SIZE)
        events = [parse_event(self.deployment, record.event) for record in page.events]
        ids = {event.leader for event in events if isinstance(event, kinds)}
        return [leader for leader in await self.find_all([*ids], Leader) if leader is not None]

    async def _all(self) -> tuple[Leader, ...]:
        """Return all leaders. Raises `leader_id_required` if there are too many."""
        page = await self.list(limit=MAX_SCANNED)
        if page.next is not None:
            raise UsageError(
                "leader_id_required",
                f"the registry has {page.total} leaders, and names are looked up only among up to"
                f" {MAX_SCANNED}, because several leaders can have the same name",
                hint="Pass the ID of the leader.",
            )
        return page.items

    async def _registered(self, indices: range) -> Sequence[Leader]:
        """Return the leaders with these indices, in the order of the indices."""
        ids = [leader_id(self._registry, index) for index in indices]
        return [leader for leader in await self.find_all(ids, Leader) if leader is not None]

    @property
    def _registry(self) -> Address:
        return self.deployment.leader_registry


def _id_of(leader: LeaderRef) -> Address | None:
    """Return the ID of a leader reference, or None if it is a name."""
    if isinstance(leader, Address):
        return leader
    return Address.parse_whole(leader) if leader.startswith("0x") else None


def _sorted(leaders: Iterable[Leader]) -> tuple[Leader, ...]:
    return tuple(sorted(leaders, key=lambda leader: leader.index))
