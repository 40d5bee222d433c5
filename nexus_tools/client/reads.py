"""Reading objects, fields and coins from a node, decoded from their BCS bytes."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from nexus_tools.client.connection import Connection
from nexus_tools.client.messages import mask, rpc
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import OBJECT, MoveObject, Object, ObjectReference
from nexus_tools.sui.type_tag import SUI, StructTag, TypeTag, coin_tag, parse_type_tag

BATCH_OBJECTS = 50
"""How many objects a node gives at once: `BatchGetObjects` of the reference node."""

PAGE_SIZE = 1000
_PARALLEL_BATCHES = 8


@dataclass(frozen=True, slots=True)
class Coin:
    """A coin with its balance: MIST, for SUI."""

    reference: ObjectReference
    balance: int


@dataclass(frozen=True, slots=True)
class DynamicField:
    """A field of an object: the BCS bytes of its key and value, with their types.

    A dynamic object field has a `child`, the object's id, and no value.
    """

    field_id: Address
    key: bytes
    key_type: TypeTag
    value: bytes | None
    value_type: TypeTag | None
    child: Address | None


async def read_object(connection: Connection, object_id: Address) -> Object | None:
    """The newest version of an object, or None if there is none."""
    message = rpc().GetObjectRequest(object_id=str(object_id), read_mask=mask("bcs"))
    try:
        response = await connection.call(connection.ledger.get_object, message)
    except NotFoundError:
        return None
    return OBJECT.decode(response.object.bcs.value)


async def read_objects(
    connection: Connection, object_ids: Sequence[Address]
) -> tuple[Object | None, ...]:
    """Many objects at once, None in place of those that do not exist."""
    slots = asyncio.Semaphore(_PARALLEL_BATCHES)

    async def read_batch(batch: Sequence[Address]) -> list[Object | None]:
        async with slots:
            return await _read_batch(connection, batch)

    starts = range(0, len(object_ids), BATCH_OBJECTS)
    batches = [object_ids[start : start + BATCH_OBJECTS] for start in starts]
    found = await asyncio.gather(*map(read_batch, batches))
    return tuple(value for batch in found for value in batch)


async def _read_batch(connection: Connection, batch: Sequence[Address]) -> list[Object | None]:
    requests = [rpc().GetObjectRequest(object_id=str(object_id)) for object_id in batch]
    message = rpc().BatchGetObjectsRequest(requests=requests, read_mask=mask("bcs"))
    response = await connection.call(connection.ledger.batch_get_objects, message)
    return [
        None if result.object is None else OBJECT.decode(result.object.bcs.value)
        for result in response.objects
    ]


async def iterate_owned(
    connection: Connection, owner: Address, object_type: StructTag | None
) -> AsyncGenerator[Object, None]:
    """The objects of an address, page after page."""
    token: bytes | None = None
    while True:
        message = rpc().ListOwnedObjectsRequest(
            owner=str(owner),
            page_size=PAGE_SIZE,
            page_token=token,
            read_mask=mask("bcs"),
            object_type=None if object_type is None else str(object_type),
        )
        response = await connection.call(connection.state.list_owned_objects, message)
        for item in response.objects:
            yield OBJECT.decode(item.bcs.value)
        token = response.next_page_token
        if not token:
            return


async def read_coins(
    connection: Connection, owner: Address, coin_type: TypeTag = SUI, limit: int | None = None
) -> tuple[Coin, ...]:
    """The coins of an address, at most `limit`."""
    coins: list[Coin] = []
    async with aclosing(iterate_owned(connection, owner, coin_tag(coin_type))) as objects:
        async for value in objects:
            coins.append(coin_of(value))
            if limit is not None and len(coins) >= limit:
                break
    return tuple(coins)


def coin_of(value: Object) -> Coin:
    """An object of the type `0x2::coin::Coin`: its contents are the id and the balance."""
    assert isinstance(value.data, MoveObject)
    return Coin(value.reference(), int.from_bytes(value.data.contents[32:40], "little"))


async def read_balance(connection: Connection, owner: Address, coin_type: TypeTag) -> int:
    """What the coins and the address balance of an address hold together."""
    message = rpc().GetBalanceRequest(owner=str(owner), coin_type=str(coin_type))
    response = await connection.call(connection.state.get_balance, message)
    return (response.balance.balance or 0) if response.balance is not None else 0


async def read_dynamic_fields(connection: Connection, parent: Address) -> tuple[DynamicField, ...]:
    """All dynamic fields of an object."""
    fields: list[DynamicField] = []
    token: bytes | None = None
    while True:
        message = rpc().ListDynamicFieldsRequest(
            parent=str(parent),
            page_size=PAGE_SIZE,
            page_token=token,
            read_mask=mask("field_id", "name", "value", "value_type", "child_id"),
        )
        response = await connection.call(connection.state.list_dynamic_fields, message)
        fields.extend(map(_dynamic_field, response.dynamic_fields))
        token = response.next_page_token
        if not token:
            return tuple(fields)


async def read_package_versions(connection: Connection, package: Address) -> tuple[Address, ...]:
    """The ids of all versions of a package, by any of them; the newest is the last."""
    versions: list[Address] = []
    token: bytes | None = None
    while True:
        message = rpc().ListPackageVersionsRequest(
            package_id=str(package), page_size=PAGE_SIZE, page_token=token
        )
        response = await connection.call(connection.packages.list_package_versions, message)
        versions.extend(Address.parse(item.package_id) for item in response.versions)
        token = response.next_page_token
        if not token:
            return tuple(versions)


def _dynamic_field(item: Any) -> DynamicField:
    return DynamicField(
        Address.parse(item.field_id),
        item.name.value,
        parse_type_tag(item.name.name),
        None if item.value is None else item.value.value,
        None if item.value_type is None else parse_type_tag(item.value_type),
        None if item.child_id is None else Address.parse(item.child_id),
    )
