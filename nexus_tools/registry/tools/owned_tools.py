"""Lookup of the tools of an owner, and of the versions of a name, in the events of owners.

The owner of a name signs each registration of the name's versions, and the acceptance of a name.
So the transactions of one account show which tools it registered, and which names it received from
which account. The transactions of other accounts do not make this lookup longer.
"""

import asyncio
from collections.abc import Iterable, Mapping

from msgspec import Struct

from nexus_tools.contracts import PackageClient, event_filter, name_id, parse_event
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.owner import OwnershipAccepted
from nexus_tools.contracts.move_bindings.tool import ToolRegistered, ToolTakenOver
from nexus_tools.registry.pages import MAX_SCANNED, Page, read_page
from nexus_tools.sui.client import EventRecord, has_all_events
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

MAX_OWNERS = 20
"""The number of accounts whose events are read for one lookup."""

_Event = ToolRegistered | ToolTakenOver | OwnershipAccepted
_Ownership = tuple[Address, Address]
"""An account, and the ID of a name that the account owns or owned."""


class FoundFqns(Struct, frozen=True):
    """FQNs from events. If `is_complete` is False, further FQNs may exist."""

    fqns: frozenset[ToolFqn]
    is_complete: bool


class _History(Struct, frozen=True):
    """The newest registrations and acceptances of one account.

    `names` has the ID of the name of each registered tool. `accepted` has the previous owner of
    each accepted object.
    """

    names: Mapping[ToolFqn, Address]
    accepted: tuple[_Ownership, ...]
    is_complete: bool


async def find_owned(package: PackageClient, owner: Address) -> FoundFqns:
    """Return the FQNs that an account registered, and the FQNs of the names that it accepted.

    The account may have transferred some of the names that it registered.
    """
    reader = _HistoryReader(package)
    history = await reader.read(owner)
    names = await _owned_names(package, owner, {item for _, item in history.accepted})
    versions = await reader.trace(entry for entry in history.accepted if entry[1] in names)
    is_complete = history.is_complete and versions.is_complete
    return FoundFqns(
        versions.fqns.union(history.names), is_complete and await has_all_events(package.client)
    )


async def find_versions(package: PackageClient, owner: Address, name: Address) -> FoundFqns:
    """Return the FQNs of the versions of a name, which `owner` owns now."""
    versions = await _HistoryReader(package).trace([(owner, name)])
    is_complete = versions.is_complete and await has_all_events(package.client)
    return FoundFqns(versions.fqns, is_complete)


async def _owned_names(
    package: PackageClient, owner: Address, ids: set[Address]
) -> frozenset[Address]:
    """Return the IDs of the names of an owner among objects, which may also be leaders."""
    deployment = package.deployment
    kind = deployment.type_of(Name)
    values = await package.client.objects([*ids])
    names = [deployment.decode(value, Name) for value in values if value and value.type == kind]
    return frozenset(name.id for name in names if name.owner.owner == owner)


class _HistoryReader:
    """A reader of the events of at most `MAX_OWNERS` accounts."""

    def __init__(self, package: PackageClient) -> None:
        self._package = package
        self._histories: dict[Address, _History] = {}

    async def read(self, account: Address) -> _History:
        """Return the newest registrations and acceptances of an account."""
        deployment = self._package.deployment
        kinds = event_filter(deployment, ToolRegistered, ToolTakenOver)
        kinds |= event_filter(deployment, OwnershipAccepted)
        page: Page[_Event] = await read_page(
            self._package, kinds.sent_by(account), self._parse, MAX_SCANNED
        )
        names: dict[ToolFqn, Address] = {}
        accepted: list[_Ownership] = []
        for event in page.items:
            if isinstance(event, OwnershipAccepted):
                accepted.append((event.previous_owner, event.object))
            else:
                fqn = ToolFqn.parse(event.fqn)
                names[fqn] = name_id(deployment.tool_registry, fqn.unversioned)
        self._histories[account] = _History(names, tuple(accepted), page.next is None)
        return self._histories[account]

    async def trace(self, ownerships: Iterable[_Ownership]) -> FoundFqns:
        """Return the versions of names that these accounts or earlier owners registered."""
        fqns: set[ToolFqn] = set()
        pending, traced = set(ownerships), set[_Ownership]()
        is_complete = True
        while pending:
            traced |= pending
            await self._read_all({account for account, _ in pending})
            earlier: set[_Ownership] = set()
            for account, name in pending:
                history = self._histories.get(account, _UNREAD)
                is_complete = is_complete and history.is_complete
                fqns |= {fqn for fqn, registered in history.names.items() if registered == name}
                earlier |= {entry for entry in history.accepted if entry[1] == name}
            pending = earlier - traced
        return FoundFqns(frozenset(fqns), is_complete)

    async def _read_all(self, accounts: set[Address]) -> None:
        """Read the histories of accounts, until `MAX_OWNERS` histories have been read."""
        unread = [account for account in accounts if account not in self._histories]
        remaining = max(0, MAX_OWNERS - len(self._histories))
        await asyncio.gather(*map(self.read, unread[:remaining]))

    async def _parse(self, records: Iterable[EventRecord]) -> list[_Event | None]:
        deployment = self._package.deployment
        events = [parse_event(deployment, record.event) for record in records]
        return [event if isinstance(event, _Event) else None for event in events]


_UNREAD = _History({}, (), is_complete=False)
