"""The Leader's cap and its gas: how its transactions are made, signed and sent.

Both are owned objects, whose versions change with each transaction, so that one goes after the
other. Fees are merged into the gas coin.
"""

import asyncio

from nexus_tools.client import Executed, Signer, SuiClient, execute_transaction, how_to_fund
from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    NotNowError,
    UnreachableError,
)
from nexus_tools.leader.journal import SignedTransaction
from nexus_tools.logs import get_logger
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import transaction_digest
from nexus_tools.sui.effects import ObjectWrite, TransactionEffects
from nexus_tools.sui.expiration import NoExpiration
from nexus_tools.sui.object import AddressOwner, ObjectReference
from nexus_tools.sui.transaction import (
    GasData,
    OwnedObject,
    ProgrammableTransaction,
    TransactionData,
)
from nexus_tools.units import sui

_log = get_logger("nexus_tools.leader")

# `max_gas_payment_objects` of the protocol configuration.
_MAX_COINS = 256


class Account:
    """Builds and signs transactions; `refresh` before the first one."""

    def __init__(self, client: SuiClient, signer: Signer, cap: Address) -> None:
        self._client = client
        self._signer = signer
        self._cap = cap
        self._cap_reference: ObjectReference | None = None
        self._payment: tuple[ObjectReference, ...] = ()
        self._balance = 0
        self._price = 0

    @property
    def balance_mist(self) -> int:
        """What the gas coins hold at least."""
        return self._balance

    async def refresh(self) -> None:
        """Read cap, coins and gas price. Raises `cap_unknown` or `cap_not_yours`."""
        cap = await self._client.object(self._cap)
        if cap is None:
            raise NotFoundError(
                "cap_unknown",
                f"there is no leader cap {self._cap}",
                hint="its collateral was claimed, or it is of another chain",
            )
        if cap.owner != AddressOwner(self._signer.address):
            raise NotAllowedError(
                "cap_not_yours",
                f"the leader cap {self._cap} does not belong to {self._signer.address}",
                hint="run the Leader with the wallet that registered it",
            )
        self._cap_reference = cap.reference()
        coins = (await self._client.coins(self._signer.address))[:_MAX_COINS]
        self._payment = tuple(coin.reference for coin in coins)
        self._balance = sum(coin.balance for coin in coins)
        self._price = await self._client.gas_price()

    def forget(self) -> None:
        """Have everything read again: something else may have used the cap or the coins."""
        self._cap_reference = None

    def cap_argument(self) -> OwnedObject:
        """The cap at its newest version."""
        assert self._cap_reference is not None
        return OwnedObject(self._cap_reference)

    @property
    def address(self) -> Address:
        """Whose coins pay."""
        return self._signer.address

    @property
    def known_price(self) -> int:
        """The gas price as it was at the last refresh; 0 before the first one."""
        return self._price

    async def ensure(self, budget_mist: int) -> None:
        """Have gas for `budget_mist`. Raises `not_enough_sui`."""
        if self._balance < budget_mist or not self._payment or self._cap_reference is None:
            await self.refresh()
        if self._balance < budget_mist or not self._payment:
            raise NotNowError(
                "not_enough_sui",
                f"the Leader has {sui(self._balance)} for gas, and needs {sui(budget_mist)}",
                hint=how_to_fund(
                    self._client.network, self._signer.address, budget_mist - self._balance
                ),
            )

    async def price(self) -> int:
        """The gas price, in MIST per unit, as it was at the last refresh."""
        if not self._price:
            await self.refresh()
        return self._price

    def draft(self, kind: ProgrammableTransaction, budget_mist: int) -> TransactionData:
        """A transaction that lacks nothing but the signature."""
        address = self._signer.address
        gas = GasData(self._payment, address, self._price, budget_mist)
        return TransactionData(kind, address, gas, NoExpiration())

    def sign(self, data: TransactionData) -> SignedTransaction:
        """The transaction as it is sent."""
        encoded = data.encode()
        return SignedTransaction(transaction_digest(encoded), encoded, self._signer.sign(encoded))

    def learn(self, effects: TransactionEffects) -> None:
        """Remember what a transaction of this account left behind."""
        for place, (object_id, change) in enumerate(effects.changed_objects):
            if not isinstance(change.output, ObjectWrite):
                continue
            digest = change.output.digest
            reference = ObjectReference(object_id, effects.lamport_version, digest)
            if object_id == self._cap:
                self._cap_reference = reference
            elif place == effects.gas_object_index:
                # All coins of the payment were merged into this one. So were fees, of which nothing
                # is known here before the next `refresh`: there is more in it.
                self._payment = (reference,)
                self._balance -= effects.gas_used.net


class TransactionSender:
    """Sends a signed transaction until it is known what became of it.

    The same bytes are sent and looked up by their digest, as often as it takes.
    """

    def __init__(self, client: SuiClient, pause_ms: int) -> None:
        self._client = client
        self._pause = pause_ms / 1000
        self.trouble = ""

    async def send(self, transaction: SignedTransaction) -> Executed | None:
        """What the chain did, or None if the node refuses it and never executed it."""
        connection = self._client.connection
        while True:
            try:
                return await self._done(
                    await execute_transaction(connection, transaction.data, transaction.signature)
                )
            except UnreachableError as error:
                await self._wait(transaction, error)
            except NexusError as refusal:
                _log.warning("refused", digest=str(transaction.digest), error=refusal.message)
                return await self._done(await self._look_up(transaction))

    async def recover(self, transaction: SignedTransaction) -> Executed | None:
        """What became of a transaction that may have been sent; it is sent if nothing is known.

        Another one in its place could lock the objects of both.
        """
        return await self._look_up(transaction) or await self.send(transaction)

    async def _look_up(self, transaction: SignedTransaction) -> Executed | None:
        while True:
            try:
                return await self._done(await self._client.transaction(transaction.digest))
            except UnreachableError as error:
                await self._wait(transaction, error)

    async def _done(self, executed: Executed | None) -> Executed | None:
        self.trouble = ""
        return executed

    async def _wait(self, transaction: SignedTransaction, error: UnreachableError) -> None:
        self.trouble = error.message
        _log.debug("node_away", digest=str(transaction.digest), error=error.message)
        await asyncio.sleep(self._pause)
