from nexus_tools.sui.bcs import byte_vector, u8, u64, vector
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    TypeArgumentError,
    TypeArgumentErrorKind,
)
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag


def test_vector_of_numbers_is_made_of_inputs_and_results(probed, build):
    one = probed.call(build, "code_of_version")
    numbers = build.make_move_vec([one, build.u64(20), one], Primitive.U64)
    probed.call(build, "sum", [numbers])
    assert probed.returned(build) == [u64.encode(22)]


def test_vector_of_bytes_is_made_of_bytes(world, build):
    build.make_move_vec([build.pure(u8, 7), build.pure(u8, 255)], Primitive.U8)
    result = world.execute(world.data(build), Mode.SIMULATE)
    expected = (VectorTag(Primitive.U8), byte_vector.encode(b"\x07\xff"))
    assert result.command_results[0].return_values == (expected,)


def test_vector_of_objects_needs_no_type(probed, build):
    things = [build.resolved(probed.argument(probed.new_thing(n))) for n in (1, 2)]
    both = build.make_move_vec(things, None)
    probed.call(build, "destroy_all", [both])
    result = probed.succeed(build)
    assert len(result.removed) == 2


def test_vector_of_values_needs_a_type(probed, build):
    number = probed.call(build, "code_of_version")
    build.make_move_vec([number], None)
    kind = ArgumentErrorKind.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT
    assert probed.fail_argument(build) == (CommandArgumentError(0, kind), 1)


def test_all_elements_have_the_same_type(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    coin = build.resolved(probed.argument(probed.coin(probed.ALICE, 1)))
    build.make_move_vec([thing, coin], None)
    wrong = CommandArgumentError(1, ArgumentErrorKind.TYPE_MISMATCH)
    assert probed.fail_argument(build) == (wrong, 0)


def test_empty_vector_has_a_type(probed, build):
    probed.call(build, "sum", [build.make_move_vec([], Primitive.U64)])
    assert probed.returned(build) == [u64.encode(0)]
    assert vector(u64).encode(()) == b"\0"


def test_vector_of_an_unknown_type_is_refused(probed, build):
    build.make_move_vec([], StructTag(probed.package, "probe", "Nope"))
    error = TypeArgumentError(0, TypeArgumentErrorKind.TYPE_NOT_FOUND)
    assert probed.fail(build) == (ErrorKind.TYPE_ARGUMENT_ERROR, error, 0)
