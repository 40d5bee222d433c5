"""The tools that changed on chain since the last time, from the newest events."""

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings import collateral
from nexus_tools.contracts.move_bindings.owner import OwnershipAccepted
from nexus_tools.contracts.move_bindings.tool import ToolRegistered, ToolUpdated
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.client import Cursor, EventRecord, newest_events
from nexus_tools.sui.types.address import Address

_MAX_EVENTS = 1_000
_EVENTS_AT_ONCE = 200
_LAG = 100
"""The number of checkpoints that are read again, because an event index may lag behind."""

_OF_COLLATERAL = (
    collateral.CollateralLocked,
    collateral.Unregistered,
    collateral.UnregistrationCancelled,
    collateral.CollateralClaimed,
    collateral.CollateralToppedUp,
    collateral.Slashed,
)


class ChangedTools:
    """A reader of events that change the offer of tools.

    If `owner` is set, a transfer of a name from or to this address also changes the offer.
    """

    def __init__(self, registry: ToolRegistry, owner: Address | None) -> None:
        self._registry = registry
        self._owner = owner
        self._start: Cursor | None = None
        self._newest: EventRecord | None = None
        self._following: tuple[Cursor | None, EventRecord | None] = None, None

    async def reset(self) -> None:
        """Start to record changes now."""
        self._start, self._newest = await self._position(), None

    async def read(self) -> set[Address] | None:
        """Return the IDs of changed tools, and of leaders with similar events.

        Call `advance` after the changes have been processed. Otherwise, `read` returns them again.
        The result is None if the changes are not known: they are too many, a name was transferred,
        the chain was rolled back, or `reset` has not been called.
        """
        if self._start is None:
            return None
        following = await self._position()
        records = await self._records(self._start)
        if records is None or self._is_rolled_back(following, records):
            return None
        changed: set[Address] = set()
        for record in records:
            event = parse_event(self._registry.deployment, record.event)
            if isinstance(event, ToolRegistered | ToolUpdated):
                changed.add(event.tool)
            elif isinstance(event, _OF_COLLATERAL):
                changed.add(event.object)
            elif isinstance(event, OwnershipAccepted) and self._concerns_owner(event):
                return None
        self._following = following, records[0] if records else self._newest
        return changed

    def advance(self) -> None:
        """Do not return the changes of the last `read` again."""
        self._start, self._newest = self._following

    async def _position(self) -> Cursor:
        newest = await self._registry.client.latest_checkpoint()
        return Cursor.after_checkpoint(newest - _LAG)

    def _concerns_owner(self, event: OwnershipAccepted) -> bool:
        return self._owner in (event.owner, event.previous_owner)

    def _is_rolled_back(self, following: Cursor, records: list[EventRecord]) -> bool:
        """Return whether the chain is shorter, or the newest known event has disappeared."""
        assert self._start is not None
        if following.position < self._start.position:
            return True
        newest = self._newest
        if newest is None or newest.cursor.position <= self._start.position:
            return False
        known = newest.cursor.position, newest.transaction_digest
        return all((item.cursor.position, item.transaction_digest) != known for item in records)

    async def _records(self, start: Cursor) -> list[EventRecord] | None:
        """Return the events after a position, newest first, or None if there are too many."""
        deployment = self._registry.deployment
        kinds = event_filter(deployment, ToolRegistered, ToolUpdated)
        kinds |= event_filter(deployment, *_OF_COLLATERAL)
        if self._owner is not None:
            kinds |= event_filter(deployment, OwnershipAccepted)
        records: list[EventRecord] = []
        before: Cursor | None = None
        while len(records) < _MAX_EVENTS:
            page = await newest_events(self._registry.client, kinds, _EVENTS_AT_ONCE, before)
            records += page.events
            before = page.next
            if before is None or before.position <= start.position:
                return [record for record in records if record.cursor.position > start.position]
            if len(page.events) < _EVENTS_AT_ONCE:
                return None
        return None
