import pytest

from nexus_tools.sui.bcs import byte_vector, option, string, u8, u64, vector
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.localnet.natives import NATIVES, UnsupportedNative
from nexus_tools.sui.types.address import ADDRESS, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    Success,
    TypeArgumentError,
    TypeArgumentErrorKind,
)
from nexus_tools.sui.types.transaction import NestedResult, Result
from nexus_tools.sui.types.type_tag import SUI, Primitive, StructTag, VectorTag, parse_type_tag


def wrong_argument(index, kind, *data):
    return CommandArgumentError(index, kind, tuple(data))


# --- Values


def test_results_are_arguments_of_later_commands(probed, build):
    pair = probed.call(build, "pair", [build.u64(3), build.u64(4)])
    swapped = probed.call(build, "pair", [pair[1], pair[0]])
    probed.call(build, "expect", [swapped[0], build.u64(4)])
    probed.succeed(build)


def test_copyable_value_can_be_used_any_number_of_times(probed, build):
    number = probed.call(build, "code_of_version")
    for _ in range(2):
        probed.call(build, "expect", [number, build.u64(1)])
    probed.succeed(build)


def test_change_by_mutable_reference_is_visible_to_later_commands(probed, build):
    number = probed.call(build, "code_of_version")
    probed.call(build, "increment", [number])
    probed.call(build, "expect", [number, build.u64(2)])
    probed.succeed(build)


def test_pure_input_is_changed_for_only_one_type(probed, build):
    number = build.u64(5)
    probed.call(build, "increment", [number])
    probed.call(build, "expect", [number, build.u64(6)])
    probed.succeed(build)


def test_strings_options_and_vectors_are_pure(probed, build):
    arguments = [
        build.pure(string, "häh"),
        build.pure(string, "abc"),
        build.pure(option(u64), 9),
        build.pure(vector(byte_vector), [b"", b"xy"]),
    ]
    probed.call(build, "lengths", arguments)
    assert probed.returned(build) == [vector(u64).encode((4, 3, 9, 2))]


@pytest.mark.parametrize(
    ("place", "data"),
    [
        (0, b"\x02\xc3\x28"),  # not UTF-8
        (1, b"\x02\xc3\xa4"),  # not ASCII
        (2, b"\x02" + bytes(16)),  # an option of two
        (2, b"\x01" + bytes(7)),  # too short
        (3, b"\x01\x00\x00"),  # too long
    ],
)
def test_bytes_that_are_not_a_value_of_the_type_are_refused(probed, build, place, data):
    arguments = [
        build.pure(string, ""),
        build.pure(string, ""),
        build.pure(option(u64), None),
        build.pure(vector(byte_vector), []),
    ]
    probed.call(build, "lengths", arguments)
    kind = build.finish()
    inputs = list(kind.inputs)
    inputs[place] = type(inputs[place])(data)
    broken = type(kind)(tuple(inputs), kind.commands)
    error = wrong_argument(place, ArgumentErrorKind.INVALID_BCS_BYTES)
    assert probed.fail_argument(broken) == (error, 0)


def test_id_is_pure(probed, build):
    probed.call(build, "identify", [build.address(probed.BOB), build.address(probed.BOB)])
    assert probed.returned(build) == [b"\x01"]


def test_struct_is_not_pure(probed, build):
    probed.call(build, "eat", [build.u64(1)])
    error = wrong_argument(0, ArgumentErrorKind.INVALID_USAGE_OF_PURE_ARGUMENT)
    assert probed.fail_argument(build) == (error, 0)


# --- Objects


def test_owned_object_is_read_changed_and_consumed(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing(7)))
    probed.call(build, "set", [thing, build.u64(8)])
    seen = probed.call(build, "value", [thing])
    probed.call(build, "expect", [seen, build.u64(8)])
    probed.call(build, "destroy", [thing])
    probed.succeed(build)


