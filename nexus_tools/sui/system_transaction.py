"""Transactions that the network itself makes: genesis, the clock, the change of an epoch.

Source: `sui-types/src/{transaction,messages_consensus}.rs`.
"""

from typing import Any

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import ADDRESS
from nexus_tools.sui.bcs import (
    Codec,
    byte_vector,
    choice,
    option,
    record,
    string,
    struct,
    u64,
    vector,
)
from nexus_tools.sui.digest import DIGEST, Digest
from nexus_tools.sui.object import OBJECT_DATA, OWNER, MoveObject, MovePackage, Owner


@dataclass(frozen=True, slots=True)
class ChangeEpoch:
    """Begins `epoch`; costs of the one before in MIST, `system_packages` as they are upgraded."""

    epoch: int
    protocol_version: int
    storage_charge: int
    computation_charge: int
    storage_rebate: int
    non_refundable_storage_fee: int
    epoch_start_timestamp_ms: int
    system_packages: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GenesisObject:
    """An object of the first checkpoint."""

    data: MoveObject | MovePackage
    owner: Owner


@dataclass(frozen=True, slots=True)
class Genesis:
    """The transaction that creates the first objects."""

    objects: tuple[GenesisObject, ...]


@dataclass(frozen=True, slots=True)
class ConsensusCommitPrologue:
    """Sets the clock; version 1."""

    epoch: int
    round: int
    commit_timestamp_ms: int


@dataclass(frozen=True, slots=True)
class ConsensusCommitPrologueV2:
    """Sets the clock; version 2."""

    epoch: int
    round: int
    commit_timestamp_ms: int
    consensus_commit_digest: Digest


@dataclass(frozen=True, slots=True)
class CancelledTransactions:
    """Versions that were given to the shared objects of cancelled transactions."""

    assignments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class CancelledTransactionsV2:
    """As `CancelledTransactions`, with the start version of each object."""

    assignments: tuple[Any, ...]


VersionAssignments = CancelledTransactions | CancelledTransactionsV2


@dataclass(frozen=True, slots=True)
class ConsensusCommitPrologueV3:
    """Sets the clock; version 3."""

    epoch: int
    round: int
    sub_dag_index: int | None
    commit_timestamp_ms: int
    consensus_commit_digest: Digest
    version_assignments: VersionAssignments


@dataclass(frozen=True, slots=True)
class ConsensusCommitPrologueV4:
    """Sets the clock; version 4."""

    epoch: int
    round: int
    sub_dag_index: int | None
    commit_timestamp_ms: int
    consensus_commit_digest: Digest
    version_assignments: VersionAssignments
    additional_state_digest: Digest


@dataclass(frozen=True, slots=True)
class AuthenticatorStateUpdate:
    """Publishes keys of OAuth providers."""

    epoch: int
    round: int
    new_active_keys: tuple[Any, ...]
    initial_version: int


@dataclass(frozen=True, slots=True)
class RandomnessStateUpdate:
    """Publishes random bytes of a consensus round."""

    epoch: int
    round: int
    random_bytes: bytes
    initial_version: int


CHANGE_EPOCH = struct(
    ChangeEpoch,
    *(u64,) * 7,
    vector(record((u64, vector(byte_vector), vector(ADDRESS)))),
)

GENESIS: Codec[Genesis] = struct(
    Genesis,
    vector(choice("GenesisObject", (GenesisObject, struct(GenesisObject, OBJECT_DATA, OWNER)))),
)

_VERSIONS = vector(record((ADDRESS, u64)))
_VERSIONS_V2 = vector(record((record((ADDRESS, u64)), u64)))
_ASSIGNMENTS: Codec[VersionAssignments] = choice(
    "ConsensusDeterminedVersionAssignments",
    (CancelledTransactions, struct(CancelledTransactions, vector(record((DIGEST, _VERSIONS))))),
    (
        CancelledTransactionsV2,
        struct(CancelledTransactionsV2, vector(record((DIGEST, _VERSIONS_V2)))),
    ),
)

CONSENSUS_COMMIT_PROLOGUE = struct(ConsensusCommitPrologue, u64, u64, u64)
CONSENSUS_COMMIT_PROLOGUE_V2 = struct(ConsensusCommitPrologueV2, u64, u64, u64, DIGEST)
_V3 = (u64, u64, option(u64), u64, DIGEST, _ASSIGNMENTS)
CONSENSUS_COMMIT_PROLOGUE_V3 = struct(ConsensusCommitPrologueV3, *_V3)
CONSENSUS_COMMIT_PROLOGUE_V4 = struct(ConsensusCommitPrologueV4, *_V3, DIGEST)

_KEY_ID = record((string, string))
_KEY = record((string, string, string, string))
AUTHENTICATOR_STATE_UPDATE = struct(
    AuthenticatorStateUpdate, u64, u64, vector(record((_KEY_ID, _KEY, u64))), u64
)
RANDOMNESS_STATE_UPDATE = struct(RandomnessStateUpdate, u64, u64, byte_vector, u64)
