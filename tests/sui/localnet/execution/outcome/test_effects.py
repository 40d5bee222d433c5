from nexus_tools.sui.types.digest import events_digest
from nexus_tools.sui.types.effects import (
    TRANSACTION_EFFECTS,
    Absent,
    IdOperation,
    InputState,
    ObjectWrite,
)
from nexus_tools.sui.types.event import EVENTS
from nexus_tools.sui.types.object import AddressOwner


def transfer(world, builder, coin):
    builder.transfer_objects([builder.resolved(world.argument(coin))], world.BOB)
    return builder


def test_lamport_version_is_one_above_all_inputs(world, build):
    coin = world.coin(world.ALICE, 5)
    world.succeed(transfer(world, build, world.coin(world.ALICE, 5)))
    assert world.store.get(world.gas).version == 2
    result = world.succeed(transfer(world, type(build)(), coin))
    assert result.effects.lamport_version == 3
    assert {value.version for value in result.written.values()} == {3}


def test_received_object_counts_for_the_lamport_version(probed, build):
    parent = probed.new_thing(1)
    child = probed.new_thing(2, owner=parent)
    gas = probed.coin(probed.ALICE, 9 * probed.SUI)
    build.resolved(probed.receiving(child))
    probed.call(build, "nothing")
    result = probed.succeed(build, payment=(gas,))
    assert result.effects.lamport_version == probed.store.get(child).version + 1


def test_changes_are_sorted_with_states_before_and_after(world, build):
    coin = world.coin(world.ALICE, 5)
    before = world.store.get(coin)
    effects = world.succeed(transfer(world, build, coin)).effects
    ids = [object_id for object_id, _ in effects.changed_objects]
    assert ids == sorted([coin, world.gas])
    change = dict(effects.changed_objects)[coin]
    assert change.input == InputState(1, before.digest(), AddressOwner(world.ALICE))
    assert change.output == ObjectWrite(world.store.get(coin).digest(), AddressOwner(world.BOB))
    assert change.operation is IdOperation.NONE


def test_gas_object_is_found_by_its_index(world, build):
    effects = world.succeed(transfer(world, build, world.coin(world.ALICE, 5))).effects
    assert effects.changed_objects[effects.gas_object_index][0] == world.gas


def test_dependencies_are_the_sorted_transactions_that_wrote_the_inputs(world, build):
    coin = world.coin(world.ALICE, 5)
    first = world.succeed(transfer(world, build, coin)).effects.transaction_digest
    other = world.coin(world.ALICE, 6)
    effects = world.succeed(transfer(world, type(build)(), other)).effects
    assert effects.dependencies == tuple(sorted({first, world.GENESIS}))


def test_written_objects_contain_the_transaction(world, build):
    result = world.succeed(transfer(world, build, world.coin(world.ALICE, 5)))
    digest = result.effects.transaction_digest
    assert {value.previous_transaction for value in result.written.values()} == {digest}


def test_effects_contain_the_digest_of_the_events(probed, build):
    probed.call(build, "emit", [build.u64(2)])
    result = probed.succeed(build)
    assert result.effects.events_digest == events_digest(EVENTS.encode(result.events))


def test_effects_without_events_have_no_events_digest(world, build):
    assert (
        world.succeed(transfer(world, build, world.coin(world.ALICE, 5))).effects.events_digest
        is None
    )


def test_unused_owned_input_gets_a_new_version(world, build):
    coin = world.coin(world.ALICE, 5)
    build.resolved(world.argument(coin))
    result = world.succeed(build)
    assert result.written[coin].version == 2


def test_created_object_did_not_exist_before(world, build):
    part = build.split_coins(build.gas, [1])
    build.transfer_objects([part[0]], world.BOB)
    result = world.succeed(build)
    new = next(object_id for object_id in result.written if object_id != world.gas)
    change = dict(result.effects.changed_objects)[new]
    assert (change.input, change.operation) == (Absent(), IdOperation.CREATED)


def test_effects_survive_encoding(probed, build):
    probed.call(build, "fail", [build.u64(1)])
    effects = probed.run(build).effects
    assert TRANSACTION_EFFECTS.decode(effects.encode()) == effects


def test_result_contains_all_objects_in_their_earlier_versions(probed, build):
    thing = probed.store.get(probed.new_thing())
    box = probed.store.get(probed.box)
    gas = probed.store.get(probed.gas)
    probed.call(build, "destroy", [build.resolved(probed.argument(thing.id))])
    probed.call(build, "count", [build.resolved(probed.argument(box.id, mutable=False))])
    result = probed.succeed(build)
    assert set(map(id, result.input_objects)) == {id(thing), id(box), id(gas)}
