"""The transaction and the checkpoint that created a shared object."""

import asyncio

from nexus_tools.contracts import PackageClient
from nexus_tools.sui.client import Cursor, Executed
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object, Shared


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
    creation = None if current is None else await read_creation(package, current)
    return creation.checkpoint or None if creation else None


async def read_creation(package: PackageClient, value: Object) -> Executed | None:
    """Return the transaction that shared an object first, or None.

    The result is None if the object is not shared, or if the node has pruned its first version.
    """
    if not isinstance(value.owner, Shared):
        return None
    original = await package.client.object(value.id, value.owner.initial_version)
    if original is None:
        return None
    return await package.client.transaction(original.previous_transaction)
