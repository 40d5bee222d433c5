"""One attempt to send a transaction: its inputs, its gas and the node's response.

`Sender` decides whether to make another attempt.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

from nexus_tools.sui.client.coins.coin_pool import (
    EVERYTHING,
    CoinPool,
    GasSource,
    Payment,
)
from nexus_tools.sui.client.coins.gas import (
    MAX_BUDGET_MIST,
    MIN_BUDGET_UNITS,
    budget_for,
    remaining_payment,
    transfers_gas_coin,
    unique,
    uses_gas_coin,
    withdrawals,
    withdrawn,
)
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.epoch import EpochCache
from nexus_tools.sui.client.reads import read_balance, read_coins, read_objects
from nexus_tools.sui.client.transactions.draft import (
    Draft,
    OutdatedError,
    PaymentRequest,
    check_payment,
)
from nexus_tools.sui.client.transactions.execution_failure import name_uncertain_transaction
from nexus_tools.sui.client.transactions.resolution import ObjectCache, owned_ids, resolve
from nexus_tools.sui.client.transactions.sent_transactions import (
    SentTransaction,
    find_executed,
    is_superseded,
    lost_answer_error,
    owned_references,
    require_excluded,
)
from nexus_tools.sui.client.transactions.transactions import (
    Executed,
    SignedTransaction,
    SimulatedTransaction,
    execute_transaction,
    read_chain_id,
    simulate_transaction,
)
from nexus_tools.sui.errors import (
    NexusError,
    NotFoundError,
    RefusedOnChainError,
    UsageError,
    WrongStateError,
)
from nexus_tools.sui.keystore.keys import Signer
from nexus_tools.sui.keystore.signing import sign_transaction
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import CoinReservation
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import Expiration, NoExpiration, ValidDuring
from nexus_tools.sui.types.object import AddressOwner, ObjectReference
from nexus_tools.sui.types.transaction import (
    GasData,
    ObjectArgument,
    OwnedObject,
    ReceivingObject,
    TransactionData,
)
from nexus_tools.sui.types.type_tag import SUI

OnSend = Callable[[SignedTransaction], None]

MAX_COINS_READ = 1_000
"""The maximum number of coins read at once. A node lists the largest coins first."""


class Attempts:
    """Single attempts to execute, simulate or build a transaction of one signer."""

    def __init__(
        self, connection: Connection, known: ObjectCache, signer: Signer, *, roomy: int
    ) -> None:
        self._connection = connection
        self._known = known
        self._signer = signer
        self._roomy = roomy
        self.purse = CoinPool(
            lambda: read_coins(connection, signer.address, limit=MAX_COINS_READ),
            lambda: read_balance(connection, signer.address, SUI),
        )
        self.epoch = EpochCache(connection)
        self._busy: set[Address] = set()
        self._released = asyncio.Condition()
        self._chain: Digest | None = None

    async def simulate(
        self, builder: TransactionBuilder, request: PaymentRequest
    ) -> SimulatedTransaction:
        """Simulate a transaction as `execute` would send it."""
        arguments = await self.resolve(builder)
        draft = await self.draft(builder, arguments, request.source)
        payment = remainder = await self._take(draft, None, arguments, request)
        try:
            return await self._rehearse(draft, payment)
        except OutdatedError:
            remainder = Payment(reserved=payment.reserved_balance)
            raise
        finally:
            await self.purse.release(payment, remainder)

    async def simulate_unpaid(
        self, builder: TransactionBuilder, source: GasSource
    ) -> tuple[SimulatedTransaction, int, int]:
        """Simulate a transaction with a mock gas coin that the node provides.

        Returns the simulation, the amount (MIST) that the commands take from the gas coin (0 if
        unknown), and the gas price.
        """
        draft = await self.draft(builder, await self.resolve(builder), source)
        data = await self._data(draft, Payment(), MAX_BUDGET_MIST)
        simulated = await simulate_transaction(self._connection, data)
        return simulated, draft.withdrawn or 0, draft.epoch.gas_price

    async def build(
        self, builder: TransactionBuilder, budget: int | None, request: PaymentRequest
    ) -> TransactionData:
        """Build a transaction as `execute` would send it."""
        arguments = await self.resolve(builder)
        draft = await self.draft(builder, arguments, request.source)
        payment = await self._take(draft, budget, arguments, request)
        try:
            payment, budget = await self._priced(draft, payment, budget)
            return await self._data(draft, payment, budget)
        finally:
            # Do not return the coins to the pool, because the signer may spend them at any time.
            await self.purse.release(payment, Payment(reserved=payment.reserved_balance))

    async def execute(
        self,
        builder: TransactionBuilder,
        budget: int | None,
        request: PaymentRequest,
        *,
        sent: list[SentTransaction],
        on_send: OnSend | None = None,
    ) -> Executed:
        """Send a transaction.

        Raises `OutdatedError` if the transaction must be built again, and `UnderpaidError` if it
        must be built again with a larger payment.

        `sent` contains the transactions of earlier attempts of the same call. The new transaction
        is signed only if it conflicts with all of these transactions. Signed transactions are
        appended to `sent`.
        """
        arguments = await self.resolve(builder)
        async with self.reserved(owned_ids(arguments)):
            arguments = await self.resolve(builder)  # the objects may have changed while waiting
            draft = await self.draft(builder, arguments, request.source)
            payment = await self._take(draft, budget, arguments, request)
            remainder, count = Payment(), len(sent)
            try:
                payment, budget = await self._priced(draft, payment, budget)
                result = await self._send(draft, payment, budget, sent, on_send)
                max_withdrawal, owner = draft.withdrawn, self._signer.address
                remainder = remaining_payment(result.effects, payment, max_withdrawal, owner)
            except (RefusedOnChainError, WrongStateError):
                remainder = payment  # nothing was executed
                raise
            except OutdatedError:
                raise
            except BaseException:
                if len(sent) == count:
                    remainder = payment  # nothing was signed
                else:
                    self._known.forget(arguments)  # the transaction may have been executed
                raise
            finally:
                await self.purse.release(payment, remainder)
            await self.purse.forget(arguments)
        result.raise_for_status()
        return result

    # --- Parts of a transaction

    async def resolve(self, builder: TransactionBuilder) -> dict[Address, ObjectArgument]:
        """Look up the owners and versions of the objects that a transaction names."""
        return await resolve(self._connection, self._known, builder, self._signer.address)

    async def draft(
        self,
        builder: TransactionBuilder,
        arguments: dict[Address, ObjectArgument],
        source: GasSource,
    ) -> Draft:
        """Return the transaction without its gas data."""
        epoch = await self.epoch.get()
        kind = unique(builder.finish(arguments))
        if source is GasSource.ADDRESS_BALANCE and uses_gas_coin(kind):
            raise UsageError(
                "gas_coin_unavailable",
                "the commands use the gas coin, which does not exist if the address balance pays",
                hint="Withdraw funds with `builder.withdrawal`, or pay with coins.",
            )
        references = tuple(
            value.reference
            for value in kind.inputs
            if isinstance(value, OwnedObject | ReceivingObject)
        )
        return Draft(kind, references, epoch, withdrawn(kind), source)

    async def _take(
        self,
        draft: Draft,
        budget: int | None,
        inputs: Collection[Address],
        request: PaymentRequest,
    ) -> Payment:
        max_withdrawal = draft.withdrawn or 0
        required = max_withdrawal + (budget or MIN_BUDGET_UNITS * draft.epoch.gas_price)
        target = max_withdrawal + (budget or self._roomy)
        if transfers_gas_coin(draft.kind):
            target = EVERYTHING
        # A coin that is an input of this or another pending transaction cannot be a gas coin,
        # because the pending transaction consumes the coin's current version.
        references = (reference.object_id for reference in draft.references)
        return await self.purse.reserve(
            max(required, request.required),
            max(target, request.wanted),
            exclude={*inputs, *references, *self._busy},
            withdrawals=withdrawals(draft.kind),
            source=request.source,
            since=request.since,
        )

    async def _priced(
        self, draft: Draft, payment: Payment, budget: int | None
    ) -> tuple[Payment, int]:
        """Return the payment and the gas budget.

        Raises `RefusedOnChainError` if a simulation shows that the transaction would fail.
        """
        if not budget:
            simulated = await self._rehearse(draft, payment)
            simulated.raise_for_status()
            budget = budget_for(simulated.cost, draft.epoch.gas_price)
        if draft.withdrawn is not None:
            payment = await self.purse.reduce(payment, draft.withdrawn + budget)
        return payment, budget

    async def _data(self, draft: Draft, payment: Payment, budget: int) -> TransactionData:
        address, epoch = self._signer.address, draft.epoch
        references = [coin.reference for coin in payment.coins]
        expiration: Expiration = NoExpiration()
        if payment.reserved:
            chain = await self._chain_id()
            # The nonce can be constant, because `unique` makes each transaction different.
            expiration = ValidDuring(epoch.number, epoch.number + 1, None, None, chain, 0)
            if draft.source is GasSource.ANY:
                reservation = CoinReservation.of(address, SUI, payment.reserved, epoch.number)
                references.append(reservation.reference(chain))
        gas = GasData(tuple(references), address, epoch.gas_price, budget)
        return TransactionData(draft.kind, address, gas, expiration)

    async def _chain_id(self) -> Digest:
        if self._chain is None:
            chain_id = self._connection.chain_id
            self._chain = Digest.parse(chain_id or await read_chain_id(self._connection))
        return self._chain

    # --- Sending

    async def _send(
        self,
        draft: Draft,
        payment: Payment,
        budget: int,
        sent: list[SentTransaction],
        on_send: OnSend | None,
    ) -> Executed:
        data = await self._data(draft, payment, budget)
        encoded, digest = data.encode(), data.digest()
        references = owned_references(data)
        for earlier in sent:
            await require_excluded(self._connection, earlier, references)
        signature = await sign_transaction(self._signer, encoded)
        consumed = frozenset(
            reference for reference in references if self._is_consumed(reference, payment)
        )
        sent.append(SentTransaction(digest, consumed))
        if on_send is not None:
            on_send(SignedTransaction(encoded, signature, digest))
        with name_uncertain_transaction(digest):
            try:
                result = await execute_transaction(self._connection, encoded, signature)
            except (RefusedOnChainError, NotFoundError) as error:
                reason = await self._reason(draft, payment, error)
                result = await self._executed_before(sent[-1], reason, error)
        self._known.apply_effects(result.effects)
        return result

    def _is_consumed(self, reference: ObjectReference, payment: Payment) -> bool:
        """Return whether the transaction consumes an object version.

        Immutable objects are not consumed.
        """
        if any(coin.reference == reference for coin in payment.coins):
            return True
        is_cached = reference.object_id in self._known
        return is_cached and isinstance(self._known[reference.object_id][0], AddressOwner)

    async def _executed_before(
        self, sent: SentTransaction, reason: Exception, refusal: NexusError
    ) -> Executed:
        """Return a transaction that the network executed although the node refused it.

        The node may have refused the transaction because it was executed and changed the version of
        its input. Raises `reason` if it was not executed. Raises `node_unreachable` if a response
        was lost and the network may still execute the transaction.
        """
        transaction = await find_executed(self._connection, sent)
        if transaction is not None:
            return transaction
        if "attempts" in refusal.details and not await is_superseded(self._connection, sent):
            raise lost_answer_error(refusal) from refusal
        if isinstance(reason, NexusError):
            reason.details["digest"] = str(sent.digest)
        raise reason from refusal

    async def _rehearse(self, draft: Draft, payment: Payment) -> SimulatedTransaction:
        try:
            simulated = await self._simulate(draft, payment)
        except (RefusedOnChainError, NotFoundError) as error:
            raise await self._reason(draft, payment, error) from error
        check_payment(draft, payment, simulated)
        return simulated

    async def _simulate(self, draft: Draft, payment: Payment) -> SimulatedTransaction:
        total = payment.total
        budget = min(MAX_BUDGET_MIST, total - (draft.withdrawn or 0))
        if draft.withdrawn is None:
            budget = min(budget, total // 2)  # Move code may take the other half of the coin
        data = await self._data(draft, payment, budget)
        return await simulate_transaction(self._connection, data)

    async def _reason(self, draft: Draft, payment: Payment, refusal: NexusError) -> Exception:
        """Return `OutdatedError` if a version, the epoch or a balance changed, or else `refusal`.

        After this call, the caches contain the current values.
        """
        references = [*draft.references, *(coin.reference for coin in payment.coins)]
        epoch = await self.epoch.read_again()
        is_old = epoch.gas_price != draft.epoch.gas_price
        if payment.reserved:
            await self.purse.read_balance_again()
            is_old = is_old or epoch != draft.epoch or self.purse.is_overdrawn
        if await self._any_stale(references) or is_old:
            # Other coins may also be outdated. For example, merging ten coins deletes nine of them.
            await self.purse.forget_all()
            return OutdatedError(refusal)
        return refusal

    async def _any_stale(self, references: Collection[ObjectReference]) -> bool:
        self._known.forget(reference.object_id for reference in references)
        ids = [reference.object_id for reference in references]
        objects = await read_objects(self._connection, ids)
        stale = False
        for reference, value in zip(references, objects, strict=True):
            if value is not None:
                self._known.add_object(value)
            stale = stale or value is None or value.reference() != reference
        return stale

    # --- Owned objects in use

    @asynccontextmanager
    async def reserved(self, object_ids: frozenset[Address]) -> AsyncIterator[None]:
        """Reserve objects for one transaction until the block ends.

        Other transactions that use these objects wait, and do not pay with them.
        """
        async with self._released:
            await self._released.wait_for(lambda: self._busy.isdisjoint(object_ids))
            self._busy |= object_ids
        try:
            yield
        finally:
            async with self._released:
                self._busy -= object_ids
                self._released.notify_all()
