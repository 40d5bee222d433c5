"""Transactions that are signed before they are timed.

Each transaction has its own gas coin, so that no transaction waits for another.
"""

from collections.abc import Callable, Iterator, Sequence

from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import GasData, SharedObject, TransactionData

COIN_MIST = 20_000_000
"""The balance of the coin that pays for one transaction."""

_BUDGET_MIST = 15_000_000
_GAS_PRICE = 1_000
_RECIPIENT = Address(b"\x0b" * 32)

Content = Callable[[TransactionBuilder], None]


def transfer(builder: TransactionBuilder) -> None:
    """Transfer one MIST to another address."""
    builder.transfer_objects([builder.split_coins(builder.gas, [1])[0]], _RECIPIENT)


def call_of(package: Address, counter: SharedObject) -> Content:
    """Return a call that increases a counter of `move/counter`."""

    def call(builder: TransactionBuilder) -> None:
        builder.move_call(package, "counter", "increase", [builder.resolved(counter)])

    return call


def signed(
    key: KeyPair,
    coins: Sequence[ObjectReference],
    content: Content,
    budget_mist: int = _BUDGET_MIST,
) -> Iterator[tuple[bytes, bytes]]:
    """Yield a transaction for each coin, and its signature."""
    for coin in coins:
        builder = TransactionBuilder()
        content(builder)
        gas = GasData((coin,), key.address, _GAS_PRICE, budget_mist)
        data = TransactionData(builder.finish(), key.address, gas, NoExpiration()).encode()
        yield data, key.sign(data)