def test_consumed_object_cannot_be_used_again(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "destroy", [thing])
    probed.call(build, "value", [thing])
    error = wrong_argument(0, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
    assert probed.fail_argument(build) == (error, 1)


def test_object_of_another_type_is_refused(probed, build):
    coin = build.resolved(probed.argument(probed.coin(probed.ALICE, 1)))
    probed.call(build, "value", [coin])
    error = wrong_argument(0, ArgumentErrorKind.TYPE_MISMATCH)
    assert probed.fail_argument(build) == (error, 0)


def test_one_object_can_be_borrowed_immutably_twice(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "same", [thing, thing])
    assert probed.returned(build) == [b"\x01"]


def test_mutable_borrows_need_two_objects(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "swap", [thing, thing])
    error = wrong_argument(0, ArgumentErrorKind.INVALID_REFERENCE_ARGUMENT)
    assert probed.fail_argument(build) == (error, 0)


def test_borrowed_object_cannot_be_consumed_by_the_same_call(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "look_and_eat", [thing, thing])
    error = wrong_argument(1, ArgumentErrorKind.CANNOT_MOVE_BORROWED_VALUE)
    assert probed.fail_argument(build) == (error, 0)


def test_one_call_changes_two_objects(probed, build):
    one, other = probed.new_thing(1), probed.new_thing(2)
    arguments = [build.resolved(probed.argument(thing)) for thing in (one, other)]
    probed.call(build, "swap", arguments)
    probed.succeed(build)
    assert (probed.value(one), probed.value(other)) == (2, 1)


def test_gas_coin_can_be_borrowed_by_a_call(world, build):
    build.move_call(Address.of(2), "coin", "value", [build.gas], [SUI])
    assert world.returned(build) == [u64.encode(95 * world.SUI)]


def test_gas_coin_cannot_be_moved_into_a_call(world, build):
    build.move_call(Address.of(2), "coin", "into_balance", [build.gas], [SUI])
    error = wrong_argument(0, ArgumentErrorKind.INVALID_GAS_COIN_USAGE)
    assert world.fail_argument(build) == (error, 0)


def test_read_only_shared_object_cannot_be_changed(probed, build):
    box = build.resolved(probed.argument(probed.box, mutable=False))
    probed.call(build, "bump", [box])
    error = wrong_argument(0, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)
    assert probed.fail_argument(build) == (error, 0)


# --- Results


def test_result_of_two_values_needs_an_index(probed, build):
    probed.call(build, "pair", [build.u64(3), build.u64(4)])
    probed.call(build, "expect", [Result(0), build.u64(4)])
    error = wrong_argument(0, ArgumentErrorKind.INVALID_RESULT_ARITY, 0)
    assert probed.fail_argument(build) == (error, 1)


def test_index_beyond_the_results_is_out_of_bounds(probed, build):
    probed.call(build, "pair", [build.u64(3), build.u64(4)])
    probed.call(build, "expect", [NestedResult(0, 2), build.u64(4)])
    error = wrong_argument(0, ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS, 0, 2)
    assert probed.fail_argument(build) == (error, 1)


def test_result_without_drop_must_be_used(probed, build):
    probed.call(build, "nothing")
    probed.call(build, "new_thing", [build.u64(1)])
    assert probed.fail(build) == (ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (1, 0), None)


def test_result_with_drop_may_be_unused(probed, build):
    probed.call(build, "pair", [build.u64(3), build.u64(4)])
    probed.succeed(build)


def test_value_with_copy_but_not_drop_is_moved_last(probed, build):
    value = probed.call(build, "stubborn")
    probed.call(build, "take_stubborn", [value])
    probed.succeed(build)
    other = type(build)()
    value = probed.call(other, "stubborn")
    probed.call(other, "take_stubborn", [value])
    probed.call(other, "look_at_stubborn", [value])
    assert probed.fail(other) == (ErrorKind.UNUSED_VALUE_WITHOUT_DROP, (0, 0), None)


def test_function_that_returns_a_reference_cannot_be_called(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "borrow_value", [thing])
    assert probed.fail(build) == (ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE, 0, 0)


# --- Functions


@pytest.mark.parametrize("name", ["hidden", "package_only"])
def test_function_that_is_neither_public_nor_entry_cannot_be_called(probed, build, name):
    probed.call(build, name)
    assert probed.fail(build) == (ErrorKind.NON_ENTRY_FUNCTION_INVOKED, None, 0)


def test_private_transfer_function_cannot_be_called(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    arguments = [thing, build.address(probed.BOB)]
    build.move_call(Address.of(2), "transfer", "transfer", arguments, [probed.tag("Thing")])
    assert probed.fail(build) == (ErrorKind.NON_ENTRY_FUNCTION_INVOKED, None, 0)


def test_event_emit_cannot_be_called(probed, build):
    build.move_call(Address.of(2), "event", "emit", [build.u64(1)], [Primitive.U64])
    assert probed.fail(build)[0] is ErrorKind.NON_ENTRY_FUNCTION_INVOKED


def test_unknown_function_is_not_found(probed, build):
    probed.call(build, "no_such_function")
    assert probed.fail(build) == (ErrorKind.FUNCTION_NOT_FOUND, None, 0)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_number_of_arguments_must_match(probed, build, count):
    probed.call(build, "pair", [build.u64(1)] * count)
    assert probed.fail(build) == (ErrorKind.ARITY_MISMATCH, None, 0)


def test_native_function_is_called_like_any_other(world, build):
    empty = build.move_call(Address.of(1), "vector", "empty", (), [Primitive.U8])
    more = build.pure(byte_vector, b"abc")
    build.move_call(Address.of(1), "vector", "append", [empty, more], [Primitive.U8])
    build.move_call(Address.of(2), "hash", "blake2b256", [empty])
    # BLAKE2b-256 of "abc".
    expected = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"
    assert world.returned(build) == [byte_vector.encode(bytes.fromhex(expected))]


def test_missing_native_function_is_not_supported(world, build, monkeypatch):
    def lacking(*_arguments):
        raise UnsupportedNative("hash::blake2b256")

    monkeypatch.setitem(NATIVES, (SUI_FRAMEWORK, "hash", "blake2b256"), lacking)
    data = build.pure(byte_vector, bytes(96))
    build.move_call(Address.of(2), "hash", "blake2b256", [data])
    assert world.fail(build) == (ErrorKind.FEATURE_NOT_YET_SUPPORTED, None, 0)


# --- Entry functions that are not public


def test_entry_function_accepts_inputs_and_results(probed, build):
    thing = probed.call(build, "new_thing", [build.u64(1)])
    probed.call(build, "private_entry", [thing, build.u64(2)])
    seen = probed.call(build, "value", [thing])
    probed.call(build, "expect", [seen, build.u64(2)])
    probed.call(build, "destroy", [thing])
    probed.succeed(build)


def test_entry_function_refuses_arguments_of_a_hot_clique(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    potato = probed.call(build, "potato_of", [thing])
    probed.call(build, "private_entry", [thing, build.u64(2)])
    probed.call(build, "eat", [potato])
    error = wrong_argument(0, ArgumentErrorKind.INVALID_ARGUMENT_TO_PRIVATE_ENTRY_FUNCTION)
    assert probed.fail_argument(build) == (error, 1)


def test_entry_function_accepts_a_value_after_the_potato_is_consumed(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    potato = probed.call(build, "potato_of", [thing])
    probed.call(build, "eat", [potato])
    probed.call(build, "private_entry", [thing, build.u64(2)])
    probed.succeed(build)


def test_entry_function_may_consume_the_last_potato(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    potato = probed.call(build, "potato_of", [thing])
    probed.call(build, "private_eat", [potato, thing])
    probed.succeed(build)


def test_entry_function_refuses_values_from_a_consumed_shared_object(probed, build):
    box = build.resolved(probed.argument(probed.box))
    number = probed.call(build, "delete_box_and_return", [box])
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "private_entry", [thing, number])
    error = wrong_argument(1, ArgumentErrorKind.INVALID_ARGUMENT_TO_PRIVATE_ENTRY_FUNCTION)
    assert probed.fail_argument(build) == (error, 1)


# --- Type arguments


def test_type_arguments_are_passed_to_the_function(probed, build):
    probed.call(build, "name_of", (), [VectorTag(SUI)])
    name = f"vector<{bytes(Address.of(2)).hex()}::sui::SUI>"
    assert probed.returned(build) == [string.encode(name)]


def test_unknown_type_is_not_found(probed, build):
    probed.call(build, "name_of", (), [StructTag(probed.package, "probe", "Nope")])
    error = TypeArgumentError(0, TypeArgumentErrorKind.TYPE_NOT_FOUND)
    assert probed.fail(build) == (ErrorKind.TYPE_ARGUMENT_ERROR, error, 0)


def test_type_without_the_required_abilities_is_refused(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "make_pair", [thing], [probed.tag("Thing")])
    # The loader of functions reports the status CONSTRAINT_NOT_SATISFIED.
    assert probed.fail(build) == (ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR, None, 0)


def test_constraints_of_nested_type_parameters_are_checked(probed, build):
    probed.call(build, "name_of", (), [probed.tag("Pair", probed.tag("Thing"))])
    error = TypeArgumentError(0, TypeArgumentErrorKind.CONSTRAINT_NOT_SATISFIED)
    assert probed.fail(build) == (ErrorKind.TYPE_ARGUMENT_ERROR, error, 0)


@pytest.mark.parametrize("tags", [[], [Primitive.U8, Primitive.U8]])
def test_number_of_type_arguments_must_match(probed, build, tags):
    probed.call(build, "name_of", (), tags)
    assert probed.fail(build) == (ErrorKind.TYPE_ARITY_MISMATCH, None, 0)


def test_generic_value_has_the_type_of_its_argument(probed, build):
    pair = probed.call(build, "make_pair", [build.u64(7)], [Primitive.U64])
    data = probed.data(build)
    result = probed.execute(data, Mode.SIMULATE)
    assert pair == Result(0)
    assert result.command_results[0].return_values == (
        (probed.tag("Pair", Primitive.U64), u64.encode(7) * 2),
    )


# --- The transaction, events, aborts


def test_tx_context_contains_sender_epoch_and_gas(probed, build):
    probed.call(build, "circumstances")
    gas = probed.coin(probed.BOB, 9 * probed.SUI)
    returned = probed.returned(build, payment=(gas,), owner=probed.BOB, price=1_234)
    assert returned == [
        ADDRESS.encode(probed.ALICE),
        u64.encode(3),
        u64.encode(500),
        u64.encode(1_000),
        u64.encode(1_234),
        option(ADDRESS).encode(probed.BOB),
    ]


def test_sender_who_pays_has_no_sponsor(probed, build):
    probed.call(build, "circumstances")
    assert probed.returned(build)[5] == option(ADDRESS).encode(None)


def test_tx_context_contains_the_digest(probed, build):
    probed.call(build, "digest")
    data = probed.data(build)
    result = probed.execute(data, Mode.SIMULATE)
    assert result.command_results[0].return_values[0][1] == byte_vector.encode(data.digest())


def test_events_are_ordered_with_the_called_module(probed, build):
    probed.call(build, "emit", [build.u64(2)])
    result = probed.succeed(build)
    assert result.events == tuple(
        Event(probed.package, "probe", probed.ALICE, probed.tag("Note"), u64.encode(number))
        for number in range(2)
    )


def test_abort_contains_location_and_code(probed, build):
    probed.call(build, "nothing")
    probed.call(build, "fail", [build.u64(2**64 - 1)])
    kind, abort, command = probed.fail(build)
    assert (kind, command) == (ErrorKind.MOVE_ABORT, 1)
    assert abort.code == 2**64 - 1
    location = abort.location
    assert (location.package, location.module, location.function_name) == (
        probed.package,
        "probe",
        "fail",
    )
    assert location.instruction == 1  # MoveLoc, Abort


def test_arithmetic_error_contains_its_location(probed, build):
    probed.call(build, "overflow", [build.u64(2**64 - 1)])
    kind, location, command = probed.fail(build)
    assert (kind, command) == (ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, 0)
    assert (location.function_name, location.instruction) == ("overflow", 2)


def test_index_out_of_bounds_is_a_primitive_error(probed, build):
    probed.call(build, "out_of_bounds")
    assert probed.fail(build)[0] is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR


def test_failed_transaction_changes_only_the_gas(probed, build):
    thing, before = probed.new_thing(7), len(probed.store.live)
    argument = build.resolved(probed.argument(thing))
    probed.call(build, "set", [argument, build.u64(9)])
    probed.call(build, "add_field", [argument, build.u64(1), build.u64(1)])
    probed.call(build, "emit", [build.u64(1)])
    probed.call(build, "fail", [build.u64(1)])
    result = probed.run(build)
    assert probed.value(thing) == 7
    assert result.events == ()
    assert len(probed.store.live) == before
    assert set(result.written) == {thing, probed.gas}


# --- Limits of the runtime


@pytest.mark.parametrize(("count", "fits"), [(1_024, True), (1_025, False)])
def test_transaction_emits_at_most_1024_events(probed, build, count, fits):
    probed.call(build, "emit", [build.u64(count)])
    result = probed.run(build)
    if fits:
        assert len(result.events) == 1_024
    else:
        assert result.effects.status.error.kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR


@pytest.mark.parametrize(("words", "fits"), [(7_998, True), (7_999, False)])
def test_event_has_at_most_256_000_bytes_including_its_type(probed, build, words, fits):
    # 32 a word, 2 for the vector, 2 for the struct, 32 + 5 + 4 for the type `probe::Blob`.
    probed.call(build, "emit_blob", [build.u64(words)])
    status = probed.run(build, budget=50 * probed.SUI).effects.status
    if fits:
        assert status == Success()
    else:
        assert status.error.kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR


@pytest.mark.parametrize(("count", "fits"), [(1_000, True), (2_049, False)])
def test_transaction_transfers_at_most_2048_objects(probed, build, count, fits):
    probed.call(build, "keep_ids", [build.u64(count)])
    result = probed.run(build, budget=50 * probed.SUI)
    succeeded = not hasattr(result.effects.status, "error")
    assert succeeded is fits


def test_transaction_uses_at_most_1000_dynamic_fields(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    probed.call(build, "add_many_fields", [thing, build.u64(1_001)])
    kind, _, _ = probed.fail(build, budget=50 * probed.SUI)
    assert kind is ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR


def test_object_has_at_most_250_kib(probed, build):
    probed.call(build, "big_object", [build.u64(8_000)])
    kind, sizes, _ = probed.fail(build, budget=50 * probed.SUI)
    # 8 000 words of 32 bytes, their number in two, the key in one, the id of the field in 32.
    assert (kind, sizes) == (ErrorKind.MOVE_OBJECT_TOO_BIG, (256_000 + 2 + 1 + 32, 256_000))


def test_infinite_loop_runs_out_of_gas(probed, build):
    probed.call(build, "spin")
    result = probed.run(build, budget=10_000_000)
    status = result.effects.status
    assert (status.error.kind, status.command) == (ErrorKind.INSUFFICIENT_GAS, 0)
    assert result.effects.gas_used.computation_cost == 10_000_000


def test_u8_vectors_are_joined_from_many_inputs(probed, build):
    joined = build.byte_vector(bytes(40_000))
    build.move_call(Address.of(1), "vector", "length", [joined], [Primitive.U8])
    assert probed.returned(build) == [u64.encode(40_000)]
    assert u8.encode(0) == b"\0"


def test_type_arguments_name_the_package_by_any_version(probed, build):
    probed.call(build, "name_of", (), [parse_type_tag("0x2::coin::Coin<0x2::sui::SUI>")])
    two = bytes(Address.of(2)).hex()
    assert probed.returned(build) == [string.encode(f"{two}::coin::Coin<{two}::sui::SUI>")]
