import pytest

from nexus_tools.sui.bcs import BcsError, string, u64
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.system_transaction import (
    END_OF_EPOCH,
    AccumulatorRootCreate,
    AddressAliasStateCreate,
    AuthenticatorStateCreate,
    AuthenticatorStateExpire,
    BridgeCommitteeInit,
    BridgeStateCreate,
    ChangeEpoch,
    CoinRegistryCreate,
    DenyListStateCreate,
    DisplayRegistryCreate,
    EndOfEpoch,
    RandomnessStateCreate,
    StoreExecutionTimeObservations,
    WriteAccumulatorStorageCost,
)
from nexus_tools.sui.types.type_tag import Primitive

CHANGE = ChangeEpoch(1, 2, 3, 4, 5, 6, 7, ())
KEY = bytes(96)
CALL = (0, Address.of(2), "coin", "zero", (Primitive.U8,))
OBSERVED = StoreExecutionTimeObservations(((CALL, ((KEY, (1, 2)),)), ((3,), ())))
OBSERVED_BYTES = (
    b"\0\2"  # version 1, two observations
    b"\0"
    + bytes(Address.of(2))
    + string.encode("coin")
    + string.encode("zero")
    + b"\1\1"  # one type: u8
    + b"\1\x60"
    + KEY
    + u64.encode(1)
    + b"\2\0\0\0"
    + b"\3\0"  # MergeCoins, without observations
)

# The numbers are indices in `EndOfEpochTransactionKind`, `sui-types/src/transaction.rs`.
STEPS = [
    (CHANGE, b"\0" + b"".join(map(u64.encode, range(1, 8))) + b"\0"),
    (AuthenticatorStateCreate(), b"\1"),
    (AuthenticatorStateExpire(8, 9), b"\2" + u64.encode(8) + u64.encode(9)),
    (RandomnessStateCreate(), b"\3"),
    (DenyListStateCreate(), b"\4"),
    (BridgeStateCreate(Digest(b"\7" * 32)), b"\5\x20" + b"\7" * 32),
    (BridgeCommitteeInit(5), b"\6" + u64.encode(5)),
    (OBSERVED, b"\7" + OBSERVED_BYTES),
    (AccumulatorRootCreate(), b"\x08"),
    (CoinRegistryCreate(), b"\x09"),
    (DisplayRegistryCreate(), b"\x0a"),
    (AddressAliasStateCreate(), b"\x0b"),
    (WriteAccumulatorStorageCost(5), b"\x0c" + u64.encode(5)),
]


@pytest.mark.parametrize(("step", "expected"), STEPS)
def test_steps_have_their_numbers_and_round_trip(step, expected):
    transaction = EndOfEpoch((step, CHANGE))
    encoded = END_OF_EPOCH.encode(transaction)
    assert encoded == b"\2" + expected + STEPS[0][1]
    assert END_OF_EPOCH.decode(encoded) == transaction


@pytest.mark.parametrize("data", [b"\1\x0d", b"\1\7\0\1\7\0"])
def test_unknown_step_or_command_is_refused(data):
    with pytest.raises(BcsError):
        END_OF_EPOCH.decode(data)
