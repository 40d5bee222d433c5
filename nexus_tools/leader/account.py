"""The Leader's cap and its gas: what every transaction of it is signed with.

Both are owned objects, whose versions change with each transaction, so that one goes after the
other. Fees are merged into the gas coin.
"""

from nexus_tools.client import Signer, SuiClient
from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError
from nexus_tools.leader.journal_entry import SignedTransaction
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
                hint="its bond was claimed, or it is of another chain",
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

    async def ensure(self, budget_mist: int) -> None:
        """Have gas for `budget_mist`. Raises `not_enough_sui`."""
        if self._balance < budget_mist or not self._payment or self._cap_reference is None:
            await self.refresh()
        if self._balance < budget_mist or not self._payment:
            raise NotNowError(
                "not_enough_sui",
                f"the Leader has {self._balance} MIST for gas, and needs {budget_mist}",
                hint=f"send SUI to {self._signer.address}",
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
                self._payment = (reference,)
                self._balance -= effects.gas_used.net
