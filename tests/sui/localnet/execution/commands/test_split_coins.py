import pytest

from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
)
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.transaction import Result, SplitCoins
from nexus_tools.sui.types.type_tag import coin_tag, parse_type_tag


def test_split_takes_the_amounts_from_the_gas_coin(world, build):
    coins = build.split_coins(build.gas, [1_000, 2_500])
    build.transfer_objects([coins[0], coins[1]], world.BOB)
    result = world.succeed(build)
    new = [value for value in result.written.values() if value.id != world.gas]
    assert sorted(world.balance(value.id) for value in new) == [1_000, 2_500]
    assert {value.owner for value in new} == {AddressOwner(world.BOB)}
    paid = result.effects.gas_used.net
    assert world.balance(world.gas) == 100 * world.SUI - 3_500 - paid


def test_coin_of_any_type_can_be_split(world, build):
    tag = coin_tag(parse_type_tag("0x2::clock::Clock"))
    coin = world.coin(world.ALICE, 10, tag)
    part = build.split_coins(build.resolved(world.argument(coin)), [4])
    build.transfer_objects([part[0]], world.BOB)
    result = world.succeed(build)
    assert world.balance(coin) == 6
    split = next(v for v in result.written.values() if v.id not in (coin, world.gas))
    assert (split.type, world.balance(split.id)) == (tag, 4)


def test_split_above_the_balance_fails(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 10)))
    build.transfer_objects([build.split_coins(coin, [11])[0]], world.BOB)
    assert world.fail(build) == (ErrorKind.INSUFFICIENT_COIN_BALANCE, None, 0)


def test_commands_cannot_spend_the_budget(world, build):
    gas = world.coin(world.ALICE, 6 * world.SUI)
    part = build.split_coins(build.gas, [world.SUI + 1])
    build.transfer_objects([part[0]], world.BOB)
    kind, _, command = world.fail(build, payment=(gas,), budget=5 * world.SUI)
    assert (kind, command) == (ErrorKind.INSUFFICIENT_COIN_BALANCE, 0)


def test_everything_except_the_budget_can_be_split(world, build):
    gas = world.coin(world.ALICE, 6 * world.SUI)
    part = build.split_coins(build.gas, [world.SUI])
    build.transfer_objects([part[0]], world.BOB)
    world.succeed(build, payment=(gas,), budget=5 * world.SUI)


def test_only_coins_can_be_split(probed, build):
    thing = build.resolved(probed.argument(probed.new_thing()))
    build.split_coins(thing, [1])
    wrong = CommandArgumentError(0, ArgumentErrorKind.TYPE_MISMATCH)
    assert probed.fail_argument(build) == (wrong, 0)


def test_amount_is_a_u64(world, build):
    amount = build.address(world.BOB)
    build.command(SplitCoins(build.gas, (amount,)))
    wrong = CommandArgumentError(1, ArgumentErrorKind.INVALID_BCS_BYTES)
    assert world.fail_argument(build) == (wrong, 0)


def test_amount_may_be_the_result_of_a_call(probed, build):
    numbers = probed.call(build, "pair", [build.u64(3), build.u64(4)])
    coin = build.command(SplitCoins(build.gas, (numbers[0],)))
    build.transfer_objects([coin[0]], probed.BOB)
    result = probed.succeed(build)
    assert 3 in [probed.balance(value.id) for value in result.written.values()]


@pytest.mark.parametrize("command", [1, 5, 65_535])
def test_later_result_is_out_of_bounds(world, build, command):
    build.command(SplitCoins(build.gas, (Result(command),)))
    wrong = CommandArgumentError(1, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, (command,))
    assert world.fail_argument(build) == (wrong, 0)
