"""System transactions, such as genesis, clock updates and the end of an epoch.

The last transaction of an epoch consists of several steps. The last step starts the next epoch.
Source: `sui-types/src/{transaction,messages_consensus}.rs`.
"""

from typing import Any

from msgspec import Struct

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    byte_vector,
    choice,
    option,
    read_uleb128,
    record,
    string,
    struct,
    u32,
    u64,
    vector,
    wrapper,
)
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.address import ADDRESS
from nexus_tools.sui.types.digest import DIGEST, Digest
from nexus_tools.sui.types.object import OBJECT_DATA, OWNER, MoveObject, MovePackage, Owner
from nexus_tools.sui.types.type_tag import TYPE_TAG


class ChangeEpoch(Struct, frozen=True):
    """The start of an epoch. The charges and rebates, in MIST, are from the previous epoch."""

    epoch: int
    protocol_version: int
    storage_charge: int
    computation_charge: int
    storage_rebate: int
    non_refundable_storage_fee: int
    epoch_start_timestamp_ms: int
    system_packages: tuple[Any, ...]


class GenesisObject(Struct, frozen=True):
    """An object that genesis creates."""

    data: MoveObject | MovePackage
    owner: Owner


class Genesis(Struct, frozen=True):
    """The transaction that creates the first objects."""

    objects: tuple[GenesisObject, ...]


class ConsensusCommitPrologue(Struct, frozen=True):
    """An update of the clock, version 1."""

    epoch: int
    round: int
    commit_timestamp_ms: int


class ConsensusCommitPrologueV2(Struct, frozen=True):
    """An update of the clock, version 2."""

    epoch: int
    round: int
    commit_timestamp_ms: int
    consensus_commit_digest: Digest


class CancelledTransactions(Struct, frozen=True):
    """The versions that were assigned to the shared objects of cancelled transactions."""

    assignments: tuple[Any, ...]


class CancelledTransactionsV2(Struct, frozen=True):
    """A `CancelledTransactions` that also contains the start version of each object."""

    assignments: tuple[Any, ...]


VersionAssignments = CancelledTransactions | CancelledTransactionsV2


class ConsensusCommitPrologueV3(Struct, frozen=True):
    """An update of the clock, version 3."""

    epoch: int
    round: int
    sub_dag_index: int | None
    commit_timestamp_ms: int
    consensus_commit_digest: Digest
    version_assignments: VersionAssignments


class ConsensusCommitPrologueV4(Struct, frozen=True):
    """An update of the clock, version 4."""

    epoch: int
    round: int
    sub_dag_index: int | None
    commit_timestamp_ms: int
    consensus_commit_digest: Digest
    version_assignments: VersionAssignments
    additional_state_digest: Digest


class AuthenticatorStateUpdate(Struct, frozen=True):
    """A publication of the keys of OAuth providers."""

    epoch: int
    round: int
    new_active_keys: tuple[Any, ...]
    initial_version: int


class RandomnessStateUpdate(Struct, frozen=True):
    """A publication of the random bytes of a consensus round."""

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

# --- The end of an epoch


class AuthenticatorStateCreate(Struct, frozen=True):
    """The creation of the authenticator state, the object 0x7."""


class AuthenticatorStateExpire(Struct, frozen=True):
    """The removal of the OAuth provider keys from before an epoch."""

    min_epoch: int
    initial_version: int


class RandomnessStateCreate(Struct, frozen=True):
    """The creation of the randomness state, the object 0x8."""


class DenyListStateCreate(Struct, frozen=True):
    """The creation of the deny list, the object 0x403."""


class BridgeStateCreate(Struct, frozen=True):
    """The creation of the bridge state, the object 0x9."""

    chain: Digest


class BridgeCommitteeInit(Struct, frozen=True):
    """The election of the bridge committee."""

    bridge_version: int


class StoreExecutionTimeObservations(Struct, frozen=True):
    """A record of the execution times of commands.

    Each observation is a pair. The first item identifies a command by its number and, for calls,
    the called function. The second item contains the execution time that each validator measured,
    as a public key and a duration in seconds and nanoseconds.
    """

    observations: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]


class AccumulatorRootCreate(Struct, frozen=True):
    """The creation of the accumulator root, the object 0xacc."""


class CoinRegistryCreate(Struct, frozen=True):
    """The creation of the coin registry, the object 0xc."""


class DisplayRegistryCreate(Struct, frozen=True):
    """The creation of the display registry, the object 0xd."""


class AddressAliasStateCreate(Struct, frozen=True):
    """The creation of the object with the address aliases."""


class WriteAccumulatorStorageCost(Struct, frozen=True):
    """A record of the storage cost of address balances, in MIST."""

    storage_cost: int


class EndOfEpoch(Struct, frozen=True):
    """The last transaction of an epoch. The last step is a `ChangeEpoch`."""

    steps: tuple[Any, ...]


_CALL_NUMBER, _COMMANDS = 0, 7
_CALL = record((ADDRESS, string, string, vector(TYPE_TAG)))


def _read_command(data: bytes, position: int) -> tuple[tuple[Any, ...], int]:
    number, position = read_uleb128(data, position)
    if number >= _COMMANDS:
        raise BcsError(f"ExecutionTimeObservationKey has no variant {number}")
    function, position = _CALL.read(data, position) if number == _CALL_NUMBER else ((), position)
    return (number, *function), position


def _write_command(command: tuple[Any, ...], out: bytearray) -> None:
    number, *function = command
    write_uleb128(number, out)
    if number == _CALL_NUMBER:
        _CALL.write(tuple(function), out)


_DURATIONS = vector(record((byte_vector, record((u64, u32)))))
_OBSERVATIONS = vector(record((Codec(_read_command, _write_command), _DURATIONS)))
# The observations are in an enum of versions, which has only one variant.
_STORED_OBSERVATIONS = choice(
    "StoredExecutionTimeObservations", wrapper(StoreExecutionTimeObservations, _OBSERVATIONS)
)

END_OF_EPOCH = struct(
    EndOfEpoch,
    vector(
        choice(
            "EndOfEpochTransactionKind",
            (ChangeEpoch, CHANGE_EPOCH),
            (AuthenticatorStateCreate, struct(AuthenticatorStateCreate)),
            (AuthenticatorStateExpire, struct(AuthenticatorStateExpire, u64, u64)),
            (RandomnessStateCreate, struct(RandomnessStateCreate)),
            (DenyListStateCreate, struct(DenyListStateCreate)),
            wrapper(BridgeStateCreate, DIGEST),
            wrapper(BridgeCommitteeInit, u64),
            (StoreExecutionTimeObservations, _STORED_OBSERVATIONS),
            (AccumulatorRootCreate, struct(AccumulatorRootCreate)),
            (CoinRegistryCreate, struct(CoinRegistryCreate)),
            (DisplayRegistryCreate, struct(DisplayRegistryCreate)),
            (AddressAliasStateCreate, struct(AddressAliasStateCreate)),
            wrapper(WriteAccumulatorStorageCost, u64),
        )
    ),
)
