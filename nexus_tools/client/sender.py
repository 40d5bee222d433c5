"""Sending the transactions of one signer.

One after another, or as many at a time as there are gas coins; those that the address balance pays
for alone do not wait for coins. Those that name the same owned object always wait for each other,
because its version changes with each of them.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, nullcontext
from itertools import count
from typing import TypeVar

from msgspec import Struct

from nexus_tools.client.address_balances import check_address_balances
from nexus_tools.client.connection import Connection
from nexus_tools.client.epoch import Epoch, KnownEpoch
from nexus_tools.client.execution_failure import explains_refusal, in_doubt
from nexus_tools.client.faucet import how_to_fund
from nexus_tools.client.gas import (
    MAX_BUDGET_MIST,
    MIN_BUDGET_UNITS,
    ROOMY_BUDGET_MIST,
    TIGHT_BUDGET_MIST,
    budget_for,
    gives_gas_coin_away,
    uses_gas_coin,
    what_is_left,
    withdrawals,
    withdrawn,
)
from nexus_tools.client.keys import Signer
from nexus_tools.client.purse import (
    EVERYTHING,
    GasSource,
    Payment,
    Purse,
    not_enough,
    not_enough_for_gas,
)
from nexus_tools.client.reads import read_balance, read_coins, read_objects
from nexus_tools.client.resolution import KnownObjects, owned_ids, resolve
from nexus_tools.client.transactions import (
    Executed,
    Simulated,
    execute_transaction,
    read_chain_id,
    read_transaction,
    simulate_transaction,
)
from nexus_tools.errors import NotFoundError, NotNowError, RefusedOnChainError, UsageError
from nexus_tools.sui.address import Address
from nexus_tools.sui.address_balance import CoinReservation
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.effects import TransactionEffects
from nexus_tools.sui.execution_status import ErrorKind, Success
from nexus_tools.sui.expiration import Expiration, NoExpiration, ValidDuring
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import (
    GasData,
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    ReceivingObject,
    TransactionData,
)
from nexus_tools.sui.type_tag import SUI

T = TypeVar("T")

_ATTEMPTS = 3
_MAX_COINS_READ = 1_000
_NONCES = 2**32


class _StaleVersionError(Exception):
    """An input was changed by somebody else: the transaction has to be built anew."""

    def __init__(self, refusal: Exception) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class _Draft(Struct, frozen=True):
    """A transaction that only lacks its gas."""

    kind: ProgrammableTransaction
    references: tuple[ObjectReference, ...]
    epoch: Epoch
    withdrawn: int | None
    source: GasSource


def _check_wallet(draft: _Draft, payment: Payment, simulated: Simulated) -> None:
    """Raise `not_enough_sui` if a payment does not have the gas budget besides what commands take.

    The simulation had all that was left as its budget; with a larger one, the chain would execute
    the transaction until a command finds too little in the gas coin, and take the gas.
    """
    available = payment.total
    withdrawn = draft.withdrawn or 0
    status = simulated.effects.status
    is_bounded = available - withdrawn < MAX_BUDGET_MIST
    if isinstance(status, Success):
        budget = budget_for(simulated.cost, draft.epoch.gas_price)
        if available < withdrawn + budget:
            raise not_enough(withdrawn + budget, available, budget, draft.source)
    elif status.error.kind is ErrorKind.INSUFFICIENT_GAS and is_bounded:
        raise not_enough_for_gas(available, withdrawn, draft.source)


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
        self._purse = Purse(
            lambda: read_coins(connection, signer.address, limit=_MAX_COINS_READ),
            lambda: read_balance(connection, signer.address, SUI),
        )
        self._busy: set[Address] = set()
        self._released = asyncio.Condition()
        self._epoch = KnownEpoch(connection)
        self._chain: Digest | None = None
        self._nonces = count(secrets.randbelow(_NONCES))

    async def execute(
        self, builder: TransactionBuilder, budget: int | None, source: GasSource
    ) -> Executed:
        """Send a transaction; raises as `SuiClient.execute` does."""
        async with explains_refusal(self._connection, builder.commands):
            return await self._try(source, lambda: self._attempt(builder, budget, source))

    async def simulate(self, builder: TransactionBuilder, source: GasSource) -> Simulated:
        """What the transaction would do if it were sent now."""
        return await self._try(source, lambda: self._attempt_simulation(builder, source))

    async def build(
        self, builder: TransactionBuilder, budget: int | None, source: GasSource
    ) -> TransactionData:
        """The transaction as it would be sent now; raises as `SuiClient.execute` does."""
        return await self._try(source, lambda: self._attempt_build(builder, budget, source))

    async def learn(self, effects: TransactionEffects) -> None:
        """Know what became of a transaction that was not sent here: money may be spent by it."""
        self._known.learn_effects(effects)
        spent = max(0, -effects.address_balance_change(self._signer.address, SUI))
        await self._purse.forget((object_id for object_id, _ in effects.changed_objects), spent)

    async def _try(self, source: GasSource, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try again, with what is true today, while it fails because of something old."""
        async with self._slots if source is GasSource.ANY else nullcontext():
            for left in reversed(range(_ATTEMPTS)):
                try:
                    return await attempt()
                except NotNowError as error:
                    if error.code != "not_enough_sui":
                        raise
                    if not left or not await self._purse.read_balance_again():
                        await self._say_how_to_fund(error, source)
                        raise
                except _StaleVersionError as stale:
                    if not left:
                        raise stale.refusal from None
        raise AssertionError("at least one attempt is made")

    async def _say_how_to_fund(self, error: NotNowError, source: GasSource) -> None:
        into_balance = source is GasSource.ADDRESS_BALANCE
        if into_balance:
            await check_address_balances(self._connection)
        network, lacking = self._connection.network, error.details.get("lacking_mist")
        error.hint = how_to_fund(network, self._signer.address, lacking, into_balance=into_balance)

    async def _attempt_simulation(
        self, builder: TransactionBuilder, source: GasSource
    ) -> Simulated:
        arguments = await self._resolve(builder)
        draft = await self._draft(builder, arguments, source)
        payment = left = await self._take(draft, None, arguments)
        try:
            return await self._rehearse(draft, payment)
        except _StaleVersionError:
            left = Payment(reserved=payment.held)
            raise
        finally:
            await self._purse.give_back(payment, left)

    async def _attempt_build(
        self, builder: TransactionBuilder, budget: int | None, source: GasSource
    ) -> TransactionData:
        arguments = await self._resolve(builder)
        draft = await self._draft(builder, arguments, source)
        payment = await self._take(draft, budget, arguments)
        try:
            payment, budget = await self._priced(draft, payment, budget)
            return await self._data(draft, payment, budget)
        finally:
            # Whoever signs it may spend the coins at any time.
            await self._purse.give_back(payment, Payment(reserved=payment.held))

    async def _attempt(
        self, builder: TransactionBuilder, budget: int | None, source: GasSource
    ) -> Executed:
        arguments = await self._resolve(builder)
        async with self._reserved(owned_ids(arguments)):
            arguments = await self._resolve(builder)  # waiting may have made them old
            draft = await self._draft(builder, arguments, source)
            payment = await self._take(draft, budget, arguments)
            left = Payment()
            try:
                payment, budget = await self._priced(draft, payment, budget)
                executed = await self._send(draft, payment, budget)
                taken, owner = draft.withdrawn, self._signer.address
                left = what_is_left(executed.effects, payment, taken, owner)
            except (RefusedOnChainError, NotNowError):
                left = payment  # nothing was executed
                raise
            except _StaleVersionError:
                raise
            except BaseException:
                self._known.forget(arguments)  # it may have been executed all the same
                raise
            finally:
                await self._purse.give_back(payment, left)
            await self._purse.forget(arguments)
        executed.raise_for_status()
        return executed

    # --- Parts of a transaction

    async def _resolve(self, builder: TransactionBuilder) -> dict[Address, ObjectArgument]:
        return await resolve(self._connection, self._known, builder, self._signer.address)

    async def _draft(
        self,
        builder: TransactionBuilder,
        arguments: dict[Address, ObjectArgument],
        source: GasSource,
    ) -> _Draft:
        epoch = await self._epoch.get()
        kind = builder.finish(arguments)
        if source is GasSource.ADDRESS_BALANCE and uses_gas_coin(kind):
            raise UsageError(
                "gas_coin_used",
                "the commands use the gas coin, and there is none where the address balance pays",
                hint="take what they need by `builder.withdrawal`, or let coins pay",
            )
        references = tuple(
            value.reference
            for value in kind.inputs
            if isinstance(value, OwnedObject | ReceivingObject)
        )
        return _Draft(kind, references, epoch, withdrawn(kind), source)

    async def _take(
        self, draft: _Draft, budget: int | None, inputs: Collection[Address]
    ) -> Payment:
        taken = draft.withdrawn or 0
        wanted = taken + (budget or self._roomy)
        if gives_gas_coin_away(draft.kind):
            wanted = EVERYTHING
        # One that is an input, of this transaction or of another that is under way, cannot pay for
        # it: the version that it has now ends there.
        named = (reference.object_id for reference in draft.references)
        return await self._purse.take(
            taken + (budget or MIN_BUDGET_UNITS * draft.epoch.gas_price),
            wanted,
            exclude={*inputs, *named, *self._busy},
            withdrawals=withdrawals(draft.kind),
            source=draft.source,
        )

    async def _priced(
        self, draft: _Draft, payment: Payment, budget: int | None
    ) -> tuple[Payment, int]:
        """What pays, and the gas budget. Raises `RefusedOnChainError` if it would fail."""
        if not budget:
            simulated = await self._rehearse(draft, payment)
            simulated.raise_for_status()
            budget = budget_for(simulated.cost, draft.epoch.gas_price)
        if draft.withdrawn is not None:
            payment = await self._purse.narrow(payment, draft.withdrawn + budget)
        return payment, budget

    async def _data(self, draft: _Draft, payment: Payment, budget: int) -> TransactionData:
        address, epoch = self._signer.address, draft.epoch
        references = [coin.reference for coin in payment.coins]
        expiration: Expiration = NoExpiration()
        if payment.reserved:
            chain = await self._chain_id()
            nonce = next(self._nonces) % _NONCES
            last = epoch.number + 1
            # Without coins, nothing but the nonce tells two transactions apart.
            expiration = ValidDuring(epoch.number, last, None, None, chain, nonce)
            if draft.source is GasSource.ANY:
                reservation = CoinReservation.of(address, SUI, payment.reserved, epoch.number)
                references.append(reservation.reference(chain))
        gas = GasData(tuple(references), address, epoch.gas_price, budget)
        return TransactionData(draft.kind, address, gas, expiration)

    async def _chain_id(self) -> Digest:
        if self._chain is None:
            known = self._connection.chain_id
            self._chain = Digest.parse(known or await read_chain_id(self._connection))
        return self._chain

    # --- Sending

    async def _send(self, draft: _Draft, payment: Payment, budget: int) -> Executed:
        data = await self._data(draft, payment, budget)
        try:
            executed = await self._submit(data)
        except (RefusedOnChainError, NotFoundError) as error:
            raise await self._reason(draft, payment, error) from error
        self._known.learn_effects(executed.effects)
        return executed

    async def _rehearse(self, draft: _Draft, payment: Payment) -> Simulated:
        try:
            simulated = await self._simulate(draft, payment)
        except (RefusedOnChainError, NotFoundError) as error:
            raise await self._reason(draft, payment, error) from error
        _check_wallet(draft, payment, simulated)
        return simulated

    async def _simulate(self, draft: _Draft, payment: Payment) -> Simulated:
        total = payment.total
        budget = min(MAX_BUDGET_MIST, total - (draft.withdrawn or 0))
        if draft.withdrawn is None:
            budget = min(budget, total // 2)  # Move code may take the other half from the coin
        data = await self._data(draft, payment, budget)
        return await simulate_transaction(self._connection, data)

    async def _submit(self, data: TransactionData) -> Executed:
        """What was executed. Raises the refusal of a node that does not know the transaction."""
        encoded, digest = data.encode(), data.digest()
        signature = self._signer.sign(encoded)
        with in_doubt(digest):
            try:
                return await execute_transaction(self._connection, encoded, signature)
            except (RefusedOnChainError, NotFoundError):
                # The node may have executed it all the same.
                found = await read_transaction(self._connection, digest)
                if found is None:
                    raise
                return found

    async def _reason(self, draft: _Draft, payment: Payment, refusal: Exception) -> Exception:
        """The refusal, or that versions, the epoch or a balance are old, which are then known."""
        references = [*draft.references, *(coin.reference for coin in payment.coins)]
        epoch = await self._epoch.read_again()
        is_old = epoch.gas_price != draft.epoch.gas_price
        if payment.reserved:
            await self._purse.read_balance_again()
            is_old = is_old or epoch != draft.epoch or self._purse.is_overdrawn
        if await self._any_stale(references) or is_old:
            # Of other coins no more is known: who merged ten coins has made nine of them old.
            await self._purse.forget_all()
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
