"""Gas: which coins pay for a transaction, how much it takes from them, and its budget."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable

from nexus_tools.client.reads import Coin
from nexus_tools.errors import NotNowError
from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import u64
from nexus_tools.sui.effects import GasCostSummary, ObjectWrite, TransactionEffects
from nexus_tools.sui.execution_status import Success
from nexus_tools.sui.object import AddressOwner, ObjectReference
from nexus_tools.sui.transaction import (
    Argument,
    GasCoin,
    InputArgument,
    MergeCoins,
    ProgrammableTransaction,
    Pure,
    SplitCoins,
    arguments_of,
)
from nexus_tools.units import sui

MAX_BUDGET_MIST = 50_000_000_000_000
"""The largest gas budget: `max_tx_gas` of the protocol configuration."""

MAX_PAYMENT_COINS = 256
"""The most coins that pay for one transaction: `max_gas_payment_objects`."""

MIN_BUDGET_UNITS = 2_000
"""The smallest budget, in units at the gas price: `base_tx_cost_fixed`, doubled."""

ROOMY_BUDGET_MIST = 10_000_000_000
"""What a simulation may use if the wallet has it: twice the most computation at usual prices."""

TIGHT_BUDGET_MIST = 500_000_000
"""The same where coins are spared for other transactions: all but the largest of ours fit."""

_SAFETY_UNITS = 1_000


def budget_for(cost: GasCostSummary, price: int) -> int:
    """A budget, in MIST, for a transaction that cost this much when it was simulated.

    The rebate counts only against storage, and the chain may move on meanwhile: 1 000 units more.

    For a transfer at a price of 1 000 with the costs 1 000 000 for computation and 1 976 000 for
    storage, and a rebate of 978 120, that is 1 000 000 + 997 880 + 1 000 000.
    """
    storage = max(0, cost.storage_cost - cost.storage_rebate)
    return cost.computation_cost + storage + _SAFETY_UNITS * price


def withdrawn(transaction: ProgrammableTransaction) -> int | None:
    """What the commands take from the gas coin at most, in MIST; None if that cannot be told.

    It cannot if the coin is given to Move code, or away, or amounts are computed.
    """
    total = 0
    for command in transaction.commands:
        if not isinstance(command, SplitCoins | MergeCoins):
            if GasCoin() in arguments_of(command):
                return None
        elif isinstance(command, SplitCoins) and command.coin == GasCoin():
            amounts = [_amount(transaction, amount) for amount in command.amounts]
            if None in amounts:
                return None
            total += sum(amount for amount in amounts if amount is not None)
        elif isinstance(command, MergeCoins) and GasCoin() in command.sources:
            return None
    return total


def what_is_left(
    effects: TransactionEffects, coins: tuple[Coin, ...], taken: int | None, owner: Address
) -> tuple[Coin, ...]:
    """The gas coin after a transaction, with what it holds at least, if that can be told.

    `taken` is what the commands took from it at most (MIST), as `withdrawn` says.
    """
    if not isinstance(effects.status, Success):
        taken = 0
    if taken is None or effects.gas_object_index is None:
        return ()
    object_id, change = effects.changed_objects[effects.gas_object_index]
    if not isinstance(change.output, ObjectWrite) or change.output.owner != AddressOwner(owner):
        return ()
    reference = ObjectReference(object_id, effects.lamport_version, change.output.digest)
    total = sum(coin.balance for coin in coins)
    return (Coin(reference, total - effects.gas_used.net - taken),)


def _amount(transaction: ProgrammableTransaction, argument: Argument) -> int | None:
    value = transaction.inputs[argument.index] if isinstance(argument, InputArgument) else None
    return u64.decode(value.value) if isinstance(value, Pure) else None


class GasCoins:
    """The SUI coins of one address: those that are free, and those that pay for something now."""

    def __init__(self, read: Callable[[], Awaitable[tuple[Coin, ...]]]) -> None:
        self._read = read
        self._free: dict[Address, Coin] = {}
        self._used: set[Address] = set()
        self._changed = asyncio.Condition()

    async def take(
        self, required: int, wanted: int = 0, exclude: Collection[Address] = ()
    ) -> tuple[Coin, ...]:
        """Coins with `required` MIST at least, and `wanted` if there is as much; largest first.

        Waits for coins that are in use. Raises `not_enough_sui`.
        """
        fresh = False
        async with self._changed:
            while True:
                coins = self._choose(max(required, wanted), exclude)
                if sum(coin.balance for coin in coins) >= required and coins:
                    return self._mark(coins)
                # First with what is known, then with what the node has now, then when coins come
                # back.
                if not fresh:
                    await self._refresh()
                    fresh = True
                elif self._used:
                    await self._changed.wait()
                    fresh = False
                else:
                    raise not_enough(required, sum(coin.balance for coin in coins))

    async def give_back(self, taken: Iterable[Coin], left: Iterable[Coin]) -> None:
        """End the use of coins; `left` is what is known to have become of them."""
        async with self._changed:
            self._used.difference_update(coin.reference.object_id for coin in taken)
            self._free.update((coin.reference.object_id, coin) for coin in left)
            self._changed.notify_all()

    async def forget(self, object_ids: Iterable[Address]) -> None:
        """Coins that were changed as inputs of a transaction: read them again when needed."""
        async with self._changed:
            for object_id in object_ids:
                self._free.pop(object_id, None)

    async def forget_all(self) -> None:
        """Somebody else spends them, too: read all that are free again when needed."""
        async with self._changed:
            self._free.clear()

    def _choose(self, wanted: int, exclude: Collection[Address]) -> list[Coin]:
        coins: list[Coin] = []
        total = 0
        for coin in sorted(self._free.values(), key=lambda coin: -coin.balance):
            if (total >= wanted and coins) or len(coins) == MAX_PAYMENT_COINS:
                break
            if coin.reference.object_id not in exclude:
                coins.append(coin)
                total += coin.balance
        return coins

    def _mark(self, coins: list[Coin]) -> tuple[Coin, ...]:
        for coin in coins:
            del self._free[coin.reference.object_id]
            self._used.add(coin.reference.object_id)
        return tuple(coins)

    async def _refresh(self) -> None:
        known = self._free
        self._free = {}
        for coin in await self._read():
            key = coin.reference.object_id
            if key not in self._used:
                self._free[key] = _newer(known.get(key), coin)


def _newer(known: Coin | None, read: Coin) -> Coin:
    """A node may lag behind what it has executed for us."""
    if known is not None and known.reference.version > read.reference.version:
        return known
    return read


def not_enough(required: int, available: int, budget: int = 0) -> NotNowError:
    """What the wallet has, needs and lacks; of that, `budget` is for gas if it is known."""
    for_gas = f", of which {sui(budget)} are for gas at most" if budget else ""
    return NotNowError(
        "not_enough_sui",
        f"the wallet has {sui(available)} free, and {sui(required)} are needed{for_gas}:"
        f" {sui(required - available)} are lacking",
        details={
            "required_mist": required,
            "available_mist": available,
            "lacking_mist": required - available,
        },
    )


def not_enough_for_gas(available: int, taken: int) -> NotNowError:
    """What the wallet has besides what the commands take is too little."""
    left = available - taken
    return NotNowError(
        "not_enough_sui",
        f"the wallet has {sui(available)} free, {sui(taken)} are needed besides gas, and for gas"
        f" {sui(left)} are not enough",
        details={"required_mist": taken, "available_mist": available, "left_for_gas_mist": left},
    )
