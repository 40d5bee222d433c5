"""Sent transactions: their outcomes, and proofs that a transaction can never be executed.

A call may make several attempts, and sign one transaction per attempt. The call signs another
transaction only if the network can execute at most one of its transactions. A dishonest node cannot
forge the proof that only one transaction can be executed. The digest of an object covers the digest
of the transaction that wrote it, and the client computes both digests from bytes.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from itertools import islice

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.client.connection.connection import Connection, mask
from nexus_tools.sui.client.reads import read_object, read_objects
from nexus_tools.sui.client.transactions.execution_failure import (
    add_uncertain_transactions,
    is_uncertain,
)
from nexus_tools.sui.client.transactions.transactions import Executed, read_transaction
from nexus_tools.sui.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.sui.types.address_balance import is_coin_reservation
from nexus_tools.sui.types.digest import Digest, transaction_digest
from nexus_tools.sui.types.object import Object, ObjectReference
from nexus_tools.sui.types.transaction import (
    TRANSACTION_DATA,
    OwnedObject,
    ProgrammableTransaction,
    TransactionData,
)

_MAX_WRITERS = 64

_NOTHING_PAID = (
    "Nothing was paid: another transaction of this wallet used the same coins at the same time."
    " Send the transaction again."
)


class SentTransaction(Struct, frozen=True):
    """A signed transaction that was sent to a node.

    `consumed` are the object versions that the transaction consumes. If several transactions
    consume the same object version, the network executes at most one.
    """

    digest: Digest
    consumed: frozenset[ObjectReference]


def owned_references(data: TransactionData) -> frozenset[ObjectReference]:
    """Return the versions of a transaction's owned input objects and gas coins.

    The result excludes received objects. Reservations of an address balance are excluded because
    they are not objects.
    """
    inputs = data.kind.inputs if isinstance(data.kind, ProgrammableTransaction) else ()
    objects = (input_.reference for input_ in inputs if isinstance(input_, OwnedObject))
    coins = (coin for coin in data.gas.payment if not is_coin_reservation(coin))
    return frozenset((*objects, *coins))


# --- The outcome of a transaction


async def find_executed(connection: Connection, sent: SentTransaction) -> Executed | None:
    """Return a sent transaction if it was executed, or None if the node does not know it.

    If an object shows that the transaction was executed, retry until the node returns the
    transaction, because a node may publish a transaction later than its objects.
    """
    retry_policy = connection.retry_policy
    for pause in islice(retry_policy.delays(), retry_policy.attempts):
        transaction = await read_transaction(connection, sent.digest)
        if transaction is not None:
            return transaction
        objects = await _read_consumed(connection, sent)
        if all(value.previous_transaction != sent.digest for value in objects):
            return None
        await asyncio.sleep(pause)
    return None


async def is_superseded(connection: Connection, sent: SentTransaction) -> bool:
    """Return whether the node proves that another transaction has consumed an input of `sent`.

    In this case, the network can never execute `sent`.
    """
    objects = await _read_consumed(connection, sent)
    return await _supersede(connection, sent, [value.reference() for value in objects])


async def require_excluded(
    connection: Connection, sent: SentTransaction, references: Collection[ObjectReference]
) -> None:
    """Raise `node_unreachable` unless a new transaction with `references` conflicts with `sent`.

    The new transaction excludes `sent` if both consume the same version of an object. The new
    transaction also excludes `sent` if its references result from another transaction that consumed
    an input of `sent`.
    """
    if sent.consumed.isdisjoint(references) and not await _supersede(connection, sent, references):
        reason = "its inputs do not conflict with the inputs of the earlier transaction"
        raise _not_repeated(reason, sent.digest)


@asynccontextmanager
async def name_uncertain_transactions(
    connection: Connection, sent: Sequence[SentTransaction]
) -> AsyncGenerator[None, None]:
    """Add the digests of a call's transactions, except superseded transactions, to its error.

    The digests are added to a `CancelledError` as a note. Raises `node_unreachable` if another
    error is raised while an earlier transaction may still be executed.
    """
    try:
        yield
    except NexusError as error:
        if "gas_mist" in error.details:  # an executed transaction excludes the others
            raise
        digests = [
            transaction.digest
            for transaction in sent
            if not await _is_known_superseded(connection, transaction)
        ]
        if not digests:
            if sent and error.code == "node_unreachable" and not error.hint:
                error.hint = _NOTHING_PAID
            raise
        is_named = "digest" in error.details
        uncertain = error if is_named else _not_repeated(error.message, digests[-1])
        add_uncertain_transactions(uncertain, digests)
        if is_named:
            raise
        raise uncertain from error
    except asyncio.CancelledError as cancelled:
        if sent and not hasattr(cancelled, "__notes__"):
            cancelled.add_note(is_uncertain([transaction.digest for transaction in sent]))
        raise


def lost_answer_error(refusal: NexusError) -> UnreachableError:
    """Return the error for a refused retry of a transaction after the first response was lost."""
    return UnreachableError(
        "node_unreachable",
        "the node's response was lost, and the node refused the transaction when it was sent"
        f" again: {refusal.message}",
        details=refusal.details,
    )


def _not_repeated(reason: str, digest: Digest) -> UnreachableError:
    return UnreachableError(
        "node_unreachable",
        "the node refused a transaction, but did not prove that it can never be executed, so the"
        f" client does not send another transaction: {reason}",
        details={"digest": str(digest)},
    )


async def _is_known_superseded(connection: Connection, sent: SentTransaction) -> bool:
    try:
        return await is_superseded(connection, sent)
    except NexusError:
        return False


# --- Data from the node


async def _read_consumed(connection: Connection, sent: SentTransaction) -> list[Object]:
    """Return the newest versions of the objects that a transaction consumes."""
    ids = [reference.object_id for reference in sent.consumed]
    return [value for value in await read_objects(connection, ids) if value is not None]


async def _supersede(
    connection: Connection, sent: SentTransaction, references: Collection[ObjectReference]
) -> bool:
    """Return whether `references` result from another transaction that consumed an input of `sent`.

    For example, `sent` uses version 3 of a coin, whose version is now 5. The transaction that wrote
    version 5 used version 4, and the transaction that wrote version 4 used version 3. If the
    transaction that used version 3 is not `sent`, the network can never execute `sent`.
    """
    oldest = min((reference.version for reference in sent.consumed), default=None)
    if oldest is None:
        return False
    pending, writers = deque(references), {sent.digest}
    while pending and len(writers) <= _MAX_WRITERS:
        reference = pending.popleft()
        if reference.version <= oldest:
            continue  # a transaction writes newer versions than it consumes
        value = await read_object(connection, reference.object_id, reference.version)
        if value is None or value.reference() != reference:
            continue
        writer = value.previous_transaction
        if writer in writers:
            continue
        writers.add(writer)
        consumed = await _consumed_by(connection, writer)
        if not sent.consumed.isdisjoint(consumed):
            return True
        pending.extend(consumed)
    return False


async def _consumed_by(connection: Connection, digest: Digest) -> frozenset[ObjectReference]:
    """Return the owned references of a transaction, or an empty set if the node lacks it."""
    try:
        response = await connection.call(
            "LedgerService/GetTransaction", digest=str(digest), read_mask=mask("transaction.bcs")
        )
        encoded = response.transaction.transaction.bcs.value
        if transaction_digest(encoded) != digest:
            return frozenset()
        return owned_references(TRANSACTION_DATA.decode(encoded))
    except (NotFoundError, BcsError):
        return frozenset()
