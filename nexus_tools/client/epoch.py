"""The epoch of now: its number and gas price, which a transaction has to name."""

import asyncio

from msgspec import Struct

from nexus_tools.client.connection import Connection, mask

_GOOD_FOR_S = 600.0


class Epoch(Struct, frozen=True):
    """The number of an epoch, and its reference gas price in MIST per unit."""

    number: int
    gas_price: int


async def read_epoch(connection: Connection) -> Epoch:
    """The epoch of now."""
    fields = mask("epoch", "reference_gas_price")
    response = await connection.call("LedgerService/GetEpoch", read_mask=fields)
    return Epoch(int(response.epoch.epoch), int(response.epoch.reference_gas_price))


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
