"""Where the events of an object begin: what was told on the chain before it need not be read."""

import asyncio

from nexus_tools.contracts import PackageClient
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Shared


async def beginning_of(package: PackageClient, *objects: Address) -> Cursor | None:
    """A place before the first event of shared objects, near it; None if that is not known.

    It is not of those that are deleted, nor of those whose first version the node has forgotten.
    """
    places = await asyncio.gather(*(_checkpoint(package, each) for each in objects))
    known = [each for each in places if each is not None]
    if not known or len(known) < len(places):
        return None
    return Cursor.after_checkpoint(min(known) - 1)


async def _checkpoint(package: PackageClient, place: Address) -> int | None:
    """The checkpoint with the transaction that made an object."""
    found = await package.client.object(place)
    if found is None or not isinstance(found.owner, Shared):
        return None
    first = await package.client.object(place, found.owner.initial_version)
    made = first and await package.client.transaction(first.previous_transaction)
    return made.checkpoint or None if made else None
