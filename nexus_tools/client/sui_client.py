"""The client: everything that this project asks of a Sui node."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from nexus_tools.client.connection import Connection, Patience
from nexus_tools.client.executed import Executed, Simulated
from nexus_tools.client.gas import MAX_BUDGET_MIST
from nexus_tools.client.keys import Signer
from nexus_tools.client.messages import mask, rpc
from nexus_tools.client.network import Network
from nexus_tools.client.reads import (
    Coin,
    DynamicField,
    iterate_owned,
    read_balance,
    read_coins,
    read_dynamic_fields,
    read_object,
    read_objects,
    read_package_versions,
)
from nexus_tools.client.resolution import KnownObjects, resolve
from nexus_tools.client.sender import Sender
from nexus_tools.client.submission import (
    read_gas_price,
    read_transaction,
    simulate_transaction,
)
from nexus_tools.errors import NotAllowedError, UnreachableError
from nexus_tools.sui.address import CLOCK, ZERO, Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.expiration import NoExpiration
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.transaction import GasData, TransactionData
from nexus_tools.sui.type_tag import SUI, StructTag, TypeTag


class SuiClient:
    """A connection to one node and, with a signer, the way to send transactions.

    Use it in `async with`. `parallel` transactions of the signer are on their way at once, if it
    has as many gas coins and they name no owned object in common. Every method may raise
    `UnreachableError`.
    """

    def __init__(
        self,
        network: Network,
        signer: Signer | None = None,
        *,
        parallel: int = 1,
        patience: Patience | None = None,
    ) -> None:
        self.network = network
        self.connection = Connection(network, patience)
        self._known = KnownObjects()
        self._signer = signer
        self._parallel = parallel
        self._sender: Sender | None = None

    async def __aenter__(self) -> Self:
        self.connection.open()
        if self._signer is not None:
            self._sender = Sender(self.connection, self._known, self._signer, self._parallel)
        try:
            await self._check_chain()
        except BaseException:
            self.connection.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.connection.close()

    @property
    def address(self) -> Address:
        """The address that signs. Raises `signer_missing`."""
        if self._signer is None:
            raise _no_signer()
        return self._signer.address

    # --- The chain

    async def chain_id(self) -> str:
        """The digest of the first checkpoint, in base58: it tells networks apart."""
        message = rpc().GetServiceInfoRequest()
        response = await self.connection.call(self.connection.ledger.get_service_info, message)
        return str(response.chain_id)

    async def _check_chain(self) -> None:
        expected = self.network.chain_id
        if expected is not None and (found := await self.chain_id()) != expected:
            raise UnreachableError(
                "wrong_chain",
                f"the node at {self.network.url} is of the chain {found}, not {expected}",
                hint="check the network's URL; devnet and localnets begin anew now and then",
            )

    async def now_ms(self) -> int:
        """The time as Move code reads it from the `Clock`, in ms since 1970."""
        value = await self.object(CLOCK)
        assert value is not None
        assert isinstance(value.data, MoveObject)
        return int.from_bytes(value.data.contents[32:40], "little")

    async def gas_price(self) -> int:
        """The reference gas price of this epoch, in MIST per unit."""
        return await read_gas_price(self.connection)

    async def checkpoint_time_ms(self, sequence_number: int) -> int:
        """When a checkpoint was made, in ms since 1970. Raises `not_found`."""
        message = rpc().GetCheckpointRequest(
            sequence_number=sequence_number, read_mask=mask("summary.timestamp")
        )
        response = await self.connection.call(self.connection.ledger.get_checkpoint, message)
        return int(response.checkpoint.summary.timestamp.timestamp() * 1000)

    # --- Objects

    async def object(self, object_id: Address) -> Object | None:
        """The newest version of an object or a package; None if there is none."""
        return await read_object(self.connection, object_id)

    async def objects(self, object_ids: Sequence[Address]) -> tuple[Object | None, ...]:
        """Many objects, in the order of the ids; None in place of those that do not exist."""
        return await read_objects(self.connection, object_ids)

    async def owned_objects(
        self, owner: Address, object_type: StructTag | None = None
    ) -> tuple[Object, ...]:
        """All objects of an address, or those of one type."""
        objects = iterate_owned(self.connection, owner, object_type)
        return tuple([value async for value in objects])

    async def dynamic_fields(self, parent: Address) -> tuple[DynamicField, ...]:
        """All dynamic fields of an object."""
        return await read_dynamic_fields(self.connection, parent)

    async def package_versions(self, package: Address) -> tuple[Address, ...]:
        """The ids of all versions of a package, by any of them; the newest is the last.

        Raises `not_found`.
        """
        return await read_package_versions(self.connection, package)

    async def balance(self, owner: Address, coin_type: TypeTag = SUI) -> int:
        """What an address has of a coin type: MIST, for SUI."""
        return await read_balance(self.connection, owner, coin_type)

    async def coins(self, owner: Address, coin_type: TypeTag = SUI) -> tuple[Coin, ...]:
        """The coins of an address."""
        return await read_coins(self.connection, owner, coin_type)

    # --- Transactions

    async def transaction(self, digest: Digest) -> Executed | None:
        """An executed transaction, failed ones included; None if the node knows none."""
        return await read_transaction(self.connection, digest)

    async def simulate(self, builder: TransactionBuilder) -> Simulated:
        """What `execute` would do now, with the signer's own gas; nothing is signed.

        The simulation of a transaction that fails is returned like any other.
        """
        return await self._require_sender().simulate(builder)

    async def inspect(
        self, builder: TransactionBuilder, sender: Address | None = None
    ) -> Simulated:
        """Run commands for their return values: no gas, no signer, whoever owns the objects."""
        who = sender or (ZERO if self._signer is None else self._signer.address)
        kind = builder.finish(await resolve(self.connection, self._known, builder, None))
        gas = GasData((), who, await self.gas_price(), MAX_BUDGET_MIST)
        data = TransactionData(kind, who, gas, NoExpiration())
        return await simulate_transaction(self.connection, data, checks=False)

    async def execute(self, builder: TransactionBuilder, *, budget: int | None = None) -> Executed:
        """Sign a transaction and have it executed; returns only if it succeeded.

        Without a `budget` (MIST) it is simulated first: what would fail is never signed. Raises
        `RefusedOnChainError` (see `executed.raise_for_status`) if it fails or would fail,
        `object_unknown`, `object_not_yours`, `not_enough_sui` or `signer_missing`.
        """
        return await self._require_sender().execute(builder, budget)

    def _require_sender(self) -> Sender:
        if self._sender is None:
            raise _no_signer()
        return self._sender


def _no_signer() -> NotAllowedError:
    return NotAllowedError(
        "signer_missing",
        "the client has no key to sign with",
        hint="open the client with the signer of a wallet",
    )
