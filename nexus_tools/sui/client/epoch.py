"""The epoch of now: its number and gas price, which a transaction has to name."""

import asyncio

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.errors import UnreachableError

_GOOD_FOR_S = 600.0


class Epoch(Struct, frozen=True):
    """The number of an epoch, and its reference gas price in MIST per unit."""

    number: int
    gas_price: int


async def read_epoch(connection: Connection) -> Epoch:
    """Return the current epoch. Raises `gas_price_refused` if the network's limit is exceeded."""
    fields = mask("epoch", "reference_gas_price")
    response = await connection.call("LedgerService/GetEpoch", read_mask=fields)
    price, limit = int(response.epoch.reference_gas_price), connection.network.max_gas_price_mist
    if price > limit:
        raise UnreachableError(
            "gas_price_refused",
            f"the node at {connection.network.url} reports a gas price of {price} MIST,"
            f" and this client accepts at most {limit} MIST",
            hint="compare it with another node; if it is right,"
            f" `nexus-tools config set max_gas_price {price}` accepts it",
            details={"gas_price_mist": price, "max_gas_price_mist": limit},
        )
    return Epoch(int(response.epoch.epoch), price)


class KnownEpoch:
    """The epoch as it was read some minutes ago at most: there is one in a day."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._epoch: Epoch | None = None
        self._read_at = 0.0

    async def get(self) -> Epoch:
        """The epoch."""
        now = asyncio.get_running_loop().time()
        if self._epoch is None or now - self._read_at > _GOOD_FOR_S:
            self._epoch = await read_epoch(self._connection)
            self._read_at = now
        return self._epoch

    async def read_again(self) -> Epoch:
        """The epoch as it is now, whatever was known."""
        self._epoch = None
        return await self.get()
