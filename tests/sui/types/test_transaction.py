import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import EpochExpiration, NoExpiration, ValidDuring, Validity
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
    INPUT,
    OBJECT_ARGUMENT,
    SIGNED_TRANSACTION,
    TRANSACTION_DATA,
    GasCoin,
    GasData,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    OwnedObject,
    ProgrammableTransaction,
    Publish,
    Pure,
    ReceivingObject,
    Result,
    SharedObject,
    SplitCoins,
    TransactionData,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.types.type_tag import SUI, Primitive, parse_type_tag

# The example of `sui_executeTransactionBlock` in Sui's RPC documentation, with its digest.
DOCUMENTED = base64.b64decode(
    "AAACACBqEB6aOvXIBwES+Ahkizbvv43uihqC3kbZUE6WoRCKFwEAjvdvVsOZYzousxC8qRJOXy84znOeqsu2YAaIgE4H"
    "hEgCAAAAAAAAACB9w3+ufZMpihJFwxtCBojBaGy00TVtFxgN2C6TpIPFqwEBAQEBAAEAAAS0l6kWtGVmCaf6gnoJGE1v"
    "R2gdO6dM4NejbGSysfiHAZ+Q9/hmzCnfsdpjc86U+dldylpA9OF2mRjuv5+64AvTAgAAAAAAAAAgjleHL0UiRGjh/BfI"
    "FHCJ3EMY/dQA22c2TvNQyVJnbYUEtJepFrRlZgmn+oJ6CRhNb0doHTunTODXo2xksrH4hwoAAAAAAAAAAC0xAQAAAAAA"
)
DOCUMENTED_DIGEST = "BgSFSEFYbCrVUJJtHFeoLmLJi8jDf1CpC2o8S33HjeDJ"


def test_documented_transaction_has_the_documented_digest():
    assert str(TRANSACTION_DATA.decode(DOCUMENTED).digest()) == DOCUMENTED_DIGEST


def test_documented_transaction_is_decoded_as_documented():
    data = TRANSACTION_DATA.decode(DOCUMENTED)
    recipient = "6a101e9a3af5c8070112f808648b36efbf8dee8a1a82de46d9504e96a1108a17"
    sender = Address.parse("0x04b497a916b4656609a7fa827a09184d6f47681d3ba74ce0d7a36c64b2b1f887")
    assert data.sender == data.gas.owner == sender
    assert (data.gas.price, data.gas.budget) == (10, 20_000_000)
    assert data.kind.inputs[0] == Pure(bytes.fromhex(recipient))
    assert data.kind.inputs[1].reference.version == 2
    assert data.kind.commands == (TransferObjects((InputArgument(1),), InputArgument(0)),)
    assert data.expiration == NoExpiration()
    assert data.encode() == DOCUMENTED


def test_withdrawal_of_funds_has_the_known_variants():
    withdrawal = FundsWithdrawal(5, SUI, 1)
    data = transaction((withdrawal,), ())
    encoded = data.encode()
    assert TRANSACTION_DATA.decode(encoded) == data
    # TransactionData V1, programmable, one input, FundsWithdrawal, Reservation.MaxAmountU64
    assert encoded[:5] == bytes([0, 0, 1, 2, 0])
    with pytest.raises(BcsError):
        TRANSACTION_DATA.decode(encoded[:4] + b"\1" + encoded[5:])


@pytest.mark.parametrize(
    ("mutable", "exclusive", "number"), [(False, True, 0), (True, True, 1), (True, False, 2)]
)
def test_shared_object_has_one_of_three_mutabilities(mutable, exclusive, number):
    # SharedObjectMutability: Immutable, Mutable, NonExclusiveWrite
    shared = SharedObject(Address.of(6), 9, mutable, exclusive)
    encoded = bytes([1]) + bytes(Address.of(6)) + (9).to_bytes(8, "little") + bytes([number])
    assert OBJECT_ARGUMENT.encode(shared) == encoded
    assert OBJECT_ARGUMENT.decode(encoded) == shared
    with pytest.raises(BcsError):
        OBJECT_ARGUMENT.decode(encoded[:-1] + b"\3")


def test_withdrawal_of_funds_is_from_the_sender_or_the_sponsor():
    sender, sponsor = (INPUT.encode(FundsWithdrawal(5, SUI, source)) for source in (0, 1))
    assert (sender[-1], sponsor[-1]) == (0, 1)
    with pytest.raises(BcsError, match="WithdrawFrom"):
        INPUT.decode(sender[:-1] + b"\2")


def transaction(inputs, commands, expiration=NoExpiration()):  # noqa: B008 - immutable
    kind = ProgrammableTransaction(tuple(inputs), tuple(commands))
    return TransactionData(kind, Address.of(1), GasData((), Address.of(1), 1, 1), expiration)


def arguments(strategies):
    return st.one_of(
        st.just(GasCoin()),
        st.builds(InputArgument, strategies.u16),
        st.builds(Result, strategies.u16),
        st.builds(NestedResult, strategies.u16, strategies.u16),
    )


