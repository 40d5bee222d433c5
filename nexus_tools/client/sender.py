"""Sending the transactions of one signer.

One after another, or as many at a time as there are gas coins; those that name the same owned
object always wait for each other, because its version changes with each of them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import TypeVar

from msgspec import Struct

from nexus_tools.client.connection import Connection
from nexus_tools.client.faucet import how_to_fund
from nexus_tools.client.gas import (
    MAX_BUDGET_MIST,
    MIN_BUDGET_UNITS,
    ROOMY_BUDGET_MIST,
    TIGHT_BUDGET_MIST,
    GasCoins,
    budget_for,
    not_enough,
    not_enough_for_gas,
    what_is_left,
    withdrawn,
)
from nexus_tools.client.keys import Signer
from nexus_tools.client.reads import Coin, read_coins, read_objects
from nexus_tools.client.resolution import KnownObjects, owned_ids, resolve
from nexus_tools.client.transactions import (
    Executed,
    Simulated,
    execute_transaction,
    read_gas_price,
    read_transaction,
    simulate_transaction,
)
from nexus_tools.client.unverified_package import explains_refusal
from nexus_tools.errors import NotFoundError, NotNowError, RefusedOnChainError
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.effects import TransactionEffects
from nexus_tools.sui.execution_status import ErrorKind, Success
from nexus_tools.sui.expiration import NoExpiration
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import (
    GasData,
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    ReceivingObject,
    TransactionData,
)

T = TypeVar("T")

_ATTEMPTS = 3
_MAX_COINS_READ = 1_000
_PRICE_IS_GOOD_FOR_S = 600.0


class _StaleVersionError(Exception):
    """An input was changed by somebody else: the transaction has to be built anew."""

    def __init__(self, refusal: Exception) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class _Draft(Struct, frozen=True):
    """A transaction that only lacks its gas."""

    kind: ProgrammableTransaction
    references: tuple[ObjectReference, ...]
    price: int
    withdrawn: int | None


def _check_wallet(draft: _Draft, coins: tuple[Coin, ...], simulated: Simulated) -> None:
    """Raise `not_enough_sui` if the coins do not have the gas budget besides what commands take.

    The simulation had all that was left as its budget; with a larger one, the chain would execute
    the transaction until a command finds too little in the gas coin, and take the gas.
    """
    available = sum(coin.balance for coin in coins)
    withdrawn = draft.withdrawn or 0
    status = simulated.effects.status
    is_bounded_by_wallet = available - withdrawn < MAX_BUDGET_MIST
    if isinstance(status, Success):
        budget = budget_for(simulated.cost, draft.price)
        if available < withdrawn + budget:
            raise not_enough(withdrawn + budget, available, budget)
    elif status.error.kind is ErrorKind.INSUFFICIENT_GAS and is_bounded_by_wallet:
        raise not_enough_for_gas(available, withdrawn)


class Sender:
    """Sends for one signer; `parallel` is how many transactions may be on their way at once."""

    def __init__(
        self, connection: Connection, known: KnownObjects, signer: Signer, parallel: int = 1
    ) -> None:
        self._connection = connection
        self._known = known
        self._signer = signer
        self._slots = asyncio.Semaphore(parallel)
        self._roomy = ROOMY_BUDGET_MIST if parallel == 1 else TIGHT_BUDGET_MIST
        self._coins = GasCoins(
            lambda: read_coins(connection, signer.address, limit=_MAX_COINS_READ)
        )
        self._busy: set[Address] = set()
        self._released = asyncio.Condition()
        self._price: int | None = None
        self._price_read_at = 0.0

    async def execute(self, builder: TransactionBuilder, budget: int | None) -> Executed:
        """Send a transaction; raises as `SuiClient.execute` does."""
        async with explains_refusal(self._connection, builder.commands):
            return await self._with_fresh_versions(lambda: self._attempt(builder, budget))

    async def simulate(self, builder: TransactionBuilder) -> Simulated:
        """What the transaction would do if it were sent now."""
        return await self._with_fresh_versions(lambda: self._attempt_simulation(builder))

    async def build(self, builder: TransactionBuilder, budget: int | None) -> TransactionData:
        """The transaction as it would be sent now; raises as `SuiClient.execute` does."""
        return await self._with_fresh_versions(lambda: self._attempt_build(builder, budget))

    async def learn(self, effects: TransactionEffects) -> None:
        """Know what became of a transaction that was not sent here: coins may be spent by it."""
        self._known.learn_effects(effects)
        await self._coins.forget(object_id for object_id, _ in effects.changed_objects)

    async def _with_fresh_versions(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try again, with the versions of today, while it fails because of old ones."""
        async with self._slots:
            for left in reversed(range(_ATTEMPTS)):
                try:
                    return await attempt()
                except NotNowError as error:
                    self._say_how_to_fund(error)
                    raise
                except _StaleVersionError as stale:
                    if not left:
                        raise stale.refusal from None
        raise AssertionError("at least one attempt is made")

    def _say_how_to_fund(self, error: NotNowError) -> None:
        if error.code == "not_enough_sui":
            network, lacking = self._connection.network, error.details.get("lacking_mist")
            error.hint = how_to_fund(network, self._signer.address, lacking)

    async def _attempt_simulation(self, builder: TransactionBuilder) -> Simulated:
        arguments = await self._resolve(builder)
        draft = await self._draft(builder, arguments)
        coins = await self._take(draft, None, arguments)
        left: tuple[Coin, ...] = coins
        try:
            return await self._rehearse(draft, coins)
        except (RefusedOnChainError, NotFoundError) as error:
            left = ()
            raise await self._reason(draft, coins, error) from error
        finally:
            await self._coins.give_back(coins, left)

    async def _attempt_build(
        self, builder: TransactionBuilder, budget: int | None
    ) -> TransactionData:
        arguments = await self._resolve(builder)
        draft = await self._draft(builder, arguments)
        coins = await self._take(draft, budget, arguments)
        try:
            return self._data(draft, coins, budget or await self._budget(draft, coins))
        except (RefusedOnChainError, NotFoundError) as error:
            if "grpc_status" in error.details:
                raise await self._reason(draft, coins, error) from error
            raise
        finally:
            await self._coins.give_back(coins, ())  # whoever signs it may spend them at any time

    async def _attempt(self, builder: TransactionBuilder, budget: int | None) -> Executed:
        arguments = await self._resolve(builder)
        async with self._reserved(owned_ids(arguments)):
            arguments = await self._resolve(builder)  # waiting may have made them old
            draft = await self._draft(builder, arguments)
            coins = await self._take(draft, budget, arguments)
            left: tuple[Coin, ...] = ()
            try:
                executed = await self._send(draft, coins, budget)
                left = what_is_left(executed.effects, coins, draft.withdrawn, self._signer.address)
            except RefusedOnChainError:
                left = coins  # nothing was executed
                raise
            except _StaleVersionError:
                raise
            except BaseException:
                self._known.forget(arguments)  # it may have been executed all the same
                raise
            finally:
                await self._coins.give_back(coins, left)
            await self._coins.forget(arguments)
        executed.raise_for_status()
        return executed

    # --- Parts of a transaction

    async def _resolve(self, builder: TransactionBuilder) -> dict[Address, ObjectArgument]:
        return await resolve(self._connection, self._known, builder, self._signer.address)

    async def _draft(
        self, builder: TransactionBuilder, arguments: dict[Address, ObjectArgument]
    ) -> _Draft:
        price = await self._gas_price()
        kind = builder.finish(arguments)
        references = tuple(
            value.reference
            for value in kind.inputs
            if isinstance(value, OwnedObject | ReceivingObject)
        )
        return _Draft(kind, references, price, withdrawn(kind))

    async def _gas_price(self) -> int:
        """The reference price, which changes once in an epoch: read now and then."""
        now = asyncio.get_running_loop().time()
        if self._price is None or now - self._price_read_at > _PRICE_IS_GOOD_FOR_S:
            self._price = await read_gas_price(self._connection)
            self._price_read_at = now
        return self._price

    async def _take(
        self, draft: _Draft, budget: int | None, inputs: Collection[Address]
    ) -> tuple[Coin, ...]:
        taken = draft.withdrawn or 0
        required = taken + (budget or MIN_BUDGET_UNITS * draft.price)
        wanted = taken + (budget or self._roomy)
        # One that is an input, of this transaction or of another that is under way, cannot pay for
        # it: the version that it has now ends there.
        named = (reference.object_id for reference in draft.references)
        exclude = {*inputs, *named, *self._busy}
        return await self._coins.take(required, wanted, exclude)

    def _data(self, draft: _Draft, coins: tuple[Coin, ...], budget: int) -> TransactionData:
        address = self._signer.address
        payment = tuple(coin.reference for coin in coins)
        gas = GasData(payment, address, draft.price, budget)
        return TransactionData(draft.kind, address, gas, NoExpiration())

    # --- Sending

    async def _send(self, draft: _Draft, coins: tuple[Coin, ...], budget: int | None) -> Executed:
        data: TransactionData | None = None
        try:
            data = self._data(draft, coins, budget or await self._budget(draft, coins))
            executed = await self._submit(data)
        except (RefusedOnChainError, NotFoundError) as error:
            if "grpc_status" in error.details:
                return await self._after_refusal(draft, coins, data, error)
            raise
        self._known.learn_effects(executed.effects)
        return executed

    async def _budget(self, draft: _Draft, coins: tuple[Coin, ...]) -> int:
        """What the transaction needs. Raises `RefusedOnChainError` if it would fail."""
        simulated = await self._rehearse(draft, coins)
        simulated.raise_for_status()
        return budget_for(simulated.cost, draft.price)

    async def _rehearse(self, draft: _Draft, coins: tuple[Coin, ...]) -> Simulated:
        simulated = await self._simulate(draft, coins)
        _check_wallet(draft, coins, simulated)
        return simulated

    async def _simulate(self, draft: _Draft, coins: tuple[Coin, ...]) -> Simulated:
        total = sum(coin.balance for coin in coins)
        budget = min(MAX_BUDGET_MIST, total - (draft.withdrawn or 0))
        if draft.withdrawn is None:
            budget = min(budget, total // 2)  # Move code may take the other half from the coin
        return await simulate_transaction(self._connection, self._data(draft, coins, budget))

    async def _submit(self, data: TransactionData) -> Executed:
        encoded = data.encode()
        signature = self._signer.sign(encoded)
        return await execute_transaction(self._connection, encoded, signature)

    async def _after_refusal(
        self,
        draft: _Draft,
        coins: tuple[Coin, ...],
        data: TransactionData | None,
        error: Exception,
    ) -> Executed:
        """What to make of a refusal: the node may have executed it, or versions may be old."""
        if data is not None:
            executed = await read_transaction(self._connection, data.digest())
            if executed is not None:
                self._known.learn_effects(executed.effects)
                return executed
        raise await self._reason(draft, coins, error) from error

    async def _reason(
        self, draft: _Draft, coins: tuple[Coin, ...], refusal: Exception
    ) -> Exception:
        """The refusal, or that versions or the gas price are old, which is then known."""
        references = [*draft.references, *(coin.reference for coin in coins)]
        self._price = None
        if await self._any_stale(references) or draft.price != await self._gas_price():
            # Of other coins no more is known: who merged ten coins has made nine of them old.
            await self._coins.forget_all()
            return _StaleVersionError(refusal)
        return refusal

    async def _any_stale(self, references: Collection[ObjectReference]) -> bool:
        self._known.forget(reference.object_id for reference in references)
        ids = [reference.object_id for reference in references]
        found = await read_objects(self._connection, ids)
        stale = False
        for reference, value in zip(references, found, strict=True):
            if value is not None:
                self._known.learn_object(value)
            stale = stale or value is None or value.reference() != reference
        return stale

    # --- Owned objects in use

    @asynccontextmanager
    async def _reserved(self, object_ids: frozenset[Address]) -> AsyncIterator[None]:
        async with self._released:
            await self._released.wait_for(lambda: self._busy.isdisjoint(object_ids))
            self._busy |= object_ids
        try:
            yield
        finally:
            async with self._released:
                self._busy -= object_ids
                self._released.notify_all()
