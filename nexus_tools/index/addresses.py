"""The small numbers that stand for addresses and object IDs in an index."""

import sqlite3
from collections.abc import Collection, Sequence

from nexus_tools.sui.types.address import Address

_MAX_CACHED = 100_000


class AddressNumbers:
    """The numbers of addresses, in the order in which the addresses first occur in events.

    The order makes the numbers of a rebuilt index equal.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers: dict[Address, int] = {}

    def number(self, address: Address, checkpoint: int) -> int:
        """Return the number of an address, which gets one if it does not have one."""
        number = self._numbers.get(address)
        if number is None:
            number = find_number(self._connection, address)
            if number is None:
                row = self._connection.execute(
                    "INSERT INTO addresses (address, checkpoint) VALUES (?, ?)",
                    (bytes(address), checkpoint),
                )
                number = row.lastrowid
                assert number is not None
            if len(self._numbers) >= _MAX_CACHED:
                self._numbers.clear()
            self._numbers[address] = number
        return number

    def forget(self) -> None:
        """Forget the cached numbers after a transaction was rolled back."""
        self._numbers.clear()


def find_number(connection: sqlite3.Connection, address: Address) -> int | None:
    """Return the number of an address, or None if no event contains it."""
    row = connection.execute(
        "SELECT id FROM addresses WHERE address = ?", (bytes(address),)
    ).fetchone()
    return None if row is None else int(row[0])


def find_numbers(
    connection: sqlite3.Connection, addresses: Collection[Address] | None
) -> Sequence[int] | None:
    """Return the numbers of those addresses that occur in events, or None for None."""
    if addresses is None:
        return None
    found = (find_number(connection, address) for address in addresses)
    return [number for number in found if number is not None]