def commands(strategies):
    argument = arguments(strategies)
    several = strategies.tuples(argument)
    modules, packages = strategies.tuples(strategies.raw), strategies.tuples(strategies.addresses)
    types = strategies.tuples(strategies.type_tags, 2)
    names = strategies.names
    return st.one_of(
        st.builds(MoveCall, strategies.addresses, names, names, types, several),
        st.builds(TransferObjects, several, argument),
        st.builds(SplitCoins, argument, several),
        st.builds(MergeCoins, argument, several),
        st.builds(Publish, modules, packages),
        st.builds(MakeMoveVec, st.none() | strategies.type_tags, several),
        st.builds(Upgrade, modules, packages, strategies.addresses, argument),
    )


def inputs(strategies):
    return st.one_of(
        st.builds(Pure, strategies.raw),
        st.builds(OwnedObject, strategies.references),
        st.builds(SharedObject, strategies.addresses, strategies.u64, st.booleans()),
        st.builds(ReceivingObject, strategies.references),
    )


def expirations(strategies):
    maybe = st.none() | strategies.u64
    window = (maybe, maybe, maybe, maybe, strategies.digests, st.integers(0, 2**32 - 1))
    proposers = st.tuples(strategies.u64, strategies.tuples(st.integers(0, 2**32 - 1)))
    return st.one_of(
        st.just(NoExpiration()),
        st.builds(EpochExpiration, strategies.u64),
        st.builds(ValidDuring, *window),
        st.builds(Validity, *window, st.none() | proposers),
    )


def transactions(strategies, expiration):
    gas = st.builds(
        GasData,
        strategies.tuples(strategies.references),
        strategies.addresses,
        strategies.u64,
        strategies.u64,
    )
    kind = st.builds(
        ProgrammableTransaction,
        strategies.tuples(inputs(strategies)),
        strategies.tuples(commands(strategies)),
    )
    return st.builds(TransactionData, kind, strategies.addresses, gas, expiration)


@given(st.data())
def test_transactions_round_trip(strategies, data):
    value = data.draw(transactions(strategies, expirations(strategies)))
    assert TRANSACTION_DATA.decode(value.encode()) == value


def test_pysui_decodes_the_same_transaction():
    from pysui.sui.sui_bcs import bcs as pysui_bcs

    reference = ObjectReference(Address.of(9), 3, Digest(bytes(range(32))))
    all_inputs = (
        Pure(b"\1\2"),
        OwnedObject(reference),
        SharedObject(Address.of(6), 1, mutable=False),
        ReceivingObject(reference),
    )
    tag = parse_type_tag("0x2::table::Table<vector<address>, 0x2::coin::Coin<0x2::sui::SUI>>")
    all_commands = (
        MoveCall(Address.of(2), "table", "new", (tag, Primitive.U256), (Result(1),)),
        TransferObjects((GasCoin(), NestedResult(2, 3)), InputArgument(0)),
        SplitCoins(GasCoin(), (InputArgument(0),)),
        MergeCoins(InputArgument(1), (InputArgument(3),)),
        Publish((b"\xa1\x1c",), (Address.of(1), Address.of(2))),
        MakeMoveVec(None, (InputArgument(1),)),
        MakeMoveVec(Primitive.BOOL, ()),
        Upgrade((b"\xa1\x1c",), (Address.of(1),), Address.of(5), Result(0)),
    )
    encoded = transaction(all_inputs, all_commands, EpochExpiration(7)).encode()
    theirs = pysui_bcs.TransactionData.deserialize(encoded)
    assert theirs.serialize() == encoded


@pytest.mark.long
@given(st.data())
def test_damaged_transaction_differs_or_is_refused(strategies, data):
    encoded = bytearray(data.draw(transactions(strategies, expirations(strategies))).encode())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        value = TRANSACTION_DATA.decode(bytes(encoded))
    except BcsError:
        return
    assert value.encode() == encoded


@given(st.binary(max_size=200))
def test_noise_is_a_canonical_transaction_or_is_refused(noise):
    try:
        value = TRANSACTION_DATA.decode(noise)
    except BcsError:
        return
    assert value.encode() == noise


def test_signed_transaction_is_intent_data_and_signatures():
    data = TRANSACTION_DATA.decode(DOCUMENTED)
    encoded = SIGNED_TRANSACTION.encode((b"\0\0\0", data, (b"\1\2",)))
    assert encoded == b"\0\0\0" + DOCUMENTED + bytes([1, 2, 1, 2])
    assert SIGNED_TRANSACTION.decode(encoded) == (b"\0\0\0", data, (b"\1\2",))


def test_result_values_are_named_by_index():
    assert Result(3)[1] == NestedResult(3, 1)


def test_digest_covers_all_signed_data():
    base = transaction((), ())
    other = transaction((), (), EpochExpiration(1))
    assert base.digest() != other.digest()
    assert isinstance(base.digest(), Digest)
