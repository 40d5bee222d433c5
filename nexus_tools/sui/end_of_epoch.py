"""The last transaction of an epoch: what is done when an epoch ends, step by step.

The last step changes the epoch. Source: `EndOfEpochTransactionKind` in
`sui-types/src/transaction.rs`.
"""

from typing import Any

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import ADDRESS
from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    byte_vector,
    choice,
    read_uleb128,
    record,
    string,
    struct,
    u32,
    u64,
    vector,
    wrapper,
    write_uleb128,
)
from nexus_tools.sui.digest import DIGEST, Digest
from nexus_tools.sui.system_transaction import CHANGE_EPOCH, ChangeEpoch
from nexus_tools.sui.type_tag import TYPE_TAG


@dataclass(frozen=True, slots=True)
class AuthenticatorStateCreate:
    """Creates the object 0x7."""


@dataclass(frozen=True, slots=True)
class AuthenticatorStateExpire:
    """Removes keys of OAuth providers that are older than an epoch."""

    min_epoch: int
    initial_version: int


@dataclass(frozen=True, slots=True)
class RandomnessStateCreate:
    """Creates the object 0x8."""


@dataclass(frozen=True, slots=True)
class DenyListStateCreate:
    """Creates the object 0x403."""


@dataclass(frozen=True, slots=True)
class BridgeStateCreate:
    """Creates the object 0x9."""

    chain: Digest


@dataclass(frozen=True, slots=True)
class BridgeCommitteeInit:
    """Chooses the committee of the bridge."""

    bridge_version: int


@dataclass(frozen=True, slots=True)
class StoreExecutionTimeObservations:
    """Keeps how long commands took.

    Each observation is a command, told by its number and for calls by what was called, and for
    validators (public keys) a duration in seconds and nanoseconds.
    """

    observations: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]


@dataclass(frozen=True, slots=True)
class AccumulatorRootCreate:
    """Creates the object 0xacc."""


@dataclass(frozen=True, slots=True)
class CoinRegistryCreate:
    """Creates the object 0xc."""


@dataclass(frozen=True, slots=True)
class DisplayRegistryCreate:
    """Creates the object 0xd."""


@dataclass(frozen=True, slots=True)
class AddressAliasStateCreate:
    """Creates the object with the aliases of addresses."""


@dataclass(frozen=True, slots=True)
class WriteAccumulatorStorageCost:
    """Writes down what storing address balances costs, in MIST."""

    storage_cost: int


@dataclass(frozen=True, slots=True)
class EndOfEpoch:
    """The last transaction of an epoch; the last of its steps is a `ChangeEpoch`."""

    steps: tuple[Any, ...]


_CALL_NUMBER, _COMMANDS = 0, 7
_CALL = record((ADDRESS, string, string, vector(TYPE_TAG)))


def _read_command(data: bytes, position: int) -> tuple[tuple[Any, ...], int]:
    number, position = read_uleb128(data, position)
    if number >= _COMMANDS:
        raise BcsError(f"ExecutionTimeObservationKey has no variant {number}")
    called, position = _CALL.read(data, position) if number == _CALL_NUMBER else ((), position)
    return (number, *called), position


def _write_command(command: tuple[Any, ...], out: bytearray) -> None:
    number, *called = command
    write_uleb128(number, out)
    if number == _CALL_NUMBER:
        _CALL.write(tuple(called), out)


_DURATIONS = vector(record((byte_vector, record((u64, u32)))))
_OBSERVATIONS = vector(record((Codec(_read_command, _write_command), _DURATIONS)))
# The observations stand in an enum of versions, of which there is one.
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
