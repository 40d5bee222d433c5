"""Checkpoints and their transactions in the database."""

from collections.abc import Sequence
from typing import Any

from nexus_tools.sui.bcs import BcsError, Codec, byte_vector, record, u64, vector
from nexus_tools.sui.localnet.ledger.affecting_transactions import (
    delete_unwritten_changes,
    write_unwritten_changes,
)
from nexus_tools.sui.localnet.ledger.checkpoint import Checkpoint
from nexus_tools.sui.localnet.ledger.database import State, damaged_error
from nexus_tools.sui.localnet.ledger.events import delete_events, read_events, write_events
from nexus_tools.sui.localnet.ledger.object_versions import (
    changed_objects,
    delete_objects,
    read_object,
    read_outputs,
    write_objects,
)
from nexus_tools.sui.localnet.ledger.transaction import ExecutedTransaction
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.checkpoint import (
    CHECKPOINT_CONTENTS,
    CHECKPOINT_SUMMARY,
    CheckpointSummary,
)
from nexus_tools.sui.types.digest import (
    Digest,
    checkpoint_digest,
    effects_digest,
    transaction_digest,
)
from nexus_tools.sui.types.effects import TRANSACTION_EFFECTS
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

_SIGNATURES = vector(byte_vector)
_VERSIONS: Codec[tuple[tuple[Address, int], ...]] = vector(record((ADDRESS, u64)))

_TRANSACTIONS = """SELECT t.number, t.digest, t.checkpoint, data, signatures, effects, inputs,
    first_transaction, timestamp_ms
    FROM transactions t JOIN checkpoints c ON c.number = t.checkpoint"""

# --- Writes


def write_checkpoint(state: State, checkpoint: Checkpoint) -> None:
    """Append a checkpoint with all its rows. Call this function only inside a commit."""
    first = checkpoint.first_transaction
    state.write(
        "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)",
        (
            checkpoint.number,
            checkpoint.digest,
            first,
            checkpoint.summary.timestamp_ms,
            checkpoint.summary_bytes,
            checkpoint.contents_bytes,
        ),
    )
    for number, transaction in enumerate(checkpoint.transactions, first):
        _write_transaction(state, number, transaction)
        write_objects(state, number, transaction)
        write_unwritten_changes(state, number, transaction.effects)
        if transaction.events:
            write_events(state, number, transaction.events)


def _write_transaction(state: State, number: int, transaction: ExecutedTransaction) -> None:
    # The objects themselves are already in the database, as outputs of earlier transactions.
    inputs = tuple((value.id, value.version) for value in transaction.input_objects)
    state.write(
        "INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            number,
            transaction.digest,
            transaction.checkpoint,
            transaction.data_bytes,
            _SIGNATURES.encode(transaction.signatures),
            transaction.effects_bytes,
            _VERSIONS.encode(inputs),
        ),
    )


def changed_after(state: State, checkpoint: int) -> set[Address]:
    """Return the objects that changed after a checkpoint."""
    return changed_objects(state, _first_after(state, checkpoint))


def delete_after(state: State, checkpoint: int) -> None:
    """Delete all rows after a checkpoint. Call this function only inside a commit."""
    first = _first_after(state, checkpoint)
    delete_objects(state, first)
    delete_unwritten_changes(state, first)
    delete_events(state, first)
    state.write("DELETE FROM transactions WHERE number >= ?", (first,))
    state.write("DELETE FROM checkpoints WHERE number > ?", (checkpoint,))


def _first_after(state: State, checkpoint: int) -> int:
    """Return the number of the first transaction after a checkpoint."""
    row = state.row(
        "SELECT number + 1 FROM transactions WHERE checkpoint <= ? ORDER BY number DESC LIMIT 1",
        (checkpoint,),
    )
    return row[0] if row else 0


# --- Transactions


def read_transaction(state: State, digest: bytes) -> ExecutedTransaction | None:
    """Return a transaction by its digest, or None."""
    row = state.row(f"{_TRANSACTIONS} WHERE t.digest = ?", (digest,))
    return _transaction(state, row) if row else None


def transaction_number(state: State, digest: bytes) -> int | None:
    """Return a transaction's number in the chain, counted from 0, or None if it does not exist."""
    row = state.row("SELECT number FROM transactions WHERE digest = ?", (digest,))
    return row[0] if row else None


def read_transactions(state: State, first: int, count: int) -> tuple[ExecutedTransaction, ...]:
    """Return up to `count` transactions, starting with transaction number `first`."""
    rows = state.rows(
        f"{_TRANSACTIONS} WHERE t.number >= ? AND t.number < ? ORDER BY t.number",
        (first, first + count),
    )
    return tuple(_transaction(state, row) for row in rows)


def _transaction(state: State, row: Sequence[Any]) -> ExecutedTransaction:
    number, digest, checkpoint, data, signatures, effects, inputs, first, timestamp_ms = row
    if transaction_digest(data) != digest:
        raise damaged_error(state.path, f"transaction {number} does not match its digest")
    try:
        versions = (read_object(state, *key) for key in _VERSIONS.decode(inputs))
        written = read_outputs(state, number)
        return ExecutedTransaction(
            digest=Digest(digest),
            data=TRANSACTION_DATA.decode(data),
            data_bytes=data,
            signatures=_SIGNATURES.decode(signatures),
            effects=TRANSACTION_EFFECTS.decode(effects),
            effects_bytes=effects,
            effects_digest=effects_digest(effects),
            events=read_events(state, number),
            input_objects=tuple(value for value in versions if value is not None),
            output_objects=tuple(written.values()),
            output_bytes=tuple(written),
            checkpoint=checkpoint,
            timestamp_ms=timestamp_ms,
            index_in_checkpoint=number - first,
        )
    except BcsError as error:
        raise damaged_error(state.path, f"transaction {number}: {error}") from error


# --- Checkpoints


def read_checkpoint(state: State, number: int) -> Checkpoint | None:
    """Return a checkpoint with its transactions, or None."""
    row = state.row("SELECT digest, summary, contents FROM checkpoints WHERE number = ?", (number,))
    if row is None:
        return None
    digest, summary_bytes, contents_bytes = row
    try:
        summary = CHECKPOINT_SUMMARY.decode(summary_bytes)
        contents = CHECKPOINT_CONTENTS.decode(contents_bytes)
    except BcsError as error:
        raise damaged_error(state.path, f"checkpoint {number}: {error}") from error
    count = len(contents.transactions)
    first = summary.network_total_transactions - count
    transactions = read_transactions(state, first, count)
    if checkpoint_digest(summary_bytes) != digest or len(transactions) != count:
        raise damaged_error(state.path, f"checkpoint {number} is incomplete")
    return Checkpoint(
        Digest(digest), summary, summary_bytes, contents, contents_bytes, transactions
    )


def read_summary(state: State, number: int) -> CheckpointSummary | None:
    """Return the summary of a checkpoint, or None."""
    row = state.row("SELECT summary FROM checkpoints WHERE number = ?", (number,))
    return CHECKPOINT_SUMMARY.decode(row[0]) if row else None


def checkpoint_number(state: State, digest: bytes) -> int | None:
    """Return the sequence number of the checkpoint with a digest, or None."""
    row = state.row("SELECT number FROM checkpoints WHERE digest = ?", (digest,))
    return row[0] if row else None


def last_checkpoint_number(state: State) -> int | None:
    """Return the sequence number of the latest checkpoint, or None for an empty ledger."""
    row = state.row("SELECT max(number) FROM checkpoints")
    return row[0] if row else None
