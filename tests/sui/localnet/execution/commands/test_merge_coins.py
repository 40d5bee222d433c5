from nexus_tools.sui.types.effects import Absent, IdOperation
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
)
from nexus_tools.sui.types.type_tag import coin_tag, parse_type_tag

CLOCKS = coin_tag(parse_type_tag("0x2::clock::Clock"))


def test_merged_coins_are_deleted_and_their_balance_moves(world, build):
    into, one, two = (world.coin(world.ALICE, amount) for amount in (1, 20, 300))
    arguments = [build.resolved(world.argument(coin)) for coin in (into, one, two)]
    build.merge_coins(arguments[0], arguments[1:])
    result = world.succeed(build)
    assert world.balance(into) == 321
    assert set(result.removed) == {one, two}
    changes = dict(result.effects.changed_objects)
    assert changes[one].operation is IdOperation.DELETED
    assert changes[one].output == Absent()


def test_coins_merge_into_the_gas_coin(world, build):
    coin = world.coin(world.ALICE, world.SUI)
    build.merge_coins(build.gas, [build.resolved(world.argument(coin))])
    result = world.succeed(build)
    assert world.balance(world.gas) == 101 * world.SUI - result.effects.gas_used.net


def test_coins_of_different_types_cannot_be_merged(world, build):
    into, other = world.coin(world.ALICE, 1), world.coin(world.ALICE, 1, CLOCKS)
    arguments = [build.resolved(world.argument(coin)) for coin in (into, other)]
    build.merge_coins(arguments[0], arguments[1:])
    wrong = CommandArgumentError(1, ArgumentErrorKind.TYPE_MISMATCH)
    assert world.fail_argument(build) == (wrong, 0)


def test_balance_above_64_bits_overflows(world, build):
    into, other = world.coin(world.ALICE, 2**64 - 1, CLOCKS), world.coin(world.ALICE, 1, CLOCKS)
    arguments = [build.resolved(world.argument(coin)) for coin in (into, other)]
    build.merge_coins(arguments[0], arguments[1:])
    assert world.fail(build) == (ErrorKind.COIN_BALANCE_OVERFLOW, None, 0)
    assert world.balance(other) == 1


def test_coin_cannot_be_merged_into_itself(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 5)))
    build.merge_coins(coin, [coin])
    wrong = CommandArgumentError(1, ArgumentErrorKind.CANNOT_MOVE_BORROWED_VALUE)
    assert world.fail_argument(build) == (wrong, 0)


def test_gas_coin_cannot_be_merged_into_another_coin(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 5)))
    build.merge_coins(coin, [build.gas])
    wrong = CommandArgumentError(1, ArgumentErrorKind.INVALID_GAS_COIN_USAGE)
    assert world.fail_argument(build) == (wrong, 0)
