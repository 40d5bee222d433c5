"""Checkpoints, which contain executed transactions and the digest of the previous checkpoint.

Source: `sui-types/src/messages_checkpoint.rs`.
"""

from typing import Any

from msgspec import Struct

from nexus_tools.sui.bcs import (
    Codec,
    byte_vector,
    choice,
    option,
    record,
    struct,
    u64,
    vector,
    wrapper,
)
from nexus_tools.sui.types.digest import (
    DIGEST,
    Digest,
    checkpoint_contents_digest,
    checkpoint_digest,
)
from nexus_tools.sui.types.effects import GAS_COST_SUMMARY, GasCostSummary


class LiveObjectSet(Struct, frozen=True):
    """A commitment to all live objects at the end of an epoch."""

    digest: Digest


class CheckpointArtifacts(Struct, frozen=True):
    """A commitment to the changes of a checkpoint."""

    digest: Digest


Commitment = LiveObjectSet | CheckpointArtifacts
_COMMITMENTS: Codec[tuple[Commitment, ...]] = vector(
    choice(
        "CheckpointCommitment",
        wrapper(LiveObjectSet, DIGEST),
        wrapper(CheckpointArtifacts, DIGEST),
    )
)


class EndOfEpochData(Struct, frozen=True):
    """The data in the last checkpoint of an epoch: the next epoch's validators and version."""

    next_epoch_committee: tuple[tuple[bytes, int], ...]
    next_epoch_protocol_version: int
    epoch_commitments: tuple[Commitment, ...]


class CheckpointSummary(Struct, frozen=True):
    """The header of a checkpoint.

    Validators sign this header, and the next checkpoint contains its digest.
    """

    epoch: int
    sequence_number: int
    network_total_transactions: int
    content_digest: Digest
    previous_digest: Digest | None
    epoch_rolling_gas_cost_summary: GasCostSummary
    timestamp_ms: int
    checkpoint_commitments: tuple[Commitment, ...]
    end_of_epoch_data: EndOfEpochData | None
    version_specific_data: bytes

    def encode(self) -> bytes:
        """Return the BCS bytes."""
        return CHECKPOINT_SUMMARY.encode(self)

    def digest(self) -> Digest:
        """Return the checkpoint's digest."""
        return checkpoint_digest(self.encode())


class CheckpointContents(Struct, frozen=True):
    """The contents of a checkpoint. `transactions` are pairs of transaction and effects digests."""

    transactions: tuple[tuple[Digest, Digest], ...]
    signatures: tuple[tuple[bytes, ...], ...]

    def encode(self) -> bytes:
        """Return the BCS bytes."""
        return CHECKPOINT_CONTENTS.encode(self)

    def digest(self) -> Digest:
        """Return the digest of the contents."""
        return checkpoint_contents_digest(self.encode())


class SignedTransactionDigests(Struct, frozen=True):
    """A transaction in a checkpoint. `digests` are the transaction digest and effects digest.

    A signature by an address alias is paired with the version of the signer's aliases.
    """

    digests: tuple[Digest, Digest]
    signatures: tuple[tuple[bytes, int | None], ...]


class CheckpointContentsV2(Struct, frozen=True):
    """The contents of a checkpoint on a network with address aliases."""

    transactions: tuple[SignedTransactionDigests, ...]

    def encode(self) -> bytes:
        """Return the BCS bytes."""
        return ANY_CHECKPOINT_CONTENTS.encode(self)

    def digest(self) -> Digest:
        """Return the digest of the contents."""
        return checkpoint_contents_digest(self.encode())


CHECKPOINT_SUMMARY: Codec[CheckpointSummary] = struct(
    CheckpointSummary,
    u64,
    u64,
    u64,
    DIGEST,
    option(DIGEST),
    GAS_COST_SUMMARY,
    u64,
    _COMMITMENTS,
    option(
        struct(
            EndOfEpochData,
            vector(record((byte_vector, u64))),
            u64,
            _COMMITMENTS,
        )
    ),
    byte_vector,
)

_DIGESTS = record((DIGEST, DIGEST))
_CONTENTS: Codec[Any] = struct(CheckpointContents, vector(_DIGESTS), vector(vector(byte_vector)))
_CONTENTS_V2: Codec[Any] = struct(
    CheckpointContentsV2,
    vector(struct(SignedTransactionDigests, _DIGESTS, vector(record((byte_vector, option(u64)))))),
)
CHECKPOINT_CONTENTS: Codec[CheckpointContents] = choice(
    "CheckpointContents", (CheckpointContents, _CONTENTS)
)
ANY_CHECKPOINT_CONTENTS: Codec[CheckpointContents | CheckpointContentsV2] = choice(
    "CheckpointContents", (CheckpointContents, _CONTENTS), (CheckpointContentsV2, _CONTENTS_V2)
)
"""A codec of checkpoint contents of any version. A localnet writes the first version."""
