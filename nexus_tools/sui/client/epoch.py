"""The number and the gas price of the current epoch, which a transaction must contain."""

import asyncio

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.errors import UnreachableError

_VALID_FOR_S = 600.0


class Epoch(Struct, frozen=True):
    """The number of an epoch, and its reference gas price in MIST per unit."""

    number: int
    gas_price: int


async def read_epoch(connection: Connection) -> Epoch:
    """Return the current epoch.

    Raises `gas_price_refused` if the gas price exceeds the limit that the network's profile sets.
    """
    fields = mask("epoch", "reference_gas_price")
    response = await connection.call("LedgerService/GetEpoch", read_mask=fields)
    price, limit = int(response.epoch.reference_gas_price), connection.network.max_gas_price_mist
    if price > limit:
        raise UnreachableError(
            "gas_price_refused",
            f"the node at {connection.network.url} reports a gas price of {price} MIST,"
            f" but this client accepts at most {limit} MIST",
            hint="Compare the price with another node. If the price is correct, accept it with"
            f" `nexus-tools config set max_gas_price {price}`.",
            details={"gas_price_mist": price, "max_gas_price_mist": limit},
        )
    return Epoch(int(response.epoch.epoch), price)


class EpochCache:
    """A cache of the current epoch, valid for ten minutes. An epoch lasts about a day."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._epoch: Epoch | None = None
        self._read_at = 0.0

    async def get(self) -> Epoch:
        """Return the current epoch, possibly from the cache."""
        now = asyncio.get_running_loop().time()
        if self._epoch is None or now - self._read_at > _VALID_FOR_S:
            self._epoch = await read_epoch(self._connection)
            self._read_at = now
        return self._epoch

    async def read_again(self) -> Epoch:
        """Read the current epoch from the node, and replace the cached epoch."""
        self._epoch = None
        return await self.get()
