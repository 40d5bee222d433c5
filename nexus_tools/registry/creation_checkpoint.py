"""The checkpoint that created an object. Readers of its events skip earlier checkpoints."""

import asyncio

from nexus_tools.contracts import PackageClient
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Shared


async def cursor_before_creation(package: PackageClient, *objects: Address) -> Cursor | None:
    """Return a cursor before the checkpoint that created the oldest of these shared objects.

    Return None if one of the objects was deleted, or if the node has pruned its first version.
    """
    checkpoints = await asyncio.gather(*(_checkpoint(package, address) for address in objects))
    known = [checkpoint for checkpoint in checkpoints if checkpoint is not None]
    if not known or len(known) < len(checkpoints):
        return None
    return Cursor.after_checkpoint(min(known) - 1)


async def _checkpoint(package: PackageClient, address: Address) -> int | None:
    """Return the checkpoint of the transaction that created an object, or None."""
    current = await package.client.object(address)
    if current is None or not isinstance(current.owner, Shared):
        return None
    original = await package.client.object(address, current.owner.initial_version)
    creation = original and await package.client.transaction(original.previous_transaction)
    return creation.checkpoint or None if creation else None
