"""The pool of an address's SUI: coins and the address balance, with free and reserved parts."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.client.reads import Balance, Coin
from nexus_tools.sui.errors import WrongStateError
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.types.address import Address

MAX_PAYMENT_COINS = 255
"""The maximum number of gas coins in one transaction.

The value is `max_gas_payment_objects` of the protocol, minus one entry for the address balance.
"""

EVERYTHING = 2**64
"""An amount of MIST that exceeds the supply. A request for this amount reserves all free SUI."""


class GasSource(Enum):
    """The source of the payment for a transaction.

    `ANY` uses coins first, and the address balance for the remainder. `ADDRESS_BALANCE` uses only
    the address balance. With `ADDRESS_BALANCE`, the client does not wait for coins, so any number
    of transactions may be in flight.
    """

    ANY = "any"
    ADDRESS_BALANCE = "address_balance"


class Payment(Struct, frozen=True):
    """The payment for a transaction: coins, and `reserved` MIST from the address balance.

    In addition, the transaction's commands may withdraw `withdrawals` MIST from the address
    balance.
    """

    coins: tuple[Coin, ...] = ()
    reserved: int = 0
    withdrawals: int = 0

    @property
    def in_coins(self) -> int:
        """The total balance of the coins, in MIST."""
        return sum(coin.balance for coin in self.coins)

    @property
    def total(self) -> int:
        """The total payment, in MIST."""
        return self.in_coins + self.reserved

    @property
    def reserved_balance(self) -> int:
        """The part of the address balance that this payment reserves, in MIST."""
        return self.reserved + self.withdrawals


class CoinPool:
    """The pool of an address's SUI.

    One part of the SUI is free, and the other part is reserved for pending transactions. The pool
    reads coins from the node when it needs them. The pool reads the address balance only if the
    coins do not suffice. `read_count` is the number of reads.
    """

    def __init__(
        self,
        read_coins: Callable[[], Awaitable[tuple[Coin, ...]]],
        read_balance: Callable[[], Awaitable[Balance]],
    ) -> None:
        self._read_coins = read_coins
        self._read_balance = read_balance
        self._free: dict[Address, Coin] = {}
        self._used: set[Address] = set()
        self._knows_coins = False
        # The free and the reserved part of the address balance, in MIST. The free part is 0 until
        # the pool reads the balance. The free part is negative if the reserved part exceeds the
        # balance that was read last.
        self._free_balance = 0
        self._held = 0
        self._was_read = False
        # The values of `read_count` after the newest reads. A value is 0 if a transaction has
        # changed the funds since then.
        self.read_count = 0
        self._coins_read_at = 0
        self._balance_read_at = 0
        self._changed = asyncio.Condition()

    async def reserve(
        self,
        required: int,
        wanted: int = 0,
        *,
        exclude: Collection[Address] = (),
        withdrawals: int = 0,
        source: GasSource = GasSource.ANY,
        since: int | None = None,
    ) -> Payment:
        """Reserve at least `required` MIST, and up to `wanted` MIST if available.

        The largest coins are reserved first. If there is not enough free SUI, wait until other
        payments are released. Raises `InsufficientFundsError` if the wallet does not have the
        required amount, according to reads that are newer than `since`. This is a value of
        `read_count`, by default the value at the time of the call.
        """
        needs_coins = source is GasSource.ANY
        since = self.read_count if since is None else since
        async with self._changed:
            while True:
                coins_are_fresh = not needs_coins or self._coins_read_at > since
                balance_is_fresh = self._balance_read_at > since
                payment = self._choose(max(required, wanted), exclude, withdrawals, source)
                # The address balance pays only the amount that the coins do not cover, so the pool
                # must know the coins.
                is_due = self._knows_coins or not (needs_coins and payment.reserved)
                is_all = wanted < EVERYTHING or (coins_are_fresh and balance_is_fresh)
                if required <= payment.total > 0 and is_due and is_all:
                    return self._mark(payment)
                # First, try the known coins. Second, read the coins and the balance from the node.
                # Third, wait until another payment is released.
                if not coins_are_fresh:
                    await self._refresh_coins()
                elif not balance_is_fresh and not (self._was_read and self._is_in_use(source)):
                    await self._refresh_balance()
                elif self._is_in_use(source):
                    await self._changed.wait()
                else:
                    raise InsufficientFundsError(required, payment.total, source=source)

    async def reduce(self, taken: Payment, required: int) -> Payment:
        """Release the reserved address balance that is not needed to pay `required` MIST."""
        reserved = min(taken.reserved, max(0, required - taken.in_coins))
        if reserved == taken.reserved:
            return taken
        async with self._changed:
            self._held -= taken.reserved - reserved
            self._free_balance += taken.reserved - reserved
            self._changed.notify_all()
        return replace(taken, reserved=reserved)

    async def release(self, taken: Payment, left: Payment) -> None:
        """Return `left`, the known unused part of a payment, to the pool."""
        async with self._changed:
            self._used.difference_update(coin.reference.object_id for coin in taken.coins)
            self._free.update((coin.reference.object_id, coin) for coin in left.coins)
            self._knows_coins &= bool(left.coins) or not taken.coins
            self._held -= taken.reserved_balance
            self._free_balance += left.reserved_balance
            if left != taken:
                self._mark_outdated()
            self._changed.notify_all()

    async def read_balance_again(self) -> None:
        """Read the address balance again."""
        async with self._changed:
            await self._refresh_balance()

    @property
    def has_more_coins(self) -> bool:
        """Whether the number of free coins exceeds the maximum of one transaction."""
        return len(self._free) > MAX_PAYMENT_COINS

    @property
    def is_overdrawn(self) -> bool:
        """Whether the reserved amount exceeds the address balance that was read last."""
        return self._free_balance < 0

    async def forget(self, object_ids: Iterable[Address], spent: int = 0) -> None:
        """Remove coins that a transaction has changed from the pool.

        The pool reads coins again when it needs them. The transaction took `spent` MIST from the
        address balance.
        """
        async with self._changed:
            for object_id in object_ids:
                self._knows_coins &= self._free.pop(object_id, None) is None
            self._free_balance -= spent
            self._mark_outdated()

    async def forget_all(self) -> None:
        """Remove all free coins from the pool because another program also spends them."""
        async with self._changed:
            self._free.clear()
            self._knows_coins = False
            self._mark_outdated()

    def _is_in_use(self, source: GasSource) -> bool:
        return bool(self._held or (self._used and source is GasSource.ANY))

    def _choose(
        self, wanted: int, exclude: Collection[Address], withdrawals: int, source: GasSource
    ) -> Payment:
        coins: list[Coin] = []
        total = 0
        for coin in sorted(self._free.values(), key=lambda coin: -coin.balance):
            if source is GasSource.ADDRESS_BALANCE or len(coins) == MAX_PAYMENT_COINS:
                break
            if total >= wanted and coins:
                break
            if coin.reference.object_id not in exclude:
                coins.append(coin)
                total += coin.balance
        reserved = max(0, min(wanted - total, self._free_balance - withdrawals))
        return Payment(tuple(coins), reserved, withdrawals)

    def _mark(self, payment: Payment) -> Payment:
        for coin in payment.coins:
            del self._free[coin.reference.object_id]
            self._used.add(coin.reference.object_id)
        self._held += payment.reserved_balance
        self._free_balance -= payment.reserved_balance
        return payment

    def _mark_outdated(self) -> None:
        """Note that a transaction may have given the wallet funds that the pool does not know."""
        self._coins_read_at = self._balance_read_at = 0

    async def _refresh_coins(self) -> None:
        old_coins = self._free
        self._free = {}
        self._knows_coins = True
        for coin in await self._read_coins():
            key = coin.reference.object_id
            if key not in self._used:
                self._free[key] = _newer(old_coins.get(key), coin)
        self.read_count += 1
        self._coins_read_at = self.read_count

    async def _refresh_balance(self) -> None:
        self._free_balance = (await self._read_balance()).in_address - self._held
        self._was_read = True
        self.read_count += 1
        self._balance_read_at = self.read_count


def _newer(known: Coin | None, read: Coin) -> Coin:
    """Return the newer version of a coin.

    The version that a node returns may be older because the node lags behind our transactions.
    """
    if known is not None and known.reference.version > read.reference.version:
        return known
    return read


class InsufficientFundsError(WrongStateError):
    """An error for a wallet that does not have enough SUI for a transaction.

    The error code is `not_enough_sui`. `required` is the required amount including gas, or None if
    no simulation has determined the amount.
    """

    def __init__(
        self,
        required: int | None,
        available: int,
        gas: int = 0,
        source: GasSource = GasSource.ANY,
    ) -> None:
        details = {"available_mist": available}
        needs = "which is not enough to pay for gas"
        if required is not None:
            details |= {"required_mist": required, "lacking_mist": required - available}
            needs = f"but the operation needs about {sui(required)}{_parts(required - gas, gas)}"
        message = f"{_WHOSE[source]} has {sui(available)}, {needs}"
        super().__init__("not_enough_sui", message, details=details)
        self.required = required
        self.available = available
        self.source = source


def _parts(besides: int, gas: int) -> str:
    """Return the part of the message that lists the gas separately."""
    if not gas:
        return ""
    return f": {sui(besides)} and up to {sui(gas)} for gas" if besides else " for gas"


_WHOSE = {
    GasSource.ANY: "the wallet",
    GasSource.ADDRESS_BALANCE: "the wallet's address balance",
}
