import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui import bcs
from nexus_tools.sui.transaction_builder import MAX_PURE_BYTES, TransactionBuilder, UnresolvedObject
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import (
    TRANSACTION_KIND,
    GasCoin,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    OwnedObject,
    Publish,
    Pure,
    Result,
    SharedObject,
    SplitCoins,
    TransferObjects,
    Upgrade,
)
from nexus_tools.sui.types.type_tag import SUI, Primitive

PACKAGE, THING, BOB = Address.of(0x77), Address.of(0x88), Address.of(0xB)


def reference(object_id):
    return ObjectReference(object_id, 1, Digest(bytes(32)))


def test_payment_splits_the_gas_coin_and_transfers_the_new_coin():
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [1000])
    builder.transfer_objects([coin[0]], BOB)
    built = builder.finish()
    assert built.inputs == (Pure((1000).to_bytes(8, "little")), Pure(bytes(BOB)))
    assert built.commands == (
        SplitCoins(GasCoin(), (InputArgument(0),)),
        TransferObjects((NestedResult(0, 0),), InputArgument(1)),
    )


def test_commands_are_referenced_by_their_number():
    builder = TransactionBuilder()
    first = builder.move_call(PACKAGE, "shop", "open", type_arguments=[SUI])
    second = builder.make_move_vec([first], Primitive.U8)
    builder.merge_coins(builder.gas, [second])
    assert (first, second) == (Result(0), Result(1))
    assert builder.finish().commands == (
        MoveCall(PACKAGE, "shop", "open", (SUI,), ()),
        MakeMoveVec(Primitive.U8, (Result(0),)),
        MergeCoins(GasCoin(), (Result(1),)),
    )


def test_split_coins_can_be_iterated():
    builder = TransactionBuilder()
    first, second = builder.split_coins(builder.gas, [1, 2])
    assert (first, second) == (NestedResult(0, 0), NestedResult(0, 1))


def test_results_of_unknown_number_cannot_be_iterated():
    result = TransactionBuilder().move_call(Address.of(2), "coin", "zero")
    with pytest.raises(TypeError, match="index the result"):
        list(result)


def test_publish_and_upgrade_contain_modules_and_dependencies():
    builder = TransactionBuilder()
    ticket = builder.publish([b"\1"], [Address.of(1)])
    builder.upgrade([b"\2"], [Address.of(2)], PACKAGE, ticket)
    assert builder.finish().commands == (
        Publish((b"\1",), (Address.of(1),)),
        Upgrade((b"\2",), (Address.of(2),), PACKAGE, Result(0)),
    )


def test_clock_is_an_immutable_shared_object_of_version_1():
    builder = TransactionBuilder()
    builder.object(CLOCK)
    assert builder.finish().inputs == (SharedObject(CLOCK, 1, mutable=False),)


def test_object_is_one_input_and_mutable_if_any_use_is():
    builder = TransactionBuilder()
    first = builder.object(THING, mutable=False)
    second = builder.object(THING, mutable=True)
    third = builder.object(THING, mutable=False)
    assert first == second == third == InputArgument(0)
    assert builder.unresolved() == (UnresolvedObject(THING, mutable=True),)


def test_resolved_shared_object_becomes_mutable_if_any_use_is():
    builder = TransactionBuilder()
    builder.resolved(SharedObject(THING, 3, mutable=False))
    builder.object(THING, mutable=True)
    assert builder.finish().inputs == (SharedObject(THING, 3, mutable=True),)


def test_known_owned_object_needs_no_resolution():
    builder = TransactionBuilder()
    argument = builder.resolved(OwnedObject(reference(THING)))
    assert builder.object(THING) == argument
    assert builder.finish().inputs == (OwnedObject(reference(THING)),)


def test_objects_are_resolved_at_the_end():
    builder = TransactionBuilder()
    builder.u64(5)
    builder.object(THING)
    resolved = SharedObject(THING, 9, mutable=True)
    assert builder.finish({THING: resolved}).inputs[1] == resolved


def test_unresolved_object_is_named_in_the_error():
    builder = TransactionBuilder()
    builder.object(THING)
    with pytest.raises(ValidationError) as caught:
        builder.finish()
    assert caught.value.code == "object_unresolved"
    assert str(THING) in caught.value.message


def test_pure_input_has_a_maximum_size():
    builder = TransactionBuilder()
    builder.pure(bcs.fixed(MAX_PURE_BYTES, bytes), bytes(MAX_PURE_BYTES))
    with pytest.raises(ValidationError) as caught:
        builder.pure(bcs.fixed(MAX_PURE_BYTES + 1, bytes), bytes(MAX_PURE_BYTES + 1))
    assert caught.value.code == "pure_input_too_large"


def test_short_byte_vector_is_one_input():
    builder = TransactionBuilder()
    assert builder.byte_vector(b"\1\2") == InputArgument(0)
    assert builder.finish().inputs == (Pure(b"\2\1\2"),)


def test_long_byte_vector_is_joined_from_smaller_inputs():
    data = bytes(range(256)) * 200
    builder = TransactionBuilder()
    assert builder.byte_vector(data) == InputArgument(0)
    built = builder.finish()
    chunks = [bcs.byte_vector.decode(input_.value) for input_ in built.inputs]
    assert b"".join(chunks) == data
    assert all(len(input_.value) <= MAX_PURE_BYTES for input_ in built.inputs)
    functions = [command.function for command in built.commands]
    assert functions == ["append"] * (len(chunks) - 1)
    assert [command.arguments for command in built.commands] == [
        (InputArgument(0), InputArgument(place)) for place in range(1, len(chunks))
    ]


def test_built_transaction_can_be_encoded():
    builder = TransactionBuilder()
    builder.transfer_objects([builder.gas], BOB)
    built = builder.finish()
    assert TRANSACTION_KIND.decode(TRANSACTION_KIND.encode(built)) == built
