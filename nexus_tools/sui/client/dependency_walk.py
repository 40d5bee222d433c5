"""The transactions that changed an object, newest first, without an index of the node.

The effects of a transaction name its dependencies: the transactions that last changed its inputs.
One of them changed the object before. A reader therefore needs one request for each transaction of
the object, however many other transactions the chain has.
"""

from collections.abc import AsyncGenerator, Sequence

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.client.transactions.transactions import (
    EXECUTED_FIELDS,
    Executed,
    parse_executed,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import InputState, ObjectChange

_BATCH = 50


class ObjectTransaction(Struct, frozen=True):
    """A transaction that changed an object, and the transactions that last changed its inputs."""

    executed: Executed
    dependencies: tuple[Executed, ...]


async def object_history(
    client: SuiClient, object_id: Address, last: Digest
) -> AsyncGenerator[ObjectTransaction, None]:
    """Yield the transactions that changed an object, from the transaction `last` to its creation.

    Pass the object's `previous_transaction` as `last`. The iterator ends early if the node has
    pruned a transaction. It sends one request for each transaction, so stop when you have enough.
    """
    known: dict[Digest, Executed] = {}
    current = await client.transaction(last)
    while current is not None:
        dependencies = await _read_known(client.connection, current.effects.dependencies, known)
        yield ObjectTransaction(current, dependencies)
        current = _predecessor(current, object_id, dependencies)


async def _read_known(
    connection: Connection, digests: Sequence[Digest], known: dict[Digest, Executed]
) -> tuple[Executed, ...]:
    """Return the transactions that the node has. Read only those that are not yet known."""
    unknown = [digest for digest in digests if digest not in known]
    for start in range(0, len(unknown), _BATCH):
        response = await connection.call(
            "LedgerService/BatchGetTransactions",
            digests=[str(digest) for digest in unknown[start : start + _BATCH]],
            read_mask=mask(*EXECUTED_FIELDS),
        )
        for result in response.transactions:
            if result.HasField("transaction"):
                executed = parse_executed(result.transaction)
                known[executed.digest] = executed
    return tuple(known[digest] for digest in digests if digest in known)


def _predecessor(
    current: Executed, object_id: Address, dependencies: Sequence[Executed]
) -> Executed | None:
    """Return the transaction that wrote the version of the object that `current` has changed."""
    change = _change_of(current, object_id)
    if change is None or not isinstance(change.input, InputState):
        return None
    version = change.input.version
    return next(
        (
            executed
            for executed in dependencies
            if executed.effects.lamport_version == version
            and _change_of(executed, object_id) is not None
        ),
        None,
    )


def _change_of(executed: Executed, object_id: Address) -> ObjectChange | None:
    changes = executed.effects.changed_objects
    return next((change for changed, change in changes if changed == object_id), None)
