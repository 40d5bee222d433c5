"""The client of a Sui node. All requests of this project to Sui nodes use this client."""

from base64 import b64decode
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from nexus_tools.sui.client.coins.coin_pool import GasSource, InsufficientFundsError
from nexus_tools.sui.client.coins.gas import MAX_BUDGET_MIST
from nexus_tools.sui.client.connection.connection import Connection, RetryPolicy, check_chain, mask
from nexus_tools.sui.client.epoch import read_epoch
from nexus_tools.sui.client.faucet import funding_hint
from nexus_tools.sui.client.reads import (
    MAX_BATCH_OBJECTS,
    Balance,
    Coin,
    DynamicField,
    iterate_owned_objects,
    read_balance,
    read_coins,
    read_dynamic_fields,
    read_latest_checkpoint,
    read_object,
    read_objects,
    read_package_versions,
)
from nexus_tools.sui.client.sender import Sender
from nexus_tools.sui.client.transactions.coin_merging import OnMerge
from nexus_tools.sui.client.transactions.execution_failure import name_uncertain_transaction
from nexus_tools.sui.client.transactions.resolution import ObjectCache, resolve
from nexus_tools.sui.client.transactions.sent_transactions import lost_answer_error
from nexus_tools.sui.client.transactions.transaction_attempts import OnSend
from nexus_tools.sui.client.transactions.transactions import (
    Executed,
    SimulatedTransaction,
    execute_transaction,
    read_chain_id,
    read_transaction,
    simulate_transaction,
)
from nexus_tools.sui.errors import (
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    ValidationError,
)
from nexus_tools.sui.keystore.keys import Signer
from nexus_tools.sui.keystore.signing import sign_transaction
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, ZERO, Address
from nexus_tools.sui.types.clock import clock_ms
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import SUI, StructTag, TypeTag


