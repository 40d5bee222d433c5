"""The sender of a signer's transactions, which limits the number of transactions in flight.

A sender sends up to `parallel` transactions at a time, if the signer has enough gas coins. A
transaction that only the address balance pays for does not wait for coins. Transactions that use
the same owned object are sent one after the other, because each transaction changes the object's
version.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from nexus_tools.sui.client.coins.address_balances import check_address_balances
from nexus_tools.sui.client.coins.coin_pool import (
    GasSource,
    InsufficientFundsError,
)
from nexus_tools.sui.client.coins.gas import (
    LARGE_SIMULATION_BUDGET_MIST,
    SMALL_SIMULATION_BUDGET_MIST,
    budget_for,
    with_margin,
)
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.faucet import funding_hint
from nexus_tools.sui.client.reads import read_balance, read_coins
from nexus_tools.sui.client.transactions.coin_merging import (
    OnMerge,
    build_merge,
    coins_to_merge,
    log_merge,
    too_many_coins_error,
)
from nexus_tools.sui.client.transactions.draft import (
    OutdatedError,
    PaymentRequest,
    UnderpaidError,
)
from nexus_tools.sui.client.transactions.execution_failure import explain_refusals
from nexus_tools.sui.client.transactions.resolution import ObjectCache
from nexus_tools.sui.client.transactions.sent_transactions import (
    SentTransaction,
    name_uncertain_transactions,
)
from nexus_tools.sui.client.transactions.transaction_attempts import (
    MAX_COINS_READ,
    Attempts,
    OnSend,
)
from nexus_tools.sui.client.transactions.transactions import (
    Executed,
    SimulatedTransaction,
)
from nexus_tools.sui.errors import (
    RefusedOnChainError,
)
from nexus_tools.sui.keystore.keys import Signer
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.effects import IdOperation, TransactionEffects
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.transaction import (
    TransactionData,
)
from nexus_tools.sui.types.type_tag import SUI

T = TypeVar("T")

_ATTEMPTS = 10


class Sender:
    """A sender for one signer, with at most `parallel` transactions in flight."""

    def __init__(
        self,
        connection: Connection,
        known: ObjectCache,
        signer: Signer,
        parallel: int = 1,
        *,
        on_merge: OnMerge | None = None,
        on_send: OnSend | None = None,
    ) -> None:
        self._connection = connection
        self._known = known
        self._signer = signer
        self._slots = asyncio.Semaphore(parallel)
        roomy = LARGE_SIMULATION_BUDGET_MIST if parallel == 1 else SMALL_SIMULATION_BUDGET_MIST
        self._attempts = Attempts(connection, known, signer, roomy=roomy)
        self._report_merge = on_merge or log_merge
        self._on_send = on_send

    async def execute(
        self, builder: TransactionBuilder, budget: int | None, source: GasSource
    ) -> Executed:
        """Send a transaction. Raises the errors of `SuiClient.execute`."""
        async with explain_refusals(self._connection, builder.commands):
            while True:
                try:
                    return await self._execute(builder, budget, source, self._on_send)
                except InsufficientFundsError as error:
                    if not await self._is_scattered(error) or not await self.merge(builder):
                        raise await self._explained(error, builder, budget) from error

    async def simulate(
        self, builder: TransactionBuilder, source: GasSource
    ) -> SimulatedTransaction:
        """Simulate a transaction as `execute` would send it now."""
        try:
            return await self._try(source, partial(self._attempts.simulate, builder))
        except InsufficientFundsError as error:
            if await self._is_scattered(error):  # `execute` would merge the coins
                return (await self._attempts.simulate_unpaid(builder, source))[0]
            raise await self._explained(error, builder, None) from error

    async def build(
        self, builder: TransactionBuilder, budget: int | None, source: GasSource
    ) -> TransactionData:
        """Build a transaction as `execute` would send it now.

        Raises the errors of `SuiClient.execute`.
        """
        try:
            return await self._try(source, partial(self._attempts.build, builder, budget))
        except InsufficientFundsError as error:
            raise await self._explained(error, builder, budget) from error

    async def merge(self, spared: TransactionBuilder | None = None) -> Executed | None:
        """Merge coins in one transaction, which excludes the coins that `spared` uses.

        Returns None if fewer than two coins can be merged, or if the gas would exceed their total.
        """
        spares = frozenset() if spared is None else spared.objects
        price = (await self._attempts.epoch.get()).gas_price
        coins = await read_coins(self._connection, self._signer.address, limit=MAX_COINS_READ)
        free = [coin for coin in coins if coin.reference.object_id not in spares]
        batch = coins_to_merge(free, price)
        if not batch:
            return None
        for coin in batch:
            self._known.add(AddressOwner(self._signer.address), coin.reference)
        try:
            async with self._attempts.reserved(spares):
                result = await self._execute(build_merge(batch), None, GasSource.ANY)
        except InsufficientFundsError:
            return None
        await self._attempts.purse.forget_all()
        changes = result.effects.changed_objects
        deleted = [change for _, change in changes if change.operation is IdOperation.DELETED]
        self._report_merge(result, len(deleted) + 1)
        return result

    async def learn(self, effects: TransactionEffects) -> None:
        """Apply the effects of a transaction that was not sent by this sender.

        The transaction may have spent the signer's coins or address balance.
        """
        self._known.apply_effects(effects)
        spent = max(0, -effects.address_balance_change(self._signer.address, SUI))
        changed = (object_id for object_id, _ in effects.changed_objects)
        await self._attempts.purse.forget(changed, spent)

    async def _execute(
        self,
        builder: TransactionBuilder,
        budget: int | None,
        source: GasSource,
        on_send: OnSend | None = None,
    ) -> Executed:
        sent_transactions: list[SentTransaction] = []
        async with name_uncertain_transactions(self._connection, sent_transactions):
            return await self._try(
                source,
                lambda request: self._attempts.execute(
                    builder, budget, request, sent=sent_transactions, on_send=on_send
                ),
            )

    async def _try(self, source: GasSource, attempt: Callable[[PaymentRequest], Awaitable[T]]) -> T:
        """Repeat an attempt while it fails because of outdated data or a payment that is too small.

        Calls that run at the same time share their reads of the funds. Raises
        `InsufficientFundsError` with the current funds.
        """
        request, shortage = PaymentRequest(source, self._attempts.purse.read_count), None
        async with self._slots if source is GasSource.ANY else nullcontext():
            pauses = self._connection.retry_policy.delays()
            for attempts_left in reversed(range(_ATTEMPTS)):
                try:
                    return await attempt(request)
                except UnderpaidError as underpaid:
                    shortage = underpaid.shortage
                    if not attempts_left:
                        raise shortage from None
                    request = underpaid.larger_request(request)
                except InsufficientFundsError as error:
                    if shortage is None:
                        raise
                    required, available = shortage.required, error.available
                    raise InsufficientFundsError(required, available, source=source) from error
                except OutdatedError as outdated:
                    if not attempts_left:
                        raise outdated.refusal from None
                    if attempts_left < _ATTEMPTS - 1:  # other programs use the same coins
                        await asyncio.sleep(next(pauses))
        raise AssertionError("at least one attempt is made")

    # --- Insufficient funds, or too many coins

    async def _is_scattered(self, error: InsufficientFundsError) -> bool:
        """Return whether the wallet has enough SUI in total, but the SUI is in too many coins."""
        available = await self._available(error)
        return available > error.available and available >= (error.required or 0)

    async def _available(self, error: InsufficientFundsError) -> int:
        """Return the total balance of the wallet, in MIST.

        The total includes coins beyond the maximum number of coins per transaction.
        """
        if error.source is GasSource.ADDRESS_BALANCE or not self._attempts.purse.has_more_coins:
            return error.available
        return (await read_balance(self._connection, self._signer.address, SUI)).total

    async def _explained(
        self, error: InsufficientFundsError, builder: TransactionBuilder, budget: int | None
    ) -> InsufficientFundsError:
        """Return the error with the simulated gas cost and a hint for getting enough SUI."""
        source, required, gas = error.source, error.required, budget or 0
        available = await self._available(error)
        if budget is None:
            try:
                simulation, max_withdrawal, price = await self._attempts.simulate_unpaid(
                    builder, source
                )
            except RefusedOnChainError:
                pass  # the node does not simulate transactions without a payment
            else:
                simulation.raise_for_status()
                gas = with_margin(budget_for(simulation.cost, price))
                required = max(required or 0, max_withdrawal + gas)
        if error.available < available and available >= (required or 0):
            return too_many_coins_error(required, error.available)
        if required is not None and required <= available:  # Move code may take half of the coin
            required = available + gas
        explained = InsufficientFundsError(required, available, gas, source)
        explained.hint = await self._how_to_fund(explained)
        return explained

    async def _how_to_fund(self, error: InsufficientFundsError) -> str:
        into_balance = error.source is GasSource.ADDRESS_BALANCE
        if into_balance:
            await check_address_balances(self._connection)
        network, lacking = self._connection.network, error.details.get("lacking_mist")
        return funding_hint(network, self._signer.address, lacking, into_balance=into_balance)
