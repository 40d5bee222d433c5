import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    OBJECT_CHANGE,
    TRANSACTION_EFFECTS,
    Absent,
    AccumulatorEvents,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorPair,
    AccumulatorWrite,
    Cancelled,
    GasCostSummary,
    IdOperation,
    InputState,
    MutateEnded,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
    PerEpochConfig,
    ReadEnded,
    ReadOnlyRoot,
    TransactionEffects,
)
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    Success,
)
from nexus_tools.sui.types.object import AddressOwner, Immutable
from nexus_tools.sui.types.type_tag import SUI, Primitive, balance_tag


def test_net_cost_is_the_cost_minus_the_rebate():
    assert GasCostSummary(1_000_000, 1_976_000, 978_120, 9_880).net == 1_997_880
    assert GasCostSummary(1_000_000, 0, 2_000_000, 20_000).net == -1_000_000


def test_effects_of_an_empty_transaction_have_their_fields_in_order():
    effects = TransactionEffects(
        Success(),
        7,
        GasCostSummary(1, 2, 3, 4),
        Digest(bytes(32)),
        None,
        None,
        (),
        5,
        (),
        (),
        None,
    )
    numbers = b"".join(value.to_bytes(8, "little") for value in (7, 1, 2, 3, 4))
    # V2, success, numbers, digest, no gas object, no events, no dependencies, version, nothing
    expected = b"\1\0" + numbers + b"\x20" + bytes(32) + bytes(3) + b"\5" + bytes(7) + bytes(3)
    assert effects.encode() == expected


def test_created_object_changes_from_absent_to_written():
    change = ObjectChange(
        Absent(), ObjectWrite(Digest(bytes(32)), Immutable()), IdOperation.CREATED
    )
    assert OBJECT_CHANGE.encode(change) == b"\0" + b"\1\x20" + bytes(32) + b"\3" + b"\1"


def test_deleted_object_changes_from_its_input_to_absent():
    change = ObjectChange(
        InputState(9, Digest(bytes(32)), AddressOwner(Address.of(1))),
        Absent(),
        IdOperation.DELETED,
    )
    owner = b"\0" + bytes(31) + b"\1"
    expected = b"\1\t" + bytes(7) + b"\x20" + bytes(32) + owner + b"\0" + b"\2"
    assert OBJECT_CHANGE.encode(change) == expected


def test_accumulator_changes_are_encoded_in_place_of_objects():
    alice, none = Address.of(0xA11CE), Digest(bytes(32))
    taken = AccumulatorWrite(
        alice, balance_tag(SUI), AccumulatorOperation.SPLIT, AccumulatorInteger(5)
    )
    emitted = AccumulatorWrite(
        alice, Primitive.U8, AccumulatorOperation.MERGE, AccumulatorEvents(((7, none),))
    )
    changed = tuple(
        (Address.of(object_id), ObjectChange(Absent(), write, IdOperation.NONE))
        for object_id, write in ((0xACC0, taken), (0xACC1, emitted))
    )
    gas = GasCostSummary(1, 2, 3, 4)
    effects = TransactionEffects(Success(), 0, gas, none, None, None, (), 1, changed, (), None)
    # The same effects as @mysten/sui 2.33.1 writes them.
    assert effects.encode().hex() == (
        f"01{0:018x}0100000000000000020000000000000003000000000000000400000000000000"
        f"20{0:064x}000000010000000000000002{0xACC0:064x}0003{0xA11CE:064x}07{2:064x}"
        f"0762616c616e63650742616c616e63650107{2:064x}03737569035355490001000500000000000000"
        f"00{0xACC1:064x}0003{0xA11CE:064x}01000201070000000000000020{0:064x}000000"
    )
    assert TRANSACTION_EFFECTS.decode(effects.encode()) == effects


def test_effects_of_the_first_version_are_refused():
    with pytest.raises(BcsError, match="version 1"):
        TRANSACTION_EFFECTS.decode(b"\0" + bytes(200))


def all_effects(strategies):
    u64, digests, addresses = strategies.u64, strategies.digests, strategies.addresses
    value = st.builds(AccumulatorInteger, u64) | st.builds(AccumulatorPair, u64, u64)
    operation = st.sampled_from(AccumulatorOperation)
    written = st.one_of(
        st.just(Absent()),
        st.builds(ObjectWrite, digests, strategies.owners),
        st.builds(PackageWrite, u64, digests),
        st.builds(AccumulatorWrite, addresses, strategies.type_tags, operation, value),
    )
    before = st.just(Absent()) | st.builds(InputState, u64, digests, strategies.owners)
    unchanged = st.one_of(
        st.builds(ReadOnlyRoot, u64, digests),
        st.builds(MutateEnded, u64),
        st.builds(ReadEnded, u64),
        st.builds(Cancelled, u64),
        st.just(PerEpochConfig()),
    )
    failure = st.builds(
        ExecutionFailure,
        st.builds(ExecutionError, st.just(ErrorKind.INSUFFICIENT_GAS)),
        st.none() | u64,
    )
    change = st.builds(ObjectChange, before, written, st.sampled_from(IdOperation))
    return st.builds(
        TransactionEffects,
        st.just(Success()) | failure,
        u64,
        st.builds(GasCostSummary, u64, u64, u64, u64),
        digests,
        st.none() | st.integers(0, 2**32 - 1),
        st.none() | digests,
        strategies.tuples(digests),
        u64,
        strategies.tuples(st.tuples(addresses, change)),
        strategies.tuples(st.tuples(addresses, unchanged)),
        st.none() | digests,
    )


@given(st.data())
def test_effects_round_trip(strategies, data):
    effects = data.draw(all_effects(strategies))
    assert TRANSACTION_EFFECTS.decode(effects.encode()) == effects


@given(st.data())
def test_damaged_effects_differ_or_are_refused(strategies, data):
    encoded = bytearray(data.draw(all_effects(strategies)).encode())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        effects = TRANSACTION_EFFECTS.decode(bytes(encoded))
    except BcsError:
        return
    assert TRANSACTION_EFFECTS.decode(effects.encode()) == effects
