from nexus_tools.sui.types.execution_status import ArgumentErrorKind, CommandArgumentError
from nexus_tools.sui.types.object import AddressOwner


def test_objects_of_different_types_are_transferred_together(probed, build):
    thing, coin = probed.new_thing(), probed.coin(probed.ALICE, 5)
    build.transfer_objects(
        [build.resolved(probed.argument(value)) for value in (thing, coin)], probed.BOB
    )
    probed.succeed(build)
    assert probed.store.get(thing).owner == AddressOwner(probed.BOB)
    assert probed.store.get(coin).owner == AddressOwner(probed.BOB)


def test_transferred_gas_coin_still_pays(world, build):
    build.transfer_objects([build.gas], world.BOB)
    result = world.succeed(build)
    gas = world.store.get(world.gas)
    assert gas.owner == AddressOwner(world.BOB)
    assert world.balance(world.gas) == 100 * world.SUI - result.effects.gas_used.net
    index = result.effects.gas_object_index
    assert result.effects.changed_objects[index][0] == world.gas


def test_object_without_store_cannot_be_transferred(probed, build):
    value = probed.call(build, "soulbound")
    build.transfer_objects([value], probed.BOB)
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_TRANSFER_OBJECT)
    assert probed.fail_argument(build) == (wrong, 1)


def test_value_that_is_not_an_object_cannot_be_transferred(probed, build):
    number = probed.call(build, "code_of_version")
    build.transfer_objects([number], probed.BOB)
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_TRANSFER_OBJECT)
    assert probed.fail_argument(build) == (wrong, 1)


def test_bytes_cannot_be_transferred(world, build):
    build.transfer_objects([build.u64(1)], world.BOB)
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_TRANSFER_OBJECT)
    assert world.fail_argument(build) == (wrong, 0)


def test_object_can_be_transferred_only_once(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 5)))
    build.transfer_objects([coin, coin], world.BOB)
    wrong = CommandArgumentError(1, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
    assert world.fail_argument(build) == (wrong, 0)


def test_frozen_object_cannot_be_transferred(probed, build):
    thing = probed.new_thing()
    freeze = type(build)()
    probed.call(freeze, "freeze_thing", [freeze.resolved(probed.argument(thing))])
    probed.succeed(freeze)
    build.transfer_objects([build.resolved(probed.argument(thing))], probed.BOB)
    wrong = CommandArgumentError(0, ArgumentErrorKind.INVALID_OBJECT_BY_VALUE)
    assert probed.fail_argument(build) == (wrong, 0)


def test_recipient_must_be_an_address(world, build):
    coin = build.resolved(world.argument(world.coin(world.ALICE, 5)))
    build.transfer_objects([coin], world.BOB)
    transaction = build.finish()
    broken = type(transaction)(
        (transaction.inputs[0], type(transaction.inputs[1])(b"\x01")), transaction.commands
    )
    wrong = CommandArgumentError(1, ArgumentErrorKind.INVALID_BCS_BYTES)
    assert world.fail_argument(broken) == (wrong, 0)
