"""Transactions at the node: executing, simulating and looking them up, and what became of them."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from nexus_tools.client.connection import Connection, mask
from nexus_tools.errors import NotFoundError, RefusedOnChainError
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.effects import (
    TRANSACTION_EFFECTS,
    GasCostSummary,
    IdOperation,
    ObjectWrite,
    PackageWrite,
    TransactionEffects,
)
from nexus_tools.sui.event import EVENTS, Event
from nexus_tools.sui.execution_status import ErrorKind, ExecutionError, ExecutionFailure, MoveAbort
from nexus_tools.sui.object import Owner
from nexus_tools.sui.transaction import TransactionData
from nexus_tools.sui.type_tag import StructTag, parse_struct_tag

_EXECUTED_FIELDS = (
    "effects.bcs",
    "effects.changed_objects.object_id",
    "effects.changed_objects.object_type",
    "events.bcs",
    "checkpoint",
    "timestamp",
)
"""What is read of an executed transaction: `effects.bcs` has all but the types of objects."""

_SIMULATED_FIELDS = (
    "transaction.effects.bcs",
    "transaction.events.bcs",
    "command_outputs.return_values.value",
)


# --- What became of a transaction


class CreatedObject(Struct, frozen=True):
    """An object that a transaction created, as it was afterwards."""

    object_id: Address
    type: StructTag
    owner: Owner


class Executed(Struct, frozen=True):
    """A transaction that the network executed.

    `checkpoint` and `timestamp_ms` are None as long as no checkpoint contains it.
    """

    digest: Digest
    effects: TransactionEffects
    events: tuple[Event, ...]
    checkpoint: int | None
    timestamp_ms: int | None
    types: dict[Address, StructTag]

    @property
    def cost(self) -> GasCostSummary:
        """What it cost, in MIST."""
        return self.effects.gas_used

    def created(self) -> Iterator[CreatedObject]:
        """The objects that it created, packages left out."""
        for object_id, change in self.effects.changed_objects:
            new = change.operation is IdOperation.CREATED
            if new and isinstance(change.output, ObjectWrite) and object_id in self.types:
                yield CreatedObject(object_id, self.types[object_id], change.output.owner)

    def created_of(self, module: str, name: str) -> tuple[Address, ...]:
        """The ids of the created objects whose type is `module::name`, of whatever package."""
        return tuple(
            created.object_id
            for created in self.created()
            if (created.type.module, created.type.name) == (module, name)
        )

    def published(self) -> Address:
        """The id of the package that it published. Raises `nothing_published`."""
        for object_id, change in self.effects.changed_objects:
            if isinstance(change.output, PackageWrite):
                return object_id
        raise NotFoundError("nothing_published", f"the transaction {self.digest} has no package")


class Simulated(Struct, frozen=True):
    """What a transaction would have done. `results` are BCS bytes by command and return value."""

    effects: TransactionEffects
    events: tuple[Event, ...]
    results: tuple[tuple[bytes, ...], ...]

    @property
    def cost(self) -> GasCostSummary:
        """What it would cost, in MIST."""
        return self.effects.gas_used

    def raise_for_status(self) -> None:
        """Raises `RefusedOnChainError` if the transaction would fail."""
        raise_for_status(self.effects)


# --- Asking the node


async def execute_transaction(
    connection: Connection, transaction: bytes, *signatures: bytes
) -> Executed:
    """Have a signed transaction executed, whether or not it then fails on chain.

    Sent twice, the same bytes are executed once: the second answer is the first one again.
    """
    response = await connection.call(
        "TransactionExecutionService/ExecuteTransaction",
        transaction=_transaction(transaction),
        signatures=[{"bcs": {"name": "UserSignature", "value": each}} for each in signatures],
        read_mask=mask(*_EXECUTED_FIELDS),
    )
    return _parse_executed(response.transaction)


async def simulate_transaction(
    connection: Connection, data: TransactionData, *, checks: bool = True
) -> Simulated:
    """What a transaction would do. Without `checks`, any function is called with any arguments."""
    response = await connection.call(
        "TransactionExecutionService/SimulateTransaction",
        transaction=_transaction(data.encode()),
        read_mask=mask(*_SIMULATED_FIELDS),
        checks="ENABLED" if checks else "DISABLED",
        do_gas_selection=False,
    )
    return _parse_simulated(response)


async def read_transaction(connection: Connection, digest: Digest) -> Executed | None:
    """A transaction that was executed, or None if the node knows none with this digest."""
    try:
        response = await connection.call(
            "LedgerService/GetTransaction",
            digest=str(digest),
            read_mask=mask(*_EXECUTED_FIELDS),
        )
    except NotFoundError:
        return None
    return _parse_executed(response.transaction)


async def read_gas_price(connection: Connection) -> int:
    """The reference gas price of this epoch, in MIST per unit."""
    fields = mask("reference_gas_price")
    response = await connection.call("LedgerService/GetEpoch", read_mask=fields)
    return int(response.epoch.reference_gas_price)


def _transaction(encoded: bytes) -> dict[str, Any]:
    return {"bcs": {"name": "TransactionData", "value": encoded}}


def _parse_executed(message: Any) -> Executed:
    """Read an `ExecutedTransaction` with the fields `_EXECUTED_FIELDS`."""
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
    )


def _parse_simulated(response: Any) -> Simulated:
    """Read a `SimulateTransactionResponse` with effects, events and return values as BCS."""
    return Simulated(
        TRANSACTION_EFFECTS.decode(response.transaction.effects.bcs.value),
        _parse_events(response.transaction),
        tuple(
            tuple(value.value.value for value in output.return_values)
            for output in response.command_outputs
        ),
    )


def _parse_events(message: Any) -> tuple[Event, ...]:
    encoded = message.events.bcs.value
    return EVENTS.decode(encoded) if encoded else ()


# --- Failures in words


def raise_for_status(effects: TransactionEffects, digest: Digest | None = None) -> None:
    """Raises `RefusedOnChainError` if the effects are those of a failed transaction.

    An abort has the code `move_abort` and the details `package`, `module`, `function` and `abort`
    (its number); any other failure has the code of its `ErrorKind` in lower case.
    """
    if not isinstance(effects.status, ExecutionFailure):
        return
    error, command = effects.status.error, effects.status.command
    details: dict[str, Any] = {"command": command}
    if digest is not None:
        details["digest"] = str(digest)
    if isinstance(error.data, MoveAbort):
        raise _abort(error.data, details)
    place = "" if command is None else f" in command {command}"
    raise RefusedOnChainError(
        error.kind.name.lower(),
        f"the chain refuses the transaction{place}: {_words(error)}",
        hint=_HINTS.get(error.kind, ""),
        details=details,
    )


def _abort(abort: MoveAbort, details: dict[str, Any]) -> RefusedOnChainError:
    place = abort.location
    function = place.function_name or str(place.function)
    return RefusedOnChainError(
        "move_abort",
        f"{place.package.short()}::{place.module}::{function} aborts with {abort.code}",
        details=details
        | {
            "package": str(place.package),
            "module": place.module,
            "function": place.function_name,
            "abort": abort.code,
        },
    )


def _words(error: ExecutionError) -> str:
    kind = error.kind.name.lower().replace("_", " ")
    return kind if error.data is None else f"{kind} ({error.data})"


_HINTS = {
    ErrorKind.INSUFFICIENT_GAS: "the budget is too small: leave it out, and it is estimated",
    ErrorKind.INSUFFICIENT_COIN_BALANCE: "the coin holds less than what is taken from it",
}