@validate_arguments
class SuiClient:
    """A client of one node. The client reads objects and, with a signer, sends transactions.

    Use the client in `async with`. Up to `parallel` transactions of the signer are in flight at
    once. Each transaction needs its own gas coin, and two transactions must not use the same owned
    object. The limit does not apply to transactions that the address balance pays for
    (`gas=GasSource.ADDRESS_BALANCE`).

    If a transaction needs more coins than it may use, the client merges coins first. The client
    passes each merge to `on_merge`, or logs the merge. `on_send` receives every other transaction
    that `execute` signs, just before it is sent.

    Every method may raise `UnreachableError`.
    """

    def __init__(
        self,
        network: Network,
        signer: Signer | None = None,
        *,
        parallel: int = 1,
        retry_policy: RetryPolicy | None = None,
        on_merge: OnMerge | None = None,
        on_send: OnSend | None = None,
    ) -> None:
        self.network = network
        self.connection = Connection(network, retry_policy)
        self._known = ObjectCache()
        self._signer = signer
        self._parallel = parallel
        self._on_merge = on_merge
        self._on_send = on_send
        self._sender: Sender | None = None

    async def __aenter__(self) -> Self:
        self.connection.open()
        if self._signer is not None:
            self._sender = Sender(
                self.connection,
                self._known,
                self._signer,
                self._parallel,
                on_merge=self._on_merge,
                on_send=self._on_send,
            )
        try:
            await self._check_chain()
        except BaseException:
            await self.connection.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.connection.close()

    @property
    def address(self) -> Address:
        """The signer's address. Raises `signer_missing`."""
        return self._require_signer().address

    # --- The chain

    async def chain_id(self) -> str:
        """Return the chain ID: the digest of the first checkpoint in base58."""
        return await read_chain_id(self.connection)

    async def _check_chain(self) -> None:
        expected = self.network.chain_id
        if expected is not None:
            check_chain(self.network.url, await self.chain_id(), expected)

    async def now_ms(self) -> int:
        """Return the time that Move code reads from the `Clock`, in ms since 1970."""
        value = await self.object(CLOCK)
        assert value is not None
        return clock_ms(value)

    async def gas_price(self) -> int:
        """Return the reference gas price of the current epoch, in MIST per unit."""
        return (await read_epoch(self.connection)).gas_price

    async def protocol_version(self) -> int:
        """Return the protocol version of the network in the current epoch."""
        fields = mask("protocol_config.protocol_version")
        response = await self.connection.call("LedgerService/GetEpoch", read_mask=fields)
        return int(response.epoch.protocol_config.protocol_version)

    async def latest_checkpoint(self) -> int:
        """Return the sequence number of the node's newest checkpoint.

        Raises:
            UnreachableError: `wrong_chain` if the network has a chain ID and the response has
                another chain ID. The check also works for nodes that do not send the chain header.
        """
        return await read_latest_checkpoint(self.connection)

    async def checkpoint_time_ms(self, sequence_number: int) -> int:
        """Return the time of a checkpoint, in ms since 1970. Raises `not_found`."""
        response = await self.connection.call(
            "LedgerService/GetCheckpoint",
            sequence_number=sequence_number,
            read_mask=mask("summary.timestamp"),
        )
        return int(response.checkpoint.summary.timestamp.ToMilliseconds())

    # --- Objects

    async def object(self, object_id: Address, version: int | None = None) -> Object | None:
        """Return the newest version of an object or a package, or an earlier `version`.

        Returns None if the object does not exist, or if the node has pruned the version.
        """
        value = await read_object(self.connection, object_id, version)
        if version is None:
            self._known.add_shared((value,))
        return value

    async def objects(self, object_ids: Sequence[Address]) -> tuple[Object | None, ...]:
        """Return objects in the order of the IDs, with None for each object that does not exist."""
        values = await read_objects(self.connection, object_ids)
        if len(values) <= MAX_BATCH_OBJECTS:  # a longer list would evict the rest of the cache
            self._known.add_shared(values)
        return values

    async def owned_objects(
        self, owner: Address, object_type: StructTag | None = None
    ) -> tuple[Object, ...]:
        """Return all objects of an address, or only those of one type."""
        objects = iterate_owned_objects(self.connection, owner, object_type)
        return tuple([value async for value in objects])

    async def dynamic_fields(self, parent: Address) -> tuple[DynamicField, ...]:
        """Return all dynamic fields of an object."""
        return await read_dynamic_fields(self.connection, parent)

    async def package_versions(self, package: Address) -> tuple[Address, ...]:
        """Return the IDs of all versions of a package, oldest first. `package` may be any version.

        Raises `not_found`.
        """
        return await read_package_versions(self.connection, package)

    async def balance(self, owner: Address, coin_type: TypeTag = SUI) -> int:
        """Return an address's total funds in one coin type. SUI is in MIST.

        The total is the sum of all coins and the address balance.
        """
        return (await self.balance_parts(owner, coin_type)).total

    async def balance_parts(self, owner: Address, coin_type: TypeTag = SUI) -> Balance:
        """Return an address's funds in one coin type, in coins and in the address balance."""
        return await read_balance(self.connection, owner, coin_type)

    async def check_balance(self, required_mist: int, gas_mist: int = 0) -> None:
        """Raise `not_enough_sui` if the signer has less than `required_mist`.

        Call this method before the first of several transactions. The error also reports
        `gas_mist`, which is needed in addition to `required_mist`.
        """
        available = await self.balance(self.address)
        if available < required_mist:
            error = InsufficientFundsError(required_mist + gas_mist, available, gas_mist)
            lacking = error.details["lacking_mist"]
            error.hint = funding_hint(self.network, self.address, lacking)
            raise error

    async def coins(self, owner: Address, coin_type: TypeTag = SUI) -> tuple[Coin, ...]:
        """Return the coins of an address."""
        return await read_coins(self.connection, owner, coin_type)

    # --- Transactions

    async def transaction(self, digest: Digest) -> Executed | None:
        """Return a transaction that was executed on chain, or None if the node does not know it."""
        return await read_transaction(self.connection, digest)

    async def simulate(
        self, builder: TransactionBuilder, *, gas: GasSource = GasSource.ANY
    ) -> SimulatedTransaction:
        """Simulate a transaction as `execute` would send it now, without a signature.

        If the transaction would fail, the method returns the simulation and does not raise an
        error.
        """
        return await self._require_sender().simulate(builder, gas)

    async def inspect(
        self, builder: TransactionBuilder, sender: Address | None = None
    ) -> SimulatedTransaction:
        """Simulate commands and return their values, without gas, signer or ownership checks."""
        address = sender or (ZERO if self._signer is None else self._signer.address)
        kind = builder.finish(await resolve(self.connection, self._known, builder, None))
        gas = GasData((), address, await self.gas_price(), MAX_BUDGET_MIST)
        data = TransactionData(kind, address, gas, NoExpiration())
        return await simulate_transaction(self.connection, data, checks=False)

    async def execute(
        self,
        builder: TransactionBuilder,
        *,
        budget: int | None = None,
        gas: GasSource = GasSource.ANY,
    ) -> Executed:
        """Sign and execute a transaction. Raise an error unless the transaction succeeds.

        The signer's coins pay for the transaction first, and the signer's address balance pays the
        remainder. With `GasSource.ADDRESS_BALANCE`, only the address balance pays. Any number of
        transactions with this gas source may be in flight, but their commands cannot use the gas
        coin.

        Without a `budget` (MIST), the client simulates the transaction first. The client does not
        sign a transaction that would fail.

        Raises:
            RefusedOnChainError: The transaction fails or would fail. See
                `execution_failure.raise_for_status`.
            NexusError: `object_unknown`, `object_not_owned`, `not_enough_sui`,
                `gas_coin_unavailable`, `address_balances_unsupported` or `signer_missing`.
        """
        return await self._require_sender().execute(builder, budget, gas)

    async def merge_coins(self) -> tuple[Executed, ...]:
        """Merge all SUI coins of the signer, in as many transactions as necessary.

        A coin is not merged if its balance is less than the gas for merging it. Raises the errors
        of `execute`.
        """
        results: list[Executed] = []
        while (result := await self._require_sender().merge()) is not None:
            results.append(result)
        return tuple(results)

    # --- Transactions that other parties sign or send

    async def build(
        self,
        builder: TransactionBuilder,
        *,
        budget: int | None = None,
        sender: Address | None = None,
        gas: GasSource = GasSource.ANY,
    ) -> bytes:
        """Return the bytes that `execute` would sign, including gas, for another program to sign.

        If `sender` is set, that address sends and pays, and the client does not need a key. The
        bytes are valid until one of the transaction's objects or coins changes. If the address
        balance pays, the bytes expire at the end of the next epoch. The balance must also cover the
        budgets of all transactions in flight. Raises the errors of `execute`.
        """
        builds = self._require_sender() if sender is None else self._sender_without_key(sender)
        return (await builds.build(builder, budget, gas)).encode()

    async def execute_transaction(
        self, transaction: bytes | str, signatures: Sequence[bytes | str] = ()
    ) -> Executed:
        """Execute the bytes of a transaction that any program built. Strings are base64.

        If `signatures` is empty, the client's signer signs. The network executes the same bytes at
        most once, so you may send them again. Raises an error unless the transaction succeeds.

        Raises:
            NexusError: `bytes_invalid` or `signer_missing`.
            RefusedOnChainError: The transaction fails, as in `execute`.
        """
        encoded = _bytes_of(transaction)
        encoded_signatures = [_bytes_of(signature) for signature in signatures]
        if not encoded_signatures:
            encoded_signatures = [await sign_transaction(self._require_signer(), encoded)]
        result = await self._send_bytes(encoded, encoded_signatures)
        if self._sender is not None:
            await self._sender.learn(result.effects)
        result.raise_for_status()
        return result

    async def _send_bytes(self, encoded: bytes, signatures: Sequence[bytes]) -> Executed:
        """Send a transaction and return it.

        The transaction is also returned if it was executed, but the first response was lost and the
        retry was refused.
        """
        digest = transaction_digest(encoded)
        with name_uncertain_transaction(digest):
            try:
                return await execute_transaction(self.connection, encoded, *signatures)
            except (RefusedOnChainError, NotFoundError) as error:
                transaction = await read_transaction(self.connection, digest)
                if transaction is not None:
                    return transaction
                if "attempts" in error.details:
                    raise lost_answer_error(error) from error
                raise

    def _sender_without_key(self, address: Address) -> Sender:
        return Sender(self.connection, self._known, _NoKey(address))

    def _require_signer(self) -> Signer:
        if self._signer is None:
            raise _no_signer()
        return self._signer

    def _require_sender(self) -> Sender:
        if self._sender is None:
            raise _no_signer()
        return self._sender


class _NoKey:
    """A signer without a key, for transactions that other parties sign."""

    def __init__(self, address: Address) -> None:
        self.address = address

    def sign(self, transaction: bytes) -> bytes:  # noqa: ARG002 - the interface of `Signer`
        """Raise `signer_missing`."""
        raise _no_signer()


def _bytes_of(value: bytes | str) -> bytes:
    """Return bytes unchanged, or decode a base64 string. Raises `bytes_invalid`."""
    try:
        return b64decode(value, validate=True) if isinstance(value, str) else value
    except ValueError:
        raise ValidationError(
            "bytes_invalid",
            "expected bytes or base64 for a transaction or a signature, got an invalid string",
            hint="Pass bytes, or the base64 text that pysui and the TypeScript SDK return.",
        ) from None


def _no_signer() -> NotAllowedError:
    hint = "Open the client with the signer of a wallet."
    return NotAllowedError("signer_missing", "the client does not have a signing key", hint=hint)
