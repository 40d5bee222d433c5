"""The bytes of transactions and checkpoints as the chain signs and hashes them."""

from msgspec import Struct

from nexus_tools.sui.client.connection.connection import mask
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.errors import NotFoundError
from nexus_tools.sui.types.digest import Digest


class TransactionRecord(Struct, frozen=True):
    """An executed transaction as BCS bytes, with its serialized signatures.

    `events` is empty if the transaction emitted no events. `checkpoint` is None until a checkpoint
    contains the transaction.
    """

    transaction: bytes
    signatures: tuple[bytes, ...]
    effects: bytes
    events: bytes
    checkpoint: int | None


class ValidatorSignature(Struct, frozen=True, forbid_unknown_fields=True):
    """The validators' aggregated signature of a checkpoint. `bitmap` names the signers."""

    epoch: int
    signature: bytes
    bitmap: bytes


class CheckpointRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint as BCS bytes.

    `signature` is None if the node does not report it. A localnet does not sign checkpoints.
    """

    summary: bytes
    contents: bytes
    signature: ValidatorSignature | None


async def read_transaction_record(client: SuiClient, digest: Digest) -> TransactionRecord | None:
    """Return an executed transaction, or None if the node does not know this digest."""
    try:
        response = await client.connection.call(
            "LedgerService/GetTransaction",
            digest=str(digest),
            read_mask=mask(
                "transaction.bcs", "signatures.bcs", "effects.bcs", "events.bcs", "checkpoint"
            ),
        )
    except NotFoundError:
        return None
    executed = response.transaction
    return TransactionRecord(
        executed.transaction.bcs.value,
        tuple(signature.bcs.value for signature in executed.signatures),
        executed.effects.bcs.value,
        executed.events.bcs.value,
        executed.checkpoint if executed.HasField("checkpoint") else None,
    )


async def read_checkpoint_record(
    client: SuiClient, sequence_number: int
) -> CheckpointRecord | None:
    """Return a checkpoint, or None if the node does not have it."""
    try:
        response = await client.connection.call(
            "LedgerService/GetCheckpoint",
            sequence_number=sequence_number,
            read_mask=mask("summary.bcs", "contents.bcs", "signature"),
        )
    except NotFoundError:
        return None
    checkpoint = response.checkpoint
    signature = None
    if checkpoint.HasField("signature"):
        signed = checkpoint.signature
        signature = ValidatorSignature(int(signed.epoch), signed.signature, bytes(signed.bitmap))
    return CheckpointRecord(checkpoint.summary.bcs.value, checkpoint.contents.bcs.value, signature)
