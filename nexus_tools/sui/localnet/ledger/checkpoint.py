"""A checkpoint with its transactions."""

from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from nexus_tools.sui.bcs import u64, vector
from nexus_tools.sui.bytecode import original_id
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.ledger.transaction import ExecutedTransaction
from nexus_tools.sui.types.checkpoint import CheckpointContents, CheckpointSummary, EndOfEpochData
from nexus_tools.sui.types.digest import Digest, checkpoint_contents_digest, checkpoint_digest
from nexus_tools.sui.types.effects import GasCostSummary, ObjectWrite, PackageWrite
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.system_transaction import RandomnessStateUpdate

# The content of `CheckpointVersionSpecificData::V1` is the rounds of randomness. Genesis has no
# version-specific data.
_VERSION_1 = b"\0"
_ROUNDS = vector(u64)


class Checkpoint(Struct, frozen=True):
    """The summary and the contents of a checkpoint, and its transactions in order."""

    digest: Digest
    summary: CheckpointSummary
    summary_bytes: bytes
    contents: CheckpointContents
    contents_bytes: bytes
    transactions: tuple[ExecutedTransaction, ...]

    @classmethod
    def after(
        cls,
        previous: "Checkpoint | None",
        transactions: Sequence[ExecutedTransaction],
        timestamp_ms: int,
        epoch: int = 0,
        end_of_epoch: EndOfEpochData | None = None,
    ) -> Self:
        """Return the checkpoint that follows `previous`, or genesis if `previous` is None."""
        contents = CheckpointContents(
            tuple((executed.digest, executed.effects_digest) for executed in transactions),
            tuple(executed.signatures if previous else () for executed in transactions),
        )
        contents_bytes = contents.encode()
        before = previous.summary if previous else None
        summary = CheckpointSummary(
            epoch=epoch,
            sequence_number=before.sequence_number + 1 if before else 0,
            network_total_transactions=len(transactions)
            + (before.network_total_transactions if before else 0),
            content_digest=checkpoint_contents_digest(contents_bytes),
            previous_digest=previous.digest if previous else None,
            epoch_rolling_gas_cost_summary=epoch_gas_used(epoch, before, transactions),
            timestamp_ms=timestamp_ms,
            checkpoint_commitments=(),
            end_of_epoch_data=end_of_epoch,
            version_specific_data=_randomness_rounds(transactions) if before else b"",
        )
        summary_bytes = summary.encode()
        digest = checkpoint_digest(summary_bytes)
        return cls(digest, summary, summary_bytes, contents, contents_bytes, tuple(transactions))

    @property
    def number(self) -> int:
        """The sequence number of the checkpoint. Genesis is checkpoint 0."""
        return self.summary.sequence_number

    @property
    def first_transaction(self) -> int:
        """The number of transactions in the chain before this checkpoint."""
        return self.summary.network_total_transactions - len(self.contents.transactions)


def check_successor(latest: Checkpoint | None, checkpoint: Checkpoint) -> None:
    """Check that a checkpoint follows the latest one, and that its objects match its effects.

    Raises:
        ValidationError: `checkpoint_invalid`.
    """
    summary = checkpoint.summary
    follows = (
        summary.sequence_number == (latest.number + 1 if latest else 0)
        and summary.previous_digest == (latest.digest if latest else None)
        and checkpoint.first_transaction
        == (latest.summary.network_total_transactions if latest else 0)
        and len(checkpoint.transactions) == len(checkpoint.contents.transactions)
    )
    if not follows:
        raise _invalid(checkpoint, "the checkpoint does not follow the latest checkpoint")
    for transaction in checkpoint.transactions:
        written = {
            object_id
            for object_id, change in transaction.effects.changed_objects
            if isinstance(change.output, ObjectWrite | PackageWrite)
        }
        if written != {value.id for value in transaction.output_objects}:
            raise _invalid(
                checkpoint, f"the objects of {transaction.digest} do not match its effects"
            )
        for value in transaction.output_objects:
            if isinstance(value.data, MovePackage):
                original_id(value.data)  # an invalid package raises before anything is stored


def _invalid(checkpoint: Checkpoint, reason: str) -> ValidationError:
    return ValidationError(
        "checkpoint_invalid", f"checkpoint {checkpoint.number} is not valid: {reason}"
    )


def _randomness_rounds(transactions: Sequence[ExecutedTransaction]) -> bytes:
    kinds = (executed.data.kind for executed in transactions)
    rounds = [kind.round for kind in kinds if isinstance(kind, RandomnessStateUpdate)]
    return _VERSION_1 + _ROUNDS.encode(tuple(rounds))


def epoch_gas_used(
    epoch: int, before: CheckpointSummary | None, transactions: Sequence[ExecutedTransaction]
) -> GasCostSummary:
    """Return the gas costs of an epoch: up to checkpoint `before`, plus `transactions`."""
    total = GasCostSummary(0, 0, 0, 0)
    if before is not None and before.epoch == epoch:
        total = before.epoch_rolling_gas_cost_summary
    for executed in transactions:
        total += executed.effects.gas_used
    return total
