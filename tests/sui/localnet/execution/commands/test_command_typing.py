"""The order of the checks: all commands pass one check before the next, and before execution."""

from itertools import pairwise

import pytest

from nexus_tools.sui.bcs import u8
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
)
from nexus_tools.sui.types.transaction import InputArgument
from nexus_tools.sui.types.type_tag import GAS_COIN

# Each function makes one mistake, and returns the error and the command that reports it.


def _argument(index, kind, *data):
    return ErrorKind.COMMAND_ARGUMENT_ERROR, CommandArgumentError(index, kind, data)


def missing_function(world, build):
    world.call(build, "nope")
    return (ErrorKind.FUNCTION_NOT_FOUND, None), 0


def missing_argument(world, build):
    world.call(build, "increment", [InputArgument(99)])
    return _argument(0, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, 99), 0


def invalid_bytes(world, build):
    world.call(build, "increment", [build.pure(u8, 1)])
    return _argument(0, ArgumentErrorKind.INVALID_BCS_BYTES), 0


def gas_coin_by_value(_world, build):
    build.make_move_vec([build.gas], GAS_COIN)
    return _argument(0, ArgumentErrorKind.INVALID_GAS_COIN_USAGE), 0


def private_function(world, build):
    world.call(build, "hidden")
    return (ErrorKind.NON_ENTRY_FUNCTION_INVOKED, None), 0


def moved_value(world, build):
    potato = world.call(build, "potato", [build.u64(1)])
    world.call(build, "eat", [potato])
    world.call(build, "eat", [potato])
    return _argument(0, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE), 2


def unused_result(world, build):
    world.call(build, "potato", [build.u64(2)])
    return (ErrorKind.UNUSED_VALUE_WITHOUT_DROP, None), None


def hot_entry_argument(world, build):
    thing = build.resolved(world.argument(world.things()[0]))
    potato = world.call(build, "potato_of", [thing])
    world.call(build, "private_entry", [thing, build.u64(1)])
    world.call(build, "eat", [potato])
    return _argument(0, ArgumentErrorKind.INVALID_ARGUMENT_TO_PRIVATE_ENTRY_FUNCTION), 1


def abort(world, build):
    world.call(build, "fail", [build.u64(1)])
    return (ErrorKind.MOVE_ABORT, None), 0


IN_THEIR_ORDER = (
    missing_function,
    missing_argument,
    invalid_bytes,
    gas_coin_by_value,
    private_function,
    moved_value,
    unused_result,
    hot_entry_argument,
    abort,
)


@pytest.mark.parametrize(
    ("first", "second"), list(pairwise(IN_THEIR_ORDER)), ids=lambda mistake: mistake.__name__
)
def test_error_of_the_earlier_check_is_reported(probed, build, first, second):
    probed.new_thing()
    second(probed, build)
    before = len(build.finish().commands)
    (kind, data), place = first(probed, build)
    found = probed.fail(build)
    if kind is ErrorKind.UNUSED_VALUE_WITHOUT_DROP:
        data = (before, 0)
    assert found == (kind, data, None if place is None else before + place)


def test_package_is_not_published_if_a_later_command_is_invalid(world, build):
    world.publishing(build, [b"no module"])
    build.transfer_objects([InputArgument(9)], world.BOB)
    wrong = CommandArgumentError(0, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, (9,))
    assert world.fail_argument(build) == (wrong, 2)
