"""The requests to execute, simulate and look up a transaction at a node, and their results."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.client.transactions.execution_failure import (
    parse_clever_error,
    raise_for_status,
)
from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    TRANSACTION_EFFECTS,
    GasCostSummary,
    IdOperation,
    ObjectWrite,
    PackageWrite,
    TransactionEffects,
)
from nexus_tools.sui.types.event import EVENTS, Event
from nexus_tools.sui.types.object import Owner
from nexus_tools.sui.types.transaction import TransactionData
from nexus_tools.sui.types.type_tag import StructTag, parse_struct_tag

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import CleverError

EXECUTED_FIELDS = (
    "effects.bcs",
    "effects.status",
    "effects.changed_objects.object_id",
    "effects.changed_objects.object_type",
    "events.bcs",
    "checkpoint",
    "timestamp",
)
"""The fields of an executed transaction that the client requests from the node.

`effects.bcs` contains neither the types of objects nor the details of an `#[error]` abort.
`effects.status` contains the details of the abort.
"""

_SIMULATED_FIELDS = (
    "transaction.effects.bcs",
    "transaction.effects.status",
    "transaction.events.bcs",
    "command_outputs.return_values.value",
)


# --- Results of transactions


class CreatedObject(Struct, frozen=True):
    """An object that a transaction created, in its state after the transaction."""

    object_id: Address
    type: StructTag
    owner: Owner


class Executed(Struct, frozen=True):
    """A transaction that the network executed.

    `checkpoint` and `timestamp_ms` are None until a checkpoint contains the transaction.
    """

    digest: Digest
    effects: TransactionEffects
    events: tuple[Event, ...]
    checkpoint: int | None
    timestamp_ms: int | None
    types: dict[Address, StructTag]
    clever_error: "CleverError | None" = None

    @property
    def cost(self) -> GasCostSummary:
        """The gas cost, in MIST."""
        return self.effects.gas_used

    def raise_for_status(self) -> None:
        """Raise `RefusedOnChainError` if the transaction failed."""
        raise_for_status(self.effects, self.clever_error, self.digest)

    def created(self) -> Iterator[CreatedObject]:
        """Yield the created objects. Packages are excluded."""
        for object_id, change in self.effects.changed_objects:
            new = change.operation is IdOperation.CREATED
            if new and isinstance(change.output, ObjectWrite) and object_id in self.types:
                yield CreatedObject(object_id, self.types[object_id], change.output.owner)

    def created_of(self, module: str, name: str) -> tuple[Address, ...]:
        """Return the IDs of the created objects whose type is `module::name` of any package."""
        return tuple(
            created.object_id
            for created in self.created()
            if (created.type.module, created.type.name) == (module, name)
        )

    def published(self) -> Address:
        """Return the ID of the published package. Raises `package_not_published`."""
        for object_id, change in self.effects.changed_objects:
            if isinstance(change.output, PackageWrite):
                return object_id
        raise NotFoundError(
            "package_not_published", f"the transaction {self.digest} did not publish a package"
        )


class SignedTransaction(Struct, frozen=True):
    """A transaction's bytes and its signature.

    If you send the same signed transaction twice, the network executes it only once.
    """

    transaction: bytes
    signature: bytes
    digest: Digest


class SimulatedTransaction(Struct, frozen=True):
    """The result of a simulation.

    For each command, `results` contains the BCS bytes of the command's return values.
    """

    effects: TransactionEffects
    events: tuple[Event, ...]
    results: tuple[tuple[bytes, ...], ...]
    clever_error: "CleverError | None" = None

    @property
    def cost(self) -> GasCostSummary:
        """The expected gas cost, in MIST."""
        return self.effects.gas_used

    def raise_for_status(self) -> None:
        """Raise `RefusedOnChainError` if the transaction would fail."""
        raise_for_status(self.effects, self.clever_error)


# --- Requests to the node


async def execute_transaction(
    connection: Connection, transaction: bytes, *signatures: bytes
) -> Executed:
    """Execute a signed transaction, and return it even if it failed on chain.

    If you send the same bytes twice, they are executed once, and both responses are equal.
    """
    response = await connection.call(
        "TransactionExecutionService/ExecuteTransaction",
        transaction=_transaction(transaction),
        signatures=[
            {"bcs": {"name": "UserSignature", "value": signature}} for signature in signatures
        ],
        read_mask=mask(*EXECUTED_FIELDS),
    )
    return parse_executed(response.transaction)


async def simulate_transaction(
    connection: Connection, data: TransactionData, *, checks: bool = True
) -> SimulatedTransaction:
    """Simulate a transaction.

    If `checks` is False, the transaction may call any function with any arguments.
    """
    response = await connection.call(
        "TransactionExecutionService/SimulateTransaction",
        transaction=_transaction(data.encode()),
        read_mask=mask(*_SIMULATED_FIELDS),
        checks="ENABLED" if checks else "DISABLED",
        do_gas_selection=False,
    )
    return parse_simulated(response)


async def read_transaction(connection: Connection, digest: Digest) -> Executed | None:
    """Return an executed transaction, or None if the node does not know this digest."""
    try:
        response = await connection.call(
            "LedgerService/GetTransaction",
            digest=str(digest),
            read_mask=mask(*EXECUTED_FIELDS),
        )
    except NotFoundError:
        return None
    return parse_executed(response.transaction)


async def read_chain_id(connection: Connection) -> str:
    """Return the chain ID: the digest of the first checkpoint in base58."""
    response = await connection.call("LedgerService/GetServiceInfo")
    return str(response.chain_id)


def _transaction(encoded: bytes) -> dict[str, Any]:
    return {"bcs": {"name": "TransactionData", "value": encoded}}


def parse_executed(message: Any) -> Executed:
    """Parse an `ExecutedTransaction` with the fields `EXECUTED_FIELDS`."""
    effects = TRANSACTION_EFFECTS.decode(message.effects.bcs.value)
    return Executed(
        effects.transaction_digest,
        effects,
        _parse_events(message),
        message.checkpoint if message.HasField("checkpoint") else None,
        message.timestamp.ToMilliseconds() if message.HasField("timestamp") else None,
        {
            Address.parse(changed.object_id): parse_struct_tag(changed.object_type)
            for changed in message.effects.changed_objects
            if "::" in changed.object_type
        },
        parse_clever_error(message.effects),
    )


def parse_simulated(response: Any) -> SimulatedTransaction:
    """Parse a `SimulateTransactionResponse` with effects, events and return values as BCS."""
    return SimulatedTransaction(
        TRANSACTION_EFFECTS.decode(response.transaction.effects.bcs.value),
        _parse_events(response.transaction),
        tuple(
            tuple(value.value.value for value in output.return_values)
            for output in response.command_outputs
        ),
        parse_clever_error(response.transaction.effects),
    )


def _parse_events(message: Any) -> tuple[Event, ...]:
    encoded = message.events.bcs.value
    return EVENTS.decode(encoded) if encoded else ()
