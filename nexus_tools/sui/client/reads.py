"""Functions that read objects, dynamic fields and coins from a node and decode them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import Connection, check_chain, mask
from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.coin import coin_balance
from nexus_tools.sui.types.object import OBJECT, Object, ObjectReference
from nexus_tools.sui.types.type_tag import SUI, StructTag, TypeTag, coin_tag, parse_type_tag

MAX_BATCH_OBJECTS = 50
"""The maximum number of objects that Sui's node returns for one `BatchGetObjects` request."""

PAGE_SIZE = 1000
_PARALLEL_BATCHES = 8


class Coin(Struct, frozen=True):
    """A coin and its balance, which is in MIST for SUI."""

    reference: ObjectReference
    balance: int


class Balance(Struct, frozen=True):
    """An address's funds in one coin type: in coins and in its address balance. SUI is in MIST."""

    in_coins: int
    in_address: int

    @property
    def total(self) -> int:
        """The sum of both amounts."""
        return self.in_coins + self.in_address


class DynamicField(Struct, frozen=True):
    """A dynamic field of an object: the BCS bytes of its key and value, and their types.

    For a dynamic object field, `child` is the ID of the object in the field, and the value is None.
    """

    field_id: Address
    key: bytes
    key_type: TypeTag
    value: bytes | None
    value_type: TypeTag | None
    child: Address | None


async def read_latest_checkpoint(connection: Connection) -> int:
    """Return the sequence number of the node's newest checkpoint.

    Raises:
        UnreachableError: `wrong_chain` if the network has a chain ID and the response has another
            one. The check also works for nodes that do not send the chain header.
    """
    response = await connection.call("LedgerService/GetServiceInfo")
    if connection.chain_id is not None:
        check_chain(connection.network.url, response.chain_id, connection.chain_id)
    return int(response.checkpoint_height)


async def read_object(
    connection: Connection, object_id: Address, version: int | None = None
) -> Object | None:
    """Return a version of an object, by default the newest, or None if the node lacks it."""
    version_fields = {} if version is None else {"version": version}
    try:
        response = await connection.call(
            "LedgerService/GetObject",
            object_id=str(object_id),
            read_mask=mask("bcs"),
            **version_fields,
        )
    except NotFoundError:
        return None
    return OBJECT.decode(response.object.bcs.value)


async def read_objects(
    connection: Connection, object_ids: Sequence[Address]
) -> tuple[Object | None, ...]:
    """Return objects in the order of the IDs, with None for each object that does not exist."""
    if len(object_ids) <= MAX_BATCH_OBJECTS:
        return tuple(await _read_batch(connection, object_ids)) if object_ids else ()
    slots = asyncio.Semaphore(_PARALLEL_BATCHES)

    async def read_batch(batch: Sequence[Address]) -> list[Object | None]:
        async with slots:
            return await _read_batch(connection, batch)

    starts = range(0, len(object_ids), MAX_BATCH_OBJECTS)
    batches = [object_ids[start : start + MAX_BATCH_OBJECTS] for start in starts]
    results = await asyncio.gather(*map(read_batch, batches))
    return tuple(value for batch in results for value in batch)


async def _read_batch(connection: Connection, batch: Sequence[Address]) -> list[Object | None]:
    response = await connection.call(
        "LedgerService/BatchGetObjects",
        requests=[{"object_id": str(object_id)} for object_id in batch],
        read_mask=mask("bcs"),
    )
    return [
        OBJECT.decode(result.object.bcs.value) if result.HasField("object") else None
        for result in response.objects
    ]


async def iterate_owned_objects(
    connection: Connection, owner: Address, object_type: StructTag | None
) -> AsyncGenerator[Object, None]:
    """Yield the objects that an address owns. The node returns the objects in pages."""
    token: bytes | None = None
    while True:
        response = await connection.call(
            "StateService/ListOwnedObjects",
            owner=str(owner),
            page_size=PAGE_SIZE,
            page_token=token,
            read_mask=mask("bcs"),
            object_type=None if object_type is None else str(object_type),
        )
        for item in response.objects:
            yield OBJECT.decode(item.bcs.value)
        token = response.next_page_token
        if not token:
            return


async def read_coins(
    connection: Connection, owner: Address, coin_type: TypeTag = SUI, limit: int | None = None
) -> tuple[Coin, ...]:
    """Return at most `limit` coins of an address."""
    coins: list[Coin] = []
    async with aclosing(iterate_owned_objects(connection, owner, coin_tag(coin_type))) as objects:
        async for value in objects:
            coins.append(coin_from_object(value))
            if limit is not None and len(coins) >= limit:
                break
    return tuple(coins)


def coin_from_object(value: Object) -> Coin:
    """Return the `Coin` for an object of the type `0x2::coin::Coin`."""
    return Coin(value.reference(), coin_balance(value))


async def read_balance(connection: Connection, owner: Address, coin_type: TypeTag) -> Balance:
    """Return an address's funds in one coin type, in coins and in its address balance."""
    response = await connection.call(
        "StateService/GetBalance", owner=str(owner), coin_type=str(coin_type)
    )
    # A node that does not support address balances reports only the total.
    total, in_address = int(response.balance.balance), int(response.balance.address_balance)
    return Balance(total - in_address, in_address)


async def read_dynamic_fields(connection: Connection, parent: Address) -> tuple[DynamicField, ...]:
    """Return all dynamic fields of an object."""
    fields: list[DynamicField] = []
    token: bytes | None = None
    while True:
        response = await connection.call(
            "StateService/ListDynamicFields",
            parent=str(parent),
            page_size=PAGE_SIZE,
            page_token=token,
            read_mask=mask("field_id", "name", "value", "value_type", "child_id"),
        )
        fields.extend(map(_dynamic_field, response.dynamic_fields))
        token = response.next_page_token
        if not token:
            return tuple(fields)


async def read_package_versions(connection: Connection, package: Address) -> tuple[Address, ...]:
    """Return the IDs of all versions of a package, oldest first. `package` may be any version."""
    versions: list[Address] = []
    token: bytes | None = None
    while True:
        response = await connection.call(
            "MovePackageService/ListPackageVersions",
            package_id=str(package),
            page_size=PAGE_SIZE,
            page_token=token,
        )
        versions.extend(Address.parse(item.package_id) for item in response.versions)
        token = response.next_page_token
        if not token:
            return tuple(versions)


def _dynamic_field(item: Any) -> DynamicField:
    return DynamicField(
        Address.parse(item.field_id),
        item.name.value,
        parse_type_tag(item.name.name),
        item.value.value if item.HasField("value") else None,
        parse_type_tag(item.value_type) if item.HasField("value_type") else None,
        Address.parse(item.child_id) if item.HasField("child_id") else None,
    )
