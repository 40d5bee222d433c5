"""A transaction rendered as a message can be parsed again without changes."""

import pytest

from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.interface.masks import EVERYTHING
from nexus_tools.sui.localnet.rpc.rendering.transaction import render_transaction
from nexus_tools.sui.localnet.rpc.requests.transaction import parse_transaction
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import EpochExpiration, NoExpiration, ValidDuring, Validity
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
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
from nexus_tools.sui.types.type_tag import GAS_COIN, Primitive, VectorTag

ALICE, BOB = Address.of(0xA), Address.of(0xB)
REFERENCE = ObjectReference(Address.of(7), 8, Digest(bytes(range(32))))
INPUTS = (
    Pure(b""),
    Pure(b"\0\xff"),
    OwnedObject(REFERENCE),
    ReceivingObject(REFERENCE),
    SharedObject(Address.of(6), 1, mutable=False),
    SharedObject(Address.of(9), 2**63, mutable=True),
    SharedObject(Address.of(0xACC), 1, mutable=True, exclusive=False),
    FundsWithdrawal(2**64 - 1, Primitive.U8, 0),
    FundsWithdrawal(5, GAS_COIN, 1),
)
COMMANDS = (
    MoveCall(
        Address.of(2),
        "coin",
        "zero",
        (GAS_COIN, VectorTag(Primitive.U8)),
        (GasCoin(), InputArgument(0), Result(0), NestedResult(0, 0)),
    ),
    MoveCall(Address.of(2), "m", "f", (), ()),
    TransferObjects((GasCoin(), NestedResult(1, 2)), InputArgument(0)),
    SplitCoins(GasCoin(), (InputArgument(0), InputArgument(1))),
    MergeCoins(GasCoin(), (Result(3),)),
    MakeMoveVec(None, (Result(3),)),
    MakeMoveVec(Primitive.U64, ()),
    Publish((b"module",), (Address.of(1), Address.of(2))),
    Upgrade((b"module",), (), Address.of(9), Result(0)),
)
EXPIRATIONS = (
    NoExpiration(),
    EpochExpiration(5),
    ValidDuring(1, 2, None, None, Digest(bytes(32)), 9),
    ValidDuring(None, None, 1_500, 2_250, Digest(bytes(32)), 0),
    Validity(1, 2, None, None, Digest(bytes(32)), 9, None),
    Validity(None, None, None, None, Digest(bytes(32)), 0, (3, (0, 5))),
)


@pytest.fixture
def message_of(messages):
    def make(data):
        message = messages.message("sui.rpc.v2.Transaction")()
        render_transaction(message, data, data.encode(), data.digest(), EVERYTHING)
        message.ClearField("bcs")
        return message

    return make


def transaction(inputs=(), commands=(), gas=None, expiration=None):
    return TransactionData(
        ProgrammableTransaction(tuple(inputs), tuple(commands)),
        ALICE,
        gas or GasData((REFERENCE,), BOB, 1000, 5_000_000),
        expiration or NoExpiration(),
    )


def until(message, seconds):
    """Return an expiration at a time."""
    chain = str(Digest(bytes(32)))
    return type(message.expiration)(kind=3, chain=chain, max_timestamp={"seconds": seconds})


@pytest.mark.parametrize("value", INPUTS, ids=repr)
def test_input_survives_rendering_and_parsing(message_of, value):
    data = transaction(inputs=[value])
    assert parse_transaction(message_of(data), 1) == data


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
def test_command_survives_rendering_and_parsing(message_of, command):
    data = transaction(commands=[command])
    assert parse_transaction(message_of(data), 1) == data


@pytest.mark.parametrize("expiration", EXPIRATIONS, ids=lambda value: type(value).__name__)
def test_expiration_survives_rendering_and_parsing(message_of, expiration):
    data = transaction(expiration=expiration)
    assert parse_transaction(message_of(data), 1) == data


def test_missing_parts_of_the_payment_are_filled_in(message_of):
    message = message_of(transaction())
    message.ClearField("gas_payment")
    assert parse_transaction(message, 750).gas == GasData((), ALICE, 750, 50_000_000_000_000)


def test_bytes_take_precedence_over_fields(message_of):
    data = transaction(inputs=INPUTS)
    message = message_of(transaction())
    message.bcs.value = data.encode()
    assert parse_transaction(message, 1) == data


@pytest.mark.parametrize(
    "spoil",
    [
        lambda message: message.ClearField("sender"),
        lambda message: message.ClearField("kind"),
        lambda message: message.gas_payment.objects[0].ClearField("version"),
        lambda message: setattr(message.gas_payment.objects[0], "digest", "?"),
        lambda message: message.kind.programmable_transaction.commands.add(),
        lambda message: message.kind.programmable_transaction.commands.add(
            split_coins={"coin": {"kind": 2, "input": 2**16}}
        ),
        lambda message: message.kind.programmable_transaction.commands.add(
            move_call={"package": "0x2", "module": "m", "function": "f", "type_arguments": ["?"]}
        ),
        lambda message: message.kind.programmable_transaction.inputs.add(kind=3, object_id="0x6"),
        lambda message: message.kind.programmable_transaction.inputs.add(object_id="0x6"),
        lambda message: message.kind.programmable_transaction.inputs.add(
            kind=5, funds_withdrawal={"amount": 1, "coin_type": "0x2::sui::SUI", "source": 3}
        ),
        lambda message: setattr(message.expiration, "kind", 9),
        lambda message: message.expiration.MergeFrom(until(message, -1)),
        lambda message: message.expiration.MergeFrom(until(message, 2**63 - 1)),
    ],
)
def test_message_that_is_not_a_transaction_is_refused(message_of, spoil):
    message = message_of(transaction())
    spoil(message)
    with pytest.raises(RpcError) as caught:
        parse_transaction(message, 1)
    assert caught.value.code is Code.INVALID_ARGUMENT
